"""The smallest pruning for every number of errors: the exact Pareto front of size and loss.

The cost-complexity sequence has only the corners of the front; between them lie prunings that are optimal for
no alpha. f(k), the least loss with at most k leaves, is computed in one bottom-up pass: at each node the best
division of k among its children (a knapsack on the tree). The smallest pruning with at most d errors is the
first k with f(k) <= d.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset
from treewright.growing.limits import whole_number
from treewright.pruning.arguments import method
from treewright.pruning.path import Losses, PruningPath, leaf_mask
from treewright.pruning.traversal import Floats, Ints
from treewright.tree import Tree

CLOSED_BY = "errors"  # without this option the path goes on to the root, and `select` chooses


@dataclass(frozen=True, eq=False)
class Front:
    """The trees of the front, each constructed on access from the stored divisions."""

    full_tree: Tree
    leaves: Ints
    length: NDArray[np.int32] = field(repr=False)
    choices: NDArray[np.uint8] = field(repr=False)

    def __len__(self) -> int:
        return len(self.leaves)

    def tree(self, place: int) -> Tree:
        """The full tree, collapsed by the best division."""
        return self.full_tree.collapse(self.branches(place).tolist())

    def sums(self, of: Losses, data: Dataset) -> Floats:
        """One pass over the rows, then one over the nodes for each tree."""
        values = of(self.full_tree, data)
        leaves = (leaf_mask(self.full_tree, self.branches(place)) for place in range(len(self)))
        return np.array([values[mask].sum() for mask in leaves])

    def branches(self, place: int) -> NDArray[np.int32]:
        """The branches of the full tree that are leaves of the tree at a place."""
        return _core.front_pruning(self.full_tree.end, self.length, self.choices, int(self.leaves[place]))


@method
def minimum_errors(
    tree: Tree,
    *,
    errors: float | None = None,
    max_leaf_nodes: int | None = None,
    validation: Dataset | None = None,
) -> PruningPath:
    """For every number of training errors, the smallest pruning that makes no more of them.

    This is the exact Pareto front of size and loss; its prunings need not be nested.

    Parameters
    ----------
    errors : float, optional
        The training errors allowed (total weight, cost or loss, not a rate): the path ends with the smallest
        pruning within this limit. Without it the path goes on to the root.
    max_leaf_nodes : int, optional
        Consider only prunings of at most so many leaves. Time and memory grow with leaves × max_leaf_nodes: a
        tree of 10,000 leaves needs no limit, one of a million does.

    Returns
    -------
    PruningPath
        The front: no pruning has fewer leaves and no more errors. `level` is the errors of each tree.

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
        raise ValueError(f"errors is {errors!r}; it must be a number >= 0")
    if max_leaf_nodes is not None:
        max_leaf_nodes = whole_number("max_leaf_nodes", max_leaf_nodes, 1)
    leaves, loss, length, choices = _core.front(tree.end, np.ascontiguousarray(tree.loss), max_leaf_nodes)
    leaves, loss = leaves[::-1].copy(), loss[::-1].copy()
    if errors is not None:
        steps = int(np.searchsorted(loss, errors, side="right"))
        if steps == 0:
            within = "" if max_leaf_nodes is None else f" of at most {max_leaf_nodes} leaves"
            raise ValueError(f"no pruning{within} makes only {errors:g} errors; the least is {loss[0]:g}")
        leaves, loss = leaves[:steps], loss[:steps]
    training = np.asarray(tree.mean(loss))
    prunings = Front(tree, leaves, length, choices)
    path = PruningPath("minimum_errors", tree, prunings, loss, leaves, training, is_open=errors is None)
    return path.with_validation(validation)
