"""Minimal cost-complexity pruning: the subtree of least risk + alpha * leaves, for every alpha at once.

Let R(v) be the risk of node v as a leaf and R(T_v) that of the leaves below it. As alpha grows, the inner
node with the smallest g(v) = (R(v) - R(T_v)) / (|T_v| - 1) collapses first (the weakest link), and so on up
to the root. Looking for the weakest link over and over costs O(nodes * depth); `weakest_links` finds all of
them in one bottom-up pass instead. At node v, every link below that would break later than v breaks together
with v: its loss and its leaves are added to those of v. What is left below v are the links that really break
before v does.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf, isnan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.pruning.path import PruningPath
from treewright.tree import Tree

Floats = NDArray[np.float64]

# Two levels are one where they differ by rounding only: by this share of themselves or of the root's risk.
SAME_LEVEL = 1e-12
SAME_RISK = 2e-15

Heap = list[tuple[float, int]]  # (-level, node): the link that breaks last is on top


@dataclass(frozen=True)
class CostComplexityPath:
    """The nested sequence of subtrees, from the whole tree to its root.

    From `alpha[i]` on (up to `alpha[i + 1]`) the best subtree has the risk `risk[i]` and `leaves[i]` leaves.
    Risks are per unit of weight: those of the leaves, divided by the weight of the root.
    """

    alpha: NDArray[np.float64]
    risk: NDArray[np.float64]
    leaves: NDArray[np.int64]


def weakest_links(tree: Tree, risk: Floats | None = None) -> Floats:
    """For each node the alpha from which on it is collapsed; infinity at a leaf.

    `risk` is what each node loses as a leaf; `tree.risk`, the impurity, by default.

    At a given alpha, collapsing every node whose level is at most alpha gives the smallest subtree among
    those with the least risk + alpha * leaves (risk per unit of weight, as in scikit-learn). A node inside a
    collapsed one may have a higher level; it goes with the one above it.
    """
    return _pool(tree, tree.risk if risk is None else risk)[0]


def cost_complexity_path(tree: Tree, risk: Floats | None = None) -> CostComplexityPath:
    """Every subtree that is best for some alpha, with the alpha from which on it is.

    Levels that differ by rounding only are one step, so that equal links break together.
    """
    risk = tree.risk if risk is None else risk
    level, loss, saved, links = _pool(tree, risk)
    links = links[np.argsort(level[links], kind="stable")]
    alpha = np.concatenate([[0.0], level[links]])
    total = float(tree.weight[0])
    risks = (risk[tree.is_leaf].sum() + np.concatenate([[0.0], np.cumsum(loss[links])])) / total
    leaves = tree.n_leaves - np.concatenate([[0], np.cumsum(saved[links])])
    tolerance = SAME_LEVEL * alpha[1:] + SAME_RISK * float(risk[0]) / total
    last = np.append(np.diff(alpha) > tolerance, True)  # the last of a run of equal levels stands for it
    return CostComplexityPath(alpha[last], risks[last], leaves[last])


def cost_complexity(
    tree: Tree,
    *,
    alpha: float | None = None,
    on: Literal["loss", "impurity"] = "loss",
    validation: Dataset | None = None,
) -> PruningPath:
    """Every subtree of least loss + alpha · leaves, from alpha = 0 to the root alone.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is left as it is.
    alpha : float, optional
        The price of a leaf, not negative: the path then ends with its subtree. Without it, `select` chooses.
    on : {"loss", "impurity"}
        What leaves are to lower: the loss of the tree's answers, costs included, or the risk of the criterion
        that it was grown by, as in scikit-learn. Both per unit of weight.
    validation : Dataset, optional
        Held-out rows to try every subtree on.

    Returns
    -------
    PruningPath
        The subtrees; `level` is the alpha from which on each is the best, the smallest one of several.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1, 2, 3, 4, 5, 6]}, ["a", "a", "a", "b", "a", "b"]))
    >>> path = cost_complexity(tree)
    >>> path.leaves.tolist(), path.level.round(3).tolist()
    ([4, 2, 1], [0.0, 0.083, 0.167])
    """
    if on not in ("loss", "impurity"):
        raise ValueError(f"on is {on!r}; it must be 'loss' or 'impurity'")
    if alpha is not None:
        _check_alpha(alpha)
    risk = tree.loss if on == "loss" else tree.risk
    found = cost_complexity_path(tree, risk)
    steps = len(found.alpha) if alpha is None else int(np.searchsorted(found.alpha, alpha, side="right"))
    position = np.searchsorted(found.alpha, weakest_links(tree, risk), side="left")
    return PruningPath.nested("cost_complexity", tree, position, found.alpha[:steps], validation, on=on)


def cut_at(tree: Tree, alpha: float, risk: Floats | None = None) -> Tree:
    """The smallest subtree with the least risk + alpha * leaves, risk being per unit of weight.

    At alpha 0 only useless splits go; from the last alpha of the path on, the root alone is left. `alpha` is
    scikit-learn's ``ccp_alpha``.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1, 2, 3, 4, 5, 6]}, ["a", "a", "a", "b", "a", "b"]))
    >>> path = cost_complexity_path(tree)
    >>> path.leaves.tolist(), path.alpha.round(3).tolist()
    ([4, 2, 1], [0.0, 0.111, 0.222])
    >>> cut_at(tree, 0.2).n_leaves
    2
    """
    _check_alpha(alpha)
    level = weakest_links(tree, risk)
    return tree.collapse(np.flatnonzero((level <= alpha) & ~tree.is_leaf))


def _check_alpha(alpha: float) -> None:
    if isnan(alpha) or alpha < 0:
        raise ValueError(f"alpha={alpha!r} is not possible; the price of a leaf is a number >= 0")


def _pool(
    tree: Tree, risk: Floats
) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """The level, loss and saved leaves of each node when it collapses, and the nodes that do so alone."""
    n = tree.n_nodes
    inner = ~tree.is_leaf
    gains = np.zeros(n)
    gains[inner] = risk[inner] - risk[tree.left[inner]] - risk[tree.right[inner]]
    gain = np.maximum(gains, 0.0).tolist()  # rounding may leave a gain of nothing just below zero
    right = tree.right.tolist()
    leaf = tree.is_leaf.tolist()
    total = float(tree.weight[0])
    level, loss, saved = [inf] * n, [0.0] * n, [0] * n
    heaps: dict[int, Heap] = {}  # of the inner nodes whose parent is still to come
    for node in range(n - 1, -1, -1):
        if leaf[node]:
            continue
        heap = _meld(heaps.pop(node + 1, []), heaps.pop(right[node], []))
        lost, count = gain[node], 1
        while heap and -heap[0][0] >= lost / count / total:
            _, below = heappop(heap)
            lost += loss[below]
            count += saved[below]
        level[node], loss[node], saved[node] = lost / count / total, lost, count
        heappush(heap, (-level[node], node))
        heaps[node] = heap
    links = np.array([node for _, node in heaps.get(0, [])], dtype=np.int64)
    return np.array(level), np.array(loss), np.array(saved), links


def _meld(first: Heap, second: Heap) -> Heap:
    """One heap out of two, the smaller poured into the larger: each entry moves O(log nodes) times in all."""
    small, large = (first, second) if len(first) < len(second) else (second, first)
    for entry in small:
        heappush(large, entry)
    return large
