"""Columns chosen by tests: p-values against brute force and scipy, and no preference for many values."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import chi2, chi2_contingency, pearsonr

from treewright import ConditionalInference, DecisionTreeClassifier, DecisionTreeRegressor, encode, grow
from treewright.growing.conditional_inference import (
    association,
    log_p_value,
    log_p_values,
    pearson,
    two_sample_p_values,
)


def quadratic_form(g: np.ndarray, h: np.ndarray) -> tuple[float, int]:
    """The statistic by its definition: the mean and covariance of Σ g(x) h(y) over all orders of y."""
    totals = np.array([(g.T @ h[list(order)]).ravel() for order in permutations(range(len(h)))])
    mean, spread = totals.mean(axis=0), np.cov(totals.T, bias=True).reshape(totals.shape[1], -1)
    off = (g.T @ h).ravel() - mean
    return float(off @ np.linalg.pinv(spread, rcond=1e-9) @ off), int(np.linalg.matrix_rank(spread, tol=1e-9))


def one_hot(codes: np.ndarray) -> np.ndarray:
    return (codes[:, np.newaxis] == np.unique(codes)).astype(float)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kinds", ["nn", "nc", "cn", "cc"])
def test_statistics_are_those_over_all_orders(kinds: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 6
    numbers, codes = rng.normal(size=(2, n)).round(1), np.array([0, 0, 1, 1, 2, 2], np.int32)
    x = numbers[0] if kinds[0] == "n" else rng.permutation(codes)
    y = numbers[1] if kinds[1] == "n" else rng.permutation(codes)
    g = x[:, np.newaxis] if kinds[0] == "n" else one_hot(x)
    h = y[:, np.newaxis] if kinds[1] == "n" else one_hot(y)
    statistic, freedom = association(x, y, np.ones(n), 0 if kinds[1] == "n" else 3)
    wanted, rank = quadratic_form(g, h)
    assert statistic == pytest.approx(wanted, rel=1e-9)
    assert freedom == rank


def test_p_values_are_those_of_scipy() -> None:
    rng = np.random.default_rng(1)
    table = rng.integers(1, 30, (4, 3)).astype(float)
    found = chi2_contingency(table, correction=False)
    assert pearson(table) == (pytest.approx(found.statistic), found.dof)
    assert np.exp(log_p_value(found.statistic, found.dof)) == pytest.approx(found.pvalue)
    pair = two_sample_p_values(table[:1], table[1:2])[0]
    assert pair == pytest.approx(chi2_contingency(table[:2], correction=False).pvalue)
    x, y = rng.normal(size=(2, 50))
    assert association(x, y, np.ones(50), 0)[0] == pytest.approx(49 * pearsonr(x, y).statistic ** 2)


@pytest.mark.parametrize("freedom", [2, 4, 10, 200])
def test_logarithms_go_on_where_p_values_end(freedom: int) -> None:
    for value in (0.1, 5.0, 300.0, 900.0):
        assert log_p_value(value, freedom) == pytest.approx(chi2.logsf(value, freedom), rel=1e-9)
    for value in (3000.0, 1e5):  # of even degrees of freedom it is e^-x Σ x^k / k!
        k = np.arange(freedom // 2)
        wanted = logsumexp(k * np.log(value / 2) - gammaln(k + 1)) - value / 2
        assert log_p_value(value, freedom) == pytest.approx(wanted, rel=1e-12)


def test_the_p_value_of_a_permutation_test_is_near() -> None:
    rng = np.random.default_rng(3)
    n = 120
    x = rng.normal(size=n)
    y = (x + 4 * rng.normal(size=n) > 0).astype(int)
    statistic, freedom = association(x, y, np.ones(n), 2)
    shuffled = [association(x, rng.permutation(y), np.ones(n), 2)[0] for _ in range(2000)]
    share = np.mean(np.array(shuffled) >= statistic)
    assert np.exp(log_p_value(statistic, freedom)) == pytest.approx(share, abs=0.03)


def test_weights_count_rows_and_missing_values_are_left_out() -> None:
    rng = np.random.default_rng(4)
    n = 40
    weight = rng.integers(0, 4, n).astype(float)
    x, c = rng.normal(size=n), rng.integers(0, 3, n).astype(np.int32)
    for column in (x, c):
        for y, k in ((rng.normal(size=n), 0), (rng.integers(0, 3, n), 3)):
            times = weight.astype(int)
            repeated = np.repeat(column, times), np.repeat(y, times), np.ones(times.sum())
            assert association(column, y, weight, k) == pytest.approx(association(*repeated, k))
            gone = column.copy()
            gone[:10] = np.nan if column is x else -1
            kept = association(column[10:], y[10:], weight[10:], k)
            assert association(gone, y, weight, k) == pytest.approx(kept)


def test_a_column_that_does_not_vary_is_no_candidate() -> None:
    data = encode({"a": [1.0] * 20, "b": ["x"] * 20, "c": np.arange(20.0)}, np.arange(20) // 10)
    chances = log_p_values(data)
    assert chances[0] == chances[1] == 0.0
    statistic, freedom = association(np.arange(20.0), np.arange(20) // 10, np.ones(20), 2)
    assert chances[2] == pytest.approx(log_p_value(statistic, freedom))  # no factor for the others
    assert association(np.array([np.inf, 1.0, 2.0, -np.inf]), np.array([0, 1, 0, 1]), np.ones(4), 2)[1] == 1


@pytest.mark.slow
def test_noise_chooses_each_column_as_often() -> None:
    """Plain gain prefers columns with many values; the test does not."""
    n, rounds = 60, 300
    chosen = {"test": np.zeros(4), "gain": np.zeros(4)}
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        table = {
            "binary": rng.integers(0, 2, n).astype(float),
            "number": rng.normal(size=n),
            "few": rng.choice(list("abc"), n),
            "many": rng.choice(list("abcdefghijkl"), n),
        }
        data = encode(table, rng.integers(0, 2, n))
        chosen["gain"][grow(data, max_leaf_nodes=2, category_gain="plain").feature[0]] += 1
        chosen["test"][grow(data, max_leaf_nodes=2, selection=ConditionalInference(1.0)).feature[0]] += 1
    assert chosen["test"].sum() == rounds
    assert chi2.sf(((chosen["test"] - rounds / 4) ** 2 / (rounds / 4)).sum(), 3) > 0.001
    assert chosen["gain"][3] > 0.8 * rounds  # twelve categories: thousands of subsets to choose from
    assert chosen["gain"][0] < 0.05 * rounds


@pytest.mark.slow
def test_noise_is_split_as_rarely_as_the_level_says() -> None:
    split = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        data = encode(rng.normal(size=(50, 5)), rng.integers(0, 3, 50))
        split += grow(data, selection="test").n_leaves > 1
    assert split <= 30  # 15 expected; more than 30 have a chance of 1e-4


def test_the_column_is_the_least_likely_and_the_split_the_best_of_it() -> None:
    rng = np.random.default_rng(8)
    table = {"c": rng.choice(list("abcd"), 200), "x": rng.normal(size=200), "z": rng.normal(size=200)}
    table["x"][:30] = np.nan
    for y in (np.where(table["x"] > 0.2, "u", table["c"]), np.nan_to_num(table["x"]) + (table["c"] == "a")):
        data = encode(table, y)
        tree = grow(data, selection="test", max_leaf_nodes=7)
        tree.check()
        for node in np.flatnonzero(~tree.is_leaf).tolist():
            leaf = tree.apply(data)
            rows = np.flatnonzero((leaf >= node) & (leaf < tree.end[node]))
            chances = log_p_values(data, rows)
            assert chances[tree.feature[node]] == chances.min() <= np.log(0.05)
            name = data.schema.names[tree.feature[node]]
            alone = encode(
                {name: np.asarray(table[name])[rows]},
                y[rows],
                kinds={name: data.schema.columns[tree.feature[node]].kind},
            )
            best = grow(alone, max_leaf_nodes=2)
            assert tree.gain[node] == pytest.approx(best.gain[0], rel=1e-9)


def test_limits_hold_and_draws_are_seeded() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(300, 6))
    y = (x[:, 0] + x[:, 1] > 0).astype(int)
    data = encode(x, y)
    tree = grow(data, selection="test", min_samples_leaf=20, max_depth=3)
    assert tree.depth <= 3
    assert tree.rows[tree.is_leaf].min() >= 20
    assert grow(data, selection="test", max_leaf_nodes=4).n_leaves == 4
    drawn = [grow(data, selection="test", max_features=2, random_state=seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]
    whole = grow(data, selection="test")
    assert whole == grow(data, selection="test", n_jobs=2)
    weighted = encode(x, y, weight=np.where(np.arange(300) < 150, 2.0, 0.0))
    twice = encode(np.repeat(x[:150], 2, axis=0), np.repeat(y[:150], 2))
    assert np.array_equal(grow(weighted, selection="test").feature, grow(twice, selection="test").feature)


def test_several_targets_and_very_many_classes() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 3))
    both = np.stack([x[:, 0] > 0, x[:, 1] > 0], axis=1).astype(int)
    tree = grow(encode(x, both, classes=True), selection="test")
    tree.check()
    assert {0, 1} <= set(tree.feature.tolist())
    assert 2 not in tree.feature[:3]
    wide = grow(encode({"x": np.arange(1200.0)}, np.arange(1200) // 4), selection="test")
    wide.check()
    assert wide.n_leaves > 100
    assert wide.weight[0] == 1200


def test_estimators_choose_by_tests_too() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(200, 4))
    y = (x[:, 2] > 0).astype(int)
    model = DecisionTreeClassifier(selection="test").fit(x, y)
    assert model.model_ == grow(encode(x, y), selection="test")
    strict = DecisionTreeClassifier(selection=ConditionalInference(alpha=1e-300)).fit(x[:20], y[:20])
    assert strict.get_n_leaves() == 1
    numbers = DecisionTreeRegressor(selection=ConditionalInference(0.01)).fit(x, x[:, 1])
    assert set(numbers.model_.feature.tolist()) <= {-1, 1}
    with pytest.raises(ValueError, match="selection"):
        DecisionTreeClassifier(selection="best").fit(x, y)
    with pytest.raises(ValueError, match="selection='best' is not possible"):
        grow(encode(x, y), selection="best")
    with pytest.raises(ValueError, match="alpha=0 is not possible"):
        grow(encode(x, y), selection=ConditionalInference(0))
