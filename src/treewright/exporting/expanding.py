"""Surrogates written out as plain tests: is the value known? If not, is that of the first surrogate? …"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from treewright.exporting.questions import Question, questions
from treewright.tree import Tree

MOST_NODES = 200_000

# What is known of a column on the way to a node: that it has a value; a value that training saw; none; none
# that training saw.
Known = Literal["some", "seen", "none", "odd"]


@dataclass
class Step:
    """A node of the tree of plain tests; a leaf has no question but is that leaf of the original tree."""

    leaf: int = -1
    question: Question | None = None
    asks_whether_known: bool = False  # left if so; of a surrogate's category: if it is one that was seen
    missing_left: bool = False
    left: int = -1
    right: int = -1


class _Task(NamedTuple):
    """What is still to be written: a node from one of its questions on, and whose child it is."""

    node: int
    rank: int
    state: dict[int, Known]
    parent: int
    is_left: bool


def expanded(tree: Tree, most: int = MOST_NODES) -> list[Step] | None:
    """The nodes in preorder; None where there would be more than `most`.

    What the way to a node tells of a column is not asked again there, and its surrogates go where they cannot
    matter; so a tree with surrogates in a few columns stays small.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0]}, ["a", "a", "b"]))
    >>> [(step.leaf, step.left, step.right) for step in expanded(tree)]
    [(-1, 1, 2), (0, -1, -1), (1, -1, -1)]
    """
    steps: list[Step] = []
    leaf_place = (tree.is_leaf.cumsum() - 1).tolist()
    asked = {node: list(questions(tree, node)) for node in np.flatnonzero(~tree.is_leaf).tolist()}
    tasks = [_Task(0, 0, {}, -1, False)]
    while tasks:
        node, rank, state, parent, is_left = tasks.pop()
        if len(steps) == most:
            return None
        if parent >= 0:
            setattr(steps[parent], "left" if is_left else "right", len(steps))
        node, rank, question = _next(tree, asked, node, rank, state)
        here = len(steps)
        if question is None:
            steps.append(Step(leaf=leaf_place[node]))
            continue
        left, right, j = node + 1, int(tree.right[node]), question.feature
        if len(asked[node]) == 1:
            goes_left = bool(tree.missing_left[node])
            steps.append(Step(question=question, missing_left=goes_left))
            known: dict[int, Known] = {**state, j: state.get(j, "some")}
            tasks.append(_Task(right, 0, known if goes_left else state, here, False))
            tasks.append(_Task(left, 0, state if goes_left else known, here, True))
        elif _is_sure(question, state.get(j)):
            steps.append(Step(question=question))
            tasks += [_Task(right, 0, state, here, False), _Task(left, 0, state, here, True)]
        else:
            steps.append(Step(question=question, asks_whether_known=True))
            as_seen = question.is_category and question.unseen_left is None
            tasks.append(_Task(node, rank + 1, {**state, j: "odd" if as_seen else "none"}, here, False))
            tasks.append(_Task(node, rank, {**state, j: "seen" if as_seen else "some"}, here, True))
    return steps


def _next(
    tree: Tree, asked: dict[int, list[Question]], node: int, rank: int, state: dict[int, Known]
) -> tuple[int, int, Question | None]:
    """The first question from there on whose answer is open; None where the way comes to a leaf."""
    while node in asked:
        if len(asked[node]) == 1:
            return node, 0, asked[node][0]
        for place in range(rank, len(asked[node])):
            question = asked[node][place]
            known = state.get(question.feature)
            hopeless = known == "none" or (known == "odd" and question.unseen_left is None)
            if not hopeless:
                return node, place, question
        node, rank = (node + 1 if tree.missing_left[node] else int(tree.right[node])), 0
    return node, 0, None


def _is_sure(question: Question, known: Known | None) -> bool:
    """Whether the value that a question needs is there for certain."""
    if question.is_category and question.unseen_left is None:
        return known == "seen"
    return known in ("some", "seen")
