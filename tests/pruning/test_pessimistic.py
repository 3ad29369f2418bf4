"""C4.5's error-based pruning: against a plain recursion over rows, and the numbers of the program."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pruning.cases import (
    case,
    chain,
    check_bad_rows,
    one_leaf,
    random_tree,
    rows_of_the_chain,
    weight_of,
)
from treewright import Among, Below, Branch, Column, Dataset, Leaf, Schema, Target, Tree, encode, grow, prune
from treewright.pruning import pessimistic as module
from treewright.pruning.pessimistic import pessimistic

DEVIATES = [(0, 4), (0.001, 3.09), (0.005, 2.58), (0.01, 2.33), (0.05, 1.65), (0.1, 1.28), (0.2, 0.84)]
DEVIATES += [(0.4, 0.25), (1, 0)]


def add_errs(n: float, e: float, cf: float) -> float:
    if e < 1e-6:
        return n * (1 - cf ** (1 / n))
    if e < 0.9999:
        none = add_errs(n, 0, cf)
        return none + e * (add_errs(n, 1, cf) - none)
    if e + 0.5 >= n:
        return 0.67 * max(n - e, 0.0)
    place = next(i for i, (p, _) in enumerate(DEVIATES) if p >= cf)
    (p0, d0), (p1, d1) = DEVIATES[place - 1 : place + 1]
    z2 = (d0 + (d1 - d0) * (cf - p0) / (p1 - p0)) ** 2
    upper = (e + 0.5 + z2 / 2 + sqrt(z2 * ((e + 0.5) * (1 - (e + 0.5) / n) + z2 / 4))) / (n + z2)
    return n * upper - e


class Naive:
    """The program's recursion, row by row. A node is a number (a leaf), or a number with left and right."""

    def __init__(self, tree: Tree, data: Dataset, cf: float) -> None:
        self.tree, self.data, self.cf = tree, data, cf

    def node(self, i: int) -> Any:
        return i if self.tree.is_leaf[i] else (i, self.node(i + 1), self.node(int(self.tree.right[i])))

    def passes(self, i: int, row: int) -> bool:
        column = self.data.schema.columns[self.tree.feature[i]]
        cell = self.data.column(int(self.tree.feature[i]))[row]
        if column.kind == "category":
            known = cell >= 0
            passes = known and column.categories[cell] in self.tree.categories_left(i)
        else:
            known = not np.isnan(cell)
            passes = cell <= self.tree.threshold[i]
        return bool(passes if known else self.tree.missing_left[i])

    def leaf_errors(self, rows: list[int]) -> float:
        weight: dict[int, float] = {}
        for row in rows:
            label = int(self.data.targets[0, row])
            weight[label] = weight.get(label, 0.0) + weight_of(self.data, row)
        n = sum(weight.values())
        e = n - max(weight.values())
        return e + add_errs(n, e, self.cf)

    def sides(self, node: Any, rows: list[int]) -> tuple[list[int], list[int]]:
        left = [row for row in rows if self.passes(node[0], row)]
        return left, [row for row in rows if not self.passes(node[0], row)]

    def estimated(self, node: Any, rows: list[int]) -> float:
        if isinstance(node, int):
            return self.leaf_errors(rows)
        left, right = self.sides(node, rows)
        return self.estimated(node[1], left) + self.estimated(node[2], right)

    def pruned(self, node: Any, rows: list[int], raising: bool) -> tuple[Any, float]:
        """What becomes of a node, and its estimate."""
        leaf = self.leaf_errors(rows)
        if isinstance(node, int):
            return node, leaf
        left, right = self.sides(node, rows)
        first, first_errors = self.pruned(node[1], left, raising)
        second, second_errors = self.pruned(node[2], right, raising)
        subtree = first_errors + second_errors
        heavier = sum(weight_of(self.data, i) for i in left) >= sum(weight_of(self.data, i) for i in right)
        child = first if heavier else second
        raised = self.estimated(child, rows) if raising else np.inf
        if leaf <= raised + 0.1 and leaf <= subtree + 0.1:
            return node[0], leaf
        if raised <= subtree + 0.1:
            return self.pruned(child, rows, raising)
        return (node[0], first, second), subtree

    def check(self, node: Any, rows: list[int], tree: Tree, i: int = 0) -> int:
        """The tree has the shape, the tests and the rows of a node; where its part ends."""
        counts = np.zeros(tree.schema.width)
        for row in rows:
            counts[self.data.targets[0, row]] += weight_of(self.data, row)
        np.testing.assert_allclose(tree.statistic[i], counts)
        assert tree.rows[i] == len(rows)
        if isinstance(node, int):
            assert tree.is_leaf[i]
            return i + 1
        assert tree.test(i) == self.tree.test(node[0])
        left, right = self.sides(node, rows)
        return self.check(node[2], right, tree, self.check(node[1], left, tree, i + 1))


@pytest.mark.slow
@given(
    st.integers(0, 2**20),
    st.sampled_from([2, 3]),
    st.sampled_from([None, "whole", "parts"]),
    st.booleans(),
    st.sampled_from([0.05, 0.25, 0.25, 0.6, 1.0]),
    st.booleans(),
    st.sampled_from([1, 2, 1000]),
)
def test_the_recursion_of_the_program(
    seed: int, classes: int, weights: str | None, mixed: bool, cf: float, raising: bool, trial: int
) -> None:
    """The same tree, however many rows a larger child is tried on at first."""
    example = case(seed, classes=classes, weights=weights, mixed=mixed)
    naive = Naive(example.tree, example.data, cf)
    rows = [i for i in range(example.data.n_rows) if weight_of(example.data, i) > 0]
    expected, errors = naive.pruned(naive.node(0), rows, raising)
    usual, module.TRIAL = module.TRIAL, trial
    try:
        path = pessimistic(example.tree, data=example.data, confidence=cf, raising=raising)
    finally:
        module.TRIAL = usual
    path.pruned.check()
    naive.check(expected, rows, path.pruned)
    assert path.details["estimate"] * example.tree.weight[0] == pytest.approx(errors)
    if not path.details["raised"]:
        np.testing.assert_array_equal(path.pruned.statistic[0], example.tree.statistic[0])


@pytest.mark.slow
@settings(max_examples=150)
@given(
    st.integers(0, 2**20),
    st.sampled_from([2, 3]),
    st.sampled_from([None, "whole", "parts"]),
    st.booleans(),
    st.sampled_from([0.05, 0.25, 0.6]),
    st.sampled_from([1, 2, 1000]),
)
def test_the_recursion_in_trees_of_random_tests(
    seed: int, classes: int, weights: str | None, is_matrix: bool, cf: float, trial: int
) -> None:
    """Branches rise again and again, leaves win and lose against the larger child, and values are missing."""
    data = case(seed, classes=classes, weights=weights, mixed=True).data
    if is_matrix:
        matrix = np.column_stack([data.columns[0], data.columns[1]])
        data = encode(matrix, data.targets[0], weight=data.weight, classes=True)
    tree = random_tree(seed, data)
    naive = Naive(tree, data, cf)
    rows = [i for i in range(data.n_rows) if weight_of(data, i) > 0]
    expected, errors = naive.pruned(naive.node(0), rows, True)
    usual, module.TRIAL = module.TRIAL, trial
    try:
        path = pessimistic(tree, data=data, confidence=cf)
    finally:
        module.TRIAL = usual
    path.pruned.check()
    naive.check(expected, rows, path.pruned)
    assert path.details["estimate"] * tree.weight[0] == pytest.approx(errors)


def feared(tree: Tree, confidence: float) -> float:
    """The share of errors to fear of a tree, from the class weights of its own leaves."""
    leaves = np.asarray(tree.statistic)[tree.is_leaf]
    sizes = [(float(counts.sum()), float(counts.sum() - counts.max())) for counts in leaves if counts.any()]
    return sum(e + add_errs(n, e, confidence) for n, e in sizes) / float(leaves.sum())


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["learn", "fractional"])
def test_the_estimate_is_that_of_the_pruned_tree(missing: Any) -> None:
    """With raising and without, also where a branch has taken the place of the root."""
    at_the_root = 0
    for seed in range(40):
        data = case(seed, classes=3, mixed=missing == "learn").data
        tree = random_tree(seed, data).with_missing(missing)
        for raising in (True, False):
            path = pessimistic(tree, data=data, raising=raising)
            assert path.details["estimate"] == pytest.approx(feared(path.pruned, 0.25), rel=1e-9)
            at_the_root += path.pruned.n_nodes > 1 and path.pruned.test(0) != tree.test(0)
    assert at_the_root >= 5


@pytest.mark.slow
def test_branches_do_rise_in_these_trees() -> None:
    """The comparison above is about something: in many cases branches rise, and some rise again."""
    raised = [
        pessimistic((example := case(seed, mixed=True)).tree, data=example.data).details["raised"]
        for seed in range(40)
    ]
    assert sum(count > 0 for count in raised) >= 10
    assert max(raised) >= 2


def test_the_subtree_of_the_book() -> None:
    """Leaves of 6, 9 and 1 rows without an error: 3.2726 errors to fear; one leaf with one error: 2.5069."""
    schema = Schema((Column("x"),), (Target("y", ("democrat", "republican")),))
    inner = Branch(Below("x", 2), Leaf([9, 0]), Leaf([0, 1]))
    tree = Tree.write(schema, Branch(Below("x", 1), Leaf([6, 0]), inner))
    assert sum(add_errs(n, 0, 0.25) for n in (6, 9, 1)) == pytest.approx(3.2726, abs=1e-3)
    path = pessimistic(tree, raising=False)
    assert path.pruned.n_leaves == 1
    assert path.details["estimate"] * 16 == pytest.approx(2.5069, abs=1e-4)


def test_golf() -> None:
    """The program's tree, its three branches as two tests in a row: nothing is pruned, 38.5 % to fear."""
    columns = (Column("outlook", "category", ("overcast", "rain", "sunny")), Column("humidity"))
    columns += (Column("windy", "category", ("false", "true")),)
    schema = Schema(columns, (Target("class", ("Don't Play", "Play")),))
    sunny = Branch(Below("humidity", 75), Leaf([0, 2]), Leaf([3, 0]))
    rain = Branch(Among("windy", ("true",)), Leaf([2, 0]), Leaf([0, 3]))
    others = Branch(Among("outlook", ("sunny",)), sunny, rain)
    tree = Tree.write(schema, Branch(Among("outlook", ("overcast",)), Leaf([0, 4]), others))
    outlook = ["overcast"] * 4 + ["sunny"] * 5 + ["rain"] * 5
    humidity = [78, 65, 90, 75, 70, 70, 85, 90, 95, 70, 80, 96, 80, 80]
    windy = ["false", "true", "true", "false", "false", "true", "false", "true", "false"]
    windy += ["true"] * 2 + ["false"] * 3
    play = ["Play"] * 6 + ["Don't Play"] * 5 + ["Play"] * 3
    table = {"outlook": outlook, "humidity": humidity, "windy": windy}
    path = pessimistic(tree, data=encode(table, play, schema=schema))
    assert path.pruned == tree
    assert path.details["estimate"] == pytest.approx(0.385, abs=5e-4)


@given(st.integers(0, 2**20))
def test_laws(seed: int) -> None:
    """Without confidence in anything all goes; with all confidence only what gains nothing."""
    example = case(seed)
    tree = example.tree
    sizes = [pessimistic(tree, confidence=cf, raising=False).pruned.n_leaves for cf in (1.0, 0.5, 0.1, 0.001)]
    assert sizes[0] >= sizes[-1]
    path = pessimistic(tree, data=example.data)
    assert path.details["estimate"] >= path.training[1]
    assert path.full_tree is tree
    np.testing.assert_array_equal(path.pruned.statistic[0], tree.statistic[0])


# ---- what is refused ---------------------------------------------------------------------------


def test_rows_that_cannot_be_used() -> None:
    example = case(0)
    check_bad_rows("data", example.tree, example.data, pessimistic)
    with pytest.raises(ValueError, match="needs data="):
        prune(example.tree, "pessimistic")
    with pytest.raises(ValueError, match="must be the rows that the tree was grown from"):
        pessimistic(example.tree, data=example.validation)


@pytest.mark.parametrize("confidence", [0.0, -0.25, 1.5, float("nan")])
def test_confidence_out_of_range(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence is"):
        pessimistic(case(0).tree, raising=False, confidence=confidence)


def test_what_it_is_not_for() -> None:
    numbers, plain = case(0, classes=0), case(0)
    with pytest.raises(ValueError, match="classes of one target"):
        pessimistic(numbers.tree, data=numbers.data)
    with pytest.raises(ValueError, match="cost"):
        pessimistic(plain.tree.with_costs([[0, 1], [5, 0]]), data=plain.data)
    many = encode({"x": np.arange(300.0)}, np.arange(300))
    tree = grow(many, max_leaf_nodes=5)
    with pytest.raises(ValueError, match="raising=False"):
        pessimistic(tree, data=many)
    assert pessimistic(tree, raising=False).pruned.n_leaves <= 5


def test_a_single_leaf_stays() -> None:
    example = one_leaf()
    path = pessimistic(example.tree, data=example.data)
    assert path.pruned == example.tree
    assert path.details["estimate"] == pytest.approx(2 * (1 - 0.5) / 2)


@pytest.mark.slow
def test_depth_of_100_000() -> None:
    assert pessimistic(chain(), raising=False).pruned.n_leaves < 10


@pytest.mark.slow
def test_raising_in_a_tree_of_great_depth() -> None:
    depth = 10_000
    path = pessimistic(chain(depth=depth), data=rows_of_the_chain(depth))
    path.pruned.check()
    assert path.pruned.n_leaves < 10
