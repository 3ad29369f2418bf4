"""Two trees laid over each other: pairs of their leaves put together to regions that can be read."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from treewright.rule_lists import Condition, Within, condition_of, merged
from treewright.tree import Tree

Pair = tuple[int, int]  # a node of the one tree and a node of the other: the rows that pass through both


class Ways:
    """The conditions of the nodes of a tree, made where they are asked for."""

    def __init__(self, tree: Tree, new: Mapping[str, tuple[Hashable, ...]]) -> None:
        self.tree = tree
        self.new = new  # categories of each column that only the other tree knows
        self.parent = tree.parent.tolist()
        self.feature = tree.feature.tolist()
        self.before = _turns_before(tree)
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

    def conditions(self, node: int) -> dict[str, Condition]:
        """All that rows at a node satisfy, one condition for each column."""
        found: dict[int, int] = {}
        while node > 0:
            found.setdefault(self.feature[self.parent[node]], node)
            node = self.parent[node]
        names = self.tree.schema.names
        return {names[column]: self.turn(turn) for column, turn in reversed(found.items())}

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
        known = [{column.name: column for column in tree.schema.columns} for tree in (a, b)]
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
            for (other, told), nodes in groups.items():
                box = fixed.conditions(other) if len(nodes) > 1 or ways.tree.n_nodes > 1 else {}
                for top, below in _climbed(ways, nodes, box).items():
                    made = (top, other) if own == 0 else (other, top)
                    parts = [(node, other) if own == 0 else (other, node) for node in below]
                    gathered = [pair for part in parts for pair in members.pop(part)]
                    for part in parts:
                        del kind[part]
                    members[made], kind[made] = gathered, told
        for (one, two), gathered in members.items():
            both = [*self.a.conditions(one).values(), *self.b.conditions(two).values()]
            yield merged(both), gathered


def _climbed(ways: Ways, nodes: set[int], box: Mapping[str, Condition]) -> dict[int, list[int]]:
    """The highest nodes below which, within `box`, only these nodes are, each with those of them below it."""
    below = {node: [node] for node in nodes}
    waiting = sorted(nodes, reverse=True)
    while waiting:
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


def _turns_before(tree: Tree) -> list[int]:
    """For each node the last node above it to which the same column led; 0 where it is the first."""
    before = [0] * tree.n_nodes
    last: dict[int, int] = {}
    way: list[tuple[int, int, int]] = []  # (end of the subtree, column, what was last before)
    ends, parents, features = tree.end.tolist(), tree.parent.tolist(), tree.feature.tolist()
    for node in range(1, tree.n_nodes):
        while way and way[-1][0] <= node:
            _, column, was = way.pop()
            last[column] = was
        column = features[parents[node]]
        before[node] = last.get(column, 0)
        way.append((ends[node], column, before[node]))
        last[column] = node
    return before


def same_ways(large: Tree, small: Tree) -> NDArray[np.int64] | None:
    """For each node of `large` the node of `small` at or above it, if `small` is a pruning of it; else None."""
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
    if one.feature[node] != two.feature[other] or one.missing_left[node] != two.missing_left[other]:
        return False
    if one.subset[node] >= 0 or two.subset[other] >= 0:
        return bool(one.test(node) == two.test(other) and one.heavier_left[node] == two.heavier_left[other])
    return bool(one.threshold[node] == two.threshold[other])
