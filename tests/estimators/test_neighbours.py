"""KNeighborsClassifier and KNeighborsRegressor, beside scikit-learn's."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.neighbors
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from treewright import KDTree, KNeighborsClassifier, KNeighborsRegressor

IRIS, SPECIES = load_iris(return_X_y=True)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)


def weights_by_square(distance: Any) -> Any:
    return 1.0 / (1.0 + distance**2)


@pytest.mark.parametrize("weights", ["uniform", "distance", weights_by_square, None])
@pytest.mark.parametrize("p", [1, 2, float("inf")])
def test_the_answers_are_those_of_scikit_learn(weights: Any, p: float) -> None:
    """On columns without ties: those are broken by the index here."""
    random = np.random.default_rng(0)
    X, queries = random.normal(size=(400, 4)), random.normal(size=(150, 4))
    y = np.where(X[:, 0] + X[:, 1] > 0, "yes", np.where(X[:, 2] > 1, "maybe", "no"))
    both = [
        kind(7, weights=weights, p=p).fit(X, y)
        for kind in (KNeighborsClassifier, sklearn.neighbors.KNeighborsClassifier)
    ]
    mine, its = both
    assert mine.classes_.tolist() == its.classes_.tolist()
    np.testing.assert_array_equal(mine.predict(queries), its.predict(queries))
    np.testing.assert_allclose(mine.predict_proba(queries), its.predict_proba(queries), rtol=1e-12)
    for asked in (queries, None):
        for one, other in zip(mine.kneighbors(asked, 3), its.kneighbors(asked, 3), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
    for mode in ("connectivity", "distance"):
        graphs = [model.kneighbors_graph(queries, 3, mode=mode).toarray() for model in both]
        np.testing.assert_allclose(*graphs, rtol=1e-12)
    numbers = np.stack([X.sum(axis=1), X[:, 0] ** 2], axis=1)
    for target in (numbers, numbers[:, 0]):
        answers = [
            kind(7, weights=weights, p=p).fit(X, target).predict(queries)
            for kind in (KNeighborsRegressor, sklearn.neighbors.KNeighborsRegressor)
        ]
        np.testing.assert_allclose(*answers, rtol=1e-12)


def test_several_targets() -> None:
    y = np.stack([SPECIES, SPECIES // 2], axis=1)
    mine, its = (
        kind(4).fit(IRIS, y) for kind in (KNeighborsClassifier, sklearn.neighbors.KNeighborsClassifier)
    )
    assert [known.tolist() for known in mine.classes_] == [[0, 1, 2], [0, 1]]
    queries = IRIS + 0.013
    np.testing.assert_array_equal(mine.predict(queries), its.predict(queries))
    for one, other in zip(mine.predict_proba(queries), its.predict_proba(queries), strict=True):
        np.testing.assert_allclose(one, other)


def test_rows_of_the_fit_are_not_their_own_neighbours() -> None:
    model = KNeighborsClassifier(1).fit([[0.0], [0.0], [0.0], [5.0]], [0, 0, 1, 1])
    distance, index = model.kneighbors()
    assert distance[:, 0].tolist() == [0, 0, 0, 5]
    assert index[:, 0].tolist() == [1, 0, 0, 0]


def test_a_row_that_is_there_decides_alone_by_distance() -> None:
    model = KNeighborsRegressor(3, weights="distance").fit([[0.0], [1.0], [2.0]], [10.0, 20.0, 60.0])
    assert model.predict([[1.0], [0.5]])[0] == 20.0
    tiny = KNeighborsRegressor(2, weights="distance").fit([[0.0], [3e-310]], [0.0, 1.0])
    assert np.isfinite(tiny.predict([[1e-310]])).all()


@pytest.mark.parametrize("spill", [0.0, 0.1])
def test_defeatist_search_in_the_estimators(spill: float) -> None:
    model = KNeighborsClassifier(search="defeatist", spill=spill, leaf_size=20).fit(IRIS, SPECIES)
    distance, index = model.kneighbors(IRIS)
    other = KDTree(IRIS, 20, spill=spill).query(IRIS, 5, search="defeatist")
    np.testing.assert_array_equal(distance, other[0])
    np.testing.assert_array_equal(index, other[1])
    assert model.score(IRIS, SPECIES) > 0.9


def test_threads_change_nothing() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(9000, 3))
    models = [KNeighborsRegressor(n_jobs=jobs).fit(X, X[:, 0]) for jobs in (None, 2)]
    np.testing.assert_array_equal(*(model.predict(X[:4000]) for model in models))


def test_pipelines_searches_clones_and_pickles() -> None:
    search = GridSearchCV(
        make_pipeline(StandardScaler(), KNeighborsRegressor()),
        {
            "kneighborsregressor__n_neighbors": [3, 15],
            "kneighborsregressor__weights": ["uniform", "distance"],
        },
    ).fit(DIABETES, PROGRESS)
    assert search.best_score_ > 0.3
    model = clone(search.best_estimator_).fit(DIABETES, PROGRESS)
    other = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(other.predict(DIABETES), model.predict(DIABETES))


def test_all_kinds_of_tables_of_numbers() -> None:
    frame = pd.DataFrame(IRIS, columns=list("abcd"))
    columns = {name: frame[name].to_numpy() for name in frame}
    plain = KNeighborsClassifier().fit(IRIS, SPECIES).predict_proba(IRIS)
    for table in (frame, pl.DataFrame(columns), pa.table(columns), columns, IRIS.tolist()):
        model = KNeighborsClassifier().fit(table, SPECIES)
        np.testing.assert_array_equal(model.predict_proba(table), plain)
        if not isinstance(table, list):
            assert model.feature_names_in_.tolist() == list("abcd")
    assert KNeighborsClassifier().fit(IRIS.astype(np.float32), SPECIES).model_.data.dtype == np.float32
    dummies = pd.get_dummies(frame.assign(e="x"))  # truth values count as 0 and 1
    assert KNeighborsClassifier().fit(dummies, SPECIES).n_features_in_ == 5
    with pytest.raises(ValueError, match="feature names should match"):
        KNeighborsClassifier().fit(columns, SPECIES).predict({"a": [1], "b": [1], "c": [1], "x": [1]})


@pytest.mark.parametrize("as_table", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_a_column_of_categories_is_named(as_table: Any) -> None:
    table = as_table({"size": [1.0, 2.0, 3.0], "colour": ["red", "blue", "red"]})
    with pytest.raises(ValueError, match=r"column 'colour' holds no numbers \(category\)"):
        KNeighborsClassifier(1).fit(table, [0, 1, 0])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0 is not possible; it must be an int >= 1"),
        ({"weights": "near"}, "weights='near' is not possible"),
        ({"p": 0.5}, "p=0.5 is not possible; it must be a number >= 1, or infinity"),
        ({"metric": "cosine"}, "metric='cosine' is not possible"),
        ({"leaf_size": 0}, "leaf_size=0 is not possible"),
        ({"search": "quick"}, "search='quick' is not possible"),
        ({"spill": 0.5}, "spill=0.5 is not possible"),
        ({"n_jobs": 0}, "n_jobs=0 is not possible"),
    ],
)
def test_parameters_that_cannot_be(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        KNeighborsClassifier(**options).fit(IRIS, SPECIES)


@pytest.mark.parametrize(
    ("metric", "name"), [("l2", "euclidean"), ("cityblock", "manhattan"), ("infinity", "chebyshev")]
)
def test_metrics_have_the_names_of_the_tree(metric: str, name: str) -> None:
    model = KNeighborsClassifier(metric=metric).fit(IRIS, SPECIES)
    assert model.effective_metric_ == name
    same = KNeighborsClassifier(metric=name).fit(IRIS, SPECIES)
    np.testing.assert_array_equal(model.predict(IRIS), same.predict(IRIS))


def test_what_else_cannot_be() -> None:
    model = KNeighborsClassifier().fit(IRIS, SPECIES)
    missing = IRIS.copy()
    missing[7, 2] = np.nan
    with pytest.raises(ValueError, match="row 7, column 2 of the points is NaN"):
        model.fit(missing, SPECIES)
    assert model.score(IRIS, SPECIES) > 0.9  # as it was before
    with pytest.raises(ValueError, match="row 7, column 2 of the queries is NaN"):
        model.predict(missing)
    with pytest.raises(ValueError, match="n_neighbors is 151; it must be at most 150, the number of rows"):
        model.kneighbors(IRIS, 151)
    with pytest.raises(ValueError, match="at most 149, the number of rows of the fit less the query itself"):
        model.kneighbors(n_neighbors=150)
    with pytest.raises(ValueError, match="X has 150 rows, but y has 149"):
        KNeighborsRegressor().fit(IRIS, SPECIES[1:])
    for wrong in (np.zeros_like, np.negative, lambda distance: np.full_like(distance, np.inf)):
        with pytest.raises(ValueError, match=r"weights of the neighbours of row 0 are .* not all zero"):
            KNeighborsRegressor(weights=wrong).fit(IRIS, SPECIES).predict(IRIS + 0.01)
    with pytest.raises(ValueError, match=r"weights gives the shape \(150,\)"):
        KNeighborsRegressor(weights=lambda distance: distance[:, 0]).fit(IRIS, SPECIES).predict(IRIS)
    with pytest.raises(ValueError, match="mode is 'x'"):
        model.kneighbors_graph(IRIS, mode="x")


def test_one_row_and_one_class() -> None:
    model = KNeighborsClassifier(1).fit([[3.0]], ["only"])
    assert model.predict([[9.0]]).tolist() == ["only"]
    assert model.predict_proba([[9.0]]).tolist() == [[1.0]]


@pytest.mark.parametrize("model", [KNeighborsClassifier, KNeighborsRegressor])
def test_parameters_are_those_that_the_documentation_tells(model: Any) -> None:
    own, other = model().get_params(), getattr(sklearn.neighbors, model.__name__)().get_params()
    assert set(other) - set(own) >= {"algorithm", "metric_params"}
    assert set(own) - set(other) == {"search", "spill"}
    assert {name for name in own if name in other and own[name] != other[name]} == {"leaf_size"}
