"""CHAID: values of a column that do not differ are merged, and the column that differs most surely is split.

Kass (1980), "An exploratory technique for investigating large quantities of categorical data". In each node
the values of every column are merged by pairs, the pair first whose classes differ least, until all differ
significantly; then the column with the smallest p-value of Pearson's test makes one branch of each group. A
p-value is multiplied by the number of ways in which the values could have been merged into so many groups.
Numbers are cut into classes of about equal size, of which only neighbours are merged; missing values are a
value of their own, which may join any group.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb, exp, log

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset
from treewright.growing import whole_number
from treewright.growing.independence import log_chance, pearson
from treewright.growing.multiway.chains import Knot, Split, grown
from treewright.growing.multiway.id3 import check_branching, value_counts
from treewright.growing.multiway.merging import Merged, merged
from treewright.tree import Tree

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rules:
    """What CHAID goes by: levels of significance and limits."""

    alpha_merge: float = 0.05
    alpha_split: float = 0.05
    alpha_resplit: float | None = None
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    max_classes: int = 10

    def check(self) -> None:
        """Raise ValueError where one of them cannot be."""
        for name in ("alpha_merge", "alpha_split", "alpha_resplit"):
            level = getattr(self, name)
            if level is not None and not 0 < level <= 1:
                raise ValueError(f"{name} is {level!r}; it must be a number above 0 and at most 1")
        if self.alpha_resplit is not None and self.alpha_resplit > self.alpha_merge:
            raise ValueError(
                f"alpha_resplit is {self.alpha_resplit!r}; it must not be above alpha_merge, "
                f"{self.alpha_merge!r}, or groups would be merged and split for ever"
            )
        for name, least in (("min_samples_split", 1), ("min_samples_leaf", 1), ("max_classes", 2)):
            whole_number(name, getattr(self, name), least)


def grow_chaid(
    data: Dataset,
    *,
    alpha_merge: float = 0.05,
    alpha_split: float = 0.05,
    alpha_resplit: float | None = None,
    max_depth: int | None = None,
    min_samples_split: int = 2,
    min_samples_leaf: int = 1,
    max_classes: int = 10,
) -> Tree:
    """Grow CHAID's tree.

    Parameters
    ----------
    data : Dataset
        Columns of any kind, and the classes of one target. Weights count as so many rows.
    alpha_merge : float
        Two groups of values are merged while the p-value of their difference is above this.
    alpha_split : float
        A node is split if the smallest adjusted p-value is at most this.
    alpha_resplit : float, optional
        Whether a group of three values or more that has been merged is parted again, where the best two
        halves differ with a p-value of at most this. None: never.
    max_depth : int, optional
        The most decisions on the way to a leaf.
    min_samples_split, min_samples_leaf : int
        The least rows of a node that is split, and of a branch: a smaller one joins the group that it differs
        from least.
    max_classes : int
        Into how many classes of about equal weight numbers and times are cut, once for all nodes.

    Examples
    --------
    >>> from treewright import encode
    >>> table = {"sky": ["clear", "fair", "rain", "snow"] * 10}
    >>> print(grow_chaid(encode(table, ["out", "out", "in", "in"] * 10)))
    40 rows
    ├─ sky in {clear, fair}   out   20 rows   100 %
    └─ sky in {rain, snow}    in    20 rows   100 %
    """
    check_branching(data, "CHAID")
    rules = Rules(
        alpha_merge, alpha_split, alpha_resplit, max_depth, min_samples_split, min_samples_leaf, max_classes
    )
    rules.check()
    cuts = {
        position: cuts_of(data, position, rules.max_classes)
        for position, column in enumerate(data.schema.columns)
        if column.kind != "category"
    }

    def find(knot: Knot) -> Split | None:
        is_small = len(knot.rows) < rules.min_samples_split
        if is_small or np.count_nonzero(knot.statistic) < 2 or knot.level == rules.max_depth:
            return None
        best, chosen, column = log(rules.alpha_split), None, -1
        for position in range(data.n_columns):
            found = _tried(data, knot, position, cuts.get(position), rules)
            if found is not None and (found[0] < best or (chosen is None and found[0] <= best)):
                (best, chosen), column = found, position
        return None if chosen is None else chosen.split(column, cuts.get(column))

    return grown(data, "gini", find)


def cuts_of(data: Dataset, column: int, most: int) -> Floats:
    """Thresholds that part the known values of a number into at most so many classes of about equal weight.

    >>> from treewright import encode
    >>> cuts_of(encode({"x": [1, 1, 1, 1, 2, 3, 4, 5]}, list("abababab")), 0, 4).tolist()
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
    last = np.unique(wanted[wanted < len(distinct) - 1])  # the last value of each class but the last
    return _core.readable(distinct[last], distinct[last + 1])


def _tried(
    data: Dataset, knot: Knot, column: int, cuts: Floats | None, rules: Rules
) -> tuple[float, Merged] | None:
    """Ln of the adjusted p-value of a column and its groups; None where it has but one."""
    table, rows = _counts(data, knot, column, cuts)
    groups = merged(
        table,
        rows,
        is_ordinal=cuts is not None,
        alpha_merge=rules.alpha_merge,
        alpha_resplit=rules.alpha_resplit,
        min_rows=rules.min_samples_leaf,
    )
    if len(groups.members) < 2:
        return None
    p = log_chance(*pearson(groups.table))
    return min(p + log(multiplier(groups.n_values, len(groups.members), groups.kind)), 0.0), groups


def _counts(data: Dataset, knot: Knot, column: int, cuts: Floats | None) -> tuple[Floats, NDArray[np.int64]]:
    """The weight of each class and the rows by value, the last line for missing ones."""
    if cuts is None:
        codes = data.column(column, knot.rows)
        n = data.schema.category_counts[column] + 1
        rows = np.bincount(np.where(codes < 0, n - 1, codes), minlength=n)
        return value_counts(data, knot.rows, column), rows
    assert data.targets is not None
    values, n, width = data.column(column, knot.rows), len(cuts) + 2, data.schema.width
    place = np.where(np.isnan(values), n - 1, np.searchsorted(cuts, values, side="left"))
    cells = place * width + data.targets[0][knot.rows]
    table = np.bincount(cells, data.row_weights[knot.rows], n * width).reshape(n, width)
    return table.astype(np.float64), np.bincount(place, minlength=n)


@lru_cache(maxsize=4096)
def multiplier(values: int, groups: int, kind: str) -> float:
    """In how many ways so many values can be merged into so many groups.

    Any two of a "nominal" column may be merged, only neighbours of an "ordinal" one; of a "floating" column
    the last value, that of missing ones, may join any group or none.

    >>> multiplier(4, 2, "nominal"), multiplier(4, 2, "ordinal"), multiplier(4, 2, "floating")
    (7.0, 3.0, 5.0)
    """
    if kind == "ordinal":
        return float(comb(values - 1, groups - 1))
    if kind == "floating":
        return float(comb(values - 2, groups - 2) + groups * comb(values - 2, groups - 1))
    ways = [1] + [0] * groups  # Stirling's numbers of the second kind, which grow with the values
    for _ in range(values):
        for k in range(groups, 0, -1):
            ways[k] = k * ways[k] + ways[k - 1]
        ways[0] = 0
        if ways[groups] >= 10**300:
            return exp(690)
    return float(ways[groups])
