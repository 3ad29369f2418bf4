"""Targets and weights of any size, scaled by powers of two to where sums of their squares have room."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.tree import Tree
from treewright.tree.linear_leaves import LinearAnswers

_ROOM = 256  # binary orders of magnitude on either side of 1 that need no scaling
_LEAST_ORDER = 1000  # below 1; smaller numbers soon lose digits


@dataclass(frozen=True)
class Scale:
    """Powers of two that targets and weights are multiplied by: no digit of either is lost."""

    numbers: int = 0
    weights: int = 0

    @classmethod
    def of(cls, data: Dataset, *, weights_count: bool) -> Scale:
        """The scale of a table of numbers; that of its weights is 1 where they count as rows.

        Only what is far from 1 is scaled: tiny targets up, and weights either way. Huge targets are refused
        elsewhere, because their squares have no place in a tree. Classes need no squares.

        >>> from treewright import encode
        >>> Scale.of(encode({"x": [1.0, 2.0]}, [0.0, 2.0**-500]), weights_count=False)
        Scale(numbers=499, weights=0)
        """
        if data.targets is None or data.schema.predicts_classes:
            return cls()
        weights = 0 if weights_count or data.weight is None else _to_one(data.weight)
        return cls(max(_to_one(data.targets), 0), weights)

    def __bool__(self) -> bool:
        return self != Scale()

    def table(self, data: Dataset) -> Dataset:
        """The same rows, scaled."""
        assert data.targets is not None
        weight = None if data.weight is None else np.ldexp(data.weight, self.weights)
        return data.retargeted(np.ldexp(data.targets, self.numbers)).reweighted(weight)

    def options(self, given: dict[str, Any], criterion: str) -> dict[str, Any]:
        """The limits among the options of `grow` that are in units of the weights or of the gain."""
        orders = {"min_weight_leaf": self.weights, "min_gain": self._orders_of_loss(criterion)}
        limits = {name: _times(given[name], order) for name, order in orders.items()}
        return given | limits | {"data": self.table(given["data"])}

    def _orders_of_loss(self, criterion: str) -> int:
        """Of a loss: a weight times a number, or times its square."""
        return self.weights + self.numbers * (2 if criterion == "squared_error" else 1)

    def undone(self, tree: Tree) -> Tree:
        """The tree of the rows as they were; losses that are too small for floating point are 0."""
        orders = [self.weights, self.numbers, self._orders_of_loss(tree.criterion)]
        of_all = np.tile(orders, len(tree.schema.targets))
        with np.errstate(over="ignore"):
            statistic = np.ldexp(np.asarray(tree.statistic), -of_all)
        if not np.isfinite(statistic).all():
            raise ValueError(
                "weight: the loss of the targets, a weighted sum of squares or distances, overflows float64; "
                "divide the weights or the targets by a constant"
            )
        return replace(tree, statistic=statistic, linear=self._formulas(tree.linear))

    def _formulas(self, linear: LinearAnswers | None) -> LinearAnswers | None:
        if linear is None:
            return None
        return replace(
            linear,
            intercept=np.ldexp(linear.intercept, -self.numbers),
            coefficient=np.ldexp(linear.coefficient, -self.numbers),
            loss=np.ldexp(linear.loss, -self._orders_of_loss("squared_error")),
        )


def _to_one(values: NDArray[np.float64]) -> int:
    """The power of two that takes the largest of some numbers to 1; 0 where it is near enough, and less where
    the smallest one would lose digits.
    """
    sizes = np.abs(values[values != 0])
    order = -math.frexp(float(sizes.max(initial=0.0)))[1]
    if abs(order) <= _ROOM:
        return 0
    return order if order > 0 else min(max(order, -_LEAST_ORDER - math.frexp(float(sizes.min()))[1]), 0)


def _times(value: Any, order: int) -> Any:
    """A limit times a power of two, where it is a number; others are refused later on."""
    try:
        return float(np.ldexp(np.float64(value), order)) if order else value
    except (TypeError, ValueError):
        return value
