"""The layout of a picture of a tree, for every renderer: marks with their places, no pixels."""

from __future__ import annotations

from treewright.plotting.scene.cards import MOST_LEAVES
from treewright.plotting.scene.colours import CLASS_COLOURS, OTHER_COLOUR, class_colours, value_colour
from treewright.plotting.scene.layout import tidy
from treewright.plotting.scene.scenes import SCENE, Scene, scene

__all__ = [
    "CLASS_COLOURS",
    "MOST_LEAVES",
    "OTHER_COLOUR",
    "SCENE",
    "Scene",
    "class_colours",
    "scene",
    "tidy",
    "value_colour",
]
