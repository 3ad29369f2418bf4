"""What is timed of pruning: paths, fronts, every method beside growing, and selection by folds.

The `peer` of a job is the part and who does it: "paths: scikit-learn", "shares: srm".
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.growing import score
from benchmarks.measuring import Job
from benchmarks.problems import Problem
from benchmarks.working import Task

FOLDS = 10
MOST_ALPHAS = 20  # that a grid search looks at

Table = dict[str, Any]  # "train", "target", "test", "test_target"

# What is measured -> the method and its options; rows are given to those that need them.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "reduced_error": ("reduced_error", {}),
    "cost_complexity": ("cost_complexity", {}),
    "srm": ("srm", {}),
    "bottom_up": ("bottom_up", {}),
    "chi_squared": ("chi_squared", {}),
    "pessimistic": ("pessimistic", {}),
    "pessimistic without raising": ("pessimistic", {"raising": False}),
    "bound": ("bound", {}),
    "bound without raising": ("bound", {"raising": False}),
}


def prepare(job: Job) -> Task:
    """All that comes before what is timed."""
    part, who = job.peer.split(": ")
    with np.load(job.data) as file:
        table = dict(file)
    makers: dict[str, Callable[[Job, Table, str], Task]] = {
        "paths": _path,
        "fronts": _front,
        "shares": _share,
        "selection": _selection,
    }
    return makers[part](job, table, who)


def _path(job: Job, table: Table, who: str) -> Task:
    """The weakest links alone; the tree is there already, but nothing that is derived from it."""
    if who == "scikit-learn":
        from sklearn.tree._tree import ccp_pruning_path

        model = _scikit(job.problem, table)
        return Task(lambda: ccp_pruning_path(model.tree_), lambda: {"leaves": int(model.get_n_leaves())})
    from treewright.pruning import cost_complexity_path

    _, tree = _grown(job, table)
    return Task(lambda: cost_complexity_path(replace(tree)), lambda: {"leaves": tree.n_leaves})


def _front(job: Job, table: Table, who: str) -> Task:
    """The whole front, or one tree of it."""
    from treewright.pruning.minimum_errors import minimum_errors

    _, tree = _grown(job, table)
    if who == "all sizes":
        return Task(lambda: minimum_errors(replace(tree)), lambda: {"leaves": tree.n_leaves})
    path = minimum_errors(tree)
    middle = len(path) // 2
    return Task(lambda: path[middle], lambda: {"leaves": int(path.leaves[middle])})


def _share(job: Job, table: Table, who: str) -> Task:
    """Growing, or what a method makes of a tree that was just grown, up to the pruned tree."""
    from treewright import encode, grow, prune

    data, tree = _grown(job, table)
    if who == "growing":
        return Task(lambda: grow(data, n_jobs=1), lambda: {"leaves": tree.n_leaves})
    method, options = METHODS[who]
    if method == "reduced_error":
        options = {"validation": encode(table["test"], table["test_target"], schema=data.schema)}
    elif options.get("raising", method in ("pessimistic", "bound")):
        options = {**options, "data": data}
    paths: list[Any] = []

    def work() -> None:
        paths[:] = [prune(replace(tree), method, **options)]
        _ = paths[0].pruned  # made when it is asked for

    # A path that is still open to choice has no size of its own.
    return Task(work, lambda: {} if paths[0].is_open else {"leaves": paths[0].pruned.n_leaves})


def _selection(job: Job, table: Table, who: str) -> Task:
    """From the table to the tree chosen by folds, growing included."""
    fit = {"treewright": _selected, "scikit-learn": _grid_searched}[who]
    few = {name: rows[:200] for name, rows in table.items()}
    fit(few, job.threads)
    chosen: list[Any] = []

    def work() -> None:
        chosen[:] = [fit(table, job.threads)]

    def finish() -> dict[str, Any]:
        leaves, predict = chosen[0]
        return {"leaves": leaves, "score": score(job.problem, predict(table["test"]), table["test_target"])}

    return Task(work, finish)


Chosen = tuple[int, Callable[[Any], Any]]  # the leaves of a tree, and its answers


def _selected(table: Table, threads: int) -> Chosen:
    from treewright import encode, grow, prune, select

    data = encode(table["train"], table["target"], classes=True)
    path = prune(grow(data, n_jobs=threads), "cost_complexity")
    tree = select(path, by="folds", data=data, n_folds=FOLDS, rule="0-SE", n_jobs=threads).pruned
    return tree.n_leaves, tree.predict


def _grid_searched(table: Table, threads: int) -> Chosen:
    """The road that scikit-learn has: its own path, thinned, and a fit for each alpha and fold."""
    import joblib
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(random_state=0)
    alphas = model.cost_complexity_pruning_path(table["train"], table["target"]).ccp_alphas
    thinned = alphas[np.unique(np.linspace(0, len(alphas) - 1, MOST_ALPHAS).round().astype(int))]
    search = GridSearchCV(model, {"ccp_alpha": np.maximum(thinned, 0.0)}, cv=FOLDS, n_jobs=threads)
    # Threads rather than processes, so that all of the CPU time is seen; growing lets them run.
    with joblib.parallel_backend("threading") if threads > 1 else contextlib.nullcontext():
        best = search.fit(table["train"], table["target"]).best_estimator_
    return int(best.get_n_leaves()), best.predict


def _grown(job: Job, table: Table) -> tuple[Any, Any]:
    """The rows encoded, and a tree grown from them to purity."""
    from treewright import encode, grow

    data = encode(table["train"], table["target"], classes=bool(job.problem.classes))
    return data, grow(data, n_jobs=1)


def _scikit(problem: Problem, table: Table) -> Any:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    model = DecisionTreeClassifier if problem.classes else DecisionTreeRegressor
    return model(random_state=0).fit(table["train"], table["target"])
