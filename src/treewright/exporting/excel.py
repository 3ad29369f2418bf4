"""A tree as an Excel workbook: rows are typed or pasted into a sheet, and formulas beside them predict."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright._text import label_text, name_text, shorten
from treewright.encoding import Dataset, encode
from treewright.exporting._excel import libreoffice
from treewright.exporting._excel.formulas import FIRST_CATEGORY, Layout
from treewright.exporting._excel.libreoffice import representable as representable
from treewright.exporting._excel.sheets import sheets
from treewright.exporting._excel.values import (
    DIGITS,
    LAST_ROW,
    LONGEST_CELL,
    SMALLEST,
    UNREADABLE,
    is_exact,
    serial,
)
from treewright.exporting._excel.workbook import workbook_bytes
from treewright.exporting._split_tests import refuse_parts
from treewright.exporting._tree import Code, Style, all_labels, check_labels, in_columns, label_array, plain
from treewright.tree import Tree
from treewright.tree.evaluate import given_table

SUFFIXES = (".xlsx",)
Columns = Literal["tested", "all"]
PROBES = 2_000  # rows of check=True: so many, LibreOffice opens and calculates in about a second
CELLS_AT_ONCE = 200_000  # of a workbook that is checked
AGREEMENT = 1e-12  # LibreOffice hands over 15 digits of a number


def render(
    tree: Tree, *, rows: int = 100, examples: Any = None, columns: Columns = "tested", style: Style = "auto"
) -> bytes:
    """The tree as the bytes of an Excel workbook (.xlsx) without macros; needs openpyxl.

    The sheet "Predict" has a column for each column of the table; formulas beside them give the prediction,
    the probability of each class (of up to 100), the leaf (as `Tree.apply` numbers it) and a check of the
    values. Empty cells are missing values, texts are compared with upper and lower case. Excel compares
    numbers by 15 digits, so a value that differs from a threshold only beyond those counts as equal to it,
    and times by the millisecond.

    `check=True` runs the workbook in LibreOffice, on 2,000 rows.

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
    _check_labels(code)
    if columns not in ("tested", "all"):
        raise ValueError(f"columns is {columns!r}; known: tested, all")
    layout = Layout(code, columns == "all")
    cells = _typical_row(layout) if examples is None else _example_cells(layout, examples)
    n_rows = max(rows, len(cells[0]))
    if rows < 1 or n_rows >= LAST_ROW:
        raise ValueError(
            f"rows is {rows}, with those of examples {n_rows:,}; a sheet has room for 1 to {LAST_ROW - 1:,}"
        )
    return workbook_bytes(sheets(layout, style, n_rows, cells))


def answers(rendered: bytes, tree: Tree, table: dict[str, Any], **options: Any) -> NDArray[Any]:
    """What the formulas answer to the rows of a table, by running them in LibreOffice; numbers as the tree
    has them if 12 digits agree.
    """
    layout, targets = Layout(Code(tree), options.get("columns") == "all"), tree.schema.targets
    n_rows = len(next(iter(table.values())))
    step = max(1, CELLS_AT_ONCE // (len(layout.features) + layout.steps + len(layout.outputs)))
    whole = dict.fromkeys(tree.schema.names, [None] * n_rows) | table  # columns without tests are empty
    books = []
    for start in range(0, n_rows, step):
        part = {name: column[start : start + step] for name, column in whole.items()}
        books.append(render(tree, **options | {"examples": part, "rows": 1}))
    first = len(layout.inputs) + len(layout.code.sums)
    cells = [row[first : first + len(targets)] for row in libreoffice.calculate(books)]
    columns = list(zip(*cells, strict=True))
    if tree.schema.predicts_classes:
        return in_columns([label_array(tree, [*map(libreoffice.decode, column)]) for column in columns])
    numbers = [[cell if isinstance(cell, int | float) else np.nan for cell in column] for column in columns]
    found, expected = in_columns([np.array(column, np.float64) for column in numbers]), tree.predict(whole)
    return np.where(np.isclose(found, expected, AGREEMENT, SMALLEST), expected, found)


def _check_labels(code: Code) -> None:
    """ValueError about a category or class that no cell can hold."""
    for what, label in all_labels(code):
        if isinstance(label, str):
            if len(label) > LONGEST_CELL or UNREADABLE.search(label):
                raise ValueError(
                    f"{shorten(what)} has {label_text(label)}, a text that no cell of Excel can hold"
                )
        elif not isinstance(label, bool) and not is_exact(label):
            raise ValueError(
                f"{shorten(what)} has {label!r}, and Excel keeps {DIGITS} digits of a number: make it a text"
            )
    for column in code.columns:
        what = f"column {name_text(column.name)!r}"
        if "" in column.categories:
            raise ValueError(
                f"{what} has the category '', an empty text, which Excel cannot tell from an empty cell; "
                "rename it before the tree is grown"
            )
        if len(column.categories) > min(LAST_ROW - FIRST_CATEGORY, LONGEST_CELL - 1):
            raise ValueError(f"{what} has {len(column.categories):,} categories, too many for a sheet")


def _example_cells(layout: Layout, examples: Any) -> list[list[Any]]:
    """The cells of each input for some rows; unknown categories as the table names them."""
    tree = layout.code.tree
    data = given_table(tree, examples, "examples")
    if not isinstance(examples, Dataset):
        data = encode(examples, kinds={column.name: column.kind for column in tree.schema.columns})
    found = []
    for known in layout.columns:
        place = data.schema.position(known.name)
        column, values = data.schema.columns[place], np.asarray(data.column(place))
        if not column.is_category and np.isinf(values).any():
            row = int(np.argmax(np.isinf(values)))
            raise ValueError(
                f"row {row} of examples has {values[row]} in column {column.name!r}, which Excel cannot hold"
            )
        cells = plain(column.type.decode(column, values))
        if column.kind == "time":
            cells = [None if cell is None else serial(cell) for cell in cells]
        found.append([None if cell != cell else cell for cell in cells])
    return found


def _typical_row(layout: Layout) -> list[list[Any]]:
    """One row of values in the middle of what the tests compare."""
    tree, found = layout.code.tree, []
    for j, column in zip(layout.inputs, layout.columns, strict=True):
        own = [nodes.threshold[nodes.feature == j] for nodes in (tree, tree.surrogates)]
        finite = sorted(threshold for threshold in np.concatenate(own) if np.isfinite(threshold)) or [1.0]
        value = float(finite[len(finite) // 2])
        cells = column.categories[:1] or [serial(value) if column.kind == "time" else value]
        found.append([*cells] if j in layout.code.used else [None])
    return found
