"""What defeatist search costs and what it finds, over spills and sizes of leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright._text import aligned
from treewright.neighbours.kd_tree import KDTree, Rule

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class DefeatistCurve:
    """Defeatist search measured against exact search; one entry for each tree. ``print`` shows a table.

    Attributes
    ----------
    spill, leaf_size : ndarray
        What the tree was built with.
    copies : ndarray
        How often the tree keeps each point, on average.
    visited : ndarray
        How many points a query looks at, on average.
    found : ndarray
        The share of the queries whose k neighbours are all as near as the true ones.
    recall : ndarray
        The share of the neighbours that are as near as the true ones; for k = 1 the same as `found`.
    distance_ratio : ndarray
        The mean distance of a query's neighbours over that of the true ones, on average over the queries that
        do not have all of these at distance 0.
    exact_visited : float
        How many points exact search looks at, on average, in the plain tree of the first `leaf_size`.
    n_points, n_queries, k : int
        How many points, queries and neighbours there are.
    """

    spill: NDArray[np.float64]
    leaf_size: NDArray[np.int64]
    copies: NDArray[np.float64]
    visited: NDArray[np.float64]
    found: NDArray[np.float64]
    recall: NDArray[np.float64]
    distance_ratio: NDArray[np.float64]
    exact_visited: float
    n_points: int
    n_queries: int
    k: int

    def __str__(self) -> str:
        head = ["spill", "leaf_size", "copies", "visited", "found", "recall", "distance"]
        rows = [
            [
                f"{self.spill[i]:g}",
                f"{self.leaf_size[i]:,}",
                f"{self.copies[i]:.2f}",
                f"{self.visited[i]:,.1f}",
                f"{100 * self.found[i]:.1f} %",
                f"{100 * self.recall[i]:.1f} %",
                f"{self.distance_ratio[i]:.3f}",
            ]
            for i in range(len(self.spill))
        ]
        exact = ["exact", "", "1.00", f"{self.exact_visited:,.1f}", "100.0 %", "100.0 %", "1.000"]
        return "\n".join(aligned([head, *rows, exact], right=range(7)))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the share found against the points visited; needs matplotlib."""
        from treewright.plotting.neighbours import plot_defeatist_curve

        return plot_defeatist_curve(self, ax=ax)


def defeatist_curve(
    X: Any,
    queries: Any,
    k: int = 1,
    *,
    spills: Sequence[float] = (0.0, 0.05, 0.1, 0.15, 0.2),
    leaf_sizes: Sequence[int] = (40,),
    metric: str = "minkowski",
    p: float = 2,
    rule: Rule = "widest",
    n_jobs: int | None = None,
) -> DefeatistCurve:
    """Measure defeatist search: what it looks at, and how much of the truth it finds.

    Parameters
    ----------
    X : array of shape (n_points, n_columns)
        The points.
    queries : array of shape (n_queries, n_columns)
        The queries; other than the points, which find themselves.
    k : int, default=1
        How many neighbours.
    spills : sequence of floats, default=(0.0, 0.05, 0.1, 0.15, 0.2)
        The spills to try, each with each of the leaf sizes.
    leaf_sizes : sequence of ints, default=(40,)
        The sizes of leaves to try.
    metric, p, rule, n_jobs
        As for `KDTree`.

    Returns
    -------
    DefeatistCurve
        One entry for each pair of spill and leaf size; ``print`` shows it, ``.plot()`` draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import defeatist_curve
    >>> random = np.random.default_rng(0)
    >>> curve = defeatist_curve(random.random((2000, 3)), random.random((500, 3)), spills=(0.0, 0.1))
    >>> bool(curve.found[0] < curve.found[1] < 1)
    True
    """
    pairs = [(spill, size) for size in leaf_sizes for spill in spills]
    if not pairs:
        raise ValueError("spills or leaf_sizes is empty; each must have at least one entry")
    options: dict[str, Any] = {"metric": metric, "p": p, "rule": rule, "n_jobs": n_jobs}
    plain = KDTree(X, leaf_size=pairs[0][1], **options)
    truth, _, looked_at = plain._nearest(queries, k, "exact", None)
    if not len(truth):
        raise ValueError("queries has no rows; it must have at least one")
    rows = []
    for spill, size in pairs:
        tree = KDTree(X, leaf_size=size, spill=spill, **options)
        distance, _, visited = tree._nearest(queries, k, "defeatist", None)
        rows.append((spill, size, tree.copies, visited.mean(), *_compared(distance, truth)))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    spill_of, size_of, copies, looked_at_here, found, recall, ratio = columns
    return DefeatistCurve(
        spill=spill_of,
        leaf_size=size_of,
        copies=copies,
        visited=looked_at_here,
        found=found,
        recall=recall,
        distance_ratio=ratio,
        exact_visited=float(looked_at.mean()),
        n_points=plain.n_points,
        n_queries=len(truth),
        k=truth.shape[1],
    )


def _compared(distance: NDArray[np.float64], truth: NDArray[np.float64]) -> tuple[float, float, float]:
    """What was found of the truth, and how much farther it is."""
    true_total = truth.sum(axis=1)
    apart = true_total > 0
    ratio = (distance.sum(axis=1)[apart] / true_total[apart]).mean() if apart.any() else 1.0
    is_near = distance <= truth[:, -1:]  # nothing nearer is there, so these are as near as the true ones
    return float((distance == truth).all(axis=1).mean()), float(is_near.mean()), float(ratio)
