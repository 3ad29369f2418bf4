"""Splits that change no answer: predictions stay, and no smaller pruning has them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pruning.cases import case, chain, one_leaf, pruned_to
from tests.shapes import all_prunings
from treewright import encode, grow
from treewright.pruning.redundant_splits import collapse_redundant


@given(
    st.integers(0, 2**20),
    st.sampled_from([0, 2, 3]),
    st.sampled_from([None, "whole", "parts"]),
    st.booleans(),
)
def test_the_smallest_that_answers_alike(seed: int, classes: int, weights: str | None, costs: bool) -> None:
    tree = case(seed, classes=classes, weights=weights, mixed=True, max_leaf_nodes=8).tree
    if costs and classes:
        tree = tree.with_costs((1 - np.eye(classes)) * np.arange(1, classes + 1)[:, np.newaxis])
    small = collapse_redundant(tree)
    small.check()
    rng = np.random.default_rng(seed)
    table = {"x": rng.integers(-1, 9, 300), "y": rng.integers(-1, 9, 300)}
    table["job"] = rng.choice(["clerk", "cook", "pilot", "none", "smith"], 300)
    np.testing.assert_array_equal(small.predict(table), tree.predict(table))
    np.testing.assert_array_equal(small.statistic[0], tree.statistic[0])
    answer = tree.label if tree.schema.predicts_classes else tree.value
    fits = [
        len(leaves)
        for leaves in all_prunings(tree.end)
        if all(
            (answer[leaf] == answer[below]).all()
            for leaf in leaves
            for below in range(leaf, tree.end[leaf])
            if tree.is_leaf[below]
        )
    ]
    assert small.n_leaves == min(fits)
    assert collapse_redundant(small) == small


def test_several_targets_must_all_agree() -> None:
    data = encode({"x": [1, 2, 3, 3, 3]}, [["a", "c"], ["a", "d"], ["b", "d"], ["b", "d"], ["b", "c"]])
    tree = grow(data)
    assert collapse_redundant(tree).n_leaves == tree.n_leaves == 3


def test_many_classes() -> None:
    x = np.arange(900.0)
    tree = grow(encode({"x": x}, (x // 3).astype(int)))
    assert collapse_redundant(tree) == tree
    grown = grow(encode({"x": x}, np.where(x < 500, 0, x.astype(int))), max_leaf_nodes=50)
    small = collapse_redundant(grown)
    np.testing.assert_array_equal(small.predict({"x": x}), grown.predict({"x": x}))


def test_a_single_leaf_stays() -> None:
    tree = one_leaf().tree
    assert collapse_redundant(tree) == tree


@pytest.mark.parametrize("numbers", [False, True])
def test_depth_of_100_000(numbers: bool) -> None:
    tree = chain(numbers)
    small = collapse_redundant(tree)
    rows = {"x": np.linspace(-1.0, 100_001.0, 100)}
    np.testing.assert_array_equal(small.predict(rows), tree.predict(rows))


def test_leaves_of_one_answer_are_one() -> None:
    """Two rows of three are a on either side: both leaves say a."""
    tree = grow(encode({"x": [1, 1, 1, 2, 2, 2]}, list("aababa")), criterion="gini")
    assert pruned_to(tree, [0]) == collapse_redundant(tree)
