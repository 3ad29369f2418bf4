"""What mistakes cost: answers of least cost, losses against sums over rows, files that keep the costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright import Below, Branch, Column, Leaf, Schema, Target, Tree, encode, grow, load, prune
from treewright.encoding import Dataset
from treewright.parameters import Costs
from treewright.tree.evaluate import squared_losses

COSTS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 0.5], [1.0, 4.0, 0.0]])


def problem(seed: int, n: int = 60, weighted: bool = False) -> Dataset:
    rng = np.random.default_rng(seed)
    table = {"x": rng.integers(0, 5, n).astype(float), "k": rng.choice(["u", "v", "w"], n)}
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    return encode(table, np.append(np.arange(3), rng.integers(0, 3, n - 3)), weight=weight)


def passing(tree: Tree, data: Dataset) -> list[list[int]]:
    """For each node the rows that pass it."""
    rows: list[list[int]] = [[] for _ in range(tree.n_nodes)]
    for row, leaf in enumerate(tree.apply(data).tolist()):
        node = leaf
        while node >= 0:
            rows[node].append(row)
            node = int(tree.parent[node])
    return rows


@given(seed=st.integers(0, 2**20), weighted=st.booleans(), prior=st.booleans())
def test_losses_are_sums_over_rows(seed: int, weighted: bool, prior: bool) -> None:
    data, other = problem(seed, weighted=weighted), problem(seed + 1, weighted=weighted)
    priors = [0.2, 0.3, 0.5] if prior else None
    tree = grow(data, max_leaf_nodes=6).with_costs(COSTS, priors)
    tree.check()
    costs = COSTS
    if prior:
        shares = np.asarray(tree.statistic[0]) / np.asarray(tree.statistic[0]).sum()
        costs = COSTS * (np.array(priors) / shares)[:, np.newaxis]
    for rows, found in ((data, tree.loss), (other, tree.loss_of(other))):
        weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
        assert rows.targets is not None
        for node, here in enumerate(passing(tree, rows)):
            answer = tree.label[node, 0]
            expected = sum(weight[i] * costs[rows.targets[0, i], answer] for i in here)
            assert found[node] == pytest.approx(expected, rel=1e-12)
            if rows is data:  # no other answer is cheaper
                for label in range(3):
                    cost = sum(weight[i] * costs[rows.targets[0, i], label] for i in here)
                    assert cost >= expected - 1e-9


@given(st.lists(st.integers(1, 9), min_size=3, max_size=3))
def test_expected_losses_of_the_altered_priors(counts: list[int]) -> None:
    """L and π of rpart's test case: the answers at the root cost 1.1, 0.9 and 2.2 per row, whatever the
    classes of the rows are like.
    """
    data = encode(np.zeros((sum(counts), 1)), np.repeat([1, 2, 3], counts), classes=True)
    tree = grow(data).with_costs([[0, 2, 2], [2, 0, 6], [1, 1, 0]], priors=[0.2, 0.3, 0.5])
    costs = np.array(tree.schema.targets[0].costs)
    each = np.asarray(tree.statistic[0]) @ costs / sum(counts)
    assert each.tolist() == pytest.approx([1.1, 0.9, 2.2], rel=1e-12)
    assert tree.label[0, 0] == 1
    assert tree.loss[0] / sum(counts) == pytest.approx(0.9, rel=1e-12)


@given(seed=st.integers(0, 2**20))
def test_a_split_never_loses_more(seed: int) -> None:
    """Err_cost(t) >= sum of the children's, with equality iff the answer is optimal in every child."""
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 5, (3, 3)).astype(float) + 0.25
    np.fill_diagonal(costs, 0.0)
    tree = grow(problem(seed), max_leaf_nodes=8).with_costs(costs)
    inner = np.flatnonzero(~tree.is_leaf)
    excess = tree.loss[inner] - tree.loss[tree.left[inner]] - tree.loss[tree.right[inner]]
    assert (excess >= -1e-9).all()
    for node, more in zip(inner, excess, strict=True):
        expected = np.asarray(tree.statistic[[tree.left[node], tree.right[node]]]) @ costs
        optimal = (expected[:, tree.label[node, 0]] <= expected.min(axis=1) + 1e-9).all()
        assert bool(optimal) == (abs(more) < 1e-9)


def test_squares_are_sums_over_rows() -> None:
    data, other = problem(3), problem(4, weighted=True)
    for tree in (grow(data).with_costs(COSTS), grow(data)):
        found = squared_losses(tree, other)
        assert other.targets is not None
        assert other.weight is not None
        matrix = COSTS if tree.schema.has_costs else 1 - np.eye(3)
        for node, here in enumerate(passing(tree, other)):
            loss = [matrix[other.targets[0, i], tree.label[node, 0]] for i in here]
            assert found[node] == pytest.approx(sum(other.weight[here] * np.square(loss)))


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_losses_of_numbers_are_those_of_the_criterion(criterion: str) -> None:
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 9, (80, 2)).astype(float), rng.integers(1, 20, 80).astype(float)
    data, other = encode(x[:50], y[:50]), encode(x[50:], y[50:])
    tree = grow(data, criterion=criterion, max_leaf_nodes=7)
    functions: dict[str, Any] = {
        "squared_error": lambda y, v: (y - v) ** 2,
        "absolute_error": lambda y, v: abs(y - v),
        "poisson": lambda y, v: y * np.log(y / v) - y + v,
    }
    for rows, found, squares in (
        (data, tree.loss, None),
        (other, tree.loss_of(other), squared_losses(tree, other)),
    ):
        assert rows.targets is not None
        for node, here in enumerate(passing(tree, rows)):
            losses = [functions[criterion](rows.targets[0, i], tree.value[node, 0]) for i in here]
            assert found[node] == pytest.approx(sum(losses), rel=1e-9, abs=1e-9)
            if squares is not None:
                assert squares[node] == pytest.approx(np.square(losses).sum(), rel=1e-9)


def test_several_targets_add_up() -> None:
    rng = np.random.default_rng(6)
    x, y = rng.integers(0, 4, (40, 2)).astype(float), rng.integers(0, 2, (40, 2))
    data = encode(x, y)
    tree = grow(data, max_leaf_nodes=4)
    wrong = (np.asarray(tree.predict(x)) != y).sum()
    assert tree.loss_of(data)[tree.is_leaf].sum() == wrong == tree.loss[tree.is_leaf].sum()
    assert tree.mean(float(wrong)) == pytest.approx((np.asarray(tree.predict(x)) != y).mean())


def test_costs_are_kept_in_files(tmp_path: Path) -> None:
    tree = grow(problem(1)).with_costs(COSTS, [0.5, 0.25, 0.25])
    tree.save(tmp_path / "tree.json")
    again = load(tmp_path / "tree.json")
    assert again == tree
    assert again.schema.targets[0].costs == tree.schema.targets[0].costs
    assert '"version": 5' in (tmp_path / "tree.json").read_text()


def test_a_dict_names_the_classes() -> None:
    tree = grow(encode({"x": [1.0, 1.0, 1.0, 2.0]}, ["b", "b", "a", "c"]))
    named = tree.with_costs({"a": {"b": 7}, "c": {"a": 0}})
    assert named.schema.targets[0].costs == ((0.0, 7.0, 1.0), (1.0, 0.0, 1.0), (0.0, 1.0, 0.0))
    by_name = tree.with_costs(priors={"c": 0.2, "a": 0.5, "b": 0.3})
    assert by_name.schema == tree.with_costs(priors=[0.5, 0.3, 0.2]).schema


@pytest.mark.parametrize(
    ("costs", "priors", "message"),
    [
        (np.zeros((2, 3)), None, r"shape \(2, 3\); for the 3 classes of 'y' it must be \(3, 3\)"),
        (np.ones((3, 3)), None, "zeros on its diagonal"),
        (np.zeros((3, 3)), None, "all zeros"),
        (-COSTS, None, "at least 0"),
        (COSTS * np.nan, None, "finite"),
        ([["a"]], None, "3 × 3 numbers"),
        ({9: {0: 1}}, None, "costs name the class 9"),
        ({0: {9: 1}}, None, "class 9"),
        ({0: {1: "much"}}, None, r"costs\[0\]\[1\] is 'much'"),
        ({0: {1: None}}, None, "finite"),
        ({0: {1: [1, 2]}}, None, "must be a number"),
        ({0: 3}, None, "must be a dict of costs"),
        (None, [0.5, 0.5], "one number for each of 3 classes"),
        (None, [0, 0, 0], "add up to 0; as shares of all rows they must add up to 1"),
        (None, [2, 3, 5], "add up to 10"),
        (None, [0.2, 0.3, 0.50001], "add up to 1.00001"),
        (None, [0.5, 0.7, -0.2], "at least 0"),
        (None, [0.5, np.nan, 0.5], "finite"),
        (None, [0.5, 0.5, 0.0], "class 2 a share of 0, but there are rows of it"),
        (None, {0: 1}, "every class once"),
        (None, "even", "3 numbers, one for each class"),
    ],
)
def test_wrong_costs_are_refused(costs: Any, priors: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        grow(problem(2)).with_costs(costs, priors)
    with pytest.raises(ValueError, match=message):
        grow(problem(2), costs=Costs(costs, priors=priors))


def test_costs_need_the_classes_of_one_target() -> None:
    with pytest.raises(ValueError, match="one target"):
        grow(encode([[1.0], [2.0]], [1.5, 2.5])).with_costs(None)
    wide = Schema((Column("x"),), (Target("y", tuple(range(300))),))
    with pytest.raises(ValueError, match="up to 256 classes"):
        Tree.write(wide, Leaf([1.0] * 300)).with_costs(None, [1.0] * 300)


@pytest.mark.parametrize(
    "costs", [((0.0, 1.0),), ((0.0, 1.0), (1.0, 0.5)), ((0.0, -1.0), (1.0, 0.0)), ((0, 1), (1, 0))]
)
def test_a_tree_with_odd_costs_is_no_tree(costs: Any) -> None:
    schema = Schema((Column("x"),), (Target("y", ("a", "b"), costs),))
    with pytest.raises(ValueError, match="costs of target 'y'"):
        Tree.write(schema, Leaf([1, 2]))


def test_priors_name_the_classes() -> None:
    """Those of every class, and of no other."""
    tree = grow(problem(2), max_leaf_nodes=6)
    names = tree.schema.targets[0].classes or ()
    shares = tree.with_costs(COSTS, [0.2, 0.3, 0.5])
    told = dict(zip(names, [0.2, 0.3, 0.5], strict=True))
    assert tree.with_costs(COSTS, told).schema == shares.schema
    by_prune = prune(tree, costs=Costs(priors=[0.2, 0.3, 0.5])).full_tree
    assert by_prune.schema == tree.with_costs(None, told).schema
    for wrong in ({**told, "other": 0.1}, {names[0]: 1.0}):
        with pytest.raises(ValueError, match="priors must name every class once"):
            tree.with_costs(COSTS, wrong)


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson", "squared_error"])
def test_losses_of_weighted_numbers(criterion: Any) -> None:
    """Row by row at every node, the squares of the losses as well."""
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 9, (2, 50)).astype(float)
    weight = rng.integers(0, 4, 50).astype(float)
    tree = grow(encode({"x": x[:25]}, y[:25] + 1), criterion=criterion, max_leaf_nodes=5)
    data = encode({"x": x}, y, weight=weight, schema=tree.schema)
    for node, rows in enumerate(passing(tree, data)):
        value, numbers = tree.value[node, 0], y[rows]
        lost = np.abs(numbers - value) ** (2 if criterion == "squared_error" else 1)
        if criterion == "poisson":
            lost = numbers * np.log(np.where(numbers > 0, numbers, 1) / value) * (numbers > 0)
            lost = lost - numbers + value
        assert tree.loss_of(data)[node] == pytest.approx((weight[rows] * lost).sum())
        assert squared_losses(tree, data)[node] == pytest.approx((weight[rows] * lost**2).sum())


def test_squares_of_losses_of_several_targets() -> None:
    """A row loses the number of its targets that are answered wrongly."""
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 6, (40, 1)).astype(float), rng.integers(0, 2, (40, 3))
    weight = rng.integers(1, 4, 40).astype(float)
    tree = grow(encode(x[:20], y[:20], classes=True), max_leaf_nodes=4)
    data = encode(x, y, weight=weight, schema=tree.schema)
    for node, rows in enumerate(passing(tree, data)):
        wrong = (tree.label[node] != data.targets[:, rows].T).sum(axis=1)
        assert tree.loss_of(data)[node] == pytest.approx((weight[rows] * wrong).sum())
        assert squared_losses(tree, data)[node] == pytest.approx((weight[rows] * wrong**2).sum())


def test_an_answer_of_zero_to_a_positive_number_is_infinitely_wrong() -> None:
    schema = Schema((Column("x"),), (Target("y"),))
    root = Branch(Below("x", 0.5), Leaf([2.0, 0.0, 0.0]), Leaf([2.0, 3.5, 0.1]))
    tree = Tree.write(schema, root, criterion="poisson")
    right, wrong = (encode({"x": [0.0]}, [y], schema=schema) for y in (0.0, 2.0))
    assert tree.loss_of(right)[1] == 0
    assert tree.loss_of(wrong)[1] == np.inf
    assert np.isfinite(tree.loss_of(wrong)[0])
