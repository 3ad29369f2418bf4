"""How rows go down a tree: to one leaf each, or in parts to several where values are missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset
from treewright.tree.oblique import extended_columns, plain_leaves

if TYPE_CHECKING:
    from treewright.tree.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]

MOST_PARTS = 2**20  # of rows that are held at a time
_BLOCK = 2**14  # rows that are looked at together


def leaves(tree: Tree, data: Dataset, n_threads: int = 1) -> Ints:
    """The leaf of each row, as the tree's way with missing values has it.

    With surrogates the first of a node whose value is known decides (a category that training never saw is
    not known), then `missing_left`. A row that the tree would divide goes with the heavier side.
    """
    if tree.missing == "error":
        _refuse_missing(tree, data)
    if not len(tree.surrogates):
        return plain_leaves(data, tree.directions, *routes_of(tree), n_threads)
    others = tree.surrogates
    return _core.apply_by_surrogates(
        extended_columns(data, tree.directions),
        *routes_of(tree),
        others.starts(tree.n_nodes),
        others.feature,
        others.threshold,
        others.subset,
        others.reversed,
        others.subsets,
        n_threads,
    )


Routes = tuple[Ints, Ints, Floats, NDArray[np.int64], Bools, Bools, NDArray[np.uint8]]


def routes_of(tree: Tree) -> Routes:
    """The arrays by which the core sends each row to one leaf."""
    missing_left = tree.heavier_left if tree.missing == "fractional" else tree.missing_left
    heavier = tree.heavier_left
    return tree.end, tree.feature, tree.threshold, tree.subset, missing_left, heavier, tree.subsets


def sent_by_others(tree: Tree) -> bool:
    """Whether a missing value is sent by more than its node: by other columns, or to both sides."""
    return bool(len(tree.surrogates)) or (tree.missing == "fractional" and tree.n_nodes > 1)


def divides(tree: Tree, data: Dataset) -> bool:
    """Whether some row goes to several leaves."""
    return tree.missing == "fractional" and first_missing(tree, data) is not None


def first_missing(tree: Tree, data: Dataset) -> tuple[int, int] | None:
    """A column that the tree tests and a row that misses it, the first; None where no row misses any."""
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


def _refuse_missing(tree: Tree, data: Dataset) -> None:
    found = first_missing(tree, data)
    if found is not None:
        column, row = found
        raise ValueError(
            f"row {row} has no value of {tree.tested[column].name!r}, which the tree tests: it was made "
            "with missing='error' and takes complete rows only"
        )


def refuse_rows_with_missing(tree: Tree, data: Dataset, name: str, what: str) -> None:
    """Refuse rows whose missing values are sent by more than their node, for questions that follow tests."""
    found = first_missing(tree, data) if sent_by_others(tree) else None
    if found is not None:
        column, row = found
        raise ValueError(
            f"row {row} of {name} has no value of {tree.tested[column].name!r}, and this tree "
            f"{_sending(tree)}: {what}"
        )


def refuse_sending(tree: Tree, what: str) -> None:
    """Refuse a tree that sends missing values by more than the node that tests them; `what` ends before the
    way out.
    """
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
    """Parts of some neighbouring rows at leaves; those of a row lie together, from left to right."""

    first: int  # the row with which they begin
    start: NDArray[np.int64]  # of each row, and where the last one ends
    leaf: Ints
    share: Floats

    @property
    def n_rows(self) -> int:
        """How many rows these are the parts of."""
        return len(self.start) - 1

    @property
    def place(self) -> NDArray[np.int64]:
        """The row of each part, counted from the first of these rows."""
        return np.repeat(np.arange(self.n_rows), np.diff(self.start))


def parts_of(tree: Tree, data: Dataset, most: int = MOST_PARTS) -> Iterator[Parts]:
    """The parts of all rows where a row without the value that a node tests goes to both children, in the
    shares of their weights; about `most` parts at a time.

    >>> from dataclasses import replace
    >>> from treewright import encode, grow
    >>> tree = replace(grow(encode({"x": [1.0, 2.0, 3.0]}, ["a", "a", "b"])), missing="fractional")
    >>> [parts] = parts_of(tree, encode({"x": [0.0, None]}, schema=tree.schema))
    >>> parts.start.tolist(), parts.leaf.tolist(), parts.share.round(3).tolist()
    ([0, 1, 3], [1, 1, 2], [1.0, 0.667, 0.333])
    """
    columns: Any = extended_columns(data, tree.directions)
    routes = (tree.end, tree.feature, tree.threshold, tree.subset, tree.heavier_left, tree.subsets)
    first = 0
    while first < data.n_rows:
        parts = Parts(first, *_core.spread(columns, *routes, tree.weight, first, most))
        yield parts
        first += parts.n_rows
