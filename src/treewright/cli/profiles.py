"""The columns of a table in figures: kind, missing, distinct, range, values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from treewright.cli.forms import Form
from treewright.cli.reading import Column, Frame

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
    values: dict[Any, int] = field(default_factory=dict)  # of few categories, the most frequent first

    @property
    def remark(self) -> str | None:
        """What is worth knowing about a column that looks useless."""
        if self.distinct == 0:
            return "nothing in it"
        if self.distinct == 1:
            return "always the same" + (" or missing" if self.missing else "")
        is_id = self.kind == "category" and self.distinct == self.rows > MOST_VALUES
        return "differs in every row" if is_id else None

    def document(self) -> dict[str, Any]:
        """The column for programs."""
        facts = {"name": self.name, "kind": self.kind, "missing": self.missing, "distinct": self.distinct}
        if self.kind in ("number", "time") and self.distinct:
            facts |= {"least": _plain(self.least), "most": _plain(self.most)}
        if self.values:
            facts["values"] = [{"value": value, "rows": rows} for value, rows in self.values.items()]
        return facts | ({"remark": self.remark} if self.remark else {})


def profiled(frame: Frame) -> list[Profile]:
    """All columns of a frame, in the order of the file."""
    return [_profile(name, KINDS[frame.forms[name]], cells) for name, cells in frame.columns.items()]


def _profile(name: str, kind: str, cells: Column) -> Profile:
    if kind == "category" or cells.dtype == object:
        counts = Counter(cells.tolist())
        missing = counts.pop(None, 0)
        few = kind == "category" and len(counts) <= MOST_VALUES
        values = dict(sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))) if few else {}
        least, most = (None, None) if kind == "category" or not counts else (min(counts), max(counts))
        return Profile(name, kind, len(cells), missing, len(counts), least, most, values)
    known = cells.compressed() if isinstance(cells, np.ma.MaskedArray) else cells
    distinct = np.unique(known[known == known])
    missing = len(cells) - int(np.sum(known == known))
    least, most = (distinct[0].item(), distinct[-1].item()) if len(distinct) else (None, None)
    return Profile(name, kind, len(cells), missing, len(distinct), least, most)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
