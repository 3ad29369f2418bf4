"""How much memory growing a tree takes, estimated beforehand."""

from __future__ import annotations

import math

from treewright import _core
from treewright.encoding import Dataset
from treewright.encoding.tables import available_memory
from treewright.tree.number_losses import NUMBER_LOSSES

# As in the core (growing.cpp): what an excerpt of the table and the sorted lists of one thread hold at most.
_EXCERPT_ROWS, _EXCERPT_BYTES, _LIST_ROWS = 2**16, 2**24, 2**14
_KEPT_HISTOGRAMS = 2**28
_LISTS_ONLY = NUMBER_LOSSES.keys() - {"squared_error"}  # criteria without histograms: lists of all rows
_PLENTY = 2**28  # bytes that every machine has
_NODE = 56  # bytes of a node while it grows; subtrees are grown apart, then put together
_FINISHED_NODE = 80  # and in the arrays of the tree, with the gap of its threshold, without its statistic


def memory_needed(
    data: Dataset, *, criterion: str | None = None, n_leaves: int | None = None, n_threads: int = 1
) -> int:
    """About how many bytes growing takes on top of the data, the finished tree included.

    An estimate from above, by a factor of up to about two, for a tree of `n_leaves` leaves; by default of as
    many as there are rows.

    >>> from treewright import encode
    >>> memory_needed(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"])) < 10**6
    True
    """
    n, d, schema = data.n_rows, data.n_columns, data.schema
    leaves = n if n_leaves is None else min(n, n_leaves)
    tree = 2 * leaves * (2 * _NODE + _FINISHED_NODE + 8 * (2 if schema.is_wide else schema.width))
    if n <= _core.small_rows:
        return int(tree + n * (4 * d + 64)) + 2**18
    by_row = 8 + 2 * d  # the order of the rows, with room to divide it, and fine bins
    by_row += 8 if schema.predicts_classes else 40  # targets on their grid, and keys to sort by
    by_row += 24 if data.weight is not None else 0
    if criterion in _LISTS_ONLY or len(schema.targets) > 1 or schema.is_wide:
        return int(tree + n * (by_row + 8 * d + 64)) + 2**20
    histogram = 256 * 8 * d * (schema.width + 1)
    histograms = min(_KEPT_HISTOGRAMS, histogram * (2 + 2 * math.log2(1 + n / _LIST_ROWS)))
    cell_bytes = sum(column.itemsize + 2 for column in data.column_arrays)
    excerpt_rows = min(_EXCERPT_ROWS, _EXCERPT_BYTES // cell_bytes, n // 2)
    excerpt = excerpt_rows * (cell_bytes + 32) if excerpt_rows > _LIST_ROWS else 0
    lists = min(n, _LIST_ROWS) * (4 * d + 64)
    return int(tree + n * by_row + histograms + n_threads * (excerpt + lists + histogram)) + 2**20


def check_memory(need: int, what: str = "growing", instead: str = "take fewer rows or columns") -> None:
    """MemoryError where the system has less free memory than `need`."""
    have = available_memory() if need > _PLENTY else None
    if have is not None and need > have:
        raise MemoryError(
            f"{what} needs about {need / 1e9:.1f} GB of memory, but only {have / 1e9:.1f} GB are available; "
            f"{instead}"
        )
