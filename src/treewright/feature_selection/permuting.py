"""What chance alone would gain: the best splits of columns when the target is permuted.

The null distribution of a column's best split depends on how its values are tied and on how many are missing,
not on what they are: columns that are alike in this share one. A table of measurements without ties, however
wide, has a single one.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset
from treewright.ensembles.side_by_side import Listener, gathered
from treewright.growing import grow, n_threads
from treewright.growing.limits import core_limits
from treewright.growing.targets import targets_for

Floats = NDArray[np.float64]
Correction = Literal["max", "benjamini-hochberg", "none"]
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)
SAME = 1e-9  # gains that differ by this share are equal: sums round
_BATCH = 200  # permutations of one task
_DEFAULTS = {name: each.default for name, each in inspect.signature(grow).parameters.items()}


def check_correction(correction: str) -> None:
    """Refuse what is no way to allow for many columns."""
    if correction not in CORRECTIONS:
        known = ", ".join(map(repr, CORRECTIONS))
        raise ValueError(f"correction is {correction!r}; it must be one of {known}")


def share_reached(null: Floats, value: float) -> float:
    """The p-value of a gain: the share of the null's that reach it, itself counted as one of them.

    >>> share_reached(np.array([0.1, 0.2, 0.3]), 0.2)
    0.75
    """
    reached = np.count_nonzero(null >= value * (1 - SAME)) if value > 0 else len(null)
    return float(1 + reached) / (1 + len(null))


def adjusted(correction: Correction, pvalue: Floats, gain: Floats, best: Floats | None) -> Floats:
    """P-values that allow for there being many columns; `best` are the largest gains of all permutations."""
    if correction == "none":
        return pvalue
    if correction == "max":
        assert best is not None
        return np.array([share_reached(best, value) for value in gain])
    return benjamini_hochberg(pvalue)


def benjamini_hochberg(pvalue: Floats) -> Floats:
    """The smallest level of false discoveries at which each is found.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03, 0.5])).round(3).tolist()
    [0.04, 0.053, 0.053, 0.5]
    """
    order = np.argsort(pvalue)
    raised = pvalue[order] * len(pvalue) / np.arange(1, len(pvalue) + 1)
    result = np.empty(len(pvalue))
    result[order] = np.minimum.accumulate(raised[::-1])[::-1].clip(max=1.0)
    return result


def column_nulls(
    data: Dataset,
    criterion: str,
    limits: dict[str, Any],
    n_permutations: int,
    seed: int,
    n_jobs: int | None = None,
    progress: Listener | None = None,
) -> list[Floats]:
    """For each column the gains of its best split in every permutation of the target.

    Columns whose values are tied alike share the array. All rows must weigh something; weights go with the
    target, so that a permutation has the same classes and weights as the rows.
    """
    alike: dict[Any, list[int]] = {}
    for position in range(data.n_columns):
        alike.setdefault(_pattern(data, position), []).append(position)
    stumps = [_Stump(data.narrowed(positions[:1]), criterion, limits) for positions in alike.values()]
    starts = range(0, n_permutations, _BATCH)
    tasks = [(stump, first) for stump in stumps for first in starts]

    def work(task: tuple[_Stump, int], told: Listener) -> Floats:
        stump, first = task
        return stump.gains(range(first, min(first + _BATCH, n_permutations)), seed, told)

    batches = gathered(work, tasks, n_threads(n_jobs), progress)
    nulls: list[Floats] = [np.zeros(0)] * data.n_columns
    for place, positions in enumerate(alike.values()):
        null = np.concatenate(batches[place * len(starts) : (place + 1) * len(starts)])
        for position in positions:
            nulls[position] = null
    return nulls


def highest_gains(
    data: Dataset,
    criterion: str,
    limits: dict[str, Any],
    n_permutations: int,
    seed: int,
    n_jobs: int | None = None,
    progress: Listener | None = None,
) -> Floats:
    """The gain of the best split of all columns in every permutation of the target; the same permutations."""
    stump = _Stump(data, criterion, limits)

    def work(permutation: int, told: Listener) -> Floats:
        return stump.gains(range(permutation, permutation + 1), seed, told)

    return np.concatenate(gathered(work, range(n_permutations), n_threads(n_jobs), progress))


def _pattern(data: Dataset, position: int) -> Any:
    """What the null distribution of a column depends on: how many values are equal, in their order; of
    categories, which have none, by their number; and how many are missing.
    """
    values = data.column(position)
    is_category = data.schema.columns[position].kind == "category"
    known = values[values >= 0] if is_category else values[~np.isnan(values)]
    counts = np.unique(known, return_counts=True)[1]
    return is_category, len(known), (np.sort(counts) if is_category else counts).tobytes()


class _Stump:
    """The best split of a table for one target after the other, without the ceremony of a tree each time."""

    def __init__(self, data: Dataset, criterion: str, limits: dict[str, Any]) -> None:
        self.data, self.criterion, self.limits = data, criterion, limits
        self.widths = data.schema.block_widths
        targets = targets_for(data, criterion)
        self.name = "numbers" if targets["labels"] is None else "labels"
        self.target: NDArray[Any] = targets[self.name]
        is_large = data.n_rows > _core.small_rows
        bins, is_mixed = data.bins() if is_large else (None, None)
        self.task: dict[str, Any] = {
            **targets,
            **core_limits(_DEFAULTS | {"max_splits": 1, "category_gain": "plain"} | limits, data),
            "criterion": criterion,
            "bins": bins,
            "is_mixed": is_mixed,
            "random_splits": False,
            "small_rows": 0,
            "combined": [],
            "max_combined": 2,
            "n_threads": 1,
        }

    def gains(self, permutations: Sequence[int], seed: int, told: Listener) -> Floats:
        """The gain of the best split in each of the permutations, which are known by their numbers."""
        weight, found = self.data.weight, np.zeros(len(permutations))
        for place, number in enumerate(permutations):
            told(place / len(permutations))
            rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
            order = rng.permutation(self.data.n_rows)
            moved = np.ascontiguousarray(self.target[:, order])
            lightly = None if weight is None else weight[order]
            found[place] = self._gain(moved, lightly, told)
        return found

    def _gain(self, target: NDArray[Any], weight: Floats | None, told: Listener) -> float:
        if self.data.schema.is_wide:  # the statistic of very many classes is a tree's own affair
            data = Dataset(self.data.schema, self.data.columns, target, weight)
            tree = grow(
                data,
                criterion=self.criterion,
                max_splits=1,
                category_gain="plain",
                progress=told,
                **self.limits,
            )
            return float(tree.gain[0])
        grown = _core.grow(**self.task | {self.name: target, "weight": weight, "progress": told})
        statistic = grown["statistic"]
        if len(statistic) < 3:
            return 0.0
        blocks = np.split(statistic, np.cumsum(self.widths)[:-1], axis=1)
        risks = [self._risks(block) for block in blocks]
        before, left, right = np.mean(risks, axis=0)
        return max(float(before - (left + right)), 0.0)

    def _risks(self, block: Floats) -> Floats:
        """The risk of the root and its two children, for one target."""
        return block[:, 2] if self.name == "numbers" else _core.risk(self.criterion, block)
