"""Explaining: why a tree answers as it does, by values that can be printed and kept.

One function to a file, of the file's name but for `explain`, which makes a decision. The functions hide the
modules of their names: `from treewright.explaining import importance` is the function.
"""

from __future__ import annotations

from treewright.explaining.competitors import Competitor, Competitors, competitors
from treewright.explaining.counterfactual import Counterfactual, counterfactual
from treewright.explaining.decision_path import Answer, Decision, HeldOut, Step, explain
from treewright.explaining.importance import ColumnImportance, Importance, importance
from treewright.explaining.rules import rules
from treewright.explaining.shapley import ShapleyValues, shapley_values
from treewright.explaining.stability import ColumnStability, Stability, stability
from treewright.explaining.tree_difference import TreeDifference, tree_difference

__all__ = [
    "Answer",
    "ColumnImportance",
    "ColumnStability",
    "Competitor",
    "Competitors",
    "Counterfactual",
    "Decision",
    "HeldOut",
    "Importance",
    "ShapleyValues",
    "Stability",
    "Step",
    "TreeDifference",
    "competitors",
    "counterfactual",
    "explain",
    "importance",
    "rules",
    "shapley_values",
    "stability",
    "tree_difference",
]
