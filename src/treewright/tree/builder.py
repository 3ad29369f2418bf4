"""Trees by hand: branches and leaves, and how they become arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding.schema import Schema
from treewright.tree.class_counts import SparseRows
from treewright.tree.conditions import NodeTest, PackedTest, pack_test
from treewright.tree.oblique import Direction

_MOST_ROWS = 2**31  # that a leaf counts for, however heavy it is: the sum over all leaves stays an int64


@dataclass(frozen=True)
class Leaf:
    """A leaf: the weight of each class; or weight, value and deviation of each target of numbers."""

    statistic: Sequence[float]


@dataclass(frozen=True, eq=False, repr=False)
class Branch:
    """A test and what follows: `left` where it holds, `right` where not.

    Missing values go left, right, or by default to the heavier side.
    """

    test: NodeTest
    left: Branch | Leaf
    right: Branch | Leaf
    missing_left: bool | None = None

    # What a dataclass would do by calling itself is done in preorder here, so that any depth will do.

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Branch):
            return NotImplemented
        mine, others = preorder(self), preorder(other)
        return len(mine) == len(others) and all(_own(a) == _own(b) for a, b in zip(mine, others, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(_own(node) for node in preorder(self)))

    def __repr__(self) -> str:
        text: list[str] = []
        todo: list[Any] = [self]
        while todo:
            item = todo.pop()
            if not isinstance(item, Branch):
                text.append(item if isinstance(item, str) else repr(item))
                continue
            text.append(f"Branch(test={item.test!r}, left=")
            todo += [f", missing_left={item.missing_left!r})", item.right, ", right=", item.left]
        return "".join(text)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, ([_own(node) for node in preorder(self)],)


def preorder(root: Branch | Leaf) -> list[Branch | Leaf]:
    """A written tree's nodes: each branch, then all on its left, then all on its right."""
    nodes: list[Branch | Leaf] = []
    stack = [root]
    while stack:
        node = stack.pop()
        nodes.append(node)
        if isinstance(node, Branch):
            stack += [node.right, node.left]
    return nodes


def _own(node: Branch | Leaf) -> Any:
    """A node without its children: a leaf itself, a branch's test and side of missing values."""
    return (node.test, node.missing_left) if isinstance(node, Branch) else node


def _rebuilt(own: Sequence[Any]) -> Branch | Leaf:
    """A written tree from its nodes in preorder, each without its children."""
    made: list[Branch | Leaf] = []
    for each in reversed(own):
        if isinstance(each, tuple):
            test, missing_left = each
            made.append(Branch(test, made.pop(), made.pop(), missing_left))
        else:
            made.append(each)
    return made[0]


def flatten(schema: Schema, root: Branch | Leaf) -> dict[str, Any]:
    """The arrays of a tree, in preorder."""
    nodes = preorder(root)
    n = len(nodes)
    end = np.arange(1, n + 1, dtype=np.int32)
    for i in range(n - 1, -1, -1):
        if isinstance(nodes[i], Branch):
            end[i] = end[end[i + 1]]
        elif not isinstance(nodes[i], Leaf):
            raise TypeError(f"a tree is written of Branch and Leaf, not of {nodes[i]!r}")
    statistic, weight = _statistics(schema, end, nodes)
    branches = np.array([isinstance(node, Branch) for node in nodes])
    counted = np.where(branches, 0, np.rint(np.minimum(weight, _MOST_ROWS)).astype(np.int64))
    running = np.concatenate([[0], np.cumsum(counted)])
    left = np.minimum(np.arange(1, n + 1), n - 1)
    heavier_left = branches & (weight[left] >= weight[np.minimum(end[left], n - 1)])
    said = [node.missing_left if isinstance(node, Branch) else None for node in nodes]
    directions: dict[Direction, int] = {}  # by their features
    tests = [
        pack_test(schema, node.test, directions) if isinstance(node, Branch) else PackedTest(-1)
        for node in nodes
    ]
    lengths = np.array([len(bits) for _, _, bits in tests])
    return {
        "end": end,
        "feature": np.array([feature for feature, _, _ in tests], np.int32),
        "threshold": np.array([threshold for _, threshold, _ in tests], np.float64),
        "subset": np.where(lengths > 0, np.cumsum(lengths) - lengths, -1),
        "missing_left": np.array(
            [heavier if side is None else side for heavier, side in zip(heavier_left, said, strict=True)],
            np.bool_,
        ),
        "step": np.where(branches, np.cumsum(branches) - 1, -1).astype(np.int32),
        "rows": running[end] - running[:-1],
        "statistic": statistic,
        "subsets": np.frombuffer(b"".join(bits for _, _, bits in tests), np.uint8).copy(),
        "directions": tuple(directions),
    }


def _statistics(
    schema: Schema, end: NDArray[np.int32], nodes: Sequence[Branch | Leaf]
) -> tuple[NDArray[np.float64] | SparseRows, NDArray[np.float64]]:
    """The statistic of every node from those of the leaves, and its weight."""
    leaves = {i: _leaf_statistic(schema, node) for i, node in enumerate(nodes) if isinstance(node, Leaf)}
    first = schema.block_widths[0] if schema.predicts_classes else 1
    weight = np.zeros((len(nodes), 1))
    weight[list(leaves), 0] = [row[:first].sum() for row in leaves.values()]
    weight = _core.join_classes(end, weight)[:, 0]
    if schema.is_wide:
        columns = [np.flatnonzero(row) for row in leaves.values()]
        node = np.repeat(list(leaves), [len(column) for column in columns])
        value = np.concatenate([row[column] for row, column in zip(leaves.values(), columns, strict=True)])
        return SparseRows.gathered(end, node, np.concatenate(columns), value, schema.width), weight
    statistic = np.zeros((len(nodes), schema.width))
    statistic[list(leaves)] = list(leaves.values())
    join = _core.join_classes if schema.predicts_classes else _core.join_moments
    return join(end, statistic), weight


def _leaf_statistic(schema: Schema, leaf: Leaf) -> NDArray[np.float64]:
    statistic = np.asarray(leaf.statistic, np.float64)
    if statistic.shape != (schema.width,):
        wanted = "a weight per class" if schema.predicts_classes else "weight, value, deviation per target"
        raise ValueError(f"a leaf has {statistic.size} numbers; this schema wants {schema.width} ({wanted})")
    weight = statistic[: schema.block_widths[0]].sum() if schema.predicts_classes else statistic[0]
    if not weight > 0:
        raise ValueError(f"a leaf needs a positive weight; got {leaf.statistic!r}")
    return statistic
