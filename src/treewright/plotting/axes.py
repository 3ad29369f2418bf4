"""What all plots share: figures, colours, words, the looks of axes; matplotlib is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from treewright.encoding.schema import Schema

# Okabe and Ito's colours, which readers with any kind of colour vision tell apart; markers differ as well.
COLOURS = {"training": "#0072B2", "validation": "#D55E00", "test": "#009E73", "certificate": "#CC79A7"}
MARKERS = {"training": "o", "validation": "s", "test": "^", "certificate": "D"}
INK, FAINT = "#000000", "#999999"

_WIDE = 40  # leaves from which on their axis is logarithmic


def axes_or_new(ax: Axes | None, width: float = 7.0, height: float = 4.2) -> Axes:
    """The axes to draw on: those given, or those of a new figure."""
    return new_axes(width, height) if ax is None else ax


def new_axes(width: float, height: float, columns: int = 1) -> Any:
    """The axes of a new figure, or an array of them side by side."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'treewright[plot]'") from None
    return pyplot.subplots(1, columns, figsize=(width, height), layout="constrained")[1]


def result_of(function: str, given: Any, attribute: str, wanted: str, within: str = "") -> Any:
    """The result to plot, which has this attribute: what was given, or what an estimator has as `within`.

    >>> result_of("plot_comparison", "oak", "rows", "what compare returns")
    Traceback (most recent call last):
    TypeError: plot_comparison takes what compare returns, not a str
    """
    found = getattr(given, within, given) if within else given
    if not hasattr(found, attribute):
        kind = given.__name__ if isinstance(given, type) else type(given).__name__
        raise TypeError(f"{function} takes {wanted}, not a {kind}")
    return found


def plain(text: object) -> str:
    r"""A name as it is: dollars would begin a formula.

    >>> print(plain("ch$"), plain("reduced_error"))
    ch\$ reduced_error
    """
    return str(text).replace("$", r"\$")


def words(name: str) -> str:
    """The name of a method in words.

    >>> words("cost_complexity")
    'cost complexity'
    """
    return plain(name.replace("_", " "))


def loss_words(schema: Schema, criterion: str) -> str:
    """The name of the loss for an axis."""
    target = schema.targets[0].name if len(schema.targets) == 1 else ""
    of = "" if target in ("", "y") else f" ({plain(target)})"
    if not schema.predicts_classes:
        return f"mean {criterion.replace('_', ' ')}{of}"
    return f"mean cost of a row{of}" if schema.has_costs else f"misclassified rows{of}"


def is_share(schema: Schema) -> bool:
    """Whether losses are shares of rows, to be shown in per cent."""
    return schema.predicts_classes and not schema.has_costs


def loss_text(schema: Schema, loss: float) -> str:
    """A loss as text."""
    return f"{100 * loss:.1f} %" if is_share(schema) else f"{loss:.4g}"


def in_per_cent(axis: Axis) -> None:
    """Write the numbers of an axis, shares of 1, in per cent."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.4g} %"))


def is_wide(least: int, most: int) -> bool:
    """Whether sizes differ so much that their axis is logarithmic."""
    return most >= max(_WIDE, 10 * least)


def leaves_axis(ax: Axes, least: int, most: int) -> None:
    """The x-axis of tree sizes: whole numbers, logarithmic where `is_wide`."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    if not is_wide(least, most):
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlim(0, most + 1)
        return
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 3) if most < 10_000 else (1,)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda leaves, _: f"{leaves:,.0f}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def finish(ax: Axes, x: str, y: str, *, percent: str = "", title: str = "", **legend: Any) -> None:
    """Labels, axes in per cent (`percent` has "x", "y" or both), a light grid, and the legend."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    for axis in (ax.xaxis, ax.yaxis):
        if axis.axis_name in percent:
            in_per_cent(axis)
    ax.set_title(title, loc="left")
    ax.grid(True, axis="y", color=FAINT, alpha=0.25, linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(**{"frameon": False, "fontsize": "small", "labelcolor": INK, **legend})
