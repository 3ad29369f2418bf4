"""The estimators: treewright's trees in scikit-learn's clothes."""

from __future__ import annotations

from treewright.estimators.branching import CHAIDClassifier, ID3Classifier
from treewright.estimators.c45 import C45Classifier
from treewright.estimators.cart import CARTClassifier, CARTRegressor
from treewright.estimators.classifier import DecisionTreeClassifier
from treewright.estimators.extra_trees import ExtraTreeClassifier, ExtraTreeRegressor
from treewright.estimators.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from treewright.estimators.regressor import DecisionTreeRegressor
from treewright.estimators.rule_list import RuleListClassifier
from treewright.estimators.top_down import TopDownClassifier

__all__ = [
    "C45Classifier",
    "CARTClassifier",
    "CARTRegressor",
    "CHAIDClassifier",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "ID3Classifier",
    "RuleListClassifier",
    "TopDownClassifier",
]
