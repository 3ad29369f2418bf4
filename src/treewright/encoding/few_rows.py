"""A few rows of a pandas frame, read cell by cell: to read its columns takes 25 microseconds each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treewright._arrays import Array
from treewright.encoding.cells import EXACT
from treewright.encoding.dataset import Dataset
from treewright.encoding.kinds import MISSING_CODE, UNSEEN_CODE
from treewright.encoding.readers import is_a
from treewright.encoding.schema import Column, Schema

_MOST_ROWS = 4  # each takes about as long as a column
_NUMBERS = frozenset({int, float, np.float16, np.float32, np.float64})
_NUMBERS |= frozenset(np.dtype(code).type for code in "bhilqBHILQ")
_BOOLS = frozenset({bool, np.bool_})


def few_rows(table: Any, schema: Schema) -> Dataset | None:
    """The rows of a small pandas frame with exactly the columns of a schema: numbers, texts, truth values.

    None for any other table, and where it takes more to read the cells or to refuse them: texts that hold
    numbers or dates, times, categories that are numbers, values of other types.

    >>> import pandas as pd
    >>> from treewright import encode
    >>> schema = encode({"age": [31.0, 52.0], "job": ["cook", "clerk"]}).schema
    >>> few_rows(pd.DataFrame({"age": [40], "job": ["cook"]}), schema).columns
    (array([40.]), array([1], dtype=int32))
    """
    if not is_a(table, "pandas", "DataFrame") or not 0 < len(table) <= _MOST_ROWS:
        return None
    if table.columns.tolist() != list(schema.names):
        return None
    rows = [table.iloc[place].tolist() for place in range(len(table))]
    arrays: list[Array] = []
    for column, cells in zip(schema.columns, zip(*rows, strict=True), strict=True):
        if column.text is not None:
            return None
        values = _codes(cells, column) if column.is_category else _floats(cells, column)
        if values is None:
            return None
        arrays.append(values)
    return Dataset(schema, tuple(arrays))


def _floats(cells: Sequence[Any], column: Column) -> Array | None:
    """The cells of a column of numbers; None is missing."""
    if not column.is_summable:
        return None
    for cell in cells:
        if cell is not None and (type(cell) not in _NUMBERS or cell >= EXACT or cell <= -EXACT):
            return None
    return np.array(cells, np.float64)  # None becomes NaN


def _codes(cells: Sequence[Any], column: Column) -> Array | None:
    """The codes of texts or truth values; None and NaN are missing."""
    categories = column.categories
    types = {str: frozenset({str}), bool: _BOOLS}.get(type(categories[0])) if categories else None
    if types is None:
        return None
    codes = []
    for cell in cells:
        if type(cell) in types:
            codes.append(categories.index(cell) if cell in categories else UNSEEN_CODE)
        elif cell is None or (type(cell) in _NUMBERS and cell != cell):
            codes.append(MISSING_CODE)
        else:
            return None
    return np.array(codes, np.int32)
