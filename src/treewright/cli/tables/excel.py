"""Excel files: one sheet as typed columns, with the row that each has in the sheet."""

from __future__ import annotations

import csv
import io
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from itertools import chain
from typing import IO, Any
from xml.etree.ElementTree import Element, ParseError, iterparse

import numpy as np
from numpy.typing import NDArray

from treewright.cli.errors import Misuse, Trouble, check_unique, count, name_list, quote
from treewright.cli.tables import temporary_files
from treewright.cli.tables.csv_files import DOUBT, looks_like_cells, pattern
from treewright.encoding.tables import available_memory

SAMPLED = 2000  # rows that are looked at to tell whether the first one is a row like them
HOURS = "times of day are read as hours, so that 13:30 is 13.5"


@dataclass(frozen=True)
class Sheet:
    """A sheet as a file of cells: one line a row, which begins with its row in the sheet."""

    name: str
    names: tuple[str, ...]
    types: tuple[str, ...]  # what SQL calls them
    table: str  # SQL for the columns c0, c1, …
    rows: NDArray[np.int64] = field(repr=False)  # the row of the sheet that each row is
    doubt: str | None
    remarks: tuple[str, ...]


def open_sheet(
    path: str, place: str, wanted: str | None, header: bool | None, missing: tuple[str, ...]
) -> Sheet:
    """The sheet of an Excel file that is `wanted`, by default the only one that has cells.

    `missing` are texts that stand for nothing.
    """
    check_archive(path, place)
    with _workbook(path, place) as book:
        sheet, facts, remarks = _chosen(path, place, book, wanted)
        where = path if len(book.worksheets) == 1 else f"{path}, sheet {quote(sheet.title)}"
        facts.check_formulas(where)
        with temporary_files.new_file(path) as (name, file):
            table = _Table(where, _used(sheet, facts), header, missing, facts)
            table.write(file)
    return table.sheet(str(sheet.title), name, remarks)


@contextmanager
def _workbook(path: str, place: str) -> Iterator[Any]:
    """The workbook, while it is read; what is wrong with it is Trouble."""
    try:
        import openpyxl
    except ModuleNotFoundError as error:
        raise Trouble(
            f"{path}: to read Excel files needs openpyxl: pip install 'treewright[excel]'"
        ) from error
    book = None
    try:
        with warnings.catch_warnings(), open(place, "rb") as file:
            warnings.simplefilter("ignore")  # of styles and extensions, which say nothing of the cells
            book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
            yield book
    except (Trouble, OSError, MemoryError):
        raise
    except Exception as error:  # whatever a damaged part makes openpyxl raise
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise Trouble(f"{path} is damaged or is not an Excel file ({reason})") from error
    finally:
        if book is not None:
            book.close()


def _chosen(path: str, place: str, book: Any, wanted: str | None) -> tuple[Any, SheetFacts, list[str]]:
    """The sheet to read, its facts, and what to say of the choice."""
    titles = [sheet.title for sheet in book.worksheets]
    if wanted is not None:
        if wanted not in titles:
            raise Trouble(
                f"{path} has no sheet {quote(wanted)} (--sheet); its sheets are {name_list(titles)}"
            )
        sheet = book.worksheets[titles.index(wanted)]
        return sheet, sheet_facts(path, place, sheet), []
    found = [(sheet, sheet_facts(path, place, sheet)) for sheet in book.worksheets]
    filled = [(sheet, facts) for sheet, facts in found if facts.width]
    if not filled:
        raise Trouble(f"{path} is empty: no sheet has a cell with a value")
    if len(filled) > 1:
        names = name_list([sheet.title for sheet, _ in filled])
        raise Misuse(f"{path} has {len(filled)} sheets with cells, {names}; --sheet NAME reads one of them")
    (sheet, facts), others = filled[0], len(titles) - 1
    remark = f"{path}: sheet {quote(sheet.title)} is read; no other one has cells"
    return sheet, facts, [remark] if others else []


def _used(sheet: Any, facts: SheetFacts) -> Iterator[tuple[int, list[Any]]]:
    """The rows of a sheet that have a cell with a value, each with its number."""
    sheet.reset_dimensions()
    if not facts.width:
        return
    rows = sheet.iter_rows(max_row=facts.height, max_col=facts.width)
    for number, row in enumerate(rows, 1):
        cells = [_Error(cell.value) if cell.data_type == "e" else cell.value for cell in row]
        if any(cell is not None and cell != "" for cell in cells):
            yield number, cells


class _Error(str):
    """A cell such as #DIV/0!."""

    __slots__ = ()


class _Table:
    """The rows of a sheet on their way to a file, and what was found in them."""

    def __init__(
        self,
        where: str,
        rows: Iterable[tuple[int, list[Any]]],
        header: bool | None,
        missing: tuple[str, ...],
        facts: SheetFacts,
    ) -> None:
        self.where, self.missing, self.facts = where, frozenset(missing), facts
        self._rows = iter(rows)
        first = next(self._rows, None)
        if first is None:
            raise Trouble(f"{where} is empty; a table has a row of names and then its rows")
        self._header = header
        self._first = first
        self._kinds: list[Counter[str]] = [Counter() for _ in range(facts.width)]
        self._errors: list[tuple[str, str]] = []
        self._has_hours = False
        self._numbers: list[int] = []
        self._longest = 0
        self._sample: list[list[str]] = []
        facts.check_header(where, None if header is False else first[0])

    def write(self, file: IO[bytes]) -> None:
        """Write all rows below the names."""
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        rows = chain([self._first], self._rows) if self._header is False else self._rows
        for number, row in rows:
            cells = [self._cell(value, number, position) for position, value in enumerate(row)]
            if len(self._sample) < SAMPLED:
                self._sample.append(cells)
            self._numbers.append(number)
            self._longest = max(self._longest, sum(map(len, cells)))
            writer.writerow([number, *cells])
        text.flush()
        text.detach()

    def _cell(self, value: Any, row: int, position: int) -> str:
        """A cell as text, empty where it is missing; its kind is counted."""
        if isinstance(value, _Error):
            self._errors.append((reference(row, position + 1), value))
            return ""
        if isinstance(value, str):
            value = value.strip()
        if isinstance(value, time | timedelta):
            value, self._has_hours = _hours(value), True
        text = _text(value)
        if value is None or text in self.missing:
            return ""
        self._kinds[position][_kind(value)] += 1
        return text

    def sheet(self, name: str, place: str, remarks: Sequence[str]) -> Sheet:
        """What was written."""
        number, first = self._first
        heading = [""] * len(first) if self._header is False else [_text(cell).strip() for cell in first]
        used = [i for i, name in enumerate(heading) if name or self._kinds[i]]
        if not self._numbers or not used:
            raise Trouble(f"{self.where} has names of columns but no rows")
        self._check_title(heading, used)
        is_odd = self._header is None and looks_like_cells(
            [heading[i] for i in used], [[cells[i] for i in used] for cells in self._sample]
        )
        names = [heading[i] or f"column {place}" for place, i in enumerate(used, 1)]
        check_unique(self.where, names)
        types = [_type(self._kinds[i]) for i in range(len(first))]
        remarks = [*remarks, *self._remarks(number, used[0])]
        return Sheet(
            name,
            tuple(names),
            tuple(types[i] for i in used),
            self._table(place, types, used),
            np.array(self._numbers, np.int64),
            DOUBT if is_odd else None,
            tuple(remarks),
        )

    def _check_title(self, heading: list[str], used: list[int]) -> None:
        """Trouble about a title that stands where the names of the columns should."""
        named = [name for name in heading if name]
        if self._header is None and len(named) == 1 and len(used) > 2:
            raise Trouble(
                f"{self.where}, row {self._first[0]} names 1 of {len(used)} columns, {quote(named[0])}: "
                "if it is a title, delete the rows above the names; --header insists that it is not"
            )

    def _remarks(self, first_row: int, first_column: int) -> Iterator[str]:
        """What is worth knowing about how the sheet was read."""
        above = [count(first_row - 1, "empty row")] if first_row > 1 else []
        before = [count(first_column, "empty column")] if first_column else []
        if above or before:
            start = reference(first_row, first_column + 1)
            yield f"{self.where}: the table begins in {start}, behind {' and '.join(above + before)}"
        below = range(self._numbers[0], self._numbers[-1] + 1)
        if len(below) > len(self._numbers):
            blank = next(row for row, number in zip(below, self._numbers, strict=False) if row != number)
            skipped = count(len(below) - len(self._numbers), "empty row")
            yield f"{self.where}: {skipped} between the others left out, the first of them row {blank}"
        if self._errors:
            cell, said = self._errors[0]
            cells = count(len(self._errors), "cell")
            yield f"{self.where}: {cells} with errors of Excel ({said} in {cell}): read as missing"
        if self.facts.merged:
            ranges = ", ".join(self.facts.merged[:3]) + (", …" if len(self.facts.merged) > 3 else "")
            yield (
                f"{self.where}: merged cells ({ranges}): the value belongs to the first cell, the others are "
                "missing; unmerge them and fill them in if it belongs to all"
            )
        if self._has_hours:
            yield f"{self.where}: {HOURS}"

    def _table(self, place: str, types: Sequence[str], used: Sequence[int]) -> str:
        """SQL that reads the file again."""
        typed = ", ".join(f"'x{i}': '{kind}'" for i, kind in enumerate(types))
        selected = ", ".join(f"x{i} AS c{position}" for position, i in enumerate(used))
        longest = max(2_000_000, 8 * self._longest + 100 * len(types))
        return (
            f"(SELECT {selected} FROM read_csv({pattern(place)}, auto_detect = false, header = false, "
            f"columns = {{'row': 'BIGINT', {typed}}}, delim = ',', quote = '\"', escape = '\"', "
            f"nullstr = '', parallel = false, max_line_size = {longest}, hive_partitioning = false))"
        )


def _hours(value: time | timedelta) -> float:
    """A time of day, or a duration, in hours."""
    if isinstance(value, timedelta):
        return value.total_seconds() / 3600
    return value.hour + value.minute / 60 + (value.second + value.microsecond / 1e6) / 3600


def _text(value: Any) -> str:
    """A cell as text that SQL reads as the same value.

    >>> _text(True), _text(0.1), _text(datetime(2026, 1, 31)), _text(None)
    ('true', '0.1', '2026-01-31', '')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return value if isinstance(value, str) else str(value)


def _kind(value: Any) -> str:
    """The type of SQL that holds a value."""
    if isinstance(value, bool):
        return "BOOLEAN"
    if isinstance(value, int):
        return "BIGINT" if abs(value) < 2**63 else "VARCHAR"
    if isinstance(value, float):
        return "DOUBLE"
    return "TIMESTAMP" if isinstance(value, date) else "VARCHAR"


def _type(kinds: Counter[str]) -> str:
    """The type of a column; texts where it holds things of several kinds.

    >>> _type(Counter({"BIGINT": 3, "DOUBLE": 1})), _type(Counter({"BIGINT": 3, "VARCHAR": 1}))
    ('DOUBLE', 'VARCHAR')
    """
    if set(kinds) == {"BIGINT", "DOUBLE"}:
        return "DOUBLE"
    return next(iter(kinds)) if len(kinds) == 1 else "VARCHAR" if kinds else "DOUBLE"


LAST_ROW, LAST_COLUMN = 1 << 20, 1 << 14  # of Excel
LARGEST_PART = 1 << 26  # bytes of a part that is read into memory at once, such as the list of styles
MEMORY_SHARE = 4  # the texts of all cells may take one part in so many of the free memory, unpacked
_CELL = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})", re.ASCII)
OLE = b"\xd0\xcf\x11\xe0"  # how old Excel files begin, and those with a password
ZIP = b"PK\x03\x04"


@dataclass(frozen=True)
class SheetFacts:
    """What the values of a sheet do not tell: its extent, merged cells, formulas without a saved value."""

    height: int
    width: int
    merged: tuple[str, ...]
    unsaved: tuple[str, ...]

    def check_formulas(self, where: str) -> None:
        """Trouble about formulas whose values were not saved."""
        if self.unsaved:
            formulas = count(len(self.unsaved), "formula")
            raise Trouble(
                f"{where}: {formulas} without a saved value, the first in {self.unsaved[0]}; "
                "open the file in Excel and save it once"
            )

    def check_header(self, where: str, row: int | None) -> None:
        """Trouble about merged cells in the row of names."""
        for each in self.merged:
            first, _, last = each.partition(":")
            if row is not None and _position(first)[0] <= row <= _position(last or first)[0]:
                raise Trouble(
                    f"{where}: the cells {each} are merged in row {row}, which names the columns; "
                    "unmerge them, or delete a title above the names"
                )


def is_workbook(place: str) -> bool:
    """Whether a file is an archive that holds a workbook."""
    try:
        with zipfile.ZipFile(place) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError):
        return False


def check_archive(path: str, place: str) -> None:
    """Trouble about a file that is no workbook, or one that unpacks to more than memory holds."""
    with open(place, "rb") as file:
        start = file.read(8)
    if start[:4] == OLE:
        raise Trouble(
            f"{path} has a password or is an old Excel file (.xls); save it as .xlsx without a password"
        )
    if not start:
        raise Trouble(f"{path} is empty; it is no Excel file")
    try:
        with zipfile.ZipFile(place) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError) as error:
        raise Trouble(f"{path} is not an Excel file (.xlsx), or it is damaged ({error})") from error
    if any(part.flag_bits & 1 for part in parts):
        raise Trouble(f"{path} has a password; save it without one")
    names = {part.filename for part in parts}
    if not any(name.endswith("workbook.xml") for name in names):
        raise Trouble(f"{path} is an archive without a workbook; save it as .xlsx in Excel")
    _check_sizes(path, parts)


def _check_sizes(path: str, parts: list[zipfile.ZipInfo]) -> None:
    """Trouble about parts that memory cannot hold; they do not unpack to more than they say."""
    have = available_memory()
    room = (1 << 32) if have is None else have // MEMORY_SHARE
    total = sum(part.file_size for part in parts if part.filename.endswith((".xml", ".rels")))
    if total > room:
        raise Trouble(
            f"{path} unpacks to {total / 1e6:,.0f} MB, too many for the memory that is free; save it as CSV"
        )
    for part in parts:
        is_large = part.file_size > LARGEST_PART and not re.search(r"/(sheet|sharedStrings)", part.filename)
        if is_large and part.filename.endswith((".xml", ".rels")):
            raise Trouble(
                f"{path} holds {part.filename} of {part.file_size / 1e6:,.0f} MB; save the sheet as CSV"
            )


def sheet_facts(where: str, place: str, sheet: Any) -> SheetFacts:
    """The facts of a sheet of a workbook."""
    height = width = row = 0
    merged: list[str] = []
    unsaved: list[str] = []
    with zipfile.ZipFile(place) as archive, archive.open(sheet._worksheet_path) as part:
        try:
            for _, element in iterparse(part):
                if element.tag.endswith("}row"):
                    row = _number(element, row + 1)
                    for at, column, is_unsaved in _cells(element, row):
                        if not (1 <= at <= LAST_ROW and 1 <= column <= LAST_COLUMN):
                            raise Trouble(f"{where} is damaged: a cell is in row {at}, column {column}")
                        height, width = max(height, at), max(width, column)
                        if is_unsaved:
                            unsaved.append(reference(at, column))
                    element.clear()
                elif element.tag.endswith("}mergeCell"):
                    merged.append(element.get("ref", ""))
        except ParseError as error:
            raise Trouble(f"{where} is damaged: its cells cannot be read ({error})") from error
    return SheetFacts(height, width, tuple(merged), tuple(unsaved))


def _cells(cells: Element, row: int) -> Iterator[tuple[int, int, bool]]:
    """The cells of a row with a value or a formula as (row, column, whether its value was not saved).

    A cell without a reference follows the one before it.
    """
    column = 0
    for cell in cells:
        name = cell.get("r")
        row, column = (row, column + 1) if name is None else _position(name)
        parts = {child.tag.rpartition("}")[2]: child for child in cell}
        value = parts.get("v")
        is_known = (value is not None and bool(value.text)) or "is" in parts
        is_text = cell.get("t") == "str"  # a formula whose value is an empty text
        if is_known or "f" in parts:
            yield row, column, not is_known and not (is_text and value is not None)


def _number(row: Element, otherwise: int) -> int:
    text = row.get("r", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else otherwise


def _position(cell: str) -> tuple[int, int]:
    """Row and column of a reference; (0, 0) if it is none.

    >>> _position("C17"), _position("AA1"), _position("")
    ((17, 3), (1, 27), (0, 0))
    """
    from openpyxl.utils import column_index_from_string

    match = _CELL.fullmatch(cell)
    return (0, 0) if match is None else (int(match[2]), column_index_from_string(match[1]))


def reference(row: int, column: int) -> str:
    """The name of a cell.

    >>> reference(17, 3), reference(1, 27), reference(2, 52)
    ('C17', 'AA1', 'AZ2')
    """
    from openpyxl.utils import get_column_letter

    return f"{get_column_letter(column)}{row}"
