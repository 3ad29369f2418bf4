"""The estimators: trees, ensembles, rule lists, neighbours, selectors, by the interface of scikit-learn."""

from __future__ import annotations

from treewright.estimators.adaboost import AdaBoostClassifier, AdaBoostRegressor
from treewright.estimators.bagging import BaggingClassifier, BaggingRegressor
from treewright.estimators.classic import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    CHAIDClassifier,
    ID3Classifier,
    TopDownClassifier,
)
from treewright.estimators.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from treewright.estimators.gradient_boosting import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from treewright.estimators.neighbours import KNeighborsClassifier, KNeighborsRegressor
from treewright.estimators.optimal import OptimalTreeClassifier, OptimalTreeRegressor
from treewright.estimators.rules import RuleListClassifier
from treewright.estimators.selectors import ShadowSelector, SplitFilter, TreeSelector, ZeroNormSelector
from treewright.estimators.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

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
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "ID3Classifier",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "OptimalTreeClassifier",
    "OptimalTreeRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RuleListClassifier",
    "ShadowSelector",
    "SplitFilter",
    "TopDownClassifier",
    "TreeSelector",
    "ZeroNormSelector",
]
