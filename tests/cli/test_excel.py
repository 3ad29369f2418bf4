"""Excel sheets as tables: typed cells, sheets, merged cells, errors, formulas, and files from strangers."""

from __future__ import annotations

import json
import zipfile
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

from treewright import cli
from treewright.cli.errors import Trouble
from treewright.cli.options import Dialect
from treewright.cli.tables import excel
from treewright.cli.tables.reader import Frame, read
from treewright.cli.tables.sources import Source, open_source

FIRST = datetime(2020, 1, 1)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def saved(rows: list[list[Any]], name: str = "t.xlsx", **others: list[list[Any]]) -> Any:
    """A workbook with a sheet of these rows, and others."""
    book = openpyxl.Workbook()
    sheet = book.active
    for row in rows:
        sheet.append(row)
    for title, more in others.items():
        other = book.create_sheet(title)
        for row in more:
            other.append(row)
    book.save(name)
    return book


def frame_of(name: str = "t.xlsx", **options: Any) -> tuple[Source, Frame]:
    source = open_source(name, Dialect(**options))
    return source, read(source, dict.fromkeys(source.names))


def fails(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit):
        cli.main(list(arguments))
    done = capfd.readouterr()
    assert done.out == ""
    assert done.err.count("\n") == 1
    return done.err


def loans(rows: int = 60) -> list[list[Any]]:
    """A table in which the income decides."""
    table: list[list[Any]] = [["age", "income", "job", "since", "ok"]]
    for i in range(rows):
        job = ["cook", "smith", 'two\nlines, and "quotes"'][i % 3]
        table.append([20 + i % 50, 1000.5 + 37 * i, job, FIRST + timedelta(days=i), i >= rows // 2])
    return table


def test_cells_keep_their_types() -> None:
    saved([["whole", "real", "text", "day", "flag", "mixed"], *([1, 0.1, " a ", FIRST, True, 5],) * 2])
    book = openpyxl.load_workbook("t.xlsx")
    sheet = book.active
    assert sheet is not None
    for row in ([2, 3, "NA", None, None, "x"], [None, 1e300, "ü", FIRST + timedelta(hours=9), False, None]):
        sheet.append(row)
    book.save("t.xlsx")
    _, frame = frame_of()
    assert frame.forms == {
        "whole": "integer",
        "real": "number",
        "text": "text",
        "day": "time",
        "flag": "bool",
        "mixed": "text",
    }
    assert frame.columns["whole"].tolist() == [1, 1, 2, None]
    assert frame.columns["real"].tolist() == [0.1, 0.1, 3.0, 1e300]
    assert frame.columns["text"].tolist() == ["a", "a", None, "ü"]
    assert frame.columns["mixed"].tolist() == ["5", "5", "x", None]
    assert frame.columns["flag"].tolist() == [True, True, None, False]
    assert frame.columns["day"][3] == np.datetime64("2020-01-01T09:00")


@pytest.mark.slow
def test_from_fit_to_predict(capfd: pytest.CaptureFixture[str]) -> None:
    saved(loans())
    cli.main(["fit", "t.xlsx", "--target", "ok", "--no-report", "--drop", "since"])
    assert "income <= " in capfd.readouterr().out
    cli.main(["predict", "t.tree.json", "t.xlsx", "--keep", "job"])
    lines = capfd.readouterr().out.splitlines()
    assert (lines[0], lines[1]) == ("job,prediction", "cook,false")
    cli.main(["describe", "t.xlsx", "--json"])
    found = json.loads(capfd.readouterr().out)
    assert [column["kind"] for column in found["columns"]] == [
        "number",
        "number",
        "category",
        "time",
        "category",
    ]


def test_numbers_as_texts_are_read(capfd: pytest.CaptureFixture[str]) -> None:
    rows = [[f"{i},50 €", "uv"[i > 20]] for i in range(40)]
    saved([["price", "y"], *rows[:7], ["??!", "u"], *rows[7:]])
    cli.main(["fit", "t.xlsx", "--target", "y", "--no-report"])
    done = capfd.readouterr()
    assert "1 column (1 number), 1 missing value" in done.out
    assert "column 'price': 1 of 41 cells is not a number ('??!' in row 9)" in done.err


@pytest.mark.slow
def test_sheets(capfd: pytest.CaptureFixture[str]) -> None:
    saved(loans(), More=[["a", "b"], [1, 2]], Empty=[])
    said = fails(capfd, "describe", "t.xlsx")
    assert "t.xlsx has 2 sheets with cells, 'Sheet', 'More'; --sheet NAME reads one of them" in said
    assert "has no sheet 'more' (--sheet); its sheets are" in fails(
        capfd, "describe", "t.xlsx", "--sheet", "more"
    )
    source, frame = frame_of(sheet="More")
    assert (source.names, frame.n_rows, source.remarks) == (("a", "b"), 1, ())
    saved(loans(), Empty=[])
    assert frame_of()[0].remarks == ("t.xlsx: sheet 'Sheet' is read; no other one has cells",)
    saved([])
    assert "t.xlsx is empty" in fails(capfd, "describe", "t.xlsx")
    Path("t.csv").write_text("a,b\n1,2\n")
    assert "--sheet is for Excel files" in fails(capfd, "describe", "t.csv", "--sheet", "a")


def test_offsets_gaps_errors_and_merged_cells() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for column, name in enumerate(["x", "y", "when"], 3):
        sheet.cell(4, column, name)
    for row in range(5, 30):
        for column, value in enumerate([row, "ab"[row % 2], time(row % 24, 30)], 3):
            if row != 12:
                sheet.cell(row, column, value)
    sheet["C20"] = "#DIV/0!"
    sheet["C20"].data_type = "e"
    sheet.merge_cells("D22:D24")
    book.save("t.xlsx")
    source, frame = frame_of()
    assert source.names == ("x", "y", "when")
    assert source.remarks == (
        "t.xlsx: the table begins in C4, behind 3 empty rows and 2 empty columns",
        "t.xlsx: 1 empty row between the others left out, the first of them row 12",
        "t.xlsx: 1 cell with errors of Excel (#DIV/0! in C20): read as missing",
        "t.xlsx: merged cells (D22:D24): the value belongs to the first cell, the others are missing; "
        "unmerge them and fill them in if it belongs to all",
        "t.xlsx: times of day are read as hours, so that 13:30 is 13.5",
    )
    assert frame.n_rows == 24
    assert frame.place(0) == "row 5"
    assert frame.place(7) == "row 13"
    assert frame.columns["x"].tolist()[14] is None
    assert frame.columns["y"].tolist()[16:19] == ["a", None, None]
    assert frame.columns["when"].tolist()[0] == 5.5


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [["x", "y"], [1, "=A2*2"]],
            "1 formula without a saved value, the first in B2; open the file in Excel",
        ),
        (
            [["Loans 2024"], [], ["x", "y", "z"], [1, 2, 3]],
            "row 1 names 1 of 3 columns, 'Loans 2024': if it is a",
        ),
        ([["x", "x"], [1, 2]], "several columns have the name 'x'; rename them"),
        ([["x", "y"]], "has names of columns but no rows"),
    ],
)
def test_sheets_that_are_no_tables(
    capfd: pytest.CaptureFixture[str], rows: list[list[Any]], message: str
) -> None:
    saved(rows)
    assert message in fails(capfd, "describe", "t.xlsx")


def test_merged_names_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    book = saved([["Loans of 2024"], ["x", "y", "z"], [1, 2, 3]])
    book.active.merge_cells("A1:C1")
    book.save("t.xlsx")
    assert "the cells A1:C1 are merged in row 1, which names the columns" in fails(
        capfd, "describe", "t.xlsx"
    )


def test_headers_that_are_none() -> None:
    saved([[5.1, "setosa"], [4.9, "setosa"], [7.0, "virginica"]])
    source, frame = frame_of()
    assert source.doubt is not None
    source, frame = frame_of(header=False)
    assert (source.names, frame.n_rows, source.doubt) == (("column 1", "column 2"), 3, None)


def test_missing_words_in_a_sheet() -> None:
    saved([["a", "b"], [1, "?"], [-999, "x"], ["NA", "y"]])
    assert frame_of()[1].columns["a"].tolist() == [1, -999, None]
    _, frame = frame_of(na_values=["-999"])
    assert frame.columns["a"].tolist() == ["1", None, "NA"]


def rewritten(name: str, part: str, change: Any) -> None:
    """The workbook t.xlsx with one part changed."""
    with zipfile.ZipFile("t.xlsx") as old, zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            content = old.read(info)
            new.writestr(info.filename, change(content) if info.filename == part else content)


SHEET = "xl/worksheets/sheet1.xml"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Path("h.xlsx").write_bytes(b""), "h.xlsx is empty"),
        (lambda: Path("h.xlsx").write_bytes(b"a,b\n1,2\n"), "h.xlsx is not an Excel file (.xlsx)"),
        (
            lambda: Path("h.xlsx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)),
            "h.xlsx has a password or is an old Excel file",
        ),
        (
            lambda: Path("h.xlsx").write_bytes(Path("t.xlsx").read_bytes()[:3000]),
            "h.xlsx is not an Excel file",
        ),
        (lambda: rewritten("h.xlsx", SHEET, lambda xml: xml[: len(xml) // 2]), "is damaged"),
        (
            lambda: rewritten("h.xlsx", SHEET, lambda xml: xml.replace(b'r="A2"', b'r="A9999999"')),
            "is damaged",
        ),
        (lambda: rewritten("h.xlsx", SHEET, lambda xml: xml.replace(b'r="A2"', b'r="!"')), "is damaged"),
        (lambda: rewritten("h.xlsx", "xl/workbook.xml", lambda xml: b"<workbook/>"), "h.xlsx"),
        (
            lambda: rewritten("h.xlsx", "xl/styles.xml", lambda xml: b" " * (1 << 27)),
            "xl/styles.xml of 134 MB",
        ),
    ],
)
def test_files_from_strangers(capfd: pytest.CaptureFixture[str], make: Any, message: str) -> None:
    saved(loans())
    make()
    assert message in fails(capfd, "describe", "h.xlsx")


@pytest.mark.slow
def test_bombs_are_refused_before_they_unpack(monkeypatch: pytest.MonkeyPatch) -> None:
    saved(loans())
    rewritten("h.xlsx", SHEET, lambda xml: xml + b" " * 50_000_000)
    monkeypatch.setattr(excel, "available_memory", lambda: 100_000_000)
    with pytest.raises(Trouble, match="unpacks to 50 MB, too many for the memory that is free"):
        open_source("h.xlsx")


def test_sheets_by_other_names(capfd: pytest.CaptureFixture[str]) -> None:
    saved(loans(), "t.xlsm")
    assert frame_of("t.xlsm")[1].n_rows == 60
    Path("t.csv").write_bytes(Path("t.xlsm").read_bytes())
    assert "t.csv is an Excel file; rename it to end in .xlsx" in fails(capfd, "describe", "t.csv")
    Path("t.xls").write_bytes(b"")
    assert "Excel (.xlsx .xlsm)" in fails(capfd, "describe", "t.xls")
    assert "--encoding is for text files" in fails(capfd, "describe", "t.xlsm", "--encoding", "utf-8")
    with open("t.xlsm", "rb") as piped, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", type("Input", (), {"buffer": piped, "closed": False})())
        cli.main(["describe", "-"])
    assert "the standard input: 60 rows, 5 columns" in capfd.readouterr().out
