"""Where two trees answer differently, and for which share of the rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._json import plain
from treewright._text import aligned
from treewright.certifying.losses import loss_name
from treewright.encoding import Dataset
from treewright.encoding.schema import Column
from treewright.explaining.overlaying import Overlay, Pair, same_ways
from treewright.explaining.tables import html_table
from treewright.growing import non_negative
from treewright.tree import Tree
from treewright.tree.costs import cost_arrays
from treewright.tree.evaluate import answer_losses, given_rows, given_table
from treewright.tree.missing import first_missing, refuse_sending, sent_by_others
from treewright.tree.node import columns_with_missing
from treewright.tree.rule_list import Condition
from treewright.tree.shortcuts import as_tree
from treewright.tree.wording import answer_in_words, condition_in_words, percent, rows_in_words

MOST_LINES = 20  # regions that are shown
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Region:
    """A part of the table where one tree always gives one answer and the other another."""

    conditions: tuple[Condition, ...]
    words: str
    answer_a: Hashable
    answer_b: Hashable
    rows: int
    share: float  # of the weight of all rows
    loss_a: float | None = None  # what the rows there lose by each answer, per unit of their weight
    loss_b: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        facts = {name: plain(value) for name, value in vars(self).items() if name != "conditions"}
        return {**facts, "conditions": [plain(condition.to_dict()) for condition in self.conditions]}


@dataclass(frozen=True)
class TreeDifference:
    """Where two trees answer differently: regions, the largest share first."""

    regions: tuple[Region, ...]
    rows: int  # of all
    share: float  # of the weight of all rows: how much of it is answered differently
    loss: str  # what is lost: "error", "cost", "squared error" …
    loss_a: float | None  # per unit of weight, over all rows
    loss_b: float | None
    names: tuple[str, str] = field(default=("a", "b"))

    def _lines(self) -> tuple[str, list[str], list[list[str]], list[str]]:
        a, b = self.names
        if not self.regions:
            return f"{a} and {b} give the same answer to all of {rows_in_words(self.rows)}.", [], [], []
        told = f"{a} and {b} answer {percent(self.share)} of {rows_in_words(self.rows)} differently."
        with_loss = self.loss_a is not None and self.loss_b is not None
        head = ["share", "rows", a, b, *([f"{self.loss} of {a}", f"of {b}"] if with_loss else []), "where"]
        lines = []
        for region in self.regions[:MOST_LINES]:
            lost = [_lost(self.loss, region.loss_a), _lost(self.loss, region.loss_b)] if with_loss else []
            answers = [answer_in_words(region.answer_a), answer_in_words(region.answer_b)]
            lines.append([percent(region.share), f"{region.rows:,}", *answers, *lost, region.words])
        rest = []
        left = self.regions[MOST_LINES:]
        if left:
            rest.append(f"… {len(left):,} more regions with {percent(sum(region.share for region in left))}")
        if with_loss:
            one, two = _lost(self.loss, self.loss_a), _lost(self.loss, self.loss_b)
            rest.append(f"mean {self.loss} of all rows: {one} by {a}, {two} by {b}")
        return told, head, lines, rest

    def __str__(self) -> str:
        told, head, lines, rest = self._lines()
        return "\n".join([told, *(aligned([head, *lines], right=_right(head)) if lines else []), *rest])

    def _repr_html_(self) -> str:
        told, head, lines, rest = self._lines()
        return html_table(head, lines, _right(head), [told, *rest])

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        facts = {name: plain(value) for name, value in vars(self).items() if name != "regions"}
        return {**facts, "regions": [region.to_dict() for region in self.regions]}


def tree_difference(
    a: Any, b: Any, data: Any = None, *, names: tuple[str, str] = ("a", "b"), tolerance: float = 0.0
) -> TreeDifference:
    """Where two trees answer differently: regions with their share of the rows, in words.

    Rows are grouped by the leaves that they reach in both trees; what lies together is told together, as long
    as in all of it the one answers so and the other so, for any row. Where a tree sends missing values by
    surrogates or down both sides, only rows without missing values can be compared.

    Parameters
    ----------
    a, b : Tree or fitted estimator
        Trees of one target that test the same kinds of columns.
    data : Dataset, table or (table, target), optional
        The rows that are counted; with targets also what each tree loses there. It may be left out where one
        tree is a pruning of the other: then the training rows of the larger one count, as it remembers them.
    names : tuple of two str
        What the trees are called in the text.
    tolerance : float
        Numbers that differ by no more than this count as the same answer.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1, 2, 3, 4, 5, 6]}, ["no", "no", "yes", "no", "yes", "yes"]))
    >>> print(tree_difference(tree, tree.first(1), names=("grown", "pruned")))
    grown and pruned answer 16.7 % of 6 rows differently.
     share   rows   grown   pruned   error of grown   of pruned   where
    16.7 %      1   no      yes               0.0 %       100 %   3.5 < x <= 4.5
    mean error of all rows: 0.0 % by grown, 16.7 % by pruned
    """
    trees = as_tree(a), as_tree(b)
    _check(trees)
    tolerance = non_negative("tolerance", tolerance)
    if isinstance(names, str) or len(names) != 2:
        raise ValueError(f"names is {names!r}; it must be two names, such as ('grown', 'pruned')")
    by_tests = any(map(sent_by_others, trees))  # then rows without missing values are compared
    if by_tests and data is None:
        for tree in trees:
            refuse_sending(tree, "give data, rows that miss no value that the trees test, or")
    counts = _by_structure(trees) if data is None else _by_data(trees, data)
    answers = _answers(trees, tolerance)
    differing = {pair: count for pair, count in counts.pairs.items() if answers.differ(pair)}
    kinds = {pair: answers.kind(pair) for pair in differing}
    overlay = Overlay(*trees)
    learnt = frozenset(tree.tested[j].name for tree in trees for j in columns_with_missing(tree))
    regions = [
        _region(
            overlay.columns,
            learnt,
            tuple(replace(each, missing=False) for each in found) if by_tests else found,
            members,
            differing,
            counts,
            answers,
        )
        for found, members in overlay.regions(kinds)
    ]
    regions.sort(key=lambda region: (-region.share, region.words))
    share = sum(count.weight for count in differing.values()) / counts.weight
    return TreeDifference(
        tuple(regions),
        counts.rows,
        share,
        counts.loss,
        *counts.mean(counts.pairs.values()),
        names=(names[0], names[1]),
    )


# ---- counting ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Count:
    """The rows that reach one leaf of each tree."""

    rows: int
    weight: float
    losses: tuple[float, float] | None  # by each tree's answer


@dataclass(frozen=True)
class _Counts:
    pairs: Mapping[Pair, _Count]
    rows: int
    weight: float
    loss: str

    def mean(self, counts: Iterable[_Count]) -> tuple[float | None, float | None]:
        """The loss of some rows by each tree, per unit of weight."""
        counts = list(counts)
        weight = sum(count.weight for count in counts)
        lost = [count.losses for count in counts if count.losses is not None]
        if not weight or len(lost) < len(counts):
            return None, None
        losses = np.sum(lost, axis=0) / weight
        return float(losses[0]), float(losses[1])


def _by_data(trees: tuple[Tree, Tree], given: Any) -> _Counts:
    parts = [_rows(tree, given) for tree in trees]
    data = parts[0]
    if any(map(sent_by_others, trees)):
        for tree, part in zip(trees, parts, strict=True):
            _refuse_missing(tree, part)
    leaves = [tree.apply(part) for tree, part in zip(trees, parts, strict=True)]
    weight = data.row_weights
    if not weight.sum() > 0:
        raise ValueError("data has no rows that weigh something")
    losses = None
    if data.targets is not None:
        losses = [
            answer_losses(tree, leaf, np.asarray(part.targets))
            for tree, part, leaf in zip(trees, parts, leaves, strict=True)
        ]
    key = leaves[0].astype(np.int64) * trees[1].n_nodes + leaves[1]
    counted = weight > 0
    found, place = np.unique(key[counted], return_inverse=True)
    rows = np.bincount(place, minlength=len(found)).tolist()
    weights = np.bincount(place, weight[counted], minlength=len(found)).tolist()
    lost = None
    if losses is not None:
        lost = [
            np.bincount(place, (weight * loss)[counted], minlength=len(found)).tolist() for loss in losses
        ]
    pairs = {
        (int(k) // trees[1].n_nodes, int(k) % trees[1].n_nodes): _Count(
            rows[i], weights[i], None if lost is None else (lost[0][i], lost[1][i])
        )
        for i, k in enumerate(found.tolist())
    }
    return _Counts(pairs, int(counted.sum()), float(weight.sum()), loss_name(trees[0]))


def _refuse_missing(tree: Tree, data: Dataset) -> None:
    found = first_missing(tree, data)
    if found is not None:
        column, row = found
        raise ValueError(
            f"row {row} of data has no value of {tree.tested[column].name!r}, and one of the trees sends "
            "missing values by surrogates or down both sides: compare rows that miss nothing that is tested"
        )


def _rows(tree: Tree, given: Any) -> Dataset:
    """Rows for one of the trees; a Dataset must suit both."""
    data = given_table(tree, given, "data")
    return data if data.targets is None else given_rows(tree, data, "data")


def _by_structure(trees: tuple[Tree, Tree]) -> _Counts:
    """The training rows of the larger tree, whose leaves are all within leaves of the other."""
    turned = trees[0].n_nodes < trees[1].n_nodes
    large, small = trees[::-1] if turned else trees
    place = same_ways(large, small)
    if place is None:
        raise ValueError("neither tree is a pruning of the other: give data, the rows that are to be counted")
    pairs = {}
    for leaf in np.flatnonzero(large.is_leaf).tolist():
        other = int(place[leaf])
        losses = None
        if large.schema.predicts_classes:
            own, costs = np.asarray(large.statistic[leaf]), cost_arrays(large.schema)[0]
            lost = [
                float(_lost_weight(own, int(tree.label[node, 0]), costs))
                for tree, node in ((large, leaf), (small, other))
            ]
            losses = (lost[1], lost[0]) if turned else (lost[0], lost[1])
        pair = (other, leaf) if turned else (leaf, other)
        pairs[pair] = _Count(int(large.rows[leaf]), float(large.weight[leaf]), losses)
    return _Counts(pairs, int(large.rows[0]), float(large.weight[0]), loss_name(trees[0]))


def _lost_weight(weights: Floats, answer: int, costs: Floats | None) -> float:
    if costs is not None:
        return float(weights @ costs[:, answer])
    return float(weights.sum() - weights[answer])


# ---- answers -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Answers:
    """What each leaf of both trees answers."""

    of_a: tuple[Hashable, ...]
    of_b: tuple[Hashable, ...]
    tolerance: float

    def differ(self, pair: Pair) -> bool:
        one, two = self.kind(pair)
        if isinstance(one, float) and isinstance(two, float):
            return abs(one - two) > self.tolerance
        return one != two

    def kind(self, pair: Pair) -> tuple[Hashable, Hashable]:
        return self.of_a[pair[0]], self.of_b[pair[1]]


def _answers(trees: tuple[Tree, Tree], tolerance: float) -> _Answers:
    told = []
    for tree in trees:
        if tree.schema.predicts_classes:
            classes = tree.schema.targets[0].classes or ()
            told.append(tuple(classes[code] for code in tree.label[:, 0].tolist()))
        else:
            told.append(tuple(tree.value[:, 0].tolist()))
    return _Answers(told[0], told[1], tolerance)


def _region(
    columns: Mapping[str, Column],
    learnt: frozenset[str],
    conditions: tuple[Condition, ...],
    members: list[Pair],
    differing: Mapping[Pair, _Count],
    counts: _Counts,
    answers: _Answers,
) -> Region:
    found = [differing[pair] for pair in members]
    place = {name: j for j, name in enumerate(columns)}
    conditions = tuple(sorted(conditions, key=lambda each: place[each.column]))
    words = ", ".join(
        condition_in_words(each, columns[each.column], told_missing=each.column in learnt)
        for each in conditions
    )
    one, two = answers.kind(members[0])
    share = sum(count.weight for count in found) / counts.weight
    return Region(
        conditions,
        words or "everywhere",
        one,
        two,
        sum(count.rows for count in found),
        share,
        *counts.mean(found),
    )


def _check(trees: tuple[Tree, Tree]) -> None:
    for tree in trees:
        if len(tree.schema.targets) > 1:
            raise ValueError(
                f"difference is for trees of one target; this one has {len(tree.schema.targets)}"
            )
    one, two = trees
    if one.schema.predicts_classes != two.schema.predicts_classes:
        raise ValueError("one tree predicts classes and the other numbers; they have no answers to compare")
    kinds = {column.name: column.kind for column in one.schema.columns}
    for column in two.schema.columns:
        if kinds.get(column.name, column.kind) != column.kind:
            raise ValueError(
                f"{column.name!r} is a {kinds[column.name]} in one tree and a {column.kind} in the other"
            )


def _right(head: list[str]) -> tuple[int, ...]:
    """The columns of numbers, to which the losses of both trees may belong."""
    return (0, 1, 4, 5) if len(head) == 7 else (0, 1)


def _lost(loss: str, amount: float | None) -> str:
    if amount is None:
        return "–"
    return percent(amount) if loss == "error" else f"{amount:.4g}"
