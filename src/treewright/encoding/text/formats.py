"""TextFormat: how the texts of one column are read as numbers, times or truth values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from treewright.encoding.text.dates import check_date_format, date_reader, date_words
from treewright.encoding.text.marks import LONGEST
from treewright.encoding.text.numbers import CONVENTIONS, number_value, unit_key

TextKind = Literal["number", "time", "bool"]
TEXT_KINDS: tuple[TextKind, ...] = ("number", "time", "bool")

_TRUE = ("true", "yes", "y", "t", "ja", "j", "oui", "si", "sí", "sì", "wahr", "vrai")
_FALSE = ("false", "no", "n", "f", "nein", "non", "falsch", "faux")
TRUTHS: dict[str, float] = dict.fromkeys(_TRUE, 1.0) | dict.fromkeys(_FALSE, 0.0)
LONGEST_AFFIX = 16
LONGEST_DATE_FORMAT = 100

_BETWEEN = {",": "commas", ".": "dots", " ": "spaces", "'": "apostrophes"}


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

    kind: TextKind
    decimal: str = "."
    thousands: str = ""
    affixes: tuple[str, ...] = ()
    date_format: str = ""

    def __post_init__(self) -> None:
        if self.kind not in TEXT_KINDS:
            raise ValueError(f"kind must be one of {', '.join(TEXT_KINDS)}, not {self.kind!r}")
        if (self.decimal, self.thousands) not in CONVENTIONS:
            raise ValueError(
                f"decimal {self.decimal!r} and thousands {self.thousands!r} do not go together; decimal "
                "is '.' or ',', thousands is '', ',', '.', ' ' or \"'\", and they differ"
            )
        if not all(0 < len(affix) <= LONGEST_AFFIX for affix in self.affixes):
            raise ValueError(f"affixes must have 1 to {LONGEST_AFFIX} characters; given are {self.affixes!r}")
        if len(self.date_format) > LONGEST_DATE_FORMAT:
            raise ValueError(f"date_format has {len(self.date_format)} characters; at most 100 are allowed")
        if self.kind == "time":
            check_date_format(self.date_format)
        elif self.date_format:
            raise ValueError(f"date_format is for times; the kind is {self.kind!r}")

    def values(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The value of each text, times in microseconds since 1970; NaN where a text is none."""
        return np.fromiter(map(self._reader(), texts), np.float64, len(texts))

    def _reader(self) -> Callable[[str], float]:
        if self.kind == "time":
            return date_reader(self.date_format)
        if self.kind == "bool":
            return _truth
        convention, keys = (self.decimal, self.thousands), frozenset(map(unit_key, self.affixes))
        return lambda text: number_value(text, convention, keys)

    def __str__(self) -> str:
        if self.kind == "bool":
            return "truth values"
        if self.kind == "time":
            return date_words(self.date_format)
        parts = [f"a decimal {'comma' if self.decimal == ',' else 'point'}"]
        if self.decimal == "." and not self.thousands:
            parts = []
        if self.thousands:
            parts.append(f"{_BETWEEN[self.thousands]} between thousands")
        if self.affixes:
            parts.append(" or ".join(map(repr, self.affixes[:3])) + (" …" if len(self.affixes) > 3 else ""))
        *first, last = parts or [""]
        return f"numbers with {', '.join(first)}{' and ' if first else ''}{last}" if parts else "numbers"


def _truth(text: str) -> float:
    return TRUTHS.get(text.strip().casefold(), nan) if len(text) <= LONGEST else nan
