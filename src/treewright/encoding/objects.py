"""Python's own values as cells: which family a list of objects belongs to, and what in it is missing."""

from __future__ import annotations

import datetime
from collections.abc import Hashable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from treewright._arrays import Array
from treewright.encoding.cells import BEYOND, EXACT, Cells, Family, numbers, positions
from treewright.encoding.times import from_datetimes, from_timedeltas, microseconds, seconds

_FAMILIES: dict[str, type | tuple[type, ...]] = {  # in this order: bool is an int, timedelta64 an integer
    "text": str,
    "bool": (bool, np.bool_),
    "timedelta64": np.timedelta64,
    "datetime64": np.datetime64,
    "float": (float, np.floating),
    "integer": (int, np.integer),
    "decimal": (Decimal, Fraction),
    "time": datetime.date,
    "duration": datetime.timedelta,
}
_NUMBERS = {"float", "integer", "decimal"}


def family_of(kind: type) -> str | None:
    """The family of values of a type; None if a cell cannot hold them."""
    if kind is type(None) or kind.__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return "missing"
    return next((family for family, types in _FAMILIES.items() if issubclass(kind, types)), None)


def from_objects(values: list[Any], what: str) -> Cells:
    """The cells of a list of values of one family; None, NaN, NaT and NA are missing."""
    kinds = {kind: family_of(kind) for kind in set(map(type, values))}
    families = set(kinds.values()) - {"missing"}
    if "float" in families and not families <= _NUMBERS:
        floats = [value for value in values if kinds[type(value)] == "float"]
        if all(value != value for value in floats):  # NaN among texts or dates: the cell is missing
            kinds = {kind: "missing" if family == "float" else family for kind, family in kinds.items()}
            families.discard("float")
    if None in families:
        row = next(row for row, value in enumerate(values) if kinds[type(value)] is None)
        raise TypeError(
            f"{what}, row {row} is {_short(values[row])}, a {type(values[row]).__name__}: the argument "
            "must be a table of strings, numbers, bools, dates and missing values"
        )
    if len(families) > 1 and not families <= _NUMBERS:
        raise _mixed_types(values, [kinds[type(value)] for value in values], what)
    if "missing" in kinds.values():
        values = [None if kinds[type(value)] == "missing" else value for value in values]
    if not families:
        return Cells("nothing", np.full(len(values), np.nan))
    return _from_family(values, families.pop() or "" if len(families) == 1 else "number", what)


def _from_family(values: list[Any], family: str, what: str) -> Cells:
    """Values of one family, None where missing, as cells."""
    match family:
        case "text":
            labels = sorted({str.__str__(value) for value in set(values) if value is not None})
            return Cells("text", positions(values, labels), labels=tuple(labels))
        case "bool":
            return Cells("bool", positions(values, (False, True)), labels=(False, True), declared=True)
        case "time":
            return Cells("time", from_datetimes(values, what))
        case "datetime64":
            nat: Any = np.datetime64("NaT")
            return Cells("time", microseconds(np.array([nat if v is None else v for v in values]), what))
        case "duration":
            return Cells("number", from_timedeltas(values, what))
        case "timedelta64":
            nat = np.timedelta64("NaT")
            return Cells("number", seconds(np.array([nat if v is None else v for v in values]), what))
        case "integer":
            return _integers(values)
        case "float":
            is_long = any(issubclass(kind, np.longdouble) for kind in set(map(type, values)))
            floats = np.array(values, np.longdouble if is_long else np.float64)  # None becomes NaN
            return Cells("number", numbers(floats, None, what))
        case _:
            return Cells("number", np.array([_real(value, row, what) for row, value in enumerate(values)]))


def _integers(values: list[Any]) -> Cells:
    missing = None
    if None in values:
        missing = np.fromiter((value is None for value in values), bool, len(values))
    filled = [value or 0 for value in values]
    try:
        return Cells("number", np.array(filled, dtype=np.int64), missing)
    except OverflowError:  # larger than machine integers: fine as names, refused later as numbers
        return Cells("number", np.array(list(map(int, filled)), dtype=object), missing)


def _real(value: Any, row: int, what: str) -> float:
    """One number as float. Fractions round to the nearest, as literals do; whole digits are kept."""
    if value is None or _is_nan(value):
        return np.nan
    if isinstance(value, float | np.floating) or -EXACT <= value <= EXACT:
        return float(value)
    if isinstance(value, Decimal | Fraction):
        try:
            if float(value) == value:
                return float(value)
        except OverflowError:
            pass
    raise ValueError(f"{what}: row {row} is {value}, {BEYOND}")


def from_labels(
    codes: Array, labels: Iterable[Any], what: str, *, declared: bool = False, is_category: bool = False
) -> Cells:
    """The cells of a column that its library keeps as codes (negative: missing) and labels.

    Labels may repeat and may be missing (Arrow allows both). Labels that are no plain values, such as the
    intervals of pandas' `cut`, are taken as text.
    """
    plain = [_plain(label) for label in labels]
    of_labels = [family_of(type(label)) for label in plain]
    families = set(of_labels) - {"missing"}
    if len(families) > 1 and not families <= _NUMBERS:
        raise _mixed_types(plain, of_labels, f"{what}, in its categories,", "category")
    order: dict[Hashable, int] = {}
    translate = [-1 if label is None else order.setdefault(label, len(order)) for label in plain]
    family: Family = "nothing"
    if families:
        family = "text" if "text" in families else "bool" if "bool" in families else "number"
    if codes.dtype.kind == "i":
        codes = np.maximum(codes, -1)
    values = np.array([*translate, -1], np.int32)[codes]
    return Cells(family, values, labels=tuple(order), declared=declared, is_category=is_category or declared)


def _plain(label: Any) -> str | bool | int | float | None:
    """A label as str, bool, int, float, or None where it is missing."""
    family = family_of(type(label))
    if family == "missing" or _is_nan(label):
        return None
    if family in ("bool", "integer", "float"):
        plain: bool | int | float = label.item() if isinstance(label, np.generic) else label
        return plain
    return str.__str__(label) if family == "text" else str(label)


def _is_nan(value: Any) -> bool:
    """Whether a value is no number; a signalling decimal raises an error where it is compared."""
    return value.is_nan() if isinstance(value, Decimal) else bool(value != value)


def _mixed_types(values: list[Any], families: list[str | None], what: str, place: str = "row") -> ValueError:
    """The error about values of several families, with two examples."""
    names = ["number" if family in _NUMBERS else family for family in families]
    first, *others = (row for row, name in enumerate(names) if name != "missing")
    other = next(row for row in others if names[row] != names[first])
    return ValueError(
        f"{what} mixes types: {place} {first} is {_short(values[first])} ({names[first]}), "
        f"{place} {other} is {_short(values[other])} ({names[other]}); make them one type"
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
