"""Times and durations as exact numbers: microseconds since 1970, and seconds."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from treewright._arrays import Array

_SECOND = 10**6
_COARSE = {  # in microseconds
    **{"us": 1, "ms": 10**3, "s": _SECOND, "m": 60 * _SECOND},
    **{"h": 3600 * _SECOND, "D": 86400 * _SECOND, "W": 604800 * _SECOND},
}
_FINE = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}  # ticks per microsecond

# Below this, durations that differ by a microsecond differ as float64 seconds too.
_LONGEST_SECONDS = 2**33


def microseconds(values: Array, what: str) -> Array:
    """datetime64 of any unit as float64 microseconds since 1970; NaT becomes NaN; nothing is rounded."""
    ticks, missing = _whole_microseconds(values, what)
    numbers = ticks.astype(np.float64)
    # Beyond 2^53 (the year 2255) whole seconds and days are still exact: 9999-12-31 is a popular "never".
    with np.errstate(invalid="ignore"):
        inexact = (np.abs(numbers) >= 2.0**63) | (numbers.astype(np.int64) != ticks)
    why = "too far from 1970 to be kept exact to the microsecond; round it to whole seconds"
    _refuse_first(inexact, values, what, why)
    numbers[missing] = np.nan
    return numbers


def seconds(values: Array, what: str) -> Array:
    """timedelta64 of any unit as float64 seconds; NaT becomes NaN."""
    ticks, missing = _whole_microseconds(values, what)
    numbers = ticks / 1e6
    is_long = np.abs(numbers) >= _LONGEST_SECONDS
    _refuse_first(is_long, values, what, "too long to be kept exact (272 years)")
    numbers[missing] = np.nan
    return numbers


def _whole_microseconds(values: Array, what: str) -> tuple[Array, Array]:
    """The values as int64 microseconds (0 where missing), and where they are missing."""
    missing = np.isnat(values)
    kind = values.dtype.kind
    unit, count = np.datetime_data(values.dtype)
    if missing.all():
        return np.zeros(len(values), np.int64), missing
    if unit == "generic" or (unit in "YM" and kind == "m"):
        raise ValueError(
            f"{what}: its unit is {unit!r}, which has no length in seconds; convert it to {kind}8[us]"
        )
    ticks = _ticks(values, missing)
    if unit in "YM":  # of no fixed length: numpy turns them into days
        _refuse_far(ticks, 10**6 // count, values, what)
        unit, count, ticks = "D", 1, _ticks(values.astype("M8[D]"), missing)
    factor = count * _COARSE.get(unit, 1)
    _refuse_far(ticks, (2**63 - 1) // factor, values, what)
    if unit in _COARSE:
        return ticks * factor, missing
    whole, rest = np.divmod(ticks * factor, _FINE[unit])
    _refuse_first(rest != 0, values, what, _NOT_WHOLE)
    return whole, missing


_NOT_WHOLE = "which is not a whole number of microseconds; round the column to microseconds"


def _refuse_first(bad: Array, values: Array, what: str, why: str) -> None:
    """ValueError about the first bad value, if there is one."""
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"{what}: row {row} is {values[row]}, {why}")


def _ticks(values: Array, missing: Array) -> Array:
    """The integers behind datetime64 or timedelta64; 0 where missing."""
    native = values.astype(values.dtype.newbyteorder("="), copy=False)
    return np.where(missing, 0, native.view(np.int64))


def _refuse_far(ticks: Array, limit: int, values: Array, what: str) -> None:
    why = "too far away to be counted in microseconds"
    _refuse_first((ticks > limit) | (ticks < -limit), values, what, why)


def from_datetimes(values: list[Any], what: str) -> Array:
    """Python's dates and datetimes (None where missing) as microseconds since 1970, in UTC where aware."""
    has_zone = [getattr(value, "tzinfo", None) is not None for value in values if value is not None]
    if any(has_zone) and not all(has_zone):
        raise ValueError(f"{what} mixes times with and without a time zone; give all of them one")
    _refuse_nanoseconds(values, "nanosecond", what)
    if any(has_zone):
        utc = datetime.UTC
        values = [None if value is None else value.astimezone(utc).replace(tzinfo=None) for value in values]
    return microseconds(np.array(values, dtype="M8[us]"), what)


def from_timedeltas(values: list[Any], what: str) -> Array:
    """Python's timedeltas (None where missing) as float64 seconds."""
    _refuse_nanoseconds(values, "nanoseconds", what)
    return seconds(np.array(values, dtype="m8[us]"), what)


def _refuse_nanoseconds(values: list[Any], attribute: str, what: str) -> None:
    """An error for the nanoseconds of pandas' scalars, which numpy would cut off."""
    if not any(hasattr(kind, attribute) for kind in set(map(type, values))):
        return
    for row, value in enumerate(values):
        if getattr(value, attribute, 0):
            raise ValueError(f"{what}: row {row} is {value}, {_NOT_WHOLE}")
