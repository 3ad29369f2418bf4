"""JSON lines: one object per line, whose keys are the names of columns; what is absent or null is missing."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

import duckdb

from treewright.cli.errors import Trouble, quote
from treewright.cli.tables.cell_types import literal
from treewright.cli.tables.csv_files import SAMPLED, Layout, head, pattern
from treewright.cli.tables.encodings import compression, diagnose_bytes, open_text


class JsonLayout(Layout):
    """A file of JSON lines. Numbers, true and false are their own text; a sample tells which are texts."""

    def table(
        self, positions: Collection[int], missing: tuple[str, ...] = ("",), *, strict: bool = True
    ) -> str:
        """SQL that parses each line once. DuckDB keeps the digits of numbers too large for its types."""
        positions = sorted(positions)
        keys = (self.names[position].replace("~", "~0").replace("/", "~1") for position in positions)
        pointers = ", ".join(literal(f"/{key}") for key in keys)  # of RFC 6901
        cell = "cells[{}]" if missing == ("",) else "stated(cells[{}])"
        cells = ", ".join(
            f"{cell.format(place)} AS c{position}" for place, position in enumerate(positions, 1)
        )
        lines = _lines(self.place)
        return f"(SELECT {cells} FROM (SELECT json_extract_string(json, [{pointers}]) AS cells FROM {lines}))"

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """The cells of each line by the names of all columns."""
        for line, cells in _objects(self.path, self.place):
            yield line, [_text(cells.get(name)) for name in self.names]

    def diagnose(self) -> None:
        """Trouble about a line that is no object."""
        _diagnose(self.path, self.place)


def json_layout(path: str, place: str, database: Any) -> JsonLayout:
    """The layout of a file of JSON lines, all of which are looked at for keys; Trouble if it is none."""
    if head(path, place).lstrip()[:1] == "[":
        raise Trouble(
            f"{path} is one JSON list; JSON lines are objects, one per line, as jq -c '.[]' makes of a list"
        )
    counts = "count(*), count(*) FILTER (json_type(json) <> 'OBJECT')"
    try:
        lines = _lines(place)
        keys = database.execute(f"SELECT DISTINCT unnest(json_keys(json)) FROM {lines}").fetchall()
        n_rows, n_others = database.execute(f"SELECT {counts} FROM {lines}").fetchone()
    except duckdb.Error as error:
        _diagnose(path, place)
        raise Trouble(f"{path} cannot be read as JSON lines ({str(error).splitlines()[0]})") from error
    if n_others or not n_rows or not keys:
        _diagnose(path, place)
    if not n_rows or not keys:
        raise Trouble(f"{path} has no rows with columns in them")
    sample = [row for _, row in islice(_objects(path, place), SAMPLED)]
    first = dict.fromkeys(key for row in sample for key in row)
    names = tuple(first | dict.fromkeys(sorted(key for (key,) in keys)))
    for name in names:
        if any(isinstance(row.get(name), dict | list) for row in sample):
            raise Trouble(
                f"{path}: {quote(name)} holds lists or objects, where a cell of a table is a number, a "
                "text, true or false; take them apart first (jq)"
            )
    texts = (i for i, name in enumerate(names) if any(type(row.get(name)) is str for row in sample))
    cells = tuple([_text(row.get(name)) for name in names] for row in sample)
    return JsonLayout(path, place, names, cells, texts=frozenset(texts))


class _Digits(str):
    """A number as it is written."""

    __slots__ = ()


def _objects(path: str, place: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects, each with its line; Trouble about a line that is none."""
    decoder = json.JSONDecoder(parse_float=_Digits, parse_int=_Digits, parse_constant=_Digits)
    with open_text(path, place) as file:
        for line, text in enumerate(file, 1):
            if not text.strip():
                continue
            try:
                row = decoder.decode(text)
            except (ValueError, RecursionError) as error:
                reason = str(error).partition(":")[0]
                raise Trouble(
                    f'{path}, line {line} is not JSON ({reason}); each line holds one object, as {{"a": 1}}'
                ) from error
            if not isinstance(row, dict):
                raise Trouble(f'{path}, line {line} is no JSON object, as {{"a": 1}} is; mend or remove it')
            yield line, row


def _diagnose(path: str, place: str) -> None:
    diagnose_bytes(path, place)
    for _ in _objects(path, place):
        pass


def _lines(place: str) -> str:
    settings = f"compression = '{compression(place)}', hive_partitioning = false"
    return f"read_ndjson_objects({pattern(place)}, {settings})"


def _text(value: Any) -> str:
    """A value as SQL returns it."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
