"""Cost-complexity pruning: against brute force over all prunings, scikit-learn's path, and its laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.tree._tree import ccp_pruning_path

from tests.shapes import all_prunings
from treewright.encoding import encode
from treewright.encoding.schema import Column, Schema, Target
from treewright.estimators.sklearn_view import sklearn_tree
from treewright.growing import grow
from treewright.pruning import cost_complexity_path, cut_at, weakest_links
from treewright.tree import Tree

CRITERIA = ["gini", "entropy", "error", "squared_error", "absolute_error"]


def small_tree(seed: int, criterion: str, leaves: int = 9, weighted: bool = False) -> Tree:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(40, 3)).astype(float)
    y = rng.integers(0, 3, size=40)
    weight = rng.integers(0, 4, size=40).astype(float) if weighted else None
    data = encode(X, y, weight=weight, classes=not criterion.endswith("_error") or criterion == "error")
    return grow(data, criterion=criterion, max_leaf_nodes=leaves)


def probes(alphas: np.ndarray) -> np.ndarray:
    """The levels, and numbers between and beyond them."""
    return np.concatenate([alphas, (alphas[1:] + alphas[:-1]) / 2, [alphas[-1] * 2 + 1]])


@pytest.mark.parametrize("criterion", CRITERIA)
@given(seed=st.integers(0, 2**20), weighted=st.booleans())
def test_brute_force(criterion: str, seed: int, weighted: bool) -> None:
    """No pruning has a smaller risk + alpha * leaves, and none of those as good has fewer leaves."""
    tree = small_tree(seed, criterion, weighted=weighted)
    candidates = all_prunings(tree.end)
    risk = np.array([tree.risk[list(leaves)].sum() for leaves in candidates]) / tree.weight[0]
    leaves = np.array([len(chosen) for chosen in candidates])
    for alpha in probes(cost_complexity_path(tree).alpha):
        cost = risk + alpha * leaves
        best = leaves[cost <= cost.min() * (1 + 1e-12) + 1e-14].min()
        pruned = cut_at(tree, alpha)
        pruned.check()
        assert pruned.n_leaves == best
        reached = pruned.risk[pruned.is_leaf].sum() / pruned.weight[0] + alpha * pruned.n_leaves
        assert reached == pytest.approx(cost.min(), rel=1e-10, abs=1e-13)


@given(seed=st.integers(0, 2**20), criterion=st.sampled_from(CRITERIA))
def test_laws(seed: int, criterion: str) -> None:
    """The subtrees are nested, the risk rises as leaves go, and the path says what each alpha gives."""
    tree = small_tree(seed, criterion, leaves=30)
    path = cost_complexity_path(tree)
    assert path.alpha[0] == 0
    assert np.all(np.diff(path.alpha) > 0)
    assert np.all(np.diff(path.leaves) < 0)
    assert np.all(np.diff(path.risk) > 0)
    assert path.leaves[-1] == 1
    assert path.risk[-1] == pytest.approx(tree.risk[0] / tree.weight[0])
    kept = tree.n_nodes
    for alpha, leaves, risk in zip(path.alpha, path.leaves, path.risk, strict=True):
        pruned = cut_at(tree, alpha)
        assert pruned.n_leaves == leaves
        assert pruned.risk[pruned.is_leaf].sum() / pruned.weight[0] == pytest.approx(risk, abs=1e-13)
        np.testing.assert_array_equal(pruned.statistic[0], tree.statistic[0])
        assert pruned.n_nodes <= kept
        kept = pruned.n_nodes


def distinct(alphas: np.ndarray, impurities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A path without its repetitions: the last of each run of alphas that differ by rounding only."""
    last = np.append(np.diff(alphas) > 1e-10 * alphas[-1], True)
    return alphas[last], impurities[last]


@pytest.mark.parametrize(
    ("load", "criterion"),
    [
        (load_iris, "gini"),
        (load_iris, "entropy"),
        (load_breast_cancer, "gini"),
        (load_diabetes, "squared_error"),
        (load_diabetes, "absolute_error"),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_path_is_scikit_learns(load, criterion: str, weighted: bool) -> None:
    """scikit-learn's own path of the very same tree, up to its repetitions."""
    X, y = load(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.1, 3, size=len(y)) if weighted else None
    tree = grow(encode(X, y, weight=weight, classes=load is not load_diabetes), criterion=criterion)
    theirs = ccp_pruning_path(sklearn_tree(tree))
    path = cost_complexity_path(tree)
    for ours, other in zip((path.alpha, path.risk), distinct(*theirs.values()), strict=True):
        np.testing.assert_allclose(ours, other, rtol=1e-9, atol=1e-12 * abs(other).max())


def test_three_links_break_at_once() -> None:
    """A chain where g(root) < g(grandchild) < g(child): all go together at 17/3 errors, none before."""
    ones = [([1, 0, 0], 1, 30), ([0, 1, 0], 1, 10), ([0, 0, 1], 1, 6), ([0, 0, 0], 0, 17)]
    X = np.array([row for row, _, times in ones for _ in range(times)], dtype=float)
    y = np.array([label for _, label, times in ones for _ in range(times)])
    tree = grow(encode(X, y), criterion="error")
    path = cost_complexity_path(tree)
    np.testing.assert_allclose(path.alpha * 63, [0, 17 / 3])
    assert path.leaves.tolist() == [4, 1]
    assert cut_at(tree, 5.65 / 63).n_leaves == 4
    assert cut_at(tree, 5.67 / 63).n_leaves == 1
    cp = path.alpha * 63 / tree.loss[0]  # as a share of the root's errors
    assert cp.tolist() == pytest.approx([0, 1 / 3], rel=1e-15)
    full, root = (risk + 0.33 * 17 * leaves for risk, leaves in zip(path.risk * 63, path.leaves, strict=True))
    assert (round(full, 2), round(root, 2)) == (22.44, 22.61)


def test_useless_splits_go_at_zero() -> None:
    """The first split of XOR gains nothing but is needed; where no split gains, all go at zero."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    xor = grow(encode(X, [0, 1, 1, 0]))
    assert cut_at(xor, 0.0).n_leaves == 4
    twice = np.repeat(X, 2, axis=0)
    noise = grow(encode(twice, [0, 1] * 4), min_samples_leaf=2)
    assert noise.n_leaves > 1
    assert cut_at(noise, 0.0).n_leaves == 1


@pytest.mark.parametrize("alpha", [-1.0, -1e-300, float("nan")])
def test_alpha_must_not_be_negative(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha is "):
        cut_at(small_tree(0, "gini"), alpha)


def test_a_single_leaf_stays() -> None:
    tree = grow(encode([[1.0], [2.0]], [0, 0]))
    path = cost_complexity_path(tree)
    assert path.alpha.tolist() == [0]
    assert path.leaves.tolist() == [1]
    assert cut_at(tree, 1.0).n_nodes == 1


def chain(depth: int) -> Tree:
    """A tree of one long path: node 2i is inner with the leaf 2i + 1 at its left."""
    n = 2 * depth + 1
    number = np.arange(n)
    inner = (number % 2 == 0) & (number < n - 1)
    rows = np.where(number % 2 == 0, depth + 1 - number // 2, 1)
    positive = np.where(number % 2 == 0, rows // 2, (number // 2) % 2)
    return Tree(
        end=np.where(number % 2 == 0, n, number + 1).astype(np.int32),
        feature=np.where(inner, 0, -1).astype(np.int32),
        threshold=np.where(inner, number, np.nan).astype(np.float64),
        subset=np.full(n, -1, np.int64),
        missing_left=np.zeros(n, bool),
        step=np.where(inner, number // 2, -1).astype(np.int32),
        rows=rows.astype(np.int64),
        statistic=np.stack([rows - positive, positive], axis=1).astype(np.float64),
        subsets=np.zeros(0, np.uint8),
        schema=Schema((Column("x"),), (Target("y", (0, 1)),)),
        criterion="gini",
    )


def test_depth_of_100_000() -> None:
    tree = chain(100_000)
    level = weakest_links(tree)
    assert level.shape == (tree.n_nodes,)
    assert cut_at(tree, np.inf).n_nodes == 1
    assert cost_complexity_path(tree).leaves[-1] == 1


@pytest.mark.parametrize("alpha", [-0.1, float("nan"), "large", None])
def test_a_price_is_a_number(alpha: object) -> None:
    with pytest.raises(ValueError, match="it must be a number >= 0"):
        cut_at(small_tree(0, "gini"), alpha)  # type: ignore[arg-type]
