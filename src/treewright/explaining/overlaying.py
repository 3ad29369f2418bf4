"""Two trees laid over each other: pairs of their leaves put together to regions that can be read."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from treewright.encoding.schema import Column
from treewright.tree import Tree
from treewright.tree.conditions import Between, Condition, Within, merge_conditions
from treewright.tree.rule_list import condition_of

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
            condition = condition_of(self.tree, parent, each == parent + 1)
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
