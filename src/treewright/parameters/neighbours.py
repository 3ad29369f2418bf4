"""The parameters of k-d trees and of nearest neighbours."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.parameters.checks import Allowed, instance, is_real, number, one_of, whole
from treewright.parameters.spec import Parameters, parameter

METRIC_ALIASES = {
    "l2": "euclidean",
    "l1": "manhattan",
    "cityblock": "manhattan",
    "infinity": "chebyshev",
    "p": "minkowski",
}
MINKOWSKI = {2.0: "euclidean", 1.0: "manhattan", inf: "chebyshev"}  # the names of some of its powers
METRICS = tuple(dict.fromkeys(("minkowski", *_core.kd_metrics, *METRIC_ALIASES)))

Weights = Literal["uniform", "distance"] | Callable[[NDArray[np.float64]], Any] | None


def _metric_texts() -> str:
    """The metrics, each followed by its aliases."""
    texts = []
    for name in MINKOWSKI.values():
        aliases = [f'"{alias}"' for alias, meaning in METRIC_ALIASES.items() if meaning == name]
        texts.append(f'"{name}"' + (f" ({', '.join(aliases)})" if aliases else ""))
    return ", ".join(texts)


class KDTreeParameters(Parameters, group="Growing"):
    """Those of `KDTree`; its metrics are those that the core knows."""

    leaf_size: int = parameter(
        default=40,
        doc="The largest number of rows in a leaf of the k-d tree; it changes only the time of exact search.",
        allowed=whole(1),
    )
    metric: str = parameter(
        default="minkowski",
        kind="str",
        doc=f'{_metric_texts()}, or "minkowski" with `p`.',
    )
    p: float = parameter(
        default=2,
        doc='The power of "minkowski", from 1 to infinity. 1, 2 and infinity are the fastest.',
        allowed=Allowed(lambda v: is_real(v) and v >= 1, "a number >= 1, or infinity"),
    )
    rule: Literal["widest", "cycle"] = parameter(
        default="widest",
        doc="Which column is cut: the one in which the points of the node spread widest, or the first at the "
        "root, the second below it, and so on. A column in which all points are equal is skipped.",
        allowed=one_of("widest", "cycle"),
    )
    spill: float = parameter(
        default=0.0,
        doc="In [0, 0.5): how far the halves of a node overlap, so that defeatist search finds more.",
        allowed=number(0, 0.5, open_right=True),
    )
    n_jobs: int | None = parameter(default=None)


class NeighbourParameters(Parameters, group="Growing"):
    """Those of scikit-learn's KNeighbors estimators, and how the k-d tree is searched."""

    n_neighbors: int = parameter(
        default=5, kw_only=False, doc="How many of the nearest rows are used.", allowed=whole(1)
    )
    weights: Weights = parameter(
        default="uniform",
        kind='{"uniform", "distance"}, function or None',
        doc="All neighbours have the same weight, or the inverse of their distance (if some are at distance "
        "0, these alone), or what a function makes of an array of distances.",
        allowed=Allowed(
            lambda v: v is None or callable(v) or (isinstance(v, str) and v in ("uniform", "distance")),
            "'uniform', 'distance', a function of distances, or None",
        ),
    )
    algorithm: Literal["auto", "kd_tree", "ball_tree", "brute"] = parameter(
        default="auto",
        doc='"auto" and "kd_tree" are treewright\'s k-d tree where the table is dense and the metric one of '
        "Minkowski's. All else is left to scikit-learn's search: sparse tables, other metrics, "
        '"ball_tree" and "brute".',
        allowed=one_of("auto", "kd_tree", "ball_tree", "brute"),
    )
    leaf_size: int = parameter(default=40)
    p: float = parameter(
        default=2,
        doc='The power of "minkowski". Below 1 it is no metric, and all rows are compared.',
        allowed=Allowed(lambda v: is_real(v) and v > 0, "a number > 0, or infinity"),
    )
    metric: Any = parameter(
        default="minkowski",
        kind="str, callable or DistanceMetric",
        doc=f'For the k-d tree {_metric_texts()}, or "minkowski" with `p`. Others are scikit-learn\'s: its '
        'names, a function of two rows, or "precomputed" distances.',
    )
    metric_params: dict[str, Any] | None = parameter(
        default=None,
        doc="Further arguments of a metric of scikit-learn's.",
        allowed=instance(dict, "a dict"),
    )
    search: Literal["exact", "defeatist"] = parameter(
        default="exact",
        doc="Find the nearest rows, or near ones in the leaf that a query falls into.",
        allowed=one_of("exact", "defeatist"),
    )
    spill: float = parameter(default=0.0)
    n_jobs: int | None = parameter(default=None)
