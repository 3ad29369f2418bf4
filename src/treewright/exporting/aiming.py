"""Rows whose weighted sum of columns is what it shall be: on a threshold, next to it, infinite, missing."""

from __future__ import annotations

import math
from collections.abc import Container
from functools import reduce
from operator import add, mul

import numpy as np
from numpy.typing import NDArray

from treewright.tree.oblique import Direction

Columns = dict[int, NDArray[np.float64]]

_LARGE = 1e100  # beyond, a sum has no room for another part
_STEPS = 6  # floats beside the one that arithmetic finds


def aim(
    direction: Direction,
    value: float,
    columns: Columns,
    row: int,
    kept: Container[int],
    random: np.random.Generator,
) -> None:
    """Change a row so that a sum is `value`, or as near to it as a float of one column brings it.

    Columns that are to be `kept` change only where all are.
    """
    parts = list(zip(direction.columns, direction.weights, strict=True))
    free = [place for place, (column, _) in enumerate(parts) if column not in kept] or range(len(parts))
    chosen = int(random.choice(free))
    for place, (column, _) in enumerate(parts):
        now = columns[column][row]
        if place != chosen and column not in kept and not abs(now) < _LARGE:
            size = max(1.0, min(abs(value), _LARGE)) if value == value else 1.0
            columns[column][row] = round(random.normal(scale=size), 1)
    column, weight = parts[chosen]
    if not np.isfinite(value):
        columns[column][row] = value * weight
        if np.isnan(value) and random.random() < 0.5:  # opposite infinities have no sum
            other, other_weight = parts[chosen - 1]
            columns[column][row], columns[other][row] = np.inf * weight, -np.inf * other_weight
        return
    if not _solve(
        parts, chosen, value, columns, row
    ):  # beside large parts there is no room for the last bits
        for place, (part, _) in enumerate(parts):
            if place != chosen and part not in kept and random.random() < 0.7:
                columns[part][row] = 0.0
        _solve(parts, chosen, value, columns, row)


def _solve(parts: list[tuple[int, float]], chosen: int, value: float, columns: Columns, row: int) -> bool:
    """Give one column the number with which the sum comes nearest to a value; whether it is that value."""
    values, weights = [float(columns[c][row]) for c, _ in parts], [w for _, w in parts]
    rest = sum(v * w for place, (v, w) in enumerate(zip(values, weights, strict=True)) if place != chosen)
    below = above = (value - rest) / weights[chosen]
    near = [below]
    for _ in range(_STEPS):
        below, above = math.nextafter(below, -math.inf), math.nextafter(above, math.inf)
        near += [below, above]
    best, least = near[0], math.inf
    for candidate in near:
        values[chosen] = candidate
        distance = abs(reduce(add, map(mul, weights, values)) - value)
        if distance < least:
            best, least = candidate, distance
    columns[parts[chosen][0]][row] = best
    return least == 0
