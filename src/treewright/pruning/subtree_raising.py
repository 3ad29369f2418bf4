"""A tree during bottom-up pruning with subtree raising: children, leaves, class weights and rows change.

All branches of one depth are treated together, so that a pass is a loop over depths. When a branch takes the
place of the node above it, its leaves get more rows, and the decisions inside it are made again: its nodes,
which are deeper, are put back on the agenda before any node above them is considered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset
from treewright.pruning.path import OTHER_ROWS
from treewright.pruning.traversal import Floats, Ints, Mask
from treewright.tree import Tree
from treewright.tree.evaluate import checked_targets
from treewright.tree.missing import refuse_rows_with_missing
from treewright.tree.oblique import column_at
from treewright.tree.surgery import grafted_arrays

BLOCK = 8192  # rows that walk down together

RAISING = "raising branches needs rows that only the tests send down the tree: raising=False"
Estimate = Callable[[Floats], Floats]  # of the errors of leaves with given class weights, one row for each


class Agenda:
    """The branches that still have to be decided, the deepest first."""

    def __init__(self, depths: NDArray[np.int32], waves: list[Ints]) -> None:
        self._depths = depths
        self._waiting = {int(depths[wave[0]]): wave for wave in waves}
        self._deepest = max(self._waiting, default=-1)

    def pop(self) -> Ints | None:
        """All branches of the greatest remaining depth, ascending; None at the end."""
        while self._deepest >= 0:
            wave = self._waiting.pop(self._deepest, None)
            if wave is not None:
                return wave
            self._deepest -= 1
        return None

    def push(self, nodes: Ints) -> None:
        """Put branches back, which are deeper than all others."""
        depth = self._depths[nodes]
        for level in np.unique(depth).tolist():
            self._waiting[level] = np.sort(nodes[depth == level])
            self._deepest = max(self._deepest, level)


class Moving:
    """The current tree: the children, the rows and the estimated errors of each node."""

    def __init__(self, tree: Tree, data: Dataset, estimate: Estimate) -> None:
        refuse_rows_with_missing(tree, data, "data", RAISING)
        self.tree, self.data, self.estimate = tree, data, estimate
        self.left, self.right = tree.left.astype(np.int64), tree.right.astype(np.int64)
        self.is_leaf = tree.is_leaf.copy()
        self.replaced_by = np.arange(tree.n_nodes)  # the node in the place of each node
        leaf = tree.apply(data).astype(np.int64)
        counted = data.counted
        self.leaf_of = leaf
        self.order = counted[np.argsort(leaf[counted], kind="stable")]  # the rows of a subtree lie together
        border = np.searchsorted(leaf[self.order], np.arange(tree.n_nodes + 1))
        self.first, self.last = border[:-1].copy(), border[tree.end].copy()
        self.classes = checked_targets(tree, data)[0]
        self.weight = data.row_weights
        self.counts = self._class_weights(leaf[counted], counted)
        if not (self.first < self.last).all() or not np.allclose(self.counts, tree.statistic, rtol=1e-9):
            raise ValueError(OTHER_ROWS)
        self.total = self.counts.sum(axis=1)
        self.as_leaf = estimate(self.counts)  # the errors of each node, were it a leaf
        self.errors = self.as_leaf.copy()  # those of the current subtree, once it has been decided
        self.is_changed = np.zeros(tree.n_nodes, np.bool_)  # whether it has new rows that are not counted yet
        self.has_raised = False
        # Estimates grow with every whole row that is added; with fractions of rows they may not.
        self.is_whole = data.weight is None or not (data.weight % 1).any()

    def _class_weights(self, leaf: Ints, rows: Ints) -> Floats:
        """The class weights of the rows that arrive at each node."""
        tree, width = self.tree, self.tree.schema.width
        cells = np.bincount(leaf * width + self.classes[rows], self.weight[rows], tree.n_nodes * width)
        table: Floats = np.asarray(cells.reshape(tree.n_nodes, width), np.float64)
        return _core.join_classes(tree.end, table)

    # ---- the current state -------------------------------------------------------------------------

    def renew(self, wave: Ints) -> None:
        """Bring the children of some branches up to date, and add up their errors.

        Rows and class weights of a branch change only inside a subtree that was raised.
        """
        left, right = self.left[wave], self.right[wave]
        if self.has_raised:
            left, right = self._current(left), self._current(right)
            self.left[wave], self.right[wave] = left, right
            self._count(wave[self.is_changed[wave]])
        self.errors[wave] = self.errors[left] + self.errors[right]

    def _current(self, nodes: Ints) -> Ints:
        """The nodes that are now in the place of some nodes."""
        while ((now := self.replaced_by[nodes]) != nodes).any():
            nodes = now
        return nodes

    def _count(self, wave: Ints) -> None:
        """Class weights of branches from those of their children."""
        self.counts[wave] = self.counts[self.left[wave]] + self.counts[self.right[wave]]
        self.total[wave], self.as_leaf[wave] = self.counts[wave].sum(axis=1), self.estimate(self.counts[wave])
        self.is_changed[wave] = False

    def below(self, nodes: Ints) -> Ints:
        """The nodes of the current subtrees of some nodes."""
        levels = [nodes]
        while nodes.size:
            nodes = nodes[~self.is_leaf[nodes]]
            nodes = np.concatenate([self.left[nodes], self.right[nodes]])
            levels.append(nodes)
        return np.concatenate(levels)

    def arrive(self, node: Ints, row: Ints) -> Ints:
        """The leaf of each row that is sent down from a node."""
        starts = range(0, max(len(row), 1), BLOCK)
        return np.concatenate([self._walk(node[i : i + BLOCK], row[i : i + BLOCK]) for i in starts])

    def _walk(self, node: Ints, row: Ints) -> Ints:
        """The same for so few rows that they stay in the cache."""
        at, leaf, place = node, node.copy(), np.arange(len(node))
        while True:
            moving = np.flatnonzero(~self.is_leaf.take(at))
            if len(moving) < len(at):
                leaf[place] = at
                at, row, place = at.take(moving), row.take(moving), place.take(moving)
            if not len(at):
                return leaf
            at = np.where(self._passes(at, row), self.left.take(at), self.right.take(at))

    def _passes(self, node: Ints, row: Ints) -> Mask:
        """Whether a row passes the test of a node, for pairs of them."""
        tree, columns = self.tree, self.data.columns
        feature = tree.feature.take(node)
        if isinstance(columns, np.ndarray) and not tree.directions:
            value = columns[row, feature]
            passes: Mask = value <= tree.threshold.take(node)
            missing = np.flatnonzero(np.isnan(value))
            passes[missing] = tree.missing_left[node[missing]]
            return passes
        passes = tree.missing_left.take(node)
        for column in np.unique(feature):
            own = np.flatnonzero(feature == column)
            value, at = column_at(tree, self.data, int(column), row[own]), node[own]
            if not tree.tested[column].is_category:
                known, left = ~np.isnan(value), value <= tree.threshold[at]
            else:
                known, place = value >= 0, np.maximum(value, 0)
                left = (tree.subsets[tree.subset[at] + place // 8] >> (place % 8).astype(np.uint8) & 1) > 0
            passes[own[known]] = left[known]
        return passes

    # ---- changing ----------------------------------------------------------------------------------

    def rise(self, nodes: Ints, child: Ints, leaves: Ints, rows: Ints) -> Ints:
        """Put a child in the place of each node, with all rows of the node; those of the other child go to
        `leaves`. Returns the branches that have to be decided again.
        """
        np.add.at(self.counts, (leaves, self.classes[rows]), self.weight[rows])
        changed = np.unique(leaves)
        self.total[changed] = self.counts[changed].sum(axis=1)
        self.errors[changed] = self.as_leaf[changed] = self.estimate(self.counts[changed])
        self.leaf_of[rows] = leaves
        place = spans(self.first[nodes], self.last[nodes])
        row = self.order[place]
        by_leaf = np.argsort(self.leaf_of[row], kind="stable")
        self.order[place] = row[by_leaf]
        sorted_leaf = self.leaf_of[row[by_leaf]]
        inside = self.below(child)
        start = np.searchsorted(sorted_leaf, inside)
        self.first[inside] = place[start]
        self.last[inside] = place[start] + np.searchsorted(sorted_leaf, self.tree.end[inside]) - start
        self.replaced_by[nodes] = child
        self.has_raised = True
        again = inside[~self.is_leaf[inside]]
        self.is_changed[again] = True
        return again

    def cut(self) -> Tree:
        """The current tree."""
        tree, top = self.tree, self._current(np.zeros(1, np.int64))
        nodes = np.sort(self.below(top))
        leaves = nodes[self.is_leaf[nodes] & ~tree.is_leaf[nodes]]
        if not self.has_raised:
            return tree.collapse(leaves.tolist())
        inner = nodes[~self.is_leaf[nodes]]
        places = np.concatenate([[0], tree.left[inner], tree.right[inner]])
        current = np.concatenate([top, self.left[inner], self.right[inner]])
        differs = places != current
        replacements = dict(zip(places[differs].tolist(), current[differs].tolist(), strict=True))
        arrays = grafted_arrays(tree, replacements, leaves.tolist())
        arrays["rows"], arrays["statistic"] = (self.last - self.first)[nodes], self.counts[nodes]
        return replace(tree, **arrays)


def spans(first: Ints, last: Ints) -> Ints:
    """The numbers of several ranges, one after the other.

    >>> spans(np.array([2, 7]), np.array([4, 10])).tolist()
    [2, 3, 7, 8, 9]
    """
    length = last - first
    before = np.cumsum(length) - length
    return np.asarray(np.arange(int(length.sum())) + np.repeat(first - before, length))
