"""Any table in, numbers and a schema out: kinds, missing values, categories by value, and errors that name the place."""

from __future__ import annotations

import datetime as dt
import warnings
from decimal import Decimal

import numpy as np
import pytest

from treewright.encoding import encode
from treewright.schema import Column, Schema, Target

NAN = float("nan")
DAY = 86400 * 10**6


def frame(library, columns):
    """A frame of some library from lists, None where missing."""
    if library == "dict":
        return columns
    if library == "rows":
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    module = pytest.importorskip(library)
    if library == "pyarrow":
        return module.table(columns)
    return module.DataFrame(columns)


FRAMES = ["dict", "rows", "pandas", "polars", "pyarrow"]
over_frames = pytest.mark.parametrize("library", FRAMES)


def kinds(data):
    return [column.kind for column in data.schema.columns]


def lists(data):
    columns = data.columns.T if isinstance(data.columns, np.ndarray) else data.columns
    return [column.tolist() for column in columns]


# Matrices


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("change", ["C", "F", "strided", "reversed", "read-only", "broadcast", "memmap"])
def test_float_matrix_is_not_copied(dtype, change, tmp_path):
    base = np.arange(24, dtype=dtype).reshape(6, 4)
    base[0, 0], base[1, 1], base[2, 2] = np.nan, np.inf, -np.inf
    table = {"C": base, "F": np.asfortranarray(base), "strided": base[::2, 1::2], "reversed": base[::-1, ::-1],
             "read-only": base.copy(), "broadcast": np.broadcast_to(base[:1], (5, 4)), "memmap": base}[change]  # fmt: skip
    if change == "memmap":
        table = np.memmap(tmp_path / "m", dtype=dtype, shape=base.shape, mode="w+")
        table[:] = base
    table.flags.writeable = False
    data = encode(table)
    assert isinstance(data.columns, np.ndarray) and np.shares_memory(data.columns, table)
    assert data.columns.strides == table.strides and data.columns.dtype == dtype
    np.testing.assert_array_equal(data.columns, table)
    assert data.schema.names == tuple(f"x{i}" for i in range(table.shape[1])) and data.schema.targets == ()
    assert (data.n_rows, data.n_columns) == table.shape


@pytest.mark.parametrize(("dtype", "result"), [
    ("i1", "f4"), ("i2", "f4"), ("u1", "f4"), ("u2", "f4"), ("i4", "f8"), ("u4", "f8"), ("i8", "f8"), ("u8", "f8"),
    ("?", "f4"), ("f2", "f4"), (">f8", "f8"), (">f4", "f4"), (">i2", "f4"), (">i8", "f8"), ("g", "f8"),
])  # fmt: skip
def test_other_matrices_become_native_floats(dtype, result):
    table = np.array([[0, 1], [1, 1], [1, 0]]).astype(dtype)
    data = encode(table)
    assert data.columns.dtype == np.dtype(result) and data.columns.dtype.isnative
    np.testing.assert_array_equal(data.columns, table.astype(float))
    assert kinds(data) == ["number", "number"]


def test_unaligned_matrix_is_copied():
    packed = np.zeros(4, dtype=[("a", "i1"), ("m", "f8", (3,))])
    assert not packed["m"].flags.aligned
    assert encode(packed["m"]).columns.flags.aligned


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**63 - 1])
def test_integers_beyond_exact_are_refused(value):
    table = np.zeros((5, 3), dtype=np.int64)
    table[3, 1] = value
    with pytest.raises(ValueError, match=rf"column 'x1': row 3 is {value}, beyond"):
        encode(table)
    with pytest.raises(ValueError, match=rf"column 'id': row 1 is {value}, beyond"):
        encode({"id": [1, value]})
    with pytest.raises(ValueError, match=rf"column 'id': row 1 is {value}, beyond"):
        encode({"id": [1.5, value]})
    with pytest.raises(ValueError, match="column 'x0': row 1 is .* beyond"):
        encode(np.array([[1], [2**64 - 1]], dtype=np.uint64))
    as_names = encode(table, kinds={1: "category"})
    assert as_names.schema.columns[1].categories == tuple(sorted((0, value)))
    assert encode({"id": [0, 10**30]}, kinds=["category"]).schema.columns[0].categories == (0, 10**30)
    with pytest.raises(ValueError, match="column 'id': row 1 is 10+, beyond"):
        encode({"id": [0, 10**30]})
    table[3, 1] = 2**53
    assert encode(table).columns[3, 1] == 2.0**53


def test_longdouble_must_be_exact():
    if np.finfo(np.longdouble).nmant == 52:
        pytest.skip("long double is double here")
    third = np.array([[1], [1]], np.longdouble) / np.array([[1], [3]], np.longdouble)
    with pytest.raises(ValueError, match="column 'x0': row 1 is .* float64 cannot hold"):
        encode(third)
    assert np.isnan(encode(np.array([[np.nan]], np.longdouble)).columns[0, 0])


@pytest.mark.parametrize("table", [np.ones((2, 2), complex), {"a": np.ones(2, complex)}])
def test_complex_is_refused(table):
    with pytest.raises(ValueError, match="Complex data not supported"):
        encode(table)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int8, bool])
def test_masked_cells_are_missing(dtype):
    table = np.ma.MaskedArray(np.array([[1, 0], [1, 1]], dtype), mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(encode(table).columns, [[1, NAN], [1, 1]])
    giant = np.ma.MaskedArray(np.array([[2**60], [1]]), mask=[[True], [False]])
    np.testing.assert_array_equal(encode(giant).columns, [[NAN], [1]])
    texts = np.ma.MaskedArray([["a"], ["b"]], mask=[[True], [False]])
    assert lists(encode(texts)) == [[-1, 0]]
    assert encode(np.ma.MaskedArray(np.ones((2, 2)))).columns.shape == (2, 2)


def test_object_and_string_matrices_are_looked_at_by_column():
    table = np.array([[1, "b", True, None, 2.5], [None, "a", None, None, 3], [3, None, False, None, NAN]], dtype=object)
    data = encode(table)
    assert kinds(data) == ["number", "category", "category", "number", "number"]
    assert [str(cells) for cells in lists(data)] == [
        "[1.0, nan, 3.0]", "[1, 0, -1]", "[1, -1, 0]", "[nan, nan, nan]", "[2.5, 3.0, nan]"]  # fmt: skip
    assert data.schema.columns[2].categories == (False, True)
    assert lists(encode(np.array([["x", "1"], ["y", "2"]]))) == [[0, 1], [0, 1]]
    assert lists(encode(np.array([["x"], ["y"]], dtype=np.dtypes.StringDType()))) == [[0, 1]]
    times = np.array([["1970-01-01"], ["NaT"]], dtype="M8[D]")
    assert kinds(encode(times)) == ["time"] and str(lists(encode(times))) == "[[0.0, nan]]"


def test_rows_arrays_and_strangers():
    assert lists(encode([[1, "a"], (2, "b")])) == [[1.0, 2.0], [0, 1]]
    assert encode([np.array([1.0, 2.0]), np.array([3.0, 4.0])]).columns.tolist() == [[1, 2], [3, 4]]
    assert lists(encode(np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")]))) == [[1.0], [2.5]]
    assert encode([{"a": 1}, {"b": "z"}]).schema.names == ("a", "b")

    class Arrays:
        def __array__(self, dtype=None, copy=None):
            return np.ones((2, 2))

    assert encode(Arrays()).columns.shape == (2, 2)
    for wrong in (object(), "text", 3, None, (row for row in [[1]])):
        with pytest.raises(TypeError, match="expected a two-dimensional numpy array"):
            encode(wrong)


@pytest.mark.parametrize(("table", "message"), [
    (np.empty((0, 3)), "no rows.*shape=\\(0, 3\\)"), (np.empty((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while"),
    ([], "no rows"), ({}, "no columns"), ({"a": []}, "no rows"), (np.ones(3), "Reshape"), ([1, 2], "Reshape"),
    (["ab", "cd"], "Reshape"), (np.ones((2, 2, 2)), "3 dimensions"), ([[1, 2], [3]], "row 1 has 1 cells, but row 0 has 2"),
    ([[1], {"a": 1}], "row 1 is a dict"), ({"a": [1], "b": [1, 2]}, "column 'a' has 1 rows, but column 'b' has 2"),
    ({"a": np.ones((2, 2))}, "column 'a' must be one-dimensional"), ({1: [1], "1": [2]}, "same name: '1'"),
])  # fmt: skip
def test_bad_shapes(table, message):
    with pytest.raises(ValueError, match=message):
        encode(table)


@pytest.mark.parametrize(("cells", "message"), [
    ([1, "a"], "column 'c' mixes types: row 0 is 1 .*row 1 is 'a'"), ([None, True, 2], "row 1 is True.*row 2 is 2"),
    (["a", 1.5, NAN], "row 0 is 'a'.*row 1 is 1.5"), ([dt.date(2020, 1, 1), "x"], "time.*row 1 is 'x'"),
    ([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, tzinfo=dt.UTC)], "with and without a time zone"),
])  # fmt: skip
def test_mixed_types_are_refused(cells, message):
    with pytest.raises(ValueError, match=message):
        encode({"c": cells})


def test_cells_that_are_no_cells():
    with pytest.raises(TypeError, match="column 'x0', row 1 is {'a': 1}, a dict: the argument must be .* string.* number"):
        encode(np.array([[1], [{"a": 1}]], dtype=object))
    with pytest.raises(TypeError, match="column 'c' has dtype .S1.*decode"):
        encode({"c": np.array([b"a"])})
    for column in ("abc", 3):
        with pytest.raises(TypeError, match="column 'c' must be an array"):
            encode({"c": column})


def test_numbers_of_every_sort_in_one_column():
    cells = [1, 2.5, np.int8(3), np.float32(0.5), Decimal("0.1"), True and None, Decimal("NaN"), NAN, float("-inf")]
    assert str(lists(encode({"c": cells}))) == "[[1.0, 2.5, 3.0, 0.5, 0.1, nan, nan, nan, -inf]]"
    with pytest.raises(ValueError, match="row 0 is 90071992547409930000001, beyond"):
        encode({"c": [Decimal("90071992547409930000001")]})


# Frames


@over_frames
def test_kinds_are_found(library):
    data = encode(frame(library, {
        "age": [1.5, None, 3.0], "count": [1, None, 3], "job": ["cook", None, "clerk"], "ok": [True, None, False],
        "day": [dt.date(1970, 1, 2), None, dt.date(9999, 12, 31)], "at": [dt.datetime(1969, 12, 31, 23), None, None],
        "took": [dt.timedelta(milliseconds=1500), None, dt.timedelta(days=-1)], "none": [None, None, None],
    }))  # fmt: skip
    assert kinds(data) == ["number", "number", "category", "category", "time", "time", "number", "number"]
    np.testing.assert_array_equal(data.columns[0], [1.5, NAN, 3])
    np.testing.assert_array_equal(data.columns[1], [1, NAN, 3])
    assert data.columns[2].tolist() == [1, -1, 0] and data.schema.columns[2].categories == ("clerk", "cook")
    assert data.columns[3].tolist() == [1, -1, 0] and data.schema.columns[3].categories == (False, True)
    np.testing.assert_array_equal(data.columns[4], [DAY, NAN, 2932896 * DAY])
    np.testing.assert_array_equal(data.columns[5], [-3600e6, NAN, NAN])
    np.testing.assert_array_equal(data.columns[6], [1.5, NAN, -86400])
    assert np.isnan(data.columns[7]).all()
    assert {column.dtype for column in data.columns} <= {np.dtype("f8"), np.dtype("f4"), np.dtype("i4")}


@over_frames
def test_frames_are_matched_by_name_and_categories_by_value(library):
    schema = encode(frame(library, {"n": [1.0, 2.0], "c": ["b", "d"], "y": [0, 1]}), "y").schema
    data = encode(frame(library, {"c": ["d", "a", None, "b"], "n": [5, 6, 7, 8]}), schema=schema)
    assert lists(data) == [[5.0, 6.0, 7.0, 8.0], [1, -2, -1, 0]]
    assert data.schema is schema and data.targets is None
    ignored = encode(frame(library, {"y": [1], "n": [1], "c": ["b"]}), schema=schema)
    assert lists(ignored) == [[1.0], [0]]
    with pytest.raises(ValueError, match="lacks the columns 'c' and has columns that were not there before: 'z'"):
        encode(frame(library, {"n": [1], "z": ["b"]}), schema=schema)
    with pytest.raises(ValueError, match="column 'n' must hold numbers .*row 1 is '7', a text"):
        encode(frame(library, {"n": [None, "7"], "c": ["b", "b"]}), schema=schema)
    with pytest.raises(ValueError, match="column 'c' must hold texts .*row 0 is 3"):
        encode(frame(library, {"n": [1], "c": [3]}), schema=schema)
    with pytest.raises(ValueError, match="column 'n' must hold numbers.*row 0 is '2020-01-01"):
        encode(frame(library, {"n": [dt.date(2020, 1, 1)], "c": ["b"]}), schema=schema)
    assert lists(encode(frame(library, {"n": [True], "c": [None]}), schema=schema)) == [[1.0], [-1]]


def test_arrays_are_matched_by_position():
    schema = encode({"n": [1.0, 2.0], "c": ["b", "d"]}).schema
    assert lists(encode(np.array([[3, "d"], [4, "x"]], dtype=object), schema=schema)) == [[3.0, 4.0], [1, -2]]
    assert lists(encode([[3, "b"]], schema=schema)) == [[3.0], [0]]
    with pytest.raises(ValueError, match="the table has 3 columns, but 2 are expected: 'n', 'c'"):
        encode(np.ones((2, 3)), schema=schema)
    with pytest.raises(ValueError, match="column 'c' must hold texts .*row 0 is 1.0"):
        encode(np.ones((2, 2)), schema=schema)
    plain = encode(np.ones((2, 2))).schema
    matrix = np.ones((1, 2))
    assert encode(matrix, schema=plain).columns is matrix
    with pytest.raises(ValueError, match="the table has 1 columns, but 2 are expected"):
        encode(np.ones((2, 1)), schema=plain)
    assert lists(encode({"a": [3], "b": [4]}, schema=plain)) == [[3.0], [4.0]]  # x0, x1 were never names
    assert lists(encode({"x1": [3], "x0": [4]}, schema=plain)) == [[4.0], [3.0]]
    with pytest.raises(ValueError, match="column 'x0': row 0 is 9007199254740993"):
        encode(np.full((1, 2), 2**53 + 1), schema=plain)


def test_bools_and_numbers_understand_each_other():
    truths = encode({"b": [True, False]}).schema
    assert lists(encode(np.array([[1.0], [0.0], [2.0], [NAN]]), schema=truths)) == [[1, 0, -2, -1]]
    assert lists(encode(np.array([[True], [False]]), schema=truths)) == [[1, 0]]
    matrix = encode(np.array([[True], [False]]))
    assert kinds(matrix) == ["number"] and lists(matrix) == [[1.0, 0.0]]
    assert lists(encode({"b": [True, None]}, schema=matrix.schema))[0][0] == 1.0


@over_frames
def test_column_names(library):
    columns = ["ä b", "", "<script>", "{0} %s"]
    assert encode(frame(library, {name: [1.0] for name in columns})).schema.names == tuple(columns)
    with pytest.raises(ValueError, match=r"column '\{0\} %s': row 1 is 9007199254740993"):
        encode(frame(library, {"{0} %s": [1, 2**53 + 1]}))


def test_duplicate_and_integer_names():
    pd = pytest.importorskip("pandas")
    assert encode(pd.DataFrame(np.ones((2, 2)))).schema.names == ("0", "1")
    assert encode(pd.DataFrame(np.ones((2, 2))), kinds={1: "category"}).schema.columns[1].kind == "category"
    with pytest.raises(ValueError, match="same name: 'a', 'b'"):
        encode(pd.DataFrame(np.ones((1, 5)), columns=list("abcab")))


def test_kinds_can_be_chosen():
    table = {"n": [3, 1, None, 3], "f": [2.5, -0.0, 0.0, NAN], "c": ["a", "b", "a", "b"]}
    data = encode(table, kinds={"n": "category", "f": "category"})
    assert lists(data) == [[1, 0, -1, 1], [1, 0, 0, -1], [0, 1, 0, 1]]
    assert [column.categories for column in data.schema.columns] == [(1, 3), (0.0, 2.5), ("a", "b")]
    assert lists(encode({"n": [1.0, 2, 3], "f": [0] * 3, "c": ["a"] * 3}, schema=data.schema))[0] == [0, -2, 1]
    matrix = np.array([[1.5, 2], [0.5, 2]])
    mixed = encode(matrix, kinds={0: "category"})
    assert kinds(mixed) == ["category", "number"] and np.shares_memory(mixed.columns[1], matrix)
    assert kinds(encode(matrix, kinds=["number", "category"])) == ["number", "category"]
    assert lists(encode({"b": [True, False]}, kinds=["number"])) == [[1.0, 0.0]]
    assert lists(encode(np.array([[True], [False]]), kinds={0: "category"})) == [[1, 0]]
    assert encode({"e": [None]}, kinds=["category"]).schema.columns[0] == Column("e", "category", ())


@pytest.mark.parametrize(("chosen", "message"), [
    ({"z": "number"}, "no column 'z'; the columns are 'c', 't'"), ({"c": "ordinal"}, "unknown kind 'ordinal'; known: number"),
    ({"c": "number"}, "column 'c' must hold numbers .*row 1 is '7'"), (["number"], "kinds has 1 entries, but .* 2 columns"),
    ({"t": "category"}, "column 't' holds times"), ({"c": "time"}, "column 'c' must hold times"), ({0: "number"}, "no column 0"),
])  # fmt: skip
def test_kinds_that_cannot_be(chosen, message):
    with pytest.raises(ValueError, match=message):
        encode({"c": [None, "7"], "t": [dt.date(2020, 1, 1), None]}, kinds=chosen)


def test_kinds_go_without_schema():
    with pytest.raises(ValueError, match="kinds or a schema, not both"):
        encode(np.ones((1, 1)), kinds={}, schema=Schema((Column("a"),)))
    with pytest.raises(TypeError, match="kinds must be a dict"):
        encode(np.ones((1, 1)), kinds="number")


def test_declared_categories():
    pd, pl, pa = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    declared = pd.Categorical(["lo", None, "hi"], categories=["lo", "mid", "hi"])
    for column in (declared, pd.Series(declared), pl.Series(["lo", None, "hi"], dtype=pl.Enum(["lo", "mid", "hi"]))):
        data = encode({"c": column})
        assert data.schema.columns[0].categories == ("lo", "mid", "hi") and lists(data) == [[0, -1, 2]]
        assert lists(encode({"c": pd.Categorical(["hi", "new"])}, schema=data.schema)) == [[2, -2]]
        assert lists(encode({"c": pl.Series(["hi", "lo"], dtype=pl.Categorical)}, schema=data.schema)) == [[2, 0]]
        assert lists(encode({"c": ["hi", "lo"]}, schema=data.schema)) == [[2, 0]]
    chunks = pa.chunked_array([pa.array(["b", None]).dictionary_encode(), pa.array(["a"]).dictionary_encode()])
    repeated = pa.DictionaryArray.from_arrays(pa.array([0, 3, 1, 2]), pa.array(["b", "b", None, "a"]))
    assert lists(encode({"c": chunks})) == [[1, -1, 0]] and lists(encode({"c": repeated})) == [[1, 0, 1, -1]]
    assert encode({"c": pl.Series(["z", "b"], dtype=pl.Categorical)}).schema.columns[0].categories == ("b", "z")
    numbers = encode({"c": pd.Categorical([3, 1])})
    assert numbers.schema.columns[0].categories == (1, 3) and type(numbers.schema.columns[0].categories[0]) is int
    assert lists(encode({"c": pd.Categorical([3, 1, None])}, schema=Schema((Column("c"),))))[0][:2] == [3.0, 1.0]
    cut = encode({"c": pd.Series(pd.cut([1, 5, 9], [0, 5, 10]))})
    assert cut.schema.columns[0].categories == ("(0, 5]", "(5, 10]") and lists(cut) == [[0, 0, 1]]
    with pytest.raises(ValueError, match="column 'c', in its categories, mixes types"):
        encode({"c": pd.Categorical([1, "a"])})


def test_columns_of_libraries():
    pd, pl, pa = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    for dtype in ("Int64", "int64[pyarrow]", "Float32", "double[pyarrow]", "UInt8"):
        assert str(lists(encode({"c": pd.Series([1, None, 3], dtype=dtype)}))) == "[[1.0, nan, 3.0]]"
    for dtype in ("string[python]", "string[pyarrow]", "str", object, "category"):
        assert lists(encode({"c": pd.Series(["b", None, "a"], dtype=dtype)})) == [[1, -1, 0]]
        assert kinds(encode({"c": pd.Series([None, None], dtype=dtype)})) == ["number" if dtype is object else "category"]
    assert lists(encode({"c": pd.array([True, None], dtype="boolean")})) == [[1, -1]]
    assert lists(encode({"c": pd.array([0.0, 2.0], dtype="Sparse[float]")})) == [[0.0, 2.0]]
    assert lists(encode({"c": pd.Series([1, "a", pd.NA], dtype=object).iloc[[1, 2]]})) == [[0, -1]]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        assert lists(encode({"c": pa.array(["b", None, "a"], kind)})) == [[1, -1, 0]]
    for column in (pl.Series([1, 2]).cast(pl.Decimal(10, 2)), pa.array([1, 2]).cast(pa.decimal128(20, 1))):
        assert lists(encode({"c": column})) == [[1.0, 2.0]]
    assert lists(encode({"c": pl.Series([1, 2], dtype=pl.Int128)})) == [[1.0, 2.0]]
    assert kinds(encode({"c": pl.Series([None, None], dtype=pl.String)})) == ["category"]
    for column in (pd.Series(pd.period_range("2020", periods=2, freq="M")), pl.Series([[1], [2]]), pa.array([b"a", b"b"]),
                   pa.array([dt.time(1), dt.time(2)]), pl.Series([dt.time(1), dt.time(2)])):  # fmt: skip
        with pytest.raises(TypeError, match="column 'c' has type .*neither numbers"):
            encode({"c": column})
    for column in (pl.Series([0, 2**60, None]), pa.array([0, 2**60, None]), pd.Series([0, 2**60, None], dtype="Int64")):
        with pytest.raises(ValueError, match="column 'c': row 1 is 1152921504606846976, beyond"):
            encode({"c": column})


def test_float_columns_are_not_copied():
    pd, pl, pa = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    values = np.arange(8.0)
    matrix = np.arange(12, dtype=np.float32).reshape(4, 3)
    series = pl.Series(values)
    assert np.shares_memory(encode({"a": values[::2]}).columns[0], values)
    assert all(np.shares_memory(column, matrix) for column in encode(pd.DataFrame(matrix, copy=False)).columns)
    assert np.shares_memory(encode(pl.DataFrame({"a": series})).columns[0], series.to_numpy())
    assert np.shares_memory(encode(pa.table({"a": pa.array(values)})).columns[0], values)
    floats = pd.Series(values, dtype="Float64")
    assert np.shares_memory(encode({"a": floats}).columns[0], floats.array.to_numpy())


def test_other_doors():
    pd, pl, pa, nw = map(pytest.importorskip, ("pandas", "polars", "pyarrow", "narwhals"))
    table = pa.table({"a": [1.5, None], "b": ["y", "x"]})

    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return table.__arrow_c_stream__(requested_schema)

    class Batch:
        def __arrow_c_array__(self, requested_schema=None):
            return table.to_batches()[0].__arrow_c_array__(requested_schema)

    many = pa.concat_tables([table.slice(0, 1), table.slice(1, 1)])
    doors = (Stream(), Batch(), table.to_batches()[0], table.to_reader(), many, nw.from_native(table), pl.from_arrow(table),
             pl.from_arrow(table).lazy(), nw.from_native(pl.from_arrow(table).lazy()), table.to_pandas())  # fmt: skip
    for door in doors:
        assert str(lists(encode(door))) == "[[1.5, nan], [1, 0]]"
    target = nw.from_native(pl.Series("z", ["u", "v"]), series_only=True)
    assert encode(table, target).schema.targets == (Target("z", ("u", "v")),)
    for series in (pd.Series([1.0]), pl.Series([1.0])):
        with pytest.raises(ValueError, match="Reshape"):
            encode(series)


# Times


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "2D", "10ms"])
def test_times_of_every_unit(unit):
    times = np.array(["1970-01-01", "2004-07-01", "NaT"], dtype="M8[D]").astype(f"M8[{unit}]")
    expected = np.where(np.isnat(times), NAN, times.astype("M8[us]").astype("i8"))
    np.testing.assert_array_equal(encode({"t": times}).columns[0], expected)
    big = times[:1].astype(times.dtype.newbyteorder(">"))
    assert lists(encode({"t": big})) == [[0.0]]


def test_times_are_exact_or_refused():
    pd = pytest.importorskip("pandas")
    for column in (np.array([0, 1500], "M8[ns]"), pd.Series([pd.Timestamp(0), pd.Timestamp(1500)], dtype=object),
                   np.array([0, 1500], "m8[ns]"), pd.Series([pd.Timedelta(0), pd.Timedelta(1500)], dtype=object)):  # fmt: skip
        with pytest.raises(ValueError, match="column 't': row 1 is .*not a whole number of microseconds"):
            encode({"t": column})
    assert lists(encode({"t": np.array(["9999-12-31T23:59:59"], "M8[s]")})) == [[253402300799e6]]
    with pytest.raises(ValueError, match="row 0 is 9999-12-31T23:59:59.999999, too far from 1970"):
        encode({"t": np.array(["9999-12-31T23:59:59.999999"], "M8[us]")})
    assert lists(encode({"t": np.array([3 * 10**6], "M8[ps]")})) == [[3.0]]
    for far in (np.array([2**62], "M8[s]"), np.array([2**62], "m8[h]"), np.array([2**62], "M8[Y]")):
        with pytest.raises(ValueError, match="too far away"):
            encode({"t": far})
    with pytest.raises(ValueError, match="row 0 lasts .* too long"):
        encode({"t": np.array([300 * 365], "m8[D]")})
    with pytest.raises(ValueError, match="has no length in seconds"):
        encode({"t": np.array([1], "m8[M]")})


def test_zones_become_utc():
    pd, pl = map(pytest.importorskip, ("pandas", "polars"))
    zone = dt.timezone(dt.timedelta(hours=2))
    aware = [dt.datetime(1970, 1, 1, 2, tzinfo=zone), None, dt.datetime(1970, 1, 1, 1, tzinfo=dt.UTC)]
    utc = pl.Series(aware[::2] * 2, dtype=pl.Datetime("us", "UTC"))
    schema = encode({"t": aware}).schema
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for column in (aware, pd.Series(aware), pd.Series(aware, dtype=object), np.array(aware)):
            np.testing.assert_array_equal(encode({"t": column}, schema=schema).columns[0], [0, NAN, 3600e6])
        assert lists(encode({"t": utc.dt.convert_time_zone("Asia/Tokyo")})) == [[0.0, 3600e6] * 2]
    for wrong in ([1.0], ["1970-01-01"], [1]):
        with pytest.raises(ValueError, match="column 't' must hold times .*row 0 is"):
            encode({"t": wrong}, schema=schema)
    assert np.isnan(encode({"t": [None]}, schema=schema).columns[0]).all()
