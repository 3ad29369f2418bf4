"""Pruning by a bound: against the book's procedure with whole trees, and what a bound must not do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pruning.cases import random_tree
from tests.tree.test_costs import COSTS, problem
from treewright import Below, Branch, Leaf, Tree, encode, grow, prune
from treewright.certifying import BOUNDS as NAMED
from treewright.certifying import certify
from treewright.datasets import load_spam
from treewright.encoding import Dataset


def naive(tree: Tree, data: Dataset, f: Any, raising: bool) -> Tree:
    """From the last node to the first, the best of all candidates as whole trees; the smaller of equals."""

    def worth(candidate: Tree) -> tuple[float, int]:
        weight = float(tree.weight[0]) * len(tree.schema.targets)
        errors = candidate.loss[candidate.is_leaf].sum()
        return f(errors / weight, candidate.n_nodes, int(tree.rows[0])), candidate.n_nodes

    for node in range(tree.n_nodes - 1, -1, -1):
        if node >= tree.n_nodes or tree.is_leaf[node]:
            continue
        candidates = [tree, tree.collapse([node])]
        children = [child for child in (tree.left[node], tree.right[node]) if not tree.is_leaf[child]]
        candidates += [tree.graft({node: child}, data) for child in children if raising]
        values = [worth(candidate) for candidate in candidates]
        tree = candidates[min(range(len(values)), key=lambda i: (round(values[i][0], 12), values[i][1]))]
    return tree


BOUNDS = [
    lambda error, nodes, rows: error + np.sqrt(nodes / rows) / 4,
    lambda error, nodes, rows: error + 0.004 * nodes,
    lambda error, nodes, rows: error + np.sqrt(((nodes + 1) * np.log2(5) + np.log(40)) / 2 / rows),
    lambda error, nodes, rows: error * rows + nodes / 3,
]


@pytest.mark.slow
@pytest.mark.parametrize("which", range(len(BOUNDS)))
@given(seed=st.integers(0, 2**20), raising=st.booleans(), costs=st.booleans(), weighted=st.booleans())
def test_the_procedure_of_the_book(which: int, seed: int, raising: bool, costs: bool, weighted: bool) -> None:
    data = problem(seed, n=120, weighted=weighted)
    tree = grow(data)
    tree = tree.with_costs(COSTS) if costs else tree
    path = prune(tree, "bound", data=data, f=BOUNDS[which], raising=raising)
    path.pruned.check()
    expected = naive(tree, data, BOUNDS[which], raising)
    assert path.pruned == expected
    first, last = path.details["bound"]
    assert last <= first + 1e-12
    error = expected.loss[expected.is_leaf].sum() / tree.weight[0]
    assert last == pytest.approx(BOUNDS[which](error, expected.n_nodes, int(tree.rows[0])))


def with_missing(seed: int, several: bool) -> Dataset:
    """Three columns, of which two miss values; one target or two."""
    rng = np.random.default_rng(seed)
    x, z = rng.integers(0, 6, (2, 120)).astype(float)
    job = rng.choice(["clerk", "cook", "pilot"], 120).astype(object)
    y = ((x > 2).astype(int) + (z > 3) + (rng.random(120) < 0.3)) % 3
    x[rng.random(120) < 0.25] = np.nan
    job[rng.random(120) < 0.2] = None
    target = np.column_stack([rng.integers(0, 2, 120), y]) if several else y
    return encode({"x": x, "z": z, "job": job}, target, classes=True)


@pytest.mark.slow
@given(seed=st.integers(0, 2**20), several=st.booleans(), price=st.sampled_from([0.01, 0.003, 0.001]))
def test_subtrees_that_rise_again(seed: int, several: bool, price: float) -> None:
    """Rows that one raised subtree took over are sent on by the next, those with missing values, too; in
    trees of random tests, where that is common.
    """
    data = with_missing(seed, several)
    tree = random_tree(seed, data)

    def f(error: float, nodes: int, rows: float) -> float:
        return error + price * nodes

    path = prune(tree, "bound", data=data, f=f)
    assert path.pruned == naive(tree, data, f, raising=True)
    again = prune(path.pruned, "bound", data=data, f=f)
    assert path.details["bound"][1] == pytest.approx(again.details["bound"][0], rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("f", ["mdl", "occam", "pac_bayes", "vc", "compression", "occam_hoeffding"])
@pytest.mark.parametrize("raising", [True, False])
def test_the_bound_told_is_that_of_the_pruned_tree(f: str, raising: bool) -> None:
    """Whatever rose or was cut: the pruned tree by itself has the bound that is told of it."""
    cut = 0
    for seed in range(12):
        data = with_missing(seed, several=False)
        tree = random_tree(seed, data)
        path = prune(tree, "bound", data=data, f=f, raising=raising)
        again = prune(path.pruned, "bound", data=data, f=f, raising=raising)
        assert path.details["bound"][1] == pytest.approx(again.details["bound"][0], rel=1e-12)
        cut += path.pruned.n_nodes < tree.n_nodes
    assert cut


@pytest.mark.parametrize("f", ["mdl", "compression", "vc"])
@pytest.mark.parametrize("costs", [False, True])
@pytest.mark.parametrize("delta", [0.05, 0.9])
def test_named_bounds_of_three_classes(f: str, costs: bool, delta: float) -> None:
    """What a name stands for: all of it known from errors, nodes and rows where bits are not asked for."""
    rng = np.random.default_rng(6)
    x = rng.integers(0, 12, (2000, 3)).astype(float)
    y = np.where(rng.random(2000) < 0.7, (x[:, 0] > 5).astype(int) + (x[:, 1] > 7), rng.integers(0, 3, 2000))
    data = encode(x, y)
    tree = grow(data, max_leaf_nodes=20)
    if costs:
        tree = tree.with_costs(COSTS)
    dearest = np.max(COSTS) if costs else 1.0

    def written_out(error: float, nodes: int, rows: float) -> float:
        size = {"leaves": (nodes + 1) // 2, "columns": 3, "classes": 3}
        lost = error * rows / dearest
        return float(NAMED[f](lost, rows, **size, delta=delta, whole=not costs))

    if f == "vc" and costs:
        with pytest.raises(ValueError, match="right or wrong"):
            prune(tree, "bound", data=data, f=f, delta=delta)
        return
    path, expected = (prune(tree, "bound", data=data, f=each, delta=delta) for each in (f, written_out))
    assert path.pruned == expected.pruned
    before, after = np.divide(path.details["bound"], expected.details["bound"])
    assert before == pytest.approx(after, rel=1e-12)  # the same in any unit of cost
    assert len(set(path.details["bound"])) == 2


@pytest.mark.parametrize("missing", [False, True])
def test_directions_are_paid_for_where_values_were_missing(missing: bool) -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 50, (1500, 3)) / 10
    y = (x[:, 0] > 2.5) ^ (x[:, 1] > 4) ^ (rng.random(1500) < 0.1)
    if missing:
        x[rng.random(x.shape) < 0.02] = np.nan
    data = encode(x, y)
    path = prune(grow(data, max_leaf_nodes=30), "bound", data=data, f="occam")
    found = certify(path.pruned, "occam", data=data)
    assert ("missing" in found.breakdown) == missing
    assert path.details["bound"][1] == pytest.approx(found.value, rel=1e-12)


@pytest.mark.slow
def test_a_subtree_raised_inside_one_that_goes() -> None:
    """What was raised below a node that is collapsed later, or left behind by another, is forgotten."""
    spam = load_spam()
    data = encode(spam.table(~spam.is_test), spam.target[~spam.is_test])
    tree = grow(data, criterion="entropy")
    path = prune(tree, "bound", data=data, f="occam")
    path.pruned.check()
    assert path.details["bound"][1] == pytest.approx(certify(path.pruned, "occam", data=data).value, abs=1e-9)


@pytest.mark.slow
def test_subtrees_are_raised() -> None:
    """Somewhere a raised subtree beats both the leaf and the branch: the candidates are not idle."""
    raised = 0
    for seed in range(40):
        data = problem(seed, n=80)
        tree = grow(data)
        pruned = prune(tree, "bound", data=data, f=BOUNDS[1]).pruned
        only_cut = prune(tree, "bound", data=data, f=BOUNDS[1], raising=False).pruned
        raised += pruned != only_cut
    assert raised >= 5


@pytest.mark.parametrize("f", ["mdl", "occam", "pac_bayes", "vc", "compression", "occam_hoeffding"])
def test_named_bounds_are_the_certificates(f: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 50, (1500, 3)) / 10
    y = (x[:, 0] > 2.5) ^ (x[:, 1] > 4) ^ (rng.random(1500) < 0.1)
    data = encode(x, y)
    tree = grow(data)
    path = prune(tree, "bound", data=data, f=f)
    assert 1 < path.pruned.n_leaves < tree.n_leaves / 4
    if f != "mdl":  # a certificate by mdl also pays for its thresholds, which the book's bound does not
        found = certify(path.pruned, f, data=data)
        assert path.details["bound"][1] == pytest.approx(
            found.value, abs=1e-2 if f in ("vc", "compression") else 1e-9
        )
    assert path.details["bound"][1] < path.details["bound"][0]


@pytest.mark.parametrize("f", ["occam", "pac_bayes", "occam_hoeffding"])
@pytest.mark.parametrize("kind", ["two targets", "costs", "weight of a thousandth"])
def test_a_row_is_one_draw(kind: str, f: str) -> None:
    """Two targets do not make two draws of a row, nor does its weight make it more or less than one."""
    rng = np.random.default_rng(2)
    x = rng.integers(0, 40, (500, 3)) / 10
    y = (x[:, :2] > 2) ^ (rng.random((500, 2)) < 0.1)
    weight = np.full(500, 1e-3) if kind == "weight of a thousandth" else None
    data = encode(x, y.astype(int) if kind == "two targets" else y[:, 0], weight=weight, classes=True)
    tree = grow(data)
    if kind == "costs":
        tree = tree.with_costs([[0, 1], [4, 0]])
    path = prune(tree, "bound", data=data, f=f)
    assert path.pruned.n_leaves < tree.n_leaves / 4
    assert path.details["bound"][1] == pytest.approx(certify(path.pruned, f, data=data).value, rel=1e-9)


def test_bad_bounds() -> None:
    data = problem(3)
    tree = grow(data)
    for f, kind, message in (
        (lambda *_: float("nan"), ValueError, "f is not a number for a tree of"),
        (lambda *_: "low", TypeError, "f returned 'low'"),
        ("occams", ValueError, "f='occams' is unknown; known: .*occam"),
    ):
        with pytest.raises(kind, match=message):
            prune(tree, "bound", data=data, f=f)
    for delta in (0.0, 1.0, -1, float("nan")):
        with pytest.raises(ValueError, match="delta"):
            prune(tree, "bound", data=data, delta=delta)
    with pytest.raises(ValueError, match="needs data="):
        prune(tree, "bound")
    with pytest.raises(ValueError, match="predicts numbers"):
        prune(grow(encode([[1.0], [2.0]], [1.5, 2.5])), "bound", raising=False)
    with pytest.raises(ValueError, match="no rows"):
        prune(tree, "bound", data=data.take([]))
    with pytest.raises(ValueError, match="rows that the tree was grown from"):
        prune(tree, "bound", data=data.take(slice(1, None)))


def test_a_single_leaf() -> None:
    data = encode([[1.0], [1.0]], ["a", "b"])
    assert prune(grow(data), "bound", data=data).pruned.n_leaves == 1


def test_the_smaller_of_equal_trees_wins() -> None:
    """A subtree that can rise without an error more makes a smaller tree of the same bound."""
    data = encode([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]] * 5, ["a", "b", "a", "a"] * 5)
    below, right = Branch(Below("x1", 0.5), Leaf([5, 0]), Leaf([0, 5])), Leaf([10, 0])
    tree = Tree.write(data.schema, Branch(Below("x0", 0.5), below, right))
    path = prune(tree, "bound", data=data, f=lambda error, nodes, rows: error)
    assert path.pruned.n_leaves == 2
    assert path.pruned.loss[path.pruned.is_leaf].sum() == 0
