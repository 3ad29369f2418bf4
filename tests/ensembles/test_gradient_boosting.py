"""Gradient boosting: its trees beside brute force and scikit-learn's, its losses beside differences."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_friedman1
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from tests.ensembles.boosting_oracle import boost as boost_slowly
from treewright import _core, encode
from treewright.ensembles import losses
from treewright.ensembles.gradient_boosting import boost
from treewright.saving.ensembles import lines_of

NUMBER_LOSSES = ("squared_error", "absolute_error", "quantile", "poisson", "gamma")


@pytest.fixture(autouse=True)
def one_thread():
    """For scikit-learn's own: several that wait for each other are slow on a busy machine."""
    with threadpool_limits(1):
        yield


def coarse(seed=0, n=400, d=4, n_values=30):
    """A table with few values in each column, and a number that depends on them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (n, d)).astype(float)
    y = np.sin(X[:, 0] / 4) + (X[:, 1] > 12) * X[:, 2] / 10 + rng.normal(0, 0.3, n)
    return X, y


def target_for(loss, y):
    return np.exp(y) if loss in ("poisson", "gamma") else y


# ---- losses ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("loss", [*NUMBER_LOSSES, "log_loss", "three classes"])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_are_derivatives(loss, weighted):
    rng = np.random.default_rng(1)
    n, n_classes = 7, 3 if loss == "three classes" else 2
    name = "log_loss" if loss == "three classes" else loss
    outputs = losses.LOSSES[name].n_outputs(n_classes)
    target = rng.integers(0, n_classes, n).astype(float) if name == "log_loss" else rng.gamma(2, 1, n)
    weight = rng.uniform(0.5, 2, n) if weighted else None
    total = n if weight is None else weight.sum()
    raw = rng.normal(0, 1, (outputs, n))
    about = name, 0.3, n_classes

    def loss_at(raw):
        return _core.mean_loss(target, weight, raw, *about) * total

    gradient, hessian = _core.loss_gradients(target, weight, raw, *about)
    for place in np.ndindex(raw.shape):
        aside = np.zeros_like(raw)
        aside[place] = 1e-5
        slope = (loss_at(raw + aside) - loss_at(raw - aside)) / 2e-5
        assert gradient[place] == pytest.approx(slope, rel=1e-6, abs=1e-7)
        if loss in ("poisson", "gamma", "log_loss", "three classes"):
            other = [_core.loss_gradients(target, weight, raw + s * aside, *about)[0][place] for s in (1, -1)]
            assert hessian[place] == pytest.approx((other[0] - other[1]) / 2e-5, rel=1e-5, abs=1e-8)


def test_losses_are_those_of_scikit_learn():
    from sklearn._loss import loss as theirs

    rng = np.random.default_rng(2)
    y, raw = rng.gamma(2, 1, 5000), rng.normal(0, 1, (1, 5000))
    pairs = {
        "squared_error": theirs.HalfSquaredError(),
        "absolute_error": theirs.AbsoluteError(),
        "quantile": theirs.PinballLoss(quantile=0.3),
        "poisson": theirs.HalfPoissonLoss(),
        "gamma": theirs.HalfGammaLoss(),
        "log_loss": theirs.HalfBinomialLoss(),
    }
    for name, loss in pairs.items():
        target = (y > 1).astype(float) if name == "log_loss" else y
        assert _core.mean_loss(target, None, raw, name, 0.3) == pytest.approx(loss(target, raw[0]), rel=1e-12)
        if (
            name == "quantile"
        ):  # theirs lies between two rows where there are no weights, and on one where there are
            continue
        start = losses.LOSSES[name].baseline(target, None, 2, 0.3)
        assert start[0] == pytest.approx(float(np.ravel(loss.fit_intercept_only(target))[0]), rel=1e-12)


def test_far_predictions_stay_finite():
    """Neither gradients nor losses overflow where a model is sure of itself, and wrong."""
    raw = np.array([[-1e6, 1e6, 800.0, -800.0]])
    for name in ("log_loss", "poisson", "gamma"):
        target = np.array([1.0, 0.0, 1.0, 0.0])
        gradient, hessian = _core.loss_gradients(target, None, raw, name)
        assert np.isfinite(gradient).all()
        assert (hessian >= 0).all()
        assert np.isfinite(hessian).all()
        assert np.isfinite(_core.mean_loss(target, None, raw, name))


# ---- trees beside brute force ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("loss", NUMBER_LOSSES)
@pytest.mark.parametrize(("l2", "min_rows", "max_leaf_nodes"), [(0.0, 5, 8), (3.0, 20, 31)])
def test_numbers_beside_brute_force(loss, l2, min_rows, max_leaf_nodes):
    X, y = coarse(n=250)
    y = target_for(loss, y)
    start = losses.LOSSES[loss].baseline(y, None, 0, 0.3)

    def derivatives(raw):
        return _core.loss_gradients(y, None, raw, loss, 0.3)

    def quantile(rows, raw):
        return np.quantile(y[rows] - raw[rows], 0.5 if loss == "absolute_error" else 0.3, method=ties)

    ties = "averaged_inverted_cdf"
    limits = {"l2": l2, "min_rows": min_rows, "max_leaf_nodes": max_leaf_nodes}
    answer = None if losses.LOSSES[loss].leaf_quantile(0.3) is None else quantile
    expected = list(boost_slowly(X, start, derivatives, max_iter=4, answer=answer, **limits))
    data = encode(X, y, classes=False)
    found = boost(
        data,
        loss=loss,
        quantile=0.3,
        max_iter=4,
        l2_regularization=l2,
        min_samples_leaf=min_rows,
        max_leaf_nodes=max_leaf_nodes,
    )
    for stage, raw in zip(expected, found.staged_raw(data), strict=True):
        np.testing.assert_allclose(raw.T, stage, rtol=1e-7, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_beside_brute_force(n_classes):
    X, y = coarse(n=250, d=3)
    y = np.digitize(y, np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1])).astype(float)
    start = losses.LOSSES["log_loss"].baseline(y, None, n_classes, 0.5)

    def derivatives(raw):
        return _core.loss_gradients(y, None, raw, "log_loss", 0.5, n_classes)

    expected = list(boost_slowly(X, start, derivatives, max_iter=3, max_leaf_nodes=6))
    data = encode(X, y.astype(int))
    found = boost(data, max_iter=3, max_leaf_nodes=6)
    for stage, raw in zip(expected, found.staged_raw(data), strict=True):
        np.testing.assert_allclose(raw.T, stage, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "log_loss"])
def test_every_threshold_is_the_same_where_values_are_few(loss):
    X, y = coarse(n=600)
    data = encode(X, (y > 0.5).astype(int) if loss == "log_loss" else y)
    limits = {"loss": loss, "max_iter": 5, "scored": True}
    binned, exact = boost(data, **limits), boost(data, max_bins=None, **limits)
    np.testing.assert_allclose(binned.raw(data), exact.raw(data), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(binned.train_loss, exact.train_loss, rtol=1e-6)


# ---- beside scikit-learn ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("loss", [loss for loss in NUMBER_LOSSES if loss != "quantile"])
def test_numbers_beside_scikit_learn(loss):
    X, y = coarse(n=3000, d=6, n_values=60)
    y = target_for(loss, y)
    theirs = HistGradientBoostingRegressor(loss=loss, max_iter=20, early_stopping=False).fit(X, y)
    data = encode(X, y)
    ours = boost(data, loss=loss, max_iter=20)
    np.testing.assert_allclose(
        losses.LOSSES[loss].predictions(ours.raw(data)), theirs.predict(X), rtol=1e-4, atol=1e-5
    )


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 4])
def test_classes_beside_scikit_learn(n_classes):
    X, y = make_classification(3000, 8, n_informative=5, n_classes=n_classes, random_state=0)
    X = np.round(np.clip(X, -3, 3) * 15)
    theirs = HistGradientBoostingClassifier(max_iter=15, early_stopping=False).fit(X, y)
    data = encode(X, y)
    found = losses.probabilities(boost(data, max_iter=15).raw(data), n_classes)
    np.testing.assert_allclose(found, theirs.predict_proba(X), rtol=1e-4, atol=1e-6)


def test_missing_values_beside_scikit_learn():
    X, y = coarse(n=3000, n_values=40)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    theirs = HistGradientBoostingRegressor(max_iter=15, early_stopping=False).fit(X, y)
    data = encode(X, y)
    ours = boost(data, max_iter=15)
    np.testing.assert_allclose(ours.raw(data)[:, 0], theirs.predict(X), rtol=1e-4, atol=1e-5)


def test_categories_beside_scikit_learn():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 20, 2000)
    x = rng.integers(0, 50, 2000).astype(float)
    y = np.sin(code * 1.7) + x / 50 + rng.normal(0, 0.2, 2000)
    theirs = HistGradientBoostingRegressor(max_iter=15, early_stopping=False, categorical_features=[0])
    theirs.fit(np.c_[code, x], y)
    data = encode({"code": [f"c{i:02}" for i in code], "x": x}, y)
    ours = boost(data, max_iter=15)
    expected = theirs.predict(np.c_[code, x])
    np.testing.assert_allclose(ours.raw(data)[:, 0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_monotone_beside_scikit_learn():
    X, y = coarse(n=2000, n_values=40)
    options = {"max_iter": 15, "early_stopping": False, "monotonic_cst": [0, 1, -1, 0]}
    theirs = HistGradientBoostingRegressor(**options).fit(X, y)
    data = encode(X, y)
    ours = boost(data, max_iter=15, monotonic_cst=[0, 1, -1, 0])
    np.testing.assert_allclose(ours.raw(data)[:, 0], theirs.predict(X), rtol=1e-4, atol=1e-5)
    grid = np.repeat(X[:20], 40, axis=0)
    grid[:, 1] = np.tile(np.arange(40.0), 20)
    rising = ours.raw(encode(grid, schema=data.schema)).reshape(20, 40)
    assert (np.diff(rising, axis=1) >= -1e-12).all()


# ---- laws ------------------------------------------------------------------------------------------------


def fine(n=3000, n_classes=0, seed=0):
    if n_classes:
        return make_classification(n, 8, n_informative=5, n_classes=n_classes, random_state=seed)
    return make_friedman1(n, 8, noise=0.5, random_state=seed)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_trees_say_what_the_training_did(n_classes):
    """The loss of the finished trees is that of the last iteration, for rows learnt from and for judges."""
    X, y = fine(n_classes=n_classes)
    X[::7, 2] = np.nan
    data = encode(X, y, weight=np.random.default_rng(0).integers(0, 3, len(y)))
    judges = np.arange(len(y)) % 5 == 0
    model = boost(data, max_iter=12, validation=judges, scored=True)
    raw = np.ascontiguousarray(model.raw(data).T)
    for rows, told in ((~judges, model.train_loss), (judges, model.validation_loss)):
        counted = rows & (data.weight > 0)
        part = data.targets[0][counted].astype(float), data.weight[counted], raw[:, counted].copy()
        mean = _core.mean_loss(*part, model.loss, 0.5, n_classes)
        assert mean == pytest.approx(told[-1], rel=1e-12)
    assert len(model.train_loss) == len(model.validation_loss) == 13
    for of_iteration in model.trees:
        for tree in of_iteration:
            tree.check()
            assert tree.n_leaves <= 31
            assert tree.rows[tree.is_leaf].min() >= 20


def test_stages_end_in_the_model():
    X, y = fine(n_classes=3)
    data = encode(X, y)
    model = boost(data, max_iter=7)
    stages = list(model.staged_raw(data))
    assert len(stages) == 7
    np.testing.assert_array_equal(stages[-1], model.raw(data))
    np.testing.assert_array_equal(stages[3], model.first(4).raw(data))


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_threads_change_nothing(n_classes):
    X, y = fine(20_000, n_classes)
    data = encode(X, y)
    judges = np.arange(len(y)) % 10 == 0
    options = {"max_iter": 5, "validation": judges, "scored": True, "max_features": 5, "random_state": 3}
    one, four = (boost(data, n_jobs=n, **options) for n in (1, 4))
    assert one.trees == four.trees
    np.testing.assert_array_equal(one.validation_loss, four.validation_loss)
    np.testing.assert_array_equal(one.raw(data), four.raw(data, n_jobs=4))


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
def test_weights_are_repetitions(loss):
    X, y = coarse(n=300)
    y = target_for(loss, y)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    options = {"loss": loss, "max_iter": 5, "min_samples_leaf": 1, "max_leaf_nodes": 8}
    weighted = boost(encode(X, y, weight=times), **options)
    repeated = boost(encode(np.repeat(X, times, axis=0), np.repeat(y, times)), **options)
    data = encode(X, y)
    np.testing.assert_allclose(weighted.raw(data), repeated.raw(data), rtol=1e-7, atol=1e-9)


def decisions(model):
    """Everything in the trees but rows and sums of weights."""
    names = ("end", "feature", "threshold", "subset", "subsets", "missing_left", "step")
    return [[getattr(tree, name).tobytes() for name in names] for trees in model.trees for tree in trees]


def weighty(form, n_classes, seed):
    """A table with whole weights: few values and many ties, more values than cells, or categories of either
    kind; some values are missing.
    """
    rng = np.random.default_rng(seed)
    n = 22_000 if form == "sampled" else 500
    x = rng.normal(size=(n, 3))
    x = np.round(x) if form == "ties" else x
    code = rng.integers(0, 300 if form == "many categories" else 9, n)
    y = x[:, 0] + x[:, 1] * x[:, 2] + code % 3 + rng.normal(size=n)
    x[rng.random(n) < 0.05, 1] = np.nan
    table = dict(zip("abc", x.T, strict=True))
    if "categories" in form:
        table["d"] = [f"v{each}" for each in code]
    classes = np.digitize(y, [0, 1, 2][: n_classes - 1]) if n_classes else y
    return table, classes, rng.integers(1, 4, n)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [0, 2, 4])
@pytest.mark.parametrize("form", ["ties", "values", "categories", "many categories", "sampled"])
def test_whole_weights_choose_the_splits_of_repeated_rows(form, n_classes):
    """Every test of every tree is the same one, and so is every sum and answer, to the bit."""
    for seed in range(1 if form == "sampled" else 4):
        table, y, weight = weighty(form, n_classes, seed)
        times = np.repeat(np.arange(len(y)), weight)
        more = {name: [column[i] for i in times] for name, column in table.items()}
        options = {"max_iter": 6, "min_samples_leaf": 1, "max_leaf_nodes": 12}
        data = encode(table, y, weight=weight, classes=n_classes > 0)
        repeated = boost(encode(more, y[times], schema=data.schema), **options)
        weighted = boost(data, **options)
        assert decisions(weighted) == decisions(repeated)
        np.testing.assert_array_equal(weighted.raw(data), repeated.raw(data))
        for ours, theirs in zip(weighted.trees, repeated.trees, strict=True):
            for one, other in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(one.statistic, other.statistic)


def file_of(model):
    """A model file."""
    return b"".join(lines_of(model))


def mixed_table(n, seed=0):
    """Numbers with missing values and both zeros, whole numbers, categories; a positive target."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    x[:, 1] = np.round(x[:, 1]) * np.sign(x[:, 0])
    code = rng.integers(0, 9, n)
    y = np.exp(x[:, 0] + x[:, 1] * x[:, 2] / 2 + code % 3 / 4 + rng.normal(size=n) / 2)
    x[rng.random(n) < 0.05, 2] = np.nan
    return dict(zip("abc", x.T, strict=True)) | {"d": np.array(list("abcdefghi"))[code]}, y


LAWS = [*((loss, 0) for loss in NUMBER_LOSSES), ("log_loss", 2), ("log_loss", 3)]


def aims_for(loss, n_classes, y):
    """The target of a loss: some numbers are far larger than the others."""
    if n_classes:
        return np.digitize(y, [0.7, 2.5][: n_classes - 1])
    return y * np.where(np.arange(len(y)) % 97 == 0, 1e3 if loss in ("poisson", "gamma") else 1e12, 1)


@pytest.mark.threads
@pytest.mark.parametrize(("loss", "n_classes"), LAWS)
@pytest.mark.parametrize("weighting", ["none", "real", "whole"])
def test_neither_order_of_rows_nor_threads_change_a_byte(loss, n_classes, weighting):
    """Not of the model file: thresholds, statistics, losses, the baseline."""
    n = 3000
    table, y = mixed_table(n)
    y = aims_for(loss, n_classes, y)
    rng = np.random.default_rng(1)
    weights = {"none": np.ones(n), "real": rng.exponential(size=n) ** 3, "whole": rng.integers(0, 4, n)}
    judges = np.arange(n) % 4 == 0
    options = {"loss": loss, "max_iter": 4, "scored": True, "max_leaf_nodes": 12, "min_samples_leaf": 5}

    def grown(order, n_jobs):
        rows = {name: column[order] for name, column in table.items()}
        data = encode(rows, y[order], weight=weights[weighting][order], classes=n_classes > 0)
        return file_of(boost(data, validation=judges[order], n_jobs=n_jobs, **options))

    straight = grown(np.arange(n), 1)
    assert grown(np.arange(n), 3) == straight
    assert grown(np.random.default_rng(2).permutation(n), 2) == straight


@pytest.mark.slow
@pytest.mark.threads
@pytest.mark.parametrize(("n", "d"), [(60_000, 5), (30_000, 40)])
def test_nor_do_they_in_larger_tables(n, d):
    """Whose edges come from a sample, and whose rows or columns are divided among the threads."""
    X, y = make_friedman1(n, d, noise=0.5, random_state=0)
    X[:, 1] = np.round(X[:, 1] * 300)  # more values than cells, but not many more
    X[::7, 2] = np.nan
    order = np.random.default_rng(0).permutation(n)
    options = {"max_iter": 3, "scored": True}
    straight = file_of(boost(encode(X, y), n_jobs=1, **options))
    assert file_of(boost(encode(X, y), n_jobs=4, **options)) == straight
    assert file_of(boost(encode(X[order], y[order]), n_jobs=2, **options)) == straight


@pytest.mark.threads
@pytest.mark.parametrize("max_leaf_nodes", [7, 100, None])
def test_nor_do_small_nodes_that_are_split_side_by_side(max_leaf_nodes):
    X, y = make_friedman1(5000, 6, noise=0.5, random_state=0)
    options = {"max_iter": 3, "max_leaf_nodes": max_leaf_nodes, "min_samples_leaf": 3}
    one, *others = (file_of(boost(encode(X, y), n_jobs=n, **options)) for n in (1, 2, 3))
    assert others == [one, one]


@pytest.mark.slow
@pytest.mark.parametrize("n_values", [2, 200])
def test_edges_depend_on_the_rows_alone_where_few_columns_tell_them_apart(n_values):
    """Many rows agree in the columns by which they are told apart at first, or only some of them do."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 7))
    X[:, :2], X[:, 2:5] = rng.integers(0, n_values, (50_000, 2)), 1.0
    y, order = X[:, 5] + np.sin(3 * X[:, 6]) + X[:, 0], rng.permutation(50_000)
    straight = file_of(boost(encode(X, y), max_iter=2))
    assert file_of(boost(encode(X[order], y[order]), max_iter=2, n_jobs=2)) == straight
    some, times = slice(0, 20_000), rng.integers(1, 5, 20_000)
    weighted = boost(encode(X[some], y[some], weight=times), max_iter=2)
    repeated = boost(encode(np.repeat(X[some], times, axis=0), np.repeat(y[some], times)), max_iter=2)
    assert decisions(weighted) == decisions(repeated)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_sums_of_millions_of_rows(loss):
    """More rows than packed sums have room for; as weights of few rows they give the same sums to the bit."""
    rng = np.random.default_rng(0)
    x, times = rng.integers(0, 40, (900, 2)).astype(float), rng.integers(1, 5000, 900)
    y = rng.gamma(2, 1 + (x[:, 0] > 20) + (x[:, 1] > 5))
    options = {"loss": loss, "max_iter": 2, "min_samples_leaf": 1, "max_leaf_nodes": 10}
    weighted = boost(encode(x, y, weight=times), **options)
    repeated = boost(encode(np.repeat(x, times, axis=0), np.repeat(y, times)), n_jobs=2, **options)
    assert times.sum() > 2**21
    assert decisions(weighted) == decisions(repeated)
    for (one,), (other,) in zip(weighted.trees, repeated.trees, strict=True):
        np.testing.assert_array_equal(one.statistic, other.statistic)
    if loss == "squared_error":
        tree = weighted.trees[0][0]
        assert tree.statistic[0, 0] == times.sum()
        residual = y - weighted.baseline[0]
        for node in np.flatnonzero(tree.is_leaf):
            rows = tree.apply(encode(x, y)) == node
            mean = np.average(residual[rows], weights=times[rows])
            assert tree.value[node, 0] == pytest.approx(0.1 * mean, rel=1e-9, abs=1e-9)


def test_mean_losses_are_exact():
    """The sum is rounded once, whether numbers are alike or of many sizes."""
    rng = np.random.default_rng(0)
    for size in (0, 3, 40, 150):
        y = rng.normal(size=9001) * 10.0 ** rng.uniform(-size, size, 9001)
        raw = np.zeros((1, len(y)))
        assert _core.mean_loss(y, None, raw, "absolute_error") == math.fsum(abs(y)) / len(y)
    weight = rng.integers(1, 1000, len(y)).astype(float)
    exact = sum(Fraction(w) * Fraction(abs(each)) for w, each in zip(weight, y, strict=True))
    assert _core.mean_loss(y, weight, raw, "absolute_error") == float(exact) / weight.sum()


def test_the_log_loss_of_a_row():
    raw = np.concatenate([np.linspace(-40, 40, 4001), [-0.8813, -0.8814, 0.0, 250.0]])
    for y in (0.0, 1.0):
        found = [_core.mean_loss(np.array([y]), None, np.array([[each]]), "log_loss") for each in raw]
        np.testing.assert_allclose(found, np.logaddexp(0, raw if y == 0 else -raw), rtol=2e-15)


def test_baselines_depend_on_the_rows_alone():
    rng = np.random.default_rng(0)
    y, weight = np.round(rng.gamma(2, 1, 500) * 1e6) / 7e5 + 1e-9, rng.exponential(size=500) ** 4
    order = rng.permutation(500)
    for name, loss in losses.LOSSES.items():
        target = np.floor(y).clip(0, 2) if name == "log_loss" else np.round(y, 1) + 0.1
        for w in (None, weight):
            here = loss.baseline(target, w, 3, 0.3)
            there = loss.baseline(target[order], None if w is None else w[order], 3, 0.3)
            np.testing.assert_array_equal(here, there)
            assert loss.baseline(np.full(7, 0.1), None, 3, 0.3)[0] in (0.1, np.log(0.1)) or name == "log_loss"
    exact = sum(Fraction(a) * Fraction(b) for a, b in zip(weight, y, strict=True))
    exact /= sum(map(Fraction, weight))
    mean = losses.LOSSES["squared_error"].baseline(y, weight, 0, 0.5)[0]
    assert mean == pytest.approx(float(exact), rel=3e-16)


def test_values_that_a_sample_misses_have_cells_of_their_own():
    """Thirty values, some of them rare, among more rows than are looked at to choose the cells."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 10, 50_000).astype(float)
    rare = 50 * np.arange(20) + 7  # rows that a stride of two misses
    x[rare] = 100 + np.arange(20)
    y = np.where(x == 105, 1000.0, x)
    tree = boost(encode(x[:, None], y), max_iter=1, min_samples_leaf=1, learning_rate=1.0).trees[0][0]
    assert tree.predict([[104.0], [105.0], [106.0]]).round(6).tolist() != [tree.predict([[105.0]])[0]] * 3
    assert tree.predict([[105.0]])[0] == pytest.approx(1000 - y.mean())


@pytest.mark.slow
def test_many_categories_share_a_cell():
    """Of more than 255 categories the frequent ones are told apart; the model still answers for all."""
    rng = np.random.default_rng(0)
    code = np.minimum(rng.geometric(0.02, 20_000), 600)
    y = (code % 5).astype(float)
    data = encode({"c": [f"c{i}" for i in code]}, y)
    assert len(data.schema.columns[0].categories) > 255
    model = boost(data, max_iter=40)
    error = np.abs(model.raw(data)[:, 0] - y)
    assert np.median(error) < 0.1
    for tree in model.trees[0]:
        tree.check()


def test_drawn_columns_depend_on_the_seed_alone():
    X, y = fine(1000)
    data = encode(X, y)
    one, again, other = (boost(data, max_iter=5, max_features=2, random_state=s) for s in (1, 1, 2))
    assert one.trees == again.trees
    assert one.trees != other.trees


def test_without_a_budget_of_leaves():
    X, y = fine(2000)
    data = encode(X, y)
    model = boost(data, max_iter=2, max_leaf_nodes=None, min_samples_leaf=5)
    many = boost(data, max_iter=2, max_leaf_nodes=10_000, min_samples_leaf=5)
    assert model.trees == many.trees
    shallow = boost(data, max_iter=2, max_leaf_nodes=None, max_depth=3)
    assert max(tree.height for step in shallow.trees for tree in step) == 3


@pytest.mark.slow
def test_extreme_numbers():
    """Infinite values and huge targets are numbers like others."""
    X, y = coarse(n=300)
    X[:10, 0], X[10:20, 1] = np.inf, -np.inf
    for factor in (1e-80, 1e80):
        data = encode(X, y * factor)
        model = boost(data, max_iter=20, scored=True)
        assert np.isfinite(model.raw(data)).all()
        assert model.train_loss[-1] < 0.5 * model.train_loss[0]
        for (tree,) in model.trees:
            tree.check()
    constant = boost(encode(X, np.full(300, 0.1)), max_iter=3)
    assert [tree.n_leaves for (tree,) in constant.trees] == [1, 1, 1]
    assert set(constant.raw(encode(X, y)).ravel()) == {0.1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "log_loss"}, "must be one of squared_error"),
        ({"max_bins": 256}, "from 2 to 255"),
        ({"quantile": 1.0}, r"a number in \(0, 1\)"),
        ({"learning_rate": 0}, "a finite number > 0"),
        ({"loss": "absolute_error", "monotonic_cst": [1, 0, 0, 0]}, "does not go with loss='absolute_error'"),
        ({"max_bins": None, "l2_regularization": 1.0}, "does not go with max_bins=None"),
        ({"validation": np.ones(400, bool)}, "some must be, and some not"),
    ],
)
def test_bad_options(options, message):
    X, y = coarse()
    with pytest.raises(ValueError, match=message):
        boost(encode(X, y), **options)


def test_bad_targets():
    X, y = coarse()
    with pytest.raises(ValueError, match=f"requires non-negative y.*negative in row {y.argmin()}"):
        boost(encode(X, y), loss="poisson")
    with pytest.raises(ValueError, match="not positive in row 3"):
        boost(encode(X[:4], [1.0, 2.0, 3.0, 0.0]), loss="gamma")
    with pytest.raises(ValueError, match="zero in every row"):
        boost(encode(X, y * 0), loss="poisson")
    with pytest.raises(ValueError, match="there are 2 targets"):
        boost(encode(X, np.c_[y, y]))
