"""HistGradientBoostingClassifier and HistGradientBoostingRegressor: what an estimator adds to `boost`."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import sklearn.ensemble
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.utils._param_validation import InvalidParameterError

from treewright import HistGradientBoostingClassifier, HistGradientBoostingRegressor, encode
from treewright.ensembles.gradient_boosting import boost


@pytest.fixture(scope="module")
def two_classes():
    return make_classification(1500, 8, n_informative=5, flip_y=0.1, random_state=0)


@pytest.fixture(scope="module")
def numbers():
    return make_friedman1(1500, 6, noise=1.0, random_state=0)


def test_it_learns(two_classes, numbers):
    X, y = two_classes
    model = HistGradientBoostingClassifier(max_iter=50).fit(X[:1000], y[:1000])
    assert model.score(X[1000:], y[1000:]) > 0.82
    X, y = numbers
    assert HistGradientBoostingRegressor(max_iter=50).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.85
    X, y = load_iris(return_X_y=True)
    model = HistGradientBoostingClassifier(max_iter=20).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9
    assert model.n_trees_per_iteration_ == 3
    assert model.decision_function(X).shape == (150, 3)


def test_answers_belong_together(two_classes):
    X, y = two_classes
    model = HistGradientBoostingClassifier(max_iter=10).fit(X, np.array(["no", "yes"])[y])
    shares, logits = model.predict_proba(X), model.decision_function(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(shares[:, 1], 1 / (1 + np.exp(-logits)))
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(shares))
    assert (model.predict(X) == np.array(["no", "yes"])[(logits > 0).astype(int)]).all()
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_.argmax() in range(8)


def test_stages(two_classes, numbers):
    X, y = two_classes
    model = HistGradientBoostingClassifier(max_iter=6).fit(X, y)
    staged = {
        "predict": model.staged_predict(X),
        "predict_proba": model.staged_predict_proba(X),
        "decision_function": model.staged_decision_function(X),
    }
    for name, stages in staged.items():
        stages = list(stages)
        assert len(stages) == model.n_iter_ == 6
        np.testing.assert_array_equal(stages[-1], getattr(model, name)(X))
    X, y = numbers
    model = HistGradientBoostingRegressor(loss="poisson", max_iter=6).fit(X, np.maximum(y, 0))
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    assert (model.predict(X) > 0).all()


def test_early_stopping_by_the_loss(two_classes):
    X, y = two_classes
    model = HistGradientBoostingClassifier(
        max_iter=500, early_stopping=True, n_iter_no_change=5, random_state=1
    )
    model.fit(X, y)
    assert 5 < model.n_iter_ < 500
    assert len(model.train_score_) == len(model.validation_score_) == model.n_iter_ + 1
    assert max(model.validation_score_[-5:]) <= model.validation_score_[-6] + 1e-7
    assert not any(
        max(model.validation_score_[i - 4 : i + 1]) <= model.validation_score_[i - 5] + 1e-7
        for i in range(5, model.n_iter_)
    )
    again = clone(model).set_params(n_jobs=3).fit(X, y)
    np.testing.assert_array_equal(again.validation_score_, model.validation_score_)
    by_training = clone(model).set_params(validation_fraction=None, max_iter=20).fit(X, y)
    assert by_training.n_iter_ == 20
    assert not len(by_training.validation_score_)


def test_early_stopping_is_for_many_rows(two_classes):
    X, y = two_classes
    few = HistGradientBoostingClassifier(max_iter=3).fit(X, y)
    assert not few.do_early_stopping_
    assert not len(few.train_score_)
    many = HistGradientBoostingClassifier(max_iter=3).fit(np.tile(X, (7, 1)), np.tile(y, 7))
    assert many.do_early_stopping_
    assert len(many.validation_score_) == 4
    exact = HistGradientBoostingClassifier(max_iter=3, max_bins=None, early_stopping=True).fit(X, y)
    assert len(exact.validation_score_) == 4


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", None, "callable"])
def test_early_stopping_by_a_scorer(two_classes, scoring):
    X, y = two_classes

    def scorer(model, X, y):
        return accuracy_score(y, model.predict(X))

    given = scorer if scoring == "callable" else scoring
    model = HistGradientBoostingClassifier(
        max_iter=100, early_stopping=True, scoring=given, n_iter_no_change=3, random_state=0
    ).fit(X, y)
    assert model.n_iter_ < 100
    assert len(model.validation_score_) == len(model.train_score_) == model.n_iter_ + 1
    assert model.validation_score_.min() >= 0
    assert model.validation_score_.max() <= 1
    if scoring is None:
        same = clone(model).set_params(scoring="accuracy").fit(X, y)
        np.testing.assert_array_equal(same.validation_score_, model.validation_score_)


def test_scorers_of_numbers(numbers):
    X, y = numbers
    model = HistGradientBoostingRegressor(
        max_iter=5, early_stopping=True, scoring="r2", validation_fraction=300
    )
    model.fit(X, y, sample_weight=np.linspace(0.5, 1, len(y)))
    assert model.validation_score_[0] == pytest.approx(0, abs=0.05)  # the mean
    assert model.validation_score_[-1] > model.validation_score_[0]


@pytest.mark.parametrize("early_stopping", [False, True])
def test_warm_start_goes_on(two_classes, early_stopping):
    X, y = two_classes
    options = {"early_stopping": early_stopping, "random_state": 0, "max_features": 0.5}
    whole = HistGradientBoostingClassifier(max_iter=12, n_iter_no_change=50, **options).fit(X, y)
    begun = HistGradientBoostingClassifier(max_iter=5, n_iter_no_change=50, warm_start=True, **options).fit(
        X, y
    )
    begun.set_params(max_iter=12).fit(X, y)
    assert begun.n_iter_ == 12
    np.testing.assert_allclose(begun.predict_proba(X), whole.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(begun.validation_score_, whole.validation_score_, rtol=1e-9)
    with pytest.raises(ValueError, match="max_iter is 4, but 12 iterations"):
        begun.set_params(max_iter=4).fit(X, y)
    with pytest.raises(ValueError, match="is not that of the fit"):
        begun.set_params(max_iter=14).fit(X[:, :4], y)
    assert begun.n_iter_ == 12


def test_tables_with_everything():
    rng = np.random.default_rng(0)
    n = 600
    table = {
        "size": [None if rng.random() < 0.1 else float(v) for v in rng.normal(0, 1, n)],
        "kind": [None if rng.random() < 0.1 else str(v) for v in rng.choice(list("abcd"), n)],
        "day": (np.datetime64("2020-01-01") + rng.integers(0, 900, n)).astype("datetime64[D]"),
    }
    y = np.array(
        [
            (kind in ("a", "c")) ^ (day > np.datetime64("2021-06-01"))
            for kind, day in zip(*list(table.values())[1:], strict=True)
        ]
    )
    model = HistGradientBoostingClassifier(max_iter=30).fit(table, y)
    assert model.score(table, y) > 0.95
    assert list(model.feature_names_in_) == ["size", "kind", "day"]
    assert model.predict({"size": [None], "kind": ["zzz"], "day": [None]}).shape == (1,)
    times = [tree.threshold[tree.feature == 2] for (tree,) in model.model_.trees]
    assert not (np.concatenate(times) % 3600e6).any()  # calendar units, here hours


def test_class_weights_are_weights(two_classes):
    X, y = two_classes
    given = HistGradientBoostingClassifier(max_iter=5, class_weight={0: 1, 1: 3}).fit(X, y)
    weighed = HistGradientBoostingClassifier(max_iter=5).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    np.testing.assert_array_equal(given.predict_proba(X), weighed.predict_proba(X))


def test_weightless_rows_are_absent(two_classes):
    X, y = two_classes
    weight = np.ones(len(y))
    weight[500:] = 0
    there = HistGradientBoostingClassifier(max_iter=5).fit(X, y, sample_weight=weight)
    absent = HistGradientBoostingClassifier(max_iter=5).fit(X[:500], y[:500])
    np.testing.assert_array_equal(there.predict_proba(X), absent.predict_proba(X))


def test_the_value_below(numbers):
    X, y = numbers
    model = HistGradientBoostingRegressor(max_iter=4, l2_regularization=2.0, max_depth=4).fit(X, y)
    below = boost(encode(X, y), n_iterations=4, l2_regularization=2.0, max_depth=4)
    assert model.model_.trees == below.trees
    (tree,) = model.model_.trees[0]
    assert tree.height <= 4
    assert str(tree)


def test_pickle_clone_search(two_classes):
    X, y = two_classes
    model = HistGradientBoostingClassifier(max_iter=3, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    search = GridSearchCV(HistGradientBoostingClassifier(max_iter=3), {"max_leaf_nodes": [2, 15]}, cv=2).fit(
        X, y
    )
    assert search.best_params_ == {"max_leaf_nodes": 15}


def test_verbose_tells(two_classes, capsys):
    X, y = two_classes
    HistGradientBoostingClassifier(max_iter=2, verbose=1, early_stopping=True).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("[1/2] 31 leaves, loss 0.")
    assert "validation 0." in lines[0]
    assert lines[2].startswith("2 trees in ")
    HistGradientBoostingClassifier(max_iter=2).fit(X, y)
    assert not capsys.readouterr().out


INTERRUPTED = """
from sklearn.datasets import make_classification
from treewright import HistGradientBoostingClassifier

X, y = make_classification(20_000, 10, random_state=0)
model = HistGradientBoostingClassifier(max_iter=2, early_stopping=False).fit(X, y)
before = model.predict_proba(X[:50])
model.set_params(max_iter=100_000)
print("fitting", flush=True)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print(model.n_iter_, (model.predict_proba(X[:50]) == before).all(), flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT to another process")
def test_interrupted_fits_leave_the_estimator_as_it_was():
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True) as process:
        watch = threading.Timer(120, process.kill)
        watch.start()
        assert process.stdout.readline() == "fitting\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "2 True\n"
        watch.cancel()


def test_what_a_scorer_raises_ends_the_fit(two_classes):
    def scorer(model, X, y):
        raise ZeroDivisionError("no score")

    model = HistGradientBoostingClassifier(early_stopping=True, scoring=scorer)
    with pytest.raises(ZeroDivisionError, match="no score"):
        model.fit(*two_classes)
    with pytest.raises(NotFittedError):
        model.predict(two_classes[0])
    assert not hasattr(model, "feature_importances_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "hinge"}, "loss='hinge'"),
        ({"learning_rate": 0}, "a finite number > 0"),
        ({"max_iter": 0}, "an int >= 1"),
        ({"max_bins": 1000}, "from 2 to 255"),
        ({"early_stopping": "yes"}, "'auto', True or False"),
        ({"validation_fraction": 1.5}, "a number of rows"),
        ({"n_iter_no_change": 0}, "n_iter_no_change=0"),
        ({"warm_start": "yes"}, "True or False"),
        ({"max_delta_step": 0}, "a positive number, 'auto' or None"),
        ({"max_delta_step": "none"}, "a positive number, 'auto' or None"),
    ],
)
def test_parameters_that_cannot_be(two_classes, parameters, message):
    with pytest.raises(InvalidParameterError, match=message):
        HistGradientBoostingClassifier(**parameters).fit(*two_classes)


def test_bad_input(two_classes, numbers):
    X, y = two_classes
    with pytest.raises(ValueError, match="one class only"):
        HistGradientBoostingClassifier().fit(X, np.zeros(len(y), int))
    with pytest.raises(ValueError, match="the weight of every row is zero"):
        HistGradientBoostingClassifier().fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="of 4 rows sets 0 aside"):
        HistGradientBoostingClassifier(early_stopping=True).fit(X[:4], [0, 1, 0, 1])
    with pytest.raises(ValueError, match="sets 5 aside"):
        HistGradientBoostingClassifier(early_stopping=True, validation_fraction=5).fit(X[:4], [0, 1, 0, 1])
    with pytest.raises(ValueError, match="2 columns"):
        HistGradientBoostingRegressor().fit(X, np.c_[y, y])
    with pytest.raises(ValueError, match="in row 7"):
        HistGradientBoostingRegressor(loss="poisson").fit(X[:20], np.where(np.arange(20) == 7, -1.0, 1.0))
    with pytest.raises(InvalidParameterError, match="quantile=None"):
        HistGradientBoostingRegressor(loss="quantile").fit(*numbers)
    with pytest.raises(ValueError, match="numbers and two classes"):
        HistGradientBoostingClassifier(monotonic_cst=[1, 0, 0, 0]).fit(*load_iris(return_X_y=True))
    tiny = HistGradientBoostingRegressor().fit([[1.0], [2.0]], [3.0, 5.0])
    assert tiny.predict([[1.0], [9.0]]).tolist() == [4.0, 4.0]


@pytest.mark.parametrize("model", [HistGradientBoostingClassifier, HistGradientBoostingRegressor])
def test_parameters_are_those_that_the_documentation_tells(model):
    own = model().get_params()
    other = getattr(sklearn.ensemble, model.__name__)().get_params()
    assert set(other) - set(own) >= {"categorical_features", "interaction_cst"}
    steps = {"max_delta_step"} if model is HistGradientBoostingClassifier else set()
    assert set(own) - set(other) == {"kinds", "n_jobs"} | steps
    assert all(own[name] == other[name] for name in own if name in other)
    fitted = model(max_iter=2).fit([[1.0], [2.0]], [3, 5])
    assert not hasattr(fitted, "is_categorical_")
