"""How much each column matters to a random forest: by rows that a tree was not grown from, or by gain."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset
from treewright.encoding.schema import Schema
from treewright.ensembles.permutation import shuffled_rises
from treewright.ensembles.side_by_side import Listener, gathered
from treewright.growing import grow, n_threads
from treewright.tree.oblique import by_column

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Measure = Literal["permutation", "gain"]
POOL = 20  # times as many columns as a node draws, a tree may look at
MEASURES: tuple[Measure, ...] = get_args(Measure)


def importances_of(
    data: Dataset,
    n_trees: int,
    seed: int,
    n_jobs: int | None = None,
    *,
    by: Measure = "permutation",
    draws: Callable[[int], int] | None = None,
    spawn_key: tuple[int, ...] = (),
    progress: Listener | None = None,
    **growing: Any,
) -> Floats:
    """The importance of each column in a random forest.

    Each tree is grown from a bootstrap of the rows, each of its nodes draws √columns; of more than 400
    columns each tree first draws 20 times as many to look at, which spares it to sort the others. By
    "permutation" each column is shuffled among the rows that a tree was not grown from, and what they lose
    more is the column's importance to it; told is the mean over the trees in units of its standard error, as
    Breiman's z. By "gain" it is the share of the column in all risk that splits took away, which favours
    columns of many values.

    Parameters
    ----------
    data : Dataset
        Rows with their targets.
    n_trees, seed : int
        How many trees, and the seed of all draws; tree i is the same whatever their number.
    n_jobs : int, optional
        Threads, of which the result does not depend.
    by : {"permutation", "gain"}
        See above.
    draws : callable, optional
        How many columns a node draws of so many; their root by default.
    spawn_key : tuple of int
        Which of several forests of one seed.
    progress : callable, optional
        Told the share that is done; what it raises ends the work.
    **growing
        How to grow: keyword arguments of `grow`.

    Examples
    --------
    >>> from treewright import encode
    >>> data = encode({"x": range(40), "odd": [i % 2 for i in range(40)]}, [0] * 20 + [1] * 20)
    >>> x, odd = importances_of(data, 20, seed=0)
    >>> bool(x > 4 > odd)
    True
    """
    if data.n_rows > _core.small_rows:
        data.bins(n_threads(n_jobs))  # once for all trees
    per_node = (draws or _root)(data.n_columns)
    per_tree = min(POOL * per_node, data.n_columns)
    options = growing | {"max_features": per_node if per_node < per_tree else None}

    def work(number: int, told: Listener) -> Floats:
        sequence = np.random.SeedSequence(seed, spawn_key=(*spawn_key, number))
        rng = np.random.default_rng(sequence)
        pool = _pool(data.n_columns, per_tree, rng)
        part = data if pool is None else data.narrowed(pool)
        counts = _bootstrap(data, rng)
        drawn = part.reweighted(counts * data.row_weights)
        seed_of_nodes = int(rng.integers(2**31))
        tree = grow(drawn, seed=seed_of_nodes, progress=told, threshold="midpoint", **options)
        if by == "gain":
            gain = by_column(tree, tree.gain)
            found = np.asarray(gain / (gain.sum() or 1.0))
        else:
            found = shuffled_rises(tree, part, np.flatnonzero((counts == 0) & (data.row_weights > 0)), rng)
        if pool is None:
            return found
        whole = np.zeros(data.n_columns)
        whole[pool] = found
        return whole

    # sums in the order of the trees: the same to the bit for any number of threads
    sums = np.zeros((2, data.n_columns))
    for each in gathered(work, range(n_trees), n_threads(n_jobs), progress):
        sums += each, each**2
    mean = sums[0] / n_trees
    if by == "gain":
        return np.asarray(mean)
    error = np.sqrt(np.maximum(sums[1] / n_trees - mean**2, 0.0) / n_trees)
    return np.asarray(np.divide(mean, error, out=np.zeros_like(mean), where=error > 0))


def _pool(n_columns: int, n_drawn: int, rng: np.random.Generator) -> Ints | None:
    """The columns that a tree may look at, in order; None: all of them."""
    return None if n_drawn >= n_columns else np.sort(rng.choice(n_columns, n_drawn, replace=False))


def _root(n_columns: int) -> int:
    return max(1, int(sqrt(n_columns)))


def _bootstrap(data: Dataset, rng: np.random.Generator) -> Floats:
    """How often each row is drawn; only rows that weigh something are."""
    counted, counts = data.counted, np.zeros(data.n_rows)
    counts[counted] = np.bincount(rng.integers(0, len(counted), len(counted)), minlength=len(counted))
    return counts


def with_shadows(data: Dataset, rng: np.random.Generator, least: int = 5) -> Dataset:
    """The table with a shuffled copy of each column after them; of few columns with several of each.

    >>> from treewright import encode
    >>> data = encode({"x": [1.0, 2.0, 3.0]}, [0, 1, 1])
    >>> both = with_shadows(data, np.random.default_rng(0), least=2)
    >>> both.n_columns, sorted(both.column(2).tolist())
    (3, [1.0, 2.0, 3.0])
    """
    d, n = data.n_columns, data.n_rows
    origin = [j for _ in range(max(1, -(-least // d))) for j in range(d)]
    orders = [rng.permutation(n) for _ in origin]
    shadows = tuple(data.schema.columns[j] for j in origin)
    schema = Schema((*data.schema.columns, *shadows), data.schema.targets)
    if isinstance(data.columns, np.ndarray):
        matrix = np.empty((n, d + len(origin)), data.columns.dtype, order="F")
        matrix[:, :d] = data.columns
        for place, (j, order) in enumerate(zip(origin, orders, strict=True), d):
            matrix[:, place] = data.columns[order, j]
        both = Dataset(schema, matrix, data.targets, data.weight)
    else:
        copies = (data.column(j, order) for j, order in zip(origin, orders, strict=True))
        both = Dataset(schema, (*data.columns, *copies), data.targets, data.weight)
    if "_bins" in vars(data):  # the bins of shuffled values are the shuffled bins
        bins, is_mixed = data.bins()
        copied = [bins[order, j] for j, order in zip(origin, orders, strict=True)]
        made = np.column_stack([bins, *copied]), np.concatenate([is_mixed, is_mixed[origin]])
        object.__setattr__(both, "_bins", made)
    return both
