"""What must not matter: copies or weights, the order of rows, names of classes, scales, threads."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.checks import same_partition, same_structure, same_tree
from tests.oracle import CLASSES, NUMBERS
from tests.strategies import Table, limits, table_of, tables
from treewright import encode, grow

EVERY = [*CLASSES, *NUMBERS]
SWITCH: list[dict[str, int]] = [{}, {"_small_rows": 8}]
every_criterion = pytest.mark.parametrize("criterion", EVERY)
both_engines = pytest.mark.parametrize("switch", SWITCH, ids=str)
few = settings(max_examples=20)


def positive(table: Table, count: int) -> bool:
    """Whether the first rows alone still make a task (poisson needs a positive mean)."""
    return all(y[:count].sum() > 0 for y in table.targets) or table.targets[0].dtype.kind == "i"


# ---- weights and copies -----------------------------------------------------------------------


@pytest.mark.slow
@every_criterion
@both_engines
@few
@given(data=st.data())
def test_a_weight_is_a_number_of_copies(criterion: str, switch: dict[str, int], data: st.DataObject) -> None:
    table = data.draw(tables(criterion, weighted=False))
    weight = np.array(data.draw(st.lists(st.integers(1, 4), min_size=table.n_rows, max_size=table.n_rows)))
    heavy = table.weighted(weight).grow(criterion, **switch)
    copies = table.rows(np.repeat(np.arange(table.n_rows), weight)).grow(criterion, **switch)
    same_structure(heavy, copies)
    np.testing.assert_allclose(heavy.statistic, copies.statistic, rtol=1e-12, atol=1e-9 * heavy.risk[0])


@pytest.mark.slow
@every_criterion
@both_engines
@few
@given(data=st.data())
def test_a_row_of_weight_zero_is_absent(criterion: str, switch: dict[str, int], data: st.DataObject) -> None:
    table, limit = data.draw(tables(criterion, min_rows=4, weighted=False)), data.draw(limits())
    kept = data.draw(st.integers(2, table.n_rows))
    assume(positive(table, kept))
    shuffle = np.random.default_rng(kept).permutation(table.n_rows)
    weight = np.where(np.arange(table.n_rows) < kept, 1.0, 0.0)
    ghosts = table.weighted(weight).rows(shuffle)
    alive = table.rows(np.arange(kept)).weighted(np.ones(kept))
    a, b = ghosts.grow(criterion, **limit, **switch), alive.grow(criterion, **limit, **switch)
    if criterion in CLASSES and a.schema != b.schema:
        return  # the last class is gone, and its place in the statistic with it
    same_tree(a, b)


@pytest.mark.slow
@every_criterion
@both_engines
@few
@given(data=st.data())
def test_no_weights_are_weights_of_one(criterion: str, switch: dict[str, int], data: st.DataObject) -> None:
    table, limit = data.draw(tables(criterion, weighted=False)), data.draw(limits())
    ones = table.weighted(np.ones(table.n_rows))
    same_tree(table.grow(criterion, **limit, **switch), ones.grow(criterion, **limit, **switch))


@pytest.mark.slow
@every_criterion
@both_engines
@pytest.mark.parametrize("power", [-40, -1, 3, 40])
@settings(max_examples=12)
@given(data=st.data())
def test_scaling_all_weights(criterion: str, switch: dict[str, int], power: int, data: st.DataObject) -> None:
    table = data.draw(tables(criterion))
    weight = np.ones(table.n_rows) if table.weight is None else table.weight
    one = table.weighted(weight).grow(criterion, **switch)
    two = table.weighted(weight * 2.0**power).grow(criterion, **switch)
    same_structure(one, two)
    scale = np.full(one.statistic.shape[1], 2.0**power)
    if criterion in NUMBERS:
        scale[1::3] = 1  # the value of a node has no weight in it
    np.testing.assert_array_equal(one.statistic * scale, two.statistic)


@pytest.mark.slow
@every_criterion
@both_engines
@few
@given(data=st.data())
def test_doubling_all_rows(criterion: str, switch: dict[str, int], data: st.DataObject) -> None:
    table = data.draw(tables(criterion))
    twice = table.rows(np.tile(np.arange(table.n_rows), 2))
    same_structure(table.grow(criterion, **switch), twice.grow(criterion, **switch), order=False)


# ---- rows, columns, names ---------------------------------------------------------------------


@pytest.mark.slow
@every_criterion
@both_engines
@few
@given(data=st.data())
def test_order_of_rows(criterion: str, switch: dict[str, int], data: st.DataObject) -> None:
    """Equal to the bit, real weights and targets included."""
    table, limit = data.draw(tables(criterion)), data.draw(limits())
    shuffle = np.random.default_rng(data.draw(st.integers(0, 9))).permutation(table.n_rows)
    one, two = (
        table.grow(criterion, **limit, **switch),
        table.rows(shuffle).grow(criterion, **limit, **switch),
    )
    same_tree(one, two)


def real_table(criterion: str, n: int, seed: int = 0) -> Table:
    """Real numbers everywhere: columns, targets and weights."""
    random = np.random.default_rng(seed)
    x, z = random.normal(size=(2, n))
    codes = random.integers(-1, 7, n)
    signal = x + np.abs(z) + 0.5 * (codes % 2) + 0.5 * random.normal(size=n)
    y = np.digitize(signal, [0.5, 1.5]) if criterion in CLASSES else np.exp(signal)
    kinds = ["number", "number", "category", "number"]
    return table_of([x, z, codes, np.round(x - z, 1)], y, kinds=kinds, weight=random.gamma(2.0, size=n))


@every_criterion
@both_engines
def test_order_of_many_rows(criterion: str, switch: dict[str, int]) -> None:
    table = real_table(criterion, 1200)
    shuffle = np.random.default_rng(1).permutation(table.n_rows)
    one, two = (t.grow(criterion, min_samples_leaf=5, **switch) for t in (table, table.rows(shuffle)))
    same_tree(one, two)


@pytest.mark.slow
@pytest.mark.threads
@every_criterion
@pytest.mark.parametrize("rows", [300, 6000])
def test_number_of_threads(criterion: str, rows: int) -> None:
    table = real_table(criterion, rows)
    limit: dict[str, Any] = {"min_samples_leaf": 10, "_small_rows": 64 if rows == 300 else 1000}
    if criterion == "absolute_error":
        limit["max_depth"] = 4
    one = table.grow(criterion, n_jobs=1, **limit)
    for n_jobs in (2, 3, 5, None, -1):
        same_tree(one, table.grow(criterion, n_jobs=n_jobs, **limit))


@pytest.mark.threads
@every_criterion
def test_number_of_threads_with_random_choices(criterion: str) -> None:
    table = real_table(criterion, 300)
    for options in ({"max_features": 2}, {"splitter": "random"}):
        one = table.grow(criterion, n_jobs=1, random_state=7, _small_rows=32, **options)
        for n_jobs in (2, 3, 5):
            same_tree(one, table.grow(criterion, n_jobs=n_jobs, random_state=7, _small_rows=32, **options))


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_where_the_engine_changes_does_not_matter(criterion: str) -> None:
    table = real_table(criterion, 1500)
    trees = [table.grow(criterion, _small_rows=k) for k in (8, 100, 1000)]
    for tree in [*trees, table.grow(criterion)]:
        same_tree(trees[0], tree)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", CLASSES)
@few
@given(data=st.data())
def test_names_of_classes(criterion: str, data: st.DataObject) -> None:
    """Other codes, same questions (numbers only: tied subsets of categories may differ)."""
    table = data.draw(tables(criterion, only_numbers=True))
    count = [int(y.max()) + 1 for y in table.targets]
    renamed = tuple(
        np.array(data.draw(st.permutations(range(k))), dtype=np.int32)[y]
        for k, y in zip(count, table.targets, strict=True)
    )
    other = replace(table, targets=renamed)
    one, two = table.grow(criterion), other.grow(criterion)
    for name in ("end", "feature", "threshold", "missing_left", "rows"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


@pytest.mark.slow
@every_criterion
@both_engines
@few
@given(data=st.data())
def test_columns_that_say_nothing(criterion: str, switch: dict[str, int], data: st.DataObject) -> None:
    table, limit = data.draw(tables(criterion)), data.draw(limits())
    n = table.n_rows
    idle = (np.full(n, 7.0), np.full(n, np.nan), np.full(n, -1, np.int32), np.full(n, 2, np.int32))
    kinds = ("number", "number", "category", "category")
    more = replace(table, columns=idle + table.columns, kinds=kinds + table.kinds)
    one, two = table.grow(criterion, **limit, **switch), more.grow(criterion, **limit, **switch)
    np.testing.assert_array_equal(np.where(one.feature < 0, -1, one.feature + 4), two.feature)
    for name in ("end", "threshold", "step", "missing_left", "subsets", "statistic"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


# ---- scales -----------------------------------------------------------------------------------


@pytest.mark.slow
@every_criterion
@both_engines
@few
@given(data=st.data())
def test_monotone_change_of_a_column(criterion: str, switch: dict[str, int], data: st.DataObject) -> None:
    table, limit = data.draw(tables(criterion)), data.draw(limits())
    steps = data.draw(st.sampled_from([1.0, 1e-9, 1e6, 1e-300]))

    def ranks(x: np.ndarray) -> np.ndarray:
        distinct = np.unique(x[~np.isnan(x)])
        return np.where(np.isnan(x), np.nan, -3 * steps + steps * np.searchsorted(distinct, x) ** 2)

    columns = tuple(
        x if kind == "category" else ranks(x.astype(float))
        for x, kind in zip(table.columns, table.kinds, strict=True)
    )
    other = replace(table, columns=columns)
    one, two = table.grow(criterion, **limit, **switch), other.grow(criterion, **limit, **switch)
    seen = slice(None) if table.weight is None else table.weight > 0  # a row of weight 0 may lie in a gap
    same_partition(one, two, one.apply(table.dataset())[seen], two.apply(other.dataset())[seen])
    np.testing.assert_array_equal(one.statistic, two.statistic)


def test_single_and_double_precision_of_the_same_values() -> None:
    random = np.random.default_rng(0)
    cells = random.normal(size=(200, 3)).astype(np.float32)
    y = (cells.sum(axis=1) > 0).astype(int)
    same_tree(table_of(list(cells.T), y).grow("gini"), table_of(list(cells.astype(float).T), y).grow("gini"))


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@both_engines
@pytest.mark.parametrize("offset", [1e8, -1e8, 1e12])
@few
@given(data=st.data())
def test_shifted_target(criterion: str, switch: dict[str, int], offset: float, data: st.DataObject) -> None:
    table = data.draw(tables(criterion))
    targets = tuple(np.round(y % 17) for y in table.targets)
    one = replace(table, targets=targets).grow(criterion, **switch)
    two = replace(table, targets=tuple(y + offset for y in targets)).grow(criterion, **switch)
    same_structure(one, two, order=False)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", NUMBERS)
@both_engines
@pytest.mark.parametrize("factor", [1e-12, 1e12, 1e-150, 1e100, 2.0**-300, 2.0**300])
@few
@given(data=st.data())
def test_scaled_target(criterion: str, switch: dict[str, int], factor: float, data: st.DataObject) -> None:
    """A factor that rounds may decide between equally good subsets of categories; a power of two does not."""
    exact = math.frexp(factor)[0] == 0.5
    table = data.draw(tables(criterion, only_numbers=not exact))
    if criterion != "poisson":
        table = replace(table, targets=tuple(np.round(y % 17) for y in table.targets))
    one = table.grow(criterion, **switch)
    two = replace(table, targets=tuple(y * factor for y in table.targets)).grow(criterion, **switch)
    same_structure(one, two, order=exact)


# ---- hidden values ----------------------------------------------------------------------------


@pytest.mark.slow
@every_criterion
@both_engines
@few
@given(data=st.data())
def test_hiding_an_extreme_value_loses_nothing(
    criterion: str, switch: dict[str, int], data: st.DataObject
) -> None:
    """With the smallest (or largest) value missing every former division of the rows is still possible."""
    table = data.draw(tables(criterion, only_numbers=True))
    x = table.columns[0].astype(float)
    known = x[~np.isnan(x)]
    assume(len(known) == len(x))
    extreme = known.min() if data.draw(st.booleans()) else known.max()
    seen = replace(table, columns=(x,), kinds=("number",))
    hidden = replace(seen, columns=(np.where(x == extreme, math.nan, x),))
    before, after = (t.grow(criterion, max_depth=1, **switch) for t in (seen, hidden))
    assert after.gain[0] >= before.gain[0] - 1e-12 * before.risk[0]
    assert after.n_leaves == before.n_leaves


@pytest.mark.parametrize("criterion", EVERY)
def test_hiding_everything_leaves_a_leaf(criterion: str) -> None:
    table = real_table(criterion, 50)
    hidden = replace(
        table, columns=(np.full(50, np.nan), np.full(50, -1, np.int32)), kinds=("number", "category")
    )
    assert hidden.grow(criterion).n_nodes == 1


@pytest.mark.parametrize("criterion", EVERY)
@pytest.mark.parametrize(
    "limit", [{"min_samples_leaf": 40}, {"min_weight_fraction_leaf": 33 / 1800}], ids=str
)
@pytest.mark.parametrize("seed", range(4))
def test_limits_on_leaves_hold_on_both_engines(criterion: str, limit: dict[str, Any], seed: int) -> None:
    """Where a limit refuses a bin's border, the best legal cut may lie inside the bin, beside it."""
    random = np.random.default_rng(seed)
    x = np.round(random.normal(size=(600, 3)), 2)
    noise = random.random(600) < 0.1
    y = ((x[:, 0] + x[:, 1] * x[:, 2] > 0.3) ^ noise).astype(int) + (x[:, 2] > 1) * (seed % 2)
    spread = np.repeat(x, 3, axis=0) + 1e-6 * random.random((1800, 3))
    data = encode(spread, np.repeat(y, 3) + 1.0, classes=criterion in CLASSES)
    trees = [grow(data, criterion=criterion, max_depth=3, _small_rows=k, **limit) for k in (50, 10**6)]
    assert trees[0] == trees[1]


# ---- tables of many rows ----------------------------------------------------------------------


def many_rows(n: int, seed: int, *, outputs: int, weighted: bool = False) -> Table:
    """Smooth and clustered numbers, holes, many categories; so many classes, 0 for a number."""
    random = np.random.default_rng(seed)
    smooth = random.normal(size=n)
    cluster = np.where(random.random(n) < 0.02, random.standard_cauchy(n), 1 + 1e-9 * random.random(n))
    single = random.gamma(2.0, size=n).astype(np.float32)
    codes = random.integers(0, 300, n)
    signal = smooth**2 + (cluster > 1 + 4e-10) + np.log(single) + 0.02 * (codes % 37) + random.normal(size=n)
    smooth[random.random(n) < 0.03] = np.nan
    codes[random.random(n) < 0.03] = -1
    y = np.digitize(signal, np.quantile(signal, np.arange(1, outputs) / outputs)) if outputs else signal
    weight = random.integers(1, 5, n) if weighted else None
    kinds = ["number"] * 4 + ["category"]
    columns = [smooth, cluster, single, np.floor(3 * smooth + random.random(n)), codes]
    return table_of(columns, y, kinds=kinds, weight=weight, categories=300)


@pytest.mark.threads
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("criterion", "outputs"), [("gini", 2), ("gini", 3), ("squared_error", 0)])
def test_lists_and_histograms_grow_one_tree(criterion: str, outputs: int, weighted: bool) -> None:
    """Nodes by histograms, excerpts of the table and long lists, against lists alone; one thread or three."""
    table = many_rows(36_000, 1, outputs=outputs, weighted=weighted)
    wanted = table.grow(criterion, max_depth=6, _small_rows=10**6)
    assert wanted.n_leaves > 50
    for n_jobs in (1, 3):
        tree = table.grow(criterion, max_depth=6, n_jobs=n_jobs)
        same_structure(wanted, tree)
        np.testing.assert_array_equal(wanted.rows, tree.rows)
        np.testing.assert_allclose(wanted.statistic, tree.statistic, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("draws", [{}, {"max_features": 2, "random_state": 3}], ids=str)
@pytest.mark.parametrize(
    ("criterion", "outputs"),
    [("gini", 4), ("entropy", 3), ("gain_ratio", 3), ("sqrt", 2), ("error", 3), ("squared_error", 0)],
)
def test_every_engine_grows_one_tree(criterion: str, outputs: int, draws: dict[str, int]) -> None:
    """Histograms down to few rows, in excerpts of the table, against lists alone; also with columns drawn."""
    table = many_rows(9_000, 2, outputs=outputs)
    table = replace(table, columns=table.columns[:4], kinds=table.kinds[:4])
    wanted = table.grow(criterion, max_depth=7, _small_rows=10**6, **draws)
    assert wanted.n_leaves > 20
    same_structure(wanted, table.grow(criterion, max_depth=7, _small_rows=200, **draws))


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_more_open_bins_than_are_held_at_once(criterion: str) -> None:
    """Bins are made of every eighth row, all zero there: the others share one bin in each of the columns."""
    random = np.random.default_rng(0)
    x = random.random((36_000, 36)).astype(np.float32)
    x[::8] = 0
    y = (random.random(len(x)) < 0.4 + 0.1 * (x[:, 0] < 0.3217)).astype(int)
    data = encode(x, y, classes=criterion in CLASSES)
    one, two = (grow(data, criterion=criterion, max_depth=1, _small_rows=k) for k in (0, 10**6))
    assert one.feature[0] == 0
    same_tree(one, two)


@both_engines
@pytest.mark.parametrize(
    ("y", "holes", "threshold", "missing_left"),
    [
        (np.repeat([0, 1], 2048), [0, 1], 2047.5, True),  # the holes left or right: as good, so left
        (
            np.repeat([0, 1, 0], [1500, 1096, 1500]),
            [1, 1],
            1499.5,
            False,
        ),  # the mirror image is further right
    ],
    ids=["side", "mirror"],
)
def test_ties_inside_a_bin(
    switch: dict[str, int], y: Any, holes: Any, threshold: float, missing_left: bool
) -> None:
    """Bins are made of every fourth row, which hold the lowest values: the others share one bin."""
    row = np.argsort(np.arange(4096) % 4, kind="stable")
    x, target = np.empty(4096), np.empty(4096, int)
    x[row], target[row] = np.arange(4096), y
    table = table_of([[*x, np.nan, np.nan]], np.array([*target, *holes]))
    tree = table.grow("gini", max_depth=1, **switch)
    assert (tree.threshold[0], tree.missing_left[0]) == (threshold, missing_left)


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@pytest.mark.parametrize("sign", [1, -1])
def test_values_beyond_those_that_bins_are_made_of(criterion: str, sign: int) -> None:
    """Bins are made of every third row; the extreme values, and the cut among them, lie in the others."""
    rank = np.arange(4096)
    unseen = np.flatnonzero(rank % 3 == 1)
    row = np.concatenate([unseen[:200], np.flatnonzero(rank % 3 != 1), unseen[200:]])
    x = np.empty(4096)
    x[row] = rank
    table = table_of([sign * x, np.zeros(4096)], (x < 77).astype(int if criterion in CLASSES else float))
    tree = table.grow(criterion, _small_rows=8)
    assert tree.n_leaves == 2
    assert tree.threshold[0] == 76.5 * sign


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("criterion", "outputs"), [("gini", 2), ("gini", 3), ("squared_error", 0)])
def test_lists_alone_and_histograms_alone(criterion: str, outputs: int, weighted: bool) -> None:
    """To the last row, with many holes and limits."""
    for seed in range(16):
        table = many_rows(40 + 40 * seed, seed, outputs=outputs, weighted=weighted)
        random = np.random.default_rng(seed)
        holes = [np.where(random.random(table.n_rows) < 0.3, np.nan, x) for x in table.columns[:4]]
        table = replace(table, columns=tuple(holes), kinds=table.kinds[:4])
        limit = {"min_samples_leaf": 1 + seed % 4 * 3}
        one, two = (table.grow(criterion, _small_rows=k, **limit) for k in (1, 10**6))
        same_structure(one, two, order=False)


@both_engines
@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@pytest.mark.parametrize("weighted", [False, True])
def test_gains_that_differ_in_the_tenth_digit(criterion: str, weighted: bool, switch: dict[str, int]) -> None:
    """A quick look must not lose the better of two columns."""
    n, ones = 3001, 1259
    random = np.random.default_rng(0)
    left, of_them = random.integers(1000, 2000, 500_000), random.integers(100, 1200, 500_000)
    possible = (of_them < left) & (left - of_them < n - ones)
    left, of_them = left[possible], of_them[possible]
    gain = (n * of_them - ones * left) ** 2 / (left * (n - left))
    order = np.argsort(gain)
    step = np.diff(gain[order]) / np.maximum(gain[order][1:], 1e-9)
    close = np.flatnonzero((step > 1e-11) & (step < 5e-10) & (gain[order][1:] > 1))[:40]
    assert len(close) > 10
    y = np.repeat([0, 1], [n - ones, ones]).astype(int if criterion in CLASSES else float)
    place = np.concatenate([np.arange(n - ones), np.arange(ones)])
    for k in close:
        cuts = [
            np.where(y == 1, place >= of_them[i], place >= left[i] - of_them[i]) for i in order[[k, k + 1]]
        ]
        tree = table_of(cuts, y, weight=np.full(n, 3.0) if weighted else None).grow(
            criterion, max_depth=1, **switch
        )
        assert tree.feature[0] == 1


@both_engines
@pytest.mark.parametrize("weighted", [False, True])
def test_a_nearly_perfect_column_does_not_end_the_search(switch: dict[str, int], weighted: bool) -> None:
    y = np.repeat([0, 1], 1000)
    nearly = y.copy()
    nearly[0] = 1
    table = table_of([nearly, y], y, weight=np.full(2000, 3.0) if weighted else None)
    tree = table.grow("gini", **switch)
    assert (tree.feature[0], tree.n_leaves) == (1, 2)


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_first_and_the_last_bin_may_hide_the_best_cut(criterion: str, sign: int) -> None:
    """Bins are made of every fourth row; 300 others lie beyond and cancel out but for the cut among them."""
    beyond = np.flatnonzero(np.arange(4096) % 4)[:300]
    row = np.concatenate([beyond, np.setdiff1d(np.arange(4096), beyond)])
    x, target, rival = np.empty(4096), np.empty(4096), np.empty(4096)
    x[row], target[row] = np.arange(4096), np.repeat([1, -1, 0], [150, 150, 3796])
    rival[row] = (np.arange(4096) < 150) | (np.arange(4096) >= 4046)
    y = (target + 1).astype(int if criterion in CLASSES else float)
    one, two = (
        table_of([rival, sign * x], y).grow(criterion, max_depth=1, _small_rows=k) for k in (8, 10**6)
    )
    same_structure(one, two)
    assert criterion in CLASSES or (one.feature[0], one.threshold[0]) == (1, 149.5 * sign)
