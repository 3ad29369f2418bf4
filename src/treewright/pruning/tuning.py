"""The dial of a pruning method chosen by folds: trees grown without each fold are pruned and tried on it."""

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


def cross_validated(
    data: Dataset,
    growing: Mapping[str, Any],
    n_folds: int,
    seed: int,
    prune_at: Callable[[Tree, float], Tree],
    levels: Sequence[float] | Floats,
) -> tuple[Floats, Floats]:
    """The mean loss at each level on rows that the trees were not grown from, and its standard error.

    Parameters
    ----------
    data : Dataset
        The rows; each is in one fold, and is judged by the trees that were grown without that fold.
    growing : mapping
        The arguments of `grow` for the trees of the folds.
    n_folds, seed : int
        How many folds, and the seed of the draw.
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
    >>> mean, _ = cross_validated(data, {}, 4, 0, lambda tree, splits: tree.first(int(splits)), [0, 1])
    >>> mean.tolist()
    [0.5, 0.0]
    """
    refuse_no_rows(data, "data")
    fold = folds(data, n_folds, seed)
    loss, square = np.zeros(len(levels)), np.zeros(len(levels))
    for number in range(n_folds):
        tree, out = grow(data.take(fold != number), **growing), data.take(fold == number)
        for place, level in enumerate(levels):
            pruned = prune_at(tree, float(level))
            loss[place] += pruned.loss_of(out)[pruned.is_leaf].sum()
            square[place] += squared_losses(pruned, out)[pruned.is_leaf].sum()
    return mean_and_error(loss, square, data)


def chosen_by_folds(
    tree: Tree,
    data: Dataset | None,
    growing: Mapping[str, Any] | None,
    n_folds: int,
    seed: int,
    prune_at: Callable[[Tree, float], Tree],
    grid: Sequence[float],
) -> dict[str, Any]:
    """The constant `c` of a grid that loses least in cross validation, the largest of several; and what was
    `tried`, with `losses` and `standard_errors`.

    The trees of the folds are grown by the criterion and the costs of `tree` and the arguments `growing` of
    `grow`.
    """
    if data is None:
        raise ValueError('c="cv" needs data=, the Dataset that the tree was grown from')
    refuse_no_rows(data, "data")
    costed = data.restated(tree.schema.targets)  # costs, and how they alter the splits, are the tree's
    given = {name: value for name, value in (growing or {}).items() if name not in PARAMETERS}
    arguments = {"criterion": tree.criterion, **given}
    losses, errors = cross_validated(costed, arguments, n_folds, seed, prune_at, grid)
    best = grid[int(np.flatnonzero(losses <= losses.min())[-1])]
    return {"c": best, "tried": tuple(grid), "losses": losses, "standard_errors": errors}
