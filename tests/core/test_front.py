"""The front of size and loss: against all prunings, against a plain knapsack, in little memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.shapes import all_prunings, branches, chain_shape, falling_loss, leaves_after, random_shape
from treewright import _core

Point = tuple[int, float]


def points(leaves: NDArray[np.int64], loss: NDArray[np.float64]) -> list[Point]:
    return list(zip(leaves.tolist(), loss.tolist(), strict=True))


def staircase(least: dict[int, float]) -> list[Point]:
    """The points where the loss falls below that of every smaller tree."""
    out: list[Point] = []
    for leaves in sorted(least):
        if not out or least[leaves] < out[-1][1]:
            out.append((leaves, least[leaves]))
    return out


def plain_front(end: NDArray[np.int32], loss: NDArray[np.float64]) -> list[Point]:
    """The least loss with exactly k leaves for every k, by all divisions of k among two children."""
    lists: dict[int, NDArray[np.float64]] = {}
    for node in range(len(end)):
        if end[node] == node + 1:
            lists[node] = loss[node : node + 1]
    for node, left, right in branches(end):
        a, b = lists.pop(left), lists.pop(right)
        own = np.full(len(a) + len(b), np.inf)
        own[0] = loss[node]
        for i in range(len(a)):
            own[i + 1 : i + 1 + len(b)] = np.minimum(own[i + 1 : i + 1 + len(b)], a[i] + b)
        lists[node] = own
    return staircase({k + 1: float(x) for k, x in enumerate(lists[0])})


def check_trees(end: NDArray[np.int32], loss: NDArray[np.float64], every: int = 1) -> None:
    """The tree of each point has the leaves and the loss that the front tells."""
    leaves, least, length, choices = _core.front(end, loss)
    for n, total in points(leaves, least)[::every]:
        pruned = _core.front_pruning(end, length, choices, n)
        kept = leaves_after(end, pruned)
        assert len(kept) == n
        assert loss[kept].sum() == pytest.approx(total, rel=1e-12)
        assert all(end[node] > node + 1 for node in pruned)


@given(leaves=st.integers(1, 9), seed=st.integers(0, 2**20), falls=st.booleans())
def test_brute_force(leaves: int, seed: int, falls: bool) -> None:
    """Also where splits raise the loss: what no row confirms is never part of an answer."""
    end = random_shape(leaves, seed)
    loss = falling_loss(end, seed, most=3)
    if not falls:
        loss = np.random.default_rng(seed).integers(-3, 12, len(end)).astype(float)
    least: dict[int, float] = {}
    for kept in all_prunings(end):
        least[len(kept)] = min(least.get(len(kept), np.inf), float(loss[list(kept)].sum()))
    assert points(*_core.front(end, loss)[:2]) == staircase(least)
    check_trees(end, loss)


@pytest.mark.parametrize("balance", [0.1, 1.0, 50.0])
@pytest.mark.parametrize("whole", [True, False])
def test_larger_trees(balance: float, whole: bool) -> None:
    """Lists beyond 255 entries, whose choices take two bytes."""
    end = random_shape(1200, 5, balance)
    loss = falling_loss(end, 5, whole)
    leaves, least, *_ = _core.front(end, loss)
    expected = plain_front(end, loss)
    assert leaves.tolist() == [n for n, _ in expected]
    np.testing.assert_allclose(least, [x for _, x in expected], rtol=1e-13)
    check_trees(end, loss, every=37)


@pytest.mark.parametrize("unit", [0.1, 1e-200])
def test_rounding_makes_no_points(unit: float) -> None:
    end = random_shape(800, 2)
    loss = falling_loss(end, 2)
    whole, scaled = _core.front(end, loss), _core.front(end, loss * unit)
    np.testing.assert_array_equal(scaled[0], whole[0])
    np.testing.assert_allclose(scaled[1], whole[1] * unit, rtol=1e-11)


@pytest.mark.parametrize("max_leaves", [1, 2, 7, 100, 399, 400, 10**12])
@pytest.mark.parametrize("balance", [0.1, 1.0, 50.0])
def test_a_cap_keeps_the_small_trees(max_leaves: int, balance: float) -> None:
    end = random_shape(400, 1, balance)
    loss = falling_loss(end, 1, whole=False)
    every = points(*_core.front(end, loss)[:2])
    leaves, least, length, choices = _core.front(end, loss, max_leaves)
    assert [n for n, _ in every if n <= max_leaves] == leaves.tolist()
    np.testing.assert_allclose(least, [x for n, x in every if n <= max_leaves], rtol=1e-13)
    last = int(leaves[-1])
    assert len(leaves_after(end, _core.front_pruning(end, length, choices, last))) == last


def test_the_weakest_links_lie_on_the_front() -> None:
    end = random_shape(3000, 4)
    loss = falling_loss(end, 4)
    front = dict(points(*_core.front(end, loss, keeps_choices=False)[:2]))
    _, _, total, leaves = _core.weakest_links(end, loss)
    assert len(leaves) > 10
    assert [front[n] for n in leaves.tolist()] == total.tolist()


def test_a_chain_of_100_000_with_a_cap() -> None:
    end = chain_shape(100_001)
    loss = falling_loss(end, 0)
    leaves, least, length, choices = _core.front(end, loss, 50)
    assert leaves[-1] <= 50
    kept = leaves_after(end, _core.front_pruning(end, length, choices, int(leaves[-1])))
    assert loss[kept].sum() == least[-1]


def test_one_leaf() -> None:
    leaves, loss, length, choices = _core.front(np.array([1], np.int32), np.array([2.5]))
    assert points(leaves, loss) == [(1, 2.5)]
    assert _core.front_pruning(np.array([1], np.int32), length, choices, 1).tolist() == []


def test_equal_trees_are_chosen_alike() -> None:
    """Two subtrees of equal use: the left one of equal lists gets as few leaves as it can."""
    end = np.array([7, 4, 3, 4, 7, 6, 7], np.int32)
    loss = np.array([4.0, 2.0, 1.0, 0.0, 2.0, 1.0, 0.0])
    leaves, _, length, choices = _core.front(end, loss)
    assert leaves.tolist() == [1, 3, 4]
    assert _core.front_pruning(end, length, choices, 3).tolist() == [1]


def test_memory_has_a_limit() -> None:
    """It counts the choices alone: where they are not kept, or the cap is low, there is none to reach."""
    end = random_shape(5000, 0)
    loss = falling_loss(end, 0, whole=False)
    with pytest.raises(MemoryError, match="MB; pass max_lea"):
        _core.front(end, loss, max_bytes=10_000)
    assert _core.front(end, loss, max_bytes=10_000, keeps_choices=False)[3].size == 0
    assert len(_core.front(end, loss, 3, max_bytes=10_000)[0]) == 3


def test_bad_input_is_refused() -> None:
    end = random_shape(40, 0)
    loss = falling_loss(end, 0)
    leaves, _, length, choices = _core.front(end, loss)
    with pytest.raises(ValueError, match="max_leaves is 0"):
        _core.front(end, loss, 0)
    with pytest.raises(ValueError, match="the loss of node 0 is not a finite number"):
        _core.front(end, np.full(len(end), np.inf))
    for wrong in (0, -1, int(leaves[-1]) + 1, 2**40):
        with pytest.raises(ValueError, match="that many leaves"):
            _core.front_pruning(end, length, choices, wrong)
    for cut in (choices[:-1], np.zeros_like(choices), np.full_like(choices, 255)):
        with pytest.raises(ValueError, match="not those of this tree"):
            _core.front_pruning(end, length, cut, int(leaves[-1]))
    with pytest.raises(ValueError, match="not those of this tree"):
        _core.front_pruning(end, np.zeros_like(length), choices, 1)
