"""Every criterion × every relation × every number of threads, on one table with everything in it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.checks import same_partition, same_structure, same_tree
from tests.oracle import CLASSES, NUMBERS
from tests.strategies import Table, table_of, tables
from treewright.tree import Tree

EVERY = [*CLASSES, *NUMBERS]
SMALL = 40  # nodes above it take the way of large tables
ROWS = 240
both_engines = pytest.mark.parametrize("switch", [{}, {"_small_rows": 8}], ids=str)


def everything(criterion: str) -> Table:
    """Numbers with holes, numbers that repeat, categories, times; whole weights; targets on a grid."""
    random = np.random.default_rng(5)
    x, z = np.round(random.normal(size=(2, ROWS)), 3)
    codes = random.integers(-1, 6, ROWS)
    signal = x + np.abs(z) + 0.7 * (codes % 2) + 0.6 * random.normal(size=ROWS)
    hidden = random.random(ROWS) < 0.15
    time = 1.7e15 + 1e6 * np.floor(1e5 * random.normal(size=ROWS))
    y = np.digitize(signal, [0.4, 1.4]) if criterion in CLASSES else np.round(np.exp(signal) * 256) / 256
    return table_of(
        [np.where(hidden, np.nan, x), np.round(z, 1), codes, time],
        y,
        kinds=["number", "number", "category", "time"],
        weight=random.integers(1, 4, ROWS),
    )


def weightless(table: Table) -> Table:
    return replace(table, weight=None)


def shifted(offset: float) -> Callable[[Table], Table]:
    return lambda table: replace(table, targets=tuple(y + offset for y in table.targets))


def scaled(factor: float) -> Callable[[Table], Table]:
    return lambda table: replace(table, targets=tuple(y * factor for y in table.targets))


def copies(table: Table) -> Table:
    assert table.weight is not None
    return weightless(table.rows(np.repeat(np.arange(ROWS), table.weight.astype(int))))


def with_ghosts(table: Table) -> Table:
    """Rows of weight 0 with values and targets of their own, among the others."""
    ghosts = table.rows(np.arange(0, ROWS, 3))
    columns = tuple(
        np.concatenate([x, g if kind == "category" else 3 * g + 1])
        for x, g, kind in zip(table.columns, ghosts.columns, table.kinds, strict=True)
    )
    targets = tuple(np.concatenate([y, g[::-1]]) for y, g in zip(table.targets, ghosts.targets, strict=True))
    weight = np.concatenate([table.weight, np.zeros(ghosts.n_rows)])
    more = replace(table, columns=columns, targets=targets, weight=weight)
    return more.rows(np.random.default_rng(1).permutation(more.n_rows))


def shuffled(table: Table) -> Table:
    return table.rows(np.random.default_rng(2).permutation(ROWS))


def twice(table: Table) -> Table:
    return table.rows(np.tile(np.arange(ROWS), 2))


def heavier(table: Table) -> Table:
    assert table.weight is not None
    return table.weighted(table.weight * 2.0**-30)


def with_idle_columns(table: Table) -> Table:
    """Constant columns, one of them without any value, and a copy of the first, all behind the others."""
    idle = (np.full(ROWS, 7.5), np.full(ROWS, np.nan), np.zeros(ROWS, np.int32), table.columns[0])
    kinds = ("number", "number", "category", "number")
    return replace(table, columns=table.columns + idle, kinds=table.kinds + kinds)


def every_column_twice(table: Table) -> Table:
    return replace(table, columns=table.columns * 2, kinds=table.kinds * 2)


def stretched(table: Table) -> Table:
    """Another rising scale for each column of numbers."""
    columns = tuple(
        x if kind == "category" else np.where(np.isnan(x), np.nan, 1e-3 * x + np.sign(x) * x * x)
        for x, kind in zip(table.columns, table.kinds, strict=True)
    )
    return replace(table, columns=columns)


# A relation: the change, and whether it leaves "bytes", "structure", or the "partition" of the rows alone.
RELATIONS: dict[str, tuple[Callable[[Table], Table], str]] = {
    "nothing": (lambda table: table, "bytes"),
    "copies for weights": (copies, "structure"),
    "rows of weight zero": (with_ghosts, "bytes"),
    "order of rows": (shuffled, "bytes"),
    "all rows twice": (twice, "structure"),
    "weights × 2^-30": (heavier, "structure"),
    "idle columns": (with_idle_columns, "bytes"),
    "columns twice": (every_column_twice, "bytes"),
    "monotone": (stretched, "partition"),
}
OF_NUMBERS = {
    "y × 1e-12": (scaled(1e-12), "structure"),
    "y × 1e-8": (scaled(1e-8), "structure"),
    "y × 1e12": (scaled(1e12), "structure"),
    "y × 2^-60": (scaled(2.0**-60), "structure"),
    "y + 1e8": (shifted(1e8), "structure"),
    "y + 1e12": (shifted(1e12), "structure"),
}
GRID = [
    (criterion, name)
    for criterion in EVERY
    for name in [*RELATIONS, *(OF_NUMBERS if criterion in NUMBERS else ())]
    if not (criterion == "poisson" and "+" in name)  # its deviance is about the zero of y
]


def holds(one: Tree, two: Tree, table: Table, other: Table, kept: str) -> None:
    if kept == "bytes":
        same_tree(one, two)
    elif kept == "structure":
        same_structure(one, two, order=False)
    else:
        same_partition(one, two, one.apply(table.dataset()), two.apply(other.dataset()))


@pytest.mark.slow
@pytest.mark.threads
@pytest.mark.parametrize(("criterion", "name"), GRID)
def test_relation(criterion: str, name: str) -> None:
    """The relation holds where all nodes are small and where most are large, for every number of threads."""
    change, kept = (RELATIONS | OF_NUMBERS)[name]
    table = everything(criterion)
    other = change(table)
    for switch in ({}, {"_small_rows": SMALL}):
        one, two = table.grow(criterion, **switch), other.grow(criterion, **switch)
        assert one.n_leaves > 10
        holds(one, two, table, other, kept)
        for n_jobs in (2, 3, 5, 7) if switch else ():
            same_tree(two, other.grow(criterion, n_jobs=n_jobs, **switch))


@pytest.mark.parametrize("criterion", CLASSES)
@both_engines
def test_names_of_classes(criterion: str, switch: dict[str, int]) -> None:
    """Numbers only: of equally good subsets of categories the one that is taken depends on the codes."""
    table = everything(criterion)
    table = replace(table, columns=table.columns[:2], kinds=table.kinds[:2])
    one = table.grow(criterion, **switch)
    for names in ([1, 2, 0], [2, 1, 0], [0, 2, 1]):
        renamed = replace(table, targets=tuple(np.array(names, np.int32)[y] for y in table.targets))
        two = renamed.grow(criterion, **switch)
        same_partition(one, two, one.apply(table.dataset()), two.apply(renamed.dataset()))
        np.testing.assert_array_equal(one.statistic, two.statistic[:, names])


@pytest.mark.slow
@pytest.mark.parametrize("criterion", EVERY)
@both_engines
@settings(max_examples=25)
@given(data=st.data())
def test_a_missing_value_is_one_beyond_the_others(
    criterion: str, switch: dict[str, int], data: st.DataObject
) -> None:
    """The best test of a column with holes is that of the holes shown below, or above, all known values."""
    table = data.draw(tables(criterion, only_numbers=True, min_rows=4))
    known = np.unique(data.draw(st.lists(st.integers(-9, 9), min_size=1, max_size=6)))
    pool = [math.nan, *map(float, known)]
    x = np.array(data.draw(st.lists(st.sampled_from(pool), min_size=table.n_rows, max_size=table.n_rows)))
    assume(np.isnan(x).any() and not np.isnan(x).all())

    def stump(beyond: float) -> Tree:
        shown = replace(table, columns=(np.where(np.isnan(x), beyond, x),), kinds=("number",))
        return shown.grow(criterion, max_depth=1, **switch)

    hidden, below, above = (stump(beyond) for beyond in (math.nan, -100.0, 100.0))
    noise = 1e-12 * max(hidden.risk[0], 1e-300)
    assert abs(hidden.gain[0] - max(below.gain[0], above.gain[0])) <= noise
    assert hidden.n_leaves == max(below.n_leaves, above.n_leaves)
    if hidden.n_leaves == 2:
        learned = below if hidden.missing_left[0] else above
        assert abs(hidden.gain[0] - learned.gain[0]) <= noise


@pytest.mark.slow
@pytest.mark.parametrize("criterion", EVERY)
@both_engines
@settings(max_examples=15)
@given(data=st.data())
def test_a_second_copy_of_the_columns(criterion: str, switch: dict[str, Any], data: st.DataObject) -> None:
    """Ties go to the lower column, so the copy is never asked."""
    table = data.draw(tables(criterion))
    same_tree(table.grow(criterion, **switch), every_column_twice(table).grow(criterion, **switch))
