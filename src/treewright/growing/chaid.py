"""CHAID: merges values that do not differ significantly, and splits by the most significant column.

Kass (1980), "An exploratory technique for investigating large quantities of categorical data". In each node
the values of every column are merged by pairs, the most similar pair first, until all groups differ
significantly; then the column with the smallest p-value of Pearson's test gets one branch for each group. A
p-value is multiplied by the number of ways in which the values could have been merged into so many groups.
Numbers are binned into classes of about equal size, of which only neighbours are merged; missing values are
a value of their own, which may be merged with any group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import comb, exp, log
from typing import Any

import numpy as np

from treewright._arrays import Floats, Ints
from treewright.encoding import Dataset
from treewright.encoding.rows import takes_rows
from treewright.growing.conditional_inference import log_p_value, pearson, two_sample_p_values
from treewright.growing.id3 import check_target, class_counts
from treewright.growing.multiway import MultiwayNode, MultiwaySplit, grow_multiway
from treewright.parameters.classic import CHAIDParameters
from treewright.parameters.spec import takes
from treewright.tree import Tree

_MOST_HALVES = 10  # values of a group all of whose divisions are tried; larger groups are ordered first


_OPTIONS = {name: each for name, each in CHAIDParameters.parameters.items() if name != "kinds"}


@takes_rows
@takes(_OPTIONS)
def grow_chaid(data: Dataset, /, **options: Any) -> Tree:
    """Grow a CHAID tree.

    Parameters
    ----------
    data : table, tuple (table, target) or (table, target, weight), or Dataset
        Columns of any kind and one target of classes. Weights count as numbers of rows.

    Examples
    --------
    >>> from treewright import encode
    >>> table = {"sky": ["clear", "fair", "rain", "snow"] * 10}
    >>> print(grow_chaid(encode(table, ["out", "out", "in", "in"] * 10)))
    40 rows
    ├─ sky in {clear, fair}   out   20 rows   100 %
    └─ sky in {rain, snow}    in    20 rows   100 %
    """
    check_target(data, "CHAID")
    if options["alpha_resplit"] is not None and options["alpha_resplit"] > options["alpha_merge"]:
        raise ValueError(
            f"alpha_resplit is {options['alpha_resplit']!r}; it must not be above alpha_merge, "
            f"{options['alpha_merge']!r}, or groups would be merged and divided for ever"
        )
    cuts = {
        position: bin_thresholds(data, position, options["max_classes"])
        for position, column in enumerate(data.schema.columns)
        if not column.is_category
    }

    def find_split(node: MultiwayNode) -> MultiwaySplit | None:
        is_small = len(node.rows) < options["min_samples_split"]
        if is_small or np.count_nonzero(node.statistic) < 2 or node.level == options["max_depth"]:
            return None
        best, chosen, column = log(options["alpha_split"]), None, -1
        for position in range(data.n_columns):
            found = _merge_column(data, node, position, cuts.get(position), options)
            if found is not None and (found[0] < best or (chosen is None and found[0] <= best)):
                (best, chosen), column = found, position
        return None if chosen is None else chosen.split(column, cuts.get(column))

    return grow_multiway(data, "gini", find_split)


def bin_thresholds(data: Dataset, column: int, most: int) -> Floats:
    """Thresholds that divide the known values of a number into at most `most` bins of about equal weight.

    >>> from treewright import encode
    >>> bin_thresholds(encode({"x": [1, 1, 1, 1, 2, 3, 4, 5]}, list("abababab")), 0, 4).tolist()
    [1.5, 3.5]
    """
    rows = data.counted
    values, weight = np.asarray(data.column(column, rows), np.float64), data.row_weights[rows]
    known = ~np.isnan(values)
    distinct, place = np.unique(values[known], return_inverse=True)
    if len(distinct) < 2:
        return np.zeros(0)
    share = np.cumsum(np.bincount(place, weight[known])) / weight[known].sum()
    wanted = np.searchsorted(share, np.arange(1, most) / most * (1 - 1e-12))
    last = np.unique(wanted[wanted < len(distinct) - 1])  # the last value of each bin but the last
    return data.schema.columns[column].type.readable_thresholds(distinct[last], distinct[last + 1])


def _merge_column(
    data: Dataset, node: MultiwayNode, column: int, cuts: Floats | None, options: Mapping[str, Any]
) -> tuple[float, MergedValues] | None:
    """The logarithm of the adjusted p-value of a column and its groups; None where it has only one group."""
    if cuts is None:
        codes = data.column(column, node.rows)
        n = data.schema.category_counts[column] + 1
        value = np.where(codes < 0, n - 1, codes).astype(np.int64)
    else:
        numbers, n = data.column(column, node.rows), len(cuts) + 2
        value = np.where(np.isnan(numbers), n - 1, np.searchsorted(cuts, numbers, side="left"))
    groups = merge_values(
        class_counts(data, node.rows, value, n),
        np.bincount(value, minlength=n),
        is_ordinal=cuts is not None,
        alpha_merge=options["alpha_merge"],
        alpha_resplit=options["alpha_resplit"],
        min_rows=options["min_samples_leaf"],
    )
    if len(groups.members) < 2:
        return None
    p = log_p_value(*pearson(groups.table))
    return min(p + log(multiplier(groups.n_values, len(groups.members), groups.kind)), 0.0), groups


@lru_cache(maxsize=4096)
def multiplier(values: int, groups: int, kind: str) -> float:
    """The number of ways to merge values into groups.

    Any two values of a "nominal" column may be merged, but only neighbours of an "ordinal" one; in a
    "floating" column the last value, which stands for missing values, may be merged with any group or none.

    >>> multiplier(4, 2, "nominal"), multiplier(4, 2, "ordinal"), multiplier(4, 2, "floating")
    (7.0, 3.0, 5.0)
    """
    if kind == "ordinal":
        return float(comb(values - 1, groups - 1))
    if kind == "floating":
        return float(comb(values - 2, groups - 2) + groups * comb(values - 2, groups - 1))
    ways = [1] + [0] * groups  # Stirling numbers of the second kind
    for _ in range(values):
        for k in range(groups, 0, -1):
            ways[k] = k * ways[k] + ways[k - 1]
        ways[0] = 0
        if ways[groups] >= 10**300:
            return exp(690)
    return float(ways[groups])


@dataclass(frozen=True, eq=False)
class MergedValues:
    """Groups of the values of a column, in the order of their first value; values are rows of a table."""

    members: list[list[int]]
    table: Floats  # the weight of each class in each group
    n_values: int  # that there were to merge
    kind: str  # which merges were allowed: nominal, ordinal, or floating (ordinal but for the last row)
    n_rows: int  # of the table of values; the last row is that of missing values

    def split(self, column: int, cuts: Floats | None) -> MultiwaySplit:
        """The split with a branch for each group."""
        last = self.n_rows - 1
        members = sorted(self.members)
        branch_of_missing = next((i for i, group in enumerate(members) if last in group), -1)
        if cuts is not None:
            known = [[value for value in group if value != last] for group in members]
            ends = [group[-1] for group in known if group]
            return MultiwaySplit(column, cuts=cuts[np.array(ends[:-1], np.int64)], missing=branch_of_missing)
        groups = [np.array([value for value in group if value != last], np.int64) for group in members]
        absent = np.setdiff1d(np.arange(last), np.concatenate(groups))
        if absent.size and branch_of_missing >= 0 and not len(groups[branch_of_missing]):
            groups.insert(branch_of_missing, absent)  # missing values stay the last branch
            branch_of_missing += 1
        elif absent.size:
            groups.append(absent)
        return MultiwaySplit(column, tuple(groups), missing=branch_of_missing)


def merge_values(
    table: Floats,
    rows: Ints,
    *,
    is_ordinal: bool,
    alpha_merge: float,
    alpha_resplit: float | None = None,
    min_rows: int = 1,
) -> MergedValues:
    """Merge the rows of a table of values by classes, the last of which is that of missing values.

    The pair of groups with the largest p-value is merged while it is above `alpha_merge` and there are more
    than two groups; then groups of fewer than `min_rows` rows are merged with the most similar one.

    >>> table = np.array([[9.0, 1.0], [8.0, 2.0], [1.0, 9.0], [0.0, 0.0]])
    >>> merge_values(table, np.array([10, 10, 10, 0]), is_ordinal=False, alpha_merge=0.05).members
    [[0, 1], [2]]
    """
    last = len(table) - 1
    present = np.flatnonzero(table.any(axis=1)).tolist()
    kind = "nominal" if not is_ordinal else "floating" if last in present else "ordinal"
    start = [[value] for value in present]
    if not is_ordinal and alpha_resplit is None:  # no group is divided again: each merge changes few pairs
        start = _NearestPairs(table, start, alpha_merge).merge()
    groups = _Groups(table, rows, start, last if is_ordinal else None)
    seen: set[frozenset[frozenset[int]]] = set()
    while len(groups.members) > 2:
        p, i, j = groups.most_similar()
        if p <= alpha_merge:
            break
        groups.merge(i, j)
        if alpha_resplit is not None:
            groups.divide_newest(alpha_resplit, seen)
    groups.merge_small(min_rows)
    members = [sorted(group) for group in groups.members]
    sums = np.array([table[group].sum(axis=0) for group in members]).reshape(len(members), table.shape[1])
    return MergedValues(members, sums, len(present), kind, len(table))


class _NearestPairs:
    """Groups any two of which may be merged. Each keeps the most similar of the groups after it, so that a
    merge tests one row of pairs, and merging n values tests about n² pairs in all.
    """

    def __init__(self, table: Floats, members: list[list[int]], alpha: float) -> None:
        self.members, self.alpha = members, alpha
        self.sums = table[[group[0] for group in members]]
        self.present = np.ones(len(members), np.bool_)
        self.p = np.full(len(members), -1.0)  # of the nearest one
        self.nearest = np.full(len(members), -1)
        if alpha < 1:
            self._merge_equal()
        for i in np.flatnonzero(self.present).tolist():
            self._find_nearest(i)

    def merge(self) -> list[list[int]]:
        """Merge until the most similar pair differs significantly or two groups are left."""
        for _ in range(int(self.present.sum()) - 2):
            i = int(np.argmax(self.p))
            if self.p[i] <= self.alpha:
                break
            self._merge(i, int(self.nearest[i]))
        return [self.members[i] for i in np.flatnonzero(self.present).tolist()]

    def _merge_equal(self) -> None:
        """Merge values with the same class shares first: they do not differ at all."""
        shares = self.sums / self.sums.sum(axis=1, keepdims=True)
        _, first, same = np.unique(shares, axis=0, return_index=True, return_inverse=True)
        if len(first) < 2:
            return
        for i, home in enumerate(first[same.ravel()].tolist()):
            if i != home:
                self._unite(home, i)

    def _unite(self, i: int, j: int) -> None:
        self.members[i] = self.members[i] + self.members[j]
        self.sums[i] += self.sums[j]
        self.present[j] = False
        self.p[j] = -1.0

    def _merge(self, i: int, j: int) -> None:
        self._unite(i, j)
        before = np.flatnonzero(self.present[:i])
        lost = self.present & ((self.nearest == i) | (self.nearest == j))
        lost[i] = True
        p = two_sample_p_values(
            self.sums[before], np.broadcast_to(self.sums[i], (len(before), self.sums.shape[1]))
        )
        nearer = (p > self.p[before]) | ((p == self.p[before]) & (i < self.nearest[before]))
        self.p[before[nearer]], self.nearest[before[nearer]] = p[nearer], i
        for each in np.flatnonzero(lost).tolist():
            self._find_nearest(each)

    def _find_nearest(self, i: int) -> None:
        """Find the most similar of the groups after group i."""
        others = i + 1 + np.flatnonzero(self.present[i + 1 :])
        self.p[i], self.nearest[i] = -1.0, -1
        if len(others):
            p = two_sample_p_values(np.broadcast_to(self.sums[i], self.sums[others].shape), self.sums[others])
            best = int(np.argmax(p))
            self.p[i], self.nearest[i] = p[best], others[best]


class _Groups:
    """Groups of rows in order; that of missing values (`floating`) is last while it is alone."""

    def __init__(self, table: Floats, rows: Ints, members: list[list[int]], floating: int | None) -> None:
        self.table, self.rows, self.members, self.floating = table, rows, members, floating

    def _sums(self) -> Floats:
        return np.array([self.table[group].sum(axis=0) for group in self.members])

    def _pairs(self) -> tuple[Ints, Ints]:
        """The pairs that may be merged: any of a nominal column, neighbours of an ordinal column."""
        n = len(self.members)
        if self.floating is None:
            return np.triu_indices(n, 1)
        alone = self.members[-1] == [self.floating]
        known = n - alone
        first, second = np.arange(known - 1), np.arange(1, known)
        if alone:
            first = np.concatenate([first, np.arange(known)])
            second = np.concatenate([second, np.full(known, known)])
        return first, second

    def most_similar(self, one: int | None = None) -> tuple[float, int, int]:
        """The largest p-value of a pair, and the pair; among all pairs, or those of one group."""
        first, second = self._pairs()
        if one is not None:
            own = (first == one) | (second == one)
            first, second = first[own], second[own]
        sums = self._sums()
        p = two_sample_p_values(sums[first], sums[second])
        best = int(np.argmax(p))
        return float(p[best]), int(first[best]), int(second[best])

    def merge(self, i: int, j: int) -> None:
        """Merge two groups into one, the newest."""
        self.members[i] = self.members[i] + self.members.pop(j)
        self.newest = i

    def merge_small(self, least: int) -> None:
        """Merge groups of too few rows with the most similar ones, the smallest first."""
        while len(self.members) > 1:
            sizes = [int(self.rows[group].sum()) for group in self.members]
            smallest = int(np.argmin(sizes))
            if sizes[smallest] >= least:
                return
            _, i, j = self.most_similar(smallest)
            self.merge(i, j)

    def divide_newest(self, alpha: float, seen: set[frozenset[frozenset[int]]]) -> None:
        """Divide the newest group into the two parts that differ most, if significantly."""
        group = self.members[self.newest]
        if len(group) < 3:
            return
        halves = self._halves(group)
        left = np.array([self.table[half].sum(axis=0) for half in halves])
        p = two_sample_p_values(left, self.table[group].sum(axis=0) - left)
        best = int(np.argmin(p))
        if p[best] > alpha:
            return
        rest = [value for value in group if value not in halves[best]]
        divided = [*self.members[: self.newest], halves[best], rest, *self.members[self.newest + 1 :]]
        divided.sort(key=lambda group: (group == [self.floating], min(group)))
        state = frozenset(frozenset(group) for group in divided)
        if state not in seen:  # or it would be merged and divided for ever
            seen.add(state)
            self.members = divided

    def _halves(self, group: list[int]) -> list[list[int]]:
        """The parts of a group that may be divided from the rest of it."""
        if self.floating is not None:
            known = sorted(value for value in group if value != self.floating)
            halves = [known[:cut] for cut in range(1, len(known))]
            if self.floating in group:
                halves += [[*half, self.floating] for half in halves] + [[self.floating]]
            return halves
        if len(group) > _MOST_HALVES:
            sums = self.table[group]
            order = np.argsort(sums[:, np.argmax(sums.sum(axis=0))] / sums.sum(axis=1), kind="stable")
            ranked = [group[i] for i in order]
            return [ranked[:cut] for cut in range(1, len(group))]
        others = group[1:]
        return [
            [group[0], *(value for bit, value in enumerate(others) if subset >> bit & 1)]
            for subset in range(2 ** len(others) - 1)
        ]
