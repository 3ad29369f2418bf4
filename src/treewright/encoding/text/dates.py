"""Dates and times in texts: patterns like those of strptime, in any locale; one text, then a column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from math import nan
from typing import NamedTuple

import numpy as np

from treewright.encoding.text.formats import LONGEST, Marks, Reading, TextFormat, TextKind, Texts, Trouble

_EPOCH = datetime(1970, 1, 1)
_PIVOT = 69  # of two-digit years, as strptime has it: 69 is 1969, 68 is 2068

_ENGLISH = "january february march april may june july august september october november december"
_GERMAN = "januar februar märz april mai juni juli august september oktober november dezember"
_MORE = {"sept": 9, "jän": 1, "jänner": 1, "feber": 2, "mrz": 3, "maerz": 3, "okt": 10, "dez": 12}
MONTHS: dict[str, int] = _MORE | {
    form: place
    for names in (_ENGLISH, _GERMAN)
    for place, name in enumerate(names.split(), 1)
    for form in (name, name[:3])
}

_FIELDS = {  # directive: (the group of the regular expression, its pattern, its word)
    "d": ("day", "[0-9]{1,2}", "day"),
    "m": ("month", "[0-9]{1,2}", "month"),
    "b": ("name", r"[^\W\d_]{3,10}", "Mon"),
    "B": ("name", r"[^\W\d_]{3,10}", "Mon"),
    "Y": ("year", "[0-9]{4}", "year"),
    "y": ("short", "[0-9]{2}", "two-digit year"),
    "H": ("hour", "[0-9]{1,2}", "hour"),
    "I": ("hour12", "(?:0?[1-9]|1[0-2])", "hour"),
    "M": ("minute", "[0-9]{2}", "minute"),
    "S": ("second", "[0-9]{2}", "second"),
    "f": ("fraction", "[0-9]{1,6}", "fraction"),
    "p": ("half", "[AaPp]\\.?[Mm]\\.?", "AM/PM"),
    "z": ("zone", "Z|z|UTC|GMT|[-+][0-9]{2}:?[0-9]{2}", "zone"),
}
_USUAL_TIME = re.compile(
    r"(?P<date>.*?)(?P<gap>T|,? )%(?P<hour>[HI]):%M(?P<more>:%S(?P<part>[.,]%f)?)?(?P<p> ?%p)?(?P<z> ?%z)?"
)


def check_date_format(date_format: str) -> None:
    """An error unless the pattern has known directives, each once, that make a date."""
    directives = re.findall(r"%(.?)", date_format.replace("%%", ""), re.DOTALL)
    unknown = [each for each in directives if each not in _FIELDS]
    if unknown:
        known = ", ".join(f"%{each}" for each in _FIELDS)
        raise ValueError(
            f"date_format {date_format!r} has the directive {'%' + unknown[0]!r}; known are {known}"
        )
    groups = [_FIELDS[each][0] for each in directives]
    twice = [group for group in groups if groups.count(group) > 1]
    has_year = ("year" in groups) + ("short" in groups) == 1
    has_month = ("month" in groups) + ("name" in groups) == 1
    has_half = ("half" in groups) == ("hour12" in groups) and not {"hour", "hour12"} <= set(groups)
    if twice or not has_year or not has_month or not has_half:
        raise ValueError(
            f"date_format {date_format!r} must have one year (%Y or %y) and one month (%m or %b), no field "
            "twice, and %p exactly with %I"
        )


@lru_cache(maxsize=256)
def date_reader(date_format: str) -> Callable[[str], float]:
    """What reads a text by a pattern as microseconds since 1970; NaN where it is no such date.

    A date without its time is midnight, one without seconds is at the full minute.

    >>> date_reader("%d.%m.%Y %H:%M")("02.01.1970"), date_reader("%d/%m/%y")("31/02/17")
    (86400000000.0, nan)
    """
    check_date_format(date_format)
    pattern = re.compile(_regular_expression(date_format))

    def read(text: str) -> float:
        match = pattern.fullmatch(text.strip()) if len(text) <= LONGEST else None
        return nan if match is None else _microseconds(match.groupdict(default=""))

    return read


def _regular_expression(date_format: str) -> str:
    """The regular expression of a pattern; the time of day may be left out or be less exact."""
    usual = _USUAL_TIME.fullmatch(date_format)
    if usual is None:
        return _strictly(date_format)
    parts = f"(?:{_strictly(usual['part'])}0*)?" if usual["part"] else "(?:[.,]0+)?"
    minutes = f"(?:{_strictly(':%S')}{parts})?" if usual["more"] else "(?::00)?"
    half = _strictly(usual["p"].strip()) if usual["p"] else ""
    gap = "[Tt ]" if usual["gap"] == "T" else _strictly(usual["gap"])
    clock = gap + _strictly(f"%{usual['hour']}:%M") + minutes + (f" ?{half}" if half else "")
    zone = f" ?{_strictly('%z')}" if usual["z"] else ""  # a date without a time has no zone: it is not read
    return _strictly(usual["date"]) + (clock + zone if zone else f"(?:{clock})?")


def _strictly(date_format: str) -> str:
    """Every directive and literal in its place."""
    pieces = re.split(r"%(.)", date_format)  # literals and directives take turns
    for place, piece in enumerate(pieces):
        if place % 2 == 0 or piece == "%":
            pieces[place] = re.escape(piece)
        else:
            group, pattern, _ = _FIELDS[piece]
            pieces[place] = f"(?P<{group}>{pattern})"
    return "".join(pieces)


def _microseconds(fields: dict[str, str]) -> float:
    """The moment that the fields name; NaN where the calendar or the clock has none."""
    month = MONTHS.get(fields["name"].casefold(), 0) if "name" in fields else int(fields["month"])
    year = int(fields.get("year") or 0)
    if "short" in fields:
        year = int(fields["short"])
        year += 1900 if year >= _PIVOT else 2000
    hour = int(fields.get("hour") or 0)
    if fields.get("hour12"):
        hour = int(fields["hour12"]) % 12 + (12 if fields["half"][0] in "Pp" else 0)
    minute, second = int(fields.get("minute") or 0), int(fields.get("second") or 0)
    fraction = int((fields.get("fraction") or "0").ljust(6, "0"))
    try:
        moment = datetime(year, month, int(fields.get("day") or 1), hour, minute, second, fraction)
        moment -= _offset(fields.get("zone", ""))
    except (ValueError, OverflowError):
        return nan
    ticks = (moment - _EPOCH) // timedelta(microseconds=1)
    return float(ticks) if int(float(ticks)) == ticks else nan


@lru_cache(maxsize=256)
def _offset(zone: str) -> timedelta:
    """The offset of a zone from UTC; ValueError if there is no such zone."""
    offset = datetime.strptime(zone, "%z").utcoffset() if zone[:1] in ("+", "-") else None
    return offset or timedelta(0)


def date_words(date_format: str) -> str:
    """A pattern in words.

    >>> date_words("%d.%m.%Y"), date_words("%Y-%m-%dT%H:%M")
    ('dates as day.month.year', 'times as year-month-day hour:minute')
    """
    date_format = date_format.replace("T%H", " %H").replace("%z", " %z").replace("  ", " ")
    words = re.sub(r"%(.)", lambda match: _FIELDS[match[1]][2] if match[1] in _FIELDS else "%", date_format)
    return f"{'times' if '%H' in date_format or '%I' in date_format else 'dates'} as {words}"


# ---- columns of dates --------------------------------------------------------------------------------

_NAME, _GAP = r"[^\W\d_]{3,10}", r"\. ?|, ?|[ /-]"
_DATE = re.compile(
    rf"([0-9]{{1,4}}|{_NAME})({_GAP})([0-9]{{1,4}}|{_NAME})(?:({_GAP})([0-9]{{1,4}}))?"
    r"(?:(T|t|,? )([0-9]{1,2}):[0-9]{2}(:[0-9]{2}([.,][0-9]{1,9})?)?( ?[AaPp]\.?[Mm]\.?)?"
    r"( ?(?:Z|z|UTC|GMT|[-+][0-9]{2}:?[0-9]{2}))?)?"
)


class _Clock(NamedTuple):
    """How the time of day is written, but for how exact it is."""

    gap: str
    hour: str  # %H or %I
    half: str  # %p
    zone: str  # %z


class _Seen(NamedTuple):
    """What a text shows: the date patterns that it fits, and its time of day."""

    patterns: tuple[str, ...]
    clock: _Clock | None
    seconds: str  # "", ":%S" or ":%S.%f"


def _look(text: str) -> _Seen | None:
    """The date patterns that a text fits; None where it is no date."""
    match = _DATE.fullmatch(text.strip()) if len(text) <= LONGEST else None
    if match is None:
        return None
    patterns = _patterns(match[1], match[2], match[3], match[4] or "", match[5] or "")
    if not patterns:
        return None
    if match[6] is None:
        return _Seen(patterns, None, "")
    half = " %p" if match[10] else ""
    clock = _Clock(match[6].upper(), "%I" if half else "%H", half, "%z" if match[11] else "")
    fraction = f"{match[9][0]}%f" if match[9] else ""
    return _Seen(patterns, clock, f":%S{fraction}" if match[8] else "")


def _patterns(a: str, gap: str, b: str, last_gap: str, c: str) -> tuple[str, ...]:
    """The patterns of the two or three parts of a date."""
    shape = "".join(_shape(part) for part in (a, b, c) if part)
    year = "%Y" if len(c) == 4 else "%y"
    match shape:
        case "4nn" if gap == last_gap and gap in "-/.":
            return (f"%Y{gap}%m{gap}%d",) if int(b) <= 12 and int(c) <= 31 else ()
        case "nn4" | "nnn" if gap == last_gap and gap in "-/." and len(c) != 1:
            day_first = (f"%d{gap}%m{gap}{year}",) if 0 < int(b) <= 12 and 0 < int(a) <= 31 else ()
            month_first = (f"%m{gap}%d{gap}{year}",) if 0 < int(a) <= 12 and 0 < int(b) <= 31 else ()
            return day_first + month_first
        case "nb4" | "nbn" if len(c) != 1:
            return (f"%d{gap}%b{last_gap}{year}",)
        case "bn4":
            return (f"%b{gap}%d{last_gap}%Y",)
        case "4bn":
            return (f"%Y{gap}%b{last_gap}%d",)
        case "4n" if gap in "-/" and len(b) == 2:
            return (f"%Y{gap}%m",)
        case "n4" if gap in "-/":
            return (f"%m{gap}%Y",)
        case "b4":
            return (f"%b{gap}%Y",)
    return ()


def _shape(part: str) -> str:
    """4: four digits, n: one or two, b: the name of a month."""
    if part.isdigit():
        return "4" if len(part) == 4 else "n" if len(part) <= 2 else "?"
    return "b" if part.casefold() in MONTHS else "?"


@dataclass
class _Tally:
    """The cells that fit each pattern and each way to write the time of day."""

    patterns: Counter[str] = field(default_factory=Counter)
    clocks: Counter[_Clock] = field(default_factory=Counter)
    seconds: dict[_Clock, str] = field(default_factory=dict)
    only: dict[str, int] = field(default_factory=dict)  # the first text that fits this pattern and no other

    def add(self, seen: _Seen, count: int, place: int) -> None:
        for pattern in seen.patterns:
            self.patterns[pattern] += count
        if len(seen.patterns) == 1:
            self.only.setdefault(seen.patterns[0], place)
        if seen.clock is not None:
            self.clocks[seen.clock] += count
            self.seconds[seen.clock] = max(self.seconds.get(seen.clock, ""), seen.seconds, key=len)

    def clock(self) -> str:
        """The pattern of the time of day that most cells have, as exact as the most exact of them."""
        if not self.clocks:
            return ""
        most = max(self.clocks, key=lambda clock: (self.clocks[clock], clock))
        return f"{most.gap}{most.hour}:%M{self.seconds[most]}{most.half}{most.zone}"


class DateTexts(TextKind):
    """Dates and times of day, as microseconds since 1970."""

    name = "time"
    noun = "date"
    family = "time"

    def check(self, given: TextFormat) -> None:
        """ValueError unless the pattern makes a date."""
        check_date_format(given.date_format)

    def reader(self, given: TextFormat) -> Callable[[str], float]:
        """The reader of the pattern."""
        return date_reader(given.date_format)

    def words(self, given: TextFormat) -> str:
        """The pattern in words."""
        return date_words(given.date_format)

    def short_words(self, given: TextFormat) -> str:
        """The pattern alone."""
        return self.words(given).partition(" as ")[2]

    def resembles(self, text: str) -> bool:
        """Whether a text fits some date pattern."""
        return _look(text) is not None

    def find(self, texts: Texts, marks: Marks, *, required: bool) -> Reading | None:
        """The reading by the pattern given, or that fits most cells; None where most cells are no dates.

        The order of day and month is not guessed: unless the cells determine it without contradiction, the
        reading has a trouble. Between dots the day comes first.
        """
        if marks.date_format is not None:
            return Reading.of(TextFormat("time", date_format=marks.date_format), texts)
        tally, n_failed = _Tally(), 0
        for place, (label, count) in enumerate(zip(texts.labels, texts.counts, strict=True)):
            seen = _look(label)
            if seen is not None:
                tally.add(seen, count, place)
                continue
            n_failed += count
            if 2 * n_failed > texts.n_cells and not required:
                return None
        if not tally.patterns:
            return None
        # Among equally frequent patterns year first, then any fixed order.
        best = max(tally.patterns, key=lambda each: (tally.patterns[each], each.startswith("%Y"), each))
        pattern, other_order, trouble = _day_month_order(best, tally)
        reading = Reading.of(TextFormat("time", date_format=pattern + tally.clock()), texts)
        if trouble is None:
            return reading
        other = TextFormat("time", date_format=other_order + tally.clock())
        values = np.where(reading.is_read, reading.values, other.values(texts.labels))
        return Reading(reading.format, values, trouble, other, int(np.argmax(~np.isnan(values))))


def _day_month_order(pattern: str, tally: _Tally) -> tuple[str, str, Trouble | None]:
    """The pattern with day and month in the order of the texts, the other order, and the trouble if any."""
    if not re.match(r"%[dm]([-/.])%[dm]\1", pattern):
        return pattern, pattern, None
    gap, year = pattern[2], pattern[-2:]
    orders = day_first, month_first = f"%d{gap}%m{gap}{year}", f"%m{gap}%d{gap}{year}"
    day_text, month_text = tally.only.get(day_first), tally.only.get(month_first)
    if day_text is not None and month_text is not None:
        return *orders, Trouble("date orders", (day_text, month_text))
    if month_text is not None:
        return month_first, day_first, None
    return *orders, None if day_text is not None or gap == "." else Trouble("date order")
