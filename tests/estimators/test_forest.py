"""The estimators of forests: scikit-learn's conventions, and what is theirs beyond them."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

from treewright import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

CLASSIFIERS = [RandomForestClassifier, ExtraTreesClassifier, BaggingClassifier]
REGRESSORS = [RandomForestRegressor, ExtraTreesRegressor, BaggingRegressor]
IRIS, SPECIES = load_iris(return_X_y=True)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)


@pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS)
def test_the_same_for_any_number_of_threads(kind):
    x, y = (IRIS, SPECIES) if kind in CLASSIFIERS else (DIABETES, PROGRESS)
    one = kind(n_estimators=8, random_state=3).fit(x, y)
    three = kind(n_estimators=8, random_state=3, n_jobs=3).fit(x, y)
    answer = "predict_proba" if kind in CLASSIFIERS else "predict"
    assert_array_equal(getattr(one, answer)(x), getattr(three, answer)(x))
    again = pickle.loads(pickle.dumps(three))
    assert_array_equal(getattr(again, answer)(x), getattr(one, answer)(x))
    other = kind(n_estimators=8, random_state=4).fit(x, y)
    between = (x[1:] + x[:-1]) / 2
    assert (getattr(other, answer)(between) != getattr(one, answer)(between)).any()


def outside(value):
    """The types that a user sees: of an array its dtype, of a list that of its first item."""
    kind = type(value).__name__
    return (kind, outside(value[0])) if isinstance(value, list) else (kind, getattr(value, "dtype", None))


@pytest.mark.parametrize("kind", [*CLASSIFIERS, AdaBoostClassifier, *REGRESSORS, AdaBoostRegressor])
@pytest.mark.parametrize("n_targets", [1, 2])
def test_fitted_attributes_are_scikit_learns(kind, n_targets):
    x, y = (DIABETES, PROGRESS) if "Regressor" in kind.__name__ else (IRIS, SPECIES)
    if n_targets == 2:
        if kind not in (*CLASSIFIERS[:2], *REGRESSORS[:2]):  # of scikit-learn's only forests take several
            return
        y = np.stack([y, y[::-1]], axis=1)
    theirs = getattr(sklearn.ensemble, kind.__name__)(n_estimators=3).fit(x, y)
    ours = kind(n_estimators=3).fit(x, y)
    for one, other in ((ours, theirs), (ours.estimators_[0], theirs.estimators_[0])):
        names = {name for name in dir(other) if name.endswith("_") and not name.startswith("_")}
        names -= {"estimator_", "estimators_", "tree_"}
        for name in names if one is ours else names - {"classes_"}:  # scikit-learn's trees know codes only
            assert outside(getattr(one, name)) == outside(getattr(other, name)), name


@pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS)
def test_warm_start_is_one_fit(kind):
    x, y = (IRIS, SPECIES) if kind in CLASSIFIERS else (DIABETES, PROGRESS)
    grown = kind(n_estimators=3, random_state=0, warm_start=True).fit(x, y)
    grown.set_params(n_estimators=7).fit(x, y)
    whole = kind(n_estimators=7, random_state=0).fit(x, y)
    assert list(grown.model_) == list(whole.model_)
    if kind in REGRESSORS:
        assert_array_equal(grown.predict_quantiles(x[:5]), whole.predict_quantiles(x[:5]))
    with pytest.warns(UserWarning, match="Warm-start fitting without increasing n_estimators"):
        grown.fit(x, y)
    with pytest.raises(ValueError, match="n_estimators=2 is less than the 7 trees of the forest"):
        grown.set_params(n_estimators=2).fit(x, y)
    message = "140 rows of this table, their targets or their weights are different"
    with pytest.raises(ValueError, match=message):
        grown.set_params(n_estimators=9).fit(x[:140], y[:140])
    assert len(grown.estimators_) == 7


@pytest.mark.slow
def test_out_of_bag_by_the_names_of_scikit_learn():
    ours = RandomForestClassifier(random_state=0, oob_score=True, n_estimators=150).fit(IRIS, SPECIES)
    theirs = sklearn.ensemble.RandomForestClassifier(random_state=0, oob_score=True, n_estimators=150)
    assert abs(ours.oob_score_ - theirs.fit(IRIS, SPECIES).oob_score_) < 0.03
    assert ours.oob_decision_function_.shape == (150, 3)
    assert_allclose(ours.oob_decision_function_.sum(axis=1), 1)
    assert_allclose(ours.oob_curve_[-1], 1 - ours.oob_score_)
    assert len(ours.oob_curve_) == 150
    numbers = RandomForestRegressor(random_state=0, oob_score=True).fit(DIABETES, PROGRESS)
    residual = numbers.oob_prediction_ - PROGRESS
    assert_allclose(numbers.oob_score_, 1 - (residual**2).sum() / ((PROGRESS - PROGRESS.mean()) ** 2).sum())
    assert_allclose(numbers.oob_curve_[-1], (residual**2).mean())
    halves = RandomForestClassifier(random_state=0, bootstrap=False, max_samples=0.66, oob_score=True)
    assert halves.fit(IRIS, SPECIES).oob_score_ > 0.9
    assert all(len(rows) == 99 for rows in halves.estimators_samples_)


def test_out_of_bag_score_by_a_function():
    def share_right(truth, answers):
        assert set(truth) <= {"a", "b"}
        assert set(answers) <= {"a", "b"}
        return (truth == answers).mean()

    names = np.where(SPECIES > 0, "a", "b")
    model = RandomForestClassifier(random_state=0, oob_score=share_right).fit(IRIS, names)
    assert model.oob_score_ > 0.95


def test_out_of_bag_estimates_of_several_targets():
    """The votes of the trees without a row, added up one by one; a row is right where both targets are."""
    y = np.stack([SPECIES, 1 + (IRIS[:, 1] * 10).astype(int) % 2], axis=1)
    model = RandomForestClassifier(30, random_state=0, oob_score=True, max_features=1).fit(IRIS, y)
    shares = [np.zeros((150, 3)), np.zeros((150, 2))]
    for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(150), rows)
        for total, share in zip(shares, tree.predict_proba(IRIS[out]), strict=True):
            total[out] += share
    answers = [known[total.argmax(axis=1)] for known, total in zip(model.classes_, shares, strict=True)]
    right = np.stack(answers, axis=1) == y
    assert_allclose(model.oob_score_, right.all(axis=1).mean())
    assert right.all(axis=1).mean() < right.mean()
    for found, total in zip(model.oob_decision_function_, shares, strict=True):
        assert_allclose(found, total / total.sum(axis=1, keepdims=True))

    def share_of_labels(truth, predicted):
        assert_array_equal(truth, y)
        return (truth == predicted).mean()

    model.set_params(oob_score=share_of_labels).fit(IRIS, y)
    assert_allclose(model.oob_score_, right.mean())


def test_few_trees_leave_rows_without_a_judge():
    message = "Some inputs do not have OOB scores.* rows were in every tree"
    with pytest.warns(UserWarning, match=message) as caught:
        model = RandomForestClassifier(2, random_state=0, oob_score=True).fit(IRIS, SPECIES)
    assert caught[0].filename == __file__
    assert np.isnan(model.oob_decision_function_).any()


def test_no_rows_out_of_bag():
    for model in (
        ExtraTreesClassifier(oob_score=True),
        RandomForestClassifier(bootstrap=False, oob_score=True),
    ):
        with pytest.raises(ValueError, match="only available if bootstrap=True, or if max_samples"):
            model.fit(IRIS, SPECIES)


@pytest.mark.slow
def test_as_good_as_the_peer():
    """Mean accuracy over folds within the noise of scikit-learn's."""
    x, y = load_breast_cancer(return_X_y=True)
    for ours, theirs in (
        (RandomForestClassifier, sklearn.ensemble.RandomForestClassifier),
        (ExtraTreesClassifier, sklearn.ensemble.ExtraTreesClassifier),
    ):
        own, other = (
            np.mean(cross_val_score(kind(60, random_state=1), x, y, cv=5)) for kind in (ours, theirs)
        )
        assert own > other - 0.012
    own, other = (
        np.mean(cross_val_score(kind(60, random_state=1, min_samples_leaf=5), DIABETES, PROGRESS, cv=5))
        for kind in (RandomForestRegressor, sklearn.ensemble.RandomForestRegressor)
    )
    assert own > other - 0.03


def test_members_are_estimators():
    model = RandomForestClassifier(4, random_state=0).fit(IRIS, SPECIES)
    assert isinstance(model, sklearn.ensemble.RandomForestClassifier)
    assert len(model) == 4
    member = model.estimators_[2]
    assert isinstance(member, DecisionTreeClassifier)
    assert member.model_ is model.model_[2]
    means = np.mean([each.predict_proba(IRIS) for each in model.estimators_], axis=0)
    assert_allclose(model.predict_proba(IRIS), means)
    assert_array_equal(model.apply(IRIS)[:, 2], member.apply(IRIS))
    paths, starts = model.decision_path(IRIS)
    assert paths.shape == (150, starts[-1])
    assert_array_equal(paths[:, starts[2] : starts[3]].toarray(), member.decision_path(IRIS).toarray())
    assert_allclose(model.feature_importances_.sum(), 1)


def test_tables_of_all_kinds():
    frame = pd.DataFrame({"x": [1.0, None, 3.0, 4.0] * 10, "sky": pd.Categorical(["a", "b", "b", "c"] * 10)})
    y = ["yes", "no", "no", "yes"] * 10
    for kind in CLASSIFIERS:
        model = kind(n_estimators=5, random_state=0).fit(frame, y)
        assert (model.predict(frame) == y).all()
        assert list(model.feature_names_in_) == ["x", "sky"]
        assert model.predict(frame.iloc[:2].assign(sky=[None, "new"])).shape == (2,)


def test_class_weights():
    skewed = np.r_[np.arange(50), np.arange(100, 108)]
    x, y = IRIS[skewed], SPECIES[skewed]
    for given in ("balanced", "balanced_subsample", {0: 1, 2: 5}):
        model = RandomForestClassifier(20, class_weight=given, random_state=0, max_depth=1).fit(x, y)
        plain = RandomForestClassifier(20, random_state=0, max_depth=1).fit(x, y)
        assert model.predict_proba(x)[:, 1].mean() > plain.predict_proba(x)[:, 1].mean()


def test_bagging_takes_any_of_our_trees():
    for estimator in (
        C45Classifier(),
        DecisionTreeClassifier(pruning="pessimistic"),
        DecisionTreeClassifier(max_leaf_nodes=4, costs=[[0, 1, 1], [5, 0, 1], [5, 1, 0]]),
        DecisionTreeClassifier(split="oblique", max_depth=3),
    ):
        model = BaggingClassifier(estimator, 5, random_state=0, oob_score=False).fit(IRIS, SPECIES)
        assert model.score(IRIS, SPECIES) > 0.85
        assert type(model.estimators_[0]) is type(estimator)
    formulas = BaggingRegressor(DecisionTreeRegressor(leaf="linear", max_depth=2), 5, random_state=0)
    assert formulas.fit(DIABETES, PROGRESS).score(DIABETES, PROGRESS) > 0.4


def test_bagging_draws_columns():
    model = BaggingClassifier(n_estimators=12, max_features=2, random_state=0).fit(IRIS, SPECIES)
    used = [set(tree.feature[tree.feature >= 0]) for tree in model.model_]
    assert all(len(columns) <= 2 for columns in used)
    assert len(set().union(*used)) == 4
    assert model.score(IRIS, SPECIES) > 0.9
    twice = BaggingClassifier(n_estimators=5, bootstrap_features=True, random_state=0).fit(IRIS, SPECIES)
    assert twice.score(IRIS, SPECIES) > 0.9


def test_bagging_refuses_the_wrong_trees():
    with pytest.raises(TypeError, match="estimator is a DecisionTreeRegressor; it must predict classes"):
        BaggingClassifier(DecisionTreeRegressor()).fit(IRIS, SPECIES)
    with pytest.raises(ValueError, match="max_features=9 is more than the 4 columns"):
        BaggingClassifier(max_features=9).fit(IRIS, SPECIES)


def test_majority_votes():
    model = BaggingClassifier(DecisionTreeClassifier(max_depth=2), 15, voting="hard", random_state=0)
    answers = np.array([each.predict(IRIS) for each in model.fit(IRIS, SPECIES).estimators_])
    counts = np.stack([(answers == k).sum(axis=0) for k in range(3)], axis=1)
    assert_array_equal(model.predict(IRIS), counts.argmax(axis=1))
    assert_allclose(model.predict_proba(IRIS), counts / 15)


def test_intervals():
    random = np.random.default_rng(0)
    x = random.random((3000, 1))
    y = x[:, 0] * random.normal(size=3000)
    model = RandomForestRegressor(50, min_samples_leaf=20, random_state=0, n_jobs=2).fit(x[:2000], y[:2000])
    interval = model.predict_interval(x[2000:], 0.8)
    inside = (interval[:, 0] <= y[2000:]) & (y[2000:] <= interval[:, 1])
    assert abs(inside.mean() - 0.8) < 0.06
    width = interval[:, 1] - interval[:, 0]
    assert width[x[2000:, 0] > 0.8].mean() > 3 * width[x[2000:, 0] < 0.2].mean()
    with pytest.raises(ValueError, match="confidence is 90; it must be a number between 0 and 1"):
        model.predict_interval(x, 90)
    several = RandomForestRegressor(3).fit(x, np.stack([y, y], axis=1))
    with pytest.raises(ValueError, match="quantiles are for one target"):
        several.predict_quantiles(x)


def test_importance_and_proximity():
    model = RandomForestClassifier(30, random_state=0).fit(IRIS, SPECIES)
    worth = model.oob_importance(IRIS, SPECIES)
    assert {worth.ranked[0].column, worth.ranked[1].column} == {"x2", "x3"}
    with pytest.raises(ValueError, match="these are not the rows of the fit; give all of them"):
        model.oob_importance(IRIS[:20], SPECIES[:20])
    near = model.proximity(IRIS, out_of_bag=True)
    same = SPECIES[:, np.newaxis] == SPECIES
    assert near[same].mean() > 5 * near[~same].mean()
    with pytest.raises(ValueError, match="out_of_bag=True is for the 150 rows of the fit, in their order"):
        model.proximity(IRIS[:3], out_of_bag=True)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators=0 is not possible; it must be an int >= 1"),
        (
            {"max_samples": 0.0},
            "max_samples=0.0 is not possible; it must be an int >= 1, or a positive float",
        ),
        ({"max_samples": np.inf}, "max_samples=inf is not possible"),
        ({"max_samples": 1.5, "bootstrap": False}, "max_samples=1.5: 225 rows cannot be drawn without"),
        ({"max_samples": 500, "bootstrap": False}, "max_samples=500: 500 rows cannot be drawn without"),
        ({"voting": "loud"}, "voting='loud' is not possible; it must be one of 'soft', 'hard'"),
        ({"bootstrap": 1}, "bootstrap=1 is not possible; it must be True or False"),
        ({"criterion": "squared_error"}, "is not for classes"),
        ({"max_features": 0}, "max_features=0 is not possible"),
    ],
)
def test_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RandomForestClassifier(**parameters).fit(IRIS, SPECIES)


def test_hardly_any_rows():
    for kind in CLASSIFIERS:
        assert kind(n_estimators=3).fit([[1.0]], ["a"]).predict([[5.0]]) == ["a"]
    for kind in REGRESSORS:
        assert kind(n_estimators=3).fit([[1.0]], [2.0]).predict([[5.0]]) == [2.0]
    with pytest.raises(ValueError, match=r"0 rows|no rows|at least one"):
        RandomForestClassifier().fit(np.zeros((0, 2)), [])
    one_class = RandomForestClassifier(5, oob_score=False).fit(IRIS[:50], SPECIES[:50])
    assert_array_equal(one_class.predict_proba(IRIS), np.ones((150, 1)))
    with pytest.raises(ValueError, match="weight"):
        RandomForestClassifier().fit(IRIS, SPECIES, sample_weight=np.zeros(150))


def test_a_fit_that_fails_changes_nothing():
    model = RandomForestClassifier(3, random_state=0).fit(IRIS, SPECIES)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="n_estimators"):
        model.set_params(n_estimators=-1).fit(IRIS, SPECIES)
    assert {name: value for name, value in vars(model).items() if name != "n_estimators"} == {
        name: value for name, value in before.items() if name != "n_estimators"
    }


def test_inside_scikit_learn():
    search = GridSearchCV(RandomForestClassifier(5, random_state=0), {"max_depth": [1, 3]}, cv=3)
    assert search.fit(IRIS, SPECIES).best_score_ > 0.9
    stack = StackingClassifier(
        [
            ("forest", RandomForestClassifier(10, random_state=0)),
            ("tree", DecisionTreeClassifier(max_depth=2)),
        ],
        LogisticRegression(max_iter=500),
        cv=3,
    )
    assert stack.fit(IRIS, SPECIES).score(IRIS, SPECIES) > 0.9
    assert clone(RandomForestClassifier(7)).n_estimators == 7


def test_progress_is_shown(capsys):
    RandomForestClassifier(3, verbose=1).fit(IRIS, SPECIES)
    assert "3 of 3 trees" in capsys.readouterr().err


INTERRUPTED = """
import numpy as np, sys
from treewright import RandomForestClassifier
random = np.random.default_rng(0)
x = random.random((20_000, 10))
y = (x[:, 0] > random.random(20_000)).astype(int)
for warm in (False, True):
    model = RandomForestClassifier(5, random_state=0, warm_start=warm, n_jobs=2).fit(x[:, :], y)
    model.set_params(n_estimators=4_000)
    print("growing", flush=True)
    try:
        model.fit(x, y)
    except KeyboardInterrupt:
        print(len(model.estimators_), len(model.predict(x[:3])), flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_in_the_middle_of_a_forest():
    """The forest of the fit before stays; with warm_start the new trees stay, too."""
    told = []
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True) as process:
        for _ in range(2):
            assert process.stdout.readline() == "growing\n"
            try:
                process.wait(1.5)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
            told.append([int(word) for word in process.stdout.readline().split()])
        assert process.wait(60) == 0
    assert told[0] == [5, 3]
    assert told[1][0] > 5
    assert told[1][1] == 3


def test_no_warning_for_a_plain_fit():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in CLASSIFIERS + REGRESSORS:
            kind(n_estimators=2).fit(IRIS, SPECIES.astype(float) if kind in REGRESSORS else SPECIES).predict(
                IRIS
            )


def test_drawn_weights_are_no_ground_for_a_certificate():
    """Heavy rows are hardly ever out of bag: what the others say of the vote holds for them alone."""
    weight = np.where(SPECIES == 2, 20.0, 1.0)
    model = RandomForestClassifier(20, random_state=0).fit(IRIS, SPECIES, weight)
    with pytest.raises(ValueError, match="rows were drawn by their weights"):
        model.oob_certificate(IRIS, SPECIES, weight)
    plain = RandomForestClassifier(20, random_state=0).fit(IRIS, SPECIES)
    assert 0 < plain.oob_certificate(IRIS, SPECIES).value <= 1
    mixed = np.where(np.random.default_rng(0).random(IRIS.shape) < 0.2, np.nan, IRIS)
    parts = RandomForestClassifier(20, missing="fractional", random_state=0).fit(mixed, SPECIES)
    assert 0 < parts.oob_certificate(mixed, SPECIES).value <= 1


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_rows_of_the_fit_certify_nothing(kind):
    model = kind(n_estimators=5, random_state=0).fit(IRIS[::2], SPECIES[::2])
    for rows in (slice(None, None, 2), slice(148, None, -2)):
        with pytest.raises(ValueError, match="are rows of the fit"):
            model.certify(IRIS[rows], SPECIES[rows])
    assert model.certify(IRIS[1::2], SPECIES[1::2]).value < 0.2


def test_a_warm_start_has_the_same_rows_targets_and_draws():
    model = RandomForestRegressor(3, warm_start=True, random_state=0).fit(DIABETES, PROGRESS)
    model.set_params(n_estimators=5)
    with pytest.raises(ValueError, match="their targets or their weights are different"):
        model.fit(DIABETES, PROGRESS[::-1])
    with pytest.raises(ValueError, match="bootstrap or max_samples have changed"):
        model.set_params(max_samples=0.1).fit(DIABETES, PROGRESS)
    with pytest.raises(ValueError, match="these are the rows of the fit in another order"):
        model.oob_importance(DIABETES[::-1], PROGRESS[::-1])


def test_out_of_bag_figures_agree_whatever_rows_weigh():
    weight = np.where(SPECIES == 2, 20.0, np.where(SPECIES == 1, 1.0, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # rows that weigh nothing are not missed
        model = RandomForestClassifier(150, oob_score=True, random_state=0).fit(IRIS, SPECIES, weight)
    assert_allclose(model.oob_curve_[-1], 1 - model.oob_score_)


def test_counts_that_are_mostly_zero():
    """A draw of zeros alone is a tree that answers zero."""
    counts = np.zeros(442)
    counts[:2] = 3
    model = RandomForestRegressor(40, criterion="poisson", random_state=0).fit(DIABETES, counts)
    answers = model.predict(DIABETES)
    assert answers.min() >= 0
    assert answers[0] > answers[10:].mean()
    with pytest.raises(ValueError, match="zero in every row"):
        RandomForestRegressor(3, criterion="poisson").fit(DIABETES, np.zeros(442))


def test_columns_that_are_drawn_for_each_tree_have_no_rules_of_their_own():
    tree = DecisionTreeRegressor(monotonic_cst=[1] + [0] * 9)
    with pytest.raises(ValueError, match=r"monotonic_cst of the estimator is for all columns"):
        BaggingRegressor(tree, 3, max_features=0.5).fit(DIABETES, PROGRESS)
    assert BaggingRegressor(tree, 3, random_state=0).fit(DIABETES, PROGRESS).score(DIABETES, PROGRESS) > 0


def test_quantiles_of_large_leaves():
    """Counted by target instead of sorted: the same numbers."""
    shallow = RandomForestRegressor(20, max_depth=2, random_state=0).fit(DIABETES, PROGRESS)
    kept = vars(shallow)["_leaf_targets"]
    leaf = shallow.apply(DIABETES[:30]).astype(np.int32)
    sizes = np.stack([start[own + 1] - start[own] for start, own in zip(kept.start, leaf.T, strict=True)], 1)
    levels = np.array([0.0, 0.05, 0.5, 0.95, 1.0])
    counted = kept._counted_quantiles(leaf, sizes, levels)
    assert_array_equal(counted, kept._sorted_quantiles(leaf, sizes, levels))
    assert_array_equal(shallow.predict_quantiles(DIABETES[:30], levels), counted)


def test_targets_need_not_be_kept():
    model = RandomForestRegressor(5, keep_targets=False, random_state=0).fit(DIABETES, PROGRESS)
    whole = RandomForestRegressor(5, random_state=0).fit(DIABETES, PROGRESS)
    assert len(pickle.dumps(model)) < len(pickle.dumps(whole))
    with pytest.raises(ValueError, match="fit with keep_targets=True"):
        model.predict_interval(DIABETES)


@pytest.mark.parametrize("kind", [*CLASSIFIERS[:2], *REGRESSORS[:2]])
@pytest.mark.parametrize("bootstrap", [True, False])
def test_members_are_grown_again_from_their_rows_and_seeds(kind, bootstrap):
    x, y = (IRIS, SPECIES) if kind in CLASSIFIERS else (DIABETES, PROGRESS)
    size = 0.7 if bootstrap else None
    model = kind(5, max_features=0.5, bootstrap=bootstrap, max_samples=size, random_state=7).fit(x, y)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        assert len(rows) == (int(0.7 * len(x)) if bootstrap else len(x))
        assert rows.dtype == np.int32
        again = clone(member).fit(x[rows], y[rows]).tree_
        assert_array_equal(again.feature, member.tree_.feature)
        assert_array_equal(again.threshold, member.tree_.threshold)
        assert_allclose(again.value, member.tree_.value)


@pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS)
def test_more_rows_than_there_are_can_be_drawn(kind):
    x, y = (IRIS, SPECIES) if kind in CLASSIFIERS else (DIABETES, PROGRESS)
    model = kind(n_estimators=4, bootstrap=True, max_samples=1.5, random_state=0).fit(x, y)
    assert [len(rows) for rows in model.estimators_samples_] == [3 * len(x) // 2] * 4
    drawn = np.mean([len(np.unique(rows)) for rows in model.estimators_samples_]) / len(x)
    assert abs(drawn - (1 - np.exp(-1.5))) < 0.05
    counted = kind(n_estimators=4, bootstrap=True, max_samples=3 * len(x) // 2, random_state=0).fit(x, y)
    assert_array_equal(counted.predict(x), model.predict(x))


@pytest.mark.parametrize("kind", [*REGRESSORS[:2], DecisionTreeRegressor])
def test_the_criterion_that_scikit_learn_removes(kind):
    with pytest.warns(FutureWarning, match="friedman_mse.*use 'squared_error'") as caught:
        model = kind(criterion="friedman_mse", max_depth=3, random_state=0).fit(DIABETES, PROGRESS)
    assert [each.filename for each in caught] == [__file__]
    same = kind(max_depth=3, random_state=0).fit(DIABETES, PROGRESS)
    assert_array_equal(model.predict(DIABETES), same.predict(DIABETES))


@pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS)
def test_a_column_of_targets_comes_with_a_warning(kind):
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed") as caught:
        model = kind(n_estimators=3, random_state=0).fit(IRIS, SPECIES[:, np.newaxis])
    assert [each.filename for each in caught] == [__file__]
    assert_array_equal(
        model.predict(IRIS), kind(n_estimators=3, random_state=0).fit(IRIS, SPECIES).predict(IRIS)
    )
    kind(n_estimators=3).fit(IRIS, np.stack([SPECIES, SPECIES], axis=1))  # two targets come without


def test_sparse_targets_are_refused_by_the_errors_of_scikit_learns_trees_and_forests():
    for kind in [*CLASSIFIERS, DecisionTreeClassifier]:
        for error in (TypeError, ValueError):
            with pytest.raises(error, match="sparse multilabel-indicator for y is not supported"):
                kind().fit(IRIS, csr_matrix(np.eye(3)[SPECIES]))


@pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS)
def test_attributes_of_a_fit_need_one(kind):
    for name in ("feature_importances_", "estimators_", "estimators_samples_"):
        with pytest.raises(NotFittedError, match=f"This {kind.__name__} instance is not fitted yet"):
            getattr(kind(), name)
        assert not hasattr(kind(), name)


def test_members_have_their_own_seeds():
    model = RandomForestClassifier(3, random_state=7).fit(IRIS, SPECIES)
    assert len({member.random_state for member in model.estimators_}) == 3
    assert isinstance(model.estimator_, DecisionTreeClassifier)
