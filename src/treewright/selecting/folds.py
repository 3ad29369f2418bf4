"""By cross validation, CART's way: the price of a leaf that serves trees grown without the rows they judge.

The path says for which prices alpha each tree is the best. For tree j take the price β_j = √(α_j · α_j+1),
the middle of its range. Each fold's rows judge a tree grown from all other rows, pruned at every β_j.
A fold grows one tree; all its prunings are judged in one pass.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.encoding.splits import folds as dealt
from treewright.growing import grow
from treewright.pruning import PruningPath, cost_complexity_path, weakest_links
from treewright.pruning.path import NestedPrunings, mean_and_error, refuse_no_rows
from treewright.selecting.one_standard_error import by_rule, check_rule
from treewright.tree import Tree
from treewright.tree.costs import PARAMETERS
from treewright.tree.evaluate import squared_losses

Floats = NDArray[np.float64]


def folds(
    path: PruningPath,
    *,
    data: Dataset,
    n_folds: int = 10,
    rule: Literal["0-SE", "1-SE"] = "1-SE",
    growing: Mapping[str, Any] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> PruningPath:
    """The tree with the least loss by cross validation over the price of a leaf.

    Parameters
    ----------
    path : PruningPath
        A path by "cost_complexity".
    data : Dataset
        The rows that the tree was grown from.
    n_folds : int
        In how many parts the rows are dealt; as many trees are grown.
    rule : {"0-SE", "1-SE"}
        The least loss, or the smallest tree whose loss is within one standard error of it, as in CART.
    growing : mapping, optional
        The keyword arguments of `grow` that the tree was grown with, so that those of the folds are like it.
        The criterion is taken from the tree, and so are the costs.
    seed : int
        Of the deal.
    n_jobs : int, optional
        Threads that grow the trees, as in `grow`.

    Returns
    -------
    PruningPath
        With the estimate as `validation`, and its standard error √(Σr² − (Σr)²/n) / n over the rows.
    """
    check_rule(rule)
    _check(path, data)
    options = {"n_jobs": n_jobs} | _growing(path, growing)
    betas = middle_levels(path)
    data = data.restated(
        path.full_tree.schema.targets
    )  # costs, and how they alter the splits, are the tree's
    fold = dealt(data, n_folds, seed)
    sums = np.zeros((2, len(path)))
    for i in range(n_folds):
        held = data.take(fold == i)
        tree = grow(data.take(fold != i), **options)
        prunings = NestedPrunings(tree, np.searchsorted(betas, _levels(tree, path)), len(betas))
        sums += prunings.sums(Tree.loss_of, held), prunings.sums(squared_losses, held)
    mean, error = mean_and_error(sums[0], sums[1], data)
    judged = replace(path, validation=mean, standard_error=error)
    return by_rule(judged, rule, f"{n_folds} folds")


def middle_levels(path: PruningPath) -> Floats:
    """The price β_j of each tree: 0 for the first, the geometric mean of its range, ∞ for the root alone."""
    alpha = cost_complexity_path(path.full_tree, _risk(path.full_tree, path)).alpha
    following = np.append(alpha[1:], np.inf)
    with np.errstate(invalid="ignore"):  # 0 · ∞, of a tree that is a leaf from the first
        betas = np.sqrt(alpha * following)
    betas[0], betas[-1] = 0.0, np.inf
    return np.asarray(betas[: len(path)])


def _levels(tree: Tree, path: PruningPath) -> Floats:
    return weakest_links(tree, _risk(tree, path))


def _risk(tree: Tree, path: PruningPath) -> Floats:
    """What leaves are to lower, as on the path."""
    return tree.loss if path.details["on"] == "loss" else tree.risk


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


def _growing(path: PruningPath, growing: Mapping[str, Any] | None) -> dict[str, Any]:
    """The keyword arguments of `grow`, with the criterion of the tree and without the costs, which it has."""
    options = dict(growing or {})
    known = [name for name in list(inspect.signature(grow).parameters)[1:] if not name.startswith("_")]
    for name in options:
        if name not in known:
            raise TypeError(f"growing has {name!r}, which is no parameter of grow: {', '.join(known)}")
    own = path.full_tree.criterion
    if options.get("criterion") not in (None, own, "log_loss" if own == "entropy" else own):
        raise ValueError(f"growing has the criterion {options['criterion']!r}; the tree was grown by {own!r}")
    kept = {name: value for name, value in options.items() if name not in PARAMETERS}
    return kept | {"criterion": own}
