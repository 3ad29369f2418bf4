"""Small trees of yes and no, written by hand, and rows for them."""

from __future__ import annotations

from typing import Any

from treewright import Below, Branch, Column, Dataset, Leaf, Schema, Target, Tree, encode

YES_NO = Schema((Column("x"),), (Target("y", ("no", "yes")),))


def stump(left: list[float], right: list[float]) -> Tree:
    """A tree of one test, x <= 0.5, with the weights of no and yes on both sides."""
    return Tree.write(YES_NO, Branch(Below("x", 0.5), Leaf(left), Leaf(right)))


def rows_of(x: Any, y: Any, **more: Any) -> Dataset:
    """Rows for such a tree."""
    return encode({"x": x}, y, schema=YES_NO, **more)
