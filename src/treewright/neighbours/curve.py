"""Defeatist search against exact search: its cost and its recall, by spill and size of leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright._arrays import Floats, Ints
from treewright._display import Layout, Shown
from treewright._suggestions import checked_keywords
from treewright.neighbours.kd_tree import KDTree
from treewright.parameters import takes
from treewright.parameters.neighbours import KDTreeParameters

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_COLUMNS = {  # the title and the format of each in the table
    "spill": ("spill", "{:g}"),
    "leaf_size": ("leaf_size", "{:,}"),
    "copies": ("copies", "{:.2f}"),
    "n_visited": ("visited", "{:,.1f}"),
    "exact_share": ("exact", "{:.1%}"),
    "recall": ("recall", "{:.1%}"),
    "distance_ratio": ("distance", "{:.3f}"),
}


@dataclass(frozen=True, eq=False)
class DefeatistCurve(Shown):
    """Defeatist search measured against exact search; one entry for each tree. ``print`` shows a table.

    Attributes
    ----------
    spill, leaf_size : ndarray
        The options of the tree.
    copies : ndarray
        The average number of copies of a point in the tree.
    n_visited : ndarray
        The average number of points with which a query is compared.
    exact_share : ndarray
        The share of the queries whose k neighbours are all as near as the true ones.
    recall : ndarray
        The share of the neighbours that are as near as the true ones; for k = 1 the same as `exact_share`.
    distance_ratio : ndarray
        The mean distance of a query's neighbours divided by that of the true ones, averaged over the queries
        whose true neighbours are not all at distance 0.
    n_visited_exact : float
        The same as `n_visited` for exact search, in the tree of the first `leaf_size` without spill.
    n_points, n_queries, k : int
        The numbers of points, queries and neighbours.
    """

    spill: Floats
    leaf_size: Ints
    copies: Floats
    n_visited: Floats
    exact_share: Floats
    recall: Floats
    distance_ratio: Floats
    n_visited_exact: float
    n_points: int
    n_queries: int
    k: int

    def _layout(self) -> Layout:
        titles, formats = zip(*_COLUMNS.values(), strict=True)
        entries = zip(*(getattr(self, name).tolist() for name in _COLUMNS), strict=True)
        rows = [
            [form.format(cell).replace("%", " %") for form, cell in zip(formats, entry, strict=True)]
            for entry in entries
        ]
        exact = ["exact", "", "1.00", f"{self.n_visited_exact:,.1f}", "100.0 %", "100.0 %", "1.000"]
        return Layout([], titles, [*rows, exact], range(7))

    def __str__(self) -> str:
        return self._layout().text()

    @checked_keywords
    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the share of exact answers against the points visited; needs matplotlib."""
        from treewright.plotting.neighbours import plot_defeatist_curve

        return plot_defeatist_curve(self, ax=ax)


@takes({name: KDTreeParameters.parameters[name] for name in ("metric", "p", "rule", "n_jobs")})
def defeatist_curve(
    X: Any,
    queries: Any,
    k: int = 1,
    *,
    spills: Sequence[float] = (0.0, 0.05, 0.1, 0.15, 0.2),
    leaf_sizes: Sequence[int] = (40,),
    **options: Any,
) -> DefeatistCurve:
    """Measure defeatist search against exact search: how many points it visits, and how often it is right.

    Parameters
    ----------
    X : array of shape (n_points, n_columns)
        The points.
    queries : array of shape (n_queries, n_columns)
        The queries; not the points themselves, each of which is its own neighbour.
    k : int, default=1
        The number of neighbours.
    spills : sequence of floats, default=(0.0, 0.05, 0.1, 0.15, 0.2)
        The spills to try, each with each of the leaf sizes.
    leaf_sizes : sequence of ints, default=(40,)
        The sizes of leaves to try.

    Returns
    -------
    DefeatistCurve
        One entry for each pair of spill and leaf size; ``print`` shows a table, ``.plot()`` a curve.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import defeatist_curve
    >>> random = np.random.default_rng(0)
    >>> curve = defeatist_curve(random.random((2000, 3)), random.random((500, 3)), spills=(0.0, 0.1))
    >>> bool(curve.exact_share[0] < curve.exact_share[1] < 1)
    True
    """
    pairs = [(spill, size) for size in leaf_sizes for spill in spills]
    if not pairs:
        raise ValueError("spills or leaf_sizes is empty; each must have at least one entry")
    plain = KDTree(X, leaf_size=pairs[0][1], **options)
    truth, _, visits = plain._nearest(queries, k, "exact", None)
    if not len(truth):
        raise ValueError("queries has no rows; it must have at least one")
    rows = []
    for spill, size in pairs:
        tree = KDTree(X, leaf_size=size, spill=spill, **options)
        distance, _, n_visited = tree._nearest(queries, k, "defeatist", None)
        rows.append((spill, size, tree.copies, n_visited.mean(), *_compare(distance, truth)))
    columns = dict(zip(_COLUMNS, (np.array(column) for column in zip(*rows, strict=True)), strict=True))
    return DefeatistCurve(
        **columns,
        n_visited_exact=float(visits.mean()),
        n_points=plain.n_points,
        n_queries=len(truth),
        k=truth.shape[1],
    )


def _compare(distance: Floats, truth: Floats) -> tuple[float, float, float]:
    """The share of exact answers, the recall, and the ratio of the distances to the true ones."""
    true_total = truth.sum(axis=1)
    apart = true_total > 0
    ratio = (distance.sum(axis=1)[apart] / true_total[apart]).mean() if apart.any() else 1.0
    is_near = distance <= truth[:, -1:]  # no other points are nearer, so these are as near as the true ones
    return float((distance == truth).all(axis=1).mean()), float(is_near.mean()), float(ratio)
