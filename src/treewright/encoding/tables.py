"""Tables of any library as a list of columns: names if they have any, and lengths that agree."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from treewright._arrays import Array
from treewright.encoding.cells import BEYOND, EXACT, Cells
from treewright.encoding.readers import complex_error, from_array, is_a, read_cells

FLOATS = (np.dtype("float64"), np.dtype("float32"))  # that the core reads as they are
_MOST_COPIED = 1 << 16  # cells of a frame that are copied to make a matrix


class Table(NamedTuple):
    """A table before its cells are read: a numpy matrix, or one object per column."""

    n_rows: int
    names: tuple[str, ...] | None  # None: the columns are known by position only
    columns: Sequence[Any] = ()
    matrix: Array | None = None
    missing: Array | None = None  # mask of the matrix

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.columns) if self.matrix is None else int(self.matrix.shape[1])

    def cells(self, position: int, what: str) -> Cells:
        """The cells of the column at a position."""
        if self.matrix is None:
            return read_cells(self.columns[position], what)
        missing = None if self.missing is None else self.missing[:, position]
        return from_array(self.matrix[:, position], missing, what)

    def without(self, names: Iterable[str]) -> Table:
        """The table without the columns of these names."""
        left_out = set(names)
        pairs = zip(self.names or (), self.columns, strict=True)
        own, columns = zip(*((name, column) for name, column in pairs if name not in left_out), strict=True)
        return self._replace(names=own, columns=columns)


_ACCEPTED = (
    "a two-dimensional numpy array, a pandas or polars DataFrame, an Arrow table, a dict of columns, "
    "a list of rows or a scipy sparse matrix"
)
_ONE_DIMENSION = (
    "the table has one dimension; expected rows and columns. Reshape it: .reshape(-1, 1) if it is one "
    "column, .reshape(1, -1) if it is one row"
)


def read_table(table: Any) -> Table:
    """The columns of a table of any library; an error if it is empty or repeats a name."""
    if type(table) is np.ndarray and table.ndim == 2 and table.size:  # the common case first, and fast
        return Table(len(table), None, matrix=table)
    result = _dispatch(table)
    names, shape = result.names or (), (result.n_rows, result.n_columns)
    if len(set(names)) < len(names):
        twice = ", ".join(sorted({repr(name) for name in names if names.count(name) > 1}))
        raise ValueError(f"several columns have the same name: {twice}; rename or drop them")
    for size, axis, unit in zip(shape[::-1], ("columns", "rows"), ("feature", "sample"), strict=True):
        if size == 0:  # the last words are scikit-learn's
            raise ValueError(
                f"the table has no {axis}: 0 {unit}(s) (shape={shape}) while a minimum of 1 is required."
            )
    return result


def float_matrix(table: Any, names: Sequence[str]) -> Array | None:
    """A small pandas frame of floats with exactly these columns as a matrix; None for any other table.

    To read its columns one by one takes 20 microseconds each, which is long for a single row.

    >>> import pandas as pd
    >>> float_matrix(pd.DataFrame({"x": [0.5], "z": [1.5]}), ["x", "z"])
    array([[0.5, 1.5]])
    """
    if not is_a(table, "pandas", "DataFrame") or not 0 < table.size <= _MOST_COPIED:
        return None
    dtypes = set(table.dtypes.tolist())
    if len(dtypes) > 1 or dtypes.pop() not in FLOATS or table.columns.tolist() != list(names):
        return None
    matrix: Array = table.to_numpy()
    return matrix


def _dispatch(table: Any) -> Table:
    """The right reader for a table."""
    if isinstance(table, np.ndarray | memoryview):
        return _from_numpy(np.asanyarray(table))
    if is_a(table, "scipy.sparse", "spmatrix", "sparray"):
        return _from_sparse(table)
    if isinstance(table, Mapping):  # after the sparse formats: one of them is a dict
        return _from_columns(table)
    if is_a(table, "pandas", "DataFrame"):
        return Table(len(table), _texts(table.columns), [column for _, column in table.items()])
    if is_a(table, "polars", "LazyFrame"):
        table = table.collect()
    if is_a(table, "polars", "DataFrame"):
        return Table(table.height, _texts(table.columns), table.get_columns())
    if is_a(table, "pyarrow", "Table", "RecordBatch"):
        return Table(table.num_rows, _texts(table.schema.names), table.columns)
    if is_a(table, "pandas", "Series", "Index") or is_a(table, "polars", "Series"):
        raise ValueError(_ONE_DIMENSION + " (a Series: .to_frame())")
    if isinstance(table, Sequence) and not isinstance(table, str | bytes):
        return _from_rows(table)
    return _from_stranger(table)


def _texts(names: Iterable[Any]) -> tuple[str, ...]:
    """Names of columns as text; pandas' may be integers."""
    return tuple(map(str, names))


def _from_numpy(array: Array) -> Table:
    if array.dtype.names is not None and array.ndim == 1:  # a record array: fields are columns
        return Table(len(array), array.dtype.names, [array[name] for name in array.dtype.names])
    if array.ndim == 1:
        raise ValueError(_ONE_DIMENSION)
    if array.ndim != 2:
        raise ValueError(
            f"the table has {array.ndim} dimensions (shape {array.shape}); expected rows and columns"
        )
    missing = None
    if isinstance(array, np.ma.MaskedArray):
        missing = np.ma.getmaskarray(array) if np.ma.is_masked(array) else None
        array = array.data
    return Table(len(array), None, matrix=np.asarray(array), missing=missing)


def _from_columns(columns: Mapping[Any, Any]) -> Table:
    """A mapping of names to columns."""
    lengths: dict[str, int] = {}
    for name, column in columns.items():
        if isinstance(column, str | bytes) or not hasattr(column, "__len__"):
            raise TypeError(
                f"column {str(name)!r} must be an array, a list or a Series, not {type(column).__name__}"
            )
        lengths[str(name)] = len(column)
    if len(set(lengths.values())) > 1:
        first = next(iter(lengths))
        other = next(name for name in lengths if lengths[name] != lengths[first])
        raise ValueError(
            f"column {first!r} has {lengths[first]} rows, but column {other!r} has {lengths[other]}; "
            "all columns must have the same number of rows"
        )
    return Table(next(iter(lengths.values()), 0), _texts(columns), list(columns.values()))


def _from_rows(rows: Sequence[Any]) -> Table:
    """A sequence of rows: mappings by name, or sequences by position."""
    if len(rows) == 0:
        raise ValueError("the table has no rows: 0 sample(s) while a minimum of 1 is required.")
    if all(isinstance(row, Mapping) for row in rows):
        names = dict.fromkeys(name for row in rows for name in row)
        return Table(len(rows), _texts(names), [[row.get(name) for row in rows] for name in names])
    are_arrays = all(isinstance(row, np.ndarray) and row.ndim == 1 for row in rows)
    if are_arrays and len({(len(row), row.dtype) for row in rows}) == 1:
        return _from_numpy(np.ma.stack(rows) if any(np.ma.isMA(row) for row in rows) else np.stack(rows))
    for position, row in enumerate(rows):
        if isinstance(row, str | bytes | Mapping) or not hasattr(row, "__len__"):
            if position == 0 and not isinstance(row, Mapping):
                raise ValueError(_ONE_DIMENSION)
            raise ValueError(
                f"row {position} is a {type(row).__name__}, but row 0 is a {type(rows[0]).__name__}"
            )
        if len(getattr(row, "shape", ())) > 1:
            raise TypeError(
                f"item {position} of the {type(rows).__name__} is a {type(row).__name__}, not a row; a table "
                "and its target are two arguments: table, target"
            )
        if len(row) != len(rows[0]):
            raise ValueError(
                f"row {position} has {len(row)} cells, but row 0 has {len(rows[0])}; "
                "all rows must have the same length"
            )
    return Table(len(rows), None, list(zip(*rows, strict=True)))


def _from_stranger(table: Any) -> Table:
    """A table of a library not known by name: through narwhals, the Arrow C interface or numpy's."""
    library = type(table).__module__.partition(".")[0]
    if library == "narwhals":
        return _dispatch(table.to_native())
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        if find_spec("pyarrow"):
            arrow = import_module("pyarrow")
            stream = hasattr(table, "__arrow_c_stream__")
            return _dispatch(arrow.table(table) if stream else arrow.record_batch(table))
        if find_spec("polars"):
            return _dispatch(import_module("polars").DataFrame(table))
        raise TypeError(f"to read a {type(table).__name__}, pyarrow or polars must be installed")
    if hasattr(table, "__array__"):
        return _dispatch(np.asarray(table))
    if not isinstance(table, str | bytes | int | float | None):
        narwhals = import_module("narwhals")
        frame = narwhals.from_native(table, pass_through=True)
        frame = frame.collect() if isinstance(frame, narwhals.LazyFrame) else frame
        if isinstance(frame, narwhals.DataFrame):
            return _dispatch(frame.to_arrow() if find_spec("pyarrow") else frame.to_pandas())
    raise TypeError(f"the table is a {type(table).__name__}; expected {_ACCEPTED}")


def _from_sparse(sparse: Any) -> Table:
    """A scipy sparse matrix of any format, made dense in column order if that fits into memory."""
    if sparse.ndim != 2:
        raise ValueError(_ONE_DIMENSION)
    kind = np.dtype(sparse.dtype)
    if kind.kind == "c":
        raise ValueError(complex_error("the sparse matrix"))
    if kind.kind not in "fiub":
        raise TypeError(f"the sparse matrix has dtype {kind}; expected numbers")
    dense = kind if kind.kind == "f" else np.dtype(np.float32 if kind.itemsize <= 2 else np.float64)
    n_rows, n_columns = sparse.shape
    need, have = n_rows * n_columns * dense.itemsize, available_memory()
    if have is not None and need > have:
        raise MemoryError(
            f"the sparse matrix of {n_rows} x {n_columns} needs {need / 1e9:.1f} GB when dense, but only "
            f"{have / 1e9:.1f} GB of memory are available; drop columns or rows"
        )
    try:  # scipy's compiled code would follow damaged indices anywhere
        _check_sparse(sparse)
        columns = sparse.tocsc()
    except (ValueError, IndexError) as error:
        raise ValueError(f"the sparse matrix is damaged: {error}") from error
    data = columns.data
    if data.dtype.kind in "iu" and data.size and (data.max() > EXACT or data.min() < -EXACT):
        worst = int(np.argmax((data > EXACT) | (data < -EXACT)))
        column = int(np.searchsorted(columns.indptr, worst, side="right")) - 1
        raise ValueError(f"column 'x{column}': row {columns.indices[worst]} is {data[worst]}, {BEYOND}")
    return Table(n_rows, None, matrix=columns.astype(dense, copy=False).toarray(order="F"))


def _check_sparse(sparse: Any) -> None:
    """The checks of scipy's constructors and more: the arrays may have been changed since."""
    for part in ("indptr", "indices", "row", "col", "offsets"):
        index = getattr(sparse, part, None)  # scipy only warns of indices that are not integers
        if isinstance(index, np.ndarray) and (index.dtype.kind not in "iu" or index.ndim != 1):
            raise ValueError(
                f"its {part} are not a list of integers but {index.dtype} of {index.ndim} dimensions"
            )
    match sparse.format:
        case "csr" | "csc" | "bsr":
            _check_compressed(sparse)
        case "coo":
            for index, size in zip((sparse.row, sparse.col), sparse.shape, strict=True):
                if len(index) != len(sparse.data):
                    raise ValueError("row, col and data differ in length")
                _check_range(index, size)
        case "lil":
            lengths = [list(map(len, part)) for part in (sparse.rows, sparse.data)]
            if len(lengths[0]) != sparse.shape[0] or lengths[0] != lengths[1]:
                raise ValueError("rows and data differ in length")
            for row in sparse.rows:
                _check_range(np.array(row, np.int64), sparse.shape[1])
        case "dia":
            if sparse.data.ndim != 2 or len(sparse.data) != len(sparse.offsets):
                raise ValueError("offsets and data differ in length")


def _check_compressed(sparse: Any) -> None:
    """Pointers rise from 0 to the number of entries, and indices lie inside. scipy's own check skips both
    where the last pointer is not positive.
    """
    block = sparse.data.shape[1:]
    if len(block) != (2 if sparse.format == "bsr" else 0) or 0 in block:
        raise ValueError(f"its data have the shape {sparse.data.shape}")
    shape = [size // step for size, step in zip(sparse.shape, block or (1, 1), strict=True)]
    n_lines, n_places = reversed(shape) if sparse.format == "csc" else shape
    pointers = sparse.indptr
    if len(pointers) != n_lines + 1 or pointers[0] != 0 or (pointers[1:] < pointers[:-1]).any():
        raise ValueError("indptr does not rise from 0, a step for each row or column")
    if not pointers[-1] <= len(sparse.indices) == len(sparse.data):
        raise ValueError("indptr, indices and data differ in length")
    _check_range(sparse.indices, n_places)


def _check_range(index: Array, size: int) -> None:
    if len(index) and not 0 <= index.min() <= index.max() < size:
        raise ValueError("an index is outside of the matrix")


def available_memory() -> int | None:
    """Bytes that can still be allocated without swapping; None if the system does not tell."""
    limits = []
    try:
        fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        limits.append(int(fields["MemAvailable"].split()[0]) * 1024)
    except (OSError, KeyError, ValueError):
        if hasattr(os, "sysconf") and "SC_AVPHYS_PAGES" in os.sysconf_names:
            limits.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    try:  # a container may allow less than the machine has
        group = Path("/sys/fs/cgroup")
        limits.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    except (OSError, ValueError):
        pass
    return min(limits) if limits else None
