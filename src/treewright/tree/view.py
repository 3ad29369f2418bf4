"""A tree as the core predicts with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from treewright import _core
from treewright._arrays import Floats, Int32s
from treewright.tree.oblique import Direction

if TYPE_CHECKING:
    from treewright.tree.tree import Tree


def view_of(tree: Tree) -> _core.TreeView:
    """The view of a tree's arrays, made once and kept with the tree.

    A row that the tree would divide goes to the heavier side.
    """
    if "_view" not in vars(tree):
        others = tree.surrogates
        surrogates = (
            others.starts(tree.n_nodes),
            others.feature,
            others.threshold,
            others.subset,
            others.reversed,
            others.subsets,
        )
        vars(tree)["_view"] = _core.TreeView(
            n_columns=len(tree.schema.columns),
            end=tree.end,
            feature=tree.feature,
            threshold=tree.threshold,
            subset=tree.subset,
            missing_left=tree.heavier_left if tree.missing == "fractional" else tree.missing_left,
            heavier_left=tree.heavier_left,
            subsets=tree.subsets,
            directions=direction_arrays(tree.directions),
            surrogates=surrogates if len(others) else None,
        )
    return cast(_core.TreeView, vars(tree)["_view"])


def direction_arrays(directions: tuple[Direction, ...]) -> list[tuple[Int32s, Floats]]:
    """The columns and the weights of each direction, as the core takes them."""
    return [(np.array(each.columns, np.int32), np.array(each.weights)) for each in directions]
