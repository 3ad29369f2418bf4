"""Reingold and Tilford's tidy layout of a tree with nodes of any width, in linear time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def tidy(end: ArrayLike, breadth: ArrayLike, gap: float, spans: ArrayLike | None = None) -> Floats:
    """The centre of each node across its level, from 0 on.

    A parent is centred over its children, nodes of one level keep `gap` between them, and subtrees are as
    close as their outlines allow. `end` is one past the subtree of each node, in preorder; `breadth` the
    width of each node across the level; `spans` the number of levels that each leaf occupies, by default 1.

    >>> tidy([3, 2, 3], [10.0, 4.0, 4.0], 2.0).tolist()
    [5.0, 2.0, 8.0]
    """
    ends: list[int] = np.asarray(end).tolist()
    widths: list[float] = np.asarray(breadth, np.float64).tolist()
    n = len(ends)
    n_levels: list[int] = [1] * n if spans is None else np.asarray(spans).tolist()
    shift = [0.0] * n  # of each node from its parent
    outlines: dict[int, _Outline] = {}
    for node in range(n - 1, -1, -1):
        if ends[node] == node + 1:
            below = [widths[node] / 2] * (n_levels[node] - 1)
            outlines[node] = _Outline([-side for side in below], below, 0.0)
        else:
            children = _children(ends, node)
            outline = outlines.pop(children[0])
            for child in children[1:]:
                following = outlines.pop(child)
                shift[child] = outline.apart(following, gap)
                outline = outline.beside(following, shift[child])
            middle = shift[children[-1]] / 2
            for child in children:
                shift[child] -= middle
            outline.offset -= middle
            outlines[node] = outline
        outlines[node].add_root(widths[node])
    return _centres(ends, shift, widths)


def _children(ends: Sequence[int], node: int) -> list[int]:
    """The children of a node: the first is the next node, each other one begins where one ends."""
    children = [node + 1]
    while ends[children[-1]] < ends[node]:
        children.append(ends[children[-1]])
    return children


class _Outline:
    """The extent of a subtree to both sides at each level, the deepest first, from its root's centre."""

    __slots__ = ("highs", "lows", "offset")

    def __init__(self, lows: list[float], highs: list[float], offset: float) -> None:
        self.lows, self.highs, self.offset = lows, highs, offset

    def add_root(self, width: float) -> None:
        """Add the root on top."""
        self.lows.append(-width / 2 - self.offset)
        self.highs.append(width / 2 - self.offset)

    def apart(self, other: _Outline, gap: float) -> float:
        """The least distance of the root of the other one, to the right, from the first root of this one."""
        common = min(len(self.highs), len(other.lows))
        pairs = zip(self.highs[-common:], other.lows[-common:], strict=True)
        return max(high - low for high, low in pairs) + self.offset - other.offset + gap

    def beside(self, other: _Outline, apart: float) -> _Outline:
        """The outline of both, from the first root; the lists of the deeper one are reused."""
        mine, its = self.offset, other.offset + apart
        common = min(len(self.highs), len(other.lows))
        if len(self.highs) >= len(other.lows):
            self.highs[-common:] = [high + its - mine for high in other.highs[-common:]]
            self.offset = mine
            return self
        other.lows[-common:] = [low + mine - its for low in self.lows[-common:]]
        other.offset = its
        return other


def _centres(ends: Sequence[int], shift: Sequence[float], widths: Sequence[float]) -> Floats:
    """Centres from the shift of each node against its parent; the outermost side is at 0."""
    centre = np.zeros(len(ends))
    for node, end in enumerate(ends):
        if end > node + 1:
            for child in _children(ends, node):
                centre[child] = centre[node] + shift[child]
    return np.asarray(centre - (centre - np.asarray(widths) / 2).min())


def level_starts(depths: ArrayLike, length: ArrayLike, gap: float) -> Floats:
    """The start of each level: after the longest nodes of all levels before it, and the gaps.

    >>> level_starts([0, 1, 1], [3.0, 5.0, 2.0], 1.0).tolist()
    [0.0, 4.0]
    """
    depths = np.asarray(depths)
    longest = np.zeros(int(depths.max()) + 1)
    np.maximum.at(longest, depths, np.asarray(length, np.float64))
    return np.concatenate([[0.0], np.cumsum(longest + gap)[:-1]])
