"""Decision trees that people can read: `encode` a table, `grow` the exact tree, predict, print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treewright._version import __version__ as __version__
from treewright.advice import Advice, AdviceWarning
from treewright.encoding import Dataset, encode
from treewright.encoding.schema import Column, Schema, Target
from treewright.encoding.text import TextFormat
from treewright.growing import criteria, grow
from treewright.growing.regrowing import regrow
from treewright.tree import Tree
from treewright.tree.builder import Among, Below, Branch, Combination, Leaf
from treewright.tree.node import Node

if TYPE_CHECKING:
    from treewright.advising import advise
    from treewright.certifying import Certificate, VoteCertificate, certify, certify_votes
    from treewright.converting import from_lightgbm, from_sklearn, from_xgboost
    from treewright.ensembles import Forest, grow_forest
    from treewright.ensembles.distillation import BornAgain, Distillation, born_again, distill, distillation
    from treewright.estimators import (
        AdaBoostClassifier,
        AdaBoostRegressor,
        BaggingClassifier,
        BaggingRegressor,
        C45Classifier,
        CARTClassifier,
        CARTRegressor,
        CHAIDClassifier,
        DecisionTreeClassifier,
        DecisionTreeRegressor,
        ExtraTreeClassifier,
        ExtraTreeRegressor,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        GradientBoostingClassifier,
        GradientBoostingRegressor,
        ID3Classifier,
        KNeighborsClassifier,
        KNeighborsRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
        RuleListClassifier,
        ShadowSelector,
        SplitFilter,
        TopDownClassifier,
        TreeSelector,
        ZeroNormSelector,
    )
    from treewright.explaining.competitors import competitors
    from treewright.explaining.counterfactual import contrast
    from treewright.explaining.decision_path import explain
    from treewright.explaining.importance import importance
    from treewright.explaining.rules import rules
    from treewright.explaining.shapley import attribution
    from treewright.explaining.stability import stability
    from treewright.explaining.tree_difference import difference
    from treewright.exporting import export
    from treewright.neighbours import KDTree, defeatist_curve
    from treewright.pruning import PruningPath, prune
    from treewright.reporting import report
    from treewright.saving import load
    from treewright.selecting import compare, overfitting_curve, select
    from treewright.tree.rule_list import RuleList

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "Advice",
    "AdviceWarning",
    "Among",
    "BaggingClassifier",
    "BaggingRegressor",
    "Below",
    "BornAgain",
    "Branch",
    "C45Classifier",
    "CARTClassifier",
    "CARTRegressor",
    "CHAIDClassifier",
    "Certificate",
    "Column",
    "Combination",
    "Dataset",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "Distillation",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "Forest",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "ID3Classifier",
    "KDTree",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "Leaf",
    "Node",
    "PruningPath",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RuleList",
    "RuleListClassifier",
    "Schema",
    "ShadowSelector",
    "SplitFilter",
    "Target",
    "TextFormat",
    "TopDownClassifier",
    "Tree",
    "TreeSelector",
    "VoteCertificate",
    "ZeroNormSelector",
    "advise",
    "attribution",
    "born_again",
    "certify",
    "certify_votes",
    "compare",
    "competitors",
    "contrast",
    "criteria",
    "defeatist_curve",
    "difference",
    "distill",
    "distillation",
    "encode",
    "explain",
    "export",
    "from_lightgbm",
    "from_sklearn",
    "from_xgboost",
    "grow",
    "grow_forest",
    "importance",
    "load",
    "overfitting_curve",
    "prune",
    "regrow",
    "report",
    "rules",
    "select",
    "stability",
]

# scikit-learn takes seconds to import: what needs it is loaded when it is first asked for, as is the rest.
_LATER = {
    "BaggingClassifier": "treewright.estimators",
    "BaggingRegressor": "treewright.estimators",
    "AdaBoostClassifier": "treewright.estimators",
    "AdaBoostRegressor": "treewright.estimators",
    "BornAgain": "treewright.ensembles.distillation",
    "C45Classifier": "treewright.estimators",
    "CARTClassifier": "treewright.estimators",
    "CARTRegressor": "treewright.estimators",
    "CHAIDClassifier": "treewright.estimators",
    "Certificate": "treewright.certifying",
    "DecisionTreeClassifier": "treewright.estimators",
    "DecisionTreeRegressor": "treewright.estimators",
    "Distillation": "treewright.ensembles.distillation",
    "ExtraTreeClassifier": "treewright.estimators",
    "ExtraTreeRegressor": "treewright.estimators",
    "ExtraTreesClassifier": "treewright.estimators",
    "ExtraTreesRegressor": "treewright.estimators",
    "Forest": "treewright.ensembles",
    "GradientBoostingClassifier": "treewright.estimators",
    "GradientBoostingRegressor": "treewright.estimators",
    "ID3Classifier": "treewright.estimators",
    "KDTree": "treewright.neighbours",
    "KNeighborsClassifier": "treewright.estimators",
    "KNeighborsRegressor": "treewright.estimators",
    "PruningPath": "treewright.pruning",
    "RandomForestClassifier": "treewright.estimators",
    "RandomForestRegressor": "treewright.estimators",
    "RuleList": "treewright.tree.rule_list",
    "RuleListClassifier": "treewright.estimators",
    "ShadowSelector": "treewright.estimators",
    "SplitFilter": "treewright.estimators",
    "TopDownClassifier": "treewright.estimators",
    "VoteCertificate": "treewright.certifying",
    "TreeSelector": "treewright.estimators",
    "ZeroNormSelector": "treewright.estimators",
    "advise": "treewright.advising",
    "attribution": "treewright.explaining",
    "born_again": "treewright.ensembles.distillation",
    "certify": "treewright.certifying",
    "certify_votes": "treewright.certifying",
    "compare": "treewright.selecting",
    "competitors": "treewright.explaining",
    "contrast": "treewright.explaining",
    "defeatist_curve": "treewright.neighbours",
    "difference": "treewright.explaining",
    "distill": "treewright.ensembles.distillation",
    "distillation": "treewright.ensembles.distillation",
    "explain": "treewright.explaining",
    "export": "treewright.exporting",
    "from_lightgbm": "treewright.converting",
    "from_sklearn": "treewright.converting",
    "from_xgboost": "treewright.converting",
    "grow_forest": "treewright.ensembles",
    "importance": "treewright.explaining",
    "load": "treewright.saving",
    "overfitting_curve": "treewright.selecting",
    "prune": "treewright.pruning",
    "report": "treewright.reporting",
    "rules": "treewright.explaining",
    "select": "treewright.selecting",
    "stability": "treewright.explaining",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'treewright' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER])
