"""Sums over trees: what each tree says at the leaf of a row, added up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.answering import told_to
from treewright.encoding import Dataset
from treewright.routing import routes_of
from treewright.tree import Tree

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
    width = told[0].shape[1]
    speakers = [(tree, np.ascontiguousarray(lines)) for tree, lines in zip(trees, told, strict=True)]
    if all(goes_by_nodes(tree) for tree in trees):
        columns: Any = data.columns
        return _core.totals(columns, [(*routes_of(t), lines) for t, lines in speakers], width, n_threads)
    out = np.zeros((data.n_rows, width))
    for tree, lines in speakers:
        out += told_to(tree, data, lines, n_threads)
    return out


def goes_by_nodes(tree: Tree) -> bool:
    """Whether each row goes to one leaf by its own columns, and each node sends missing values one way."""
    return not (tree.directions or len(tree.surrogates)) and tree.missing in ("learn", "category")
