"""The statistic of trees with very many classes: only the leaves hold it, and only what is not zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from treewright import _core
from treewright._arrays import Array, Flags, Floats, Int32s, Ints
from treewright.tree.frozen_arrays import FrozenArrays


class Summary(NamedTuple):
    """The statistic in brief for each node (first axis) and target (second axis)."""

    weight: Floats
    label: Ints  # the heaviest class, the first among equals
    heaviest: Floats  # its weight
    risk: Floats


@dataclass(frozen=True, eq=False)
class SparseRows(FrozenArrays):
    """A matrix with a row for each node of a tree, in the memory of its leaves' classes.

    A leaf's row is `column[start[i]:start[i + 1]]`, ascending, with the weights `value`. A branch's row is
    the sum of its children's, computed when needed. So the memory is bounded by the training rows, however
    deep the tree is. Indexing returns dense arrays: `rows[3]`, `rows[[1, 2]]`, `rows[3, :10]`;
    `np.asarray(rows)` is the whole matrix.

    >>> rows = SparseRows.of([3, 2, 3], [[0, 0, 0], [2, 0, 0], [1, 4, 0]])
    >>> rows.column.tolist(), rows.value.tolist()
    ([0, 0, 1], [2.0, 1.0, 4.0])
    >>> rows[0].tolist()
    [3.0, 4.0, 0.0]
    """

    end: Int32s  # the shape of the tree: one past the subtree at i
    start: Ints  # n + 1
    column: Int32s
    value: Floats
    width: int

    @classmethod
    def of(cls, end: Any, dense: Any) -> SparseRows:
        """The rows of a dense matrix at the leaves of a tree; those of branches are ignored."""
        shape: Int32s = np.asarray(end, np.int32)
        matrix: Floats = np.asarray(dense, np.float64)
        leaves = np.flatnonzero(shape == np.arange(1, len(shape) + 1))
        place, column = np.nonzero(matrix[leaves])
        return cls.from_cells(shape, leaves[place], column, matrix[leaves[place], column], matrix.shape[1])

    @classmethod
    def from_weights(cls, end: Int32s, node: Any, column: Any, weight: Floats, width: int) -> SparseRows:
        """Weights summed by leaf and column, rounded once."""
        present = weight > 0
        keys = np.asarray(node, np.int64)[present] * width + np.asarray(column)[present]
        cells, cell = np.unique(keys, return_inverse=True)
        value = _core.exact_sums(weight[present], group=cell.ravel(), n_groups=len(cells))
        return cls.from_cells(end, cells // width, cells % width, value, width)

    @classmethod
    def from_cells(cls, end: Int32s, node: Any, column: Any, value: Floats, width: int) -> SparseRows:
        """From single cells, sorted by leaf and column."""
        start = np.concatenate([[0], np.cumsum(np.bincount(node, minlength=len(end)))])
        return cls(end, start.astype(np.int64), column.astype(np.int32), value, width)

    # ---- like an array -----------------------------------------------------------------------------

    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes and columns."""
        return len(self.end), self.width

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """The type of the values."""
        return self.value.dtype

    @property
    def nbytes(self) -> int:
        """The memory that the arrays take."""
        return sum(array.nbytes for array in self._arrays())

    def __len__(self) -> int:
        return len(self.end)

    def __getitem__(self, key: Any) -> Any:
        first, *rest = key if isinstance(key, tuple) else (key,)
        nodes = np.arange(len(self))[first]
        dense = self._dense(np.atleast_1d(nodes))
        if nodes.ndim == 0:
            return dense[0][tuple(rest)] if rest else dense[0]
        return dense[(slice(None), *rest)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("compressed rows become an array only by a copy")
        return np.asarray(self[:], dtype)

    def __eq__(self, other: object) -> bool:
        """Whether two hold the same numbers; the other may be dense."""
        if isinstance(other, np.ndarray):
            return np.array_equal(np.asarray(self), other)
        return super().__eq__(other)

    # ---- statistics of trees -----------------------------------------------------------------------

    def summary(self, criterion: str, widths: tuple[int, ...]) -> Summary:
        """Weight, heaviest class and risk of every node, for blocks of columns of the given widths."""
        borders = np.concatenate([[0], np.cumsum(widths)]).astype(np.int32)
        return Summary(*_core.summarise(criterion, *self._arrays(), borders))

    def at(self, columns: Any) -> Floats:
        """For each node the values in some columns of its own: a row of `columns` for each node."""
        return _core.sums_at(*self._arrays(), np.ascontiguousarray(columns, np.int32))

    def of_nodes(self, nodes: Flags, end: Int32s) -> SparseRows:
        """The rows of a smaller tree of the shape `end`, made of some of the nodes."""
        leaves = np.zeros(len(self), np.bool_)
        leaves[np.flatnonzero(nodes)[end == np.arange(1, len(end) + 1)]] = True
        start, column, value = _core.wanted_sums(*self._arrays(), leaves)
        lengths = np.zeros(len(self) + 1, np.int64)
        lengths[1:][leaves] = np.diff(start)
        return SparseRows(end, np.cumsum(lengths[np.append(True, nodes)]), column, value, self.width)

    def shares(self, nodes: Array, widths: tuple[int, ...]) -> list[Floats]:
        """The rows of the given nodes, each divided by its sum: a dense matrix for each block."""
        row, column, value = self._cells(nodes)
        shares, first = [], 0
        for width in widths:
            own = (column >= first) & (column < first + width)
            dense = np.zeros((len(nodes), width))
            total = np.bincount(row[own], weights=value[own], minlength=len(nodes))
            dense[row[own], column[own] - first] = value[own] / total[row[own]]
            shares.append(dense)
            first += width
        return shares

    def _dense(self, nodes: Array) -> Floats:
        row, column, value = self._cells(nodes)
        dense = np.zeros((len(nodes), self.width))
        dense[row, column] = value
        return dense

    def _cells(self, nodes: Array) -> tuple[Ints, Int32s, Floats]:
        """The non-zero cells of some nodes' rows: position in `nodes`, column and value."""
        if not np.all(self.end[nodes] == nodes + 1):
            return self._cells_of_branches(nodes)
        length = self.start[nodes + 1] - self.start[nodes]
        row = np.repeat(np.arange(len(nodes)), length)
        place = np.arange(len(row)) + (self.start[nodes] - np.cumsum(length) + length)[row]
        return row, self.column[place], self.value[place]

    def _cells_of_branches(self, nodes: Array) -> tuple[Ints, Int32s, Floats]:
        """The same where some nodes are branches: from the slice of all their subtrees."""
        first = nodes.min()
        last = self.end[first : nodes.max() + 1].max()
        start = self.start[first : last + 1] - self.start[first]
        cells = slice(self.start[first], self.start[last])
        end = self.end[first:last] - np.int32(first)
        different, position = np.unique(nodes, return_inverse=True)
        flags = np.zeros(last - first, np.bool_)
        flags[different - first] = True
        sums = _core.wanted_sums(end, start, self.column[cells], self.value[cells], flags)
        shape = np.arange(1, len(different) + 1, dtype=np.int32)
        return SparseRows(shape, *sums, self.width)._cells(position)

    def _arrays(self) -> tuple[Int32s, Ints, Int32s, Floats]:
        return self.end, self.start, self.column, self.value
