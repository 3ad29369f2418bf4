"""The native boundary on one page: arrays in, arrays out."""

from collections.abc import Callable, Sequence
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

Columns = NDArray[np.floating] | Sequence[NDArray[np.floating] | NDArray[np.int32]]

class GrownTree(TypedDict):
    end: NDArray[np.int32]
    feature: NDArray[np.int32]
    step: NDArray[np.int32]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    subset: NDArray[np.int64]
    rows: NDArray[np.int64]
    missing_left: NDArray[np.uint8]
    subsets: NDArray[np.uint8]
    directions: list[tuple[NDArray[np.int32], NDArray[np.float64]]]  # columns and weights of each
    statistic: NDArray[np.float64]  # or, of a wide table, the rows of the leaves:
    start: NDArray[np.int64]
    column: NDArray[np.int32]
    value: NDArray[np.float64]

class CarefullyGrownTree(GrownTree):
    joined: NDArray[np.uint8]
    surrogate_node: NDArray[np.int32]
    surrogate_feature: NDArray[np.int32]
    surrogate_low: NDArray[np.float64]
    surrogate_high: NDArray[np.float64]
    surrogate_subset: NDArray[np.int64]
    surrogate_subsets: NDArray[np.uint8]
    surrogate_reversed: NDArray[np.uint8]
    surrogate_agreement: NDArray[np.float64]
    surrogate_adjusted: NDArray[np.float64]

kd_metrics: tuple[str, ...]
small_rows: int  # tables up to this size are grown in sorted lists, without bins
max_ranked_rows: int  # tables of more rows have no ranks

def criteria() -> list[tuple[str, Literal["classes", "numbers"]]]: ...
def risk(criterion: str, statistic: NDArray[np.float64]) -> NDArray[np.float64]: ...
def grow(
    *,
    columns: Columns,
    n_categories: Sequence[int],
    bins: NDArray[np.uint16] | None,
    is_mixed: NDArray[np.uint8] | None,
    labels: NDArray[np.int32] | None,
    n_classes: Sequence[int],
    is_wide: bool,
    numbers: NDArray[np.float64] | None,
    weight: NDArray[np.float64] | None,
    criterion: str,
    max_depth: int,
    max_splits: int,
    min_rows_split: int,
    min_rows_leaf: int,
    min_weight_leaf: float,
    min_gain: float,
    max_columns: int,
    random_splits: bool,
    seed: int,
    small_rows: int,
    critical: NDArray[np.float64] | None,
    correction: int,
    combined: Sequence[int],  # columns that may be added up
    max_combined: int,
    n_threads: int,
    progress: Callable[[float], object] | None,
    ranks: NDArray[np.uint16] | None = None,
) -> GrownTree: ...
def grow_carefully(
    *,
    columns: Columns,
    n_categories: Sequence[int],
    labels: NDArray[np.int32] | None,
    n_classes: Sequence[int],
    numbers: NDArray[np.float64] | None,
    weight: NDArray[np.float64] | None,
    criterion: str,
    max_depth: int,
    max_splits: int,
    min_rows_split: int,
    min_rows_leaf: int,
    min_weight_leaf: float,
    min_gain: float,
    max_columns: int,
    seed: int,
    critical: NDArray[np.float64] | None,
    correction: int,
    n_threads: int,
    progress: Callable[[float], object] | None,
    missing: str,
    n_surrogates: int,
    monotone: NDArray[np.int8] | None,
    groups: Sequence[Sequence[int]] | None,
    max_columns_used: int,
    prices: NDArray[np.float64] | None,
    costs: NDArray[np.float64] | None,
    multiway: bool,
    once: bool,
    release8: bool,
    is_wide: bool = False,
    case_weight: NDArray[np.float64] | None = None,
    random_splits: bool = False,
) -> CarefullyGrownTree: ...
def bin_columns(
    columns: Columns, n_categories: Sequence[int], n_threads: int
) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]: ...
def rank_cells(columns: Columns, n_categories: Sequence[int], n_threads: int) -> NDArray[np.uint16]: ...
def readable(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]: ...
def midpoint(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]: ...
def apply(
    columns: Columns,
    end: NDArray[np.int32],
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    subset: NDArray[np.int64],
    missing_left: NDArray[np.bool_],
    heavier_left: NDArray[np.bool_],
    subsets: NDArray[np.uint8],
    n_threads: int,
) -> NDArray[np.int32]: ...
def apply_sums(
    columns: Columns,
    directions: Sequence[tuple[NDArray[np.int32], NDArray[np.float64]]],
    end: NDArray[np.int32],
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    subset: NDArray[np.int64],
    missing_left: NDArray[np.bool_],
    heavier_left: NDArray[np.bool_],
    subsets: NDArray[np.uint8],
    n_threads: int,
) -> NDArray[np.int32]:
    """`apply` for trees that test sums: columns and weights of each, in the order in which they follow."""

def row_hashes(columns: Columns) -> NDArray[np.uint64]:
    """A number for each row: equal for equal rows, and as good as never for others."""

def totals(
    columns: Columns,
    trees: list[
        tuple[
            NDArray[np.int32],
            NDArray[np.int32],
            NDArray[np.float64],
            NDArray[np.int64],
            NDArray[np.bool_],
            NDArray[np.bool_],
            NDArray[np.uint8],
            NDArray[np.float64],
        ]
    ],
    width: int,
    n_threads: int,
) -> NDArray[np.float64]: ...
def apply_by_surrogates(
    columns: Columns,
    end: NDArray[np.int32],
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    subset: NDArray[np.int64],
    missing_left: NDArray[np.bool_],
    heavier_left: NDArray[np.bool_],
    subsets: NDArray[np.uint8],
    start: NDArray[np.int64],
    other_feature: NDArray[np.int32],
    other_threshold: NDArray[np.float64],
    other_subset: NDArray[np.int64],
    reversed: NDArray[np.bool_],
    other_subsets: NDArray[np.uint8],
    n_threads: int,
) -> NDArray[np.int32]: ...
def spread(
    columns: Columns,
    end: NDArray[np.int32],
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    subset: NDArray[np.int64],
    heavier_left: NDArray[np.bool_],
    subsets: NDArray[np.uint8],
    weight: NDArray[np.float64],
    first: int,
    most: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]: ...
def summarise(
    criterion: str,
    end: NDArray[np.int32],
    start: NDArray[np.int64],
    column: NDArray[np.int32],
    value: NDArray[np.float64],
    borders: NDArray[np.int32],
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]: ...
def wanted_sums(
    end: NDArray[np.int32],
    start: NDArray[np.int64],
    column: NDArray[np.int32],
    value: NDArray[np.float64],
    wanted: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]: ...
def sums_at(
    end: NDArray[np.int32],
    start: NDArray[np.int64],
    column: NDArray[np.int32],
    value: NDArray[np.float64],
    columns: NDArray[np.int32],
) -> NDArray[np.float64]: ...
def exact_sums(
    value: NDArray[np.float64], group: NDArray[np.int64] | None = None, n_groups: int = 1
) -> NDArray[np.float64]:
    """The sum of the values of each group, rounded once."""

def join_classes(end: NDArray[np.int32], statistic: NDArray[np.float64]) -> NDArray[np.float64]: ...
def join_moments(end: NDArray[np.int32], statistic: NDArray[np.float64]) -> NDArray[np.float64]: ...
def weakest_links(
    end: NDArray[np.int32], loss: NDArray[np.float64], cost: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """The level of each node; alpha, loss and leaves of each step."""

def front(
    end: NDArray[np.int32],
    loss: NDArray[np.float64],
    max_leaves: int | None = None,
    max_bytes: int = ...,
    keeps_choices: bool = True,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int32], NDArray[np.uint8]]:
    """Leaves and loss of each point; length and choices for `front_pruning`."""

def front_pruning(
    end: NDArray[np.int32], length: NDArray[np.int32], choices: NDArray[np.uint8], leaves: int
) -> NDArray[np.int32]:
    """The branches that become leaves at one point of the front."""

def attribute(
    *,
    columns: Columns,
    end: NDArray[np.int32],
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    subset: NDArray[np.int64],
    missing_left: NDArray[np.bool_],
    heavier_left: NDArray[np.bool_],
    subsets: NDArray[np.uint8],
    weight: NDArray[np.float64],
    answers: NDArray[np.float64],
    blocks: Sequence[int],
    background: Columns | None,
    n_threads: int,
) -> NDArray[np.float64]:
    """Shapley values [row, column, number of the answers].

    `weight`: of the nodes, or where there is a background of its rows, which then adds up to 1. `blocks`: the
    lengths of the parts of a leaf's answers that add up to the same for every leaf; none for plain numbers.
    """

class KDArrays(TypedDict):
    column: NDArray[np.int64]
    cut: NDArray[np.floating]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    begin: NDArray[np.int64]
    home: NDArray[np.int64]
    size: NDArray[np.int64]
    order: NDArray[np.int64]

class KDTree:
    n_points: int
    n_columns: int
    n_nodes: int
    n_leaves: int
    n_stored: int
    depth: int

    def __init__(
        self, points: NDArray[np.floating], leaf_size: int, rule: str, spill: float, n_threads: int
    ) -> None: ...
    def nearest(
        self, queries: NDArray[np.float64], k: int, metric: str, p: float, is_defeatist: bool, n_threads: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]: ...  # distance, index, visited
    def within(
        self,
        queries: NDArray[np.float64],
        radius: NDArray[np.float64],
        metric: str,
        p: float,  # of "minkowski"
        only_count: bool,
        in_order: bool,
        n_threads: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]: ...  # start, distance, index
    def points(self) -> NDArray[np.floating]: ...
    def arrays(self) -> KDArrays: ...

class BornAgainTree(TypedDict):
    column: NDArray[np.int32]  # in preorder; -1 at a leaf
    cut: NDArray[np.int32]  # of a leaf its class
    is_found: bool
    is_smallest: bool
    least_depth: int
    least_leaves: int
    ran_out_of_memory: bool
    n_regions: int

def born_again(
    *,
    roots: NDArray[np.int32],
    end: NDArray[np.int32],
    column: NDArray[np.int32],
    cut: NDArray[np.int32],  # value <= the threshold of this place in the column's list goes left
    votes: NDArray[np.float64],  # of each leaf for each class
    n_cuts: NDArray[np.int32],
    objective: str,
    seconds: float,
    max_bytes: int,
    progress: Callable[[float], object] | None,
) -> BornAgainTree: ...

class BoostedTrees(TypedDict):
    trees: list[GrownTree]  # iteration by iteration, one for each output
    train_loss: NDArray[np.float64]  # at the start, unless some were given, and after each iteration
    validation_loss: NDArray[np.float64]

def boost(
    *,
    columns: Columns,
    n_categories: Sequence[int],
    rows: NDArray[np.uint32] | None,  # those meant, in this order; None: all
    n_train: int,  # the rows after these only judge
    target: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    raw: NDArray[np.float64],  # (outputs, rows): changed in place
    loss: str,
    quantile: float,
    n_classes: int,
    max_cells: int,
    first_iteration: int,
    n_iterations: int,
    max_leaves: int,
    max_depth: int,
    min_rows_leaf: int,
    l2: float,
    max_step: float,  # of a leaf, before the learning rate
    learning_rate: float,
    columns_drawn: int,
    monotone: NDArray[np.int8] | None,
    groups: list[list[int]],  # columns that may be tested on one path together; empty: all
    seed: int,
    scored: bool,
    patience: int,
    tolerance: float,
    train_loss: Sequence[float],
    validation_loss: Sequence[float],
    n_threads: int,
    after: Callable[[int, float, float], bool] | None,  # leaves, losses: whether to stop
) -> BoostedTrees: ...
def loss_gradients(
    target: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    raw: NDArray[np.float64],
    loss: str,
    quantile: float = 0.5,
    n_classes: int = 2,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gradients and hessians, (outputs, rows)."""

def mean_loss(
    target: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    raw: NDArray[np.float64],
    loss: str,
    quantile: float = 0.5,
    n_classes: int = 2,
) -> float: ...
def exact_weighted_sums(
    values: NDArray[np.float64],
    weight: NDArray[np.float64] | None = None,
    group: NDArray[np.int64] | None = None,
    n_groups: int = 1,
) -> NDArray[np.float64]:
    """The sum of weight times value of each group, rounded once."""
