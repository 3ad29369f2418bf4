"""AdaBoost in scikit-learn's clothes: its curves, its attributes, its company."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.tree
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

from treewright import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    CHAIDClassifier,
    CostComplexity,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    TopDownClassifier,
    certify,
    export,
)
from treewright.ensembles import adaboost


@pytest.mark.slow
@pytest.mark.parametrize(("load", "rate"), [(load_breast_cancer, 1.0), (load_wine, 0.5)])
def test_curves_are_those_of_scikit_learn(load: Callable[..., Any], rate: float) -> None:
    """With stumps both grow the same trees here; so errors, votes and all that follows are the same."""
    x, y = load(return_X_y=True)
    x = x.astype(np.float32).astype(float)  # scikit-learn's trees see no more
    rest = sklearn.tree.DecisionTreeClassifier(max_depth=1)
    theirs = sklearn.ensemble.AdaBoostClassifier(rest, n_estimators=12, learning_rate=rate, random_state=0)
    theirs.fit(x, y)
    ours = AdaBoostClassifier(n_estimators=12, learning_rate=rate).fit(x, y)
    assert ours.estimator_errors_ == pytest.approx(theirs.estimator_errors_)
    assert ours.estimator_weights_ == pytest.approx(theirs.estimator_weights_)
    assert 1 - ours.training_errors_ == pytest.approx(list(theirs.staged_score(x, y)))
    assert list(ours.staged_score(x, y)) == pytest.approx(list(theirs.staged_score(x, y)))
    assert ours.decision_function(x) == pytest.approx(theirs.decision_function(x))
    assert ours.predict_proba(x) == pytest.approx(theirs.predict_proba(x))
    assert ours.predict_log_proba(x) == pytest.approx(theirs.predict_log_proba(x))
    assert ours.feature_importances_ == pytest.approx(theirs.feature_importances_)
    stages = zip(ours.staged_predict_proba(x), theirs.staged_predict_proba(x), strict=True)
    assert all(a == pytest.approx(b) for a, b in stages)
    stages = zip(ours.staged_decision_function(x), theirs.staged_decision_function(x), strict=True)
    assert all(a == pytest.approx(b) for a, b in stages)
    assert all(
        np.array_equal(a, b) for a, b in zip(ours.staged_predict(x), theirs.staged_predict(x), strict=True)
    )


def test_regressor_is_as_good_as_that_of_scikit_learn() -> None:
    """Rows are drawn otherwise, so the trees differ; the errors are alike."""
    x, y = load_diabetes(return_X_y=True)
    half = np.arange(len(y)) % 2 == 0
    theirs = sklearn.ensemble.AdaBoostRegressor(n_estimators=30, random_state=0).fit(x[half], y[half])
    ours = AdaBoostRegressor(n_estimators=30, resample=True, random_state=0).fit(x[half], y[half])
    exact = AdaBoostRegressor(n_estimators=30, resample=False).fit(x[half], y[half])
    score = theirs.score(x[~half], y[~half])
    assert ours.score(x[~half], y[~half]) > score - 0.05
    assert exact.score(x[~half], y[~half]) > score - 0.08
    assert list(exact.staged_score(x, y))[-1] == pytest.approx(exact.score(x, y))
    assert np.array_equal(list(exact.staged_predict(x))[-1], exact.predict(x))
    assert exact.feature_importances_.sum() == pytest.approx(1)


def test_trees_as_estimators() -> None:
    x, y = load_wine(return_X_y=True, as_frame=True)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4).fit(x, y)
    assert len(model.estimators_) == len(model.estimator_weights_) == 4
    scores = np.zeros((len(y), 3))
    for tree, vote in zip(model.estimators_, model.estimator_weights_, strict=True):
        assert isinstance(tree, DecisionTreeClassifier)
        assert tree.get_depth() == 2
        scores[np.arange(len(y)), tree.predict(x)] += vote
    assert np.array_equal(model.predict(x), model.classes_[scores.argmax(axis=1)])
    assert list(model.feature_names_in_) == list(x.columns)
    numbers = AdaBoostRegressor(n_estimators=3).fit(x, y)
    assert [tree.predict(x).shape for tree in numbers.estimators_] == [(len(y),)] * 3


PATTERNS = [
    DecisionTreeClassifier(max_depth=3, criterion="entropy"),
    DecisionTreeClassifier(pruning=CostComplexity(leaves=4, select="leaves")),
    DecisionTreeClassifier(max_depth=2, class_weight="balanced"),
    DecisionTreeClassifier(max_depth=2, costs=[[0, 1, 2], [1, 0, 1], [1, 1, 0]]),
    DecisionTreeClassifier(max_depth=2, missing="surrogate"),
    DecisionTreeClassifier(max_depth=2, ccp_alpha=0.01),
    CARTClassifier(cv=3),
    C45Classifier(min_objs=20),
    CHAIDClassifier(),
    ExtraTreeClassifier(max_depth=3),
]


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: repr(pattern)[:50])
def test_any_tree_can_be_boosted(pattern: Any) -> None:
    x, y = load_wine(return_X_y=True)
    x = x.copy()
    x[::17, 0] = np.nan
    model = AdaBoostClassifier(pattern, n_estimators=4, random_state=0).fit(x, y)
    assert model.score(x, y) > 0.85
    assert (model.training_errors_ <= model.bounds_ + 1e-9).all()
    weight = compute_sample_weight(getattr(pattern, "class_weight", None), y)
    assert 1 - model.score(x, y, weight) == pytest.approx(model.training_errors_[-1])


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 1: 0.5, 2: 1.0}])
def test_classes_are_weighed_once(class_weight: Any) -> None:
    """The weights of the classes are where boosting starts, and no round goes back to them."""
    x, y = load_wine(return_X_y=True)
    x, first = x.astype(np.float32).astype(float), np.linspace(1, 2, len(y))
    stump = DecisionTreeClassifier(max_depth=1, class_weight=class_weight)
    ours = AdaBoostClassifier(stump, n_estimators=12, learning_rate=0.5).fit(x, y, first)
    if class_weight == "balanced":
        start = first * (first.sum() / (3 * np.bincount(y, first)))[y]
    else:
        start = first * compute_sample_weight(class_weight, y)
    theirs = sklearn.ensemble.AdaBoostClassifier(
        sklearn.tree.DecisionTreeClassifier(max_depth=1), n_estimators=12, learning_rate=0.5, random_state=0
    ).fit(x, y, start)
    assert ours.estimator_errors_ == pytest.approx(theirs.estimator_errors_)
    assert ours.estimator_weights_ == pytest.approx(theirs.estimator_weights_)
    assert ours.predict_proba(x) == pytest.approx(theirs.predict_proba(x))


@pytest.mark.slow
def test_balancing_classes_of_one_size_changes_nothing() -> None:
    """So scikit-learn, which balances by the numbers of rows in every round, is the same here, too."""
    x, y = load_iris(return_X_y=True)
    x = x.astype(np.float32).astype(float)
    options = {"max_depth": 1, "class_weight": "balanced"}
    theirs = sklearn.ensemble.AdaBoostClassifier(
        sklearn.tree.DecisionTreeClassifier(**options, random_state=0), random_state=0
    ).fit(x, y)
    ours = AdaBoostClassifier(DecisionTreeClassifier(**options)).fit(x, y)
    plain = AdaBoostClassifier().fit(x, y)
    assert len(ours.estimators_) == len(theirs.estimators_) == 50
    assert ours.model_.trees == plain.model_.trees
    assert ours.score(x, y) >= theirs.score(x, y) - 0.02


def test_each_tree_has_a_seed_of_its_own() -> None:
    x, y = load_wine(return_X_y=True)
    pattern = ExtraTreeClassifier(max_depth=2)
    many = AdaBoostClassifier(pattern, n_estimators=6, random_state=3).fit(x, y)
    few = AdaBoostClassifier(pattern, n_estimators=3, random_state=3).fit(x, y)
    assert few.model_.trees == many.model_.trees[:3]
    other = AdaBoostClassifier(pattern, n_estimators=3, random_state=4).fit(x, y)
    assert other.model_.trees != few.model_.trees
    again = AdaBoostClassifier(pattern.set_params(random_state=3), n_estimators=3).fit(x, y)
    assert again.model_.trees == few.model_.trees
    threads = AdaBoostClassifier(pattern, n_estimators=3, random_state=3, n_jobs=2).fit(x, y)
    assert np.array_equal(threads.predict_proba(x), few.predict_proba(x))


def test_company() -> None:
    """Clones, pickles, pipelines, searches; names, tables of other kinds, labels of any kind."""
    x, y = load_wine(return_X_y=True)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=5)
    fitted = clone(model).fit(x, y)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(x), fitted.predict_proba(x))
    search = GridSearchCV(model, {"estimator__max_depth": [1, 2], "n_estimators": [2, 5]}, cv=2).fit(x, y)
    assert search.best_score_ > 0.8
    assert cross_val_score(make_pipeline(StandardScaler(), model), x, y, cv=2).mean() > 0.8
    numbers = make_pipeline(StandardScaler(), AdaBoostRegressor(n_estimators=5))
    assert numbers.fit(x[:, 1:], x[:, 0]).score(x[:, 1:], x[:, 0]) > 0.5
    names = np.array(["c", "a", "b"])[y]
    assert clone(model).fit(x, names).score(x, names) == fitted.score(x, y)


def test_tables_with_categories_and_gaps() -> None:
    pandas = pytest.importorskip("pandas")
    draw = np.random.default_rng(0)
    size, sky = draw.normal(size=300), draw.choice(["sun", "rain", "fog"], 300)
    y = np.where((size > 0) ^ (sky == "rain"), "in", "out")
    table = {"size": np.where(draw.random(300) < 0.1, np.nan, size), "sky": sky}
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=10).fit(table, y)
    assert model.score(table, y) > 0.9
    frame = pandas.DataFrame(table)
    assert np.array_equal(clone(model).fit(frame, y).predict(frame), model.predict(table))
    assert model.predict({"size": [None, 1.0], "sky": [None, "snow"]}).shape == (2,)
    forced = AdaBoostClassifier(kinds={"size": "category"}).fit(
        {"size": [1, 2, 3, 1], "z": [1, 2, 3, 4]}, list("abba")
    )
    assert forced.model_.schema.columns[0].kind == "category"


def test_margins_and_bounds() -> None:
    x, y = load_breast_cancer(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=20).fit(x, y)
    margins = model.margins(x, y)
    sign = np.where(y == 1, 1, -1)
    assert margins == pytest.approx(sign * model.decision_function(x) / 2)
    errors = model.estimator_errors_
    assert model.bounds_ == pytest.approx(np.cumprod(2 * np.sqrt(errors * (1 - errors))))
    assert (model.bounds_ >= model.training_errors_).all()


def test_certificates() -> None:
    x, y = load_breast_cancer(return_X_y=True)
    half = np.arange(len(y)) % 2 == 0
    model = AdaBoostClassifier(n_estimators=20).fit(x[half], y[half])
    found = model.certify(x[~half], y[~half])
    assert found.error == pytest.approx(1 - model.score(x[~half], y[~half]))
    assert found.error < found.value < 0.15
    assert found.check()
    assert model.certify(x[~half], y[~half], choices=9, delta=0.05).value > found.value
    with pytest.raises(ValueError, match="rows of the fit"):
        model.certify(x[half], y[half])
    assert model.certify(x[half], y[half], check_rows=False).error == model.training_errors_[-1]
    with pytest.raises(ValueError, match="loss_bound is for numbers"):
        model.certify(x[~half], y[~half], loss_bound=1.0)
    with pytest.raises(ValueError, match=r"X has 284 rows, but y has 9"):
        model.certify(x[~half], y[:9])
    numbers = AdaBoostRegressor().fit(x[half], y[half])
    told = numbers.certify(x[~half], y[~half], loss_bound=1.0)
    assert told.guarantee
    assert told.error == pytest.approx(np.mean((numbers.predict(x[~half]) - y[~half]) ** 2))
    assert told.error < told.value < 0.3
    assert not numbers.certify(x[~half], y[~half]).guarantee


def test_one_of_many_trees_has_to_be_named() -> None:
    x, y = load_wine(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=2).fit(x, y)
    for many, which in ((model, r"model_\.trees\[0\]"), (model.model_, r"such as the first: trees\[0\]")):
        with pytest.raises(TypeError, match=which):
            certify(many, test=(x, y))
    assert export(model.model_.trees[0], "text").startswith("178 rows")


def test_a_fit_that_fails_leaves_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = load_wine(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=6).fit(x, y)
    before, state = model.predict_proba(x), dict(vars(model))
    grown = adaboost.codes
    calls = iter(range(100))

    def interrupted(*given: Any) -> Any:
        if next(calls) == 3:
            raise KeyboardInterrupt
        return grown(*given)

    monkeypatch.setattr(adaboost, "codes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(x[:, :3], y)
    monkeypatch.undo()
    assert vars(model) == state
    assert np.array_equal(model.predict_proba(x), before)


def test_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    x, y = load_wine(return_X_y=True)
    AdaBoostClassifier(n_estimators=3, verbose=1).fit(x, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[1].startswith("tree 2 of 3: error 0.")
    assert "training error" in lines[1]
    AdaBoostRegressor(n_estimators=2, verbose=1).fit(x, y)
    assert capsys.readouterr().out.count("tree ") == 2
    AdaBoostClassifier(n_estimators=3).fit(x, y)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (AdaBoostClassifier(n_estimators=0), ValueError, "n_estimators=0"),
        (AdaBoostClassifier(learning_rate=0.0), ValueError, r"learning_rate=0\.0"),
        (AdaBoostClassifier(algorithm="SAMME.R"), ValueError, r"algorithm='SAMME\.R'"),
        (AdaBoostClassifier(verbose=-1), ValueError, "verbose=-1"),
        (AdaBoostClassifier(kinds=3), ValueError, "kinds=3"),
        (AdaBoostClassifier(n_jobs=0), ValueError, "n_jobs=0"),
        (AdaBoostClassifier(DecisionTreeRegressor()), TypeError, "it must predict classes"),
        (AdaBoostRegressor(CARTClassifier()), TypeError, "it must predict numbers"),
        (
            AdaBoostClassifier(DecisionTreeClassifier(kinds={})),
            ValueError,
            "give kinds to AdaBoostClassifier",
        ),
        (AdaBoostClassifier(DecisionTreeClassifier(max_depth=0)), ValueError, "max_depth=0"),
        (AdaBoostClassifier(algorithm="M1"), ValueError, "algorithm='SAMME', which is for 3 classes"),
        (
            AdaBoostRegressor(loss="cubic"),
            ValueError,
            "loss='cubic' is not possible; it must be one of 'linear', 'square'",
        ),
        (AdaBoostRegressor(resample="no"), ValueError, "resample='no'"),
    ],
)
def test_bad_parameters(model: Any, error: type[Exception], message: str) -> None:
    x = np.arange(12.0).reshape(-1, 1)
    with pytest.raises(error, match=message):
        model.fit(x, np.arange(12) % 3)


def test_bad_input() -> None:
    x, y = load_wine(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=2)
    with pytest.raises(NotFittedError):
        model.predict(x)
    with pytest.raises(AttributeError, match="not fitted"):
        _ = model.estimators_
    with pytest.raises(ValueError, match="one target"):
        model.fit(x, np.stack([y, y], axis=1))
    with pytest.raises(ValueError, match="weight"):
        model.fit(x, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="weight"):
        model.fit(x, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="rows"):
        model.fit(x[:0], y[:0])
    model.fit(x, y)
    with pytest.raises(ValueError, match="features"):
        model.predict(x[:, :3])
    one = AdaBoostClassifier().fit(x, np.zeros(len(y)))
    assert one.predict_proba(x).tolist() == [[1.0]] * len(x)
    assert one.decision_function(x).shape == (len(x), 1)
    assert AdaBoostRegressor().fit(x[:1], y[:1]).predict(x[:2]).tolist() == [0.0, 0.0]


def test_pruned_trees_of_numbers() -> None:
    x, y = load_diabetes(return_X_y=True)
    for pattern in (CARTRegressor(cv=3), DecisionTreeRegressor(max_depth=2, criterion="absolute_error")):
        model = AdaBoostRegressor(pattern, n_estimators=3, random_state=0).fit(x, y)
        assert model.score(x, y) > 0.3
    assert (
        AdaBoostClassifier(TopDownClassifier(n_splits=3), n_estimators=3).fit(x, y > 150).score(x, y > 150)
        > 0.7
    )
