"""Structural risk minimisation: the pruning of least training error + c·√(size / rows).

The penalty is concave in the size. So over all prunings, of which there may be astronomically many, the least
value lies on a corner of the lower hull of (leaves, errors), and the corners are the subtrees of the
cost-complexity sequence: between two of them a pruning lies on or above the line, the penalty on or above its
chord.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.pruning.cost_complexity import cost_complexity
from treewright.pruning.path import PruningPath
from treewright.pruning.tuning import chosen_by_folds
from treewright.tree import Tree

Size = Literal["nodes", "leaves"]
GRID = tuple(np.geomspace(0.02, 1.0, 18).round(4).tolist())  # of c, where it is chosen by folds


def srm(
    tree: Tree,
    *,
    c: float | Literal["cv"] = 1.0,
    size: Size = "nodes",
    data: Dataset | None = None,
    growing: dict[str, Any] | None = None,
    n_folds: int = 10,
    seed: int = 0,
    validation: Dataset | None = None,
) -> PruningPath:
    """The pruning of least training error + c·√(size / rows), over all prunings.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is left as it is.
    c : float or "cv"
        The weight of the penalty. 1 is that of the notes, and prunes far more than it should; about 0.3 gives
        good trees. "cv" chooses it by cross validation, which needs `data`.
    size : {"nodes", "leaves"}
        What counts as the size of a tree; the notes count nodes.
    data : Dataset, optional
        The rows that the tree was grown from, for ``c="cv"``.
    growing : dict, optional
        The parameters of `grow` for the trees of the folds.
    n_folds, seed : int
        How many folds, and the seed of their drawing.
    validation : Dataset, optional
        Held-out rows to try every subtree on; they choose nothing.

    Returns
    -------
    PruningPath
        The cost-complexity sequence with the best tree chosen; ``details["c"]`` is the weight used.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1, 2, 3, 4, 5, 6]}, ["a", "a", "a", "b", "a", "b"]))
    >>> srm(tree).pruned.n_leaves, srm(tree, c=0.1).pruned.n_leaves
    (1, 4)
    """
    if not tree.schema.predicts_classes:
        raise ValueError("srm weighs shares of errors against size; it is for trees that predict classes")
    path = cost_complexity(tree, validation=validation)
    if c != "cv":
        return chosen_by_penalty(path, c, size, method="srm")

    def prune_at(grown: Tree, constant: float) -> Tree:
        return chosen_by_penalty(cost_complexity(grown), constant, size).pruned

    found = chosen_by_folds(tree, data, growing, n_folds, seed, prune_at, GRID)
    best = chosen_by_penalty(path, found["c"], size, method="srm")
    return replace(best, details={**best.details, **found})


def chosen_by_penalty(path: PruningPath, c: float, size: Size, **changes: Any) -> PruningPath:
    """The path with the tree of least training loss + c·√(size / rows) chosen, the smallest among equals."""
    if not isinstance(c, Real) or not 0 <= c < np.inf:
        raise ValueError(f"c is {c!r}; it must be a number of at least 0, or 'cv'")
    value = path.training + c * penalty(path, size)
    best = len(path) - 1 - int(np.argmin(value[::-1]))
    return path.chose(best, details={**path.details, "c": c, "size": size}, **changes)


def penalty(path: PruningPath, size: Size) -> NDArray[np.float64]:
    """√(size / rows) of each tree of a path."""
    if size not in ("nodes", "leaves"):
        raise ValueError(f"size is {size!r}; it must be 'nodes' or 'leaves'")
    sizes = path.leaves if size == "leaves" else 2 * path.leaves - 1
    return np.asarray(np.sqrt(sizes / int(path.grown.rows[0])))
