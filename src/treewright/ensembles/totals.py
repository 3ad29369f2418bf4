"""Sums over trees: the values at the leaves of each row, added up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset
from treewright.tree import Tree
from treewright.tree.predict import leaf_rows
from treewright.tree.view import view_of

Floats = NDArray[np.float64]


class TreeSum(NamedTuple):
    """Trees with a row of values for each of their nodes, prepared for adding up.

    Only the values of leaves are read. The trees are added in their order, so that the sums are the same to
    the bit for any number of threads.

    >>> from treewright import encode, grow
    >>> data = encode({"x": [1.0, 2.0, 3.0]}, ["a", "a", "b"])
    >>> tree = grow(data)
    >>> TreeSum.of([tree, tree], [tree.proportions[0]] * 2).totals(data).tolist()
    [[2.0, 0.0], [2.0, 0.0], [0.0, 2.0]]
    """

    trees: tuple[Tree, ...]
    values: tuple[Floats, ...]  # (nodes, width) for each tree
    views: list[_core.TreeView] | None  # None if rows may reach several leaves

    @classmethod
    def of(cls, trees: Sequence[Tree], values: Sequence[Floats]) -> TreeSum:
        """Trees with the values of their nodes."""
        rows = tuple(np.ascontiguousarray(each) for each in values)
        views = [view_of(tree) for tree in trees] if all(map(has_simple_routes, trees)) else None
        return cls(tuple(trees), rows, views)

    def totals(self, data: Dataset, n_threads: int = 1) -> Floats:
        """The sum over the trees of the values at the leaf of each row, (rows, width)."""
        if self.views is not None:
            return _core.totals(self.views, self.values, data.columns, n_threads)
        out = np.zeros((data.n_rows, self.values[0].shape[1]))
        for tree, values in zip(self.trees, self.values, strict=True):
            out += leaf_rows(tree, data, values, n_threads)
        return out


def has_simple_routes(tree: Tree) -> bool:
    """Whether each row reaches one leaf, by its own columns and one side per node for missing values."""
    return not (tree.directions or len(tree.surrogates)) and tree.missing in ("learn", "category")
