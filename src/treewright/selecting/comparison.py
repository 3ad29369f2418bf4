"""All methods on one table: what each keeps of one tree, and what that loses on rows that chose nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright._registry import check_names, offered, options_of
from treewright.certifying import certify, certify_errors
from treewright.certifying.binomial import check_delta
from treewright.encoding import Dataset
from treewright.encoding.schema import Schema
from treewright.encoding.splits import random_parts, split
from treewright.growing import grow
from treewright.pruning import METHODS, PruningPath, leaves_choice, methods, prune, refuse_raising
from treewright.pruning.path import refuse_no_rows
from treewright.pruning.rule_post_pruning import rule_list
from treewright.selecting.folds import folds
from treewright.selecting.held_out import held_out
from treewright.selecting.one_standard_error import RULES, SAME, by_rule
from treewright.selecting.tables import table_lines
from treewright.tree import Tree
from treewright.tree.evaluate import squared_losses
from treewright.tree.rule_list import RuleList

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Outcome = tuple[str, Tree | RuleList, float]  # how it was chosen, the tree or rules, seconds
# How a tree is chosen where the method leaves it open.
_WAYS: dict[str, Callable[..., PruningPath]] = {"folds": folds, "held_out": held_out}


@dataclass(frozen=True, eq=False)
class Comparison:
    """What each method made of one tree.

    `rows` has a dict for each: method, by (how one of its trees was chosen), leaves (or rules), grown_from
    (the number of rows), the mean loss on the training, validation and test rows, the standard error of the
    validation loss, the certificate (the true error is below it with probability 1 − delta, for this row
    alone), the seconds it took, and trouble where it could not work. `constant` is what all of them must
    beat: the class or number that is best answered to every row, and its mean losses.

    No validation row judges a tree that it helped to grow, to prune or to choose: a method that takes
    validation rows is judged on each half of them after it was given the other half, and one that takes none
    as it does with the tree of the training rows alone.
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

    @property
    def best(self) -> dict[str, Any] | None:
        """The row to take: the smallest tree within one standard error of the least validation loss.

        The test rows have no part in the choice, so the test loss and the certificate of this row stay
        honest. Rules are not considered, because `fit` makes trees. None where no validation loss is known.
        """
        rows = [row for row in self.rows if row["standard_error"] is not None]
        if not rows:
            return None
        least = min(rows, key=lambda row: (row["validation"], row["leaves"]))
        limit = least["validation"] + least["standard_error"]
        close = [row for row in rows if row["validation"] <= limit * (1 + SAME)]
        return min(close, key=lambda row: (row["leaves"], row["validation"]))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the losses of all methods; needs matplotlib."""
        from treewright.plotting.comparisons import plot_comparison

        return plot_comparison(self, ax=ax)


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
    """Prune a tree by every method, and measure each on rows that had no part in it.

    Methods that take validation rows prune one tree, grown from the training rows. Where the rows are split
    here, the others prune one that is grown from the training and the validation rows, as `treewright fit`
    does.

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
    ([29, 21], 5)
    """
    check_delta(delta)
    chosen, given = _checked_methods(methods), _checked_options(options)
    train, validation, test, joined = _parts(data, validation, test, shares, seed)
    costs = {"cost_matrix": cost_matrix, "priors": priors}
    how = {"n_jobs": n_jobs} | {name: value for name, value in costs.items() if value is not None}
    tree = grow(train, **how, **(growing or {}))
    start = perf_counter()
    whole = tree if joined is None else grow(joined, **how, **(growing or {}))
    seconds = perf_counter() - start
    grown = _Grown(tree, train), _Grown(whole, train if joined is None else joined)
    task = _Task(*grown, validation, test, delta, dict(growing or {}), given, seed, n_jobs)
    task.add("unpruned", ("", whole, seconds), grown[1], [(tree, validation)])
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
) -> tuple[Dataset, Dataset, Dataset, Dataset | None]:
    """Rows that train, validate and test, given or split off; and where they are split off both of the first
    two, which grow the trees of methods that take no validation rows.
    """
    refuse_no_rows(data, "data")
    for name, rows in (("validation", validation), ("test", test)):
        if rows is not None:
            refuse_no_rows(rows, name, judging=name == "test")
    if data is validation or data is test or (test is not None and test is validation):
        raise ValueError(
            "the same rows are given twice; a row grows the tree, chooses, or judges, and no two"
        )
    if validation is not None and test is not None:
        return data, validation, test, None
    if len(shares) != 3:
        raise ValueError(f"shares is {shares!r}; it must be three numbers, to train, to validate and to test")
    if validation is not None:
        data, test = split(data, (shares[0], shares[2]), seed)
        return data, validation, test, None
    if test is not None:
        train, validation = split(data, shares[:2], seed)
        return train, validation, test, data
    part = random_parts(data, shares, seed)
    train, validation, test = (data.take(part == i) for i in range(3))
    return train, validation, test, data.take(part < 2)


@dataclass(frozen=True, eq=False)
class _Grown:
    """A tree and the rows that it was grown from."""

    tree: Tree
    rows: Dataset


@dataclass(eq=False)
class _Task:
    """The trees, the rows, and what the methods have made of them so far."""

    trained: _Grown  # from the training rows: for methods that take validation rows
    joined: _Grown  # from the validation rows as well, where they were split off here: for the others
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
        is_open = method != "rules" and leaves_choice(method, self.options.get(method, {}))
        takes_rows = is_open or (method != "rules" and METHODS.needs(method, "validation"))
        try:
            if takes_rows:
                self._run_by_validation(method)
            if not takes_rows or (is_open and method == "cost_complexity"):  # whose price folds can choose
                self._run_without(method)
        except ValueError as error:
            self.rows.append({**dict.fromkeys(_KEYS), "method": method, "by": "", "trouble": str(error)})

    def _run_by_validation(self, method: str) -> None:
        """Lines that look at validation rows; each half of these judges what the other half has chosen."""
        made = list(self._outcomes(method, self.trained, self.validation))
        halves = _halves(self.validation, self.seed)
        chosen = [self._attempt(method, self.trained, half) for half in halves]
        for place, outcome in enumerate(made):
            judged = [
                (others[place][1], half)
                for others, half in zip(chosen, reversed(halves), strict=True)
                if len(others) == len(made)
            ]
            self.add(method, outcome, self.trained, judged if len(judged) == 2 else [])

    def _run_without(self, method: str) -> None:
        """Lines that look at no validation rows, which judge what comes of the training rows alone."""
        made = list(self._outcomes(method, self.joined, None))
        alike = made if self.joined is self.trained else self._attempt(method, self.trained, None)
        for place, outcome in enumerate(made):
            judged = [(alike[place][1], self.validation)] if len(alike) == len(made) else []
            self.add(method, outcome, self.joined, judged)

    def _attempt(self, method: str, grown: _Grown, validation: Dataset | None) -> list[Outcome]:
        """The outcomes; none where the method cannot work on so few rows."""
        try:
            return list(self._outcomes(method, grown, validation))
        except ValueError:
            return []

    def add(
        self, method: str, outcome: Outcome, grown: _Grown, judged: list[tuple[Tree | RuleList, Dataset]]
    ) -> None:
        """A line of the table; `judged` says which trees are judged by which validation rows."""
        by, made, seconds = outcome
        training, test = (_loss(made, rows) for rows in (grown.rows, self.test))
        size = made.n_leaves if isinstance(made, Tree) else len(made)
        sizes, bound = (size, grown.rows.n_rows), self._certificate(made)
        values = (method, by, *sizes, training, *_mean_loss(judged), test, bound, seconds, None)
        self.rows.append(dict(zip(_KEYS, values, strict=True)))
        self.trees[f"{method}, {by}" if by else method] = made

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

    def _outcomes(self, method: str, grown: _Grown, validation: Dataset | None) -> Iterator[Outcome]:
        """What a method makes of a tree: lines that look at validation rows; without any, the others."""
        start = perf_counter()
        arguments = self._arguments(method, grown, validation)
        if method == "rules":
            make: Callable[..., Any] = _function(method)
        else:
            make = partial(prune, method=method)
            refuse_raising(method, arguments, self.growing, grown.tree.schema)
        path: Any = make(grown.tree, **arguments)
        if isinstance(path, RuleList) or not path.is_open:
            made = path if isinstance(path, RuleList) else path.pruned
            yield "", made, perf_counter() - start
            return
        if validation is not None:
            by = "held-out rows"
            tried = held_out(path, **{"validation": validation, **self.options.get("held_out", {})})
        else:
            by, facts = "folds", self._facts(grown)
            tried = folds(path, **{**facts, **self.options.get("folds", {})})
        seconds = perf_counter() - start
        for rule in RULES:
            yield f"{by}, {rule}", by_rule(tried, rule, "").pruned, seconds

    def _facts(self, grown: _Grown) -> dict[str, Any]:
        return {"data": grown.rows, "growing": self.growing, "seed": self.seed, "n_jobs": self.n_jobs}

    def _arguments(self, method: str, grown: _Grown, validation: Dataset | None) -> dict[str, Any]:
        """What a method needs to know, and what the user says of it."""
        known = options_of(_function(method))
        arguments = offered(known, self._facts(grown))
        needed = known.get("validation")
        if needed is not None and needed.default is needed.empty:
            arguments["validation"] = validation
        return arguments | self.options.get(method, {})


_KEYS = (
    "method",
    "by",
    "leaves",
    "grown_from",
    "training",
    "validation",
    "standard_error",
    "test",
    "certificate",
    "seconds",
    "trouble",
)


def _halves(validation: Dataset, seed: int) -> list[Dataset]:
    """The validation rows in two parts; none where there is but one row."""
    return list(split(validation, (1, 1), seed)) if validation.n_counted > 1 else []


def _mean_loss(judged: list[tuple[Tree | RuleList, Dataset]]) -> tuple[float | None, float | None]:
    """The mean loss over the rows of all pairs and its standard error, which is known of trees alone."""
    if not judged:
        return None, None
    weights = [rows.total_weight for _, rows in judged]
    mean = float(np.average([_loss(made, rows) for made, rows in judged], weights=weights))
    squares = 0.0
    for made, rows in judged:
        if not isinstance(made, Tree):
            return mean, None
        squares += float(squared_losses(made, rows)[made.is_leaf].sum())
    n_targets = len(judged[0][1].schema.targets)
    spread = max(squares / sum(weights) - (n_targets * mean) ** 2, 0.0)
    return mean, float(np.sqrt(spread / sum(weights))) / n_targets


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
