"""Columns as a model knows them: the forms of their cells, and texts read by the formats of the fit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.cli.errors import Misuse, Trouble, cut, quote
from treewright.cli.tables.cell_types import Form
from treewright.cli.tables.dialect import Conventions
from treewright.cli.tables.reader import Frame
from treewright.encoding.kinds import KINDS
from treewright.encoding.schema import Column
from treewright.encoding.text import TextFormat, is_missing

STANDARD = {  # the formats in which columns are read that did not come as texts, by kind of text
    "number": TextFormat("number"),
    "time": TextFormat("time", date_format="%Y-%m-%dT%H:%M:%S.%f"),
}
_FORMS: dict[str, Form] = {
    "number": "number", "time": "time", "bool": "bool", "text": "text", "nothing": "text",
}  # fmt: skip


def form_of(column: Column) -> Form:
    """The form in which a column must be read so that the model knows its cells."""
    family = column.type.family(column.categories)
    return "integer" if column.is_category and family == "number" else _FORMS[family]


def form_of_kind(kind: str) -> Form:
    """The form of a column of a kind that the user names."""
    return form_of(Column("", kind))  # type: ignore[arg-type]


@dataclass
class _Unread:
    """The cells of a column that could not be read."""

    n_known: int = 0
    n_unread: int = 0
    example: str = ""
    place: str = ""


@dataclass(frozen=True)
class ModelCells:
    """The formats of the columns of a model, and what could not be read by them so far."""

    formats: dict[str, TextFormat]
    as_text: dict[str, bool]  # whether a column is always read as text, or only where it is nothing else
    _unread: dict[str, _Unread] = field(default_factory=dict)

    @staticmethod
    def of(columns: Iterable[Column], conventions: Conventions) -> ModelCells:
        """For the columns of a schema; the options of the command line override what the model knows."""
        formats, as_text = {}, {}
        for column in columns:
            standard = STANDARD.get(column.type.text_kind)
            known = column.text or standard
            if known is not None:
                formats[column.name] = format = _with_conventions(known, column.name, conventions)
                as_text[column.name] = format != standard
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
        counts = Counter(cells)
        counts.pop(None, None)
        values = dict(zip(counts, format.values(list(counts)).tolist(), strict=True))
        known = [label for label in counts if not is_missing(label)]
        unread = [label for label in known if math.isnan(values[label])]
        total = self._unread.setdefault(name, _Unread())
        if unread and not total.n_unread:
            total.example, total.place = unread[0], frame.place(cells.index(unread[0]))
        total.n_known += sum(counts[label] for label in known)
        total.n_unread += sum(counts[label] for label in unread)
        return as_cells(np.array([values.get(cell, math.nan) for cell in cells], np.float64), format)

    def notes(self, path: str) -> list[str]:
        """One note for each column with unreadable cells; Trouble if all cells of a column are unreadable."""
        notes = []
        for name, unread in self._unread.items():
            if not unread.n_unread:
                continue
            format = self.formats[name]
            noun = format.type.noun
            what = f"is not a {noun}" if unread.n_unread == 1 else f"are not {noun}s"
            where = f"{cut(unread.example)!r} in {unread.place}"
            by = "" if format == STANDARD.get(format.kind) else f"; the model reads {format}"
            if unread.n_unread == unread.n_known:
                raise Trouble(f"{path}: no cell of column {quote(name)} can be read as {noun}s ({where}){by}")
            notes.append(
                f"{path}: column {quote(name)}: {unread.n_unread:,} of {unread.n_known:,} cells {what} "
                f"({where}): read as missing{by}"
            )
        return notes


def _with_conventions(format: TextFormat, name: str, conventions: Conventions) -> TextFormat:
    """A format, changed by the options for a column."""
    decimal, thousands = conventions.marks(name)
    pattern = conventions.date_format.get(name)
    try:
        if format.kind == "time" and pattern is not None:
            return TextFormat("time", date_format=pattern)
        if format.kind == "number" and (decimal, thousands) != (None, None):
            decimal = decimal or format.decimal
            usual = "" if format.thousands == decimal else format.thousands
            return replace(format, decimal=decimal, thousands=usual if thousands is None else thousands)
    except ValueError as error:
        raise Misuse(f"column {quote(name)}: {error}") from error
    return format


def as_cells(values: NDArray[np.float64], format: TextFormat) -> Any:
    """Values of a format as an array that `encode` knows."""
    if format.kind == "bool":
        missing = np.isnan(values)
        return np.ma.array(np.where(missing, 0.0, values).astype(bool), mask=missing)
    return KINDS[format.kind].decode(Column("", format.kind), values)
