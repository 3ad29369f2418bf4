"""From splits into many branches to a `Tree`: each becomes a chain of tests of one column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset
from treewright.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Split:
    """A column and its branches: of a category the codes of each, of a number the cuts between them.

    `missing` is the branch of missing values; a number may have one for them alone, after all others. Of a
    category the last branch may have no codes: it is the one for missing values.
    """

    column: int
    groups: tuple[Ints, ...] = ()
    cuts: Floats = field(default_factory=lambda: np.zeros(0))
    missing: int = -1  # -1 where no missing value has been met: the heaviest branch

    @property
    def n_branches(self) -> int:
        """How many branches there are."""
        known = len(self.groups) if self.groups else len(self.cuts) + 1
        return max(known, self.missing + 1)

    def places(self, values: NDArray[Any]) -> Ints:
        """The branch of each value."""
        if not self.groups:
            place = np.searchsorted(self.cuts, values, side="left")
            return np.where(np.isnan(values), self.missing, place)
        branch_of = np.full(max(max(codes.max(initial=-1) for codes in self.groups) + 2, 1), self.missing)
        for branch, codes in enumerate(self.groups):
            branch_of[codes] = branch
        return np.asarray(branch_of[values], np.int64)  # a missing value has the code -1, the last entry


@dataclass(eq=False)
class Knot:
    """A node while its tree is being grown."""

    rows: Ints
    statistic: Floats
    used: frozenset[int]
    level: int
    split: Split | None = None
    branches: list[Knot] = field(default_factory=list)


Find = Callable[[Knot], Split | None]


def grown(data: Dataset, criterion: str, find: Find) -> Tree:
    """The tree of the classes of one target whose splits `find` finds, node after node."""
    assert data.targets is not None
    labels, weight, width = data.targets[0], data.row_weights, data.schema.width

    def knot(rows: Ints, used: frozenset[int], level: int) -> Knot:
        counts = np.bincount(labels[rows], weight[rows], width).astype(np.float64)
        return Knot(rows, counts, used, level)

    root = knot(data.counted, frozenset(), 0)
    todo = [root]
    while todo:
        at = todo.pop()
        at.split = find(at)
        if at.split is not None:
            place = at.split.places(data.column(at.split.column, at.rows))
            used = at.used | {at.split.column}
            at.branches = [
                knot(at.rows[place == branch], used, at.level + 1) for branch in range(at.split.n_branches)
            ]
            todo += reversed(at.branches)
    return assembled(root, data, criterion)


def assembled(root: Knot, data: Dataset, criterion: str) -> Tree:
    """The tree of a finished root: nodes in preorder, splits numbered with the largest gain first."""
    arrays = _Arrays(data)
    stack: list[Knot | _Rest] = [root]
    while stack:
        item = stack.pop()
        if isinstance(item, Knot):
            stack += arrays.split(item) if item.split is not None else arrays.leaf(item)
        else:
            stack += arrays.link(item)
    return arrays.tree(criterion)


@dataclass(eq=False)
class _Rest:
    """What is left of a split after its first branches."""

    knot: Knot
    first: int
    joined: bool = True


class _Arrays:
    """The arrays of the tree, one entry per node in preorder."""

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self.tests: list[
            tuple[int, float, bytes, bool, bool]
        ] = []  # column, threshold, bits, missing, joined
        self.rows: list[int] = []
        self.statistic: list[Floats] = []

    def leaf(self, knot: Knot) -> list[Knot | _Rest]:
        self._add(len(knot.rows), knot.statistic, (-1, np.nan, b"", False, False))
        return []

    def split(self, knot: Knot) -> list[Knot | _Rest]:
        split = knot.split
        assert split is not None
        if not split.groups and split.missing == len(split.cuts) + 1:  # known values or a missing one
            self._add(len(knot.rows), knot.statistic, (split.column, np.inf, b"", False, False))
            return [knot.branches[-1], _Rest(knot, 0)]
        return self.link(_Rest(knot, 0, joined=False))

    def link(self, rest: _Rest) -> list[Knot | _Rest]:
        """The test that parts the first branch of a rest from the others."""
        knot, first = rest.knot, rest.first
        split = knot.split
        assert split is not None
        others = knot.branches[first:]
        if not split.groups and split.missing == len(split.cuts) + 1:
            others = others[:-1]
        if len(others) == 1:
            return [others[0]]
        missing_left = self._missing_left(split, first, others)
        threshold = np.nan if split.groups else float(split.cuts[first])
        bits = self._bits(split, first) if split.groups else b""
        counts = np.sum([branch.statistic for branch in others], axis=0)
        rows = sum(len(branch.rows) for branch in others)
        self._add(rows, counts, (split.column, threshold, bits, missing_left, rest.joined))
        following = others[1] if len(others) == 2 else _Rest(knot, first + 1)
        return [following, others[0]]

    def _missing_left(self, split: Split, first: int, others: list[Knot]) -> bool:
        if split.missing >= first:
            return split.missing == first
        weights = [float(branch.statistic.sum()) for branch in others]
        return weights[0] >= max(weights[1:])

    def _bits(self, split: Split, branch: int) -> bytes:
        n = self.data.schema.category_counts[split.column]
        return np.packbits(np.isin(np.arange(n), split.groups[branch]), bitorder="little").tobytes()

    def _add(self, rows: int, statistic: Floats, test: tuple[int, float, bytes, bool, bool]) -> None:
        self.rows.append(rows)
        self.statistic.append(statistic)
        self.tests.append(test)

    def tree(self, criterion: str) -> Tree:
        features, thresholds, bits, missing_left, joined = zip(*self.tests, strict=True)
        feature = np.array(features, np.int32)
        end = _ends(feature)
        lengths = np.array([len(each) for each in bits])
        statistic = np.array(self.statistic)
        joined_nodes = np.array(joined, np.bool_)
        return Tree(
            end=end,
            feature=feature,
            threshold=np.array(thresholds, np.float64),
            subset=np.where(lengths > 0, np.cumsum(lengths) - lengths, -1),
            missing_left=np.array(missing_left, np.bool_),
            step=_steps(end, feature, joined_nodes, _core.risk(criterion, statistic)),
            rows=np.array(self.rows, np.int64),
            statistic=statistic,
            subsets=np.frombuffer(b"".join(bits), np.uint8).copy(),
            schema=self.data.schema,
            criterion=criterion,
            missing="category",
            joined=joined_nodes,
            provenance=self.data.provenance,
        )


def _ends(feature: NDArray[np.int32]) -> NDArray[np.int32]:
    """One past the subtree of each node, from which nodes are leaves."""
    end = np.arange(1, len(feature) + 1, dtype=np.int32)
    for node in range(len(feature) - 1, -1, -1):
        if feature[node] >= 0:
            end[node] = end[end[node + 1]]
    return end


def _steps(
    end: NDArray[np.int32], feature: NDArray[np.int32], joined: NDArray[np.bool_], risk: Floats
) -> NDArray[np.int32]:
    """The order in which the best-first algorithm would have made these splits."""
    step = np.full(len(end), -1, np.int32)
    heap: list[tuple[float, int]] = []

    def offer(node: int) -> None:
        if feature[node] >= 0:
            heappush(heap, (-_gain(node, end, joined, risk), node))

    offer(0)
    count = 0
    while heap:
        chain = [heappop(heap)[1]]
        while chain:
            node = chain.pop()
            step[node], count = count, count + 1
            for child in (node + 1, int(end[node + 1])):
                chain.append(child) if joined[child] else offer(child)
    return step


def _gain(node: int, end: NDArray[np.int32], joined: NDArray[np.bool_], risk: Floats) -> float:
    """What a split gains with all its branches."""
    gain, chain = float(risk[node]), [node]
    while chain:
        at = chain.pop()
        for child in (at + 1, int(end[at + 1])):
            if joined[child]:
                chain.append(child)
            else:
                gain -= float(risk[child])
    return gain
