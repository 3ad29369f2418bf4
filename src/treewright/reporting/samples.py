"""Training, validation and test sample of a report: counts, statistics and losses at every node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright.certifying import binomial_lower, binomial_upper
from treewright.encoding import Dataset
from treewright.reporting.rounding import DIGITS, short, shorts
from treewright.tree import Tree
from treewright.tree.class_counts import SparseRows
from treewright.tree.evaluate import arrivals, leaves_of, rows_of, squared_losses, unknown_weights
from treewright.tree.missing import divides
from treewright.tree.number_losses import NUMBER_LOSSES

Floats = NDArray[np.float64]
SAMPLE_NAMES = ("train", "validation", "test")
ROWS_IN_WORDS = {"train": "training rows", "validation": "validation rows", "test": "test rows"}

MOST_CLASSES = 20  # listed with their weights at every node; of more classes the heaviest
_FEW_CELLS = 60_000  # nodes × classes up to which all nonzero weights are kept nevertheless
HEAVIEST = 12
MOST_HEAVIEST = 30_000  # pairs of class and weight in a sample: of large trees fewer at each node
_PIECE = 2**21  # nodes × classes tabulated at once
_FEW_NODES = 4_000  # of larger trees numbers are rounded more
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
MOST_RESIDUALS = 2_000  # nodes with quantiles
_MOST_SORTED = 30_000_000  # numbers that are sorted for them


@dataclass(frozen=True, eq=False)
class Sample:
    """One sample at the nodes of a tree."""

    tree: Tree
    data: Dataset

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The number of rows at each node."""
        return rows_of(self.tree, self.data)

    @cached_property
    def weight(self) -> float:
        """The total weight."""
        return self.data.total_weight

    @cached_property
    def statistic(self) -> Floats | SparseRows:
        """The statistic of each node."""
        return self.tree.statistic_of(self.data)

    @cached_property
    def loss(self) -> Floats:
        """The loss at each node, if it were a leaf."""
        return self.tree.loss_of(self.data)

    @cached_property
    def squared_loss(self) -> Floats:
        """The sum of squared losses at each node."""
        return squared_losses(self.tree, self.data)

    @cached_property
    def cells(self) -> list[NDArray[Any]]:
        """The columns, without rows of weight 0."""
        data = self.data if self.data.weight is None else self.data.take(self.data.counted)
        return [data.column(i) for i in range(data.n_columns)]

    @cached_property
    def as_draws(self) -> Sample | None:
        """The same rows unweighted, as an i.i.d. sample for certificates; None if their weights differ."""
        if self.data.weight is None:
            return self
        if not self.data.weighs_alike:
            return None
        kept = self.data.take(self.data.counted)
        return Sample(self.tree, replace(kept, weight=None))


class TrainingSample(NamedTuple):
    """The training sample as far as the tree itself remembers it; the arrays are by node."""

    tree: Tree
    rows: NDArray[np.int64]
    weight: float
    statistic: Floats | SparseRows
    loss: Floats

    @classmethod
    def of(cls, tree: Tree) -> TrainingSample:
        """The sample that a tree was grown from."""
        return cls(tree, tree.rows, float(tree.weight[0]), tree.statistic, tree.loss)


AnySample = Sample | TrainingSample


def sample_facts(sample: AnySample, inside: NDArray[np.bool_]) -> dict[str, Any]:
    """A sample for the payload; the nodes of the model (`inside`) have priority where space is short."""
    facts: dict[str, Any] = {
        "rows": int(sample.rows[0]),
        "weight": short(sample.weight),
        "node_rows": sample.rows.tolist(),
    }
    tree = sample.tree
    if tree.schema.predicts_classes:
        facts["counts"] = _counts(sample)
        if isinstance(sample, Sample) and sample.data.unknown_classes is not None:
            facts["unknown"] = shorts(
                unknown_weights(tree, sample.data)[:, 0]
            )  # classes that the tree does not know
    else:
        facts |= _numbers(sample, inside)
    return facts | {"loss": shorts(sample.loss, _digits(tree))}


def _digits(tree: Tree) -> int:
    """Digits of fractions: fewer for large trees, to keep the page small."""
    return DIGITS if tree.n_nodes <= _FEW_NODES else 4


def _counts(sample: AnySample) -> list[Any] | dict[str, Any]:
    """The weight of each class at each node; of many classes the heaviest."""
    tree = sample.tree
    if tree.schema.width <= MOST_CLASSES:
        return shorts(sample.statistic)
    width = tree.schema.width
    is_whole = tree.n_nodes * width <= _FEW_CELLS
    most = width if is_whole else int(np.clip(MOST_HEAVIEST // tree.n_nodes, 3, HEAVIEST))
    step = 1 + _PIECE // width
    top: list[Any] = []
    for first in range(0, tree.n_nodes, step):
        table = np.asarray(sample.statistic[np.arange(first, min(first + step, tree.n_nodes))])
        codes = np.argsort(-table, axis=1, kind="stable")[:, :most]
        weights = np.take_along_axis(table, codes, axis=1)
        for own, heavy in zip(codes.tolist(), weights.tolist(), strict=True):
            top.append([[code, short(weight)] for code, weight in zip(own, heavy, strict=True) if weight > 0])
    return {"top": top, "whole": is_whole}


def _numbers(sample: AnySample, inside: NDArray[np.bool_]) -> dict[str, Any]:
    """Mean and standard deviation of the target, and quantiles of the residuals, at each node."""
    statistic: Floats = np.asarray(sample.statistic)
    weight, mean, total = statistic.T
    reached = weight > 0
    spread = np.divide(total, weight, out=np.full(len(weight), np.nan), where=reached)
    own = "squared_error" if isinstance(sample, Sample) else sample.tree.criterion
    spread = NUMBER_LOSSES[own].typical(spread)
    digits = _digits(sample.tree)
    facts = {"mean": shorts(np.where(reached, mean, np.nan), digits), "deviation": shorts(spread, digits)}
    if isinstance(sample, Sample):
        facts["residuals"] = _residuals(sample, inside)
    else:
        facts["residuals"] = [None] * len(weight)
    return facts


def _residuals(sample: Sample, inside: NDArray[np.bool_]) -> list[Any]:
    """Quantiles of the residuals at each node: sorted by leaf, the rows of a subtree are contiguous."""
    tree, data = sample.tree, sample.data
    row, leaf, weights = _leaf_assignments(tree, data)
    order = np.argsort(leaf, kind="stable")
    numbers = np.asarray(data.targets)[0][row][order]
    weights = None if weights is None else weights[order]
    first = np.searchsorted(leaf[order], np.arange(tree.n_nodes))
    last = np.searchsorted(leaf[order], tree.end)
    size = last - first
    wanted = np.lexsort((-size, ~inside))[:MOST_RESIDUALS]  # the nodes of the model first
    wanted = wanted[(np.cumsum(size[wanted]) <= _MOST_SORTED) & (size[wanted] > 0)]
    found: list[Any] = [None] * tree.n_nodes
    for node in wanted.tolist():
        own = numbers[first[node] : last[node]] - tree.value[node, 0]
        weight = None if weights is None else weights[first[node] : last[node]]
        found[node] = shorts(_quantiles(own, weight), 4)
    return found


def _leaf_assignments(tree: Tree, data: Dataset) -> tuple[NDArray[Any], NDArray[Any], Floats | None]:
    """Row number, leaf and weight (None: all 1) of the rows, or fractions of rows, of positive weight."""
    if not divides(tree, data):
        kept = data.counted
        return kept, leaves_of(tree, data)[kept], None if data.weight is None else data.weight[kept]
    row, leaf, weight = (np.concatenate(arrays) for arrays in zip(*arrivals(tree, data), strict=True))
    kept = weight > 0
    return row[kept], leaf[kept], weight[kept]


def _quantiles(numbers: Floats, weight: Floats | None) -> Floats:
    """Weighted quantiles, without interpolation."""
    order = np.argsort(numbers, kind="stable")
    below = np.arange(1.0, len(numbers) + 1) if weight is None else np.cumsum(weight[order])
    place = np.searchsorted(below, np.array(QUANTILES) * below[-1] * (1 - 1e-12))
    return np.asarray(numbers[order][np.minimum(place, len(numbers) - 1)])


def intervals(given: Mapping[str, Sample], delta: float) -> dict[str, Any] | None:
    """Clopper and Pearson's interval for the error of each node, from rows that it was not grown from."""
    name = next((name for name in ("test", "validation") if name in given), None)
    if name is None or not given[name].tree.schema.predicts_classes:
        return None
    draws = given[name].as_draws
    if draws is None or divides(draws.tree, draws.data):  # fractions of rows are not an i.i.d. sample
        return None
    rows, errors = draws.rows, wrong_rows(draws)
    nats, reached = np.log(2 / delta), np.maximum(rows, 1)
    lower = np.where(rows, binomial_lower(errors, reached, nats), 0.0)
    upper = np.where(rows, binomial_upper(errors, reached, nats), 1.0)
    return {"sample": name, "lower": shorts(lower, 4), "upper": shorts(upper, 4)}


def wrong_rows(draws: Sample) -> NDArray[np.int64]:
    """The number of rows that each node would misclassify, regardless of costs."""
    statistic, label = draws.statistic, draws.tree.label
    if isinstance(statistic, SparseRows):
        right = statistic.at(label)[:, 0]
    else:
        right = np.take_along_axis(statistic, label, axis=1)[:, 0]
    return np.asarray(draws.rows - np.rint(right).astype(np.int64))
