"""The smallest pruning for every number of errors: the whole front of size and loss, exactly.

The cost-complexity sequence has only the corners of the front; between them lie prunings that no price of a
leaf finds. f(k), the least loss with at most k leaves, comes out of one bottom-up pass: at each node the best
division of k among its children (a knapsack on the tree). The smallest pruning with at most d errors is the
first k with f(k) <= d.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset
from treewright.pruning.path import Losses, PruningPath
from treewright.tree import Tree
from treewright.tree.surgery import subtree_mask

CLOSED_BY = "errors"  # without it the path goes on to the root, and `select` chooses


@dataclass(frozen=True, eq=False)
class Front:
    """The trees of the front, each made when it is asked for from the choices that its size needs."""

    grown: Tree
    leaves: NDArray[np.int64]
    length: NDArray[np.int32] = field(repr=False)
    choices: NDArray[np.uint8] = field(repr=False)

    def __len__(self) -> int:
        return len(self.leaves)

    def tree(self, place: int) -> Tree:
        """The grown tree, collapsed where the best division says so."""
        return self.grown.collapse(self.branches(place).tolist())

    def sums(self, of: Losses, data: Dataset) -> NDArray[np.float64]:
        """One pass over the rows, then one over the nodes for each tree."""
        worth = of(self.grown, data)
        return np.array([worth[self._leaves(place)].sum() for place in range(len(self))])

    def branches(self, place: int) -> NDArray[np.int32]:
        """The branches of the grown tree that are leaves of the tree at a place."""
        return _core.front_pruning(self.grown.end, self.length, self.choices, int(self.leaves[place]))

    def _leaves(self, place: int) -> NDArray[np.bool_]:
        """The nodes that are leaves of a tree: the collapsed ones, and what was a leaf outside of them."""
        branches = self.branches(place)
        leaves: NDArray[np.bool_] = self.grown.is_leaf & ~subtree_mask(self.grown, branches)
        leaves[branches] = True
        return leaves


def minimum_errors(
    tree: Tree,
    *,
    errors: float | None = None,
    max_leaves: int | None = None,
    validation: Dataset | None = None,
) -> PruningPath:
    """For every number of errors the smallest pruning that makes no more of them.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is left as it is.
    errors : float, optional
        The errors allowed on the training rows (their weight, cost or loss, not a share): the path then ends
        with the smallest pruning that keeps to it. Without it the path goes on to the root alone.
    max_leaves : int, optional
        Look at prunings of at most so many leaves only. Time and memory grow with leaves × max_leaves: a tree
        of 10,000 leaves needs no limit, one of a million does.
    validation : Dataset, optional
        Held-out rows to try every pruning on.

    Returns
    -------
    PruningPath
        The front: no pruning has fewer leaves and no more errors. `level` is the errors that each makes; its
        trees need not be nested.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1, 2, 3, 4, 5, 6]}, ["a", "a", "a", "b", "a", "b"]))
    >>> path = minimum_errors(tree)
    >>> path.leaves.tolist(), path.level.tolist()
    ([4, 2, 1], [0.0, 1.0, 2.0])
    >>> minimum_errors(tree, errors=1).pruned.n_leaves
    2
    """
    if errors is not None and not (isinstance(errors, int | float | np.number) and errors >= 0):
        raise ValueError(f"errors is {errors!r}; it must be a number of at least 0")
    leaves, loss, length, choices = _core.front(tree.end, np.ascontiguousarray(tree.loss), max_leaves)
    leaves, loss = leaves[::-1].copy(), loss[::-1].copy()
    if errors is not None:
        steps = int(np.searchsorted(loss, errors, side="right"))
        if steps == 0:
            within = "" if max_leaves is None else f" of at most {max_leaves} leaves"
            raise ValueError(f"no pruning{within} makes only {errors:g} errors; the least is {loss[0]:g}")
        leaves, loss = leaves[:steps], loss[:steps]
    training = np.asarray(tree.mean(loss))
    prunings = Front(tree, leaves, length, choices)
    path = PruningPath("minimum_errors", tree, prunings, loss, leaves, training, is_open=errors is None)
    return path if validation is None else path.tried(validation)
