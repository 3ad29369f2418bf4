"""Classes of a few rows in gradient boosting: they must not ruin the predictions for the others."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_classification, make_friedman1

from tests.ensembles.boosting_oracle import boost as naive
from treewright import (
    AdaBoostClassifier,
    DecisionTreeClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    encode,
)
from treewright.ensembles.gradient_boosting import boost
from treewright.ensembles.losses import LOSSES, longest_step


def rare(n_rare, *, n=2000, n_classes=4, apart=False, seed=0):
    """Rows with a further class of a few: mislabelled ones, or such as lie apart; and rows without it."""
    X, y = make_classification(
        2 * n,
        8,
        n_informative=6,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=2.0,
        flip_y=0.01,
        random_state=seed,
    )
    random = np.random.default_rng(seed)
    rows = random.choice(n, n_rare, replace=False)
    if apart:
        X[rows] = random.normal(6, 0.3, (n_rare, X.shape[1]))
    y[rows] = n_classes
    return X[:n], y[:n], X[n:], y[n:]


def steps_of(model):
    """The steps of all nodes of all trees, before the learning rate of 0.1."""
    return np.concatenate([tree.value[:, 0] for of_iteration in model.trees for tree in of_iteration]) / 0.1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_rare", "apart"), [(1, False), (3, True), (5, True)])
def test_a_rare_class_does_no_harm_to_the_others(n_rare, apart, seed):
    X, y, X_new, truth = rare(0, seed=seed)
    options = {"max_iter": 60, "n_jobs": 2}
    without = HistGradientBoostingClassifier(**options).fit(X, y)
    X, y, _, _ = rare(n_rare, apart=apart, seed=seed)
    model = HistGradientBoostingClassifier(**options).fit(X, y)
    assert model.score(X_new, truth) > without.score(X_new, truth) - 0.02
    shares = model.predict_proba(X_new)
    assert np.isfinite(shares).all()
    assert shares[:, -1].mean() < 0.01


@pytest.mark.slow
def test_what_the_bound_prevents():
    """One mislabelled row among thousands: without a bound many of the other rows are lost."""
    X, y, X_new, truth = rare(1, n=4500, n_classes=5)
    unbounded = HistGradientBoostingClassifier(max_iter=60, max_delta_step=None).fit(X, y)
    assert unbounded.score(X_new, truth) < 0.9
    assert HistGradientBoostingClassifier(max_iter=60).fit(X, y).score(X_new, truth) > 0.95


@pytest.mark.parametrize("n_positive", [1, 3, 30])
def test_few_positives_of_two_classes(n_positive):
    random = np.random.default_rng(0)
    X = random.normal(0, 1, (3000, 5))
    y = np.zeros(3000, int)
    y[:n_positive] = 1
    X[:n_positive, 0] += 8
    model = HistGradientBoostingClassifier().fit(X, y)
    new = random.normal(0, 1, (1000, 5))
    assert (model.predict(new) == 1).mean() < 0.01
    assert np.isfinite(model.decision_function(new)).all()
    if n_positive == 30:
        new[:, 0] += 8
        assert (model.predict(new) == 1).mean() > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("max_bins", [255, None])
@pytest.mark.parametrize("bound", [0.5, 2.0, 50.0])
def test_no_node_takes_a_longer_step(bound, max_bins):
    X, y, _, _ = rare(2, n=600, n_classes=3)
    options = {"max_iter": 20, "max_bins": max_bins, "min_samples_leaf": 5}
    bounded = boost(encode(X, y), max_delta_step=bound, **options)
    longest = np.abs(steps_of(bounded)).max()
    assert longest <= bound * (1 + 1e-12)
    unbounded = np.abs(steps_of(boost(encode(X, y), max_delta_step=None, **options))).max()
    assert unbounded > bound or longest == unbounded
    for of_iteration in bounded.trees:
        for tree in of_iteration:
            assert np.isfinite(tree.statistic).all()
            assert (tree.statistic[:, 2] >= 0).all()


def test_the_bound_holds_for_quantiles_and_monotone_columns():
    X, y = make_friedman1(400, 5, random_state=0)
    for options in ({"loss": "absolute_error"}, {"monotonic_cst": [1, 1, 0, 1, 1]}, {}):
        model = boost(encode(X, y), max_delta_step=0.25, max_iter=5, **options)
        assert np.abs(steps_of(model)).max() <= 0.25 * (1 + 1e-12)


def test_bounded_steps_beside_brute_force():
    """Each leaf answers its Newton step or the bound, whichever is nearer to nothing."""
    random = np.random.default_rng(1)
    X = random.integers(0, 12, (300, 3)).astype(float)
    y = (X[:, 0] + random.normal(0, 3, 300) > 6).astype(int)
    model = boost(encode(X, y), max_iter=8, max_delta_step=1.5, min_samples_leaf=10, max_leaf_nodes=6)

    def derivatives(raw):
        share = 1 / (1 + np.exp(-raw))
        return share - y, share * (1 - share)

    def answer(rows, before):
        share = 1 / (1 + np.exp(-before[rows]))
        return np.clip((y[rows] - share).sum() / (share * (1 - share)).sum(), -1.5, 1.5)

    start = [np.log(y.mean() / (1 - y.mean()))]
    *_, raw = naive(X, start, derivatives, max_iter=8, max_leaf_nodes=6, min_rows=10, answer=answer)
    np.testing.assert_allclose(model.raw(encode(X, schema=model.schema)).T, raw, rtol=1e-9)
    assert np.isclose(np.abs(steps_of(model)), 1.5).any()


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_ordinary_classes_are_learnt_as_without_a_bound(load):
    X, y = load(return_X_y=True)
    model = HistGradientBoostingClassifier().fit(X, y)
    same = HistGradientBoostingClassifier(max_delta_step=None).fit(X, y)
    assert model.model_.trees == same.model_.trees
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile", "poisson", "gamma"])
def test_numbers_have_no_bound(loss):
    X, y = make_friedman1(500, 5, random_state=0)
    y = 1e6 * np.abs(y) + 1  # steps are in units of the target
    options = {"loss": loss, "max_iter": 10}
    assert boost(encode(X, y), **options).trees == boost(encode(X, y), **options, max_delta_step=None).trees
    assert "max_delta_step" not in HistGradientBoostingRegressor().get_params()


def test_the_bound_goes_with_the_learning_rate():
    assert longest_step(LOSSES["log_loss"], "auto", 0.1) == pytest.approx(50)
    assert longest_step(LOSSES["log_loss"], "auto", 1.0) == 5
    assert longest_step(LOSSES["poisson"], "auto", 0.1) == float("inf")
    assert longest_step(LOSSES["log_loss"], None, 0.1) == float("inf")
    assert longest_step(LOSSES["squared_error"], 3, 0.1) == 3
    for wrong in (0, -1.0, float("nan"), "none", [1]):
        with pytest.raises(ValueError, match=r"max_delta_step=.*; it must be a positive number"):
            boost(encode({"x": range(60)}, [0, 1] * 30), max_delta_step=wrong)


def test_long_steps_at_a_learning_rate_of_one():
    X, y, X_new, truth = rare(0, n=1500)
    model = HistGradientBoostingClassifier(learning_rate=1.0, max_iter=40).fit(X, y)
    assert model.score(X_new, truth) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("max_bins", [255, None])
def test_certain_predictions_stay_numbers(max_bins):
    """After hundreds of iterations the hessians of separable classes are zero to the last bit."""
    X = np.repeat(np.arange(3.0), 40)[:, np.newaxis]
    y = np.repeat(np.arange(3), 40)
    model = boost(encode(X, y), max_iter=600, max_bins=max_bins, max_delta_step=None)
    assert np.isfinite(model.raw(encode(X, schema=model.schema))).all()
    assert (model.predict(X) == y).all()


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(n_estimators=20, random_state=0),
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=4), n_estimators=20, random_state=0),
    ],
)
def test_forests_and_adaboost_keep_their_heads(model):
    X, y, X_new, truth = rare(0)
    without = model.fit(X, y).score(X_new, truth)
    X, y, _, _ = rare(3)
    assert model.fit(X, y).score(X_new, truth) > without - 0.02
