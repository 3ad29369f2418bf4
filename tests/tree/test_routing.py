"""Category splits, missing values and the way of new rows: what a node does with each kind of value."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.comparison import compare, route
from tests.oracle import CLASSES, NUMBERS, Growth
from tests.strategies import Table, table_of, tables
from treewright import encode
from treewright.growing import grow

EVERY = [*CLASSES, *NUMBERS]
TWO_CLASS = ["gini", "entropy", "error", "sqrt", "gain_ratio"]
SWITCH: list[dict[str, int]] = [{}, {"_small_rows": 8}]


def category_table(criterion: str, n: int, count: int, classes: int, seed: int, holes: float = 0.0) -> Table:
    """One category column whose categories differ in what they predict."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, count, n)
    if criterion in CLASSES:
        share = random.dirichlet(np.ones(classes), size=count)
        y = np.array([random.choice(classes, p=share[c]) for c in codes])
    else:
        y = np.round(random.gamma(2.0, size=count)[codes] * random.gamma(3.0, size=n), 2)
    codes[random.random(n) < holes] = -1
    weight = random.integers(1, 4, n).astype(float) if seed % 2 else None
    return table_of([codes], y, kinds=["category"], weight=weight, categories=count)


def gains_in_order(growth: Growth, order: Any) -> np.ndarray:
    """The gain of every split of the (only) column that cuts its categories in this order; -1 is missing."""
    cells = np.stack([growth.table[growth.columns[0] == c].sum(axis=0) for c in order])
    left, total = np.cumsum(cells, axis=0)[:-1], cells.sum(axis=0)
    gains = growth.risk(total[None])[0] - growth.risk(left) - growth.risk(total - left)
    return gains.astype(float)


def mean_order(table: Table, y: np.ndarray) -> list[int]:
    """The categories (missing among them) by the mean of y."""
    weight = np.ones(len(y)) if table.weight is None else table.weight
    present = np.unique(table.columns[0])
    means = [np.average(y[table.columns[0] == c], weights=weight[table.columns[0] == c]) for c in present]
    return [int(c) for c in present[np.argsort(means)]]


@pytest.mark.slow
@pytest.mark.parametrize("switch", SWITCH, ids=str)
@pytest.mark.parametrize("criterion", EVERY)
@pytest.mark.parametrize(("count", "classes", "holes"), [(3, 2, 0.1), (8, 2, 0.0), (8, 3, 0.1), (7, 5, 0.0)])
def test_subsets_against_brute_force(
    criterion: str, switch: dict[str, int], count: int, classes: int, holes: float
) -> None:
    for seed in range(3):
        table = category_table(criterion, 90, count, classes, seed, holes)
        limit = {"max_depth": 2}
        compare(table.grow(criterion, **limit, **switch), table.growth(criterion, exact=False, **limit))


@pytest.mark.slow
@pytest.mark.parametrize("limit", [{"min_samples_leaf": 3}, {"min_weight_leaf": 4.0}], ids=str)
@pytest.mark.parametrize("criterion", EVERY)
@pytest.mark.parametrize("outputs", [1, 2])
def test_subsets_where_a_limit_forbids_the_best(criterion: str, limit: dict[str, Any], outputs: int) -> None:
    """Among the subsets that the limits allow the best one need not be a cut in any order."""
    random = np.random.default_rng(1)
    for _ in range(60):
        n = int(random.integers(5, 12))
        whole = random.integers(
            0 if criterion in CLASSES else 1, 2 if criterion in CLASSES else 6, (outputs, n)
        )
        targets = tuple(whole if criterion in CLASSES else whole.astype(float))
        weight = random.integers(1, 4, n)
        table = table_of([random.integers(-1, 5, n)], targets, kinds=["category"], weight=weight)
        compare(table.grow(criterion, max_depth=1, **limit), table.growth(criterion, max_depth=1, **limit))


@pytest.mark.parametrize("criterion", CLASSES)
def test_many_classes_exact_to_ten_categories(criterion: str) -> None:
    table = category_table(criterion, 300, 10, 4, seed=2)
    compare(table.grow(criterion, max_depth=1), table.growth(criterion, exact=False, max_depth=1))


@pytest.mark.parametrize("switch", SWITCH, ids=str)
@pytest.mark.parametrize("criterion", [*TWO_CLASS, "squared_error", "poisson"])
@pytest.mark.parametrize("holes", [0.0, 0.05])
def test_thirty_categories_are_best_in_the_order_of_their_means(
    criterion: str, switch: dict[str, int], holes: float
) -> None:
    """For two classes and for numbers the best of 2^29 subsets is a cut in the order of the means."""
    for seed in range(4):
        table = category_table(criterion, 400, 30, 2, seed, holes)
        tree = table.grow(criterion, max_depth=1, **switch)
        gains = gains_in_order(table.growth(criterion), mean_order(table, table.targets[0]))
        assert tree.gain[0] == pytest.approx(gains.max(), rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", CLASSES)
@pytest.mark.parametrize(("count", "classes"), [(11, 3), (20, 3), (60, 5), (300, 4)])
def test_many_categories_and_classes_beat_every_one_against_the_rest(
    criterion: str, count: int, classes: int
) -> None:
    for seed in range(3):
        table = category_table(criterion, 900, count, classes, seed)
        tree, growth = table.grow(criterion, max_depth=1), table.growth(criterion, exact=False)
        for k in range(classes):
            gains = gains_in_order(growth, mean_order(table, table.targets[0] == k))
            assert tree.gain[0] >= gains.max() * (1 - 1e-10)


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_many_categories_in_deeper_nodes(criterion: str) -> None:
    """Bits beyond the first byte, and nodes that see only some of the categories."""
    table = category_table(criterion, 500, 40, 2, seed=4)
    tree = table.grow(criterion, min_samples_leaf=5)
    leaves = tree.apply(table.dataset())
    np.testing.assert_array_equal(leaves, route(tree, table.columns, table.kinds))
    np.testing.assert_array_equal(
        np.bincount(leaves, minlength=tree.n_nodes)[tree.is_leaf], tree.rows[tree.is_leaf]
    )


# ---- the way of rows --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("criterion", EVERY)
@settings(max_examples=25)
@given(data=st.data())
def test_rows_find_their_leaves(criterion: str, data: st.DataObject) -> None:
    """Training rows reach the leaf that counted them; new rows follow the rules, unseen categories too."""
    table = data.draw(tables(criterion, weighted=False))
    tree = table.grow(criterion)
    leaves = tree.apply(table.dataset())
    np.testing.assert_array_equal(leaves, route(tree, table.columns, table.kinds))
    np.testing.assert_array_equal(
        np.bincount(leaves, minlength=tree.n_nodes)[tree.is_leaf], tree.rows[tree.is_leaf]
    )
    random = np.random.default_rng(0)
    fresh = tuple(
        random.integers(-2, table.categories, 40)
        if kind == "category"
        else np.concatenate(
            [random.choice(x, 20), random.choice([np.nan, np.inf, -np.inf, 0.0, 1.0, 2.5], 20)]
        )
        for x, kind in zip(table.columns, table.kinds, strict=True)
    )
    new = table_of(fresh, np.zeros(40, dtype=table.targets[0].dtype), kinds=table.kinds)
    rows = replace(new.dataset(), schema=table.schema(), targets=None)
    np.testing.assert_array_equal(tree.apply(rows), route(tree, new.columns, new.kinds))


def test_probes_beside_every_threshold() -> None:
    """A value equal to the threshold goes left, the next float goes right."""
    random = np.random.default_rng(0)
    x = random.normal(size=200)
    tree = table_of([x], (x * 7 % 1 > 0.5).astype(int)).grow("gini")
    inner = tree.threshold[~tree.is_leaf]
    probes = np.concatenate(
        [inner, np.nextafter(inner, np.inf), np.nextafter(inner, -np.inf), [np.inf, -np.inf]]
    )
    table = table_of([probes], np.zeros(len(probes), dtype=int))
    np.testing.assert_array_equal(tree.apply(table.dataset()), route(tree, [probes], ["number"]))


# ---- missing values ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["number", "category"])
@pytest.mark.parametrize("criterion", CLASSES)
def test_missing_as_the_only_signal(criterion: str, kind: str) -> None:
    """One known value and missing ones are two groups, not a constant column."""
    hole = -1 if kind == "category" else np.nan
    table = table_of([[3, 3, hole, hole, 3]], [0, 0, 1, 1, 0], kinds=[kind])
    tree = table.grow(criterion)
    assert tree.n_leaves == 2
    assert tree.risk[tree.is_leaf].sum() == 0
    if kind == "number":
        assert tree.threshold[0] == math.inf
        assert not tree.missing_left[0]
    np.testing.assert_array_equal(tree.apply(table.dataset()), route(tree, table.columns, table.kinds))


def test_missing_goes_to_the_better_side() -> None:
    y = [0, 0, 0, 1, 1, 1, 1]
    for hole in (0, 1):
        table = table_of([[1, 1, 1, 2, 2, 2, np.nan]], [*y[:-1], hole])
        tree = table.grow("gini")
        assert tree.n_leaves == 2
        assert tree.missing_left[0] == (hole == 0)


def test_missing_where_none_was_seen_goes_to_the_heavier_child() -> None:
    assert table_of([[1, 1, 2]], [0, 0, 1]).grow("gini").missing_left[0]
    assert not table_of([[1, 2, 2]], [0, 1, 1]).grow("gini").missing_left[0]
    assert table_of([[1, 2]], [0, 1]).grow("gini").missing_left[0]
    assert table_of([[1, 2, 2]], [0, 1, 1], weight=[5, 1, 1]).grow("gini").missing_left[0]


def test_a_column_of_missing_values_is_never_asked() -> None:
    table = table_of([[np.nan] * 4, [1, 2, 3, 4]], [0, 0, 1, 1])
    assert table.grow("gini").feature[0] == 1
    assert table_of([[np.nan] * 4], [0, 0, 1, 1]).grow("gini").n_nodes == 1


@pytest.mark.parametrize("order", ["C", "F", "reversed", "strided"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_array_for_all_columns(order: str, dtype: Any) -> None:
    """A 2-D array with any strides grows the tree of its columns."""
    random = np.random.default_rng(1)
    cells = random.normal(size=(120, 3)).astype(dtype)
    table = table_of(list(cells.T), (cells[:, 0] + cells[:, 2] ** 2 > 0.5).astype(int))
    array = {
        "C": np.ascontiguousarray(cells),
        "F": np.asfortranarray(cells),
        "reversed": np.ascontiguousarray(cells[::-1, ::-1])[::-1, ::-1],
        "strided": np.repeat(np.repeat(cells, 2, axis=0), 3, axis=1)[::2, ::3],
    }[order]
    array.flags.writeable = False
    one, two = table.grow("gini"), grow(replace(table.dataset(), columns=array), criterion="gini")
    for name in ("end", "feature", "threshold", "statistic", "step"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(
        two.apply(replace(table.dataset(), columns=array)), one.apply(table.dataset())
    )


@pytest.mark.parametrize("seed", range(20))
def test_a_random_cut_of_one_value_and_missing_ones(seed: int) -> None:
    """The only cut is between the known and the missing rows, and limits hold."""
    data = encode(np.array([[np.nan], [1], [1], [np.nan], [1], [1], [1.0]]), list("abbaabb"))
    tree = grow(data, splitter="random", random_state=seed)
    tree.check()
    assert tree.rows.tolist() == [7, 5, 2]
    assert grow(data, splitter="random", random_state=seed, min_samples_leaf=3).n_nodes == 1


def test_a_short_number_beside_a_long_threshold() -> None:
    """The float32 nearest to 0.1 lies above it and goes right, and the one below goes left."""
    tree = table_of([[0.1, math.nextafter(0.1, 1.0)]], [0, 1]).grow("gini")
    assert tree.threshold[0] == 0.1
    x = np.float32([0.1, np.nextafter(np.float32(0.1), np.float32(0)), -0.1, 0.2, np.inf, -np.inf])
    leaves = tree.apply(table_of([x], np.array([0, 1, 0, 1, 0, 1])).dataset())
    assert (leaves == 1).tolist() == [False, True, True, False, False, True]
