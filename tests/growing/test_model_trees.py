"""Model trees: formulas as an independent oracle fits them, losses, prunings, words, files and exports."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import treewright
from treewright import CostComplexity, DecisionTreeRegressor, Tree, encode, export, grow, load, prune, regrow
from treewright.encoding import Dataset
from treewright.growing.model_trees import ALPHAS, fit_linear_leaves


def piecewise(n: int, seed: int, noise: float = 0.1) -> tuple[dict, np.ndarray]:
    rng = np.random.default_rng(seed)
    table = {"a": rng.uniform(-3, 3, n), "b c": rng.normal(size=n), "d": rng.normal(size=n)}
    y = np.where(table["a"] <= 0.5, 2 + 3 * table["b c"], -1 - 2 * table["a"])
    return table, y + noise * rng.normal(size=n)


def model_tree(n: int = 400, **options: object) -> tuple[Tree, Dataset]:
    data = encode(*piecewise(n, 0))
    return grow(data, leaf="linear", **options), data


def score(x: np.ndarray, y: np.ndarray, w: np.ndarray, alpha: float) -> float:
    """Generalised cross validation by the hat matrix itself, in units of the whole spread."""
    x = x - np.average(x, axis=0, weights=w)
    x = x / np.sqrt(np.average(x**2, axis=0, weights=w))
    y = y - np.average(y, weights=w)
    inverse = np.linalg.inv(x.T @ (x * w[:, None]) + alpha * w.sum() * np.eye(x.shape[1]))
    hat = x @ inverse @ (x * w[:, None]).T
    freedom = np.trace(hat)
    if 2 * (1 + freedom) > w.sum():
        return np.inf
    return float((w * (y - hat @ y) ** 2).sum() / (w.sum() - 1 - freedom) ** 2)


def oracle(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[float, np.ndarray, float]:
    """Intercept, coefficients and score by scikit-learn's Ridge at the best price of the grid."""
    best = min(ALPHAS, key=lambda alpha: score(x, y, w, alpha))
    middle = np.average(x, axis=0, weights=w)
    unit = np.sqrt(np.average((x - middle) ** 2, axis=0, weights=w))
    ridge = Ridge(alpha=best * w.sum(), solver="svd").fit((x - middle) / unit, y, sample_weight=w)
    slopes = ridge.coef_ / unit
    return float(ridge.intercept_ - slopes @ middle), slopes, score(x, y, w, best)


@pytest.mark.parametrize("weighted", [False, True])
def test_formulas_are_those_of_an_oracle(weighted: bool) -> None:
    table, y = piecewise(300, 1, noise=0.7)
    table["b c"][::17] = np.nan
    table["d"][3] = np.inf
    w = np.random.default_rng(2).integers(1, 4, 300).astype(float) if weighted else np.ones(300)
    data = encode(table, y, weight=w if weighted else None)
    tree = grow(data, leaf="linear", min_samples_leaf=25)
    tree.check()
    leaf, names = tree.apply(data), tree.schema.names
    x = np.stack(list(table.values()), axis=1)
    for j in range(3):
        known = np.isfinite(x[:, j])
        mean = np.average(x[known, j], weights=w[known])
        assert tree.linear.mean[j] == pytest.approx(mean if j in tree.feature else 0.0)
        x[~known, j] = mean
    n_terms = 0
    for node in range(tree.n_nodes):
        rows = (leaf >= node) & (leaf < tree.end[node])
        used = [j for j, _ in tree.linear.terms(node)]
        path = [node]
        while path[-1]:
            path.append(int(tree.parent[path[-1]]))
        asked = set(tree.feature[[*path, *range(node, tree.end[node])]].tolist()) - {-1}
        assert set(used) <= asked, names
        spread = (w[rows] * (y[rows] - np.average(y[rows], weights=w[rows])) ** 2).sum()
        constant = spread / (w[rows].sum() - 1) ** 2
        if used:
            intercept, slopes, own = oracle(x[rows][:, used], y[rows], w[rows])
            np.testing.assert_allclose([c for _, c in tree.linear.terms(node)], slopes, rtol=1e-6)
            assert tree.linear.intercept[node] == pytest.approx(intercept, rel=1e-6, abs=1e-9)
            whole = oracle(x[rows][:, sorted(asked)], y[rows], w[rows])[2]
            assert own <= whole * (1 + 1e-9)
            assert own < constant
        else:
            assert tree.linear.intercept[node] == pytest.approx(np.average(y[rows], weights=w[rows]))
        answer = tree.linear.intercept[node] + sum(c * x[rows, j] for j, c in tree.linear.terms(node))
        assert tree.loss[node] == pytest.approx((w[rows] * (y[rows] - answer) ** 2).sum(), rel=1e-9)
        n_terms += len(used)
    assert n_terms > tree.n_nodes / 2
    np.testing.assert_allclose(tree.loss_of(data), tree.loss, rtol=1e-9)
    np.testing.assert_allclose(tree.curve(data)[-1], np.average((y - tree.predict(table)) ** 2, weights=w))


def test_the_models_do_not_depend_on_which_nodes_are_fitted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    tree, data = model_tree(max_leaf_nodes=12)
    monkeypatch.setattr("treewright.growing.model_trees._BATCHED", 1)
    assert fit_linear_leaves(tree, data) == tree


def test_the_splits_are_those_of_the_plain_tree() -> None:
    tree, data = model_tree(min_samples_leaf=5)
    plain = grow(data, min_samples_leaf=5)
    assert tree.linear is not None
    for name in ("end", "feature", "threshold", "statistic", "step"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(plain, name))


def test_a_piecewise_linear_function_is_found_and_needless_splits_go() -> None:
    data, (table, y) = encode(*piecewise(600, 3)), piecewise(600, 4)
    other = encode(table, y, schema=data.schema)
    plain = grow(data, min_samples_leaf=10)
    tree = grow(data, min_samples_leaf=10, leaf="linear")
    assert tree.curve(other)[-1] < plain.curve(other)[-1] / 4
    for path in (prune(tree, "reduced_error", validation=other), prune(tree, "cost_complexity", alpha=0.002)):
        assert path.pruned.n_leaves < tree.n_leaves / 2
        assert path.losses(other)[-1] <= tree.curve(other)[-1] * 1.02
        np.testing.assert_allclose(path.losses(other)[-1], np.mean((path.pruned.predict(table) - y) ** 2))
    front = prune(tree, "minimum_errors")
    assert all(a <= b + 1e-9 for a, b in pairwise(front.training))
    one = prune(tree, "cost_complexity")[-1]
    assert one.n_leaves == 1
    assert one.linear.loss[0] == tree.loss[0]


def test_weight_two_is_the_row_twice() -> None:
    table, y = piecewise(80, 5)
    weight = 1.0 + (np.arange(80) % 2)
    twice = np.repeat(np.arange(80), weight.astype(int))
    heavy = grow(
        encode(table, y, weight=weight), leaf="linear", min_weight_fraction_leaf=0.1, max_leaf_nodes=4
    )
    double = encode({name: values[twice] for name, values in table.items()}, y[twice])
    repeated = grow(double, leaf="linear", min_weight_fraction_leaf=0.1, max_leaf_nodes=4)
    np.testing.assert_array_equal(heavy.feature, repeated.feature)
    np.testing.assert_allclose(heavy.predict(table), repeated.predict(table), rtol=1e-9)


def test_an_offset_costs_no_digits_and_small_nodes_answer_their_mean() -> None:
    table, y = piecewise(200, 6)
    tree = grow(encode(table, y), leaf="linear", max_leaf_nodes=5)
    moved = {name: values + 1e6 for name, values in table.items()}
    far = grow(encode(moved, y + 1e6), leaf="linear", max_leaf_nodes=5)
    np.testing.assert_allclose(far.predict(moved) - 1e6, tree.predict(table), atol=1e-6)
    tiny = grow(encode({"x": [1.0, 2.0, 3.0]}, [1.0, 5.0, 9.0]), leaf="linear")
    assert tiny.linear.start[-1] == sum(len(list(tiny.linear.terms(i))) for i in range(tiny.n_nodes))
    assert not any(len(list(tiny.linear.terms(i))) for i in np.flatnonzero(tiny.is_leaf))
    flat = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, [7.0] * 4), leaf="linear")
    assert flat.predict({"x": [9.0]}).tolist() == [7.0]


@pytest.mark.slow
def test_estimators_predict_and_prune_by_formulas() -> None:
    table, y = piecewise(500, 7)
    x = np.stack(list(table.values()), axis=1)
    model = DecisionTreeRegressor(leaf="linear", min_samples_leaf=10, pruning="reduced_error").fit(x, y)
    plain = DecisionTreeRegressor(min_samples_leaf=10, pruning="reduced_error").fit(x, y)
    assert model.score(x, y) > 0.97 > 0.95
    assert model.get_n_leaves() < plain.get_n_leaves()
    np.testing.assert_array_equal(model.predict(x), model.model_.predict(x))
    assert not hasattr(model, "tree_")
    chosen = DecisionTreeRegressor(leaf="linear", pruning=CostComplexity(select="folds", rule="1-SE"))
    assert chosen.set_params(min_samples_leaf=10).fit(x, y).get_n_leaves() <= 8
    cheap = DecisionTreeRegressor(leaf="linear", ccp_alpha=0.01, min_samples_leaf=10).fit(x, y)
    assert cheap.get_n_leaves() < 10
    with pytest.raises(ValueError, match="leaf="):
        DecisionTreeRegressor(leaf="cubic").fit(x, y)


def test_what_has_no_formula_is_refused() -> None:
    data = encode({"x": [1.0, 2.0]}, ["a", "b"])
    with pytest.raises(ValueError, match="one target of numbers"):
        grow(data, leaf="linear")
    with pytest.raises(ValueError, match="one target of numbers"):
        grow(encode({"x": [1.0, 2.0]}, np.eye(2)), leaf="linear")
    with pytest.raises(ValueError, match="minimises the squared error"):
        grow(encode({"x": [1.0, 2.0]}, [1.0, 2.0]), leaf="linear", criterion="absolute_error")
    with pytest.raises(ValueError, match="'constant', 'linear'"):
        grow(data, leaf="cubic")


def test_regrown_trees_are_fitted_again() -> None:
    tree, data = model_tree(max_leaf_nodes=6)
    other = regrow(tree, 1, "d", data, max_leaf_nodes=6)
    other.check()
    assert other.linear == fit_linear_leaves(other, data).linear
    assert regrow(other, 1, "best", data, max_leaf_nodes=6).linear == tree.linear
    assert regrow(tree, 0, None, data).predict({"a": [1.0], "b c": [0.0], "d": [0.0]}).shape == (1,)


def test_words_and_files(tmp_path: Path) -> None:
    tree, _ = model_tree(max_leaf_nodes=4)
    first, last = tree.linear.intercept[[2, tree.n_nodes - 1]].tolist()
    (_, slope), *_ = tree.linear.terms(tree.n_nodes - 1)
    assert f"   {first:.4g} + " in str(tree)
    assert f"   {last:.4g} - {-slope:.4g}·a" in str(tree).splitlines()[-1]
    tree.save(tmp_path / "tree.json")
    again = load(tmp_path / "tree.json")
    assert again == tree
    assert again.linear == tree.linear
    assert "·" in tree.to_svg()


@pytest.mark.slow
@pytest.mark.parametrize("format", ["python", "json", "sql"])
@pytest.mark.parametrize("leaves", [1, 3, 80])
def test_exports_say_the_formula(format: str, leaves: int) -> None:
    tree, _ = model_tree(max_leaf_nodes=80, min_samples_leaf=3)
    tree = tree.first(leaves - 1)
    assert export(tree, format, check=True)


@pytest.mark.slow
@pytest.mark.parametrize("format", ["c", "javascript"])
def test_exports_to_other_machines_say_the_formula(format: str) -> None:
    tree, _ = model_tree(max_leaf_nodes=80, min_samples_leaf=3)
    for part in (tree, tree.first(3), tree.first(0)):
        try:
            export(part, format, check=True)
        except ImportError as error:
            pytest.skip(str(error))


@pytest.mark.parametrize("format", ["onnx", "pmml", "treelite", "rules"])
def test_formats_without_support_for_linear_models_say_so(format: str) -> None:
    tree, _ = model_tree(max_leaf_nodes=4)
    try:
        with pytest.raises(ValueError, match="linear model"):
            export(tree, format)
    except ImportError as error:
        pytest.skip(str(error))


def test_functions_without_support_for_linear_models_say_so() -> None:
    tree, data = model_tree(max_leaf_nodes=4)
    row = {"a": 1.0, "b c": 0.0, "d": 0.0}
    asked = [
        lambda: tree.value,
        lambda: tree.to_sklearn(),
        lambda: tree.to_shap(),
        lambda: treewright.shapley_values(tree, piecewise(3, 0)[0]),
        lambda: treewright.counterfactual(tree, row, to=5),
        lambda: treewright.tree_difference(tree, tree),
        lambda: treewright.importance(tree, data=data),
        lambda: treewright.rules(tree),
        lambda: treewright.report(tree),
    ]
    for ask in asked:
        with pytest.raises(ValueError, match="linear model"):
            ask()


def test_a_decision_is_explained_by_what_the_formulas_say() -> None:
    tree, data = model_tree(max_leaf_nodes=4)
    row = {"a": -1.0, "b c": 0.5, "d": 0.0}
    decision = treewright.explain(tree, row)
    assert decision.value == tree.predict({name: [value] for name, value in row.items()})[0]
    assert decision.steps[-1].after[0] == decision.value
    with pytest.raises(ValueError, match="linear model"):
        treewright.explain(tree, row, test=data)
