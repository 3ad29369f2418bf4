"""Comparing all pruning methods on one table: the trees that they choose, and their losses on test rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from treewright._display import Layout, Shown
from treewright._registry import check_names, options_for, options_of
from treewright._suggestions import checked_keywords, choices_text
from treewright._text import amount
from treewright.certifying import certify, certify_errors
from treewright.certifying.binomial import check_delta
from treewright.certifying.certificate import loss_text
from treewright.encoding import Dataset
from treewright.encoding.rows import takes_rows
from treewright.encoding.schema import Schema
from treewright.encoding.splits import checked_share, split
from treewright.growing import grow
from treewright.metrics import class_word
from treewright.plotting.axes import is_share, loss_words
from treewright.pruning import METHODS, leaves_choice, methods, prune, refuse_raising
from treewright.pruning.path import held_out_rows, refuse_no_rows
from treewright.pruning.rule_post_pruning import rule_list
from treewright.selecting.folds import folds
from treewright.selecting.held_out import held_out
from treewright.selecting.one_standard_error import RULES, SAME, by_rule
from treewright.tree import Tree
from treewright.tree.evaluate import squared_losses
from treewright.tree.number_losses import is_squared
from treewright.tree.rule_list import RuleList

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Outcome = tuple[str, Tree | RuleList, float]  # how it was chosen, the tree or rules, seconds


@dataclass(frozen=True, eq=False)
class Comparison(Shown):
    """The results of all pruning methods on one table.

    `rows` has a dict for each: method, by (how one of its trees was chosen), leaves (or rules), grown_from
    (the number of rows), the mean loss on the training, validation and test rows, the standard error of the
    validation loss, the certificate (the true error is below it with probability 1 − delta, for this row
    alone), the seconds that it took, and trouble: the error where the method failed. `constant` is the
    baseline: the best constant prediction and its mean losses.

    The validation loss is never measured on rows that took part in growing, pruning or choosing the tree: a
    method that takes validation rows is measured on each half of them after it was given the other half, and
    a method that takes none is measured with the tree of the training rows alone.
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
        return self._layout().text()

    def _layout(self) -> Layout:
        return _layout(self)

    @property
    def best(self) -> dict[str, Any] | None:
        """The recommended row: the smallest tree within one standard error of the least validation loss.

        The test rows do not take part in the choice, so the test loss and the certificate of this row are
        unbiased. Rule lists are not considered, because `fit` makes trees. None without validation losses.
        """
        rows = [row for row in self.rows if row["standard_error"] is not None]
        if not rows:
            return None
        least = min(rows, key=lambda row: (row["validation"], row["leaves"]))
        limit = least["validation"] + least["standard_error"]
        close = [row for row in rows if row["validation"] <= limit * (1 + SAME)]
        return min(close, key=lambda row: (row["leaves"], row["validation"]))

    @checked_keywords
    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the losses of all methods; needs matplotlib."""
        from treewright.plotting.pruning_paths import plot_comparison

        return plot_comparison(self, ax=ax)


@takes_rows
def compare(
    data: Dataset,
    methods: str | Sequence[str] = "all",
    *,
    validation: Any = None,
    test: Any = None,
    test_size: float = 0.2,
    validation_fraction: float = 0.25,
    random_state: int = 0,
    growing: Mapping[str, Any] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    costs: Any = None,
    delta: float = 0.05,
    n_jobs: int | None = None,
) -> Comparison:
    """Prune a tree by every method, and measure each result on test rows.

    Methods that take validation rows prune one tree, grown from the training rows. Where the rows are split
    here, the others prune one that is grown from the training and the validation rows, as `treewright fit`
    does.

    Parameters
    ----------
    data : table, tuple (table, target) or (table, target, weight), or Dataset
        All rows, which are split here; or those to train on, where `validation` and `test` are given.
    methods : "all" or list of str
        Which of `treewright.pruning.methods()`, and "rules".
    validation, test : Dataset or tuple (table, target), optional
        Rows to prune and to choose by, and rows to test on; what is not given is split off from `data`.
    test_size : float
        The share of the test rows; a whole number is how many there are.
    validation_fraction : float
        The share of the other rows that are validation rows.
    random_state : int
        The seed of the split and of the draw of the folds.
    growing : mapping, optional
        Keyword arguments of `grow`.
    options : mapping, optional
        Options by method, and of "folds" and "held_out": ``{"srm": {"c": 0.3}, "folds": {"n_folds": 5}}``.
    costs : Costs, array of shape (n_classes, n_classes) or dict of dicts, optional
        Misclassification costs and prior probabilities of the classes, as for `grow`.
    delta : float
        The failure probability of each certificate.
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
    names, by_name = _method_names(methods), _options_by_name(options)
    train, validation, test, both = _split_rows(
        data, validation, test, test_size, validation_fraction, random_state
    )
    own = {"n_jobs": n_jobs, "costs": costs}
    how = {name: value for name, value in own.items() if value is not None} | dict(growing or {})
    from_training = _TreeAndRows(grow(train, **how), train)
    start = perf_counter()
    from_both = from_training if both is None else _TreeAndRows(grow(both, **how), both)
    seconds = perf_counter() - start
    tree = from_training.tree
    task = _Task(from_training, from_both, validation, test, delta, how, by_name, random_state)
    task.add("unpruned", ("", from_both.tree, seconds), from_both, [(tree, validation)])
    for method in names:
        task.run(method)
    counts = (train.n_rows, validation.n_rows, test.n_rows)
    constant = _constant(tree, train, validation, test)
    return Comparison(tuple(task.rows), task.trees, tree.schema, tree.criterion, counts, delta, constant)


def _method_names(chosen: str | Sequence[str]) -> tuple[str, ...]:
    every = (*methods(), "rules")
    names = (every if chosen == "all" else (chosen,)) if isinstance(chosen, str) else tuple(chosen)
    for name in names:
        if name not in every:
            raise ValueError(f"method {name!r} is unknown; known: {choices_text(name, every)}")
    return names


def _functions() -> dict[str, Callable[..., Any]]:
    """The methods that make trees, the one that makes rules of a tree, and the ways to choose."""
    own = {name: METHODS.function(name) for name in methods()}
    return own | {"rules": rule_list, "folds": folds, "held_out": held_out}


def _options_by_name(options: Mapping[str, Mapping[str, Any]] | None) -> dict[str, dict[str, Any]]:
    """Options by method; each must be one that its method has."""
    by_name = {name: dict(values) for name, values in (options or {}).items()}
    functions = _functions()
    for name, values in by_name.items():
        if name not in functions:
            raise ValueError(
                f"options has {name!r}, which is unknown; known: {choices_text(name, functions)}"
            )
        check_names(name, options_of(functions[name]), values)
    return by_name


def _needs_validation(method: str) -> bool:
    return method != "rules" and METHODS.needs(method, "validation")


def _split_rows(
    data: Dataset,
    validation: Any,
    test: Any,
    test_size: float,
    validation_fraction: float,
    random_state: int,
) -> tuple[Dataset, Dataset, Dataset, Dataset | None]:
    """The training, validation and test rows, given or split off; and the training and validation rows
    together where both were split off here, for methods that need no validation rows.
    """
    refuse_no_rows(data, "data")
    validation = None if validation is None else held_out_rows(validation, "validation", data.schema)
    test = None if test is None else held_out_rows(test, "test", data.schema)
    if data is validation or data is test or (test is not None and test is validation):
        raise ValueError(
            "the same rows are given twice; a row grows the tree, chooses, or judges, and no two"
        )
    if test is None:
        share = checked_share("test_size", test_size, data.n_counted)
        data, test = split(data, (1 - share, share), random_state)
    if validation is not None:
        return data, validation, test, None
    share = checked_share("validation_fraction", validation_fraction, data.n_counted)
    train, validation = split(data, (1 - share, share), random_state)
    return train, validation, test, data


class _TreeAndRows(NamedTuple):
    """A tree and the rows that it was grown from."""

    tree: Tree
    rows: Dataset


@dataclass(eq=False)
class _Task:
    """The trees, the rows, and the results of the methods so far."""

    from_training: _TreeAndRows  # for methods that take validation rows
    from_both: _TreeAndRows  # for the others; from the validation rows as well if these were split off here
    validation: Dataset
    test: Dataset
    delta: float
    growing: dict[str, Any]  # arguments of `grow`: of the trees, and of those of the folds
    options: dict[str, dict[str, Any]]
    random_state: int
    rows: list[dict[str, Any]] = field(default_factory=list)
    trees: dict[str, Tree | RuleList] = field(default_factory=dict)

    def run(self, method: str) -> None:
        """A method, with all ways to choose where it leaves that open."""
        is_open = method != "rules" and leaves_choice(method, self.options.get(method, {}))
        takes_rows = is_open or _needs_validation(method)
        try:
            if takes_rows:
                self._run_by_validation(method)
            if not takes_rows or (is_open and method == "cost_complexity"):  # folds can choose its alpha
                self._run_without(method)
        except ValueError as error:
            self.rows.append({**dict.fromkeys(_KEYS), "method": method, "by": "", "trouble": str(error)})

    def _run_by_validation(self, method: str) -> None:
        """Lines that use validation rows; each half of these measures what the other half has chosen."""
        halves = (
            list(split(self.validation, (1, 1), self.random_state)) if self.validation.n_counted > 1 else []
        )
        whole, *others = self._outcomes(method, self.from_training, [self.validation, *halves])
        for place, outcome in enumerate(whole):
            pairs = [(own[place][1], half) for own, half in zip(others, reversed(halves), strict=True) if own]
            self.add(method, outcome, self.from_training, pairs if len(pairs) == 2 else [])

    def _run_without(self, method: str) -> None:
        """Lines that use no validation rows, on which the tree of the training rows alone is measured."""
        (outcomes,) = self._outcomes(method, self.from_both, [None])
        alike = outcomes if self.from_both is self.from_training else []
        if not alike:
            with suppress(ValueError):  # too few rows for the method
                (alike,) = self._outcomes(method, self.from_training, [None])
        for place, outcome in enumerate(outcomes):
            pairs = [(alike[place][1], self.validation)] if alike else []
            self.add(method, outcome, self.from_both, pairs)

    def add(
        self,
        method: str,
        outcome: Outcome,
        grown_from: _TreeAndRows,
        pairs: list[tuple[Tree | RuleList, Dataset]],
    ) -> None:
        """A line of the table; `pairs` are trees and the validation rows on which each is measured."""
        by, model, seconds = outcome
        training, test = (_loss(model, rows) for rows in (grown_from.rows, self.test))
        size = model.n_leaves if isinstance(model, Tree) else len(model)
        losses = (training, *_mean_loss(pairs), test, self._certificate(model))
        values = (method, by, size, grown_from.rows.n_rows, *losses, seconds, None)
        self.rows.append(dict(zip(_KEYS, values, strict=True)))
        self.trees[f"{method}, {by}" if by else method] = model

    def _certificate(self, outcome: Tree | RuleList) -> float | None:
        """The bound by the test rows, where there is one: not for numbers, whose loss has no limit."""
        if not outcome.schema.predicts_classes:
            return None
        if isinstance(outcome, RuleList):
            if self.test.weight is not None:
                return None
            n = self.test.n_rows
            return certify_errors(round(_loss(outcome, self.test) * n), n, delta=self.delta).value
        try:
            return certify(outcome, test=self.test, delta=self.delta).value
        except ValueError:  # rows of different weights
            return None

    def _outcomes(
        self, method: str, grown_from: _TreeAndRows, validations: Sequence[Dataset | None]
    ) -> list[list[Outcome]]:
        """What a method makes of a tree with each set of validation rows, or with none; an empty list where a
        set after the first is too small. The tree is pruned once if pruning does not depend on the rows.
        """
        tree = grown_from.tree
        facts = {"data": grown_from.rows, "growing": self.growing, "random_state": self.random_state}
        arguments = options_for(options_of(_functions()[method]), facts) | self.options.get(method, {})
        if method != "rules":
            refuse_raising(method, arguments, self.growing, tree.schema)
        path: Any = None
        outcomes: list[list[Outcome]] = []
        for validation in validations:
            start = perf_counter()
            try:
                if method == "rules":
                    path = rule_list(tree, **arguments)
                elif _needs_validation(method):
                    path = prune(tree, method=method, validation=validation, **arguments)
                elif path is None:
                    path = prune(tree, method=method, **arguments)
                outcomes.append(list(self._choose(path, facts, validation, start)))
            except ValueError:
                if not outcomes:
                    raise
                outcomes.append([])
        return outcomes

    def _choose(
        self, path: Any, facts: dict[str, Any], validation: Dataset | None, start: float
    ) -> Iterator[Outcome]:
        """The result of a method; where it leaves the choice open, the trees that each rule chooses."""
        if isinstance(path, RuleList) or not path.is_open:
            yield "", path if isinstance(path, RuleList) else path.pruned, perf_counter() - start
            return
        if validation is not None:
            by, own = "held-out rows", {"validation": validation, **self.options.get("held_out", {})}
            path = held_out(path, **own)
        else:
            by, own = "folds", facts | self.options.get("folds", {})
            path = folds(path, **own)
        seconds = perf_counter() - start
        for rule in RULES:
            yield f"{by}, {rule}", by_rule(path, rule, "").pruned, seconds


_LOSSES = ("training", "validation", "standard_error", "test", "certificate")
_KEYS = ("method", "by", "leaves", "grown_from", *_LOSSES, "seconds", "trouble")


def _mean_loss(pairs: list[tuple[Tree | RuleList, Dataset]]) -> tuple[float | None, float | None]:
    """The mean loss over the rows of all pairs and its standard error, which is known of trees alone."""
    if not pairs:
        return None, None
    weights = [rows.total_weight for _, rows in pairs]
    mean = float(np.average([_loss(model, rows) for model, rows in pairs], weights=weights))
    squares = 0.0
    for model, rows in pairs:
        if not isinstance(model, Tree):
            return mean, None
        squares += float(squared_losses(model, rows)[model.is_leaf].sum())
    n_targets = len(pairs[0][1].schema.targets)
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


# ---- as text ------------------------------------------------------------------------------------------


_LONGEST_ANSWER = 24  # characters of a class
_SHOWN = ("training", "validation", "test", "certificate")


def _layout(comparison: Comparison) -> Layout:
    """The table, with a heading that counts the rows, and notes on failed methods and on the best row."""
    schema = comparison.schema
    in_per_cent = is_share(schema)
    train, validation, test = (f"{n:,}" for n in comparison.n_rows)
    root = "root " if is_squared(comparison.criterion) else ""
    unit = "" if in_per_cent else f"; losses: {root}{loss_words(schema, comparison.criterion)}"
    above = [f"grown from {train} rows; {validation} to prune and choose by, {test} to test{unit}"]
    most = max(row["grown_from"] or 0 for row in comparison.rows)
    if most > comparison.n_rows[0]:
        above.append(
            f"methods that need no rows to choose by: grown from {most:,} rows, as by treewright fit"
        )
    names = ["method", "chosen by", "leaves", "training", "validation", "test", "below", "seconds"]
    if not any(row["certificate"] is not None for row in comparison.rows):
        names.remove("below")
    lines, marked = list(_constant_line(comparison, names)), None
    for row in comparison.rows:
        if row["trouble"] is None:
            losses = [_loss_cell(row[name], comparison, up=name == "certificate") for name in _SHOWN]
            cells = [row["method"], row["by"], f"{row['leaves']:,}", *losses, f"{row['seconds']:.2f}"]
            if "below" not in names:
                del cells[6]
            marked = len(lines) if row is comparison.best else marked
            lines.append(cells)
    below = [f"{row['method']}: {row['trouble']}" for row in comparison.rows if row["trouble"] is not None]
    if "below" in names:
        sure, what = f"{100 * (1 - comparison.delta):g} %", "cost" if schema.has_costs else "error"
        below.append(
            f"below: the true {what} is below it with {sure} confidence, for a line chosen beforehand"
        )
    below += _best_line(comparison)
    return Layout(above, names, lines, range(2, len(names)), below, gap=2, marked=marked)


def _best_line(comparison: Comparison) -> Iterator[str]:
    """The best row, and why its test loss is unbiased."""
    best = comparison.best
    if best is None:
        return
    name = f"{best['method']} ({best['by']})" if best["by"] else best["method"]
    leaves = "1 leaf (one answer for every row)" if best["leaves"] == 1 else f"{best['leaves']:,} leaves"
    what = "error" if is_share(comparison.schema) else "loss"
    loss = _loss_cell(best["test"], comparison, up=False)
    yield f"best: {name}, {leaves}, test {what} {loss}; chosen as the smallest tree within one standard error"
    yield f"of the least validation {what}, without the test rows: its test {what} is an honest estimate"


def _constant_line(comparison: Comparison, names: list[str]) -> Iterator[list[str]]:
    """The losses of the best constant prediction; nothing where it is not known."""
    always = comparison.constant
    if not always:
        return
    answer = always["answer"]
    text = amount(answer) if comparison.schema.targets[0].classes is None else class_word(answer)
    text = text if len(text) <= _LONGEST_ANSWER else f"{text[: _LONGEST_ANSWER - 1]}…"
    losses = [_loss_cell(always[name], comparison, up=False) for name in _SHOWN[:3]]
    yield [f"always {text}", "", "1", *losses, *(["–"] * (len(names) - 6))]


def _loss_cell(loss: Any, comparison: Comparison, up: bool) -> str:
    """A mean loss; of squares the root, which is in the unit of the target."""
    if loss is None:
        return "–"
    loss = float(np.sqrt(loss)) if is_squared(comparison.criterion) else loss
    return loss_text(loss, in_per_cent=is_share(comparison.schema), up=up)
