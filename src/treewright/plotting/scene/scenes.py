"""A tree as marks to paint: cards, discs, lines between them and text, in units of a point, y downwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from math import sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from treewright._text import escape, label_text, row_count
from treewright.parameters import parameter, takes
from treewright.plotting.scene import colours
from treewright.plotting.scene.cards import Card, Picture, cards, number, shape, value_range
from treewright.plotting.scene.layout import level_starts, tidy
from treewright.plotting.scene.letters import shorten_to_fit, text_width
from treewright.tree import Tree
from treewright.tree.wording import note_on_missing

Anchor = Literal["start", "middle", "end"]
DIRECTIONS = ("down", "right")

_BIG, _SMALL = 11.0, 9.0  # sizes of letters
_LINE = 1.32  # from one line of text to the next, in sizes
_ROOM = {"down": 172.0, "right": 190.0}  # for a line of a test
_ANSWER_ROOM = {"down": 96.0, "right": 160.0}
_PAD, _BAR = 6.0, 4.0
_LARGEST = {"down": 17.0, "right": 8.5}  # radius of the disc of the leaf with the most rows
_LEAST = 2.2  # radius of the disc of a leaf with very few
_THICKEST, _THINNEST = {"down": 14.0, "right": 11.0}, 1.0  # flow of all rows, and of very few
_BETWEEN = {"down": (12.0, 40.0), "right": (5.0, 52.0)}  # gaps across and along
_STRAIGHT = {"down": 13.0, "right": 21.0}  # before a flow bends: room for yes and no
_MARGIN = 12.0
_MANY = 20  # from so many leaves on the tree grows to the right, where each leaf takes one line


class Words(NamedTuple):
    """A line of text; y is its baseline."""

    x: float
    y: float
    text: str
    size: float = _BIG
    anchor: Anchor = "start"
    bold: bool = False
    colour: str = colours.INK


class Box(NamedTuple):
    """A rectangle with round corners."""

    x: float
    y: float
    width: float
    height: float
    radius: float = 0.0
    fill: str = "#FFFFFF"
    stroke: str = ""


class Disc(NamedTuple):
    """A circle cut into shares; a folded one has a ring around it."""

    x: float
    y: float
    radius: float
    parts: tuple[tuple[float, str], ...]
    has_ring: bool = False


class Flow(NamedTuple):
    """A line from a parent to its child, as thick as the number of rows: straight to the second of five
    points, then a Bézier curve through the other three.
    """

    points: tuple[tuple[float, float], ...]
    width: float
    colour: str = colours.FLOW


Mark = Words | Box | Disc


@dataclass
class Group:
    """The marks of one node, and its full text."""

    title: str = ""
    marks: list[Mark] = field(default_factory=list)


@dataclass(frozen=True)
class Scene:
    """What is where."""

    width: float
    height: float
    label: str  # the picture in a sentence
    flows: list[Flow]
    groups: list[Group]
    keys: list[Mark]  # the heading and what the colours mean


class SceneOptions(Picture):
    """The options of a scene."""

    direction: Literal["down", "right"] | None = parameter(
        default=None,
        doc="The direction of growth; by default a tree of many leaves grows to the right, a line each.",
        kind='{"down", "right"}',
    )
    title: str | None = parameter(default=None, doc="The heading, instead of the target and the size.")


SCENE = SceneOptions.parameters


@takes(SCENE)
def scene(tree: Tree, **options: Any) -> Scene:
    """The picture of a tree."""
    direction, title = options.pop("direction"), options.pop("title")
    if direction not in (None, *DIRECTIONS):
        raise ValueError(f"direction is {direction!r}; it must be 'down', 'right' or None")
    nodes = cards(tree, **options)
    if direction is None:
        direction = "down" if sum(card.is_end for card in nodes) < _MANY else "right"
    return _Arrangement(tree, nodes, direction, title).scene()


class _Arrangement:
    """Cards with their sizes and places."""

    def __init__(self, tree: Tree, nodes: list[Card], direction: str, title: str | None) -> None:
        self.tree, self.cards, self.direction, self.title = tree, nodes, direction, title
        self.down = direction == "down"
        self.total = max(int(tree.rows[0]), 1)
        self.most = max(card.rows for card in nodes if card.is_end)
        self.lines = [self._lines(card) for card in nodes]
        self.sizes = [self._size(card, lines) for card, lines in zip(nodes, self.lines, strict=True)]
        across, along = _BETWEEN[direction]
        widths, heights = np.array(self.sizes).T
        breadth, length = (widths, heights) if self.down else (heights, widths)
        depths = np.array([card.depth for card in nodes])
        ends = np.array([card.is_end for card in nodes])
        self.levels = level_starts(depths, np.where(ends, 0.0, length), along)
        start = self.levels[depths]
        # What is below a leaf is free: it may take the room of several levels instead of making one longer.
        spans = np.searchsorted(self.levels, start + length + across, side="left") - depths
        centre = tidy(shape(nodes), breadth, across, np.where(ends, np.maximum(spans, 1), 1))
        self.reach = float((centre + breadth / 2).max()), float((start + length).max())
        self.at = list(zip(centre.tolist(), start.tolist(), strict=True))

    # ---- words and sizes -----------------------------------------------------------------------------

    def _lines(self, card: Card) -> list[Words]:
        """The lines of a card, without their places."""
        room = (_ANSWER_ROOM if card.is_end else _ROOM)[self.direction]
        lines: list[Words] = []
        if card.is_one_of_many:
            lines.append(_words(shorten_to_fit(card.edge, room, _BIG), colour=colours.QUIET))
        if not card.is_end:
            return lines + [_words(line) for line in card.test_lines(room, _BIG)]
        several = len(card.answers) > 1
        for answer, share in card.answers:
            text = shorten_to_fit(answer, room, _BIG, bold=True)
            if several and self.down:  # one line for each target
                lines.append(_words(f"{text} {share}".rstrip(), bold=True))
            else:
                lines.append(_words(text, bold=True))
                lines += [_words(share, _BIG if self.down else _SMALL)] * bool(share)
        lines.append(_words(card.rows_words, _SMALL, colour=colours.QUIET))
        if card.below:
            lines.append(_words(card.below_words, _SMALL, colour=colours.QUIET))
        return lines

    def _size(self, card: Card, lines: list[Words]) -> tuple[float, float]:
        """Width and height."""
        widths = [_width(line) for line in lines]
        if not card.is_end:
            return max(widths) + 2 * _PAD, _height(lines) + 2 * _PAD + _BAR
        radius = self._radius(card)
        if self.down:
            return max(*widths, 2 * radius), 2 * radius + 4 + _height(lines)
        return 2 * radius + 5 + sum(widths) + 7 * (len(widths) - 1), max(2 * radius, 1.2 * _BIG)

    def _radius(self, card: Card) -> float:
        """A disc's area goes with its rows."""
        return max(_LARGEST[self.direction] * sqrt(card.rows / self.most), _LEAST)

    def _thickness(self, rows: int) -> float:
        return max(_THICKEST[self.direction] * rows / self.total, _THINNEST)

    # ---- marks ---------------------------------------------------------------------------------------

    def scene(self) -> Scene:
        """Everything in its place, below the heading."""
        keys, width, top = self._keys()
        breadth, length = self.reach
        own_width, own_height = (breadth, length) if self.down else (length, breadth)
        width = max(width, own_width)
        left = (width - own_width) / 2 + _MARGIN
        self.origin = (left, top)
        groups = [self._group(i) for i in range(len(self.cards))]
        flows = [self._flow(i) for i in range(1, len(self.cards))]
        return Scene(
            round(width + 2 * _MARGIN, 1),
            round(top + own_height + _MARGIN, 1),
            f"{escape(self._heading())}, drawn as a tree",
            flows,
            groups,
            keys,
        )

    def _point(self, across: float, along: float) -> tuple[float, float]:
        """The x and y of a place across the levels and along the direction of growth."""
        left, top = self.origin
        return (left + across, top + along) if self.down else (left + along, top + across)

    def _corner(self, i: int) -> tuple[float, float]:
        """The upper left corner of a card."""
        return self._point(self.at[i][0] - self.sizes[i][not self.down] / 2, self.at[i][1])

    def _group(self, i: int) -> Group:
        card, lines = self.cards[i], self.lines[i]
        (x, y), (width, height) = self._corner(i), self.sizes[i]
        group = Group(card.title)
        if card.is_end:
            radius = self._radius(card)
            middle = (x + width / 2, y + radius) if self.down else (x + radius, y + height / 2)
            group.marks.append(Disc(*middle, radius, card.parts, has_ring=card.below > 0))
            if self.down:
                group.marks += _column(lines, x + width / 2, y + 2 * radius + 4)
            else:
                group.marks += _in_a_row(lines, x + 2 * radius + 5, y + height / 2 + 0.36 * _BIG)
            return group
        group.marks.append(Box(x, y, width, height, 5.0, "#FFFFFF", colours.LINE))
        group.marks += _column(lines, x + width / 2, y + _PAD)
        group.marks += _bar(card, x + _PAD, y + height - _BAR - _PAD + 1, width - 2 * _PAD)
        if card.tests[-1]:
            group.marks += self._yes_no(i, x, y)
        return group

    def _yes_no(self, i: int, x: float, y: float) -> list[Mark]:
        """Which way is which, beside the beginning of the flows."""
        width, height = self.sizes[i]
        half = self._thickness(self.cards[i].rows) / 2
        if self.down:
            middle, line = x + width / 2, y + height + 0.9 * _SMALL + 1
            yes = Words(middle - half - 4, line, "yes", _SMALL, "end", colour=colours.QUIET)
            return [yes, Words(middle + half + 4, line, "no", _SMALL, colour=colours.QUIET)]
        middle, start = y + height / 2, x + width + 3
        yes = Words(start, middle - half - 2.5, "yes", _SMALL, colour=colours.QUIET)
        return [yes, Words(start, middle + half + 0.75 * _SMALL + 2.5, "no", _SMALL, colour=colours.QUIET)]

    def _flow(self, i: int) -> Flow:
        """From the place of the parent that is the child's, so that all flows together are the parent's."""
        card, parent = self.cards[i], self.cards[i].parent
        thickness, whole = self._thickness(card.rows), self._thickness(self.cards[parent].rows)
        before = whole * card.before / max(self.cards[parent].rows, 1)
        aside = (whole - thickness) / 2 if card.is_last else before + (thickness - whole) / 2
        (middle, start), (centre, end) = self.at[parent], self.at[i]
        inside = min(self._radius(card), 4.0) if card.is_end else 0.0  # under the disc, so that no gap shows
        # It bends behind the longest card of the level, so that it crosses none.
        knee = float(self.levels[card.depth]) - _BETWEEN[self.direction][1] + _STRAIGHT[self.direction]
        bend = (knee + end + inside) / 2
        levels = (start + self.sizes[parent][self.down], knee, bend, bend, end + inside)
        across = (middle + aside,) * 3 + (centre,) * 2
        return Flow(tuple(map(self._point, across, levels)), thickness)

    # ---- the heading ---------------------------------------------------------------------------------

    def _heading(self) -> str:
        if self.title is not None:
            return self.title
        targets = self.tree.schema.targets
        parts = [shorten_to_fit(escape(target.name), 120.0, _BIG + 1, bold=True) for target in targets[:3]]
        names = ", ".join(parts + [f"… {len(targets) - 3} more"] * (len(targets) > 3))
        leaves = f"{self.tree.n_leaves:,} {'leaf' if self.tree.n_leaves == 1 else 'leaves'}"
        start = "" if names in ("", "y") else f"{names}: "
        note = note_on_missing(self.tree)
        return f"{start}{leaves}, {row_count(int(self.tree.rows[0]))}" + (f"; {note}" if note else "")

    def _keys(self) -> tuple[list[Mark], float, float]:
        """The heading, a line of what the colours mean, how wide they are, and where the tree begins."""
        text = shorten_to_fit(escape(self._heading()), 460.0, _BIG + 1, bold=True)
        y = _MARGIN + _BIG
        marks: list[Mark] = [Words(_MARGIN, y, text, _BIG + 1, bold=True)]
        y += 1.75 * _BIG
        x = _MARGIN
        if len(self.tree.schema.targets) > 1:  # the colours are those of the first one
            first = shorten_to_fit(escape(self.tree.schema.targets[0].name), 120.0, _SMALL + 1) + ":"
            marks.append(Words(x, y, first, _SMALL + 1))
            x += text_width(first, _SMALL + 1) + 8
        if self.tree.schema.predicts_classes:
            more, width, y = _class_keys(self.tree, x, y)
        else:
            more, width = _value_keys(self.tree, x, y)
        return marks + more, max(width, text_width(text, _BIG + 1, bold=True)), y + 1.9 * _BIG


def _words(text: str, size: float = _BIG, *, bold: bool = False, colour: str = colours.INK) -> Words:
    return Words(0.0, 0.0, text, size, bold=bold, colour=colour)


def _width(line: Words) -> float:
    return text_width(line.text, line.size, bold=line.bold)


def _height(lines: list[Words]) -> float:
    return sum(_LINE * line.size for line in lines)


def _column(lines: list[Words], x: float, y: float) -> list[Words]:
    """Lines below each other, centred at x, from y on."""
    tops = accumulate((_LINE * line.size for line in lines), initial=y)
    places = zip(lines, tops, strict=False)
    return [line._replace(x=x, y=top + line.size, anchor="middle") for line, top in places]


def _in_a_row(lines: list[Words], x: float, y: float) -> list[Words]:
    """Lines beside each other on one baseline."""
    lefts = accumulate((_width(line) + 7 for line in lines), initial=x)
    return [line._replace(x=left, y=y) for line, left in zip(lines, lefts, strict=False)]


def _bar(card: Card, x: float, y: float, width: float) -> list[Mark]:
    """The shares of the classes side by side, or where a number lies between the least and the greatest."""
    if card.place is not None:
        scale = Box(x, y + 1, width, _BAR - 2, 1.0, colours.FLOW)
        x += min(max(card.place, 0.0), 1.0) * (width - _BAR)
        return [scale, Box(x, y - 1, _BAR, _BAR + 2, 1.0, card.parts[0][1])]
    marks: list[Mark] = []
    for share, colour in card.parts:
        marks.append(Box(x, y, share * width, _BAR, 0.0, colour))
        x += share * width
    return marks


def _class_keys(tree: Tree, x: float, y: float) -> tuple[list[Mark], float, float]:
    """Discs with the names of the classes, a new line where one is full."""
    classes = tree.schema.targets[0].classes or ()
    pairs = zip(colours.class_colours(tree), classes, strict=True)
    keys = [(colour, label_text(name)) for colour, name in pairs if colour != colours.OTHER_COLOUR]
    if len(classes) > len(colours.CLASS_COLOURS):
        keys.append((colours.OTHER_COLOUR, f"{len(classes) - len(colours.CLASS_COLOURS):,} other classes"))
    marks: list[Mark] = []
    widest = 0.0
    for colour, name in keys:
        text = shorten_to_fit(name, 130.0, _SMALL + 1)
        width = 14 + text_width(text, _SMALL + 1)
        if x > _MARGIN and x + width > 460.0:
            x, y = _MARGIN, y + 1.5 * _BIG
        marks += [Disc(x + 4.5, y - 3.5, 4.5, ((1.0, colour),)), Words(x + 13, y, text, _SMALL + 1)]
        x += width + 14
        widest = max(widest, x - _MARGIN)
    return marks, widest, y


def _value_keys(tree: Tree, x: float, y: float) -> tuple[list[Mark], float]:
    """The scale of colours from the smallest to the largest answer."""
    least, most = (number(value) for value in value_range(tree))
    start = x + text_width(least, _SMALL + 1) + 6
    steps = [Box(start + 4 * i, y - 8, 4.2, 9.0, 0.0, colours.value_colour(i / 23)) for i in range(24)]
    end = start + 4 * 24 + 6
    marks: list[Mark] = [Words(x, y, least, _SMALL + 1), *steps, Words(end, y, most, _SMALL + 1)]
    return marks, end + text_width(most, _SMALL + 1)
