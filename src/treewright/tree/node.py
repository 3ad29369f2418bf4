"""A light view of one node of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treewright._arrays import Floats, Int32s
from treewright.tree.conditions import NodeTest

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

    def _child(self, children: Int32s) -> Node:
        if self.is_leaf:
            raise ValueError(f"node {self.index} is a leaf and has no children")
        return Node(self.tree, int(children[self.index]))

    @property
    def statistic(self) -> Floats:
        """The node's statistic."""
        return np.asarray(self.tree.statistic[self.index])

    def __repr__(self) -> str:
        return f"<Node {self.index}: {self.test or 'leaf'}, {int(self.tree.rows[self.index])} rows>"
