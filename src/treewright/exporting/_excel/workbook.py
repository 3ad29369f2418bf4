"""The file of a workbook, written by openpyxl."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from copy import copy
from io import BytesIO
from itertools import chain, repeat, zip_longest
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from treewright._text import escape
from treewright.exporting._excel.sheets import Look, Sheet
from treewright.exporting._excel.values import UNREADABLE, Formula, letters

_HEADING_COLOR = "1F4E78"
_COLORS: dict[Look, str] = {"input": "FFF8DC", "sum": "EDEDED", "output": "E2EFDA"}
_STAMPS = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")
_ENCODED = re.compile("[\x01-\x08\x0b-\x1f]|_(?=x[0-9A-Fa-f]{4}_)")  # as _x0007_, in files of Excel
_BEGINS_FORMULA = ("=", "+", "-", "@")  # where somebody edits the cell
_NO_TIME = (1980, 1, 1, 0, 0, 0)  # of the files in the archive


def workbook_bytes(sheets: Iterable[Sheet]) -> bytes:
    """The file of some sheets, without the time at which it was made."""
    openpyxl = _openpyxl()
    book = openpyxl.Workbook(write_only=True)
    book.properties.creator = "treewright"
    for sheet in sheets:
        _write(openpyxl, book, sheet)
    written, found = BytesIO(), BytesIO()
    book.save(written)
    with ZipFile(written) as archive, ZipFile(found, "w", ZIP_DEFLATED) as fixed:
        for name in archive.namelist():
            content = archive.read(name)
            if name == "docProps/core.xml":
                content = _STAMPS.sub(rb"\g<1>2000-01-01T00:00:00Z", content)
            entry = ZipInfo(name, _NO_TIME)
            entry.compress_type, entry.create_system = ZIP_DEFLATED, 3
            fixed.writestr(entry, content)
    return found.getvalue()


def _openpyxl() -> Any:
    try:
        import openpyxl
    except ImportError:
        raise ImportError(
            "to write Excel workbooks needs openpyxl: pip install 'treewright[excel]'"
        ) from None
    return openpyxl


def _write(openpyxl: Any, book: Any, sheet: Sheet) -> None:
    page = book.create_sheet(sheet.title)
    page.freeze_panes = sheet.freeze
    page.page_setup.orientation, page.page_setup.fitToHeight = "landscape", 0  # as many pages as it takes
    page.sheet_properties.pageSetUpPr = openpyxl.worksheet.properties.PageSetupProperties(fitToPage=True)
    for place, width in enumerate(sheet.widths, start=1):
        page.column_dimensions[letters(place)].width = width
    for cells, source in sheet.choices:
        page.data_validations.append(_list_of_choices(openpyxl, cells, source))
    try:
        for row in _cells(openpyxl, page, sheet):
            page.append(row)
    finally:  # also where a formula turns out to be too long, as the page has a file open
        page.close()


def _cells(openpyxl: Any, page: Any, sheet: Sheet) -> Iterator[list[Any]]:
    """The cells of each row, in their colours and formats."""
    heading, plain = _heading_style(openpyxl, page, sheet), openpyxl.cell.WriteOnlyCell(page)._style
    styles = [
        _column_style(openpyxl, page, look, format)
        for look, format in zip_longest(sheet.looks, sheet.formats, fillvalue=None)
    ]
    for row, values in enumerate(sheet.rows):
        own = repeat(heading) if row == 0 else chain(styles, repeat(plain))
        yield [_cell(openpyxl, page, value, style) for value, style in zip(values, own, strict=False)]


def _heading_style(openpyxl: Any, page: Any, sheet: Sheet) -> Any:
    cell = openpyxl.cell.WriteOnlyCell(page)
    if sheet.freeze is None:
        cell.font = openpyxl.styles.Font(bold=True, size=14)
        return cell._style
    cell.font = openpyxl.styles.Font(bold=True, color="FFFFFF")
    cell.fill = openpyxl.styles.PatternFill("solid", start_color=_HEADING_COLOR)
    cell.alignment = openpyxl.styles.Alignment(wrap_text=True, vertical="top")
    return cell._style


def _column_style(openpyxl: Any, page: Any, look: Look | None, format: str | None) -> Any:
    cell = openpyxl.cell.WriteOnlyCell(page)
    if look is not None:
        side = openpyxl.styles.Side("thin", color="D9D9D9")
        cell.border = openpyxl.styles.Border(left=side, right=side, top=side, bottom=side)
        cell.fill = openpyxl.styles.PatternFill("solid", start_color=_COLORS[look])
    if format is not None:
        cell.number_format = format
    return cell._style


def _list_of_choices(openpyxl: Any, cells: str, source: str) -> Any:
    """The categories of a column to choose from; another one is only warned of."""
    return openpyxl.worksheet.datavalidation.DataValidation(
        type="list",
        formula1=source,
        sqref=cells,
        allow_blank=True,
        showErrorMessage=True,
        errorStyle="warning",
        errorTitle="A new category",
        error="The tree has never seen this category.",
    )


def _cell(openpyxl: Any, page: Any, value: Any, style: Any) -> Any:
    """A cell; only a `Formula` is one, and numbers keep their last bit."""
    cell = openpyxl.cell.WriteOnlyCell(page, None)
    cell._style = style
    if isinstance(value, str):
        if isinstance(value, Formula):
            cell._value, cell.data_type = str(value), "f"
            return cell
        text = value if not UNREADABLE.search(value) else escape(value)
        cell._value = _ENCODED.sub(lambda found: f"_x{ord(found[0]):04X}_", text)
        cell.data_type = "s"
        if value[:1] in _BEGINS_FORMULA:
            cell._style = copy(style)  # others share it
            cell.quotePrefix = True
    elif isinstance(value, bool):
        cell._value, cell.data_type = int(value), "b"
    elif value is not None:
        cell._value, cell.data_type = repr(value), "n"
    return cell
