"""Univariate feature selection: the best single split of each column, and permutation tests of its gain.

The null distribution of a column's best split depends only on the ties among its values and on the number of
missing ones. Columns that are alike in this share one null distribution: a table of measurements without
ties, however wide, has a single one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright._display import Layout, ShownTable
from treewright._json import plain
from treewright._text import escape
from treewright.encoding import Dataset
from treewright.encoding.rows import takes_rows
from treewright.ensembles.side_by_side import Listener, of_stage, results_in_order
from treewright.growing import grow, n_threads
from treewright.growing.limits import core_limits, core_options, row_count
from treewright.growing.targets import check_rows, checked_criterion, targets_for
from treewright.parameters import takes
from treewright.parameters.selectors import SplitScoresParameters
from treewright.tree import Tree
from treewright.tree.wording import branch_in_words

Floats = NDArray[np.float64]
MOST_LINES = 30
_ROUNDING = 1e-12  # a gain that is a smaller share of the risk is 0 up to rounding
_EQUAL = 1e-9  # gains that differ by a smaller share are equal up to rounding
_COLUMNS_PER_TASK = 64  # one stump alone is too little work for a thread
_PERMUTATIONS_PER_TASK = 200
_CRITERIA = {"mutual_information": "entropy", "accuracy": "error"}  # by measure
_STUMP = {"max_leaf_nodes": 2, "category_gain": "plain"}


@dataclass(frozen=True, eq=False)
class SplitScores(ShownTable):
    """The best split of each column, in the order of the schema; ``print`` shows the best first.

    `gain` is the decrease of risk per unit of weight by the criterion, `score` the measure that was chosen.
    `pvalue` is the share of permutations of the target, the target itself included, in which the best split
    of the column gains as much; `adjusted_pvalue` is corrected for the number of columns.
    """

    columns: tuple[str, ...]
    score: Floats
    gain: Floats
    splits: tuple[str, ...]  # the test of the left branch in words; "" where no split has a gain
    trees: tuple[Tree, ...] = field(repr=False)
    measure: str
    criterion: str
    pvalue: Floats | None = None
    adjusted_pvalue: Floats | None = None
    correction: str | None = None
    n_permutations: int = 0

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def order(self) -> NDArray[np.int64]:
        """The columns by decreasing score; among equal scores the first column comes first."""
        return np.argsort(-self.score, kind="stable")

    @property
    def thresholds(self) -> Floats:
        """The threshold of each best split; NaN for categories and where no split has a gain."""
        tests = [np.nan if tree.subset[0] >= 0 else tree.threshold[0] for tree in self.trees]
        return np.where(self.gain > 0, np.array(tests, np.float64), np.nan)

    def _layout(self) -> Layout:
        head = ["column", "score", "split"] + (["p", "adjusted"] if self.pvalue is not None else [])
        lines: list[list[str]] = []
        for j in self.order[:MOST_LINES].tolist():
            lines.append([escape(self.columns[j]), f"{self.score[j]:.4g}", self.splits[j] or "-"])
            if self.pvalue is not None and self.adjusted_pvalue is not None:
                lines[-1] += [f"{self.pvalue[j]:.3g}", f"{self.adjusted_pvalue[j]:.3g}"]
        rest = [f"… {len(self) - MOST_LINES:,} more columns"] if len(self) > MOST_LINES else []
        return Layout([], head, lines, (1, 3, 4), rest)

    def to_dict(self) -> dict[str, Any]:
        """The values as lists, with one entry per column, ready for JSON."""
        return {name: plain(value) for name, value in vars(self).items() if name != "trees"}


@takes_rows
@takes(SplitScoresParameters)
def split_scores(data: Dataset, **options: Any) -> SplitScores:
    """Score each column by its best single split; scores of several targets are averaged.

    Examples
    --------
    >>> from treewright import encode
    >>> from treewright.feature_selection import split_scores
    >>> data = encode({"x": [1, 2, 3, 4], "z": [1, 2, 9, 1]}, ["a", "a", "b", "b"])
    >>> print(split_scores(data))
    column    score   split
    x           0.5   x <= 2.5
    z        0.1667   z <= 5
    """
    measure, criterion = options["measure"], _criterion(options["measure"], options["criterion"], data)
    limits = {"min_samples_leaf": row_count("min_samples_leaf", options["min_samples_leaf"], data.n_counted)}
    n, n_jobs = int(options["n_permutations"]), options["n_jobs"]
    if data.weight is not None:
        data = data.take(data.counted)
    if data.n_rows > _core.small_rows:
        data.bins(n_threads(n_jobs))
    progress = options["progress"]
    trees = _stumps(data, criterion, limits, n_jobs, of_stage(progress, 0.0, 0.1) if n else progress)
    gain = np.array([_gain(tree) for tree in trees]) / data.total_weight
    words = (branch_in_words(tree, 0, True) if each else "" for tree, each in zip(trees, gain, strict=True))
    score = gain  # entropies of the core are in bits
    if measure == "accuracy":
        score = np.asarray(1.0 - (trees[0].risk[0] / trees[0].weight[0] - gain))
    scores = SplitScores(data.schema.names, score, gain, tuple(words), trees, measure, criterion)
    if not n:
        return scores
    permutations = Permutations(data, criterion, limits, n, options["random_state"], n_jobs)
    nulls = [null / data.total_weight for null in permutations.gains_by_column(of_stage(progress, 0.1, 0.45))]
    pvalue = np.array([permutation_pvalue(*pair) for pair in zip(nulls, gain, strict=True)])
    correction, adjusted = options["correction"], pvalue
    if correction == "benjamini-hochberg":
        from scipy.stats import false_discovery_control  # heavy: only where it is used

        adjusted = false_discovery_control(pvalue)
    elif correction == "max":
        best = permutations.largest_gains(of_stage(progress, 0.55, 0.45)) / data.total_weight
        adjusted = np.array([permutation_pvalue(best, value) for value in gain])
    return replace(scores, pvalue=pvalue, adjusted_pvalue=adjusted, correction=correction, n_permutations=n)


def _criterion(measure: str, criterion: str | None, data: Dataset) -> str:
    """The criterion of a measure; ValueError unless it suits the target."""
    check_rows(data)
    if measure in _CRITERIA:
        if not data.schema.predicts_classes:
            raise ValueError(
                f"measure={measure!r} is for classes, but the target is numbers; use measure='gain'"
            )
        if criterion is not None:
            raise ValueError(f"criterion is for measure='gain'; measure={measure!r} has its own")
        return _CRITERIA[measure]
    name = checked_criterion(criterion, data)
    if name == "gain_ratio":
        raise ValueError("gain_ratio ranks the splits of one node, but does not compare columns: use entropy")
    return name


def _stumps(
    data: Dataset, criterion: str, limits: dict[str, Any], n_jobs: int | None, progress: Listener | None
) -> tuple[Tree, ...]:
    """The tree of one split of each column."""

    def work(first: int, listener: Listener) -> list[Tree]:
        stumps = []
        for position in range(first, min(first + _COLUMNS_PER_TASK, data.n_columns)):
            listener((position - first) / _COLUMNS_PER_TASK)
            options: dict[str, Any] = {**_STUMP, **limits, "criterion": criterion, "progress": listener}
            stumps.append(grow(data.select_columns([position]), **options))
        return stumps

    batches = results_in_order(work, range(0, data.n_columns, _COLUMNS_PER_TASK), n_threads(n_jobs), progress)
    return tuple(tree for batch in batches for tree in batch)


def _gain(tree: Tree) -> float:
    """The gain of the one split; 0 where it is only rounding."""
    gain = float(tree.gain[0])
    return gain if gain > _ROUNDING * float(tree.risk[0]) else 0.0


# ---- permutation tests -----------------------------------------------------------------------------


def permutation_pvalue(null: Floats, value: float) -> float:
    """The share of the gains under permutation that reach a gain, which counts as one of them.

    >>> permutation_pvalue(np.array([0.1, 0.2, 0.3]), 0.2)
    0.75
    """
    n_reaching = np.count_nonzero(null >= value * (1 - _EQUAL)) if value > 0 else len(null)
    return float(1 + n_reaching) / (1 + len(null))


@dataclass(frozen=True)
class Permutations:
    """The best splits of a table whose target is permuted, `n_permutations` times.

    All rows must have a positive weight; weights are permuted with the target.
    """

    data: Dataset
    criterion: str
    limits: dict[str, Any]
    n_permutations: int
    random_state: int
    n_jobs: int | None = None

    def gains_by_column(self, progress: Listener | None = None) -> list[Floats]:
        """For each column the gain of its best split in each permutation; columns with equal ties share."""
        alike: dict[Any, list[int]] = {}
        for position in range(self.data.n_columns):
            alike.setdefault(_ties(self.data, position), []).append(position)
        nulls: list[Floats] = [np.zeros(0)] * self.data.n_columns
        stumps = [self._stump(self.data.select_columns(positions[:1])) for positions in alike.values()]
        gains = self._gains(stumps, _PERMUTATIONS_PER_TASK, progress)
        for null, positions in zip(gains, alike.values(), strict=True):
            for position in positions:
                nulls[position] = null
        return nulls

    def largest_gains(self, progress: Listener | None = None) -> Floats:
        """The gain of the best split of all columns in each of the same permutations."""
        return self._gains([self._stump(self.data)], 1, progress)[0]

    def _stump(self, data: Dataset) -> _Stump:
        return _Stump(data, self.criterion, self.limits, self.random_state)

    def _gains(self, stumps: list[_Stump], size: int, progress: Listener | None) -> list[Floats]:
        """The gains of each stump in all permutations, computed in tasks of `size` permutations."""
        starts = range(0, self.n_permutations, size)
        tasks = [(stump, first) for stump in stumps for first in starts]

        def work(task: tuple[_Stump, int], listener: Listener) -> Floats:
            stump, first = task
            return stump.gains(range(first, min(first + size, self.n_permutations)), listener)

        found, n = results_in_order(work, tasks, n_threads(self.n_jobs), progress), len(starts)
        return [np.concatenate(found[i * n : (i + 1) * n]) for i in range(len(stumps))]


def _ties(data: Dataset, position: int) -> Any:
    """What the null distribution of a column depends on: the number of known values and how many of them are
    equal, in their order, or by size for categories, which have no order.
    """
    values, column = data.column(position), data.schema.columns[position]
    values = values[~column.type.is_unknown(values)]
    counts = np.unique(values, return_counts=True)[1]
    return column.is_category, len(values), (np.sort(counts) if column.is_category else counts).tobytes()


class _Stump:
    """The gain of the best split of a table for one permuted target after another, without building trees."""

    def __init__(self, data: Dataset, criterion: str, limits: dict[str, Any], random_state: int) -> None:
        self.data, self.criterion, self.limits, self.random_state = data, criterion, limits, random_state
        targets = targets_for(data, criterion)
        self.name = "numbers" if targets["labels"] is None else "labels"
        self.target: NDArray[Any] = targets[self.name]
        bins, is_mixed = data.bins() if data.n_rows > _core.small_rows else (None, None)
        self.task: dict[str, Any] = {
            **targets,
            **core_limits(core_options(_STUMP | limits, data), data),
            "criterion": criterion,
            "bins": bins,
            "is_mixed": is_mixed,
            "random_splits": False,
            "small_rows": 0,
            "combined": [],
            "max_combined": 2,
            "n_threads": 1,
        }

    def gains(self, permutations: Sequence[int], listener: Listener) -> Floats:
        """The gain of the best split in each of the permutations, given by their numbers."""
        weight, gains = self.data.weight, np.zeros(len(permutations))
        for place, number in enumerate(permutations):
            listener(place / len(permutations))
            rng = np.random.default_rng(np.random.SeedSequence(self.random_state, spawn_key=(number,)))
            order = rng.permutation(self.data.n_rows)
            target = np.ascontiguousarray(self.target[:, order])
            gains[place] = self._gain(target, None if weight is None else weight[order], listener)
        return gains

    def _gain(self, target: NDArray[Any], weight: Floats | None, listener: Listener) -> float:
        schema = self.data.schema
        if schema.is_wide:  # the core returns sparse statistics of very many classes, which a Tree can read
            data = Dataset(schema, self.data.columns, target, weight)
            options: dict[str, Any] = {**_STUMP, **self.limits, "progress": listener}
            return float(grow(data, criterion=self.criterion, **options).gain[0])
        arrays = _core.grow(**self.task | {self.name: target, "weight": weight, "progress": listener})
        statistic = arrays["statistic"]
        if len(statistic) < 3:
            return 0.0
        blocks = np.split(statistic, np.cumsum(schema.block_widths)[:-1], axis=1)
        before, left, right = np.mean([self._risks(block) for block in blocks], axis=0)
        return max(float(before - (left + right)), 0.0)

    def _risks(self, block: Floats) -> Floats:
        """The risk of the root and its two children, for one target."""
        return block[:, 2] if self.name == "numbers" else _core.risk(self.criterion, block)
