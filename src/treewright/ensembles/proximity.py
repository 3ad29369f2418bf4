"""Proximity: how often rows share a leaf; and quantiles of the training targets in the leaves of a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.encoding.rows import encoded_rows
from treewright.encoding.tables import available_memory
from treewright.ensembles.bootstrap import Draws
from treewright.ensembles.forest import Forest
from treewright.ensembles.out_of_bag import refuse_other_rows
from treewright.ensembles.side_by_side import Listener, results_in_order
from treewright.growing import n_threads
from treewright.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

_MOST_PAIRS = 2**22  # (row, training target) pairs in memory at a time
_HAIR = 1e-6  # by which shares may miss a level: they are stored in single precision


def leaves_of(forest: Forest, data: Any, n_jobs: int | None = None) -> Ints:
    """The leaf of each row, of a table or a Dataset, in each tree: (rows, trees)."""
    data = encoded_rows(data, "data", forest.schema)
    return np.stack(
        results_in_order(lambda tree, _: tree.apply(data), forest.trees, n_threads(n_jobs)), axis=1
    )


def proximity(
    forest: Forest,
    data: Any,
    other: Any = None,
    *,
    out_of_bag: bool = False,
    n_jobs: int | None = None,
) -> Floats:
    """The share of the trees in which two rows are in the same leaf: (rows of `data`, rows of `other`).

    Both are tables or Datasets; `other` are the same rows by default. With `out_of_bag`, `data` are the
    training rows, and only trees count that have seen neither row (0 without any): in the other trees, rows
    of one class are too close.

    >>> from treewright import encode, grow_forest
    >>> data = encode({"x": [1.0, 2.0, 8.0, 9.0]}, ["a", "a", "b", "b"])
    >>> near = proximity(grow_forest(data, n_estimators=20), data)
    >>> bool(near[0, 1] > near[0, 2]), float(near[0, 0])
    (True, 1.0)
    """
    data = encoded_rows(data, "data", forest.schema)
    other = None if other is None else encoded_rows(other, "other", forest.schema)
    n, m = data.n_rows, (other or data).n_rows
    have = available_memory()
    need = (2 + out_of_bag) * 8 * n * m
    if have is not None and need > have:
        raise MemoryError(
            f"the proximity of {n:,} to {m:,} rows takes {need / 1e9:.1f} GB, and only {have / 1e9:.1f} GB "
            "are available; take fewer rows"
        )
    if out_of_bag and other is not None:
        raise ValueError("out_of_bag is for pairs of training rows; leave other out")
    if out_of_bag:
        refuse_other_rows(forest, data)
    mine = leaves_of(forest, data, n_jobs)
    theirs = mine if other is None else leaves_of(forest, other, n_jobs)
    together = np.zeros((n, m))
    if not out_of_bag:
        for own, others in zip(mine.T, theirs.T, strict=True):
            together += own[:, np.newaxis] == others
        return np.asarray(together / len(forest))
    n_trees = np.zeros((n, m))
    for member, own in enumerate(mine.T):
        rows = forest.draws.left_out(member)
        block = np.ix_(rows, rows)
        together[block] += own[rows, np.newaxis] == own[rows]
        n_trees[block] += 1
    return np.divide(together, n_trees, out=np.zeros((n, m)), where=n_trees > 0)


@dataclass(frozen=True, eq=False)
class LeafTargets:
    """The training targets in the leaves of each tree, for quantile regression forests (Meinshausen 2006).

    Those of node i of tree t are ``order[t][start[t][i]:start[t][i + 1]]``, as places in `numbers`, which are
    sorted; each weighs ``weight[t][…]``, and those of a leaf add up to 1.
    """

    numbers: Floats
    start: tuple[NDArray[np.int64], ...]
    order: tuple[Ints, ...]
    weight: tuple[NDArray[np.float32], ...]

    @classmethod
    def of(
        cls, trees: Sequence[Tree], draws: Draws, data: Dataset, first: int = 0, n_jobs: int | None = None
    ) -> LeafTargets:
        """The targets of the rows of a table in trees that were grown from draws of them.

        `first` is the position of the first tree in the forest.
        """
        numbers, rank = np.unique(np.asarray(data.targets)[0], return_inverse=True)

        def sort_targets(place: int, _: Listener) -> tuple[NDArray[np.int64], Ints, NDArray[np.float32]]:
            weight = draws.weights(first + place)
            weight = np.ones(data.n_rows) if weight is None else weight
            rows = np.flatnonzero(weight)
            leaf = trees[place].apply(data)[rows]
            rows = rows[np.lexsort((rank[rows], leaf))]
            leaf = np.sort(leaf)
            n_nodes = trees[place].n_nodes
            total = np.bincount(leaf, weight[rows], n_nodes)
            start = np.searchsorted(leaf, np.arange(n_nodes + 1))
            share = (weight[rows] / total[leaf]).astype(np.float32)
            return start.astype(np.int64), rank[rows].astype(np.int32), share

        found = results_in_order(sort_targets, range(len(trees)), n_threads(n_jobs))
        start, order, share = ([each[k] for each in found] for k in range(3))
        return cls(numbers, tuple(start), tuple(order), tuple(share))  # type: ignore[arg-type]

    def extend(self, more: LeafTargets) -> LeafTargets:
        """These and the targets in further trees."""
        return LeafTargets(
            self.numbers, self.start + more.start, self.order + more.order, self.weight + more.weight
        )

    def quantiles(self, forest: Forest, data: Dataset, levels: Any, n_jobs: int | None = None) -> Floats:
        """The quantiles of the targets that share a leaf with each row, (rows, levels).

        The weight of a training row is its share in the leaf of the row, averaged over the trees; the
        quantile is the smallest target up to which the weights add up to the level.
        """
        probabilities = np.asarray(levels, np.float64)
        if probabilities.ndim != 1 or not ((probabilities >= 0) & (probabilities <= 1)).all():
            raise ValueError(f"quantiles are {levels!r}; they must be numbers from 0 to 1")
        leaf = leaves_of(forest, data, n_jobs)
        sizes = np.stack(
            [start[own + 1] - start[own] for start, own in zip(self.start, leaf.T, strict=True)], axis=1
        )
        ends = np.cumsum(sizes.sum(axis=1))
        out = np.empty((data.n_rows, len(probabilities)))
        first = 0
        while first < data.n_rows:
            reach = (ends[first - 1] if first else 0) + _MOST_PAIRS
            last = max(first + 1, int(np.searchsorted(ends, reach, side="right")))
            some = slice(first, last)
            many = sizes[some].sum() > (last - first) * len(self.numbers) / 8
            quantiles = self._counted_quantiles if many else self._sorted_quantiles
            out[some] = quantiles(leaf[some], sizes[some], probabilities)
            first = last
        return out

    def _counted_quantiles(self, leaf: Ints, sizes: NDArray[np.int64], probabilities: Floats) -> Floats:
        """For large leaves: shares are counted by target, once for each combination of leaves."""
        cache: dict[bytes, Floats] = {}
        out = np.empty((len(leaf), len(probabilities)))
        for i, own in enumerate(leaf):
            if (key := own.tobytes()) not in cache:
                leaves = [slice(*start[node : node + 2]) for start, node in zip(self.start, own, strict=True)]
                place = np.concatenate([order[rows] for order, rows in zip(self.order, leaves, strict=True)])
                share = np.concatenate([each[rows] for each, rows in zip(self.weight, leaves, strict=True)])
                cumulative = np.cumsum(np.bincount(place, share, len(self.numbers)))
                target = probabilities * cumulative[-1] - _HAIR * cumulative[-1]
                at = np.searchsorted(cumulative, target, side="left")
                cache[key] = self.numbers[np.maximum(at, place.min())]
            out[i] = cache[key]
        return out

    def _sorted_quantiles(self, leaf: Ints, sizes: NDArray[np.int64], probabilities: Floats) -> Floats:
        n = len(leaf)
        rows, places, shares = [], [], []
        for t, own in enumerate(leaf.T):
            count = sizes[:, t]
            row = np.repeat(np.arange(n), count)
            within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
            at = self.start[t][own[row]] + within
            rows.append(row)
            places.append(self.order[t][at])
            shares.append(self.weight[t][at])
        row, place = np.concatenate(rows), np.concatenate(places)
        share = np.concatenate(shares).astype(np.float64)
        order = np.lexsort((place, row))
        row, place, share = row[order], place[order], share[order]
        begin = np.searchsorted(row, np.arange(n + 1))
        cumulative = np.cumsum(share)
        before = np.concatenate([[0.0], cumulative])[begin[:-1]]
        whole = cumulative[begin[1:] - 1] - before
        out = np.empty((n, len(probabilities)))
        for k, level in enumerate(probabilities):
            at = np.searchsorted(cumulative, before + level * whole - _HAIR * whole, side="left")
            out[:, k] = self.numbers[place[np.clip(at, begin[:-1], begin[1:] - 1)]]
        return out
