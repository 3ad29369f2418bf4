"""The estimators: scikit-learn's signatures, parameters, answers, weights and pruning."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import sklearn.tree
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.utils._param_validation import InvalidParameterError

import treewright
from treewright import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from treewright.estimators.fitting import growing_options
from treewright.growing import n_features_drawn

NAMES = ["DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor"]
IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


def ours_and_theirs(name: str, **parameters):
    return getattr(treewright, name)(**parameters), getattr(sklearn.tree, name)(**parameters)


def data_for(name: str):
    return IRIS if name.endswith("Classifier") else DIABETES


# ---- the same door as scikit-learn's -----------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_parameters_and_defaults_are_scikit_learns(name: str) -> None:
    ours, theirs = ours_and_theirs(name)
    given = ours.get_params()
    assert list(theirs.get_params().items() - given.items()) == []
    more = [
        "selection",
        "pruning",
        "threshold",
        "kinds",
        "n_jobs",
        "missing",
        "interaction_cst",
        "feature_costs",
    ]
    more += ["costs"] * name.endswith("Classifier")
    if name.startswith("Decision"):
        more += ["root", "n_competitors", "split", "category_gain"]
        more += ["leaf"] * name.endswith("Regressor")
    assert given.keys() - theirs.get_params().keys() == set(more)
    order = list(inspect.signature(type(ours)).parameters)
    assert set(order[-len(more) :]) == set(more)  # after scikit-learn's own


@pytest.mark.parametrize("name", NAMES)
def test_methods_and_signatures_are_scikit_learns(name: str) -> None:
    ours, theirs = ours_and_theirs(name)
    assert isinstance(ours, sklearn.tree.DecisionTreeClassifier | sklearn.tree.DecisionTreeRegressor)
    for method in [
        m for m in dir(theirs) if not m.startswith("_") and callable(getattr(type(theirs), m, None))
    ]:
        mine, others = (list(inspect.signature(getattr(who, method)).parameters) for who in (ours, theirs))
        assert mine[: len(others)] == others
        assert set(mine[len(others) :]) <= {"validation"}


@pytest.mark.parametrize("name", NAMES)
def test_fitted_attributes_are_scikit_learns(name: str) -> None:
    ours, theirs = ours_and_theirs(name, random_state=0)
    X, y = data_for(name)
    ours.fit(X, y)
    theirs.fit(X, y)
    fitted = [a for a in dir(theirs) if a.endswith("_") and not a.startswith("_")]
    for attribute in fitted:
        assert hasattr(ours, attribute), attribute
        mine, other = getattr(ours, attribute), getattr(theirs, attribute)
        assert type(mine) is type(other), attribute
        if isinstance(other, np.ndarray):
            assert (mine.shape, mine.dtype) == (other.shape, other.dtype)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("outputs", [1, 2])
def test_answers_have_scikit_learns_shapes(name: str, outputs: int) -> None:
    ours, theirs = ours_and_theirs(name, random_state=0, max_depth=4)
    X, y = data_for(name)
    target = y if outputs == 1 else np.stack([y, y[::-1] % 2], axis=1)
    ours.fit(X, target)
    theirs.fit(X, target)
    for method in ["predict", "apply", "predict_proba", "predict_log_proba"]:
        if hasattr(theirs, method):
            with np.errstate(divide="ignore"):
                mine, other = getattr(ours, method)(X[:7]), getattr(theirs, method)(X[:7])
            assert type(mine) is type(other)
            for a, b in zip(mine, other, strict=True) if isinstance(other, list) else [(mine, other)]:
                assert (a.shape, a.dtype) == (b.shape, b.dtype), method
    assert ours.n_outputs_ == outputs
    if outputs == 1 or name.endswith("Regressor"):  # scikit-learn scores no classes of several targets
        assert ours.score(X, target) > 0


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
def test_classifier_fits_as_well_as_scikit_learns(load, criterion: str) -> None:
    """The first splits are unique on these data, so shallow trees agree node by node."""
    X, y = load(return_X_y=True)
    ours, theirs = ours_and_theirs("DecisionTreeClassifier", criterion=criterion, max_depth=2, random_state=0)
    ours.fit(X, y)
    theirs.fit(X, y)
    np.testing.assert_array_equal(ours.tree_.children_left, theirs.tree_.children_left)
    np.testing.assert_array_equal(ours.tree_.n_node_samples, theirs.tree_.n_node_samples)
    np.testing.assert_allclose(ours.tree_.impurity, theirs.tree_.impurity, atol=1e-12)
    np.testing.assert_allclose(ours.tree_.value, theirs.tree_.value, atol=1e-12)
    assert ours.score(X, y) == theirs.score(X, y)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_regressor_fits_as_well_as_scikit_learns(criterion: str) -> None:
    X, y = DIABETES
    ours, theirs = ours_and_theirs("DecisionTreeRegressor", criterion=criterion, max_depth=3, random_state=0)
    ours.fit(X, y)
    theirs.fit(X, y)
    np.testing.assert_array_equal(ours.tree_.feature, theirs.tree_.feature)
    np.testing.assert_array_equal(ours.tree_.n_node_samples, theirs.tree_.n_node_samples)
    np.testing.assert_allclose(ours.tree_.impurity, theirs.tree_.impurity, rtol=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_apply_path_and_tree_agree(name: str) -> None:
    X, y = data_for(name)
    model = getattr(treewright, name)(random_state=3).fit(X, y)
    view, leaves = model.tree_, model.apply(X)
    assert view.node_count == model.model_.n_nodes
    assert (view.max_depth, view.n_leaves) == (model.get_depth(), model.get_n_leaves())
    np.testing.assert_array_equal(view.apply(X.astype(np.float32)), leaves)
    theirs, path = view.decision_path(X.astype(np.float32)), model.decision_path(X)
    assert type(path) is type(theirs)
    assert path.dtype == theirs.dtype
    assert (path != theirs).nnz == 0
    np.testing.assert_allclose(view.compute_feature_importances(), model.feature_importances_, atol=1e-12)
    predicted = view.predict(X.astype(np.float32))
    told = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)[:, np.newaxis]
    np.testing.assert_allclose(predicted, told)


def test_labels_keep_their_type() -> None:
    X = np.arange(6.0).reshape(-1, 1)
    for labels in (
        np.array(["no", "yes"] * 3),
        np.array(["no", "yes"] * 3, dtype=object),
        np.array([True, False] * 3),
        np.array([3, -1] * 3, dtype=np.int8),
        np.array([1.0, 2.0] * 3, dtype=np.float32),
    ):
        model = DecisionTreeClassifier().fit(X, labels)
        assert model.classes_.dtype == labels.dtype
        np.testing.assert_array_equal(model.classes_, np.unique(labels))
        predicted = model.predict(X)
        assert predicted.dtype == labels.dtype
        np.testing.assert_array_equal(predicted, labels)


def test_targets_keep_their_names() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = IRIS
    named = DecisionTreeClassifier().fit(X, pandas.Series(y, name="species"))
    assert named.model_.schema.targets[0].name == "species"
    several = pandas.DataFrame({"kind": np.where(y == 0, "a", "b"), "number": y})
    model = DecisionTreeClassifier().fit(X, several)
    assert [target.name for target in model.model_.schema.targets] == ["kind", "number"]
    assert [classes.tolist() for classes in model.classes_] == [["a", "b"], [0, 1, 2]]
    np.testing.assert_array_equal(model.predict(X), several.to_numpy(dtype=object))


def test_a_list_of_labels_is_never_names_of_columns() -> None:
    table = {"a": [1, 2], "b": [3, 4]}
    assert DecisionTreeClassifier().fit(table, ["a", "b"]).classes_.tolist() == ["a", "b"]


# ---- parameters --------------------------------------------------------------------------------------------

WRONG = {
    "criterion": [3, None, "ginni", "squared"],
    "splitter": ["worst", None, 1],
    "max_depth": [0, -1, 2.5, "deep", True],
    "min_samples_split": [1, 0.0, 1.5, None, "two", True],
    "min_samples_leaf": [0, 1.0, -0.5, None],
    "min_weight_fraction_leaf": [-0.1, 0.6, None, "x", float("nan")],
    "max_features": [0, 0.0, 1.5, "cbrt", -1, [1]],
    "random_state": [-1, 1.5, "seed", 2**32],
    "max_leaf_nodes": [1, 0, 2.0],
    "min_impurity_decrease": [-1.0, None, float("nan"), float("inf")],
    "ccp_alpha": [-1e-9, None, float("nan")],
    "monotonic_cst": [[0, 1, 1], "x"],
    "missing": ["guess", None],
    "selection": ["luck", None],
    "pruning": [3],
    "interaction_cst": ["some", [[99]]],
    "feature_costs": [[1], 2.0],
    "threshold": ["middle", None],
    "kinds": [5],
    "n_jobs": [0, 1.5, "all"],
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("parameter", WRONG)
def test_wrong_parameters_are_named(name: str, parameter: str) -> None:
    X, y = data_for(name)
    for value in WRONG[parameter]:
        with pytest.raises(ValueError, match=parameter):
            getattr(treewright, name)(**{parameter: value}).fit(X, y)


def test_wrong_parameters_are_scikit_learns_errors() -> None:
    with pytest.raises(InvalidParameterError, match=r"max_depth=0 .* an int >= 1"):
        DecisionTreeClassifier(max_depth=0).fit(*IRIS)
    with pytest.raises(InvalidParameterError, match="class_weight"):
        DecisionTreeClassifier(class_weight="equal").fit(*IRIS)


def test_criteria_of_the_other_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="squared_error"):
        DecisionTreeClassifier(criterion="squared_error").fit(*IRIS)
    with pytest.raises(ValueError, match="gini"):
        DecisionTreeRegressor(criterion="gini").fit(*DIABETES)


def test_an_unknown_criterion_is_told_those_of_its_task() -> None:
    known = "entropy, error, gain_ratio, gini, log_loss, sqrt"
    unknown = rf"criterion 'ginni' is unknown; known for classes: {known}; did you mean 'gini'\?$"
    with pytest.raises(ValueError, match=unknown):
        DecisionTreeClassifier(criterion="ginni").fit(*IRIS)
    with pytest.raises(ValueError, match=f"'poisson' is not for classes; those are: {known}$"):
        DecisionTreeClassifier(criterion="poisson").fit(*IRIS)
    with pytest.raises(ValueError, match=r"known for numbers: absolute_error, poisson, squared_error$"):
        DecisionTreeRegressor(criterion="ginni").fit(*DIABETES)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss", "error", "sqrt", "gain_ratio"])
def test_every_criterion_grows(criterion: str) -> None:
    assert DecisionTreeClassifier(criterion=criterion).fit(*IRIS).score(*IRIS) == 1.0


def test_friedman_mse_is_squared_error() -> None:
    with pytest.warns(FutureWarning, match="squared_error"):
        model = DecisionTreeRegressor(criterion="friedman_mse", max_depth=3).fit(*DIABETES)
    same = DecisionTreeRegressor(max_depth=3).fit(*DIABETES)
    np.testing.assert_array_equal(model.predict(DIABETES[0]), same.predict(DIABETES[0]))
    assert model.get_params()["criterion"] == "friedman_mse"


@pytest.mark.parametrize(
    ("max_features", "expected"),
    [
        (None, 10),
        ("sqrt", 3),
        ("log2", 3),
        (4, 4),
        (0.25, 2),
        (1.0, 10),
        (0.01, 1),
        (np.int64(7), 7),
        (99, 99),
    ],
)
def test_max_features(max_features, expected: int) -> None:
    X, y = DIABETES
    ours, theirs = ours_and_theirs("DecisionTreeRegressor", max_features=max_features, max_depth=2)
    assert ours.fit(X, y).max_features_ == theirs.fit(X, y).max_features_ == expected
    assert n_features_drawn(max_features, 10) == expected


def test_fractions_are_of_the_rows_and_the_weight() -> None:
    model = DecisionTreeRegressor(
        min_samples_split=0.101,
        min_samples_leaf=0.031,
        min_weight_fraction_leaf=0.25,
        min_impurity_decrease=2.0,
    )
    found = growing_options(model, 100, 10, 400.0)
    assert found["min_samples_split"] == 11
    assert found["min_samples_leaf"] == 4
    assert found["_min_weight_leaf"] == 100.0
    assert found["_min_gain"] == 800.0
    least = growing_options(DecisionTreeRegressor(min_samples_split=1e-9), 100, 10, 400.0)
    assert least["min_samples_split"] == 2


@pytest.mark.parametrize(
    "limit",
    [
        {"min_samples_leaf": 0.05},
        {"min_samples_leaf": 11},
        {"min_samples_split": 0.2},
        {"min_weight_fraction_leaf": 0.07},
        {"min_impurity_decrease": 60.0},
        {"max_leaf_nodes": 9},
        {"max_depth": 4},
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_limits_mean_what_they_mean_in_scikit_learn(limit, weighted: bool) -> None:
    X, y = DIABETES
    weight = np.random.default_rng(1).uniform(0.2, 2, size=len(y)) if weighted else None
    ours, theirs = ours_and_theirs("DecisionTreeRegressor", random_state=0, **limit)
    ours.fit(X, y, sample_weight=weight)
    theirs.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(np.sort(ours.tree_.n_node_samples), np.sort(theirs.tree_.n_node_samples))
    np.testing.assert_allclose(
        np.sort(ours.tree_.weighted_n_node_samples), np.sort(theirs.tree_.weighted_n_node_samples)
    )
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))


def test_max_leaf_nodes() -> None:
    assert DecisionTreeClassifier(max_leaf_nodes=4).fit(*IRIS).get_n_leaves() == 4
    assert DecisionTreeClassifier(max_leaf_nodes=2).fit(*IRIS).get_n_leaves() == 2


def test_thresholds() -> None:
    X = np.array([[1.13], [1.48]])
    readable = DecisionTreeClassifier().fit(X, [0, 1]).model_.threshold[0]
    middle = DecisionTreeClassifier(threshold="midpoint").fit(X, [0, 1]).model_.threshold[0]
    assert readable in (1.2, 1.3, 1.4)
    assert middle == pytest.approx(1.305)


@pytest.mark.parametrize("name", ["DecisionTreeClassifier", "DecisionTreeRegressor"])
def test_without_chance_the_seed_does_not_matter(name: str) -> None:
    X, y = data_for(name)
    make = getattr(treewright, name)
    first = make(random_state=0).fit(X, y)
    for other in (
        make(random_state=1),
        make(),
        make(random_state=np.random.RandomState(7)),
        make(max_features=1.0),
    ):
        np.testing.assert_array_equal(other.fit(X, y).model_.threshold, first.model_.threshold)


@pytest.mark.parametrize("parameters", [{"splitter": "random"}, {"max_features": 1}])
def test_the_seed_is_all_the_chance_there_is(parameters) -> None:
    X, y = DIABETES

    def thresholds(seed) -> list[float]:
        return DecisionTreeRegressor(random_state=seed, **parameters).fit(X, y).model_.threshold.tolist()

    def same(a, b) -> bool:
        return np.array_equal(a, b, equal_nan=True)

    assert same(thresholds(5), thresholds(5))
    assert not same(thresholds(5), thresholds(6))
    assert same(thresholds(np.random.RandomState(5)), thresholds(np.random.RandomState(5)))
    drawing = np.random.RandomState(5)
    assert not same(thresholds(drawing), thresholds(drawing))


def test_n_jobs_does_not_matter() -> None:
    X, y = DIABETES
    one = DecisionTreeRegressor(n_jobs=1).fit(X, y)
    two = DecisionTreeRegressor(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.model_.threshold, two.model_.threshold)


# ---- weights -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 2: 0.5}, {0: 1, 1: 0, 2: 3}])
def test_class_weight_is_scikit_learns(class_weight) -> None:
    X, y = IRIS
    rows = np.r_[0:50, 60:90, 100:110]
    ours, theirs = ours_and_theirs(
        "DecisionTreeClassifier", class_weight=class_weight, max_depth=2, random_state=0
    )
    ours.fit(X[rows], y[rows])
    theirs.fit(X[rows], y[rows])
    np.testing.assert_allclose(ours.tree_.weighted_n_node_samples[0], theirs.tree_.weighted_n_node_samples[0])
    np.testing.assert_allclose(ours.tree_.value[0], theirs.tree_.value[0])
    heavy = rows if class_weight == "balanced" else [row for row in rows if class_weight.get(y[row], 1) > 0]
    np.testing.assert_allclose(ours.predict_proba(X[heavy]), theirs.predict_proba(X[heavy]))


def test_class_weight_of_several_targets() -> None:
    X, y = IRIS
    several = np.stack([y, y % 2], axis=1)
    for class_weight in ("balanced", [{0: 2, 1: 1, 2: 1}, {0: 1, 1: 3}]):
        ours, theirs = ours_and_theirs("DecisionTreeClassifier", class_weight=class_weight, max_depth=1)
        ours.fit(X, several)
        theirs.fit(X, several)
        np.testing.assert_allclose(
            ours.tree_.weighted_n_node_samples[0], theirs.tree_.weighted_n_node_samples[0]
        )
        np.testing.assert_allclose(ours.tree_.value[0], theirs.tree_.value[0])
    with pytest.raises(ValueError, match="list of 2 dicts"):
        DecisionTreeClassifier(class_weight={0: 2}).fit(X, several)
    with pytest.raises(ValueError, match="3 dicts, but y has 2 targets"):
        DecisionTreeClassifier(class_weight=[{0: 2}] * 3).fit(X, several)


@pytest.mark.parametrize(
    ("class_weight", "told"),
    [
        ({0: 1.0, 7: 2.0}, "7"),
        ({0: -1.0, 1: 1.0, 2: 1.0}, "not negative"),
        ({0: float("nan"), 1: 1.0, 2: 1.0}, "finite"),
        ({0: 0, 1: 0, 2: 0}, "zero"),
        ([3], "dict"),
    ],
)
def test_wrong_class_weights_are_told(class_weight, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        DecisionTreeClassifier(class_weight=class_weight).fit(*IRIS)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_weight_is_as_good_as_copies(class_weight) -> None:
    """Also with balanced classes, where scikit-learn counts rows and forgets their weights."""
    X, y = IRIS
    weight = np.random.default_rng(3).integers(0, 4, size=len(y))
    model = DecisionTreeClassifier(class_weight=class_weight, max_depth=3)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    copied = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict_proba(X), copied.predict_proba(X))


def test_fractions_do_not_count_rows_of_weight_zero() -> None:
    X, y = DIABETES
    weight = np.arange(len(y)) % 2
    model = DecisionTreeRegressor(min_samples_leaf=0.1, min_samples_split=0.3)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    without = clone(model).fit(X[1::2], y[1::2])
    np.testing.assert_array_equal(weighted.model_.threshold, without.model_.threshold)


# ---- pruning and tags --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_ccp_alpha_follows_the_path(name: str) -> None:
    X, y = data_for(name)
    model = getattr(treewright, name)(random_state=0)
    path = model.cost_complexity_pruning_path(X, y)
    assert not hasattr(model, "model_")
    assert path.ccp_alphas[0] == 0
    for place in np.linspace(1, len(path.ccp_alphas) - 1, 4).astype(int):
        pruned = clone(model).set_params(ccp_alpha=path.ccp_alphas[place]).fit(X, y)
        leaf = pruned.tree_.children_left < 0
        share = pruned.tree_.weighted_n_node_samples / pruned.tree_.weighted_n_node_samples[0]
        assert (share * pruned.tree_.impurity)[leaf].sum() == pytest.approx(
            path.impurities[place], rel=1e-12, abs=1e-12
        )
    assert pruned.get_n_leaves() == 1


def test_pruning_knows_the_weights() -> None:
    X, y = IRIS
    weight = np.where(y == 2, 5.0, 1.0)
    plain = DecisionTreeClassifier().cost_complexity_pruning_path(X, y)
    weighted = DecisionTreeClassifier().cost_complexity_pruning_path(X, y, sample_weight=weight)
    assert plain.impurities[-1] != pytest.approx(weighted.impurities[-1])


def test_tags() -> None:
    for name in NAMES:
        tags = getattr(treewright, name)().__sklearn_tags__()
        assert tags.input_tags.allow_nan
        assert tags.input_tags.sparse
        assert tags.input_tags.categorical
        assert tags.input_tags.string
        assert tags.target_tags.multi_output
        assert tags.target_tags.required
    assert ExtraTreeClassifier().__sklearn_tags__().classifier_tags.multi_label
    assert ExtraTreeRegressor(splitter="best").__sklearn_tags__().input_tags.allow_nan
