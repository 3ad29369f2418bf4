"""All methods on one table: what each keeps of one tree, and what that loses on rows that chose nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.certifying import certify, certify_errors
from treewright.certifying.binomial import check_delta
from treewright.encoding import Dataset
from treewright.enlisting import check_names, offered, options_of
from treewright.folding import split
from treewright.growing import grow
from treewright.pruning import METHODS, PruningPath, methods, prune, refuse_raising
from treewright.pruning.path import refuse_no_rows
from treewright.pruning.rules import rule_list
from treewright.rule_lists import RuleList
from treewright.schema import Schema
from treewright.selecting.choosing import RULES, by_rule
from treewright.selecting.folds import folds
from treewright.selecting.held_out import held_out
from treewright.selecting.tables import table_lines
from treewright.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Outcome = tuple[str, Tree | RuleList, float]  # how it was chosen, the tree or rules, seconds
# How a tree is chosen where the method leaves it open.
_WAYS: dict[str, Callable[..., PruningPath]] = {"folds": folds, "held_out": held_out}


@dataclass(frozen=True, eq=False)
class Comparison:
    """What each method made of one tree.

    `rows` has a dict for each: method, by (how one of its trees was chosen), leaves (or rules), the mean loss
    on the training, validation and test rows, the certificate (the true error is below it with probability
    1 − delta, for this row alone), the seconds it took, and trouble where it could not work. `constant` is
    what all of them must beat: the class or number that is best answered to every row, and its mean losses.
    """

    rows: tuple[dict[str, Any], ...]
    trees: dict[str, Tree | RuleList] = field(repr=False)  # by "method" or "method, by"
    schema: Schema = field(repr=False)
    criterion: str
    n_rows: tuple[int, int, int]  # to train, to validate, to test
    delta: float = 0.05
    constant: dict[str, Any] = field(default_factory=dict)  # the best constant answer, and what it loses

    def __repr__(self) -> str:
        return f"<Comparison: {len(self.rows)} lines, {len(self.trees)} trees; print it, or look at its rows>"

    def __str__(self) -> str:
        return "\n".join(table_lines(self))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the losses of all methods; needs matplotlib."""
        from treewright.drawing.comparisons import draw_comparison

        return draw_comparison(self, ax=ax)


def compare(
    data: Dataset,
    methods: str | Sequence[str] = "all",
    *,
    validation: Dataset | None = None,
    test: Dataset | None = None,
    shares: Sequence[float] = (0.6, 0.2, 0.2),
    seed: int = 0,
    growing: Mapping[str, Any] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    cost_matrix: Any = None,
    priors: Any = None,
    delta: float = 0.05,
    n_jobs: int | None = None,
) -> Comparison:
    """Grow one tree and prune it by every method.

    Parameters
    ----------
    data : Dataset
        All rows, which are split here; or those to train on, where `validation` and `test` are given.
    methods : "all" or list of str
        Which of `treewright.pruning.methods()`, and "rules".
    validation, test : Dataset, optional
        Rows that prune and choose, and rows that do neither; what is not given is split off from `data`.
    shares : three floats
        Of the rows that train, validate and test.
    seed : int
        Of the split and of the folds.
    growing : mapping, optional
        Keyword arguments of `grow`.
    options : mapping, optional
        Options by method, and of "folds" and "held_out": ``{"srm": {"c": 0.3}, "folds": {"n_folds": 5}}``.
    cost_matrix, priors
        What mistakes cost and how often classes come, as for `grow`, which chooses the splits by them.
    delta : float
        The chance with which each certificate may fail.
    n_jobs : int, optional
        Threads to grow with.

    Returns
    -------
    Comparison
        Print it, or look at `rows`. A method that cannot work on the data is listed with the reason.

    Examples
    --------
    >>> from treewright import compare, encode
    >>> table = compare(encode({"x": range(100)}, [i % 7 > 2 for i in range(100)]), ["cost_complexity"])
    >>> [row["leaves"] for row in table.rows][:2], len(table.rows)
    ([25, 21], 5)
    """
    check_delta(delta)
    chosen, given = _checked_methods(methods), _checked_options(options)
    train, validation, test = _parts(data, validation, test, shares, seed)
    costs = {"cost_matrix": cost_matrix, "priors": priors}
    how = {"n_jobs": n_jobs} | {name: value for name, value in costs.items() if value is not None}
    start = perf_counter()
    tree = grow(train, **how, **(growing or {}))
    task = _Task(tree, train, validation, test, delta, dict(growing or {}), given, seed, n_jobs)
    task.add("unpruned", "", tree, perf_counter() - start)
    for method in chosen:
        task.run(method)
    counts = (train.n_rows, validation.n_rows, test.n_rows)
    always = _constant(tree, train, validation, test)
    return Comparison(tuple(task.rows), task.trees, tree.schema, tree.criterion, counts, delta, always)


def _checked_methods(chosen: str | Sequence[str]) -> tuple[str, ...]:
    known = _known()
    names = known if isinstance(chosen, str) and chosen == "all" else chosen
    names = (names,) if isinstance(names, str) else tuple(names)
    for name in names:
        if name not in known:
            raise ValueError(f"method {name!r} is unknown; known: {', '.join(known)}")
    return names


def _known() -> tuple[str, ...]:
    """The methods that make trees, and the one that makes rules of a tree."""
    return (*methods(), "rules")


def _function(name: str) -> Callable[..., Any]:
    """What a name stands for: a method, or a way to choose."""
    if name == "rules":
        return rule_list
    return _WAYS[name] if name in _WAYS else METHODS.function(name)


def _checked_options(options: Mapping[str, Mapping[str, Any]] | None) -> dict[str, dict[str, Any]]:
    """Options by name; each must be one that its method has."""
    given = {name: dict(values) for name, values in (options or {}).items()}
    for name, values in given.items():
        if name not in (*_known(), *_WAYS):
            known = ", ".join((*_known(), *_WAYS))
            raise ValueError(f"options has {name!r}, which is unknown; known: {known}")
        check_names(name, options_of(_function(name)), values)
    return given


def _parts(
    data: Dataset, validation: Dataset | None, test: Dataset | None, shares: Sequence[float], seed: int
) -> tuple[Dataset, Dataset, Dataset]:
    """Rows that train, validate and test: given, or split off."""
    refuse_no_rows(data, "data")
    for name, rows in (("validation", validation), ("test", test)):
        if rows is not None:
            refuse_no_rows(rows, name, judging=name == "test")
    if data is validation or data is test or (test is not None and test is validation):
        raise ValueError(
            "the same rows are given twice; a row grows the tree, chooses, or judges, and no two"
        )
    if validation is not None and test is not None:
        return data, validation, test
    if len(shares) != 3:
        raise ValueError(f"shares is {shares!r}; it must be three numbers, to train, to validate and to test")
    if validation is not None:
        data, test = split(data, (shares[0], shares[2]), seed)
    elif test is not None:
        data, validation = split(data, shares[:2], seed)
    else:
        data, validation, test = split(data, shares, seed)
    return data, validation, test


@dataclass(eq=False)
class _Task:
    """One tree, the rows, and what the methods have made of it so far."""

    tree: Tree
    train: Dataset
    validation: Dataset
    test: Dataset
    delta: float
    growing: dict[str, Any]
    options: dict[str, dict[str, Any]]
    seed: int
    n_jobs: int | None
    rows: list[dict[str, Any]] = field(default_factory=list)
    trees: dict[str, Tree | RuleList] = field(default_factory=dict)

    def run(self, method: str) -> None:
        """A method, with all ways to choose where it leaves that open."""
        try:
            for by, outcome, seconds in self._outcomes(method):
                self.add(method, by, outcome, seconds)
        except ValueError as error:
            self.rows.append({**dict.fromkeys(_KEYS), "method": method, "by": "", "trouble": str(error)})

    def add(self, method: str, by: str, outcome: Tree | RuleList, seconds: float) -> None:
        """A line of the table."""
        losses = [_loss(outcome, rows) for rows in (self.train, self.validation, self.test)]
        size = outcome.n_leaves if isinstance(outcome, Tree) else len(outcome)
        values = (method, by, size, *losses, self._certificate(outcome), seconds, None)
        self.rows.append(dict(zip(_KEYS, values, strict=True)))
        self.trees[f"{method}, {by}" if by else method] = outcome

    def _certificate(self, outcome: Tree | RuleList) -> float | None:
        """The bound by the test rows, where there is one: not for numbers, whose loss has no limit."""
        if not outcome.schema.predicts_classes:
            return None
        if isinstance(outcome, RuleList):
            n = self.test.n_rows
            if self.test.weight is not None:
                return None
            return certify_errors(round(_loss(outcome, self.test) * n), n, delta=self.delta).value
        try:
            return certify(outcome, test=self.test, delta=self.delta).value
        except ValueError:  # rows of different weights
            return None

    def _outcomes(self, method: str) -> Iterator[Outcome]:
        start = perf_counter()
        arguments = self._arguments(method)
        if method == "rules":
            make: Callable[..., Any] = _function(method)
        else:
            make = partial(prune, method=method)
            refuse_raising(method, arguments, self.growing, self.tree.schema)
        path: Any = make(self.tree, **arguments)
        seconds = perf_counter() - start
        if isinstance(path, RuleList):
            yield "", path, seconds
        elif not path.is_open:
            yield "", path.pruned, seconds
        else:
            yield from self._choices(path, seconds)

    @property
    def _facts(self) -> dict[str, Any]:
        return {"data": self.train, "growing": self.growing, "seed": self.seed, "n_jobs": self.n_jobs}

    def _arguments(self, method: str) -> dict[str, Any]:
        """What a method needs to know, and what the user says of it."""
        known = options_of(_function(method))
        arguments = offered(known, self._facts)
        needed = known.get("validation")
        if needed is not None and needed.default is needed.empty:
            arguments["validation"] = self.validation
        return arguments | self.options.get(method, {})

    def _choices(self, path: PruningPath, seconds: float) -> Iterator[Outcome]:
        """A path whose tree is still to be chosen: by held-out rows, and by folds where these can."""
        start = perf_counter()
        tried = held_out(path, **{"validation": self.validation, **self.options.get("held_out", {})})
        seconds_each = seconds + perf_counter() - start
        for rule in RULES:
            yield f"held-out rows, {rule}", by_rule(tried, rule, "").pruned, seconds_each
        if path.method != "cost_complexity":
            return
        start = perf_counter()
        judged = folds(path, **{**self._facts, **self.options.get("folds", {})})
        seconds_each = seconds + perf_counter() - start
        for rule in RULES:
            yield f"folds, {rule}", by_rule(judged, rule, "").pruned, seconds_each


_KEYS = ("method", "by", "leaves", "training", "validation", "test", "certificate", "seconds", "trouble")


def _constant(tree: Tree, train: Dataset, validation: Dataset, test: Dataset) -> dict[str, Any]:
    """The answer of the root, and its mean loss on each part."""
    labels = tree.schema.targets[0].classes
    answer = float(tree.centre[0, 0]) if labels is None else labels[tree.label[0, 0]]
    root = tree if tree.n_leaves == 1 else tree.collapse([0])
    parts = {"training": train, "validation": validation, "test": test}
    return {"answer": answer} | {name: _loss(root, rows) for name, rows in parts.items()}


def _loss(outcome: Tree | RuleList, data: Dataset) -> float:
    """The mean loss of a tree, or of rules, which know no costs."""
    if isinstance(outcome, Tree):
        return float(outcome.mean(outcome.loss_of(data)[outcome.is_leaf].sum(), data))
    wrong = outcome.codes[outcome.apply(data)] != np.asarray(data.targets)[0]
    return float(np.average(wrong, weights=data.weight))
