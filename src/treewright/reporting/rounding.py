"""Numbers for the payload: few digits, finite, whole numbers as integers."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context
from typing import Any

import numpy as np

DIGITS = 6  # a page shows four
ALL_DIGITS = 17  # enough to restore every float64 exactly
_EXACT = 2.0**53  # beyond it a float is no longer a count


def short(value: float, digits: int = DIGITS) -> int | float | None:
    """A number rounded to so many digits; whole numbers as integers, None for NaN and infinity.

    >>> short(0.123456789), short(1234567.0), short(float("nan"))
    (0.123457, 1234567, None)
    """
    if value != value or value in (np.inf, -np.inf):
        return None
    if value.is_integer() and abs(value) < _EXACT:
        return int(value)
    return float(f"{value:.{digits}g}")


def shorts(values: Any, digits: int = DIGITS) -> list[Any]:
    """The same for an array of any number of dimensions, as lists.

    >>> shorts(np.array([[0.1, 2.0], [1 / 3, np.inf]]))
    [[0.1, 2], [0.333333, None]]
    """
    array = np.asarray(values, np.float64)
    flat = array.ravel()
    if np.isfinite(flat).all() and (np.abs(flat) < _EXACT).all() and (flat == np.rint(flat)).all():
        return list(array.astype(np.int64).tolist())
    listed: list[Any] = [short(value, digits) for value in flat.tolist()]
    for width in array.shape[:0:-1]:
        listed = [listed[i : i + width] for i in range(0, len(listed), width)]
    return listed


def bounds_from_above(values: Any) -> list[float]:
    """Upper bounds, rounded up so that they still hold.

    >>> bounds_from_above([0.12345601, 0.5])
    [0.123457, 0.5]
    """
    upwards = Context(prec=DIGITS, rounding=ROUND_CEILING)
    return [float(upwards.create_decimal_from_float(value)) for value in np.asarray(values).tolist()]


def confidence(delta: float) -> str:
    """The confidence 1 − delta in per cent.

    >>> confidence(0.05)
    '95 %'
    """
    return f"{round(100 * (1 - delta), 10):g} %"
