"""The parameters of provably optimal trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treewright.parameters.checks import Allowed, count_or_fraction, number, one_of, whole
from treewright.parameters.spec import Parameters, parameter
from treewright.parameters.tree import CostSensitivity


class OptimalLimits(Parameters, group="Stopping"):
    """Among which trees the best one is searched, and how long."""

    max_depth: int = parameter(
        default=3,
        doc="The largest number of tests on a path from the root to a leaf. Proofs mostly take seconds up to "
        "depth 3; at 4 the search often ends with a gap.",
        allowed=whole(0),
    )
    max_leaf_nodes: int | None = parameter(
        default=None,
        doc="The largest number of leaves; None is as many as the depth allows.",
        allowed=whole(1, none=True),
    )
    min_samples_leaf: int | float = parameter(
        default=1,
        doc="Each leaf has at least this many rows. A float is a fraction of all rows, rounded up.",
        allowed=count_or_fraction(1, True, "rows"),
    )
    leaf_penalty: float = parameter(
        default=0.0,
        doc="The price of a leaf, as a share of the weight of all rows (for numbers, of their squared error "
        "about the mean): with 0.01, a further leaf must save 1 % of the rows.",
        allowed=number(0),
    )
    time_limit: float | None = parameter(
        default=60.0,
        kind="float or None",
        doc="The seconds after which the best tree so far is returned, with what is proved of it; None is no "
        "limit.",
        allowed=number(0, none=True),
    )
    work_limit: int | None = parameter(
        default=None,
        kind="int or None",
        doc="The same as a number of steps of the search, so that the result is the same on any machine.",
        allowed=whole(0, none=True),
    )
    memory_limit: int | None = parameter(
        default=None,
        kind="int or None",
        doc="The bytes that the search may take for what it keeps in mind; None is no limit.",
        allowed=whole(1, none=True),
    )
    gap: float = parameter(
        default=0.0,
        doc="Stop as soon as no tree can lose less than the best one by more than this, in units of the "
        "loss: rows, weight, cost or squared error.",
        allowed=number(0),
    )


class OptimalTests(Parameters, group="Growing"):
    """What the tree may test."""

    categories: str = parameter(
        default="single",
        doc="Test one category against all others, or any subset of the categories of a column, which may "
        "then have 8 at most.",
        allowed=one_of("single", "subset"),
    )
    threshold: str = parameter(default="readable")


class OptimalParameters(OptimalLimits, OptimalTests, group="Growing"):
    """What all searches of the best tree share."""

    n_jobs: int | None = parameter(default=None)


class OptimalTreeParameters(OptimalParameters, group="Growing"):
    """Those of the estimators."""

    kinds: Any = parameter(default=None)


class OptimiseParameters(OptimalParameters, CostSensitivity, group="Growing"):
    """Those of `optimise` and of the functions around it."""

    progress: Callable[[float, float, float], object] | None = parameter(
        default=None,
        kind="callable or None",
        doc="Called every few milliseconds of a search with its seconds, the loss of the best tree so far "
        "(with the price of its leaves) and the bound. An exception that it raises ends the search.",
        allowed=Allowed(lambda v: v is None or callable(v), "a function, or None"),
        group="Running",
    )


class ImproveParameters(OptimalTests, group="Stopping"):
    """Those of `improve`."""

    max_depth: int = parameter(
        default=3, doc="The depth of the largest subtrees that are searched anew.", allowed=whole(1)
    )
    max_rounds: int = parameter(
        default=10,
        doc="A new subtree may let those above it be improved again; so many times at most.",
        allowed=whole(0),
    )
    min_samples_leaf: int = parameter(
        default=1, doc="Each leaf of a new subtree has at least this many rows.", allowed=whole(1)
    )
    time_limit: float | None = parameter(default=60.0)
    n_jobs: int | None = parameter(default=None)


OPTIMISE = OptimiseParameters.parameters
