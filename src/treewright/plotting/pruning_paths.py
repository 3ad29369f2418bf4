"""Error against size of the trees of a pruning path and of a growing sequence; errors of pruning methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright._suggestions import checked_keywords
from treewright.encoding import Dataset
from treewright.plotting import axes as looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treewright.explaining.weak_learning_bound import WeakLearningBound
    from treewright.pruning import PruningPath
    from treewright.selecting.comparison import Comparison
    from treewright.selecting.overfitting import OverfittingCurve
    from treewright.tree import Tree

Floats = NDArray[np.float64]
_LOSSES = {
    "training": "training rows",
    "validation": "validation rows",
    "test": "test rows",
    "certificate": "upper bound on the true error",
}
_MOST_MARKS = 40  # points of a line that have markers


@checked_keywords
def plot_pruning_path(
    path: PruningPath | Any, test: Dataset | tuple[Any, ...] | None = None, ax: Axes | None = None
) -> Axes:
    """Plot the loss of each tree of a path against its leaves, with the chosen tree marked.

    Parameters
    ----------
    path : PruningPath or fitted estimator
        What `prune` and `select` return; an estimator that was fitted with pruning.
    test : Dataset or tuple (table, target), optional
        Rows to test on; they have no influence on the choice.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> from treewright import encode, grow, plot_pruning_path, prune
    >>> data = encode({"x": range(8), "z": [0, 1] * 4}, list("aaabbabb"))
    >>> ax = plot_pruning_path(prune(grow(data)))
    """
    path = looks.result_of(
        "plot_pruning_path", path, "full_tree", "what prune and select return", "pruning_path_"
    )
    lines: dict[str, Floats | None] = {"training": path.training, "validation": path.validation}
    lines["test"] = None if test is None else path.losses(test)
    ax = looks.axes_or_new(ax)
    order, tree = np.argsort(path.leaves, kind="stable"), path.full_tree
    leaves = path.leaves[order]
    by_size = {name: None if line is None else line[order] for name, line in lines.items()}
    rows = path.details.get("judged_by")
    _lines(ax, leaves, by_size, {"validation": f"validation: {looks.plain(rows)}"} if rows else {})
    if path.validation is not None and path.standard_error is not None:
        middle, error = path.validation[order], path.standard_error[order]
        band: dict[str, Any] = {"color": looks.COLOURS["validation"], "alpha": 0.2, "linewidth": 0}
        low = np.maximum(middle - error, 0.0)
        ax.fill_between(leaves, low, middle + error, label="± one standard error", **band)
    if not path.is_open:
        line = next(lines[name] for name in ("validation", "test", "training") if lines[name] is not None)
        _mark_chosen(ax, path, line)
    method = looks.words(path.method)
    _frame(ax, leaves, tree, f"Pruning by {method}: {_leaves(tree.n_leaves)} before pruning")
    return ax


@checked_keywords
def plot_overfitting_curve(curve: OverfittingCurve, ax: Axes | None = None) -> Axes:
    """Plot the loss of a growing tree against its leaves.

    Parameters
    ----------
    curve : OverfittingCurve
        What `overfitting_curve` returns.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> from treewright import encode, overfitting_curve, plot_overfitting_curve
    >>> data = encode({"x": range(8), "z": [0, 1] * 4}, list("aaabbabb"))
    >>> ax = plot_overfitting_curve(overfitting_curve(data))
    """
    wanted = "what overfitting_curve returns"
    curve = looks.result_of("plot_overfitting_curve", curve, "training", wanted)
    ax = looks.axes_or_new(ax)
    lines = {"training": curve.training, "validation": curve.validation, "test": curve.test}
    _lines(ax, curve.leaves, lines, {})
    held_out = curve.validation if curve.validation is not None else curve.test
    if held_out is not None:
        loss, leaves = float(held_out[curve.best]), int(curve.leaves[curve.best])
        text = f"least on held-out rows:\n{_leaves(leaves)}, {looks.loss_text(curve.tree.schema, loss)}"
        _mark(ax, leaves, loss, text, curve.leaves)
    _frame(ax, curve.leaves, curve.tree, "Growing, best split first")
    return ax


def _lines(ax: Axes, leaves: NDArray[Any], lines: dict[str, Floats | None], labels: dict[str, str]) -> None:
    for name, line in lines.items():
        if line is not None:
            marker = looks.MARKERS[name] if len(leaves) <= _MOST_MARKS else ""
            style: dict[str, Any] = {"color": looks.COLOURS[name], "marker": marker, "markersize": 4}
            ax.plot(leaves, line, linewidth=1.6, label=labels.get(name, name), **style)


def _mark_chosen(ax: Axes, path: PruningPath, line: Floats | None) -> None:
    """The chosen tree, with its size and its loss in words."""
    assert line is not None
    place = path.chosen % len(path)
    leaves, loss = int(path.leaves[place]), float(line[place])
    how = path.details.get("chosen_by")
    by = f" by {looks.plain(how)}" if how else ""
    text = f"chosen{by}:\n{_leaves(leaves)}, {looks.loss_text(path.full_tree.schema, loss)}"
    _mark(ax, leaves, loss, text, path.leaves)


@checked_keywords
def plot_weak_learning_bound(curve: WeakLearningBound, ax: Axes | None = None) -> Axes:
    """Plot the training error after each split, and the bound on it.

    Parameters
    ----------
    curve : WeakLearningBound
        What `TopDownClassifier.weak_learning_bound` returns.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> from treewright import TopDownClassifier, plot_weak_learning_bound
    >>> x, y = [[i] for i in range(8)], list("aaabbabb")
    >>> ax = plot_weak_learning_bound(TopDownClassifier(n_splits=3).fit(x, y).weak_learning_bound(x, y))
    """
    curve = looks.result_of(
        "plot_weak_learning_bound", curve, "advantage", "what weak_learning_bound returns"
    )
    ax = looks.axes_or_new(ax)
    splits = np.arange(len(curve.error))
    ax.plot(splits, curve.error, color=looks.COLOURS["training"], label="training error")
    label = f"bound from an edge of {curve.advantage:.3f}"
    ax.plot(splits, curve.bound, color=looks.INK, linestyle="--", label=label)
    ax.set_ylim(0.0, None)
    looks.finish(ax, "splits", "", percent="y")
    return ax


def _leaves(n: int) -> str:
    return "1 leaf" if n == 1 else f"{n:,} leaves"


def _mark(ax: Axes, leaves: int, loss: float, text: str, sizes: NDArray[Any]) -> None:
    """A ring, a vertical line at the size, and text at the top, on the side with more room."""
    ax.axvline(leaves, color=looks.INK, linewidth=0.9, linestyle=":", zorder=1)
    ring: dict[str, Any] = {"markersize": 10, "markerfacecolor": "none", "markeredgecolor": looks.INK}
    ax.plot([leaves], [loss], marker="o", linewidth=0, clip_on=False, **ring)
    least, most = int(sizes.min()), int(sizes.max())
    right = leaves * leaves <= least * most if looks.is_wide(least, most) else 2 * leaves <= most
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
    looks.leaves_axis(ax, int(leaves.min()), int(leaves.max()))
    ax.set_ylim(0.0, 1.12 * ax.get_ylim()[1])  # room for text at the top, and for the legend below the lines
    loss, percent = looks.loss_words(tree.schema, tree.criterion), "y" * looks.is_share(tree.schema)
    looks.finish(ax, "leaves", loss, percent=percent, title=title, loc="lower left")


# ---- the methods of a comparison, one line each ----------------------------------------------------------


@checked_keywords
def plot_comparison(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Plot the losses of each method on one line, the smallest test loss at the top.

    Parameters
    ----------
    comparison : Comparison
        What `compare` returns.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> from treewright import compare, encode, plot_comparison
    >>> rows = encode({"x": range(100)}, [i % 7 > 2 for i in range(100)])
    >>> ax = plot_comparison(compare(rows, ["cost_complexity"]))
    """
    comparison = looks.result_of("plot_comparison", comparison, "best", "what compare returns")
    rows, schema = [row for row in comparison.rows if row["trouble"] is None], comparison.schema
    rows.sort(key=lambda row: float(row["test"]), reverse=True)
    ax = looks.axes_or_new(ax, width=9.0, height=1.6 + 0.34 * len(rows))
    places = range(len(rows))
    for place, row in zip(places, rows, strict=True):
        losses = [row[name] for name in _LOSSES if row[name] is not None]
        ax.plot([min(losses), max(losses)], [place, place], color=looks.FAINT, linewidth=1, zorder=1)
    for name, text in _LOSSES.items():
        points = [(rows[place][name], place) for place in places if rows[place][name] is not None]
        if points:
            style: dict[str, Any] = {"color": looks.COLOURS[name], "marker": looks.MARKERS[name]}
            x, y = zip(*points, strict=True)
            ax.scatter(x, y, s=34, zorder=2, clip_on=False, label=text, **style)
    ax.set_yticks(list(places), [_method_text(row) for row in rows])
    ax.set_xlim(left=0.0)
    ax.set_ylim(-0.6, len(rows) - 0.4)
    above: dict[str, Any] = {"ncols": 4, "loc": "lower right", "bbox_to_anchor": (1.0, 1.0)}
    loss, percent = looks.loss_words(schema, comparison.criterion), "x" * looks.is_share(schema)
    looks.finish(ax, loss, "", percent=percent, **above, handletextpad=0.2, columnspacing=1.2)
    return ax


def _method_text(row: dict[str, Any]) -> str:
    """The method in words, how its tree was chosen, and its size."""
    by = f", {looks.words(row['by'])}" if row["by"] else ""
    kind = "rules" if row["method"] == "rules" else "leaf" if row["leaves"] == 1 else "leaves"
    return f"{looks.words(row['method'])}{by} ({row['leaves']:,} {kind})"
