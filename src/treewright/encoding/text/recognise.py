"""Recognising columns of texts that are numbers, times or truth values, with advice about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from treewright._arrays import Array, Floats
from treewright.advice import Advice
from treewright.encoding.kinds import KINDS, KindName
from treewright.encoding.text import TEXT_KINDS, TextFormat
from treewright.encoding.text.advice import TextAdvice, quote_cell
from treewright.encoding.text.dates import check_date_format
from treewright.encoding.text.formats import Marks, Reading, Texts, conventions_with

__all__ = ["Recognition", "TextFormat", "recognise"]

_N_EXAMPLES = 3
_MANY, _SAMPLE = 10_000, 500  # of more than so many different texts, a sample is read first
_HALF = 0.5  # if this share of the cells can be read, it is worth advice


@dataclass(frozen=True)
class Recognition:
    """The format and values of a column of texts."""

    format: TextFormat | None  # None: it stays categories
    unread: tuple[tuple[int, str], ...] = ()  # first row and text of a few that could not be read
    n_unread: int = 0  # cells that could not be read: they are missing
    n_cells: int = 0  # known cells
    advice: tuple[Advice, ...] = ()
    values: Floats | None = field(default=None, compare=False, repr=False)  # of each label


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

    With a `kind` of numbers or times all cells that can be read are. Otherwise the column is read where at
    most 5 % of its known cells cannot be, and nothing speaks against it. `place` names a row in messages,
    `sort` is "column" or "target".

    >>> found = recognise(("1.234,50 €", "7,20 €", "n/a"), np.array([0, 1, 2, 1]), name="price")
    >>> print(found.format, found.n_cells)
    numbers with a decimal comma, dots between thousands and '€' 3
    >>> found = recognise(("03/04/2021", "05/06/2021"), np.array([0, 1]), name="sold")
    >>> print(found.advice[0].text)
    column 'sold' stays categories: '03/04/2021' in row 0 may be day/month/year or month/day/year
    """
    marks = Marks(decimal, thousands, date_format)
    conventions_with(decimal, thousands)
    if date_format is not None:
        check_date_format(date_format)
    if kind is None and len(labels) > _MANY and _are_words(labels):
        return Recognition(None, n_cells=int((codes >= 0).sum()))
    texts = Texts.of(labels, codes)
    adviser = TextAdvice(name, texts, place, sort)
    if not texts.n_cells or (kind is not None and KINDS[kind].is_category):
        return Recognition(None, n_cells=texts.n_cells)
    if kind is not None:
        reading = _required_reading(texts, kind, marks, adviser)
        return _recognition(reading, texts, adviser.of_required(reading), len(labels))
    readings = _readings(texts, marks)
    if readings and readings[-1].is_sound(texts):
        return _recognition(readings[-1], texts, (adviser.of_reading(readings[-1]),), len(labels))
    if decimal is not None or thousands is not None:
        free = TEXT_KINDS["number"].find(texts, Marks(), required=False)
        if free is not None and free.is_sound(texts):
            return Recognition(None, n_cells=texts.n_cells, advice=(adviser.of_other_marks(free),))
    best = max(readings, key=lambda reading: reading.n_read(texts), default=None)
    advice = None
    if best is not None and best.n_read(texts) >= _HALF * texts.n_cells:
        advice = adviser.of_categories(best)
    return Recognition(None, n_cells=texts.n_cells, advice=() if advice is None else (advice,))


def _recognition(reading: Reading, texts: Texts, advice: tuple[Advice, ...], n_labels: int) -> Recognition:
    examples = tuple((texts.rows[i], texts.labels[i]) for i in reading.unread[:_N_EXAMPLES])
    n_unread = texts.n_cells - reading.n_read(texts)
    values = np.full(n_labels, np.nan)
    values[np.array(texts.codes)] = reading.values
    return Recognition(reading.format, examples, n_unread, texts.n_cells, advice, values)


def _readings(texts: Texts, marks: Marks) -> list[Reading]:
    """The readings of at least half of the cells of a column, up to the first that is sound.

    The date format of the user is tried first, dates of other formats last.
    """
    free = marks._replace(date_format=None)
    tries = [] if marks.date_format is None else [(TEXT_KINDS["time"], marks)]
    readings: list[Reading] = []
    for kind, each in tries + [(kind, free) for kind in TEXT_KINDS.values()]:
        reading = kind.find(texts, each, required=False)
        if reading is not None:
            readings.append(reading)
            if reading.is_sound(texts):
                break
    return readings


def _are_words(labels: Sequence[str]) -> bool:
    """Whether a sample of very many texts is mostly neither numbers nor dates.

    The sample is taken from the sorted texts, so that the order of the rows does not matter.
    """
    sample = sorted(labels)[:: len(labels) // _SAMPLE]
    readable = sum(any(kind.resembles(each) for kind in TEXT_KINDS.values()) for each in sample)
    return readable < len(sample) / 2


def _required_reading(texts: Texts, kind: KindName, marks: Marks, adviser: TextAdvice) -> Reading:
    """The reading of a column whose kind was given; an error where no cell can be read."""
    text_kind = TEXT_KINDS[KINDS[kind].text_kind]
    reading = text_kind.find(texts, marks, required=True)
    if reading is None or not reading.is_read.any():
        has_format = marks.date_format is not None and text_kind is TEXT_KINDS["time"]
        by = f" by {marks.date_format!r}" if has_format else ""
        raise ValueError(
            f"{adviser.what} is to be read as {KINDS[kind].plural}, but no cell is a {text_kind.noun}{by}; "
            f"{adviser.place(texts.rows[0])} is {quote_cell(texts.labels[0])}"
        )
    if reading.trouble is not None:
        advice = adviser.of_categories(reading)
        assert advice is not None
        raise ValueError(advice.python_text.replace(" stays categories", " cannot be read as times", 1))
    return reading
