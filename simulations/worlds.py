"""Worlds: distributions of few cells, from which rows are drawn and in which true losses are known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from treewright import Column, Schema, Target, Tree
from treewright.encoding import Dataset
from treewright.tree.costs import cost_arrays
from treewright.tree.predict import answers

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class World:
    """Numbers x and z and a category c; each combination is a cell with its share and its classes."""

    schema: Schema
    columns: tuple[NDArray[np.generic], ...]  # of the cells
    share: Floats  # of each cell
    classes: Floats  # (cells, classes): the share of each class in a cell

    @cached_property
    def cells(self) -> Dataset:
        """One row for each cell, without targets."""
        return Dataset(self.schema, self.columns)

    def draw(self, n: int, rng: np.random.Generator) -> Dataset:
        """Independent rows."""
        cell = rng.choice(len(self.share), n, p=self.share)
        below = np.cumsum(self.classes, axis=1)[cell]
        label = (rng.random((n, 1)) >= below[:, :-1]).sum(axis=1).astype(np.int32)
        columns = tuple(column[cell] for column in self.columns)
        return Dataset(self.schema, columns, label[np.newaxis])

    def true_error(self, said: NDArray[np.integer]) -> float:
        """How often answers, one for each cell, are wrong."""
        right = self.classes[np.arange(len(said)), said]
        return float(1 - self.share @ right)

    def true_loss(self, tree: Tree) -> float:
        """The true error of a tree, or what it costs where it has costs."""
        said, costs = answers(tree, self.cells)[:, 0], cost_arrays(tree.schema)[0]
        if costs is None:
            return self.true_error(said)
        return float(self.share @ (self.classes * costs.T[said]).sum(axis=1))

    def leaf_errors(self, tree: Tree) -> dict[int, float]:
        """The true error of each leaf that some cell reaches, where no cell is divided."""
        leaf = tree.apply(self.cells)
        wrong = 1 - self.classes[np.arange(len(leaf)), tree.label[leaf, 0]]
        return {
            int(node): float(self.share[leaf == node] @ wrong[leaf == node] / self.share[leaf == node].sum())
            for node in np.unique(leaf)
        }


def world(
    n_classes: int = 2, *, values: int = 8, gaps: float = 0.0, tail: float = 0.0, noise: float = 1.0
) -> World:
    """A world; the same for the same arguments.

    Parameters
    ----------
    n_classes : int
        The number of classes.
    values : int
        How many values x and z have; c has half as many.
    gaps : float
        The share of missing values in each column.
    tail : float
        How fast classes grow rare: class k is as frequent as 1 / (k + 1) ** tail.
    noise : float
        How evenly the classes of a cell are spread: near 0 they are known, large numbers are pure noise.
    """
    rng = np.random.default_rng([n_classes, values, round(100 * gaps), round(100 * tail), round(100 * noise)])
    n_categories = max(2, values // 2)
    numbers = np.append(np.arange(values, dtype=np.float64), np.nan)
    codes = np.append(np.arange(n_categories, dtype=np.int32), np.int32(-1))
    filled = [rng.dirichlet(np.ones(count)) for count in (values, values, n_categories)]
    parts = [np.append((1 - gaps) * share, gaps) for share in filled]
    grid = list(product(*(range(len(part)) for part in parts)))
    share = np.array([np.prod([part[i] for part, i in zip(parts, cell, strict=True)]) for cell in grid])
    x, z, c = (np.array(place) for place in zip(*grid, strict=True))
    frequent = 1.0 / np.arange(1, n_classes + 1) ** tail
    classes = np.stack([rng.dirichlet(noise * frequent / frequent.sum() * n_classes) for _ in grid])
    real = share > 0
    schema = Schema(
        (Column("x"), Column("z"), Column("c", "category", tuple(f"c{i}" for i in range(n_categories)))),
        (Target("y", tuple(f"y{i}" for i in range(n_classes))),),
    )
    columns = (numbers[x][real], numbers[z][real], codes[c][real])
    return World(schema, columns, share[real] / share[real].sum(), classes[real])
