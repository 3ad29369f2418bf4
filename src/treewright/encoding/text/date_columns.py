"""The pattern of the dates in a column of texts: the order of day, month and year, and the time of day."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from treewright.encoding.text import TextFormat
from treewright.encoding.text.columns import Reading, Texts, Trouble
from treewright.encoding.text.dates import MONTHS
from treewright.encoding.text.marks import LONGEST

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


def looks_like_date(text: str) -> bool:
    """Whether a text fits some date pattern."""
    return _look(text) is not None


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


def find_dates(texts: Texts, *, asked: bool) -> Reading | None:
    """The reading as dates that fits most cells; None where most cells are no dates.

    Day and month are not guessed: where no cell tells their order, or two contradict each other, that is the
    trouble of the reading. Between dots the day comes first.
    """
    tally, failed = _Tally(), 0
    for place, (label, count) in enumerate(zip(texts.labels, texts.counts, strict=True)):
        seen = _look(label)
        if seen is not None:
            tally.add(seen, count, place)
            continue
        failed += count
        if 2 * failed > texts.n_cells and not asked:
            return None
    if not tally.patterns:
        return None
    # Of equally many the year first, then any fixed order.
    best = max(tally.patterns, key=lambda each: (tally.patterns[each], each.startswith("%Y"), each))
    pattern, trouble = _ordered(best, tally)
    found = TextFormat("time", date_format=pattern + tally.clock())
    values = found.values(texts.labels)
    if trouble is None:
        return Reading(found, values)
    swapped = pattern.replace("%d", "%_").replace("%m", "%d").replace("%_", "%m")
    other = TextFormat("time", date_format=swapped + tally.clock())
    values = np.where(np.isnan(values), other.values(texts.labels), values)
    return Reading(found, values, trouble, other, int(np.argmax(~np.isnan(values))))


def _ordered(pattern: str, tally: _Tally) -> tuple[str, Trouble | None]:
    """The pattern with day and month in the order that the texts show, and what is wrong with it."""
    if not re.match(r"%[dm]([-/.])%[dm]\1", pattern):
        return pattern, None
    gap = pattern[2]
    year = pattern[-2:]
    day_first, month_first = f"%d{gap}%m{gap}{year}", f"%m{gap}%d{gap}{year}"
    shows = [tally.only.get(each) for each in (day_first, month_first)]
    if shows[0] is not None and shows[1] is not None:
        return day_first, Trouble("date orders", (shows[0], shows[1]))
    if shows[1] is not None:
        return month_first, None
    if shows[0] is not None or gap == ".":
        return day_first, None
    return day_first, Trouble("date order")
