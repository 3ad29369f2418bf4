"""Defeatist search: the share of queries answered exactly against the points visited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treewright._suggestions import checked_keywords
from treewright.plotting.axes import COLOURS, FAINT, MARKERS, axes_or_new, finish, result_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treewright.neighbours.curve import DefeatistCurve


@checked_keywords
def plot_defeatist_curve(curve: DefeatistCurve, ax: Axes | None = None) -> Axes:
    """Plot the share of queries answered exactly, a line for each leaf size; labels are the spills.

    Parameters
    ----------
    curve : DefeatistCurve
        What `defeatist_curve` returns.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import defeatist_curve, plot_defeatist_curve
    >>> points = np.random.default_rng(0).random((300, 2))
    >>> ax = plot_defeatist_curve(defeatist_curve(points[:200], points[200:]))
    """
    curve = result_of("plot_defeatist_curve", curve, "n_visited_exact", "what defeatist_curve returns")
    ax = axes_or_new(ax)
    styles = list(zip(COLOURS.values(), MARKERS.values(), strict=True))
    for number, size in enumerate(dict.fromkeys(curve.leaf_size.tolist())):
        own = np.flatnonzero(curve.leaf_size == size)
        own = own[np.argsort(curve.n_visited[own], kind="stable")]
        visited, exact = curve.n_visited[own], curve.exact_share[own]
        colour, marker = styles[number % len(styles)]
        label = f"leaves of at most {size:,}"
        ax.plot(visited, exact, color=colour, marker=marker, label=label, clip_on=False)
        for i in own:
            place = (curve.n_visited[i], curve.exact_share[i])
            ax.annotate(f"{curve.spill[i]:g}", place, (4, -10), textcoords="offset points", fontsize="small")
    ax.axvline(curve.n_visited_exact, color=FAINT, linestyle="--", label="exact search")
    ax.set_ylim(0.0, 1.0)
    finish(ax, "points visited per query", "queries with the exact answer", percent="y", loc="lower right")
    return ax
