"""Numbers in texts: signs, currencies, units, digits and marks between them; one text, then a column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from math import inf, isinf, isnan, nan
from typing import NamedTuple

import numpy as np

from treewright.encoding.cells import EXACT
from treewright.encoding.text.formats import (
    CONVENTIONS,
    LONGEST,
    RARE,
    Convention,
    Marks,
    Reading,
    TextFormat,
    TextKind,
    Texts,
    Trouble,
    conventions_with,
)

LONGEST_WHOLE = 15  # digits; longer whole numbers are identifiers, and floats would round them
_BETWEEN = {",": "commas", ".": "dots", " ": "spaces", "'": "apostrophes"}
_MOST_UNITS = 3  # more different words after numbers are parts of names
_BARE: frozenset[str] = frozenset()

_SPACES = {"\u00a0": " ", "\u2007": " ", "\u2009": " ", "\u202f": " "}
_ALIKE = str.maketrans({**_SPACES, "’": "'", "´": "'", "−": "-", "–": "-", "％": "%"})
_BODY = r"[0-9](?:[0-9.,' ]{0,60}[0-9])?[.,]?|[.,][0-9]{1,60}"
_NUMBER = re.compile(rf"([^0-9]{{0,12}}?)({_BODY})([eE][-+]?[0-9]{{1,3}})?([^0-9]{{0,16}})")
_UNIT = re.compile(r"(?:[^\W\d_]|[°%‰/²³·.\"'$€£¥₹₽₩₺₴₪฿₫₦]){1,12}")
_UNIT_STARTS = re.compile(r"[^\W\d_]|[°%‰/\"'$€£¥₹₽₩₺₴₪฿₫₦]")
_INFINITE = {"inf": inf, "+inf": inf, "-inf": -inf, "infinity": inf, "+infinity": inf, "-infinity": -inf}

_SAME_UNIT = {
    "$": ("us$", "usd", "dollar", "dollars"),
    "€": ("eur", "euro", "euros"),
    "£": ("gbp", "pound", "pounds"),
    "¥": ("jpy", "yen", "cny", "rmb"),
    "₹": ("inr", "rs", "rs.", "rupee", "rupees"),
    "kr": ("kr.", "sek", "nok", "dkk"),
    "zł": ("pln", "zl"),
    "chf": ("fr", "fr.", "sfr", "sfr."),
    "₽": ("rub",),
    "%": ("percent", "pct", "prozent"),
    "year": ("y", "yr", "years", "yrs", "jahr", "jahre", "j."),
    "month": ("months", "mth", "mths", "monat", "monate"),
    "day": ("days", "d", "tag", "tage"),
    "hour": ("hours", "hr", "hrs", "h", "std", "std."),
    "minute": ("minutes", "min", "mins", "min."),
}
_UNIT_KEYS = {spelling: key for key, spellings in _SAME_UNIT.items() for spelling in (key, *spellings)}
_CURRENCIES = frozenset(
    spelling
    for key in ("$", "€", "£", "¥", "₹", "kr", "zł", "chf", "₽")
    for spelling in (key, *_SAME_UNIT[key])
) | {"₩", "₺", "₴", "₪", "฿", "₫", "₦", "a$", "c$", "ca$", "au$", "nz$", "hk$", "s$", "r$", "cad", "aud"}
_CURRENCY_CODES = frozenset(
    {"nzd", "hkd", "sgd", "krw", "brl", "mxn", "zar", "try", "huf", "ft", "czk", "kč", "ron", "lei", "bgn"}
    | {"ils", "thb", "php", "idr", "myr", "vnd", "aed", "sar", "egp", "ngn", "kes", "uah", "isk", "twd"}
)
MULTIPLIERS = frozenset(
    {"k", "tsd", "tsd.", "thousand", "m", "mm", "mn", "mio", "mio.", "mil", "million", "millionen", "b"}
    | {"bn", "mrd", "mrd.", "billion", "bio", "bio.", "t", "trillion", "lakh", "crore", "cr"}
)


class NumberText(NamedTuple):
    """A text that may be a number, taken apart; the marks between its digits are not yet understood."""

    negative: bool
    body: str  # digits with marks
    exponent: str
    affixes: tuple[str, ...]  # what stands before and after

    @property
    def is_code(self) -> bool:
        """Whether it looks like an identifier: leading zeros, or more digits than a float keeps."""
        if self.body[0] == "0" and len(self.body) > 1 and self.body[1].isdigit():
            return True
        long = len(self.body) > LONGEST_WHOLE and not self.exponent
        return long and len(re.sub(r"[., ']", "", self.body)) == len(self.body)


def plain_text(text: str) -> str:
    """A text without the space around it; marks that look alike are made the same."""
    return text.strip() if text.isascii() else text.translate(_ALIKE).strip()


def split_number(text: str) -> NumberText | None:
    """The parts of a text that may be a number; None where it is none.

    >>> split_number("-$1,234.50")
    NumberText(negative=True, body='1,234.50', exponent='', affixes=('$',))
    >>> split_number("(12 kg)")
    NumberText(negative=True, body='12', exponent='', affixes=('kg',))
    >>> split_number("A12"), split_number("1_000"), split_number("0x10")
    (None, None, None)
    """
    if len(text) > LONGEST:
        return None
    match = _NUMBER.fullmatch(plain_text(text))
    if match is None:
        return None
    before, body, exponent, after = match[1], match[2], match[3] or "", match[4]
    if not (before or after):
        return NumberText(False, body, exponent, ())
    if body[0] in ".," and before and before[-1].isalpha():  # Rs.500, kr.20
        before, body = before + body[0], body[1:]
    if body == "0" and after[:1] in ("x", "X"):  # hexadecimal
        return None
    if body[-1] in ".," and after.strip() not in ("", ")"):
        return None
    first, last = _leading(before), _trailing(after)
    if first is None or last is None:
        return None
    opened, sign, prefix = first
    closed, minus, suffix = last
    if opened != closed or (sign is not None) + minus + opened > 1:
        return None
    negative = sign == "-" or minus or opened
    return NumberText(negative, body, exponent, tuple(affix for affix in (prefix, suffix) if affix))


@lru_cache(maxsize=1024)
def _leading(text: str) -> tuple[bool, str | None, str] | None:
    """Of what stands before the digits: a parenthesis, the sign, and a currency in any order."""
    signs = [character for character in text if character in "+-"]
    opened = text.count("(")
    currency = "".join(character for character in text if character not in "+-( ")
    folded = currency.casefold()
    known = not currency or folded in _CURRENCIES or folded in _CURRENCY_CODES
    if currency.isalpha() and text[-1] != " " and not currency[0].isupper():
        known = False  # rs4680 and try2 are names; Rs500, EUR12 and kr 20 are amounts
    if not known or len(signs) > 1 or opened > 1:
        return None
    return bool(opened), signs[0] if signs else None, currency


@lru_cache(maxsize=1024)
def _trailing(text: str) -> tuple[bool, bool, str] | None:
    """Of what stands after the digits: a parenthesis, a minus sign as in accounting, and a unit."""
    closed = text.count(")")
    unit = text.replace(")", "").strip()
    minus = unit.startswith("-") and not unit.startswith("--")
    unit = unit.removeprefix("-").strip() if minus else unit
    if closed > 1 or (unit and not (_UNIT.fullmatch(unit) and _UNIT_STARTS.match(unit))):
        return None
    return bool(closed), minus, unit


@lru_cache(maxsize=1024)
def unit_key(affix: str) -> str:
    """One name for all spellings of a currency or unit.

    >>> unit_key("USD"), unit_key("yrs"), unit_key("KGS"), unit_key("kg")
    ('$', 'year', 'kg', 'kg')
    """
    folded = affix.casefold()
    if folded in _UNIT_KEYS:
        return _UNIT_KEYS[folded]
    if folded[0] == "m" and len(affix) <= 2:  # milli and mega differ by the case alone
        return affix
    stem = folded.removesuffix(".")
    return stem.removesuffix("s") if len(stem) > 2 else stem


def _pattern(convention: Convention) -> re.Pattern[str]:
    """The digits and marks of one convention. Thousands never begin with 0; Indian groups have two digits."""
    decimal, thousands = map(re.escape, convention)
    fraction = rf"(?:{decimal}[0-9]*)?"
    forms = [rf"[0-9]+{fraction}", rf"{decimal}[0-9]+"]
    if thousands:
        forms.append(rf"[1-9][0-9]{{0,2}}(?:{thousands}[0-9]{{3}})+{fraction}")
    if thousands == ",":
        forms.append(rf"[1-9][0-9]?(?:,[0-9]{{2}})+,[0-9]{{3}}{fraction}")
    return re.compile("|".join(forms))


_PATTERNS = {convention: _pattern(convention) for convention in CONVENTIONS}
_ONES = str.maketrans("023456789", "111111111")
_EVERY = (1 << len(CONVENTIONS)) - 1


def convention_bits(body: str) -> int:
    """A bit for each of `CONVENTIONS` in which digits and marks are a number."""
    if body.isdigit():
        return _EVERY
    shape = body.translate(_ONES)  # beyond a leading zero no digit matters: there are few different shapes
    return _bits_of_shape("0" + shape[1:] if body[0] == "0" else shape)


@lru_cache(maxsize=4096)
def _bits_of_shape(shape: str) -> int:
    return sum(1 << place for place, each in enumerate(CONVENTIONS) if _PATTERNS[each].fullmatch(shape))


def _has(bits: int, convention: Convention) -> bool:
    """Whether the bits of `convention_bits` contain a convention.

    >>> _has(convention_bits("1.234"), (",", ".")), _has(convention_bits("0,123"), (".", ","))
    (True, False)
    """
    return bool(bits >> CONVENTIONS.index(convention) & 1)


def infinite(text: str) -> float:
    """The value of a word for infinity; NaN where a text is none."""
    return _INFINITE.get(plain_text(text).casefold(), nan) if len(text) <= LONGEST else nan


def value_of(parts: NumberText, convention: Convention, unit_keys: frozenset[str]) -> float:
    """The number that parts that fit the convention make; NaN where they have another unit."""
    if parts.affixes and not all(unit_key(affix) in unit_keys for affix in parts.affixes):
        return nan
    decimal, thousands = convention
    digits = parts.body.replace(thousands, "") if thousands else parts.body
    value = float(digits.replace(decimal, ".") + parts.exponent)
    whole = len(digits) > LONGEST_WHOLE and digits.isdigit() and not parts.exponent
    if isinf(value) or (whole and abs(value) >= EXACT and int(digits) != value):
        return nan
    return -value if parts.negative else value


# ---- columns of numbers ------------------------------------------------------------------------------


class NumberTexts(TextKind):
    """Numbers, with a decimal mark, marks between thousands, currencies and units."""

    name = "number"
    noun = "number"
    family = "number"

    def reader(self, given: TextFormat) -> Callable[[str], float]:
        """The number in a text, without the currencies and units of the format."""
        convention, keys = (given.decimal, given.thousands), frozenset(map(unit_key, given.affixes))
        bit = 1 << CONVENTIONS.index(convention)

        def number(text: str) -> float:
            parts = split_number(text)
            if parts is None:
                return infinite(text)
            return value_of(parts, convention, keys) if convention_bits(parts.body) & bit else nan

        return number

    def words(self, given: TextFormat) -> str:
        """The marks and the first units."""
        parts = []
        if given.decimal == "," or given.thousands:
            parts.append(f"a decimal {'comma' if given.decimal == ',' else 'point'}")
        if given.thousands:
            parts.append(f"{_BETWEEN[given.thousands]} between thousands")
        if given.affixes:
            more = " …" if len(given.affixes) > 3 else ""
            parts.append(" or ".join(map(repr, given.affixes[:3])) + more)
        first = ", ".join(parts[:-1])
        return f"numbers with {' and '.join([first, parts[-1]] if first else parts)}" if parts else "numbers"

    def resembles(self, text: str) -> bool:
        """Whether a text has the parts of a number."""
        return split_number(text) is not None

    def find(self, texts: Texts, marks: Marks, *, required: bool) -> Reading | None:
        """The reading by the convention that fits most cells; None where most cells are no numbers."""
        conventions = conventions_with(marks.decimal, marks.thousands)
        parts = _split(texts, required)
        if parts is None or all(part is None for part in parts):
            return None
        masks = [0 if part is None else convention_bits(part.body) for part in parts]
        cells: Counter[int] = Counter()
        for mask, count in zip(masks, texts.counts, strict=True):
            cells[mask] += count
        best = max(conventions, key=lambda each: sum(n for mask, n in cells.items() if _has(mask, each)))
        bit = 1 << CONVENTIONS.index(best)
        readable = [part if mask & bit else None for part, mask in zip(parts, masks, strict=True)]
        affixes, trouble = _affixes(texts, readable, required)
        if not required:
            trouble = trouble or _codes(texts, readable)
        keys = frozenset(map(unit_key, affixes))
        values = [
            value_of(part, best, keys) if part is not None else infinite(text)
            for text, part in zip(texts.labels, readable, strict=True)
        ]
        reading = Reading(TextFormat("number", *best, affixes), np.array(values), trouble)
        return _with_other_decimal(reading, masks, conventions)


def _split(texts: Texts, required: bool) -> list[NumberText | None] | None:
    """The parts of each text; None as soon as more than half of the cells are no numbers."""
    parts: list[NumberText | None] = []
    failed = 0
    for label, count in zip(texts.labels, texts.counts, strict=True):
        part = split_number(label)
        if part is None and isnan(infinite(label)):
            failed += count
            if 2 * failed > texts.n_cells and not required:
                return None
        parts.append(part)
    return parts


def _with_other_decimal(reading: Reading, masks: Sequence[int], conventions: Sequence[Convention]) -> Reading:
    """The reading with a format that has the other decimal mark and reads the same texts, if there is one."""
    best = reading.format.decimal, reading.format.thousands
    with_marks = {mask for mask in set(masks) if _has(mask, best) and mask != _EVERY}
    for decimal, thousands in conventions:
        if with_marks and decimal != best[0] and all(_has(mask, (decimal, thousands)) for mask in with_marks):
            doubtful = next(place for place, mask in enumerate(masks) if mask in with_marks)
            other = replace(reading.format, decimal=decimal, thousands=thousands)
            return replace(reading, other=other, doubtful=doubtful)
    return reading


def _affixes(
    texts: Texts, parts: Sequence[NumberText | None], required: bool
) -> tuple[tuple[str, ...], Trouble | None]:
    """The currencies and units to be read, and what speaks against reading them.

    Where nearly all numbers are bare, the few with a unit are not read: they may mean another one.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    places: dict[tuple[str, ...], int] = {}
    for place, (part, count) in enumerate(zip(parts, texts.counts, strict=True)):
        if part is not None:
            counts[part.affixes] += count
            places.setdefault(part.affixes, place)
    cells: Counter[frozenset[str]] = Counter()
    first: dict[frozenset[str], int] = {}
    for pair, count in counts.items():  # in the order of their first rows
        keys = frozenset(map(unit_key, pair))
        cells[keys] += count
        first.setdefault(keys, places[pair])
    spellings = {affix: unit_key(affix) for pair in counts for affix in pair}
    with_unit = [keys for keys in first if keys]
    mixed = len(first) > 1
    multipliers = {key for keys in with_unit for key in keys if key.casefold() in MULTIPLIERS}
    dropped = multipliers if mixed else set()
    affixes = tuple(sorted(affix for affix, key in spellings.items() if key not in dropped))
    if required:
        return affixes, None
    if mixed and multipliers:
        place = next(first[keys] for keys in with_unit if keys & multipliers)
        others = [where for keys, where in first.items() if not keys & multipliers]
        worth = len(with_unit) <= _MOST_UNITS and bool(others) and _BARE in first
        return affixes, Trouble("multipliers", (place, *others[:1]), worth)
    bare = cells[_BARE]
    if bare and sum(cells[keys] for keys in with_unit) <= RARE * sum(cells.values()):
        return (), None
    if len(with_unit) > 1:
        letters = sum(len(key) == 1 and key.isalpha() for keys in with_unit for key in keys)
        worth = len(with_unit) <= _MOST_UNITS and letters < len(with_unit)
        return affixes, Trouble("units", tuple(first[keys] for keys in with_unit[:2]), worth)
    return affixes, None


def _codes(texts: Texts, parts: Sequence[NumberText | None]) -> Trouble | None:
    """Leading zeros or very many digits: the column holds identifiers; worth advice if such cells are few."""
    places = [place for place, part in enumerate(parts) if part is not None and part.is_code]
    if not places:
        return None
    n_cells = sum(texts.counts[place] for place in places)
    return Trouble("codes", (places[0],), n_cells <= RARE * texts.n_cells)
