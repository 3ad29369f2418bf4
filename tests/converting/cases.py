"""Rows at and next to the limits of another library's tree, and the comparison of leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, load_iris

from treewright import (
    Tree,
    encode,
)

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
SPECIES = np.array(["setosa", "versicolor", "virginica"])[IRIS[1]]
RNG = np.random.default_rng(0)
HOLES = np.where(RNG.random(IRIS[0].shape) < 0.2, np.nan, IRIS[0])
MONOTONE = {"monotonic_cst": [1, 0, 0, -1]}


def hard_rows(limits: Any, features: Any, n_columns: int, n: int = 4000, infinite: bool = False) -> Any:
    """On limits, beside them in float64 and float32, and half way between two numbers of float32."""
    rng, rows = np.random.default_rng(1), np.empty((n, n_columns))
    odd = [0.0, -0.0, 5e-324, -5e-324, 7e-46, 1e-45, 3.4e38, -3.4e38, np.nan] + [np.inf, -np.inf] * infinite
    for j in range(n_columns):
        own = np.asarray(limits, float)[np.asarray(features) == j]
        own = own[np.isfinite(own)]
        single = own.astype(np.float32)
        near = np.concatenate([single, *(np.nextafter(single, np.float32(side)) for side in (9e9, -9e9))])
        half = (near.astype(float) + np.nextafter(near, np.float32(9e9)).astype(float)) / 2
        exact = np.concatenate([own, half])
        pool = [
            exact,
            np.nextafter(exact, 9e9),
            np.nextafter(exact, -9e9),
            near.astype(float),
            odd,
            rng.normal(size=9),
        ]
        rows[:, j] = rng.choice(np.concatenate(pool), n)
    return rows


def same_leaves(ours: Any, theirs: Any) -> None:
    """One leaf of ours for each of theirs."""
    pairs = set(zip(np.asarray(ours).tolist(), np.asarray(theirs).tolist(), strict=True))
    assert len(pairs) == len(set(ours.tolist())) == len({b for _, b in pairs})


def check_like(tree: Tree, model: Any, rows: Any) -> None:
    tree.check()
    same_leaves(tree.apply(encode(rows, schema=tree.schema)), model.apply(rows))
    np.testing.assert_array_equal(tree.predict(rows), model.predict(rows))
