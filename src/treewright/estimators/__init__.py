"""The estimators: treewright's trees in scikit-learn's clothes."""

from __future__ import annotations

from treewright.estimators.extra_trees import ExtraTreeClassifier, ExtraTreeRegressor
from treewright.estimators.rule_list import RuleListClassifier
from treewright.estimators.trees import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "RuleListClassifier",
]
