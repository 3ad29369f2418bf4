"""Where the predictions of two trees differ, and for which share of the rows."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._text import percent, row_count
from treewright.certifying.losses import loss_name
from treewright.encoding import Dataset
from treewright.encoding.schema import Column
from treewright.explaining.tables import Layout, Record, TableResult
from treewright.growing import non_negative
from treewright.tree import Tree
from treewright.tree.conditions import Between, Condition, Within, merge_conditions
from treewright.tree.costs import cost_arrays
from treewright.tree.evaluate import answer_losses, given_rows, given_table
from treewright.tree.missing import columns_with_missing, refuse_missing, refuse_sending, sent_by_others
from treewright.tree.shortcuts import as_tree
from treewright.tree.wording import answer_in_words

MOST_LINES = 20  # regions that are shown
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Region(Record):
    """A part of the table where one tree always makes one prediction and the other another."""

    conditions: tuple[Condition, ...]
    words: str
    answer_a: Hashable
    answer_b: Hashable
    rows: int
    share: float  # of the weight of all rows
    loss_a: float | None = None  # what the rows there lose by each answer, per unit of their weight
    loss_b: float | None = None


@dataclass(frozen=True)
class TreeDifference(TableResult):
    """Where the predictions of two trees differ: regions, the largest share first."""

    regions: tuple[Region, ...]
    rows: int  # of all
    share: float  # of the weight of all rows: how much of it is answered differently
    loss: str  # what is lost: "error", "cost", "squared error" …
    loss_a: float | None  # per unit of weight, over all rows
    loss_b: float | None
    names: tuple[str, str] = field(default=("a", "b"))

    def _layout(self) -> Layout:
        a, b = self.names
        if not self.regions:
            same = f"{a} and {b} give the same answer to all of {row_count(self.rows)}."
            return Layout([same], [], [], (), [])
        summary = f"{a} and {b} answer {percent(self.share)} of {row_count(self.rows)} differently."
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
        return Layout([summary], head, lines, (0, 1, 4, 5) if with_loss else (0, 1), rest)


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
            refuse_missing(tree, part, "data", _COMPARE_COMPLETE)
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


_COMPARE_COMPLETE = (
    "and one of the trees sends missing values by surrogates or down both sides: compare rows that miss "
    "nothing that is tested"
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
        each.text(columns[each.column], with_missing=each.column in learnt) for each in conditions
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


def _lost(loss: str, amount: float | None) -> str:
    if amount is None:
        return "–"
    return percent(amount) if loss == "error" else f"{amount:.4g}"


Pair = tuple[int, int]  # a node of the one tree and a node of the other: the rows that pass through both


class Ways:
    """The conditions of the nodes of a tree, made where they are asked for."""

    def __init__(self, tree: Tree, new: Mapping[str, tuple[Hashable, ...]]) -> None:
        self.tree = tree
        self.new = new  # categories of each column that only the other tree knows
        self.parent = tree.parent.tolist()
        self.feature = tree.feature.tolist()
        # To each node: the last node above it to which the same column led; 0 where it is the first.
        self.before = [0] * tree.n_nodes
        for node, last in _last_turns(tree):
            if self.feature[node] >= 0:
                for child in (node + 1, int(tree.right[node])):
                    self.before[child] = last.get(self.feature[node], 0)
        self._known: dict[int, Condition] = {}

    def turn(self, node: int) -> Condition:
        """What the turns by the column that leads to `node` ask for, this one and those above it."""
        waiting = []
        while node > 0 and node not in self._known:
            waiting.append(node)
            node = self.before[node]
        for each in reversed(waiting):
            parent = self.parent[each]
            condition = self.tree.condition(parent, each == parent + 1)
            if isinstance(condition, Within) and condition.unseen:
                new = self.new.get(condition.column, ())
                condition = replace(condition, categories=(*condition.categories, *new))
            above = self.before[each]
            if above > 0:
                condition = self._known[above].and_(condition)  # type: ignore[arg-type]
            self._known[each] = condition
        return self._known[waiting[0] if waiting else node]

    def boxes(self, nodes: Collection[int]) -> dict[int, dict[str, Condition]]:
        """For some nodes all that rows there satisfy, one condition for each column; in one walk."""
        wanted, names = frozenset(nodes), [column.name for column in self.tree.tested]
        return {
            node: {names[column]: self.turn(turn) for column, turn in last.items() if turn}
            for node, last in _last_turns(self.tree)
            if node in wanted
        }

    def sibling(self, node: int) -> int:
        """The other child of the parent."""
        parent = self.parent[node]
        return int(self.tree.right[parent]) if node == parent + 1 else parent + 1

    def is_empty(self, node: int, box: Mapping[str, Condition]) -> bool:
        """Whether no row within `box` can take the turn to `node`; some can reach its parent."""
        condition = self.turn(node)
        other = box.get(condition.column)
        return (condition if other is None else condition.and_(other)).never  # type: ignore[arg-type]


class Overlay:
    """Both trees at once."""

    def __init__(self, a: Tree, b: Tree) -> None:
        known = [{column.name: column for column in tree.tested} for tree in (a, b)]
        self.columns = dict(known[0])  # of both, with the categories of both
        news: list[dict[str, tuple[Hashable, ...]]] = [{}, {}]
        for name, column in known[1].items():
            own = known[0].get(name, column)
            lists = own.categories, column.categories
            for i, (here, there) in enumerate((lists, lists[::-1])):
                news[i][name] = tuple(each for each in there if each not in frozenset(here))
            self.columns[name] = replace(own, categories=(*own.categories, *news[0][name]))
        self.a, self.b = Ways(a, news[0]), Ways(b, news[1])

    def regions(self, kinds: Mapping[Pair, Hashable]) -> Iterator[tuple[tuple[Condition, ...], list[Pair]]]:
        """Pairs of leaves of one kind put together, as far up in either tree as all that lies below is of it.

        Where no row can be, anything may be; where rows could be but none are, the answers decide as they
        must for a row that comes: what `kinds` does not know is not put together.
        """
        members: dict[Pair, list[Pair]] = {pair: [pair] for pair in kinds}
        kind = dict(kinds)
        for ways, fixed, own in ((self.a, self.b, 0), (self.b, self.a, 1)):
            groups: dict[tuple[int, Hashable], set[int]] = {}
            for pair, told in kind.items():
                groups.setdefault((pair[1 - own], told), set()).add(pair[own])
            boxes = fixed.boxes({other for other, _ in groups})
            for (other, told), nodes in groups.items():
                box = boxes[other]
                for top, below in _climbed(ways, nodes, box).items():
                    made = (top, other) if own == 0 else (other, top)
                    parts = [(node, other) if own == 0 else (other, node) for node in below]
                    gathered = [pair for part in parts for pair in members.pop(part)]
                    for part in parts:
                        del kind[part]
                    members[made], kind[made] = gathered, told
        of_a, of_b = (ways.boxes({pair[i] for pair in members}) for i, ways in enumerate((self.a, self.b)))
        found = [
            (merge_conditions([*of_a[one].values(), *of_b[two].values()]), gathered, kind[one, two])
            for (one, two), gathered in members.items()
        ]
        yield from _joined(found, self.columns)


_Found = tuple[tuple[Condition, ...], list[Pair], Hashable]  # a region, its pairs, their kind
_Alike = tuple[frozenset[Condition], Hashable]  # conditions but one, kind


def _joined(
    regions: list[_Found], columns: Mapping[str, Column]
) -> Iterator[tuple[tuple[Condition, ...], list[Pair]]]:
    """Regions that differ in one column only and are neighbours there become one, until none are left."""
    before = -1
    while before != len(regions):
        before = len(regions)
        for column in sorted({condition.column for conditions, *_ in regions for condition in conditions}):
            regions = _joined_along(columns[column], regions)
    yield from ((conditions, gathered) for conditions, gathered, _ in regions)


def _joined_along(column: Column, regions: list[_Found]) -> list[_Found]:
    alike: dict[_Alike, list[tuple[Condition, list[Pair]]]] = {}
    first: dict[_Alike, tuple[Condition, ...]] = {}  # the order in which conditions are told
    kept: list[_Found] = []
    for conditions, gathered, kind in regions:
        own = next((each for each in conditions if each.column == column.name), None)
        if own is None:
            kept.append((conditions, gathered, kind))
            continue
        key = frozenset(each for each in conditions if each is not own), kind
        alike.setdefault(key, []).append((own, gathered))
        first.setdefault(key, conditions)
    for key, parts in alike.items():
        for condition, gathered in _unions(parts):
            told = (condition if each.column == column.name else each for each in first[key])
            free = _is_anything(condition, column)
            kept.append((tuple(each for each in told if not (free and each is condition)), gathered, key[1]))
    return kept


def _is_anything(condition: Condition, column: Column) -> bool:
    """Whether every value of the column fits."""
    if isinstance(condition, Between):
        return condition.always
    every = len(condition.categories) == len(column.categories)  # of both trees, each once
    return every and condition.missing and condition.unseen


def _unions(parts: list[tuple[Condition, list[Pair]]]) -> list[tuple[Condition, list[Pair]]]:
    """Conditions on one column, neighbours put together."""
    if isinstance(parts[0][0], Within):
        one = [each for each, _ in parts if isinstance(each, Within)]
        categories = tuple(dict.fromkeys(category for each in one for category in each.categories))
        union = Within(
            one[0].column, categories, any(each.missing for each in one), any(each.unseen for each in one)
        )
        return [(union, [pair for _, gathered in parts for pair in gathered])]
    ordered = sorted(parts, key=lambda part: -inf if part[0].above is None else part[0].above)  # type: ignore[union-attr]
    made: list[tuple[Condition, list[Pair]]] = []
    for condition, gathered in ordered:
        last = made[-1][0] if made else None
        assert isinstance(condition, Between)
        if isinstance(last, Between) and last.upto is not None and last.upto == condition.above:
            union_of = Between(last.column, last.above, condition.upto, last.missing or condition.missing)
            made[-1] = union_of, made[-1][1] + gathered
        else:
            made.append((condition, gathered))
    return made


def _climbed(ways: Ways, nodes: set[int], box: Mapping[str, Condition]) -> dict[int, list[int]]:
    """The highest nodes below which, within `box`, only these nodes are, each with those of them below it."""
    below = {node: [node] for node in nodes}
    waiting = sorted(nodes, reverse=True)
    while waiting and len(below) > 1:
        node = waiting.pop()
        if node == 0 or node not in below:
            continue
        sibling = ways.sibling(node)
        if sibling in below:
            joined = below.pop(node) + below.pop(sibling)
        elif ways.is_empty(sibling, box):
            joined = below.pop(node)
        else:
            continue
        parent = ways.parent[node]
        below[parent] = joined
        waiting.append(parent)
    return below


def _last_turns(tree: Tree) -> Iterator[tuple[int, dict[int, int]]]:
    """Each node with the last turn by each column on the way to it: column -> node; 0 for none any more.

    A walk in preorder that takes back what it leaves; the dict is the same one at every node.
    """
    last: dict[int, int] = {}
    way: list[tuple[int, int, int]] = []  # (end of the subtree, column, what was last before)
    ends, parents, features = tree.end.tolist(), tree.parent.tolist(), tree.feature.tolist()
    for node in range(tree.n_nodes):
        while way and way[-1][0] <= node:
            _, column, was = way.pop()
            last[column] = was
        if node > 0:
            column = features[parents[node]]
            way.append((ends[node], column, last.get(column, 0)))
            last[column] = node
        yield node, last


def same_ways(large: Tree, small: Tree) -> NDArray[np.int64] | None:
    """For each node of `large` that of `small` at or above it, if `small` is a pruning of it; else None."""
    if large.schema.columns != small.schema.columns:
        return None
    place = np.zeros(large.n_nodes, np.int64)
    waiting = [(0, 0)]
    while waiting:
        node, other = waiting.pop()
        if small.is_leaf[other]:
            place[node : large.end[node]] = other
            continue
        if large.is_leaf[node] or not _same_test(large, node, small, other):
            return None
        place[node] = other
        waiting += [(node + 1, other + 1), (int(large.right[node]), int(small.right[other]))]
    return place


def _same_test(one: Tree, node: int, two: Tree, other: int) -> bool:
    columns = one.tested[one.feature[node]], two.tested[two.feature[other]]
    if columns[0] != columns[1] or one.missing_left[node] != two.missing_left[other]:
        return False
    if one.subset[node] >= 0 or two.subset[other] >= 0:
        return bool(one.test(node) == two.test(other) and one.heavier_left[node] == two.heavier_left[other])
    return bool(one.threshold[node] == two.threshold[other])
