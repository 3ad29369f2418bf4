"""Whether two tables hold the same rows, told from a few numbers that are kept instead of a table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding.dataset import Dataset

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


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
    return _labelled(data.row_hashes, data) if with_targets else data.row_hashes


def _labelled(rows: NDArray[np.uint64], data: Dataset) -> NDArray[np.uint64]:
    return rows * _FACTOR ^ _core.row_hashes(tuple(data.target_array))
