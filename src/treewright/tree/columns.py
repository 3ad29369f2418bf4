"""The same tree for a table with other columns: more of them, or only those that it was grown from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from treewright.encoding.schema import Column, Schema
from treewright.tree.linear_leaves import LinearAnswers
from treewright.tree.tree import Tree

Places = NDArray[np.integer]


def spread_over(tree: Tree, positions: Places, columns: Sequence[Column]) -> Tree:
    """A tree of some columns as a tree of a whole table, in which they have these positions.

    >>> from treewright import encode, grow
    >>> whole = encode({"z": [5.0, 5.0], "x": [1.0, 2.0]}, ["a", "b"])
    >>> tree = grow(whole.select_columns([1]))
    >>> spread_over(tree, np.array([1]), whole.schema.columns).root.test, tree.feature[0], whole.schema.names
    (Below(column='x', threshold=1.5), np.int32(0), ('z', 'x'))
    """
    return _moved(tree, positions, columns)


def restricted_to(tree: Tree, positions: Places) -> Tree:
    """A tree that tests only the columns at these positions as a tree of these columns.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"z": [5.0, 5.0], "x": [1.0, 2.0]}, ["a", "b"]))
    >>> restricted_to(tree, np.array([1])).schema.names
    ('x',)
    """
    place = np.full(len(tree.schema.columns), -1)
    place[positions] = np.arange(len(positions))
    return _moved(tree, place, [tree.schema.columns[j] for j in positions.tolist()])


def _moved(tree: Tree, place: Places, columns: Sequence[Column]) -> Tree:
    """The tree with each column at its new place; -1 for one that it does not test."""
    n_sums = len(tree.directions)
    feature = np.concatenate([place, len(columns) + np.arange(n_sums), [-1]]).astype(np.int32)  # -1: the last
    return replace(
        tree,
        schema=Schema(tuple(columns), tree.schema.targets),
        feature=feature[tree.feature],
        directions=tuple(
            replace(each, columns=tuple(int(place[j]) for j in each.columns)) for each in tree.directions
        ),
        surrogates=replace(tree.surrogates, feature=feature[tree.surrogates.feature]),
        linear=None if tree.linear is None else _moved_formulas(tree.linear, place, len(columns)),
    )


def _moved_formulas(linear: LinearAnswers, place: Places, n_columns: int) -> LinearAnswers:
    mean, stays = np.zeros(n_columns), place >= 0
    mean[place[stays]] = linear.mean[stays]
    return replace(linear, column=place.astype(np.int32)[linear.column], mean=mean)
