"""One column of any library as cells: numpy, Python lists, pandas, polars, Arrow and their kin."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from treewright._arrays import Array
from treewright.encoding.cells import EXACT, Cells, numbers
from treewright.encoding.objects import from_labels, from_objects
from treewright.encoding.times import microseconds, seconds


def is_a(value: object, library: str, *names: str) -> bool:
    """Whether a value is of a library's class; a library that is not imported yet has no values."""
    module = sys.modules.get(library)
    return module is not None and any(isinstance(value, getattr(module, name, ())) for name in names)


def is_frame(value: object) -> bool:
    """Whether a value is a table of pandas, polars or Arrow."""
    return (
        is_a(value, "pandas", "DataFrame")
        or is_a(value, "polars", "DataFrame", "LazyFrame")
        or is_a(value, "pyarrow", "Table", "RecordBatch")
    )


def read_cells(column: Any, what: str) -> Cells:
    """The cells of one column, whatever it comes from; `what` names it in errors."""
    if isinstance(column, np.ma.MaskedArray):
        return from_array(column.data, np.ma.getmaskarray(column), what)
    if isinstance(column, np.ndarray):
        return from_array(column, None, what)
    if isinstance(column, list | tuple):
        return from_objects(list(column), what)
    if is_a(column, "pandas", "MultiIndex"):
        raise TypeError(f"{what} is an index of {column.nlevels} levels; give each level a column of its own")
    if is_a(column, "pandas", "Series", "Index"):
        return _from_pandas(column, column.array, what)
    if hasattr(column, "dtype") and is_a(column, "pandas.api.extensions", "ExtensionArray"):
        return _from_pandas(column, column, what)
    if is_a(column, "polars", "Series"):
        return _from_polars(column, what)
    if is_a(column, "pyarrow", "Array", "ChunkedArray"):
        return _from_arrow(column, what)
    if is_a(column, "narwhals", "Series") or is_a(column, "narwhals.stable.v1", "Series"):
        return read_cells(column.to_native(), what)
    if hasattr(column, "__arrow_c_stream__"):
        return _from_arrow(import_module("pyarrow").chunked_array(column), what)
    if hasattr(column, "__arrow_c_array__"):
        return _from_arrow(import_module("pyarrow").array(column), what)
    if hasattr(column, "__array__"):
        return from_array(np.asarray(column), None, what)
    if isinstance(column, Sequence) and not isinstance(column, str | bytes):
        return from_objects(list(column), what)
    raise TypeError(f"{what} must be an array, a list or a Series, not {type(column).__name__}")


def from_array(values: Array, missing: Array | None, what: str) -> Cells:
    """The cells of a one-dimensional numpy array of any dtype; `missing` is a mask or None."""
    if values.ndim != 1:
        raise ValueError(f"{what} must be one-dimensional; its shape is {values.shape}")
    if missing is not None and not missing.any():
        missing = None
    match values.dtype.kind:
        case "f":
            return Cells("number", numbers(values, missing, what))
        case "i" | "u":
            return Cells("number", values, missing)
        case "b":
            codes = values.astype(np.int32)
            if missing is not None:
                codes[missing] = -1
            return Cells("bool", codes, labels=(False, True), declared=True)
        case "M" | "m" as kind:
            if missing is not None:
                values = np.where(missing, np.array("NaT", values.dtype), values)
            return (
                Cells("time", microseconds(values, what))
                if kind == "M"
                else Cells("number", seconds(values, what))
            )
        case "O" | "U" | "T":
            cells = values.tolist()
            if missing is not None:
                cells = np.where(missing, np.array(None, object), values.astype(object)).tolist()
            return from_objects(cells, what)
        case "c":
            raise ValueError(complex_error(what))
        case _:
            raise TypeError(
                f"{what} has dtype {values.dtype}, which is neither numbers, text, bools nor times; "
                "convert it (bytes: decode them to text)"
            )


def complex_error(what: str) -> str:
    """The message about complex numbers; scikit-learn's tests expect its first words."""
    return f"Complex data not supported: {what} holds complex numbers; pass real and imaginary parts"


def _from_pandas(column: Any, array: Any, what: str) -> Cells:
    """The cells of a pandas Series or Index, and of the extension array behind it."""
    dtype = column.dtype
    name = type(dtype).__name__
    if isinstance(dtype, np.dtype) or name == "NumpyEADtype":
        return from_array(column.to_numpy(), None, what)
    if name == "CategoricalDtype":
        return from_labels(np.asarray(array.codes), array.categories.tolist(), what, declared=True)
    if name == "DatetimeTZDtype":
        return from_array(array.tz_convert(None).to_numpy(), None, what)
    if name == "ArrowDtype" or (name == "StringDtype" and dtype.storage == "pyarrow"):
        return _from_arrow(import_module("pyarrow").array(array), what)
    if name == "StringDtype":
        cells = from_objects(array.to_numpy(dtype=object).tolist(), what)
        return from_labels(np.full(len(array), -1), (), what) if cells.family == "nothing" else cells
    if name == "SparseDtype":
        return from_array(np.asarray(array), None, what)
    if hasattr(dtype, "numpy_dtype"):  # the nullable Int64, Float64, boolean and their like
        if dtype.numpy_dtype.kind == "f":
            return from_array(array.to_numpy(dtype=dtype.numpy_dtype, na_value=np.nan), None, what)
        return from_array(array.to_numpy(dtype=dtype.numpy_dtype, na_value=0), np.asarray(array.isna()), what)
    raise _unsupported(what, dtype)


def _from_polars(series: Any, what: str) -> Cells:
    """The cells of a polars Series."""
    dtype = series.dtype
    name = type(dtype).__name__
    if dtype.is_float() or name in ("Date", "Datetime", "Duration"):
        return from_array(series.to_numpy(), None, what)  # nulls become NaN and NaT
    if name == "Boolean" or (dtype.is_integer() and not name.endswith("128")):
        if not series.null_count():
            return from_array(series.to_numpy(), None, what)
        filled = series.fill_null(False if name == "Boolean" else 0)
        return from_array(filled.to_numpy(), series.is_null().to_numpy(), what)
    if name == "Enum":
        return from_labels(_polars_codes(series), dtype.categories.to_list(), what, declared=True)
    if name in ("String", "Categorical"):
        polars = import_module("polars")
        texts = series.cast(polars.String)
        labels = texts.drop_nulls().unique().sort()
        codes = _polars_codes(texts.cast(polars.Enum(labels)))
        return from_labels(codes, labels.to_list(), what, is_category=name == "Categorical")
    if name == "Decimal":
        return _decimals(series.cast(import_module("polars").Float64).to_numpy(), series.to_list, what)
    if name in ("Null", "Object") or dtype.is_integer():
        return from_objects(series.to_list(), what)
    raise _unsupported(what, dtype)


def _polars_codes(series: Any) -> Array:
    polars = import_module("polars")
    return np.asarray(series.to_physical().cast(polars.Int64).fill_null(-1).to_numpy())


def _from_arrow(array: Any, what: str) -> Cells:
    """The cells of an Arrow array, chunked or not."""
    arrow = import_module("pyarrow")
    if isinstance(array, arrow.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.unify_dictionaries().combine_chunks()
    if isinstance(array, arrow.ExtensionArray):
        array = array.storage
    kind, types = array.type, arrow.types
    if types.is_run_end_encoded(kind):
        return _from_arrow(import_module("pyarrow.compute").run_end_decode(array), what)
    if types.is_floating(kind) or types.is_timestamp(kind) or types.is_date(kind) or types.is_duration(kind):
        return from_array(array.to_numpy(zero_copy_only=False), None, what)  # nulls become NaN and NaT
    if types.is_integer(kind) or types.is_boolean(kind):
        missing = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
        filled = array if missing is None else array.fill_null(False if types.is_boolean(kind) else 0)
        return from_array(filled.to_numpy(zero_copy_only=False), missing, what)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return _from_dictionary(array.dictionary_encode(), what, is_category=False)
    if types.is_dictionary(kind):
        return _from_dictionary(array, what, is_category=True)
    if types.is_decimal(kind):
        return _decimals(array.cast(arrow.float64()).to_numpy(zero_copy_only=False), array.to_pylist, what)
    if types.is_null(kind):
        return from_objects([None] * len(array), what)
    raise _unsupported(what, kind)


def _from_dictionary(array: Any, what: str, *, is_category: bool) -> Cells:
    codes = array.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    labels, declared = array.dictionary.to_pylist(), array.type.ordered
    return from_labels(codes, labels, what, declared=declared, is_category=is_category)


def _decimals(floats: Array, exact: Callable[[], list[Any]], what: str) -> Cells:
    """Decimals, rounded to floats; large ones are read again one by one, as digits may be lost."""
    return from_objects(exact(), what) if (np.abs(floats) >= EXACT).any() else Cells("number", floats)


def _unsupported(what: str, dtype: object) -> TypeError:
    return TypeError(
        f"{what} has type {dtype}, which is neither numbers, text, bools nor times; convert or drop it"
    )
