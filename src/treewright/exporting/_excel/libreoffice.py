"""Runs workbooks in LibreOffice, on rows that Excel can hold."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.exporting._check.probes import encoded
from treewright.exporting._check.running import run
from treewright.exporting._excel.layout import Layout
from treewright.exporting._excel.values import LARGEST, SMALLEST
from treewright.exporting._tree import Code
from treewright.tree import Tree
from treewright.tree.oblique import extended_columns

CELLS_AT_ONCE = 200_000
LARGEST_PART = 1e100  # of a sum or formula of a leaf, where Excel stops at an overflow
APART = 1e-13  # what two numbers that Excel and LibreOffice tell apart differ by, relatively
AGREEMENT = 1e-12  # LibreOffice hands over 15 digits of a number
FIRST_TIME = np.datetime64("1900-03-01", "us")


def rows_at_once(layout: Layout) -> int:
    """How many rows go into one workbook."""
    return max(1, CELLS_AT_ONCE // (len(layout.features) + layout.steps + len(layout.outputs)))


def representable(tree: Tree, table: dict[str, Any]) -> dict[str, Any]:
    """Rows in which numbers and times are as Excel holds them, and those on a threshold are so exactly.

    Rows without any value are left out, and those whose sums come nearer to a threshold than Excel tells.
    """
    code = Code(tree)
    held = {
        column.name: _values_in_excel(code, j, table[column.name])
        for j, column in enumerate(tree.schema.columns)
        if column.name in table
    }
    data = encoded(held, tree)
    kept = np.zeros(data.n_rows, np.bool_)
    for j in code.used or [0]:
        kept |= ~tree.schema.columns[j].type.is_missing(np.asarray(data.column(j)))
    values = extended_columns(data, tree.directions)
    for j in code.sums:
        parts = [np.abs(weight * data.column(column)) for column, weight in code.terms(j)]
        for threshold in np.unique(tree.threshold[tree.feature == j]):
            gap = np.abs(values[j] - threshold)
            kept &= ~((gap > 0) & (gap <= 10 * APART * np.sum(parts, axis=0)))
    return {name: take(column, kept) for name, column in held.items()}


def _values_in_excel(code: Code, position: int, values: Any) -> Any:
    """A column as Excel holds it."""
    tree, kind = code.tree, code.tree.schema.columns[position].kind
    if kind == "time":
        times = np.asarray(values).astype("M8[ms]").astype("M8[us]")
        return np.where(times < FIRST_TIME, FIRST_TIME, times)
    if kind != "number":
        return values
    in_sums = {column for j in code.sums for column, _ in code.terms(j)}
    is_part = position in in_sums or code.formulas is not None
    most = LARGEST_PART if is_part else LARGEST
    numbers = np.clip(np.asarray(values, np.float64), -most, most)
    numbers = np.where(np.abs(numbers) < SMALLEST, 0.0, numbers)
    own = np.concatenate(
        [
            tree.threshold[tree.feature == position],
            tree.surrogates.threshold[tree.surrogates.feature == position],
        ]
    )
    for threshold in np.unique(own[np.abs(own) < LARGEST]).tolist():
        near = np.abs(numbers - threshold) <= APART * abs(threshold)
        numbers = np.where(near, threshold, numbers)
    return numbers


def take(column: Any, kept: NDArray[np.bool_]) -> Any:
    """Some of the values of a column."""
    if isinstance(column, np.ndarray):
        return column[kept]
    return [value for value, keep in zip(column, kept.tolist(), strict=True) if keep]


def predictions(program: str, layout: Layout, books: list[bytes], table: dict[str, Any]) -> NDArray[Any]:
    """What the workbooks predict, one after the other; numbers as the tree has them if 12 digits agree."""
    tree, targets = layout.code.tree, layout.code.targets
    n_rows, first = len(next(iter(table.values()))), len(layout.inputs) + len(layout.code.sums)
    with tempfile.TemporaryDirectory() as folder:
        rows = list(islice(calculate(program, Path(folder), books), n_rows))
    cells = [row[first : first + len(targets)] for row in rows]
    expected = np.asarray(tree.predict(table)).reshape(n_rows, -1)
    if tree.schema.predicts_classes:
        found = np.empty((n_rows, len(targets)), object)
        found[:] = [[decode(cell) for cell in row] for row in cells]
    else:
        numbers = [[cell if isinstance(cell, int | float) else np.nan for cell in row] for row in cells]
        found = np.array(numbers, np.float64).reshape(n_rows, -1)
        found = np.where(np.isclose(found, expected, AGREEMENT, SMALLEST), expected, found)
    return found if len(targets) > 1 else found[:, 0]


def decode(cell: Any) -> Any:
    """A cell with its control characters, which LibreOffice writes as _x0007_, and _x005F_ for such a _."""
    if not isinstance(cell, str):
        return cell
    return re.sub("_x00([01][0-9A-F]|5F)_", lambda found: chr(int(found[1], 16)), cell)


def calculate(program: str, folder: Path, books: list[bytes]) -> Iterator[tuple[Any, ...]]:
    """The rows of the sheets "Predict", with values for formulas."""
    import openpyxl

    names = [f"book{place}.xlsx" for place in range(len(books))]
    for name, book in zip(names, books, strict=True):
        (folder / name).write_bytes(book)
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    paths = [folder / name for name in names]
    made = ["--convert-to", "xlsx", "--outdir", folder / "calculated"]
    run([program, profile, "--headless", *made, *paths], "LibreOffice does not open the workbook")
    for name in names:
        book = openpyxl.load_workbook(folder / "calculated" / name, data_only=True, read_only=True)
        yield from book["Predict"].iter_rows(min_row=2, values_only=True)
        book.close()
