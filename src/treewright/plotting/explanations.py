"""Plotting explanations: importances, Shapley values, stability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright._suggestions import checked_keywords, choices_text
from treewright._text import count, name_text, shorten
from treewright.plotting.axes import COLOURS, FAINT, INK, axes_or_new, finish, plain, result_of
from treewright.tree.shortcuts import as_importance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treewright.ensembles.out_of_bag import ForestImportance
    from treewright.explaining.importance import Importance
    from treewright.explaining.shapley import ShapleyValues
    from treewright.explaining.stability import Stability

Floats = NDArray[np.float64]
UP, DOWN = COLOURS["validation"], COLOURS["training"]  # contributions that raise and lower the prediction
_LONGEST_NAME = 36
_MOST_POINTS = 2000  # rows of a beeswarm
_MOST_SHAPES = 1000  # points that a file of vectors has one by one
_BINS = 60  # across a beeswarm
_BACKGROUND: dict[str, Any] = {"color": FAINT, "linewidth": 1, "linestyle": ":", "zorder": 1}


class Bars(NamedTuple):
    """Importances to plot: a bar for each column, with its interval where one is known."""

    names: tuple[str, ...]
    values: Floats
    label: str
    in_percent: bool
    lower: Floats | None = None
    upper: Floats | None = None


@checked_keywords
def plot_importance(
    found: Importance | ForestImportance | Any, ax: Axes | None = None, *, max_columns: int = 15
) -> Axes:
    """Plot the importance of the columns as bars, the most important first.

    Permutation importances have their interval; where there are none, the bars are the shares of the risk
    reduction, which favour columns of many values.

    Parameters
    ----------
    found : Importance, ForestImportance, Tree, Forest, GradientBoosted or fitted estimator
        What `importance` returns; of a model the risk reduction by its splits.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.
    max_columns : int
        How many columns to show.

    Examples
    --------
    >>> from treewright import encode, grow, importance, plot_importance
    >>> tree = grow(encode({"x": [1, 2, 3, 4], "z": [5, 6, 5, 6]}, ["a", "a", "b", "b"]))
    >>> ax = plot_importance(importance(tree))  # or importance(tree).plot()
    >>> ax.get_xlabel()
    'share of the risk reduction on the training rows'
    """
    bars = _bars(found)
    order = [j for j in np.argsort(-bars.values, kind="stable").tolist() if bars.values[j] != 0.0]
    shown = order[:max_columns]
    values, places = bars.values[shown], range(len(shown))
    ax = axes_or_new(ax, 7.0, 1.2 + 0.32 * max(len(shown), 1))
    intervals: dict[str, Any] = {}
    if bars.lower is not None and bars.upper is not None:
        ends = np.stack([values - bars.lower[shown], bars.upper[shown] - values])
        thin = {"elinewidth": 1, "capsize": 2}
        intervals = {"xerr": np.maximum(ends, 0.0), "ecolor": INK, "error_kw": thin}
    ax.barh(places, values, color=COLOURS["training"], height=0.7, **intervals)
    ax.axvline(0.0, color=INK, linewidth=0.8)
    _name_rows(ax, [bars.names[j] for j in shown])
    percent = "x" if bars.in_percent else ""
    finish(ax, bars.label, "", percent=percent, title=_more(len(order) - len(shown)))
    ax.grid(False, axis="y")
    return ax


def _bars(found: Any) -> Bars:
    """The bars of an importance, of many trees (the shares of their gains), or of one tree."""
    model = getattr(found, "model_", found)
    if hasattr(model, "gain_shares"):
        shares = model.gain_shares
    elif hasattr(model, "importances"):
        shares = model.importances()
    elif hasattr(model, "votes") and hasattr(found, "feature_importances_"):
        shares = found.feature_importances_
    else:
        bars: Bars = as_importance(found).bars
        return bars
    return Bars(model.schema.names, shares, "share of the gain of all splits on the training rows", True)


@checked_keywords
def plot_stability(found: Stability, ax: Axes | None = None, *, max_columns: int = 15) -> Axes:
    """Plot how many of the bootstrap trees use each column: at the root, among the top columns, anywhere.

    Parameters
    ----------
    found : Stability
        What `stability` returns.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.
    max_columns : int
        How many columns to show.

    Examples
    --------
    >>> from treewright import encode, plot_stability, stability
    >>> data = encode({"x": range(40), "z": [1, 2] * 20}, ["a"] * 20 + ["b"] * 20)
    >>> ax = plot_stability(stability(data, n_bootstraps=5))
    >>> ax.get_xlabel()
    'share of 5 bootstrap trees'
    """
    found = result_of("plot_stability", found, "ranked", "what stability returns")
    used = [each for each in found.ranked if each.used > 0]
    shown = used[:max_columns]
    ax = axes_or_new(ax, 7.0, 1.5 + 0.36 * max(len(shown), 1))
    looks = {
        "used anywhere": ("used", 0.75, "#CFE3F1"),
        f"among the top {found.top}": ("top", 0.5, "#6BAED6"),
        "at the root": ("root", 0.25, INK),
    }
    for label, (share, height, colour) in looks.items():
        widths = [getattr(each, share) for each in shown]
        ax.barh(range(len(shown)), widths, height=height, color=colour, label=label)
    _name_rows(ax, [each.column for each in shown])
    ax.set_xlim(0, 1)
    trees = count(found.n_bootstraps, "bootstrap tree")
    finish(ax, f"share of {trees}", "", percent="x", title=_more(len(used) - len(shown)), loc="lower right")
    ax.grid(False, axis="y")
    return ax


@checked_keywords
def plot_shapley(
    found: ShapleyValues, ax: Axes | None = None, *, output: Any = None, max_columns: int = 12
) -> Axes:
    """Plot Shapley values: of one row a waterfall from the average to its prediction, of several a beeswarm.

    In a beeswarm each point is a row, its place the contribution of the column, its colour the rank of the
    value of the column from low (dark) to high (light).

    Parameters
    ----------
    found : ShapleyValues
        What `shapley_values` returns.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.
    output : class or name of a target, optional
        Which of several outputs to show; by default of two classes the second, else the most probable one.
    max_columns : int
        How many columns to show, those of the largest contributions.

    Examples
    --------
    >>> from treewright import encode, grow, plot_shapley, shapley_values
    >>> tree = grow(encode({"x": [1, 1, 2, 2], "z": [1, 2, 1, 2]}, [0.0, 0.0, 0.0, 4.0]))
    >>> ax = plot_shapley(shapley_values(tree, {"x": 2, "z": 2}))
    >>> [text.get_text() for text in ax.texts]
    ['+1.5', '+1.5']
    """
    found = result_of("plot_shapley", found, "outputs", "what shapley_values returns")
    k = _output(found, output)
    values = found.values.reshape(*found.values.shape[:2], -1)[:, :, k]
    size = np.abs(values).mean(axis=0)
    order = [j for j in np.argsort(-size, kind="stable").tolist() if size[j] > 0]
    shown = order[:max_columns]
    name = str(found.outputs[k])
    label = plain(f"share of {name}" if found.outputs[k].label is not None else name)
    is_row = len(values) == 1
    ax = axes_or_new(ax, 7.5, 1.6 + 0.38 * max(len(shown), 1))
    if is_row:
        _waterfall(ax, found, values[0], k, shown, order)
        finish(ax, label, "", loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.2)
    else:
        _beeswarm(ax, found, values, shown)
        finish(ax, f"contribution to the {label}", "", title=_more(len(order) - len(shown)))
    ax.grid(False, axis="y")
    return ax


def _output(found: ShapleyValues, output: Any) -> int:
    """The place of the output to show."""
    names = [each.target if each.label is None else each.label for each in found.outputs]
    if output is not None:
        if output not in names:
            known = choices_text(output, names, in_quotes=True)
            raise ValueError(f"output is {output!r}; the outputs are {known}")
        return names.index(output)
    if len(names) == 2 and found.outputs[0].label is not None:
        return 1
    return int(found.predictions.reshape(len(found.values), -1).mean(axis=0).argmax())


def _waterfall(
    ax: Axes, found: ShapleyValues, values: Floats, k: int, shown: list[int], order: list[int]
) -> None:
    """Bars from the average prediction to that of the row, the largest contribution first."""
    base = float(np.atleast_1d(found.base)[k])
    names = [f"{_short(found.columns[j])} = {shorten(found.value_words(j), 20)}" for j in shown]
    steps = [float(values[j]) for j in shown]
    if rest := order[len(shown) :]:
        names.append(f"{count(len(rest), 'other column')}")
        steps.append(float(values[rest].sum()))
    start = base
    for place, step in enumerate(steps):
        ax.barh(place, step, left=start, height=0.65, color=UP if step > 0 else DOWN)
        ax.plot([start + step] * 2, [place, place + 1], color=FAINT, linewidth=0.8, zorder=1)
        note: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": "small"}
        ax.annotate(f"{step:+.3g}", (max(start, start + step), place), (5, 0), color=INK, **note)
        start += step
    ax.axvline(base, label=f"average {base:.3g}", **_BACKGROUND)
    ax.axvline(start, color=INK, linewidth=1, label=f"this row {start:.3g}", zorder=1)
    ax.set_yticks(range(len(names)), [plain(name) for name in names])
    ax.set_ylim(len(names) - 0.3, -0.7)
    ax.use_sticky_edges = False
    ax.margins(x=0.1)


def _beeswarm(ax: Axes, found: ShapleyValues, values: Floats, shown: list[int]) -> None:
    """A point for each row and column; of very many rows every so many-th."""
    rows = np.unique(np.linspace(0, len(values) - 1, min(len(values), _MOST_POINTS)).astype(int))
    look: dict[str, Any] = {"s": 9, "linewidths": 0, "rasterized": len(rows) * len(shown) > _MOST_SHAPES}
    for place, j in enumerate(shown):
        x = values[rows, j]
        column = np.asarray(found.data.column(j), np.float64)[rows]
        rank = np.argsort(np.argsort(column, kind="stable"), kind="stable") / max(len(rows) - 1, 1)
        known = np.isfinite(column)
        y = place + _spread(x)
        ax.scatter(x[known], y[known], c=rank[known], cmap="viridis", vmin=0, vmax=1, **look)
        ax.scatter(x[~known], y[~known], color=FAINT, **look)
    ax.axvline(0.0, **_BACKGROUND)
    _name_rows(ax, [found.columns[j] for j in shown])


def _spread(x: Floats) -> Floats:
    """Offsets that lay points of nearly equal x beside each other, from -0.4 to 0.4."""
    span = float(np.ptp(x)) or 1.0
    cell = np.floor((x - x.min()) / span * (_BINS - 1)).astype(int)
    order = np.argsort(cell, kind="stable")
    sizes = np.bincount(cell, minlength=_BINS)
    within = np.empty(len(x))
    within[order] = np.arange(len(x)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray((within - (sizes[cell] - 1) / 2) * 0.8 / max(int(sizes.max()), 8))


def _name_rows(ax: Axes, names: list[str]) -> None:
    ax.set_yticks(range(len(names)), [plain(_short(name)) for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)


def _short(name: str) -> str:
    text = name_text(name)
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"


def _more(hidden: int) -> str:
    return f"… {count(hidden, 'more column')}" if hidden else ""
