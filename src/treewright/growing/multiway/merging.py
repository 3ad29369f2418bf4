"""Merging the values of a column: groups that do not differ become one, as CHAID has it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treewright.growing.independence import two_samples
from treewright.growing.multiway.chains import Split

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_MOST_HALVES = 10  # values of a group all of whose halves are tried; of more, those in the order of a share


@dataclass(frozen=True, eq=False)
class Merged:
    """Groups of the values of a column, in the order of their first value; each value a line of a table."""

    members: list[list[int]]
    table: Floats  # the weight of each class in each group
    n_values: int  # how many there were to merge
    kind: str  # which merges were allowed: nominal, ordinal, or floating: ordinal but for the last line
    n_lines: int  # of the table of values; the last line is that of missing ones

    def split(self, column: int, cuts: Floats | None) -> Split:
        """The split with a branch for each group."""
        last = self.n_lines - 1
        members = sorted(self.members)
        home = next((i for i, group in enumerate(members) if last in group), -1)
        if cuts is not None:
            known = [[value for value in group if value != last] for group in members]
            ends = [group[-1] for group in known if group]
            return Split(column, cuts=cuts[np.array(ends[:-1], np.int64)], missing=home)
        groups = [np.array([value for value in group if value != last], np.int64) for group in members]
        absent = np.setdiff1d(np.arange(last), np.concatenate(groups))
        if absent.size and home >= 0 and not len(groups[home]):  # missing values stay the last branch
            groups.insert(home, absent)
            home += 1
        elif absent.size:
            groups.append(absent)
        return Split(column, tuple(groups), missing=home)


def merged(
    table: Floats,
    rows: Ints,
    *,
    is_ordinal: bool,
    alpha_merge: float,
    alpha_resplit: float | None = None,
    min_rows: int = 1,
) -> Merged:
    """Merge the lines of a table of values by classes, the last line being that of missing values.

    The pair of groups with the largest p-value is merged while that is above `alpha_merge` and more than two
    are left; then groups of fewer than `min_rows` rows join the one that they differ from least.

    >>> table = np.array([[9.0, 1.0], [8.0, 2.0], [1.0, 9.0], [0.0, 0.0]])
    >>> merged(table, np.array([10, 10, 10, 0]), is_ordinal=False, alpha_merge=0.05).members
    [[0, 1], [2]]
    """
    last = len(table) - 1
    present = np.flatnonzero(table.any(axis=1)).tolist()
    kind = "nominal" if not is_ordinal else "floating" if last in present else "ordinal"
    start = [[value] for value in present]
    if not is_ordinal and alpha_resplit is None:  # nothing is parted again: each merge changes few pairs
        start = _Nearest(table, start, alpha_merge).merged()
    groups = _Groups(table, rows, start, last if is_ordinal else None)
    seen: set[frozenset[frozenset[int]]] = set()
    while len(groups.members) > 2:
        p, i, j = groups.most_alike()
        if p <= alpha_merge:
            break
        groups.merge(i, j)
        if alpha_resplit is not None:
            groups.part_again(alpha_resplit, seen)
    groups.feed(min_rows)
    members = [sorted(group) for group in groups.members]
    sums = np.array([table[group].sum(axis=0) for group in members]).reshape(len(members), table.shape[1])
    return Merged(members, sums, len(present), kind, len(table))


class _Nearest:
    """Groups any two of which may be merged. Each knows the one after it that it differs from least: a merge
    looks at one line of pairs, not at all of them, and of n values at n² pairs in all.
    """

    def __init__(self, table: Floats, members: list[list[int]], alpha: float) -> None:
        self.members, self.alpha = members, alpha
        self.sums = table[[group[0] for group in members]]
        self.is_there = np.ones(len(members), np.bool_)
        self.p = np.full(len(members), -1.0)  # of the nearest one
        self.nearest = np.full(len(members), -1)
        if alpha < 1:
            self._join_equals()
        for i in np.flatnonzero(self.is_there).tolist():
            self._look(i)

    def merged(self) -> list[list[int]]:
        """The groups once the nearest pair differs significantly, or two are left."""
        for _ in range(int(self.is_there.sum()) - 2):
            i = int(np.argmax(self.p))
            if self.p[i] <= self.alpha:
                break
            self._merge(i, int(self.nearest[i]))
        return [self.members[i] for i in np.flatnonzero(self.is_there).tolist()]

    def _join_equals(self) -> None:
        """Values whose classes come in the same shares do not differ at all: they are merged first."""
        shares = self.sums / self.sums.sum(axis=1, keepdims=True)
        _, first, same = np.unique(shares, axis=0, return_index=True, return_inverse=True)
        if len(first) < 2:
            return
        for i, home in enumerate(first[same.ravel()].tolist()):
            if i != home:
                self._put(home, i)

    def _put(self, i: int, j: int) -> None:
        self.members[i] = self.members[i] + self.members[j]
        self.sums[i] += self.sums[j]
        self.is_there[j] = False
        self.p[j] = -1.0

    def _merge(self, i: int, j: int) -> None:
        self._put(i, j)
        before = np.flatnonzero(self.is_there[:i])
        lost = self.is_there & ((self.nearest == i) | (self.nearest == j))
        lost[i] = True
        p = two_samples(self.sums[before], np.broadcast_to(self.sums[i], (len(before), self.sums.shape[1])))
        nearer = (p > self.p[before]) | ((p == self.p[before]) & (i < self.nearest[before]))
        self.p[before[nearer]], self.nearest[before[nearer]] = p[nearer], i
        for each in np.flatnonzero(lost).tolist():
            self._look(each)

    def _look(self, i: int) -> None:
        """Find the nearest of the groups after one."""
        others = i + 1 + np.flatnonzero(self.is_there[i + 1 :])
        self.p[i], self.nearest[i] = -1.0, -1
        if len(others):
            p = two_samples(np.broadcast_to(self.sums[i], self.sums[others].shape), self.sums[others])
            best = int(np.argmax(p))
            self.p[i], self.nearest[i] = p[best], others[best]


class _Groups:
    """Groups of lines in their order, that of missing values (`floating`) last while it is alone."""

    def __init__(self, table: Floats, rows: Ints, members: list[list[int]], floating: int | None) -> None:
        self.table, self.rows, self.members, self.floating = table, rows, members, floating

    def _sums(self) -> Floats:
        return np.array([self.table[group].sum(axis=0) for group in self.members])

    def _pairs(self) -> tuple[Ints, Ints]:
        """The pairs that may be merged: any of a nominal column, neighbours of an ordinal one."""
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

    def most_alike(self, one: int | None = None) -> tuple[float, int, int]:
        """The largest p-value of a pair, and the pair; of all, or of those that one group is in."""
        first, second = self._pairs()
        if one is not None:
            own = (first == one) | (second == one)
            first, second = first[own], second[own]
        sums = self._sums()
        p = two_samples(sums[first], sums[second])
        best = int(np.argmax(p))
        return float(p[best]), int(first[best]), int(second[best])

    def merge(self, i: int, j: int) -> None:
        """Make one group of two, which is then the last one to be looked at again."""
        self.members[i] = self.members[i] + self.members.pop(j)
        self.newest = i

    def feed(self, least: int) -> None:
        """Let groups of too few rows join the ones that they differ from least, the smallest first."""
        while len(self.members) > 1:
            sizes = [int(self.rows[group].sum()) for group in self.members]
            smallest = int(np.argmin(sizes))
            if sizes[smallest] >= least:
                return
            _, i, j = self.most_alike(smallest)
            self.merge(i, j)

    def part_again(self, alpha: float, seen: set[frozenset[frozenset[int]]]) -> None:
        """Part the newest group into the two halves that differ most, if they do significantly."""
        group = self.members[self.newest]
        if len(group) < 3:
            return
        halves = self._halves(group)
        left = np.array([self.table[half].sum(axis=0) for half in halves])
        p = two_samples(left, self.table[group].sum(axis=0) - left)
        best = int(np.argmin(p))
        if p[best] > alpha:
            return
        rest = [value for value in group if value not in halves[best]]
        parted = [*self.members[: self.newest], halves[best], rest, *self.members[self.newest + 1 :]]
        parted.sort(key=lambda group: (group == [self.floating], min(group)))
        state = frozenset(frozenset(group) for group in parted)
        if state not in seen:  # or it would be merged and parted for ever
            seen.add(state)
            self.members = parted

    def _halves(self, group: list[int]) -> list[list[int]]:
        """The halves of a group that may be parted from the rest of it."""
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
