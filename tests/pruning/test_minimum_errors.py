"""The front of size and errors, structural risk minimisation and the hull: worked numbers, brute force."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shapes import all_prunings
from tests.tree.test_costs import COSTS, problem
from treewright import Below, Branch, Column, Leaf, Schema, Target, Tree, encode, grow, prune
from treewright.encoding import Dataset
from treewright.pruning import cost_complexity_path

SCHEMA = Schema((Column("x"),), (Target("y", ("no", "yes")),))
SPLIT = Below("x", 0.0)


def of_errors(node: list | tuple | int) -> Branch | Leaf:
    """A tree of two classes in which each leaf errs as often as it says, 50 rows in each."""
    if isinstance(node, int):
        return Leaf([50 - node, node])
    return Branch(SPLIT, of_errors(node[0]), of_errors(node[1]))


def with_losses(tree: Tree, losses: list[float]) -> Tree:
    """The tree with other errors at its nodes; a leaf's statistic decides its own."""
    object.__setattr__(tree, "loss", np.array(losses))
    return tree


def test_the_front_of_the_notes() -> None:
    """Root 10, left 4 → (1, 0), right 3 → (0, 1): with 1 to 4 leaves at least 10, 7, 4, 2 errors."""
    shape = Tree.write(SCHEMA, of_errors([[1, 0], [0, 1]]))
    tree = with_losses(shape, [10, 4, 1, 0, 3, 0, 1])
    path = prune(tree, "minimum_errors")
    assert path.leaves.tolist() == [4, 3, 2, 1]
    assert path.level.tolist() == [2, 4, 7, 10]
    assert [prune(tree, "minimum_errors", errors=d).pruned.n_leaves for d in (10, 9, 7, 6, 4, 3, 2)] == [
        1, 2, 2, 3, 3, 4, 4,
    ]  # fmt: skip
    with pytest.raises(ValueError, match="no pruning makes only 1 errors; the least is 2"):
        prune(tree, "minimum_errors", errors=1)


def test_prune_3_of_the_notes() -> None:
    """Root 6, left 2 → (0, 0), right a leaf of 3: with at most 3 errors 5 nodes are needed."""
    tree = with_losses(Tree.write(SCHEMA, of_errors([[0, 0], 3])), [6, 2, 0, 0, 3])
    assert prune(tree, "minimum_errors", errors=3).pruned.n_nodes == 5
    assert prune(tree, "minimum_errors", errors=5).pruned.n_nodes == 3
    assert prune(tree, "minimum_errors", errors=6).pruned.n_nodes == 1


@given(seed=st.integers(0, 2**20), costs=st.booleans(), weighted=st.booleans())
def test_the_front_against_all_prunings(seed: int, costs: bool, weighted: bool) -> None:
    tree = grow(problem(seed, weighted=weighted), max_leaf_nodes=9)
    tree = tree.with_costs(COSTS) if costs else tree
    candidates = all_prunings(tree.end)
    losses = np.array([tree.loss[list(leaves)].sum() for leaves in candidates])
    sizes = np.array([len(leaves) for leaves in candidates])
    path = prune(tree, "minimum_errors")
    for allowed in np.unique(losses):
        place = int(np.searchsorted(path.level, allowed + 1e-9, side="right")) - 1
        assert path.leaves[place] == sizes[losses <= allowed + 1e-9].min()
    for place, pruned in enumerate(path):
        pruned.check()
        assert pruned.n_leaves == path.leaves[place]
        assert pruned.loss[pruned.is_leaf].sum() == pytest.approx(path.level[place])
        assert path.training[place] == pytest.approx(path.level[place] / tree.weight[0])


@given(seed=st.integers(0, 2**20))
def test_losses_of_other_rows(seed: int) -> None:
    tree, other = grow(problem(seed), max_leaf_nodes=12), problem(seed + 1)
    path = prune(tree, "minimum_errors", validation=other)
    assert path.validation is not None
    assert other.targets is not None
    for pruned, loss in zip(path, path.validation, strict=True):
        wrong = pruned.label[pruned.apply(other), 0] != other.targets[0]
        assert loss == pytest.approx(wrong.mean())


def test_a_cap_on_leaves() -> None:
    tree = grow(problem(5, n=300))
    whole, capped = prune(tree, "minimum_errors"), prune(tree, "minimum_errors", max_leaf_nodes=10)
    kept = whole.leaves <= 10
    assert capped.leaves.tolist() == whole.leaves[kept].tolist()
    assert capped.level.tolist() == whole.level[kept].tolist()
    assert pickle.loads(pickle.dumps(capped))[0] == capped[0]
    assert capped.is_open
    assert not prune(tree, "minimum_errors", errors=float(capped.level[0])).is_open
    with pytest.raises(ValueError, match="max_leaf_nodes"):
        prune(tree, "minimum_errors", max_leaf_nodes=0)
    for errors in (float("nan"), -1, "few"):
        with pytest.raises(ValueError, match=f"errors is {errors!r}; it must be a number"):
            prune(tree, "minimum_errors", errors=errors)


PENALTIES = [
    lambda k, m: np.sqrt(k / m),
    lambda k, m: 0.3 * np.sqrt((2 * k - 1) / m),
    lambda k, m: np.sqrt((6 * k + 3) / (2 * m)),
    lambda k, m: 0.05 * np.log1p(k),
    lambda k, m: 0.02 * k,
    lambda k, m: np.minimum(0.1 * k, 0.25),
]


@pytest.mark.parametrize("part", range(8))
def test_concave_penalties_are_least_on_the_hull(part: int) -> None:
    """400 random trees × 6 penalties: the best pruning of all is one of the cost-complexity sequence."""
    off_the_hull = 0
    for seed in range(50 * part, 50 * part + 50):
        tree = grow(problem(seed, n=100))
        front = prune(tree, "minimum_errors")
        links = cost_complexity_path(tree, tree.loss)
        m = tree.weight[0]
        off_the_hull += len(front) - len(links.alpha)
        for penalty in PENALTIES:
            best = (front.training + penalty(front.leaves, m)).min()
            assert (links.risk + penalty(links.leaves, m)).min() == pytest.approx(best, abs=1e-12)
    assert off_the_hull > 100  # the theorem has something to say


@given(seed=st.integers(0, 2**20), c=st.sampled_from([0.0, 0.05, 0.3, 1.0]), nodes=st.booleans())
def test_srm_is_the_best_of_all_prunings(seed: int, c: float, nodes: bool) -> None:
    tree = grow(problem(seed), max_leaf_nodes=9)
    candidates = all_prunings(tree.end)
    losses = np.array([tree.loss[list(leaves)].sum() for leaves in candidates])
    sizes = np.array([2 * len(leaves) - 1 if nodes else len(leaves) for leaves in candidates])
    values = losses / tree.weight[0] + c * np.sqrt(sizes / tree.weight[0])
    path = prune(tree, "srm", c=c, size="nodes" if nodes else "leaves")
    pruned = path.pruned
    size = pruned.n_nodes if nodes else pruned.n_leaves
    reached = pruned.loss[pruned.is_leaf].sum() / tree.weight[0] + c * np.sqrt(size / tree.weight[0])
    assert reached == pytest.approx(values.min(), abs=1e-12)
    assert size == sizes[values <= values.min() + 1e-12].min()
    assert path.details["c"] == c


@pytest.mark.parametrize("c", [0.1, 0.3, 1.0])
def test_srm_counts_rows_whatever_they_weigh(c: float) -> None:
    data = problem(4, n=200)
    light = Dataset(data.schema, data.columns, data.targets, np.full(200, 1e-3))
    assert prune(grow(light), "srm", c=c).pruned.n_leaves == prune(grow(data), "srm", c=c).pruned.n_leaves


def test_srm_refuses() -> None:
    tree = grow(problem(1))
    for wrong, message in (
        ({"c": -1}, "c is -1"),
        ({"c": np.nan}, "c is nan"),
        ({"size": "bits"}, "size is 'bits'"),
    ):
        with pytest.raises(ValueError, match=message):
            prune(tree, "srm", **wrong)
    with pytest.raises(ValueError, match="data="):
        prune(tree, "srm", c="cv")


def test_a_single_leaf() -> None:
    tree = grow(encode([[1.0], [1.0]], ["a", "b"]))
    for method in ("cost_complexity", "minimum_errors", "srm"):
        path = prune(tree, method)
        assert path.leaves.tolist() == [1]
        assert path.pruned == tree


def test_losses_are_per_row_and_target() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 6, (50, 2)).astype(float), rng.integers(0, 3, (50, 2))
    path = prune(grow(encode(x, y, classes=True), max_leaf_nodes=7), "minimum_errors")
    errors = [(tree.predict(x) != y).mean() for tree in path]
    np.testing.assert_allclose(path.training, errors, rtol=1e-12)


def test_numbers() -> None:
    rng = np.random.default_rng(8)
    tree = grow(encode(rng.random((60, 3)), rng.random(60)), max_leaf_nodes=8)
    candidates = all_prunings(tree.end)
    path = prune(tree, "minimum_errors")
    for leaves, loss in zip(path.leaves, path.level, strict=True):
        same = [tree.loss[list(chosen)].sum() for chosen in candidates if len(chosen) <= leaves]
        assert loss == pytest.approx(min(same))
    assert len(path) == 8
