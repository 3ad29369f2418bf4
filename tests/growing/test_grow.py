"""Growing against the oracle: every criterion, kind of column, weight and limit, both engines of the core."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.checks import check_risk, check_tree, criteria, same_structure, same_tree
from tests.comparison import compare
from tests.oracle import CLASSES, NUMBERS, readable
from tests.strategies import HUGE, TINY, Table, limits, table_of, tables
from treewright import encode
from treewright.growing import grow

EVERY = [*CLASSES, *NUMBERS]
SWITCH: list[dict[str, int]] = [{}, {"_small_rows": 8}, {"_small_rows": 32}]  # from lists to histograms


def test_every_criterion_is_judged() -> None:
    assert criteria("classes") == sorted(CLASSES)
    assert criteria("numbers") == sorted(NUMBERS)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", criteria("classes"))
@given(data=st.data())
def test_laws_of_risk(criterion: str, data: st.DataObject) -> None:
    rows, classes = data.draw(st.integers(1, 4)), data.draw(st.integers(2, 6))
    cell = st.one_of(
        st.integers(0, 9).map(float), st.floats(0, 1e6, allow_subnormal=False).map(lambda w: round(w, 6))
    )
    two = st.lists(cell, min_size=2 * rows * classes, max_size=2 * rows * classes)
    a, b = np.array(data.draw(two)).reshape(2, rows, classes)
    assume((a.sum(axis=1) > 0).all())
    assume((b.sum(axis=1) > 0).all())
    check_risk(criterion, a, b, data.draw(st.sampled_from([2.0, 3.0, 0.1, 1e6, 2.0**-30])))


# ---- the oracle -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("switch", SWITCH, ids=str)
@pytest.mark.parametrize("criterion", EVERY)
@given(data=st.data())
def test_small_tables(criterion: str, switch: dict[str, int], data: st.DataObject) -> None:
    """Anything that hypothesis can think of, with any limits."""
    table, limit = data.draw(tables(criterion, spread=True)), data.draw(limits())
    tree = table.grow(criterion, **limit, **switch)
    check_tree(tree)
    compare(tree, table.growth(criterion, **limit))


@pytest.mark.slow
@pytest.mark.parametrize("switch", SWITCH, ids=str)
@pytest.mark.parametrize("criterion", EVERY)
@settings(max_examples=12)
@given(data=st.data())
def test_tables_of_some_size(criterion: str, switch: dict[str, int], data: st.DataObject) -> None:
    """Enough rows to make the core change its engine within one tree."""
    table = data.draw(tables(criterion, min_rows=40, max_rows=70, spread=True))
    limit = data.draw(limits(budget=False))
    compare(table.grow(criterion, **limit, **switch), table.growth(criterion, **limit))


def big_table(criterion: str, n: int, seed: int, *, holes: float = 0.0, weighted: bool = False) -> Table:
    """More distinct values than bins: a smooth column, one with ties, one with a cluster, and categories."""
    random = np.random.default_rng(seed)
    smooth, ties = random.normal(size=n), random.integers(0, 1000, n).astype(float)
    tails = np.where(random.random(n) < 0.9, 1 + 1e-7 * random.random(n), random.standard_cauchy(n))
    codes = random.integers(0, 6, n)
    signal = (
        smooth + 0.004 * ties + np.where(tails > 1 + 5e-8, 1.5, 0) + 0.7 * (codes % 3) + random.normal(size=n)
    )
    columns = [smooth, ties, tails]
    for x in columns:
        x[random.random(n) < holes] = np.nan
    codes[random.random(n) < holes] = -1
    if criterion in CLASSES:
        y = np.digitize(signal, np.quantile(signal, [0.3, 0.7] if seed % 2 else [0.6]))
    else:
        y = np.abs(np.round(signal * 4))
    weight = random.integers(0, 4, n).astype(float) if weighted else None
    return table_of([*columns, codes], y, kinds=["number"] * 3 + ["category"], weight=weight, categories=6)


@pytest.mark.slow
@pytest.mark.parametrize("switch", SWITCH, ids=str)
@pytest.mark.parametrize("criterion", EVERY)
@pytest.mark.parametrize(
    ("seed", "holes", "weighted"), [(0, 0.0, False), (1, 0.1, False), (2, 0.0, True), (3, 0.02, True)]
)
def test_more_values_than_bins(
    criterion: str, switch: dict[str, int], seed: int, holes: float, weighted: bool
) -> None:
    """Bins must be refined: the tree is the exact one whatever the bins are."""
    table = big_table(criterion, 700, seed, holes=holes, weighted=weighted)
    limit = {"max_depth": 3, "min_samples_leaf": 1 + 3 * (seed % 2)}
    compare(table.grow(criterion, **limit, **switch), table.growth(criterion, exact=False, **limit))


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "gain_ratio"])
def test_large_tables(criterion: str) -> None:
    """Large enough for the core's histograms without a nudge."""
    table = big_table(criterion, 10_000, 3, holes=0.01, weighted=True)
    limit = {"max_depth": 2, "max_leaf_nodes": 4}
    compare(table.grow(criterion, **limit), table.growth(criterion, exact=False, **limit))


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("switch", SWITCH, ids=str)
def test_continuous_target(criterion: str, switch: dict[str, int]) -> None:
    """A target with as many values as rows, and real weights."""
    random = np.random.default_rng(5)
    x, z = random.normal(size=(2, 300))
    y = np.exp(x + 0.3 * random.normal(size=300))
    table = table_of([x, z, np.round(z, 1)], y, weight=random.gamma(1.0, size=300))
    limit = {"max_depth": 4, "min_weight_leaf": 3.0}
    compare(table.grow(criterion, **limit, **switch), table.growth(criterion, exact=False, **limit))


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
@pytest.mark.parametrize("switch", SWITCH, ids=str)
@pytest.mark.parametrize("outlier", [1e6, 1e9, 1e12])
def test_an_outlier_does_not_blur_its_neighbours(
    criterion: str, switch: dict[str, int], outlier: float
) -> None:
    """Value and risk of a leaf are as exact as its own rows allow, whatever went to the other side."""
    y = [outlier] + [0.1, 0.7, 0.1] * 20
    tree = table_of([range(61)], y).grow(criterion, max_depth=1, **switch)
    alone = table_of([range(60)], y[1:]).grow(criterion, max_depth=0)
    assert tree.value[2, 0] == pytest.approx(0.3, rel=1e-12)
    assert tree.risk[2] == pytest.approx(alone.risk[0], rel=1e-12)


# ---- best first -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("criterion", EVERY)
@settings(max_examples=15)
@given(data=st.data())
def test_sequences_are_nested(criterion: str, data: st.DataObject) -> None:
    """The tree of k splits is the full tree without the later ones; k splits are k + 1 leaves."""
    table, limit = data.draw(tables(criterion)), data.draw(limits(budget=False))
    full = table.grow(criterion, **limit)
    for k in range(full.n_leaves + 1):
        tree = table.grow(criterion, max_leaf_nodes=k + 1, **limit)
        assert tree.n_leaves == min(k + 1, full.n_leaves)
        cut = full.collapse(np.flatnonzero(full.step >= k))
        same_structure(tree, cut)
        np.testing.assert_allclose(tree.statistic, cut.statistic, rtol=1e-12, atol=1e-12 * full.risk[0])
        if k >= 1:
            same_tree(tree, table.grow(criterion, max_leaf_nodes=k + 1, **limit))
    assert table.grow(criterion, max_leaf_nodes=1, **limit).n_nodes == 1


@pytest.mark.parametrize("criterion", criteria("classes"))
@pytest.mark.parametrize("switch", SWITCH, ids=str)
def test_xor_is_solved_at_depth_two(criterion: str, switch: dict[str, int]) -> None:
    one, two = np.tile([0, 0, 1, 1], 30), np.tile([0, 1, 0, 1], 30)
    tree = table_of([one, two], one ^ two).grow(criterion, max_depth=2, **switch)
    assert (tree.n_leaves, tree.depth) == (4, 2)
    assert tree.risk[tree.is_leaf].sum() == 0


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_xor_of_numbers(criterion: str) -> None:
    tree = table_of([[0, 0, 1, 1], [0, 1, 0, 1]], [1.0, 3.0, 3.0, 1.0]).grow(criterion, max_depth=2)
    assert tree.n_leaves == 4
    assert tree.risk[tree.is_leaf].sum() == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("criterion", criteria("classes"))
def test_zero_gain_is_enough_unless_a_minimum_is_asked_for(criterion: str) -> None:
    table = table_of([[0, 0, 1, 1], [0, 1, 0, 1]], [0, 1, 1, 0])
    assert table.grow(criterion, min_gain=0.0).n_leaves == 4
    assert table.grow(criterion, min_gain=1e-9).n_leaves == 1


def test_minimum_gain_is_inclusive() -> None:
    table = table_of([[1, 2, 3, 4]], [0, 0, 1, 1])
    assert table.grow("gini", min_gain=2.0).n_leaves == 2
    assert table.grow("gini", min_gain=math.nextafter(2.0, 3.0) + 1e-9).n_leaves == 1


def test_ties_go_to_the_lower_column_then_threshold_then_left() -> None:
    x = [1, 2, 3, 4]
    assert table_of([[5, 5, 5, 5], x, x], [0, 0, 1, 1]).grow("gini").feature[0] == 1
    assert table_of([x], [0, 1, 0, 1]).grow("gini", max_depth=1).threshold[0] == 1.5  # as good as 3 | 4
    tree = table_of([[1, 1, 2, 2, np.nan, np.nan]], [0, 0, 1, 1, 0, 1]).grow("gini", max_depth=1)
    assert tree.threshold[0] == 1.5
    assert tree.missing_left[0]


@pytest.mark.parametrize("switch", SWITCH, ids=str)
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_of_two_equal_leaves_the_left_one_is_split_first(criterion: str, switch: dict[str, int]) -> None:
    one, two = np.tile([0, 0, 1, 1], 30), np.tile([0, 1, 0, 1], 30)
    tree = table_of([one, two], 2 * one + two).grow(criterion, max_leaf_nodes=3, **switch)
    assert tree.feature.tolist() == [0, 1, -1, -1, -1]


@pytest.mark.parametrize("switch", SWITCH, ids=str)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio", "squared_error"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_mirrored_column_is_never_asked(criterion: str, switch: dict[str, int], weighted: bool) -> None:
    """-x divides the rows as x does and comes later: an exact tie at every node."""
    random = np.random.default_rng(0)
    x, z, noise = random.normal(size=(3, 800))
    signal = x + np.abs(z) + 0.5 * noise
    y = np.digitize(signal, [0.5, 1.5]) if criterion in CLASSES else np.exp(signal)
    table = table_of([x, z, -x, -z], y, weight=random.gamma(2.0, size=800) if weighted else None)
    assert table.grow(criterion, **switch).feature.max() == 1


# ---- thresholds -------------------------------------------------------------------------------

GAPS = [
    (1.0, math.nextafter(1.0, 2.0)), (math.nextafter(1.0, 0.0), 1.0), (math.nextafter(HUGE, 0.0), HUGE),
    (-HUGE, HUGE), (1e308, HUGE), (-HUGE, -1e308), (0.0, TINY), (-TINY, 0.0), (-TINY, TINY), (TINY, 2 * TINY),
    (-0.0, 1.0), (-math.inf, math.inf), (-math.inf, -HUGE), (HUGE, math.inf), (3.0, math.inf),
    (-math.inf, 0.0), (0.1, 0.3), (0.3, 0.1 + 0.2), (2.0**53, 2.0**53 + 2), (16777216.0, 16777217.0),
    (0.1, 0.11), (9.99, 10.01), (1.7e9, 1.7e9 + 1e-6), (1e-310, 2e-310), (1e22, 1.1e22), (-2.7273, -2.7222),
    (123456.7, 123456.8),
]  # fmt: skip


@pytest.mark.parametrize("style", ["readable", "midpoint"])
@pytest.mark.parametrize(("lo", "hi"), GAPS)
def test_threshold_lies_in_the_gap(lo: float, hi: float, style: str) -> None:
    check_gap(lo, hi, style)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.floats(allow_nan=False), st.floats(allow_nan=False), st.sampled_from(["readable", "midpoint"]))
def test_threshold_lies_in_any_gap(a: float, b: float, style: str) -> None:
    assume(a != b)
    check_gap(min(a, b), max(a, b), style)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.integers(-(10**6), 10**6), st.integers(1, 2000), st.integers(-8, 8), st.integers(0, 3))
def test_readable_thresholds_of_decimals(k: int, width: int, exponent: int, ulps: int) -> None:
    """Ends that are short decimals themselves, or a little beside them."""
    lo, hi = float(f"{k}e{exponent}"), float(f"{k + width}e{exponent}")
    for _ in range(ulps):
        lo, hi = math.nextafter(lo, -math.inf), math.nextafter(hi, math.inf)
    check_gap(lo, hi, "readable")


def check_gap(lo: float, hi: float, style: str) -> None:
    tree = table_of([[hi, lo, lo, hi]], [1, 0, 0, 1]).grow("gini", threshold=style)
    assert tree.n_leaves == 2
    threshold = float(tree.threshold[0])
    assert lo <= threshold < hi
    assert tree.statistic[1:].tolist() == [[2, 0], [0, 2]]
    if math.isfinite(lo) and math.isfinite(hi):
        middle = lo / 2 + hi / 2
        wanted = readable(lo, hi) if style == "readable" else middle if lo <= middle < hi else lo
        assert threshold == wanted


@pytest.mark.slow
@pytest.mark.parametrize("criterion", EVERY)
@settings(max_examples=20)
@given(data=st.data())
def test_styles_of_threshold_divide_the_rows_alike(criterion: str, data: st.DataObject) -> None:
    table = data.draw(tables(criterion))
    one, two = (table.grow(criterion, threshold=style) for style in ("readable", "midpoint"))
    np.testing.assert_array_equal(one.feature, two.feature)
    np.testing.assert_array_equal(one.statistic, two.statistic)
    seen = slice(None) if table.weight is None else table.weight > 0  # a row of weight 0 may lie in a gap
    np.testing.assert_array_equal(one.apply(table.dataset())[seen], two.apply(table.dataset())[seen])


# ---- limits that take a random stream ---------------------------------------------------------


@pytest.mark.parametrize("criterion", ["gini", "gain_ratio", "squared_error"])
def test_random_choices_are_legal_and_repeatable(criterion: str) -> None:
    """Few columns per node or random thresholds: still a tree to purity, the same one for the same seed."""
    table = big_table(criterion, 150, 1, holes=0.05)
    for options in ({"max_features": 1}, {"max_features": 2}, {"splitter": "random"}):
        trees = [table.grow(criterion, random_state=seed, **options) for seed in (0, 0, 1)]
        same_tree(trees[0], trees[1])
        assert not np.array_equal(trees[0].feature, trees[2].feature)
        for tree in trees:
            check_tree(tree)
            assert tree.risk[tree.is_leaf].max() <= 1e-12 * tree.risk[0]


def test_every_column_drawn_is_every_column() -> None:
    table = big_table("gini", 150, 1)
    same_tree(table.grow("gini", max_features=4, random_state=3), table.grow("gini"))


def test_drawing_goes_on_until_a_column_can_be_split() -> None:
    constant = np.zeros(10)
    table = table_of([constant] * 9 + [np.arange(10)], np.arange(10) % 2)
    for seed in range(5):
        assert table.grow("gini", max_features=1, random_state=seed).n_leaves == 10


# ---- the door ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"criterion": "ginni"}, "ginni"),
        ({"criterion": "squared_error"}, "squared_error"),
        ({"splitter": "worst"}, "worst"),
        ({"threshold": "middle"}, "middle"),
        ({"max_depth": -1}, "max_depth"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"min_weight_fraction_leaf": 0.6}, "min_weight_fraction_leaf"),
        ({"min_impurity_decrease": math.nan}, "min_impurity_decrease"),
        ({"max_leaf_nodes": 0}, "max_leaf_nodes"),
        ({"max_leaf_nodes": 0}, "max_leaf_nodes=0 is not possible; it must be an int >= 1, or None"),
        ({"max_features": 0}, "max_features"),
    ],
    ids=str,
)
def test_wrong_parameters_are_named(wrong: dict[str, Any], named: str) -> None:
    table = table_of([[1, 2, 3]], [0, 1, 1])
    with pytest.raises(ValueError, match=named):
        grow(table.dataset(), **wrong)


def test_defaults_by_target() -> None:
    assert grow(table_of([[1, 2]], [0, 1]).dataset()).criterion == "gini"
    assert grow(table_of([[1, 2]], [0.5, 1.5]).dataset()).criterion == "squared_error"
    table = big_table("gini", 100, 1)
    same_structure(table.grow("log_loss"), table.grow("entropy"))


@pytest.mark.parametrize("limits", [{}, {"max_leaf_nodes": 60}, {"max_features": 2}, {"max_depth": 4}])
@pytest.mark.parametrize(
    ("n_classes", "weighted"), [(2, False), (2, True), (40, False), (40, True), (0, False)]
)
def test_several_threads_grow_the_tree_of_one(n_classes: int, weighted: bool, limits: dict[str, int]) -> None:
    """Rows enough to be shared: they are divided by histograms that one thread would do without."""
    random = np.random.default_rng(0)
    table = random.normal(size=(40_000 if n_classes == 2 else 15_000, 5)).round(2)
    score = table[:, 0] * table[:, 1] + random.normal(size=len(table))
    target = np.digitize(score, np.linspace(-2, 2, n_classes - 1)) if n_classes else score.round(3)
    weight = random.exponential(size=len(table)) if weighted else None
    data = encode(table, target, weight=weight, classes=n_classes > 0)
    tree = grow(data, **limits, n_jobs=1)
    for n_jobs in (2, 5):
        same_tree(tree, grow(data, **limits, n_jobs=n_jobs))


@pytest.mark.slow
@pytest.mark.parametrize("limits", [{}, {"max_leaf_nodes": 300}])
def test_progress_rises_and_can_stop_the_growing(limits: dict[str, int]) -> None:
    random = np.random.default_rng(0)
    table = random.normal(size=(200_000, 10))
    data = encode(table, random.integers(0, 2, len(table)))
    shares: list[float] = []
    tree = grow(data, **limits, progress=shares.append)
    assert shares == sorted(shares)
    assert len(shares) > 0
    assert 0 <= shares[0] <= shares[-1] <= 1
    assert grow(data, **limits, n_jobs=2) == tree

    def enough(share: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        grow(data, **limits, progress=enough)
