"""Losses as whole numbers: weights, costs and the price of a leaf on a grid on which sums are exact.

Whole weights, and costs of few decimals, are on the grid as they are; other ones are rounded to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from treewright._arrays import Floats
from treewright.encoding import Dataset
from treewright.tree.costs import cost_arrays

Wholes = NDArray[np.int64]

_LARGEST_SUM = 2**52  # of whole weights that are taken as they are
_WEIGHT_BITS = 40  # of the sum of other weights
_NUMBER_WEIGHT_BITS = 30  # the same where the targets are numbers, whose squares take the other bits
_SUM_BITS = 57  # of all that could be lost
_MOST_STEPS = 10**6  # of the grid within a unit of cost
_COST_BITS = 16  # of the largest cost, where costs have too many decimals


@dataclass(frozen=True, eq=False)
class Grid:
    """Weights and gains as whole numbers; `unit` is what one of them is in the loss of a tree."""

    weights: Wholes | None  # of the rows; None: 1 each
    gains: Wholes | None  # what each answer saves for each class; None: 1 if it is right
    unit: float
    leaf_price: int = 0
    of_weight: float = 1.0  # what one of the weights is
    rounding: float = 0.0  # by which the loss of a tree may differ on the grid, at most

    def units(self, amount: float) -> int:
        """An amount of loss on the grid, rounded down."""
        return min(math.floor(amount / self.unit * (1 + 1e-12)), 2**62)


def class_grid(data: Dataset, leaf_price: float) -> Grid:
    """The grid of classes, for rows with positive weight; `leaf_price` is in units of the loss.

    >>> from treewright import encode
    >>> grid = class_grid(encode({"x": [1, 2]}, ["a", "b"], weight=[2.0, 3.0]), leaf_price=0.25)
    >>> grid.weights.tolist(), grid.gains.tolist(), grid.unit, grid.leaf_price
    ([2, 3], [[4, 0], [0, 4]], 0.25, 1)
    """
    weights, of_weight, rounding = _whole_weights(data.weight, _WEIGHT_BITS)
    total = float(data.n_rows if weights is None else weights.sum())
    [costs] = cost_arrays(data.schema)
    prices = [] if leaf_price == 0 else [leaf_price / of_weight]
    matrix = 1.0 - np.eye(data.schema.width) if costs is None and prices else costs
    if matrix is None:
        return Grid(weights, None, of_weight, 0, of_weight, rounding)
    highest = float(matrix.max())
    room = min(float(_MOST_STEPS), 2.0**_SUM_BITS / total / max(highest, 1e-300))
    steps = _steps([*matrix[np.unique(data.target_array[0])].ravel().tolist(), *prices], room)
    if steps is None:
        steps = min(room, 2.0 ** (_COST_BITS - math.frexp(highest)[1]))
    lost = np.rint(matrix * steps).astype(np.int64)
    off = float(np.abs(lost / steps - matrix).max()) * total * of_weight
    price = max(round(price * steps) for price in (prices or [0.0]))
    rounding = rounding * highest + (off if off > 1e-9 * highest * total * of_weight else 0.0)
    gains = lost.max(axis=1, keepdims=True) - lost
    return Grid(weights, gains, of_weight / steps, price, of_weight, rounding)


def number_grid(data: Dataset) -> Grid:
    """The grid of the weights of numbers; the search has one for the numbers and for their losses."""
    weights, of_weight, rounded = _whole_weights(data.weight, _NUMBER_WEIGHT_BITS)
    rounding = rounded * float(np.ptp(data.target_array[0])) ** 2
    return Grid(weights, None, of_weight, of_weight=of_weight, rounding=rounding)


def _whole_weights(weight: Floats | None, bits: int) -> tuple[Wholes | None, float, float]:
    """Weights as whole numbers, their unit, and the sum of what rounding changes."""
    if weight is None:
        return None, 1.0, 0.0
    total = float(weight.sum())
    if total <= _LARGEST_SUM and not (weight % 1).any():
        whole = weight.astype(np.int64)
        divisor = int(np.gcd.reduce(whole))
        return (None if (whole == divisor).all() else whole // divisor), float(divisor), 0.0
    if (weight == weight[0]).all():
        return None, float(weight[0]), 0.0
    unit = math.ldexp(1.0, math.frexp(total)[1] - bits)
    whole = np.maximum(np.rint(weight / unit), 1).astype(np.int64)
    return whole, unit, float(np.abs(whole * unit - weight).sum())


def _steps(amounts: Iterable[float], most: float) -> float | None:
    """The least number of steps to a unit on whose grid all amounts are, as they are written; None where it
    takes more than `most`.

    >>> _steps([0.25, 1.5, 3.0], 1e6), _steps([1 / 3], 1e6)
    (4.0, None)
    """
    steps = 1
    for amount in amounts:
        steps = math.lcm(steps, Fraction(repr(amount)).denominator)
        if steps > most:
            return None
    return float(steps)
