"""Cells of text as numbers, times or truth values, by recognition in a new table or by a schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from treewright._arrays import Array
from treewright._suggestions import choices_text
from treewright.advice import Advice
from treewright.encoding.cells import Cells
from treewright.encoding.kinds import KINDS, KindName
from treewright.encoding.tables import Table
from treewright.encoding.text import TextFormat, is_missing
from treewright.encoding.text.advice import TextAdvice, quote_cell
from treewright.encoding.text.formats import Reading, Texts
from treewright.encoding.text.recognise import Recognition, recognise

ByColumn = str | Mapping[str, str] | None  # one for all columns of text, or by name


@dataclass(frozen=True)
class Reader:
    """The options for reading columns of text, and the advice about them."""

    decimal: ByColumn = None
    thousands: ByColumn = None
    date_format: ByColumn = None
    place: Callable[[int], str] = "row {}".format
    advice: list[Advice] = field(default_factory=list)

    @property
    def is_set(self) -> bool:
        """Whether the user set an option."""
        return not (self.decimal is None and self.thousands is None and self.date_format is None)

    def check_names(self, table: Table, targets: Sequence[str]) -> None:
        """An error if an option names an unknown column."""
        names = [*(table.names or (f"x{position}" for position in range(table.n_columns))), *targets]
        for option in ("decimal", "thousands", "date_format"):
            values = getattr(self, option)
            if values is None or isinstance(values, str):
                continue
            if not isinstance(values, Mapping):
                raise TypeError(f"{option} must be a text or a dict of columns to texts, not {values!r}")
            for name, value in values.items():
                if name not in names:
                    known = choices_text(name, names, in_quotes=True)
                    raise ValueError(f"{option}: there is no column {name!r}; the columns are {known}")
                if not isinstance(value, str):
                    raise TypeError(f"{option}: column {name!r} is given {value!r}, which is no text")

    def recognise(self, cells: Cells, name: str, kind: KindName | None) -> tuple[TextFormat | None, Cells]:
        """The format of a column of text, and its cells read by it; None if they stay as they are.

        A mark or pattern for this one column implies numbers or times.
        """
        if cells.family != "text" or cells.is_category or (kind is not None and KINDS[kind].is_category):
            return None, cells
        if kind is None and _names(self.date_format, name):
            kind = "time"
        elif kind is None and (_names(self.decimal, name) or _names(self.thousands, name)):
            kind = "number"
        result = self._recognise(cells, name, kind=kind, date_format=_of(self.date_format, name))
        self.advice.extend(result.advice)
        return result.format, cells if result.format is None else read_by(cells, result.format, result.values)

    def _recognise(self, cells: Cells, name: str, **options: Any) -> Recognition:
        options |= {"decimal": _of(self.decimal, name), "thousands": _of(self.thousands, name)}
        labels = cast("tuple[str, ...]", cells.labels)
        return recognise(labels, cells.values, name=name, place=self.place, **options)

    def read(self, cells: Cells, text: TextFormat, name: str) -> Cells:
        """Texts read by a known format; cells that cannot be read are missing, and reported as advice."""
        labels = cast("tuple[str, ...]", cells.labels)
        values = text.values(labels)
        if np.isnan(values).any():
            texts = Texts.of(labels, cells.values)
            reading = Reading(text, values[np.array(texts.codes, np.int64)])
            if not reading.is_read.all():
                self.advice.append(TextAdvice(name, texts, self.place).of_unread(reading))
        return read_by(cells, text, values)

    def read_target(
        self, cells: Cells, name: str, known: TextFormat | None
    ) -> tuple[TextFormat | None, Cells]:
        """A target of numbers that are texts; unless all of them can be read, it stays as it is."""
        if cells.family != "text" or cells.is_category:
            return known, cells
        if known is None:
            result = self._recognise(cells, name, sort="target")
            if result.format is None or result.format.type.family != "number" or result.n_unread:
                return None, cells
            self.advice.extend(result.advice)
            known = result.format
        numbers = read_by(cells, known)
        unread = np.isnan(numbers.values) & ~cells.is_missing
        return known, cells if unread.any() else numbers


def _names(option: ByColumn, name: str) -> bool:
    return isinstance(option, Mapping) and name in option


def _of(option: ByColumn, name: str) -> str | None:
    return option.get(name) if isinstance(option, Mapping) else option


def read_by(cells: Cells, text: TextFormat, values: Array | None = None) -> Cells:
    """Cells of text read by a format; `values` of the labels if they are known."""
    if values is None:
        values = text.values(cast("tuple[str, ...]", cells.labels))
    return text.type.cells(np.append(values, np.nan), cells.values)


def plain_numbers(cells: Cells, name: str, kind: str) -> Cells:
    """Texts for a column that held numbers in training: all must be plain numbers."""
    result = read_by(cells, TextFormat("number"))
    labels = cast("tuple[str, ...]", cells.labels)
    unread = np.array([*(not is_missing(label) for label in labels), False])[cells.values]
    unread &= np.isnan(result.values)
    if unread.any():
        row = int(np.argmax(unread))
        raise ValueError(
            f"column {name!r} must hold numbers (its kind is {kind!r}), but row {row} is "
            f"{quote_cell(cells[row])}, a text"
        )
    return result
