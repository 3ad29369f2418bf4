"""Reduced-error pruning: against brute force over all prunings, by the definition, and the notes' example."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pruning.cases import (
    Case,
    bottom_up_leaves,
    case,
    chain,
    check_bad_rows,
    one_leaf,
    pruned_to,
    rows_at,
    rows_of_the_chain,
    weight_of,
)
from tests.shapes import all_prunings
from treewright import Below, Branch, Column, Leaf, Schema, Target, Tree, encode, grow, prune
from treewright.pruning.reduced_error import reduced_error

KINDS = st.fixed_dictionaries(
    {
        "classes": st.sampled_from([0, 2, 3]),
        "weights": st.sampled_from([None, "whole", "parts"]),
        "mixed": st.booleans(),
        "max_leaf_nodes": st.just(9),
    }
)


def loss_at(example: Case, node: int) -> float:
    """What the validation rows of a node lose by its answer, row by row."""
    tree, data = example.tree, example.validation
    total = 0.0
    for i in rows_at(tree, data, node):
        truth = data.targets[0, i]
        if tree.schema.predicts_classes:
            loss = float(tree.label[node, 0] != truth)
        else:
            loss = float(tree.value[node, 0] - truth) ** 2
        total += weight_of(data, i) * loss
    return total


@given(st.integers(0, 2**20), KINDS)
def test_the_smallest_of_the_most_accurate(seed: int, kind: dict[str, Any]) -> None:
    """No pruning loses less on the held-out rows; none that loses as little is smaller (larger if kept)."""
    example = case(seed, **kind)
    tree = example.tree
    loss = [loss_at(example, node) for node in range(tree.n_nodes)]
    candidates = all_prunings(tree.end)
    losses = np.array([sum(loss[leaf] for leaf in leaves) for leaves in candidates])
    sizes = np.array([len(leaves) for leaves in candidates])
    best = sizes[losses <= losses.min() + 1e-9]
    total = example.validation.total_weight
    for ties, size in (("prune", best.min()), ("keep", best.max())):
        path = reduced_error(tree, validation=example.validation, ties=ties, unreached=ties)
        path.pruned.check()
        assert path.leaves.tolist() == [tree.n_leaves, size]
        assert path.validation[1] * total == pytest.approx(losses.min(), abs=1e-9)
        np.testing.assert_array_equal(path.pruned.statistic[0], tree.statistic[0])


@given(st.integers(0, 2**20), KINDS, st.sampled_from(["prune", "keep"]), st.sampled_from(["prune", "keep"]))
def test_the_definition(seed: int, kind: dict[str, Any], ties: str, unreached: str) -> None:
    example = case(seed, **{**kind, "max_leaf_nodes": None})

    def collapses(node: int, leaves: list[int]) -> bool:
        if not rows_at(example.tree, example.validation, node):
            return unreached == "prune"
        leaf, branch = loss_at(example, node), sum(loss_at(example, below) for below in leaves)
        if abs(leaf - branch) < 1e-9:
            return ties == "prune"
        return leaf < branch

    path = reduced_error(example.tree, validation=example.validation, ties=ties, unreached=unreached)
    assert path.pruned == pruned_to(example.tree, bottom_up_leaves(example.tree, collapses))


def example_of_the_notes() -> tuple[Tree, Any]:
    """X1 tests X3 (a leaf 0 and X4) and X6; the counts are those of S1, the table is S2."""
    schema = Schema(tuple(Column(name) for name in ("x1", "x3", "x4", "x6")), (Target("y", (0, 1)),))
    x4 = Branch(Below("x4", 0.5), Leaf([0, 3]), Leaf([1, 0]))
    x3 = Branch(Below("x3", 0.5), Leaf([1, 0]), x4)
    x6 = Branch(Below("x6", 0.5), Leaf([2, 0]), Leaf([0, 1]))
    tree = Tree.write(schema, Branch(Below("x1", 0.5), x3, x6))
    rows = [(0, 1, 0, 0, 1)] * 2 + [(0, 1, 1, 0, 1)] * 2 + [(0, 1, 1, 0, 0), (0, 0, 0, 0, 0)]
    rows += [(1, 0, 0, 0, 0), (1, 0, 0, 1, 0)]
    table = np.array(rows, float)
    return tree, encode(table[:, :4], table[:, 4].astype(int), schema=schema)


def test_the_example_of_the_notes() -> None:
    """X4: the subtree errs twice and the leaf once, so it goes. With that, X3 errs once where a leaf would
    err twice: it stays, while its original subtree would only have tied. X6 goes.
    """
    tree, validation = example_of_the_notes()
    x3, x4, x6 = 1, 3, 6
    loss = tree.loss_of(validation)
    assert [loss[x4 + 1] + loss[x4 + 2], loss[x4]] == [2, 1]
    assert [loss[x3 + 1] + loss[x4 + 1] + loss[x4 + 2], loss[x3 + 1] + loss[x4], loss[x3]] == [2, 1, 2]
    assert [loss[x6 + 1] + loss[x6 + 2], loss[x6]] == [1, 0]
    assert reduced_error(tree, validation=validation).pruned == tree.collapse([x4, x6])


def test_one_in_ten_million_is_no_rounding() -> None:
    """A branch that is right on one row more of so many stays, and one that is wrong on one more goes."""
    tree = grow(encode({"x": [1.0, 2.0]}, ["a", "b"]))
    for n_right, leaves in ((10_000_001.0, 2), (10_000_000.0, 1), (9_999_999.0, 1)):
        weight = [n_right, 10_000_000.0]
        rows = encode({"x": [2.0, 2.0]}, ["b", "a"], schema=tree.schema, weight=weight)
        assert tree.label[0, 0] == 0
        assert reduced_error(tree, validation=rows).pruned.n_leaves == leaves


def test_root() -> None:
    tree = grow(encode({"x": [1.0, 2.0]}, ["a", "b"]))
    held_out = encode({"x": [1.0, 2.0, 2.0]}, ["b", "a", "a"], schema=tree.schema)
    assert reduced_error(tree, validation=held_out).pruned.n_leaves == 1
    assert reduced_error(tree, validation=held_out, root=False).pruned == tree


def test_costs_count() -> None:
    """A rare mistake that is dear keeps its leaf."""
    data = encode({"x": [1, 1, 1, 2, 2]}, ["well", "well", "well", "ill", "ill"])
    held_out = encode({"x": [1, 1, 2, 2, 2]}, ["well", "well", "well", "well", "ill"], schema=data.schema)
    tree = grow(data)
    assert prune(tree, "reduced_error", validation=held_out).pruned.n_leaves == 1
    costs = {"ill": {"well": 10}}
    assert prune(tree, "reduced_error", validation=held_out, costs=costs).pruned.n_leaves == 2


# ---- significance ------------------------------------------------------------------------------


@given(
    st.integers(0, 2**20),
    st.sampled_from([2, 3]),
    st.sampled_from([None, "whole"]),
    st.sampled_from([0.01, 0.05, 0.2, 0.6]),
    st.sampled_from(["prune", "keep"]),
)
def test_significance(seed: int, classes: int, weights: str | None, alpha: float, unreached: str) -> None:
    """Row by row: on how many is only the subtree right, on how many only the leaf; then the exact test."""
    example = case(seed, classes=classes, weights=weights)
    tree, data = example.tree, example.validation

    def collapses(node: int, leaves: list[int]) -> bool:
        rows = rows_at(tree, data, node)
        if not rows:
            return unreached == "prune"
        of = {i: leaf for leaf in leaves for i in rows_at(tree, data, leaf)}
        truth = data.targets[0]
        branch = sum(
            int(weight_of(data, i)) for i in rows if tree.label[of[i], 0] == truth[i] != tree.label[node, 0]
        )
        leaf = sum(
            int(weight_of(data, i)) for i in rows if tree.label[node, 0] == truth[i] != tree.label[of[i], 0]
        )
        n = branch + leaf
        return sum(comb(n, k) for k in range(branch, n + 1)) / 2**n > alpha

    path = reduced_error(tree, validation=data, significance=alpha, unreached=unreached, ties=unreached)
    assert path.pruned == pruned_to(tree, bottom_up_leaves(tree, collapses))


def test_a_branch_that_no_row_reaches_by_significance() -> None:
    """It has no right answers to count: `unreached` decides, whatever ties do."""
    tree = grow(encode({"x": [1, 2, 3, 4]}, ["a", "a", "b", "a"]))
    held_out = encode({"x": [1] * 9}, ["a"] * 9, schema=tree.schema)
    inner = int(tree.right[0])
    assert not tree.is_leaf[inner]
    for ties in ("prune", "keep"):
        options = {"validation": held_out, "significance": 0.05, "ties": ties, "root": False}
        assert reduced_error(tree, unreached="keep", **options).pruned == tree
        assert reduced_error(tree, unreached="prune", **options).pruned == tree.collapse([inner])


def test_five_of_five_are_significant_at_five_percent() -> None:
    """1/32 is below .05, 1/16 is not."""
    tree = grow(encode({"x": [1, 1, 2]}, ["a", "a", "b"]))
    for rows, leaves in ((5, 2), (4, 1)):
        held_out = encode({"x": [2] * rows + [1]}, ["b"] * rows + ["a"], schema=tree.schema)
        assert reduced_error(tree, validation=held_out, significance=0.05).pruned.n_leaves == leaves
        assert reduced_error(tree, validation=held_out, significance=0.5**rows).pruned.n_leaves == 2


# ---- what is refused, and what is not ----------------------------------------------------------


def test_rows_that_cannot_be_used() -> None:
    example = case(0)
    check_bad_rows("validation", example.tree, example.data, reduced_error)
    with pytest.raises(TypeError, match="reduced_error needs validation="):
        prune(example.tree, "reduced_error")
    assert example.tree.n_leaves >= 8
    with pytest.raises(ValueError, match="validation contains the rows that the tree was grown from"):
        prune(example.tree, "reduced_error", validation=example.data.take(slice(None)))


def test_a_missing_class_and_an_unseen_category_are_fine() -> None:
    example = case(1, classes=3, mixed=True)
    table = {"x": [1.0, np.nan, 5.0], "y": [2.0, 3.0, 7.0], "job": ["pilot", "smith", None]}
    held_out = encode(table, [0, 1, 1], schema=example.tree.schema)
    path = reduced_error(example.tree, validation=held_out)
    path.pruned.check()
    assert 0 <= path.validation[1] <= path.validation[0] <= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ties": "maybe"}, "ties is 'maybe'"),
        ({"unreached": True}, "unreached is True"),
        ({"significance": 0.0}, "significance is 0.0"),
        ({"significance": 1.0}, "significance is 1.0"),
        ({"significance": float("nan")}, "significance is nan"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], message: str) -> None:
    example = case(0)
    with pytest.raises(ValueError, match=message):
        reduced_error(example.tree, validation=example.validation, **options)


def test_significance_refuses_what_it_cannot_count() -> None:
    numbers, parts = case(0, classes=0), case(0, weights="parts")
    with pytest.raises(ValueError, match="classes of one target"):
        reduced_error(numbers.tree, validation=numbers.validation, significance=0.05)
    with pytest.raises(ValueError, match="row 0 of validation has weight"):
        reduced_error(parts.tree, validation=parts.validation, significance=0.05)
    plain = case(0)
    with pytest.raises(ValueError, match="cost"):
        reduced_error(plain.tree.with_costs([[0, 1], [5, 0]]), validation=plain.validation, significance=0.05)
    many = encode({"x": np.arange(300.0)}, np.arange(300))
    with pytest.raises(ValueError, match="up to 256 classes"):
        reduced_error(grow(many, max_leaf_nodes=5), validation=many.take([3]), significance=0.05)


def test_many_classes_and_several_targets() -> None:
    many = encode({"x": np.arange(600.0)}, np.arange(600) // 2)
    tree = grow(many, max_leaf_nodes=300)
    path = reduced_error(tree, validation=many.take(np.arange(0, 100)))
    assert path.leaves[1] < 300
    assert path.validation[1] == path.validation[0]
    two = encode({"x": [1, 2, 3, 4]}, [["a", "a"], ["a", "b"], ["b", "b"], ["b", "a"]])
    twofold = grow(two)
    held_out = encode(
        {"x": [1, 2, 3, 4]}, [["a", "a"], ["a", "a"], ["b", "b"], ["b", "b"]], schema=two.schema
    )
    assert reduced_error(twofold, validation=held_out).pruned.predict({"x": [1, 4]})[:, 0].tolist() == [
        "a",
        "b",
    ]


def test_a_single_leaf_stays() -> None:
    example = one_leaf()
    path = reduced_error(example.tree, validation=example.validation)
    assert path.leaves.tolist() == [1, 1]
    assert path.pruned == example.tree


@pytest.mark.slow
@pytest.mark.parametrize("significance", [None, 0.05])
def test_depth_of_100_000(significance: float | None) -> None:
    tree = chain()
    rows = rows_of_the_chain()
    assert reduced_error(tree, validation=rows.take([0, 1, 5]), significance=significance).pruned.depth <= 6


def test_the_rows_of_the_tree_do_not_judge_it() -> None:
    example = case(0)
    with pytest.raises(ValueError, match="a row grows the tree or judges it, not both"):
        prune(example.tree, "pessimistic", data=example.data, validation=example.data)
    assert prune(example.tree, "pessimistic", data=example.data, validation=example.validation).leaves[0] > 1
