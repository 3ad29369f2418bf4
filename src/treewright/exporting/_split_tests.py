"""Tests one by one, as a program asks them where surrogates stand in for missing values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from treewright.tree import Tree

Ways = list[tuple[str, str]]  # (a condition, what follows if it holds), in the order in which they are asked


@dataclass(frozen=True)
class Question:
    """The test of a node, or one that stands in for it: which values go left."""

    feature: int  # as the tree counts: columns, then sums of columns
    threshold: float  # of a number or time: values up to it go left; NaN of a category
    reversed: bool = False  # values above the threshold go left
    left: tuple[int, ...] = ()  # the codes of the categories that go left
    right: tuple[int, ...] = ()
    unseen_left: bool | None = None  # where categories go that were never seen; None: ask on, as if missing

    @property
    def is_category(self) -> bool:
        """Whether it asks a category."""
        return self.threshold != self.threshold

    @property
    def operator(self) -> str:
        """How a known number compares with the threshold if it goes left."""
        return ">" if self.reversed else "<="

    @property
    def flipped(self) -> Question:
        """The same question about the right side."""
        unseen = None if self.unseen_left is None else not self.unseen_left
        return replace(self, reversed=not self.reversed, left=self.right, right=self.left, unseen_left=unseen)


def has_surrogates(tree: Tree, node: int) -> bool:
    """Whether others stand in at a node where its value is missing."""
    return bool(len(tree.surrogates)) and len(tree.surrogates.of(node)) > 0


def questions(tree: Tree, node: int, *, to_left: bool = True) -> Iterator[Question]:
    """What a node asks, then what stands in for it, the best first: which values go left, or else right."""
    goes_left = tree.goes_left(node) if tree.subset[node] >= 0 else np.zeros(0, np.bool_)
    lefts, rights = _sides(goes_left)
    unseen = bool(tree.heavier_left[node])
    found = [Question(int(tree.feature[node]), float(tree.threshold[node]), False, lefts, rights, unseen)]
    found += [stand_in(tree, entry) for entry in tree.surrogates.of(node)]
    return (question if to_left else question.flipped for question in found)


def stand_in(tree: Tree, entry: int) -> Question:
    """One surrogate."""
    others = tree.surrogates
    feature, start = int(others.feature[entry]), int(others.subset[entry])
    turned = bool(others.reversed[entry])
    if start < 0:
        return Question(feature, float(others.threshold[entry]), turned)
    bits = others.subsets[start : start + tree.schema.subset_sizes[feature]]
    count = tree.schema.category_counts[feature]
    passes = np.unpackbits(bits, count=count, bitorder="little").astype(bool)
    lefts, rights = _sides(passes != turned)
    return Question(feature, np.nan, turned, lefts, rights)


def _sides(goes_left: NDArray[np.bool_]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(np.flatnonzero(goes_left).tolist()), tuple(np.flatnonzero(~goes_left).tolist())


def asked_in_turn(
    tree: Tree, node: int, ways: Callable[[Question], Ways], *, to_left: bool = True
) -> tuple[Ways, bool]:
    """What to ask at a node one after the other, and whether a row goes there that has no value for any.

    `ways` writes a question in some language: conditions, each of which says that the value is known, and
    whether the row goes there.
    """
    found = [way for question in questions(tree, node, to_left=to_left) for way in ways(question)]
    return found, bool(tree.missing_left[node]) == to_left


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
