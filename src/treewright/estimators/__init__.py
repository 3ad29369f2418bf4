"""The estimators: trees, ensembles, rule lists, neighbours, selectors, by the interface of scikit-learn."""

from __future__ import annotations

from treewright.estimators.adaboost import AdaBoostClassifier, AdaBoostRegressor
from treewright.estimators.bagging import BaggingClassifier, BaggingRegressor
from treewright.estimators.branching import CHAIDClassifier, ID3Classifier
from treewright.estimators.c45 import C45Classifier
from treewright.estimators.cart import CARTClassifier, CARTRegressor
from treewright.estimators.classifier import DecisionTreeClassifier
from treewright.estimators.extra_trees import ExtraTreeClassifier, ExtraTreeRegressor
from treewright.estimators.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from treewright.estimators.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from treewright.estimators.neighbours import KNeighborsClassifier, KNeighborsRegressor
from treewright.estimators.regressor import DecisionTreeRegressor
from treewright.estimators.rules import RuleListClassifier
from treewright.estimators.selecting_shadows import ShadowSelector
from treewright.estimators.selecting_splits import SplitFilter
from treewright.estimators.selecting_trees import TreeSelector
from treewright.estimators.selecting_zero_norm import ZeroNormSelector
from treewright.estimators.top_down import TopDownClassifier

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "C45Classifier",
    "CARTClassifier",
    "CARTRegressor",
    "CHAIDClassifier",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "ID3Classifier",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RuleListClassifier",
    "ShadowSelector",
    "SplitFilter",
    "TopDownClassifier",
    "TreeSelector",
    "ZeroNormSelector",
]
