"""The columns of a table in figures, in two passes over the file: kind, missing, distinct, range, values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from treewright.cli.forms import Form
from treewright.cli.reading import Plan, explained, no_rows, settled
from treewright.cli.sources import Source

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


def profiled(source: Source, wanted: Mapping[str, Form | None], jobs: int) -> list[Profile]:
    """The columns that are wanted, in the order of the file."""
    asked = {position: wanted[name] for position, name in enumerate(source.names) if name in wanted}
    source.database.execute(f"SET threads = {jobs}")

    def work(plans: dict[int, Plan], query: str) -> list[Profile]:
        cells = {i: _cell(i, plan.form) for i, plan in plans.items()}
        counts = [f"count({c}), count(DISTINCT {c}), min({c}), max({c})" for c in cells.values()]
        found = source.database.execute(f"SELECT count(*), {', '.join(counts)} FROM ({query})").fetchone()
        rows, figures = found[0], [found[k : k + 4] for k in range(1, len(found), 4)]
        profiles = {
            i: Profile(source.names[i], KINDS[plan.form], rows, rows - known, distinct, least, most)
            for (i, plan), (known, distinct, least, most) in zip(plans.items(), figures, strict=True)
        }
        few = [i for i, each in profiles.items() if each.kind == "category" and each.distinct <= MOST_VALUES]
        values = _values(source, query, {i: cells[i] for i in few})
        return [_with_values(each, values.get(i, {})) for i, each in profiles.items()]

    with explained(source):
        profiles = settled(source, asked, [], work)
    source.database.close()
    if profiles[0].rows == 0:
        raise no_rows(source)
    return profiles


def _cell(position: int, form: Form) -> str:
    """SQL for what is counted: NaN is missing, and whole numbers of any length are numbers."""
    if form == "huge":
        return f"CAST(c{position} AS DOUBLE)"
    is_float = form in ("number", "loose", "comma")
    return f"CASE WHEN NOT isnan(c{position}) THEN c{position} END" if is_float else f"c{position}"


def _values(source: Source, query: str, cells: Mapping[int, str]) -> dict[int, dict[Any, int]]:
    """How often each value of some columns occurs."""
    if not cells:
        return {}
    counting = ", ".join(f"histogram({cell})" for cell in cells.values())
    found = source.database.execute(f"SELECT {counting} FROM ({query})").fetchone()
    return {i: dict(counts or {}) for i, counts in zip(cells, found, strict=True)}


def _with_values(profile: Profile, values: dict[Any, int]) -> Profile:
    ordered = dict(sorted(values.items(), key=lambda item: (-item[1], str(item[0]))))
    return Profile(**{**vars(profile), "values": ordered})


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
