"""Growing with a χ² test: the tree grown without it, collapsed from above wherever the best split fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency

from treewright import encode, grow
from treewright.encoding import Dataset
from treewright.growing import criteria
from treewright.parameters import Gain
from treewright.tree import Tree

ENGINES = [{}, {"_small_rows": 100}, {"_small_rows": 10**9}]


def noisy(n: int, n_classes: int = 2, *, outputs: int = 1, weighted: bool = False, seed: int = 0) -> Dataset:
    """Numbers with gaps, two of them rounded, and a category; the classes follow them half of the time."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(4, n))
    x[1] = x[1].round(1)
    x[2, rng.random(n) < 0.1] = np.nan
    table: dict[str, Any] = {f"x{i}": column for i, column in enumerate(x)}
    table["c"] = [f"c{i}" for i in rng.integers(0, 7, n)]
    shift = rng.integers(0, n_classes, n) * (rng.random((outputs, n)) < 0.5)
    classes = ((x[0] > 0) + (np.nan_to_num(x[2]) > 0.5) + shift) % n_classes
    target = classes[0] if outputs == 1 else {f"y{i}": line for i, line in enumerate(classes)}
    weight = rng.integers(0, 4, n) / 4 if weighted else None
    return encode(table, target, weight=weight, classes=True)


def p_values(tree: Tree) -> np.ndarray:
    """Of each split the p-value of its table, by scipy; 0 at a leaf."""
    out = np.zeros(tree.n_nodes)
    for node in np.flatnonzero(~tree.is_leaf):
        statistic, freedom = 0.0, 0
        for block in tree._blocks:
            table = block[[tree.left[node], tree.right[node]]]
            table = table[:, table.sum(axis=0) > 0]
            if table.shape[1] > 1:
                test = chi2_contingency(table, correction=False)
                statistic, freedom = statistic + test.statistic, freedom + test.dof
        out[node] = chi2.sf(statistic, freedom)
    return out


def collapsed(tree: Tree, significance: float, p: np.ndarray | None = None) -> Tree:
    p = p_values(tree) if p is None else p
    assert not np.any(abs(p - significance) < 1e-9 * significance), "too close to call"
    return tree.collapse(np.flatnonzero(p > significance))


def assert_same(tree: Tree, expected: Tree) -> None:
    for name in ("end", "feature", "threshold", "missing_left", "rows", "subsets"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(expected, name), name)
    np.testing.assert_array_equal(np.asarray(tree.statistic), np.asarray(expected.statistic))
    inner = ~tree.is_leaf
    np.testing.assert_array_equal(np.argsort(tree.step[inner]), np.argsort(expected.step[inner]))


@pytest.mark.slow
@pytest.mark.parametrize("criterion", criteria("classes"))
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("n_classes", "weighted"), [(2, False), (4, True)])
def test_a_split_that_fails_makes_a_leaf(
    criterion: str, engine: dict[str, int], n_classes: int, weighted: bool
) -> None:
    data = noisy(800, n_classes, weighted=weighted)
    whole = grow(data, criterion=criterion, **engine)
    p = p_values(whole)
    for significance in (0.1, 1e-3):
        expected = collapsed(whole, significance, p)
        assert 1 < expected.n_leaves < whole.n_leaves
        assert_same(
            grow(data, criterion=criterion, selection=Gain(significance=significance), **engine), expected
        )


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("splits", [1, 5, 40])
def test_what_fails_takes_no_place_in_a_budget(engine: dict[str, int], splits: int) -> None:
    """The first splits of the best-first order among those that pass."""
    data = noisy(3000, 3)
    expected = collapsed(grow(data, **engine), 0.05)
    tree = grow(data, selection=Gain(significance=0.05), max_leaf_nodes=splits + 1, **engine)
    assert tree.n_leaves == splits + 1
    assert_same(tree, expected.first(splits))


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_and_threads(weighted: bool) -> None:
    """Large nodes, excerpts and lists in one tree, on any number of threads."""
    data = noisy(150_000, 3, weighted=weighted, seed=1)
    limits = {"min_samples_leaf": 200}
    tree = grow(data, selection=Gain(significance=1e-4), **limits)
    assert_same(tree, collapsed(grow(data, **limits), 1e-4))
    assert grow(data, selection=Gain(significance=1e-4), n_jobs=3, **limits) == tree


@pytest.mark.slow
def test_several_targets_add_up() -> None:
    data = noisy(800, 3, outputs=2)
    expected = collapsed(grow(data), 0.01)
    assert 1 < expected.n_leaves < grow(data).n_leaves
    assert_same(grow(data, selection=Gain(significance=0.01)), expected)


def test_very_many_classes() -> None:
    """Classes beyond those that a table of the tree would hold; only those in the node count."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 2))
    y = rng.integers(0, 150, 2000) + 150 * (x[:, 0] > 0)
    tree = grow(encode(x, y), selection=Gain(significance=1e-6))
    assert tree.n_leaves == 2
    assert tree.feature[0] == 0


@pytest.mark.parametrize("scale", [1.0, 0.1, 3.7])
def test_the_border_itself_passes(scale: float) -> None:
    """A p-value of exactly the significance is enough, a little more is not."""
    x = np.array([0.0] * 30 + [1.0] * 20)
    y = np.array([0] * 20 + [1] * 10 + [0] * 7 + [1] * 13)
    weight = None if scale == 1 else np.full(50, scale)
    data = encode(x[:, None], y, weight=weight)
    p = p_values(grow(data))[0]
    assert grow(data, selection=Gain(significance=p)).n_leaves == 2
    assert grow(data, selection=Gain(significance=p * (1 - 1e-9))).n_leaves == 1


def test_significance_of_one_changes_nothing() -> None:
    data = noisy(500)
    assert grow(data, selection=Gain(significance=1.0)) == grow(data)


def test_rows_that_weigh_nearly_nothing() -> None:
    """One side of the split is too light to show in the sum of both."""
    x = np.array([[0.0], [0.0], [1.0], [1.0]])
    data = encode(x, [0, 1, 0, 0], weight=np.array([1.0, 1.0, 1e-20, 1e-20]))
    assert grow(data).n_leaves == 2
    assert grow(data, selection=Gain(significance=0.5)).n_leaves == 1


@pytest.mark.parametrize("significance", [0.0, -0.1, 1.0001, float("nan"), "a", [0.5]])
def test_outside_of_its_range(significance: Any) -> None:
    with pytest.raises(ValueError, match=r"significance=.* is not possible; it must be a number in \(0, 1\]"):
        grow(noisy(20), selection=Gain(significance=significance))


def test_numbers_have_no_such_test() -> None:
    with pytest.raises(ValueError, match="significance is for classes; the target is a number"):
        grow(encode([[1.0], [2.0]], [0.5, 1.5]), selection=Gain(significance=0.05))
