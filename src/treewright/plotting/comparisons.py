"""The methods of a comparison side by side: one line each, so that no name lies on another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treewright.plotting import (
    COLOURS,
    FAINT,
    INK,
    MARKERS,
    axes_or_new,
    in_per_cent,
    is_share,
    loss_words,
    tidy,
    words,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treewright.selecting.comparison import Comparison

_NAMES = {
    "training": "training rows",
    "validation": "rows to choose by",
    "test": "test rows",
    "certificate": "the true error is below",
}


def plot_comparison(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw the losses of each method on one line, the least test loss at the top."""
    rows = [row for row in comparison.rows if row["trouble"] is None]
    rows.sort(key=lambda row: float(row["test"]), reverse=True)
    ax = axes_or_new(ax, width=9.0, height=1.6 + 0.34 * len(rows))
    places = range(len(rows))
    for place, row in zip(places, rows, strict=True):
        known = [row[name] for name in _NAMES if row[name] is not None]
        ax.plot([min(known), max(known)], [place, place], color=FAINT, linewidth=1, zorder=1)
    for name, text in _NAMES.items():
        points = [(rows[place][name], place) for place in places if rows[place][name] is not None]
        if points:
            x, y = zip(*points, strict=True)
            ax.scatter(
                x, y, s=34, color=COLOURS[name], marker=MARKERS[name], label=text, zorder=2, clip_on=False
            )
    ax.set_yticks(list(places), [_name(row) for row in rows])
    ax.set_xlabel(loss_words(comparison.schema, comparison.criterion))
    if is_share(comparison.schema):
        in_per_cent(ax.xaxis)
    ax.set_xlim(left=0.0)
    ax.set_ylim(-0.6, len(rows) - 0.4)
    tidy(ax)
    ax.legend(
        frameon=False,
        fontsize="small",
        labelcolor=INK,
        ncols=4,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        handletextpad=0.2,
        columnspacing=1.2,
    )
    return ax


def _name(row: dict[str, Any]) -> str:
    """The method in words, how its tree was chosen, and its size."""
    by = f", {words(row['by'])}" if row["by"] else ""
    kind = "rules" if row["method"] == "rules" else "leaf" if row["leaves"] == 1 else "leaves"
    return f"{words(row['method'])}{by} ({row['leaves']:,} {kind})"
