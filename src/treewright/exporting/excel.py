"""A tree as an Excel workbook: rows are typed or pasted into a sheet, and formulas beside them predict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset, encode
from treewright.encoding.kinds import UNSEEN_CODE, KindName
from treewright.encoding.schema import Column
from treewright.exporting._check.running import engine
from treewright.exporting._excel import libreoffice
from treewright.exporting._excel.layout import Layout
from treewright.exporting._excel.libreoffice import representable as representable
from treewright.exporting._excel.nested import nested_formulas
from treewright.exporting._excel.sheets import sheets
from treewright.exporting._excel.values import LAST_ROW, serial
from treewright.exporting._excel.workbook import workbook_bytes
from treewright.exporting._split_tests import refuse_parts
from treewright.exporting._tree import Code, Style, check_labels
from treewright.tree import Tree
from treewright.tree.evaluate import given_table

SUFFIXES = (".xlsx",)
Columns = Literal["tested", "all"]


def render(
    tree: Tree,
    *,
    rows: int = 100,
    examples: Any = None,
    columns: Columns = "tested",
    style: Style = "auto",
    probabilities: bool | None = None,
) -> bytes:
    """The tree as the bytes of an Excel workbook (.xlsx) without macros; needs openpyxl.

    The sheet "Predict" has a column for each column of the table; formulas beside them give the prediction,
    the probability of each class, the leaf (as `Tree.apply` numbers it) and a check of the values. Empty
    cells are missing values, texts are compared with upper and lower case. Excel compares numbers by 15
    digits, so a value that differs from a threshold only beyond those counts as equal to it, and times by
    the millisecond.

    Parameters
    ----------
    tree : Tree
        The tree.
    rows : int
        How many rows get formulas.
    examples : table, optional
        Rows to start with; by default one row of values near the thresholds.
    columns : {"tested", "all"}
        Whether the sheet has the columns that the tree tests or, to paste whole rows, all of the table.
    style : {"auto", "nested", "tables"}
        "nested": the tests stand in the formulas, as IFs within IFs. "tables": a sheet lists the nodes, and
        another one looks up one level of the tree in each column. By default small trees are nested.
    probabilities : bool, optional
        Whether to show the probabilities of the classes; by default those of up to 100 classes.

    Returns
    -------
    bytes
        The file; the same tree gives the same bytes.

    Examples
    --------
    >>> from pathlib import Path
    >>> from treewright import encode, export, grow
    >>> tree = grow(encode({"petal": [1.4, 4.7, 6.0]}, ["setosa", "virginica", "virginica"]))
    >>> _ = Path("flowers.xlsx").write_bytes(export(tree, "excel"))  # doctest: +SKIP
    """
    refuse_parts(tree, "excel")
    code = Code(tree)
    check_labels(code)
    if columns not in ("tested", "all"):
        raise ValueError(f"columns is {columns!r}; known: tested, all")
    layout = Layout(code, rows, columns == "all", probabilities)
    table = _typical_row(code) if examples is None else _example_columns(tree, examples, layout.inputs)
    layout = replace(layout, n_rows=max([rows, *map(len, table.values())]))
    if rows < 1 or layout.n_rows >= LAST_ROW:
        raise ValueError(
            f"rows is {rows}, with those of examples {layout.n_rows:,}; a sheet has room for 1 to "
            f"{LAST_ROW - 1:,}"
        )
    return workbook_bytes(sheets(layout, nested_formulas(layout, style), table))


def answers(rendered: bytes, tree: Tree, table: dict[str, Any], **options: Any) -> NDArray[Any]:
    """What the formulas answer to the rows of a table, by running them in LibreOffice."""
    program = engine("runs", "soffice", "libreoffice")
    layout = Layout(Code(tree), 1, options.get("columns") == "all", False)
    n_rows, step = len(next(iter(table.values()))), libreoffice.rows_at_once(layout)
    whole = {
        name: [None] * n_rows for name in tree.schema.names
    } | table  # without columns that are not tested
    books = []
    for start in range(0, n_rows, step):
        part = {name: column[start : start + step] for name, column in whole.items()}
        books.append(render(tree, **options | {"examples": part, "rows": 1}))
    return libreoffice.predictions(program, layout, books, whole)


# ---- rows to start with ------------------------------------------------------------------------------------


def _example_columns(tree: Tree, examples: Any, positions: list[int]) -> dict[str, list[Any]]:
    """Some columns of a table as cells."""
    data = given_table(tree, examples, "examples")
    found = {}
    for j in positions:
        column = tree.schema.columns[j]
        values = np.asarray(data.column(j))
        if column.is_category:
            found[column.name] = _category_cells(column, values, examples)
            continue
        if np.isinf(values).any():
            row = int(np.argmax(np.isinf(values)))
            raise ValueError(
                f"row {row} of examples has {values[row]} in column {column.name!r}, which Excel cannot hold"
            )
        cells = [None if value != value else value for value in values.astype(np.float64).tolist()]
        if column.kind == "time":
            cells = [None if cell is None else serial(cell) for cell in cells]
        found[column.name] = cells
    return found


def _category_cells(column: Column, codes: Any, examples: Any) -> list[Any]:
    """Categories by name; those that the tree does not know as the table names them."""
    if (codes == UNSEEN_CODE).any() and not isinstance(examples, Dataset):
        kinds: dict[str, KindName] = {column.name: "category"}
        own = encode(examples, kinds=kinds)
        place = own.schema.position(column.name)
        column, codes = own.schema.columns[place], own.column(place)
    return list(column.type.decode(column, codes).tolist())


def _typical_row(code: Code) -> dict[str, list[Any]]:
    """One row of values in the middle of what the tests compare."""
    tree, found = code.tree, dict[str, list[Any]]()
    features = np.concatenate([tree.feature, tree.surrogates.feature])
    thresholds = np.concatenate([tree.threshold, tree.surrogates.threshold])
    for j, column in zip(code.used, code.columns, strict=True):
        if column.is_category:
            found[column.name] = list(column.categories[:1])
            continue
        own = np.sort(thresholds[(features == j) & np.isfinite(thresholds)])
        value = float(own[len(own) // 2]) if len(own) else 1.0
        found[column.name] = [serial(value) if column.kind == "time" else value]
    return found
