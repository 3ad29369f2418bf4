"""Boosting in pictures: error and bound against rounds, and how clearly rows are decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.plotting import COLOURS, FAINT, INK, axes_or_new, in_per_cent, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treewright.ensembles.adaboost import Boosted

_DASHES = {"training": "-", "test": "--"}  # lines differ by more than their colours


def plot_adaboost(boosted: Boosted, rows: Any, test: Any, axes: Any) -> tuple[Axes, Axes]:
    """Draw error and bound against rounds on the left, the margins of rows on the right."""
    left, right = _two_axes() if axes is None else axes
    _draw_errors(boosted, test, left)
    _draw_margins(boosted, {"training": rows, "test": test}, right)
    return left, right


def _two_axes() -> tuple[Axes, Axes]:
    first = axes_or_new(None, 9.6, 4.0)
    figure, place = first.figure, first.get_subplotspec()
    first.remove()
    assert place is not None
    parts = place.subgridspec(1, 2)
    return figure.add_subplot(parts[0]), figure.add_subplot(parts[1])


def _draw_errors(boosted: Boosted, test: Any, ax: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    rounds = np.arange(1, len(boosted.trees) + 1)
    lines = {"training": boosted.training_errors}
    if test is not None:
        lines["test"] = boosted.staged_errors(test)
    for name, line in lines.items():
        style: Any = {"color": COLOURS[name], "linestyle": _DASHES[name], "linewidth": 1.6}
        ax.step(rounds, line, where="mid", label=f"{name} error", **style)
    ax.plot(rounds, boosted.bounds, color=INK, linestyle=":", label="bound on the training error")
    top = max(float(line.max()) for line in lines.values())
    ax.set_ylim(0.0, max(1.6 * top, min(1.3 * float(boosted.bounds[-1]), 1.0), 0.01))  # the rest is cut off
    ax.set_xlabel("trees")
    ax.set_ylabel("misclassified rows")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    in_per_cent(ax.yaxis)
    _finish(ax, "Error and bound", "center right")


def _draw_margins(boosted: Boosted, given: dict[str, Any], ax: Axes) -> None:
    ax.axvline(0.0, color=FAINT, linewidth=1.0)
    for name, rows in given.items():
        if rows is not None:
            margins = np.sort(boosted.margins(rows))
            share = np.arange(1, len(margins) + 1) / len(margins)
            style: Any = {"color": COLOURS[name], "linestyle": _DASHES[name], "linewidth": 1.6}
            ax.step(margins, share, where="post", label=f"{name} rows, least {margins[0]:.2f}", **style)
    ax.set_xlim(-1.0, 1.0)
    ax.set_ylim(0.0, 1.0)
    ax.set_xlabel("margin: votes for the true class less those for another")
    ax.set_ylabel("rows with at most this margin")
    in_per_cent(ax.yaxis)
    _finish(ax, "Margins", "upper left")


def _finish(ax: Axes, title: str, place: Any) -> None:
    tidy(ax)
    ax.set_title(title, loc="left")
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize="small", loc=place, labelcolor=INK)
