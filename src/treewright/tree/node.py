"""A light view of one node of a tree, and what a tree has seen of missing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treewright.tree.conditions import NodeTest
from treewright.tree.missing import sent_by_others

if TYPE_CHECKING:
    from treewright.tree.tree import Tree


@dataclass(frozen=True)
class Node:
    """A view of one node; nothing is copied."""

    tree: Tree
    index: int

    @property
    def is_leaf(self) -> bool:
        """Whether the node is a leaf."""
        return bool(self.tree.is_leaf[self.index])

    @property
    def test(self) -> NodeTest | None:
        """The node's test; None at a leaf."""
        return self.tree.test(self.index)

    @property
    def left(self) -> Node:
        """The child of the rows that pass the test."""
        return self._child(self.tree.left)

    @property
    def right(self) -> Node:
        """The child of the other rows."""
        return self._child(self.tree.right)

    def _child(self, children: NDArray[np.int32]) -> Node:
        if self.is_leaf:
            raise ValueError(f"node {self.index} is a leaf and has no children")
        return Node(self.tree, int(children[self.index]))

    @property
    def statistic(self) -> NDArray[np.float64]:
        """The node's statistic."""
        return np.asarray(self.tree.statistic[self.index])

    def __repr__(self) -> str:
        return f"<Node {self.index}: {self.test or 'leaf'}, {int(self.tree.rows[self.index])} rows>"


def columns_with_missing(tree: Tree) -> frozenset[int]:
    """The columns in which some node sends missing values elsewhere than by default, to the heavier child.

    None of them where surrogates decide, where such rows are divided, or where the tree refuses them.
    """
    if sent_by_others(tree) or tree.missing == "error":
        return frozenset()
    inner = np.flatnonzero(~tree.is_leaf)
    learnt = (tree.missing_left[inner] != tree.heavier_left[inner]) | np.isposinf(tree.threshold[inner])
    return frozenset(tree.feature[inner[learnt]].tolist())


def missing_arrives(tree: Tree) -> NDArray[np.bool_]:
    """Whether a missing value of the column that a node tests can come to it; False at leaves.

    It cannot where a test of the same column above sent missing values the other way.
    """
    if tree.missing == "error":
        return np.zeros(tree.n_nodes, np.bool_)
    if sent_by_others(tree):
        return ~tree.is_leaf
    if "_missing_arrives" not in vars(tree):
        arrives = ~tree.is_leaf
        for column in np.unique(tree.feature[arrives]):
            nodes = np.flatnonzero(tree.feature == column)
            closed = np.where(tree.missing_left[nodes], tree.right[nodes], tree.left[nodes])
            opened = np.searchsorted(np.sort(closed), nodes, side="right")
            ended = np.searchsorted(np.sort(tree.end[closed]), nodes, side="right")
            arrives[nodes] = opened == ended  # the subtrees without missing values that a node lies in
        vars(tree)["_missing_arrives"] = arrives
    known: NDArray[np.bool_] = vars(tree)["_missing_arrives"]
    return known
