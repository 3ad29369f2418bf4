"""Tests one by one, as a program evaluates them where surrogates stand in for missing values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright.tree import Tree
from treewright.tree.conditions import SubsetTest


class Question(NamedTuple):
    """The test of a node, or a surrogate of it: which values go left."""

    feature: int  # as the tree counts: columns, then sums of columns
    threshold: float  # of a number or time: values up to it go left; NaN of a category
    reversed: bool = False  # values above the threshold go left
    left: tuple[int, ...] = ()  # the codes of the categories that go left
    right: tuple[int, ...] = ()
    unseen_left: bool | None = None  # where categories that were never seen go; None: as missing values

    @property
    def is_category(self) -> bool:
        """Whether it tests a category."""
        return self.threshold != self.threshold

    @property
    def operator(self) -> str:
        """How a known number compares with the threshold if it goes left."""
        return ">" if self.reversed else "<="

    @property
    def listed(self) -> tuple[bool, tuple[int, ...]]:
        """(within, codes): a category goes left if it is within the codes, or if it is not.

        Categories that were never seen are not within them.
        """
        return (False, self.right) if self.unseen_left else (True, self.left)

    @property
    def opposite(self) -> Question:
        """The same question about the right side."""
        unseen_left = None if self.unseen_left is None else not self.unseen_left
        sides = self.right, self.left
        return Question(self.feature, self.threshold, not self.reversed, *sides, unseen_left)


def has_surrogates(tree: Tree, node: int) -> bool:
    """Whether a node has surrogates."""
    return bool(len(tree.surrogates)) and len(tree.surrogates.of(node)) > 0


def questions(tree: Tree, node: int, *, to_left: bool = True) -> Iterator[Question]:
    """The test of a node, then its surrogates, the best first: which values go left, or else right."""
    feature = int(tree.feature[node])
    if tree.subset[node] < 0:
        question = Question(feature, float(tree.threshold[node]))
    else:
        question = _of_category(feature, tree.goes_left(node), False, bool(tree.heavier_left[node]))
    yield question if to_left else question.opposite
    if len(tree.surrogates):
        others = (stand_in(tree, entry) for entry in tree.surrogates.of(node))
        yield from (other if to_left else other.opposite for other in others)


def stand_in(tree: Tree, entry: int) -> Question:
    """One surrogate."""
    others = tree.surrogates
    test, feature = others.test(entry, tree.schema), int(others.feature[entry])
    is_reversed = bool(others.reversed[entry])
    if isinstance(test, SubsetTest):
        return _of_category(feature, test.passes != is_reversed, is_reversed, None)
    return Question(feature, float(others.threshold[entry]), is_reversed)


def _of_category(
    feature: int, goes_left: NDArray[np.bool_], is_reversed: bool, unseen_left: bool | None
) -> Question:
    left, right = (tuple(np.flatnonzero(side).tolist()) for side in (goes_left, ~goes_left))
    return Question(feature, np.nan, is_reversed, left, right, unseen_left)


def refuse_parts(tree: Tree, format: str) -> None:
    """ValueError where rows with a missing value go to both sides, for a format that knows one leaf only."""
    if tree.missing == "fractional" and tree.n_nodes > 1:
        raise ValueError(
            f"{format} sends a row to one leaf, and this tree divides rows with a missing value "
            "(missing='fractional'): export it as python, javascript, java, c or json; for rows without "
            "missing values tree.with_missing('learn') answers alike"
        )


def refuse_sums(tree: Tree, format: str, instead: str) -> None:
    """ValueError where a tree tests sums of columns, for a format that knows columns only."""
    found = tree.feature[tree.feature >= len(tree.schema.columns)]
    if found.size:
        name = tree.tested[found[0]].name
        raise ValueError(f"{format} tests one column at a time, and this tree tests {name!r}: {instead}")
