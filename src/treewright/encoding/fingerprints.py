"""Whether two tables hold the same rows, told from a few numbers that are kept instead of a table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright.encoding.dataset import Dataset

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT, _HALF = np.uint64(29), np.uint64(32)
_TWO, _THREE = np.uint64(2), np.uint64(3)
_AT_A_TIME = 4096  # rows, so that they stay in the cache from one column to the next


class Fingerprint(NamedTuple):
    """Numbers that other rows have by chance only, once in some 10¹⁸ cases."""

    rows: int  # the columns, whatever the order of the rows
    in_order: int  # the columns, in their order
    with_targets: int  # columns and targets, in their order

    def refuse_others(self, data: Dataset, why: str) -> None:
        """ValueError that says what is not as it was, where a table is not the one of this fingerprint: its
        rows, their order or their targets. `why` is what needs them.

        >>> from treewright import encode
        >>> own, turned = encode([[1.0], [2.0]], [0, 1]), encode([[2.0], [1.0]], [1, 0])
        >>> fingerprint(own).refuse_others(turned, "rows out of bag are known by their place")
        Traceback (most recent call last):
        ValueError: these are the rows of the fit in another order; give them in the order of the fit: rows \
out of bag are known by their place
        """
        given = fingerprint(data)
        if given == self:
            return
        if given.in_order == self.in_order:
            what = "these are the rows of the fit with other targets; give them with those of the fit"
        elif given.rows == self.rows:
            what = "these are the rows of the fit in another order; give them in the order of the fit"
        else:
            what = "these are not the rows of the fit; give all of them, in their order"
        raise ValueError(f"{what}: {why}")


def fingerprint(data: Dataset) -> Fingerprint:
    """The fingerprint of a table.

    >>> from treewright import encode
    >>> one, other = encode([[1.0], [2.0]], [0, 1]), encode([[2.0], [1.0]], [1, 0])
    >>> fingerprint(one).rows == fingerprint(other).rows
    True
    >>> fingerprint(one).in_order == fingerprint(other).in_order
    False
    """
    rows = row_numbers(data)
    labelled = rows if data.targets is None else _labelled(rows, data)
    with np.errstate(over="ignore"):
        place = np.arange(1, data.n_rows + 1, dtype=np.uint64) * _FACTOR | np.uint64(1)
        sums = rows.sum(), (rows * place).sum(), (labelled * place).sum()
    return Fingerprint(*(int(each) for each in sums))


def row_numbers(data: Dataset, *, with_targets: bool = False) -> NDArray[np.uint64]:
    """A number for each row: equal for equal rows, and as good as never for others."""
    rows = np.zeros(data.n_rows, np.uint64)
    for first in range(0, data.n_rows, _AT_A_TIME):
        some = slice(first, first + _AT_A_TIME)
        if isinstance(data.columns, np.ndarray):
            rows[some] = _mixed_cells(data.columns[some], 0).sum(axis=1, dtype=np.uint64)
        else:
            for position, column in enumerate(data.columns):
                rows[some] += _mixed_cells(column[some, np.newaxis], position)[:, 0]
    rows = _mixed(rows)
    return _labelled(rows, data) if with_targets else rows


def _labelled(rows: NDArray[np.uint64], data: Dataset) -> NDArray[np.uint64]:
    return _mixed(rows + _mixed_cells(np.asarray(data.targets).T, 0).sum(axis=1, dtype=np.uint64))


def _mixed_cells(cells: NDArray[np.generic], first: int) -> NDArray[np.uint64]:
    """A number for each cell of columns from the place `first` on; all missing numbers are alike."""
    numbers = cells.astype(np.float64)
    numbers += 0.0  # −0 is 0
    missing = np.isnan(numbers)
    if missing.any():
        numbers[missing] = np.nan
    mixed = numbers.view(np.uint64)
    mixed ^= mixed >> _HALF
    mixed *= _FACTOR * (np.arange(first, first + cells.shape[1], dtype=np.uint64) * _TWO + _THREE)  # all odd
    return _mixed(mixed)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers of which every bit depends on many; it is done in place."""
    numbers ^= numbers >> _SHIFT
    numbers *= _FACTOR
    numbers ^= numbers >> _HALF
    return numbers
