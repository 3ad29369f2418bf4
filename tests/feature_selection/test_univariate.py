"""Univariate selection: scores against brute force, p-values against all permutations."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from treewright import SplitFilter, encode
from treewright.feature_selection import split_scores
from treewright.feature_selection.univariate import Permutations


def risk(criterion: str, y: np.ndarray, weight: np.ndarray) -> float:
    """Weight times impurity, by the book."""
    total = weight.sum()
    if not total:
        return 0.0
    if criterion == "squared_error":
        return float((weight * (y - np.average(y, weights=weight)) ** 2).sum())
    if criterion == "absolute_error":
        return min(float((weight * np.abs(y - value)).sum()) for value in y)
    share = np.array([weight[y == label].sum() for label in np.unique(y)]) / total
    share = share[share > 0]
    if criterion == "gini":
        return float(total * (1 - (share**2).sum()))
    if criterion == "error":
        return float(total * (1 - share.max()))
    return float(-total * (share * np.log2(share)).sum())


def ways(column: np.ndarray) -> list[np.ndarray]:
    """Which rows go left, for every split of a column with missing values on either side."""
    if column.dtype.kind == "f":
        missing = np.isnan(column)
        known = np.unique(column[~missing])
        lefts = [column <= value for value in known]
    else:
        missing = column == None  # noqa: E711
        known = sorted(set(column[~missing]))
        lefts = [np.isin(column, part) for n in range(1, len(known) + 1) for part in combinations(known, n)]
    both = [*lefts, *(left | missing for left in lefts)]
    return [left for left in both if left.any() and not left.all()]


def naive_gain(criterion: str, column: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    whole = risk(criterion, y, weight)
    drops = [
        whole - risk(criterion, y[left], weight[left]) - risk(criterion, y[~left], weight[~left])
        for left in ways(column)
    ]
    return max([0.0, *drops]) / weight.sum()


def a_table(seed: int, n: int = 40) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    numbers, tied = random.normal(size=n), random.integers(0, 4, n).astype(float)
    tied[random.random(n) < 0.2] = np.nan
    texts = random.choice(np.array(["a", "b", "c", "d"], object), n)
    texts[random.random(n) < 0.1] = None
    return {"numbers": numbers, "tied": tied, "texts": texts, "constant": np.ones(n)}


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error", "squared_error", "absolute_error"])
@pytest.mark.parametrize("weighted", [False, True])
def test_gains_equal_brute_force(criterion: str, weighted: bool) -> None:
    for seed in range(5):
        table, random = a_table(seed), np.random.default_rng(seed + 100)
        is_number = criterion in ("squared_error", "absolute_error")
        y = random.normal(size=40) if is_number else random.integers(0, 2, 40)
        weight = random.integers(1, 4, 40).astype(float) if weighted else np.ones(40)
        found = split_scores(encode(table, y, weight=weight), criterion=criterion)
        naive = [naive_gain(criterion, column, y, weight) for column in table.values()]
        np.testing.assert_allclose(found.score, naive, atol=1e-12)


def test_measures() -> None:
    table, y = a_table(0), np.random.default_rng(1).integers(0, 2, 40)
    data, weight = encode(table, y), np.ones(40)
    information = split_scores(data, measure="mutual_information").score
    np.testing.assert_allclose(information, [naive_gain("entropy", c, y, weight) for c in table.values()])
    accuracy = split_scores(data, measure="accuracy").score
    best = [1 - risk("error", y, weight) / 40 + naive_gain("error", c, y, weight) for c in table.values()]
    np.testing.assert_allclose(accuracy, best)


def test_description_of_the_best_splits() -> None:
    data = encode(
        {"x": [1, 2, 3, 4], "sky": ["clear", "rain", "rain", "clear"], "same": [1] * 4}, [0, 0, 1, 1]
    )
    found = split_scores(data)
    assert found.splits == ("x <= 2.5", "", "")
    np.testing.assert_array_equal(found.thresholds, [2.5, np.nan, np.nan])
    assert str(found).splitlines()[1].split() == ["x", "0.5", "x", "<=", "2.5"]
    assert found.to_dict()["splits"] == ["x <= 2.5", "", ""]


@pytest.mark.slow
def test_p_values_are_the_share_of_all_permutations() -> None:
    x, z, y = np.arange(6.0), np.array([0.0, 0, 1, 0, 1, 1]), np.array([0, 0, 0, 1, 0, 1])
    table = {"x": x, "z": z}
    exact = []
    for column in table.values():
        own = naive_gain("gini", column, y, np.ones(6))
        labels = [np.isin(np.arange(6), chosen).astype(int) for chosen in combinations(range(6), 2)]
        gains = np.array([naive_gain("gini", column, permuted, np.ones(6)) for permuted in labels])
        exact.append(np.mean(gains >= own - 1e-12))
    n = 4000
    found = split_scores(encode(table, y), n_permutations=n, correction="none").pvalue
    error = np.sqrt(np.array(exact) * (1 - np.array(exact)) / n)
    assert (np.abs(found - exact) < 4 * error + 1 / n).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_null_distribution_equals_scores_of_permuted_targets(weighted: bool) -> None:
    """Columns that are tied alike share the null of the first of them; the best is that of all columns."""
    table = a_table(3) | {"others": np.random.default_rng(9).normal(size=40)}
    random = np.random.default_rng(5)
    y, weight = random.integers(0, 3, 40), random.integers(1, 4, 40).astype(float) if weighted else None
    data = encode(table, y, weight=weight)
    permutations = Permutations(data, "gini", {"min_samples_leaf": 2}, 7, random_state=11)
    nulls, best = permutations.gains_by_column(), permutations.largest_gains()
    assert nulls[0] is nulls[4]
    for number in range(7):
        order = np.random.default_rng(np.random.SeedSequence(11, spawn_key=(number,))).permutation(40)
        moved = encode(table, y[order], weight=None if weight is None else weight[order])
        gains = split_scores(moved, min_samples_leaf=2).gain * moved.total_weight
        np.testing.assert_allclose([null[number] for null in nulls[:4]], gains[:4], atol=1e-9)
        np.testing.assert_allclose(best[number], gains.max(), rtol=1e-9)


@pytest.mark.slow
def test_p_values_are_uniform_for_independent_columns() -> None:
    random = np.random.default_rng(0)
    table = np.hstack([random.normal(size=(60, 100)), random.integers(0, 6, (60, 40))])
    found = split_scores(encode(table, random.integers(0, 2, 60)), n_permutations=199, correction="none")
    assert stats.kstest(found.pvalue[:100], "uniform").statistic < 1.63 / np.sqrt(100)  # the 1 % limit
    for level in (0.05, 0.2, 0.5):  # ties make the others conservative, never the contrary
        assert np.mean(found.pvalue[100:] <= level) < level + 3 * np.sqrt(level * (1 - level) / 40)


@pytest.mark.slow
def test_max_correction_controls_the_family_wise_error() -> None:
    """Of 40 tables without a signal, about one in ten keeps a column at alpha = 0.1."""
    kept = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        found = split_scores(
            encode(random.normal(size=(30, 8)), random.integers(0, 2, 30)),
            n_permutations=39,
            random_state=seed,
        )
        kept += bool((found.adjusted_pvalue <= 0.1).any())
        assert (found.adjusted_pvalue >= found.pvalue - 0.1).all()
    assert kept <= 10  # binomial(40, .1): more has a chance of .1 %


def test_benjamini_hochberg_equals_its_definition() -> None:
    for seed in range(5):
        random = np.random.default_rng(seed)
        data = encode(random.normal(size=(40, 12)).round(1), random.integers(0, 2, 40))
        found = split_scores(data, n_permutations=29, correction="benjamini-hochberg", random_state=seed)
        p, m = np.sort(found.pvalue), 12
        rates = [min(1.0, min(p[j] * m / (j + 1) for j in range(i, m))) for i in range(m)]
        np.testing.assert_allclose(np.sort(found.adjusted_pvalue), rates)
        np.testing.assert_allclose(found.adjusted_pvalue, stats.false_discovery_control(found.pvalue))


def test_k_threshold_and_alpha() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 12))
    y = X[:, 3] + 0.9 * X[:, 8] + 0.3 * random.normal(size=200) > 0
    assert SplitFilter(k=2).fit(X, y).get_support(True).tolist() == [3, 8]
    assert SplitFilter(k=0.25).fit(X, y).support_.sum() == 3
    assert SplitFilter().fit(X, y).support_.sum() == 10
    assert SplitFilter().fit(X[:, :4], y).support_.all()
    for correction, n in (("max", 99), ("benjamini-hochberg", 999)):
        keep = SplitFilter(alpha=0.05, correction=correction, n_permutations=n, random_state=0).fit(X, y)
        assert keep.get_support(True).tolist() == [3, 8], correction
        assert (keep.adjusted_pvalues_[[3, 8]] <= 0.05).all()
        assert (keep.pvalues_[[3, 8]] == 1 / (n + 1)).all()
    scores = SplitFilter(threshold=0.05).fit(X, y)
    np.testing.assert_array_equal(scores.support_, scores.scores_ > 0.05)
    numbers = SplitFilter(k=1).fit(X, X[:, 5] ** 3)
    assert numbers.get_support(True).tolist() == [5]
    counts = SplitFilter(k=1, criterion="poisson").fit(X, (X[:, 5] > 0).astype(int))
    assert counts.get_support(True).tolist() == [5]
    assert counts.split_scores_.criterion == "poisson"


def test_result_is_independent_of_n_jobs() -> None:
    table, y = a_table(2, 300), np.random.default_rng(1).integers(0, 3, 300)
    one, two = (
        SplitFilter(alpha=0.5, n_permutations=20, random_state=3, n_jobs=n).fit(table, y) for n in (1, 2)
    )
    for name in ("scores_", "pvalues_", "adjusted_pvalues_"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


def test_many_rows_and_many_classes() -> None:
    """By bins, and by the statistic of very many classes."""
    random = np.random.default_rng(0)
    X = random.normal(size=(5000, 3))
    found = split_scores(encode(X, X[:, 1] > 0.3), n_permutations=3)
    assert found.splits[1] == "x1 <= 0.3"
    assert found.adjusted_pvalue[1] == 0.25
    labels = np.arange(600) // 2
    wide = split_scores(encode(random.normal(size=(600, 2)), labels), n_permutations=3, correction="none")
    assert (wide.pvalue >= 0.25).all()


def test_weights_are_repetitions() -> None:
    table, random = a_table(7), np.random.default_rng(0)
    y, weight = random.integers(0, 2, 40), random.integers(0, 3, 40)
    again = {name: np.repeat(column, weight) for name, column in table.items()}
    one = SplitFilter().fit(table, y, weight)
    two = SplitFilter().fit(again, np.repeat(y, weight))
    np.testing.assert_allclose(one.scores_, two.scores_)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"k": 5}, "k=5 is not possible; it must be at most the number of columns, 2"),
        ({"k": 1, "alpha": 0.1}, "one of k, threshold and alpha"),
        ({"measure": "chi2"}, "measure='chi2' is not possible"),
        ({"criterion": "gain_ratio"}, "use entropy"),
        ({"criterion": "nonsense"}, "criterion 'nonsense' is unknown"),
        ({"measure": "accuracy", "criterion": "gini"}, "criterion is for measure='gain'"),
        ({"alpha": 0.1, "n_permutations": 0}, "n_permutations=0"),
        ({"alpha": 2.0}, "alpha=2.0"),
        ({"correction": "bonferroni"}, "correction='bonferroni'"),
    ],
)
def test_invalid_parameters(parameters: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        SplitFilter(**parameters).fit([[1, 2], [3, 4], [5, 6]], [0, 1, 0])


def test_warning_about_too_few_permutations() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 100))
    keep = SplitFilter(alpha=0.05, correction="benjamini-hochberg", n_permutations=19, random_state=0)
    with pytest.warns(UserWarning, match="n_permutations=2000, or correction='max'"):
        keep.fit(X, random.integers(0, 2, 50))


def test_one_class_and_one_row() -> None:
    for X, y in (([[1.0], [2.0]], ["a", "a"]), ([[1.0]], ["a"])):
        keep = SplitFilter(threshold=0).fit(X, y)
        assert not keep.support_.any()
        with pytest.warns(UserWarning, match="SplitFilter has kept no column"):
            assert keep.transform(np.array(X)).shape == (len(X), 0)


@pytest.mark.slow
def test_exception_of_progress_ends_the_work() -> None:
    def stop(share: float) -> None:
        if share > 0.3:
            raise KeyboardInterrupt

    data = encode(np.random.default_rng(0).normal(size=(100, 30)), np.arange(100) % 2)
    for n_jobs in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            split_scores(data, n_permutations=2000, n_jobs=n_jobs, progress=stop)
