"""The search of the best tree on tables of a size at which its bounds work, against all trees of depth 2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from treewright import encode, optimise

Array = NDArray[Any]


def saved(sums: Array, of_numbers: bool) -> Array:
    """What the best answers save to rows with these sums: weights of classes, or of rows and numbers."""
    if not of_numbers:
        return sums.max(axis=-1)
    return np.divide(sums[..., 1] ** 2, sums[..., 0], out=np.zeros(sums.shape[:-1]), where=sums[..., 0] > 0)


def most_saved(columns: list[Array], parts: Array, depth: int, of_numbers: bool) -> float:
    """The most that a tree of this depth saves; `parts` are the sums of each row."""
    best = float(saved(parts.sum(axis=0), of_numbers))
    for column in columns:
        order = np.argsort(column, kind="stable")
        sums = np.cumsum(parts[order], axis=0)
        cuts = np.flatnonzero(np.diff(column[order]))
        if depth == 1 and cuts.size:
            sides = saved(sums[cuts], of_numbers) + saved(sums[-1] - sums[cuts], of_numbers)
            best = max(best, float(sides.max()))
        for cut in cuts if depth > 1 else ():
            halves = (order[: cut + 1], order[cut + 1 :])
            sides_saved = [
                most_saved([each[half] for each in columns], parts[half], depth - 1, of_numbers)
                for half in halves
            ]
            best = max(best, sum(sides_saved))
    return best


@pytest.mark.parametrize("seed", range(12))
def test_no_tree_of_classes_is_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(60, 200)), int(rng.integers(1, 4))
    columns = [rng.integers(0, rng.choice([3, 20, 10**6]), n).astype(float) for _ in range(d)]
    y = np.where(rng.random(n) < 0.6, columns[0] > np.median(columns[0]), rng.integers(0, 3, n)).astype(int)
    weight = rng.integers(1, 4, n).astype(float)
    data = encode(np.stack(columns, axis=1), y, weight=weight)
    optimum = optimise(data, max_depth=2, n_jobs=int(rng.integers(1, 3)))
    parts = weight[:, np.newaxis] * np.eye(3)[y]
    assert optimum.is_proved
    assert optimum.loss == weight.sum() - most_saved(columns, parts, 2, of_numbers=False)


@pytest.mark.parametrize("seed", range(12))
def test_no_tree_of_numbers_is_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(60, 200)), int(rng.integers(1, 4))
    columns = [rng.integers(0, rng.choice([3, 20, 10**6]), n).astype(float) for _ in range(d)]
    y = (columns[0] > np.median(columns[0])) + rng.normal(size=n).round(2)
    optimum = optimise(encode(np.stack(columns, axis=1), y), max_depth=2, n_jobs=int(rng.integers(1, 3)))
    parts = np.stack([np.ones(n), y], axis=1)
    assert optimum.is_proved
    assert optimum.loss == pytest.approx((y**2).sum() - most_saved(columns, parts, 2, of_numbers=True))


def test_ten_numbers() -> None:
    y = np.array([-3.0, 3.0, 3.0, 0.0, 0.0, 1.0, 4.0, -2.0, -1.0, -2.0])
    assert optimise({"x": np.arange(10)}, y, max_depth=2).loss == pytest.approx(148 / 15)
