"""Plotting forests: the out-of-bag error by the number of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright._suggestions import checked_keywords
from treewright.plotting.axes import COLOURS, axes_or_new, finish, result_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treewright.ensembles.out_of_bag import OutOfBag


@checked_keywords
def plot_out_of_bag(found: OutOfBag | Any, ax: Axes | None = None) -> Axes:
    """Plot the out-of-bag loss of a forest after each tree: where it levels off, more trees do not help.

    Parameters
    ----------
    found : OutOfBag or fitted estimator
        What `treewright.ensembles.out_of_bag` returns; a forest or bagging fitted with ``oob_score=True``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> from treewright import encode, grow_forest, plot_out_of_bag
    >>> from treewright.ensembles import out_of_bag
    >>> data = encode({"x": list(range(40))}, ["a"] * 20 + ["b"] * 20)
    >>> ax = plot_out_of_bag(out_of_bag(grow_forest(data, n_estimators=30), data))
    >>> ax.get_xlabel(), len(ax.get_lines()[0].get_xdata())
    ('trees', 30)
    """
    curve, is_share = _curve(found)
    ax = axes_or_new(ax)
    ax.plot(np.arange(1, len(curve) + 1), curve, color=COLOURS["validation"], linewidth=1.6)
    ax.set_ylim(bottom=0.0)
    finish(ax, "trees", f"out-of-bag {'error' if is_share else 'squared error'}", percent="y" * is_share)
    return ax


def _curve(found: OutOfBag | Any) -> tuple[NDArray[np.float64], bool]:
    """The loss after each tree, and whether it is a share of the rows."""
    if hasattr(found, "oob_curve_"):
        return found.oob_curve_, hasattr(found, "classes_")
    wanted = "what out_of_bag returns, or a forest that was fitted with oob_score=True"
    found = result_of("plot_out_of_bag", found, "answers", wanted)
    return found.curve, found.answers.dtype.kind != "f"
