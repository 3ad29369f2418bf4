"""Files that hold tables: which kinds there are, what their columns are called, how SQL gets at them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from treewright.cli import forms, pipes
from treewright.cli.conventions import AS_FOUND, Conventions
from treewright.cli.encodings import as_utf8, check_encoding
from treewright.cli.errors import Misuse, Trouble, did_you_mean, listed, quote
from treewright.cli.excel import Sheet, open_sheet
from treewright.cli.jsonlines import json_layout
from treewright.cli.layout import Layout, csv_layout, is_json_lines, pattern
from treewright.cli.options import MISSING, NEVER_KNOWN, PIPE, USUAL, Dialect
from treewright.cli.workbooks import ZIP, is_workbook

CSV_SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".psv", ".data")
JSON_SUFFIXES = (".jsonl", ".ndjson")
PARQUET_SUFFIXES = (".parquet", ".pq")
EXCEL_SUFFIXES = (".xlsx", ".xlsm")
TABLE_SUFFIXES = CSV_SUFFIXES + JSON_SUFFIXES + PARQUET_SUFFIXES + EXCEL_SUFFIXES


@dataclass(frozen=True)
class Source:
    """A file before its cells are read: the names of its columns and how SQL gets at them (as c0, c1, …)."""

    path: str  # as the user calls it
    names: tuple[str, ...]
    types: tuple[str, ...]  # what SQL calls the types of the columns; VARCHAR for all of a file of text
    table: str  # SQL; of a file of text its layout knows it
    missing: tuple[str, ...]  # cells that stand for nothing
    database: Any = field(repr=False)
    layout: Layout | None = None  # of a file of text
    sheet: Sheet | None = None  # of an Excel file
    remarks: tuple[str, ...] = ()  # what is worth knowing about how the file is read
    conventions: Conventions = AS_FOUND

    @property
    def doubt(self) -> str | None:
        """Why the names of the columns may be none."""
        told = self.layout or self.sheet
        return None if told is None else told.doubt

    @property
    def numbers(self) -> NDArray[np.int64] | None:
        """Which row of an Excel sheet each row is; None for other files."""
        return None if self.sheet is None else self.sheet.rows

    def hint(self, name: str) -> str:
        """What to do about a column that is not there, as the end of a sentence."""
        return did_you_mean(name, self.names) + ("" if self.doubt is None else f"; {self.doubt}")


def open_source(path: str | os.PathLike[str], dialect: Dialect = USUAL) -> Source:
    """A file as a source; Trouble if it is none, or not of a kind that can be read."""
    conventions = dialect.conventions
    source = replace(_opened(Path(path), dialect), conventions=conventions)
    check_columns(source, conventions.named())
    return source


def _opened(path: Path, dialect: Dialect) -> Source:
    """The file by its kind."""
    name, place = pipes.shown(path), os.fspath(path)
    if path == PIPE or (os.path.exists(place) and not os.path.isfile(place) and not os.path.isdir(place)):
        place = pipes.laid_down(path)
        kind = _kind_of_pipe(place)
    else:
        _check_there(name)
        kind = _kind(name)
        with open(name, "rb"):
            pass  # permission denied is told by the system in its own words
        place = pipes.readable(place)
    _check_dialect(kind or "csv", dialect)
    # In files of text some words stand for nothing; elsewhere nothing does but what is named.
    has_words = kind in ("csv", "excel", None)
    remark = None
    if kind in ("csv", "json", None):
        _check_text(name, place)
        place, remark = as_utf8(name, place, dialect.encoding)
        has_words = kind == "csv" or (kind is None and not is_json_lines(place))
        kind = kind or ("csv" if has_words else "json")
    markers = dialect.markers if dialect.markers is not None else MISSING if has_words else ()
    missing = (*NEVER_KNOWN, *markers)
    database = _database(missing)
    if kind == "parquet":
        return _parquet(name, place, database, markers)
    if kind == "excel":
        sheet = open_sheet(name, place, dialect.sheet, dialect.header, missing)
        said = (sheet.names, sheet.types, sheet.table, missing)
        return Source(name, *said, database, sheet=sheet, remarks=sheet.remarks)
    layout: Layout
    layout = (
        csv_layout(name, place, dialect.character, dialect.header)
        if kind == "csv"
        else json_layout(name, place, database)
    )
    texts = ("VARCHAR",) * len(layout.names)
    remarks = () if remark is None else (remark,)
    return Source(name, layout.names, texts, "", missing, database, layout, remarks=remarks)


def _database(missing: tuple[str, ...]) -> Any:
    """DuckDB, with our macros."""
    # Nothing is fetched from the net, and nothing is laid down in the current folder when memory is short.
    settings: dict[str, Any] = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    settings["temp_directory"] = ""
    database = duckdb.connect(config=settings)
    for macro in forms.macros(missing):
        database.execute(macro)
    database.execute("SET GLOBAL TimeZone = 'UTC'")
    return database


_OTHERS = {"parquet": "a Parquet file has", "json": "JSON lines have", "excel": "an Excel file has"}


def _check_dialect(kind: str, dialect: Dialect) -> None:
    """Misuse about options that are for other kinds of files."""
    if dialect.encoding is not None:
        check_encoding(dialect.encoding)
        if kind in ("parquet", "excel"):
            raise Misuse(f"--encoding is for files of text; {_OTHERS[kind]} its own")
    if dialect.sheet is not None and kind != "excel":
        raise Misuse("--sheet is for Excel files, which end in .xlsx or .xlsm")
    if dialect.character is not None and kind != "csv":
        raise Misuse(f"--separator is for CSV files; {_OTHERS[kind]} none")
    if dialect.header is not None and kind not in ("csv", "excel"):
        option = "--header" if dialect.header else "--no-header"
        raise Misuse(f"{option} is for CSV and Excel files; {_OTHERS[kind]} names of columns always")


def _check_text(name: str, place: str) -> None:
    """Trouble about a file that is called a file of text and is something else."""
    with open(place, "rb") as file:
        start = file.read(4)
    if start == b"PAR1":
        raise Trouble(f"{name} is a Parquet file; rename it to end in .parquet")
    if start == ZIP and is_workbook(place):
        raise Trouble(f"{name} is an Excel file; rename it to end in .xlsx")


def check_columns(source: Source, named: Iterable[tuple[str, str]]) -> None:
    """Trouble about a column that an option names and that is not there."""
    for option, name in named:
        if name not in source.names:
            raise Trouble(f"{source.path} has no column {quote(name)} ({option}); {source.hint(name)}")


def _check_there(name: str) -> None:
    if os.path.isdir(name):
        raise Trouble(f"{name} is a folder; name one CSV, JSON lines, Parquet or Excel file in it")
    if not os.path.exists(name):
        raise Trouble(no_file(name))


def no_file(name: str) -> str:
    """What to say of a file that is not there, and which one may have been meant."""
    if os.path.islink(name):
        return f"{name} is a link to {os.readlink(name)}, where there is no file"
    return f"there is no file {name}{similar(name)}"


def _kind(name: str) -> str:
    """The kind of a file by its name: csv, json, parquet or excel."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    packed = bool(suffixes) and suffixes[-1] == ".gz"
    last = suffixes[-1 - packed] if len(suffixes) > packed else ""
    if last in CSV_SUFFIXES:
        return "csv"
    if last in JSON_SUFFIXES:
        return "json"
    if last in PARQUET_SUFFIXES and not packed:
        return "parquet"
    if last in EXCEL_SUFFIXES and not packed:
        return "excel"
    if last == ".json":
        raise Trouble(
            f"{name} looks like a model, but a table is wanted here (CSV, Parquet, Excel, or JSON lines, "
            "which end in .jsonl)"
        )
    raise Trouble(
        f"{name}: tables are read from CSV ({' '.join(CSV_SUFFIXES[:4])}), JSON lines "
        f"({' '.join(JSON_SUFFIXES)}), both also with .gz, Parquet ({' '.join(PARQUET_SUFFIXES)}) and Excel "
        f"({' '.join(EXCEL_SUFFIXES)}); save it as one of these"
    )


def _kind_of_pipe(place: str) -> str | None:
    """The kind of what came from a pipe; None for text, of which kind it is shows when it is UTF-8."""
    with open(place, "rb") as file:
        start = file.read(4)
    return "parquet" if start == b"PAR1" else "excel" if start == ZIP and is_workbook(place) else None


def stem(path: Path) -> str:
    """The name of a table without folder and suffixes."""
    return "table" if path == PIPE else Path(path.name.removesuffix(".gz")).stem


def similar(name: str) -> str:
    """The end of a sentence that names a file of almost the same name, if there is one."""
    folder = os.path.dirname(name) or "."
    with suppress(OSError):
        close = get_close_matches(os.path.basename(name), os.listdir(folder), n=1, cutoff=0.75)
        if close:
            return f"; did you mean {os.path.join(os.path.dirname(name), close[0])}?"
    return ""


def _parquet(path: str, place: str, database: Any, markers: tuple[str, ...]) -> Source:
    table = f"read_parquet({pattern(place)}, hive_partitioning = false)"
    try:
        described = database.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()
        schema = database.execute(
            f"SELECT name, num_children FROM parquet_schema({pattern(place)})"
        ).fetchall()
    except duckdb.Error as error:
        raise Trouble(f"{path} is not a Parquet file, or it is damaged ({first_line(error)})") from error
    names = _top_names(schema)
    if len(names) != len(described):
        names = [str(row[0]) for row in described]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Trouble(f"{path}: several columns have the name {listed(twice)}; rename them")
    aliases = ", ".join(f"c{position}" for position in range(len(names)))
    types = tuple(str(row[1]) for row in described)
    cells = [_marked(f"c{position}", kind, markers) for position, kind in enumerate(types)]
    known = f"(SELECT {', '.join(cells)} FROM {table} AS file({aliases}))"
    return Source(path, tuple(names), types, known, markers, database)


def _marked(column: str, kind: str, markers: tuple[str, ...]) -> str:
    """SQL for a column of a Parquet file, in which some cells may stand for nothing."""
    form, _ = forms.of_type(kind, column)
    is_number = form in ("integer", "huge", "number")
    named = [forms.literal(marker) for marker in markers]
    if is_number:
        numbers = [marker for marker in markers if forms.guessed([marker]) in ("integer", "huge", "number")]
        named = [f"CAST('{number}' AS {'DOUBLE' if form == 'number' else 'HUGEINT'})" for number in numbers]
    if not named or form is None:
        return column
    cell = column if is_number else f"CAST({column} AS VARCHAR)"
    return f"CASE WHEN {cell} NOT IN ({', '.join(named)}) THEN {column} END AS {column}"


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
