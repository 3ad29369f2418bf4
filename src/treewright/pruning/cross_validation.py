"""Cross-validation of a pruning parameter: trees grown without a fold are pruned and measured on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from treewright._suggestions import check_names
from treewright.encoding import Dataset
from treewright.encoding.splits import folds
from treewright.growing import grow
from treewright.parameters import GROW
from treewright.pruning.path import Prunings, TreeList, mean_and_error, refuse_no_rows
from treewright.pruning.traversal import Floats
from treewright.tree import Tree
from treewright.tree.evaluate import squared_losses


def cross_validated_losses(
    data: Dataset,
    growing: Mapping[str, Any],
    n_folds: int,
    random_state: int,
    prunings_of: Callable[[Tree], Prunings],
) -> tuple[Floats, Floats]:
    """The cross-validated mean loss at each level of a pruning parameter, and its standard error.

    Each row is in one fold, and is measured in the tree grown without that fold, by the arguments `growing`;
    `prunings_of` makes the prunings of such a tree, one for each level.

    >>> from treewright import encode
    >>> data = encode({"x": [0] * 20 + [1] * 20}, ["a"] * 20 + ["b"] * 20)
    >>> mean, _ = cross_validated_losses(data, {}, 4, 0, lambda tree: TreeList((tree.first(0), tree)))
    >>> mean.tolist()
    [0.5, 0.0]
    """
    refuse_no_rows(data, "data")
    fold = folds(data, n_folds, random_state)
    sums: Any = 0.0
    for number in range(n_folds):
        prunings = prunings_of(grow(data.take(fold != number), **growing))
        held_out = data.take(fold == number)
        sums = sums + np.stack([prunings.sums(of, held_out) for of in (Tree.loss_of, squared_losses)])
    return mean_and_error(sums[0], sums[1], data)


def fold_options(tree: Tree, growing: Mapping[str, Any] | None) -> dict[str, Any]:
    """The arguments of `grow` for the trees of the folds: those that the tree was grown with, its seed
    included, with its criterion and without the costs, which `Dataset.with_target_specs` gives to the rows.
    """
    options = dict(growing or {})
    check_names("grow", GROW, [name for name in options if not name.startswith("_")])  # as `grow` does
    own = tree.criterion
    if options.get("criterion") not in (None, own, "log_loss" if own == "entropy" else own):
        raise ValueError(f"growing has the criterion {options['criterion']!r}; the tree was grown by {own!r}")
    return {name: value for name, value in options.items() if name != "costs"} | {"criterion": own}


def tune_constant(
    tree: Tree,
    data: Dataset | None,
    growing: Mapping[str, Any] | None,
    n_folds: int,
    random_state: int,
    prune_at: Callable[[Tree, float], Tree],
    grid: Sequence[float],
) -> dict[str, Any]:
    """The constant `c` of a grid with the smallest cross-validated loss, the largest among equals; with the
    values `tried`, their `losses` and `standard_errors`.

    The trees of the folds are grown with the criterion and the costs of `tree` and the arguments `growing`.
    """
    if data is None:
        raise ValueError('c="cv" needs data=, the Dataset that the tree was grown from')
    refuse_no_rows(data, "data")

    def prunings_of(fold_tree: Tree) -> TreeList:
        return TreeList(tuple(prune_at(fold_tree, constant) for constant in grid))

    rows = data.with_target_specs(tree.schema.targets)  # costs, and how they alter the splits, are the tree's
    arguments = fold_options(tree, growing)
    losses, errors = cross_validated_losses(rows, arguments, n_folds, random_state, prunings_of)
    best = grid[int(np.flatnonzero(losses <= losses.min())[-1])]
    return {"c": best, "tried": tuple(grid), "losses": losses, "standard_errors": errors}
