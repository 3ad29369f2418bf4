"""Structural risk minimisation: the pruning of least training error + c·√(size / rows).

The penalty is concave in the size. So the minimum over all prunings lies on a corner of the lower convex hull
of (leaves, errors), and the corners are the subtrees of the cost-complexity sequence: between two corners
every pruning lies on or above the line, and the penalty on or above its chord.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from treewright.encoding import Dataset
from treewright.pruning.arguments import check_classes, check_constant, method
from treewright.pruning.cost_complexity import cost_complexity
from treewright.pruning.cross_validation import tune_constant
from treewright.pruning.path import PruningPath
from treewright.pruning.traversal import Floats
from treewright.tree import Tree

Size = Literal["nodes", "leaves"]
GRID = tuple(np.geomspace(0.02, 1.0, 18).round(4).tolist())  # the values of c that cross-validation tries


@method
def srm(
    tree: Tree,
    *,
    c: float | Literal["cv"] = 1.0,
    size: Size = "nodes",
    validation: Dataset | None = None,
    data: Dataset | None = None,
    growing: dict[str, Any] | None = None,
    n_folds: int = 10,
    random_state: int = 0,
) -> PruningPath:
    """The pruning of least training error + c·√(size / rows), over all prunings.

    For trees that predict classes.

    Parameters
    ----------
    c : float or "cv"
        The weight of the penalty. The theory has 1, which prunes far too much; about 0.3 gives good trees.
        "cv" chooses it by cross-validation, which needs `data`.
    size : {"nodes", "leaves"}
        The size of a tree; the theory counts nodes.

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
    check_classes(tree, "srm weighs the error rate against the size")
    path = cost_complexity(tree, validation=validation)
    if c != "cv":
        return choose_by_penalty(path, c, size, method="srm")

    def prune_at(grown_tree: Tree, constant: float) -> Tree:
        return choose_by_penalty(cost_complexity(grown_tree), constant, size).pruned

    tuning = tune_constant(tree, data, growing, n_folds, random_state, prune_at, GRID)
    best = choose_by_penalty(path, tuning["c"], size, method="srm")
    return replace(best, details={**best.details, **tuning})


def choose_by_penalty(path: PruningPath, c: float, size: Size, **changes: Any) -> PruningPath:
    """Choose the tree of least training loss + c·√(size / rows), the smallest among equals."""
    value = path.training + check_constant(c, " or 'cv'") * penalty(path, size)
    best = len(path) - 1 - int(np.argmin(value[::-1]))
    return path.choose(best, details={**path.details, "c": c, "size": size}, **changes)


def penalty(path: PruningPath, size: Size) -> Floats:
    """√(size / rows) of each tree of a path."""
    if size not in ("nodes", "leaves"):
        raise ValueError(f"size is {size!r}; it must be 'nodes' or 'leaves'")
    sizes = path.leaves if size == "leaves" else 2 * path.leaves - 1
    return np.asarray(np.sqrt(sizes / int(path.full_tree.rows[0])))
