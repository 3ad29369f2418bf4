"""How a text file is laid out, and the place of whatever is wrong in it; here CSV files."""

from __future__ import annotations

import csv
import io
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from treewright.cli.errors import Trouble, check_unique, count
from treewright.cli.options import ALWAYS_MISSING, MISSING
from treewright.cli.tables import cell_types
from treewright.cli.tables.cell_types import literal
from treewright.cli.tables.encodings import (
    START,
    compression,
    diagnose_bytes,
    not_text,
    open_bytes,
    open_text,
)
from treewright.encoding.text.recognise import recognise

SEPARATORS = (",", ";", "\t", "|")
HEAD = 1 << 20  # characters that are looked at to tell the layout
SAMPLED = 2000  # records that are looked at to guess the forms of the columns
LONGEST_CELL = 1 << 27  # characters
LONGEST_LINE = 2 * LONGEST_CELL  # bytes; DuckDB reads 2 MB unless it is told otherwise
_NAMED = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}


@dataclass(frozen=True)
class Layout(ABC):
    """A text file: where it is, the names of its columns, and what its first records hold."""

    path: str  # as the user calls it
    place: str  # where it is read from
    names: tuple[str, ...]
    sample: tuple[list[str], ...] = field(default=(), repr=False)  # the first records
    decimals: str = "."  # the decimal marks that are usual in the file
    doubt: str | None = None  # why the names of the columns may be none
    texts: frozenset[int] | None = None  # the columns that the file marks as texts, if it tells them

    def sample_of(self, position: int) -> list[str]:
        """The cells of a column in the first records."""
        return [record[position] for record in self.sample if len(record) == len(self.names)]

    @abstractmethod
    def table(
        self, positions: Collection[int], missing: tuple[str, ...] = ("",), *, strict: bool = True
    ) -> str:
        """SQL for the cells of these columns (c0, c1, … by position) and perhaps others, as texts or null."""

    @abstractmethod
    def records(self) -> Iterator[tuple[int, list[str]]]:
        """The records, each with the line it begins in; slow, for finding a place."""

    @abstractmethod
    def diagnose(self) -> None:
        """Trouble that names the line of what is wrong with the file, if something is.

        Called after the quick reader has failed: this one is slow, but it can tell the place.
        """

    def line_of(self, column: int, cell: str) -> int | None:
        """The first line in which a column has this cell, spaces around it aside."""
        for line, record in self.records():
            if column < len(record) and record[column].strip() == cell.strip():
                return line
        return None

    def lines_of_rows(self, rows: Iterable[int]) -> dict[int, int]:
        """The lines in which some rows begin, all found at once."""
        left = set(rows)
        records = enumerate(self.records() if left else ())
        lines: dict[int, int] = {}
        while left and (record := next(records, None)) is not None:
            row, (line, _) = record
            if row in left:
                lines[row] = line
                left.remove(row)
        return lines


@dataclass(frozen=True)
class CsvLayout(Layout):
    """A CSV file: the first line has the names, if it has a header."""

    separator: str = ","
    header: bool = True
    blank: int = 0  # lines before all others: empty ones, and Excel's "sep=;"

    def table(
        self, positions: Collection[int], missing: tuple[str, ...] = ("",), *, strict: bool = True
    ) -> str:
        """SQL for all cells, whatever the positions; DuckDB itself guesses nothing."""
        columns = ", ".join(f"'c{position}': 'VARCHAR'" for position in range(len(self.names)))
        # A marker that holds the separator only stands in quotes; DuckDB refuses it, but `known` knows it.
        markers = [marker for marker in missing if self.separator not in marker]
        longest = "" if strict else f", max_line_size = {LONGEST_LINE}"
        return (
            f"read_csv({pattern(self.place)}, auto_detect = false, columns = {{{columns}}}, "
            f"header = {str(self.header).lower()}, skip = {self.blank}, "
            f"delim = {literal(self.separator)}, quote = '\"', escape = '\"', null_padding = false, "
            f"nullstr = [{', '.join(map(literal, markers))}], strict_mode = {str(strict).lower()}, "
            f"parallel = {str(strict).lower()}, compression = '{compression(self.place)}', "
            f"hive_partitioning = false{longest})"
        )

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """The records, below the header if there is one."""
        with open_text(self.path, self.place) as file:
            for _ in range(self.blank):
                file.readline()
            reader = _reader(file, self.separator)
            if self.header:
                next(reader)
            line = self.blank + reader.line_num + 1
            for record in reader:
                if record:
                    yield line, record
                line = self.blank + reader.line_num + 1

    def diagnose(self) -> None:
        """Trouble about a line that has more cells or fewer than the first, bytes, quotes."""
        width = len(self.names)
        diagnose_bytes(self.path, self.place)
        line = 1
        try:
            for line, record in self.records():
                trailing = len(record) == width + 1 and not record[-1]  # a separator at the end of the line
                if len(record) != width and not trailing:
                    between = _NAMED.get(self.separator, repr(self.separator))
                    first = (
                        f"names {count(width, 'column')}" if self.header else f"has {count(width, 'cell')}"
                    )
                    raise Trouble(
                        f"{self.path}, line {line} has {count(len(record), 'cell')}, but the first line "
                        f"{first} (separated by {between}); {self._remedy(record)}"
                    )
        except csv.Error as error:
            reason = "its quotes do not close" if "end of" in str(error) else f"it cannot be read ({error})"
            if "field limit" in str(error):
                reason = (
                    f"a cell has more than {LONGEST_CELL:,} characters, which are the most that are read; "
                    "does a quote not close? Mend or shorten it"
                )
            raise Trouble(f"{self.path}: something is wrong from line {line + 1} on: {reason}") from error

    def _remedy(self, record: list[str]) -> str:
        """What to do about a record that is too long or too short."""
        if self.separator == "," and _has_decimal_commas(record, len(self.names)):
            return (
                "it looks like decimal commas in a comma-separated file: put such numbers in quotes, or "
                "separate the cells by semicolons"
            )
        if self.header and len(record) >= 2 * len(self.names):
            return (
                "if the first line is a title, delete the lines above the names; else mend or remove this one"
            )
        return "mend or remove it"


def _has_decimal_commas(record: list[str], width: int) -> bool:
    """Whether pairs of a whole number and digits, as in 12,50, explain why a record is too long.

    >>> _has_decimal_commas(["31", "1200", "50", "cook"], 3), _has_decimal_commas(["31", "cook", "x", "1"], 3)
    (True, False)
    """
    pairs = place = 0
    while place + 1 < len(record):
        whole, digits = record[place].strip(), record[place + 1].strip()
        is_pair = bool(re.fullmatch(r"[+-]?[0-9]+", whole) and re.fullmatch(r"[0-9]+", digits))
        pairs += is_pair
        place += 1 + is_pair
    return 0 < len(record) - width <= pairs


def csv_layout(path: str, place: str, separator: str | None = None, header: bool | None = None) -> CsvLayout:
    """The layout of a CSV file, from its first lines; Trouble if it is no such file.

    If `header` is None it has one, perhaps with a doubt.
    """
    text = head(path, place)
    empty = re.match(r"(?: *(?:\r\n|\n|\r))*", text)
    blank, text = (len(empty[0].splitlines()), text[empty.end() :]) if empty else (0, text)
    if told := re.match(r"sep=(.)(?:\r\n|\n|\r)", text):  # a line for Excel, which names the separator
        blank, text, separator = blank + 1, text[told.end() :], separator or told[1]
    if separator is None:
        separator = _separator(text, prefers_tabs=path.lower().removesuffix(".gz").endswith((".tsv", ".tab")))
    records = _first(text, separator, SAMPLED + 1)
    if not records:
        raise Trouble(f"{path}: the first line cannot be read as names of columns: its quotes do not close")
    decimals = ".," if separator == ";" else "."  # where semicolons separate, commas are free
    has_names = header is not False
    first, rows = (records[0], records[1:]) if has_names else ([""] * len(records[0]), records)
    is_odd = header is None and looks_like_cells(first, rows, decimals)
    doubt = DOUBT if is_odd else None
    names = tuple(name.strip() or f"column {position}" for position, name in enumerate(first, 1))
    check_unique(path, names, doubt or "rename them in the first line")
    return CsvLayout(
        path, place, names, tuple(rows), decimals, doubt, separator=separator, header=has_names, blank=blank
    )


def head(path: str, place: str) -> str:
    """How a text file begins; Trouble if it is empty."""
    try:
        with open_text(path, place) as file:
            text = file.read(HEAD)
    except UnicodeDecodeError:
        diagnose_bytes(path, place)
        raise
    if "\0" in text:
        raise Trouble(not_text(path, "zero bytes"))
    if not text.strip():
        raise Trouble(f"{path} is empty; a table has a line of names and then its rows")
    return text


def is_json_lines(place: str) -> bool:
    """Whether a file whose name does not tell it looks like JSON lines rather than CSV."""
    with open_bytes(place, place) as file:
        return file.read(START).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")


def pattern(path: str) -> str:
    """A path as SQL.

    DuckDB takes it for a pattern, in which some characters must be escaped, and the beginning of a relative
    path for a home folder (~) or a protocol (file:).
    """
    return literal(re.sub(r"([*?\[])", r"[\1]", os.path.abspath(path)))


def _reader(file: Any, separator: str) -> Any:
    csv.field_size_limit(LONGEST_CELL)
    return csv.reader(file, delimiter=separator, strict=True, skipinitialspace=separator != " ")


def _first(text: str, separator: str, most: int) -> list[list[str]]:
    """The first records of a text, which may end anywhere."""
    records: list[list[str]] = []
    try:
        for record in _reader(io.StringIO(text, newline=""), separator):
            records += [record] * bool(record)
            if len(records) == most:
                return records
    except csv.Error:
        return records
    return records if len(text) < HEAD else records[:-1]


def _separator(text: str, prefers_tabs: bool) -> str:
    """The separator with which most of the first records are as wide as the first, and wider than one."""

    def score(separator: str) -> tuple[int, int]:
        widths = [len(record) for record in _first(text, separator, 100)]
        return (widths.count(widths[0]), widths[0]) if widths and widths[0] > 1 else (0, 0)

    return "\t" if prefers_tabs and score("\t") > (0, 0) else max(SEPARATORS, key=score)


DOUBT = (
    "its first line looks like a row, not like names of columns; --no-header reads it as one, and calls them "
    "'column 1', 'column 2', …"
)


def looks_like_cells(header: Sequence[str], records: Sequence[Sequence[str]], decimals: str = ".") -> bool:
    """Whether a first line is more like the cells below it than like names.

    It is if all columns of numbers or times begin with one, and some text occurs again below; in a table of
    texts, if all of them do. Years and positions that count up are names all the same.

    >>> looks_like_cells(["5.1", "setosa"], [["4.9", "setosa"], ["7.0", "virginica"]])
    True
    >>> looks_like_cells(["country", "2019", "2020"], [["France", "1", "2"], ["Spain", "2", "3"]])
    False
    >>> looks_like_cells(["0", "1", "2"], [["7", "8", "9"]])
    False
    """
    rows = [record for record in records if len(record) == len(header)]
    known, recurring = [], []
    for position, name in enumerate(header):
        cells = [record[position] for record in rows]
        kind, own = _family(cells, decimals), _family([name], decimals)
        if kind is None or own is None:  # nothing can be told of them
            continue
        if kind == "text":
            recurring.append(name.strip() in {cell.strip() for cell in cells})
        else:
            known.append((name.strip(), own == kind))
    if not known:
        return bool(recurring) and all(recurring)
    are_cells = all(alike for _, alike in known) and not _count_up([name for name, _ in known])
    return are_cells and (not recurring or any(recurring))


def _family(cells: Sequence[str], decimals: str) -> str | None:
    """What cells are: number, time or text; None if all are missing."""
    form = cell_types.guess(cells, decimals, (*ALWAYS_MISSING, *MISSING))
    if form == "nothing":
        return None
    kind = _kind_of_texts(cells) if form == "text" else cell_types.KINDS[form]
    return kind if kind in ("number", "time") else "text"


def _kind_of_texts(cells: Sequence[str]) -> str | None:
    """The kind of texts that are all numbers with currencies and the like, or dates."""
    labels = list(dict.fromkeys(cells))
    codes = {label: code for code, label in enumerate(labels)}
    reading = recognise(labels, np.array([codes[cell] for cell in cells]), name="")
    if reading.format is not None and not reading.n_unread:
        return reading.format.kind
    return "time" if reading.advice and reading.advice[0].code == "text-date-order" else None


def _count_up(names: Sequence[str]) -> bool:
    """Whether names are whole numbers, each one more than the one before."""
    if not all(name.isascii() and name.isdigit() for name in names):
        return False
    return all(int(after) == int(before) + 1 for before, after in pairwise(names))
