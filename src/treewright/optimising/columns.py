"""What a column is worth: the least loss of trees that test it first, and of trees that may not test it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright._arrays import Flags
from treewright._display import Layout, Record, TableResult
from treewright._text import amount, escape
from treewright.optimising.search import Budget, Problem
from treewright.tree import Tree
from treewright.tree.oblique import asked_columns

if TYPE_CHECKING:
    from treewright.optimising.optimum import Optimum


@dataclass(frozen=True)
class ColumnLoss(Record):
    """The best tree that was found under a condition on one column, and the least loss that any can have."""

    column: str
    position: int
    loss: float  # the price of the leaves included, as `Optimum.objective`
    bound: float
    more: float  # than the best tree without the condition

    @property
    def is_proved(self) -> bool:
        """Whether no such tree loses less."""
        return self.bound >= self.loss


@dataclass(frozen=True)
class ColumnLosses(TableResult):
    """A loss for each column, the best first."""

    heading: str
    columns: tuple[ColumnLoss, ...]

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, column: str) -> ColumnLoss:
        try:
            return next(each for each in self.columns if each.column == column)
        except StopIteration:
            raise KeyError(f"there is no loss of column {column!r}") from None

    def _layout(self) -> Layout:
        rows = [
            [
                escape(each.column),
                amount(each.loss),
                f"+{amount(each.more)}" if each.more > 0 else amount(each.more),
                "proved" if each.is_proved else f"at least {amount(each.bound)}",
            ]
            for each in self.columns
        ]
        return Layout([self.heading], ["column", "loss", "more", ""], rows, (1, 2))


def losses_of_first_columns(problem: Problem, tree: Tree, objective: float, bound: float) -> ColumnLosses:
    """For each column that can be tested, the least loss of a tree that tests it first."""
    views = problem.views
    budget = Budget(problem.options["time_limit"], problem.options["work_limit"])
    known = {} if tree.n_leaves == 1 else {int(tree.feature[0]): (objective, bound)}
    losses = []
    for position in np.unique(views.column).tolist():
        if position not in known:
            known[position] = _searched(problem, budget, root_views=views.column == position, least=bound)
        losses.append(_column_loss(problem, position, *known[position], objective))
    return _sorted("least loss of a tree that tests the column first", losses)


def losses_without(problem: Problem, optimum: Optimum) -> ColumnLosses:
    """For each column that a tree tests, the least loss of a tree that may not test it."""
    views = problem.views
    budget = Budget(problem.options["time_limit"], problem.options["work_limit"])
    losses = []
    for position in asked_columns(optimum.tree):
        found = _searched(problem, budget, views=views.column != position, least=optimum.bound)
        losses.append(_column_loss(problem, position, *found, optimum.objective))
    return _sorted("least loss of a tree that may not test the column", losses)


def _searched(
    problem: Problem,
    budget: Budget,
    *,
    least: float,
    root_views: Flags | None = None,
    views: Flags | None = None,
) -> tuple[float, float]:
    """The objective and the bound of the best tree under a condition; no tree has less than `least`."""
    if views is not None and not views.any():
        objective = problem.objective(problem.leaf)
        return objective, objective
    result = problem.search(budget, root_views=root_views, views=views)
    objective = problem.objective(problem.tree(result.found))
    return objective, max(problem.bound(result, objective), min(least, objective))


def _column_loss(problem: Problem, position: int, loss: float, bound: float, best: float) -> ColumnLoss:
    name: Any = problem.data.schema.columns[position].name
    return ColumnLoss(name, position, loss, bound, max(loss - best, 0.0))


def _sorted(heading: str, losses: list[ColumnLoss]) -> ColumnLosses:
    return ColumnLosses(heading, tuple(sorted(losses, key=lambda each: (each.loss, each.position))))
