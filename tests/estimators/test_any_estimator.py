"""Bagging and AdaBoost of other estimators than treewright's trees: scikit-learn's classes are the oracle."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.tree
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from treewright import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)

IRIS, SPECIES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
DIABETES, PROGRESS = load_diabetes(return_X_y=True)
WEIGHT = np.random.default_rng(0).integers(1, 4, 150).astype(float)
FOLDS = [(np.flatnonzero(np.arange(150) % 3 != k), np.flatnonzero(np.arange(150) % 3 == k)) for k in range(3)]
LINES = make_pipeline(StandardScaler(), LogisticRegression())
PEERS = {
    BaggingClassifier: sklearn.ensemble.BaggingClassifier,
    BaggingRegressor: sklearn.ensemble.BaggingRegressor,
    AdaBoostClassifier: sklearn.ensemble.AdaBoostClassifier,
    AdaBoostRegressor: sklearn.ensemble.AdaBoostRegressor,
}
ENSEMBLES: list[tuple[Any, Any, dict[str, Any]]] = [
    (BaggingClassifier, LINES, {"max_samples": 0.5}),
    (BaggingClassifier, KNeighborsClassifier(3), {"max_features": 2, "bootstrap": False}),
    (BaggingClassifier, sklearn.tree.DecisionTreeClassifier(), {"bootstrap_features": True}),
    (BaggingRegressor, LinearRegression(), {"max_features": 0.5}),
    (AdaBoostClassifier, LogisticRegression(), {"learning_rate": 0.5}),
    (AdaBoostClassifier, sklearn.tree.DecisionTreeClassifier(max_depth=2), {}),
    (AdaBoostRegressor, LinearRegression(), {"loss": "square"}),
]


def rows_for(kind: Any) -> tuple[Any, Any]:
    """A table and a target of the kind that an ensemble predicts."""
    return (IRIS, NAMES) if kind._predicts_classes else (DIABETES, PROGRESS)


@pytest.mark.parametrize(("kind", "estimator", "options"), ENSEMBLES)
def test_it_is_the_ensemble_of_scikit_learn(kind: Any, estimator: Any, options: dict[str, Any]) -> None:
    x, y = rows_for(kind)
    ours = kind(estimator, n_estimators=4, random_state=1, **options).fit(x, y)
    theirs = PEERS[kind](estimator, n_estimators=4, random_state=1, **options).fit(x, y)
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        assert hasattr(ours, method) == hasattr(theirs, method)
        if hasattr(theirs, method):
            with np.errstate(divide="ignore"):
                assert_array_equal(getattr(ours, method)(x), getattr(theirs, method)(x))
    for name in ("estimators_samples_", "estimators_features_", "estimator_weights_", "estimator_errors_"):
        if hasattr(theirs, name):
            assert_array_equal(getattr(ours, name), getattr(theirs, name))
            assert getattr(ours, name)[0].dtype == getattr(theirs, name)[0].dtype
    assert [type(each) for each in ours.estimators_] == [type(each) for each in theirs.estimators_]
    assert type(ours.estimator_) is type(estimator)
    assert ours.n_features_in_ == x.shape[1]
    assert ours.score(x, y) == theirs.score(x, y)
    again = pickle.loads(pickle.dumps(ours))
    assert_array_equal(again.predict(x), ours.predict(x))
    assert type(clone(ours).estimator) is type(estimator)


def test_stages_are_those_of_scikit_learn() -> None:
    ours = AdaBoostClassifier(LogisticRegression(), n_estimators=4).fit(IRIS, NAMES, WEIGHT)
    theirs = sklearn.ensemble.AdaBoostClassifier(LogisticRegression(), n_estimators=4).fit(
        IRIS, NAMES, WEIGHT
    )
    for name in ("staged_predict", "staged_predict_proba", "staged_decision_function"):
        assert_array_equal(list(getattr(ours, name)(IRIS)), list(getattr(theirs, name)(IRIS)))
    assert list(ours.staged_score(IRIS, NAMES)) == list(theirs.staged_score(IRIS, NAMES))


def test_columns_that_others_find_important() -> None:
    tree = sklearn.tree.DecisionTreeClassifier(random_state=0)
    model = BaggingClassifier(tree, max_features=2, random_state=0).fit(IRIS, SPECIES)
    expected = np.zeros(4)
    for each, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        expected[columns] += each.feature_importances_ / 10
    assert_allclose(model.feature_importances_, expected)
    boosted = AdaBoostClassifier(tree.set_params(max_depth=2), n_estimators=5).fit(IRIS, SPECIES)
    shares = [each.feature_importances_ for each in boosted.estimators_]
    expected = np.average(shares, axis=0, weights=boosted.estimator_weights_[: len(shares)])
    assert_allclose(boosted.feature_importances_, expected)
    with pytest.raises(AttributeError, match="feature_importances_"):
        _ = BaggingClassifier(LINES).fit(IRIS, SPECIES).feature_importances_


def test_rows_out_of_bag_and_warm_starts() -> None:
    settings: dict[str, Any] = {"estimator": LINES, "random_state": 0}
    ours = BaggingClassifier(n_estimators=30, oob_score=True, **settings).fit(IRIS, SPECIES)
    theirs = sklearn.ensemble.BaggingClassifier(n_estimators=30, oob_score=True, **settings).fit(
        IRIS, SPECIES
    )
    assert ours.oob_score_ == theirs.oob_score_
    assert_array_equal(ours.oob_decision_function_, theirs.oob_decision_function_)
    started = BaggingClassifier(n_estimators=5, warm_start=True, **settings).fit(IRIS, SPECIES)
    first = started.estimators_[0]
    started.set_params(n_estimators=30).fit(IRIS, SPECIES)
    assert started.estimators_[0] is first
    assert_array_equal(started.predict_proba(IRIS), theirs.predict_proba(IRIS))
    with pytest.raises(ValueError, match="warm_start=True continues with the kind of estimator"):
        started.set_params(estimator=None, n_estimators=40).fit(IRIS, SPECIES)


@pytest.mark.parametrize("kind", PEERS)
def test_one_fit_leaves_nothing_of_the_other(kind: Any) -> None:
    x, y = rows_for(kind)
    other = LogisticRegression() if kind._predicts_classes else LinearRegression()
    model = kind(n_estimators=3, random_state=0).fit(x, y)
    of_trees = set(vars(model))
    model.set_params(estimator=other).fit(x, y)
    assert not hasattr(model, "model_")
    plain = kind(other, n_estimators=3, random_state=0).fit(x, y)
    assert set(vars(model)) == set(vars(plain))
    assert_array_equal(model.predict(x), plain.predict(x))
    model.set_params(estimator=None).fit(x, y)
    assert set(vars(model)) == of_trees
    assert_array_equal(model.predict(x), kind(n_estimators=3, random_state=0).fit(x, y).predict(x))


def test_what_is_for_trees_needs_trees() -> None:
    model = BaggingClassifier(LINES, n_estimators=3).fit(IRIS, SPECIES)
    for action in (lambda: model.apply(IRIS), lambda: model.proximity(IRIS), lambda: model.model_):
        with pytest.raises(AttributeError):
            action()
    with pytest.raises(AttributeError, match="was fitted with Pipeline as its estimator; model_, apply"):
        model.oob_importance(IRIS, SPECIES)
    refused: list[tuple[Any, str]] = [
        (BaggingClassifier(LINES, voting="hard"), "voting='hard' is for treewright's trees"),
        (
            AdaBoostClassifier(LogisticRegression(), algorithm="M1"),
            "algorithm='M1' is for treewright's trees",
        ),
        (AdaBoostRegressor(LinearRegression(), resample=False), "resample=False is for treewright's trees"),
    ]
    for ensemble, message in refused:
        with pytest.raises(ValueError, match=message):
            ensemble.fit(IRIS, SPECIES)
    with pytest.raises(TypeError, match="X is a dict, which estimators other than treewright's trees"):
        BaggingClassifier(LINES).fit({"x": [1.0, 2.0]}, [0, 1])
    with pytest.raises(NotFittedError):
        BaggingClassifier(LINES).predict(IRIS)


def test_a_tree_with_methods_of_its_own_is_no_tree_of_the_package() -> None:
    class Contrary(DecisionTreeClassifier):
        def predict(self, X: Any, check_input: bool = True) -> Any:
            return 2 - super().predict(X)

        def predict_proba(self, X: Any, check_input: bool = True) -> Any:
            return super().predict_proba(X)[:, ::-1]

    model = BaggingClassifier(Contrary(), random_state=0).fit(IRIS, SPECIES)
    assert not hasattr(model, "model_")
    assert model.score(IRIS, 2 - SPECIES) > 0.95


def test_certificates_from_rows_that_no_estimator_has_seen() -> None:
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    model = BaggingClassifier(LINES, n_estimators=5, random_state=0).fit(IRIS[train], NAMES[train])
    certificate = model.certify(IRIS[test], NAMES[test])
    wrong = (model.predict(IRIS[test]) != NAMES[test]).sum()
    assert certificate.rows == 75
    assert wrong / 75 < certificate.value < wrong / 75 + 0.15
    with pytest.raises(ValueError, match="rows of the fit"):
        model.certify(IRIS[train], NAMES[train])


@pytest.mark.parametrize(
    "model",
    [
        BaggingClassifier(n_estimators=3, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3, random_state=0),
        BaggingClassifier(LogisticRegression(), n_estimators=3, random_state=0),
        AdaBoostClassifier(n_estimators=3),
    ],
)
def test_weights_are_routed(model: Any) -> None:
    """Each fold is fitted with its share of the weights, as by hand."""
    with sklearn.config_context(enable_metadata_routing=True):
        asked = clone(model).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        assert asked.get_metadata_routing() is not None
        found = cross_validate(asked, IRIS, SPECIES, params={"sample_weight": WEIGHT}, cv=FOLDS)
        scores = [
            clone(model).fit(IRIS[train], SPECIES[train], sample_weight=WEIGHT[train]) for train, _ in FOLDS
        ]
        expected = [
            each.score(IRIS[test], SPECIES[test]) for each, (_, test) in zip(scores, FOLDS, strict=True)
        ]
    assert_array_equal(found["test_score"], expected)


def test_inside_scikit_learn() -> None:
    for model in (
        BaggingRegressor(LinearRegression(), random_state=0),
        BaggingRegressor(DecisionTreeRegressor()),
    ):
        assert cross_val_score(model, DIABETES, PROGRESS, cv=3).mean() > 0.3
