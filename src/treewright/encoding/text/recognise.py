"""Recognising columns of texts that are numbers, times or truth values, and what to tell people about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from treewright.advice import Advice
from treewright.encoding.cells import Array
from treewright.encoding.kinds import KindName
from treewright.encoding.text import TextFormat
from treewright.encoding.text.advice import Telling, shown
from treewright.encoding.text.columns import HALF, Reading, Texts
from treewright.encoding.text.date_columns import find_dates, looks_like_date
from treewright.encoding.text.dates import check_date_format
from treewright.encoding.text.formats import TRUTHS
from treewright.encoding.text.marks import LONGEST
from treewright.encoding.text.number_columns import conventions_with, find_numbers
from treewright.encoding.text.numbers import split_number

__all__ = ["Recognition", "TextFormat", "recognise"]

_MOST_TRUTHS = 100  # different spellings of true and false, more than there are
_N_EXAMPLES = 3
_MANY, _SAMPLE = 10_000, 500  # different texts: of more than so many, so many are looked at first


@dataclass(frozen=True)
class Recognition:
    """What became of a column of texts."""

    format: TextFormat | None  # None: it stays categories
    unread: tuple[tuple[int, str], ...] = ()  # first row and text of a few that could not be read
    n_unread: int = 0  # cells that could not be read: they are missing
    n_cells: int = 0  # known cells
    advice: tuple[Advice, ...] = ()
    values: NDArray[np.float64] | None = field(default=None, compare=False, repr=False)  # of each label


def recognise(
    labels: Sequence[str],
    codes: Array,
    *,
    name: str,
    kind: KindName | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    date_format: str | None = None,
    place: Callable[[int], str] = "row {}".format,
    sort: str = "column",
) -> Recognition:
    """How a column of texts is best read, given its different texts and their codes (-1: missing).

    `kind` asks for numbers or times: then all that can be read is. Otherwise the column is read where at most
    5 % of its known cells cannot be, and nothing speaks against it. `place` names a row to people, `sort` is
    "column" or "target".

    >>> found = recognise(("1.234,50 €", "7,20 €", "n/a"), np.array([0, 1, 2, 1]), name="price")
    >>> print(found.format, found.n_cells)
    numbers with a decimal comma, dots between thousands and '€' 3
    >>> found = recognise(("03/04/2021", "05/06/2021"), np.array([0, 1]), name="sold")
    >>> print(found.advice[0].text)
    column 'sold' stays categories: '03/04/2021' in row 0 may be day/month/year or month/day/year
    """
    conventions = conventions_with(decimal, thousands)
    if date_format is not None:
        check_date_format(date_format)
    if kind is None and len(labels) > _MANY and _are_words(labels):
        return Recognition(None, n_cells=int((codes >= 0).sum()))
    texts = Texts.of(labels, codes)
    telling = Telling(name, texts, place, sort)
    if kind == "category" or not texts.n_cells:
        return Recognition(None, n_cells=texts.n_cells)
    if kind is not None:
        reading = _asked(texts, kind, conventions, date_format, telling)
        return _taken(reading, texts, telling.asked(reading), len(labels))
    if _are_truths(texts):
        truths = TextFormat("bool")
        reading = Reading(truths, truths.values(texts.labels))
        return _taken(reading, texts, (telling.truths(),), len(labels))
    readings = list(_readings(texts, conventions, date_format))
    sound = next((reading for reading in readings if reading.is_sound(texts)), None)
    if sound is not None:
        return _taken(sound, texts, (telling.read(sound),), len(labels))
    if decimal is not None or thousands is not None:
        free = find_numbers(texts, conventions_with(None, None), asked=False)
        if free is not None and free.is_sound(texts):
            return Recognition(None, n_cells=texts.n_cells, advice=(telling.other_marks(free),))
    best = max(readings, key=lambda reading: reading.n_read(texts), default=None)
    advice = telling.left(best) if best is not None and best.n_read(texts) >= HALF * texts.n_cells else None
    return Recognition(None, n_cells=texts.n_cells, advice=() if advice is None else (advice,))


def _taken(reading: Reading, texts: Texts, advice: tuple[Advice, ...], n_labels: int) -> Recognition:
    examples = tuple((texts.rows[i], texts.labels[i]) for i in reading.unread[:_N_EXAMPLES])
    n_unread = texts.n_cells - reading.n_read(texts)
    values = np.full(n_labels, np.nan)
    values[np.array(texts.codes)] = reading.values
    return Recognition(reading.format, examples, n_unread, texts.n_cells, advice, values)


def _readings(texts: Texts, conventions: Sequence[tuple[str, str]], date_format: str | None) -> list[Reading]:
    """The ways to read a column that reads at least half of its cells."""
    found: list[Reading | None] = []
    if date_format is not None:
        given = TextFormat("time", date_format=date_format)
        found.append(Reading(given, given.values(texts.labels)))
        if found[0] is not None and found[0].is_sound(texts):
            return [found[0]]
    found.append(find_numbers(texts, conventions, asked=False))
    if found[-1] is None or not found[-1].is_sound(texts):
        found.append(find_dates(texts, asked=False))
    return [reading for reading in found if reading is not None]


def _are_words(labels: Sequence[str]) -> bool:
    """Whether a sample of very many texts is mostly neither numbers nor dates.

    The sample is taken from the texts in order, so that the rows may come in any.
    """
    sample = sorted(labels)[:: len(labels) // _SAMPLE]
    readable = sum(split_number(each) is not None or looks_like_date(each) for each in sample)
    return readable < len(sample) / 2


def _are_truths(texts: Texts) -> bool:
    """Whether there are more than two spellings, all of them of true and false."""
    few = 2 < len(texts.labels) <= _MOST_TRUTHS
    return few and all(len(each) <= LONGEST and each.strip().casefold() in TRUTHS for each in texts.labels)


def _asked(
    texts: Texts,
    kind: KindName,
    conventions: Sequence[tuple[str, str]],
    date_format: str | None,
    telling: Telling,
) -> Reading:
    """The reading of a column whose kind was given; an error where no cell can be read."""
    reading: Reading | None
    if kind == "number":
        reading = find_numbers(texts, conventions, asked=True)
    elif date_format is not None:
        given = TextFormat("time", date_format=date_format)
        reading = Reading(given, given.values(texts.labels))
    else:
        reading = find_dates(texts, asked=True)
    if reading is None or not reading.read.any():
        wanted = "a number" if kind == "number" else "a date"
        by = f" by {date_format!r}" if date_format is not None and kind == "time" else ""
        raise ValueError(
            f"{telling.what} is to be read as {kind}s, but no cell is {wanted}{by}; "
            f"{telling.place(texts.rows[0])} is {shown(texts.labels[0])}"
        )
    if reading.trouble is not None:
        advice = telling.left(reading)
        assert advice is not None
        raise ValueError(advice.python_text.replace(" stays categories", " cannot be read as times", 1))
    return reading
