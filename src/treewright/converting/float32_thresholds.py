"""Thresholds for float64 numbers that decide like those of libraries that round numbers to float32."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright._arrays import Array, Floats

Rows = Literal["float64", "float32"]
_BEYOND = 2.0**128  # where float32 would go on after its largest number


def check_rows(rows: str) -> None:
    """ValueError unless `rows` is a type that tables may have."""
    if rows not in ("float64", "float32"):
        raise ValueError(f"rows is {rows!r}; it must be 'float64' or 'float32'")


def thresholds(limit: Array, rows: Rows) -> Floats:
    """Thresholds t such that x <= t exactly if float32(x) <= limit.

    For `rows` of float64 there is one such threshold for each limit; for those of float32 there are many, and
    the shortest decimal is chosen.

    >>> thresholds(np.array([1.75, 0.7499999701976776]), "float32").tolist()
    [1.75, 0.74999997]
    >>> t = thresholds(np.array([0.8]), "float64")[0]
    >>> [float(np.float32(x)) <= 0.8 for x in (t, np.nextafter(t, 1))]
    [True, False]
    """
    limit = np.asarray(limit, np.float64)
    with np.errstate(over="ignore"):  # the largest float32 that is not above the limit
        near = limit.astype(np.float32)
        low = np.where(near > limit, np.nextafter(near, np.float32(-np.inf)), near).astype(np.float32)
    return last_rounded_to(low) if rows == "float64" else _shortest(low)


def last_rounded_to(low: NDArray[np.float32]) -> Floats:
    """The largest float64 that rounds to at most the given float32.

    It is half way to the next float32, or just below where ties round to the even neighbour above.
    """
    above = _next(low)
    begin = np.where(np.isneginf(low), -_BEYOND, low.astype(np.float64))
    end = np.where(np.isposinf(above), _BEYOND, above.astype(np.float64))
    middle = (begin + end) / 2
    is_even = low.view(np.uint32) % 2 == 0
    last = np.where(is_even, middle, np.nextafter(middle, -np.inf))
    return np.where(np.isposinf(low), np.inf, last)


def _next(low: NDArray[np.float32]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # after the largest comes infinity
        return np.nextafter(low, np.float32(np.inf))


def _shortest(low: NDArray[np.float32]) -> Floats:
    """The shortest decimals from the given float32 on, below the next one."""
    above = _next(low)
    numbers = low.astype(np.float64)
    between = np.isfinite(low) & np.isfinite(above)
    inside = _core.readable(numbers[between], above[between].astype(np.float64))
    pairs = zip(numbers[between].tolist(), inside.tolist(), strict=True)
    numbers[between] = [min(pair, key=lambda number: len(repr(number))) for pair in pairs]
    return numbers
