"""Trees of other libraries as ours, and ours as theirs: every row at the same leaf, then all else works."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
import sklearn.ensemble
import sklearn.tree
from hypothesis import given
from hypothesis import strategies as st

from tests.converting.cases import DIABETES, HOLES, IRIS, MONOTONE, SPECIES, check_like, hard_rows
from tests.tree.test_deep_trees import chain, schema_of
from treewright import (
    DecisionTreeClassifier,
    Tree,
    certify,
    encode,
    export,
    from_sklearn,
    grow,
    load,
    prune,
)
from treewright.converting import to_shap, to_sklearn
from treewright.converting.float32_thresholds import thresholds
from treewright.exporting import probes

# To see whether a table is finite scikit-learn adds up its cells, and these tables have infinities of both
# signs.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered in reduce:RuntimeWarning")

# ---- from scikit-learn -------------------------------------------------------------------------------------

CLASSIFIERS = [
    sklearn.tree.DecisionTreeClassifier(random_state=0),
    sklearn.tree.DecisionTreeClassifier(random_state=0, criterion="log_loss", max_leaf_nodes=7),
    sklearn.tree.DecisionTreeClassifier(random_state=0, criterion="entropy", class_weight="balanced"),
    sklearn.tree.DecisionTreeClassifier(random_state=0, splitter="random", max_features=2, ccp_alpha=0.01),
    sklearn.tree.ExtraTreeClassifier(random_state=0),
]


@pytest.mark.parametrize("rows", ["float64", "float32"])
@pytest.mark.parametrize("holes", [False, True], ids=["known", "missing"])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_classifiers_keep_their_leaves(model: Any, holes: bool, rows: Any) -> None:
    X = HOLES if holes else IRIS[0]
    model.fit(X, SPECIES)
    asked = hard_rows(model.tree_.threshold, model.tree_.feature, 4).astype(rows)
    tree = from_sklearn(model, rows=rows)
    check_like(tree, model, asked)
    np.testing.assert_allclose(tree.predict_proba(asked), model.predict_proba(asked), rtol=1e-12)
    assert tree.rows.sum() == model.tree_.n_node_samples.sum()


@pytest.mark.filterwarnings('ignore:Value `"friedman_mse"`:FutureWarning')
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson", "friedman_mse"])
def test_regressors_keep_their_leaves_and_their_risk(criterion: str) -> None:
    model = sklearn.tree.DecisionTreeRegressor(criterion=criterion, min_samples_leaf=6, random_state=0)
    model.fit(*DIABETES)
    tree = from_sklearn(model)
    check_like(tree, model, hard_rows(model.tree_.threshold, model.tree_.feature, 10))
    counted = from_sklearn(model, data=DIABETES)
    np.testing.assert_allclose(counted.risk, tree.risk, rtol=1e-9)
    np.testing.assert_array_equal(counted.rows, tree.rows)
    np.testing.assert_array_equal(counted.value, tree.value)


def test_weights_monotony_names_and_sparse_tables() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = IRIS
    weight = np.random.default_rng(2).random(len(y)) * (y > 0)
    model = sklearn.tree.DecisionTreeClassifier(random_state=0).fit(X, SPECIES, sample_weight=weight)
    tree = from_sklearn(model)
    check_like(tree, model, hard_rows(model.tree_.threshold, model.tree_.feature, 4))
    np.testing.assert_allclose(from_sklearn(model, data=(X, SPECIES, weight)).weight, tree.weight, rtol=1e-9)
    rising = sklearn.tree.DecisionTreeClassifier(random_state=0, **MONOTONE).fit(X, y > 1)
    asked = hard_rows(rising.tree_.threshold, rising.tree_.feature, 4)
    check_like(from_sklearn(rising), rising, np.nan_to_num(asked))
    assert from_sklearn(rising).schema.targets[0].classes == (False, True)
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    named = sklearn.tree.DecisionTreeClassifier(random_state=0).fit(frame, y)
    assert from_sklearn(named).schema.names == ("a", "b", "c", "d")
    sparse = scipy.sparse.csc_matrix(np.where(X < 1.5, 0.0, X))
    model = sklearn.tree.DecisionTreeClassifier(random_state=0).fit(sparse, y)
    tree = from_sklearn(model, data=(sparse.toarray(), y))
    np.testing.assert_array_equal(tree.predict(sparse), model.predict(sparse))


def test_several_targets() -> None:
    X = IRIS[0]
    classes = np.stack([SPECIES, np.where(X[:, 0] > 5.5, "long", "short")], axis=1)
    model = sklearn.tree.DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, classes)
    asked = hard_rows(model.tree_.threshold, model.tree_.feature, 4)
    check_like(from_sklearn(model), model, asked)
    assert from_sklearn(model, data=(X, classes)) == from_sklearn(model)
    numbers = np.stack([DIABETES[1], DIABETES[0][:, 0]], axis=1)
    model = sklearn.tree.DecisionTreeRegressor(max_depth=5, random_state=0).fit(DIABETES[0], numbers)
    tree = from_sklearn(model)
    check_like(tree, model, hard_rows(model.tree_.threshold, model.tree_.feature, 10))
    counted = from_sklearn(model, data=(DIABETES[0], numbers))
    np.testing.assert_allclose(counted.risk, tree.risk, rtol=1e-9, atol=1e-9)


def test_counted_again_it_is_the_same_tree() -> None:
    model = sklearn.tree.DecisionTreeClassifier(random_state=0).fit(HOLES, SPECIES)
    assert from_sklearn(model, data=(HOLES, SPECIES)) == from_sklearn(model)


def test_everything_works_on_a_tree_of_scikit_learn(tmp_path: Any) -> None:
    X = IRIS[0]
    model = sklearn.tree.DecisionTreeClassifier(random_state=0, min_samples_leaf=2).fit(X[::2], SPECIES[::2])
    tree = from_sklearn(model)
    data = encode(X[::2], SPECIES[::2], schema=tree.schema)
    held_out = encode(X[1::2], SPECIES[1::2], schema=tree.schema)
    path = prune(tree, "cost_complexity")
    assert tree.n_leaves >= path[0].n_leaves > path[-1].n_leaves == 1
    assert prune(tree, "reduced_error", validation=held_out).pruned.n_leaves <= tree.n_leaves
    assert 0 < certify(tree, test=held_out).value < 0.3
    tree.save(tmp_path / "tree.json")
    assert load(tmp_path / "tree.json") == tree
    assert "setosa" in export(tree, "text")
    assert len(str(tree).splitlines()) >= tree.n_leaves
    assert tree.first(1).n_leaves == 2
    assert tree.curve(data)[-1] == pytest.approx(1 - model.score(X[::2], SPECIES[::2]))
    back = tree.to_sklearn(rows="float32")
    np.testing.assert_array_equal(back.predict(X), model.predict(X))


def test_trees_of_ensembles() -> None:
    forest = sklearn.ensemble.RandomForestClassifier(3, random_state=0).fit(*IRIS)
    for model in forest.estimators_:
        check_like(from_sklearn(model), model, hard_rows(model.tree_.threshold, model.tree_.feature, 4))
    boosted = sklearn.ensemble.GradientBoostingRegressor(n_estimators=2, random_state=0).fit(*DIABETES)
    model = boosted.estimators_[1, 0]
    check_like(from_sklearn(model), model, hard_rows(model.tree_.threshold, model.tree_.feature, 10))


def test_boosted_histograms() -> None:
    model = sklearn.ensemble.HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=4).fit(
        HOLES, SPECIES
    )
    limits = [p.nodes for stage in model._predictors for p in stage]
    for number, nodes in enumerate(limits):
        tree = from_sklearn(model, tree=number)
        asked = hard_rows(nodes["num_threshold"], nodes["feature_idx"], 4)
        stage, k = divmod(number, 3)
        bits = np.zeros((0, 8), np.uint32)
        told = model._predictors[stage][k].predict(asked, bits, np.zeros(4, np.uint32), 1)
        np.testing.assert_array_equal(tree.predict(asked), told)
        assert tree.rows[0] == 150
    with pytest.raises(ValueError, match="the model has 9 trees"):
        from_sklearn(model, tree=9)
    model = sklearn.ensemble.HistGradientBoostingClassifier(max_iter=1, categorical_features=[0])
    with pytest.raises(ValueError, match="has categories"):
        from_sklearn(model.fit(np.round(IRIS[0]), IRIS[1]))


def test_our_own_estimators() -> None:
    model = DecisionTreeClassifier().fit(*IRIS)
    assert from_sklearn(model) is model.model_


@pytest.mark.slow
def test_deep_and_large_trees() -> None:
    """No recursion: a chain of 100,000 tests, and 70,000 nodes, there and back."""
    tree = Tree.write(schema_of(False), chain(False, False))
    again = from_sklearn(to_sklearn(tree, rows="float32"), rows="float32")
    assert (again.depth, again.n_leaves) == (tree.depth, tree.n_leaves)
    rows = np.linspace(-1, 1e5, 200).astype(np.float32)[:, np.newaxis]
    np.testing.assert_array_equal(
        again.apply(encode(rows, schema=again.schema)), tree.apply(encode(rows, schema=tree.schema))
    )
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(130_000, 3)).astype(np.float32), rng.integers(0, 2, 130_000)
    large = grow(encode(X, y))
    assert large.n_nodes > 60_000
    again = from_sklearn(large.to_sklearn(rows="float32"), rows="float32")
    np.testing.assert_array_equal(again.end, large.end)
    np.testing.assert_array_equal(again.predict(X[:5000]), large.predict(X[:5000]))


def test_refusals_in_one_sentence() -> None:
    forest = sklearn.ensemble.RandomForestClassifier(2).fit(*IRIS)
    with pytest.raises(TypeError, match=r"give one of them: model.estimators_\[0\]"):
        from_sklearn(forest)
    with pytest.raises(TypeError, match="not fitted yet"):
        from_sklearn(sklearn.tree.DecisionTreeClassifier())
    with pytest.raises(TypeError, match="not a str"):
        from_sklearn("oak")
    model = sklearn.tree.DecisionTreeClassifier(random_state=0).fit(*IRIS)
    with pytest.raises(ValueError, match="must be 'float64' or 'float32'"):
        from_sklearn(model, rows="float16")
    with pytest.raises(TypeError, match="data must be"):
        from_sklearn(model, data=IRIS[0])
    with pytest.raises(ValueError, match="no row of the data reaches node"):
        from_sklearn(model, data=(IRIS[0][:60], IRIS[1][:60]))
    with pytest.raises(ValueError, match="would change the prediction of a leaf"):
        from_sklearn(model, data=(IRIS[0], (IRIS[1] + 1) % 3))


# ---- thresholds --------------------------------------------------------------------------------------------

FLOATS = st.floats(width=64, allow_nan=False)


@given(limit=FLOATS, others=st.lists(FLOATS, max_size=5))
def test_thresholds_decide_as_rounded_numbers_do(limit: float, others: list[float]) -> None:
    (t,) = thresholds(np.array([limit]), "float64")
    near = np.float32(limit) if abs(limit) < 3.4e38 else np.float32(0)
    around = np.array([limit, t, near, np.nextafter(near, np.float32(1e9)), *others], np.float64)
    with np.errstate(over="ignore"):
        x = np.concatenate([around, np.nextafter(around, np.inf), np.nextafter(around, -np.inf)])
        cast = x.astype(np.float32)
    np.testing.assert_array_equal(x <= t, cast.astype(np.float64) <= limit)
    (readable,) = thresholds(np.array([limit]), "float32")
    exact = cast.astype(np.float64)
    finite = np.isfinite(exact)
    np.testing.assert_array_equal(exact[finite] <= readable, exact[finite] <= limit)


# ---- to scikit-learn and shap ------------------------------------------------------------------------------


def numbers_table(n: int = 600) -> Any:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 3)).round(2)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, rng.choice(["a", "b'\"", "c\n"], n), rng.normal(size=n)


@pytest.mark.parametrize("of", [1, 2], ids=["classes", "numbers"])
def test_to_sklearn_is_exact_for_float32(of: int) -> None:
    data = numbers_table()
    tree = grow(encode(data[0], data[of]))
    model = tree.to_sklearn(rows="float32")
    table = np.stack([np.asarray(column) for column in probes(tree).values()], axis=1)
    with np.errstate(over="ignore"):
        rows = table.astype(np.float32)
    rows = rows[~np.isinf(rows).any(axis=1)]
    assert len(rows) > 5000
    np.testing.assert_array_equal(model.apply(rows), tree.apply(encode(rows, schema=tree.schema)))
    np.testing.assert_array_equal(model.predict(rows), tree.predict(rows))
    assert type(model) in (sklearn.tree.DecisionTreeClassifier, sklearn.tree.DecisionTreeRegressor)


def test_to_sklearn_for_float64_errs_only_above_a_threshold() -> None:
    X, y, _ = numbers_table()
    tree = grow(encode(X, y))
    model = tree.to_sklearn()
    table = np.stack([np.asarray(column) for column in probes(tree).values()], axis=1)
    table = table[(np.abs(table) < 3e38).all(axis=1) | np.isnan(table).any(axis=1)]
    table = table[~(np.abs(table) > 3e38).any(axis=1)]
    apart = np.ones(len(table), bool)
    for j in range(3):
        own = tree.threshold[tree.feature == j]
        own = own[np.isfinite(own)]
        single = table[:, j].astype(np.float32)
        hidden = np.isin(single, own.astype(np.float32)) & ~np.isin(table[:, j], own)
        apart &= ~hidden
    assert apart.sum() > 1000
    np.testing.assert_array_equal(model.predict(table[apart]), tree.predict(table[apart]))
    np.testing.assert_array_equal(model.predict(X), tree.predict(X))


def test_to_sklearn_and_back() -> None:
    X, y, z = numbers_table()
    for target in (y, z, np.stack([y, y[::-1]], axis=1), np.stack([z, -z], axis=1)):
        tree = grow(encode(X.astype(np.float32), target), max_leaf_nodes=30)
        again = from_sklearn(tree.to_sklearn(rows="float32"), rows="float32")
        np.testing.assert_array_equal(again.end, tree.end)
        np.testing.assert_array_equal(again.rows, tree.rows)
        np.testing.assert_array_equal(again.predict(X.astype(np.float32)), tree.predict(X.astype(np.float32)))
        np.testing.assert_allclose(again.risk, tree.risk, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
def test_to_sklearn_is_a_model_like_any_other() -> None:
    tree = grow(encode({"a": [1.0, 2.0, 3.0, 4.0], "b": [0.0, 0.0, 1.0, 0.0]}, [True, True, False, False]))
    model = to_sklearn(tree)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert sklearn.tree.export_text(model, feature_names=["a", "b"]).startswith("|--- a <= 2.50")
    assert model.get_depth() == 1
    assert model.classes_.tolist() == [False, True]
    with pytest.raises(ValueError, match="infinity"):
        model.predict(np.array([[np.inf, 0.0]]))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
def test_what_scikit_learn_and_shap_cannot_hold_is_refused() -> None:
    tree = grow(encode({"sky": ["a", "b", "c", "a"], "n": [1, 1, 1, 1]}, [0, 1, 0, 0]))
    with pytest.raises(ValueError, match="column 'sky'"):
        tree.to_sklearn()
    with pytest.raises(ValueError, match=r"column 'sky'.*shapley_values"):
        tree.to_shap()
    with pytest.raises(ValueError, match="rows is 'float16'; it must be 'float64' or 'float32'"):
        to_sklearn(tree.collapse([0]), rows="float16")
    costly = grow(encode({"x": [1, 1, 1, 2]}, ["a", "a", "b", "b"])).with_costs({"b": {"a": 9}})
    with pytest.raises(ValueError, match=r"with_costs\(\)"):
        costly.to_sklearn()
    np.testing.assert_array_equal(costly.with_costs().to_sklearn().predict([[1.0]]), ["a"])


@pytest.mark.slow
@pytest.mark.parametrize("of", [1, 2], ids=["classes", "numbers"])
def test_to_shap(of: int) -> None:
    shap = pytest.importorskip("shap")
    data = numbers_table()
    tree = grow(encode(data[0], data[of]), max_leaf_nodes=20)
    explainer = shap.TreeExplainer(to_shap(tree))
    table = np.stack([np.asarray(column) for column in probes(tree, 300).values()], axis=1)
    values = explainer.shap_values(table, check_additivity=False)
    told = tree.predict_proba(table) if of == 1 else tree.predict(table)
    np.testing.assert_allclose(values.sum(axis=1) + explainer.expected_value, told, atol=1e-9)
    single = shap.TreeExplainer(tree.to_sklearn()).shap_values(data[0], check_additivity=False)
    np.testing.assert_allclose(explainer.shap_values(data[0], check_additivity=False), single, atol=1e-9)


def test_to_shap_of_a_single_leaf_and_of_several_targets() -> None:
    shap = pytest.importorskip("shap")
    X, y, z = numbers_table()
    tree = grow(encode(X, np.stack([z, -z], axis=1)), max_leaf_nodes=8)
    explainer = shap.TreeExplainer(tree.to_shap())
    values = explainer.shap_values(X, check_additivity=False)
    np.testing.assert_allclose(values.sum(axis=1) + explainer.expected_value, tree.predict(X), atol=1e-9)
    assert grow(encode(X, y)).collapse([0]).to_shap()["trees"][0]["features"].tolist() == [-1]


def test_the_largest_gain_comes_first() -> None:
    """No split that could have been made earlier gains more than one that was."""
    X, y = IRIS
    model = sklearn.tree.DecisionTreeClassifier(random_state=0, max_features=1).fit(
        X + np.sin(np.arange(600)).reshape(150, 4), y
    )
    tree = from_sklearn(model)
    inner = np.flatnonzero(~tree.is_leaf)
    assert len(inner) > 10
    assert sorted(tree.step[inner].tolist()) == list(range(len(inner)))
    for one in inner.tolist():
        for other in inner.tolist():
            since = tree.step[tree.parent[other]] if other else -1
            if since < tree.step[one] < tree.step[other]:
                assert tree.gain[one] >= tree.gain[other]
