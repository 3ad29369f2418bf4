"""Formats of texts that are numbers, times or truth values, their kinds, and readings of a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from treewright._arrays import Array, Flags, Floats
from treewright._suggestions import checked_keywords, choices_text
from treewright.encoding.cells import Cells, Family

LONGEST = 256  # characters; no number, date or truth value is longer
LONGEST_AFFIX = 16
LONGEST_DATE_FORMAT = 100
RARE = 0.05  # up to this share of the cells may be unreadable, and are missing then
_FEW = 10  # as many different unreadable texts are accepted, or a share RARE of the different texts

Convention = tuple[str, str]  # the decimal mark and the mark between thousands
# In the order of preference where several read equally many cells: the way of machines first.
CONVENTIONS: tuple[Convention, ...] = (
    *((".", ""), (".", ","), (",", ""), (",", ".")),
    *((".", " "), (",", " "), (".", "'"), (",", "'")),
)

# Casefolded: those of pandas, R, Excel, SQL and of people.
MISSING_MARKS = frozenset(
    {"", "na", "n/a", "n.a.", "n.a", "#n/a", "#n/a n/a", "#na", "<na>", "null", "(null)", "<null>", "\\n"}
    | {"none", "nil", "nan", "-nan", "+nan", "nat", "1.#qnan", "-1.#qnan", "1.#ind", "-1.#ind", "missing"}
    | {"unknown", "not available", "unbekannt", "k.a.", "k. a.", "keine angabe", "?", "??", "-", "--", "---"}
    | {"–", "—", ".", "..", "...", "…", "*", "/", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!"}
)


def conventions_with(decimal: str | None, thousands: str | None) -> tuple[Convention, ...]:
    """The conventions that have the given marks; ValueError if there is none."""
    mark = None if thousands is None else {"\u00a0": " ", "\u202f": " ", "’": "'"}.get(thousands, thousands)
    pairs = tuple(each for each in CONVENTIONS if decimal in (None, each[0]) and mark in (None, each[1]))
    if not pairs:
        raise ValueError(
            f"decimal={decimal!r} and thousands={thousands!r} do not go together; decimal is '.' or ',', "
            "thousands is '', ',', '.', ' ' or \"'\", and they differ"
        )
    return pairs


def is_missing(text: str) -> bool:
    """Whether a text among numbers, times or truth values stands for a missing one.

    >>> is_missing(" N/A "), is_missing("0")
    (True, False)
    """
    if len(text) > LONGEST:
        return text.isspace()
    return text.strip().casefold() in MISSING_MARKS


class Marks(NamedTuple):
    """The options of the user for a column of texts; None: not given."""

    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None


class TextKind:
    """What is specific to one kind of text format; a new kind is one more instance in `TEXT_KINDS`."""

    name: ClassVar[str]  # in formats and model files
    noun: ClassVar[str]  # for one cell, in messages
    family: ClassVar[Family]  # of the cells that are read

    def check(self, given: TextFormat) -> None:
        """ValueError if a format has fields that this kind does not use."""
        if given.date_format:
            raise ValueError(f"date_format is for times; the kind is {given.kind!r}")

    def reader(self, given: TextFormat) -> Callable[[str], float]:
        """The function that reads a text by a format; it returns NaN where the text is no such value."""
        raise NotImplementedError

    def words(self, given: TextFormat) -> str:
        """A format in words, with the kind of values."""
        raise NotImplementedError

    def short_words(self, given: TextFormat) -> str:
        """A format in words without the kind of values."""
        return self.words(given)

    def find(self, texts: Texts, marks: Marks, *, required: bool) -> Reading | None:
        """The reading that fits most cells; None if most cells are no such values, unless `required`."""
        raise NotImplementedError

    def resembles(self, text: str) -> bool:
        """Whether a text may be such a value, in any format."""
        return False

    def cells(self, values: Floats, codes: Array) -> Cells:
        """The cells behind codes of texts, given the values of the texts; the last is for the code -1."""
        return Cells(self.family, values[codes])


TEXT_KINDS: dict[str, TextKind] = {}  # by name, in the order in which they are tried


@checked_keywords
@dataclass(frozen=True)
class TextFormat:
    """How the texts of one column are read as numbers, times or truth values.

    `decimal` and `thousands` are the marks of numbers (a no-break space counts as a space, ’ as '); `affixes`
    are the currencies and units that may stand before or after them. `date_format` is the pattern of times,
    with the directives of strptime.

    >>> TextFormat("number", decimal=",", thousands=".", affixes=("€",)).values(["2.379,59 €", "7", "n/a"])
    array([2379.59,    7.  ,     nan])
    >>> print(TextFormat("number", decimal=",", thousands="."))
    numbers with a decimal comma and dots between thousands
    >>> TextFormat("time", date_format="%d.%m.%Y").values(["02.01.1970", "31.02.1970"])
    array([8.64e+10,      nan])
    """

    kind: Literal["number", "time", "bool"]
    decimal: str = "."
    thousands: str = ""
    affixes: tuple[str, ...] = ()
    date_format: str = ""

    def __post_init__(self) -> None:
        if self.kind not in TEXT_KINDS:
            known = choices_text(self.kind, TEXT_KINDS)
            raise ValueError(f"{self.kind!r} is unknown; kind must be one of {known}")
        marks = self.decimal, self.thousands
        if conventions_with(*marks) != (marks,):
            raise ValueError(f"thousands is {self.thousands!r}; write ' ' for any space, \"'\" for ’")
        if not all(0 < len(affix) <= LONGEST_AFFIX for affix in self.affixes):
            raise ValueError(f"affixes must have 1 to {LONGEST_AFFIX} characters; given are {self.affixes!r}")
        if len(self.date_format) > LONGEST_DATE_FORMAT:
            raise ValueError(f"date_format has {len(self.date_format)} characters; at most 100 are allowed")
        self.type.check(self)

    @property
    def type(self) -> TextKind:
        """The behaviour of the format's kind."""
        return TEXT_KINDS[self.kind]

    def values(self, texts: Sequence[str]) -> Floats:
        """The value of each text, times in microseconds since 1970; NaN where a text is none."""
        return np.fromiter(map(self.type.reader(self), texts), np.float64, len(texts))

    def __str__(self) -> str:
        return self.type.words(self)


# ---- columns of texts ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Texts:
    """The different texts of a column without those for missing values, in the order of their first rows."""

    labels: Sequence[str]
    codes: Sequence[int]  # the positions among all texts of the column
    counts: Sequence[int]
    rows: Sequence[int]  # where each occurs first
    n_cells: int
    missing: tuple[str, ...] = ()  # the words for missing values, without the empty one

    @classmethod
    def of(cls, labels: Sequence[str], codes: Array) -> Texts:
        """The texts behind codes; -1 is missing."""
        counts = np.bincount(codes + 1, minlength=len(labels) + 1)[1:]
        first = np.zeros(len(labels) + 1, np.int64)  # the last for -1
        first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # of equal codes the last one stays: row 0
        order = np.argsort(first[:-1], kind="stable")
        present = order[counts[order] > 0].tolist()
        known = np.array([code for code in present if not is_missing(labels[code])], np.int64)
        missing = tuple(labels[code] for code in present if is_missing(labels[code]) and labels[code].strip())
        own = counts[known].tolist()
        texts = [labels[code] for code in known.tolist()]
        return cls(texts, known.tolist(), own, first[known].tolist(), sum(own), missing)


@dataclass(frozen=True)
class Trouble:
    """The reason not to read a column unless its kind is given, with the positions of texts as examples."""

    code: Literal["units", "multipliers", "codes", "date order", "date orders"]
    examples: tuple[int, ...] = ()
    is_worth_advice: bool = True


@dataclass(frozen=True)
class Reading:
    """One way to read a column, and the values of its texts."""

    format: TextFormat
    values: Floats  # of each text; NaN where it cannot be read
    trouble: Trouble | None = None
    other: TextFormat | None = None  # another format that fits the same texts
    doubtful: int = 0  # a text that the two read differently

    @classmethod
    def of(cls, text_format: TextFormat, texts: Texts) -> Reading:
        """The reading of all texts by one format."""
        return cls(text_format, text_format.values(texts.labels))

    @cached_property
    def is_read(self) -> Flags:
        """Which texts can be read."""
        return ~np.isnan(self.values)

    @property
    def unread(self) -> list[int]:
        """The positions of the texts that cannot be read."""
        return np.flatnonzero(~self.is_read).tolist()

    def n_read(self, texts: Texts) -> int:
        """The number of cells that can be read."""
        return int(np.dot(self.is_read, texts.counts))

    def is_sound(self, texts: Texts) -> bool:
        """Whether there is no trouble and only few cells cannot be read."""
        few = len(self.unread) <= max(_FEW, RARE * len(texts.labels))
        return self.trouble is None and few and self.n_read(texts) >= (1 - RARE) * texts.n_cells
