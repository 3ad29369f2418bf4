"""The best trees of all sizes as a path, and their loss by cross-validation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treewright.encoding import Dataset
from treewright.encoding.splits import folds as folds_of
from treewright.optimising import OptimalFront, optimal_front
from treewright.pruning import PruningPath
from treewright.pruning.path import TreeList, mean_and_error, refuse_no_rows
from treewright.tree import Tree
from treewright.tree.evaluate import squared_losses

METHOD = "optimal_front"


def path_of_front(front: OptimalFront) -> PruningPath:
    """The trees of a front as a path, from the largest to the smallest; none is chosen yet.

    >>> from treewright import optimal_front
    >>> front = optimal_front({"x": [1, 2, 3, 4]}, ["a", "b", "b", "a"], max_depth=2)
    >>> path_of_front(front).leaves.tolist()
    [3, 2, 1]
    """
    largest = front.trees[0]
    return PruningPath(
        METHOD,
        largest,
        TreeList(front.trees),
        np.arange(float(len(front))),
        front.leaves,
        np.asarray(largest.mean(front.loss)),
        is_open=True,
        details={"front": front},
    )


def cross_validated_sizes(path: PruningPath, data: Dataset, n_folds: int, random_state: int) -> PruningPath:
    """The path with the loss of the best trees of each size, searched without a fold and measured on it.

    The limits of time and work are those of the front, for each fold.
    """
    refuse_no_rows(data, "data")
    front: OptimalFront = path.details["front"]
    options = {name: value for name, value in front.limits.items() if name not in ("costs", "progress")}
    data = data.with_target_specs(path.full_tree.schema.targets)  # with the costs of the trees
    fold, sums = folds_of(data, n_folds, random_state), np.zeros((2, len(path)))
    for number in range(n_folds):
        found = optimal_front(data.take(fold != number), **options)
        trees = TreeList(tuple(found.of_size(leaves) for leaves in path.leaves.tolist()))
        held_out = data.take(fold == number)
        sums += np.stack([trees.sums(of, held_out) for of in (Tree.loss_of, squared_losses)])
    mean, error = mean_and_error(sums[0], sums[1], data)
    return replace(path, validation=mean, standard_error=error, n_validation=0)
