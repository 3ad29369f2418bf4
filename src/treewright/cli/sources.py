"""Files that hold tables: which kinds there are, what their columns are called, how SQL gets at them."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import duckdb

from treewright.cli import forms
from treewright.cli.errors import Trouble
from treewright.cli.layout import Layout, sniff

CSV_SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".psv", ".data")
PARQUET_SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True)
class Source:
    """A file before its cells are read: the names of its columns and how SQL gets at them (as c0, c1, …)."""

    path: str
    names: tuple[str, ...]
    types: tuple[str, ...]  # what SQL calls the types of the columns; VARCHAR for all of a CSV file
    table: str  # SQL
    database: Any = field(repr=False)
    layout: Layout | None = None  # of a CSV file


def open_source(path: str | os.PathLike[str]) -> Source:
    """A file as a source; Trouble if it is none, or not of a kind that can be read."""
    name = os.fspath(path)
    kind = _kind(name)
    if os.path.isdir(name):
        raise Trouble(f"{name} is a folder; name one CSV or Parquet file in it")
    if not os.path.exists(name):
        raise Trouble(f"there is no file {name}{similar(name)}")
    if not os.path.isfile(name):
        raise Trouble(f"{name} is not a regular file; it is read twice, so save it as a file first")
    with open(name, "rb"):
        pass  # permission denied is told by the system in its own words
    # Nothing is fetched from the net, and nothing is laid down in the current folder when memory is short.
    settings: dict[str, Any] = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    settings["temp_directory"] = ""
    database = duckdb.connect(config=settings)
    for macro in forms.MACROS:
        database.execute(macro)
    database.execute("SET TimeZone = 'UTC'")
    return (_csv if kind == "csv" else _parquet)(name, database)


def _kind(name: str) -> str:
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    packed = bool(suffixes) and suffixes[-1] == ".gz"
    last = suffixes[-1 - packed] if len(suffixes) > packed else ""
    if last in CSV_SUFFIXES:
        return "csv"
    if last in PARQUET_SUFFIXES and not packed:
        return "parquet"
    if last == ".json":
        raise Trouble(f"{name} looks like a model, but a table is wanted here (CSV or Parquet)")
    raise Trouble(
        f"{name}: tables are read from CSV ({' '.join(CSV_SUFFIXES[:4])}, also with .gz) and Parquet "
        f"({' '.join(PARQUET_SUFFIXES)}); save it as one of these"
    )


def similar(name: str) -> str:
    """The end of a sentence that names a file of almost the same name, if there is one."""
    folder = os.path.dirname(name) or "."
    with suppress(OSError):
        close = get_close_matches(os.path.basename(name), os.listdir(folder), n=1, cutoff=0.75)
        if close:
            return f"; did you mean {os.path.join(os.path.dirname(name), close[0])}?"
    return ""


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _pattern(path: str) -> str:
    """A path as SQL; DuckDB takes it for a pattern, in which some characters must be fenced."""
    return _literal(re.sub(r"([*?\[])", r"[\1]", path))


def _csv(path: str, database: Any) -> Source:
    layout = sniff(path)
    return Source(path, layout.names, ("VARCHAR",) * len(layout.names), csv_table(layout), database, layout)


def csv_table(layout: Layout, missing: tuple[str, ...] = ("",), *, strict: bool = True) -> str:
    """SQL for the cells of a CSV file, all of them text or missing; DuckDB itself guesses nothing."""
    columns = ", ".join(f"'c{position}': 'VARCHAR'" for position in range(len(layout.names)))
    return (
        f"read_csv({_pattern(layout.path)}, auto_detect = false, columns = {{{columns}}}, header = true, "
        f"delim = {_literal(layout.separator)}, quote = '\"', escape = '\"', null_padding = false, "
        f"nullstr = [{', '.join(map(_literal, missing))}], strict_mode = {str(strict).lower()}, "
        f"parallel = {str(strict).lower()}, compression = '{'gzip' if layout.compressed else 'none'}')"
    )


def _parquet(path: str, database: Any) -> Source:
    table = f"read_parquet({_pattern(path)})"
    try:
        described = database.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()
        schema = database.execute(
            f"SELECT name, num_children FROM parquet_schema({_pattern(path)})"
        ).fetchall()
    except duckdb.Error as error:
        raise Trouble(f"{path} is not a Parquet file, or it is damaged ({first_line(error)})") from error
    names = _top_names(schema)
    if len(names) != len(described):
        names = [str(row[0]) for row in described]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Trouble(f"{path}: several columns have the name {twice[0]!r}; rename them")
    aliases = ", ".join(f"c{position}" for position in range(len(names)))
    types = tuple(str(row[1]) for row in described)
    return Source(path, tuple(names), types, f"{table} AS file({aliases})", database)


def _top_names(schema: list[tuple[str, int | None]]) -> list[str]:
    """The names of the columns from the list of all nested ones, in preorder; the first is the root."""
    names, inside = [], 0
    for name, children in schema[1:]:
        if inside == 0:
            names.append(str(name))
        inside += (children or 0) - (inside > 0)
    return names


def first_line(error: BaseException) -> str:
    """The first line of what DuckDB says, without the kind of the error."""
    line = str(error).strip().split("\n", 1)[0]
    return line.partition(": ")[2] or line
