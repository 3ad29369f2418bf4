"""Column importance: risk reduction by the splits, and permutation importance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright._display import Layout, Record, TableResult
from treewright._text import escape, percent, row_count
from treewright.certifying.binomial import check_delta
from treewright.certifying.losses import loss_name, most_cost
from treewright.encoding import Dataset
from treewright.encoding.rows import with_target
from treewright.encoding.schema import Schema
from treewright.encoding.splits import checked_seed
from treewright.explaining.row import is_training_data, name_hint
from treewright.growing import n_threads, whole_number
from treewright.parameters import documented
from treewright.plotting.explanations import Bars, plot_importance
from treewright.tree import Tree
from treewright.tree.evaluate import given_rows, leaves_of, prediction_losses
from treewright.tree.missing import sent_by_others
from treewright.tree.oblique import asked_columns, asks, by_column
from treewright.tree.predict import answers
from treewright.tree.shortcuts import as_tree
from treewright.tree.surgery import subtree_mask

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_LINES = 30  # columns that are printed
LONGEST_BAR = 20


@dataclass(frozen=True)
class ColumnImportance(Record):
    """The importance of one column to a tree."""

    column: str
    position: int
    splits: int  # nodes that test it
    # share of the risk reduction on the training rows; the columns of an oblique split share its reduction
    gain: float
    permutation: float | None = None  # rise of the mean loss when its values are shuffled
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True)
class Importance(TableResult):
    """The importance of each column, in the order of the schema; `ranked` and `print` sort by importance.

    `gain` is biased: it is computed on the rows that chose the splits, and a column with many values has more
    splits to choose from. `permutation`, the permutation importance, is not, unless `own_rows` says that its
    rows look like those that the tree was grown from. `lower` and `upper` are limits of its expectation with
    confidence 1 - delta for each column by itself, assuming that the mean over the rows is nearly normal.
    They cover the sampling of the rows and of the shuffles; the tree is taken as given.
    """

    _wraps = True

    columns: tuple[ColumnImportance, ...]
    loss: str  # "error", "cost", "squared error" …
    base: float | None = None  # mean loss of the unshuffled rows
    rows: int | None = None  # in which columns were shuffled
    own_rows: bool = False  # they look like those that the tree was grown from
    n_repeats: int = 0
    delta: float = 0.05

    def __iter__(self) -> Iterator[ColumnImportance]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, name: str) -> ColumnImportance:
        for column in self.columns:
            if column.column == name:
                return column
        hint = name_hint(name, [column.column for column in self.columns], "the columns are")
        raise KeyError(f"there is no column {name!r}{hint}")

    @property
    def ranked(self) -> tuple[ColumnImportance, ...]:
        """The most important first: by permutation where it is known, else by gain."""
        return tuple(sorted(self.columns, key=lambda each: (-(each.permutation or 0.0), -each.gain)))

    @property
    def bars(self) -> Bars:
        """The numbers of its plot."""
        names = tuple(each.column for each in self.columns)
        if self.rows is None:
            gains = np.array([each.gain for each in self.columns])
            return Bars(names, gains, "share of the risk reduction on the training rows", True)
        rises, *ends = (
            np.array([getattr(each, name) or 0.0 for each in self.columns])
            for name in ("permutation", "lower", "upper")
        )
        return Bars(names, rises, f"rise of the mean {self.loss} when shuffled", self.in_percent, *ends)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Plot it as bars; the options are those of `treewright.plot_importance`."""
        return plot_importance(self, ax, **options)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the numbers mean, and where they are biased."""
        notes = [
            "Risk reduction is measured on the rows that chose the splits; it favours many-valued columns."
        ]
        if self.rows is None:
            return (*notes, "For permutation importance on other rows pass them as data=.")
        sure = f"{round(100 * (1 - self.delta), 10):g} %"
        notes.append(
            f"Permutation importance is the rise of the mean {self.loss} over {self.n_repeats} shuffles of "
            f"the column in {row_count(self.rows)}; the interval ({sure}, each column by itself) covers the "
            "sampling of the rows and of the shuffles, not that of the tree. Correlated columns share their "
            "importance."
        )
        if self.own_rows:
            notes.append(
                "These look like the rows that the tree was grown from, which it fits too well: the rise is "
                "biased upwards; pass rows that it has never seen."
            )
        return tuple(notes)

    def _layout(self) -> Layout:
        used = [column for column in self.ranked if column.splits or column.permutation]
        head = ["column", "splits", "risk reduction", ""]
        by_rows = self.rows is not None
        head += [f"{self.loss} rises by", "from … to"] if by_rows else []
        lines, most = [], max((column.gain for column in used), default=1.0)
        for column in used[:MOST_LINES]:
            bar = "█" * round(LONGEST_BAR * column.gain / most) if most > 0 else ""
            cells = [escape(column.column), f"{column.splits:,}", percent(column.gain), bar]
            lines.append(cells + (_rise_cells(column, self.in_percent) if by_rows else []))
        rest = []
        if len(used) > MOST_LINES:
            rest.append(f"… {len(used) - MOST_LINES:,} more columns are used")
        if len(used) < len(self.columns):
            others = len(self.columns) - len(used)
            rest.append(f"{others:,} column{'s are' if others > 1 else ' is'} not used at all")
        if self.base is not None:
            base = percent(self.base) if self.in_percent else f"{self.base:.4g}"
            rest.append(f"mean {self.loss} without shuffling: {base}")
        return Layout([], head, lines, (1, 2, 4), [*rest, "", *self.notes])

    @property
    def in_percent(self) -> bool:
        """Whether losses are shares of wrong predictions."""
        return self.loss == "error"

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, and the notes; the columns in the order of the schema."""
        return {**super().to_dict(), "notes": list(self.notes)}


def _rise_cells(column: ColumnImportance, in_percent: bool) -> list[str]:
    numbers = [number or 0.0 for number in (column.permutation, column.lower, column.upper)]
    words = [f"{100 * x:.2f}" if in_percent else f"{x:.4g}" for x in numbers]
    unit = " points" if in_percent else ""
    return [words[0] + unit, f"{words[1]} … {words[2]}"]


@documented
def importance(
    model: Any,
    data: Any = None,
    target: Any = None,
    *,
    delta: float = 0.05,
    n_repeats: int = 10,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> Importance:
    """The importance of each column: by risk reduction, and by permutation where `data` is given.

    Parameters
    ----------
    data : table, tuple (table, target) or (table, target, weights), or Dataset, optional
        Rows for the permutation importance, preferably held out: each used column is shuffled among them, and
        its importance is the rise of the mean loss. The loss is the share of wrong predictions, their cost if
        the tree has costs, or the loss of the criterion for numbers; averaged over the targets. Where weights
        differ, values are drawn by weight instead of shuffled, so that a weight of 2 is the row twice.
    target : str or array, optional
        Of a table in `data`: its target column, or its targets.
    n_repeats : int
        Shuffles of each column.
    random_state : int
        Seed of the shuffles.
    delta : float
        The probability that an interval misses, for each column by itself.

    Examples
    --------
    >>> from treewright import encode, grow, importance
    >>> data = encode({"x": [1, 2, 3, 4], "z": [5, 6, 5, 6]}, ["a", "a", "b", "b"])
    >>> [(column.column, column.gain) for column in importance(grow(data))]
    [('x', 1.0), ('z', 0.0)]
    """
    check_delta(delta)
    repeats, start = whole_number("n_repeats", n_repeats, 1), checked_seed(random_state)
    tree = as_tree(model)
    columns = _by_gain(tree)
    loss = loss_name(tree)
    if data is None:
        return Importance(columns, loss, delta=float(delta))
    if tree.linear is not None:
        raise ValueError(
            "permutation importance is not defined for trees with linear models in the leaves; leave data "
            "out, or grow the tree with leaf='constant'"
        )
    rows = given_rows(tree, with_target("importance", data, target), "data", judging=True)
    own_rows = is_training_data(tree, rows)
    if rows.weight is not None:
        rows = rows.take(rows.counted)
    shuffler = _Shuffler.of(tree, rows, n_threads(n_jobs))
    quantile = _quantile(rows.n_rows, delta)
    measured = []
    for column in columns:
        rise = half = 0.0
        if column.position in shuffler.place:
            rng = np.random.default_rng([start, column.position])
            with np.errstate(invalid="ignore"):
                rise, error = shuffler.rise(column.position, repeats, rng)
                half = quantile * error
        measured.append(replace(column, permutation=rise, lower=rise - half, upper=rise + half))
    return Importance(tuple(measured), loss, shuffler.base_mean, rows.n_rows, own_rows, repeats, float(delta))


def _by_gain(tree: Tree) -> tuple[ColumnImportance, ...]:
    names = tree.schema.names
    gain = by_column(tree, tree.gain)
    splits = by_column(tree, np.ones(tree.n_nodes), whole=True)
    total = float(gain.sum())
    share = gain / total if total > 0 else gain
    return tuple(ColumnImportance(name, j, int(splits[j]), float(share[j])) for j, name in enumerate(names))


def _quantile(n_rows: int, delta: float) -> float:
    """Half the width of an interval in standard errors; infinite for a single row."""
    from scipy.special import stdtrit

    return float(stdtrit(n_rows - 1, 1 - delta / 2)) if n_rows > 1 else np.inf


class _Shuffler(NamedTuple):
    """A tree reduced to the columns that it uses, and the loss of each unshuffled row."""

    tree: Tree
    data: Dataset  # only those columns
    place: dict[int, int]  # position of a column of the whole table among them
    leaf: NDArray[np.int32]
    base: Floats  # the loss of each row
    n_threads: int

    @classmethod
    def of(cls, tree: Tree, rows: Dataset, n_threads: int) -> _Shuffler:
        columns = asked_columns(tree)
        place = {column: j for j, column in enumerate(columns)}
        leaf = leaves_of(tree, rows)
        if columns:
            n_columns = len(tree.schema.columns)
            feature = np.full(n_columns + len(tree.directions) + 1, -1, np.int32)
            feature[columns] = np.arange(len(columns))
            feature[n_columns:-1] = len(columns) + np.arange(len(tree.directions))
            schema = Schema(tuple(tree.schema.columns[j] for j in columns), tree.schema.targets)
            tree = replace(
                tree,
                schema=schema,
                feature=feature[tree.feature],
                directions=tuple(
                    replace(each, columns=tuple(place[j] for j in each.columns)) for each in tree.directions
                ),
                surrogates=replace(tree.surrogates, feature=feature[tree.surrogates.feature]),
            )
            rows = Dataset(schema, tuple(rows.column(j) for j in columns), rows.targets, rows.weight)
        base = _mean_loss(tree, rows)
        return cls(tree, rows, place, leaf, base, n_threads)

    @property
    def base_mean(self) -> float:
        """The mean loss of the unshuffled rows."""
        return float(np.average(self.base, weights=self.data.weight))

    def rise(self, column: int, n_repeats: int, rng: np.random.Generator) -> tuple[float, float]:
        """The rise of the mean loss when a column is shuffled, and its standard error.

        A row contributes twice: with another row's value, and with its own value in another row. The sum of
        both is the row's influence on the mean (the projection of a U-statistic); the variance of the
        influences is that of the estimate, including the shuffles.
        """
        weight, n = self.data.row_weights, self.data.n_rows
        j = self.place[column]
        below = subtree_mask(self.tree, np.flatnonzero(asks(self.tree, j)))
        if sent_by_others(self.tree):  # then a column may matter to any row
            below = np.ones(self.tree.n_nodes, np.bool_)
        affected = np.flatnonzero(below[self.leaf])
        part, columns = self._part(j, below, affected)
        values, base = self.data.columns[j], self.base[affected]
        own, lent = np.zeros((2, n))  # the additional loss of each row, and of the rows that got its value
        for _ in range(n_repeats):
            donor = self._donors(rng)
            columns[j] = values[donor[affected]]
            more = np.zeros(n)
            # the Poisson loss of predicting 0 for a positive count is infinite: the rise is then NaN
            rows = replace(part, columns=tuple(columns))
            more[affected] = _mean_loss(self.tree, rows, self.n_threads) - base
            own += weight * more
            lent += np.bincount(donor, weight * (more - np.average(more, weights=weight)), n)
        total = weight.sum()
        rise = float(own.sum() / n_repeats / total)
        influence = (own + lent) / n_repeats - weight * rise
        variance = (influence**2).sum() * n / max(n - 1, 1)
        if self.tree.schema.predicts_classes:
            # Two pseudo-rows with the largest loss and gain, as Agresti and Coull add to proportions:
            # a column that has changed no prediction yet may still do so.
            variance += 2 * (most_cost(self.tree.schema) * (weight**2).sum() / total) ** 2
        error = np.sqrt(variance) / total
        return rise, float(error)

    def _part(self, j: int, below: NDArray[np.bool_], affected: Ints) -> tuple[Dataset, list[NDArray[Any]]]:
        """The rows on whose path a column is tested, with the columns that may be tested on it."""
        before = np.concatenate([[0], np.cumsum(asks(self.tree, j))])
        above = before[self.tree.end] > before[:-1]
        needed = set(asked_columns(self.tree, above | below))
        columns = [
            values[affected] if k in needed else np.broadcast_to(values[:1], len(affected))
            for k, values in enumerate(self.data.columns)
        ]
        targets = np.asarray(self.data.targets)[:, affected]
        return Dataset(self.data.schema, tuple(columns), targets), columns

    def _donors(self, rng: np.random.Generator) -> Ints:
        """The row whose value each row gets: a permutation; drawn by weight where weights differ."""
        n = self.data.n_rows
        if self.data.weighs_alike:
            return rng.permutation(n)
        weight = self.data.row_weights
        return rng.choice(n, n, p=weight / weight.sum())


def _mean_loss(tree: Tree, rows: Dataset, n_threads: int = 1) -> Floats:
    """The loss of each row, averaged over the targets."""
    targets = np.asarray(rows.targets)
    return prediction_losses(tree, answers(tree, rows, n_threads), targets) / len(targets)
