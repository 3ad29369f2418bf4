"""Shapes of trees as arrays in preorder, with losses: what pruning is given, without rows behind it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray


def random_shape(leaves: int, seed: int = 0, balance: float = 1.0) -> NDArray[np.int32]:
    """`end` of a random tree; a small balance makes long branches, a large one even halves."""
    rng = np.random.default_rng(seed)
    end = np.empty(2 * leaves - 1, np.int32)
    waiting = [(0, leaves)]
    while waiting:
        node, size = waiting.pop()
        end[node] = node + 2 * size - 1
        if size > 1:
            left = 1 + round(rng.beta(balance, balance) * (size - 2))
            waiting += [(node + 1, left), (node + 2 * left, size - left)]
    return end


def chain_shape(leaves: int) -> NDArray[np.int32]:
    """Every left child is a leaf."""
    number = np.arange(2 * leaves - 1)
    return np.where(number % 2 == 0, len(number), number + 1).astype(np.int32)


def branches(end: NDArray[np.int32]) -> Iterator[tuple[int, int, int]]:
    """(node, left, right) of every branch, children before their parents."""
    for node in range(len(end) - 1, -1, -1):
        if end[node] > node + 1:
            yield node, node + 1, int(end[node + 1])


def falling_loss(
    end: NDArray[np.int32], seed: int = 0, whole: bool = True, most: int = 4
) -> NDArray[np.float64]:
    """A loss that no split makes larger, as that of training rows: gains below `most`, added from below."""
    rng = np.random.default_rng(seed)
    loss = rng.integers(0, most, len(end)).astype(float) if whole else rng.exponential(size=len(end))
    for node, left, right in branches(end):
        loss[node] += loss[left] + loss[right]
    return loss


def all_prunings(end: NDArray[np.int32], node: int = 0) -> list[tuple[int, ...]]:
    """The leaves of every pruned tree below a node."""
    if end[node] == node + 1:
        return [(node,)]
    below = product(all_prunings(end, node + 1), all_prunings(end, int(end[node + 1])))
    return [(node,), *(left + right for left, right in below)]


def leaves_after(end: NDArray[np.int32], collapsed: NDArray[np.integer]) -> list[int]:
    """The leaves of the tree that is left when some nodes are collapsed."""
    gone, found, node = set(collapsed.tolist()), [], 0
    while node < len(end):
        if node in gone or end[node] == node + 1:
            found.append(node)
            node = int(end[node])
        else:
            node += 1
    return found
