"""Defeatist search: the share of queries answered exactly against the points visited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treewright.plotting import COLOURS, FAINT, INK, MARKERS, axes_or_new, in_per_cent, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treewright.neighbours.curve import DefeatistCurve


def plot_defeatist_curve(curve: DefeatistCurve, ax: Axes | None = None) -> Axes:
    """Plot the share of queries answered exactly, a line for each leaf size; labels are the spills."""
    ax = axes_or_new(ax)
    kinds = list(COLOURS)
    for number, size in enumerate(dict.fromkeys(curve.leaf_size.tolist())):
        chosen = np.flatnonzero(curve.leaf_size == size)
        chosen = chosen[np.argsort(curve.n_visited[chosen], kind="stable")]
        kind = kinds[number % len(kinds)]
        ax.plot(
            curve.n_visited[chosen],
            curve.exact_share[chosen],
            color=COLOURS[kind],
            marker=MARKERS[kind],
            label=f"leaves of at most {size:,}",
            clip_on=False,
        )
        for i in chosen:
            place = (curve.n_visited[i], curve.exact_share[i])
            ax.annotate(f"{curve.spill[i]:g}", place, (4, -10), textcoords="offset points", fontsize="small")
    ax.axvline(curve.n_visited_exact, color=FAINT, linestyle="--", label="exact search")
    ax.set_xlabel("points looked at for each query")
    ax.set_ylabel("queries answered as exactly")
    in_per_cent(ax.yaxis)
    ax.set_ylim(0.0, 1.0)
    tidy(ax)
    ax.legend(frameon=False, fontsize="small", labelcolor=INK, loc="lower right")
    return ax
