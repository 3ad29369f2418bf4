"""Some rows of a table or of its targets, and a table without its target, in the types of their library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from treewright._arrays import Ints
from treewright.encoding.readers import is_a
from treewright.encoding.rows import is_pair
from treewright.encoding.tables import read_table
from treewright.encoding.targets import check_target_columns, target_columns


def take_rows(values: Any, rows: Ints) -> Any:
    """The rows at these positions of a table or of one column; lists of rows stay lists.

    >>> take_rows({"x": [1, 2, 3]}, np.array([0, 2])), take_rows(["a", "b", "c"], np.array([1]))
    ({'x': [1, 3]}, ['b'])
    """
    if isinstance(values, np.ndarray):
        return values[rows]
    if isinstance(values, memoryview):
        return np.asarray(values)[rows]
    if is_a(values, "scipy.sparse", "spmatrix", "sparray"):  # before the mappings: one format is a dict
        return values.tocsr()[rows].asformat(values.format)
    if isinstance(values, Mapping):
        return {name: take_rows(column, rows) for name, column in values.items()}
    if isinstance(values, list | tuple | range):
        return [values[row] for row in rows.tolist()]
    if is_a(values, "pyarrow", "RecordBatch", "Array") or is_a(values, "pandas", "Index"):
        return values.take(rows)
    return _taken_by_narwhals(values, rows)


def _taken_by_narwhals(values: Any, rows: Ints) -> Any:
    narwhals: Any = import_module("narwhals")
    frame = narwhals.from_native(values, allow_series=True, pass_through=True)
    if isinstance(frame, narwhals.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, narwhals.DataFrame | narwhals.Series):
        return frame[rows].to_native()
    if hasattr(values, "__arrow_c_stream__"):
        return import_module("pyarrow").table(values).take(rows)
    return np.asarray(values)[rows]


def n_rows_of(values: Any) -> int:
    """The number of rows of a table, or of one column of values.

    >>> n_rows_of({"x": [1, 2, 3]}), n_rows_of(["a", "b"]), n_rows_of([["a"], ["b"]])
    (3, 2, 2)
    """
    shape = getattr(values, "shape", None)
    if isinstance(shape, tuple) and shape and isinstance(shape[0], int | np.integer):
        return int(shape[0])
    is_column = hasattr(values, "__len__") and not isinstance(values, Mapping)
    return len(values) if is_column else read_table(values).n_rows


def separated(table: Any, target: Any) -> tuple[Any, Any]:
    """A table and the values of its target: given as such, as one tuple, or by the name of the target.

    >>> separated(({"x": [1, 2], "y": ["a", "b"]}, "y"), None)
    ({'x': [1, 2]}, ['a', 'b'])
    """
    if target is None and is_pair(table):
        if len(table) == 3 and table[2] is not None:
            raise ValueError("the rows have weights, but each counts as one draw here; leave the weights out")
        table, target = table[:2]
    return without_target(table, target) if isinstance(target, str) else (table, target)


def _has_names(table: Any) -> bool:
    """Whether the columns of a table may have names."""
    if isinstance(table, np.ndarray):
        return table.dtype.names is not None
    return not isinstance(table, Sequence) or (len(table) > 0 and isinstance(table[0], Mapping))


def without_target(table: Any, target: Any) -> tuple[Any, Any]:
    """A table without the target columns that `target` names, and their values; what is no name of columns
    holds the values itself.

    Frames of pandas, polars and Arrow stay what they are; other tables with names become dicts of columns.

    >>> without_target({"x": [1, 2], "y": ["a", "b"]}, "y")
    ({'x': [1, 2]}, ['a', 'b'])
    >>> without_target([{"x": 1, "y": 3}, {"x": 2, "y": 4}], "y")
    ({'x': [1, 2]}, [3, 4])
    """
    if not isinstance(target, str) and not (isinstance(target, list | tuple) and _has_names(table)):
        return table, target
    if is_a(table, "polars", "LazyFrame"):
        table = table.collect()
    read = read_table(table)
    names = target_columns(read, target)
    if names is None:
        return table, target
    check_target_columns(read, names)
    columns = dict(zip(read.names or (), read.columns, strict=True))
    own = {name: columns.pop(name) for name in names}
    values = own[target] if isinstance(target, str) else own
    if is_a(table, "pandas", "DataFrame"):
        kept = [str(name) in columns for name in table.columns]
        return table.loc[:, kept], values if isinstance(target, str) else table.loc[:, np.invert(kept)]
    if is_a(table, "polars", "DataFrame"):
        return table.drop(names), values if isinstance(target, str) else table.select(names)
    if is_a(table, "pyarrow", "Table", "RecordBatch"):
        return table.drop_columns(names), values if isinstance(target, str) else table.select(names)
    return columns, values
