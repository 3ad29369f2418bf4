"""Surgery on trees: collapsing nodes, grafting subtrees onto ancestors, planting trees in place of leaves."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright._arrays import Array, Bytes, Flags, Floats, Int32s, Ints
from treewright.encoding import Provenance
from treewright.encoding.schema import Schema
from treewright.tree.builder import best_first
from treewright.tree.class_counts import SparseRows
from treewright.tree.oblique import Direction
from treewright.tree.surrogates import Surrogates

if TYPE_CHECKING:
    from treewright.tree.tree import Tree

Arrays = dict[str, Any]


def collapsed_arrays(tree: Tree, nodes: Iterable[int]) -> Arrays:
    """The arrays of the tree in which the given nodes are leaves."""
    leaves = node_indices(tree, nodes)
    return _kept_arrays(tree, ~_inside(tree, leaves + 1, tree.end[leaves]), _mask(tree, leaves))


def grafted_arrays(tree: Tree, replacements: Mapping[int, int], leaves: Iterable[int] = ()) -> Arrays:
    """The arrays of the tree in which each node of `replacements` is replaced by one of its descendants and
    the nodes `leaves` are leaves; statistics are not recounted.
    """
    above, below = node_indices(tree, replacements.keys()), node_indices(tree, replacements.values())
    ends = node_indices(tree, leaves)
    outside = (below < above) | (below >= tree.end[above])
    if outside.any():
        node, other = int(above[outside][0]), int(below[outside][0])
        raise ValueError(f"node {other} is not below node {node}; only a subtree can take its place")
    left_out = _inside(tree, above + 1, below) | _inside(tree, tree.end[below], tree.end[above])
    if left_out[above].any():
        node = above[left_out[above]][0]
        raise ValueError(
            f"node {node} cannot be replaced: another replacement drops the subtree that it is in"
        )
    left_out |= _mask(tree, above[above != below]) | _inside(tree, ends + 1, tree.end[ends])
    return _kept_arrays(tree, ~left_out, _mask(tree, ends))


def subtree_mask(tree: Tree, nodes: Array) -> Flags:
    """Whether each node is one of the given nodes or below one of them."""
    return _inside(tree, nodes, tree.end[nodes])


def _mask(tree: Tree, nodes: Ints) -> Flags:
    mask = np.zeros(tree.n_nodes, np.bool_)
    mask[nodes] = True
    return mask


def node_indices(tree: Tree, nodes: Iterable[int]) -> Ints:
    """The given node numbers as an array; IndexError where the tree has no such node."""
    chosen = np.array([operator.index(node) for node in nodes], np.int64)
    if chosen.size and not ((chosen >= 0) & (chosen < tree.n_nodes)).all():
        raise IndexError(f"the tree has nodes 0 … {tree.n_nodes - 1}; got {chosen.tolist()}")
    return chosen


def _inside(tree: Tree, first: Array, end: Array) -> Flags:
    """The nodes within any of the slices first:end, by counting slices that open and close."""
    change = np.zeros(tree.n_nodes + 1, np.int64)
    np.add.at(change, first, 1)
    np.subtract.at(change, end, 1)
    return np.cumsum(change[:-1]) > 0


def _kept_arrays(tree: Tree, kept: Flags, becomes_leaf: Flags) -> Arrays:
    """The arrays of the tree of the nodes that are kept."""
    leaf = (becomes_leaf | tree.is_leaf)[kept]
    position = np.concatenate([[0], np.cumsum(kept)])
    end = position[tree.end][kept].astype(np.int32)
    sizes = tree.schema.subset_sizes
    subset, subsets = repack_subsets(
        tree.subsets, np.where(leaf, -1, tree.subset[kept]), tree.feature[kept], sizes
    )
    feature, directions = _renumber_directions(tree, np.where(leaf, -1, tree.feature[kept]))
    statistic = tree.statistic
    return {
        "end": end,
        "feature": feature,
        "threshold": np.where(leaf, np.nan, tree.threshold[kept]),
        "subset": subset,
        "subsets": subsets,
        "missing_left": tree.missing_left[kept] & ~leaf,
        "step": np.where(leaf, -1, tree.step[kept]).astype(np.int32),
        "rows": tree.rows[kept],
        "statistic": statistic.of_nodes(kept, end) if isinstance(statistic, SparseRows) else statistic[kept],
        "joined": tree.joined[kept] & ~leaf & _has_same_parent(tree, kept, end, feature),
        "surrogates": _kept_surrogates(tree, kept, leaf, position),
        "linear": None if tree.linear is None else tree.linear.of_nodes(kept),
        "directions": directions,
    }


def _renumber_directions(tree: Tree, feature: Ints) -> tuple[Int32s, tuple[Direction, ...]]:
    """Features and directions of a smaller tree, without the directions that it no longer tests."""
    n_columns = len(tree.schema.columns)
    used = list(dict.fromkeys(feature[feature >= n_columns].tolist()))  # by first use
    number = np.arange(n_columns + len(tree.directions) + 1, dtype=np.int32)
    number[-1] = -1
    number[used] = n_columns + np.arange(len(used))
    return number[feature], tuple(tree.directions[i - n_columns] for i in used)


def _has_same_parent(tree: Tree, kept: Flags, end: Int32s, feature: Int32s) -> Flags:
    """Whether the parent of each kept node is the parent that it had before."""
    if not tree.joined.any():
        return np.zeros(len(end), np.bool_)
    inner = np.flatnonzero(feature >= 0)
    parent = np.full(len(end), -1)
    parent[inner + 1] = parent[end[inner + 1]] = inner
    old = np.flatnonzero(kept)
    return np.asarray((parent >= 0) & (old[parent] == tree.parent[kept]))


def _kept_surrogates(tree: Tree, kept: Flags, leaf: Flags, position: Ints) -> Surrogates:
    """The surrogates of the nodes that are still branches."""
    every = tree.surrogates
    if not len(every):
        return every
    branches = kept.copy()
    branches[kept] = ~leaf
    return _chosen_surrogates(every, branches[every.node], position[every.node], tree.schema)


def _chosen_surrogates(every: Surrogates, chosen: Any, node: Array, schema: Schema) -> Surrogates:
    """Some of the surrogates, renumbered to belong to the nodes `node`."""
    arrays = {name: getattr(every, name)[chosen] for name in Surrogates.array_types() if name != "subsets"}
    subset, subsets = repack_subsets(every.subsets, arrays["subset"], arrays["feature"], schema.subset_sizes)
    new = {"node": node[chosen].astype(np.int32), "subset": subset, "subsets": subsets}
    return Surrogates(**arrays | new)


def repack_subsets(bits: Bytes, subset: Ints, feature: Int32s, sizes: list[int]) -> tuple[Ints, Bytes]:
    """Where the bits of each of the given tests begin once they are packed, and the packed bits."""
    lengths = np.where(subset >= 0, np.array(sizes)[np.where(subset >= 0, feature, 0)], 0)
    chosen = [bits[start : start + n] for start, n in zip(subset, lengths, strict=True) if start >= 0]
    packed = np.concatenate(chosen) if chosen else np.zeros(0, np.uint8)
    return np.where(subset >= 0, np.cumsum(lengths) - lengths, -1), packed


_BY_NODE = ("threshold", "missing_left", "step", "rows", "joined")


def plant_subtrees(tree: Tree, subtrees: Mapping[int, Tree], max_splits: int | None = None) -> Tree:
    """The tree in which leaves are replaced by trees that were grown from the rows of these leaves.

    Steps are numbered anew, best first, while the splits of each tree keep their order among themselves;
    with a budget only the first `max_splits` are made. Plain gains are compared: a tree does not store the
    correction for chance that `grow` subtracts from the gains of categories.

    >>> from treewright import encode, grow
    >>> data = encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "b", "a", "b"])
    >>> whole = grow(data)
    >>> stump = whole.first(1)
    >>> plant_subtrees(stump, {2: grow(data.take([1, 2, 3]))}) == whole
    True
    """
    leaves = sorted(subtrees)
    for leaf in leaves:
        if not tree.is_leaf[leaf]:
            raise ValueError(f"node {leaf} is not a leaf; only leaves can be replaced by trees")
    pieces = _pieces(tree, leaves, subtrees)
    end = _ends(tree, pieces, leaves, subtrees)
    directions, feature = _directions(tree, pieces)
    bits = [(each.subset[inside], each.subsets) for each, inside, _ in pieces]
    subset, subsets = _pack_together(bits, feature, tree.schema)
    by_node: dict[str, Any] = {name: _concatenate(name, pieces) for name in _BY_NODE}
    whole = replace(
        tree,
        **by_node,
        end=end,
        feature=feature,
        subset=subset,
        subsets=subsets,
        statistic=_planted_statistic(pieces, end),
        directions=directions,
        surrogates=_planted_surrogates(pieces, tree.schema),
        linear=None,
        provenance=_provenance([tree, *subtrees.values()]),
    )
    starts = [at for each, _, at in pieces if each is not tree]
    whole = replace(whole, step=_merged_steps(whole, starts))
    return whole if max_splits is None else whole.first(max_splits)


def _provenance(trees: list[Tree]) -> Provenance | None:
    """The provenance of the first tree; a column is incomplete if it is in any of the trees."""
    first, known = trees[0].provenance, [tree.provenance for tree in trees]
    gaps = [None if each is None else each.incomplete for each in known]
    if first is None or first.incomplete is None or None in gaps:
        return first
    return replace(first, incomplete=tuple(sorted({j for each in gaps for j in each or ()})))


Piece = tuple["Tree", slice, int]  # a slice of the nodes of a tree, and its position in the whole tree


def _pieces(tree: Tree, leaves: list[int], subtrees: Mapping[int, Tree]) -> list[Piece]:
    """The whole tree in preorder: the slices of `tree` between replaced leaves, and the planted trees."""
    pieces: list[Piece] = []
    first, at = 0, 0
    for leaf in leaves:
        if leaf > first:
            pieces.append((tree, slice(first, leaf), at))
        at += leaf - first
        subtree = subtrees[leaf]
        pieces.append((subtree, slice(0, subtree.n_nodes), at))
        at += subtree.n_nodes
        first = leaf + 1
    if first < tree.n_nodes:
        pieces.append((tree, slice(first, tree.n_nodes), at))
    return pieces


def _concatenate(name: str, pieces: list[Piece]) -> Array:
    return np.concatenate([getattr(each, name)[inside] for each, inside, _ in pieces])


def _ends(tree: Tree, pieces: list[Piece], leaves: list[int], subtrees: Mapping[int, Tree]) -> Int32s:
    """One past the subtree of each node of the whole tree."""
    more = np.cumsum([0] + [subtrees[leaf].n_nodes - 1 for leaf in leaves])
    own = tree.end + more[np.searchsorted(leaves, tree.end, side="left")]
    ends = [own[inside] if each is tree else each.end + at for each, inside, at in pieces]
    return np.concatenate(ends).astype(np.int32)


def _directions(tree: Tree, pieces: list[Piece]) -> tuple[tuple[Direction, ...], Int32s]:
    """The directions of all trees, and the features of the nodes, renumbered accordingly."""
    n_columns, directions, features = len(tree.schema.columns), list(tree.directions), []
    for each, inside, _ in pieces:
        feature = each.feature[inside]
        if each is not tree and each.directions:
            feature = np.where(feature >= n_columns, feature + len(directions), feature).astype(np.int32)
            directions += each.directions
        features.append(feature)
    return tuple(directions), np.concatenate(features)


def _planted_surrogates(pieces: list[Piece], schema: Schema) -> Surrogates:
    """The surrogates of all nodes, with the numbers of the nodes in the whole tree."""
    chosen = []
    for each, inside, at in pieces:
        node = each.surrogates.node
        own = slice(*np.searchsorted(node, [inside.start, inside.stop]))
        chosen.append(_chosen_surrogates(each.surrogates, own, node + (at - inside.start), schema))
    names = Surrogates.array_types()
    arrays = {name: np.concatenate([getattr(each, name) for each in chosen]) for name in names}
    bits = [(each.subset, each.subsets) for each in chosen]
    subset, subsets = _pack_together(bits, arrays["feature"], schema)
    return Surrogates(**arrays | {"subset": subset, "subsets": subsets})


def _pack_together(tests: list[tuple[Ints, Bytes]], feature: Int32s, schema: Schema) -> tuple[Ints, Bytes]:
    """The subsets of several trees, each with its own bits, packed as those of one tree."""
    before = np.cumsum([0] + [len(bits) for _, bits in tests])
    moved = [np.where(subset >= 0, subset + n, -1) for (subset, _), n in zip(tests, before, strict=False)]
    every = np.concatenate([bits for _, bits in tests])
    return repack_subsets(every, np.concatenate(moved), feature, schema.subset_sizes)


def _planted_statistic(pieces: list[Piece], end: Int32s) -> Floats | SparseRows:
    if not isinstance(pieces[0][0].statistic, SparseRows):
        return _concatenate("statistic", pieces)
    node, column, value = [], [], []
    for each, inside, at in pieces:
        rows = each.statistic
        assert isinstance(rows, SparseRows)
        first, last = rows.start[inside.start], rows.start[inside.stop]
        counts = np.diff(rows.start[inside.start : inside.stop + 1])
        node.append(at + np.repeat(np.arange(len(counts)), counts))
        column.append(rows.column[first:last])
        value.append(rows.value[first:last])
    cells = np.concatenate(node), np.concatenate(column), np.concatenate(value)
    return SparseRows.from_cells(end, *cells, pieces[0][0].schema.width)


def rounded_gains(gain: Floats) -> Floats:
    """Gains as the core compares them between nodes: differences by rounding alone are rounded away.

    >>> 0.3 == 0.1 + 0.2, len(set(rounded_gains(np.array([0.3, 0.1 + 0.2])).tolist()))
    (False, 1)
    """
    step = 2**12
    bits = np.ascontiguousarray(gain).view(np.int64)
    return np.asarray(((bits + step // 2) & ~(step - 1)).view(np.float64))


def _merged_steps(tree: Tree, starts: list[int]) -> Int32s:
    """The best-first order of all splits, given the order within the tree itself and within each tree
    planted at `starts`: the next splits of all these trees compete; among equals the node that was made
    first wins.
    """
    owner = np.zeros(tree.n_nodes, np.int64)
    for number, start in enumerate(starts, 1):
        owner[start : tree.end[start]] = number
    branches = np.flatnonzero(~tree.is_leaf)
    branches = branches[np.lexsort((tree.step[branches], owner[branches]))]
    queues = [branches[owner[branches] == number][::-1].tolist() for number in range(len(starts) + 1)]
    number_of = {start: number for number, start in enumerate(starts, 1)}
    rank, left, right = (-rounded_gains(tree.gain)).tolist(), tree.left.tolist(), tree.right.tolist()
    steps, made = np.full(tree.n_nodes, -1, np.int32), [0] * tree.n_nodes

    def next_splits(node: int) -> list[int]:
        """The first splits of the trees planted below a node, and the next one of its own tree."""
        children = left[node], right[node]
        for side, child in enumerate(children):
            made[child] = 1 + 2 * int(steps[node]) + side
        numbers = [number_of[child] for child in children if child in number_of] + [int(owner[node])]
        return [queues[number].pop() for number in numbers if queues[number]]

    first = queues[number_of.get(0, 0)]
    if first:
        for step, node in enumerate(best_first(first.pop(), lambda n: (rank[n], made[n], n), next_splits)):
            steps[node] = step
    return steps
