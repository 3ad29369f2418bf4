"""Multiway splits: growing trees whose nodes have many branches, and storing them as binary trees.

A `Tree` is binary; a split into many branches is a chain of tests of one column, whose nodes are `joined`.
ID3 and CHAID differ only in the function that finds the split of a node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from treewright import _core
from treewright._arrays import Array, Flags, Floats, Int32s, Ints
from treewright.encoding import Dataset
from treewright.tree import Tree
from treewright.tree.builder import LEAF, NodeEntry, best_first_order, node_arrays, preorder
from treewright.tree.conditions import subset_bits


@dataclass(frozen=True, eq=False)
class MultiwaySplit:
    """A column and its branches: the codes of each for a category, the cuts between them for a number.

    `missing` is the branch of missing values. For a number it may be an additional branch after all others,
    for a category a last branch without codes.
    """

    column: int
    groups: tuple[Ints, ...] = ()
    cuts: Floats = field(default_factory=lambda: np.zeros(0))
    missing: int = -1  # -1 where no missing value was seen: they go to the heaviest branch

    @property
    def n_branches(self) -> int:
        """The number of branches."""
        known = len(self.groups) if self.groups else len(self.cuts) + 1
        return max(known, self.missing + 1)

    @property
    def missing_alone(self) -> bool:
        """Whether missing values of a number have a branch of their own."""
        return not self.groups and self.missing == len(self.cuts) + 1

    def branch_of(self, values: Array) -> Ints:
        """The branch of each value."""
        if not self.groups:
            place = np.searchsorted(self.cuts, values, side="left")
            return np.where(np.isnan(values), self.missing, place)
        by_code = np.full(max(max(codes.max(initial=-1) for codes in self.groups) + 2, 1), self.missing)
        for branch, codes in enumerate(self.groups):
            by_code[codes] = branch
        return np.asarray(by_code[values], np.int64)  # a missing value has the code -1, the last entry


@dataclass(eq=False)
class MultiwayNode:
    """A node of a tree that is being grown."""

    rows: Ints
    statistic: Floats
    used: frozenset[int]  # columns tested above
    level: int
    split: MultiwaySplit | None = None
    branches: list[MultiwayNode] = field(default_factory=list)


@dataclass(eq=False)
class _Rest:
    """The branches of a split from number `first` on: a node of the chain."""

    node: MultiwayNode
    first: int
    joined: bool = True

    @property
    def branches(self) -> list[MultiwayNode]:
        split = self.node.split
        assert split is not None
        return self.node.branches[self.first : -1 if split.missing_alone else None]


def grow_multiway(
    data: Dataset, criterion: str, find_split: Callable[[MultiwayNode], MultiwaySplit | None]
) -> Tree:
    """The tree for the classes of one target, with the splits that `find_split` finds."""
    labels, weight, width = data.target_array[0], data.row_weights, data.schema.width

    def new_node(rows: Ints, used: frozenset[int], level: int) -> MultiwayNode:
        counts = np.bincount(labels[rows], weight[rows], width).astype(np.float64)
        return MultiwayNode(rows, counts, used, level)

    def branches(node: MultiwayNode) -> list[MultiwayNode]:
        node.split = split = find_split(node)
        if split is not None:
            branch = split.branch_of(data.column(split.column, node.rows))
            used = node.used | {split.column}
            node.branches = [
                new_node(node.rows[branch == i], used, node.level + 1) for i in range(split.n_branches)
            ]
        return node.branches

    root = new_node(data.counted, frozenset(), 0)
    preorder(root, branches)
    return _binary_tree(root, data, criterion)


def _binary_tree(root: MultiwayNode, data: Dataset, criterion: str) -> Tree:
    """The binary tree of a multiway tree: each split becomes a chain of tests."""
    tests: list[NodeEntry] = []
    rows: list[int] = []
    statistics: list[Floats] = []

    def add(item: MultiwayNode | _Rest) -> list[MultiwayNode | _Rest]:
        """Append the node of an item, if it has one of its own; the items that follow."""
        if isinstance(item, MultiwayNode):
            split = item.split
            if split is not None and not split.missing_alone:
                return [_Rest(item, 0, joined=False)]
            rows.append(len(item.rows))
            statistics.append(item.statistic)
            # where missing values have their own branch, x <= inf separates them from all others
            tests.append(LEAF if split is None else NodeEntry(split.column, np.inf))
            return [] if split is None else [_Rest(item, 0), item.branches[-1]]
        branches = item.branches
        if len(branches) == 1:
            return [*branches]
        rows.append(sum(len(branch.rows) for branch in branches))
        statistics.append(np.sum([branch.statistic for branch in branches], axis=0))
        tests.append(_link_test(item, data))
        return [branches[0], branches[1] if len(branches) == 2 else _Rest(item.node, item.first + 1)]

    first: MultiwayNode | _Rest = root
    preorder(first, add)
    arrays, statistic = node_arrays(tests), np.array(statistics)
    gain = _split_gains(arrays["end"], arrays["joined"], _core.risk(criterion, statistic))
    return Tree(
        **arrays,
        step=best_first_order(arrays["end"], gain, arrays["joined"]),
        rows=np.array(rows, np.int64),
        statistic=statistic,
        schema=data.schema,
        criterion=criterion,
        missing="category",
        provenance=data.provenance,
    )


def _link_test(rest: _Rest, data: Dataset) -> NodeEntry:
    """The test that separates the first of some branches from the others."""
    split, first = rest.node.split, rest.first
    assert split is not None
    if split.missing >= first:
        missing_left = split.missing == first
    else:
        weights = [float(branch.statistic.sum()) for branch in rest.branches]
        missing_left = weights[0] >= max(weights[1:])
    if not split.groups:
        return NodeEntry(split.column, float(split.cuts[first]), b"", missing_left, rest.joined)
    bits = subset_bits(data.schema.category_counts[split.column], split.groups[first])
    return NodeEntry(split.column, np.nan, bits, missing_left, rest.joined)


def _split_gains(end: Int32s, joined: Flags, risk: Floats) -> Floats:
    """The gain of each multiway split, at its first node."""
    gain, head = risk.copy(), np.arange(len(end))
    for node in np.flatnonzero(end > np.arange(1, len(end) + 1)).tolist():
        for child in (node + 1, int(end[node + 1])):
            if joined[child]:
                head[child] = head[node]
            else:
                gain[head[node]] -= risk[child]
    return gain
