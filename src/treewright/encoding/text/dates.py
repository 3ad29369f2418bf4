"""Dates and times in texts: patterns like those of strptime, read without regard to the locale."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache
from math import nan

from treewright.encoding.text.marks import LONGEST

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


def _offset(zone: str) -> timedelta:
    """How far a zone's clocks are ahead of UTC."""
    if not zone or zone[0] not in "+-":
        return timedelta(0)
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    if hours > 23 or minutes > 59:
        raise ValueError("no such zone")
    size = timedelta(hours=hours, minutes=minutes)
    return -size if zone[0] == "-" else size


def date_words(date_format: str) -> str:
    """A pattern in words.

    >>> date_words("%d.%m.%Y"), date_words("%Y-%m-%dT%H:%M")
    ('dates as day.month.year', 'times as year-month-day hour:minute')
    """
    date_format = date_format.replace("T%H", " %H").replace("%z", " %z").replace("  ", " ")
    words = re.sub(r"%(.)", lambda match: _FIELDS[match[1]][2] if match[1] in _FIELDS else "%", date_format)
    return f"{'times' if '%H' in date_format or '%I' in date_format else 'dates'} as {words}"
