"""The estimators of provably optimal trees: their attributes, weights, costs and parameters."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from treewright import OptimalTreeClassifier, OptimalTreeRegressor, optimise

rng = np.random.default_rng(7)
X = rng.normal(size=(150, 3))
y = np.where((X[:, 0] * X[:, 1] > 0) ^ (rng.random(150) < 0.1), "in", "out")


def test_the_attributes_are_those_of_the_optimum() -> None:
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    optimum = optimise(X, y, max_depth=2)
    assert model.proved_
    assert (model.bound_, model.gap_) == (optimum.bound, 0.0)
    assert np.array_equal(model.model_.threshold, optimum.tree.threshold, equal_nan=True)
    assert (model.predict(X) != y).sum() == optimum.loss
    assert model.tree_.node_count == model.model_.n_nodes
    assert model.get_depth() == 2
    copy = pickle.loads(pickle.dumps(model))
    assert str(copy.optimum_) == str(model.optimum_)
    assert not hasattr(clone(model), "model_")


def test_class_weights_and_costs_count() -> None:
    rare = OptimalTreeClassifier(max_depth=1, class_weight={"in": 1000.0}).fit(X, y)
    assert (rare.predict(X[y == "in"]) == "in").all()
    costly = OptimalTreeClassifier(max_depth=1, costs={"in": {"out": 1000}}).fit(X, y)
    assert (costly.predict(X[y == "in"]) == "in").all()
    assert costly.optimum_.loss == (costly.predict(X) != y).sum()


def test_balanced_classes_weigh_the_same() -> None:
    few = np.arange(150) < 20
    target = np.where(few, "few", "many")
    model = OptimalTreeClassifier(max_depth=2, class_weight="balanced").fit(X, target)
    wrong = model.predict(X) != target
    weight = np.where(few, 150 / 40, 150 / 260)
    assert model.optimum_.loss == pytest.approx(weight[wrong].sum())
    assert model.proved_


def test_leaves_are_chosen_by_folds() -> None:
    search = GridSearchCV(OptimalTreeClassifier(max_depth=2), {"max_leaf_nodes": [1, 2, 3, 4]}, cv=3).fit(
        X, y
    )
    assert search.best_params_["max_leaf_nodes"] == 4


def test_numbers() -> None:
    numbers = np.where(X[:, 0] > 0.3, 1.0, -1.0) + 0.5 * (X[:, 1] > 0)
    model = OptimalTreeRegressor(max_depth=2).fit(X, numbers)
    assert model.proved_
    assert model.score(X, numbers) == pytest.approx(1.0)
    assert ((model.predict(X) - numbers) ** 2).sum() == pytest.approx(model.optimum_.loss, abs=1e-9)


@pytest.mark.parametrize("options", [{"max_depth": None}, {"time_limit": -1.0}, {"categories": "all"}])
def test_impossible_parameters_are_refused(options: dict[str, object]) -> None:
    [name] = options
    with pytest.raises(ValueError, match=f"OptimalTreeClassifier: {name}="):
        OptimalTreeClassifier(**options).fit(X, y)
    with pytest.raises(ValueError, match=f"OptimalTreeRegressor: {name}="):
        OptimalTreeRegressor(**options).fit(X, X[:, 0])


def test_several_targets_are_refused() -> None:
    with pytest.raises(ValueError, match="2 targets"):
        OptimalTreeRegressor().fit(X, X[:, :2])
