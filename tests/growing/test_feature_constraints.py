"""Which columns a tree may test: together on a path, in the whole tree, and at which price."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import Table, table_of, tables
from treewright import encode, grow
from treewright.parameters import FeatureCosts
from treewright.tree import Tree


def paths(tree: Tree) -> list[frozenset[int]]:
    """The columns that are tested on the way to each leaf."""
    above: list[frozenset[int]] = [frozenset()] * tree.n_nodes
    for node in range(1, tree.n_nodes):
        parent = int(tree.parent[node])
        above[node] = above[parent] | {int(tree.feature[parent])}
    return [above[leaf] for leaf in np.flatnonzero(tree.is_leaf)]


def mixed(n: int = 200, seed: int = 0) -> Table:
    """Four columns, all of use, in pairs that only help together."""
    random = np.random.default_rng(seed)
    x = random.integers(0, 4, (n, 4)).astype(float)
    y = ((x[:, 0] > 1) ^ (x[:, 1] > 1)) * 2 + ((x[:, 2] > 1) ^ (x[:, 3] > 1)) + random.normal(size=n) / 4
    return table_of(list(x.T), y)


@pytest.mark.parametrize(
    ("groups", "allowed"),
    [
        ([["x0", "x1"], [2, 3]], [{0, 1}, {2, 3}]),
        ([["x0", "x1"]], [{0, 1}, {2}, {3}]),
        ([["x0", "x1", "x2"], ["x2", "x3"]], [{0, 1, 2}, {2, 3}]),
        ("no_interactions", [{0}, {1}, {2}, {3}]),
        ([], [{0}, {1}, {2}, {3}]),
    ],
    ids=str,
)
def test_columns_meet_in_their_groups_only(groups: Any, allowed: list[set[int]]) -> None:
    tree = mixed().grow("squared_error", interaction_cst=groups)
    assert tree.n_leaves > 3
    for path in paths(tree):
        assert any(path <= group for group in allowed), path


def test_pairs() -> None:
    tree = mixed().grow("squared_error", interaction_cst="pairwise")
    assert max(map(len, paths(tree))) == 2
    assert max(map(len, paths(mixed().grow("squared_error")))) > 2


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["learn", "fractional", "category"])
@settings(max_examples=25)
@given(data=st.data())
def test_groups_of_any_table(missing: str, data: st.DataObject) -> None:
    table = data.draw(tables("gini"))
    columns = st.integers(0, len(table.columns) - 1)
    groups = data.draw(st.lists(st.lists(columns, unique=True), max_size=3))
    tree = table.grow("gini", interaction_cst=groups, missing=missing, max_depth=4)
    for path in paths(tree):
        assert len(path) < 2 or any(path <= set(group) for group in groups)


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["learn", "surrogate", "category"])
@settings(max_examples=25)
@given(data=st.data())
def test_few_columns_in_all(missing: str, data: st.DataObject) -> None:
    table, most = data.draw(tables("gini")), data.draw(st.integers(1, 3))
    tree = table.grow("gini", feature_costs=FeatureCosts(max_used=most), missing=missing)
    assert len(set(tree.feature[~tree.is_leaf].tolist())) <= most


def test_open_nodes_are_searched_again_among_the_columns_in_use() -> None:
    """Once x0 is in use alone, the other side is split by it as well, though x1 would be better there."""
    x0 = np.array([0, 0, 0, 0, 1, 2, 3, 4.0] * 2)
    x1 = np.array([0, 0, 0, 0, 0, 1, 0, 1.0] * 2)
    y = np.array([0, 0, 0, 0, 30, 33, 30, 33.0] * 2)
    table = table_of([x0, x1], y)
    assert set(table.grow("squared_error", feature_costs=FeatureCosts(max_used=2)).feature.tolist()) == {
        -1,
        0,
        1,
    }
    tree = table.grow("squared_error", feature_costs=FeatureCosts(max_used=1))
    assert set(tree.feature.tolist()) == {-1, 0}
    assert tree.risk[tree.is_leaf].sum() == 0, "x0 alone tells all, it only takes longer"


# ---- prices ------------------------------------------------------------------------------------


def test_a_dear_column_must_be_worth_it() -> None:
    """At the root the scan gains twice what the question does: it is bought up to a price of 1."""
    y = ["ill"] * 4 + ["well"] * 4
    table = {"scan": [1, 1, 1, 1, 2, 2, 2, 2], "question": [1, 1, 1, 2, 1, 2, 2, 2]}
    data = encode(table, y)
    gain = [
        grow(data, interaction_cst=[[c]], max_depth=1, feature_costs={1 - c: 1e9}).gain[0] for c in (0, 1)
    ]
    assert gain == [4.0, 1.0]
    for price, column in ((2.9, 0), (3.1, 1)):
        assert grow(data, feature_costs={"scan": price}).feature[0] == column


def test_a_column_is_paid_for_once_on_a_path() -> None:
    """Below its own test a dear column is free, elsewhere it is not."""
    random = np.random.default_rng(0)
    scan = random.integers(0, 8, 400).astype(float)
    question = (scan + random.integers(-1, 2, 400)) // 2
    y = scan**2
    table = table_of([scan, question], y)
    prices = [4.0, 0.0]
    tree = table.grow("squared_error", feature_costs=prices, max_leaf_nodes=40)
    above = {int(node): set() for node in [0]}
    seen_free = False
    for node in range(tree.n_nodes):
        if node:
            parent = int(tree.parent[node])
            above[node] = above[parent] | {int(tree.feature[parent])}
        if tree.feature[node] >= 0 and 0 in above[node]:
            rows = tree.statistic[node]
            seen_free |= int(tree.feature[node]) == 0 and rows[0] > 2
    assert tree.feature[0] == 1, "at the root the question is the better buy"
    assert seen_free


def test_the_least_gain_is_one_after_the_price() -> None:
    data = encode({"x": [1, 1, 2, 2]}, ["a", "a", "b", "b"])  # decreases the impurity by 0.5
    assert grow(data, min_impurity_decrease=0.475, feature_costs={"x": 0.0}).n_leaves == 2
    assert grow(data, min_impurity_decrease=0.275, feature_costs={"x": 1.0}).n_leaves == 1
    assert grow(data, min_impurity_decrease=0.225, feature_costs={"x": 1.0}).n_leaves == 2


def test_prices_order_the_nodes() -> None:
    """Best first by the gain after the price: the cheap split on the right comes before the dear one."""
    x0 = [0, 0, 0, 0, 1, 1, 1, 1]
    dear = [0, 0, 1, 1, 0, 0, 0, 0]
    cheap = [0, 0, 0, 0, 0, 0, 1, 1]
    y = [0.0, 0, 3, 3, 20, 20, 22, 22]
    tree = table_of([x0, dear, cheap], y).grow("squared_error", feature_costs=[0, 9, 0])
    left, right = 1, int(tree.end[1])
    assert tree.feature[[0, left, right]].tolist() == [0, 1, 2]
    assert tree.gain[left] > tree.gain[right]
    assert tree.step[[left, right]].tolist() == [2, 1]
