"""Checks of values, each with the words for what it allows."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import Any

import numpy as np

_MOST_THREADS = 256


@dataclass(frozen=True)
class Allowed:
    """A check, what it allows in words, and the names among which it is a choice."""

    check: Callable[[Any], bool]
    words: str
    choices: tuple[str, ...] = ()


def is_int(value: Any) -> bool:
    """Whether a value is a whole number and not a bool."""
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool | np.bool_))


def is_fraction(value: Any) -> bool:
    """Whether a value is a real number that is not whole by type: 1.0 is a fraction, 1 is a count."""
    return type(value) is float or (isinstance(value, Real) and not isinstance(value, Integral | np.bool_))


def is_real(value: Any) -> bool:
    """Whether a value is a number and not a bool."""
    return is_fraction(value) or is_int(value)


def whole(least: int, *, none: bool = False) -> Allowed:
    """A whole number from `least` on.

    >>> whole(1, none=True).words
    'an int >= 1, or None'
    """
    if none:
        return Allowed(lambda v: v is None or (is_int(v) and v >= least), f"an int >= {least}, or None")
    return Allowed(lambda v: is_int(v) and v >= least, f"an int >= {least}")


def number(
    least: float, most: float = inf, *, open_left: bool = False, open_right: bool = False, none: bool = False
) -> Allowed:
    """A number of an interval; without an upper end it must be finite.

    >>> number(0, 1, open_left=True).words, number(0).words
    ('a number in (0, 1]', 'a finite number >= 0')
    """

    def check(v: Any) -> bool:
        if v is None:
            return none
        above = is_real(v) and (v > least if open_left else v >= least)
        return bool(above and (v < most if open_right or most == inf else v <= most))

    if most == inf:
        words = f"a finite number {'>' if open_left else '>='} {least}"
    else:
        words = f"a number in {'(' if open_left else '['}{least}, {most}{')' if open_right else ']'}"
    return Allowed(check, words + (", or None" if none else ""))


def one_of(*names: str) -> Allowed:
    """One of some names."""
    return Allowed(
        lambda v: isinstance(v, str) and v in names, f"one of {', '.join(map(repr, names))}", names
    )


def one_of_or(kinds: type | tuple[type, ...], call: str, *names: str) -> Allowed:
    """One of some names, or an option value, which `call` shows."""
    words = f"one of {', '.join(map(repr, names))}, or {call}"
    return Allowed(lambda v: isinstance(v, kinds) or (isinstance(v, str) and v in names), words, names)


def instance(kinds: Any, words: str) -> Allowed:
    """A value of some types, or None."""
    return Allowed(lambda v: v is None or isinstance(v, kinds), f"{words}, or None")


def count_or_fraction(least: int, most_open: bool, what: str, *, none: bool = False) -> Allowed:
    """A whole number from `least` on, or a fraction of all rows or columns, as scikit-learn has it."""
    end = ")" if most_open else "]"
    words = f"an int >= {least}, or a float in (0, 1{end}: a fraction of the {what}"

    def check(v: Any) -> bool:
        if is_int(v):
            return bool(v >= least)
        return (none and v is None) or (is_fraction(v) and (0 < v < 1 or (v == 1 and not most_open)))

    return Allowed(check, words + (", or None" if none else ""))


def _is_random_state(value: Any) -> bool:
    return value is None or isinstance(value, np.random.RandomState) or (is_int(value) and 0 <= value < 2**32)


TRUE_OR_FALSE = Allowed(lambda v: isinstance(v, bool | np.bool_), "True or False")
VERBOSE = Allowed(lambda v: TRUE_OR_FALSE.check(v) or (is_int(v) and v >= 0), "an int >= 0")
RANDOM_STATE = Allowed(_is_random_state, "an int in [0, 2**32), a numpy RandomState, or None")
BY_COLUMN = instance(Mapping | list | tuple | np.ndarray, "a dict by column, one entry for each")
KINDS = instance(Mapping | list | tuple, "a dict, a list")
N_JOBS = Allowed(lambda v: v is None or (is_int(v) and v != 0), "an int other than 0, or None")
MAX_FEATURES = Allowed(
    lambda v: (
        v is None
        or (isinstance(v, str) and v in ("sqrt", "log2"))
        or (is_int(v) and v >= 1)
        or (is_fraction(v) and 0 < v <= 1)
    ),
    "an int >= 1, a float in (0, 1]: a fraction of the columns, 'sqrt', 'log2', or None: all columns",
)
CLASS_WEIGHT = Allowed(
    lambda v: v is None or isinstance(v, dict | list) or (isinstance(v, str) and v == "balanced"),
    "a dict, a list of dicts (one per target), 'balanced', or None",
)


def n_threads(n_jobs: int | None) -> int:
    """The number of threads that scikit-learn's `n_jobs` means: None is 1, -1 all cores, -2 all but one.

    >>> n_threads(None), n_threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if not is_int(n_jobs):
        raise ValueError(f"n_jobs is {n_jobs!r}; it must be a whole number")
    if n_jobs == 0:
        raise ValueError("n_jobs is 0; it must be a positive number, or negative to count from all cores")
    return min(int(n_jobs), _MOST_THREADS) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
