"""One problem for the core: views, losses on a grid and limits; and the trees that it finds for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from treewright import _core
from treewright._arrays import Flags, Floats
from treewright.encoding import Dataset
from treewright.growing import grow
from treewright.optimising.assembly import Found, cheapest_pruning, found_of, named_tests, tree_of
from treewright.optimising.grid import Grid, class_grid, number_grid
from treewright.optimising.views import Views
from treewright.parameters.checks import n_threads
from treewright.tree import Tree
from treewright.tree.builder import LEAF
from treewright.tree.costs import costs_option

_NO_LIMIT = -1
_SLACK = 2**14  # of squared errors that add up to 2**52
_DEEPEST = 30  # beyond it the number of leaves is no limit in any table


class Budget:
    """What is left of time and work, for several searches that share them."""

    def __init__(self, seconds: float | None, work: int | None) -> None:
        self.start = time.monotonic()
        self.limit, self.work_limit = seconds, work
        self.work = 0

    @property
    def spent(self) -> float:
        """The seconds since it began."""
        return time.monotonic() - self.start

    @property
    def seconds(self) -> float:
        """The seconds that are left."""
        return np.inf if self.limit is None else max(self.limit - self.spent, 0.0)

    @property
    def work_left(self) -> int:
        """The work that is left, as the core has it."""
        return _NO_LIMIT if self.work_limit is None else max(self.work_limit - self.work, 0)


class Result(NamedTuple):
    """What one search has found."""

    found: Found
    loss: int  # on the grid, the price of the leaves included
    bound: int
    stopped: str
    history: Floats  # (moments, 4): seconds, work, loss, bound
    work: int
    slack: int = 0  # losses that differ by this are equal

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return int((self.found.view < 0).sum())

    @property
    def is_proved(self) -> bool:
        """Whether no tree within the limits loses less; of numbers, by more than rounding."""
        return self.bound >= self.loss - self.slack


@dataclass(frozen=True, eq=False)
class Problem:
    """A table and the limits of its best tree; `options` are the parameters of `optimise`.

    `data` has rows of positive weight only, and the costs of the target.
    """

    data: Dataset
    options: Mapping[str, Any]

    @cached_property
    def views(self) -> Views:
        """All that may be tested, for the rows in an order of their own: equal rows are one of their weight,
        so that the search sees the same problem whatever the order of the rows, and for rows that come twice.
        """
        views = Views.of(self.data, self.options["categories"])
        return views.canonical(merges=int(self.options["min_samples_leaf"]) == 1)

    @cached_property
    def price(self) -> float:
        """What a leaf costs, in units of the loss."""
        return float(self.options["leaf_penalty"]) * self._penalised

    @property
    def _penalised(self) -> float:
        """What a penalty is a share of: the weight of all rows; for numbers their squared error."""
        return self.data.total_weight if self.is_of_classes else float(self.leaf.loss[0])

    @property
    def is_of_classes(self) -> bool:
        """Whether the targets are classes."""
        return self.data.schema.predicts_classes

    @property
    def criterion(self) -> str:
        """The criterion of the trees: what they lose."""
        return "error" if self.is_of_classes else "squared_error"

    @cached_property
    def leaf(self) -> Tree:
        """The tree of a single leaf."""
        return tree_of(self.data, [LEAF], self.criterion)

    @cached_property
    def grid(self) -> Grid:
        """The losses as whole numbers."""
        if self.is_of_classes:
            return class_grid(self.views.data, self.price)
        grid = number_grid(self.views.data)
        unit = grid.unit * float(self._ask(grid, max_depth=0)["unit"])
        grid = replace(grid, unit=unit)
        return replace(grid, leaf_price=grid.units(self.price))

    @property
    def slack(self) -> int:
        """By so much losses on the grid differ by rounding alone."""
        return 0 if self.is_of_classes else _SLACK

    @property
    def most_leaves(self) -> int:
        """The largest number of leaves."""
        most = int(2 ** min(int(self.options["max_depth"]), _DEEPEST))
        given = self.options["max_leaf_nodes"]
        return most if given is None else min(int(given), most)

    def search(
        self,
        budget: Budget,
        *,
        first: Found | None = None,
        max_leaves: int | None = None,
        max_work: int | None = None,
        root_views: Flags | None = None,
        views: Flags | None = None,
        known: float | None = None,
    ) -> Result:
        """The best tree, of the given views and with one of `root_views` at its root, within the budget.

        A proved objective that is `known` is what the user's function is told.
        """
        used = self.views.codes if views is None else np.ascontiguousarray(self.views.codes[views])
        work = [each for each in (budget.work_left, max_work) if each is not None and each != _NO_LIMIT]
        memory, gap = self.options["memory_limit"], float(self.options["gap"])
        answer = self._ask(
            self.grid,
            codes=used,
            max_depth=min(int(self.options["max_depth"]), _DEEPEST),
            max_leaves=self.most_leaves if max_leaves is None else max_leaves,
            leaf_price=self.grid.leaf_price,
            seconds=budget.seconds,
            max_work=min(work, default=_NO_LIMIT),
            max_bytes=_NO_LIMIT if memory is None else int(memory),
            gap=max(self.grid.units(gap), self.slack),
            root_views=None if root_views is None else root_views.astype(np.uint8),
            first_view=None if first is None else np.ascontiguousarray(first.view, np.int32),
            first_code=None if first is None else np.ascontiguousarray(first.code, np.uint32),
            progress=self._progress(budget, known),
        )
        budget.work += int(answer["work"])
        view = np.asarray(answer["view"])
        if views is not None:
            view = np.where(view < 0, -1, np.append(np.flatnonzero(views), -1)[view]).astype(np.int32)
        found = Found(view, np.asarray(answer["code"]))
        numbers = answer["loss"], answer["bound"], answer["stopped"], answer["history"], answer["work"]
        result = Result(found, *numbers, self.slack)
        is_near = result.stopped == "gap" and result.is_proved  # as near as rounding allows
        return result._replace(stopped="proved") if is_near else result

    def _ask(self, grid: Grid, **limits: Any) -> Mapping[str, Any]:
        """What the core answers; `limits` are its arguments that differ from no limits."""
        target = self.views.data.target_array[0]
        nothing: dict[str, Any] = {"root_views": None, "first_view": None, "first_code": None}
        least = {
            "max_leaves": 0,
            "leaf_price": 0,
            "seconds": np.inf,
            "max_work": -1,
            "max_bytes": -1,
            "gap": 0,
            "progress": None,
        }
        return _core.optimise(
            **{"codes": self.views.codes, **nothing, **least, **limits},
            labels=np.ascontiguousarray(target, np.int32) if self.is_of_classes else None,
            n_classes=self.data.schema.width if self.is_of_classes else 1,
            weights=grid.weights,
            gains=grid.gains,
            numbers=None if self.is_of_classes else np.ascontiguousarray(target, np.float64),
            min_rows=int(self.options["min_samples_leaf"]),
            n_threads=n_threads(self.options["n_jobs"]),
        )

    def _progress(self, budget: Budget, known: float | None) -> Callable[[float, float, float], None] | None:
        """The user's function, told in units of the loss."""
        tell = self.options.get("progress")
        if tell is None:
            return None
        if known is not None:
            return lambda *_: tell(budget.spent, known, known)
        unit = self.grid.unit if self.is_of_classes else self.grid.of_weight  # the core knows that of squares
        return lambda _, loss, bound: tell(budget.spent, loss * unit, bound * unit)

    def tree(self, found: Found) -> Tree:
        """A found tree, with tests and statistics; leaves of one answer under a node are merged."""
        tests = named_tests(self.views, found, self.options["threshold"])
        return cheapest_pruning(tree_of(self.data, tests, self.criterion), self.price)

    def first(self, max_leaves: int | None = None) -> Found:
        """A good tree to start from: the best pruning of those that `grow` makes, or a leaf."""
        criteria = ("gini", "error") if self.is_of_classes else ("squared_error",)
        trees = [self._grown(criterion, max_leaves or self.most_leaves) for criterion in criteria]
        return found_of(self.views, min(trees, key=self.objective))

    def _grown(self, criterion: str, max_leaves: int) -> Tree:
        target = self.data.schema.targets[0]
        plain = self.data.with_target_specs((replace(target, costs=None, priors=None),))
        costs = None
        if target.costs is not None:
            weights = np.asarray(self.leaf.statistic[0])
            costs = costs_option(target, weights).replace(split="altered_priors")
        tree = grow(
            plain,
            criterion=criterion,
            costs=costs,
            max_depth=int(self.options["max_depth"]),
            max_leaf_nodes=max_leaves,
            min_samples_leaf=int(self.options["min_samples_leaf"]),
            category_gain="plain",
            n_jobs=self.options["n_jobs"],
        )
        return cheapest_pruning(tree, self.price)

    def objective(self, tree: Tree) -> float:
        """The loss of a tree and the price of its leaves."""
        return float(tree.loss[tree.is_leaf].sum()) + self.price * tree.n_leaves

    def bound(self, result: Result, objective: float) -> float:
        """The least objective that a tree can have, given the `objective` of the tree of a result."""
        if result.is_proved:
            return objective
        least = result.bound * self.grid.unit - self.grid.rounding
        return min(max(least, 0.0), objective)

    def merged(self, result: Result, tree: Tree) -> Found:
        """The tree of a result as one of views, without the leaves that were merged."""
        return result.found if tree.n_leaves == result.n_leaves else found_of(self.views, tree)
