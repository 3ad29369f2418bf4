"""Pruning by the χ² test: against scipy's table test, by the definition, and its laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from tests.pruning.cases import bottom_up_leaves, case, chain, one_leaf, pruned_to
from treewright import Below, Branch, Column, Leaf, Schema, Target, Tree, encode, grow
from treewright.pruning.chi_squared import chi_squared


def p_value(tree: Tree, node: int) -> float:
    """Pearson's test of the table of both sides by the classes that are there."""
    table = np.array([tree.statistic[node + 1], tree.statistic[tree.right[node]]])
    table = table[:, table.sum(axis=0) > 0]
    return 1.0 if table.shape[1] < 2 else float(chi2_contingency(table, correction=False).pvalue)


def splits(tree: Tree, node: int) -> float:
    """How many splits the rows of a node could have had."""
    count = 0
    for column in tree.schema.columns:
        count += (
            2 ** (len(column.categories) - 1) - 1 if column.kind == "category" else int(tree.rows[node]) - 1
        )
    return count


@pytest.mark.slow
@given(
    st.integers(0, 2**20),
    st.sampled_from([2, 3]),
    st.sampled_from([None, "whole", "parts"]),
    st.booleans(),
    st.sampled_from([0.001, 0.01, 0.05, 0.3]),
    st.booleans(),
)
def test_the_definition(
    seed: int, classes: int, weights: str | None, mixed: bool, significance: float, bonferroni: bool
) -> None:
    tree = case(seed, classes=classes, weights=weights, mixed=mixed).tree

    def collapses(node: int, leaves: list[int]) -> bool:
        p = min(p_value(tree, node) * (splits(tree, node) if bonferroni else 1), 1.0)
        return len(leaves) == 2 and p > significance

    path = chi_squared(tree, significance=significance, bonferroni=bonferroni)
    assert path.pruned == pruned_to(tree, bottom_up_leaves(tree, collapses))
    np.testing.assert_array_equal(path.pruned.statistic[0], tree.statistic[0])
    inner = np.flatnonzero(~tree.is_leaf).tolist()
    factor = [splits(tree, node) if bonferroni else 1.0 for node in inner]
    expected = [min(p_value(tree, node) * more, 1.0) for node, more in zip(inner, factor, strict=True)]
    np.testing.assert_allclose(path.details["p_value"][inner], expected, rtol=1e-9, atol=1e-300)
    assert np.isnan(path.details["p_value"][tree.is_leaf]).all()


@given(st.integers(0, 2**20))
def test_stricter_is_smaller(seed: int) -> None:
    tree = case(seed).tree
    sizes = [chi_squared(tree, significance=p).pruned.n_leaves for p in (0.9, 0.3, 0.05, 0.01, 1e-9)]
    assert sizes == sorted(sizes, reverse=True)
    assert chi_squared(tree, bonferroni=True).pruned.n_leaves <= sizes[2]


def test_a_significant_split_keeps_those_above_it() -> None:
    """XOR: the first split is worth nothing by itself, the ones below it everything."""
    x = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], 10, axis=0)
    tree = grow(encode(x, np.repeat([0, 1, 1, 0], 10)))
    path = chi_squared(tree, significance=0.01)
    assert path.details["p_value"][0] == pytest.approx(1.0)
    assert path.pruned == tree


def test_a_p_value_at_the_limit_is_significant() -> None:
    tree = grow(encode({"x": [0.0] * 20 + [1.0] * 20}, ["a"] * 14 + ["b"] * 13 + ["a"] * 13))
    p = float(chi_squared(tree).details["p_value"][0])
    assert chi_squared(tree, significance=p).pruned.n_leaves == 2
    assert chi_squared(tree, significance=float(np.nextafter(p, 0))).pruned.n_leaves == 1


def test_two_categories_have_one_split() -> None:
    data = encode({"job": ["cook", "pilot"] * 20, "x": [0.0] * 40}, ["a", "b"] * 19 + ["b", "b"])
    plain, strict = (chi_squared(grow(data), bonferroni=b).details["p_value"][0] for b in (False, True))
    assert strict == pytest.approx(plain * (1 + 39))


def test_a_split_that_separates_nothing_goes() -> None:
    schema = Schema((Column("x"),), (Target("y", ("a", "b")),))
    tree = Tree.write(schema, Branch(Below("x", 1), Leaf([5, 0]), Leaf([7, 0])))
    assert chi_squared(tree, significance=0.99).pruned.n_leaves == 1


@pytest.mark.parametrize("significance", [0.0, 1.0, -1.0, float("nan")])
def test_significance_out_of_range(significance: float) -> None:
    with pytest.raises(ValueError, match="significance is"):
        chi_squared(case(0).tree, significance=significance)


def many_classes() -> Tree:
    return grow(encode({"x": np.arange(300.0)}, np.arange(300)), max_leaf_nodes=5)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (lambda: case(0, classes=0).tree, "chi_squared compares classes"),
        (lambda: grow(encode({"x": [1, 2]}, [["a", "c"], ["b", "d"]])), "chi_squared compares classes"),
        (many_classes, "up to 256 classes"),
    ],
)
def test_what_it_is_not_for(tree: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        chi_squared(tree())


def test_a_single_leaf_stays() -> None:
    tree = one_leaf().tree
    assert chi_squared(tree).pruned == tree


@pytest.mark.slow
def test_depth_of_100_000() -> None:
    assert chi_squared(chain(), significance=0.001).pruned.n_leaves == 1
