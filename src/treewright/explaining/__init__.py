"""Explaining: why a tree answers as it does, by values that can be printed, kept and drawn.

    explain      one row: the way to its leaf, how the chance moved, how sure the answer is
    competitors  what else could have been asked at a node
    rules        each leaf as a rule, in the shortest form
    importance   how much each column matters
    stability    how much of the tree would change with other rows
"""

from __future__ import annotations

from treewright.explaining.competitors import Competitor, Competitors, competitors
from treewright.explaining.decision import Answer, Decision, Step, explain
from treewright.explaining.held_out import HeldOut
from treewright.explaining.importance import ColumnImportance, Importance, importance
from treewright.explaining.rules import rules
from treewright.explaining.stability import ColumnStability, Stability, stability

__all__ = [
    "Answer",
    "ColumnImportance",
    "ColumnStability",
    "Competitor",
    "Competitors",
    "Decision",
    "HeldOut",
    "Importance",
    "Stability",
    "Step",
    "competitors",
    "explain",
    "importance",
    "rules",
    "stability",
]
