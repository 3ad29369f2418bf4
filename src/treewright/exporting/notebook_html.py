"""Trees and pruning paths in notebooks: HTML without scripts, for light and dark pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from treewright._display import Layout, html_block, sentences_html
from treewright._text import count
from treewright.exporting import svg
from treewright.plotting.scene.colours import CLASS_COLOURS, INK, LINE
from treewright.tree import Tree

Floats = NDArray[np.float64]

_MOST_LEAVES = 16  # of a picture within a page
_MOST_POINTS = 300  # of a line
_WIDTH, _HEIGHT, _EDGE, _TOP, _BASE = 440.0, 160.0, 34.0, 26.0, 128.0  # of the chart


def tree_as_html(tree: Tree) -> str:
    """The picture of a tree, of a large one its upper part, and a line that sums it up."""
    facts = [f"depth {tree.height:,}", count(len(tree.schema.columns), "column"), tree.criterion]
    if tree.n_leaves > _MOST_LEAVES:
        facts.append(
            f"the first {_MOST_LEAVES} of {tree.n_leaves:,} leaves; plot(max_leaf_nodes=None) shows all"
        )
    picture = svg.render(tree, max_leaf_nodes=_MOST_LEAVES)
    return html_block(picture, sentences_html([" · ".join(facts)]))


def path_as_html(
    heading: str,
    rows: Sequence[Sequence[str]],
    marked: int | None,
    leaves: NDArray[np.int64],
    losses: Mapping[str, Floats],
    chosen: int | None,
) -> str:
    """A chart of losses by leaves, and a table whose first row names the columns.

    Its row `marked` stands out, and `chosen` is the place of that tree in the chart.
    """
    head, *others = rows
    place = None if marked is None else marked - 1
    table = Layout([], head, others, range(len(head)), marked=place).html()
    return html_block(sentences_html([heading]), loss_chart(leaves, losses, chosen), table)


def loss_chart(leaves: NDArray[np.int64], losses: Mapping[str, Floats], chosen: int | None) -> str:
    """Losses against the logarithm of leaves; the lines differ in colour and in dashes."""
    some = np.linspace(0, len(leaves) - 1, min(len(leaves), _MOST_POINTS)).round().astype(int)
    some = np.unique(some if chosen is None else np.append(some, chosen))
    sizes = np.log(leaves[some])
    x = _EDGE + (sizes - sizes.min()) / (np.ptp(sizes) or 1.0) * (_WIDTH - 2 * _EDGE)
    highest = max(float(loss.max()) for loss in losses.values()) or 1.0
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH:g}" height="{_HEIGHT:g}" role="img" '
        f'aria-label="loss against leaves" font-family="sans-serif" font-size="10" fill="{INK}">'
        '<rect width="100%" height="100%" rx="6" fill="#FFFFFF"/>'
        f'<path d="M{_EDGE:g} {_BASE:g}H{_WIDTH - _EDGE:g}" stroke="{LINE}"/>'
        f'<text x="{_WIDTH / 2:g}" y="{_BASE + 22:g}" text-anchor="middle">leaves</text>'
    ]
    for place in {int(np.argmin(sizes)), int(np.argmax(sizes))}:
        n = int(leaves[some[place]])
        parts.append(f'<text x="{x[place]:.1f}" y="{_BASE + 14:g}" text-anchor="middle">{n:,}</text>')
    y = np.zeros(0)
    for i, (name, loss) in enumerate(losses.items()):
        y = _BASE - loss[some] / highest * (_BASE - _TOP)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
        look = f'stroke="{CLASS_COLOURS[i]}" stroke-width="1.8"' + ' stroke-dasharray="5 3"' * (i > 0)
        parts.append(f'<polyline points="{points}" fill="none" {look}/>')
        key = _EDGE + 90 * i
        parts.append(f'<path d="M{key:g} 12h18" {look}/><text x="{key + 23:g}" y="15">{escape(name)}</text>')
    if chosen is not None:
        place = int(np.searchsorted(some, chosen))
        ring = f'fill="none" stroke="{INK}" stroke-width="1.5"'
        parts.append(f'<circle cx="{x[place]:.1f}" cy="{y[place]:.1f}" r="5" {ring}/>')
    return "".join([*parts, "</svg>"])
