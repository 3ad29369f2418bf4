"""Building trees: nodes written by hand, preorder arrays, best-first order. Nothing here recurses.

Whatever makes a tree node by node (`Tree.write`, ID3 and CHAID, conditional inference, trees of other
libraries, planted subtrees) takes its preorder, its arrays and its steps from the functions of this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple, TypeVar

import numpy as np

from treewright import _core
from treewright._arrays import Array, Flags, Floats, Int32s, Ints
from treewright._suggestions import checked_keywords
from treewright.encoding.schema import Schema
from treewright.tree.class_counts import SparseRows
from treewright.tree.conditions import NodeTest, pack_subsets, pack_test
from treewright.tree.oblique import Direction

Item = TypeVar("Item")
_MOST_ROWS = 2**31  # rows of a leaf, however heavy it is: their sum over all leaves stays an int64


# ---- order -----------------------------------------------------------------------------------------


def preorder(root: Item, children: Callable[[Item], Sequence[Item]], most: int | None = None) -> list[Item]:
    """The nodes of a tree in preorder: each node, then its first subtree, then the next.

    ValueError where there are more than `most` nodes: then some node is its own descendant.

    >>> preorder(1, lambda node: [2 * node, 2 * node + 1] if node < 4 else [])
    [1, 2, 4, 5, 3, 6, 7]
    """
    nodes: list[Item] = []
    stack = [root]
    while stack:
        nodes.append(stack.pop())
        if most is not None and len(nodes) > most:
            raise ValueError("this is not a tree: its nodes form a cycle")
        stack += reversed(children(nodes[-1]))
    return nodes


def subtree_ends(is_leaf: Iterable[bool]) -> Int32s:
    """One past the subtree of each node, from whether each node in preorder is a leaf.

    >>> subtree_ends([False, True, False, True, True]).tolist()
    [5, 2, 5, 4, 5]
    """
    leaves = list(is_leaf)
    end = list(range(1, len(leaves) + 1))
    for node in range(len(leaves) - 1, -1, -1):
        if not leaves[node]:
            end[node] = end[end[node + 1]]
    return np.array(end, np.int32)


def best_first(
    root: Item, key: Callable[[Item], Any], children: Callable[[Item], Iterable[Item]]
) -> Iterator[Item]:
    """The branches of a tree in best-first order: always the open branch with the smallest key.

    `key` is None for leaves; among equal keys the branch wins that was opened first. `children` is called
    when the next branch is requested, so that a grower can split the current one in between.

    >>> gains = {1: 5, 2: 1, 3: 4, 6: 2}
    >>> list(best_first(1, lambda n: -gains[n] if n in gains else None, lambda n: (2 * n, 2 * n + 1)))
    [1, 3, 6, 2]
    """
    heap: list[tuple[Any, int, Item]] = []
    number = count()
    new: Iterable[Item] = (root,)
    while True:
        for node in new:
            if (rank := key(node)) is not None:
                heappush(heap, (rank, next(number), node))
        if not heap:
            return
        node = heappop(heap)[2]
        yield node
        new = children(node)


def best_first_order(end: Int32s, gain: Floats, joined: Flags | None = None) -> Int32s:
    """The best-first step at which each branch is split; -1 at leaves.

    A node that is `joined` to its parent belongs to the same multiway split: the steps of both follow each
    other, and the gain at the first node of the split counts. Among equal gains the first node in preorder
    wins.
    """
    ends, gains = end.tolist(), gain.tolist()
    continues = [False] * len(ends) if joined is None else joined.tolist()
    step, steps = np.full(len(ends), -1, np.int32), count()

    def split(node: int) -> Iterator[int]:
        """Number the nodes of a split; its branches."""
        parts = [node]
        for part in parts:
            step[part] = next(steps)
            for child in (part + 1, ends[part + 1]):
                if continues[child]:
                    parts.append(child)
                else:
                    yield child

    for _ in best_first(0, lambda node: (-gains[node], node) if ends[node] > node + 1 else None, split):
        pass
    return step


# ---- arrays ----------------------------------------------------------------------------------------


class NodeEntry(NamedTuple):
    """The test of one node as a `Tree` stores it; by default that of a leaf."""

    feature: int = -1
    threshold: float = np.nan
    bits: bytes = b""  # of the categories that go left
    missing_left: bool = False
    joined: bool = False  # whether it continues the multiway split of its parent


LEAF = NodeEntry()


def node_arrays(tests: Iterable[NodeEntry]) -> dict[str, Any]:
    """The arrays of a `Tree` that follow from the tests of its nodes in preorder."""
    feature, threshold, bits, missing_left, joined = zip(*tests, strict=True)
    subset, subsets = pack_subsets(bits)
    return {
        "end": subtree_ends(column < 0 for column in feature),
        "feature": np.array(feature, np.int32),
        "threshold": np.array(threshold, np.float64),
        "subset": subset,
        "subsets": subsets,
        "missing_left": np.array(missing_left, np.bool_),
        "joined": np.array(joined, np.bool_),
    }


def preorder_steps(is_leaf: Flags) -> Int32s:
    """Steps in preorder, for trees without gains; -1 at leaves."""
    return np.where(is_leaf, -1, np.cumsum(~is_leaf) - 1).astype(np.int32)


def sum_of_leaves(end: Int32s, at_leaves: Array) -> Ints:
    """For each node the sum of the whole numbers at the leaves below it; those at branches must be 0."""
    before = np.concatenate([[0], np.cumsum(at_leaves.astype(np.int64))])
    return np.asarray(before[end] - before[:-1])


# ---- trees written by hand -------------------------------------------------------------------------


@checked_keywords
@dataclass(frozen=True)
class Leaf:
    """A leaf: the weight of each class; or weight, value and deviation of each numeric target.

    Examples
    --------
    >>> from treewright import Below, Branch, Column, Leaf, Schema, Target, Tree
    >>> schema = Schema((Column("x"),), (Target("y", ("no", "yes")),))
    >>> print(Tree.write(schema, Branch(Below("x", 2), Leaf([3, 0]), Leaf([1, 4]))))
    8 rows
    ├─ x <= 2   no    3 rows    100 %
    └─ x > 2    yes   5 rows   80.0 %
    """

    statistic: Sequence[float]


@checked_keywords
@dataclass(frozen=True, eq=False, repr=False)
class Branch:
    """A test and its two subtrees: `left` where the test holds, `right` where it does not.

    Missing values go left, right, or by default to the heavier side.

    Examples
    --------
    >>> from treewright import Below, Branch, Leaf
    >>> Branch(Below("x", 2), Leaf([3, 0]), Leaf([1, 4])).test
    Below(column='x', threshold=2)
    """

    test: NodeTest
    left: Branch | Leaf
    right: Branch | Leaf
    missing_left: bool | None = None

    # A dataclass would compare, hash, print and pickle by recursion; these loops handle any depth.

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Branch):
            return NotImplemented
        mine, others = _nodes(self), _nodes(other)
        return len(mine) == len(others) and all(a == b for a, b in zip(mine, others, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(_nodes(self)))

    def __repr__(self) -> str:
        def pieces(item: Any) -> list[Any]:
            if not isinstance(item, Branch):
                return []
            first, last = f"Branch(test={item.test!r}, left=", f", missing_left={item.missing_left!r})"
            return [first, item.left, ", right=", item.right, last]

        texts = [each for each in preorder(self, pieces) if not isinstance(each, Branch)]
        return "".join(each if isinstance(each, str) else repr(each) for each in texts)

    def __reduce__(self) -> tuple[Any, ...]:
        return link_nodes, (_nodes(self),)


def _children(node: Branch | Leaf) -> Sequence[Branch | Leaf]:
    return (node.left, node.right) if isinstance(node, Branch) else ()


def _nodes(root: Branch | Leaf) -> list[Any]:
    """The nodes in preorder: leaves, and (test, missing_left) of branches."""
    nodes = preorder(root, _children)
    return [(node.test, node.missing_left) if isinstance(node, Branch) else node for node in nodes]


def link_nodes(nodes: Sequence[Any], join: Callable[..., Any] = Branch) -> Any:
    """A tree from its nodes in preorder: leaves, and (test, missing_left) of branches.

    `join(test, left, right, missing_left)` makes a node of a test and its two subtrees.

    >>> from treewright import Below
    >>> stump = Branch(Below("x", 1.5), Leaf([2, 0]), Leaf([0, 1]))
    >>> link_nodes([(Below("x", 1.5), None), Leaf([2, 0]), Leaf([0, 1])]) == stump
    True
    """
    stack: list[Any] = []
    for node in reversed(nodes):
        if isinstance(node, tuple):
            test, missing_left = node
            node = join(test, stack.pop(), stack.pop(), missing_left)
        stack.append(node)
    return stack[0]


def flatten(schema: Schema, root: Branch | Leaf) -> dict[str, Any]:
    """The arrays of a tree that is written as branches and leaves."""
    nodes = preorder(root, _children)
    for node in nodes:
        if not isinstance(node, Branch | Leaf):
            raise TypeError(f"a tree is built of Branch and Leaf, not of {node!r}")
    directions: dict[Direction, int] = {}  # by their features
    arrays = node_arrays(
        NodeEntry(*pack_test(schema, node.test, directions)) if isinstance(node, Branch) else LEAF
        for node in nodes
    )
    end, is_leaf = arrays["end"], arrays["feature"] < 0
    statistic, weight = _statistics(schema, end, nodes)
    last = len(nodes) - 1
    left = np.minimum(np.arange(1, len(nodes) + 1), last)
    heavier_left = weight[left] >= weight[np.minimum(end[left], last)]
    sides = [node.missing_left if isinstance(node, Branch) else False for node in nodes]
    by_default = np.array([side is None for side in sides])
    return arrays | {
        "missing_left": np.where(by_default, heavier_left, np.array(sides, np.bool_)),
        "step": preorder_steps(is_leaf),
        "rows": sum_of_leaves(end, np.where(is_leaf, np.rint(np.minimum(weight, _MOST_ROWS)), 0)),
        "statistic": statistic,
        "directions": tuple(directions),
    }


def _statistics(
    schema: Schema, end: Int32s, nodes: Sequence[Branch | Leaf]
) -> tuple[Floats | SparseRows, Floats]:
    """The statistic and the weight of every node, from those of the leaves."""
    leaves = {i: _leaf_statistic(schema, node) for i, node in enumerate(nodes) if isinstance(node, Leaf)}
    first = schema.block_widths[0] if schema.predicts_classes else 1
    weight = np.zeros((len(nodes), 1))
    weight[list(leaves), 0] = [row[:first].sum() for row in leaves.values()]
    weight = _core.join_classes(end, weight)[:, 0]
    statistic = np.zeros((len(nodes), schema.width))
    statistic[list(leaves)] = list(leaves.values())
    if schema.is_wide:
        return SparseRows.of(end, statistic), weight
    join = _core.join_classes if schema.predicts_classes else _core.join_moments
    return join(end, statistic), weight


def _leaf_statistic(schema: Schema, leaf: Leaf) -> Floats:
    statistic = np.asarray(leaf.statistic, np.float64)
    if statistic.shape != (schema.width,):
        what = "a weight per class" if schema.predicts_classes else "weight, value, deviation per target"
        raise ValueError(f"a leaf has {statistic.size} numbers; this schema needs {schema.width} ({what})")
    weight = statistic[: schema.block_widths[0]].sum() if schema.predicts_classes else statistic[0]
    if not weight > 0:
        raise ValueError(f"a leaf needs a positive weight; got {leaf.statistic!r}")
    return statistic
