"""Files that hold tables: which kinds there are, what their columns are called, how SQL gets at them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import duckdb

from treewright.cli.errors import Misuse, Trouble, check_unique, did_you_mean, name_list, quote
from treewright.cli.options import ALWAYS_MISSING, MISSING, PIPE, USUAL, Dialect
from treewright.cli.tables import cell_types, temporary_files
from treewright.cli.tables.csv_files import Layout, csv_layout, is_json_lines, pattern
from treewright.cli.tables.dialect import AS_FOUND, Conventions
from treewright.cli.tables.encodings import as_utf8, check_encoding
from treewright.cli.tables.excel import ZIP, Sheet, is_workbook, open_sheet
from treewright.cli.tables.json_lines import json_layout


@dataclass(frozen=True)
class Source:
    """A file before its cells are read: the names of its columns and how SQL gets at them (as c0, c1, …)."""

    path: str  # as the user calls it
    missing: tuple[str, ...]  # cells that are missing values
    database: Any = field(repr=False)
    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()  # what SQL calls the types of the columns; VARCHAR for all of a text file
    table: str = ""  # SQL; of a text file its layout knows it
    layout: Layout | None = None  # of a text file
    sheet: Sheet | None = None  # of an Excel file
    remarks: tuple[str, ...] = ()  # what is worth knowing about how the file is read
    conventions: Conventions = AS_FOUND

    @property
    def doubt(self) -> str | None:
        """Why the names of the columns may be none."""
        header = self.layout or self.sheet
        return None if header is None else header.doubt

    def hint(self, name: str) -> str:
        """What to do about a column that is not there, as the end of a sentence."""
        hint, why = did_you_mean(name, self.names), self.doubt
        if len(self.names) == 1 and self.layout is not None and hint.startswith("the columns are"):
            hint = f"its only column is {quote(self.names[0])}"
            why = why or "is its first line a title, to be deleted, or its --separator another?"
        return hint if why is None else f"{hint}; {why}"

    def require(self, names: Iterable[str], use: str) -> None:
        """Trouble about columns that are not there and have a `use`, such as "the tree tests"."""
        absent = [name for name in names if name not in self.names]
        if absent:
            columns = "column" if len(absent) == 1 else "columns"
            raise Trouble(
                f"{self.path} has no {columns} {name_list(absent)}, which {use}; {self.hint(absent[0])}"
            )

    def places(self, rows: Iterable[int]) -> dict[int, str]:
        """Where rows are in the file, in words; they are counted from 0.

        All are looked up at once: finding one takes as long as reading the file up to there.
        """
        rows = list(rows)
        if self.sheet is not None:
            return {row: f"row {self.sheet.rows[row]}" for row in rows}
        lines = {} if self.layout is None else self.layout.lines_of_rows(rows)
        return {row: f"line {lines[row]}" if row in lines else f"row {row + 1}" for row in rows}


@dataclass(frozen=True)
class FileKind:
    """What is specific to one kind of file that holds a table; `FILE_KINDS` has them all."""

    name: str
    has: str  # the beginning of a sentence about it
    suffixes: tuple[str, ...]
    options: frozenset[str]  # of a dialect, that it takes
    open: Callable[[Source, str, Dialect], Source]  # fills in the columns of the file at a place
    is_text: bool = False  # in any encoding, and may be packed by gzip
    missing: tuple[str, ...] = ()  # cells that are missing values by default
    recognises: Callable[[bytes, str], bool] = lambda start, place: False  # a file that is not text


def _csv(source: Source, place: str, dialect: Dialect) -> Source:
    return _with_layout(source, csv_layout(source.path, place, dialect.character, dialect.header))


def _json_lines(source: Source, place: str, dialect: Dialect) -> Source:
    return _with_layout(source, json_layout(source.path, place, source.database))


def _with_layout(source: Source, layout: Layout) -> Source:
    return replace(source, names=layout.names, types=("VARCHAR",) * len(layout.names), layout=layout)


def _excel(source: Source, place: str, dialect: Dialect) -> Source:
    sheet = open_sheet(source.path, place, dialect.sheet, dialect.header, source.missing)
    names, types, table = sheet.names, sheet.types, sheet.table
    return replace(source, names=names, types=types, table=table, sheet=sheet, remarks=sheet.remarks)


def _parquet(source: Source, place: str, dialect: Dialect) -> Source:
    table = f"read_parquet({pattern(place)}, hive_partitioning = false)"
    try:
        columns = source.database.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()
        schema = source.database.execute(
            f"SELECT name, num_children FROM parquet_schema({pattern(place)})"
        ).fetchall()
    except duckdb.Error as error:
        raise Trouble(
            f"{source.path} is not a Parquet file, or it is damaged ({first_line(error)})"
        ) from error
    names = _top_names(schema)
    if len(names) != len(columns):
        names = [str(row[0]) for row in columns]
    check_unique(source.path, names)
    markers = dialect.markers or ()
    aliases = ", ".join(f"c{position}" for position in range(len(names)))
    types = tuple(str(row[1]) for row in columns)
    cells = [_without_markers(f"c{position}", kind, markers) for position, kind in enumerate(types)]
    query = f"(SELECT {', '.join(cells)} FROM {table} AS file({aliases}))"
    return replace(source, names=tuple(names), types=types, table=query, missing=markers)


def _without_markers(column: str, kind: str, markers: tuple[str, ...]) -> str:
    """SQL for a column of a Parquet file, in which some cells may be markers of missing values."""
    form, _ = cell_types.of_type(kind, column)
    is_number = form in cell_types.EXACT_NUMBERS
    literals = [cell_types.literal(marker) for marker in markers]
    if is_number:
        numbers = [marker for marker in markers if cell_types.guess([marker]) in cell_types.EXACT_NUMBERS]
        literals = [f"CAST('{n}' AS {'DOUBLE' if form == 'number' else 'HUGEINT'})" for n in numbers]
    if not literals or form is None:
        return column
    cell = column if is_number else f"CAST({column} AS VARCHAR)"
    return f"CASE WHEN {cell} NOT IN ({', '.join(literals)}) THEN {column} END AS {column}"


def _top_names(schema: list[tuple[str, int | None]]) -> list[str]:
    """The names of the columns from the list of all nested ones, in preorder; the first is the root."""
    names, inside = [], 0
    for name, children in schema[1:]:
        if inside == 0:
            names.append(str(name))
        inside += (children or 0) - (inside > 0)
    return names


CSV = FileKind(
    "CSV",
    "a CSV file has",
    (".csv", ".tsv", ".tab", ".txt", ".psv", ".data"),
    frozenset({"separator", "header", "encoding"}),
    _csv,
    is_text=True,
    missing=MISSING,
)
JSON_LINES = FileKind(
    "JSON lines", "JSON lines have", (".jsonl", ".ndjson"), frozenset({"encoding"}), _json_lines, is_text=True
)
PARQUET = FileKind(
    "Parquet",
    "a Parquet file has",
    (".parquet", ".pq"),
    frozenset(),
    _parquet,
    recognises=lambda start, _: start == b"PAR1",
)
EXCEL = FileKind(
    "Excel",
    "an Excel file has",
    (".xlsx", ".xlsm"),
    frozenset({"header", "sheet"}),
    _excel,
    missing=MISSING,
    recognises=lambda start, place: start == ZIP and is_workbook(place),
)
FILE_KINDS = (CSV, JSON_LINES, PARQUET, EXCEL)
TABLE_SUFFIXES = tuple(suffix for kind in FILE_KINDS for suffix in kind.suffixes)
# Options of a dialect that not all kinds of files take: for which they are, and what the others have instead.
_OPTIONS = {
    "encoding": ("text files", "its own"),
    "sheet": ("Excel files (.xlsx, .xlsm)", "none"),
    "separator": ("CSV files", "none"),
    "header": ("CSV and Excel files", "names of columns always"),
}


def open_source(path: str | os.PathLike[str], dialect: Dialect = USUAL) -> Source:
    """A file as a source; Trouble if it is none, or not of a kind that can be read."""
    conventions = dialect.conventions
    source = replace(_open(Path(path), dialect), conventions=conventions)
    check_columns(source, conventions.column_options())
    return source


def _open(path: Path, dialect: Dialect) -> Source:
    """The file by its kind."""
    name, place = temporary_files.display_name(path), os.fspath(path)
    if path == PIPE or (os.path.exists(place) and not os.path.isfile(place) and not os.path.isdir(place)):
        place = temporary_files.copy_of_pipe(path)
        kind = _kind_of_content(place)
    else:
        if os.path.isdir(name):
            raise Trouble(f"{name} is a folder; name one CSV, JSON lines, Parquet or Excel file in it")
        if not os.path.exists(name):
            raise Trouble(no_file(name))
        kind = _kind_of_name(name)
        with open(name, "rb"):
            pass  # permission denied is told by the system in its own words
        place = temporary_files.readable(place)
    _check_dialect(kind or CSV, dialect)
    remark = None
    if kind is None or kind.is_text:
        if (other := _kind_of_content(place)) is not None:
            article, suffix = other.has.removesuffix(" has"), other.suffixes[0]
            raise Trouble(f"{name} is {article}; rename it to end in {suffix}")
        place, remark = as_utf8(name, place, dialect.encoding)
        kind = kind or (JSON_LINES if is_json_lines(place) else CSV)
    missing = (*ALWAYS_MISSING, *(kind.missing if dialect.markers is None else dialect.markers))
    remarks = () if remark is None else (remark,)
    return kind.open(Source(name, missing, _database(missing), remarks=remarks), place, dialect)


def _database(missing: tuple[str, ...]) -> Any:
    """DuckDB, with our macros."""
    # Nothing is fetched from the net, and nothing is written to the current folder when memory is short.
    settings: dict[str, Any] = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    settings["temp_directory"] = ""
    database = duckdb.connect(config=settings)
    for macro in cell_types.macros(missing):
        database.execute(macro)
    database.execute("SET GLOBAL TimeZone = 'UTC'")
    return database


def _check_dialect(kind: FileKind, dialect: Dialect) -> None:
    """Misuse about options that are for other kinds of files, or have no meaning."""
    if dialect.encoding is not None:
        check_encoding(dialect.encoding)
    values = {**vars(dialect), "separator": dialect.character}
    for option, (kinds, instead) in _OPTIONS.items():
        if values[option] is not None and option not in kind.options:
            flag = "--no-header" if values[option] is False else f"--{option}"
            raise Misuse(f"{flag} is for {kinds}; {kind.has} {instead}")


def check_columns(source: Source, options: Iterable[tuple[str, str]]) -> None:
    """Trouble about a column that an option names and that is not there."""
    for option, name in options:
        if name not in source.names:
            raise Trouble(f"{source.path} has no column {quote(name)} ({option}); {source.hint(name)}")


def no_file(name: str) -> str:
    """The message about a file that is not there, with the name of a similar one if there is one."""
    if os.path.islink(name):
        return f"{name} is a link to {os.readlink(name)}, where there is no file"
    with suppress(OSError):
        folder, base = os.path.split(name)
        for close in get_close_matches(base, os.listdir(folder or "."), n=1, cutoff=0.75):
            return f"there is no file {name}; did you mean {os.path.join(folder, close)}?"
    return f"there is no file {name}"


def _kind_of_name(name: str) -> FileKind:
    """The kind of a file by its suffix."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    is_packed = suffixes[-1:] == [".gz"]
    last = "".join(suffixes[:-1][-1:] if is_packed else suffixes[-1:])
    for kind in FILE_KINDS:
        if last in kind.suffixes and (kind.is_text or not is_packed):
            return kind
    if last == ".json":
        raise Trouble(
            f"{name} looks like a model, but a table is wanted here (CSV, Parquet, Excel, or JSON lines, "
            "which end in .jsonl)"
        )
    csv, lines, *others = (f"{kind.name} ({' '.join(kind.suffixes[:4])})" for kind in FILE_KINDS)
    raise Trouble(
        f"{name}: tables are read from {csv}, {lines}, both also with .gz, {' and '.join(others)}; "
        "save it as one of these"
    )


def _kind_of_content(place: str) -> FileKind | None:
    """The kind of a file by its first bytes; None for text."""
    with open(place, "rb") as file:
        start = file.read(4)
    return next((kind for kind in FILE_KINDS if kind.recognises(start, place)), None)


def stem(path: Path) -> str:
    """The name of a table without folder and suffixes."""
    return "table" if path == PIPE else Path(path.name.removesuffix(".gz")).stem


def first_line(error: BaseException) -> str:
    """The first line of an error of DuckDB, without the kind of the error."""
    line = str(error).strip().split("\n", 1)[0]
    return line.partition(": ")[2] or line
