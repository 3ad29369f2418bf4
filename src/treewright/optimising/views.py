"""Ordered views of a table, whose cuts are all tests of the search, and the tests that they stand for.

A view gives each row a code; a cut sends the rows up to a code left. A column of numbers is one view, its
codes the ranks of its values. With missing values it is two: they come first, or they share the code of the
largest value; to cut the first view behind them is to test whether a value is missing. A column of categories
is a view of two codes for each set of categories that is tested against the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright._arrays import Array, Flags, Ints
from treewright.encoding import Dataset
from treewright.encoding.schema import Column
from treewright.growing.memory import check_memory
from treewright.growing.thresholds import Threshold, thresholds_in_gaps
from treewright.tree.builder import NodeEntry
from treewright.tree.conditions import subset_bits

Categories = Literal["single", "subset"]
Codes = NDArray[np.uint32]
_BYTES = 16  # of a cell of a view: its code, that of the rows in order, and what the search sorts
MOST_CATEGORIES = 8  # of a column all of whose subsets are tested, missing values counted as one


class NamedTest(NamedTuple):
    """A test as a tree stores it, and whether the rows that the cut sends left are on its right side."""

    entry: NodeEntry
    is_swapped: bool


@dataclass(frozen=True, eq=False)
class Views:
    """The views of the rows of a table.

    >>> from treewright import encode
    >>> views = Views.of(encode({"x": [3.0, 1.0, None], "sky": ["blue", "grey", "blue"]}))
    >>> views.column.tolist(), views.codes.tolist()
    ([0, 0, 1], [[2, 1, 0], [1, 0, 1], [0, 1, 0]])
    """

    data: Dataset
    column: Ints  # of each view
    codes: Codes  # (views, rows): dense, from 0

    @classmethod
    def of(cls, data: Dataset, categories: Categories = "single") -> Views:
        """All views that have a cut, column by column."""
        n_views = sum(_n_views(data, j, categories) for j in range(data.n_columns))
        what = f"searching {n_views:,} tests of {data.n_rows:,} rows"
        instead = "leave out columns of very many categories, or take fewer rows"
        check_memory(_BYTES * n_views * data.n_rows, what, instead)
        found = [(j, codes) for j in range(data.n_columns) for codes in _views(data, j, categories)]
        column = np.array([j for j, _ in found], np.int64)
        if not found:
            return cls(data, column, np.zeros((0, data.n_rows), np.uint32))
        return cls(data, column, np.stack([codes for _, codes in found]))

    def __len__(self) -> int:
        return len(self.column)

    def canonical(self, *, merges: bool) -> Views:
        """The same views with the rows in an order that depends on codes and targets alone; `merges` makes
        one row of equal ones.
        """
        _, target = np.unique(self.data.target_array[0], return_inverse=True)
        keys = np.ascontiguousarray(np.vstack([self.codes, target.astype(np.uint32)]).T)
        whole = keys.view(np.dtype((np.void, keys.itemsize * keys.shape[1])))[:, 0]
        if merges:
            _, first, group = np.unique(whole, return_index=True, return_inverse=True)
            data = self.data.take(first)
            if len(first) < self.data.n_rows:
                sums = _core.exact_sums(self.data.row_weights, group=group.ravel(), n_groups=len(first))
                data = data.with_weight(sums)
        else:
            first = np.lexsort((self.data.row_weights, np.unique(whole, return_inverse=True)[1].ravel()))
            data = self.data.take(first)
        return Views(data, self.column, np.ascontiguousarray(self.codes[:, first]))

    def cut_like(self, column: int, left: Flags, rows: Ints) -> tuple[int, int, bool] | None:
        """The view of a column, the code, and whether the sides are swapped, by which a cut divides the rows
        as `left` does; None where no cut does.
        """
        for view in np.flatnonzero(self.column == column).tolist():
            codes = self.codes[view, rows]
            for is_swapped, side in enumerate((left, ~left)):
                if (last := int(codes[side].max())) < int(codes[~side].min()):
                    return view, last, bool(is_swapped)
        return None


def _n_views(data: Dataset, position: int, categories: Categories) -> int:
    """The number of views of one column, at most."""
    column, values = data.schema.columns[position], data.column(position)
    if not column.is_category:
        return 2
    groups = len(np.unique(values))
    if categories == "subset":
        _check_few(column, groups)
        return int(2**groups)
    return 2 * groups


def _views(data: Dataset, position: int, categories: Categories) -> Iterator[Codes]:
    """The views of one column."""
    column, values = data.schema.columns[position], data.column(position)
    missing = column.type.is_missing(values)
    known, codes = np.unique(values[~missing], return_inverse=True)
    if column.is_category:
        group = np.full(data.n_rows, len(known))
        group[~missing] = codes
        n_groups = len(known) + bool(missing.any())
        for chosen in _subsets(n_groups, bool(missing.any()), categories):
            yield np.where(np.isin(group, chosen), 0, 1).astype(np.uint32)
        return
    ranks = np.full(data.n_rows, len(known) - 1)
    ranks[~missing] = codes
    if missing.any() and known.size:
        yield np.where(missing, 0, ranks + 1).astype(np.uint32)
    if len(known) > 1:
        yield ranks.astype(np.uint32)


def _subsets(n_groups: int, has_missing: bool, categories: Categories) -> Iterator[tuple[int, ...]]:
    """The sets of groups to test, each partition of the groups once; missing values are the last group."""
    if n_groups < 2:
        return
    last = n_groups - 1
    if categories == "subset" or n_groups < 3:  # the last group is always among the others
        for size in range(1, n_groups):
            yield from combinations(range(last), size)
        return
    n_known = n_groups - has_missing
    for one in range(n_known):
        yield (one,)
        if has_missing and n_known > 2:
            yield (one, last)
    if has_missing:
        yield (last,)


def _check_few(column: Column, n_groups: int) -> None:
    if n_groups > MOST_CATEGORIES:
        raise ValueError(
            f"categories='subset' tries all subsets of up to {MOST_CATEGORIES} categories; column "
            f"{column.name!r} has {n_groups}, missing values counted as one: set categories='single'"
        )


def named_test(data: Dataset, position: int, rows: Ints, left: Flags, threshold: Threshold) -> NamedTest:
    """The test of a column that divides the given rows as the mask `left` does.

    As in `grow`, a threshold lies between the values of the rows on both sides; missing values, and
    categories that none of the rows has, go to the heavier side.
    """
    column, values = data.schema.columns[position], data.column(position, rows)
    missing = column.type.is_missing(values)
    on_left, on_right = values[left & ~missing], values[~left & ~missing]
    weight = data.row_weights[rows]
    heavier_left = bool(_core.exact_sums(weight[left])[0] >= _core.exact_sums(weight[~left])[0])
    if not (on_left.size and on_right.size):  # whether the value is known: if it is, rows go left
        n = len(column.categories)
        bits = subset_bits(n, range(n)) if column.is_category else b""
        entry = NodeEntry(position, np.nan if column.is_category else np.inf, bits, missing_left=False)
        return NamedTest(entry, is_swapped=not on_left.size)
    missing_left = bool(left[missing].any()) if missing.any() else heavier_left
    if column.is_category:
        passes = np.full(len(column.categories), heavier_left)
        passes[on_left], passes[on_right] = True, False
        bits = subset_bits(len(passes), np.flatnonzero(passes).tolist())
        return NamedTest(NodeEntry(position, np.nan, bits, missing_left), is_swapped=False)
    value = _threshold(data, position, on_left, on_right, threshold)
    return NamedTest(NodeEntry(position, value, b"", missing_left), is_swapped=False)


def _threshold(data: Dataset, position: int, below: Array, above: Array, threshold: Threshold) -> float:
    low, high = (np.array([value], np.float64) for value in (below.max(), above.min()))
    return float(thresholds_in_gaps(np.array([position], np.int32), low, high, data, threshold)[0])
