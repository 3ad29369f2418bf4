"""Reingold and Tilford's tidy places for the nodes of a tree, of any width, in time linear in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def tidy(end: ArrayLike, breadth: ArrayLike, gap: float, spans: ArrayLike | None = None) -> Floats:
    """The centre of each node across its level, from 0 on.

    A parent stands over the middle of its children, and nodes of one level keep `gap` between them; subtrees
    stand as close as their outlines allow.

    Parameters
    ----------
    end : array of int
        The shape: one past the subtree of each node, in preorder.
    breadth : array of float
        How much room each node takes across.
    gap : float
        The room between neighbours.
    spans : array of int, optional
        How many levels each leaf takes; by default its own.

    Examples
    --------
    >>> tidy([3, 2, 3], [10.0, 4.0, 4.0], 2.0).tolist()
    [5.0, 2.0, 8.0]
    """
    ends: list[int] = np.asarray(end).tolist()
    widths: list[float] = np.asarray(breadth, np.float64).tolist()
    n = len(ends)
    taken: list[int] = [1] * n if spans is None else np.asarray(spans).tolist()
    shift = [0.0] * n  # of each node from its parent
    outlines: dict[int, _Outline] = {}
    for node in range(n - 1, -1, -1):
        if ends[node] == node + 1:
            below = [widths[node] / 2] * (taken[node] - 1)
            outlines[node] = _Outline([-side for side in below], below, 0.0)
        else:
            children = _children(ends, node)
            outline = outlines.pop(children[0])
            for child in children[1:]:
                following = outlines.pop(child)
                shift[child] = outline.apart(following, gap)
                outline = outline.joined(following, shift[child])
            middle = shift[children[-1]] / 2
            for child in children:
                shift[child] -= middle
            outline.offset -= middle
            outlines[node] = outline
        outlines[node].stand(widths[node])
    return _placed(ends, shift, widths)


def _children(ends: Sequence[int], node: int) -> list[int]:
    """The children of a node: the first is the next node, each other one begins where one ends."""
    children = [node + 1]
    while ends[children[-1]] < ends[node]:
        children.append(ends[children[-1]])
    return children


class _Outline:
    """How far a subtree reaches to both sides at each level, the deepest first, from its root's centre."""

    __slots__ = ("highs", "lows", "offset")

    def __init__(self, lows: list[float], highs: list[float], offset: float) -> None:
        self.lows, self.highs, self.offset = lows, highs, offset

    def stand(self, width: float) -> None:
        """The root stands on top of it."""
        self.lows.append(-width / 2 - self.offset)
        self.highs.append(width / 2 - self.offset)

    def apart(self, other: _Outline, gap: float) -> float:
        """How far the root of the other one, to the right, must be from the first root of this one."""
        common = min(len(self.highs), len(other.lows))
        pairs = zip(self.highs[-common:], other.lows[-common:], strict=True)
        return max(high - low for high, low in pairs) + self.offset - other.offset + gap

    def joined(self, other: _Outline, apart: float) -> _Outline:
        """Both, from the first root; what the deeper one knows is kept and not copied."""
        mine, its = self.offset, other.offset + apart
        common = min(len(self.highs), len(other.lows))
        if len(self.highs) >= len(other.lows):
            self.highs[-common:] = [high + its - mine for high in other.highs[-common:]]
            self.offset = mine
            return self
        other.lows[-common:] = [low + mine - its for low in self.lows[-common:]]
        other.offset = its
        return other


def _placed(ends: Sequence[int], shift: Sequence[float], widths: Sequence[float]) -> Floats:
    """Centres from what each node is shifted against its parent; the outermost side is at 0."""
    centre = np.zeros(len(ends))
    for node, end in enumerate(ends):
        if end > node + 1:
            for child in _children(ends, node):
                centre[child] = centre[node] + shift[child]
    return np.asarray(centre - (centre - np.asarray(widths) / 2).min())


def stacked(depths: ArrayLike, length: ArrayLike, gap: float) -> Floats:
    """Where each level begins: after the longest nodes of all levels before it, and the gaps.

    >>> stacked([0, 1, 1], [3.0, 5.0, 2.0], 1.0).tolist()
    [0.0, 4.0]
    """
    depths = np.asarray(depths)
    longest = np.zeros(int(depths.max()) + 1)
    np.maximum.at(longest, depths, np.asarray(length, np.float64))
    return np.concatenate([[0.0], np.cumsum(longest + gap)[:-1]])
