"""Trees as deep as they have leaves: nothing recurses, and nothing grows with the square of the depth."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from treewright import (
    Below,
    Branch,
    Column,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Leaf,
    Schema,
    Target,
    Tree,
    encode,
    export,
    grow,
)
from treewright.estimators.sklearn_view import sklearn_tree
from treewright.pruning import cost_complexity_path, cut_at, weakest_links

DEPTH = 100_000
PROBES = np.linspace(-1.0, DEPTH + 1.0, 200)


def chain(numbers: bool, to_the_left: bool, depth: int = DEPTH) -> Branch:
    """x <= 0, x <= 1, … one after the other, or the same from the other end; a leaf at each."""

    def leaf(i: int) -> Leaf:
        return Leaf([1.0, float(i % 7), 0.0] if numbers else [i % 2, 1 - i % 2])

    node: Any = leaf(depth)
    for i in range(depth - 1, -1, -1):
        if to_the_left:
            node = Branch(Below("x", float(depth - i)), node, leaf(i))
        else:
            node = Branch(Below("x", float(i)), leaf(i), node)
    assert isinstance(node, Branch)
    return node


def schema_of(numbers: bool) -> Schema:
    return Schema((Column("x"),), (Target("y", None if numbers else ("even", "odd")),))


@pytest.fixture(scope="module", params=[(False, False), (True, True)], ids=["classes", "numbers"])
def tree(request: pytest.FixtureRequest) -> Tree:
    """Of classes, leaning to the right, or of numbers, leaning to the left."""
    numbers, to_the_left = request.param
    return Tree.write(schema_of(numbers), chain(numbers, to_the_left))


@pytest.mark.slow
def test_its_shape(tree: Tree) -> None:
    tree.check()
    assert (tree.depth, tree.n_leaves, tree.n_nodes) == (DEPTH, DEPTH + 1, 2 * DEPTH + 1)
    assert repr(tree) == f"<Tree: {DEPTH + 1} leaves, depth {DEPTH}, 1 columns>"
    assert sum(node.is_leaf for node in tree) == tree.n_leaves
    assert tree.weight[0] == DEPTH + 1
    assert tree.gain.shape == tree.risk.shape == (tree.n_nodes,)


@pytest.mark.slow
def test_rows_find_their_leaves(tree: Tree) -> None:
    answers = tree.predict({"x": PROBES})
    if tree.schema.predicts_classes:
        place = np.clip(np.ceil(PROBES), 0, DEPTH)
        assert answers.tolist() == ["even" if i % 2 else "odd" for i in place]
        assert tree.predict_proba({"x": PROBES}).max(axis=1).tolist() == [1.0] * len(PROBES)
    else:  # the highest threshold comes first
        place = np.clip(DEPTH + 1 - np.ceil(PROBES), 0, DEPTH)
        assert answers.tolist() == (place % 7).tolist()


@pytest.mark.slow
def test_other_rows_are_followed_to_every_node(tree: Tree) -> None:
    classes = tree.schema.predicts_classes
    data = encode({"x": PROBES}, tree.predict({"x": PROBES}), classes=classes)
    arrived = tree.statistic_of(data)
    assert (arrived[0].sum() if classes else arrived[0, 0]) == len(PROBES)
    curve = tree.curve(data)
    assert len(curve) == DEPTH + 1
    assert curve[-1] == 0 < curve[0]


def test_surgery(tree: Tree) -> None:
    half = tree.first(DEPTH // 2)
    half.check()
    assert half.depth == DEPTH // 2
    assert tree.collapse([0]).n_nodes == 1
    assert weakest_links(tree).shape == (tree.n_nodes,)
    path = cost_complexity_path(tree)
    assert path.leaves[0] <= DEPTH + 1
    assert path.leaves[-1] == 1
    assert cut_at(tree, float(path.alpha[-1])).n_nodes == 1


def test_copies(tree: Tree) -> None:
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert copy.deepcopy(tree) == tree
    assert tree.first(DEPTH - 1) != tree
    assert sklearn_tree(tree).max_depth == DEPTH


@pytest.mark.slow
def test_text_is_linear(tree: Tree) -> None:
    part = tree.first(10_000)
    text = export(part)
    assert isinstance(text, str)
    lines = text.splitlines()
    assert len(lines) == part.n_nodes
    assert max(map(len, lines)) < 160
    assert "… depth 10000: " in text
    assert len(export(tree, max_depth=3).splitlines()) == 7


@pytest.mark.slow
def test_branches_by_hand_need_no_recursion() -> None:
    one, two = chain(False, to_the_left=False), chain(False, to_the_left=False)
    assert one == two
    assert one.right != two
    assert one != chain(False, to_the_left=True)
    assert repr(one).count("Branch(") == DEPTH
    del one, two  # taking them apart must not exhaust the stack, either


@pytest.mark.slow
def test_branches_by_hand_are_copied_without_recursion() -> None:
    one = chain(True, to_the_left=True, depth=20_000)
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.deepcopy(one) == one
    small = Branch(Below("x", 1.0), Leaf((1, 2)), Branch(Below("x", 3.0), Leaf((3, 4)), Leaf((5, 6)), True))
    assert pickle.loads(pickle.dumps(small)) == small
    assert hash(copy.deepcopy(small)) == hash(small)
    assert eval(repr(small)) == small


# ---- grown from rows ---------------------------------------------------------------------------


@pytest.mark.slow
def test_a_chain_grown_from_classes() -> None:
    """With a class for each row all cuts gain the same; the lowest is taken, again and again."""
    n = 3000
    x = np.arange(float(n))[:, np.newaxis]
    model = DecisionTreeClassifier().fit(x, np.arange(n))
    assert model.get_depth() == n - 1
    assert model.predict(x).tolist() == list(range(n))
    assert model.predict_proba(x[[0, -1]]).argmax(axis=1).tolist() == [0, n - 1]
    assert model.decision_path(x[[0, -1]]).sum(axis=1).ravel().tolist() == [[2, n]]
    assert len(str(model.model_).splitlines()) == model.model_.n_nodes
    assert pickle.loads(pickle.dumps(model)).model_ == model.model_


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_a_chain_grown_from_numbers(criterion: str) -> None:
    """The largest number outweighs all others together: each split takes it off."""
    n = 300
    x = np.arange(float(n))[:, np.newaxis]
    y = 3.0 ** np.arange(n)
    model = DecisionTreeRegressor(criterion=criterion).fit(x, y)
    model.model_.check()
    assert model.get_depth() == n - 1
    assert model.predict(x).tolist() == y.tolist()
    assert model.cost_complexity_pruning_path(x, y).ccp_alphas[-1] > 0


def test_a_chain_grown_within_a_budget() -> None:
    n = 2000
    tree = grow(encode({"x": np.arange(float(n))}, np.arange(n)), max_leaf_nodes=1501)
    assert tree.depth == 1500
    tree.check()
