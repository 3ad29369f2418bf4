"""Explaining: why a tree answers as it does, by values that can be printed and kept.

One function to a file, of the file's name but for `explain`, which makes a decision. The functions hide the
modules of their names: `from treewright.explaining import importance` is the function.
"""

from __future__ import annotations

from treewright.explaining.competitors import Competitor, Competitors, competitors
from treewright.explaining.counterfactual import Contrast, contrast
from treewright.explaining.decision_path import Answer, Decision, Step, explain
from treewright.explaining.held_out import HeldOut
from treewright.explaining.importance import ColumnImportance, Importance, importance
from treewright.explaining.rules import rules
from treewright.explaining.shapley import Attribution, attribution
from treewright.explaining.stability import ColumnStability, Stability, stability
from treewright.explaining.tree_difference import Difference, difference

__all__ = [
    "Answer",
    "Attribution",
    "ColumnImportance",
    "ColumnStability",
    "Competitor",
    "Competitors",
    "Contrast",
    "Decision",
    "Difference",
    "HeldOut",
    "Importance",
    "Stability",
    "Step",
    "attribution",
    "competitors",
    "contrast",
    "difference",
    "explain",
    "importance",
    "rules",
    "stability",
]
