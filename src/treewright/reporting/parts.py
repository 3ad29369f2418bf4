"""The rows of a report: what arrives at every node of the tree, and what it loses there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.certifying import binomial_lower, binomial_upper
from treewright.encoding import Dataset
from treewright.reporting.rounding import DIGITS, short, shorts
from treewright.tree import Tree
from treewright.tree.class_counts import SparseRows
from treewright.tree.evaluate import arrivals, leaves_of, rows_of, squared_losses, unknown_weights
from treewright.tree.missing import divides

Floats = NDArray[np.float64]
NAMES = ("train", "validation", "test")
ROWS_IN_WORDS = {"train": "training rows", "validation": "validation rows", "test": "test rows"}

MOST_CLASSES = 20  # with all their weights at every node; of more classes the heaviest
_FEW_CELLS = 60_000  # nodes by classes, of which all that are not zero are kept nevertheless
HEAVIEST = 12
MOST_HEAVIEST = 30_000  # pairs of class and weight in a part: of large trees fewer at each node
_PIECE = 2**21  # cells of a table of nodes by classes that are made at once
_FEW_NODES = 4_000  # of which all numbers have all digits
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
MOST_RESIDUALS = 2_000  # nodes with quantiles
_MOST_SORTED = 30_000_000  # numbers that are sorted for them


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows at the nodes of a tree."""

    tree: Tree
    data: Dataset

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """How many arrive at each node."""
        return rows_of(self.tree, self.data)

    @cached_property
    def weight(self) -> float:
        """The weight of all of them."""
        return self.data.total_weight

    @cached_property
    def statistic(self) -> Floats | SparseRows:
        """The statistic of each node."""
        return self.tree.statistic_of(self.data)

    @cached_property
    def loss(self) -> Floats:
        """What they lose at each node, if it answers."""
        return self.tree.loss_of(self.data)

    @cached_property
    def squared_loss(self) -> Floats:
        """The squares of what they lose."""
        return squared_losses(self.tree, self.data)

    @cached_property
    def cells(self) -> list[NDArray[Any]]:
        """The columns of the rows that weigh something."""
        data = self.data if self.data.weight is None else self.data.take(self.data.counted)
        return [data.column(i) for i in range(data.n_columns)]

    @cached_property
    def as_draws(self) -> Part | None:
        """The same rows where each counts as one draw, as certificates need it; None if they weigh more or
        less than others.
        """
        if self.data.weight is None:
            return self
        if not self.data.weighs_alike:
            return None
        kept = self.data.take(self.data.counted)
        return Part(self.tree, replace(kept, weight=None))


@dataclass(frozen=True, eq=False)
class OwnRows:
    """The rows that a tree was grown from, as far as the tree itself tells of them."""

    tree: Tree

    @property
    def rows(self) -> NDArray[np.int64]:
        """How many were at each node."""
        return self.tree.rows

    @property
    def weight(self) -> float:
        """The weight of all of them."""
        return float(self.tree.weight[0])

    @property
    def statistic(self) -> Floats | SparseRows:
        """The statistic of each node."""
        return self.tree.statistic

    @property
    def loss(self) -> Floats:
        """What they lose at each node."""
        return self.tree.loss


Rows = Part | OwnRows


def part_facts(part: Rows, inside: NDArray[np.bool_]) -> dict[str, Any]:
    """What a page needs to know of a part; `inside` are the nodes of the model, which go first where there is
    no room for all.
    """
    facts: dict[str, Any] = {
        "rows": int(part.rows[0]),
        "weight": short(part.weight),
        "node_rows": part.rows.tolist(),
    }
    tree = part.tree
    if tree.schema.predicts_classes:
        facts["counts"] = _counts(part)
        if isinstance(part, Part) and part.data.unknown_classes is not None:
            facts["unknown"] = shorts(unknown_weights(tree, part.data)[:, 0])  # beside the counted classes
    else:
        facts |= _numbers(part, inside)
    return facts | {"loss": shorts(part.loss, _digits(tree))}


def _digits(tree: Tree) -> int:
    """Of what is not whole: a large tree has no room for many."""
    return DIGITS if tree.n_nodes <= _FEW_NODES else 4


def _counts(part: Rows) -> list[Any] | dict[str, Any]:
    """The weight of each class at each node; of many classes the heaviest."""
    tree = part.tree
    if tree.schema.width <= MOST_CLASSES:
        return shorts(part.statistic)
    width = tree.schema.width
    is_whole = tree.n_nodes * width <= _FEW_CELLS
    most = width if is_whole else int(np.clip(MOST_HEAVIEST // tree.n_nodes, 3, HEAVIEST))
    step = 1 + _PIECE // width
    top: list[Any] = []
    for first in range(0, tree.n_nodes, step):
        table = np.asarray(part.statistic[np.arange(first, min(first + step, tree.n_nodes))])
        codes = np.argsort(-table, axis=1, kind="stable")[:, :most]
        weights = np.take_along_axis(table, codes, axis=1)
        for own, heavy in zip(codes.tolist(), weights.tolist(), strict=True):
            top.append([[code, short(weight)] for code, weight in zip(own, heavy, strict=True) if weight > 0])
    return {"top": top, "whole": is_whole}


def _numbers(part: Rows, inside: NDArray[np.bool_]) -> dict[str, Any]:
    """Mean, deviation and quantiles of the numbers at each node."""
    statistic: Floats = np.asarray(part.statistic)
    weight, mean, total = statistic.T
    reached = weight > 0
    spread = np.divide(total, weight, out=np.full(len(weight), np.nan), where=reached)
    if isinstance(part, Part) or part.tree.criterion == "squared_error":
        spread = np.sqrt(spread)
    elif part.tree.criterion == "poisson":  # a deviance says nothing of how far the numbers lie apart
        spread = np.full(len(weight), np.nan)
    digits = _digits(part.tree)
    facts = {"mean": shorts(np.where(reached, mean, np.nan), digits), "deviation": shorts(spread, digits)}
    if isinstance(part, Part):
        facts["residuals"] = _residuals(part, inside)
    else:
        facts["residuals"] = [None] * len(weight)
    return facts


def _residuals(part: Part, inside: NDArray[np.bool_]) -> list[Any]:
    """Quantiles of what the rows at a node are above its answer: sorted by leaf, they lie together."""
    tree, data = part.tree, part.data
    row, leaf, weights = _arrived(tree, data)
    order = np.argsort(leaf, kind="stable")
    numbers = np.asarray(data.targets)[0][row][order]
    weights = None if weights is None else weights[order]
    first = np.searchsorted(leaf[order], np.arange(tree.n_nodes))
    last = np.searchsorted(leaf[order], tree.end)
    size = last - first
    wanted = np.lexsort((-size, ~inside))[:MOST_RESIDUALS]  # those of the model first
    wanted = wanted[(np.cumsum(size[wanted]) <= _MOST_SORTED) & (size[wanted] > 0)]
    found: list[Any] = [None] * tree.n_nodes
    for node in wanted.tolist():
        own = numbers[first[node] : last[node]] - tree.value[node, 0]
        weight = None if weights is None else weights[first[node] : last[node]]
        found[node] = shorts(_quantiles(own, weight), 4)
    return found


def _arrived(tree: Tree, data: Dataset) -> tuple[NDArray[Any], NDArray[Any], Floats | None]:
    """The rows that weigh something, or their parts: number, leaf, weight (None: all weigh 1)."""
    if not divides(tree, data):
        kept = data.counted
        return kept, leaves_of(tree, data)[kept], None if data.weight is None else data.weight[kept]
    row, leaf, weight = (np.concatenate(part) for part in zip(*arrivals(tree, data), strict=True))
    kept = weight > 0
    return row[kept], leaf[kept], weight[kept]


def _quantiles(numbers: Floats, weight: Floats | None) -> Floats:
    """The smallest numbers that are not below such shares of all weight."""
    order = np.argsort(numbers, kind="stable")
    below = np.arange(1.0, len(numbers) + 1) if weight is None else np.cumsum(weight[order])
    place = np.searchsorted(below, np.array(QUANTILES) * below[-1] * (1 - 1e-12))
    return np.asarray(numbers[order][np.minimum(place, len(numbers) - 1)])


def intervals(parts: Mapping[str, Rows], delta: float) -> dict[str, Any] | None:
    """Clopper and Pearson's interval of each node's own error, from rows that it was not grown from."""
    name = next((name for name in ("test", "validation") if name in parts), None)
    part = None if name is None else parts[name]
    if not isinstance(part, Part) or not part.tree.schema.predicts_classes:
        return None
    draws = part.as_draws
    if draws is None or divides(draws.tree, draws.data):  # a row in parts is no draw of a leaf
        return None
    rows, errors = draws.rows, wrong_rows(draws)
    nats, reached = np.log(2 / delta), np.maximum(rows, 1)
    lower = np.where(rows, binomial_lower(errors, reached, nats), 0.0)
    upper = np.where(rows, binomial_upper(errors, reached, nats), 1.0)
    return {"part": name, "lower": shorts(lower, 4), "upper": shorts(upper, 4)}


def wrong_rows(draws: Part) -> NDArray[np.int64]:
    """How many rows each node would answer wrongly, whatever that costs."""
    statistic, label = draws.statistic, draws.tree.label
    if isinstance(statistic, SparseRows):
        right = statistic.at(label)[:, 0]
    else:
        right = np.take_along_axis(statistic, label, axis=1)[:, 0]
    return np.asarray(draws.rows - np.rint(right).astype(np.int64))
