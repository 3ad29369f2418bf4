"""Surgery: grafted trees answer as the tests that are left say, and their statistics are counted anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tree.test_costs import problem
from treewright import Branch, Leaf, Tree, encode, grow
from treewright.encoding import Dataset


def structure(tree: Tree, node: int, replacements: dict[int, int]) -> Branch | Leaf:
    """The tree written by hand, with parts of it in the place of others."""
    node = replacements.get(node, node)
    if tree.is_leaf[node]:
        return Leaf(np.asarray(tree.statistic[node]).tolist())
    test = tree.test(node)
    assert test is not None
    left, right = (structure(tree, int(child[node]), replacements) for child in (tree.left, tree.right))
    return Branch(test, left, right, bool(tree.missing_left[node]))


@given(seed=st.integers(0, 2**20), pick=st.integers(0, 2**20))
def test_grafted_trees_answer_by_the_tests_that_are_left(seed: int, pick: int) -> None:
    data = problem(seed)
    tree = grow(data, max_leaf_nodes=9)
    node = int(np.flatnonzero(~tree.is_leaf)[pick % (tree.n_leaves - 1)])
    below = node + pick % int(tree.end[node] - node)
    grafted = tree.graft({node: below}, data)
    grafted.check()
    by_hand = Tree.write(tree.schema, structure(tree, 0, {node: below}))
    np.testing.assert_array_equal(grafted.end, by_hand.end)
    np.testing.assert_array_equal(grafted.apply(data), by_hand.apply(data))
    leaf = grafted.apply(data)
    assert data.targets is not None
    for place in np.flatnonzero(grafted.is_leaf):
        counts = np.bincount(data.targets[0][leaf == place], minlength=3)
        assert grafted.statistic[place].tolist() == counts.tolist()
        assert grafted.rows[place] == counts.sum()


def test_several_grafts_at_once() -> None:
    data = problem(11, n=200)
    tree = grow(data, max_leaf_nodes=16)
    left, right = int(tree.left[0]), int(tree.right[0])
    assert not tree.is_leaf[left]
    assert not tree.is_leaf[right]
    both = tree.graft({left: int(tree.right[left]), right: int(tree.left[right])}, data)
    one = tree.graft({right: int(tree.left[right])}, data).graft({left: int(tree.right[left])}, data)
    assert both == one


def test_grafts_inside_grafts_and_leaves() -> None:
    """A subtree is raised inside one that is raised, and a node of it becomes a leaf, all at once."""
    data = problem(13, n=200)
    tree = grow(data)
    child = int(tree.left[0])
    inner = int(tree.right[child])
    assert not tree.is_leaf[inner]
    leaf = int(tree.left[inner])
    once = tree.graft({0: child, child: inner}, data, collapse=[leaf])
    again = tree.graft({child: inner}, data)
    again = again.graft({0: 1}, data)
    assert once == again.collapse([1])


def test_what_cannot_be_grafted() -> None:
    data = problem(12)
    tree = grow(data, max_leaf_nodes=6)
    right = int(tree.right[0])
    with pytest.raises(ValueError, match="not below node"):
        tree.graft({1: 0}, data)
    with pytest.raises(ValueError, match=f"node {right} is not below node 1"):
        tree.graft({1: right}, data)
    with pytest.raises(ValueError, match=f"node {right} cannot be replaced: another replacement drops"):
        tree.graft({0: 1, right: right + 1}, data)
    with pytest.raises(IndexError, match="nodes 0"):
        tree.graft({0: 99}, data)
    with pytest.raises(ValueError, match="for classes"):
        grow(encode([[1.0], [2.0]], [1.5, 2.5])).recount(encode([[1.0]], [2.5]))


def test_restated_needs_rows_everywhere() -> None:
    data = encode({"x": [1.0, 2.0, 3.0]}, ["a", "b", "a"])
    tree = grow(data)
    few = encode({"x": [1.0]}, ["a"], schema=data.schema)
    with pytest.raises(ValueError, match="no row of the data reaches node"):
        tree.recount(few)
    weightless = Dataset(data.schema, data.columns, data.targets, np.array([1.0, 0.0, 1.0]))
    with pytest.raises(ValueError, match="no row of the data reaches node"):
        tree.recount(weightless)
