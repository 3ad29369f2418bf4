"""Kinds of columns: number, category, time. All that differs between them is a method of one class each.

`Column.kind` is the name of a kind, as in options and files; `Column.type` is its object. A package above
that needs behaviour of its own per kind (a type of SQL, an axis of a plot) registers functions with
`functools.singledispatch` on these classes, in one place; a new kind inherits those of its parent.

The core knows two forms of a column: floats that are compared with a threshold (NaN is missing), and int32
codes that are looked up in a set of bits (-1 is missing, -2 is a category that the schema does not know). A
new kind subclasses `Number` or `Time` for the first, `Category` for the second; an instance goes to `KINDS`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from treewright import _core
from treewright._arrays import Array
from treewright._text import label_text
from treewright.encoding import prefix_codes
from treewright.encoding.cells import Cells, Family, as_codes, as_numbers, occurring, recode

if TYPE_CHECKING:
    from treewright.encoding.schema import Column

KindName = Literal["number", "category", "time"]
MISSING_CODE, UNSEEN_CODE = -1, -2  # of a missing category, and of one that the schema does not know


class Kind:
    """What is specific to one kind of column."""

    name: ClassVar[str]  # in schemas, options and model files
    plural: ClassVar[str]
    test: ClassVar[str]  # the kind of its tests: a name in `treewright.tree.conditions.TESTS`
    text_kind: ClassVar[str]  # the kind of `TextFormat` that reads its texts
    is_category: ClassVar[bool] = False  # int32 codes and sets of categories; else floats and thresholds
    has_categories: ClassVar[bool] = False  # whether the column lists categories
    is_summable: ClassVar[bool] = False  # whether its values may be weighted and added up
    is_whole: ClassVar[bool] = False  # whether only whole numbers are values
    dtype: ClassVar[type[np.generic]] = np.float64  # of its cells; numbers may be float32 as well
    missing: ClassVar[float] = math.nan  # the cell of a missing value
    has_sign_bit: ClassVar[bool] = True  # whether thresholds need a bit more where some are below zero

    def recognises(self, cells: Cells) -> bool:
        """Whether a column with these cells is of this kind, unless the user names one."""
        raise NotImplementedError

    def family(self, categories: tuple[Hashable, ...]) -> Family:
        """The family of cells that a column takes."""
        raise NotImplementedError

    def categories(self, cells: Cells, name: str) -> tuple[Hashable, ...]:
        """The categories of a new column, in the order of their codes."""
        return ()

    def encode(self, cells: Cells, column: Column) -> Array:
        """The cells as the array of a column."""
        raise NotImplementedError

    def decode(self, column: Column, cells: Array) -> Array:
        """The inverse of `encode`; unknown categories become None."""
        raise NotImplementedError

    def is_missing(self, cells: Array) -> Array:
        """Where values are missing."""
        return np.isnan(cells)

    def is_unknown(self, cells: Array) -> Array:
        """Where values are missing, or categories that the schema does not know."""
        return np.isnan(cells)

    def missing_cells(self, n: int) -> Array:
        """A column of `n` missing values."""
        return np.full(n, self.missing, self.dtype)

    def value_text(self, column: Column, cell: Any) -> str:
        """The text of one cell that is not missing."""
        return self.threshold_text(float(cell))

    def threshold_text(self, value: float) -> str:
        """The text of a threshold."""
        raise NotImplementedError

    def parse_threshold(self, value: Any) -> float:
        """A threshold, or the end of a range, from a user's value; ValueError or TypeError if invalid."""
        return float(value)

    def next_below(self, values: Array) -> Array:
        """The greatest values below the given ones."""
        with np.errstate(over="ignore"):  # below the lowest number is -infinity
            return np.asarray(np.nextafter(values, -np.inf))

    def next_above(self, values: Array) -> Array:
        """The least values above the given ones."""
        with np.errstate(over="ignore"):
            return np.asarray(np.nextafter(values, np.inf))

    def readable_thresholds(self, low: Array, high: Array) -> Array:
        """For each gap between two neighbouring values a threshold in it that is short to write."""
        return _core.readable(low, high)

    @property
    def has_own_thresholds(self) -> bool:
        """Whether its readable thresholds are others than those of plain numbers."""
        return type(self).readable_thresholds is not Kind.readable_thresholds

    def round_value(self, above: float, upto: float) -> float:
        """The value above `above` and at most `upto` that is shortest to write."""
        if not (math.isfinite(upto) and above < upto):
            return math.nextafter(above, math.inf)
        [value] = _core.readable(np.array([above]), np.array([math.nextafter(upto, math.inf)]))
        return float(value)

    # ---- the prefix code of trees, see `treewright.certifying.tree_code` ----

    def write_threshold(self, value: float, signed: bool) -> str:
        """A threshold in bits; `signed` if thresholds of the tree are below zero."""
        return prefix_codes.write_number(value, signed)

    def read_threshold(self, reader: prefix_codes.Reader, signed: bool) -> float:
        """What `write_threshold` wrote."""
        return prefix_codes.read_number(reader, signed)

    def threshold_bits(self, value: float, signed: bool) -> int:
        """The length of what `write_threshold` writes."""
        return prefix_codes.number_bits(value, signed)


class Number(Kind):
    """Numbers: floats, tested against a threshold."""

    name = "number"
    plural = "numbers"
    test = "below"
    text_kind = "number"
    is_summable = True

    def recognises(self, cells: Cells) -> bool:
        """Whether the cells are values without labels, and no times."""
        return cells.labels is None and cells.family != "time"

    def family(self, categories: tuple[Hashable, ...]) -> Family:
        """Numbers."""
        return "number"

    def encode(self, cells: Cells, column: Column) -> Array:
        """The numbers; bools become 0 and 1."""
        return as_numbers(cells, f"column {column.name!r}")

    def decode(self, column: Column, cells: Array) -> Array:
        """The numbers themselves."""
        return cells

    def threshold_text(self, value: float) -> str:
        """The shortest text that reads as the same number."""
        return repr(value).removesuffix(".0")


class Time(Number):
    """Times: microseconds since 1970, in UTC where the table names a zone; shown as dates."""

    name = "time"
    plural = "times"
    text_kind = "time"
    is_summable = False
    is_whole = True
    has_sign_bit = False

    def recognises(self, cells: Cells) -> bool:
        """Whether the cells are times."""
        return cells.family == "time"

    def family(self, categories: tuple[Hashable, ...]) -> Family:
        """Times."""
        return "time"

    def encode(self, cells: Cells, column: Column) -> Array:
        """The microseconds."""
        return cells.values

    def decode(self, column: Column, cells: Array) -> Array:
        """The times as datetime64."""
        is_known = np.isfinite(cells)
        times = np.where(is_known, cells, 0).astype("datetime64[us]")
        times[~is_known] = np.datetime64("NaT")
        return np.asarray(times)

    def threshold_text(self, value: float) -> str:
        """The date, with the time of day unless it is midnight."""
        try:
            moment = datetime(1970, 1, 1) + timedelta(microseconds=int(np.floor(value)))
        except (OverflowError, ValueError):  # beyond the calendar, which ends with the year 9999
            return f"{value!r} µs since 1970"
        return str(moment).removesuffix(" 00:00:00")

    def parse_threshold(self, value: Any) -> float:
        """Microseconds, or whatever numpy reads as a time."""
        if isinstance(value, int | float):
            return float(value)
        return float(np.datetime64(value, "us").astype(np.int64))

    def next_below(self, values: Array) -> Array:
        """The microsecond before; far from 1970, where floats skip some, the float before."""
        whole = np.floor(values)
        return np.asarray(np.minimum(whole - 1, super().next_below(whole)))

    def next_above(self, values: Array) -> Array:
        """The microsecond after; far from 1970, where floats skip some, the float after."""
        return np.asarray(np.maximum(np.floor(values) + 1, super().next_above(values)))

    def readable_thresholds(self, low: Array, high: Array) -> Array:
        """The start of the longest calendar unit in each gap, the latest of them; between two successive
        days, hours, minutes or seconds the former.

        >>> Time().readable_thresholds(np.array([0.0]), np.array([400 * 86400e6])) / 86400e6  # 1 January 1971
        array([365.])
        """
        pairs = zip(low.tolist(), high.tolist(), strict=True)
        return np.array([_longest_unit_start(*pair) for pair in pairs], np.float64)

    def round_value(self, above: float, upto: float) -> float:
        """The first midnight in the interval; else the first full hour, minute, second or millisecond."""
        for unit in (86_400e6, 3_600e6, 60e6, 1e6, 1e3):
            moment = (math.floor(above / unit) + 1) * unit
            if above < moment <= upto:
                return moment
        return math.nextafter(above, math.inf)

    def write_threshold(self, value: float, signed: bool) -> str:
        """A calendar unit and its number."""
        return prefix_codes.write_time(value)

    def read_threshold(self, reader: prefix_codes.Reader, signed: bool) -> float:
        """What `write_threshold` wrote."""
        return prefix_codes.read_time(reader)

    def threshold_bits(self, value: float, signed: bool) -> int:
        """The length of what `write_threshold` writes."""
        return prefix_codes.time_bits(value)


_CALENDAR_END = 2**62  # microseconds from 1970 within which numpy's calendar is reliable
_STEPS = {"D": 86_400e6, "h": 3_600e6, "m": 60e6, "s": 1e6}


def _longest_unit_start(low: float, high: float) -> float:
    if abs(low) < _CALENDAR_END and abs(high) < _CALENDAR_END:
        last = np.datetime64(math.ceil(high) - 1, "us")
        for unit in ("Y", "M", "D", "h", "m", "s", "ms", "us"):
            start = last.astype(f"datetime64[{unit}]").astype("datetime64[us]").astype(np.int64)
            # "<= 2 January" tells it from 3 January; "<= 2 January 23:00" would be odd in a column of days
            if low < start < high or (start == low and high - low == _STEPS.get(unit)):
                return float(start)
    return low


class Category(Kind):
    """Categories: codes of named values, tested against a set of them."""

    name = "category"
    plural = "categories"
    test = "among"
    text_kind = "bool"
    is_category = True
    has_categories = True
    dtype = np.int32
    missing = MISSING_CODE

    def recognises(self, cells: Cells) -> bool:
        """Whether the cells have labels: text, bools, categories of the table's library."""
        return cells.labels is not None

    def family(self, categories: tuple[Hashable, ...]) -> Family:
        """That of the categories, which are all of one."""
        if not categories:
            return "nothing"
        first = categories[0]
        return "text" if isinstance(first, str) else "bool" if isinstance(first, bool) else "number"

    def categories(self, cells: Cells, name: str) -> tuple[Hashable, ...]:
        """As the table declares them, or those that occur, sorted."""
        cells = self._codes(cells, name)
        return cells.labels or () if cells.declared else occurring(cells)

    def encode(self, cells: Cells, column: Column) -> Array:
        """The positions among the categories of the column."""
        return recode(self._codes(cells, column.name), column.categories, UNSEEN_CODE)

    def _codes(self, cells: Cells, name: str) -> Cells:
        """The cells as codes of categories."""
        if cells.family == "time":
            raise ValueError(
                f"column {name!r} holds times, which cannot be categories; convert them to text first"
            )
        return as_codes(cells)

    def decode(self, column: Column, cells: Array) -> Array:
        """The categories by name; None where a value is missing or unknown."""
        names = np.empty(len(column.categories) + 1, object)
        names[:-1] = list(column.categories)
        names[-1] = None
        return np.asarray(names[np.maximum(cells, -1)])

    def is_missing(self, cells: Array) -> Array:
        """Where codes are -1."""
        return np.asarray(cells == self.missing)

    def is_unknown(self, cells: Array) -> Array:
        """Where codes are below 0."""
        return np.asarray(cells < 0)

    def value_text(self, column: Column, cell: Any) -> str:
        """The name of the category."""
        return label_text(column.categories[int(cell)])


KINDS: dict[str, Kind] = {kind.name: kind for kind in (Number(), Category(), Time())}


def natural_kind(cells: Cells) -> str:
    """The kind of column for cells; kinds that were registered later take precedence."""
    return next(kind.name for kind in reversed(KINDS.values()) if kind.recognises(cells))
