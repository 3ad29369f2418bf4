"""One pass from the leaves to the root: what is left below each branch, and whether it stays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from treewright.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

SAME_LOSS = 1e-12  # two losses that differ by this share of themselves are equal but for rounding


def pass_up(tree: Tree, worth: Floats, decide: Callable[[Ints, Floats], Mask]) -> Mask:
    """The branches that collapse when each is looked at after all that are below it.

    Parameters
    ----------
    tree : Tree
        The tree.
    worth : array of shape (n_nodes, n_parts)
        What each node is worth as a leaf: its loss, its number of leaves (1), … whatever adds up.
    decide : callable
        Takes branches of one depth and the worth of their current subtrees (the sum over the leaves that are
        left below each); says which of them collapse.
    """
    below = worth.copy()
    collapses = np.zeros(tree.n_nodes, np.bool_)
    for wave in tree.waves:
        kept = below[wave + 1] + below[tree.right[wave]]
        gone = decide(wave, kept)
        kept[gone] = worth[wave[gone]]
        below[wave] = kept
        collapses[wave] = gone
    return collapses
