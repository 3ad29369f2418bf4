"""The parameters of the classic algorithms: CART, C4.5, ID3, CHAID and the top-down algorithm."""

from __future__ import annotations

from typing import Any

from treewright.parameters.checks import TRUE_OR_FALSE, number, one_of, whole
from treewright.parameters.spec import Parameters, parameter

_LEVEL = number(0, 1, open_left=True)


class ClassicParameters(Parameters, group="Running"):
    """Those of all classic algorithms."""

    kinds: Any = parameter(default=None)
    n_jobs: int | None = parameter(default=None)


class CARTParameters(ClassicParameters, group="Growing"):
    """Those of CART for classes and for numbers."""

    min_samples_split: int | float = parameter(default=20)
    min_samples_leaf: int | float = parameter(default=7)
    cv: int = parameter(
        default=10, kind="int", doc="The number of folds; at most that of rows.", allowed=whole(2)
    )
    rule: str = parameter(
        default="1-SE",
        doc="The simplest tree within one standard error of the smallest error, or the tree of that error.",
        allowed=one_of("1-SE", "0-SE"),
    )
    n_surrogates: int = parameter(
        default=5, doc="The number of surrogates of each split, for missing values.", allowed=whole(0)
    )
    random_state: Any = parameter(
        default=None, doc="Seeds how rows are assigned to folds; None is a fixed seed.", group="Sampling"
    )


class ConfidenceParameters(Parameters, group="Growing"):
    """That of pessimistic estimates of errors."""

    confidence: float = parameter(
        default=0.25, doc="C4.5's CF, above 0 and at most 1; smaller values prune more.", allowed=_LEVEL
    )


class C45Parameters(ConfidenceParameters, ClassicParameters, group="Growing"):
    """Those of C4.5."""

    min_objs: int = parameter(
        default=2,
        doc="At least two branches of a split have this many rows; so does each side of a threshold.",
        allowed=whole(1),
    )
    raising: bool = parameter(
        default=True, doc="Whether the largest branch of a split may replace it.", allowed=TRUE_OR_FALSE
    )


class TopDownParameters(ClassicParameters, group="Growing"):
    """Those of the top-down algorithm."""

    n_splits: int = parameter(
        default=10, doc="The number of splits, one less than the number of leaves.", allowed=whole(0)
    )
    criterion: str = parameter(
        default="sqrt",
        kind='{"sqrt", "entropy", "gini", "error"}',
        doc='The impurity that splits reduce. "error" has no guarantee: a test may leave the training error '
        "unchanged, however good it is.",
    )


class MultiwayParameters(Parameters, group="Stopping"):
    """Those of ID3 and CHAID."""

    max_depth: int | None = parameter(
        default=None,
        doc="The largest number of decisions on a path from the root to a leaf; None is no limit.",
    )
    kinds: Any = parameter(default=None, group="Running")


class ID3Parameters(MultiwayParameters, group="Growing"):
    """Those of ID3."""

    criterion: str = parameter(
        default="entropy",
        kind='{"entropy", "gini", "error"}',
        doc="The impurity that splits reduce: the entropy, the Gini index, or the training error.",
    )


class CHAIDParameters(MultiwayParameters, group="Growing"):
    """Those of CHAID."""

    alpha_merge: float = parameter(
        default=0.05,
        doc="Groups of values are merged while the p-value of their difference is above this.",
        allowed=_LEVEL,
    )
    alpha_split: float = parameter(
        default=0.05, doc="A node is split if its best adjusted p-value is at most this.", allowed=_LEVEL
    )
    alpha_resplit: float | None = parameter(
        default=None,
        kind="float or None",
        doc="A merged group of three or more values is divided again if two parts of it differ with a "
        "p-value of at most this; None is never.",
        allowed=number(0, 1, open_left=True, none=True),
    )
    min_samples_split: int = parameter(
        default=2, kind="int", doc="A node with fewer rows is not split.", allowed=whole(1)
    )
    min_samples_leaf: int = parameter(
        default=1, kind="int", doc="Smaller groups are merged with the most similar one.", allowed=whole(1)
    )
    max_classes: int = parameter(
        default=10,
        doc="The number of classes of about equal weight into which numbers are binned, once for all nodes; "
        "only neighbouring classes are merged.",
        allowed=whole(2),
    )
    kinds: Any = parameter(default=None, group="Running")
