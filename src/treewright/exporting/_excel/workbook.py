"""The file of a workbook, written by openpyxl."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from copy import copy
from io import BytesIO
from itertools import chain, repeat
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from treewright._text import escape
from treewright.exporting._excel.sheets import Look, Sheet
from treewright.exporting._excel.values import ROW, UNREADABLE, Formula, letters
from treewright.exporting._tree import optional_module

_HEADING_COLOR = "1F4E78"
_STAMPS = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")
_ENCODED = re.compile("[\x01-\x08\x0b-\x1f]|_(?=x[0-9A-Fa-f]{4}_)")  # as _x0007_, in files of Excel
_BEGINS_FORMULA = ("=", "+", "-", "@")  # where somebody edits the cell


def workbook_bytes(sheets: Iterable[Sheet]) -> bytes:
    """The file of some sheets, without the time at which it was made."""
    openpyxl = optional_module("openpyxl", "to write Excel workbooks", "treewright[excel]")
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
            entry = ZipInfo(name)
            entry.compress_type, entry.create_system = ZIP_DEFLATED, 3
            fixed.writestr(entry, content)
    return found.getvalue()


def _write(openpyxl: Any, book: Any, sheet: Sheet) -> None:
    page = book.create_sheet(sheet.title)
    page.freeze_panes = sheet.freeze
    page.page_setup.orientation, page.page_setup.fitToHeight = "landscape", 0  # as many pages as it takes
    page.sheet_properties.pageSetUpPr = openpyxl.worksheet.properties.PageSetupProperties(fitToPage=True)
    for place, look in enumerate(sheet.looks, start=1):
        page.column_dimensions[letters(place)].width = look.width
    for cells, source in sheet.choices:
        choice = openpyxl.worksheet.datavalidation.DataValidation(
            type="list", formula1=source, sqref=cells, allow_blank=True, showErrorMessage=True
        )
        choice.errorStyle, choice.errorTitle = "warning", "A new category"
        choice.error = "The tree has never seen this category."
        page.data_validations.append(choice)
    try:
        for row in _cells(openpyxl, page, sheet):
            page.append(row)
    finally:  # also where a formula turns out to be too long, as the page has a file open
        page.close()


def _cells(openpyxl: Any, page: Any, sheet: Sheet) -> Iterator[list[Any]]:
    """The cells of each row, in their colors and formats."""
    heading, plain = (_style(openpyxl, page, look) for look in (None, Look(0)))
    if sheet.freeze is None:
        heading = _style(openpyxl, page, None, is_title=True)
    styles = [_style(openpyxl, page, look) for look in sheet.looks]
    for row, values in enumerate(sheet.rows, start=1):
        own = repeat(heading) if row == 1 else chain(styles, repeat(plain))
        yield [_cell(openpyxl, page, row, *each) for each in zip(values, own, strict=False)]


def _style(openpyxl: Any, page: Any, look: Look | None, is_title: bool = False) -> Any:
    """The style of the cells of a column, or of headings."""
    cell, styles = openpyxl.cell.WriteOnlyCell(page), openpyxl.styles
    if is_title:
        cell.font = styles.Font("Calibri", 14, bold=True)
    elif look is None:
        cell.font = styles.Font("Calibri", 11, bold=True, color="FFFFFF")
        cell.fill = styles.PatternFill("solid", start_color=_HEADING_COLOR)
        cell.alignment = styles.Alignment(wrap_text=True, vertical="top")
    else:
        cell.number_format = look.format
        if look.color is not None:
            side = styles.Side("thin", color="D9D9D9")
            cell.border = styles.Border(left=side, right=side, top=side, bottom=side)
            cell.fill = styles.PatternFill("solid", start_color=look.color)
    return cell._style


def _cell(openpyxl: Any, page: Any, row: int, value: Any, style: Any) -> Any:
    """A cell; only a `Formula` is one, and numbers keep their last bit."""
    cell = openpyxl.cell.WriteOnlyCell(page)
    cell._style = style
    if isinstance(value, Formula):
        cell._value, cell.data_type = value.replace(ROW, str(row)), "f"
    elif isinstance(value, str):
        text = escape(value) if UNREADABLE.search(value) else value
        cell._value = _ENCODED.sub(lambda found: f"_x{ord(found[0]):04X}_", text)
        cell.data_type = "s"
        if value.startswith(_BEGINS_FORMULA):
            cell._style = copy(style)  # others share it
            cell.quotePrefix = True
    elif isinstance(value, bool):
        cell._value, cell.data_type = int(value), "b"
    elif value is not None:
        cell._value, cell.data_type = repr(value), "n"
    return cell
