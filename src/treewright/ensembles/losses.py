"""The losses of gradient boosting: what they take, where they start, what predictions mean to them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset

Floats = NDArray[np.float64]

OF_CLASSES = ("log_loss",)
OF_NUMBERS = ("squared_error", "absolute_error", "quantile", "poisson", "gamma")
BY_QUANTILE = ("absolute_error", "quantile")  # leaves answer a quantile of the residuals
BY_LOGARITHM = ("poisson", "gamma")  # trees add up to the logarithm of the answer
_LEAST_SHARE = 2.0**-52  # of a class without rows: its logarithm must be finite
_LARGEST_LOGIT_STEP = 5.0  # that a leaf adds, after the learning rate
_LARGEST_TARGET = 1e100  # beyond it squares of residuals leave the range of floating point
_SMALLEST_TARGET = 1e-130  # the same, where residuals are a small share of the targets


def check_targets(loss: str, data: Dataset) -> None:
    """Refuse targets that a loss cannot take; say which row."""
    known = OF_CLASSES if data.schema.predicts_classes else OF_NUMBERS
    if loss not in known:
        raise ValueError(f"loss is {loss!r}; for this target it must be one of {', '.join(known)}")
    assert data.targets is not None
    if len(data.targets) > 1:
        raise ValueError(f"there are {len(data.targets)} targets; gradient boosting learns one")
    name, target, counted = data.schema.targets[0].name, data.targets[0], data.counted
    if not len(counted):
        raise ValueError("no row has a positive weight; there is nothing to learn from")
    if data.schema.predicts_classes:
        if (target[counted] == target[counted[0]]).all():
            only = (data.schema.targets[0].classes or ())[target[counted[0]]]
            raise ValueError(
                f"target {name!r} has one class only, {only!r}; boosting needs at least two classes"
            )
        return
    largest = float(np.abs(target).max())
    if largest > _LARGEST_TARGET:
        raise ValueError(f"target {name!r} has numbers beyond ±{_LARGEST_TARGET:g}; scale it down")
    if loss == "squared_error" and 0 < largest < _SMALLEST_TARGET:
        raise ValueError(
            f"target {name!r} has no numbers beyond ±{_SMALLEST_TARGET:g}, whose squares leave the range of "
            "floating point; scale it up"
        )
    if loss == "poisson" and target.min() < 0:
        raise ValueError(f"target {name!r} is negative in row {target.argmin()}; loss='poisson' needs y >= 0")
    if loss == "poisson" and not target[counted].any():
        raise ValueError(f"target {name!r} is zero in every row; loss='poisson' needs a positive sum")
    if loss == "gamma" and target.min() <= 0:
        raise ValueError(
            f"target {name!r} is not positive in row {target.argmin()}; loss='gamma' needs y > 0"
        )


def longest_step(loss: str, given: float | str | None, learning_rate: float) -> float:
    """The longest step that a leaf may take, before the learning rate; `given` is `max_delta_step`.

    A class of few rows has hessians of next to nothing, and a Newton step divides by them: one row of a class
    among thousands asks for steps of thousands, on a scale on which 5 multiplies the odds by 148. "auto"
    bounds the steps of classes, so that no leaf adds more than that to a logit, and not those of numbers,
    for which too long a step is corrected by the next.

    >>> longest_step("log_loss", "auto", 0.1), longest_step("squared_error", "auto", 0.1)
    (50.0, inf)
    """
    if given is None or (given == "auto" and loss not in OF_CLASSES):
        return float("inf")
    if given == "auto":
        return _LARGEST_LOGIT_STEP / learning_rate
    try:
        step = float(given)
    except (TypeError, ValueError):
        step = 0.0
    if not step > 0:
        raise ValueError(f"max_delta_step is {given!r}; it must be a positive number, 'auto' or None")
    return step


def n_outputs(loss: str, n_classes: int) -> int:
    """How many trees an iteration has: one, or of more than two classes one for each."""
    return n_classes if loss == "log_loss" and n_classes > 2 else 1


def baseline(loss: str, target: Floats, weight: Floats | None, n_classes: int, quantile: float) -> Floats:
    """The best constant for the given rows: where boosting starts.

    >>> baseline("poisson", np.array([1.0, 3.0]), None, 0, 0.5).round(3)
    array([0.693])
    """
    if loss == "squared_error":
        return np.array([_mean(target, weight)])
    if loss in BY_QUANTILE:
        return np.array([weighted_quantile(target, weight, quantile if loss == "quantile" else 0.5)])
    if loss in BY_LOGARITHM:
        return np.array([np.log(_mean(target, weight))])
    shares = np.bincount(target.astype(np.intp), weights=weight, minlength=n_classes)
    shares = np.clip(shares / shares.sum(), _LEAST_SHARE, 1 - _LEAST_SHARE)
    logarithms = np.log(shares)
    if n_classes == 2:
        return np.asarray(logarithms[1:] - logarithms[:1])
    return np.asarray(logarithms - logarithms.mean())


def _mean(target: Floats, weight: Floats | None) -> float:
    """About the first number, so that equal numbers have exactly themselves as their mean."""
    return float(target[0] + np.average(target - target[0], weights=weight))


def weighted_quantile(target: Floats, weight: Floats | None, share: float) -> float:
    """The value below which a share of the weight lies; the middle of two where it ends between them."""
    order = np.argsort(target, kind="stable")
    values = target[order]
    below = np.cumsum(np.ones(len(values)) if weight is None else weight[order])
    wanted = share * below[-1]
    place = min(int(np.searchsorted(below, wanted)), len(values) - 1)
    if below[place] == wanted and place + 1 < len(values):
        return float(values[place] / 2 + values[place + 1] / 2)
    return float(values[place])


def answers(loss: str, raw: Floats) -> NDArray[Any]:
    """The numbers that raw predictions (rows, outputs) of a loss of numbers stand for."""
    return np.exp(raw[:, 0]) if loss in BY_LOGARITHM else raw[:, 0]


def probabilities(raw: Floats) -> Floats:
    """The probability of each class by raw predictions (rows, outputs).

    >>> probabilities(np.array([[0.0], [np.log(3)]])).round(2).tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    """
    if raw.shape[1] == 1:
        odds = np.exp(-np.abs(raw[:, 0]))
        near, far = 1 / (1 + odds), odds / (1 + odds)
        is_second = raw[:, 0] > 0
        return np.stack([np.where(is_second, far, near), np.where(is_second, near, far)], axis=1)
    shares = np.exp(raw - raw.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def codes(raw: Floats) -> NDArray[np.intp]:
    """The likeliest class by raw predictions; the first among equals."""
    return (raw[:, 0] > 0).astype(np.intp) if raw.shape[1] == 1 else raw.argmax(axis=1)
