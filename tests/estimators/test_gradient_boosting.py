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
import pandas as pd
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


def test_a_warm_start_grows_the_trees_of_one_long_fit_to_the_bit():
    X, y = make_friedman1(n_samples=100, random_state=0)
    begun = HistGradientBoostingRegressor(max_iter=10, warm_start=True).fit(X, y)
    begun.set_params(max_iter=30).fit(X, y)
    whole = HistGradientBoostingRegressor(max_iter=30).fit(X, y)
    for [tree], [same] in zip(begun.model_.trees, whole.model_.trees, strict=True):
        np.testing.assert_array_equal(tree.value, same.value)


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
    np.testing.assert_array_equal(begun.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_allclose(begun.validation_score_, whole.validation_score_, rtol=1e-9)
    with pytest.raises(ValueError, match="max_iter=4 must be larger than or equal to n_iter_=12"):
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
    below = boost(encode(X, y), max_iter=4, l2_regularization=2.0, max_depth=4)
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


@pytest.mark.parametrize("options", [{}, {"early_stopping": True}, {"max_bins": None}])
def test_a_target_of_one_class(options):
    X = np.random.default_rng(0).random((60, 2))
    model = HistGradientBoostingClassifier(max_iter=3, **options).fit(X, ["a"] * 60)
    assert model.predict([[0, 0], [1, 1]]).tolist() == ["a", "a"]
    assert model.predict_proba([[0, 0], [1, 1]]).tolist() == [[1], [1]]
    assert model.decision_function([[0, 0]]) < 0
    again = pickle.loads(pickle.dumps(model)).model_
    assert again.predict_proba([[0, 0]]).tolist() == [[1]]


def test_classes_without_weight_are_improbable():
    X = np.random.default_rng(0).random((60, 2))
    y, weight = np.repeat([0, 1, 2], 20), np.repeat([1, 0, 0], 20)
    model = HistGradientBoostingClassifier(max_iter=3).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict_proba(X), [[1, 0, 0]] * 60, atol=1e-15)


def test_bad_input(two_classes, numbers):
    X, y = two_classes
    with pytest.raises(ValueError, match="the weight of every row is zero"):
        HistGradientBoostingClassifier().fit(X, y, sample_weight=np.zeros(len(y)))
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
    assert set(other) <= set(own)
    steps = {"max_delta_step"} if model is HistGradientBoostingClassifier else set()
    assert set(own) - set(other) == {"kinds", "n_jobs"} | steps
    assert all(own[name] == other[name] for name in own if name in other)
    assert model(max_iter=2).fit([[1.0], [2.0]], [3, 5]).is_categorical_ is None


MODELS = [
    (HistGradientBoostingClassifier, sklearn.ensemble.HistGradientBoostingClassifier),
    (HistGradientBoostingRegressor, sklearn.ensemble.HistGradientBoostingRegressor),
]


def coarse_table(n=600, seed=0):
    """Columns of few values, so that scikit-learn's trees are the same, one of them of categories."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 40, (n, 4)).astype(float)
    X[:, 1] = random.integers(0, 9, n)
    y = (X[:, 0] * X[:, 2] / 40 + 12 * np.isin(X[:, 1], [1, 4, 6]) + random.normal(0, 4, n)).round(3)
    return X, y


def table_of_truth_values(n=600):
    """Columns of two values have one threshold, so other rows go the same way in scikit-learn's trees."""
    random = np.random.default_rng(3)
    X = random.integers(0, 2, (n, 8)).astype(float)
    y = 3 * X[:, 0] * X[:, 1] + 2 * X[:, 2] * X[:, 3] - X[:, 4] + random.normal(0, 1.5, n)
    return X, y.round(3)


def fitted_pair(pair, X, y, fit=None, **options):
    """Both models with the same parameters, and their predictions of the rows of the fit."""
    classifies = pair[0] is HistGradientBoostingClassifier
    target = (y > np.median(y)).astype(int) if classifies else y
    models = [kind(max_iter=8, random_state=7, **options).fit(X, target, **(fit or {})) for kind in pair]
    values = [getattr(model, "decision_function", model.predict)(X) for model in models]
    return *models, *values


@pytest.mark.parametrize("pair", MODELS)
@pytest.mark.parametrize(
    "options",
    [
        {"validation_fraction": 0.2},
        {"validation_fraction": 80, "scoring": None},
        {"validation_fraction": 0.1, "n_iter_no_change": 2, "tol": 0.01},
    ],
)
def test_early_stopping_sets_the_rows_aside_that_scikit_learn_does(pair, options):
    X, y = table_of_truth_values()
    mine, its, own, other = fitted_pair(pair, X, y, early_stopping=True, **options)
    assert mine.n_iter_ == its.n_iter_
    np.testing.assert_allclose(mine.validation_score_, its.validation_score_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mine.train_score_, its.train_score_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(own, other, rtol=1e-4, atol=1e-5)


def test_rows_are_set_aside_where_classes_cannot_be_spread():
    y = [0, 1, 2] * 10 + [3]
    model = HistGradientBoostingClassifier(early_stopping=True, max_iter=2)
    assert len(model.fit(np.arange(31.0)[:, None], y).validation_score_) == 3
    assert model.fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]).n_iter_ == 2


@pytest.mark.parametrize("pair", MODELS)
@pytest.mark.parametrize("scoring", ["loss", None])
@pytest.mark.parametrize("weighted", [False, True])
def test_given_rows_judge_the_iterations(pair, scoring, weighted):
    X, y = table_of_truth_values()
    target = (y > np.median(y)).astype(int) if pair[0] is HistGradientBoostingClassifier else y
    fit = {"X_val": X[400:], "y_val": target[400:]}
    if weighted:
        weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
        fit |= {"sample_weight": weight[:400], "sample_weight_val": weight[400:]}
    models = [
        kind(max_iter=8, early_stopping=True, scoring=scoring).fit(X[:400], target[:400], **fit)
        for kind in pair
    ]
    mine, its = models
    np.testing.assert_allclose(mine.validation_score_, its.validation_score_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mine.train_score_, its.train_score_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mine.predict(X), its.predict(X), rtol=1e-4, atol=1e-5)


def test_given_rows_cannot_certify_what_they_have_stopped():
    X, y = table_of_truth_values()
    target = y > 0
    model = HistGradientBoostingClassifier(max_iter=20, early_stopping=True, warm_start=True)
    model.fit(X[:300], target[:300], X_val=X[300:500], y_val=target[300:500])
    model.set_params(max_iter=25, early_stopping=False).fit(X[:300], target[:300])
    for rows in (slice(300), slice(300, 500)):
        with pytest.raises(ValueError, match="are rows of the fit"):
            model.certify(X[rows], target[rows])
    assert model.certify(X[500:], target[500:]).value < 1
    model.set_params(warm_start=False, early_stopping="auto", max_iter=3)
    unused = model.fit(X[:300], target[:300], X_val=X[300:], y_val=target[300:])  # too few rows to stop
    assert unused.certify(X[300:], target[300:]).value < 1


def test_given_rows_are_read_by_the_schema_of_the_fit():
    X, y = coarse_table()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(b=["kind " + str(int(v)) for v in X[:, 1]])
    model = HistGradientBoostingRegressor(max_iter=5, early_stopping=True)
    model.fit(frame[:400], y[:400], X_val=frame[400:], y_val=y[400:])
    losses = [((value - y[400:]) ** 2).mean() / 2 for value in model.staged_predict(frame[400:])]
    np.testing.assert_allclose(-model.validation_score_[1:], losses)
    assert model.is_categorical_.tolist() == [False, True, False, False]
    with pytest.raises(ValueError, match="X_val and y_val: "):
        model.fit(frame[:400], y[:400], X_val=frame.loc[400:, ["a", "b"]], y_val=y[400:])
    with pytest.raises(ValueError, match="X_val is provided, but y_val was not provided"):
        model.fit(frame, y, X_val=frame)
    with pytest.raises(ValueError, match="y_val is provided, but X_val was not provided"):
        model.fit(frame, y, y_val=y)
    with pytest.raises(ValueError, match="early_stopping is False"):
        model.set_params(early_stopping=False).fit(frame, y, X_val=frame, y_val=y)


@pytest.mark.parametrize("pair", MODELS)
@pytest.mark.parametrize("listed", [[1], [False, True, False, False], ["b"], "from_dtype"])
def test_categorical_features_are_those_of_scikit_learn(pair, listed):
    X, y = coarse_table()
    if listed in (["b"], "from_dtype"):
        X = pd.DataFrame(X, columns=list("abcd"))
    if listed == "from_dtype":
        X = X.astype({"b": "category"})
    mine, its, own, other = fitted_pair(pair, X, y, categorical_features=listed)
    assert mine.is_categorical_.tolist() == its.is_categorical_.tolist() == [False, True, False, False]
    np.testing.assert_allclose(own, other, rtol=1e-4, atol=1e-5)
    plain = fitted_pair(pair, X, y, categorical_features=None)
    assert plain[0].is_categorical_ is None
    np.testing.assert_allclose(plain[2], plain[3], rtol=1e-4, atol=1e-5)
    assert not np.allclose(plain[2], own)


def test_columns_that_are_not_listed_are_numbers_but_for_text():
    frame = pd.DataFrame({"size": pd.Categorical([1, 2, 3] * 20), "sky": ["clear", "rain", "fog"] * 20})
    frame["hot"] = frame["size"].astype(int) > 1
    model = HistGradientBoostingRegressor(max_iter=2)
    assert model.fit(frame, range(60)).is_categorical_.tolist() == [True, True, True]
    assert model.set_params(categorical_features=["size"]).fit(frame, range(60)).is_categorical_.tolist() == [
        True,
        True,
        False,
    ]
    assert model.set_params(categorical_features=None).fit(frame, range(60)).is_categorical_.tolist() == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ([0.5], "array-like of bool, int or str, got: float64"),
        (np.array([1, "b"], object), "got: int, str"),
        ([0, 4], r"must be in \[0, n_features - 1\], here \[0, 3\]"),
        ([-1], "n_features - 1"),
        ([True, False], r"shape \(n_features,\), here \(4,\)"),
        (["b"], "without feature names"),
        (3, "categorical_features=3 is not possible"),
        ("b", "categorical_features='b' is not possible"),
    ],
)
def test_categorical_features_that_cannot_be(listed, message):
    X, y = coarse_table(50)
    with pytest.raises(ValueError, match=message):
        HistGradientBoostingRegressor(categorical_features=listed).fit(X, y)
    with pytest.raises(ValueError, match="item value 'z' which is not a valid feature name"):
        HistGradientBoostingRegressor(categorical_features=["z"]).fit(
            pd.DataFrame(X, columns=list("abcd")), y
        )


GROUPS = ["pairwise", "no_interactions", [{0, 1}, [2, 1]], [(0,), (0, 3)], [[0, 1, 2, 3]], []]


@pytest.mark.parametrize("pair", MODELS)
@pytest.mark.parametrize("groups", GROUPS, ids=str)
def test_interaction_constraints_are_those_of_scikit_learn(pair, groups):
    X, y = coarse_table()
    mine, _, own, other = fitted_pair(pair, X, y, interaction_cst=groups)
    np.testing.assert_allclose(own, other, rtol=1e-4, atol=1e-5)
    if groups in ([], [[0, 1, 2, 3]]):  # all columns are one group
        free = mine.set_params(interaction_cst=None).fit(X, (y > np.median(y)) if pair is MODELS[0] else y)
        np.testing.assert_array_equal(getattr(free, "decision_function", free.predict)(X), own)


def columns_of_paths(tree):
    """The columns that are tested above each leaf."""
    paths, waiting = [], [(0, frozenset())]
    while waiting:
        node, used = waiting.pop()
        if tree.feature[node] < 0:
            paths.append(used)
            continue
        used |= {int(tree.feature[node])}
        waiting += [(node + 1, used), (int(tree.end[node + 1]), used)]
    return paths


@pytest.mark.parametrize(
    "options", [{}, {"max_features": 0.5, "random_state": 0}, {"max_bins": None}], ids=str
)
def test_each_path_keeps_to_a_group(options):
    X, y = coarse_table()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = HistGradientBoostingRegressor(max_iter=6, interaction_cst=[["a", "b"], ["a", 2]], **options)
    model.fit(frame, y)
    paths = {path for (tree,) in model.model_.trees for path in columns_of_paths(tree)}
    assert all(any(path <= group for group in ({0, 1}, {0, 2}, {3})) for path in paths)
    assert frozenset({0, 2}) in paths
    with pytest.raises(ValueError, match="interaction_cst: there is no column 'z'"):
        model.set_params(interaction_cst=[["a", "z"]]).fit(frame, y)
