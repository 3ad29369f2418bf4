"""Hypothesis strategies: tables with every unpleasantness that a grower must survive, and its limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.oracle import CLASSES, Growth
from treewright.encoding import Dataset
from treewright.encoding.schema import Column, Schema, Target
from treewright.growing import grow
from treewright.tree import Tree

Array = NDArray[Any]
ABSOLUTE = {
    "min_weight_leaf": "_min_weight_leaf",
    "min_gain": "_min_gain",
}  # in units of weight, as the oracle has them
HUGE = 1.7976931348623157e308
TINY = 5e-324
NEXT = math.nextafter(1.0, 2.0)

POOLS: dict[str, list[float]] = {
    "few": [0.0, 1.0, 2.0],
    "whole": [float(k) for k in range(-4, 9)],
    "decimal": [0.1, 0.15, 0.2, 0.25, 0.3, 1.05, 2.722222, 2.727273, 9.99, 10.01, 117.5],
    "adjacent": [
        1.0,
        NEXT,
        math.nextafter(NEXT, 2.0),
        math.nextafter(1.0, 0.0),
        -1.0,
        math.nextafter(-1.0, 0.0),
    ],
    "huge": [HUGE, -HUGE, 1e308, -1e308, 8e307, 0.0, math.nextafter(HUGE, 0.0)],
    "tiny": [TINY, -TINY, 2 * TINY, 1e-310, -1e-310, 2.2250738585072014e-308, 0.0, -0.0],
    "zeros": [0.0, -0.0, 1.0, -1.0],
    "infinite": [math.inf, -math.inf, 0.0, 1.0, -3.5, HUGE],
    "twins": [1.0, 1.0 + 1e-9, 1.0 + 2e-9, 16777216.0, 16777217.0, 1.7e9, 1.7e9 + 1e-6],  # equal in float32
    "constant": [3.25],
    "missing": [math.nan],
}


DAY = 86_400e6
TIMES = [
    0.0,
    1.0,
    DAY,
    1.5 * DAY,
    365 * DAY,
    -DAY,
    1.7e15,
    1.7e15 + 1,
    1.7e15 + 60e6,
    -6e16,
    2.5e17,
]  # microseconds


@dataclass(frozen=True)
class Table:
    """Columns, kinds, targets and weights as plain arrays: what both the oracle and the package take."""

    columns: tuple[Array, ...]
    kinds: tuple[str, ...]
    targets: tuple[Array, ...]
    weight: Array | None = None
    categories: int = 8  # known to the schema, present or not

    @property
    def n_rows(self) -> int:
        return len(self.targets[0])

    def schema(self) -> Schema:
        names = tuple(range(self.categories))
        columns = tuple(
            Column(f"x{j}", kind, names if kind == "category" else ()) for j, kind in enumerate(self.kinds)
        )
        return Schema(columns, tuple(_target(f"y{k}", y) for k, y in enumerate(self.targets)))

    def dataset(self) -> Dataset:
        columns = tuple(
            x.astype(np.int32) if kind == "category" else x
            for x, kind in zip(self.columns, self.kinds, strict=True)
        )
        kind = np.int32 if self.targets[0].dtype.kind == "i" else np.float64
        return Dataset(
            schema=self.schema(),
            columns=columns,
            targets=np.stack(self.targets).astype(kind),
            weight=self.weight,
        )

    def grow(self, criterion: str, **limits: Any) -> Tree:
        """The package's tree, with every invariant checked; it compares plain gains, as the oracle does."""
        plain = {ABSOLUTE.get(name, name): value for name, value in limits.items()}
        tree = grow(self.dataset(), criterion=criterion, **{"category_gain": "plain"} | plain)
        tree.check()
        return tree

    def growth(self, criterion: str, **limits: Any) -> Growth:
        """The oracle for the same task."""
        return Growth(self.columns, self.kinds, self.targets, self.weight, criterion, **limits)

    def rows(self, which: Any) -> Table:
        """The same table with only these rows, in this order."""
        weight = None if self.weight is None else self.weight[which]
        columns, targets = tuple(x[which] for x in self.columns), tuple(y[which] for y in self.targets)
        return replace(self, columns=columns, targets=targets, weight=weight)

    def weighted(self, weight: Array) -> Table:
        return replace(self, weight=np.asarray(weight, dtype=float))


def _target(name: str, y: Array) -> Target:
    return Target(name, tuple(range(int(y.max()) + 1)) if y.dtype.kind == "i" else None)


def table_of(
    columns: Any, target: Any, *, kinds: Any = None, weight: Any = None, categories: int = 8
) -> Table:
    """A table by hand: lists of numbers (or codes), and one target or several."""
    columns = tuple(np.asarray(x) for x in columns)
    kinds = tuple(kinds or ["number"] * len(columns))
    columns = tuple(
        x.astype(np.int32 if kind == "category" else np.float32 if x.dtype == np.float32 else np.float64)
        for x, kind in zip(columns, kinds, strict=True)
    )
    targets = target if isinstance(target, tuple) else (target,)
    targets = tuple(np.asarray(y) for y in targets)
    targets = tuple(y.astype(np.int32 if y.dtype.kind in "iub" else np.float64) for y in targets)
    weight = None if weight is None else np.asarray(weight, dtype=float)
    return Table(columns, kinds, targets, weight, categories)


def _lists(pool: Sequence[Any], n: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(pool), min_size=n, max_size=n)


def numbers(n: int) -> st.SearchStrategy[Array]:
    """One column of numbers from one or two of the pools, with or without missing values."""

    def column(pool: list[float], holes: bool, single: bool) -> st.SearchStrategy[Array]:
        values = [*pool, math.nan] if holes else pool
        kind = np.float32 if single else np.float64
        return _lists(values, n).map(lambda x: np.array(x, dtype=kind))

    pool = st.one_of(
        st.sampled_from(sorted(POOLS)).map(POOLS.__getitem__),
        st.sampled_from(["few", "whole", "decimal"]).map(POOLS.__getitem__),
        st.tuples(st.sampled_from(sorted(POOLS)), st.sampled_from(sorted(POOLS))).map(
            lambda names: POOLS[names[0]] + POOLS[names[1]]
        ),
    )
    small = st.sampled_from(["few", "whole", "decimal", "zeros"]).map(POOLS.__getitem__)
    return st.one_of(
        st.tuples(pool, st.booleans(), st.just(False)).flatmap(lambda a: column(*a)),
        st.tuples(small, st.booleans(), st.just(True)).flatmap(lambda a: column(*a)),
    )


def times(n: int) -> st.SearchStrategy[Array]:
    """One column of times in whole microseconds, with or without missing values."""
    return st.sampled_from([TIMES, [*TIMES, math.nan]]).flatmap(lambda pool: _lists(pool, n)).map(np.array)


def categories(n: int, count: int = 8) -> st.SearchStrategy[Array]:
    """One column of category codes, -1 where the value is missing."""
    lowest = st.sampled_from([-1, 0])
    highest = st.integers(1, count - 1)
    codes = st.tuples(lowest, highest).flatmap(lambda ends: _lists(range(ends[0], ends[1] + 1), n))
    return codes.map(lambda x: np.array(x, dtype=np.int32))


def class_codes(n: int, most: int = 4) -> st.SearchStrategy[Array]:
    """Labels as codes."""
    lists = st.integers(2, most).flatmap(lambda k: _lists(range(k), n))
    return lists.map(lambda y: np.array(y, dtype=np.int32))


def values(n: int, positive: bool = False) -> st.SearchStrategy[Array]:
    """Target numbers: many equal ones, fractions, and some far from zero."""
    pools = [[0.0, 1.0, 2.0, 3.0], [0.1, 0.2, 0.7, 12.3, 1e3, 0.0], [1e-9, 2e-9, 5e-9]]
    if not positive:
        pools += [[-1.0, 0.5, 2.25], [1e8, 1e8 + 1, 1e8 + 2, 1e8 + 5], [-1e12, 1e12, 3e11]]
    lists = st.sampled_from(pools).flatmap(lambda pool: _lists(pool, n))
    return lists.map(np.array)


def weights(n: int, spread: bool = False) -> st.SearchStrategy[Array | None]:
    """No weights, copies, exact fractions, arbitrary ones, or far apart; zeros among them, one positive."""
    pools = [
        [0.0, 1.0, 2.0, 3.0],
        [0.25, 0.5, 1.5, 0.0],
        [0.1, 1 / 3, 0.7, 1e-3, 12.34, 0.0],
    ]
    if spread:
        pools.append([1.0, 1e6, 1e-6])
    lists = st.sampled_from(pools).flatmap(lambda pool: _lists(pool, n))
    return st.one_of(st.none(), lists.map(lambda w: np.array(w) if max(w) > 0 else np.ones(n)))


@st.composite
def tables(
    draw: Any,
    criterion: str,
    *,
    min_rows: int = 2,
    max_rows: int = 24,
    outputs: int = 2,
    weighted: bool = True,
    spread: bool = False,
    only_numbers: bool = False,
) -> Table:
    """A whole table for a criterion."""
    n = draw(st.integers(min_rows, max_rows))
    kinds = ["number", "number", "time"] if only_numbers else ["number", "number", "category", "time"]
    kinds = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
    maker = {"category": categories, "number": numbers, "time": times}
    columns = tuple(draw(maker[kind](n)) for kind in kinds)
    weight = draw(weights(n, spread)) if weighted else None
    count = draw(st.sampled_from([1] * 3 + [outputs]))
    if criterion in CLASSES:
        targets = tuple(draw(class_codes(n)) for _ in range(count))
    else:
        targets = tuple(draw(values(n, positive=criterion == "poisson")) for _ in range(count))
    if criterion == "poisson":  # a mean of zero has no deviance
        for y in targets:
            y[int(np.argmax(np.ones(n) if weight is None else weight))] = 1.5
    return Table(columns, tuple(kinds), targets, weight)


def limits(*, budget: bool = True) -> st.SearchStrategy[dict[str, Any]]:
    """Parameters of growing; most of the time most of them are left alone."""
    optional = {
        "max_depth": st.integers(0, 4),
        "min_samples_split": st.integers(2, 9),
        "min_samples_leaf": st.integers(1, 5),
        "min_weight_leaf": st.sampled_from([0.0, 0.5, 1.2345678, 3.0]),
        "min_gain": st.sampled_from([0.0, 1e-9, 0.123456789, 1.7654321]),
        "threshold": st.sampled_from(["readable", "midpoint"]),
    }
    if budget:
        optional |= {"max_leaf_nodes": st.integers(1, 7)}
    return st.fixed_dictionaries({}, optional=optional)
