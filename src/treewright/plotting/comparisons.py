"""The methods of a comparison, one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treewright.plotting import COLOURS, FAINT, MARKERS, axes_or_new, finish, is_share, loss_words, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treewright.selecting.comparison import Comparison

_NAMES = {
    "training": "training rows",
    "validation": "validation rows",
    "test": "test rows",
    "certificate": "upper bound on the true error",
}


def plot_comparison(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Plot the losses of each method on one line, the smallest test loss at the top."""
    rows = [row for row in comparison.rows if row["trouble"] is None]
    rows.sort(key=lambda row: float(row["test"]), reverse=True)
    ax = axes_or_new(ax, width=9.0, height=1.6 + 0.34 * len(rows))
    places = range(len(rows))
    for place, row in zip(places, rows, strict=True):
        losses = [row[name] for name in _NAMES if row[name] is not None]
        ax.plot([min(losses), max(losses)], [place, place], color=FAINT, linewidth=1, zorder=1)
    for name, text in _NAMES.items():
        points = [(rows[place][name], place) for place in places if rows[place][name] is not None]
        if points:
            style: dict[str, Any] = {"color": COLOURS[name], "marker": MARKERS[name], "label": text}
            x, y = zip(*points, strict=True)
            ax.scatter(x, y, s=34, zorder=2, clip_on=False, **style)
    ax.set_yticks(list(places), [_name(row) for row in rows])
    ax.set_xlim(left=0.0)
    ax.set_ylim(-0.6, len(rows) - 0.4)
    above: dict[str, Any] = {"ncols": 4, "loc": "lower right", "bbox_to_anchor": (1.0, 1.0)}
    loss, percent = loss_words(comparison.schema, comparison.criterion), "x" * is_share(comparison.schema)
    finish(ax, loss, "", percent=percent, **above, handletextpad=0.2, columnspacing=1.2)
    return ax


def _name(row: dict[str, Any]) -> str:
    """The method in words, how its tree was chosen, and its size."""
    by = f", {words(row['by'])}" if row["by"] else ""
    kind = "rules" if row["method"] == "rules" else "leaf" if row["leaves"] == 1 else "leaves"
    return f"{words(row['method'])}{by} ({row['leaves']:,} {kind})"
