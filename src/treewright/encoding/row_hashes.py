"""Rows of a fit, recognised by hashes: no certificate may rest on rows that grew or chose the model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright._arrays import Int32s
from treewright.encoding.dataset import Dataset

Hashes = NDArray[np.uint64]

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_MOST = 4096  # different rows whose hashes are kept, with how often each occurs
_LARGEST = 2**64 - 1  # the largest hash
_BLOCK = 1 << 14  # rows whose hashes stay in cache
_NEGLIGIBLE = 1e-6  # a probability that counts as none
_LARGE_SHARE = 0.1  # of rows that occur again, from which on they bias an estimate


def row_hashes(data: Dataset, *, with_targets: bool = False) -> Hashes:
    """A hash of each row: equal for equal rows, and in practice never for others."""
    if not with_targets:
        return data.row_hashes
    return data.row_hashes * _FACTOR ^ _core.row_hashes(tuple(data.target_array))


class Fingerprint(NamedTuple):
    """Hashes of a whole table; those of two different tables are equal once in some 10¹⁸ cases."""

    rows: int  # the columns, whatever the order of the rows
    in_order: int  # the columns, in their order
    with_targets: int  # columns and targets, in their order

    def refuse_others(self, data: Dataset, why: str) -> None:
        """ValueError unless a table has this fingerprint; the message says whether its rows, their order or
        their targets differ, and `why` that matters.

        >>> from treewright import encode
        >>> own, reverse = encode([[1.0], [2.0]], [0, 1]), encode([[2.0], [1.0]], [1, 0])
        >>> fingerprint(own).refuse_others(reverse, "out-of-bag rows are known by their position")
        Traceback (most recent call last):
        ValueError: these are the rows of the fit in another order; give them in the order of the fit: \
out-of-bag rows are known by their position
        """
        other = fingerprint(data)
        if other == self:
            return
        if other.in_order == self.in_order:
            what = "these are the rows of the fit with other targets; give them with those of the fit"
        elif other.rows == self.rows:
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
    rows = row_hashes(data)
    with_targets = row_hashes(data, with_targets=data.targets is not None)
    sums = np.zeros(3, np.uint64)
    with np.errstate(over="ignore"):
        for first in range(0, data.n_rows, _BLOCK):
            own, other = rows[first : first + _BLOCK], with_targets[first : first + _BLOCK]
            place = np.arange(first + 1, first + 1 + len(own), dtype=np.uint64) * _FACTOR | np.uint64(1)
            sums += np.array([own.sum(), np.dot(own, place), np.dot(other, place)])
    return Fingerprint(*sums.tolist())


@dataclass(frozen=True, eq=False)
class KnownRows:
    """Hashes of the rows of a table with their targets, to find out whether other rows are among them.

    Of many different rows those with the smallest hashes are kept: a random sample, and the same one for any
    table with these rows, in whatever order and however often they occur.

    Equal rows need not be the same: a table of a few categories has no others. The probability that a new row
    equals one of the table is estimated by the rows of the table that occur more than once (Good and Turing).

    >>> from treewright import encode
    >>> data = encode({"x": range(100)}, [0, 1] * 50)
    >>> known = KnownRows.of(data)
    >>> known.are_in(data.take(range(98, 0, -1))), known.are_in(encode({"x": range(100, 200)}, [0, 1] * 50))
    (True, False)
    """

    hashes: Hashes  # with `counts` each once, in rising order
    counts: Int32s | None  # how often each occurs; None: as often as it is in `hashes`
    limit: int  # no row with a larger hash is kept
    n_rows: int  # of the table, those with positive weight

    @classmethod
    def of(cls, data: Dataset) -> KnownRows:
        """The rows of a table with positive weight."""
        rows, limit = _counted_hashes(data), _LARGEST
        if len(rows) <= _MOST:  # counted when they are needed: small fits stay fast
            return cls(rows, None, limit, len(rows))
        some = rows
        if len(rows) > 2 * _MOST:  # sorting a part is enough, if it has as many different rows
            some = rows[rows <= np.uint64(_LARGEST // len(rows) * 2 * _MOST)]
        hashes, counts = np.unique(some, return_counts=True)
        if len(hashes) < _MOST and len(some) < len(rows):
            hashes, counts = np.unique(rows, return_counts=True)
        if len(hashes) > _MOST:
            hashes, counts = hashes[:_MOST], counts[:_MOST]
            limit = int(hashes[-1])
        return cls(hashes, counts.astype(np.int32), limit, len(rows))

    @cached_property
    def tally(self) -> tuple[Hashes, NDArray[np.integer]]:
        """The hashes of different rows, in rising order, and how often each occurs."""
        if self.counts is not None:
            return self.hashes, self.counts
        return np.unique(self.hashes, return_counts=True)

    def are_in(self, data: Dataset) -> bool:
        """Whether another table has more of these rows than chance explains: all of them, or a tenth and more
        than newly drawn rows would have.
        """
        rows = np.sort(_counted_hashes(data))
        n_rows, rows = len(rows), rows[rows <= np.uint64(self.limit)]
        if not len(rows):
            return False
        hashes, counts = self.tally
        if n_rows == self.n_rows and np.array_equal(rows, np.repeat(hashes, counts)):
            return self._chance_of_the_same < 1e-2
        n_equal = int(np.isin(rows, hashes).sum())
        if n_equal <= _LARGE_SHARE * len(rows):
            return False
        from scipy.special import betainc  # heavy: only where many rows are equal

        return float(betainc(n_equal, len(rows) - n_equal + 1, self._chance_of_an_equal)) < _NEGLIGIBLE

    @cached_property
    def _chance_of_an_equal(self) -> float:
        """An upper bound on the probability that a new row equals one of these, by the repeated ones."""
        from scipy.special import betaincinv

        counts = self.tally[1]
        repeated, n = int(counts[counts > 1].sum()), int(counts.sum())
        return 1.0 if repeated == n else float(betaincinv(repeated + 1, n - repeated, 1 - _NEGLIGIBLE))

    @cached_property
    def _chance_of_the_same(self) -> float:
        """The probability that both of two tables have the same rows if all are dealt out at random."""
        counts = self.tally[1].astype(np.float64)
        if (counts == 1).all():
            return 0.0  # for a table of different rows it is negligible
        from scipy.special import gammaln

        n, ways = counts.sum(), (gammaln(2 * counts + 1) - 2 * gammaln(counts + 1)).sum()
        return float(np.exp(ways - gammaln(2 * n + 1) + 2 * gammaln(n + 1)))


@dataclass(frozen=True, eq=False)
class FitRows:
    """The rows of a fit by their use: to grow a model, and only to choose it."""

    grew: tuple[KnownRows, ...]
    chose: tuple[KnownRows, ...] = ()  # for pruning or selection; may hold those that grew it as well
    choices: int | None = None  # the number of models to choose from; None: every pruning of a tree

    def have_grown(self, data: Dataset) -> bool:
        """Whether more rows than chance explains are among those that grew the model."""
        return any(each.are_in(data) for each in self.grew)

    def refuse(self, data: Dataset, *, choices: int = 1, all_prunings: bool = False) -> None:
        """ValueError for rows that cannot certify the model, because they are those of the fit, in any order
        and number. Rows that only chose it can, if the certificate pays for the choice: for the number of
        `choices`, or for `all_prunings`.
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


def _counted_hashes(data: Dataset) -> Hashes:
    """The hashes of the rows with positive weight."""
    rows = row_hashes(data, with_targets=data.targets is not None)
    return rows if data.weight is None else rows[data.counted]
