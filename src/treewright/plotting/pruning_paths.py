"""Error against size: the trees of a pruning path, and those of a growing sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.plotting import (
    COLOURS,
    INK,
    MARKERS,
    axes_or_new,
    finish,
    is_share,
    is_wide,
    leaves_axis,
    loss_text,
    loss_words,
    plain,
    words,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treewright.explaining.weak_learning_bound import WeakLearningBound
    from treewright.pruning import PruningPath
    from treewright.selecting.overfitting import OverfittingCurve
    from treewright.tree import Tree

Floats = NDArray[np.float64]
_MOST_MARKS = 40  # points of a line that have markers


def plot_pruning_path(path: PruningPath, test: Dataset | None = None, ax: Axes | None = None) -> Axes:
    """Plot the loss of each tree of a path against its leaves, with the chosen tree marked."""
    lines: dict[str, Floats | None] = {"training": path.training, "validation": path.validation}
    lines["test"] = None if test is None else path.losses(test)
    ax = axes_or_new(ax)
    order, tree = np.argsort(path.leaves, kind="stable"), path.full_tree
    leaves = path.leaves[order]
    by_size = {name: None if line is None else line[order] for name, line in lines.items()}
    rows = path.details.get("judged_by")
    _lines(ax, leaves, by_size, {"validation": f"validation: {plain(rows)}"} if rows else {})
    if path.validation is not None and path.standard_error is not None:
        middle, error = path.validation[order], path.standard_error[order]
        band: dict[str, Any] = {"color": COLOURS["validation"], "alpha": 0.2, "linewidth": 0}
        low = np.maximum(middle - error, 0.0)
        ax.fill_between(leaves, low, middle + error, label="± one standard error", **band)
    if not path.is_open:
        line = next(lines[name] for name in ("validation", "test", "training") if lines[name] is not None)
        _mark_chosen(ax, path, line)
    _frame(ax, leaves, tree, f"Pruning by {words(path.method)}: {_leaves(tree.n_leaves)} before pruning")
    return ax


def plot_overfitting_curve(curve: OverfittingCurve, ax: Axes | None = None) -> Axes:
    """Plot the loss of a growing tree against its leaves."""
    ax = axes_or_new(ax)
    lines = {"training": curve.training, "validation": curve.validation, "test": curve.test}
    _lines(ax, curve.leaves, lines, {})
    held_out = curve.validation if curve.validation is not None else curve.test
    if held_out is not None:
        loss, leaves = float(held_out[curve.best]), int(curve.leaves[curve.best])
        text = f"least on held-out rows:\n{_leaves(leaves)}, {loss_text(curve.tree.schema, loss)}"
        _mark(ax, leaves, loss, text, curve.leaves)
    _frame(ax, curve.leaves, curve.tree, "Growing, best split first")
    return ax


def _lines(ax: Axes, leaves: NDArray[Any], lines: dict[str, Floats | None], labels: dict[str, str]) -> None:
    for name, line in lines.items():
        if line is not None:
            marker = MARKERS[name] if len(leaves) <= _MOST_MARKS else ""
            style: dict[str, Any] = {"color": COLOURS[name], "marker": marker, "markersize": 4}
            ax.plot(leaves, line, linewidth=1.6, label=labels.get(name, name), **style)


def _mark_chosen(ax: Axes, path: PruningPath, line: Floats | None) -> None:
    """The chosen tree, with its size and its loss in words."""
    assert line is not None
    place = path.chosen % len(path)
    leaves, loss = int(path.leaves[place]), float(line[place])
    how = path.details.get("chosen_by")
    by = f" by {plain(how)}" if how else ""
    text = f"chosen{by}:\n{_leaves(leaves)}, {loss_text(path.full_tree.schema, loss)}"
    _mark(ax, leaves, loss, text, path.leaves)


def plot_weak_learning_bound(curve: WeakLearningBound, ax: Axes | None = None) -> Axes:
    """Plot the training error after each split, and the bound on it."""
    ax = axes_or_new(ax)
    splits = np.arange(len(curve.error))
    ax.plot(splits, curve.error, color=COLOURS["training"], label="training error")
    label = f"bound from an edge of {curve.advantage:.3f}"
    ax.plot(splits, curve.bound, color=INK, linestyle="--", label=label)
    ax.set_ylim(0.0, None)
    finish(ax, "splits", "", percent="y")
    return ax


def _leaves(n: int) -> str:
    return "1 leaf" if n == 1 else f"{n:,} leaves"


def _mark(ax: Axes, leaves: int, loss: float, text: str, sizes: NDArray[Any]) -> None:
    """A ring, a vertical line at the size, and text at the top, on the side with more room."""
    ax.axvline(leaves, color=INK, linewidth=0.9, linestyle=":", zorder=1)
    ring: dict[str, Any] = {"markersize": 10, "markerfacecolor": "none", "markeredgecolor": INK}
    ax.plot([leaves], [loss], marker="o", linewidth=0, clip_on=False, **ring)
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


def _frame(ax: Axes, leaves: NDArray[Any], tree: Tree, title: str) -> None:
    leaves_axis(ax, int(leaves.min()), int(leaves.max()))
    ax.set_ylim(0.0, 1.12 * ax.get_ylim()[1])  # room for text at the top, and for the legend below the lines
    loss, percent = loss_words(tree.schema, tree.criterion), "y" * is_share(tree.schema)
    finish(ax, "leaves", loss, percent=percent, title=title, loc="lower left")
