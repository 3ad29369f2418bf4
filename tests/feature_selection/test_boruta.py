"""Boruta: importances against their definition, decisions on synthetic tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import make_classification

from treewright import ShadowSelector, encode, grow
from treewright.ensembles import permutation
from treewright.ensembles.permutation import shuffled_rises
from treewright.feature_selection import boruta
from treewright.feature_selection.boruta import forest_importances, upper_tail, with_shadows
from treewright.tree.predict import answers

MADE = make_classification(
    500, 28, n_informative=5, n_redundant=3, shuffle=False, random_state=1, flip_y=0.02
)  # 5 informative, 3 redundant, 20 of noise


@pytest.mark.slow
def test_accepts_informative_and_redundant_columns_only() -> None:
    keep = ShadowSelector(n_estimators=40, random_state=0, n_jobs=2).fit(*MADE)
    assert keep.get_support(True).tolist() == list(range(8))
    assert keep.n_iter_ < 100  # all decided
    assert not keep.tentative_.any()
    np.testing.assert_array_equal(keep.accepted_ | keep.rejected_, np.ones(28, bool))
    assert (keep.hits_[:8] > keep.n_iter_ / 2).all()
    rejected = np.isnan(keep.importances_).sum(axis=0)
    assert (rejected[:8] == 0).all()
    assert keep.importances_.shape == (keep.n_iter_, 28)
    assert str(keep.verdict_).splitlines()[1].split()[1] == "accepted"
    assert keep.verdict_.to_dict()["decision"][:9] == [1] * 8 + [-1]


@pytest.mark.slow
def test_interacting_columns_are_accepted() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 6))
    keep = ShadowSelector(n_estimators=30, random_state=0).fit(X, (X[:, 2] > 0) ^ (X[:, 5] > 0))
    assert keep.get_support(True).tolist() == [2, 5]


@pytest.mark.slow
def test_mixed_table_with_a_numeric_target() -> None:
    random = np.random.default_rng(0)
    n = 200
    table = {
        "sky": random.choice(np.array(["rain", "sun", "fog", None], object), n),
        "number": np.where(random.random(n) < 0.2, np.nan, random.normal(size=n)),
        "noise": random.normal(size=n),
        "letters": random.choice(np.array(["a", "b", "c"], object), n),
        "same": np.ones(n),
    }
    y = (table["sky"] == "rain") + np.nan_to_num(table["number"]) + 0.2 * random.normal(size=n)
    keep = ShadowSelector(n_estimators=20, random_state=0).fit(table, y)
    assert keep.get_feature_names_out().tolist() == ["sky", "number"]
    assert keep.rejected_[4]


@pytest.mark.parametrize("task", ["classes", "numbers"])
@pytest.mark.parametrize("cells", [50, 2**22])
@pytest.mark.parametrize("only_numbers", [True, False])
def test_permutation_importance_equals_its_definition(
    task: str, cells: int, only_numbers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The walks of many pairs of rows and columns, beside one walk for each column."""
    monkeypatch.setattr(permutation, "_MOST_CELLS", cells)
    random = np.random.default_rng(1)
    n = 120
    table = {
        "x": random.normal(size=n),
        "tied": np.where(random.random(n) < 0.2, np.nan, random.integers(0, 4, n)),
        "sky": random.choice(np.array(["rain", "sun", "fog", None], object), n),
        "same": np.ones(n),
    }
    if only_numbers:
        table["sky"] = random.normal(size=n)
    y = random.integers(0, 3, n) if task == "classes" else random.normal(size=n)
    weight = random.integers(1, 3, n).astype(float)
    data = encode(table, y, weight=weight)
    tree = grow(data.take(np.arange(60)), max_depth=5)
    rows = np.arange(60, n)
    found = shuffled_rises(tree, data, rows, np.random.default_rng(7))
    held = data.take(rows)
    asked = sorted({*tree.feature.tolist()} - {-1})
    shuffles = np.random.default_rng(7)

    def loss(columns: list[np.ndarray]) -> float:
        changed = type(held)(held.schema, tuple(columns), held.targets, held.weight)
        said, truth = answers(tree, changed)[:, 0], held.targets[0]
        wrong = said != truth if task == "classes" else (said - truth) ** 2
        return float(np.average(wrong, weights=held.weight))

    naive = np.zeros(4)
    for j in asked:
        columns = list(held.columns)
        columns[j] = columns[j][shuffles.permutation(60)]
        naive[j] = loss(columns) - loss(list(held.columns))
    np.testing.assert_allclose(found, naive, atol=1e-12)
    assert (found != 0).any()


@pytest.mark.slow
def test_importances_are_independent_of_n_jobs() -> None:
    data = encode(*MADE)
    for by in ("permutation", "gain"):
        options = {"n_estimators": 10, "random_state": 3, "importance": by}
        one, two = (forest_importances(data, n_jobs=n, **options) for n in (1, 3))
        assert one.tobytes() == two.tobytes()
        assert one.tobytes() != forest_importances(data, spawn_key=(1,), **options).tobytes()
    np.testing.assert_allclose(one.sum(), 1.0)
    options = {"n_estimators": 60, "random_state": 3, "max_features": 1}
    pooled = forest_importances(data, **options)  # each tree considers 20 of the 28 columns
    assert pooled.tobytes() == forest_importances(data, n_jobs=2, **options).tobytes()
    assert pooled[:8].mean() > 3 * np.abs(pooled[8:]).mean()
    selectors = [
        ShadowSelector(n_estimators=10, max_iter=6, random_state=0, n_jobs=n).fit(*MADE) for n in (1, 2)
    ]
    assert selectors[0].importances_.tobytes() == selectors[1].importances_.tobytes()


def test_shadows_are_shuffled_columns() -> None:
    random = np.random.default_rng(0)
    for table in (random.normal(size=(40, 3)), {"x": random.normal(size=40), "sky": ["a", "b"] * 20}):
        data = encode(table, [0, 1] * 20)
        both = with_shadows(data, random)
        d = data.n_columns
        assert both.n_columns >= d + 5
        for j in range(both.n_columns):
            np.testing.assert_array_equal(np.sort(both.column(j)), np.sort(data.column(j % d)))
        assert (both.column(d) != data.column(0)).any()


def test_shadows_of_many_rows_share_the_bins() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(6000, 3))
    data = encode(X, X[:, 0] > 0)
    data.bins()
    for some in (data, data.select_columns([2, 0])):
        both = with_shadows(some, random)
        fresh = encode(np.column_stack([both.column(j) for j in range(both.n_columns)]), X[:, 0] > 0)
        one, two = grow(both, max_depth=4), grow(fresh, max_depth=4)
        np.testing.assert_array_equal(one.feature, two.feature)
        np.testing.assert_array_equal(one.threshold, two.threshold)


def test_binomial_tails_equal_scipy() -> None:
    for n in (1, 7, 60, 300):
        np.testing.assert_allclose(upper_tail(n), stats.binom.sf(np.arange(n + 1) - 1, n, 0.5), atol=1e-14)


@pytest.mark.slow
def test_percentile_and_tentative_columns() -> None:
    X, y = MADE
    strict = boruta(encode(X, y), n_estimators=10, max_iter=6, percentile=100)
    easy = boruta(encode(X, y), n_estimators=10, max_iter=6, percentile=50)
    assert (easy.shadow < strict.shadow).all()
    short = ShadowSelector(n_estimators=5, max_iter=2, keep_tentative=True, random_state=0).fit(X, y)
    assert short.tentative_.all()  # two rounds cannot decide
    assert short.support_.all()
    assert not ShadowSelector(n_estimators=5, max_iter=2, random_state=0).fit(X, y).support_.any()


def test_growing_reaches_the_trees() -> None:
    data = encode(*MADE)
    few = {"n_estimators": 5, "max_iter": 2}
    plain, small = boruta(data, **few), boruta(data, **few, growing={"max_leaf_nodes": 3})
    assert not np.array_equal(plain.importance, small.importance, equal_nan=True)
    with pytest.raises(ValueError, match="boruta sets 'max_depth' itself"):
        boruta(data, growing={"max_depth": 3})
    with pytest.raises(TypeError, match="max_leaf_nodes"):
        boruta(data, growing={"max_leafs": 3})
    with pytest.raises(ValueError, match="growing=3"):
        boruta(data, growing=3)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_estimators": 1}, "n_estimators=1"),
        ({"percentile": 0}, "percentile=0"),
        ({"alpha": 1.0}, "alpha=1.0"),
        ({"importance": "mdi"}, "importance='mdi'"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"criterion": "squared"}, "criterion 'squared' is unknown"),
    ],
)
def test_invalid_parameters(parameters: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ShadowSelector(**parameters).fit(*MADE)


def test_target_of_one_class() -> None:
    keep = ShadowSelector(n_estimators=5, max_iter=20, random_state=0).fit(
        np.arange(40.0).reshape(20, 2), ["a"] * 20
    )
    assert keep.rejected_.all()


@pytest.mark.slow
def test_exception_of_progress_ends_the_work() -> None:
    def stop(share: float) -> None:
        if share > 0.02:
            raise KeyboardInterrupt

    for n_jobs in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            boruta(encode(*MADE), n_estimators=20, n_jobs=n_jobs, progress=stop)
