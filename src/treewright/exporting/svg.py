"""A tree as SVG: a picture that stands alone, to look at, to print or to put into a page; no script."""

from __future__ import annotations

from html import escape
from math import cos, pi, sin
from typing import Any

from treewright.parameters import takes
from treewright.plotting.scene.colours import LINE
from treewright.plotting.scene.scenes import SCENE, Box, Disc, Flow, Group, Mark, Words, scene
from treewright.tree import Tree

_FONT = "system-ui, 'Segoe UI', Roboto, Helvetica, Arial, 'DejaVu Sans', sans-serif"
_SLIVER = 0.0005  # smaller shares cannot be seen


@takes(SCENE)
def render(tree: Tree, **options: Any) -> str:
    """The tree as SVG text; what is shortened stands in full in the tooltip of its node.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> render(tree).startswith("<svg ")
    True
    """
    picture = scene(tree, **options)
    width, height = _short(picture.width), _short(picture.height)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="{escape(picture.label)}" '
        f'font-family="{_FONT}">',
        f'<rect width="{width}" height="{height}" rx="6" fill="#FFFFFF"/>',
        '<g fill="none">',
        *map(_flow, picture.flows),
        "</g>",
        *map(_group, picture.groups),
        *map(_mark, picture.keys),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _group(group: Group) -> str:
    return f"<g><title>{escape(group.title)}</title>{''.join(map(_mark, group.marks))}</g>"


def _flow(flow: Flow) -> str:
    begin, knee, *bends = (f"{_short(x)} {_short(y)}" for x, y in flow.points)
    path = f"M{begin}L{knee}C{' '.join(bends)}"
    return f'<path d="{path}" stroke="{flow.colour}" stroke-width="{_short(flow.width)}"/>'


def _mark(mark: Mark) -> str:
    if isinstance(mark, Words):
        return _text(mark)
    return _rectangle(mark) if isinstance(mark, Box) else _disc(mark)


def _text(words: Words) -> str:
    anchor = "" if words.anchor == "start" else f' text-anchor="{words.anchor}"'
    weight = ' font-weight="bold"' if words.bold else ""
    return (
        f'<text x="{_short(words.x)}" y="{_short(words.y)}" font-size="{_short(words.size)}"{anchor}{weight} '
        f'fill="{words.colour}">{escape(words.text)}</text>'
    )


def _rectangle(box: Box) -> str:
    rounded = f' rx="{_short(box.radius)}"' if box.radius else ""
    stroke = f' stroke="{box.stroke}"' if box.stroke else ""
    return (
        f'<rect x="{_short(box.x)}" y="{_short(box.y)}" width="{_short(box.width)}" '
        f'height="{_short(box.height)}"{rounded} fill="{box.fill}"{stroke}/>'
    )


def _disc(disc: Disc) -> str:
    """A circle, or slices from the top on clockwise; a ring says that more is below."""
    at = f'cx="{_short(disc.x)}" cy="{_short(disc.y)}"'
    dashed = f'fill="#FFFFFF" stroke="{LINE}" stroke-dasharray="2 2"'
    parts = [part for part in disc.parts if part[0] > _SLIVER]
    marks = [f'<circle {at} r="{_short(disc.radius + 2.5)}" {dashed}/>'] * disc.has_ring
    if len(parts) == 1:
        return "".join([*marks, f'<circle {at} r="{_short(disc.radius)}" fill="{parts[0][1]}"/>'])
    turned = 0.0
    for share, colour in parts:
        marks.append(f'<path d="{_slice(disc, turned, turned + share)}" fill="{colour}"/>')
        turned += share
    return "".join(marks)


def _slice(disc: Disc, begin: float, end: float) -> str:
    turns = ((sin(2 * pi * turn), cos(2 * pi * turn)) for turn in (begin, end))
    points = [f"{_short(disc.x + disc.radius * x)} {_short(disc.y - disc.radius * y)}" for x, y in turns]
    radius, large = _short(disc.radius), int(end - begin > 0.5)
    return f"M{_short(disc.x)} {_short(disc.y)}L{points[0]}A{radius} {radius} 0 {large} 1 {points[1]}Z"


def _short(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
