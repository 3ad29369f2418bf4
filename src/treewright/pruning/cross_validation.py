"""Cross-validation of a pruning parameter: trees grown without a fold are pruned and measured on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.encoding.splits import folds
from treewright.growing import grow
from treewright.pruning.path import mean_and_error, refuse_no_rows
from treewright.tree import Tree
from treewright.tree.costs import PARAMETERS
from treewright.tree.evaluate import squared_losses

Floats = NDArray[np.float64]


def cross_validated_losses(
    data: Dataset,
    growing: Mapping[str, Any],
    n_folds: int,
    seed: int,
    prune_at: Callable[[Tree, float], Tree],
    levels: Sequence[float] | Floats,
) -> tuple[Floats, Floats]:
    """The cross-validated mean loss at each level of a pruning parameter, and its standard error.

    Parameters
    ----------
    data : Dataset
        The rows; each is in one fold, and is measured in the trees grown without that fold.
    growing : mapping
        The arguments of `grow` for the trees of the folds.
    n_folds, seed : int
        The number of folds and the seed of their draw.
    prune_at : callable
        Prunes a tree at a level.
    levels : sequence of float
        The levels to try.

    Returns
    -------
    mean, standard_error : arrays of shape (n_levels,)

    Examples
    --------
    >>> from treewright import encode
    >>> data = encode({"x": [0] * 20 + [1] * 20}, ["a"] * 20 + ["b"] * 20)
    >>> mean, _ = cross_validated_losses(data, {}, 4, 0, lambda tree, n: tree.first(int(n)), [0, 1])
    >>> mean.tolist()
    [0.5, 0.0]
    """
    refuse_no_rows(data, "data")
    fold = folds(data, n_folds, seed)
    loss, square = np.zeros(len(levels)), np.zeros(len(levels))
    for number in range(n_folds):
        tree, held_out = grow(data.take(fold != number), **growing), data.take(fold == number)
        for place, level in enumerate(levels):
            pruned = prune_at(tree, float(level))
            loss[place] += pruned.loss_of(held_out)[pruned.is_leaf].sum()
            square[place] += squared_losses(pruned, held_out)[pruned.is_leaf].sum()
    return mean_and_error(loss, square, data)


def tune_constant(
    tree: Tree,
    data: Dataset | None,
    growing: Mapping[str, Any] | None,
    n_folds: int,
    seed: int,
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
    data = data.restated(tree.schema.targets)  # costs, and how they alter the splits, are the tree's
    own = {name: value for name, value in (growing or {}).items() if name not in PARAMETERS}
    arguments = {"criterion": tree.criterion, **own}
    losses, errors = cross_validated_losses(data, arguments, n_folds, seed, prune_at, grid)
    best = grid[int(np.flatnonzero(losses <= losses.min())[-1])]
    return {"c": best, "tried": tuple(grid), "losses": losses, "standard_errors": errors}
