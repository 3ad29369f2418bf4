"""Cells of text as a model knows its columns: numbers, times and truth values, read as when it was fitted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.cli.conventions import Conventions
from treewright.cli.errors import Misuse, Trouble, quote, shortened
from treewright.cli.reading import Frame
from treewright.encoding.schema import Column
from treewright.encoding.text import TextFormat, is_missing

PLAIN = TextFormat("number")
ISO = TextFormat("time", date_format="%Y-%m-%dT%H:%M:%S.%f")
_CALLED = {
    "number": ("a number", "numbers"),
    "time": ("a date or time", "dates or times"),
    "bool": ("true or false", "true or false"),
}


@dataclass
class _Unread:
    """The cells of a column that could not be read."""

    known: int = 0
    unread: int = 0
    first: str = ""
    place: str = ""


@dataclass(frozen=True)
class ModelCells:
    """The formats of the columns of a model, and what could not be read by them so far."""

    formats: dict[str, TextFormat]
    as_text: dict[str, bool]  # whether a column is always read as text, or only where it is nothing else
    _seen: dict[str, _Unread] = field(default_factory=dict)

    @staticmethod
    def of(columns: Iterable[Column], conventions: Conventions) -> ModelCells:
        """For the columns of a schema; what the command line says goes before what the model knows."""
        formats, as_text = {}, {}
        for column in columns:
            usual = {"number": PLAIN, "time": ISO}.get(column.kind)
            known = column.text or usual
            if known is None:
                continue
            said = _said(known, column.name, conventions)
            formats[column.name] = said
            as_text[column.name] = said != usual
        return ModelCells(formats, as_text)

    def read(self, frame: Frame) -> Frame:
        """A frame whose texts are read; what cannot be read is missing, and counted."""
        columns, forms = dict(frame.columns), dict(frame.forms)
        for name, format in self.formats.items():
            if forms.get(name) == "text":
                columns[name] = self._column(frame, name, format)
                forms[name] = format.kind
        return replace(frame, columns=columns, forms=forms)

    def _column(self, frame: Frame, name: str, format: TextFormat) -> Any:
        cells = frame.columns[name].tolist()
        labels = list(dict.fromkeys(cell for cell in cells if cell is not None))
        code = {label: position for position, label in enumerate(labels)}
        codes = np.array([-1 if cell is None else code[cell] for cell in cells], np.intp)
        values = np.append(format.values(labels), np.nan)
        known = np.array([not is_missing(label) for label in labels] + [False])
        self._count(frame, name, labels, codes, known, values)
        return typed(values[codes], format)

    def _count(
        self,
        frame: Frame,
        name: str,
        labels: list[str],
        codes: NDArray[np.intp],
        known: NDArray[np.bool_],
        values: NDArray[np.float64],
    ) -> None:
        seen = self._seen.setdefault(name, _Unread())
        strange = (known & np.isnan(values))[codes]
        if strange.any() and not seen.unread:
            row = int(np.argmax(strange))
            seen.first, seen.place = labels[codes[row]], frame.place(row)
        seen.known += int(known[codes].sum())
        seen.unread += int(strange.sum())

    def notes(self, path: str) -> list[str]:
        """What to say in the end, one line a column; Trouble about a column of which nothing can be read."""
        told = []
        for name, seen in self._seen.items():
            if not seen.unread:
                continue
            one, things = _CALLED[self.formats[name].kind]
            wrong = f"is not {one}" if seen.unread == 1 else f"are not {things}"
            at = f"{shortened(seen.first)!r} in {seen.place}"
            by = "" if self.formats[name] in (PLAIN, ISO) else f"; the model reads {self.formats[name]}"
            if seen.unread == seen.known:
                raise Trouble(f"{path}: no cell of column {quote(name)} can be read as {things} ({at}){by}")
            told.append(
                f"{path}: column {quote(name)}: {seen.unread:,} of {seen.known:,} cells {wrong} "
                f"({at}): read as missing{by}"
            )
        return told


def _said(format: TextFormat, name: str, conventions: Conventions) -> TextFormat:
    """A format with what the command line says of a column."""
    decimal, thousands = conventions.marks(name)
    pattern = conventions.date_format.get(name)
    try:
        if format.kind == "time" and pattern is not None:
            return TextFormat("time", date_format=pattern)
        if format.kind == "number" and (decimal, thousands) != (None, None):
            marks = (decimal or format.decimal, format.thousands if thousands is None else thousands)
            if thousands is None and marks[0] == marks[1]:
                marks = (marks[0], "")
            return replace(format, decimal=marks[0], thousands=marks[1])
    except ValueError as error:
        raise Misuse(f"column {quote(name)}: {error}") from error
    return format


def typed(values: NDArray[np.float64], format: TextFormat) -> Any:
    """Values of a format as an array that `encode` knows."""
    if format.kind == "number":
        return values
    missing = np.isnan(values)
    if format.kind == "bool":
        return np.ma.array(np.where(missing, 0.0, values).astype(bool), mask=missing)
    moments = np.where(missing, 0.0, values).astype(np.int64).view("datetime64[us]")
    moments[missing] = np.datetime64("NaT")
    return moments
