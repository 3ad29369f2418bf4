"""A tree that is being pruned from the bottom up while branches rise and rows change their leaves.

The arrays of a `Tree` stand still; here child pointers, leaves, class weights and rows move. All branches of
one depth are treated together, so that a pass is a loop over depths. When a branch takes the place of the
node above it, its leaves have more rows, and what was decided inside it is decided anew: its nodes, which are
deeper, come back on the agenda before anything above them is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset
from treewright.pruning.traversal import Floats, Ints, Mask
from treewright.tree import Tree
from treewright.tree.evaluate import checked_targets
from treewright.tree.missing import refuse_rows_with_missing
from treewright.tree.oblique import column_at
from treewright.tree.surgery import grafted_arrays

BLOCK = 8192  # rows that walk down together

RAISING = "a branch cannot rise where its rows go by more than its tests: raising=False"
Estimate = Callable[[Floats], Floats]  # of the errors of leaves with given class weights, one row for each


class Agenda:
    """Branches that wait to be looked at, the deepest first."""

    def __init__(self, depths: NDArray[np.int32], waves: list[Ints]) -> None:
        self._depths = depths
        self._waiting = {int(depths[wave[0]]): wave for wave in waves}
        self._deepest = max(self._waiting, default=-1)

    def pop(self) -> Ints | None:
        """All branches of the greatest depth that is left, ascending; None at the end."""
        while self._deepest >= 0:
            wave = self._waiting.pop(self._deepest, None)
            if wave is not None:
                return wave
            self._deepest -= 1
        return None

    def push(self, nodes: Ints) -> None:
        """Put branches back, all of them deeper than whatever still waits."""
        depth = self._depths[nodes]
        for level in np.unique(depth).tolist():
            self._waiting[level] = np.sort(nodes[depth == level])
            self._deepest = max(self._deepest, level)


class Moving:
    """The current tree: what stands below each node, who its rows are, what it is estimated to get wrong."""

    def __init__(self, tree: Tree, data: Dataset, estimate: Estimate) -> None:
        refuse_rows_with_missing(tree, data, "data", RAISING)
        self.tree, self.data, self.estimate = tree, data, estimate
        self.left, self.right = tree.left.astype(np.int64), tree.right.astype(np.int64)
        self.is_leaf = tree.is_leaf.copy()
        self.stands = np.arange(tree.n_nodes)  # the node that has taken the place of each
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
            raise ValueError(
                "data must be the rows that the tree was grown from; other rows arrive at its nodes"
            )
        self.total = self.counts.sum(axis=1)
        self.as_leaf = estimate(self.counts)  # the errors of each node, were it a leaf
        self.errors = self.as_leaf.copy()  # those of what stands there, as far as it has been looked at
        self.is_changed = np.zeros(tree.n_nodes, np.bool_)  # whether rows have come that are not counted yet
        self.has_risen = False
        # Estimates rise with every whole row that is added; for parts of rows they need not.
        self.is_whole = data.weight is None or not (data.weight % 1).any()

    def _class_weights(self, leaf: Ints, rows: Ints) -> Floats:
        """The class weights of the rows that arrive at each node."""
        tree, width = self.tree, self.tree.schema.width
        cells = np.bincount(leaf * width + self.classes[rows], self.weight[rows], tree.n_nodes * width)
        table: Floats = np.asarray(cells.reshape(tree.n_nodes, width), np.float64)
        return _core.join_classes(tree.end, table)

    # ---- looking -----------------------------------------------------------------------------------

    def renew(self, wave: Ints) -> None:
        """Find what the children of some branches have become, and add up their errors.

        Rows and class weights of a branch stay as they are, unless it has risen or is inside one that has.
        """
        left, right = self.left[wave], self.right[wave]
        if self.has_risen:
            left, right = self._standing(left), self._standing(right)
            self.left[wave], self.right[wave] = left, right
            self._count(wave[self.is_changed[wave]])
        self.errors[wave] = self.errors[left] + self.errors[right]

    def _standing(self, nodes: Ints) -> Ints:
        """What stands at some nodes now."""
        while ((now := self.stands[nodes]) != nodes).any():
            nodes = now
        return nodes

    def _count(self, wave: Ints) -> None:
        """Class weights of branches from those of their children."""
        self.counts[wave] = self.counts[self.left[wave]] + self.counts[self.right[wave]]
        self.total[wave], self.as_leaf[wave] = self.counts[wave].sum(axis=1), self.estimate(self.counts[wave])
        self.is_changed[wave] = False

    def below(self, nodes: Ints) -> Ints:
        """All that stands below some nodes now, themselves included."""
        found = [nodes]
        while nodes.size:
            nodes = nodes[~self.is_leaf[nodes]]
            nodes = np.concatenate([self.left[nodes], self.right[nodes]])
            found.append(nodes)
        return np.concatenate(found)

    def arrive(self, node: Ints, row: Ints) -> Ints:
        """The leaf at which each row arrives that is sent down from a node."""
        return np.concatenate(
            [
                self._walk(node[start : start + BLOCK], row[start : start + BLOCK])
                for start in range(0, max(len(row), 1), BLOCK)
            ]
        )

    def _walk(self, node: Ints, row: Ints) -> Ints:
        """The same for so few rows that they stay in the cache."""
        at, arrived, place = node, node.copy(), np.arange(len(node))
        while True:
            moving = np.flatnonzero(~self.is_leaf.take(at))
            if len(moving) < len(at):
                arrived[place] = at
                at, row, place = at.take(moving), row.take(moving), place.take(moving)
            if not len(at):
                return arrived
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
            if tree.tested[column].kind != "category":
                known, left = ~np.isnan(value), value <= tree.threshold[at]
            else:
                known, place = value >= 0, np.maximum(value, 0)
                left = (tree.subsets[tree.subset[at] + place // 8] >> (place % 8).astype(np.uint8) & 1) > 0
            passes[own[known]] = left[known]
        return passes

    # ---- changing ----------------------------------------------------------------------------------

    def rise(self, nodes: Ints, child: Ints, leaves: Ints, rows: Ints) -> Ints:
        """Let a child take the place of each node, with all rows of the node; those of the other child arrive
        at `leaves`. The branches that have to be looked at again are returned.
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
        self.stands[nodes] = child
        self.has_risen = True
        again = inside[~self.is_leaf[inside]]
        self.is_changed[again] = True
        return again

    def cut(self) -> Tree:
        """The tree as it stands now."""
        tree, top = self.tree, self._standing(np.zeros(1, np.int64))
        nodes = np.sort(self.below(top))
        leaves = nodes[self.is_leaf[nodes] & ~tree.is_leaf[nodes]]
        if not self.has_risen:
            return tree.collapse(leaves.tolist())
        inner = nodes[~self.is_leaf[nodes]]
        places = np.concatenate([[0], tree.left[inner], tree.right[inner]])
        standing = np.concatenate([top, self.left[inner], self.right[inner]])
        risen = places != standing
        replacements = dict(zip(places[risen].tolist(), standing[risen].tolist(), strict=True))
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
