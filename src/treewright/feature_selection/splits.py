"""A filter: the score of the best single split of each column, and how likely chance alone does as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright._json import plain
from treewright._text import aligned, escape
from treewright.encoding import Dataset
from treewright.encoding.splits import checked_seed
from treewright.ensembles.side_by_side import Listener, gathered
from treewright.feature_selection.permuting import (
    Correction,
    adjusted,
    check_correction,
    column_nulls,
    highest_gains,
    share_reached,
)
from treewright.growing import grow, n_threads, whole_number
from treewright.growing.targets import check_rows, checked_criterion
from treewright.tree import Tree
from treewright.tree.wording import branch_in_words

Floats = NDArray[np.float64]
Measure = Literal["gain", "mutual_information", "accuracy"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
MOST_LINES = 30
SAME = 1e-12  # a gain that is a smaller share of the risk is none: sums round
_BATCH = 64  # columns of one task: a stump alone is too little for a thread
_OF_MEASURE = {"mutual_information": "entropy", "accuracy": "error"}  # the criterion whose gain a measure is


@dataclass(frozen=True, eq=False)
class SplitScores:
    """What the best split of each column is worth, in the order of the schema; `print` shows the best first.

    `gain` is the drop of risk per unit of weight, in the units of the criterion; `score` what was asked for.
    `pvalue` is the share of permutations of the target, itself counted as one of them, in which the best
    split of the column gains as much; `adjusted` allows for there being many columns.
    """

    columns: tuple[str, ...]
    score: Floats
    gain: Floats
    splits: tuple[str, ...]  # the test in words: what goes left; "" where no split gains anything
    trees: tuple[Tree, ...] = field(repr=False)
    measure: Measure
    criterion: str
    pvalue: Floats | None = None
    adjusted: Floats | None = None
    correction: Correction | None = None
    n_permutations: int = 0

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def order(self) -> NDArray[np.int64]:
        """The columns by falling score; of equal ones the first comes first."""
        return np.argsort(-self.score, kind="stable")

    @property
    def thresholds(self) -> Floats:
        """Where the best split cuts each column; NaN for categories and where no split gains anything."""
        tests = [np.nan if tree.subset[0] >= 0 else tree.threshold[0] for tree in self.trees]
        return np.where(self.gain > 0, np.array(tests, np.float64), np.nan)

    def __str__(self) -> str:
        lines = [["column", "score", "split"] + (["p", "adjusted"] if self.pvalue is not None else [])]
        for j in self.order[:MOST_LINES].tolist():
            lines.append([escape(self.columns[j]), f"{self.score[j]:.4g}", self.splits[j] or "-"])
            if self.pvalue is not None and self.adjusted is not None:
                lines[-1] += [f"{self.pvalue[j]:.3g}", f"{self.adjusted[j]:.3g}"]
        rest = [f"… {len(self) - MOST_LINES:,} more columns"] if len(self) > MOST_LINES else []
        return "\n".join([*aligned(lines, right=(1, 3, 4)), *rest])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, one list entry per column."""
        return {name: plain(value) for name, value in vars(self).items() if name != "trees"}


def split_scores(
    data: Dataset,
    *,
    measure: Measure = "gain",
    criterion: str | None = None,
    min_samples_leaf: int = 1,
    n_permutations: int = 0,
    correction: Correction = "max",
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Listener | None = None,
) -> SplitScores:
    """Score each column by its best single split, found exactly by the grower itself.

    Parameters
    ----------
    data : Dataset
        Rows with their targets: numbers, categories, times, missing values, weights.
    measure : {"gain", "mutual_information", "accuracy"}
        The drop of risk per unit of weight by `criterion`; the mutual information of target and split, in
        bits; or the share of rows (by weight) that the split's two sides answer rightly. The last two are for
        classes, and averaged over several targets.
    criterion : str, optional
        For ``measure="gain"``: one of `treewright.criteria()` but gain_ratio, which is a rule of choice and
        no amount; gini for classes and squared_error for numbers by default.
    min_samples_leaf : int
        The fewest rows of a side.
    n_permutations : int
        How often the target is permuted for p-values; 0 leaves them out. The least p-value is
        1 / (n_permutations + 1).
    correction : {"max", "benjamini-hochberg", "none"}
        How p-values are adjusted for many columns. "max" compares each column with the best of all columns
        in each permutation (Westfall and Young): the chance of any false discovery stays below a level, and
        few permutations do. "benjamini-hochberg" bounds the expected share of false ones among those found;
        it needs more permutations than columns, divided by the level, to find a single one.
    seed : int
        Of the permutations.
    n_jobs : int, optional
        Threads: None is 1, -1 all cores. The result is the same for any number.
    progress : callable, optional
        Told the share that is done; what it raises ends the work.

    Returns
    -------
    SplitScores

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
    name = _checked(data, measure, criterion)
    check_correction(correction)
    n = whole_number("n_permutations", n_permutations, 0)
    limits = {"min_samples_leaf": whole_number("min_samples_leaf", min_samples_leaf, 1)}
    start = checked_seed(seed)
    if data.weight is not None:
        data = data.take(data.counted)
    if data.n_rows > _core.small_rows:
        data.bins(n_threads(n_jobs))
    told = _stages(progress, n)
    trees = _stumps(data, name, limits, n_jobs, told[0])
    gain = np.array([_gain(tree) for tree in trees]) / data.total_weight
    found = SplitScores(
        columns=data.schema.names,
        score=_scores(measure, gain, trees),
        gain=gain,
        splits=tuple(
            branch_in_words(tree, 0, True) if gains else ""
            for tree, gains in zip(trees, gain > 0, strict=True)
        ),
        trees=trees,
        measure=measure,
        criterion=name,
    )
    if not n:
        return found
    nulls = column_nulls(data, name, limits, n, start, n_jobs, told[1])
    pvalue = np.array(
        [share_reached(null / data.total_weight, value) for null, value in zip(nulls, gain, strict=True)]
    )
    best = None
    if correction == "max":
        best = highest_gains(data, name, limits, n, start, n_jobs, told[2]) / data.total_weight
    return replace(
        found,
        pvalue=pvalue,
        adjusted=adjusted(correction, pvalue, gain, best),
        correction=correction,
        n_permutations=n,
    )


def _checked(data: Dataset, measure: str, criterion: str | None) -> str:
    """The criterion of a measure, once it is clear that it suits the target."""
    check_rows(data)
    if measure not in MEASURES:
        raise ValueError(f"measure is {measure!r}; it must be one of {', '.join(map(repr, MEASURES))}")
    if measure in _OF_MEASURE:
        if not data.schema.predicts_classes:
            raise ValueError(
                f"measure={measure!r} is for classes, but the target is numbers; use measure='gain'"
            )
        if criterion is not None:
            raise ValueError(f"criterion is for measure='gain'; measure={measure!r} has its own")
        return _OF_MEASURE[measure]
    name = checked_criterion(criterion, data)
    if name == "gain_ratio":
        raise ValueError(
            "gain_ratio chooses among splits, it is no amount to compare columns by: use entropy"
        )
    return name


def _stages(progress: Listener | None, n_permutations: int) -> Sequence[Listener | None]:
    """Progress of the scores, the nulls and the best gains, as shares of the whole."""
    if progress is None:
        return None, None, None
    borders = (0.0, 0.1, 0.55, 1.0) if n_permutations else (0.0, 1.0, 1.0, 1.0)

    def stage(low: float, high: float) -> Listener:
        return lambda share: progress(low + (high - low) * share)

    return [stage(low, high) for low, high in pairwise(borders)]


def _stumps(
    data: Dataset, criterion: str, limits: dict[str, Any], n_jobs: int | None, progress: Listener | None
) -> tuple[Tree, ...]:
    """The tree of one split of each column."""

    def work(first: int, told: Listener) -> list[Tree]:
        made = []
        for position in range(first, min(first + _BATCH, data.n_columns)):
            told((position - first) / _BATCH)
            one = data.narrowed([position])
            stump = grow(
                one, criterion=criterion, max_splits=1, category_gain="plain", progress=told, **limits
            )
            made.append(stump)
        return made

    batches = gathered(work, range(0, data.n_columns, _BATCH), n_threads(n_jobs), progress)
    return tuple(tree for batch in batches for tree in batch)


def _gain(tree: Tree) -> float:
    """The gain of the one split; 0 where it is nothing but rounding."""
    gain = float(tree.gain[0])
    return gain if gain > SAME * float(tree.risk[0]) else 0.0


def _scores(measure: Measure, gain: Floats, trees: tuple[Tree, ...]) -> Floats:
    """What was asked for, of gains per unit of weight."""
    if measure != "accuracy":  # entropies of the engine are in bits
        return gain
    wrong = trees[0].risk[0] / trees[0].weight[0]
    return np.asarray(1.0 - (wrong - gain))
