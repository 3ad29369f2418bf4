"""A tree drawn by matplotlib: the same marks at the same places as in SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from treewright.parameters import takes
from treewright.plotting.axes import new_axes
from treewright.plotting.scene.colours import LINE
from treewright.plotting.scene.scenes import SCENE, Box, Disc, Flow, Mark, Scene, Words, scene
from treewright.tree.shortcuts import as_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 72.0  # in an inch
_LARGEST = 600.0  # inches: 65,536 pixels is the most that it paints, at 100 for an inch
_SIDES = {"start": "left", "middle": "center", "end": "right"}


@takes(SCENE)
def plot_tree(model: Any, ax: Axes | None = None, **options: Any) -> Axes:
    """Draw a tree: tests on cards, leaves as discs, lines as thick as the number of their rows.

    The area of a disc is proportional to the rows of the leaf, its slices are the shares of the classes, and
    the answer stands beside it with its share; a card has the shares as a bar. For numbers the colour, and on
    a card the place of the mark, show the answer between the smallest and the largest.

    Parameters
    ----------
    model : Tree or fitted estimator
        The tree to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure of the size that the tree needs. On given axes everything is
        scaled down as necessary.

    Returns
    -------
    matplotlib.axes.Axes
        Its data coordinates are points, from the upper left corner; the figure is ``ax.figure``.

    Examples
    --------
    >>> from treewright import encode, grow, plot_tree
    >>> data = encode({"x": range(8), "z": [0, 1] * 4}, list("aaabbabb"))
    >>> ax = plot_tree(grow(data), max_leaf_nodes=3)
    """
    picture = scene(as_tree(model), **options)
    if ax is None:
        inches = max(picture.width, picture.height) / _POINTS
        if inches > _LARGEST:
            raise ValueError(
                f"the picture would be {inches:,.0f} inches large, more than matplotlib can paint; "
                "give a smaller max_leaf_nodes or max_depth, or use to_svg"
            )
        ax = cast("Axes", new_axes(picture.width / _POINTS, picture.height / _POINTS))
        ax.figure.set_layout_engine("none")  # type: ignore[union-attr]
        ax.set_position((0.0, 0.0, 1.0, 1.0))
    _paint(ax, picture)
    return ax


def _paint(ax: Axes, picture: Scene) -> None:
    ax.set_axis_off()
    ax.set_xlim(0.0, picture.width)
    ax.set_ylim(picture.height, 0.0)
    ax.set_aspect("equal", anchor="N")
    frame = ax.get_window_extent()
    pixels = min(frame.width / picture.width, frame.height / picture.height)
    painter = _Painter(ax, pixels * _POINTS / ax.figure.dpi)
    for flow in picture.flows:
        painter.flow(flow)
    for group in picture.groups:
        for mark in group.marks:
            painter.mark(mark)
    for mark in picture.keys:
        painter.mark(mark)


class _Painter:
    """Marks on axes; `scale` is how many points a unit of the picture is."""

    def __init__(self, ax: Axes, scale: float) -> None:
        self.ax, self.scale = ax, scale

    def flow(self, flow: Flow) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        codes = [Path.MOVETO, Path.LINETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
        style: dict[str, Any] = {"edgecolor": flow.colour, "linewidth": flow.width * self.scale}
        path = Path(list(flow.points), codes)
        self.ax.add_patch(PathPatch(path, facecolor="none", capstyle="butt", zorder=1, **style))

    def mark(self, mark: Mark) -> None:
        if isinstance(mark, Words):
            self._words(mark)
        elif isinstance(mark, Box):
            self._box(mark)
        else:
            self._disc(mark)

    def _words(self, words: Words) -> None:
        self.ax.text(
            words.x,
            words.y,
            words.text,
            fontsize=words.size * self.scale,
            fontweight="bold" if words.bold else "normal",
            color=words.colour,
            ha=_SIDES[words.anchor],
            va="baseline",
            zorder=3,
            parse_math=False,  # a name is shown as it is
        )

    def _box(self, box: Box) -> None:
        from matplotlib.patches import FancyBboxPatch, Rectangle

        style: dict[str, Any] = {"facecolor": box.fill, "edgecolor": box.stroke or "none", "zorder": 2}
        style["linewidth"] = self.scale if box.stroke else 0.0
        corner = (box.x, box.y)
        if box.radius:
            shape = f"round,pad=0,rounding_size={box.radius}"
            self.ax.add_patch(FancyBboxPatch(corner, box.width, box.height, boxstyle=shape, **style))
        else:
            self.ax.add_patch(Rectangle(corner, box.width, box.height, **style))

    def _disc(self, disc: Disc) -> None:
        from matplotlib.patches import Circle, Wedge

        middle = (disc.x, disc.y)
        if disc.has_ring:
            ring: dict[str, Any] = {"facecolor": "white", "edgecolor": LINE, "linestyle": (0, (2, 2))}
            self.ax.add_patch(Circle(middle, disc.radius + 2.5, linewidth=self.scale, zorder=2, **ring))
        start = -90.0  # from the top on, clockwise, since y points downwards
        for share, colour in disc.parts:
            end = start + 360.0 * share
            self.ax.add_patch(Wedge(middle, disc.radius, start, end, facecolor=colour, zorder=2.5))
            start = end
