"""Numbers on their way into a page: short, finite, whole where they are whole."""

from __future__ import annotations

from typing import Any

import numpy as np

DIGITS = 6  # a page shows four
_EXACT = 2.0**53  # beyond it a float is no longer a count


def short(value: float, digits: int = DIGITS) -> int | float | None:
    """A number with so many digits; whole numbers as they are, None for what is no number.

    >>> short(0.123456789), short(1234567.0), short(float("nan"))
    (0.123457, 1234567, None)
    """
    if value != value or value in (np.inf, -np.inf):
        return None
    if value == int(value) and abs(value) < _EXACT:
        return int(value)
    return float(f"{value:.{digits}g}")


def shorts(values: Any, digits: int = DIGITS) -> list[Any]:
    """The same for an array of any number of dimensions, as lists.

    >>> shorts(np.array([[0.1, 2.0], [1 / 3, np.inf]]))
    [[0.1, 2], [0.333333, None]]
    """
    array = np.asarray(values, np.float64)
    if array.ndim > 1:
        return [shorts(row, digits) for row in array]
    if np.isfinite(array).all() and (np.abs(array) < _EXACT).all() and (array == np.rint(array)).all():
        return list(array.astype(np.int64).tolist())
    return [short(value, digits) for value in array.tolist()]
