"""AdaBoost: error and bound against rounds, and the margins of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from treewright._suggestions import checked_keywords
from treewright.plotting.axes import COLOURS, FAINT, INK, finish, new_axes, result_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treewright.ensembles.adaboost import Boosted

_DASHES = {"training": "-", "test": "--"}  # lines differ by more than their colours


@checked_keywords
def plot_adaboost(
    boosted: Boosted | Any, rows: Any = None, test: Any = None, axes: Any = None
) -> tuple[Axes, Axes]:
    """Plot error and bound against rounds on the left, the margins of rows on the right.

    Parameters
    ----------
    boosted : Boosted or fitted AdaBoostClassifier
        What `treewright.ensembles.adaboost.boost` returns, or an estimator of treewright's trees.
    rows : Dataset or tuple (table, target), optional
        Rows whose margins are drawn, such as those that the trees were grown from.
    test : Dataset or tuple (table, target), optional
        Other rows, for their error and their margins.
    axes : pair of matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> from treewright import encode, plot_adaboost
    >>> from treewright.ensembles.adaboost import boost
    >>> data = encode({"x": range(8), "z": [0, 1] * 4}, list("aaabbabb"))
    >>> left, right = plot_adaboost(boost(data, n_estimators=5), data)
    """
    boosted = result_of("plot_adaboost", boosted, "training_errors", "a fitted AdaBoostClassifier", "model_")
    left, right = new_axes(9.6, 4.0, columns=2) if axes is None else axes
    _draw_errors(boosted, test, left)
    _draw_margins(boosted, {"training": rows, "test": test}, right)
    return left, right


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
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    words = {"title": "Error and bound", "loc": "center right"}
    finish(ax, "trees", "misclassified rows", percent="y", **words)


def _draw_margins(boosted: Boosted, samples: dict[str, Any], ax: Axes) -> None:
    ax.axvline(0.0, color=FAINT, linewidth=1.0)
    for name, rows in samples.items():
        if rows is not None:
            margins = np.sort(boosted.margins(rows))
            share = np.arange(1, len(margins) + 1) / len(margins)
            style: Any = {"color": COLOURS[name], "linestyle": _DASHES[name], "linewidth": 1.6}
            ax.step(margins, share, where="post", label=f"{name} rows, least {margins[0]:.2f}", **style)
    ax.set_xlim(-1.0, 1.0)
    ax.set_ylim(0.0, 1.0)
    across = "margin: votes for the true class minus those for any other"
    finish(ax, across, "rows with at most this margin", percent="y", title="Margins", loc="upper left")
