"""Surgery on trees: parts are cut out, the rest moves together; the arrays of the smaller tree."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.tree.class_counts import SparseRows
from treewright.tree.oblique import Direction
from treewright.tree.surrogates import Surrogates

if TYPE_CHECKING:
    from treewright.tree.tree import Tree

Arrays = dict[str, Any]
Mask = NDArray[np.bool_]


def collapsed(tree: Tree, nodes: Iterable[int]) -> Arrays:
    """The arrays of the tree in which the given nodes are leaves."""
    chosen = node_indices(tree, nodes)
    return _rest(tree, ~_strictly_inside(tree, chosen), _mask(tree, chosen))


def grafted(tree: Tree, replacements: Mapping[int, int], leaves: Iterable[int] = ()) -> Arrays:
    """The arrays of the tree in which subtrees take the place of nodes above them, and the given nodes are
    leaves; statistics as before.
    """
    above, below = node_indices(tree, replacements.keys()), node_indices(tree, replacements.values())
    chosen = node_indices(tree, leaves)
    outside = (below < above) | (below >= tree.end[above])
    if outside.any():
        node, other = int(above[outside][0]), int(below[outside][0])
        raise ValueError(f"node {other} is not below node {node}; only a subtree can take its place")
    left_out = _inside(tree, above + 1, below) | _inside(tree, tree.end[below], tree.end[above])
    lost = above[left_out[above]]
    if lost.size:
        raise ValueError(
            f"node {lost[0]} is to be replaced, but lies in a part that another replacement drops"
        )
    dropped = left_out | _mask(tree, above[above != below]) | _strictly_inside(tree, chosen)
    return _rest(tree, ~dropped, _mask(tree, chosen))


def covered(tree: Tree, nodes: NDArray[Any]) -> Mask:
    """The given nodes and all that is below them."""
    return _inside(tree, nodes, tree.end[nodes])


def _mask(tree: Tree, nodes: NDArray[np.int64]) -> Mask:
    mask = np.zeros(tree.n_nodes, np.bool_)
    mask[nodes] = True
    return mask


def _strictly_inside(tree: Tree, nodes: NDArray[np.int64]) -> Mask:
    return _inside(tree, nodes + 1, tree.end[nodes])


def node_indices(tree: Tree, nodes: Iterable[int]) -> NDArray[np.int64]:
    """Nodes by their numbers, which the tree must have."""
    chosen = np.array([operator.index(node) for node in nodes], np.int64)
    if chosen.size and not ((chosen >= 0) & (chosen < tree.n_nodes)).all():
        raise IndexError(f"the tree has nodes 0 … {tree.n_nodes - 1}; got {chosen.tolist()}")
    return chosen


def _inside(tree: Tree, first: NDArray[Any], end: NDArray[Any]) -> Mask:
    """The nodes that lie in one of some slices: count the openings and closings."""
    change = np.zeros(tree.n_nodes + 1, np.int64)
    np.add.at(change, first, 1)
    np.subtract.at(change, end, 1)
    return np.cumsum(change[:-1]) > 0


def _rest(tree: Tree, kept: Mask, becomes_leaf: Mask) -> Arrays:
    """The arrays of the nodes that are kept."""
    leaf = (becomes_leaf | tree.is_leaf)[kept]
    position = np.concatenate([[0], np.cumsum(kept)])
    end = position[tree.end][kept].astype(np.int32)
    sizes = tree.schema.subset_sizes
    subset, subsets = repacked(tree.subsets, np.where(leaf, -1, tree.subset[kept]), tree.feature[kept], sizes)
    feature, directions = _numbered(tree, np.where(leaf, -1, tree.feature[kept]))
    return {
        "end": end,
        "feature": feature,
        "threshold": np.where(leaf, np.nan, tree.threshold[kept]),
        "subset": subset,
        "subsets": subsets,
        "missing_left": tree.missing_left[kept] & ~leaf,
        "step": np.where(leaf, -1, tree.step[kept]).astype(np.int32),
        "rows": tree.rows[kept],
        "statistic": tree.statistic.kept(kept, end)
        if isinstance(tree.statistic, SparseRows)
        else tree.statistic[kept],
        "joined": tree.joined[kept] & ~leaf & _continues(tree, kept, end, feature),
        "surrogates": _rest_of_surrogates(tree, kept, leaf, position),
        "linear": None if tree.linear is None else tree.linear.kept(kept),
        "directions": directions,
    }


def _numbered(tree: Tree, feature: NDArray[np.int64]) -> tuple[NDArray[np.int32], tuple[Direction, ...]]:
    """The tests of a smaller tree where only the sums that it still asks for are there."""
    n_columns = len(tree.schema.columns)
    used = list(dict.fromkeys(feature[feature >= n_columns].tolist()))  # in the order in which they come
    number = np.arange(n_columns + len(tree.directions) + 1, dtype=np.int32)
    number[-1] = -1
    number[used] = n_columns + np.arange(len(used))
    return number[feature], tuple(tree.directions[i - n_columns] for i in used)


def _continues(tree: Tree, kept: Mask, end: NDArray[np.int32], feature: NDArray[np.int32]) -> Mask:
    """Whether the node above a kept one is the one that was above it before."""
    if not tree.joined.any():
        return np.zeros(len(end), np.bool_)
    inner = np.flatnonzero(feature >= 0)
    parent = np.full(len(end), -1)
    parent[inner + 1] = parent[end[inner + 1]] = inner
    old = np.flatnonzero(kept)
    return np.asarray((parent >= 0) & (old[parent] == tree.parent[kept]))


def _rest_of_surrogates(tree: Tree, kept: Mask, leaf: Mask, position: NDArray[np.int64]) -> Surrogates:
    """The surrogates of the nodes that still test something."""
    all_of_them = tree.surrogates
    if not len(all_of_them):
        return all_of_them
    branches = kept.copy()
    branches[kept] = ~leaf
    stay = branches[all_of_them.node]
    feature = all_of_them.feature[stay]
    subset, subsets = repacked(
        all_of_them.subsets, all_of_them.subset[stay], feature, tree.schema.subset_sizes
    )
    return Surrogates(
        node=position[all_of_them.node[stay]].astype(np.int32),
        feature=feature,
        threshold=all_of_them.threshold[stay],
        subset=subset,
        reversed=all_of_them.reversed[stay],
        agreement=all_of_them.agreement[stay],
        adjusted=all_of_them.adjusted[stay],
        subsets=subsets,
    )


def repacked(
    bits: NDArray[np.uint8], subset: NDArray[np.int64], feature: NDArray[np.int32], sizes: list[int]
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The bits of the given tests' subsets, one after the other, and where each begins."""
    lengths = np.where(subset >= 0, np.array(sizes)[np.where(subset >= 0, feature, 0)], 0)
    parts = [bits[start : start + n] for start, n in zip(subset, lengths, strict=True) if start >= 0]
    packed = np.concatenate(parts) if parts else np.zeros(0, np.uint8)
    return np.where(subset >= 0, np.cumsum(lengths) - lengths, -1), packed
