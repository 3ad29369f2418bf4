"""Rows that are known again without being kept: by a few numbers for some of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treewright.encoding.dataset import Dataset
from treewright.encoding.fingerprints import row_numbers

_MOST = 4096  # different rows that are kept, as numbers of eight bytes and how often each came
_LARGEST = 2**64 - 1  # that a number can be
_ACCIDENT = 1e-6  # a chance that nobody has to reckon with
_LARGE_SHARE = 0.1  # of rows that occur again, from which on they change what is said of all


@dataclass(frozen=True, eq=False)
class KnownRows:
    """The rows of a table with their targets, some of them as numbers: whether others are they can be told.

    Of many different rows those with the smallest numbers are kept: as good as drawn, and the same ones from
    any table that has them, in whatever order and however often.

    Equal rows need not be the same: a table of a few categories has no others. How likely a new row is one
    that is there already, is told by how many rows of the table come more than once (Good and Turing).

    >>> from treewright import encode
    >>> data = encode({"x": range(100)}, [0, 1] * 50)
    >>> known = KnownRows.of(data)
    >>> known.are_in(data.take(range(98, 0, -1))), known.are_in(encode({"x": range(100, 200)}, [0, 1] * 50))
    (True, False)
    """

    kept: NDArray[np.uint64]  # numbers of rows; each once where they are counted
    counts: NDArray[np.int32] | None  # how often each came; None: as often as it is there
    limit: int  # no row with a larger number is kept
    n_rows: int  # of the table, those that weigh something

    @classmethod
    def of(cls, data: Dataset) -> KnownRows:
        """The rows of a table that weigh something."""
        rows, limit = _numbers(data), _LARGEST
        if len(rows) <= _MOST:  # they are counted when they are asked for: a small fit is done in no time
            return cls(rows, None, limit, len(rows))
        some = rows
        if len(rows) > 2 * _MOST:  # to sort a part of them is enough, if it has as many different ones
            some = rows[rows <= np.uint64(_LARGEST // len(rows) * 2 * _MOST)]
        number, count = np.unique(some, return_counts=True)
        if len(number) < _MOST and len(some) < len(rows):
            number, count = np.unique(rows, return_counts=True)
        if len(number) > _MOST:
            number, count = number[:_MOST], count[:_MOST]
            limit = int(number[-1])
        return cls(number, count.astype(np.int32), limit, len(rows))

    @cached_property
    def _counted(self) -> tuple[NDArray[np.uint64], NDArray[np.integer]]:
        """The numbers of different rows, in rising order, and how often each came."""
        if self.counts is not None:
            return self.kept, self.counts
        return np.unique(self.kept, return_counts=True)

    @property
    def number(self) -> NDArray[np.uint64]:
        """The numbers of different rows, in rising order."""
        return self._counted[0]

    @property
    def count(self) -> NDArray[np.integer]:
        """How often each of them came."""
        return self._counted[1]

    def are_in(self, data: Dataset) -> bool:
        """Whether so many rows of another table are among these that it is no accident: all, or a tenth and
        more than rows would be that are drawn anew.
        """
        rows = np.sort(_numbers(data))
        n_rows, rows = len(rows), rows[rows <= np.uint64(self.limit)]
        if not len(rows):
            return False
        found = int(np.isin(rows, self.number).sum())
        if n_rows == self.n_rows and np.array_equal(rows, np.repeat(self.number, self.count)):
            return self._chance_of_the_same < 1e-2
        if found <= _LARGE_SHARE * len(rows):
            return False
        from scipy.special import betainc  # heavy: only where rows may be known again

        return float(betainc(found, len(rows) - found + 1, self._familiar)) < _ACCIDENT

    @cached_property
    def _familiar(self) -> float:
        """How likely a new row is equal to one of these, at most: judged by rows that come more than once."""
        from scipy.special import betaincinv

        again, all_rows = int(self.count[self.count > 1].sum()), int(self.count.sum())
        return 1.0 if again == all_rows else float(betaincinv(again + 1, all_rows - again, 1 - _ACCIDENT))

    @cached_property
    def _chance_of_the_same(self) -> float:
        """How likely as many rows are the same ones, if those of both tables are dealt out anew."""
        if (self.count == 1).all():
            return 0.0  # of a table of different rows that is no accident
        from scipy.special import gammaln

        n, each = float(self.count.sum()), self.count.astype(np.float64)
        ways = (gammaln(2 * each + 1) - 2 * gammaln(each + 1)).sum()
        return float(np.exp(ways - gammaln(2 * n + 1) + 2 * gammaln(n + 1)))


@dataclass(frozen=True, eq=False)
class FitRows:
    """The rows of a fit by what they did: those that grew a model, and those that only chose it."""

    grew: tuple[KnownRows, ...]
    chose: tuple[KnownRows, ...] = ()  # pruned or selected the model; may hold those that grew it as well
    choices: int | None = None  # the models that they chose from; None: every pruning of a tree

    def have_grown(self, data: Dataset) -> bool:
        """Whether rows, or too many of them to be an accident, are among those that grew the model."""
        return any(each.are_in(data) for each in self.grew)

    def refuse(self, data: Dataset, *, choices: int = 1, all_prunings: bool = False) -> None:
        """Raise ValueError for rows that cannot judge the model, because they are those of the fit: in any
        order, a part of them, some of them twice. Rows that only chose it can, if the choice is paid for: by
        the number of `choices`, or for `all_prunings`.
        """
        if self.have_grown(data):
            raise ValueError(
                "these rows, or too many of them to be an accident, are rows of the fit; give rows that were "
                "never used (if they are other rows after all, check_rows=False)"
            )
        if all_prunings or not any(each.are_in(data) for each in self.chose):
            return
        if self.choices is None:
            raise ValueError(
                "these rows have pruned the tree, choosing among all of its prunings; give rows that were "
                "never used, or say method='reduced_error'"
            )
        if choices < self.choices:
            raise ValueError(
                f"these rows have chosen 1 of the {self.choices} trees of pruning_path_; give rows that were "
                f"never used, or say choices={self.choices}"
            )


def _numbers(data: Dataset) -> NDArray[np.uint64]:
    """The numbers of the rows that weigh something."""
    rows = row_numbers(data, with_targets=data.targets is not None)
    return rows if data.weight is None else rows[data.counted]
