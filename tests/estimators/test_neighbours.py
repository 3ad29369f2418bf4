"""KNeighborsClassifier and KNeighborsRegressor, beside scikit-learn's."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import sklearn.neighbors
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from treewright import DecisionTreeClassifier, KDTree, KNeighborsClassifier, KNeighborsRegressor

IRIS, SPECIES = load_iris(return_X_y=True)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)


def weights_by_square(distance: Any) -> Any:
    return 1.0 / (1.0 + distance**2)


@pytest.mark.parametrize("weights", ["uniform", "distance", weights_by_square, None])
@pytest.mark.parametrize("p", [1, 2, 3, float("inf")])
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
    fields = frame.to_records(index=False)
    for table in (frame, pl.DataFrame(columns), pa.table(columns), columns, fields, IRIS.tolist()):
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
        ({"p": 0}, "p=0 is not possible; it must be a number > 0, or infinity"),
        ({"metric": "cosinus"}, "metric='cosinus' is not possible"),
        ({"algorithm": "kdtree"}, "algorithm='kdtree' is not possible"),
        ({"metric_params": 3}, "metric_params=3 is not possible"),
        ({"algorithm": "brute", "spill": 0.1}, "spill are for treewright's k-d tree"),
        ({"metric": "cosine", "search": "defeatist"}, "spill are for treewright's k-d tree"),
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
    assert set(other) <= set(own)
    assert set(own) - set(other) == {"search", "spill"}
    assert {name for name in own if name in other and own[name] != other[name]} == {"leaf_size"}


def alike(mine: Any, its: Any, queries: Any) -> None:
    """Whether two fitted models give the same answers."""
    for one, other in zip(mine.kneighbors(queries, 3), its.kneighbors(queries, 3), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    for method in ("predict", "predict_proba"):
        if hasattr(its, method):
            answers = [getattr(model, method)(queries) for model in (mine, its)]
            np.testing.assert_allclose(*answers, rtol=1e-10)
    graphs = [model.kneighbors_graph(queries, 3, mode="distance").toarray() for model in (mine, its)]
    np.testing.assert_allclose(*graphs, rtol=1e-10, atol=1e-12)
    assert mine.effective_metric_ == its.effective_metric_
    assert mine.n_features_in_ == its.n_features_in_


def largest_difference(one: Any, other: Any) -> float:
    return float(np.abs(one - other).max())


PAIRS = [
    (KNeighborsClassifier, sklearn.neighbors.KNeighborsClassifier),
    (KNeighborsRegressor, sklearn.neighbors.KNeighborsRegressor),
]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(
    "options",
    [
        {"algorithm": "brute"},
        {"algorithm": "ball_tree", "p": 3},
        {"metric": "cosine"},
        {"metric": "canberra", "weights": "distance"},
        {"metric": largest_difference},
        {"metric": "seuclidean", "metric_params": {"V": np.array([1.0, 2.0, 3.0])}, "algorithm": "brute"},
    ],
    ids=["brute", "ball_tree", "cosine", "canberra", "function", "seuclidean"],
)
def test_other_searches_and_metrics_are_those_of_scikit_learn(pair: Any, options: dict[str, Any]) -> None:
    random = np.random.default_rng(0)
    X, queries = random.random((80, 3)), random.random((20, 3))
    mine, its = (kind(4, **options).fit(X, (X[:, 0] > 0.5) * 1.0) for kind in pair)
    assert isinstance(mine.model_, sklearn.neighbors.NearestNeighbors)
    alike(mine, its, queries)
    alike(mine, its, None)


def test_the_k_d_tree_serves_what_it_can() -> None:
    for options in ({}, {"algorithm": "kd_tree", "p": 1.5}, {"metric": "cityblock"}, {"p": float("inf")}):
        assert isinstance(KNeighborsClassifier(**options).fit(IRIS, SPECIES).model_, KDTree)
    model = KNeighborsClassifier(p=1.5).fit(IRIS, SPECIES)
    assert (model.effective_metric_, model.effective_metric_params_) == ("minkowski", {"p": 1.5})
    with pytest.warns(UserWarning, match="0 < p < 1"):
        model = KNeighborsClassifier(p=0.5).fit(IRIS, SPECIES)
    assert isinstance(model.model_, sklearn.neighbors.NearestNeighbors)
    with pytest.raises(ValueError, match="0 < p < 1"):
        KNeighborsClassifier(p=0.5, algorithm="kd_tree").fit(IRIS, SPECIES)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("form", [scipy.sparse.csr_matrix, scipy.sparse.coo_array])
def test_sparse_tables(pair: Any, form: Any) -> None:
    random = np.random.default_rng(0)
    X = random.random((60, 5)) * (random.random((60, 5)) < 0.4)
    mine, its = (kind(3).fit(form(X), (X[:, 0] > 0) * 1.0) for kind in pair)
    alike(mine, its, form(X[:9] + 0.01))
    alike(mine, its, X[:9] + 0.01)
    dense = pair[0](3).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="X is sparse, but the fit was dense"):
        dense.predict(form(X))


def test_precomputed_distances() -> None:
    apart = np.abs(IRIS[:, None] - IRIS).sum(axis=2)
    model = KNeighborsClassifier(metric="precomputed").fit(apart[::2, ::2], SPECIES[::2])
    same = KNeighborsClassifier(p=1).fit(IRIS[::2], SPECIES[::2])
    np.testing.assert_array_equal(model.predict(apart[1::2, ::2]), same.predict(IRIS[1::2]))
    by_distance = cross_val_score(KNeighborsClassifier(metric="precomputed"), apart, SPECIES)
    np.testing.assert_array_equal(by_distance, cross_val_score(KNeighborsClassifier(p=1), IRIS, SPECIES))


@pytest.mark.parametrize("form", [scipy.sparse.dok_array, scipy.sparse.bsr_array])
def test_sparse_distances_that_lose_their_zeros_are_refused(form: Any) -> None:
    model = KNeighborsRegressor(n_neighbors=2, metric="precomputed").fit(np.eye(3), [1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="not supported due to its handling of explicit zeros"):
        model.predict(form(np.eye(3)))


def test_a_vote_with_weights_tells_who_takes_none() -> None:
    vote = VotingClassifier([("tree", DecisionTreeClassifier()), ("nearest", KNeighborsClassifier())])
    with pytest.raises(TypeError, match="Underlying estimator KNeighborsClassifier does not support sample"):
        vote.fit([[0.0], [1.0]] * 5, [0, 1] * 5, sample_weight=np.ones(10))


def test_missing_values_where_the_metric_takes_them() -> None:
    X = [[0.0, 1.0], [1.0, np.nan], [2.0, 3.0], [3.0, 5.0]]
    model = KNeighborsClassifier(1, metric="nan_euclidean").fit(X, [0, 0, 1, 1])
    assert model.predict([[np.nan, 4.9], [0.9, np.nan]]).tolist() == [1, 0]


@pytest.mark.parametrize("build", [KDTree, sklearn.neighbors.BallTree])
def test_a_tree_in_place_of_a_table(build: Any) -> None:
    own = KNeighborsClassifier().fit(build(IRIS), SPECIES)
    np.testing.assert_array_equal(own.predict(IRIS), KNeighborsClassifier().fit(IRIS, SPECIES).predict(IRIS))
    assert own.n_features_in_ == 4
    theirs = sklearn.neighbors.NearestNeighbors().fit(build(IRIS))
    assert KNeighborsClassifier().fit(theirs, SPECIES).n_samples_fit_ == 150
    np.testing.assert_array_equal(np.asarray(KDTree(IRIS), np.float32), IRIS.astype(np.float32))


def test_rows_of_the_fit_are_left_out_one_by_one() -> None:
    model = KNeighborsClassifier(3).fit(IRIS, SPECIES)
    others = [
        KNeighborsClassifier(3).fit(np.delete(IRIS, row, 0), np.delete(SPECIES, row)).predict(IRIS[[row]])[0]
        for row in range(150)
    ]
    assert model.predict(None).tolist() == others
    assert model.score(None, SPECIES) == np.mean(np.array(others) == SPECIES)


def test_a_model_that_is_not_fitted() -> None:
    with pytest.raises(NotFittedError, match="This KNeighborsRegressor instance is not fitted yet"):
        KNeighborsRegressor().predict(IRIS)
