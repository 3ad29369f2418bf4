"""All trees of a tiny table, without tricks: the judge of the search of the best tree.

The loss of a node with some rows is that of a leaf, or the least sum over all its tests, each with missing
values on either side. Losses are exact fractions; nothing is taken from the package but the table.

>>> table = [[0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]]
>>> oracle = Oracle(table, ["number"] * 2, [0, 1, 1, 0])
>>> [int(oracle.least(depth)) for depth in range(3)]
[2, 2, 0]
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

Rows = frozenset[int]


@dataclass(eq=False)
class Oracle:
    """A table as lists of values, None or NaN where they are missing, and what is lost."""

    columns: Sequence[Sequence[Any]]
    kinds: Sequence[str]  # "number" or "category"
    targets: Sequence[Any]  # codes of classes, or numbers if `numbers`
    weights: Sequence[float] | None = None
    costs: Sequence[Sequence[float]] | None = None
    min_rows: int = 1
    price: Fraction = Fraction(0)  # of a leaf
    categories: str = "single"
    numbers: bool = False
    forbidden: frozenset[int] = frozenset()  # columns that may not be tested
    _known: dict[tuple[Rows, int, int], Fraction | None] = field(default_factory=dict)
    _sides: dict[Rows, tuple[tuple[int, Rows], ...]] = field(default_factory=dict)

    @property
    def rows(self) -> Rows:
        """The rows of positive weight."""
        return frozenset(i for i in range(len(self.targets)) if self.weight(i) > 0)

    def weight(self, row: int) -> Fraction:
        return Fraction(1 if self.weights is None else float(self.weights[row]))

    def least(self, depth: int, leaves: int | None = None) -> Fraction:
        """The least loss, the price of the leaves included, of a tree of a depth and a number of leaves."""
        found = self._best(self.rows, depth, 2**depth if leaves is None else min(leaves, 2**depth))
        return self._leaf(self.rows) if found is None else found  # a table of fewer rows than a leaf needs

    def least_from(self, column: int, depth: int) -> Fraction:
        """The same for trees that test a column first, or nothing."""
        found = [self._leaf(self.rows)]
        for tested, left in self._cuts(self.rows):
            if tested == column:
                sides = [self._best(side, depth - 1, 2 ** (depth - 1)) for side in (left, self.rows - left)]
                if None not in sides:
                    found.append(sum(sides, Fraction(0)))
        return min(found)

    def fewest_leaves(self, depth: int, leaves: int | None = None) -> int:
        """The fewest leaves of a tree of the least loss."""
        most = 2**depth if leaves is None else min(leaves, 2**depth)
        return next(n for n in range(1, most + 1) if self.least(depth, n) == self.least(depth, most))

    def _best(self, rows: Rows, depth: int, leaves: int) -> Fraction | None:
        if len(rows) < self.min_rows:
            return None
        leaves = min(leaves, 2**depth)
        key = rows, depth, leaves
        if key not in self._known:
            best = self._leaf(rows)
            if depth and leaves > 1 and len(rows) > 1:
                for _, left in self._cuts(rows):
                    for own in range(1, leaves):
                        first = self._best(left, depth - 1, own)
                        second = self._best(rows - left, depth - 1, leaves - own)
                        if first is not None and second is not None:
                            best = min(best, first + second)
            self._known[key] = best
        return self._known[key]

    def _leaf(self, rows: Rows) -> Fraction:
        if self.numbers:
            total = sum(map(self.weight, rows), Fraction(0))
            first = sum((self.weight(i) * Fraction(float(self.targets[i])) for i in rows), Fraction(0))
            second = sum((self.weight(i) * Fraction(float(self.targets[i])) ** 2 for i in rows), Fraction(0))
            return second - first * first / total + self.price
        n = 1 + max(self.targets) if self.costs is None else len(self.costs)
        return self.price + min(
            sum((self.weight(i) * self._cost(self.targets[i], answer) for i in rows), Fraction(0))
            for answer in range(n)
        )

    def _cost(self, truth: int, answer: int) -> Fraction:
        return (
            Fraction(truth != answer)
            if self.costs is None
            else Fraction(repr(float(self.costs[truth][answer])))
        )

    def _cuts(self, rows: Rows) -> tuple[tuple[int, Rows], ...]:
        """All ways to divide rows by a test, each with the column."""
        if rows not in self._sides:
            found = {
                (j, side)
                for j in range(len(self.columns))
                if j not in self.forbidden
                for side in self._sides_of(j, rows)
                if side and side != rows
            }
            self._sides[rows] = tuple(found)
        return self._sides[rows]

    def _sides_of(self, j: int, rows: Rows) -> Iterator[Rows]:
        values = self.columns[j]
        missing = frozenset(i for i in rows if values[i] is None or values[i] != values[i])
        known = rows - missing
        distinct = sorted({values[i] for i in known})
        if self.kinds[j] == "number":
            sides = [frozenset(i for i in known if values[i] <= value) for value in distinct]
        else:
            most = 1 if self.categories == "single" else len(distinct)
            sides = [
                frozenset(i for i in known if values[i] in chosen)
                for size in range(1, most + 1)
                for chosen in combinations(distinct, size)
            ]
            sides.append(known)
        for side in sides:
            yield side
            yield side | missing


def close(one: float, other: Fraction, scale: float = 1.0) -> bool:
    """Whether two losses are equal up to rounding."""
    return math.isclose(one, float(other), rel_tol=1e-9, abs_tol=1e-9 * scale)
