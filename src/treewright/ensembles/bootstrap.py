"""Which rows each tree of an ensemble is grown from: drawn anew for each, and known again from the seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Draws:
    """How rows are drawn, `size` of them for each tree; each tree has a stream of its own.

    With replacement (the bootstrap) a row is drawn by its weight, and weighs as often as it was drawn.
    Without, `size` different rows are drawn, each as likely as the other, and keep their weights; all of them
    where `size` is None.
    """

    seed: int
    size: int | None
    replace: bool
    weight: Floats | None  # of all rows of the table; None: all weigh 1
    n_rows: int  # of the table

    @classmethod
    def of(cls, data: Dataset, *, seed: int, size: int | None, replace: bool) -> Draws:
        """Draws of the rows of a table that weigh something."""
        n = data.n_counted
        if size is None and replace:
            size = n
        if size is not None and not replace and size > n:
            raise ValueError(f"{size} rows cannot be drawn without replacement from {n} that weigh something")
        return cls(seed, size, replace, data.weight, data.n_rows)

    @property
    def leaves_rows_out(self) -> bool:
        """Whether a tree can have rows that it has not seen."""
        return self.size is not None

    @property
    def drawn_weight(self) -> float:
        """About how much the rows of one tree weigh together."""
        if self.replace:
            assert self.size is not None
            return float(self.size)
        total = float(self.n_rows if self.weight is None else self.weight.sum())
        counted = self.n_rows if self.weight is None else np.count_nonzero(self.weight)
        return total if self.size is None else total * self.size / counted

    def random(self, member: int, purpose: int = 0) -> np.random.Generator:
        """The stream of random numbers of one tree, for one purpose."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(member, purpose)))

    def rows(self, member: int) -> NDArray[np.intp]:
        """The rows of one tree in the order in which they were drawn, as often as they were."""
        weight = self.weight
        if self.size is None:
            return np.arange(self.n_rows) if weight is None else np.flatnonzero(weight)
        random = self.random(member)
        if not self.replace:
            counted = self.n_rows if weight is None else np.flatnonzero(weight)
            return np.asarray(random.choice(counted, self.size, replace=False, shuffle=False), np.intp)
        if weight is None:
            return random.integers(0, self.n_rows, self.size, np.intp)
        reached = np.cumsum(weight / weight.max())
        found: NDArray[np.intp] = np.searchsorted(
            reached, random.random(self.size) * reached[-1], side="right"
        )
        found[found == self.n_rows] = np.flatnonzero(weight)[-1]  # a product may round up to the very end
        return found

    def weights(self, member: int) -> Floats | None:
        """What each row of the table weighs in one tree."""
        if self.size is None:
            return self.weight
        rows = self.rows(member)
        if self.replace:
            return np.bincount(rows, minlength=self.n_rows).astype(np.float64)
        weights = np.zeros(self.n_rows)
        weights[rows] = 1.0 if self.weight is None else self.weight[rows]
        return weights

    def left_out(self, member: int) -> NDArray[np.intp]:
        """The rows that weigh something and that one tree has not seen."""
        is_out = np.ones(self.n_rows, np.bool_) if self.weight is None else self.weight > 0
        is_out[self.rows(member)] = False
        return np.flatnonzero(is_out)

    def are_of(self, data: Dataset) -> bool:
        """Whether a table can be the one whose rows these are: as many rows, of the same weights."""
        if data.n_rows != self.n_rows:
            return False
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        return self.weight is data.weight or np.array_equal(weight, data.row_weights)
