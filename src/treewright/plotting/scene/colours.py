"""Colours that every reader tells apart: one for each class, a scale from light to dark for numbers."""

from __future__ import annotations

import numpy as np

from treewright.tree import Tree

# Okabe and Ito's colours without black, the most different ones first; made for any kind of colour vision.
CLASS_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
OTHER_COLOUR = "#999999"  # all classes for which no colour is left
INK, QUIET, LINE, FLOW = "#1F2933", "#5F6B7A", "#B8C1CC", "#DDE3EA"

_SCALE = ((253, 231, 178), (116, 173, 170), (16, 60, 110))  # its brightness falls all the way


def class_colours(tree: Tree) -> tuple[str, ...]:
    """A colour for each class of the first target; of many classes the heaviest have one of their own.

    >>> from treewright import encode, grow
    >>> class_colours(grow(encode({"x": [1.0, 2.0]}, ["a", "b"])))
    ('#0072B2', '#E69F00')
    """
    n = len(tree.schema.targets[0].classes or ())
    if n <= len(CLASS_COLOURS):
        return CLASS_COLOURS[:n]
    shares = tree.shares(np.array([0]))[0][0]
    heaviest = np.sort(np.argsort(-shares, kind="stable")[: len(CLASS_COLOURS)])
    colours = [OTHER_COLOUR] * n
    for code, colour in zip(heaviest.tolist(), CLASS_COLOURS, strict=True):
        colours[code] = colour
    return tuple(colours)


def value_colour(place: float) -> str:
    """The colour of a number by its place between the least (0: light) and the greatest (1: dark).

    >>> value_colour(0.0), value_colour(1.0)
    ('#FDE7B2', '#103C6E')
    """
    step = min(max(place, 0.0), 1.0) * (len(_SCALE) - 1)
    low = min(int(step), len(_SCALE) - 2)
    parts = [round(a + (b - a) * (step - low)) for a, b in zip(_SCALE[low], _SCALE[low + 1], strict=True)]
    return "#{:02X}{:02X}{:02X}".format(*parts)
