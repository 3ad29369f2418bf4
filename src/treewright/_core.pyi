"""The native boundary on one page: arrays in, arrays out."""

from collections.abc import Callable, Sequence
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from treewright._arrays import Bytes, Flags, Floats, Int32s, Ints

Columns = NDArray[np.floating] | Sequence[NDArray[np.floating] | Int32s]

class GrownTree(TypedDict):
    end: Int32s
    feature: Int32s
    step: Int32s
    low: Floats
    high: Floats
    subset: Ints
    rows: Ints
    missing_left: Bytes
    subsets: Bytes
    directions: list[tuple[Int32s, Floats]]  # columns and weights of each
    statistic: Floats  # or, of a wide table, the rows of the leaves:
    start: Ints
    column: Int32s
    value: Floats

class CarefullyGrownTree(GrownTree):
    joined: Bytes
    surrogate_node: Int32s
    surrogate_feature: Int32s
    surrogate_low: Floats
    surrogate_high: Floats
    surrogate_subset: Ints
    surrogate_subsets: Bytes
    surrogate_reversed: Bytes
    surrogate_agreement: Floats
    surrogate_adjusted: Floats

kd_metrics: tuple[str, ...]
small_rows: int  # tables up to this size are grown in sorted lists, without bins
word_rows: int  # sums of more rows have two words where they have grids
max_ranked_rows: int  # tables of more rows have no ranks

def criteria() -> list[tuple[str, Literal["classes", "numbers"]]]: ...
def risk(criterion: str, statistic: Floats) -> Floats: ...

class SharedTable:
    def __init__(
        self, columns: Columns, n_categories: Sequence[int], ranks: NDArray[np.uint16] | None = None
    ) -> None: ...

def grow(
    *,
    columns: Columns | SharedTable,
    n_categories: Sequence[int],
    bins: NDArray[np.uint16] | None,
    is_mixed: Bytes | None,
    labels: Int32s | None,
    n_classes: Sequence[int],
    is_wide: bool,
    numbers: Floats | None,
    weight: Floats | None,
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
    critical: Floats | None,
    correction: int,
    combined: Sequence[int],  # columns that may be added up
    max_combined: int,
    n_threads: int,
    progress: Callable[[float], object] | None,
    ranks: NDArray[np.uint16] | None = None,
    word_rows: int = 0,
) -> GrownTree: ...
def grow_constrained(
    *,
    columns: Columns,
    n_categories: Sequence[int],
    labels: Int32s | None,
    n_classes: Sequence[int],
    numbers: Floats | None,
    weight: Floats | None,
    criterion: str,
    max_depth: int,
    max_splits: int,
    min_rows_split: int,
    min_rows_leaf: int,
    min_weight_leaf: float,
    min_gain: float,
    max_columns: int,
    seed: int,
    critical: Floats | None,
    correction: int,
    n_threads: int,
    progress: Callable[[float], object] | None,
    missing: str,
    n_surrogates: int,
    monotone: NDArray[np.int8] | None,
    groups: Sequence[Sequence[int]] | None,
    max_columns_used: int,
    prices: Floats | None,
    costs: Floats | None,
    multiway: bool,
    once: bool,
    release8: bool,
    is_wide: bool = False,
    case_weight: Floats | None = None,
    random_splits: bool = False,
) -> CarefullyGrownTree: ...
def bin_columns(
    columns: Columns, n_categories: Sequence[int], n_threads: int
) -> tuple[NDArray[np.uint16], Bytes]: ...
def rank_cells(columns: Columns, n_categories: Sequence[int], n_threads: int) -> NDArray[np.uint16]: ...
def readable(low: Floats, high: Floats) -> Floats: ...
def midpoint(low: Floats, high: Floats) -> Floats: ...

class TreeView:
    """The tests of a tree, checked and ready to predict with; the arrays are kept, not copied.

    `directions`: columns and weights of each, which follow the columns of the table in `feature`.
    `surrogates`: start, feature, threshold, subset, reversed and subsets; node i has start[i] … start[i + 1].
    """

    def __init__(
        self,
        n_columns: int,
        end: Int32s,
        feature: Int32s,
        threshold: Floats,
        subset: Ints,
        missing_left: Flags,
        heavier_left: Flags,
        subsets: Bytes,
        directions: Sequence[tuple[Int32s, Floats]] = (),
        surrogates: tuple[Ints, Int32s, Floats, Ints, Flags, Bytes] | None = None,
    ) -> None: ...

def apply(tree: TreeView, columns: Columns, n_threads: int) -> Int32s:
    """The leaf of each row."""

def spread(
    tree: TreeView, columns: Columns, weight: Floats, first: int, most: int
) -> tuple[Ints, Int32s, Floats]:
    """About `most` parts of the rows from `first` on, where missing values go to both sides by the weights of
    the nodes: the start of each row, leaves, shares.
    """

def totals(trees: Sequence[TreeView], values: Sequence[Floats], columns: Columns, n_threads: int) -> Floats:
    """The sum over trees of the line of values at the leaf of each row."""

def row_hashes(columns: Columns, n_threads: int = 1) -> NDArray[np.uint64]:
    """A number for each row: equal for equal rows, and as good as never for others."""

def summarise(
    criterion: str, end: Int32s, start: Ints, column: Int32s, value: Floats, borders: Int32s
) -> tuple[Floats, Ints, Floats, Floats]: ...
def wanted_sums(
    end: Int32s, start: Ints, column: Int32s, value: Floats, wanted: Flags
) -> tuple[Ints, Int32s, Floats]: ...
def sums_at(end: Int32s, start: Ints, column: Int32s, value: Floats, columns: Int32s) -> Floats: ...
def exact_sums(
    value: Floats, weight: Floats | None = None, group: Ints | None = None, n_groups: int = 1
) -> Floats:
    """The sum of value, or of weight times value, of each group, rounded once."""

def join_classes(end: Int32s, statistic: Floats) -> Floats: ...
def join_moments(end: Int32s, statistic: Floats) -> Floats: ...
def weakest_links(
    end: Int32s, loss: Floats, cost: Floats | None = None
) -> tuple[Floats, Floats, Floats, Ints]:
    """The level of each node; alpha, loss and leaves of each step."""

def front(
    end: Int32s, loss: Floats, max_leaves: int | None = None, max_bytes: int = ..., keeps_choices: bool = True
) -> tuple[Ints, Floats, Int32s, Bytes]:
    """Leaves and loss of each point; length and choices for `front_pruning`."""

def front_pruning(end: Int32s, length: Int32s, choices: Bytes, leaves: int) -> Int32s:
    """The branches that become leaves at one point of the front."""

def shapley_values(
    tree: TreeView,
    columns: Columns,
    *,
    weight: Floats,
    answers: Floats,
    blocks: Sequence[int],
    background: Columns | None,
    n_threads: int,
) -> Floats:
    """Shapley values [row, column, number of the answers].

    `weight`: of the nodes, or where there is a background of its rows, which then adds up to 1. `blocks`: the
    lengths of the parts of a leaf's answers that add up to the same for every leaf; none for plain numbers.
    """

class KDArrays(TypedDict):
    column: Ints
    cut: NDArray[np.floating]
    left: Ints
    right: Ints
    begin: Ints
    home: Ints
    size: Ints
    order: Ints

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
        self, queries: Floats, k: int, metric: str, p: float, is_defeatist: bool, n_threads: int
    ) -> tuple[Floats, Ints, Ints]: ...  # distance, index, visited
    def within(
        self,
        queries: Floats,
        radius: Floats,
        metric: str,
        p: float,  # of "minkowski"
        only_count: bool,
        in_order: bool,
        n_threads: int,
    ) -> tuple[Ints, Floats, Ints]: ...  # start, distance, index
    def points(self) -> NDArray[np.floating]: ...
    def arrays(self) -> KDArrays: ...

class BornAgainTree(TypedDict):
    column: Int32s  # in preorder; -1 at a leaf
    cut: Int32s  # of a leaf its class
    is_found: bool
    is_smallest: bool
    least_depth: int
    least_leaves: int
    ran_out_of_memory: bool
    n_regions: int

def born_again(
    *,
    roots: Int32s,
    end: Int32s,
    column: Int32s,
    cut: Int32s,  # value <= the threshold of this place in the column's list goes left
    votes: Floats,  # of each leaf for each class
    n_cuts: Int32s,
    objective: str,
    seconds: float,
    max_bytes: int,
    progress: Callable[[float], object] | None,
) -> BornAgainTree: ...

class FoundOptimum(TypedDict):
    view: Int32s  # of each node in preorder; -1 at a leaf
    code: NDArray[np.uint32]  # rows whose code in the view is at most this go left
    loss: int  # the price of the leaves included
    bound: int
    unit: float  # of the two, where the targets are numbers
    stopped: str
    history: Floats  # (moments, 4): seconds, work, loss, bound
    work: int

def optimise(
    *,
    codes: NDArray[np.uint32],  # (views, rows), dense from 0
    labels: Int32s | None,
    n_classes: int,
    weights: Ints | None,
    gains: Ints | None,  # (classes, answers): what each answer saves
    numbers: Floats | None,
    max_depth: int,
    max_leaves: int,
    min_rows: int,
    leaf_price: int,
    seconds: float,
    max_work: int,
    max_bytes: int,
    gap: int,
    root_views: NDArray[np.uint8] | None,
    first_view: Int32s | None,
    first_code: NDArray[np.uint32] | None,
    n_threads: int,
    progress: Callable[[float, float, float], object] | None,  # seconds, loss, bound
) -> FoundOptimum: ...

class BoostedTrees(TypedDict):
    trees: list[GrownTree]  # iteration by iteration, one for each output
    train_loss: Floats  # at the start, unless some were given, and after each iteration
    validation_loss: Floats

def boost(
    *,
    columns: Columns,
    n_categories: Sequence[int],
    rows: NDArray[np.uint32] | None,  # those meant, in this order; None: all
    n_train: int,  # the rows after these only judge
    target: Floats,
    weight: Floats | None,
    raw: Floats,  # (outputs, rows): changed in place
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
    target: Floats, weight: Floats | None, raw: Floats, loss: str, quantile: float = 0.5, n_classes: int = 2
) -> tuple[Floats, Floats]:
    """Gradients and hessians, (outputs, rows)."""

def mean_loss(
    target: Floats, weight: Floats | None, raw: Floats, loss: str, quantile: float = 0.5, n_classes: int = 2
) -> float: ...
