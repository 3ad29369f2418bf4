"""Bootstrap samples: the rows that each tree of an ensemble is grown from, reproducible from the seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Draws:
    """How `size` rows are drawn for each tree; each tree has its own random stream.

    With replacement (the bootstrap), rows are drawn in proportion to their weights, and the weight of a row
    in the tree is the number of times that it was drawn. Without, `size` different rows are drawn with equal
    probability and keep their weights; None is all rows.
    """

    seed: int
    size: int | None
    replace: bool
    weight: Floats | None  # of all rows of the table; None: all weigh 1
    n_rows: int  # of the table

    @classmethod
    def of(cls, data: Dataset, *, seed: int, size: int | None, replace: bool) -> Draws:
        """Draws from the rows of a table that have a weight."""
        n = data.n_counted
        if size is None and replace:
            size = n
        if size is not None and not replace and size > n:
            raise ValueError(f"{size} rows cannot be drawn without replacement from {n} rows with a weight")
        return cls(seed, size, replace, data.weight, data.n_rows)

    @property
    def leaves_rows_out(self) -> bool:
        """Whether trees have out-of-bag rows."""
        return self.size is not None

    @property
    def drawn_weight(self) -> float:
        """About the total weight of the rows of one tree."""
        if self.replace:
            assert self.size is not None
            return float(self.size)
        total = float(self.n_rows if self.weight is None else self.weight.sum())
        counted = self.n_rows if self.weight is None else np.count_nonzero(self.weight)
        return total if self.size is None else total * self.size / counted

    def random(self, member: int, purpose: int = 0) -> np.random.Generator:
        """The random stream of one tree, for one purpose."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(member, purpose)))

    def rows(self, member: int) -> NDArray[np.intp]:
        """The rows of one tree in the order of the draws, repeated as often as they were drawn."""
        weight = self.weight
        if self.size is None:
            return np.arange(self.n_rows) if weight is None else np.flatnonzero(weight)
        random = self.random(member)
        if not self.replace:
            candidates = self.n_rows if weight is None else np.flatnonzero(weight)
            return np.asarray(random.choice(candidates, self.size, replace=False, shuffle=False), np.intp)
        if weight is None:
            return random.integers(0, self.n_rows, self.size, np.intp)
        cumulative = np.cumsum(weight / weight.max())
        rows: NDArray[np.intp] = np.searchsorted(
            cumulative, random.random(self.size) * cumulative[-1], side="right"
        )
        rows[rows == self.n_rows] = np.flatnonzero(weight)[-1]  # a product may round up to the total
        return rows

    def weights(self, member: int) -> Floats | None:
        """The weight of each row of the table in one tree."""
        if self.size is None:
            return self.weight
        rows = self.rows(member)
        if self.replace:
            return np.bincount(rows, minlength=self.n_rows).astype(np.float64)
        weights = np.zeros(self.n_rows)
        weights[rows] = 1.0 if self.weight is None else self.weight[rows]
        return weights

    def left_out(self, member: int) -> NDArray[np.intp]:
        """The out-of-bag rows of one tree: those with a weight that were not drawn."""
        is_out = np.ones(self.n_rows, np.bool_) if self.weight is None else self.weight > 0
        is_out[self.rows(member)] = False
        return np.flatnonzero(is_out)

    def are_of(self, data: Dataset) -> bool:
        """Whether a table may be the one that was drawn from: as many rows, with the same weights."""
        if data.n_rows != self.n_rows:
            return False
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        return self.weight is data.weight or np.array_equal(weight, data.row_weights)
