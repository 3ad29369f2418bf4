"""A wrapper: trees grown from some of the columns, judged by rows that they have not seen.

The caller says how a tree is grown from rows and how good it is on others; here columns are added, taken away
or eliminated. A tree that does not ask for a column is the same without it, so where the grower has no chance
in it, such columns are dropped without growing again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from treewright._json import plain
from treewright._text import aligned, escape
from treewright.encoding import Dataset
from treewright.ensembles.side_by_side import Listener, gathered
from treewright.growing import n_threads, non_negative, whole_number
from treewright.tree import Tree
from treewright.tree.oblique import asked_columns, by_column

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Direction = Literal["forward", "backward", "rfe"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
Rule = Literal["0-SE", "1-SE"]
SAME = 1e-12  # scores that differ by less are equal: sums round
Columns = tuple[int, ...]
MOST_LINES = 40  # sets that are printed


class Trier(Protocol):
    """How trees are made and judged, without the search that asks for them."""

    asks_only_splits: bool  # whether a tree stays the same without columns that it does not ask for

    def grow(self, data: Dataset, told: Listener) -> Tree:
        """A tree of rows that have only some of the columns."""

    def score(self, tree: Tree, data: Dataset) -> float:
        """How good it is on other rows; more is better."""


@dataclass(frozen=True, eq=False)
class SelectionPath:
    """Sets of columns of different sizes with their scores by cross validation; one of them is chosen.

    The scores are of the sets that looked best: they are biased upwards. What the chosen columns are worth
    must be asked of rows that had no part in the choice, by cross validation around the whole selection.
    """

    names: tuple[str, ...]  # of all columns
    sets: tuple[Columns, ...]  # in the order in which the search came to them
    scores: Floats  # (sets, folds)
    direction: Direction
    chosen: int  # a place in `sets`
    rule: Rule = "0-SE"

    def __len__(self) -> int:
        return len(self.sets)

    @property
    def columns(self) -> Columns:
        """The positions of the chosen columns, in the order of the table."""
        return self.sets[self.chosen]

    @cached_property
    def sizes(self) -> Ints:
        """How many columns each set has."""
        return np.array([len(each) for each in self.sets], np.int64)

    @cached_property
    def mean(self) -> Floats:
        """The mean score over the folds."""
        return np.asarray(self.scores.mean(axis=1))

    @cached_property
    def standard_error(self) -> Floats:
        """Of the mean, by the spread of the folds; only roughly right, as they share rows to grow from."""
        n = self.scores.shape[1]
        return np.asarray(self.scores.std(axis=1, ddof=1) / np.sqrt(n)) if n > 1 else np.zeros(len(self))

    def change(self, place: int, since: int | None = None) -> tuple[str, ...]:
        """The names of the columns in which a set differs from the one before it, or from another one.

        Before the first one is nothing where columns are added, else all of them.
        """
        since = place - 1 if since is None else since
        first = () if self.direction == "forward" else tuple(range(len(self.names)))
        before = self.sets[since] if since >= 0 else first
        return tuple(self.names[j] for j in sorted({*self.sets[place]} ^ {*before}))

    def _told(self) -> list[tuple[int, int]]:
        """The places to print, each with the one before it: of neighbours that score alike the last one."""
        alike = (self.scores[1:] == self.scores[:-1]).all(axis=1)
        told = [
            place for place in range(len(self)) if place in (self.chosen, len(self) - 1) or not alike[place]
        ]
        return list(zip(told, [-1, *told], strict=False))

    def __str__(self) -> str:
        sign = "added" if self.direction == "forward" else "dropped"
        lines, told = [["columns", "score", "± SE", sign, ""]], self._told()
        few = told[:MOST_LINES] if self.direction == "forward" else told[-MOST_LINES:]
        for place, since in few:
            change = [escape(name) for name in self.change(place, since)]
            words = ", ".join(change[:4]) + (f" … ({len(change)})" if len(change) > 4 else "")
            numbers = [f"{each[place]:.4f}" for each in (self.mean, self.standard_error)]
            lines.append([f"{self.sizes[place]:,}", *numbers, words, "*" if place == self.chosen else ""])
        rest = [f"… {len(told) - len(few):,} more sets"] if len(few) < len(told) else []
        return "\n".join([*aligned(lines, right=(0, 1, 2)), *rest])

    def to_dict(self) -> dict[str, Any]:
        """Plain values; a list entry for each set."""
        facts = {"sizes": self.sizes, "mean": self.mean, "standard_error": self.standard_error}
        return {name: plain(value) for name, value in {**vars(self), **facts}.items()}


def search_columns(
    data: Dataset,
    folds: Sequence[tuple[NDArray[Any], NDArray[Any]]],
    trier: Trier,
    *,
    direction: Direction = "forward",
    n_columns: int | None = None,
    tol: float | None = 0.0,
    step: int | float = 1,
    rule: Rule = "0-SE",
    n_jobs: int | None = None,
    progress: Listener | None = None,
) -> SelectionPath:
    """Search for the columns from which trees do best on rows that they have not seen.

    Parameters
    ----------
    data : Dataset
        Rows with their targets.
    folds : sequence of (rows to grow from, rows to judge by)
        Positions of rows.
    trier : Trier
        How trees are grown and judged.
    direction : {"forward", "backward", "rfe"}
        Add the column that helps most, one after the other; take away the one that helps least; or eliminate
        those that are least important to a tree of the rest, within each fold by its own rows to grow from,
        and at last by all rows.
    n_columns : int, optional
        How many columns to choose; None: as many as do best.
    tol : float, optional
        Where `n_columns` is None, forward and backward end at the first step that does not raise the score by
        more than this, or lowers it by more. None: go on to the end.
    step : int or float
        How many columns one elimination drops, or which share of those that are left.
    rule : {"0-SE", "1-SE"}
        The best score, or the fewest columns within one standard error of it.
    n_jobs, progress
        Threads, of which the result does not depend; and what is told the share that is done.

    Returns
    -------
    SelectionPath
    """
    if direction not in DIRECTIONS:
        raise ValueError(f"direction is {direction!r}; it must be one of {', '.join(map(repr, DIRECTIONS))}")
    if rule not in get_args(Rule):
        raise ValueError(f"rule is {rule!r}; it must be '0-SE' or '1-SE'")
    if n_columns is not None and not 1 <= whole_number("n_columns", n_columns, 1) <= data.n_columns:
        raise ValueError(
            f"n_columns is {n_columns}; it must be from 1 to the number of columns, {data.n_columns}"
        )
    if tol is not None:
        tol = non_negative("tol", tol)
    search = _Search(data, folds, trier, n_jobs, progress)
    if direction == "rfe":
        sets, scores = _eliminated(search, n_columns, step)
    else:
        walk = _forward if direction == "forward" else _backward
        sets, scores = walk(search, n_columns, None if n_columns is not None else tol)
    path = SelectionPath(data.schema.names, tuple(sets), np.array(scores), direction, 0, rule)
    chosen = len(sets) - 1 if n_columns is not None else _best(path, rule)
    return SelectionPath(path.names, path.sets, path.scores, direction, chosen, rule)


def _best(path: SelectionPath, rule: Rule) -> int:
    """The smallest set of the best score, or within one standard error of it."""
    top = int(path.mean.argmax())
    less = float(path.standard_error[top]) if rule == "1-SE" else 0.0
    fit = np.flatnonzero(path.mean >= path.mean[top] - less - SAME * max(1.0, abs(float(path.mean[top]))))
    return int(fit[np.lexsort((-path.mean[fit], path.sizes[fit]))[0]])


class _Search:
    """Sets of columns tried on folds, side by side."""

    def __init__(
        self,
        data: Dataset,
        folds: Sequence[tuple[NDArray[Any], NDArray[Any]]],
        trier: Trier,
        n_jobs: int | None,
        progress: Listener | None,
    ) -> None:
        self.data, self.trier, self.n_jobs, self.progress = data, trier, n_jobs, progress
        self.parts = [(data.take(grown), data.take(judged)) for grown, judged in folds]

    def told(self, step: int, n_steps: int) -> Listener | None:
        """Progress within one of so many steps as progress of the whole, as far as one can say."""
        progress = self.progress
        return None if progress is None else lambda share: progress((step + share) / max(n_steps, 1))

    def scores(
        self, sets: Sequence[Columns], told: Listener | None = None
    ) -> list[tuple[Floats, list[frozenset[int]]]]:
        """For each set its score in each fold, and what the tree of each fold asks for."""
        tasks = [(columns, fold) for columns in sets for fold in range(len(self.parts))]

        def work(task: tuple[Columns, int], told: Listener) -> tuple[float, frozenset[int]]:
            return self.tried(*task, told)

        found = gathered(work, tasks, n_threads(self.n_jobs), told)
        n = len(self.parts)
        grouped = [found[i : i + n] for i in range(0, len(found), n)]
        return [(np.array([score for score, _ in each]), [asked for _, asked in each]) for each in grouped]

    def tried(self, columns: Columns, fold: int, told: Listener) -> tuple[float, frozenset[int]]:
        """The score of a set in one fold, and the columns of the table that its tree asks for."""
        grown, judged = (part.narrowed(columns) for part in self.parts[fold])
        tree = self.trier.grow(grown, told)
        return self.trier.score(tree, judged), frozenset(columns[j] for j in asked_columns(tree))


def _forward(search: _Search, n_columns: int | None, tol: float | None) -> tuple[list[Columns], list[Floats]]:
    """Sets of 1, 2, … columns, each with the one more that helps most."""
    total = search.data.n_columns
    most = n_columns or total
    sets, scores, left = list[Columns](), list[Floats](), list(range(total))
    while len(sets) < most:
        now = sets[-1] if sets else ()
        candidates = [tuple(sorted((*now, column))) for column in left]
        tried = search.scores(candidates, search.told(len(sets), most))
        place = _first_best([float(score.mean()) for score, _ in tried])
        if tol is not None and sets and tried[place][0].mean() - scores[-1].mean() <= tol + SAME:
            break
        sets.append(candidates[place])
        scores.append(tried[place][0])
        del left[place]
    return sets, scores


def _backward(
    search: _Search, n_columns: int | None, tol: float | None
) -> tuple[list[Columns], list[Floats]]:
    """Sets of all columns, all but one, …, each without the one that is missed least."""
    total = search.data.n_columns
    least = n_columns or 1
    now = tuple(range(total))
    ((score, asked),) = search.scores([now])
    sets, scores = [now], [score]
    while len(now) > least:
        told = search.told(total - len(now), total - least)
        candidates = [tuple(j for j in now if j != column) for column in reversed(now)]
        place, score, asked = _least_missed(search, now, candidates, (scores[-1], asked), told)
        if tol is not None and scores[-1].mean() - score.mean() > tol + SAME:
            break
        now = candidates[place]
        sets.append(now)
        scores.append(score)
    return sets, scores


def _least_missed(
    search: _Search,
    now: Columns,
    candidates: list[Columns],
    before: tuple[Floats, list[frozenset[int]]],
    told: Listener | None,
) -> tuple[int, Floats, list[frozenset[int]]]:
    """The place of the candidate that does best, its scores and what its trees ask for.

    Where a fold's tree does not ask for the column that a candidate lacks, it is the candidate's tree, too.
    """
    kept_scores, kept_asked = before
    scores = np.tile(kept_scores, (len(candidates), 1))
    asked = [list(kept_asked) for _ in candidates]
    tasks = list[tuple[int, int]]()
    for place, columns in enumerate(candidates):
        (lacking,) = {*now} - {*columns}
        always = not search.trier.asks_only_splits
        tasks += [(place, fold) for fold, own in enumerate(kept_asked) if always or lacking in own]

    def work(task: tuple[int, int], told: Listener) -> tuple[float, frozenset[int]]:
        return search.tried(candidates[task[0]], task[1], told)

    found = gathered(work, tasks, n_threads(search.n_jobs), told)
    for (place, fold), (score, own) in zip(tasks, found, strict=True):
        scores[place, fold], asked[place][fold] = score, own
    best = _first_best(scores.mean(axis=1).tolist())
    return best, scores[best], asked[best]


def _first_best(scores: Sequence[float]) -> int:
    """The place of the best score; of equal ones the first."""
    top = max(scores)
    return next(i for i, score in enumerate(scores) if score >= top - SAME * max(1.0, abs(top)))


def _eliminated(
    search: _Search, n_columns: int | None, step: int | float
) -> tuple[list[Columns], list[Floats]]:
    """Sets by recursive elimination from all rows, and the scores of as many columns from the folds."""
    sizes = _elimination_sizes(search.data.n_columns, n_columns or 1, step)

    def work(fold: int, told: Listener) -> tuple[list[Columns], list[float]]:
        if fold == len(search.parts):
            return _elimination(search, search.data, None, sizes, told)
        return _elimination(search, *search.parts[fold], sizes, told)

    found = gathered(work, range(len(search.parts) + 1), n_threads(search.n_jobs), search.progress)
    scores = np.array([scores for _, scores in found[:-1]]).T
    return found[-1][0], list(scores)


def _elimination_sizes(total: int, least: int, step: int | float) -> list[int]:
    """How many columns are left after each step."""
    is_share = isinstance(step, float | np.floating)
    if is_share and not 0 < step < 1:
        raise ValueError(f"step is {step!r}; a float must be in (0, 1): a share of the columns that are left")
    drop = 1 if is_share else whole_number("step", int(step) if step == 1 else step, 1)  # type: ignore[arg-type]
    sizes = [total]
    while sizes[-1] > least:
        fewer = max(1, int(step * sizes[-1])) if is_share else drop
        sizes.append(max(least, sizes[-1] - fewer))
    return sizes


def _elimination(
    search: _Search, grown: Dataset, judged: Dataset | None, sizes: Sequence[int], told: Listener
) -> tuple[list[Columns], list[float]]:
    """The sets of one elimination, and their scores on the rows to judge by."""
    now: Columns = tuple(range(grown.n_columns))
    sets, scores = list[Columns](), list[float]()
    tree, asked, importance = None, frozenset[int](), dict[int, float]()
    for size in sizes:
        told(len(sets) / len(sizes))
        if size < len(now):
            now = _most_important(now, importance, size)
        if tree is None or not search.trier.asks_only_splits or not asked <= {*now}:
            tree = search.trier.grow(grown.narrowed(now), told)
            asked = frozenset(now[j] for j in asked_columns(tree))
            importance = dict(zip(now, by_column(tree, tree.gain).tolist(), strict=True))
            score = np.nan if judged is None else search.trier.score(tree, judged.narrowed(now))
        sets.append(now)
        scores.append(score)
    return sets, scores


def _most_important(columns: Columns, importance: dict[int, float], size: int) -> Columns:
    """So many of the columns; of equally important ones the first."""
    ranked = sorted(columns, key=lambda column: (-importance[column], column))
    return tuple(sorted(ranked[:size]))
