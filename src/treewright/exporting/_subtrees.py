"""A deep tree cut into pieces of limited height, for formats whose readers call themselves once per level."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright.tree import Tree


class Pieces(NamedTuple):
    """Which piece each node belongs to, numbered in preorder; the root of a piece belongs to it."""

    is_root: NDArray[np.bool_]
    piece: NDArray[np.int64]
    levels: int  # the most pieces that a path from the root goes through


def pieces(tree: Tree, tallest: int) -> Pieces:
    """The tree in pieces no taller than `tallest`, as few as possible up to a constant factor.

    A node becomes the root of a piece where the part of the tree below it, down to the next pieces, is that
    tall; so each piece but the first has at least `tallest` branches.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "b", "a", "b"]))
    >>> cut = pieces(tree, 1)
    >>> cut.is_root.tolist(), cut.levels
    ([True, False, True, False, True, False, False], 3)
    """
    n = tree.n_nodes
    is_root = np.zeros(n, np.bool_)
    is_root[0] = True
    if tree.depth <= tallest:
        return Pieces(is_root, np.zeros(n, np.int64), 1)
    height, parent = [0] * n, tree.parent.tolist()
    for node, above in zip(range(n - 1, 0, -1), reversed(parent), strict=False):
        below = height[node]
        if below == tallest:
            is_root[node] = True
            below = 0
        height[above] = max(height[above], below + 1)
    number = (np.cumsum(is_root) - 1).tolist()
    piece, level = [0] * n, [1] * n
    for node, (above, root) in enumerate(zip(parent, is_root.tolist(), strict=True)):
        if node:
            piece[node] = number[node] if root else piece[above]
            level[node] = level[above] + root
    return Pieces(is_root, np.array(piece, np.int64), max(level))
