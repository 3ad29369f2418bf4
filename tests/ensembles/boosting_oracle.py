"""Gradient boosting by brute force: every border of every column tried anew, in plain floating point."""

from __future__ import annotations

import numpy as np


def best_split(X, gradient, hessian, rows, *, min_rows, l2):
    """(gain, column, value): the rows whose number is at most the value go left; None without a split."""
    best = None
    g, h = gradient[rows].sum(), hessian[rows].sum()
    for column in range(X.shape[1]):
        values = np.unique(X[rows, column])
        for value in values[:-1]:
            left = X[rows, column] <= value
            if min(left.sum(), (~left).sum()) < min_rows:
                continue
            gl, hl = gradient[rows][left].sum(), hessian[rows][left].sum()
            if min(hl, h - hl) < 1e-3:
                continue
            gain = gl**2 / (hl + l2) + (g - gl) ** 2 / (h - hl + l2) - g**2 / (h + l2)
            if gain > 1e-9 * (1 + abs(g)) and (best is None or gain > best[0] * (1 + 1e-9)):
                best = gain, column, value
    return best


def grow(X, gradient, hessian, *, max_leaf_nodes, min_rows, l2):
    """The leaves as lists of rows, best first."""
    leaves = {0: np.arange(len(X))}
    splits = {0: best_split(X, gradient, hessian, leaves[0], min_rows=min_rows, l2=l2)}
    made = 1
    while len(leaves) < max_leaf_nodes:
        open_leaves = [leaf for leaf in leaves if splits[leaf] is not None]
        if not open_leaves:
            break
        leaf = max(open_leaves, key=lambda leaf: (splits[leaf][0], -leaf))
        rows, (_, column, value) = leaves.pop(leaf), splits.pop(leaf)
        left = X[rows, column] <= value
        for part in (rows[left], rows[~left]):
            leaves[made] = part
            splits[made] = best_split(X, gradient, hessian, part, min_rows=min_rows, l2=l2)
            made += 1
    return list(leaves.values())


def boost(X, start, derivatives, *, max_iter, rate=0.1, max_leaf_nodes=31, min_rows=20, l2=0.0, answer=None):
    """Raw predictions, (outputs, rows), after each iteration; `derivatives(raw)` gives those of the loss."""
    raw = np.repeat(np.asarray(start, float)[:, None], len(X), axis=1)
    for _ in range(max_iter):
        gradients, hessians = derivatives(raw)
        before = raw.copy()
        for k, (gradient, hessian) in enumerate(zip(gradients, hessians, strict=True)):
            for rows in grow(X, gradient, hessian, max_leaf_nodes=max_leaf_nodes, min_rows=min_rows, l2=l2):
                step = -gradient[rows].sum() / (hessian[rows].sum() + l2)
                raw[k, rows] += rate * (step if answer is None else answer(rows, before[k]))
        yield raw.copy()
