"""Nodes of another library, in any order, as a tree: put in preorder, counted, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import encode
from treewright.encoding.schema import Schema
from treewright.tree import Tree, evaluate
from treewright.tree.class_counts import SparseRows

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Nodes:
    """The nodes of a tree as another library keeps them; node 0 is the root."""

    left: NDArray[Any]  # the children; below 0 at a leaf
    right: NDArray[Any]
    feature: NDArray[Any]
    threshold: Floats  # value <= threshold goes left
    missing_left: NDArray[np.bool_]
    rows: NDArray[Any]  # at leaves; branches are counted
    statistic: Floats  # as a tree's; of classes only at leaves
    lefts: Mapping[int, frozenset[int]] = field(
        default_factory=dict
    )  # codes that go left, at tests of categories


def assemble(nodes: Nodes, schema: Schema, criterion: str) -> Tree:
    """The tree of some nodes, split best first; ValueError if they make none."""
    order, end = _preorder(nodes.left, nodes.right)
    is_leaf = end == np.arange(1, len(end) + 1)
    sizes = schema.subset_sizes
    feature = np.where(is_leaf, -1, nodes.feature[order]).astype(np.int32)
    subset, subsets = np.full(len(order), -1, np.int64), bytearray()
    threshold = np.where(is_leaf, np.nan, nodes.threshold[order])
    for place in np.flatnonzero(~is_leaf).tolist():
        lefts = nodes.lefts.get(int(order[place]))
        if lefts is not None:
            subset[place], threshold[place] = len(subsets), np.nan
            bits = np.isin(np.arange(8 * sizes[feature[place]]), sorted(lefts))
            subsets += np.packbits(bits, bitorder="little").tobytes()
    tree = Tree(
        end=end,
        feature=feature,
        threshold=threshold,
        subset=subset,
        missing_left=nodes.missing_left[order].astype(np.bool_) & ~is_leaf,
        step=np.where(is_leaf, -1, np.cumsum(~is_leaf) - 1).astype(np.int32),
        rows=_summed(end, np.where(is_leaf, nodes.rows[order], 0)),
        statistic=_statistic(schema, end, is_leaf, nodes.statistic[order]),
        schema=schema,
        criterion=criterion,
        subsets=np.frombuffer(bytes(subsets), np.uint8),
    )
    tree.check()
    return replace(tree, step=best_first(tree))


def _preorder(left: NDArray[Any], right: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The nodes in preorder, and one past the subtree of each."""
    lefts, rights = left.tolist(), right.tolist()
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if len(order) > len(lefts):
            raise ValueError("this is not a tree: its nodes go round in a circle")
        if lefts[node] >= 0:
            waiting += [rights[node], lefts[node]]
    end = list(range(1, len(order) + 1))
    for place in range(len(order) - 1, -1, -1):
        if lefts[order[place]] >= 0:
            end[place] = end[end[place + 1]]
    return np.array(order, np.int64), np.array(end, np.int32)


def _summed(end: NDArray[np.int32], at_leaves: NDArray[Any]) -> NDArray[np.int64]:
    before = np.concatenate([[0], np.cumsum(at_leaves.astype(np.int64))])
    return np.asarray(before[end] - before[:-1])


def _statistic(
    schema: Schema, end: NDArray[np.int32], is_leaf: NDArray[np.bool_], given: Floats
) -> Floats | SparseRows:
    """Weights are added up from the leaves, so that they are sums to the last bit; the rest stays."""
    if schema.is_wide:
        return SparseRows.of(end, given)
    if schema.predicts_classes:
        return _core.join_classes(end, np.where(is_leaf[:, np.newaxis], given, 0.0))
    weights = _core.join_classes(end, np.where(is_leaf[:, np.newaxis], given[:, ::3], 0.0))
    statistic = np.array(given, np.float64)
    statistic[:, ::3] = weights
    statistic[:, 2::3] = np.maximum(statistic[:, 2::3], 0.0)
    return statistic


def best_first(tree: Tree) -> NDArray[np.int32]:
    """When each branch would be split by who always splits the leaf with the largest gain."""
    step = np.full(tree.n_nodes, -1, np.int32)
    gain, left, right, is_leaf = (a.tolist() for a in (tree.gain, tree.left, tree.right, tree.is_leaf))
    waiting = [] if is_leaf[0] else [(-gain[0], 0)]
    n_splits = 0
    while waiting:
        _, node = heappop(waiting)
        step[node] = n_splits
        n_splits += 1
        for child in (left[node], right[node]):
            if not is_leaf[child]:
                heappush(waiting, (-gain[child], child))
    return step


def scores(value: Floats, count: Floats, n_nodes: int, leaves: NDArray[Any]) -> Floats:
    """The statistic of a tree that gives scores: leaves without deviation, as if rows had their own score."""
    statistic = np.zeros((n_nodes, 3))
    statistic[leaves, 0] = count
    statistic[leaves, 1] = value
    return statistic


def joined_scores(tree: Tree) -> Tree:
    """The tree with what branches of scores say: the mean of the leaves below, and their distance from it."""
    statistic = np.where(tree.is_leaf[:, np.newaxis], np.asarray(tree.statistic), 0.0)
    made = replace(tree, statistic=_core.join_moments(tree.end, statistic))
    return replace(made, step=best_first(made))


def recounted(tree: Tree, data: Any) -> Tree:
    """The tree with the rows, weights and deviations of `data`: (table, target) or (table, target, weight).

    Its answers stay: classes are counted again, numbers keep their value.
    """
    if not isinstance(data, tuple | list) or len(data) not in (2, 3):
        raise TypeError("data must be (table, target) or (table, target, weight)")
    table, target, weight = (*data, None)[:3]
    numbers = not tree.schema.predicts_classes
    if target is None and numbers:
        rows = encode(table, weight=weight, schema=tree.schema)
        leaf = tree.apply(rows)
        target = tree.value[leaf] if len(tree.schema.targets) > 1 else tree.value[leaf, 0]
    encoded = encode(table, target, weight=weight, schema=tree.schema)
    if not numbers:
        made = tree.restated(encoded)
        if not np.array_equal(made.label[made.is_leaf], tree.label[tree.is_leaf]):
            raise ValueError(
                "the rows of data would change what a leaf answers; they are not those that the tree was "
                "fitted to (with the same weights)"
            )
        return replace(made, step=best_first(made))
    counted = evaluate.rows_of(tree, encoded)
    if not counted.all():
        raise ValueError(f"no row of the data reaches node {int(np.argmin(counted))}")
    statistic = np.array(evaluate.statistic_of(tree, encoded))
    statistic[:, 1::3] = tree.value
    statistic[:, 2::3] = evaluate.losses(tree, encoded)[:, np.newaxis] / len(tree.schema.targets)
    made = replace(tree, rows=counted, statistic=statistic)
    return replace(made, step=best_first(made))
