"""Gains of categories corrected for chance: the formula beside simulation, the choice beside a naive one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, norm

from tests.checks import same_structure, same_tree
from treewright import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    DecisionTreeClassifier,
    ID3Classifier,
    RandomForestClassifier,
    encode,
    grow,
    grow_forest,
)
from treewright.growing import criteria

WORTH = 1.35  # times what chance gives, as in src/core/scanners/chance.hpp
STEPS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)


def gini(weights: Any) -> float:
    total = weights.sum()
    return float(total - (weights**2).sum() / total) if total > 0 else 0.0


def entropy(weights: Any) -> float:
    shares = weights[weights > 0] / weights.sum()
    return float(-weights.sum() * (shares * np.log2(shares)).sum()) if weights.sum() > 0 else 0.0


RISKS = {"gini": gini, "entropy": entropy}


def thresholds(sizes: Any, share: float, deviation: float) -> list[float]:
    typical = [(sizes**2).sum() / sizes.sum(), sizes.mean()]
    return [
        share + sign * step * deviation / size**0.5 for size in typical for step in STEPS for sign in (-1, 1)
    ]


def chance_of_classes(sizes: Any, counts: Any, risk: Any) -> float:
    """What the best subset gains by chance: scipy's binomial distribution, one category after the other."""
    total, heaviest = counts.sum(), int(np.argmax(counts))
    share = counts[heaviest] / total
    light = min(share, 1 - share)
    most = 0.0
    for threshold in thresholds(sizes, light, (light * (1 - light)) ** 0.5):
        size = outcome = 0.0
        for n in sizes:
            x = np.arange(n + 1)
            above = x > np.floor(n * threshold + 1e-12) if threshold >= 0 else x >= 0
            chances = binom.pmf(x, n, light)
            size += n * chances[above].sum()
            outcome += (x * chances)[above].sum()
        excess = outcome - size * light
        if not (1e-12 < size < total - 1e-9 and excess > 0):
            continue
        sign = 1 if share <= 0.5 else -1
        left = counts * size / total
        others = np.arange(len(counts)) != heaviest
        left[heaviest] += sign * excess
        left[others] -= sign * excess * counts[others] / counts[others].sum()
        left = np.clip(left, 0, counts)
        most = max(most, risk(counts) - risk(left) - risk(counts - left))
    return most


def chance_of_numbers(sizes: Any, y: Any) -> float:
    total, deviation = sizes.sum(), y.std()
    most = 0.0
    for threshold in thresholds(sizes, 0, 1):
        z = threshold * np.sqrt(sizes)
        size, excess = (sizes * norm.sf(z)).sum(), deviation * (np.sqrt(sizes) * norm.pdf(z)).sum()
        most = max(most, excess**2 * total / (size * (total - size)))
    return float(most)


def chance(codes: Any, y: Any, criterion: str) -> float:
    sizes = np.unique(codes, return_counts=True)[1].astype(float)
    if len(sizes) <= 2:
        return 0.0
    if criterion == "squared_error":
        return chance_of_numbers(sizes, y)
    return chance_of_classes(sizes, np.bincount(y).astype(float), RISKS[criterion])


def stump_gain(column: Any, y: Any, criterion: str) -> float:
    kinds = {"x": "category" if column.dtype.kind in "iu" else "number"}
    data = encode({"x": column}, y, kinds=kinds, classes=criterion != "squared_error")
    tree = grow(data, criterion=criterion, max_leaf_nodes=2, category_gain="plain")
    return float(tree.gain[0]) if tree.n_leaves > 1 else 0.0


def skewed(rng: np.random.Generator, k: int, n: int) -> NDArray[np.int64]:
    shares = 1 / np.arange(1, k + 1)
    return rng.choice(k, n, p=shares / shares.sum())


NULLS = [
    *[
        ("gini", 2, n, k, p, even)
        for n, k in ((300, 30), (1000, 100))
        for p in (0.1, 0.5)
        for even in (True, False)
    ],
    ("gini", 2, 1000, 1000, 0.5, True),
    ("gini", 4, 1000, 100, 0.25, True),
    ("entropy", 2, 1000, 60, 0.3, True),
    ("entropy", 3, 1000, 60, 0.3, False),
    ("squared_error", 0, 800, 60, 0.0, True),
    ("squared_error", 0, 800, 400, 0.0, False),
]


@pytest.mark.slow
@pytest.mark.parametrize(("criterion", "classes", "n", "k", "p", "even"), NULLS)
def test_the_formula_says_what_noise_gains(
    criterion: str, classes: int, n: int, k: int, p: float, even: bool
) -> None:
    """The target shuffled within the node: the mean of the best gain beside the formula."""
    rng = np.random.default_rng(5)
    codes = rng.permutation(np.arange(n) % k) if even else skewed(rng, k, n)
    if classes == 0:
        y: NDArray[Any] = rng.normal(size=n)
    elif classes == 2:
        y = (np.arange(n) < n * p).astype(int)
    else:
        y = np.arange(n) % classes
    gains = [stump_gain(codes, rng.permutation(y), criterion) for _ in range(25)]
    # of several classes the best subset may follow any mixture of them, the formula follows one against all
    assert np.mean(gains) == pytest.approx(chance(codes, y, criterion), rel=0.4 if classes > 2 else 0.2)


def corrected(column: Any, y: Any, criterion: str) -> float | None:
    """The gain with which a column competes; None where it is no better than chance."""
    gain = stump_gain(column, y, criterion)
    if column.dtype.kind == "f":
        return gain
    by_chance = chance(column, y, criterion)
    return gain - by_chance if gain > WORTH * by_chance else None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_the_root_is_the_column_that_a_naive_comparison_chooses(criterion: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 200))
    k = [int(rng.integers(2, n)), int(rng.integers(2, 12))]
    columns = [rng.integers(0, k[0], n), rng.normal(size=n), skewed(rng, k[1], n)]
    score = rng.normal(size=k[0])[columns[0]] * rng.random() + columns[1] * rng.random() + rng.normal(size=n)
    y = score if criterion == "squared_error" else np.searchsorted([-0.5, 0.5][: 1 + seed % 2], score)
    gains = [corrected(column, y, criterion) for column in columns]
    ranked = sorted((gain for gain in gains if gain is not None), reverse=True)
    tables = {f"x{j}": column for j, column in enumerate(columns)}
    data = encode(tables, y, kinds={"x0": "category", "x2": "category"}, classes=criterion != "squared_error")
    for switch in (
        {},
        {"_small_rows": 1},
        {"feature_costs": {"x0": 1e-300}},
    ):  # lists, histograms, constrained
        tree = grow(data, criterion=criterion, max_leaf_nodes=2, **switch)
        if not ranked:
            assert tree.n_leaves == 1
        elif len(ranked) == 1 or ranked[0] - ranked[1] > 1e-9 * ranked[0]:
            assert gains[int(tree.feature[0])] == ranked[0]


def noisy(seed: int, n: int = 600) -> tuple[dict[str, Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    table = {"a": rng.normal(size=n), "b": rng.normal(size=n)}
    y = ((table["a"] > 0) ^ (rng.random(n) < 0.15)).astype(int)
    table["city"] = np.array([f"c{code}" for code in rng.integers(0, n // 2, n)], dtype=object)
    table["id"] = np.array([f"r{row}" for row in range(n)], dtype=object)
    return table, y


@pytest.mark.parametrize("criterion", [name for name in criteria("classes") if name != "gain_ratio"])
def test_an_id_and_a_column_of_noise_never_take_the_root(criterion: str) -> None:
    for seed in range(5):
        table, y = noisy(seed)
        data = encode(table, y, classes=True)
        assert data.schema.names[grow(data, criterion=criterion, max_leaf_nodes=2).feature[0]] in ("a", "b")
        plain = grow(data, criterion=criterion, max_leaf_nodes=2, category_gain="plain")
        assert data.schema.names[plain.feature[0]] == "id"


@pytest.mark.parametrize("criterion", criteria("numbers"))
def test_an_id_does_not_take_the_root_of_numbers(criterion: str) -> None:
    for seed in range(5):
        table, y = noisy(seed)
        data = encode(table, 1.0 + 2 * y + np.random.default_rng(seed).random(len(y)))
        assert data.schema.names[grow(data, criterion=criterion, max_leaf_nodes=2).feature[0]] in ("a", "b")


def test_an_informative_column_keeps_its_root() -> None:
    rng = np.random.default_rng(1)
    n, k = 4000, 200
    codes = rng.integers(0, k, n)
    y = (rng.random(n) < np.where(np.arange(k) % 2, 0.8, 0.2)[codes]).astype(int)
    data = encode({"number": rng.normal(size=n), "city": codes}, y, kinds={"city": "category"}, classes=True)
    tree = grow(data, max_leaf_nodes=2)
    assert tree.schema.names[tree.feature[0]] == "city"
    assert tree.subsets.tolist() == grow(data, max_leaf_nodes=2, category_gain="plain").subsets.tolist()


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_tables_of_numbers_and_of_two_categories_are_not_touched(criterion: str) -> None:
    rng = np.random.default_rng(2)
    table = {"x": rng.normal(size=300), "z": rng.integers(0, 9, 300), "sex": rng.choice(["f", "m"], 300)}
    y = (table["x"] + rng.normal(size=300)).round(1)
    data = encode(table, y > 0 if criterion == "gini" else y)
    same_tree(grow(data, criterion=criterion), grow(data, criterion=criterion, category_gain="plain"))


@pytest.mark.parametrize("criterion", criteria())
def test_every_engine_corrects_alike(criterion: str) -> None:
    rng = np.random.default_rng(3)
    n = 1500
    first, second = rng.integers(0, 40, n), skewed(rng, 200, n)
    number = rng.normal(size=n)
    number[rng.random(n) < 0.1] = np.nan
    score = (first % 5 - second % 3 + np.nan_to_num(number) + rng.normal(size=n)).round(1)
    is_class = criterion in criteria("classes")
    target = np.searchsorted([-0.5, 1.0], score) if is_class else np.abs(score)
    kinds: dict[str, Any] = {"first": "category", "second": "category"}
    data = encode({"first": first, "second": second, "number": number}, target, kinds=kinds, classes=is_class)
    wanted = grow(data, criterion=criterion, max_depth=5)
    same_structure(wanted, grow(data, criterion=criterion, max_depth=5, _small_rows=50))
    same_tree(wanted, grow(data, criterion=criterion, max_depth=5, n_jobs=2))
    if criterion != "absolute_error":
        same_structure(wanted, grow(data, criterion=criterion, max_depth=5, feature_costs={"number": 1e-300}))


def test_a_whole_weight_is_a_number_of_copies_and_order_does_not_matter() -> None:
    table, y = noisy(7, 300)
    weight = np.random.default_rng(0).integers(0, 4, 300).astype(float)
    rows = np.repeat(np.arange(300), weight.astype(int))
    kept = encode(table, y, weight=weight, classes=True)
    copies = encode(table, y, classes=True).take(rows)
    same_structure(grow(kept), grow(copies))
    order = np.random.default_rng(1).permutation(300)
    same_tree(grow(kept), grow(kept.take(order)))


def test_other_weights_are_worth_their_effective_number_of_rows() -> None:
    table, y = noisy(8, 300)
    weight = np.random.default_rng(0).random(300) + 0.5
    one = grow(encode(table, y, weight=weight, classes=True))
    four = grow(encode(table, y, weight=4 * weight, classes=True))
    assert one.feature.tolist() == four.feature.tolist()


@pytest.mark.filterwarnings("ignore::treewright.AdviceWarning")  # ids are the point
def test_the_classics_compare_gains_as_their_authors_did() -> None:
    table, y = noisy(9, 200)
    for model in (CARTClassifier(), C45Classifier(), ID3Classifier(), CARTRegressor()):
        assert model.category_gain == "plain"
    only_ids = {"id": table["id"]}
    assert CARTClassifier(min_samples_leaf=1).fit(only_ids, y).pruning_path_.full_tree.n_leaves > 1
    assert DecisionTreeClassifier().fit(only_ids, y).model_.n_leaves == 1
    assert DecisionTreeClassifier(category_gain="plain").fit(only_ids, y).model_.n_leaves == 2


@pytest.mark.filterwarnings("ignore::treewright.AdviceWarning")  # ids are the point
def test_forests_are_not_led_by_ids() -> None:
    table, y = noisy(10, 1200)
    names = list(table)
    forest = grow_forest(encode(table, y, classes=True), n_estimators=10, max_features=2, max_leaf_nodes=2)
    assert {names[tree.feature[0]] for tree in forest.trees} <= {"a", "b", "city"}
    model = RandomForestClassifier(n_estimators=20, random_state=0).fit(table, y)
    fresh, truth = noisy(11, 1200)
    assert model.score(fresh, truth) > 0.75


def test_a_wrong_name_is_refused() -> None:
    data = encode([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="it must be one of 'corrected', 'plain'"):
        grow(data, category_gain="fair")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="category_gain='fair' is not possible"):
        DecisionTreeClassifier(category_gain="fair").fit([[1.0], [2.0]], [0, 1])
