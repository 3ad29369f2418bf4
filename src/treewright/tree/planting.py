"""Trees that take the place of leaves: one tree of several, split best first as if grown at once."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Provenance
from treewright.encoding.schema import Schema
from treewright.tree.class_counts import SparseRows
from treewright.tree.oblique import Direction
from treewright.tree.surgery import repacked
from treewright.tree.surrogates import TYPES, Surrogates
from treewright.tree.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BY_NODE = ("threshold", "missing_left", "step", "rows", "joined")


def planted(tree: Tree, subtrees: Mapping[int, Tree], max_splits: int | None = None) -> Tree:
    """The tree in which others, grown from the rows of some of its leaves, take the place of these leaves.

    Steps are counted anew: the next split is always the one of the largest gain, where the splits of each
    tree keep their order among themselves. With a budget only the first ones are made. Gains are compared as
    they are: what was taken off them for chance while each tree grew is not known any more.

    >>> from treewright import encode, grow
    >>> data = encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "b", "a", "b"])
    >>> whole = grow(data)
    >>> stump = whole.first(1)
    >>> planted(stump, {2: grow(data.take([1, 2, 3]))}) == whole
    True
    """
    leaves = sorted(subtrees)
    for leaf in leaves:
        if not tree.is_leaf[leaf]:
            raise ValueError(f"node {leaf} is no leaf; a tree can take the place of a leaf only")
    parts = _parts(tree, leaves, subtrees)
    end = _ends(tree, parts, leaves, subtrees)
    directions, feature = _directions(tree, parts)
    bits = [(part.subset[inside], part.subsets) for part, inside, _ in parts]
    subset, subsets = _packed(bits, feature, tree.schema)
    by_node: dict[str, Any] = {name: _joined(name, parts) for name in _BY_NODE}
    whole = replace(
        tree,
        **by_node,
        end=end,
        feature=feature,
        subset=subset,
        subsets=subsets,
        statistic=_statistics(parts, end),
        directions=directions,
        surrogates=_surrogates(parts, tree.schema),
        linear=None,
        provenance=_provenance([tree, *subtrees.values()]),
    )
    starts = [at for part, _, at in parts if part is not tree]
    whole = replace(whole, step=_merged_steps(whole, starts))
    return whole if max_splits is None else whole.first(max_splits)


def _provenance(trees: list[Tree]) -> Provenance | None:
    """That of the first tree, incomplete wherever one of them is: a sum of columns may be so in one only."""
    first, known = trees[0].provenance, [tree.provenance for tree in trees]
    gaps = [None if each is None else each.incomplete for each in known]
    if first is None or first.incomplete is None or None in gaps:
        return first
    return replace(first, incomplete=tuple(sorted({j for each in gaps for j in each or ()})))


Part = tuple[Tree, slice, int]  # some nodes of a tree, and where the first of them is in the whole


def _parts(tree: Tree, leaves: list[int], subtrees: Mapping[int, Tree]) -> list[Part]:
    """The whole in the order of its nodes: what lies between two leaves that are replaced, and what is there
    in their place.
    """
    parts: list[Part] = []
    first, at = 0, 0
    for leaf in leaves:
        if leaf > first:
            parts.append((tree, slice(first, leaf), at))
        at += leaf - first
        subtree = subtrees[leaf]
        parts.append((subtree, slice(0, subtree.n_nodes), at))
        at += subtree.n_nodes
        first = leaf + 1
    if first < tree.n_nodes:
        parts.append((tree, slice(first, tree.n_nodes), at))
    return parts


def _joined(name: str, parts: list[Part]) -> NDArray[Any]:
    return np.concatenate([getattr(part, name)[inside] for part, inside, _ in parts])


def _ends(
    tree: Tree, parts: list[Part], leaves: list[int], subtrees: Mapping[int, Tree]
) -> NDArray[np.int32]:
    """Where each subtree of the whole ends."""
    more = np.cumsum([0] + [subtrees[leaf].n_nodes - 1 for leaf in leaves])
    own = tree.end + more[np.searchsorted(leaves, tree.end, side="left")]
    ends = [own[inside] if part is tree else part.end + at for part, inside, at in parts]
    return np.concatenate(ends).astype(np.int32)


def _directions(tree: Tree, parts: list[Part]) -> tuple[tuple[Direction, ...], NDArray[np.int32]]:
    """The directions of all trees, one after the other, and the columns that the nodes test."""
    n_columns, directions, features = len(tree.schema.columns), list(tree.directions), []
    for part, inside, _ in parts:
        feature = part.feature[inside]
        if part is not tree and part.directions:
            feature = np.where(feature >= n_columns, feature + len(directions), feature).astype(np.int32)
            directions += part.directions
        features.append(feature)
    return tuple(directions), np.concatenate(features)


def _surrogates(parts: list[Part], schema: Schema) -> Surrogates:
    """Those of all nodes, with the numbers that the nodes have in the whole."""
    chosen = []
    for part, inside, at in parts:
        every = part.surrogates
        first, last = np.searchsorted(every.node, [inside.start, inside.stop])
        arrays = {name: getattr(every, name)[first:last] for name in TYPES if name != "subsets"}
        chosen.append((arrays | {"node": arrays["node"] + np.int32(at - inside.start)}, every.subsets))
    joined = {name: np.concatenate([arrays[name] for arrays, _ in chosen]) for name in chosen[0][0]}
    bits = [(arrays["subset"], own) for arrays, own in chosen]
    subset, subsets = _packed(bits, joined["feature"], schema)
    return Surrogates(**joined | {"subset": subset, "subsets": subsets})


def _packed(
    tests: list[tuple[Ints, NDArray[np.uint8]]], feature: NDArray[np.int32], schema: Schema
) -> tuple[Ints, NDArray[np.uint8]]:
    """Subsets of several trees, each with the bits of its own tree, as those of one."""
    before = np.cumsum([0] + [len(bits) for _, bits in tests])
    moved = [np.where(subset >= 0, subset + n, -1) for (subset, _), n in zip(tests, before, strict=False)]
    every = np.concatenate([bits for _, bits in tests])
    return repacked(every, np.concatenate(moved), feature, schema.subset_sizes)


def _statistics(parts: list[Part], end: NDArray[np.int32]) -> Floats | SparseRows:
    if not isinstance(parts[0][0].statistic, SparseRows):
        return _joined("statistic", parts)
    node, column, value = [], [], []
    for part, inside, at in parts:
        rows = part.statistic
        assert isinstance(rows, SparseRows)
        first, last = rows.start[inside.start], rows.start[inside.stop]
        counts = np.diff(rows.start[inside.start : inside.stop + 1])
        node.append(at + np.repeat(np.arange(len(counts)), counts))
        column.append(rows.column[first:last])
        value.append(rows.value[first:last])
    width = parts[0][0].schema.width
    return SparseRows.gathered(
        end, np.concatenate(node), np.concatenate(column), np.concatenate(value), width
    )


def ranked(gain: Floats) -> Floats:
    """Gains as nodes compare them when they compete to be split next: those that differ by rounding alone are
    equal (the engine's rule).

    >>> 0.3 == 0.1 + 0.2, len(set(ranked(np.array([0.3, 0.1 + 0.2])).tolist()))
    (False, 1)
    """
    step = 2**12
    bits = np.ascontiguousarray(gain).view(np.int64)
    return np.asarray(((bits + step // 2) & ~(step - 1)).view(np.float64))


def _merged_steps(tree: Tree, starts: list[int]) -> NDArray[np.int32]:
    """The order of all splits, best first, from that within each part: the tree itself, and what is planted
    at `starts`. Of each part the next split competes with those of the others; of equals the node wins that
    was made first.
    """
    owner = np.zeros(tree.n_nodes, np.int64)
    for number, start in enumerate(starts, 1):
        owner[start : tree.end[start]] = number
    inner = np.flatnonzero(~tree.is_leaf)
    inner = inner[np.lexsort((tree.step[inner], owner[inner]))]
    queues = [inner[owner[inner] == number][::-1].tolist() for number in range(len(starts) + 1)]
    number_of = {start: number for number, start in enumerate(starts, 1)}
    rank, left, right = (-ranked(tree.gain)).tolist(), tree.left.tolist(), tree.right.tolist()
    steps, made = np.full(tree.n_nodes, -1, np.int32), [0] * tree.n_nodes
    open_nodes: list[tuple[float, int, int, int]] = []

    def offer(number: int) -> None:
        if queues[number]:
            node = queues[number].pop()
            heapq.heappush(open_nodes, (rank[node], made[node], node, number))

    offer(number_of.get(0, 0))
    for step in range(len(inner)):
        _, _, node, number = heapq.heappop(open_nodes)
        steps[node] = step
        for place, child in enumerate((left[node], right[node])):
            made[child] = 1 + 2 * step + place
            if child in number_of:
                offer(number_of[child])
        offer(number)
    return steps
