"""The best tree of every number of leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright._arrays import Floats, Ints
from treewright._display import Layout, ShownTable
from treewright._json import plain
from treewright._text import amount
from treewright.optimising.optimum import Optimum
from treewright.optimising.search import Budget, Problem
from treewright.tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class OptimalFront(ShownTable):
    """The best trees of every number of leaves, from the largest to the smallest.

    Sizes that lose as much as a smaller tree are left out. It is a sequence of trees;
    ``select(front, leaves=6)`` and the other ways of `treewright.select` choose one of them.

    Attributes
    ----------
    leaves : ndarray
        The number of leaves of each tree.
    loss : ndarray
        Its loss on the training rows.
    bound : ndarray
        The least loss that a tree of so many leaves can have.

    Examples
    --------
    >>> from treewright import optimal_front
    >>> front = optimal_front({"x": [1, 2, 3, 4]}, ["a", "b", "b", "a"], max_depth=2)
    >>> front.leaves.tolist(), front.loss.tolist(), front[0].n_leaves
    ([3, 2, 1], [0.0, 1.0, 2.0], 3)
    """

    trees: tuple[Tree, ...]
    loss: Floats
    bound: Floats
    limits: Mapping[str, Any]  # the options of the search

    @property
    def leaves(self) -> Ints:
        """The number of leaves of each tree."""
        return np.array([tree.n_leaves for tree in self.trees], np.int64)

    @property
    def is_proved(self) -> bool:
        """Whether all sizes are proved."""
        return bool((self.bound >= self.loss).all())

    def __len__(self) -> int:
        return len(self.trees)

    def __getitem__(self, place: int) -> Tree:
        return self.trees[place]

    def __iter__(self) -> Iterator[Tree]:
        return iter(self.trees)

    def of_size(self, leaves: int) -> Tree:
        """The best tree of at most so many leaves.

        >>> from treewright import optimal_front
        >>> optimal_front({"x": [1, 2, 3, 4]}, ["a", "b", "b", "a"], max_depth=2).of_size(2).n_leaves
        2
        """
        if leaves < 1:
            raise ValueError(f"leaves is {leaves}; a tree has one at least")
        return next(tree for tree in self.trees if tree.n_leaves <= leaves)

    def to_dict(self) -> dict[str, Any]:
        """Sizes, losses and bounds as plain values."""
        facts = {"leaves": self.leaves.tolist(), "loss": self.loss.tolist(), "bound": self.bound.tolist()}
        return plain(facts)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        sizes = self.leaves
        return f"<OptimalFront: {len(self)} trees of {sizes[-1]} to {sizes[0]} leaves>"

    def _layout(self) -> Layout:
        rows = [
            [f"{tree.n_leaves}", amount(loss), "proved" if bound >= loss else f"at least {amount(bound)}"]
            for tree, loss, bound in zip(self.trees, self.loss.tolist(), self.bound.tolist(), strict=True)
        ]
        return Layout([], ["leaves", "loss", ""], rows, (0, 1))


def front_of(problem: Problem, best: Callable[[Problem], Optimum]) -> OptimalFront:
    """The best trees of all sizes; `best` searches the one of any size, with which the others begin.

    The price of leaves does not count: each size has the least loss alone.
    """
    problem = Problem(problem.data, {**problem.options, "leaf_penalty": 0.0})
    budget = Budget(problem.options["time_limit"], problem.options["work_limit"])
    whole = best(problem)
    budget.work += whole.work
    kept = [(whole.tree, whole.objective, whole.bound)]
    while (leaves := kept[-1][0].n_leaves) > 1:
        smaller = _of_fewer_leaves(problem, budget, leaves - 1, kept[-1][2])
        while kept and smaller[1] <= kept[-1][1]:  # as good with fewer leaves
            kept.pop()
        kept.append(smaller)
    trees, losses, bounds = zip(*kept, strict=True)
    return OptimalFront(trees, np.array(losses), np.array(bounds), dict(problem.options))


def _of_fewer_leaves(problem: Problem, budget: Budget, most: int, least: float) -> tuple[Tree, float, float]:
    """The best tree of at most so many leaves, its loss, and a bound that is `least` for larger trees."""
    if most == 1:
        objective = problem.objective(problem.leaf)
        return problem.leaf, objective, objective
    share = _share_of(budget, most)
    result = problem.search(share, first=problem.first(most), max_leaves=most)
    budget.work += share.work
    tree = problem.tree(result.found)
    objective = problem.objective(tree)
    return tree, objective, max(problem.bound(result, objective), min(least, objective))


def _share_of(budget: Budget, sizes: int) -> Budget:
    """An equal share of what is left for each of some sizes."""
    seconds = None if budget.limit is None else budget.seconds / sizes
    work = None if budget.work_limit is None else budget.work_left // sizes
    return Budget(seconds, work)
