"""Decision regions: the prediction of a tree for each value of two columns, as exact rectangles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright._text import escape, label_text
from treewright.encoding import Dataset, encode
from treewright.encoding.kinds import Category, Kind, Time
from treewright.encoding.schema import Column
from treewright.parameters import documented
from treewright.plotting.axes import axes_or_new, plain
from treewright.plotting.scene.cards import number, value_range
from treewright.plotting.scene.colours import INK, class_colours, value_colour
from treewright.tree import Tree
from treewright.tree.evaluate import given_table
from treewright.tree.missing import sent_by_others
from treewright.tree.oblique import by_column
from treewright.tree.shortcuts import as_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "os^DvPX*"  # of the classes, in turn: distinct without colour
_MOST_ROWS = 2000  # rows drawn as points
_LEAST_LABEL = 0.012  # least share of the picture of a region with a label
_LONGEST_NAME = 24


@dataclass(frozen=True)
class Region:
    """A rectangle of two columns that belongs to one leaf; a category is the band code ± ½.

    Where an oblique test cuts across, the region is the polygon of `corners` within the rectangle.
    """

    leaf: int
    x: tuple[float, float]
    y: tuple[float, float]
    corners: tuple[tuple[float, float], ...] = ()


def decision_regions(
    model: Any,
    x: str,
    y: str,
    *,
    within: tuple[tuple[float, float], tuple[float, float]],
    at: Mapping[str, Any] | None = None,
    data: Any = None,
) -> list[Region]:
    """The rectangles of the plane of columns `x` and `y` that lie `within` a frame, each with its leaf.

    `at` has the values of the other columns; one that is not named has the typical value of `data`: the
    median, or the category that is most frequent. Without `data` it is missing.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"a": [1, 2, 1, 2], "b": [1, 1, 2, 2]}, ["p", "q", "q", "q"]))
    >>> decision_regions(tree, "a", "b", within=((0, 3), (0, 3)))[0]
    Region(leaf=2, x=(0, 1.5), y=(0, 1.5), corners=())
    """
    tree = as_tree(model)
    axes = [_position(tree, name) for name in (x, y)]
    others = _others(tree, axes, at or {}, None if data is None else given_table(tree, data, "data"))
    _refuse_missing(tree, axes, others)
    regions, waiting = [], [Region(0, *within)]
    while waiting:
        box = waiting.pop()
        node = box.leaf
        if tree.is_leaf[node]:
            regions.append(box)
            continue
        left, right = int(tree.left[node]), int(tree.right[node])
        feature = int(tree.feature[node])
        if feature >= len(tree.schema.columns):
            pieces = _cut_by_sum(tree, node, axes, others, box)
            waiting += [replace(piece, leaf=left if is_left else right) for is_left, piece in pieces]
        elif feature not in axes:
            waiting.append(replace(box, leaf=left if _goes_left(tree, node, others[feature]) else right))
        else:
            axis = axes.index(feature)
            for is_left, low, high in reversed(_pieces(tree, node, *(box.x, box.y)[axis])):
                waiting += _band(replace(box, leaf=left if is_left else right), axis, low, high)
    return regions


def _cut_by_sum(
    tree: Tree, node: int, axes: list[int], others: list[float], box: Region
) -> list[tuple[bool, Region]]:
    """The parts of the box for both children, the right one first, and whether each is the left one."""
    direction = tree.directions[tree.feature[node] - len(tree.schema.columns)]
    across, rest = [0.0, 0.0], 0.0
    for column, weight in zip(direction.columns, direction.weights, strict=True):
        if column in axes:
            across[axes.index(column)] = weight
        else:
            rest += weight * others[column]
    if np.isnan(rest) or across == [0.0, 0.0]:
        return [(_goes_left(tree, node, rest), box)]
    border = float(tree.threshold[node]) - rest
    halves = [(False, _half(box, (-across[0], -across[1]), -border)), (True, _half(box, across, border))]
    return [(is_left, piece) for is_left, piece in halves if piece is not None]


def _band(box: Region, axis: int, low: float, high: float) -> list[Region]:
    """The part of a region in a band of one axis."""
    if not box.corners:
        return [replace(box, x=(low, high)) if axis == 0 else replace(box, y=(low, high))]
    normal = (1.0, 0.0) if axis == 0 else (0.0, 1.0)
    below = _half(box, normal, high)
    part = None if below is None else _half(below, (-normal[0], -normal[1]), -low)
    return [] if part is None else [part]


def _half(box: Region, normal: Sequence[float], border: float) -> Region | None:
    """The part of a region where the product with `normal` is at most `border`; None if there is none."""
    (x0, x1), (y0, y1) = box.x, box.y
    corners = box.corners or ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
    over = [normal[0] * x + normal[1] * y - border for x, y in corners]
    polygon = []
    for i, (x, y) in enumerate(corners):
        (next_x, next_y), here, there = corners[i - len(corners) + 1], over[i], over[i - len(corners) + 1]
        if here <= 0:
            polygon.append((x, y))
        if min(here, there) < 0 < max(here, there):
            share = here / (here - there)
            polygon.append((x + share * (next_x - x), y + share * (next_y - y)))
    if len(polygon) < 3 or all(amount >= 0 for amount in over):
        return None
    xs, ys = zip(*polygon, strict=True)
    return Region(box.leaf, (min(xs), max(xs)), (min(ys), max(ys)), tuple(polygon))


@documented
def plot_decision_regions(
    model: Any,
    x: str | None = None,
    y: str | None = None,
    *,
    data: Any = None,
    at: Mapping[str, Any] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the predictions of a tree over the plane of two columns.

    Each leaf is a rectangle in the colour of its answer, paler where its share is lower; large ones have a
    label.

    Parameters
    ----------
    model : Tree or fitted estimator
        A tree with one target.
    x, y : str, optional
        The columns; by default the two by which the tree reduces most risk.
    data : Dataset, table or tuple (table, target), optional
        Rows to draw as points, with a marker for each class; without them thresholds make the frame.
    at : dict, optional
        Values of the other columns, at which the plane lies. One that is not named has the typical value of
        `data`: the median, or the most frequent category; without `data` it is missing.

    Examples
    --------
    >>> from treewright import encode, grow, plot_decision_regions
    >>> data = encode({"x": range(8), "z": [0, 1] * 4}, list("aaabbabb"))
    >>> ax = plot_decision_regions(grow(data), "x", "z", data=data)
    """
    tree = as_tree(model)
    if len(tree.schema.targets) > 1:
        raise ValueError("decision regions are for trees of one target")
    names = _two_columns(tree, x, y)
    columns = [tree.schema.columns[_position(tree, name)] for name in names]
    data = None if data is None else given_table(tree, data, "data")
    frame = [_frame(tree, name, data) for name in names]
    ax = axes_or_new(ax, 6.4, 5.0)
    regions = decision_regions(tree, *names, within=(frame[0], frame[1]), at=at, data=data)
    _paint(ax, tree, regions, columns, frame)
    if data is not None:
        _points(ax, tree, data, names)
    for axis, column, limits in zip((ax.xaxis, ax.yaxis), columns, frame, strict=True):
        _axis(axis, column, limits)
    if tree.schema.predicts_classes:
        _keys(ax, tree, data is not None)
    return ax


def _position(tree: Tree, name: str) -> int:
    if not isinstance(name, str):
        raise TypeError(f"x and y are names of columns, not a {type(name).__name__}; rows are given as data=")
    try:
        return tree.schema.position(name)
    except KeyError as error:
        raise ValueError(error.args[0]) from None


def _two_columns(tree: Tree, x: str | None, y: str | None) -> list[str]:
    """The columns that are named, and for the others those that reduce most risk."""
    for name in (x, y):
        if name is not None:
            _position(tree, name)
    by_gain = np.argsort(-by_column(tree, tree.gain), kind="stable").tolist()
    others = (tree.schema.names[i] for i in by_gain if tree.schema.names[i] not in (x, y))
    pair = [next(others, None) if name is None else name for name in (x, y)]
    if None in pair or pair[0] == pair[1]:
        raise ValueError("decision regions need two different columns")
    return [name for name in pair if name is not None]


def _others(tree: Tree, axes: list[int], at: Mapping[str, Any], data: Dataset | None) -> list[float]:
    """The encoded value of each column: from `at`, typical or missing."""
    for name in at:
        if _position(tree, name) in axes:
            raise ValueError(f"at has a value of {name!r}, which is one of the two columns shown")
    row = encode({name: [at.get(name)] for name in tree.schema.names}, schema=tree.schema)
    values = [float(row.column(i)[0]) for i in range(len(tree.schema.columns))]
    if data is not None:
        tree._check_columns(data)
        for i, name in enumerate(tree.schema.names):
            if name not in at and i not in axes:
                values[i] = _typical(tree.schema.columns[i], data.column(i))
    return values


def _refuse_missing(tree: Tree, axes: list[int], others: list[float]) -> None:
    """Where more than a side decides for missing values, each tested column needs a value."""
    if sent_by_others(tree):
        for j in np.unique(tree.feature[~tree.is_leaf]).tolist():
            kind = tree.schema.columns[j].type
            if j not in axes and kind.is_missing(np.array([others[j]]))[0]:
                raise ValueError(
                    f"{tree.schema.names[j]!r} has no value here, and this tree sends missing values by "
                    "surrogates or down both sides: give it one with at=, or rows with data="
                )


def _typical(column: Column, values: NDArray[Any]) -> float:
    """The median, or the category that is most frequent; missing where nothing is known."""
    known = values[~column.type.is_unknown(values)]
    if not known.size:
        return float(column.type.missing)
    if column.type.is_category:
        return float(np.bincount(known).argmax())
    return float(np.quantile(known, 0.5, method="lower"))


def _goes_left(tree: Tree, node: int, value: float) -> bool:
    if tree.subset[node] >= 0:
        if value == -1:
            return bool(tree.missing_left[node])
        return bool(tree.heavier_left[node]) if value < 0 else bool(tree.goes_left(node)[int(value)])
    return bool(tree.missing_left[node]) if np.isnan(value) else bool(value <= tree.threshold[node])


def _pieces(tree: Tree, node: int, low: float, high: float) -> list[tuple[bool, float, float]]:
    """The parts of an interval of the tested column: (whether it goes left, from, to)."""
    if tree.subset[node] < 0:
        border = min(max(float(tree.threshold[node]), low), high)
        return [piece for piece in ((True, low, border), (False, border, high)) if piece[1] < piece[2]]
    pieces: list[tuple[bool, float, float]] = []
    lefts = tree.goes_left(node).tolist()
    for code in range(round(low + 0.5), round(high - 0.5) + 1):
        if pieces and pieces[-1][0] == lefts[code]:
            pieces[-1] = (lefts[code], pieces[-1][1], code + 0.5)
        else:
            pieces.append((lefts[code], code - 0.5, code + 0.5))
    return pieces


def _frame(tree: Tree, name: str, data: Dataset | None) -> tuple[float, float]:
    """The range of the axis of a column: of the data or the thresholds, with a margin; every category."""
    position = _position(tree, name)
    column = tree.schema.columns[position]
    if column.type.is_category:
        return -0.5, len(column.categories) - 0.5
    values = _cuts(tree, position) if data is None else data.column(position)
    values = values[np.isfinite(values)]
    if not values.size:
        return 0.0, 1.0
    least, most = float(values.min()), float(values.max())
    margin = (0.04 if data is not None else 0.25) * (most - least) or max(abs(least), 1.0) / 2
    return least - margin, most + margin


def _cuts(tree: Tree, position: int) -> NDArray[np.float64]:
    """The thresholds of a column; those of its sums where the other parts are 0."""
    cuts = [tree.threshold[tree.feature == position]]
    for i, direction in enumerate(tree.directions, start=len(tree.schema.columns)):
        if position in direction.columns:
            weight = direction.weights[direction.columns.index(position)]
            cuts.append(tree.threshold[tree.feature == i] / weight)
    return np.concatenate(cuts)


def _paint(
    ax: Axes, tree: Tree, regions: list[Region], columns: list[Column], frame: list[tuple[float, float]]
) -> None:
    from matplotlib.patches import Polygon, Rectangle

    (left, right), (bottom, top) = frame
    across, up = (_unit(column.type) for column in columns)
    whole = (right - left) * (top - bottom)
    for region in regions:
        (x0, x1), (y0, y1) = region.x, region.y
        share, name, colour = _answer(tree, region.leaf)
        look: dict[str, Any] = {"facecolor": colour, "alpha": share, "edgecolor": "white", "linewidth": 0.8}
        middle, area = ((x0 + x1) / 2 / across, (y0 + y1) / 2 / up), (x1 - x0) * (y1 - y0)
        if region.corners:
            corners = np.array(region.corners) / (across, up)
            ax.add_patch(Polygon(corners, zorder=1, **look))
            x, y = np.array(region.corners).T
            middle = tuple(corners.mean(axis=0).tolist())
            area = abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2
        else:
            size = (x1 - x0) / across, (y1 - y0) / up
            ax.add_patch(Rectangle((x0 / across, y0 / up), *size, zorder=1, **look))
        if area >= _LEAST_LABEL * whole and x1 - x0 >= 0.09 * (right - left):
            style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "small", "color": INK}
            text = ax.text(*middle, name, parse_math=False, clip_on=True, zorder=4, **style)
            text.set_bbox({"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1.0})


def _answer(tree: Tree, leaf: int) -> tuple[float, str, str]:
    """The opacity, the answer as text, and its colour."""
    if not tree.schema.predicts_classes:
        value, (least, most) = float(tree.value[leaf, 0]), value_range(tree)
        place = (value - least) / (most - least) if most > least else 0.5
        return 0.9, number(value), value_colour(place)
    code, share = int(tree.label[leaf, 0]), float(tree.confidence[leaf, 0])
    name = label_text((tree.schema.targets[0].classes or ())[code])
    return 0.08 + 0.37 * share, _short(name), class_colours(tree)[code]


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _points(ax: Axes, tree: Tree, data: Dataset, names: list[str]) -> None:
    """Some of the rows; categories are jittered within their band."""
    tree._check_columns(data)
    some = np.linspace(0, data.n_rows - 1, min(data.n_rows, _MOST_ROWS)).astype(int)
    chance = np.random.default_rng(0)
    places = []
    for name in names:
        position = tree.schema.position(name)
        column, values = tree.schema.columns[position], data.column(position)[some].astype(np.float64)
        if column.type.is_category:
            values = np.where(values < 0, np.nan, values + chance.uniform(-0.3, 0.3, len(some)))
        places.append(values / _unit(column.type))
    look: dict[str, Any] = {"s": 20, "edgecolor": "white", "linewidth": 0.5, "zorder": 3}
    if not tree.schema.predicts_classes or data.targets is None:
        ax.scatter(*places, color=INK, **look)
        return
    codes, colours = data.targets[0][some], class_colours(tree)
    for code, colour in enumerate(colours):
        own = codes == code
        if own.any():
            marker = _MARKERS[code % len(_MARKERS)]
            ax.scatter(places[0][own], places[1][own], color=colour, marker=marker, **look)


def _axis(axis: Any, column: Column, limits: tuple[float, float]) -> None:
    unit = _unit(column.type)
    axis.axes.set(**{f"{axis.axis_name}lim": (limits[0] / unit, limits[1] / unit)})
    axis.set_label_text(plain(_short(escape(column.name))))
    _set_ticks(column.type, column, axis)


# ---- what differs between the kinds of columns: the unit of an axis, and its ticks -------------------------


def _unit(kind: Kind) -> float:
    """How much of a column is one unit of its axis: matplotlib draws times, in microseconds, in days."""
    return 86_400e6 if isinstance(kind, Time) else 1.0


@singledispatch
def _set_ticks(kind: Kind, column: Column, axis: Any) -> None:
    """Ticks that suit the values of a column; those of matplotlib by default."""


@_set_ticks.register
def _(kind: Time, column: Column, axis: Any) -> None:
    axis.axis_date()


@_set_ticks.register
def _(kind: Category, column: Column, axis: Any) -> None:
    names = [plain(_short(label_text(name))) for name in column.categories]
    axis.set_ticks(range(len(names)), names)
    if axis.axis_name == "x" and sum(map(len, names)) > 60:
        axis.set_tick_params(rotation=90)


def _keys(ax: Axes, tree: Tree, with_markers: bool) -> None:
    """The classes above the picture."""
    from matplotlib.lines import Line2D

    classes = tree.schema.targets[0].classes or ()
    markers = _MARKERS if with_markers else "s" * len(_MARKERS)
    handles = []
    for colour, name, marker in zip(class_colours(tree), classes, markers, strict=False):
        label = plain(_short(label_text(name)))
        handles.append(Line2D([], [], color=colour, marker=marker, linewidth=0, label=label))
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 4}
    ax.legend(handles=handles, frameon=False, fontsize="small", handletextpad=0.3, **place)
