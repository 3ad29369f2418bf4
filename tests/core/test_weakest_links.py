"""The weakest links: against all prunings, against the sequence in exact fractions, at any shape."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.shapes import all_prunings, branches, chain_shape, falling_loss, leaves_after, random_shape
from treewright import _core, encode, grow
from treewright.pruning import cost_complexity_path, cut_at, weakest_links


def any_loss(n: int, seed: int) -> NDArray[np.float64]:
    """Losses that may rise at a split, as those of rows that did not grow the tree."""
    return np.random.default_rng(seed).integers(-3, 12, n).astype(float)


def exact_path(end: NDArray[np.int32], loss: NDArray[np.float64]) -> list[tuple[Fraction, int, int]]:
    """(alpha, loss, leaves) of every step, by looking for the weakest of all links over and over."""
    risk = [int(x) for x in loss]
    collapsed: set[int] = set()
    path: list[tuple[Fraction, int, int]] = []
    alpha = Fraction(0)
    while True:
        below: dict[int, tuple[int, int]] = {}
        for node in range(len(end) - 1, -1, -1):
            if end[node] == node + 1 or node in collapsed:
                below[node] = (risk[node], 1)
            else:
                left, right = below[node + 1], below[int(end[node + 1])]
                below[node] = (left[0] + right[0], left[1] + right[1])
        level = {
            v: Fraction(risk[v] - below[v][0], below[v][1] - 1)
            for v in below
            if below[v][1] > 1 and not any(u < v < end[u] for u in collapsed)
        }
        going = {v for v, g in level.items() if g <= alpha}
        if going:
            collapsed |= going
            continue
        path.append((alpha, *below[0]))
        if not level:
            return path
        alpha = min(level.values())


@given(leaves=st.integers(1, 8), seed=st.integers(0, 2**20), falls=st.booleans(), priced=st.booleans())
def test_brute_force(leaves: int, seed: int, falls: bool, priced: bool) -> None:
    """At every alpha the one smallest among the best prunings, also where splits lose and costs differ."""
    end = random_shape(leaves, seed)
    loss = falling_loss(end, seed) if falls else any_loss(len(end), seed)
    cost = np.random.default_rng(seed).integers(1, 5, len(end)).astype(float) if priced else None
    level, alphas, losses, sizes = _core.weakest_links(end, loss, cost)
    prunings = all_prunings(end)
    inner = [set(range(len(end))) - {u for v in kept for u in range(v, end[v])} for kept in prunings]
    size = [sum(int(cost[v]) if priced else 1 for v in branch) for branch in inner]
    steps = [Fraction(float(a)).limit_denominator(10**4) for a in alphas]
    between = [(a + b) / 2 for a, b in pairwise(steps)]
    for alpha in [*steps, *between, steps[-1] + 1]:
        value = [int(loss[list(kept)].sum()) + alpha * s for kept, s in zip(prunings, size, strict=True)]
        best = min(range(len(prunings)), key=lambda i: (value[i], size[i]))
        assert leaves_after(end, np.flatnonzero(level <= float(alpha))) == list(prunings[best])
        step = np.searchsorted(alphas, float(alpha), side="right") - 1
        assert losses[step] == loss[list(prunings[best])].sum()
        assert sizes[step] == len(prunings[best])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("balance", [0.1, 1.0, 20.0])
def test_the_sequence_in_fractions(seed: int, balance: float) -> None:
    """Whole losses: every step is exact, and links of one level break together."""
    end = random_shape(60, seed, balance)
    loss = falling_loss(end, seed, most=3)
    _, alpha, total, leaves = _core.weakest_links(end, loss)
    expected = exact_path(end, loss)
    assert leaves.tolist() == [step[2] for step in expected]
    assert total.tolist() == [step[1] for step in expected]
    assert alpha.tolist() == [float(step[0]) for step in expected]


@pytest.mark.parametrize("unit", [0.1, 1 / 3, 1e-200, 1e200])
def test_rounding_makes_no_steps(unit: float) -> None:
    """Losses that are not whole have the steps that the whole ones have."""
    end = random_shape(2000, seed=3)
    loss = falling_loss(end, seed=3)
    _, alpha, total, leaves = _core.weakest_links(end, loss)
    _, scaled_alpha, scaled_total, scaled_leaves = _core.weakest_links(end, loss * unit)
    np.testing.assert_array_equal(scaled_leaves, leaves)
    np.testing.assert_allclose(scaled_alpha, alpha * unit, rtol=1e-11)
    np.testing.assert_allclose(scaled_total, total * unit, rtol=1e-11)


@pytest.mark.parametrize("whole", [True, False])
def test_levels_and_steps_agree(whole: bool) -> None:
    """No node has a higher level than its parent, and the levels alone tell the steps."""
    end = random_shape(5000, seed=1, balance=0.3)
    loss = falling_loss(end, seed=1, whole=whole)
    level, alpha, total, leaves = _core.weakest_links(end, loss)
    for node, left, right in branches(end):
        assert all(level[child] <= level[node] for child in (left, right) if end[child] > child + 1)
    for step in range(0, len(alpha), max(1, len(alpha) // 20)):
        kept = leaves_after(end, np.flatnonzero(level <= alpha[step]))
        assert len(kept) == leaves[step]
        assert loss[kept].sum() == pytest.approx(total[step], rel=1e-12)
    assert set(level[np.isfinite(level)]) <= set(alpha)
    assert leaves[-1] == 1


@pytest.mark.parametrize("seed", range(3))
def test_a_chain_of_100_000(seed: int) -> None:
    end = chain_shape(100_001)
    loss = falling_loss(end, seed, whole=seed > 0)
    level, alpha, total, leaves = _core.weakest_links(end, loss)
    assert leaves[-1] == 1
    assert total[-1] == pytest.approx(loss[0])
    assert np.all(np.diff(alpha) > 0)
    assert np.all(level[::2][:-1] <= alpha[-1])


def test_gains_that_grow_from_below_keep_every_link() -> None:
    """Each link of this chain breaks by itself, from the deepest to the root."""
    end = chain_shape(1000)
    loss = np.zeros(len(end))
    for i, (node, left, right) in enumerate(branches(end)):
        loss[node] = loss[left] + loss[right] + i
    _, alpha, _, leaves = _core.weakest_links(end, loss)
    assert alpha.tolist() == list(range(999))
    assert leaves.tolist() == list(range(999, 0, -1))


def test_one_leaf() -> None:
    level, *path = _core.weakest_links(np.array([1], np.int32), np.array([3.0]))
    assert level.tolist() == [np.inf]
    assert [part.tolist() for part in path] == [[0.0], [3.0], [1]]


@pytest.mark.parametrize(
    "end", [[], [2], [0], [3, 2], [3, 3, 3], [3, 2, 2], [5, 3, 3, 4, 5], [2**31 - 1, 2, 3]]
)
def test_what_is_no_tree_is_refused(end: list[int]) -> None:
    shape = np.array(end, np.int32)
    for function in (_core.weakest_links, _core.front):
        with pytest.raises(ValueError, match="shape of a tree"):
            function(shape, np.zeros(len(end)))


def test_bad_numbers_are_named() -> None:
    end = random_shape(2)
    with pytest.raises(ValueError, match="the loss of node 1 is not a finite number"):
        _core.weakest_links(end, np.array([1.0, np.nan, 0.0]))
    with pytest.raises(ValueError, match="the cost of node 2 is not a positive number"):
        _core.weakest_links(end, np.zeros(3), np.array([1.0, 1.0, 0.0]))
    with pytest.raises(ValueError, match="loss and end differ in length"):
        _core.weakest_links(end, np.zeros(4))


def test_a_risk_of_ones_own() -> None:
    """Pruning by errors where the tree was grown by Gini: at every level the best of all prunings."""
    rng = np.random.default_rng(0)
    tree = grow(encode(rng.integers(0, 6, (40, 3)).astype(float), rng.integers(0, 3, 40)), max_leaf_nodes=9)
    errors = tree.statistic.sum(axis=1) - tree.statistic.max(axis=1)
    path = cost_complexity_path(tree, errors)
    prunings = all_prunings(tree.end)
    assert len(path.alpha) > 2
    for alpha, risk, leaves in zip(path.alpha, path.risk, path.leaves, strict=True):
        costs = [errors[list(kept)].sum() / 40 + alpha * len(kept) for kept in prunings]
        assert risk + alpha * leaves == pytest.approx(min(costs))
        assert cut_at(tree, alpha, errors).n_leaves == leaves
    assert not np.array_equal(path.leaves, cost_complexity_path(tree).leaves)
    assert weakest_links(tree, errors)[0] == path.alpha[-1]


def test_a_wrong_risk_is_refused() -> None:
    tree = grow(encode([[1.0], [2.0]], [0, 1]))
    with pytest.raises(ValueError, match="one number for each of 3 nodes"):
        cut_at(tree, 0.0, [1.0, 0.0])
    with pytest.raises(ValueError, match="the risk of node 2 is not a finite number"):
        cost_complexity_path(tree, [1.0, 0.0, np.inf])
