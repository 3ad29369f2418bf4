"""Runs workbooks in LibreOffice, on rows that Excel can hold."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from treewright.exporting._check.probes import encode_table
from treewright.exporting._check.running import engine, run
from treewright.exporting._excel.values import LARGEST, SMALLEST
from treewright.exporting._tree import Code
from treewright.tree import Tree
from treewright.tree.oblique import extended_columns

PROGRAMS = (
    "soffice",
    "libreoffice",
    "/Applications/LibreOffice.app/Contents/MacOS/soffice",
    "C:/Program Files/LibreOffice/program/soffice.exe",
)
REMEDY = (
    "install LibreOffice (Debian, Ubuntu: apt-get install libreoffice-calc-nogui; others: libreoffice.org)"
)
LARGEST_PART = 1e100  # of a sum or formula of a leaf, where Excel stops at an overflow
APART = 1e-13  # what two numbers that Excel and LibreOffice tell apart differ by, relatively
FIRST_TIME = np.datetime64("1900-03-01", "us")


def representable(tree: Tree, table: dict[str, Any]) -> dict[str, Any]:
    """Rows in which numbers and times are as Excel holds them, and those on a threshold are so exactly.

    Rows without any value are left out, and those whose sums come nearer to a threshold than Excel tells.
    """
    code, schema = Code(tree), tree.schema
    held = {
        column.name: _values_in_excel(code, j, table[column.name])
        for j, column in enumerate(schema.columns)
        if column.name in table
    }
    data = encode_table(held, tree)
    kept = np.zeros(data.n_rows, np.bool_)
    for j in code.used or [0]:
        kept |= ~schema.columns[j].type.is_missing(np.asarray(data.column(j)))
    values = extended_columns(data, tree.directions)
    for j in code.sums:
        size = sum(np.abs(weight * data.column(column)) for column, weight in code.terms(j))
        for threshold in np.unique(tree.threshold[tree.feature == j]):
            gap = np.abs(values[j] - threshold)
            kept &= ~((gap > 0) & (gap <= 10 * APART * size))
    rows = np.flatnonzero(kept)
    if not len(rows):
        raise ValueError("check= has no row with a value, or none whose sums differ from thresholds in Excel")
    return {name: take(column, rows) for name, column in held.items()}


def _values_in_excel(code: Code, position: int, values: Any) -> Any:
    """A column as Excel holds it."""
    tree, kind = code.tree, code.tree.schema.columns[position].kind
    if kind == "time":
        times = np.asarray(values).astype("M8[ms]").astype("M8[us]")
        return np.where(times < FIRST_TIME, FIRST_TIME, times)
    if kind != "number":
        return values
    in_sums = {column for j in code.sums for column, _ in code.terms(j)}
    most = LARGEST_PART if position in in_sums or code.formulas is not None else LARGEST
    numbers = np.clip(np.asarray(values, np.float64), -most, most)
    numbers[np.abs(numbers) < SMALLEST] = 0.0
    for nodes in (tree, tree.surrogates):
        own = np.unique(nodes.threshold[nodes.feature == position])
        for threshold in own[np.abs(own) < LARGEST]:
            numbers[np.abs(numbers - threshold) <= APART * abs(threshold)] = threshold
    return numbers


def take(column: Any, rows: Any) -> Any:
    """Some of the values of a column."""
    return column[rows] if isinstance(column, np.ndarray) else [column[row] for row in rows]


def calculate(books: Sequence[bytes]) -> Iterator[tuple[Any, ...]]:
    """The rows of the sheets "Predict", one workbook after the other, with values for formulas."""
    import openpyxl

    program = engine("runs the workbook", *PROGRAMS, remedy=REMEDY)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [folder / f"book{place}.xlsx" for place in range(len(books))]
        for path, book in zip(paths, books, strict=True):
            path.write_bytes(book)
        profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
        made = ["--headless", "--convert-to", "xlsx", "--outdir", folder / "calculated"]
        run([program, profile, *made, *paths], "LibreOffice does not open the workbook")
        for path in paths:
            found = openpyxl.load_workbook(folder / "calculated" / path.name, data_only=True, read_only=True)
            yield from found["Predict"].iter_rows(min_row=2, values_only=True)
            found.close()


def decode(cell: Any) -> Any:
    """A cell with its control characters, which LibreOffice writes as _x0007_, and _x005F_ for such a _."""
    if not isinstance(cell, str):
        return cell
    return re.sub("_x00([01][0-9A-F]|5F)_", lambda found: chr(int(found[1], 16)), cell)
