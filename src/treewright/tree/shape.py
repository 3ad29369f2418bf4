"""The shape of a tree in preorder: what follows from where each subtree ends."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from treewright._arrays import Flags, Int32s, Ints
from treewright.tree.builder import preorder

if TYPE_CHECKING:
    from treewright.tree.tree import Tree


class Shaped:
    """The part of `Tree` that knows children, parents and depths."""

    @property
    def n_nodes(self: Tree) -> int:  # type: ignore[misc]
        """The number of nodes."""
        return len(self.end)

    @property
    def n_leaves(self: Tree) -> int:  # type: ignore[misc]
        """The number of leaves."""
        return (self.n_nodes + 1) // 2

    @property
    def n_splits(self: Tree) -> int:  # type: ignore[misc]
        """The number of splits; a split into many branches is one."""
        return self.n_leaves - 1 - int(self.joined.sum())

    @cached_property
    def is_leaf(self: Tree) -> Flags:  # type: ignore[misc]
        """Whether each node is a leaf."""
        return self.feature < 0

    @cached_property
    def left(self: Tree) -> Int32s:  # type: ignore[misc]
        """The left child of each node, -1 at a leaf."""
        return np.where(self.is_leaf, -1, np.arange(1, self.n_nodes + 1)).astype(np.int32)

    @cached_property
    def right(self: Tree) -> Int32s:  # type: ignore[misc]
        """The right child of each node, -1 at a leaf."""
        return np.where(self.is_leaf, -1, self.end[np.minimum(self.left, self.n_nodes - 1)]).astype(np.int32)

    @cached_property
    def parent(self: Tree) -> Int32s:  # type: ignore[misc]
        """The parent of each node, -1 at the root."""
        parent = np.full(self.n_nodes, -1, np.int32)
        inner = np.flatnonzero(~self.is_leaf)
        parent[self.left[inner]] = inner
        parent[self.right[inner]] = inner
        return parent

    @cached_property
    def depths(self: Tree) -> Int32s:  # type: ignore[misc]
        """The distance of each node from the root."""
        return _running_depth(self.end, np.ones(self.n_nodes, np.int64))

    @cached_property
    def waves(self: Tree) -> list[Ints]:  # type: ignore[misc]
        """The branches of each depth, the deepest first: a bottom-up pass is a loop over them.

        >>> from treewright import encode, grow
        >>> tree = grow(encode({"x": [1.0, 2.0, 3.0]}, ["a", "b", "a"]))
        >>> [wave.tolist() for wave in tree.waves]
        [[2], [0]]
        """
        inner = np.flatnonzero(~self.is_leaf)
        depth = self.depths[inner]
        order = np.argsort(-depth, kind="stable")
        borders = np.flatnonzero(np.diff(depth[order])) + 1
        return [wave for wave in np.split(inner[order], borders) if wave.size]

    @cached_property
    def heads(self: Tree) -> Int32s:  # type: ignore[misc]
        """The node at which the split of each node begins: itself, unless it continues one above."""
        heads = np.arange(self.n_nodes, dtype=np.int32)
        for node in np.flatnonzero(self.joined).tolist():
            heads[node] = heads[self.parent[node]]
        return heads

    @cached_property
    def levels(self: Tree) -> Int32s:  # type: ignore[misc]
        """The number of splits above each node; a split into many branches is one."""
        return _running_depth(self.end, np.where(self.joined, 0, 1)) if self.joined.any() else self.depths

    @property
    def depth(self: Tree) -> int:  # type: ignore[misc]
        """The depth of the deepest leaf; 0 for a single leaf."""
        return int(self.depths.max())

    @property
    def height(self: Tree) -> int:  # type: ignore[misc]
        """The largest number of splits above a leaf; a split into many branches is one."""
        return int(self.levels.max())

    def branches(self: Tree, node: int) -> list[int]:  # type: ignore[misc]
        """The children of a node from left to right; of a split into many branches all of them.

        >>> from treewright import encode, grow
        >>> tree = grow(encode({"x": [1.0, 2.0, 3.0]}, ["a", "b", "a"]))
        >>> tree.branches(0)
        [1, 2]
        """

        def parts(part: int) -> tuple[int, ...]:
            continues = self.joined[part] or (part == node and not self.is_leaf[part])
            return (int(self.left[part]), int(self.right[part])) if continues else ()

        return [part for part in preorder(node, parts) if part != node and not self.joined[part]]

    @cached_property
    def answering(self: Tree) -> Int32s:  # type: ignore[misc]
        """The node whose rows determine each node's prediction: itself, or for a leaf without rows the one at
        which the split above it begins.
        """
        source = np.arange(self.n_nodes, dtype=np.int32)
        for node in np.flatnonzero(self.weight == 0).tolist():
            source[node] = source[self.heads[self.parent[node]]]
        return source


def _running_depth(end: Int32s, opens: Ints) -> Int32s:
    """Depths as a running sum: a node opens `opens` levels, and the end of its subtree closes them."""
    opens[0] = 0
    change = np.append(opens, 0)
    np.subtract.at(change, end, opens)
    return np.cumsum(change[:-1]).astype(np.int32)
