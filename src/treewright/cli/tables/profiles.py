"""The columns of a table in figures: kind, missing, distinct, range, values, and how texts were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from heapq import nsmallest
from typing import Any

import numpy as np

from treewright.advice import Advice
from treewright.advising.columns import NEARLY_ALL
from treewright.cli.tables.cell_types import Form
from treewright.cli.tables.model_columns import typed
from treewright.cli.tables.reader import Column, Frame, marked_row
from treewright.encoding import encode_with_advice
from treewright.encoding.text import TextFormat

MOST_VALUES = 20  # of a column of categories that are counted one by one

KINDS: Mapping[Form, str] = {
    **dict.fromkeys(("integer", "huge", "number", "loose", "comma"), "number"),
    **dict.fromkeys(("bool", "text"), "category"),
    **dict.fromkeys(("time", "zoned"), "time"),
    "nothing": "empty",
}


@dataclass(frozen=True)
class Profile:
    """One column."""

    name: str
    kind: str  # number, category, time; empty where all is missing
    rows: int
    missing: int
    distinct: int
    least: Any = None  # of numbers and times
    most: Any = None
    values: dict[Any, int] = field(default_factory=dict)  # the most frequent categories
    read: str = ""  # how its texts were read, in words
    numbers_rows: bool = False  # whether it counts the rows, 1, 2, 3, …

    @property
    def is_id(self) -> bool:
        """Whether it looks like names or numbers of the rows."""
        known = self.rows - self.missing
        differs = self.kind == "category" and self.distinct >= max(NEARLY_ALL * known, MOST_VALUES + 1)
        return differs or (self.numbers_rows and self.rows > MOST_VALUES)

    @property
    def remark(self) -> str | None:
        """What is worth knowing about a column that looks useless."""
        if self.distinct == 0:
            return "nothing in it"
        if self.distinct == 1:
            return "always the same" + (" or missing" if self.missing else "")
        if self.is_id:
            nearly = "nearly " if self.distinct < self.rows else ""
            return "numbers the rows" if self.numbers_rows else f"differs in {nearly}every row"
        return None

    def document(self) -> dict[str, Any]:
        """The column for programs."""
        facts = {"name": self.name, "kind": self.kind, "missing": self.missing, "distinct": self.distinct}
        facts["distinct_share"] = self.distinct / self.rows
        if self.kind in ("number", "time") and self.distinct:
            facts |= {"least": _plain(self.least), "most": _plain(self.most)}
        if self.values:
            facts["values"] = [{"value": value, "rows": rows} for value, rows in self.values.items()]
        facts |= {"read_as": self.read} if self.read else {}
        return facts | ({"remark": self.remark} if self.remark else {})


def profiled(frame: Frame, kinds: Mapping[str, str]) -> tuple[list[Profile], list[Advice]]:
    """All columns of a frame, in the order of the file, and advice on those that hold numbers as texts.

    `kinds` are those that the user gives to columns.
    """
    profiles, advice = [], []
    for name, cells in frame.columns.items():
        form = frame.forms[name]
        kind, read = KINDS[form], "decimal comma" if form == "comma" else ""
        if form == "text" and kinds.get(name) != "category":
            found, said = _text_format(frame, name, cells, kinds.get(name))
            advice += said
            if found is not None:
                format, cells = found
                kind, read = "category" if format.kind == "bool" else format.kind, in_words(format)
        profiles.append(_profile(name, kind, cells, read))
    return profiles, frame.advice(advice)


def _text_format(
    frame: Frame, name: str, cells: Column, kind: str | None
) -> tuple[tuple[TextFormat, Column] | None, list[Advice]]:
    """How a column of texts is read and its values, None where it stays as it is; and what to say of it."""
    kinds: Any = None if kind is None else {name: kind}
    said = frame.conventions.arguments([name])
    try:
        data, advice = encode_with_advice({name: cells}, kinds=kinds, place=marked_row, **said)
    except (ValueError, TypeError) as error:
        raise frame.located(error) from error
    format = data.schema.columns[0].text
    if format is None:
        return None, advice
    values = np.asarray(data.columns[0], np.float64)
    if format.kind == "bool":
        values = np.where(values < 0, np.nan, values)
    return (format, typed(values, format)), advice


def in_words(format: TextFormat) -> str:
    """How texts are read, in a few words.

    >>> in_words(TextFormat("number", ",", ".", ("€",))), in_words(TextFormat("time", date_format="%d.%m.%Y"))
    ("decimal comma, dots between thousands, '€'", 'day.month.year')
    """
    if format.kind == "bool":
        return "words for true and false"
    words = str(format).removeprefix("dates as ").removeprefix("times as ").removeprefix("numbers")
    words = words.removeprefix(" with ").removeprefix("a ").replace(" and ", ", ")
    return f"with {words}" if words.startswith("'") else words


def _profile(name: str, kind: str, cells: Column, read: str) -> Profile:
    if kind == "category" or cells.dtype == object:
        counts = Counter(cells.tolist())
        missing = counts.pop(None, 0)
        top = nsmallest(MOST_VALUES, counts.items(), key=lambda item: (-item[1], str(item[0])))
        is_category = kind == "category"
        least, most = (None, None) if is_category or not counts else (min(counts), max(counts))
        values = dict(top) if is_category else {}
        return Profile(name, kind, len(cells), missing, len(counts), least, most, values, read)
    known = cells.compressed() if isinstance(cells, np.ma.MaskedArray) else cells
    distinct = np.unique(known[known == known])
    missing = len(cells) - int(np.sum(known == known))
    least, most = (distinct[0].item(), distinct[-1].item()) if len(distinct) else (None, None)
    counts_up = kind == "number" and len(cells) > 1 and not missing and bool((np.diff(known) == 1).all())
    return Profile(
        name, kind, len(cells), missing, len(distinct), least, most, read=read, numbers_rows=counts_up
    )


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
