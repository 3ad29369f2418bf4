"""The losses of gradient boosting: the targets they take, where they start, and how predictions are made.

A loss is a class here and one in ``src/core/boosting/losses.cpp``, which computes gradients and hessians.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright._suggestions import choices_text
from treewright.encoding import Dataset
from treewright.encoding.schema import Target

Floats = NDArray[np.float64]

_LEAST_SHARE = 2.0**-52  # of a class without rows: its logarithm must be finite
_LARGEST_LOGIT_STEP = 5.0  # that a leaf adds, after the learning rate
_LARGEST_TARGET = 1e100  # beyond it squares of residuals leave the range of floating point
_SMALLEST_TARGET = 1e-130  # the same, where residuals are a small share of the targets


class Loss:
    """A loss of numbers whose raw prediction is the prediction itself."""

    name: ClassVar[str]
    predicts: ClassVar[str]  # what the trees predict, for the documentation
    of_classes: ClassVar[bool] = False

    def check(self, target: Target, values: NDArray[Any], counted: NDArray[np.intp]) -> None:
        """ValueError for a target that the loss cannot take, with the row.

        `counted` are the rows with a positive weight.
        """
        largest = float(np.abs(values).max())
        if largest > _LARGEST_TARGET:
            raise ValueError(f"target {target.name!r} has numbers beyond ±{_LARGEST_TARGET:g}; scale it down")

    def n_outputs(self, n_classes: int) -> int:
        """How many trees an iteration has."""
        return 1

    def leaf_quantile(self, quantile: float) -> float | None:
        """The quantile of the residuals that leaves predict; None if they take a Newton step."""
        return None

    def longest_step(self, learning_rate: float) -> float:
        """The longest step of a leaf, before the learning rate, for ``max_delta_step="auto"``."""
        return float("inf")

    def baseline(self, target: Floats, weight: Floats | None, n_classes: int, quantile: float) -> Floats:
        """The best constant for some rows: the raw prediction that boosting starts from."""
        raise NotImplementedError

    def predictions(self, raw: Floats) -> NDArray[Any]:
        """Numbers, or codes of classes, by raw predictions (rows, outputs)."""
        return raw[:, 0]


class SquaredError(Loss):
    """Half the squared error; leaves predict means."""

    name, predicts = "squared_error", "the mean of similar rows"

    def check(self, target: Target, values: NDArray[Any], counted: NDArray[np.intp]) -> None:
        """Numbers whose squares are finite and not 0."""
        super().check(target, values, counted)
        if 0 < float(np.abs(values).max()) < _SMALLEST_TARGET:
            raise ValueError(
                f"target {target.name!r} has no numbers beyond ±{_SMALLEST_TARGET:g}, whose squares leave "
                "the range of floating point; scale it up"
            )

    def baseline(self, target: Floats, weight: Floats | None, n_classes: int, quantile: float) -> Floats:
        """The mean."""
        return np.array([_mean(target, weight)])


class Quantile(Loss):
    """The pinball loss; leaves predict a quantile of the residuals."""

    name, predicts = "quantile", "a quantile"

    def leaf_quantile(self, quantile: float) -> float | None:
        """The quantile of the loss."""
        return quantile

    def baseline(self, target: Floats, weight: Floats | None, n_classes: int, quantile: float) -> Floats:
        """The quantile."""
        return np.array([weighted_quantile(target, weight, self.leaf_quantile(quantile) or 0.0)])


class AbsoluteError(Quantile):
    """The absolute error; leaves predict medians."""

    name, predicts = "absolute_error", "the median"

    def leaf_quantile(self, quantile: float) -> float | None:
        """The median."""
        return 0.5


class _Logarithmic(Loss):
    """A loss whose raw prediction is the logarithm of the prediction."""

    def baseline(self, target: Floats, weight: Floats | None, n_classes: int, quantile: float) -> Floats:
        """The logarithm of the mean."""
        return np.array([np.log(_mean(target, weight))])

    def predictions(self, raw: Floats) -> NDArray[Any]:
        """Exponentials."""
        return np.exp(raw[:, 0])


class Poisson(_Logarithmic):
    """Half the Poisson deviance, for counts.

    >>> Poisson().baseline(np.array([1.0, 3.0]), None, 0, 0.5).round(3)
    array([0.693])
    """

    name, predicts = "poisson", "the mean, for y >= 0; the trees add up to its logarithm"

    def check(self, target: Target, values: NDArray[Any], counted: NDArray[np.intp]) -> None:
        """Counts: not negative, and not all 0."""
        super().check(target, values, counted)
        if values.min() < 0:
            raise ValueError(
                "loss='poisson' requires non-negative y and sum(y) > 0; "
                f"target {target.name!r} is negative in row {values.argmin()}"
            )
        if not values[counted].any():
            raise ValueError(
                "loss='poisson' requires non-negative y and sum(y) > 0; "
                f"target {target.name!r} is zero in every row"
            )


class Gamma(_Logarithmic):
    """Half the gamma deviance, for positive numbers."""

    name, predicts = "gamma", "the mean, for y > 0; the trees add up to its logarithm"

    def check(self, target: Target, values: NDArray[Any], counted: NDArray[np.intp]) -> None:
        """Positive numbers."""
        super().check(target, values, counted)
        if values.min() <= 0:
            raise ValueError(
                "loss='gamma' requires strictly positive y; "
                f"target {target.name!r} is not positive in row {values.argmin()}"
            )


class LogLoss(Loss):
    """The log loss of classes: one logit for two of them, one for each of more."""

    name, predicts, of_classes = "log_loss", "the logits of the classes", True

    def n_outputs(self, n_classes: int) -> int:
        """One for two classes or a single one, else one for each."""
        return n_classes if n_classes > 2 else 1

    def longest_step(self, learning_rate: float) -> float:
        """No leaf adds more than 5 to a logit, which multiplies the odds by 148.

        A class of few rows has hessians of next to nothing, and a Newton step divides by them: one row of a
        class among thousands leads to steps of thousands. With numbers, the next tree corrects a step that is
        too long.
        """
        return _LARGEST_LOGIT_STEP / learning_rate

    def baseline(self, target: Floats, weight: Floats | None, n_classes: int, quantile: float) -> Floats:
        """The logarithms of the shares: their difference for two classes, centred for more.

        A single class is the first of two, the second of which no row has.
        """
        codes = target.astype(np.int64)
        if weight is None:
            shares = np.bincount(codes, minlength=max(n_classes, 2)).astype(np.float64)
        else:
            shares = _core.exact_sums(weight, group=codes, n_groups=max(n_classes, 2))
        shares = np.clip(shares / shares.sum(), _LEAST_SHARE, 1 - _LEAST_SHARE)
        logarithms = np.log(shares)
        if n_classes <= 2:
            return np.asarray(logarithms[1:] - logarithms[:1])
        return np.asarray(logarithms - logarithms.mean())

    def predictions(self, raw: Floats) -> NDArray[Any]:
        """The most probable class; the first of several."""
        return (raw[:, 0] > 0).astype(np.intp) if raw.shape[1] == 1 else raw.argmax(axis=1)


LOSSES: dict[str, Loss] = {
    each.name: each for each in (SquaredError(), AbsoluteError(), Quantile(), Poisson(), Gamma(), LogLoss())
}
OF_CLASSES = tuple(name for name, loss in LOSSES.items() if loss.of_classes)
OF_NUMBERS = tuple(name for name in LOSSES if name not in OF_CLASSES)


def check_target(name: str, data: Dataset) -> None:
    """ValueError if the target of a table does not fit the loss of a name."""
    known = OF_CLASSES if data.schema.predicts_classes else OF_NUMBERS
    if name not in known:
        raise ValueError(f"loss is {name!r}; for this target it must be one of {choices_text(name, known)}")
    assert data.targets is not None
    if len(data.targets) > 1:
        raise ValueError(f"there are {len(data.targets)} targets; gradient boosting learns one")
    if not len(data.counted):
        raise ValueError("no row has a positive weight; there is nothing to learn from")
    LOSSES[name].check(data.schema.targets[0], data.targets[0], data.counted)


def longest_step(loss: Loss, max_delta_step: float | str | None, learning_rate: float) -> float:
    """The longest step that a leaf may take, before the learning rate.

    >>> longest_step(LogLoss(), "auto", 0.1), longest_step(SquaredError(), "auto", 0.1)
    (50.0, inf)
    """
    if max_delta_step is None:
        return float("inf")
    if max_delta_step == "auto":
        return loss.longest_step(learning_rate)
    return float(max_delta_step)


def _mean(target: Floats, weight: Floats | None) -> float:
    """The mean: a function of the rows in any order, and of equal numbers exactly that number."""
    least = target.min()
    n = len(target) if weight is None else _core.exact_sums(weight)[0]
    return float(least + _core.exact_sums(target - least, weight)[0] / n)


def weighted_quantile(target: Floats, weight: Floats | None, share: float) -> float:
    """The value below which a share of the weight lies; the midpoint of two values if the share ends between
    them.
    """
    order = np.argsort(target, kind="stable") if weight is None else np.lexsort((weight, target))
    values = target[order]
    below = np.cumsum(np.ones(len(values)) if weight is None else weight[order])
    wanted = share * below[-1]
    place = min(int(np.searchsorted(below, wanted)), len(values) - 1)
    if below[place] == wanted and place + 1 < len(values):
        return float(values[place] / 2 + values[place + 1] / 2)
    return float(values[place])


def probabilities(raw: Floats, n_classes: int) -> Floats:
    """The probability of each class by raw predictions (rows, outputs).

    >>> probabilities(np.array([[0.0], [np.log(3)]]), 2).round(2).tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    """
    if n_classes == 1:
        return np.ones((len(raw), 1))
    if raw.shape[1] == 1:
        odds = np.exp(-np.abs(raw[:, 0]))
        near, far = 1 / (1 + odds), odds / (1 + odds)
        is_second = raw[:, 0] > 0
        return np.stack([np.where(is_second, far, near), np.where(is_second, near, far)], axis=1)
    shares = np.exp(raw - raw.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
