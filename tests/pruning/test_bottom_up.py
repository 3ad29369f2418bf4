"""Kearns and Mansour's pruning: by the definition, the worked numbers, its laws, and spam."""

from __future__ import annotations

from functools import partial
from math import comb, log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pruning.cases import bottom_up_leaves, case, chain, one_leaf, pruned_to
from treewright import Below, Branch, Column, Leaf, Schema, Target, Tree, encode, grow
from treewright.certifying.kearns_mansour import penalty
from treewright.datasets import load_spam
from treewright.pruning.bottom_up import FORMS, GRID, bottom_up


def alpha(tree: Tree, node: int, leaves: int, form: str, delta: float) -> float:
    """The penalty for c = 1, in the words of the definition."""
    m, m_v, d = int(tree.rows[0]), int(tree.rows[node]), len(tree.schema.columns)
    depth = sum(1 for above in range(node) if above < node < tree.end[above])
    if form == "mansour97":
        return sqrt(m_v * leaves) / m_v
    if form == "boolean":
        paths, trees = depth * log(d), (2 * leaves - 1) * log(d)
    elif form == "counted":
        shapes = comb(2 * leaves - 2, leaves - 1) // leaves
        paths, trees = log((2 * d) ** depth), log(shapes * d ** (leaves - 1) * 2**leaves)
    else:
        dimension = max(k for k in range(1, 30) if comb(k, k // 2) <= 2 * d)
        paths, trees = depth * dimension * log(2 * m), (leaves - 1) * dimension * log(2 * m)
    return sqrt((paths + trees + log(m / delta)) / m_v)


@pytest.mark.parametrize("form", FORMS)
@given(
    seed=st.integers(0, 2**20),
    c=st.sampled_from([0.0, 0.02, 0.05, 0.2, 1.0]),
    delta=st.sampled_from([0.01, 0.05, 0.5]),
    classes=st.sampled_from([2, 3]),
    weights=st.sampled_from([None, "whole", "parts"]),
    costs=st.booleans(),
)
def test_the_definition(
    form: str, seed: int, c: float, delta: float, classes: int, weights: str | None, costs: bool
) -> None:
    tree = case(seed, classes=classes, weights=weights, mixed=True).tree
    if costs:
        tree = tree.with_costs((1 - np.eye(classes)) * np.arange(1, classes + 1)[:, np.newaxis])
    dearest = classes if costs else 1

    def collapses(node: int, leaves: list[int]) -> bool:
        weight = tree.weight[node]
        subtree = sum(tree.loss[leaf] for leaf in leaves) / weight
        price = c * dearest * alpha(tree, node, len(leaves), form, delta)
        return subtree + price >= tree.loss[node] / weight - 1e-12

    path = bottom_up(tree, form=form, c=c, delta=delta)
    assert path.pruned == pruned_to(tree, bottom_up_leaves(tree, collapses))
    np.testing.assert_array_equal(path.pruned.statistic[0], tree.statistic[0])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("c", [0.02, 0.05, 0.2])
def test_errors_are_shares_whatever_the_number_of_targets(form: str, c: float) -> None:
    """The same target twice is pruned as if it were there once."""
    data = case(2, classes=3).data
    once = encode(np.column_stack(data.columns), data.targets[0])
    twice = encode(np.column_stack(data.columns), np.stack([data.targets[0]] * 2, axis=1), classes=True)
    one, two = (bottom_up(grow(rows), form=form, c=c).pruned for rows in (once, twice))
    np.testing.assert_array_equal(one.threshold, two.threshold)


def test_without_a_price_a_split_of_no_errors_goes() -> None:
    schema = Schema((Column("x"),), (Target("y", ("a", "b")),))
    tree = Tree.write(schema, Branch(Below("x", 1), Leaf([3, 0]), Leaf([2, 0])))
    assert bottom_up(tree, c=0.0).pruned.n_leaves == 1


def test_worked_numbers() -> None:
    """m = 3000, d = 57, δ = .05: (m_v, ℓ, nodes) and α. They belong to the form "boolean"."""
    rows, depth, nodes = [3000, 1000, 200, 50], [0, 2, 4, 6], [33, 5, 7, 3]
    found = penalty(rows, depth, nodes, rows=3000, columns=57, delta=0.05, form="boolean")
    np.testing.assert_allclose(found, [0.2194, 0.1983, 0.5267, 0.9735], atol=5e-5)


@given(st.integers(0, 2**20), st.sampled_from(FORMS))
def test_weights_may_be_scaled(seed: int, form: str) -> None:
    example = case(seed)
    scaled = encode(example.data.columns[0][:, None], example.data.targets[0], weight=np.full(60, 1e-3))
    plain = encode(example.data.columns[0][:, None], example.data.targets[0])
    one, other = (bottom_up(grow(data), form=form, c=0.1).pruned for data in (plain, scaled))
    np.testing.assert_array_equal(one.threshold, other.threshold)


@given(st.integers(0, 2**20))
def test_a_dearer_tree_is_no_larger_at_the_bottom(seed: int) -> None:
    """Without a price only what gains nothing goes; at any price no error is ever gained."""
    tree = case(seed).tree
    free = bottom_up(tree, c=0.0)
    assert free.training[1] == pytest.approx(free.training[0])
    assert bottom_up(tree, c=1e6).pruned.n_leaves == 1
    assert bottom_up(tree, c=0.3).training[1] >= free.training[1] - 1e-12


# ---- spam, and the constant by folds -----------------------------------------------------------


@pytest.fixture(scope="module")
def spam() -> tuple[Tree, Any, Any]:
    """ESL's rows: the tree grown to purity, its rows, the test rows."""
    source = load_spam()
    data = encode(source.data[~source.is_test], source.target[~source.is_test])
    test = encode(source.data[source.is_test], source.target[source.is_test], schema=data.schema)
    return grow(data, criterion="entropy"), data, test


@pytest.mark.parametrize(
    ("form", "c", "leaves", "error"),
    [
        ("boolean", 1.0, (2, 2), (0.21, 0.22)),
        ("boolean", 0.2, (5, 9), (0.09, 0.12)),
        ("boolean", 0.1, (10, 25), (0.08, 0.11)),
        ("boolean", 0.05, (60, 85), (0.06, 0.075)),
        ("boolean", 0.02, (120, 145), (0.065, 0.08)),
        ("mansour97", 0.2, (75, 95), (0.06, 0.075)),
    ],
)
def test_spam(
    spam: tuple[Tree, Any, Any],
    form: str,
    c: float,
    leaves: tuple[int, int],
    error: tuple[float, float],
) -> None:
    """The constant of the theorem prunes far too much; a twentieth of it gives good trees."""
    tree, _, test = spam
    pruned = bottom_up(tree, form=form, c=c, validation=test)
    assert leaves[0] <= pruned.leaves[1] <= leaves[1]
    assert error[0] <= pruned.validation[1] <= error[1]


@pytest.mark.slow
def test_the_constant_by_folds(spam: tuple[Tree, Any, Any]) -> None:
    tree, data, test = spam
    path = bottom_up(tree, c="cv", data=data, n_folds=3)
    told = path.details
    assert told["tried"] == GRID
    best = np.flatnonzero(told["losses"] == told["losses"].min())[-1]
    assert told["c"] == GRID[best]
    assert (told["standard_errors"] > 0).all()
    assert path.pruned == bottom_up(tree, c=told["c"]).pruned
    assert path.losses(test)[1] < 0.09
    again = bottom_up(tree, c="cv", data=data, n_folds=3)
    np.testing.assert_array_equal(told["losses"], again.details["losses"])


# ---- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "bool"}, "form is 'bool'"),
        ({"c": -0.1}, "c is -0.1"),
        ({"c": float("nan")}, "c is nan"),
        ({"c": float("inf")}, "c is inf"),
        ({"c": "auto"}, "c is 'auto'"),
        ({"c": None}, "c is None"),
        ({"delta": 0.0}, "delta is 0.0"),
        ({"delta": 1.0}, "delta is 1.0"),
        ({"delta": float("nan")}, "delta is nan"),
        ({"c": "cv"}, "needs data="),
    ],
)
def test_options_out_of_range(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bottom_up(case(0).tree, **options)


def test_folds_out_of_range() -> None:
    example = case(0)
    by_folds = partial(bottom_up, example.tree, c="cv")
    with pytest.raises(ValueError, match="number of folds is 1"):
        by_folds(data=example.data, n_folds=1)
    with pytest.raises(ValueError, match="data has no rows"):
        by_folds(data=example.data.take([]))
    with pytest.raises(TypeError, match="grow"):
        by_folds(data=example.data, growing={"max_leaves": 3})


def test_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="predict classes"):
        bottom_up(case(0, classes=0).tree)


def test_a_single_leaf_stays() -> None:
    tree = one_leaf().tree
    assert bottom_up(tree).pruned == tree


@pytest.mark.slow
def test_depth_of_100_000() -> None:
    assert bottom_up(chain(), form="counted", c=1.0).pruned.n_leaves == 1
