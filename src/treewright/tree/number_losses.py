"""The losses of predicted numbers, by the criteria of numbers, which reduce them.

The core computes the gains of a criterion; everything else that depends on it is an attribute of its loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from treewright._arrays import Array, Floats


@dataclass(frozen=True)
class NumberLoss:
    """A loss of predicted numbers."""

    words: str
    of_rows: Callable[[Floats, Floats], Floats]  # of targets and predictions
    power: int = 1  # of the unit of the target that a loss has
    predicts_median: bool = False  # leaves predict the median; else the mean
    is_deviance: bool = False  # which no root turns into a distance in the unit of the target
    is_of_counts: bool = False  # for numbers >= 0, and no node may have a sum of 0

    def typical(self, mean: Floats) -> Floats:
        """The distance in the unit of the target that corresponds to a mean loss; NaN if none does."""
        if self.is_deviance:
            return np.full(np.shape(mean), np.nan)
        return np.sqrt(mean) if self.power == 2 else mean

    def allows(self, numbers: Array) -> bool:
        """Whether a node of these numbers, (targets, rows), has a prediction of finite loss."""
        return not self.is_of_counts or bool(np.asarray(numbers).any(axis=1).all())


def _poisson(y: Floats, value: Floats) -> Floats:
    """Half the deviance; that of 0 for a positive number is infinite."""
    ratio = np.where(y > 0, np.inf, 1.0)
    np.divide(y, value, out=ratio, where=(y > 0) & (value > 0))
    return np.asarray(y * np.log(ratio) - y + value)


NUMBER_LOSSES = {
    "squared_error": NumberLoss("squared error", lambda y, value: np.abs(y - value) ** 2, power=2),
    "absolute_error": NumberLoss("absolute error", lambda y, value: np.abs(y - value), predicts_median=True),
    "poisson": NumberLoss("poisson loss", _poisson, is_deviance=True, is_of_counts=True),
}


def is_squared(criterion: str) -> bool:
    """Whether a criterion is one of numbers whose loss has the square of their unit."""
    return criterion in NUMBER_LOSSES and NUMBER_LOSSES[criterion].power == 2


def predicts_medians(criterion: str) -> bool:
    """Whether a criterion is one of numbers whose leaves predict medians."""
    return criterion in NUMBER_LOSSES and NUMBER_LOSSES[criterion].predicts_median
