"""Wrapper feature selection: sets of columns scored by trees on held-out rows (sequential search and RFE).

The caller defines how a tree is grown and scored; the searches here add, drop or eliminate columns. A tree
that does not test a column is the same without it, so where the scorer says so, such a column is dropped
without growing again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treewright._display import Layout, ShownTable
from treewright._json import plain
from treewright._text import escape
from treewright.encoding import Dataset
from treewright.encoding.rows import takes_rows
from treewright.ensembles.side_by_side import Listener, of_stage, results_in_order
from treewright.growing import n_threads, whole_number
from treewright.parameters import is_fraction, takes
from treewright.parameters.selectors import RunParameters, SearchOptions
from treewright.tree import Tree
from treewright.tree.oblique import asked_columns, by_column

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Columns = tuple[int, ...]
Folds = Sequence[tuple[NDArray[Any], NDArray[Any]]]  # positions of training rows and test rows
Path = tuple[list[Columns], list[Floats]]  # sets of columns and their scores, by fold
Trial = tuple[float, frozenset[int]]  # the score of a tree, and the columns that it tests
MOST_LINES = 40  # sets that are printed
_EQUAL = 1e-12  # scores that differ by less are equal up to rounding


class Scorer(Protocol):
    """How trees are grown and scored."""

    ignores_untested_columns: bool  # whether a tree stays the same without the columns that it does not test

    def grow(self, data: Dataset, listener: Listener) -> Tree:
        """A tree grown from some of the columns."""

    def score(self, tree: Tree, data: Dataset) -> float:
        """The score of a tree on other rows; more is better."""


@dataclass(frozen=True, eq=False)
class SelectionPath(ShownTable):
    """Sets of columns of different sizes with their cross-validated scores; one of them is chosen.

    The scores are optimistic, because the search keeps the best of many sets. For an unbiased score run a
    cross-validation around the whole selection.
    """

    names: tuple[str, ...]  # of all columns
    sets: tuple[Columns, ...]  # in the order of the search
    scores: Floats  # (sets, folds)
    direction: str
    chosen: int  # an index of `sets`
    rule: str = "0-SE"

    def __len__(self) -> int:
        return len(self.sets)

    @property
    def columns(self) -> Columns:
        """The positions of the chosen columns, in the order of the table."""
        return self.sets[self.chosen]

    @cached_property
    def sizes(self) -> Ints:
        """The number of columns of each set."""
        return np.array([len(each) for each in self.sets], np.int64)

    @cached_property
    def mean(self) -> Floats:
        """The mean score over the folds."""
        return np.asarray(self.scores.mean(axis=1))

    @cached_property
    def standard_error(self) -> Floats:
        """The standard error of the mean; approximate, because folds share training rows."""
        n = self.scores.shape[1]
        return np.asarray(self.scores.std(axis=1, ddof=1) / np.sqrt(n)) if n > 1 else np.zeros(len(self))

    def change(self, place: int, since: int | None = None) -> tuple[str, ...]:
        """The names of the columns added or dropped since the set before, or since the set `since`."""
        since = place - 1 if since is None else since
        first = () if self.direction == "forward" else tuple(range(len(self.names)))
        before = self.sets[since] if since >= 0 else first
        return tuple(self.names[j] for j in sorted({*self.sets[place]} ^ {*before}))

    def _layout(self) -> Layout:
        sign = "added" if self.direction == "forward" else "dropped"
        head, lines = ["columns", "score", "± SE", sign, ""], []
        # of neighbours with the same scores only the last one is printed
        alike = [*(self.scores[1:] == self.scores[:-1]).all(axis=1), False]
        places = [i for i in range(len(self)) if i == self.chosen or not alike[i]]
        pairs = list(zip(places, [-1, *places], strict=False))
        few = pairs[:MOST_LINES] if self.direction == "forward" else pairs[-MOST_LINES:]
        for place, since in few:
            change = [escape(name) for name in self.change(place, since)]
            words = ", ".join(change[:4]) + (f" … ({len(change)})" if len(change) > 4 else "")
            numbers = [f"{each[place]:.4f}" for each in (self.mean, self.standard_error)]
            lines.append([f"{self.sizes[place]:,}", *numbers, words, "*" if place == self.chosen else ""])
        rest = [f"… {len(pairs) - len(few):,} more sets"] if len(few) < len(pairs) else []
        marked = next((row for row, (place, _) in enumerate(few) if place == self.chosen), None)
        return Layout([], head, lines, (0, 1, 2), rest, marked=marked)

    def to_dict(self) -> dict[str, Any]:
        """The values as lists, with one entry per set, ready for JSON."""
        facts = {"sizes": self.sizes, "mean": self.mean, "standard_error": self.standard_error}
        return {name: plain(value) for name, value in {**vars(self), **facts}.items()}


@takes_rows
@takes(SearchOptions.parameters | RunParameters.parameters)
def search_columns(
    data: Dataset,
    /,
    folds: Folds,
    scorer: Scorer,
    *,
    n_features_to_select: int | None = None,
    **options: Any,
) -> SelectionPath:
    """Search for the columns from which trees score best on held-out rows.

    Parameters
    ----------
    folds : sequence of (training rows, test rows)
        Positions of rows.
    scorer : Scorer
        Grows and scores the trees.
    n_features_to_select : int, optional
        The number of columns to choose; None chooses the number with the best score.
    """
    n_columns = n_features_to_select
    if n_columns is not None and whole_number("n_features_to_select", n_columns, 1) > data.n_columns:
        raise ValueError(
            f"n_features_to_select is {n_columns}; it must be at most the number of columns, {data.n_columns}"
        )
    pairs = [(data.take(training), data.take(test)) for training, test in folds]
    search = _Search(data, pairs, scorer, options["n_jobs"], options["progress"])
    direction, rule = options["direction"], options["rule"]
    if direction == "rfe":
        sets, scores = _recursive_elimination(search, n_columns, options["step"])
    else:
        walk = _forward if direction == "forward" else _backward
        sets, scores = walk(search, n_columns, options["tol"] if n_columns is None else None)
    path = SelectionPath(data.schema.names, tuple(sets), np.array(scores), direction, len(sets) - 1, rule)
    return path if n_columns is not None else replace(path, chosen=_best(path, rule))


def _best(path: SelectionPath, rule: str) -> int:
    """The smallest set with the best score, or within one standard error of it."""
    top = int(path.mean.argmax())
    less = float(path.standard_error[top]) if rule == "1-SE" else 0.0
    fit = np.flatnonzero(path.mean >= path.mean[top] - less - _EQUAL * max(1.0, abs(float(path.mean[top]))))
    return int(fit[np.lexsort((-path.mean[fit], path.sizes[fit]))[0]])


@dataclass(frozen=True)
class _Search:
    """Scores of sets of columns in folds, computed in parallel."""

    data: Dataset
    folds: list[tuple[Dataset, Dataset]]  # training rows and test rows
    scorer: Scorer
    n_jobs: int | None
    progress: Listener | None

    def step_progress(self, step: int, n_steps: int) -> Listener | None:
        """Progress within a step as an estimate of the progress of the whole search."""
        return of_stage(self.progress, step / max(n_steps, 1), 1 / max(n_steps, 1))

    def trials(self, tasks: Sequence[tuple[Columns, int]], progress: Listener | None = None) -> list[Trial]:
        """The trial of each pair of a set of columns and a fold."""

        def work(task: tuple[Columns, int], listener: Listener) -> Trial:
            columns, fold = task
            training, test = (rows.select_columns(columns) for rows in self.folds[fold])
            tree = self.scorer.grow(training, listener)
            return self.scorer.score(tree, test), frozenset(columns[j] for j in asked_columns(tree))

        return results_in_order(work, tasks, n_threads(self.n_jobs), progress)

    def scores(self, sets: Sequence[Columns], progress: Listener | None = None) -> list[list[Trial]]:
        """The trials of each set in all folds."""
        n = len(self.folds)
        found = self.trials([(columns, fold) for columns in sets for fold in range(n)], progress)
        return [found[i : i + n] for i in range(0, len(found), n)]


def _forward(search: _Search, n_columns: int | None, tol: float | None) -> Path:
    """Sets of 1, 2, … columns, each with the one more that raises the score most."""
    total = search.data.n_columns
    most = n_columns or total
    sets, scores, left = list[Columns](), list[Floats](), list(range(total))
    while len(sets) < most:
        now = sets[-1] if sets else ()
        candidates = [tuple(sorted((*now, column))) for column in left]
        trials = search.scores(candidates, search.step_progress(len(sets), most))
        found = np.array([[score for score, _ in each] for each in trials])
        place = _first_best(found.mean(axis=1).tolist())
        if tol is not None and sets and found[place].mean() - scores[-1].mean() <= tol + _EQUAL:
            break
        sets.append(candidates[place])
        scores.append(found[place])
        del left[place]
    return sets, scores


def _backward(search: _Search, n_columns: int | None, tol: float | None) -> Path:
    """Sets of all columns, all but one, …, each without the column that lowers the score least."""
    total = search.data.n_columns
    least = n_columns or 1
    now = tuple(range(total))
    (trials,) = search.scores([now])
    sets, scores = [now], [np.array([score for score, _ in trials])]
    while len(now) > least:
        progress = search.step_progress(total - len(now), total - least)
        candidates = [tuple(j for j in now if j != column) for column in reversed(now)]
        place, trials = _drop_one(search, now, candidates, trials, progress)
        score = np.array([score for score, _ in trials])
        if tol is not None and scores[-1].mean() - score.mean() > tol + _EQUAL:
            break
        now = candidates[place]
        sets.append(now)
        scores.append(score)
    return sets, scores


def _drop_one(
    search: _Search, now: Columns, candidates: list[Columns], before: list[Trial], progress: Listener | None
) -> tuple[int, list[Trial]]:
    """The position of the best candidate, each of which lacks one column of `now`, and its trials.

    Where the tree of a fold does not test the column that a candidate lacks, it is also the candidate's tree.
    """
    trials = [list(before) for _ in candidates]
    tasks = list[tuple[int, int]]()
    for place, columns in enumerate(candidates):
        (column,) = {*now} - {*columns}
        again = not search.scorer.ignores_untested_columns
        tasks += [(place, fold) for fold, (_, tested) in enumerate(before) if again or column in tested]
    found = search.trials([(candidates[place], fold) for place, fold in tasks], progress)
    for (place, fold), trial in zip(tasks, found, strict=True):
        trials[place][fold] = trial
    best = _first_best(np.array([[score for score, _ in each] for each in trials]).mean(axis=1).tolist())
    return best, trials[best]


def _first_best(scores: Sequence[float]) -> int:
    """The position of the best score; the first among equals."""
    top = max(scores)
    return next(i for i, score in enumerate(scores) if score >= top - _EQUAL * max(1.0, abs(top)))


def _recursive_elimination(search: _Search, n_columns: int | None, step: int | float) -> Path:
    """Sets by recursive elimination from all rows; their scores are those of as many columns in the folds."""
    sizes = _elimination_sizes(search.data.n_columns, n_columns or 1, step)

    def work(fold: int, listener: Listener) -> tuple[list[Columns], list[float]]:
        training, test = search.folds[fold] if fold < len(search.folds) else (search.data, None)
        return _eliminate(search.scorer, training, test, sizes, listener)

    found = results_in_order(work, range(len(search.folds) + 1), n_threads(search.n_jobs), search.progress)
    scores = np.array([scores for _, scores in found[:-1]]).T
    return found[-1][0], list(scores)


def _elimination_sizes(total: int, least: int, step: int | float) -> list[int]:
    """The number of columns before and after each step."""
    sizes = [total]
    while sizes[-1] > least:
        fewer = max(1, int(step * sizes[-1])) if is_fraction(step) else int(step)
        sizes.append(max(least, sizes[-1] - fewer))
    return sizes


def _eliminate(
    scorer: Scorer, training: Dataset, test: Dataset | None, sizes: Sequence[int], listener: Listener
) -> tuple[list[Columns], list[float]]:
    """The sets of one elimination, and their scores on the test rows; NaN without test rows."""
    now: Columns = tuple(range(training.n_columns))
    sets, scores = list[Columns](), list[float]()
    tree, tested, importance = None, frozenset[int](), dict[int, float]()
    for size in sizes:
        listener(len(sets) / len(sizes))
        if size < len(now):  # drop the least important columns; among equals the last ones
            by_importance = sorted(now, key=lambda column: (-importance[column], column))
            now = tuple(sorted(by_importance[:size]))
        if tree is None or not scorer.ignores_untested_columns or not tested <= {*now}:
            tree = scorer.grow(training.select_columns(now), listener)
            tested = frozenset(now[j] for j in asked_columns(tree))
            importance = dict(zip(now, by_column(tree, tree.gain).tolist(), strict=True))
            score = np.nan if test is None else scorer.score(tree, test.select_columns(now))
        sets.append(now)
        scores.append(score)
    return sets, scores
