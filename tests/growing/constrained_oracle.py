"""The constrained grower, naive: the judge of the compiled one, written from the rules and not from its code.

What `oracle.Growth` knows (risks, exact sums, ties) stays; here a node also knows how much of each row it
has, what has been tested above it, and between which values its own must lie. A cut may have any number of
branches. Every cut of every column is tried.

>>> growth = Constrained([[1.0, 2.0, math.nan, 3.0]], ["number"], [[0, 0, 1, 1]], missing="category")
>>> root = growth.grow()
>>> root.cut.kind, [len(child.rows) for child in root.children], float(root.cut.gain)
('three', [2, 1, 1], 2.0)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tests.oracle import Array, Growth, Real

NEARLY = 1e-12


@dataclass
class Cut:
    """A way to divide the rows of a node into branches."""

    column: int
    sides: Array  # the branch of each row of the node; -1 where the value is missing and says nothing
    kind: str  # "number", "category", "known" (known | missing), "three" (<= t | > t | missing), "multiway"
    lo: float = math.nan  # the largest known value on the left; inf for "known"
    hi: float = math.nan
    missing_left: bool | None = None  # None: no row is missing, or missing ones are no part of the cut
    gain: Real = 0
    information: Real = 0  # entropy in bits of the branches' shares
    score: Real = 0  # the gain after the price
    has_empty: bool = False  # whether a last branch waits for the categories that no row of the node has
    values: list[Array] = field(default_factory=list)  # what a constraint on the answers looks at, by branch
    is_doubtful: bool = False  # so near a limit that rounding decides whether it is allowed

    @property
    def n_branches(self) -> int:
        return int(self.sides.max()) + 1

    @property
    def n_splits(self) -> int:
        """How many nodes with two children it takes."""
        return self.n_branches - 1 + self.has_empty

    def place(self) -> tuple[int, float, bool]:
        """What decides between equal scores: column, threshold, missing left before missing right.

        Of the subsets of categories, the one that separates known from missing values comes first.
        """
        lo = 0.0 if math.isnan(self.lo) else self.lo
        return (self.column, lo, self.missing_left is False)


@dataclass
class Place:
    """A node while the tree grows: its rows, how much of each, and what the path above it allows."""

    rows: Array
    share: Array
    depth: int = 0
    path: frozenset[int] = frozenset()  # columns tested above
    low: Array | None = None  # bounds of the values below, by component; None: no bounds
    high: Array | None = None
    cut: Cut | None = None
    surrogates: list[Surrogate] = field(default_factory=list)
    children: list[Place] = field(default_factory=list)
    step: int = -1


@dataclass
class Surrogate:
    """What another column says about the side of a cut, where the column of the cut has no value."""

    column: int
    agreement: Real
    adjusted: Real
    left: Array  # whether each row of the node goes left by it
    known: Array  # whether it has a value


class Constrained(Growth):
    """A table, a criterion, limits and options: every cut of a node, and which of them the rules choose."""

    def __init__(
        self, columns: Sequence[ArrayLike], kinds: Sequence[str], targets: Sequence[ArrayLike],
        weights: ArrayLike | None = None, criterion: str = "gini", *, missing: str = "learn",
        n_surrogates: int = 5, monotone: Sequence[int] | None = None,
        groups: Sequence[Sequence[int]] | None = None, max_columns_used: int = -1,
        prices: Sequence[float] | None = None, costs: ArrayLike | None = None, multiway: bool = False,
        once: bool = False, categories: int = 0, **limits: Any,
    ) -> None:  # fmt: skip
        super().__init__(columns, kinds, targets, weights, criterion, **limits)
        self.missing, self.n_surrogates, self.multiway, self.once = missing, n_surrogates, multiway, once
        self.monotone = [0] * len(columns) if monotone is None else [int(m) for m in monotone]
        self.groups = None if groups is None else [frozenset(group) for group in groups]
        self.most_columns = math.inf if max_columns_used < 0 else max_columns_used
        self.prices = [self.real(price) for price in ([0] * len(columns) if prices is None else prices)]
        self.costs = None if costs is None else np.asarray(costs, dtype=float)
        self.categories = categories  # known to the schema, present or not

    # ---- risks ---------------------------------------------------------------------------------

    def risk(self, statistics: Array) -> Array:
        if self.costs is None:
            return super().risk(statistics)
        (at, _, scale), classes = self.blocks[0], np.unique(self.targets[0])
        both = (self.costs + self.costs.T)[np.ix_(classes, classes)]
        np.fill_diagonal(both, 0.0)
        pairs = np.vectorize(Fraction, otypes=[object])(both) / 2
        n = statistics[:, at]
        return np.array([(line @ pairs @ line) / self.real(line.sum()) * scale for line in n], dtype=object)

    def cells(self, place: Place) -> Array:
        """One line per row of a node: its share, its weight, and its weight in the place of its target."""
        return self.table[place.rows] * place.share[:, None]

    def risk_at(self, place: Place) -> Real:
        return self.risk(self.cells(place).sum(axis=0)[None])[0]

    def root(self) -> Place:
        one = self.real(1)
        return Place(self.rows, np.array([one] * len(self.rows), dtype=self.table.dtype))

    # ---- the cuts of one column ----------------------------------------------------------------

    def unknown(self, column: int, rows: Array) -> Array:
        x = self.columns[column][rows]
        return x < 0 if self.kinds[column] == "category" else np.isnan(x)

    def _divisions(self, rows: Array, column: int) -> Iterator[Cut]:
        if self.kinds[column] != "category":
            return self._number_divisions(rows, column)
        return self._multiway(rows, column) if self.multiway else self._subsets(rows, column)

    def _number_divisions(self, rows: Array, column: int) -> Iterator[Cut]:
        x, missing = self.columns[column][rows], self.unknown(column, rows)
        distinct = np.unique(x[~missing])
        for lo, hi in pairwise(distinct):
            right = np.where(missing, -1, x > lo)
            ends = {"lo": float(lo), "hi": float(hi)}
            if not missing.any() or self.missing in ("surrogate", "fractional"):
                yield Cut(column, right, "number", **ends)
            elif self.missing == "category":
                yield Cut(column, np.where(missing, 2, right), "three", **ends)
            else:
                for side in (0, 1):
                    sides = np.where(missing, side, right)
                    yield Cut(column, sides, "number", **ends, missing_left=side == 0)
        if missing.any() and not missing.all() and self.missing in ("learn", "category"):
            yield Cut(column, missing.astype(int), "known", math.inf, math.inf, missing_left=False)

    def _subsets(self, rows: Array, column: int) -> Iterator[Cut]:
        x, missing = self.columns[column][rows], self.unknown(column, rows)
        hidden = missing & (self.missing != "category")  # as a category of its own it is like any other
        by_median = self.criterion == "absolute_error"  # then equal subsets have no order
        present = sorted({int(code) for code in x[~hidden]})
        for size in range(len(present) - 1):
            for more in combinations(present[1:], size):
                right = np.where(hidden, -1, ~np.isin(x, [present[0], *more]))
                if not hidden.any() or self.missing in ("surrogate", "fractional"):
                    yield Cut(column, right, "category")
                else:
                    for side in (0, 1):
                        missing_left = None if by_median else side == 0
                        yield Cut(
                            column, np.where(hidden, side, right), "category", missing_left=missing_left
                        )
        if hidden.any() and present and self.missing == "learn":
            lo = math.nan if by_median else -math.inf
            yield Cut(
                column, hidden.astype(int), "category", lo=lo, missing_left=None if by_median else False
            )

    def _multiway(self, rows: Array, column: int) -> Iterator[Cut]:
        x, missing = self.columns[column][rows], self.unknown(column, rows)
        present = [int(code) for code in np.unique(x[~missing])]
        branch = np.array([present.index(code) if code >= 0 else -1 for code in x])
        if missing.any() and self.missing == "category":
            branch[missing] = len(present)
        if branch.max() >= 1:
            assert not missing.any() or self.missing != "learn", "not prescribed"
            yield Cut(column, branch, "multiway", has_empty=len(present) < self.categories)

    # ---- what is allowed -----------------------------------------------------------------------

    def allowed_columns(self, place: Place) -> list[int]:
        """The columns that the path above allows, whatever the rest of the tree uses."""
        every = range(len(self.columns))
        if self.once:
            every = [c for c in every if c not in place.path]
        if self.groups is None:
            return list(every)
        grouped = frozenset().union(*self.groups)
        groups = [*self.groups, *(frozenset([c]) for c in range(len(self.columns)) if c not in grouped)]
        return [c for c in every if any(place.path | {c} <= group for group in groups)]

    def is_final(self, place: Place) -> bool:
        """Whether a node stays a leaf whatever its columns say."""
        if all((y[place.rows] == y[place.rows[0]]).all() for y in self.targets):
            return True
        return place.depth >= self.max_depth or place.share.sum() < max(self.min_rows, 2 * self.min_leaf)

    def cuts(self, place: Place) -> list[Cut]:
        """Every allowed cut of a node, with gain and score; none where it must stay a leaf."""
        if self.is_final(place):
            return []
        cells, found = self.cells(place), []
        for column in self.allowed_columns(place):
            price = self.real(0) if column in place.path else self.prices[column]
            for cut in self._divisions(place.rows, column):
                sums = np.stack([cells[cut.sides == b].sum(axis=0) for b in range(cut.n_branches)])
                if self._permits(place, cut, sums):
                    cut.gain = self.risk(sums.sum(axis=0)[None])[0] - sum(self.risk(sums))
                    cut.score = cut.gain / (1 + price)
                    shares = [float(w / sums[:, 1].sum()) for w in sums[:, 1]]
                    cut.information = -sum(s * math.log2(s) for s in shares)
                    found.append(cut)
        if self.costs is not None:  # not concave: a cut may raise the risk
            slack = self.tolerance(self.real(0), self.risk_at(place))
            found = [cut for cut in found if cut.gain >= -slack]
        return found

    def _permits(self, place: Place, cut: Cut, sums: Array) -> bool:
        """Whether limits and constraints allow a cut; marks it where that is a matter of rounding."""
        if self.criterion == "poisson" and not self._legal(sums).all():
            return False
        limits = [(rows, self.min_leaf) for rows in sums[:, 0]]
        limits += [(weight * self.unit, Fraction(self.min_weight)) for weight in sums[:, 1]]
        if any(self.monotone):
            limits += self._order(place, cut, sums)
        for more, less in limits:
            margin = float(more - less)
            if abs(margin) > NEARLY * max(abs(float(more)), abs(float(less))):
                if margin < 0:
                    return False
            elif margin or not (_is_exact(more) and _is_exact(less)) or (place.share != 1).any():
                cut.is_doubtful = True
        return True

    def answer(self, line: Array) -> Array:
        """The value of a node that constraints look at: its mean or median, or its cumulative shares."""
        at, values, _ = self.blocks[0]
        n = line[at]
        total = self.real(n.sum())
        if self.targets[0].dtype.kind == "i":
            return np.cumsum(n)[:-1] / total
        if self.criterion == "absolute_error":  # halfway where exactly half of the weight is on each side
            below = 2 * np.cumsum(n)
            middle = values[np.argmax(below >= n.sum())] + values[np.argmax(below > n.sum())]
            return np.array([self.real(middle) / 2])
        return np.array([(n * values).sum() / total])

    def _order(self, place: Place, cut: Cut, sums: Array) -> list[tuple[Real, Real]]:
        """What must not be less than what, for the branches to keep the bounds of the node and the order."""
        cut.values = [self.answer(line) for line in sums]
        pairs: list[tuple[Real, Real]] = []
        for value in cut.values:
            pairs += [] if place.low is None else zip(value, place.low, strict=True)
            pairs += [] if place.high is None else zip(place.high, value, strict=True)
        if self.direction(cut):
            first, second = cut.values[:2] if self.direction(cut) > 0 else cut.values[1::-1]
            pairs += zip(second, first, strict=True)
        return pairs

    def direction(self, cut: Cut) -> int:
        """+1 where the values must not fall from the first branch to the second, -1 not rise, 0 either."""
        if cut.kind not in ("number", "three"):
            return 0
        return self.monotone[cut.column] * (-1 if self.targets[0].dtype.kind == "i" else 1)

    # ---- which of them is chosen ---------------------------------------------------------------

    def best(self, cuts: list[Cut], risk: Real) -> Cut | None:
        """The cut that the rules prescribe; None for a leaf."""
        if not cuts:
            return None
        chosen = self._best_ratio(cuts, risk) if self.criterion == "gain_ratio" else self._first(cuts, risk)
        return None if chosen.score + self.tolerance(chosen.score, risk) < self.min_gain else chosen

    def _first(self, cuts: list[Cut], risk: Real) -> Cut:
        top = max(cut.score for cut in cuts)
        return min((c for c in cuts if c.score >= top - self.tolerance(top, risk)), key=Cut.place)

    def _best_ratio(self, cuts: list[Cut], risk: Real) -> Cut:
        columns = sorted({cut.column for cut in cuts})
        best = [self._first([cut for cut in cuts if cut.column == c], risk) for c in columns]
        useful = [cut for cut in best if cut.score > self.tolerance(cut.score, risk)]
        if not useful:
            return best[0]
        average = sum(cut.score for cut in useful) / len(useful)
        fair = [cut for cut in useful if cut.score >= average - self.tolerance(average, risk)]
        top = max(cut.score / cut.information for cut in fair)
        return next(cut for cut in fair if cut.score / cut.information >= top * (1 - 1e-12))

    # ---- the rows of the branches --------------------------------------------------------------

    def surrogates(self, place: Place, cut: Cut) -> list[Surrogate]:
        """What other columns tell about the side of the rows, the best first."""
        known = cut.sides >= 0
        weight = self.table[place.rows, 1]
        whole = weight[known].sum()
        majority = max(weight[cut.sides == 0].sum(), weight[cut.sides == 1].sum())
        found = []
        for column in range(len(self.columns)):
            own = None if column == cut.column else self._surrogate(place, cut, column)
            if own is not None and majority < whole:
                left, agreeing = own
                adjusted = self.real(agreeing - majority) / self.real(whole - majority)
                if adjusted > 1e-10:
                    has_value = ~self.unknown(column, place.rows)
                    agreement = self.real(agreeing) / self.real(whole)
                    found.append(Surrogate(column, agreement, adjusted, left, has_value))
        found.sort(key=lambda s: -s.agreement)  # stable: the lower column first
        return found[: self.n_surrogates]

    def _surrogate(self, place: Place, cut: Cut, column: int) -> tuple[Array, Real] | None:
        """The rows that the best surrogate of one column sends left, and the weight that it gets right."""
        x, weight = self.columns[column][place.rows], self.table[place.rows, 1]
        has_value = ~self.unknown(column, place.rows)
        both = (cut.sides >= 0) & has_value
        goes_left = cut.sides == 0
        best: tuple[Array, Real] | None = None
        for left in self._surrogate_sides(x, both, goes_left, weight, self.kinds[column]):
            if min((left & both).sum(), (~left & both).sum()) < 2:
                continue
            agreeing = weight[both & (left == goes_left)].sum()
            if best is None or agreeing > best[1]:
                best = left, agreeing
        return best

    def _surrogate_sides(
        self, x: Array, both: Array, goes_left: Array, weight: Array, kind: str
    ) -> Iterator[Array]:
        if kind != "category":
            for lo, hi in pairwise(np.unique(x[both])):  # rows without a part in it join the nearer side
                middle = max(float(lo), float(lo) / 2 + float(hi) / 2)
                yield x <= middle
                yield x > middle
            return
        first, second = weight[goes_left].sum(), weight[both & ~goes_left].sum()
        left = np.full(len(x), bool(first >= second))
        for code in np.unique(x[both]):
            own = both & (x == code)
            left[x == code] = weight[own & goes_left].sum() >= weight[own & ~goes_left].sum()
        yield left

    def divided(self, place: Place, cut: Cut) -> list[Place]:
        """The branches of a node after a cut, with their rows and bounds."""
        weight = self.cells(place)[:, 1]
        known = [weight[cut.sides == b].sum() for b in range(cut.n_branches)]
        if self.missing == "surrogate":
            sides = cut.sides.copy()
            for surrogate in place.surrogates:
                open_rows = (sides < 0) & surrogate.known
                sides[open_rows] = np.where(surrogate.left[open_rows], 0, 1)
            sides[sides < 0] = 0 if known[0] >= known[1] else 1
            shares = [np.where(sides == b, place.share, self.real(0)) for b in range(2)]
        elif self.missing == "fractional":
            parts = [self.real(w) / self.real(sum(known)) for w in known]
            shares = [
                np.where(cut.sides == b, place.share, np.where(cut.sides < 0, place.share * part, 0))
                for b, part in enumerate(parts)
            ]
        else:
            shares = [np.where(cut.sides == b, place.share, self.real(0)) for b in range(cut.n_branches)]
        return self.children(place, cut, shares)

    def children(self, place: Place, cut: Cut, shares: list[Array]) -> list[Place]:
        """The branches of a cut with their shares of the rows."""
        path = place.path | {cut.column}
        made = [
            Place(place.rows[share > 0], share[share > 0], place.depth + 1, path, place.low, place.high)
            for share in shares
        ]
        if self.direction(cut):
            self.bound(cut, made[0], made[1])
        return made

    def bound(self, cut: Cut, one: Place, two: Place) -> None:
        """What is below two ordered branches keeps to its side of their middle, or of the value of the branch
        that is final.
        """
        border = (cut.values[0] + cut.values[1]) / 2
        if self.is_final(one) != self.is_final(two):
            border = cut.values[0] if self.is_final(one) else cut.values[1]
        if self.direction(cut) > 0:
            one.high = two.low = border
        else:
            one.low = two.high = border

    # ---- the tree ------------------------------------------------------------------------------

    def in_use(self, cuts: list[Cut], used: set[int]) -> list[Cut]:
        """The cuts by the columns that the whole tree may still use."""
        return [cut for cut in cuts if cut.column in used] if len(used) >= self.most_columns else cuts

    def grow(self) -> Place:
        """Best first: the leaf with the best score is split, ties in the order of creation."""
        root = self.root()
        leaves, steps, used = [(root, self.cuts(root), self.risk_at(root))], 0, set[int]()
        while True:
            ready = [
                (i, cut)
                for i, (_, cuts, risk) in enumerate(leaves)
                if (cut := self.best(self.in_use(cuts, used), risk)) is not None
                and steps + cut.n_splits <= self.budget
            ]
            if not ready:
                return root
            i, cut = max(ready, key=lambda pair: pair[1].score)  # the first of equals
            place = leaves.pop(i)[0]
            place.cut, place.step = cut, steps
            if self.missing == "surrogate":
                place.surrogates = self.surrogates(place, cut)
            place.children = self.divided(place, cut)
            steps += cut.n_splits
            used.add(cut.column)
            leaves += [(child, self.cuts(child), self.risk_at(child)) for child in place.children]


def _is_exact(number: Real) -> bool:
    """Whether a number is the same in double precision."""
    return bool(type(number)(float(number)) == number)
