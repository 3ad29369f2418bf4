"""Predictions of a tree: those of a leaf, or for rows with missing values a mixture of several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treewright._arrays import Array, Floats, Int32s, Ints
from treewright.encoding import Dataset
from treewright.tree.costs import cheapest_in_order, cost_arrays
from treewright.tree.missing import divides, leaves, parts_of

if TYPE_CHECKING:
    from treewright.tree.tree import Tree

LeafValues = Callable[[Int32s], list[Floats]]  # of some leaves, a matrix for each target

_MOST_NUMBERS = 2**22  # of leaves that are mixed at a time


def codes(tree: Tree, data: Dataset, n_threads: int = 1) -> Ints:
    """The code of the predicted class of each row, (rows, targets): that of its leaf, or for a row in parts
    the class of least cost by their mixture.
    """
    if not divides(tree, data):
        return _at_leaves(tree.label, leaves(tree, data, n_threads))
    out = np.empty((data.n_rows, len(tree.schema.targets)), np.int64)
    costs = cost_arrays(tree.schema)
    for portion in _portions(tree, data, tree.shares, tree.schema.width):
        out[portion.whole] = tree.label[portion.leaf]
        for i, shares in enumerate(portion.mixed):
            out[portion.divided, i] = cheapest_in_order(shares, costs[i])
    return out


def numbers(tree: Tree, data: Dataset, n_threads: int = 1) -> Floats:
    """The predicted number of each row, (rows, targets); for a row in parts their mean."""
    if not divides(tree, data):
        leaf = leaves(tree, data, n_threads)
        return _at_leaves(tree.value, leaf) if tree.linear is None else tree.numbers_at(leaf, data)
    return leaf_rows(tree, data, tree.value)


def proportions(tree: Tree, data: Dataset, n_threads: int = 1) -> list[Floats]:
    """The share of each class by the leaf of each row, a matrix for each target; of parts the mixture."""
    if not divides(tree, data):
        return tree.shares(leaves(tree, data, n_threads))
    return _mixtures(tree, data, tree.shares, list(tree.schema.block_widths))


def answers(tree: Tree, data: Dataset, n_threads: int = 1) -> Array:
    """Codes of classes or numbers, (rows, targets)."""
    return (codes if tree.schema.predicts_classes else numbers)(tree, data, n_threads)


def leaf_rows(tree: Tree, data: Dataset, matrix: Floats, n_threads: int = 1) -> Floats:
    """For each row of data the row of its leaf in a matrix with one for each node; of parts the mixture."""
    if not divides(tree, data):
        return _at_leaves(matrix, leaves(tree, data, n_threads))
    return _mixtures(tree, data, lambda nodes: [matrix[nodes]], [matrix.shape[1]])[0]


def _at_leaves(values: Array, leaf: Int32s) -> Array:
    """The values of the leaves of rows; a single column is faster by itself."""
    return values[:, 0].take(leaf)[:, np.newaxis] if values.shape[1] == 1 else values.take(leaf, axis=0)


class _Portion(NamedTuple):
    """Some rows: those in one leaf, and those in parts with the mixture of their leaves."""

    whole: Ints
    leaf: Int32s
    divided: Ints
    mixed: list[Floats]


def _portions(tree: Tree, data: Dataset, values: LeafValues, width: int) -> Iterator[_Portion]:
    most = max(_MOST_NUMBERS // width, 1)
    for parts in parts_of(tree, data, most):
        is_whole = np.diff(parts.start) == 1
        whole, divided = np.flatnonzero(is_whole), np.flatnonzero(~is_whole)
        of_divided = np.flatnonzero(~is_whole[parts.place])
        line = (np.cumsum(~is_whole) - 1)[parts.place[of_divided]]
        mixed: list[Floats] = []
        for begin in range(0, len(line), most):  # a row can have as many parts as there are leaves
            some = of_divided[begin : begin + most]
            blocks = values(parts.leaf[some])
            mixed = mixed or [np.zeros((len(divided), block.shape[1])) for block in blocks]
            for sums, block in zip(mixed, blocks, strict=True):  # leaf after leaf, from left to right
                np.add.at(sums, line[begin : begin + most], parts.share[some, np.newaxis] * block)
        yield _Portion(parts.first + whole, parts.leaf[parts.start[:-1][whole]], parts.first + divided, mixed)


def _mixtures(tree: Tree, data: Dataset, values: LeafValues, widths: list[int]) -> list[Floats]:
    """The values of all rows, some of them divided, in a matrix for each width."""
    out = [np.empty((data.n_rows, width)) for width in widths]
    for portion in _portions(tree, data, values, sum(widths)):
        for i, block in enumerate(values(portion.leaf)):
            out[i][portion.whole] = block
        for i, block in enumerate(portion.mixed):
            out[i][portion.divided] = block
    return out
