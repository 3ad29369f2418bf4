"""Synthetic rows, made of the cells of real ones, as a table of the user's own type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from treewright._arrays import Array
from treewright.encoding.dataset import Dataset
from treewright.encoding.readers import is_a
from treewright.encoding.tables import Table, read_table
from treewright.encoding.targets import target_columns


class RowSynthesizer:
    """Makes rows of the cells of a table: anything that `encode` takes, or a Dataset.

    Columns named by `target` are left out.

    >>> RowSynthesizer([[1, "a"], [2, "b"]]).rows(np.array([[0, 1], [1, 1]]))
    [[1, 'b'], [2, 'b']]
    """

    def __init__(self, table: Any, target: Any = None) -> None:
        if isinstance(table, Dataset):
            columns = zip(table.schema.columns, table.column_arrays, strict=True)
            is_matrix = isinstance(table.columns, np.ndarray)
            table = table.columns if is_matrix else {c.name: c.type.decode(c, cells) for c, cells in columns}
        if is_a(table, "narwhals", "DataFrame", "LazyFrame"):
            table = table.to_native()
        if is_a(table, "polars", "LazyFrame"):
            table = table.collect()
        self._table = np.asanyarray(table) if isinstance(table, memoryview) else table
        self._dense: Array | None = None
        if is_a(table, "scipy.sparse", "spmatrix", "sparray"):
            self._dense = table.toarray()
            self._read = Table(table.shape[0], None, matrix=self._dense)
        else:
            self._read = read_table(self._table)
        left_out = set(target_columns(self._read, target) or ())
        names = self._read.names
        self._kept = [i for i in range(self._read.n_columns) if names is None or names[i] not in left_out]

    def rows(self, source: Array) -> Any:
        """A table of the same type; `source` (rows, columns) is the row of each cell."""
        table, kept = self._table, self._kept
        if self._dense is not None:
            return type(table)(self._dense[source, kept])
        if isinstance(table, np.ndarray):
            return table[source, kept] if table.dtype.names is None else _records(table, source, kept)
        if is_a(table, "pandas", "DataFrame"):
            columns = {i: table.iloc[:, at].array.take(source[:, i]) for i, at in enumerate(kept)}
            return import_module("pandas").DataFrame(columns).set_axis(table.columns[kept], axis=1)
        if is_a(table, "polars", "DataFrame"):
            return type(table)([table.to_series(at).gather(source[:, i]) for i, at in enumerate(kept)])
        if is_a(table, "pyarrow", "Table", "RecordBatch"):
            arrays = [table.column(at).take(_arrow(source[:, i])) for i, at in enumerate(kept)]
            schema = import_module("pyarrow").schema([table.schema.field(at) for at in kept])
            return type(table).from_arrays(arrays, schema=schema)
        if isinstance(table, Mapping):
            names = list(table)
            return {names[at]: _take(table[names[at]], source[:, i]) for i, at in enumerate(kept)}
        return self._list_of_rows(source)

    def _list_of_rows(self, source: Array) -> Any:
        """A list of lists, tuples, arrays or dicts; for other libraries' tables a dict of columns."""
        table, names = self._table, self._read.names
        cells = self._read.columns if self._read.matrix is None else self._read.matrix.T
        columns = [_take(cells[at], source[:, i]) for i, at in enumerate(self._kept)]
        if names is not None:
            own = [names[at] for at in self._kept]
            if not isinstance(table, Sequence):
                return dict(zip(own, columns, strict=True))
            return [dict(zip(own, row, strict=True)) for row in zip(*columns, strict=True)]
        if not isinstance(table, Sequence):
            return np.stack(columns, axis=1)
        rows = zip(*columns, strict=True)
        if isinstance(table[0], np.ndarray):
            return [np.array(row, table[0].dtype) for row in rows]
        return [tuple(row) if isinstance(table[0], tuple) else list(row) for row in rows]


def _records(table: Array, source: Array, kept: Sequence[int]) -> Array:
    names = [(table.dtype.names or ())[at] for at in kept]
    records = np.empty(len(source), [(name, table.dtype[name]) for name in names])
    for i, name in enumerate(names):
        records[name] = table[name][source[:, i]]
    return records


def _arrow(index: Array) -> Any:
    return import_module("pyarrow").array(np.ascontiguousarray(index))


def _take(column: Any, index: Array) -> Any:
    """Some cells of a column of any library, as a column of the same type."""
    if isinstance(column, np.ndarray):
        return column[index]
    if isinstance(column, list | tuple):
        return type(column)([column[i] for i in index.tolist()])
    if is_a(column, "pandas", "Series"):
        return column.iloc[index].reset_index(drop=True)
    if is_a(column, "polars", "Series"):
        return column.gather(index)
    if is_a(column, "pyarrow", "Array", "ChunkedArray"):
        return column.take(_arrow(index))
    return np.asarray(column)[index]
