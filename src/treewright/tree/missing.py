"""Missing values in a tree: the routes of rows, to one leaf each or in fractions to several."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from treewright import _core
from treewright._arrays import Flags, Floats, Int32s, Ints
from treewright.encoding import Dataset
from treewright.tree.oblique import extended_columns
from treewright.tree.view import view_of

if TYPE_CHECKING:
    from treewright.tree.tree import Tree


MOST_PARTS = 2**20  # of rows that are held at a time
_BLOCK = 2**14  # rows that are checked at a time


def leaves(tree: Tree, data: Dataset, n_threads: int = 1) -> Int32s:
    """The leaf of each row, by the tree's treatment of missing values.

    The first surrogate of a node whose value is known decides (a category that is not in the training rows is
    not known), then `missing_left`. A row that the tree would divide goes to the heavier side.
    """
    if tree.missing == "error":
        why = "which the tree tests: it was made with missing='error' and takes complete rows only"
        refuse_missing(tree, data, "", why)
    return _core.apply(view_of(tree), data.columns, n_threads)


def sent_by_others(tree: Tree) -> bool:
    """Whether missing values are routed by surrogates, or to both sides."""
    return bool(len(tree.surrogates)) or (tree.missing == "fractional" and tree.n_nodes > 1)


def columns_with_missing(tree: Tree) -> frozenset[int]:
    """The columns in which some node sends missing values elsewhere than to the heavier child, the default.

    Empty with surrogates, with fractional rows, and where the tree refuses missing values.
    """
    if sent_by_others(tree) or tree.missing == "error":
        return frozenset()
    inner = np.flatnonzero(~tree.is_leaf)
    learnt = (tree.missing_left[inner] != tree.heavier_left[inner]) | np.isposinf(tree.threshold[inner])
    return frozenset(tree.feature[inner[learnt]].tolist())


def missing_arrives(tree: Tree) -> Flags:
    """Whether a missing value of the column that a node tests can reach it; False at leaves.

    It cannot where a test of the same column above sends missing values to the other side.
    """
    if tree.missing == "error":
        return np.zeros(tree.n_nodes, np.bool_)
    if sent_by_others(tree):
        return ~tree.is_leaf
    if "_missing_arrives" not in vars(tree):
        arrives = ~tree.is_leaf
        for column in np.unique(tree.feature[arrives]):
            nodes = np.flatnonzero(tree.feature == column)
            without = np.where(tree.missing_left[nodes], tree.right[nodes], tree.left[nodes])
            starts = np.searchsorted(np.sort(without), nodes, side="right")
            ends = np.searchsorted(np.sort(tree.end[without]), nodes, side="right")
            arrives[nodes] = starts == ends  # in no subtree without missing values
        vars(tree)["_missing_arrives"] = arrives
    return cast(Flags, vars(tree)["_missing_arrives"])


def divides(tree: Tree, data: Dataset) -> bool:
    """Whether some row goes to several leaves."""
    return tree.missing == "fractional" and first_missing(tree, data) is not None


def first_missing(tree: Tree, data: Dataset) -> tuple[int, int] | None:
    """The (column, row) of the first row without a value that the tree tests; None if there is none."""
    columns = extended_columns(data, tree.directions)
    tested = np.unique(tree.feature[~tree.is_leaf])
    if isinstance(columns, np.ndarray):
        for first in range(0, len(columns), _BLOCK):  # by rows, as they lie in memory
            missing = np.isnan(columns[first : first + _BLOCK])
            if missing.any() and (own := missing[:, tested]).any():
                row, place = np.argwhere(own)[0].tolist()
                return int(tested[place]), first + row
        return None
    for feature in tested.tolist():
        missing = tree.tested[feature].type.is_missing(columns[feature])
        if missing.any():
            return feature, int(np.argmax(missing))
    return None


def refuse_missing(tree: Tree, data: Dataset, name: str, why: str) -> None:
    """ValueError, with the reason `why`, if a row of the table `name` misses a value that the tree tests."""
    place = first_missing(tree, data)
    if place is not None:
        column, row = place
        of = f" of {name}" if name else ""
        raise ValueError(f"row {row}{of} has no value of {tree.tested[column].name!r}, {why}")


def refuse_rows_with_missing(tree: Tree, data: Dataset, name: str, what: str) -> None:
    """ValueError if rows with missing values are routed by surrogates or to both sides."""
    if sent_by_others(tree):
        refuse_missing(tree, data, name, f"and this tree {_sending(tree)}: {what}")


def refuse_sending(tree: Tree, what: str) -> None:
    """ValueError if a tree sends missing values by surrogates or to both sides; `what` begins the remedy."""
    if sent_by_others(tree):
        raise ValueError(
            f"this tree {_sending(tree)}; {what} take tree.with_missing('learn'), the same tests with one "
            "side for missing values at each node"
        )


def _sending(tree: Tree) -> str:
    if tree.missing == "fractional":
        return "sends rows with a missing value down both sides (missing='fractional')"
    return "sends missing values by surrogates (missing='surrogate')"


class Parts(NamedTuple):
    """Parts of some consecutive rows at leaves; those of a row lie together, from left to right."""

    first: int  # the row with which they begin
    start: Ints  # of each row, and where the last one ends
    leaf: Int32s
    share: Floats

    @property
    def n_rows(self) -> int:
        """The number of rows that are divided into these parts."""
        return len(self.start) - 1

    @property
    def place(self) -> Ints:
        """The row of each part, counted from the first of these rows."""
        return np.repeat(np.arange(self.n_rows), np.diff(self.start))


def parts_of(tree: Tree, data: Dataset, most: int = MOST_PARTS) -> Iterator[Parts]:
    """The parts of all rows, as in C4.5: a row without the value of a test goes to both children, in
    proportion to their weights; about `most` parts at a time.

    >>> from dataclasses import replace
    >>> from treewright import encode, grow
    >>> tree = replace(grow(encode({"x": [1.0, 2.0, 3.0]}, ["a", "a", "b"])), missing="fractional")
    >>> [parts] = parts_of(tree, encode({"x": [0.0, None]}, schema=tree.schema))
    >>> parts.start.tolist(), parts.leaf.tolist(), parts.share.round(3).tolist()
    ([0, 1, 3], [1, 1, 2], [1.0, 0.667, 0.333])
    """
    first = 0
    while first < data.n_rows:
        parts = Parts(first, *_core.spread(view_of(tree), data.columns, tree.weight, first, most))
        yield parts
        first += parts.n_rows
