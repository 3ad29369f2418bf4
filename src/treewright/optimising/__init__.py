"""Provably optimal trees: the tree of least training loss within a depth and a size, and its proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from treewright.advice import Advice, warn
from treewright.encoding import Dataset
from treewright.encoding.rows import takes_rows, training_rows
from treewright.growing.limits import in_units
from treewright.growing.targets import check_rows
from treewright.optimising.columns import ColumnLosses, losses_without
from treewright.optimising.front import OptimalFront, front_of
from treewright.optimising.optimum import Optimum
from treewright.optimising.patches import improve
from treewright.optimising.search import Budget, Problem
from treewright.parameters.optimal import OptimiseParameters
from treewright.parameters.spec import takes
from treewright.parameters.values import Costs, from_first
from treewright.tree.costs import with_costs

__all__ = ["ColumnLosses", "OptimalFront", "Optimum", "doing_without", "improve", "optimal_front", "optimise"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_MOST_CELLS = 5 * 10**9  # rows × views² of one node, above which a search takes minutes
_LEAST_WORK = 20  # that is always spent on the search of fewer leaves

_NOT_HERE = {
    "criterion": "an optimal tree has the fewest errors, the least cost or the least squared error",
    "missing": "missing values go to the better side at each test, as with missing='learn'",
    "split": "the best tree is searched among tests of single columns",
    "monotonic_cst": "the search cannot keep predictions in order; grow a tree with monotonic_cst",
    "interaction_cst": "the search cannot restrict columns to groups; grow a tree with interaction_cst",
    "feature_costs": "the search does not price columns; doing_without says what each of them saves",
    "random_state": "nothing is drawn at random",
}


def _explains_others(function: _Function) -> _Function:
    """Decorate a search: options that only `grow` has are refused with the reason."""

    @wraps(function)
    def checked(*rows: Any, **options: Any) -> Any:
        for name in options:
            if name in _NOT_HERE:
                raise TypeError(f"{function.__name__} has no parameter {name!r}: {_NOT_HERE[name]}")
        return function(*rows, **options)

    return cast(_Function, checked)


@_explains_others
@takes_rows
@takes(OptimiseParameters)
def optimise(data: Dataset, **options: Any) -> Optimum:
    """Search the tree of the least training loss, and prove that no other tree within the limits has less.

    The tree has the fewest misclassified rows (their weight, or their cost) of all trees of `max_depth` on
    the table as it is: with every threshold, with categories and missing values. For numbers it has the least
    squared error. Of several such trees it is one with the fewest leaves, as far as this can be proved by a
    quarter of the work again. The tree is the same for any number of threads, unless `time_limit` ends the
    search; then it is the best tree so far, with a bound for all others.

    Returns
    -------
    Optimum
        The tree, its loss and the bound.

    See Also
    --------
    grow : The tree that is split greedily, in a fraction of the time and for any depth.
    improve : Better subtrees within a large tree.

    Examples
    --------
    >>> from treewright import encode, grow, optimise
    >>> xor = encode({"a": [0, 0, 1, 1, 1], "b": [0, 1, 0, 1, 1]}, ["no", "yes", "yes", "no", "no"])
    >>> optimum = optimise(xor, max_depth=2)
    >>> print(optimum)  # doctest: +ELLIPSIS
    a tree of depth 2, 4 leaves: 0 of 5 rows wrong (0.0 %)
    proved: no tree of depth 2 does better, and none of fewer leaves is as good (... s)
    >>> optimum.loss, optimum.bound, optimum.is_proved
    (0.0, 0.0, True)
    """
    return _best(_problem(data, options))


@_explains_others
@takes_rows
@takes(OptimiseParameters)
def optimal_front(data: Dataset, **options: Any) -> OptimalFront:
    """Search the best tree of every number of leaves, up to those that a depth allows.

    The limits of time and work are for all sizes together.

    Returns
    -------
    OptimalFront
        The trees from the largest to the smallest, each with its bound; `treewright.select` chooses one of
        them by size, by held-out rows or by folds.

    Examples
    --------
    >>> from treewright import optimal_front
    >>> table = {"a": [1, 2, 3, 4, 5, 6], "b": [1, 1, 2, 2, 3, 3]}
    >>> front = optimal_front(table, ["no", "yes", "yes", "no", "no", "no"], max_depth=2)
    >>> print(front)
    leaves   loss
         3      0   proved
         2      1   proved
         1      2   proved
    """
    return front_of(_problem(data, options), _best)


def doing_without(optimum: Optimum, data: Any, target: Any = None) -> ColumnLosses:
    """For each column that the best tree tests, the least loss of a tree that may not test it.

    Parameters
    ----------
    optimum : Optimum
        What `optimise` returned; the limits are its own, those of time and work for all columns together.
    data : table, tuple (table, target) or (table, target, weights), or Dataset
        The rows that it was searched with.
    target : str or array, optional
        Of a table in `data`: its target column, or its targets.

    Returns
    -------
    ColumnLosses
        ``print`` shows them as a table.

    Examples
    --------
    >>> from treewright import doing_without, encode, optimise
    >>> data = encode({"a": [1, 2, 3, 4], "b": [1, 2, 4, 3]}, ["no", "no", "yes", "yes"])
    >>> optimum = optimise(data, max_depth=1)
    >>> print(doing_without(optimum, data))
    least loss of a tree that may not test the column
    column   loss   more
    a           0      0   proved
    """
    problem = _problem(training_rows("doing_without", data, target), optimum.limits)
    if (
        problem.data.n_rows != optimum.tree.rows[0]
        or problem.data.schema.columns != optimum.tree.schema.columns
    ):
        raise ValueError("data is not what the optimum was searched with: it has other rows or columns")
    return losses_without(problem, optimum)


def _problem(data: Dataset, options: Mapping[str, Any]) -> Problem:
    """The checked problem of a table and the parameters of `optimise`."""
    check_rows(data)
    if len(data.schema.targets) != 1:
        raise ValueError(f"data has {len(data.schema.targets)} targets; the best tree is searched for one")
    if not data.n_counted:
        raise ValueError("data has no rows" + (" with positive weight" if data.n_rows else ""))
    rows = data if data.n_counted == data.n_rows else data.take(data.counted)
    if options.get("costs") is not None:
        costs = from_first(Costs)(options["costs"])
        rows = with_costs(rows, costs.matrix, costs.priors, "none")
    plain = in_units({"min_samples_leaf": options["min_samples_leaf"]}, rows.n_rows, rows.total_weight)
    problem = Problem(rows, {**options, **plain})
    _advise(problem)
    return problem


def _advise(problem: Problem) -> None:
    """Warn before a search that is likely to find its limit."""
    cells = problem.data.n_rows * float(len(problem.views)) ** 2
    if int(problem.options["max_depth"]) > 1 and cells > _MOST_CELLS:
        text = (
            f"the search compares all pairs of {len(problem.views):,} tests of {problem.data.n_rows:,} rows, "
            "which takes minutes at every node; it will hardly find more than the greedy tree"
        )
        warn([Advice("wide_search", text, "select columns first, or set max_depth=1")])


def _best(problem: Problem) -> Optimum:
    """The best tree, of several one with the fewest leaves."""
    budget = Budget(problem.options["time_limit"], problem.options["work_limit"])
    result = problem.search(budget, first=problem.first())
    tree = problem.tree(result.found)
    history, stopped, is_smallest = result.history, result.stopped, tree.n_leaves == 1
    most_work = max(result.work // 4, _LEAST_WORK)
    while result.is_proved and not is_smallest and stopped != "interrupt" and budget.seconds > 0:
        fewer = problem.search(
            budget, max_leaves=tree.n_leaves - 1, max_work=most_work, known=problem.objective(tree)
        )
        if fewer.stopped == "interrupt":
            stopped = fewer.stopped
        is_smallest = fewer.bound > result.loss + result.slack
        if fewer.loss > result.loss + result.slack:
            break
        result = fewer
        tree = problem.tree(result.found)
        is_smallest = tree.n_leaves == 1
    objective = problem.objective(tree)
    moments = np.array(history, np.float64)
    moments[:, 2:] *= problem.grid.unit
    return Optimum(
        tree=tree,
        objective=objective,
        bound=problem.bound(result, objective),
        stopped=stopped,
        is_smallest=is_smallest,
        seconds=budget.spent,
        work=budget.work,
        history=moments,
        limits=dict(problem.options),
        leaf_price=problem.price,
        _problem=problem,
    )
