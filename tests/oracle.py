"""The whole algorithm, naive: the judge of the compiled grower, written from the rules and not from its code.

Every split of every column is tried. The target enters as weight per distinct value, so that every criterion
is a function of one table of weights: exact fractions for gini, error, squared_error and absolute_error,
extended precision for the criteria with logarithms and roots.

>>> root = grow([[1.0, 2.0, 3.0, 4.0]], ["number"], [[0, 0, 1, 1]], criterion="gini")
>>> root.split.column, root.split.threshold(), float(root.split.gain)
(0, 2.5, 2.0)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]
Real = Any  # a Fraction or a long double
EXACT = ("gini", "error", "squared_error", "absolute_error")
CLASSES = ("gini", "entropy", "error", "sqrt", "gain_ratio")
NUMBERS = ("squared_error", "absolute_error", "poisson")


# ---- risk of each line of `n`, the weight per distinct target value; `v` are those values ----


def _divide(a: Array, b: Array) -> Array:
    return np.frompyfunc(Fraction, 2, 1)(a, b) if a.dtype == object else a / b


def _gini(n: Array, v: Array) -> Array:
    return n.sum(axis=1) - _divide((n * n).sum(axis=1), n.sum(axis=1))


def _error(n: Array, v: Array) -> Array:
    return n.sum(axis=1) - n.max(axis=1)


def _entropy(n: Array, v: Array) -> Array:
    share = n / n.sum(axis=1, keepdims=True)
    return -(n * np.log2(np.where(n > 0, share, 1))).sum(axis=1)


def _sqrt(n: Array, v: Array) -> Array:
    root = np.sqrt(n)
    before = np.cumsum(root, axis=1)[:, :-1]
    return (before * root[:, 1:]).sum(axis=1)


def _squared_error(n: Array, v: Array) -> Array:
    v = v - v[len(v) // 2]
    return (n * v * v).sum(axis=1) - _divide((n * v).sum(axis=1) ** 2, n.sum(axis=1))


def _absolute_error(n: Array, v: Array) -> Array:
    below = np.cumsum(n, axis=1)
    median = v[np.argmax(2 * below >= below[:, -1:], axis=1)]
    return (n * abs(v - median[:, None])).sum(axis=1)


def _poisson(n: Array, v: Array) -> Array:
    mean = (n * v).sum(axis=1, keepdims=True) / n.sum(axis=1, keepdims=True)
    live = (v > 0) & (mean > 0)
    return (n * v * np.log(np.where(live, v, 1) / np.where(live, mean, 1))).sum(axis=1)


RISKS = {
    "gini": _gini, "error": _error, "entropy": _entropy, "gain_ratio": _entropy, "sqrt": _sqrt,
    "squared_error": _squared_error, "absolute_error": _absolute_error, "poisson": _poisson,
}  # fmt: skip


def _whole(numbers: ArrayLike) -> tuple[Array, Fraction]:
    """Floats as exact integers, and the unit in which they count."""
    exact = [Fraction(float(x)) for x in np.asarray(numbers)]
    unit = Fraction(1, max(x.denominator for x in exact))
    return np.array([int(x / unit) for x in exact], dtype=object), unit


def readable(lo: float, hi: float) -> float:
    """The shortest decimal between lo and hi, among several the nearest to the middle; both ends finite.

    Between two numbers of single precision, it is one that does not round to the upper one.

    >>> readable(float(np.float32(4.3)), float(np.float32(4.4))), readable(4.3, float(np.float32(4.4)))
    (4.35, 4.4)
    """
    found = _shortest(lo, hi)
    with np.errstate(over="ignore"):
        single = np.array([lo, hi, found], np.float32).astype(float)
    if single[0] != lo or single[1] != hi or single[2] < hi:
        return found
    below = float(np.nextafter(np.float32(hi), np.float32(-np.inf)))
    return _shortest(lo, below / 2 + hi / 2)  # what lies below this middle rounds to less than the upper one


def _shortest(lo: float, hi: float) -> float:
    """The shortest decimal between lo and hi, or lo where there is none."""
    if lo < 0 < hi:
        return 0.0
    if math.nextafter(lo, math.inf) >= hi:
        return lo
    a, b = Fraction(lo), Fraction(hi)
    for exponent in range(math.floor(math.log10(max(abs(lo), abs(hi)))) + 1, -345, -1):
        unit = Fraction(10) ** exponent
        middle = (a + b) / 2 / unit
        multiples = range(math.floor(a / unit), math.ceil(b / unit) + 1)
        fits = [k for k in multiples if lo < _nearest(k * unit) < hi]
        if fits:
            nearest = min(abs(k - middle) for k in fits)
            tie = (b - a) / unit / 10**9  # as good as equally far: the lower one
            return _nearest(next(k for k in fits if abs(k - middle) <= nearest + tie) * unit)
    return lo


def _nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


@dataclass
class Split:
    """One way to divide the rows of a node: a gap between two values, or a set of categories that go left."""

    column: int
    lo: float = math.nan  # the largest known value on the left
    hi: float = math.nan  # the smallest known value on the right; both inf: all known left, missing right
    categories: frozenset[int] | None = None
    missing_left: bool | None = None  # None: no row of the node is missing in this column
    gain: Real = 0
    information: Real = 0  # entropy in bits of the two sides' shares

    def place(self) -> tuple[int, float, bool]:
        """What decides between equal gains: column, threshold, missing left before missing right."""
        if self.categories is not None:
            return (self.column, 0.0, False)
        return (self.column, self.lo, self.missing_left is False)

    def threshold(self, style: str = "readable") -> float:
        if math.isinf(self.lo) or math.isinf(self.hi):
            return self.lo  # any number in [lo, hi) will do; inf for "all known values left"
        middle = self.lo / 2 + self.hi / 2
        if style == "readable":
            return readable(self.lo, self.hi)
        return middle if self.lo <= middle < self.hi else self.lo

    def sends_left(self, x: Array) -> Array:
        """Which rows go left, given the node's values of the column."""
        if self.categories is not None:
            left = np.isin(x, list(self.categories))
            return np.where(x < 0, bool(self.missing_left), left)
        return np.where(np.isnan(x), bool(self.missing_left), x <= self.lo)


@dataclass
class Node:
    """A node of the oracle's tree."""

    rows: Array
    depth: int = 0
    step: int = -1
    split: Split | None = None
    children: list[Node] = field(default_factory=list)


class Growth:
    """A table, a criterion and limits: knows every split of any rows, and which of them the rules choose."""

    def __init__(
        self, columns: Sequence[ArrayLike], kinds: Sequence[str], targets: Sequence[ArrayLike],
        weights: ArrayLike | None = None, criterion: str = "gini", *, max_depth: int | None = None,
        min_samples_split: int = 2, min_samples_leaf: int = 1, min_weight_leaf: float = 0.0,
        min_gain: float = 0.0, max_leaf_nodes: int | None = None, max_splits: int | None = None,
        threshold: str = "readable", exact: bool | None = None,
    ) -> None:  # fmt: skip
        self.exact = criterion in EXACT if exact is None else exact
        self.real: Any = Fraction if self.exact else np.longdouble
        self.kinds, self.criterion, self.threshold = list(kinds), criterion, threshold
        self.max_depth = math.inf if max_depth is None else max_depth
        self.min_rows, self.min_leaf, self.min_weight = min_samples_split, min_samples_leaf, min_weight_leaf
        self.min_gain = self.real(min_gain)
        self.budget = math.inf if max_splits is None else max_splits
        if max_leaf_nodes is not None:
            self.budget = min(self.budget, max_leaf_nodes - 1)
        weight = np.ones(len(targets[0])) if weights is None else np.asarray(weights, dtype=float)
        keep = weight > 0
        self.columns = [
            np.asarray(x)[keep].astype(int if kind == "category" else float)
            for x, kind in zip(columns, kinds, strict=True)
        ]
        self.targets = [np.asarray(y)[keep] for y in targets]
        self.weight = weight[keep]
        self._fill(self.weight)

    def _fill(self, weight: Array) -> None:
        """One line per row: 1, its weight, and for each target the weight in the place of its value."""
        w, self.unit = _whole(weight) if self.exact else (weight.astype(np.longdouble), Fraction(1))
        self.rows = np.arange(len(w))
        self.blocks: list[tuple[slice, Array, Any]] = []
        table = [np.ones(len(w), dtype=object if self.exact else np.longdouble), w]
        for y in self.targets:
            distinct, code = np.unique(y, return_inverse=True)
            values, unit = _whole(distinct) if self.exact else (distinct.astype(np.longdouble), Fraction(1))
            power = {"squared_error": 2, "absolute_error": 1}.get(self.criterion, 0)
            scale = self.unit * unit**power if self.exact else np.longdouble(1)
            self.blocks.append((slice(len(table), len(table) + len(distinct)), values, scale))
            table += [np.where(code == k, w, 0) for k in range(len(distinct))]
        self.table = np.stack(table, axis=1)

    def risk(self, statistics: Array) -> Array:
        """The risk of each line of sums over the table: the mean over the targets."""
        parts = [RISKS[self.criterion](statistics[:, at], v) * scale for at, v, scale in self.blocks]
        total = sum(parts[1:], parts[0])
        return total / (self.real(len(parts)))

    def risk_of(self, rows: Array) -> Real:
        return self.risk(self.table[rows].sum(axis=0)[None])[0]

    def _candidates(self, rows: Array, column: int) -> tuple[list[Split], list[tuple[Array, Array]]]:
        """Every split of the rows by one column, and the sums over its left and its right side."""
        x, cells = self.columns[column][rows], self.table[rows]
        is_category = self.kinds[column] == "category"
        missing = x < 0 if is_category else np.isnan(x)
        known = np.flatnonzero(~missing)
        divided: list[tuple[Split, Array, Array]] = []  # of the known rows
        if is_category:
            present = sorted({int(c) for c in x[known]})
            for size in range(len(present) - 1):
                for more in combinations(present[1:], size):
                    split = Split(column, categories=frozenset(present[:1] + list(more)))
                    left = np.isin(x, list(split.categories))
                    divided.append((split, cells[left].sum(axis=0), cells[~left & ~missing].sum(axis=0)))
            everything = Split(column, categories=frozenset(present), missing_left=False)
        else:
            order = known[np.argsort(x[known], kind="stable")]
            known_x, below = x[order], np.cumsum(cells[order], axis=0)
            above = np.cumsum(cells[order[::-1]], axis=0)[::-1]
            divided = [
                (Split(column, float(known_x[i]), float(known_x[i + 1])), below[i], above[i + 1])
                for i in np.flatnonzero(known_x[:-1] < known_x[1:])
            ]
            everything = Split(column, math.inf, math.inf, missing_left=False)
        if not missing.any() or not len(known):
            return [split for split, _, _ in divided], [(left, right) for _, left, right in divided]
        gone, splits, sums = cells[missing].sum(axis=0), [], []
        for split, left, right in divided:
            splits += [replace(split, missing_left=True), replace(split, missing_left=False)]
            sums += [(left + gone, right), (left, right + gone)]
        return [*splits, everything], [*sums, (cells[known].sum(axis=0), gone)]

    def splits(self, rows: Array, depth: int = 0) -> list[Split]:
        """Every legal split of a node, with its gain; none where the node must stay a leaf."""
        pure = all((y[rows] == y[rows[0]]).all() for y in self.targets)
        if pure or depth >= self.max_depth or len(rows) < max(self.min_rows, 2 * self.min_leaf):
            return []
        parent, found = self.risk_of(rows), []
        for column in range(len(self.columns)):
            splits, sums = self._candidates(rows, column)
            if not splits:
                continue
            left, right = np.stack([a for a, _ in sums]), np.stack([b for _, b in sums])
            legal = self._legal(left) & self._legal(right)
            if legal.any():
                left, right = left[legal], right[legal]
                splits = [split for split, fine in zip(splits, legal, strict=True) if fine]
                for split, gain, a, b in zip(
                    splits, parent - self.risk(left) - self.risk(right), left[:, 1], right[:, 1], strict=True
                ):
                    split.gain = gain
                    split.information = -sum(float(w / (a + b)) * math.log2(w / (a + b)) for w in (a, b))
                found += splits
        return found

    def _legal(self, side: Array) -> Array:
        legal = (side[:, 0] >= self.min_leaf) & (side[:, 1] * self.unit >= Fraction(self.min_weight))
        if self.criterion == "poisson":
            for at, values, _ in self.blocks:
                legal &= (side[:, at] * values).sum(axis=1) > 0
        return legal.astype(bool)

    def tolerance(self, gain: Real, parent: Real) -> Real:
        return self.real(1e-12) * gain + self.real(2e-15) * parent

    def noise(self, rows: Array) -> Real:
        """What sums in double precision cannot resolve: the rounding of the largest terms."""
        weight = self.weight[rows].sum()
        if self.criterion in CLASSES:
            return self.real(2e-15 * weight)
        power = {"squared_error": 2, "absolute_error": 1}.get(self.criterion)
        own = [y[rows] for y in self.targets]
        scale = [float(np.ptp(y)) ** power if power else 20 * float(y.max()) for y in own]
        return self.real(1e-15 * weight * max(scale))

    def choose(self, splits: list[Split], parent: Real) -> Split | None:
        """The split that the rules prescribe; None for a leaf."""
        if not splits:
            return None
        if self.criterion == "gain_ratio":
            chosen = self._choose_ratio(splits, parent)
        else:
            chosen = self._first_best(splits, parent)
        return None if chosen.gain + self.tolerance(chosen.gain, parent) < self.min_gain else chosen

    def _first_best(self, splits: list[Split], parent: Real) -> Split:
        best = max(s.gain for s in splits)
        tied = [s for s in splits if s.gain >= best - self.tolerance(best, parent)]
        return min(tied, key=Split.place)

    def _choose_ratio(self, splits: list[Split], parent: Real) -> Split:
        columns = sorted({s.column for s in splits})
        best = [self._first_best([s for s in splits if s.column == c], parent) for c in columns]
        useful = [s for s in best if s.gain > self.tolerance(s.gain, parent)]
        if not useful:
            return best[0]
        average = sum(s.gain for s in useful) / len(useful)
        fair = [s for s in useful if s.gain >= average - self.tolerance(average, parent)]
        top = max(s.gain / s.information for s in fair)
        return next(s for s in fair if s.gain / s.information >= top * (1 - 1e-12))

    def grow(self) -> Node:
        """Best first: the leaf with the largest gain is split, ties in the order of creation."""
        root = Node(self.rows)
        leaves, steps = [root], 0
        root.split = self.choose(self.splits(root.rows), self.risk_of(root.rows))
        while steps < self.budget:
            ready = [leaf for leaf in leaves if leaf.split is not None and leaf.step < 0]
            if not ready:
                break
            node = max(ready, key=lambda leaf: leaf.split.gain)  # the first of equals
            left = node.split.sends_left(self.columns[node.split.column][node.rows])
            node.step, steps = steps, steps + 1
            node.children = [Node(node.rows[side], node.depth + 1) for side in (left, ~left)]
            for child in node.children:
                child.split = self.choose(self.splits(child.rows, child.depth), self.risk_of(child.rows))
                leaves.append(child)
        for leaf in leaves:
            leaf.split = leaf.split if leaf.step >= 0 else None
        return root


def grow(
    columns: Sequence[ArrayLike], kinds: Sequence[str], targets: Sequence[ArrayLike],
    weights: ArrayLike | None = None, criterion: str = "gini", **limits: Any,
) -> Node:  # fmt: skip
    """The tree of the rules, as nested nodes: the root."""
    return Growth(columns, kinds, targets, weights, criterion, **limits).grow()
