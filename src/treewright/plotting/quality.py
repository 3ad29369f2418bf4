"""Plots of the quality of predictions on given rows: ROC, precision and recall, the confusion matrix."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright._suggestions import checked_keywords
from treewright._text import label_text
from treewright.certifying.binomial import binomial_lower, binomial_upper
from treewright.encoding import Dataset
from treewright.encoding.rows import with_target
from treewright.metrics import area_under_points, check_class, tree_of_classes
from treewright.metrics import confusion_matrix as confusion_matrix
from treewright.metrics import precision_recall_points as precision_recall_points
from treewright.metrics import roc_points as roc_points
from treewright.parameters import documented
from treewright.plotting.axes import FAINT, INK, axes_or_new, finish, plain
from treewright.plotting.scene.colours import class_colours
from treewright.tree import Tree
from treewright.tree.shortcuts import as_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
_DASHES = ("-", "--", "-.", ":")  # of the classes, in turn: told apart without colour
_MOST_CLASSES = 7  # curves in one picture
_MOST_CELLS = 25  # classes that a matrix has room for
_LONGEST_NAME = 20


@documented
def plot_roc(
    model: Any, data: Any, target: Any = None, *, positive: Any = None, ax: Axes | None = None
) -> Axes:
    """Plot the ROC curve with the area under it; the circle marks the predictions of the tree.

    Parameters
    ----------
    model : Tree or fitted estimator
        A tree that predicts the classes of one target.
    data : table, tuple (table, target) or (table, target, weights), or Dataset
        Rows with their classes; on those that the tree was grown from the result is optimistic.
    target : str or array, optional
        Of a table in `data`: its target column, or its classes.
    positive : optional
        The positive class. By default the second one of two, or each of several against all others.

    Examples
    --------
    >>> from treewright import encode, grow, plot_roc
    >>> data = encode({"x": range(8), "z": [0, 1] * 4}, list("aaabbabb"))
    >>> ax = plot_roc(grow(data, max_leaf_nodes=3), data)
    """
    tree, rows = tree_of_classes(as_tree(model), with_target("plot_roc", data, target))
    ax = axes_or_new(ax, 5.2, 4.8)
    ax.plot([0, 1], [0, 1], color=FAINT, linewidth=1, linestyle=":", label="by chance")
    table = confusion_matrix(tree, rows)
    totals = table.sum(axis=1)
    for style, (name, colour) in zip(cycle(_DASHES), _positive_classes(tree, rows, positive), strict=False):
        rates = roc_points(tree, rows, name)
        label = f"{_plain_name(name)}: area {area_under_points(*rates):.3f}"
        ax.plot(*rates, color=colour, linewidth=1.8, linestyle=style, label=label)
        code = (tree.schema.targets[0].classes or ()).index(name)
        predicted, hits = table[:, code].sum(), table[code, code]
        others = max(totals.sum() - totals[code], 1e-300)
        circle: dict[str, Any] = {"markersize": 8, "markerfacecolor": "none", "markeredgecolor": INK}
        x, y = (predicted - hits) / others, hits / max(totals[code], 1e-300)
        ax.plot([x], [y], marker="o", linewidth=0, zorder=4, **circle)
    return _finish_rates(ax, "false positive rate", "true positive rate", "lower right")


@checked_keywords
def plot_precision_recall(
    model: Any, data: Any, target: Any = None, *, positive: Any = None, ax: Axes | None = None
) -> Axes:
    """Plot precision against recall, with the average precision; dotted lines are chance. See `plot_roc`.

    Parameters
    ----------
    model : Tree or fitted estimator
        A tree that predicts the classes of one target.
    data : table, tuple (table, target) or (table, target, weights), or Dataset
        Rows with their classes.
    target : str or array, optional
        Of a table in `data`: its target column, or its classes.
    positive : optional
        The positive class. By default the second one of two, or each of several against all others.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> from treewright import encode, grow, plot_precision_recall
    >>> data = encode({"x": range(8), "z": [0, 1] * 4}, list("aaabbabb"))
    >>> ax = plot_precision_recall(grow(data, max_leaf_nodes=3), data)
    """
    tree, rows = tree_of_classes(as_tree(model), with_target("plot_precision_recall", data, target))
    ax = axes_or_new(ax, 5.2, 4.8)
    for style, (name, colour) in zip(cycle(_DASHES), _positive_classes(tree, rows, positive), strict=False):
        recall, precision = precision_recall_points(tree, rows, name)
        average = float(np.sum(np.diff(recall) * precision[1:]))
        ax.axhline(precision[-1], color=colour, linewidth=0.8, linestyle=":", alpha=0.7)
        label = f"{_plain_name(name)}: average precision {average:.3f}"
        line: dict[str, Any] = {"color": colour, "linewidth": 1.8, "linestyle": style, "label": label}
        ax.step(recall, precision, where="pre", **line)
    across = "recall: share of the class that is predicted"
    return _finish_rates(ax, across, "precision: share of the predicted rows that are right", "lower left")


@documented
def plot_calibration(
    model: Any,
    data: Any,
    target: Any = None,
    *,
    positive: Any = None,
    n_bins: int = 10,
    ax: Axes | None = None,
) -> Axes:
    """Plot how often a class occurs among rows with the same predicted probability: a reliability diagram.

    A point on the diagonal is a probability that can be taken at its word; the line through it is Clopper and
    Pearson's interval of 95 %. A tree predicts as many probabilities as it has leaves; where these are more
    than `n_bins`, neighbouring ones are joined, so that each point has about as many rows.

    Parameters
    ----------
    model : Tree or fitted estimator
        A tree that predicts the classes of one target.
    data : table, tuple (table, target) or (table, target, weights), or Dataset
        Rows with their classes; on those that the tree was grown from the result is optimistic.
    target : str or array, optional
        Of a table in `data`: its target column, or its classes.
    positive : optional
        The class. By default the second one of two, or each of several.
    n_bins : int
        The largest number of points.

    Examples
    --------
    >>> from treewright import encode, grow, plot_calibration
    >>> data = encode({"x": range(40)}, ["a", "a", "b", "a"] * 5 + ["b"] * 20)
    >>> ax = plot_calibration(grow(data, max_leaf_nodes=3, min_samples_leaf=8), data)
    >>> ax.get_xlabel()
    'predicted probability'
    """
    tree, rows = tree_of_classes(as_tree(model), with_target("plot_calibration", data, target))
    assert rows.targets is not None
    shares, classes = tree.shares(tree.apply(rows))[0], tree.schema.targets[0].classes or ()
    ax = axes_or_new(ax, 5.2, 4.8)
    ax.plot([0, 1], [0, 1], color=FAINT, linewidth=1, linestyle=":", label="exact")
    for style, (name, colour) in zip(cycle(_DASHES), _positive_classes(tree, rows, positive), strict=False):
        code = classes.index(name)
        is_class = rows.targets[0] == code
        at, seen, ends = calibration_points(shares[:, code], is_class, rows.row_weights, n_bins)
        bars: dict[str, Any] = {"color": colour, "linestyle": style, "marker": "o", "capsize": 2}
        ax.errorbar(at, seen, yerr=ends, label=_plain_name(name), elinewidth=1, markersize=4, **bars)
    return _finish_rates(ax, "predicted probability", "share of the rows that are of the class", "upper left")


def calibration_points(
    probability: Floats, is_class: NDArray[np.bool_], weight: Floats, n_bins: int = 10
) -> tuple[Floats, Floats, Floats]:
    """How often a class occurs by its predicted probability: the mean probability of each bin, the share of
    the class, and the distances to the ends of Clopper and Pearson's interval of 95 %, of shape (2, bins).

    Equal probabilities are never in two bins, and where there are few of them, each is a bin of its own.

    >>> truth = np.array([False, False, True, False])
    >>> at, seen, _ = calibration_points(np.array([0.1, 0.1, 0.8, 0.8]), truth, np.ones(4))
    >>> at.tolist(), seen.tolist()
    ([0.1, 0.8], [0.0, 0.5])
    """
    levels, level = np.unique(probability, return_inverse=True)
    heavy = np.bincount(level, weight, len(levels))
    if len(levels) > n_bins:
        middle = (np.cumsum(heavy) - heavy / 2) / heavy.sum()
        level = np.minimum((middle * n_bins).astype(int), n_bins - 1)[level]
    parts = weight, weight * is_class, weight * probability
    total, true, sums = (np.bincount(level, part) for part in parts)
    kept = total > 0
    rows = np.bincount(level, minlength=len(total))[kept]
    at, seen = np.asarray(sums[kept] / total[kept]), np.asarray(true[kept] / total[kept])
    nats = np.log(2 / 0.05)
    ends = binomial_lower(seen * rows, rows, nats), binomial_upper(seen * rows, rows, nats)
    return at, seen, np.maximum(np.abs(np.stack(ends) - seen), 0.0)


@documented
def plot_confusion_matrix(model: Any, data: Any, target: Any = None, *, ax: Axes | None = None) -> Axes:
    """Plot the confusion matrix: in each cell the rows, their share of the true class, and their cost.

    The shade is the share of the true class. Where the tree has costs, each cell of errors shows its total
    cost, and the title the mean cost of a row.

    Parameters
    ----------
    model : Tree or fitted estimator
        A tree that predicts up to 25 classes of one target.
    data : table, tuple (table, target) or (table, target, weights), or Dataset
        Rows with their classes; on those that the tree was grown from the result is optimistic.
    target : str or array, optional
        Of a table in `data`: its target column, or its classes.

    Examples
    --------
    >>> from treewright import encode, grow, plot_confusion_matrix
    >>> data = encode({"x": range(8), "z": [0, 1] * 4}, list("aaabbabb"))
    >>> ax = plot_confusion_matrix(grow(data, max_leaf_nodes=3), data)
    """
    tree, rows = tree_of_classes(as_tree(model), with_target("plot_confusion_matrix", data, target))
    classes, costs_of = tree.schema.targets[0].classes or (), tree.schema.targets[0].costs
    names = [_plain_name(name) for name in classes]
    n = len(names)
    if n > _MOST_CELLS:
        raise ValueError(f"a confusion matrix has room for {_MOST_CELLS} classes; the tree has {n}")
    cells = confusion_matrix(tree, rows)
    shares = cells / np.maximum(cells.sum(axis=1, keepdims=True), 1e-300)
    costs = None if costs_of is None else cells * np.array(costs_of)
    side = max(3.6, 1.0 + 0.92 * n)
    ax = axes_or_new(ax, side + 0.8, side)
    ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.3)
    for i in range(n):
        for j in range(n):
            lines = [f"{cells[i, j]:,.6g}", f"{100 * shares[i, j]:.1f} %"]
            if costs is not None and i != j:
                lines.append(f"cost {costs[i, j]:,.4g}")
            colour = "white" if shares[i, j] > 0.75 else INK
            weight = "bold" if i == j else "normal"
            ax.text(j, i, "\n".join(lines), ha="center", va="center", fontsize=8, color=colour, weight=weight)
    ax.set_xticks(range(n), names, rotation=0 if sum(map(len, names)) < 9 * n else 90)
    ax.set_yticks(range(n), names)
    ax.set_xlabel("predicted class")
    ax.set_ylabel("true class")
    total = max(cells.sum(), 1e-300)
    title = f"wrong: {100 * (1 - np.trace(cells) / total):.1f} % of {cells.sum():,.6g} rows"
    title += "" if costs is None else f"\nmean cost {costs.sum() / total:.4g}"
    ax.set_title(title, loc="left", fontsize="medium")
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def _positive_classes(tree: Tree, data: Dataset, positive: Any) -> list[tuple[Any, str]]:
    """The classes to draw a line for, each with its colour: of many those with the most rows."""
    classes, colours = tree.schema.targets[0].classes or (), class_colours(tree)
    if positive is not None:
        return [(positive, colours[check_class(tree, positive)])]
    if len(classes) <= 2:
        return [(classes[-1], colours[-1])]
    assert data.targets is not None
    counts = np.bincount(data.targets[0], data.row_weights, len(classes))
    most = sorted(np.argsort(-counts, kind="stable")[:_MOST_CLASSES].tolist())
    return [(classes[code], colours[code]) for code in most if counts[code] > 0]


def _plain_name(name: Any) -> str:
    text = label_text(name)
    return plain(text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…")


def _finish_rates(ax: Axes, x: str, y: str, corner: str) -> Axes:
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.04)
    finish(ax, x, y, percent="xy", loc=corner, frameon=True, framealpha=0.85, edgecolor="none")
    return ax
