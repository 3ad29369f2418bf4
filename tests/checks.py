"""Laws that every criterion and every tree obeys, whoever wrote it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.tree import Tree

Array = NDArray[np.float64]


def criteria(task: str) -> list[str]:
    """The names of all criteria for "classes" or "numbers", as the core lists them."""
    return sorted(name for name, of in _core.criteria() if of == task)


def risk(criterion: str, statistic: Any) -> Array:
    """The risk of each line of weights per class."""
    return np.asarray(_core.risk(criterion, np.atleast_2d(np.asarray(statistic, dtype=float))))


def check_risk(criterion: str, a: Array, b: Array, factor: float) -> None:
    """The four laws of a criterion, for two tables (n, K) of weights per class."""
    of_a, of_b, of_both = risk(criterion, a), risk(criterion, b), risk(criterion, a + b)
    rounding = 1e-13 * (a + b).sum(axis=1)
    assert np.isfinite(of_both).all()
    assert (of_a >= 0).all(), "a risk is never negative"
    pure = np.zeros_like(a)
    heaviest = a.argmax(axis=1)
    pure[np.arange(len(a)), heaviest] = a.max(axis=1)
    assert (risk(criterion, pure) == 0).all(), "a pure node has no risk"
    np.testing.assert_allclose(
        risk(criterion, factor * a), factor * of_a, rtol=1e-9, atol=factor * rounding.max()
    )
    assert (of_both >= of_a + of_b - rounding).all(), "to merge two nodes never lowers the risk"


def check_tree(tree: Tree) -> None:
    """The invariants of any tree: its own check, and what follows from the shape alone."""
    tree.check()
    n = tree.n_nodes
    inner, leaf = np.flatnonzero(~tree.is_leaf), np.flatnonzero(tree.is_leaf)
    assert len(leaf) == tree.n_leaves == len(inner) + 1
    assert (tree.end[leaf] == leaf + 1).all()
    assert tree.end[0] == n
    left, right = tree.left[inner], tree.right[inner]
    assert (left == inner + 1).all()
    assert (right == tree.end[left]).all()
    assert (tree.end[right] == tree.end[inner]).all()
    assert (tree.parent[left] == inner).all()
    assert (tree.parent[right] == inner).all()
    assert (tree.rows[left] + tree.rows[right] == tree.rows[inner]).all()
    assert (tree.rows > 0).all()
    np.testing.assert_allclose(tree.weight[left] + tree.weight[right], tree.weight[inner], rtol=1e-12)
    assert sorted(tree.step[inner]) == list(range(len(inner)))
    assert (tree.step[leaf] == -1).all()
    assert (tree.feature[leaf] == -1).all()
    assert tree.depth == tree.depths.max()
    assert (tree.depths[left] == tree.depths[inner] + 1).all()
    rounding = 1e-12 * tree.risk[0]
    assert (tree.risk >= 0).all()
    assert (tree.gain[inner] >= -rounding).all()
    np.testing.assert_allclose(
        tree.gain[inner].sum(), tree.risk[0] - tree.risk[leaf].sum(), atol=n * rounding
    )


def same_tree(one: Tree, two: Tree) -> None:
    """Assert that two trees are equal to the bit."""
    for name in (
        "end",
        "feature",
        "threshold",
        "subset",
        "missing_left",
        "step",
        "rows",
        "statistic",
        "subsets",
    ):
        a, b = getattr(one, name), getattr(two, name)
        assert a.dtype == b.dtype
        assert a.shape == b.shape, f"{name} differs in shape"
        assert a.tobytes() == b.tobytes(), f"{name} differs"


def same_structure(one: Tree, two: Tree, order: bool = True) -> None:
    """Assert that two trees ask the same questions in the same places; their sums may differ.

    Where the gains are not the same to the last bit, leaves of equal gain may be split in another `order`.
    """
    names = ["end", "feature", "threshold", "missing_left", "subset", "subsets"]
    for name in [*names, "step"] if order else names:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


def same_partition(one: Tree, two: Tree, leaves_of_one: Any, leaves_of_two: Any) -> None:
    """Assert that two trees have the same shape and put the training rows into the same leaves."""
    for name in ("end", "feature", "step", "rows"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    np.testing.assert_array_equal(leaves_of_one, leaves_of_two)
