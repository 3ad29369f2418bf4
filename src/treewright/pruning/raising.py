"""A tree that is being pruned from the bottom up while branches rise and rows change their leaves.

The arrays of a `Tree` stand still; here child pointers, leaves, class weights and rows move. All branches of
one depth are treated together, so that a pass is a loop over depths. When a branch takes the place of the
node above it, its leaves have more rows, and what was decided inside it is decided anew: its nodes, which are
deeper, come back on the agenda before anything above them is looked at.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Estimate = Callable[[Floats], Floats]  # of the errors of leaves with given class weights, one row for each


class Agenda:
    """Branches that wait to be looked at, the deepest first."""

    def __init__(self, depths: NDArray[np.int32], waves: list[Ints]) -> None:
        self._depths = depths
        self._waiting: dict[int, list[Ints]] = {int(depths[wave[0]]): [wave] for wave in waves}
        self._deepest = max(self._waiting, default=-1)

    def pop(self) -> Ints | None:
        """All branches of the greatest depth that is left, ascending; None at the end."""
        while self._deepest >= 0:
            waves = self._waiting.pop(self._deepest, None)
            if waves is not None:
                return waves[0] if len(waves) == 1 else np.unique(np.concatenate(waves))
            self._deepest -= 1
        return None

    def push(self, nodes: Ints) -> None:
        """Put branches back."""
        depth = self._depths[nodes]
        for level in np.unique(depth).tolist():
            self._waiting.setdefault(level, []).append(nodes[depth == level])
            self._deepest = max(self._deepest, level)


class Moving:
    """The current tree: what stands below each node, who its rows are, what it is estimated to get wrong."""

    def __init__(self, tree: Tree, data: Dataset, estimate: Estimate) -> None:
        self.tree, self.data, self.estimate = tree, data, estimate
        self.left, self.right = tree.left.astype(np.int64), tree.right.astype(np.int64)
        self.is_leaf = tree.is_leaf.copy()
        self.stands = np.arange(tree.n_nodes)  # the node that has taken the place of each
        leaf = tree.apply(data).astype(np.int64)
        counted = np.arange(data.n_rows) if data.weight is None else np.flatnonzero(data.weight > 0)
        self.leaf_of = leaf
        self.order = counted[np.argsort(leaf[counted], kind="stable")]  # the rows of a subtree lie together
        border = np.searchsorted(leaf[self.order], np.arange(tree.n_nodes + 1))
        self.first, self.last = border[:-1].copy(), border[tree.end].copy()
        self.classes: NDArray[np.int32] = np.asarray(data.targets)[0]
        self.weight = np.ones(data.n_rows) if data.weight is None else data.weight
        self.counts: Floats = np.array(tree.statistic_of(data))
        if not (self.first < self.last).all() or not np.allclose(self.counts, tree.statistic, rtol=1e-9):
            raise ValueError(
                "data must be the rows that the tree was grown from; other rows arrive at its nodes"
            )
        self.errors = estimate(self.counts)  # of what stands at each node; right at leaves from the start
        # Estimates rise with every whole row that is added; for parts of rows they need not.
        self.is_whole = data.weight is None or not (data.weight % 1).any()

    # ---- looking -----------------------------------------------------------------------------------

    def renew(self, wave: Ints) -> None:
        """Add up, at each branch, what its children have become."""
        for child in (self.left, self.right):
            now = child[wave]
            while (self.stands[now] != now).any():
                now = self.stands[now]
            child[wave] = now
        left, right = self.left[wave], self.right[wave]
        self.counts[wave] = self.counts[left] + self.counts[right]
        self.errors[wave] = self.errors[left] + self.errors[right]
        self.first[wave], self.last[wave] = self.first[left], self.last[right]

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
        node = node.copy()
        moving = np.flatnonzero(~self.is_leaf[node])
        while moving.size:
            at = node[moving]
            node[moving] = at = np.where(self._passes(at, row[moving]), self.left[at], self.right[at])
            moving = moving[~self.is_leaf[at]]
        return node

    def _passes(self, node: Ints, row: Ints) -> Mask:
        """Whether a row passes the test of a node, for pairs of them."""
        tree, columns = self.tree, self.data.columns
        feature = tree.feature[node]
        if isinstance(columns, np.ndarray):
            value = columns[row, feature]
            return np.where(np.isnan(value), tree.missing_left[node], value <= tree.threshold[node])
        passes = tree.missing_left[node]
        for column in np.unique(feature):
            own = np.flatnonzero(feature == column)
            value, at = columns[column][row[own]], node[own]
            if tree.schema.columns[column].kind != "category":
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
        self.errors[changed] = self.estimate(self.counts[changed])
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
        return inside[~self.is_leaf[inside]]


def spans(first: Ints, last: Ints) -> Ints:
    """The numbers of several ranges, one after the other.

    >>> spans(np.array([2, 7]), np.array([4, 10])).tolist()
    [2, 3, 7, 8, 9]
    """
    length = last - first
    before = np.cumsum(length) - length
    return np.arange(int(length.sum())) + np.repeat(first - before, length)
