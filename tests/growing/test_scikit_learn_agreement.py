"""Agreement with scikit-learn where both must find the same: data without ties that float32 can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tests.strategies import Table, table_of
from treewright.tree import Tree

CLASSES = ["gini", "entropy"]
NUMBERS = ["squared_error", "absolute_error", "poisson"]


def tie_free(criterion: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, target and weights, so that no two splits gain the same.

    The weights are multiples of 2^-20: sums of them are exact, so scikit-learn sees that a pure node is pure.
    """
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 5)).astype(np.float32)
    signal = x[:, 0] + np.abs(x[:, 1]) + x[:, 2] * x[:, 3] + 0.5 * random.normal(size=n)
    y = np.digitize(signal, [0.3, 1.2]) if criterion in CLASSES else np.exp(0.5 * signal)
    return x, y, np.ceil(random.gamma(2.0, size=n) * 2**20) / 2**20


def reference(criterion: str, **limits: Any) -> Any:
    kind = DecisionTreeClassifier if criterion in CLASSES else DecisionTreeRegressor
    return kind(criterion=criterion, random_state=0, **limits)


def as_table(x: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> Table:
    return table_of(list(x.T), y, weight=weight)


def leaf_risk(tree: Any) -> float:
    """Total risk of scikit-learn's leaves, in our measure."""
    leaf = tree.children_left < 0
    return float((tree.impurity * tree.weighted_n_node_samples)[leaf].sum())


def check_equal(table: Table, tree: Tree, peer: Any, x: np.ndarray) -> None:
    """Same leaves, same predictions on the training rows, same total risk."""
    assert tree.n_leaves == peer.get_n_leaves()
    assert tree.depth == peer.get_depth()
    leaves = tree.apply(table.dataset())
    theirs = peer.apply(x)
    assert len(set(zip(leaves, theirs, strict=True))) == len(set(leaves)) == len(set(theirs))
    if table.targets[0].dtype.kind == "i":
        np.testing.assert_array_equal(tree.label[leaves, 0], peer.predict(x))
    elif tree.criterion != "absolute_error":  # a median may be any point between two rows
        np.testing.assert_allclose(tree.value[leaves, 0], peer.predict(x), rtol=1e-9)
    assert tree.risk[tree.is_leaf].sum() == pytest.approx(leaf_risk(peer.tree_), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", CLASSES + NUMBERS)
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"max_depth": 3}, {"max_depth": 3}),
        ({"min_samples_leaf": 12}, {"min_samples_leaf": 12}),
        ({"max_leaf_nodes": 9}, {"max_leaf_nodes": 9}),
        ({"min_samples_split": 40, "min_samples_leaf": 7}, {"min_samples_split": 40, "min_samples_leaf": 7}),
    ],
    ids=["depth", "leaf", "best-first", "split"],
)
def test_without_ties_the_trees_are_equal(
    criterion: str, ours: dict[str, Any], theirs: dict[str, Any], seed: int
) -> None:
    x, y, weight = tie_free(criterion, 200 if criterion == "absolute_error" else 400, seed)
    table = as_table(x, y, weight)
    peer = reference(criterion, **theirs).fit(x, y, sample_weight=weight)
    for style in ("readable", "midpoint"):
        check_equal(table, table.grow(criterion, threshold=style, **ours), peer, x)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_fractions_of_the_whole(criterion: str) -> None:
    """scikit-learn's relative limits are our absolute ones times the whole weight."""
    x, y, weight = tie_free(criterion, 400, 7)
    table, total = as_table(x, y, weight), weight.sum()
    peer = reference(criterion, min_weight_fraction_leaf=0.06).fit(x, y, sample_weight=weight)
    check_equal(table, table.grow(criterion, min_weight_leaf=0.06 * total), peer, x)
    peer = reference(criterion, min_impurity_decrease=0.004).fit(x, y, sample_weight=weight)
    check_equal(table, table.grow(criterion, min_gain=0.004 * total), peer, x)


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_thousands_of_rows(criterion: str) -> None:
    """The engine for large nodes."""
    x, y, weight = tie_free(criterion, 20_000, 1)
    table = as_table(x, y, weight)
    peer = reference(criterion, max_depth=5).fit(x, y, sample_weight=weight)
    check_equal(table, table.grow(criterion, max_depth=5), peer, x)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
@pytest.mark.parametrize("criterion", CLASSES)
def test_root_of_real_classes(load: Any, criterion: str) -> None:
    x, y = load(return_X_y=True)
    check_root(x, y, criterion)
    full = as_table(x, y).grow(criterion)
    assert full.risk[full.is_leaf].sum() == 0


@pytest.mark.parametrize("criterion", NUMBERS)
def test_root_of_real_numbers(criterion: str) -> None:
    x, y = load_diabetes(return_X_y=True)
    check_root(x, y, criterion)


def check_root(x: np.ndarray, y: np.ndarray, criterion: str) -> None:
    """One split: never worse than scikit-learn's, nor better where float32 sees the same gaps."""
    table = as_table(x, y)
    tree = table.grow(criterion, max_depth=1)
    peer = reference(criterion, max_depth=1).fit(x, y)
    ours, theirs = tree.risk[tree.is_leaf].sum(), leaf_risk(peer.tree_)
    assert ours <= theirs * (1 + 1e-9)
    assert ours == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
@pytest.mark.parametrize("seed", range(5))
def test_root_with_missing_values(criterion: str, seed: int) -> None:
    """Missing values go to the better side: never worse than scikit-learn's choice."""
    x, y, weight = tie_free(criterion, 300, seed)
    x[np.random.default_rng(seed).random(x.shape) < 0.2] = np.nan
    tree = as_table(x, y, weight).grow(criterion, max_depth=1)
    peer = reference(criterion, max_depth=1).fit(x, y, sample_weight=weight)
    assert tree.risk[tree.is_leaf].sum() <= leaf_risk(peer.tree_) * (1 + 1e-9)


def test_several_targets() -> None:
    x, y, weight = tie_free("squared_error", 300, 3)
    both = np.column_stack([y, 3 * np.cos(y)])
    table = table_of(list(x.T), tuple(both.T), weight=weight)
    tree = table.grow("squared_error", max_depth=3)
    peer = DecisionTreeRegressor(max_depth=3, random_state=0).fit(x, both, sample_weight=weight)
    leaves = tree.apply(table.dataset())
    np.testing.assert_allclose(tree.value[leaves], peer.predict(x), rtol=1e-9)
