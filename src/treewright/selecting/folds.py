"""By cross-validation of the complexity parameter alpha, as in CART.

Each tree of the path is optimal for a range of alpha; tree j is represented by the middle of its range,
β_j = √(α_j · α_j+1). For each fold one tree is grown from all other rows, pruned at every β_j, and all its
prunings are measured on the rows of the fold in one pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from treewright.encoding import Dataset
from treewright.pruning import PruningPath, weakest_links
from treewright.pruning.arguments import method
from treewright.pruning.cross_validation import cross_validated_losses, fold_options
from treewright.pruning.path import NestedPrunings, refuse_no_rows
from treewright.pruning.traversal import Floats
from treewright.selecting import optimal_sizes
from treewright.selecting.one_standard_error import by_rule, check_rule
from treewright.tree import Tree


@method
def folds(
    path: PruningPath,
    *,
    data: Dataset,
    n_folds: int = 10,
    rule: Literal["0-SE", "1-SE"] = "1-SE",
    growing: Mapping[str, Any] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> PruningPath:
    """The tree with the least loss by cross-validation over the price of a leaf, alpha.

    For paths by "cost_complexity", and over the number of leaves for the best trees of all sizes.

    Parameters
    ----------
    data : Dataset or tuple (table, target)
        The rows that the tree was grown from.
    n_jobs : int, optional
        Threads that grow the trees, as in `grow`.

    Returns
    -------
    PruningPath
        With the estimate as `validation`, and its standard error √(Σr² − (Σr)²/n) / n over the rows.
    """
    check_rule(rule)
    if path.method == optimal_sizes.METHOD:
        path = optimal_sizes.cross_validated_sizes(path, data, n_folds, random_state)
        return by_rule(path, rule, f"{n_folds} folds")
    _check(path, data)
    betas = middle_levels(path)

    def prunings_of(tree: Tree) -> NestedPrunings:
        level = weakest_links(tree, tree.loss if path.details["on"] == "loss" else tree.risk)
        return NestedPrunings(tree, np.searchsorted(betas, level), len(betas))

    rows = data.with_target_specs(path.full_tree.schema.targets)  # with the costs of the tree
    options = {"n_jobs": n_jobs} | fold_options(path.full_tree, growing)
    mean, error = cross_validated_losses(rows, options, n_folds, random_state, prunings_of)
    return by_rule(
        replace(path, validation=mean, standard_error=error, n_validation=0), rule, f"{n_folds} folds"
    )


def middle_levels(path: PruningPath) -> Floats:
    """The price β_j of each tree: 0 for the first, the geometric mean of its range, ∞ for the root alone."""
    alpha: Floats = path.details["alphas"]
    following = np.append(alpha[1:], np.inf)
    with np.errstate(invalid="ignore"):  # 0 · ∞, of a tree that is a leaf from the first
        betas = np.sqrt(alpha * following)
    betas[0], betas[-1] = 0.0, np.inf
    return np.asarray(betas[: len(path)])


def _check(path: PruningPath, data: Dataset) -> None:
    if path.method != "cost_complexity" or "on" not in path.details:
        raise ValueError(
            f"folds choose the price of a leaf, which a path by {path.method!r} has not; "
            "prune by 'cost_complexity', or select by 'held_out'"
        )
    refuse_no_rows(data, "data")
    tree, own = path.full_tree, "folds need the rows that it was grown from"
    if data.schema.columns != tree.schema.columns:
        raise ValueError(f"data has other columns than the tree; {own}")
    if [target.classes for target in data.schema.targets] != [t.classes for t in tree.schema.targets]:
        raise ValueError(f"data has other targets than the tree; {own}")
    counted = data.n_counted
    if counted != tree.rows[0]:
        raise ValueError(f"data has {counted} rows, but the tree was grown from {tree.rows[0]}; {own}")
