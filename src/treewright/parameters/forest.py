"""The parameters of forests and bagging."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, ClassVar

import numpy as np

from treewright.parameters import tree
from treewright.parameters.checks import (
    CLASS_WEIGHT,
    TRUE_OR_FALSE,
    VERBOSE,
    Allowed,
    count_or_fraction,
    is_real,
    one_of,
    whole,
)
from treewright.parameters.spec import Parameters, parameter


class VotingParameters(Parameters, group="Sampling"):
    """Those of all ensembles whose trees are grown from samples of the rows."""

    n_estimators: int = parameter(
        default=100, kw_only=False, doc="The number of trees.", allowed=whole(1), group="Growing"
    )
    bootstrap: bool = parameter(
        default=True,
        doc="Whether the rows of each tree are drawn with replacement, by their weights, or without.",
        allowed=TRUE_OR_FALSE,
    )
    max_samples: int | float | None = parameter(
        default=None,
        kind="int, float or None",
        doc="How many rows are drawn for each tree; a float is a fraction of those of positive weight. Both "
        "may be more than there are where rows are drawn with replacement. None is as many as there are. "
        "Limits that are fractions of the weight refer to the drawn rows.",
        allowed=Allowed(
            lambda v: v is None or (is_real(v) and 0 < v < inf),
            "an int >= 1, or a positive float: a fraction of the rows, or None",
        ),
    )
    oob_score: Any = parameter(
        default=False,
        kind="bool or callable",
        doc="Whether the rows that a tree was not grown from estimate the error of the ensemble; a callable "
        "scores (y_true, y_pred). With unequal `sample_weight` heavy rows are rarely out of bag: the score "
        "mostly reflects light ones.",
        allowed=Allowed(lambda v: callable(v) or isinstance(v, bool | np.bool_), "True, False or a function"),
    )
    random_state: Any = parameter(
        default=None,
        doc="Seeds what is drawn. A tree does not depend on how many others there are.",
    )
    warm_start: bool = parameter(
        default=False,
        doc="Whether `fit` keeps the trees of the fit before and grows those that are missing to "
        "`n_estimators`: the ensemble is the one that a single fit gives. The rows must be the same.",
        allowed=TRUE_OR_FALSE,
        group="Running",
    )
    verbose: int = parameter(
        default=0, doc="1 shows how many trees are complete.", allowed=VERBOSE, group="Running"
    )
    n_jobs: int | None = parameter(default=None)


class Votes(Parameters, group="Sampling"):
    """How trees of classes vote."""

    voting: str = parameter(
        default="soft",
        doc="Whether the shares of classes in the leaves are averaged, or the predictions of the trees are "
        "counted: a majority vote. Where the trees have costs, averaged shares are answered by the class of "
        "the smallest cost, and each counted prediction is that of its tree.",
        allowed=one_of("soft", "hard"),
    )


class Quantiles(Parameters, group="Running"):
    """What ensembles of trees of numbers keep."""

    keep_targets: bool = parameter(
        default=True,
        doc="Whether to keep which training rows are in the leaves, for `predict_quantiles` and "
        "`predict_interval`: some bytes for each row and tree.",
        allowed=TRUE_OR_FALSE,
    )


class ForestParameters(
    VotingParameters,
    tree.Criterion,
    tree.Growing,
    tree.Stopping,
    tree.RelativeLimits,
    tree.PruningOptions,
    tree.MissingValues,
    tree.Constraints,
    tree.Sampling,
    tree.Columns,
    group="Growing",
):
    """Those of forests: those of trees, but for what would make all trees alike."""

    threshold: str = parameter(default="midpoint")
    splitter: ClassVar[str] = "best"  # type: ignore[misc]
    root: ClassVar[None] = None  # type: ignore[misc]
    pruning: ClassVar[None] = None  # type: ignore[misc]
    n_competitors: ClassVar[int] = 0  # type: ignore[misc]


class ForestClassifierParameters(tree.ClassCriterion, ForestParameters, Votes, group="Growing"):
    """Those of forests for classes."""

    class_weight: Any = parameter(
        default=None,
        kind='dict, list of dict, "balanced", "balanced_subsample" or None',
        doc="Weights of the classes, multiplied into those of the rows of each tree; one dict per target if "
        'there are several. "balanced" gives each class the same total weight, "balanced_subsample" the same '
        "weight in the rows of each tree. Rows are drawn without these weights, so that out-of-bag estimates "
        "are those of all classes.",
        allowed=Allowed(
            lambda v: CLASS_WEIGHT.check(v) or (isinstance(v, str) and v == "balanced_subsample"),
            "a dict, a list of dicts (one per target), 'balanced', 'balanced_subsample', or None",
        ),
        group="Costs",
    )
    max_features: int | float | str | None = parameter(default="sqrt")


class ForestRegressorParameters(
    tree.NumberCriterion, ForestParameters, tree.LinearLeaves, Quantiles, group="Growing"
):
    """Those of forests for numbers."""

    max_features: int | float | str | None = parameter(default=1.0)


class ExtraTreesParameters(tree.RandomThresholds, group="Growing"):
    """What extremely randomised trees have otherwise than random forests."""

    bootstrap: bool = parameter(default=False)
    monotonic_cst: Any = parameter(
        default=None,
        kind="None",
        doc="For scikit-learn's signature: random thresholds cannot be constrained.",
    )
    missing: str = parameter(
        default="learn",
        doc="Where a row goes whose value is missing: to a side that is drawn, too; or it is an error.",
        allowed=one_of("learn", "error"),
    )
    splitter: ClassVar[str] = "random"
    selection: ClassVar[str] = "gain"
    interaction_cst: ClassVar[None] = None
    feature_costs: ClassVar[None] = None


class BaggingParameters(VotingParameters, group="Sampling"):
    """Those of scikit-learn's Bagging estimators."""

    estimator: Any = parameter(
        default=None,
        kw_only=False,
        kind="estimator or None",
        doc="What is fitted to each sample: a tree of treewright, with any of its parameters, pruning and "
        "costs included, or any other estimator by scikit-learn's interface. None is a "
        "`DecisionTreeClassifier()` or `DecisionTreeRegressor()`.",
        group="Growing",
    )
    n_estimators: int = parameter(default=10, kw_only=False)
    max_features: int | float = parameter(
        default=1.0,
        kind="int or float",
        doc="How many columns are drawn for each tree (not for each node: that is the trees' own "
        "`max_features`); a float is a fraction of them.",
        allowed=count_or_fraction(1, False, "columns"),
    )
    bootstrap_features: bool = parameter(
        default=False,
        doc="Whether columns are drawn with replacement; a column that is drawn twice counts once.",
        allowed=TRUE_OR_FALSE,
    )


class GrowForestParameters(Votes, tree.GrowParameters, group="Sampling"):
    """Those of `grow_forest`: those of `grow`, which hold for each tree, and how rows are drawn."""

    n_estimators: int = parameter(default=100, doc="The number of trees.", allowed=whole(1), group="Growing")
    bootstrap: bool = parameter(default=True)
    max_samples: int | None = parameter(
        default=None,
        kind="int or None",
        doc="How many rows are drawn for each tree; None is as many as there are (without replacement: all).",
        allowed=whole(1, none=True),
    )
    max_features: int | float | str | None = parameter(
        default=None,
        doc="How many columns each node considers. None is about the square root of their number for "
        "classes, and a third of them for numbers, as Breiman advises.",
    )
    random_state: int = parameter(
        default=0, doc="The seed of all draws. A tree does not depend on how many others there are."
    )
    progress: Callable[[float], object] | None = parameter(
        default=None,
        doc="Called after each tree with the fraction of the trees that are complete. An exception that it "
        "raises ends the growing.",
    )
