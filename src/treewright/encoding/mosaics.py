"""Rows made of the cells of others, as a table of the form in which the user gave it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from treewright.encoding.cells import Array
from treewright.encoding.dataset import Dataset
from treewright.encoding.readers import is_a
from treewright.encoding.tables import Table, read_table
from treewright.encoding.targets import target_columns


class Mosaic:
    """A table whose cells can be put together anew.

    `table`: anything that `encode` takes, or what it made; `target`: where it names columns of the table,
    they are left out.

    >>> mosaic = Mosaic([[1, "a"], [2, "b"]])
    >>> mosaic.rows(np.array([[0, 1], [1, 1]]))
    [[1, 'b'], [2, 'b']]
    """

    def __init__(self, table: Any, target: Any = None) -> None:
        if isinstance(table, Dataset):
            table = _decoded(table)
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
        """A table of the same form; `source` (rows, columns) says of which row each cell is."""
        table, kept = self._table, self._kept
        if self._dense is not None:
            return type(table)(self._dense[source, kept])
        if isinstance(table, np.ndarray):
            return table[source, kept] if table.dtype.names is None else _records(table, source, kept)
        if is_a(table, "pandas", "DataFrame"):
            columns = {i: table.iloc[:, at].array.take(source[:, i]) for i, at in enumerate(kept)}
            made = import_module("pandas").DataFrame(columns)
            made.columns = table.columns[kept]
            return made
        if is_a(table, "polars", "DataFrame"):
            return type(table)([table.to_series(at).gather(source[:, i]) for i, at in enumerate(kept)])
        if is_a(table, "pyarrow", "Table", "RecordBatch"):
            arrays = [table.column(at).take(_arrow(source[:, i])) for i, at in enumerate(kept)]
            schema = import_module("pyarrow").schema([table.schema.field(at) for at in kept])
            return type(table).from_arrays(arrays, schema=schema)
        if isinstance(table, Mapping):
            names = list(table)
            return {names[at]: _taken(table[names[at]], source[:, i]) for i, at in enumerate(kept)}
        return self._listed(source)

    def _listed(self, source: Array) -> Any:
        """Rows of lists, tuples, arrays or dicts; of strangers' tables dicts of columns."""
        table, names = self._table, self._read.names
        columns = [_taken(self._cells(at), source[:, i]) for i, at in enumerate(self._kept)]
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

    def _cells(self, at: int) -> Any:
        return self._read.columns[at] if self._read.matrix is None else self._read.matrix[:, at]


def _records(table: Array, source: Array, kept: Sequence[int]) -> Array:
    names = [(table.dtype.names or ())[at] for at in kept]
    made = np.empty(len(source), [(name, table.dtype[name]) for name in names])
    for i, name in enumerate(names):
        made[name] = table[name][source[:, i]]
    return made


def _arrow(index: Array) -> Any:
    return import_module("pyarrow").array(np.ascontiguousarray(index))


def _taken(column: Any, index: Array) -> Any:
    """Some cells of a column of any library, as a column of its kind."""
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


def _decoded(data: Dataset) -> Any:
    """What was encoded as a table again: a matrix, or a dict of columns."""
    if isinstance(data.columns, np.ndarray):
        return data.columns
    return {
        column.name: column.type.decode(column, cells)
        for column, cells in zip(data.schema.columns, data.columns, strict=True)
    }
