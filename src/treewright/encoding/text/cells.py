"""Cells of text as numbers, times or truth values: recognised in a new table, read by a schema later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from treewright.advice import Advice
from treewright.encoding.cells import Array, Cells
from treewright.encoding.kinds import KINDS, KindName
from treewright.encoding.tables import Table
from treewright.encoding.text import TextFormat, is_missing
from treewright.encoding.text.advice import TextAdvice, quote_cell
from treewright.encoding.text.formats import Reading, Texts
from treewright.encoding.text.recognise import recognise

ByColumn = str | Mapping[str, str] | None  # one for all columns of text, or by name


@dataclass(frozen=True)
class Reader:
    """How columns of text are to be read, and the advice about those that were."""

    decimal: ByColumn = None
    thousands: ByColumn = None
    date_format: ByColumn = None
    place: Callable[[int], str] = "row {}".format
    advice: list[Advice] = field(default_factory=list)

    @property
    def is_set(self) -> bool:
        """Whether something was given."""
        return not (self.decimal is None and self.thousands is None and self.date_format is None)

    def check_names(self, table: Table, targets: Sequence[str]) -> None:
        """An error where an option is given for a column that is not there."""
        names = [*(table.names or (f"x{position}" for position in range(table.n_columns))), *targets]
        for option in ("decimal", "thousands", "date_format"):
            given = getattr(self, option)
            if given is None or isinstance(given, str):
                continue
            if not isinstance(given, Mapping):
                raise TypeError(f"{option} must be a text or a dict of columns to texts, not {given!r}")
            for name, value in given.items():
                if name not in names:
                    known = ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")
                    raise ValueError(f"{option}: there is no column {name!r}; the columns are {known}")
                if not isinstance(value, str):
                    raise TypeError(f"{option}: column {name!r} is given {value!r}, which is no text")

    def recognise(self, cells: Cells, name: str, kind: KindName | None) -> tuple[TextFormat | None, Cells]:
        """The format of a column of text, and its cells read by it; None where they stay as they are.

        A mark or pattern that is given for this one column implies numbers or times.
        """
        if cells.family != "text" or cells.is_category or (kind is not None and KINDS[kind].is_category):
            return None, cells
        if kind is None and _names(self.date_format, name):
            kind = "time"
        elif kind is None and (_names(self.decimal, name) or _names(self.thousands, name)):
            kind = "number"
        found = recognise(
            cast("tuple[str, ...]", cells.labels),
            cells.values,
            name=name,
            kind=kind,
            decimal=_of(self.decimal, name),
            thousands=_of(self.thousands, name),
            date_format=_of(self.date_format, name),
            place=self.place,
        )
        self.advice.extend(found.advice)
        return found.format, cells if found.format is None else read_by(cells, found.format, found.values)

    def read(self, cells: Cells, text: TextFormat, name: str) -> Cells:
        """Texts read by a known format; what cannot be read is missing, and reported as advice."""
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
        """A target of numbers that came as texts; where not all of them can be read, it stays as it is."""
        if cells.family != "text" or cells.is_category:
            return known, cells
        labels = cast("tuple[str, ...]", cells.labels)
        if known is None:
            found = recognise(
                labels,
                cells.values,
                name=name,
                decimal=_of(self.decimal, name),
                thousands=_of(self.thousands, name),
                place=self.place,
                sort="target",
            )
            if found.format is None or found.format.type.family != "number" or found.n_unread:
                return None, cells
            self.advice.extend(found.advice)
            known = found.format
        read = read_by(cells, known)
        strange = np.isnan(read.values) & (cells.values >= 0)
        return known, cells if strange.any() else read


def _names(given: ByColumn, name: str) -> bool:
    return isinstance(given, Mapping) and name in given


def _of(given: ByColumn, name: str) -> str | None:
    return given.get(name) if isinstance(given, Mapping) else given


def read_by(cells: Cells, text: TextFormat, values: Array | None = None) -> Cells:
    """Cells of text as those of the family that a format reads; `values` of the labels if they are known."""
    if values is None:
        values = text.values(cast("tuple[str, ...]", cells.labels))
    return text.type.cells(np.append(values, np.nan), cells.values)


def plain_numbers(cells: Cells, name: str, kind: str) -> Cells:
    """Texts for a column that came as numbers: as a machine writes them, each one of them."""
    result = read_by(cells, TextFormat("number"))
    labels = cast("tuple[str, ...]", cells.labels)
    strange = np.array([*(not is_missing(label) for label in labels), False])[cells.values]
    strange &= np.isnan(result.values)
    if strange.any():
        row = int(np.argmax(strange))
        raise ValueError(
            f"column {name!r} must hold numbers (its kind is {kind!r}), but row {row} is "
            f"{quote_cell(labels[cells.values[row]])}, a text"
        )
    return result
