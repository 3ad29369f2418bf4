"""Better subtrees within a tree: never more loss, never more leaves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier as TheirTree

from tests.optimising.tables import TinyTable, tiny_tables
from treewright import encode, from_sklearn, grow, improve, optimise
from treewright.tree import Tree


def loss_of(tree: Tree) -> float:
    return float(tree.loss[tree.is_leaf].sum())


@given(tiny_tables(with_limits=False), st.integers(0, 4), st.integers(1, 3))
def test_classes_never_lose_more(table: TinyTable, depth: int, patch: int) -> None:
    never_worse(table, depth, patch)


@given(tiny_tables(with_limits=False, numbers=True), st.integers(0, 4), st.integers(1, 3))
def test_numbers_never_lose_more(table: TinyTable, depth: int, patch: int) -> None:
    never_worse(table, depth, patch)


def never_worse(table: TinyTable, depth: int, patch: int) -> None:
    tree = grow(table.data, max_depth=depth, category_gain="plain")
    better = improve(tree, table.data, max_depth=patch)
    better.check()
    assert loss_of(better) <= loss_of(tree) * (1 + 1e-9) + 1e-12
    assert better.n_leaves <= tree.n_leaves
    assert better.height <= tree.height
    again = improve(better, table.data, max_depth=patch)
    assert again is better or loss_of(again) == pytest.approx(loss_of(better), abs=1e-9)
    if depth <= patch and tree.height == depth and set(table.kinds) == {"number"}:
        best = optimise(table.data, max_depth=depth, max_leaf_nodes=tree.n_leaves)
        assert loss_of(better) == pytest.approx(best.loss, abs=1e-9)


def noisy(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, ((X[:, 0] * X[:, 1] > 0) ^ (rng.random(n) < 0.15)).astype(int)


def test_imported_trees_are_improved() -> None:
    X, y = noisy(300, 0)
    tree = from_sklearn(TheirTree(max_depth=4, random_state=0).fit(X.astype(np.float32), y))
    better = improve(tree, X.astype(np.float32).astype(float), y)
    assert loss_of(better) < loss_of(tree)
    assert better.n_leaves <= tree.n_leaves


def test_held_out_rows_have_a_say() -> None:
    X, y = noisy(300, 1)
    data, others = encode(X, y), noisy(300, 2)
    tree = grow(data, max_depth=4)
    held_out = encode(*others, schema=data.schema)
    better, careful = improve(tree, data), improve(tree, data, validation=held_out)
    losses = [float(each.loss_of(held_out)[each.is_leaf].sum()) for each in (tree, careful)]
    assert losses[1] <= losses[0]
    assert loss_of(better) <= loss_of(careful) <= loss_of(tree)


def test_a_tree_that_is_best_stays_the_same() -> None:
    X, y = noisy(80, 3)
    tree = optimise(X, y, max_depth=2).tree
    assert improve(tree, X, y) is tree


def test_trees_of_other_kinds_are_refused() -> None:
    X, y = noisy(60, 4)
    with pytest.raises(ValueError, match="absolute_error"):
        improve(grow(X, y.astype(float), criterion="absolute_error"), X, y.astype(float))
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="missing='fractional'"):
        improve(grow(X, y, missing="fractional"), X, y)
    with pytest.raises(ValueError, match="max_depth=0 is not possible"):
        improve(grow(X, y), X, y, max_depth=0)


def test_sums_above_a_patch_stay() -> None:
    X, y = noisy(200, 5)
    tree = grow(X, y, split="oblique", max_depth=3)
    better = improve(tree, X, y, max_depth=2)
    better.check()
    assert loss_of(better) <= loss_of(tree)
