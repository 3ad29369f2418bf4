"""Excel files from strangers: what is in the archive, checked before it is read."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element, ParseError, iterparse

from treewright.cli.errors import Trouble, count
from treewright.encoding.tables import available_memory

LAST_ROW, LAST_COLUMN = 1 << 20, 1 << 14  # of Excel
LARGEST_PART = 1 << 26  # bytes of a part that is read into memory at once, such as the list of styles
MEMORY_SHARE = 4  # the texts of all cells may take one part in so many of the free memory, unpacked
OLE = b"\xd0\xcf\x11\xe0"  # how old Excel files begin, and those with a password
ZIP = b"PK\x03\x04"
_CELL = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})", re.ASCII)


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
            if row is not None and _place(first)[0] <= row <= _place(last or first)[0]:
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

    A cell may leave out where it is: then it follows the one before it.
    """
    column = 0
    for cell in cells:
        said = cell.get("r")
        row, column = (row, column + 1) if said is None else _place(said)
        held = {child.tag.rpartition("}")[2]: child for child in cell}
        value = held.get("v")
        is_known = (value is not None and bool(value.text)) or "is" in held
        is_text = cell.get("t") == "str"  # a formula whose value is an empty text
        if is_known or "f" in held:
            yield row, column, not is_known and not (is_text and value is not None)


def _number(row: Element, otherwise: int) -> int:
    said = row.get("r", "")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 10 else otherwise


def _place(cell: str) -> tuple[int, int]:
    """Row and column of a reference; those of no cell if it is none.

    >>> _place("C17"), _place("AA1"), _place("")
    ((17, 3), (1, 27), (0, 0))
    """
    found = _CELL.fullmatch(cell)
    if found is None:
        return 0, 0
    column = 0
    for letter in found[1]:
        column = 26 * column + ord(letter) - ord("A") + 1
    return int(found[2]), column


def reference(row: int, column: int) -> str:
    """The name of a cell.

    >>> reference(17, 3), reference(1, 27), reference(2, 52)
    ('C17', 'AA1', 'AZ2')
    """
    letters = ""
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return f"{letters}{row}"
