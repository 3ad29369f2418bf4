"""Sums over trees: what each tree says at the leaf of a row, added up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset
from treewright.tree import Tree
from treewright.tree.missing import routes_of
from treewright.tree.predict import leaf_rows

Floats = NDArray[np.float64]


def totals(trees: Sequence[Tree], told: Sequence[Floats], data: Dataset, n_threads: int = 1) -> Floats:
    """The sum over trees of what the leaf of each row says, (rows, width).

    `told` holds for each tree one line per node, of which only those of leaves are read. The trees are added
    in their order, so that the sums are the same to the bit for any number of threads.

    >>> from treewright import encode, grow
    >>> data = encode({"x": [1.0, 2.0, 3.0]}, ["a", "a", "b"])
    >>> tree = grow(data)
    >>> totals([tree, tree], [tree.proportions[0]] * 2, data).tolist()
    [[2.0, 0.0], [2.0, 0.0], [0.0, 2.0]]
    """
    return Speakers.of(trees, told).totals(data, n_threads)


class Speakers(NamedTuple):
    """Trees and what their nodes say, ready to be asked; kept by ensembles that are asked often."""

    trees: tuple[Tree, ...]
    told: tuple[Floats, ...]
    arrays: list[tuple[Any, ...]] | None  # as the core takes them; None where rows go other ways

    @classmethod
    def of(cls, trees: Sequence[Tree], told: Sequence[Floats]) -> Speakers:
        """Trees with a line for each of their nodes."""
        lines = tuple(np.ascontiguousarray(each) for each in told)
        together = zip(trees, lines, strict=True)
        arrays = None
        if all(goes_by_nodes(tree) for tree in trees):
            arrays = [(*routes_of(tree), each) for tree, each in together]
        return cls(tuple(trees), lines, arrays)

    def totals(self, data: Dataset, n_threads: int = 1) -> Floats:
        """The sum over the trees of what the leaf of each row says."""
        width = self.told[0].shape[1]
        if self.arrays is not None:
            columns: Any = data.columns
            return _core.totals(columns, self.arrays, width, n_threads)
        out = np.zeros((data.n_rows, width))
        for tree, lines in zip(self.trees, self.told, strict=True):
            out += leaf_rows(tree, data, lines, n_threads)
        return out


def goes_by_nodes(tree: Tree) -> bool:
    """Whether each row goes to one leaf by its own columns, and each node sends missing values one way."""
    return not (tree.directions or len(tree.surrogates)) and tree.missing in ("learn", "category")
