"""The neighbours: what reads, wraps, searches, stores and explains scikit-learn's trees takes ours, too."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pytest
import sklearn
import sklearn.tree
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    StackingClassifier,
    VotingRegressor,
)
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from treewright import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from treewright.estimators.sklearn_view import float32_proof

pytestmark = pytest.mark.slow

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
BOTH = [(DecisionTreeClassifier(max_depth=4), IRIS), (DecisionTreeRegressor(max_depth=4), DIABETES)]
ALL = [*BOTH, (ExtraTreeClassifier(random_state=1), IRIS), (ExtraTreeRegressor(random_state=1), DIABETES)]


def name_of(value) -> str:
    return type(value).__name__ if hasattr(value, "fit") else "data"


# ---- the view ----------------------------------------------------------------------------------------------


@given(
    threshold=st.floats(-1e30, 1e30, allow_nan=False),
    values=st.lists(st.floats(-1e30, 1e30, allow_nan=False), min_size=1),
)
def test_float32_proof(threshold: float, values: list[float]) -> None:
    """Cast or not, what was at most the threshold still is; what was above stays so, but for its cast."""
    proof = float(float32_proof(np.array([threshold]))[0])
    x = np.array([*values, threshold])
    cast = x.astype(np.float32).astype(np.float64)
    below = x <= threshold
    assert np.all(cast[below] <= proof)
    assert np.all(x[below] <= proof)
    far = cast > np.float64(np.float32(threshold))
    assert np.all(cast[far] > proof)


def test_view_of_categories_is_refused_by_name() -> None:
    model = DecisionTreeClassifier().fit({"sky": ["a", "b", "c", "a"], "n": [1, 1, 1, 1]}, [0, 1, 0, 0])
    with pytest.raises(AttributeError, match="'sky'"):
        _ = model.tree_
    assert model.predict({"sky": ["b"], "n": [1]}).tolist() == [1]
    assert model.feature_importances_.tolist() == [1.0, 0.0]
    assert model.decision_path({"sky": ["b"], "n": [1]}).nnz == 2


def test_view_is_made_once_and_for_this_tree() -> None:
    model = DecisionTreeClassifier().fit(*IRIS)
    view = model.tree_
    assert model.tree_ is view
    model.set_params(max_depth=1).fit(*IRIS)
    assert model.tree_.node_count == 3


@pytest.mark.slow
def test_no_recursion() -> None:
    """A path through 100,000 nodes, and the view of such a tree."""
    depth = 100_000
    number = np.arange(2 * depth + 1)
    inner = (number % 2 == 0) & (number < 2 * depth)
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    model.model_ = dataclasses.replace(
        model.model_,
        end=np.where(number % 2 == 0, 2 * depth + 1, number + 1).astype(np.int32),
        feature=np.where(inner, 0, -1).astype(np.int32),
        threshold=np.where(inner, number, np.nan).astype(float),
        subset=np.full(len(number), -1, np.int64),
        missing_left=np.zeros(len(number), bool),
        step=np.where(inner, number // 2, -1).astype(np.int32),
        rows=np.ones(len(number), np.int64),
        statistic=np.ones((len(number), 2)),
    )
    path = model.decision_path([[1e9], [-1.0]])
    assert path.sum(axis=1).ravel().tolist() == [[depth + 1, 2]]
    assert model.get_depth() == model.tree_.max_depth == depth
    np.testing.assert_array_equal(
        path.indices, model.tree_.decision_path(np.float32([[1e9], [-1.0]])).indices
    )


def test_missing_values_in_the_view() -> None:
    X = np.array([[np.nan], [np.nan], [1.0], [2.0], [3.0], [np.nan]])
    y = [1, 1, 0, 0, 1, 1]
    model = DecisionTreeClassifier().fit(X, y)
    np.testing.assert_array_equal(model.tree_.apply(X.astype(np.float32)), model.apply(X))
    assert model.predict(X).tolist() == y


# ---- pictures and texts ------------------------------------------------------------------------------------


def test_export_text() -> None:
    model = DecisionTreeClassifier(max_depth=2).fit(*IRIS)
    text = sklearn.tree.export_text(model, feature_names=list("abcd"), show_weights=True)
    assert text.splitlines()[0] == "|--- c <= 2.00"
    assert text.count("class:") == model.get_n_leaves()
    regressor = DecisionTreeRegressor(max_depth=2).fit(*DIABETES)
    assert sklearn.tree.export_text(regressor).count("value:") == regressor.get_n_leaves()


@pytest.mark.parametrize(("model", "data"), ALL, ids=name_of)
def test_plot_tree(model, data) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    fitted = clone(model).set_params(max_depth=3).fit(*data)
    drawn = sklearn.tree.plot_tree(fitted, filled=True, impurity=True, proportion=True)
    boxes = [note for note in drawn if "samples" in note.get_text() or "%" in note.get_text()]
    assert len(boxes) == fitted.tree_.node_count
    pyplot.close("all")


@pytest.mark.parametrize(("model", "data"), ALL, ids=name_of)
def test_export_graphviz(model, data) -> None:
    fitted = clone(model).fit(*data)
    dot = sklearn.tree.export_graphviz(fitted, filled=True)
    assert dot.count("label=") >= fitted.tree_.node_count
    assert dot.count("->") == fitted.tree_.node_count - 1


@pytest.mark.parametrize(("model", "data"), BOTH, ids=name_of)
def test_dtreeviz(model, data) -> None:
    dtreeviz = pytest.importorskip("dtreeviz")
    X, y = data
    fitted = clone(model).fit(X, y)
    names = [f"c{i}" for i in range(X.shape[1])]
    classes = ["a", "b", "c"] if len(np.unique(y)) == 3 else None
    shown = dtreeviz.model(
        fitted, X_train=X, y_train=y, feature_names=names, target_name="y", class_names=classes
    )
    shadow = shown.shadow_tree
    assert shadow.nnodes() == fitted.tree_.node_count
    for node in shadow.internal:  # what its picture draws left and right is what the tree sends there
        left, right = shadow.get_split_samples(node.id)
        assert len(left) == fitted.tree_.n_node_samples[node.left.id]
        assert len(right) == fitted.tree_.n_node_samples[node.right.id]
    assert "if" in shown.explain_prediction_path(X[0]) or "<" in shown.explain_prediction_path(X[0])


# ---- shap --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "data"), ALL, ids=name_of)
def test_shap(model, data) -> None:
    """The parts add up to the prediction, even for rows on a threshold, which shap casts to float32."""
    shap = pytest.importorskip("shap")
    X, y = data
    fitted = clone(model).fit(X, y)
    explainer = shap.TreeExplainer(fitted)
    values = explainer.shap_values(X, check_additivity=True)
    told = fitted.predict_proba(X) if hasattr(fitted, "predict_proba") else fitted.predict(X)
    np.testing.assert_allclose(values.sum(axis=1) + explainer.expected_value, told, atol=1e-6)


def test_shap_with_missing_values() -> None:
    shap = pytest.importorskip("shap")
    X, y = (np.array(part) for part in IRIS)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    fitted = DecisionTreeClassifier(max_depth=5).fit(X, y)
    explainer = shap.TreeExplainer(fitted)
    values = explainer.shap_values(X, check_additivity=False)
    total = values.sum(axis=1) + explainer.expected_value
    np.testing.assert_allclose(total, fitted.predict_proba(X), atol=1e-6)


# ---- storing and sharing -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "data"), ALL, ids=name_of)
def test_pickle_joblib_and_copies(model, data, tmp_path: Path) -> None:
    X, y = data
    fitted = clone(model).fit(X, y)
    assert fitted.tree_.node_count > 1  # a view that was made is not stored
    joblib.dump(fitted, tmp_path / "model.joblib")
    stored = [
        pickle.loads(pickle.dumps(fitted)),
        joblib.load(tmp_path / "model.joblib"),
        joblib.load(tmp_path / "model.joblib", mmap_mode="r"),
        copy.deepcopy(fitted),
        copy.copy(fitted),
    ]
    for other in stored:
        assert "_view" not in vars(other) or other._view is fitted._view
        np.testing.assert_array_equal(other.predict(X), fitted.predict(X))
        np.testing.assert_array_equal(other.tree_.threshold, fitted.tree_.threshold)
        assert other.get_params() == fitted.get_params()


@pytest.mark.slow
def test_a_pickle_loads_in_a_fresh_process(tmp_path: Path) -> None:
    X, y = IRIS
    fitted = DecisionTreeClassifier().fit({"a": X[:, 0], "b": np.where(X[:, 2] > 3, "long", "short")}, y)
    table = {"a": [5.0, 6.0], "b": ["long", "short"]}
    (tmp_path / "model.pickle").write_bytes(pickle.dumps((fitted, table, fitted.predict(table))))
    code = (
        "import pickle, sys; model, table, told = pickle.load(open(sys.argv[1], 'rb')); "
        "assert (model.predict(table) == told).all(); print('same')"
    )
    run = [sys.executable, "-c", code, str(tmp_path / "model.pickle")]
    assert subprocess.run(run, capture_output=True, text=True, check=True, timeout=120).stdout == "same\n"


def test_fitted_state_is_plain_arrays() -> None:
    """No native object is stored: what writes arrays and plain values can write a model."""
    fitted = DecisionTreeClassifier().fit(*IRIS)
    _ = fitted.tree_
    for name, value in fitted.__getstate__().items():
        assert type(value).__module__.partition(".")[0] in ("builtins", "numpy", "treewright"), name
    for name, value in vars(fitted.model_).items():
        assert type(value).__module__.partition(".")[0] in ("builtins", "numpy", "treewright"), name


def test_clone_keeps_the_parameters_only() -> None:
    fitted = DecisionTreeClassifier(max_depth=3, threshold="midpoint", kinds={"x0": "number"}).fit(*IRIS)
    other = clone(fitted)
    assert other.get_params() == fitted.get_params()
    assert not hasattr(other, "model_")


def test_repr_shows_what_is_set() -> None:
    assert repr(DecisionTreeClassifier(max_depth=3)) == "DecisionTreeClassifier(max_depth=3)"
    assert "max_leaf_nodes" in repr(ExtraTreeRegressor(max_leaf_nodes=4))
    assert "DecisionTreeClassifier" in DecisionTreeClassifier()._repr_html_()


def test_many_threads_may_use_one_estimator() -> None:
    X, y = IRIS
    model = DecisionTreeClassifier().fit(X, y)

    def work(part: int) -> bool:
        if part % 5 == 0:
            model.fit(X, y)
        return bool((model.predict(X) == y).all())

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(100)))


# ---- searching, wrapping, chaining -------------------------------------------------------------------------


def test_grid_search() -> None:
    search = GridSearchCV(
        DecisionTreeClassifier(),
        {
            "max_depth": [1, 3],
            "criterion": ["gini", "sqrt"],
            "ccp_alpha": [0.0, 0.01],
            "max_leaf_nodes": [None, 5],
        },
        cv=3,
    ).fit(*IRIS)
    assert search.best_score_ > 0.9
    assert cross_val_score(DecisionTreeRegressor(max_depth=3), *DIABETES, cv=3).mean() > 0.2


@pytest.mark.slow
def test_processes() -> None:
    scores = cross_val_score(DecisionTreeClassifier(), *IRIS, cv=4, n_jobs=2)
    np.testing.assert_array_equal(scores, cross_val_score(DecisionTreeClassifier(), *IRIS, cv=4))


def test_pipeline_and_columns() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"a": [1.0, 2.0, 3.0, 4.0], "b": ["x", "y", "x", "y"], "c": [0.1, 0.2, 0.3, 0.4]}
    )
    columns = ColumnTransformer(
        [("hot", OneHotEncoder(sparse_output=False), ["b"]), ("scale", StandardScaler(), ["a"])],
        remainder="passthrough",
    ).set_output(transform="pandas")
    model = make_pipeline(columns, DecisionTreeClassifier()).fit(frame, [0, 1, 0, 1])
    assert model.predict(frame).tolist() == [0, 1, 0, 1]
    assert model[-1].feature_names_in_.tolist() == ["hot__b_x", "hot__b_y", "scale__a", "remainder__c"]
    columns.set_output(transform="polars")
    assert clone(model).fit(frame, [0, 1, 0, 1]).predict(frame).tolist() == [0, 1, 0, 1]
    untouched = make_pipeline("passthrough", DecisionTreeClassifier()).fit(frame, [0, 1, 0, 1])
    assert untouched.predict(frame).tolist() == [0, 1, 0, 1]


def test_set_output_leaves_predictions_alone() -> None:
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(DecisionTreeClassifier().fit(*IRIS).predict(IRIS[0]), np.ndarray)


def test_metadata_routing() -> None:
    X, y = IRIS
    weight = np.where(y == 0, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        model = make_pipeline(scaler, DecisionTreeClassifier().set_fit_request(sample_weight=True))
        model.fit(X, y, sample_weight=weight)
        assert 0 not in model.predict(X)
        scored = (
            DecisionTreeClassifier().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        )
        result = cross_validate(scored, X, y, params={"sample_weight": weight}, error_score="raise")
        assert len(result["test_score"]) == 5
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            make_pipeline(scaler, DecisionTreeClassifier()).fit(X, y, sample_weight=weight)
    for estimator in (DecisionTreeClassifier(), DecisionTreeRegressor()):
        assert set(estimator.get_metadata_routing().fit.requests) == {"sample_weight", "validation"}
        assert estimator.get_metadata_routing().predict.requests == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrapper",
    [
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=5),
        BaggingClassifier(ExtraTreeClassifier(), n_estimators=5, max_features=0.7, random_state=0),
        CalibratedClassifierCV(DecisionTreeClassifier(max_depth=3), cv=3),
        StackingClassifier([("a", DecisionTreeClassifier(max_depth=2)), ("b", ExtraTreeClassifier())]),
    ],
    ids=name_of,
)
def test_wrapped_classifiers(wrapper) -> None:
    assert wrapper.fit(*IRIS).score(*IRIS) > 0.9


def test_wrapped_regressors() -> None:
    boosted = AdaBoostRegressor(DecisionTreeRegressor(max_depth=4), n_estimators=5, random_state=0)
    voted = VotingRegressor(
        [("a", DecisionTreeRegressor(max_depth=3)), ("b", ExtraTreeRegressor(random_state=0))]
    )
    for model in (boosted, voted):
        assert model.fit(*DIABETES).score(*DIABETES) > 0.3


def test_chains_of_several_targets() -> None:
    X, y = IRIS
    several = np.stack([y == 0, y == 2], axis=1)
    assert ClassifierChain(DecisionTreeClassifier()).fit(X, several).predict(X).shape == (150, 2)


def test_importance_by_permutation() -> None:
    model = DecisionTreeClassifier(max_depth=3).fit(*IRIS)
    found = permutation_importance(model, *IRIS, n_repeats=2, random_state=0).importances_mean
    assert found[[2, 3]].max() > found[[0, 1]].max()


@pytest.mark.parametrize("method", ["auto", "brute", "recursion"])
def test_partial_dependence(method: str) -> None:
    X, y = DIABETES
    model = DecisionTreeRegressor(max_depth=3).fit(X, y)
    theirs = sklearn.tree.DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y)
    ours = partial_dependence(model, X, [2], method=method, grid_resolution=10)["average"]
    expected = partial_dependence(theirs, X, [2], method=method, grid_resolution=10)["average"]
    np.testing.assert_allclose(ours, expected, rtol=1e-6)


def test_a_larger_table_end_to_end() -> None:
    X, y = make_classification(2000, 12, n_informative=6, random_state=0)
    scores = cross_val_score(DecisionTreeClassifier(min_samples_leaf=5), X, y, cv=3)
    theirs = cross_val_score(
        sklearn.tree.DecisionTreeClassifier(min_samples_leaf=5, random_state=0), X, y, cv=3
    )
    assert scores.mean() > theirs.mean() - 0.03
