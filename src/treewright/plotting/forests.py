"""Plotting forests: the out-of-bag error by the number of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treewright._suggestions import checked_keywords
from treewright.plotting.axes import COLOURS, axes_or_new, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treewright.ensembles.out_of_bag import OutOfBag


@checked_keywords
def plot_out_of_bag(found: OutOfBag, ax: Axes | None = None) -> Axes:
    """Plot the out-of-bag loss of a forest after each tree: where it levels off, more trees do not help.

    Parameters
    ----------
    found : OutOfBag
        What `treewright.ensembles.out_of_bag` returns.
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
    ax = axes_or_new(ax)
    is_share = found.answers.dtype.kind != "f"
    ax.plot(np.arange(1, len(found.curve) + 1), found.curve, color=COLOURS["validation"], linewidth=1.6)
    ax.set_ylim(bottom=0.0)
    finish(ax, "trees", f"out-of-bag {'error' if is_share else 'squared error'}", percent="y" * is_share)
    return ax
