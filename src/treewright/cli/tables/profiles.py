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
from treewright.cli.tables.cell_types import KINDS
from treewright.cli.tables.model_columns import as_cells
from treewright.cli.tables.reader import Column, Frame, marked_row
from treewright.encoding import Dataset, encode_with_advice
from treewright.encoding.text import TextFormat

MOST_VALUES = 20  # of a column of categories that are counted one by one


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
    counts_rows: bool = False  # 1, 2, 3, …

    @property
    def is_id(self) -> bool:
        """Whether it looks like names or numbers of the rows."""
        most = max(NEARLY_ALL * (self.rows - self.missing), MOST_VALUES + 1)
        return (bool(self.values) and self.distinct >= most) or (self.counts_rows and self.rows > MOST_VALUES)

    @property
    def remark(self) -> str | None:
        """What is worth knowing about a column that looks useless."""
        if self.distinct == 0:
            return "nothing in it"
        if self.distinct == 1:
            return "always the same" + (" or missing" if self.missing else "")
        if self.is_id:
            nearly = "nearly " if self.distinct < self.rows else ""
            return "numbers the rows" if self.counts_rows else f"differs in {nearly}every row"
        return None

    def document(self) -> dict[str, Any]:
        """The column for programs."""
        facts = {"name": self.name, "kind": self.kind, "missing": self.missing, "distinct": self.distinct}
        facts["distinct_share"] = self.distinct / self.rows
        if self.least is not None:
            facts |= {"least": _plain(self.least), "most": _plain(self.most)}
        if self.values:
            facts["values"] = [{"value": value, "rows": rows} for value, rows in self.values.items()]
        facts |= {"read_as": self.read} if self.read else {}
        return facts | ({"remark": self.remark} if self.remark else {})


def profiles_of(frame: Frame, kinds: Mapping[str, str]) -> tuple[list[Profile], list[Advice]]:
    """All columns of a frame, in the order of the file, and advice on those that hold numbers as texts.

    `kinds` are those that the user gives to columns.
    """
    profiles, advice = [], []
    for name, cells in frame.columns.items():
        form = frame.forms[name]
        kind, read = KINDS[form], "decimal comma" if form == "comma" else ""
        if form == "text" and kinds.get(name) != "category":
            column, on_texts = _encode_texts(frame, name, cells, kinds.get(name))
            advice += on_texts
            if (format := column.schema.columns[0].text) is not None:
                kind, read = column.schema.columns[0].kind, in_words(format)
                values = np.asarray(column.columns[0], np.float64)
                values = np.where(values < 0, np.nan, values) if format.kind == "bool" else values
                cells = as_cells(values, format)
        profiles.append(_profile(name, kind, cells, read))
    return profiles, frame.advice(advice)


def _encode_texts(frame: Frame, name: str, cells: Column, kind: str | None) -> tuple[Dataset, list[Advice]]:
    """A column of texts as `encode` reads it, and advice on it."""
    kinds: Any = None if kind is None else {name: kind}
    options = frame.source.conventions.arguments([name])
    try:
        return encode_with_advice({name: cells}, kinds=kinds, place=marked_row, **options)
    except (ValueError, TypeError) as error:
        raise frame.located(error) from error


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
        name, kind, len(cells), missing, len(distinct), least, most, read=read, counts_rows=counts_up
    )


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
