"""Plots of models, data and results, all by matplotlib, which is imported when the first one is drawn.

Each result also plots itself: ``importance(model).plot()`` is ``plot_importance(importance(model))``.
"""

from __future__ import annotations

from typing import Any

from treewright._suggestions import unknown_attribute
from treewright.plotting.adaboost import plot_adaboost
from treewright.plotting.boosting import plot_boosting
from treewright.plotting.certificates import plot_certificate
from treewright.plotting.explanations import plot_importance, plot_shapley, plot_stability
from treewright.plotting.forests import plot_out_of_bag
from treewright.plotting.neighbours import plot_defeatist_curve
from treewright.plotting.pruning_paths import (
    plot_comparison,
    plot_overfitting_curve,
    plot_pruning_path,
    plot_weak_learning_bound,
)
from treewright.plotting.quality import (
    plot_calibration,
    plot_confusion_matrix,
    plot_precision_recall,
    plot_roc,
)
from treewright.plotting.regions import plot_decision_regions
from treewright.plotting.rules import plot_rules
from treewright.plotting.trees import plot_tree

__all__ = [
    "plot_adaboost",
    "plot_boosting",
    "plot_calibration",
    "plot_certificate",
    "plot_comparison",
    "plot_confusion_matrix",
    "plot_decision_regions",
    "plot_defeatist_curve",
    "plot_importance",
    "plot_out_of_bag",
    "plot_overfitting_curve",
    "plot_precision_recall",
    "plot_pruning_path",
    "plot_roc",
    "plot_rules",
    "plot_shapley",
    "plot_stability",
    "plot_tree",
    "plot_weak_learning_bound",
]


def __getattr__(name: str) -> Any:
    raise unknown_attribute(__name__, name, __all__)
