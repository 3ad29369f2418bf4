"""The cells of one column in a common form: numbers, times, or codes with their labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Literal, cast

import numpy as np

from treewright._arrays import Array

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
    declared: bool = False  # the table itself declares the labels and their order, occurring or not
    is_category: bool = False  # the table itself calls the column categories: its texts are not parsed

    @property
    def is_missing(self) -> Array:
        """Where cells are missing."""
        if self.labels is not None:
            return np.asarray(self.values < 0)
        if self.values.dtype.kind == "f":
            return np.isnan(self.values)
        return np.zeros(len(self.values), np.bool_) if self.missing is None else self.missing

    def __getitem__(self, row: int) -> Any:
        """The value or label of one cell that is not missing."""
        value = self.values[row : row + 1].tolist()[0]
        return value if self.labels is None else self.labels[value]


def numbers(values: Array, missing: Array | None, what: str) -> Array:
    """Floats, integers or bools of any shape as native float64 or float32, exact; copied only if needed."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "f" and size in (4, 8):
        native = values.dtype.isnative and values.flags.aligned
        result = values if native else _copy_as(values.dtype.newbyteorder("="), values)
    elif kind == "f" and size > 8:
        with np.errstate(all="ignore"):
            result = values.astype(np.float64)
        inexact = (result != values) & (values == values)
        _refuse_first(inexact, values, missing, what, "which float64 cannot hold exactly")
    else:
        if kind in "iuO" and size == 8 and values.size and (values.max() > EXACT or values.min() < -EXACT):
            _refuse_first((values > EXACT) | (values < -EXACT), values, missing, what, BEYOND)
        result = _copy_as(np.dtype(np.float32 if size <= 2 else np.float64), values)
    if missing is None or not missing.any():
        return result
    result = result.copy()
    result[missing] = np.nan
    return result


_AT_ONCE = 2**22  # cells; some hundredths of a second


def _copy_as(dtype: np.dtype[Any], values: Array) -> Array:
    """A copy in the same memory order; a large one in blocks, so that Ctrl-C takes effect in between."""
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
    """ValueError about the first bad cell that is not missing, if there is one."""
    if missing is not None:
        bad = bad & ~missing
    if bad.any():
        place = np.unravel_index(int(np.argmax(bad)), bad.shape)
        raise ValueError(f"{what}: row {int(place[0])} is {values[place]}, {why}")


def positions(values: Iterable[Any], labels: Iterable[Hashable]) -> Array:
    """The position of each value among the labels; -1 where it is none of them."""
    index = {label: position for position, label in enumerate(labels)}
    return np.fromiter(map(index.get, values, repeat(-1)), np.int32)


def as_codes(cells: Cells) -> Cells:
    """The cells as codes and labels: each distinct number becomes a label."""
    if cells.labels is not None:
        return cells
    is_known = ~cells.is_missing
    if is_known.all():
        labels, codes = distinct(cells.values)
    else:
        codes = np.full(len(cells.values), -1, np.int32)
        labels, codes[is_known] = distinct(cells.values[is_known])
    return Cells(cells.family, codes, labels=labels)


def distinct(values: Array) -> tuple[tuple[Hashable, ...], Array]:
    """The distinct numbers, sorted, and the int32 position of each value among them."""
    if values.dtype.kind in "iu" and values.size:
        low, high = int(values.min()), int(values.max())
        if high - low <= 4 * len(values) + 256:  # to count all integers in between is faster than to sort
            wide = values if values.dtype.kind == "u" else values.astype(np.int64, copy=False)
            offsets = (wide - wide.dtype.type(low) if low else wide).astype(np.int32)
            occurs = np.bincount(offsets).nonzero()[0]
            labels = tuple([low + offset for offset in occurs.tolist()])
            if len(labels) == high - low + 1:
                return labels, offsets
            rank = np.zeros(high - low + 1, np.int32)
            rank[occurs] = np.arange(len(occurs))
            return labels, rank[offsets]
    sorted_values, codes = np.unique(values, return_inverse=True)
    return tuple(sorted_values.tolist()), codes.astype(np.int32)


def occurring(cells: Cells) -> tuple[Hashable, ...]:
    """The labels that occur in coded cells, sorted."""
    labels = np.empty(len(cells.labels or ()), object)
    labels[:] = cells.labels or ()
    counts = np.bincount(cells.values + 1, minlength=len(labels) + 1)[1:]  # shifted, as missing is -1
    return tuple(sorted(labels[counts > 0].tolist()))


def recode(cells: Cells, known: tuple[Hashable, ...], unknown: int) -> Array:
    """Codes as positions among `known` labels: -1 stays missing, labels not known become `unknown`."""
    if cells.labels == known:  # equal labels have equal codes (and 1 == 1.0 == True is one label)
        return cells.values
    index = {label: position for position, label in enumerate(known)}
    translate = [index.get(label, unknown) for label in cells.labels or ()]
    return np.array([*translate, -1], np.int32)[cells.values]  # the last one is for the code -1
