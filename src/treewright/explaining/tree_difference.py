"""Where the predictions of two trees differ, and for which share of the rows."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright._display import Layout, Record, TableResult
from treewright._text import percent, row_count
from treewright.certifying.losses import loss_name
from treewright.encoding import Dataset
from treewright.encoding.rows import with_target
from treewright.encoding.schema import Column
from treewright.growing import non_negative
from treewright.parameters import documented
from treewright.tree import Tree
from treewright.tree.conditions import Condition, merge_conditions
from treewright.tree.costs import cost_arrays
from treewright.tree.evaluate import answer_losses, given_rows, given_table
from treewright.tree.missing import columns_with_missing, refuse_missing, refuse_sending, sent_by_others
from treewright.tree.shortcuts import as_tree
from treewright.tree.wording import answer_in_words

MOST_LINES = 20  # regions that are shown
Floats = NDArray[np.float64]


Pair = tuple[int, int]  # a node of the one tree and a node of the other: the rows that pass through both


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
            return Layout([same])
        summary = f"{a} and {b} answer {percent(self.share)} of {row_count(self.rows)} differently."
        with_loss = self.loss_a is not None and self.loss_b is not None
        head = ["share", "rows", a, b, *([f"{self.loss} of {a}", f"of {b}"] if with_loss else []), "where"]
        lines = []
        for region in self.regions[:MOST_LINES]:
            losses = [self._loss_text(region.loss_a), self._loss_text(region.loss_b)] if with_loss else []
            answers = [answer_in_words(region.answer_a), answer_in_words(region.answer_b)]
            lines.append([percent(region.share), f"{region.rows:,}", *answers, *losses, region.words])
        rest = []
        left = self.regions[MOST_LINES:]
        if left:
            rest.append(f"… {len(left):,} more regions with {percent(sum(region.share for region in left))}")
        if with_loss:
            one, two = self._loss_text(self.loss_a), self._loss_text(self.loss_b)
            rest.append(f"mean {self.loss} of all rows: {one} by {a}, {two} by {b}")
        return Layout([summary], head, lines, (0, 1, 4, 5) if with_loss else (0, 1), rest)

    def _loss_text(self, amount: float | None) -> str:
        if amount is None:
            return "–"
        return percent(amount) if self.loss == "error" else f"{amount:.4g}"


@documented
def tree_difference(
    a: Any,
    b: Any,
    data: Any = None,
    target: Any = None,
    *,
    names: tuple[str, str] = ("a", "b"),
    tolerance: float = 0.0,
) -> TreeDifference:
    """Where two trees predict differently: regions with their share of the rows, in words.

    Rows are grouped by the leaves that they reach in both trees. Adjacent groups are merged where both trees
    have constant predictions over all of them. Where a tree sends missing values by surrogates or down both
    sides, only rows without missing values can be compared.

    Parameters
    ----------
    a, b : Tree or fitted estimator
        Trees of one target that test the same kinds of columns.
    data : Dataset, table or (table, target), optional
        The rows to count; with targets also the loss of each tree. It may be left out where one tree is a
        pruning of the other: then the training rows of the larger one are counted from its nodes.
    target : str or array, optional
        Of a table in `data`: its target column, or its targets.
    names : tuple of two str
        Names of the trees in the text.
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
    data = data if target is None else with_target("tree_difference", data, target)
    tolerance = non_negative("tolerance", tolerance)
    if isinstance(names, str) or len(names) != 2:
        raise ValueError(f"names is {names!r}; it must be two names, such as ('grown', 'pruned')")
    by_tests = any(map(sent_by_others, trees))  # then rows without missing values are compared
    if by_tests and data is None:
        for tree in trees:
            refuse_sending(tree, "give data, rows with a value in all tested columns, or")
    counts = _by_structure(trees) if data is None else _by_data(trees, data)
    labels = [_labels(tree) for tree in trees]
    kinds = {(one, two): (labels[0][one], labels[1][two]) for one, two in counts.pairs.tolist()}
    differing = {pair: kind for pair, kind in kinds.items() if _differ(*kind, tolerance)}
    place = {pair: i for i, pair in enumerate(kinds)}
    overlay = Overlay(*trees)
    learnt = frozenset(tree.tested[j].name for tree in trees for j in columns_with_missing(tree))
    order = {name: j for j, name in enumerate(overlay.columns)}
    regions = []
    for cell in overlay.regions(differing):
        conditions = [replace(each, missing=False) if by_tests else each for each in cell.conditions]
        conditions.sort(key=lambda each: order[each.column])
        words = ", ".join(
            each.text(overlay.columns[each.column], with_missing=each.column in learnt) for each in conditions
        )
        rows, share, *losses = counts.summary([place[pair] for pair in cell.pairs])
        one, two = kinds[cell.pairs[0]]
        regions.append(
            Region(tuple(conditions), words or "everywhere", one, two, rows, share, losses[0], losses[1])
        )
    regions.sort(key=lambda region: (-region.share, region.words))
    rows, _, *losses = counts.summary(slice(None))
    _, share, *_ = counts.summary([place[pair] for pair in differing])
    return TreeDifference(
        tuple(regions), rows, share, loss_name(trees[0]), losses[0], losses[1], (names[0], names[1])
    )


def _labels(tree: Tree) -> list[Hashable]:
    """The prediction of each node."""
    classes = tree.schema.targets[0].classes
    if classes is None:
        return list(tree.value[:, 0].tolist())
    return [classes[code] for code in tree.label[:, 0].tolist()]


def _differ(one: Hashable, two: Hashable, tolerance: float) -> bool:
    if isinstance(one, float) and isinstance(two, float):
        return abs(one - two) > tolerance
    return one != two


# ---- counting ----------------------------------------------------------------------------------------------


class _Counts(NamedTuple):
    """The rows that reach a leaf of each tree, for each such pair of leaves."""

    pairs: NDArray[np.int64]  # (pairs, 2)
    rows: NDArray[np.int64]
    weight: Floats
    losses: Floats | None  # (2, pairs), by the predictions of each tree

    def summary(self, chosen: Any) -> tuple[int, float, float | None, float | None]:
        """Rows, share of the weight, and mean loss by each tree, of some pairs."""
        weight = float(self.weight[chosen].sum())
        rows, share = int(self.rows[chosen].sum()), weight / float(self.weight.sum())
        if self.losses is None or not weight:
            return rows, share, None, None
        one, two = (self.losses[:, chosen].sum(axis=1) / weight).tolist()
        return rows, share, one, two


def _by_data(trees: tuple[Tree, Tree], rows: Any) -> _Counts:
    tables = [_rows(tree, rows) for tree in trees]
    if any(map(sent_by_others, trees)):
        for tree, table in zip(trees, tables, strict=True):
            refuse_missing(tree, table, "data", _COMPARE_COMPLETE)
    leaves = [tree.apply(table) for tree, table in zip(trees, tables, strict=True)]
    weight = tables[0].row_weights
    if not weight.sum() > 0:
        raise ValueError("data has no rows that weigh something")
    counted = weight > 0
    key = leaves[0].astype(np.int64) * trees[1].n_nodes + leaves[1]
    keys, place = np.unique(key[counted], return_inverse=True)
    losses: Floats | None = None
    if tables[0].targets is not None:
        losses = np.stack(
            [
                np.bincount(place, (weight * answer_losses(tree, leaf, np.asarray(table.targets)))[counted])
                for tree, table, leaf in zip(trees, tables, leaves, strict=True)
            ]
        )
    pairs = np.stack(np.divmod(keys, trees[1].n_nodes), axis=1)
    return _Counts(pairs, np.bincount(place), np.bincount(place, weight[counted]).astype(np.float64), losses)


_COMPARE_COMPLETE = (
    "and one of the trees sends missing values by surrogates or down both sides: compare rows with a value "
    "in all tested columns"
)


def _rows(tree: Tree, rows: Any) -> Dataset:
    """Rows for one of the trees; a Dataset must suit both."""
    data = given_table(tree, rows, "data")
    return data if data.targets is None else given_rows(tree, data, "data")


def _by_structure(trees: tuple[Tree, Tree]) -> _Counts:
    """The training rows of the larger tree, whose leaves are all within leaves of the other."""
    is_swapped = trees[0].n_nodes < trees[1].n_nodes
    large, small = trees[::-1] if is_swapped else trees
    place = pruned_nodes(large, small)
    if place is None:
        raise ValueError("neither tree is a pruning of the other: give data, the rows to count")
    leaves = np.flatnonzero(large.is_leaf)
    pairs, losses = np.stack([leaves, place[leaves]], axis=1), None
    if large.schema.predicts_classes:
        weights, costs = np.asarray(large.statistic[leaves]), cost_arrays(large.schema)[0]
        lost = weights.sum(axis=1, keepdims=True) - weights if costs is None else weights @ costs
        codes = large.label[leaves, 0], small.label[place[leaves], 0]
        losses = np.stack([lost[np.arange(len(leaves)), code] for code in codes])
    if is_swapped:
        pairs, losses = pairs[:, ::-1], None if losses is None else losses[::-1]
    return _Counts(pairs, large.rows[leaves], large.weight[leaves], losses)


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


class Paths:
    """The conditions of the nodes of a tree, computed on demand."""

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
        """The condition on the column that leads to `node`: by its test and the tests of it above."""
        waiting = []
        while node > 0 and node not in self._known:
            waiting.append(node)
            node = self.before[node]
        for each in reversed(waiting):
            parent = self.parent[each]
            condition = self.tree.condition(parent, each == parent + 1)
            condition = condition.with_new(self.new.get(condition.column, ()))
            above = self.before[each]
            if above > 0:
                condition = self._known[above].and_(condition)  # type: ignore[arg-type]
            self._known[each] = condition
        return self._known[waiting[0] if waiting else node]

    def boxes(self, nodes: Collection[int]) -> dict[int, dict[str, Condition]]:
        """For some nodes all that rows there satisfy, one condition for each column; in one walk."""
        chosen, names = frozenset(nodes), [column.name for column in self.tree.tested]
        return {
            node: {names[column]: self.turn(turn) for column, turn in last.items() if turn}
            for node, last in _last_turns(self.tree)
            if node in chosen
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
        self.a, self.b = Paths(a, news[0]), Paths(b, news[1])

    def regions(self, kinds: Mapping[Pair, Hashable]) -> list[_Cell]:
        """Pairs of leaves of one kind merged, as far up in either tree as everything below is of that kind.

        Parts that no row can reach do not matter. Parts that rows could reach but none does are not merged:
        `kinds` does not have them, and the answers decide for new rows.
        """
        members: dict[Pair, list[Pair]] = {pair: [pair] for pair in kinds}
        kind_of = dict(kinds)
        for own, (paths, others) in enumerate(((self.a, self.b), (self.b, self.a))):
            groups: dict[tuple[int, Hashable], set[int]] = {}
            for pair, kind in kind_of.items():
                groups.setdefault((pair[1 - own], kind), set()).add(pair[own])
            boxes = others.boxes({other for other, _ in groups})
            for (other, kind), nodes in groups.items():
                for top, below in _highest_nodes(paths, nodes, boxes[other]).items():
                    pairs = [(node, other) if own == 0 else (other, node) for node in (top, *below)]
                    merged = [pair for part in pairs[1:] for pair in members.pop(part)]
                    for part in pairs[1:]:
                        del kind_of[part]
                    members[pairs[0]], kind_of[pairs[0]] = merged, kind
        of_a, of_b = (paths.boxes({pair[i] for pair in members}) for i, paths in enumerate((self.a, self.b)))
        cells = [
            _Cell(merge_conditions([*of_a[one].values(), *of_b[two].values()]), pairs, kind_of[one, two])
            for (one, two), pairs in members.items()
        ]
        return _merge_neighbours(cells, self.columns)


class _Cell(NamedTuple):
    """A region, its pairs, and their kind: what both trees answer there."""

    conditions: tuple[Condition, ...]
    pairs: list[Pair]
    kind: Hashable


def _merge_neighbours(cells: list[_Cell], columns: Mapping[str, Column]) -> list[_Cell]:
    """Regions of one kind that differ in one column only and are neighbours there become one."""
    before = -1
    while before != len(cells):
        before = len(cells)
        for column in sorted({each.column for cell in cells for each in cell.conditions}):
            cells = _merge_along(columns[column], cells)
    return cells


def _merge_along(column: Column, cells: list[_Cell]) -> list[_Cell]:
    alike: dict[tuple[frozenset[Condition], Hashable], list[tuple[Condition, list[Pair]]]] = {}
    first: dict[Any, tuple[Condition, ...]] = {}  # the order of the conditions
    merged: list[_Cell] = []
    for cell in cells:
        own = next((each for each in cell.conditions if each.column == column.name), None)
        if own is None:
            merged.append(cell)
            continue
        key = frozenset(each for each in cell.conditions if each is not own), cell.kind
        alike.setdefault(key, []).append((own, cell.pairs))
        first.setdefault(key, cell.conditions)
    for key, parts in alike.items():
        for condition, pairs in _unions(parts):
            own_place = () if condition.excludes_nothing(column) else (condition,)
            conditions = [own_place if each.column == column.name else (each,) for each in first[key]]
            merged.append(_Cell(tuple(each for place in conditions for each in place), pairs, key[1]))
    return merged


def _unions(parts: list[tuple[Condition, list[Pair]]]) -> list[tuple[Condition, list[Pair]]]:
    """Conditions on one column, neighbours merged."""
    merged: list[tuple[Any, list[Pair]]] = []
    for condition, pairs in sorted(parts, key=lambda part: part[0].start):
        union = merged[-1][0].or_(condition) if merged else None
        if union is None:
            merged.append((condition, pairs))
        else:
            merged[-1] = union, merged[-1][1] + pairs
    return merged


def _highest_nodes(paths: Paths, nodes: set[int], box: Mapping[str, Condition]) -> dict[int, list[int]]:
    """The highest nodes below which, within `box`, there are no others than these; each with its own."""
    below = {node: [node] for node in nodes}
    waiting = sorted(nodes, reverse=True)
    while waiting and len(below) > 1:
        node = waiting.pop()
        if node == 0 or node not in below:
            continue
        sibling = paths.sibling(node)
        if sibling not in below and not paths.is_empty(sibling, box):
            continue
        parent = paths.parent[node]
        below[parent] = below.pop(node) + below.pop(sibling, [])
        waiting.append(parent)
    return below


def _last_turns(tree: Tree) -> Iterator[tuple[int, dict[int, int]]]:
    """Each node with the last branch by each column on its path: column -> node; 0 where there is none.

    A walk in preorder; the dict is the same one at every node, updated on the way down and back.
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


def pruned_nodes(large: Tree, small: Tree) -> NDArray[np.int64] | None:
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
