"""Tables of any library with fewer columns, of the same type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from treewright.encoding.readers import is_a
from treewright.estimators._tables import has_fields


def with_columns(table: Any, positions: Sequence[int], names: Sequence[str] | None) -> Any:
    """A table with some of its columns: an array as an array, a frame as a frame of its library.

    `names` are those of the kept columns where the table has names. Lists of rows become arrays.

    >>> with_columns({"x": [1, 2], "z": [3, 4]}, [1], ["z"])
    {'z': [3, 4]}
    >>> with_columns([[1, 2], [3, 4]], [1], None).tolist()
    [[2], [4]]
    """
    if isinstance(table, Mapping):
        return {name: column for name, column in table.items() if str(name) in {*(names or ())}}
    if sparse.issparse(table):
        return (table if table.format in ("csr", "csc") else table.tocsr())[:, positions]
    if is_a(table, "pandas", "DataFrame"):
        return table.iloc[:, list(positions)]
    if is_a(table, "polars", "DataFrame", "LazyFrame"):
        return table.select(list(names or ()))
    if is_a(table, "pyarrow", "Table", "RecordBatch"):
        return table.select(list(positions))
    if isinstance(table, list) and table and isinstance(table[0], Mapping):
        selection = {*(names or ())}
        return [{name: cell for name, cell in row.items() if str(name) in selection} for row in table]
    if has_fields(table):
        return table[list(names or ())]
    if hasattr(table, "__array__") or isinstance(table, Sequence):
        return _array(table)[:, list(positions)]
    frame = import_module("narwhals").from_native(table)
    return frame.select(list(names or ())).to_native()


def _array(table: Any) -> Any:
    """Rows as an array; in lists of text and numbers, the numbers stay numbers."""
    array = np.asanyarray(table)
    is_list_with_text = array.dtype.kind in "US" and not hasattr(table, "dtype")
    return np.array(table, dtype=object) if is_list_with_text else array


def in_container(table: Any, container: str) -> Any:
    """A table that `set_output` can convert: an array, or a frame of the library that it asks for.

    >>> in_container({"x": [1, 2]}, "pandas").columns.tolist()
    ['x']
    """
    if container in ("pandas", "polars") and has_fields(table):
        table = {name: _cells(table[name]) for name in table.dtype.names}
    if container not in ("pandas", "polars") or isinstance(table, np.ndarray) or sparse.issparse(table):
        return table
    if is_a(table, container, "DataFrame"):
        return table
    library: Any = import_module(container)
    if isinstance(table, Mapping | list):
        return library.DataFrame(table)
    if is_a(table, "pyarrow", "RecordBatch"):
        table = import_module("pyarrow").Table.from_batches([table])
    frame: Any = import_module("narwhals").from_native(table)
    if hasattr(frame, "collect"):
        frame = frame.collect()
    return frame.to_pandas() if container == "pandas" else frame.to_polars()


def _cells(column: Any) -> Any:
    """The cells of a field; among objects None stands for NaN, which is no text."""
    return [None if cell != cell else cell for cell in column] if column.dtype == object else column
