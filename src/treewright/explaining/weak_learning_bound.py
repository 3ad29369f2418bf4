"""The bound on a tree's training error that follows from the edges of its tests, split by split.

Kearns and Mansour's theorem assumes a test with an edge γ at every leaf. On given rows this can be measured:
γ_s is the smallest, over the leaves with both classes before split s, of the largest edge of any test. Of s
leaves with the total potential G, the best one then has a drop of at least c(γ_s)·v(G)/s (see
`treewright.certifying.weak_learning`). The potential, and the error below it, falls from G₀ at least to the
following, with τ = Σ c(γ_s)/s:

    sqrt      G₀ Π (1 - c(γ_s)/s)           v(G) = G          c = 1 - √(1-4γ²)
    gini      1 / (1/G₀ + τ)                v(G) = G²         c = 8γ²
    entropy   H(1/(1+exp √(u₀² + 4τ ln 2)))/2   v = q(1-q)        c = 4γ²/ln 2,   u₀ = ln((1-q₀)/q₀)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright._display import Layout, TableResult
from treewright._json import plain
from treewright._suggestions import checked_keywords
from treewright._text import count, percent
from treewright.certifying.held_out import same_statistic
from treewright.certifying.weak_learning import measured_edges
from treewright.encoding import Dataset
from treewright.encoding.kinds import Kind
from treewright.encoding.rows import with_target
from treewright.tree import Tree
from treewright.tree.evaluate import given_rows
from treewright.tree.shortcuts import as_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
MOST_LINES = 12  # of a printed table


@dataclass(frozen=True, eq=False)
class WeakLearningBound(TableResult):
    """The training error of a tree and the bound on it, after 0, 1, 2 … splits."""

    criterion: str
    edge: Floats  # of the test of each split, in their order
    weakest: Floats  # before each split: the smallest of the best edges of the leaves with both classes
    error: Floats  # after 0, 1, 2 … splits
    bound: Floats  # on the error, after 0, 1, 2 … splits

    @property
    def advantage(self) -> float:
        """γ: at every leaf, before every split, some test had at least this edge; NaN without a split."""
        return float(self.weakest.min()) if len(self.weakest) else math.nan

    def _layout(self) -> Layout:
        n = len(self.edge)
        some = np.unique(np.round(np.geomspace(1, max(n, 1), MOST_LINES)).astype(int))
        rows = []
        for k in [0, *(some if n > MOST_LINES else range(1, n + 1))]:
            edges = [f"{self.edge[k - 1]:.3f}", f"{self.weakest[k - 1]:.3f}"] if k else ["", ""]
            rows.append([str(k), *edges, percent(float(self.error[k])), percent(float(self.bound[k]))])
        head = ["splits", "edge", "least edge", "error", "bound"]
        return Layout([], head, rows, range(5), ["", self.sentence])

    @property
    def sentence(self) -> str:
        """The bound in words."""
        n = len(self.edge)
        if not n:
            return "No split was made, so there is nothing to boost."
        if self.criterion == "error":
            return "The criterion error has no bound: a split with an edge may leave the error as it was."
        return (
            f"Every leaf with both classes had a test with an edge of at least {self.advantage:.3f}; so "
            f"{count(n, 'split')} by {self.criterion} leave a training error of at most "
            f"{percent(float(self.bound[-1]))}. It is {percent(float(self.error[-1]))}."
        )

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, and `advantage`."""
        return {**super().to_dict(), "advantage": plain(self.advantage)}

    @checked_keywords
    def plot(self, ax: Axes | None = None) -> Axes:
        """Both curves; needs matplotlib."""
        from treewright.plotting import plot_weak_learning_bound

        return plot_weak_learning_bound(self, ax)


@checked_keywords
def weak_learning_bound(model: Any, data: Any, target: Any = None) -> WeakLearningBound:
    """The training error after each split of a tree beside the bound that the edges of its tests prove.

    Parameters
    ----------
    model : Tree or fitted estimator
        Grown best first, of the two classes of one target, by "sqrt", "gini", "entropy" or "error".
    data : table, tuple (table, target) or (table, target, weights), or Dataset
        The rows that it was grown from.
    target : str or array, optional
        Of a table in `data`: its target column, or its targets.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> data = encode({"x": range(8)}, list("aabaabbb"))
    >>> found = weak_learning_bound(grow(data, criterion="sqrt"), data)
    >>> found.error.round(3).tolist(), found.bound.round(3).tolist()
    ([0.5, 0.125, 0.125, 0.0], [0.5, 0.331, 0.309, 0.206])
    """
    tree = as_tree(model)
    data = given_rows(tree, with_target("weak_learning_bound", data, target), "data")
    edges = measured_edges(tree)
    _check(tree, data)
    order = np.flatnonzero(~tree.is_leaf & ~tree.joined)
    order = order[np.argsort(tree.step[order])]
    best = _best_edges(tree, data)
    statistic = np.asarray(tree.statistic)
    is_mixed: NDArray[np.bool_] = np.all(statistic > 0, axis=1)
    leaves, weakest = {0}, np.zeros(len(order))
    for s, node in enumerate(order.tolist()):
        weakest[s] = min((best[leaf] for leaf in leaves if is_mixed[leaf]), default=0.5)
        leaves = (leaves - {node}) | {node + 1, int(tree.right[node])}
    bound = _bounds(tree.criterion, float(statistic[0, 0] / statistic[0].sum()), weakest)
    return WeakLearningBound(tree.criterion, edges[order], weakest, tree.curve(data), bound)


def _check(tree: Tree, data: Dataset) -> None:
    if tree.criterion not in ("sqrt", "gini", "entropy", "error"):
        raise ValueError(f"there is no such theorem for the criterion {tree.criterion!r}")
    if tree.joined.any():
        raise ValueError("the theorem is for binary splits; this tree has splits into more branches")
    if not same_statistic(tree, data):
        raise ValueError("data must be the rows that the tree was grown from; these have other counts")


def _bounds(criterion: str, q: float, weakest: Floats) -> Floats:
    """The bound on the error after 0, 1, 2 … splits, from the share of a class at the root."""
    steps = np.arange(1, len(weakest) + 1)
    if criterion == "sqrt":
        drop = 4 * weakest**2 / (1 + np.sqrt(np.maximum(1 - 4 * weakest**2, 0.0)))
        start = math.sqrt(q * (1 - q))
        return np.asarray(start * np.cumprod(np.append(1.0, 1 - drop / steps)))
    rise = np.append(0.0, np.cumsum(weakest**2 / steps))  # τ without its factor
    if criterion == "gini":
        start = 2 * q * (1 - q)
        return np.asarray(start / (1 + start * 8 * rise))
    if criterion == "entropy":
        tau = 4 / math.log(2) * rise
        odds = abs(math.log((1 - q) / q)) if 0 < q < 1 else math.inf
        share = 1 / (1 + np.exp(np.sqrt(odds**2 + 4 * math.log(2) * tau)))
        with np.errstate(divide="ignore", invalid="ignore"):
            bits = -(share * np.log2(share) + (1 - share) * np.log2(1 - share))
        return np.asarray(np.where(share > 0, bits, 0.0) / 2)
    return np.full(len(weakest) + 1, min(q, 1 - q))


def _best_edges(tree: Tree, data: Dataset) -> Floats:
    """The largest edge of any test at each node that has both classes; NaN elsewhere."""
    leaf, edges = tree.apply(data), np.full(tree.n_nodes, np.nan)
    counted = data.counted
    order = counted[np.argsort(leaf[counted], kind="stable")]  # the rows of a subtree lie together
    first = np.searchsorted(leaf[order], np.arange(tree.n_nodes))
    last = np.searchsorted(leaf[order], tree.end)
    assert data.targets is not None
    for node in np.flatnonzero((np.asarray(tree.statistic) > 0).all(axis=1)).tolist():
        rows = order[first[node] : last[node]]
        sign = _class_balance(data.targets[0][rows], data.row_weights[rows])
        edges[node] = max(
            _edge(column.type, data.column(j, rows), sign) for j, column in enumerate(data.schema.columns)
        )
        edges[node] /= 2
    return edges


def _class_balance(labels: NDArray[np.int32], weight: Floats) -> Floats:
    """The weight of each row where each class weighs 1, with a minus for the second one."""
    total = np.bincount(labels, weight, 2)
    return np.asarray(np.where(labels == 0, weight / total[0], -weight / total[1]), np.float64)


def _edge(kind: Kind, x: NDArray[Any], sign: Floats) -> float:
    """The largest |a - b| of a test of one column: a and b are the shares of the classes that go left."""
    if kind.is_category:  # any set of categories: the sum of all that have more of one class
        return float(np.maximum(np.bincount(x + 1, sign), 0.0).sum())
    known = ~np.isnan(x)
    missing = float(sign[~known].sum())
    values, place = np.unique(x[known], return_inverse=True)
    below = np.cumsum(np.bincount(place, sign[known], len(values)))
    return float(np.abs(np.concatenate([[missing], below, below + missing])).max())
