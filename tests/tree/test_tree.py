"""The value Tree: written by hand, cut, followed along its sequence, checked, safe from foreign tables."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from treewright import Among, Below, Branch, Column, Leaf, Schema, Target, Tree, encode, grow

SCHEMA = Schema(
    (Column("age"), Column("job", "category", ("clerk", "cook", "nurse"))), (Target("loan", ("no", "yes")),)
)
BY_HAND = Branch(
    Below("age", 30.5),
    Leaf([8, 2]),
    Branch(Among("job", ("clerk", "nurse")), Leaf([1, 5]), Leaf([3, 1]), missing_left=True),
)


def by_hand() -> Tree:
    return Tree.write(SCHEMA, BY_HAND)


def noisy(n: int = 300, seed: int = 0) -> Any:
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 3))
    return encode(x, (x[:, 0] + random.normal(size=n) > 0).astype(int))


def test_a_tree_by_hand_predicts_what_it_says() -> None:
    tree = by_hand()
    table = {"age": [20.0, 40.0, 40.0, 40.0, None], "job": ["cook", "cook", "nurse", None, "cook"]}
    assert tree.predict(table).tolist() == ["no", "no", "yes", "yes", "no"]
    assert tree.predict_proba(table)[0].tolist() == [0.8, 0.2]
    assert tree.root.test == Below("age", 30.5)
    assert tree.root.right.test == Among("job", ("clerk", "nurse"))
    assert tree.statistic[0].tolist() == [12, 8]
    assert (tree.n_leaves, tree.depth, len(list(tree))) == (3, 2, 5)


def test_an_unseen_category_goes_to_the_heavier_child() -> None:
    assert by_hand().predict({"age": [40.0], "job": ["pilot"]}).tolist() == ["yes"]


@pytest.mark.parametrize(
    ("root", "message"),
    [
        (Leaf([1, 2, 3]), "3 numbers"),
        (Leaf([0, 0]), "positive weight"),
        (Branch(Below("height", 1), Leaf([1, 1]), Leaf([1, 1])), "no column 'height'"),
        (Branch(Below("job", 1), Leaf([1, 1]), Leaf([1, 1])), "Among"),
        (Branch(Among("age", (1,)), Leaf([1, 1]), Leaf([1, 1])), "Below"),
        (Branch(Among("job", ("pilot",)), Leaf([1, 1]), Leaf([1, 1])), "'pilot'"),
        (Branch(Among("job", "cook"), Leaf([1, 1]), Leaf([1, 1])), "tuple"),  # type: ignore[arg-type]
        (Branch("age", Leaf([1, 1]), Leaf([1, 1])), "Below"),  # type: ignore[arg-type]
        (Branch(Below("age", 1), [1, 1], Leaf([1, 1])), "Branch and Leaf"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_written(root: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError, KeyError), match=message):
        Tree.write(SCHEMA, root)


def test_an_unknown_criterion_is_refused() -> None:
    with pytest.raises(ValueError, match="'ginni'"):
        Tree.write(SCHEMA, BY_HAND, criterion="ginni")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("end", np.array([5, 2, 5, 5, 5], np.int32), "leaf"),
        ("end", np.array([4, 2, 5, 4, 5], np.int32), "span"),
        ("feature", np.array([9, -1, 1, -1, -1], np.int32), "column"),
        ("threshold", np.full(5, np.nan), "threshold"),
        ("subset", np.array([-1, -1, 7, -1, -1]), "outside"),
        ("statistic", np.full((5, 2), np.nan), "finite"),
        ("statistic", np.ones((5, 2)), "sum"),
        ("step", np.zeros(5, np.int32), "step"),
        ("rows", np.zeros(4, np.int64), "shape"),
        ("missing_left", np.zeros(5, np.int8), "type"),
    ],
)
def test_damage_is_noticed(field: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(by_hand(), **{field: value}).check()


def test_collapse_makes_leaves_and_nothing_else() -> None:
    tree = grow(noisy())
    cut = tree.collapse([2, 5])
    cut.check()
    assert cut.root.statistic.tolist() == tree.root.statistic.tolist()
    assert tree.collapse([]) == tree
    assert tree.collapse([0]).n_nodes == 1
    repeated = by_hand().collapse([1])
    assert repeated == by_hand()


@pytest.mark.parametrize("nodes", [[-1], [10**6], [0.5], ["0"]])
def test_collapse_wants_nodes(nodes: list[Any]) -> None:
    with pytest.raises((IndexError, TypeError)):
        grow(noisy()).collapse(nodes)


def test_the_curve_is_the_error_of_every_tree_of_the_sequence() -> None:
    tree = grow(noisy())
    fresh = noisy(seed=1)
    curve = tree.curve(fresh)
    for k in range(0, tree.n_leaves, 7):
        part = tree.first(k)
        assert part.n_leaves == k + 1
        wrong = part.label[part.apply(fresh), 0] != fresh.targets[0]
        assert curve[k] == pytest.approx(wrong.mean(), abs=1e-12)
    with pytest.raises(ValueError, match="n_splits"):
        tree.first(-1)


def test_the_curve_of_numbers() -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(200, 2))
    y = x[:, 0] + 1e8
    tree = grow(encode(x, y))
    curve = tree.curve(encode(x, y))
    assert curve[0] == pytest.approx(y.var(), rel=1e-6)
    assert curve[-1] == 0
    assert (np.diff(curve) <= 1e-9).all()


def test_statistic_of_the_training_rows_is_the_statistic() -> None:
    data = noisy()
    tree = grow(data)
    assert tree.statistic_of(data).tolist() == tree.statistic.tolist()


@pytest.mark.parametrize(
    "table", [{"z": [1.0]}, {"x": ["a"]}, {"q": [1.0], "x": [1.0]}, {"x": [1.0], "q": [1.0], "r": [1.0]}]
)
def test_a_foreign_table_is_refused(table: dict[str, list[Any]]) -> None:
    tree = grow(encode({"x": [1.0, 1, 1, 1], "q": [1.0, 2, 3, 4]}, list("aabb")))
    with pytest.raises(ValueError, match="schema"):
        tree.apply(encode(table))


def test_foreign_targets_are_refused() -> None:
    tree = grow(encode({"x": [1.0, 2, 3, 4]}, list("aabb")))
    with pytest.raises(ValueError, match="targets"):
        tree.curve(encode({"x": [4.0, 4.0]}, ["b", "b"]))
    right = encode({"x": [4.0, 4.0]}, ["b", "b"], schema=tree.schema)
    assert tree.curve(right).tolist() == [1.0, 0.0]


def test_unseen_categories_are_not_learnt() -> None:
    data = encode({"c": ["p", "q", "p", "q"]}, list("abab"))
    again = encode({"c": ["p", "z", "p", "q"]}, list("abab"), schema=data.schema)
    with pytest.raises(ValueError, match="'c' has a category in row 1"):
        grow(again)


def test_trees_are_values() -> None:
    tree = by_hand()
    assert pickle.loads(pickle.dumps(tree)) == tree
    with pytest.raises(ValueError, match="read-only"):
        tree.threshold[0] = 3.0
    with pytest.raises(ValueError, match="read-only"):
        pickle.loads(pickle.dumps(tree)).threshold[0] = 3.0
    own = np.array([30.5, np.nan, np.nan, np.nan, np.nan])
    replace(tree, threshold=own)
    own[0] = 1.0  # the caller's array is still the caller's
