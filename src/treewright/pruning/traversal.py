"""One pass from the leaves to the root that decides for each branch whether it collapses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from treewright.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

SAME_LOSS = 1e-12  # losses whose relative difference is below this are equal up to rounding


def collapse_mask(tree: Tree, values: Floats, decide: Callable[[Ints, Floats], Mask]) -> Mask:
    """Mask of the branches that collapse when each is decided after all branches below it.

    `values` are additive values of each node as a leaf, in columns: its loss, its number of leaves (1), …
    `decide` takes branches of one depth and the values of their current subtrees (sums over the leaves that
    are left below each) and returns a mask of those that collapse.
    """
    below = values.copy()
    collapses = np.zeros(tree.n_nodes, np.bool_)
    for wave in tree.waves:
        sums = below[wave + 1] + below[tree.right[wave]]
        mask = decide(wave, sums)
        sums[mask] = values[wave[mask]]
        below[wave] = sums
        collapses[wave] = mask
    return collapses
