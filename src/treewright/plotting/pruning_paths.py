"""Error against size: the trees of a pruning path, and those of a growing sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.plotting import (
    COLOURS,
    FAINT,
    INK,
    MARKERS,
    axes_or_new,
    in_per_cent,
    is_share,
    is_wide,
    leaves_axis,
    loss_text,
    loss_words,
    plain,
    tidy,
    words,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treewright.encoding.schema import Schema
    from treewright.explaining.weak_learning_bound import WeakLearningBound
    from treewright.pruning import PruningPath
    from treewright.selecting.overfitting import OverfittingCurve

Floats = NDArray[np.float64]
_MOST_MARKS = 40  # a line of more points shows them no more


def plot_pruning_path(path: PruningPath, test: Dataset | None = None, ax: Axes | None = None) -> Axes:
    """Draw the loss of each tree of a path against its leaves, the chosen tree marked."""
    lines: dict[str, Floats | None] = {"training": path.training, "validation": path.validation}
    lines["test"] = None if test is None else path.losses(test)
    ax = axes_or_new(ax)
    order = np.argsort(path.leaves, kind="stable")
    leaves, schema = path.leaves[order], path.full_tree.schema
    ordered = {name: None if line is None else line[order] for name, line in lines.items()}
    judged = path.details.get("judged_by")
    _lines(ax, leaves, ordered, {"validation": f"validation: {plain(judged)}"} if judged else {})
    if path.validation is not None and path.standard_error is not None:
        middle, error = path.validation[order], path.standard_error[order]
        ax.fill_between(
            leaves,
            np.maximum(middle - error, 0.0),
            middle + error,
            color=COLOURS["validation"],
            alpha=0.2,
            linewidth=0,
            label="± one standard error",
        )
    if not path.is_open:
        shown = next(name for name in ("validation", "test", "training") if lines[name] is not None)
        _mark(ax, path, lines[shown])
    _frame(ax, leaves, schema, path.full_tree.criterion)
    ax.set_title(
        f"Pruning by {words(path.method)}: {path.full_tree.n_leaves:,} "
        f"{_leaves(path.full_tree.n_leaves)} at first",
        loc="left",
    )
    return ax


def plot_overfitting_curve(curve: OverfittingCurve, ax: Axes | None = None) -> Axes:
    """Draw the loss of a growing tree against its leaves."""
    ax = axes_or_new(ax)
    lines = {"training": curve.training, "validation": curve.validation, "test": curve.test}
    _lines(ax, curve.leaves, lines, {})
    schema = curve.tree.schema
    held_out = curve.validation if curve.validation is not None else curve.test
    if held_out is not None:
        loss, leaves = float(held_out[curve.best]), int(curve.leaves[curve.best])
        what = f"least on held-out rows:\n{leaves:,} {_leaves(leaves)}, {loss_text(schema, loss)}"
        _point(ax, leaves, loss, what, curve.leaves)
    _frame(ax, curve.leaves, schema, curve.tree.criterion)
    ax.set_title("Growing, the best split first", loc="left")
    return ax


def _lines(ax: Axes, leaves: NDArray[Any], lines: dict[str, Floats | None], labels: dict[str, str]) -> None:
    few = len(leaves) <= _MOST_MARKS
    for name, line in lines.items():
        if line is not None:
            marker = MARKERS[name] if few else ""
            label = labels.get(name, name)
            ax.plot(
                leaves, line, color=COLOURS[name], marker=marker, markersize=4, linewidth=1.6, label=label
            )


def _mark(ax: Axes, path: PruningPath, line: Floats | None) -> None:
    """The chosen tree, with its size and its loss in words."""
    assert line is not None
    place = path.chosen % len(path)
    leaves, loss = int(path.leaves[place]), float(line[place])
    how = path.details.get("chosen_by")
    what = "chosen" + (f" by {plain(how)}" if how else "")
    text = f"{what}:\n{leaves:,} {_leaves(leaves)}, {loss_text(path.full_tree.schema, loss)}"
    _point(ax, leaves, loss, text, path.leaves)


def plot_weak_learning_bound(curve: WeakLearningBound, ax: Axes | None = None) -> Axes:
    """Draw the training error after each split, and the bound on it."""
    ax = axes_or_new(ax)
    splits = np.arange(len(curve.error))
    ax.plot(splits, curve.error, color=COLOURS["training"], label="training error")
    ax.plot(
        splits, curve.bound, color=INK, linestyle="--", label=f"bound by an edge of {curve.advantage:.3f}"
    )
    ax.set_xlabel("splits")
    in_per_cent(ax.yaxis)
    ax.set_ylim(0.0, None)
    tidy(ax)
    ax.legend(frameon=False, fontsize="small", labelcolor=INK)
    return ax


def _leaves(n: int) -> str:
    return "leaf" if n == 1 else "leaves"


def _point(ax: Axes, leaves: int, loss: float, text: str, sizes: NDArray[Any]) -> None:
    """A ring, a line down to the size, and words at the top, on the side that has more room."""
    ax.axvline(leaves, color=INK, linewidth=0.9, linestyle=":", zorder=1)
    ring: dict[str, Any] = {
        "marker": "o",
        "markersize": 10,
        "markerfacecolor": "none",
        "markeredgecolor": INK,
    }
    ax.plot([leaves], [loss], linewidth=0, clip_on=False, **ring)
    least, most = int(sizes.min()), int(sizes.max())
    right = leaves * leaves <= least * most if is_wide(least, most) else 2 * leaves <= most
    ax.annotate(
        text,
        (leaves, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(6 if right else -6, -4),
        textcoords="offset points",
        ha="left" if right else "right",
        va="top",
        fontsize="small",
        bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1.5},
    )


def _frame(ax: Axes, leaves: NDArray[Any], schema: Schema, criterion: str) -> None:
    leaves_axis(ax, int(leaves.min()), int(leaves.max()))
    ax.set_ylabel(loss_words(schema, criterion))
    if is_share(schema):
        in_per_cent(ax.yaxis)
    ax.set_ylim(0.0, 1.12 * ax.get_ylim()[1])  # room for words at the top, and for the legend below the lines
    tidy(ax)
    ax.legend(frameon=False, fontsize="small", loc="lower left", labelcolor=INK, edgecolor=FAINT)
