"""The cells of one column in a common form: numbers, times, or codes with their labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Family = Literal["number", "text", "bool", "time", "nothing"]

EXACT = 2**53  # integers up to here are exact in float64


@dataclass(frozen=True)
class Cells:
    """One column: a family of values, and either the values themselves or codes of labels.

    The family "nothing" has no value that would tell: all cells are missing.
    """

    family: Family
    values: Array  # floats (missing: NaN) or integers of any size; with `labels`: int32 codes (missing: -1)
    missing: Array | None = None  # where integers are missing
    labels: tuple[Hashable, ...] | None = None  # a code is a position here
    declared: bool = False  # the table itself declared the labels and their order, occurring or not
    is_category: bool = False  # the table itself calls the column categories: its texts are nothing else


def numbers(values: Array, missing: Array | None, what: str) -> Array:
    """Floats, integers or bools of any shape as native float64 or float32, exact; copied only if needed."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "f" and size in (4, 8):
        native = values.dtype.isnative and values.flags.aligned
        result = values if native else _converted(values, values.dtype.newbyteorder("="))
    elif kind == "f" and size > 8:
        with np.errstate(all="ignore"):
            result = values.astype(np.float64)
        lost = (result != values) & (values == values)
        _refuse_first(lost, values, missing, what, "which float64 cannot hold exactly")
    else:
        if kind in "iuO" and size == 8 and values.size and (values.max() > EXACT or values.min() < -EXACT):
            _refuse_first((values > EXACT) | (values < -EXACT), values, missing, what, BEYOND)
        result = _converted(values, np.dtype(np.float32 if size <= 2 else np.float64))
    return blank(result, missing)


_AT_ONCE = 2**22  # cells; some hundredths of a second


def _converted(values: Array, dtype: np.dtype[Any]) -> Array:
    """A copy of another type in the same order of memory; a large one in blocks, so that Ctrl-C is heard."""
    with np.errstate(invalid="ignore"):  # the bits of some NaN
        if values.size <= _AT_ONCE:
            return values.astype(dtype)
        result = np.empty_like(values, dtype=dtype, subok=False)
        step = max(1, _AT_ONCE * len(values) // values.size)
        for start in range(0, len(values), step):
            result[start : start + step] = values[start : start + step]
    return result


BEYOND = (
    "beyond ±2^53, where float64 skips integers; subtract an offset, or, if it is a name, "
    "make the column a category (kinds)"
)


def blank(values: Array, missing: Array | None) -> Array:
    """The floats with NaN where the mask is set; a copy only where one is needed."""
    if missing is None or not missing.any():
        return values
    values = values.copy()
    values[missing] = np.nan
    return values


def as_numbers(cells: Cells, what: str) -> Array:
    """Numbers as they are, bools as 0 and 1, labels that are numbers as their values."""
    if cells.labels is None:
        return numbers(cells.values, cells.missing, what)
    values = np.full(len(cells.labels) + 1, np.nan)  # the last for -1
    for code, label in enumerate(cast("tuple[float, ...]", cells.labels)):
        if isinstance(label, float) or abs(label) <= EXACT:
            values[code] = label
        elif (cells.values == code).any():
            raise ValueError(f"{what}: row {int(np.argmax(cells.values == code))} is {label}, {BEYOND}")
    return values[cells.values]


def _refuse_first(bad: Array, values: Array, missing: Array | None, what: str, why: str) -> None:
    """An error about the first bad cell, if there is one that is not missing."""
    if missing is not None:
        bad = bad & ~missing
    if bad.any():
        place = np.unravel_index(int(np.argmax(bad)), bad.shape)
        raise ValueError(f"{what}: row {int(place[0])} is {values[place]}, {why}")


def positions(values: Iterable[Any], labels: Iterable[Hashable]) -> Array:
    """The position of each value among the labels; -1 where it is none of them."""
    index = {label: position for position, label in enumerate(labels)}
    return np.fromiter(map(index.get, values, repeat(-1)), np.int32)


def coded(cells: Cells) -> Cells:
    """The cells as codes and labels: each distinct number becomes a label."""
    if cells.labels is not None:
        return cells
    missing = np.isnan(cells.values) if cells.values.dtype.kind == "f" else cells.missing
    if missing is None or not missing.any():
        labels, codes = distinct(cells.values)
    else:
        labels, known = distinct(cells.values[~missing])
        codes = np.full(len(cells.values), -1, np.int32)
        codes[~missing] = known
    return Cells(cells.family, codes, labels=labels)


def distinct(values: Array) -> tuple[tuple[Hashable, ...], Array]:
    """The distinct numbers, sorted, and the int32 position of each value among them."""
    if values.dtype.kind in "iu" and values.size:
        low, high = int(values.min()), int(values.max())
        if (
            high - low <= 4 * len(values) + 256
        ):  # counting all integers in between is much faster than sorting
            wide = values if values.dtype.kind == "u" else values.astype(np.int64, copy=False)
            offsets = (wide - wide.dtype.type(low) if low else wide).astype(np.int32)
            occurs = np.bincount(offsets).nonzero()[0]
            labels = tuple([low + offset for offset in occurs.tolist()])
            if len(labels) == high - low + 1:
                return labels, offsets
            rank = np.zeros(high - low + 1, np.int32)
            rank[occurs] = np.arange(len(occurs))
            return labels, rank[offsets]
    found, codes = np.unique(values, return_inverse=True)
    return tuple(found.tolist()), codes.astype(np.int32)


def occurring(cells: Cells) -> tuple[Hashable, ...]:
    """The labels that occur in coded cells, sorted."""
    labels = cells.labels or ()
    counts = np.bincount(cells.values + 1, minlength=len(labels) + 1)[
        1:
    ].tolist()  # shifted, as missing is -1
    found: list[Any] = [label for label, count in zip(labels, counts, strict=True) if count]
    return tuple(sorted(found))


def recode(cells: Cells, known: tuple[Hashable, ...], unknown: int) -> Array:
    """Codes as positions among `known` labels: -1 stays missing, labels not known become `unknown`."""
    if cells.labels == known:  # equal labels have equal codes (and 1 == 1.0 == True is one label)
        return cells.values
    index = {label: position for position, label in enumerate(known)}
    translate = [index.get(label, unknown) for label in cells.labels or ()]
    return np.array([*translate, -1], np.int32)[cells.values]  # -1 finds the last
