"""Frames of any library: kinds, categories by value, names, times, and memory that is not copied."""

from __future__ import annotations

import datetime as dt
import warnings

import numpy as np
import pytest

from treewright.encoding import encode
from treewright.encoding.schema import Column, Schema, Target

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


# Frames


@over_frames
def test_kinds_are_found(library):
    data = encode(
        frame(
            library,
            {
                "age": [1.5, None, 3.0],
                "count": [1, None, 3],
                "job": ["cook", None, "clerk"],
                "ok": [True, None, False],
                "day": [dt.date(1970, 1, 2), None, dt.date(9999, 12, 31)],
                "at": [dt.datetime(1969, 12, 31, 23), None, None],
                "took": [dt.timedelta(milliseconds=1500), None, dt.timedelta(days=-1)],
                "none": [None, None, None],
            },
        )
    )
    assert kinds(data) == ["number", "number", "category", "category", "time", "time", "number", "number"]
    np.testing.assert_array_equal(data.columns[0], [1.5, NAN, 3])
    np.testing.assert_array_equal(data.columns[1], [1, NAN, 3])
    assert data.columns[2].tolist() == [1, -1, 0]
    assert data.schema.columns[2].categories == ("clerk", "cook")
    assert data.columns[3].tolist() == [1, -1, 0]
    assert data.schema.columns[3].categories == (False, True)
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
    assert data.schema is schema
    assert data.targets is None
    ignored = encode(frame(library, {"y": [1], "n": [1], "c": ["b"]}), schema=schema)
    assert lists(ignored) == [[1.0], [0]]
    with pytest.raises(
        ValueError, match=r"lacks the columns 'c' and has columns that were not there before: 'z'"
    ):
        encode(frame(library, {"n": [1], "z": ["b"]}), schema=schema)
    with pytest.raises(ValueError, match=r"column 'n' must hold numbers .*row 1 is 'x7', a text"):
        encode(frame(library, {"n": [None, "x7"], "c": ["b", "b"]}), schema=schema)
    assert lists(encode(frame(library, {"n": ["7", "-1.5"], "c": ["b", "b"]}), schema=schema))[0] == [7, -1.5]
    with pytest.raises(ValueError, match=r"column 'c' must hold texts .*row 0 is 3"):
        encode(frame(library, {"n": [1], "c": [3]}), schema=schema)
    with pytest.raises(ValueError, match=r"column 'n' must hold numbers.*row 0 is '2020-01-01"):
        encode(frame(library, {"n": [dt.date(2020, 1, 1)], "c": ["b"]}), schema=schema)
    assert lists(encode(frame(library, {"n": [True], "c": [None]}), schema=schema)) == [[1.0], [-1]]


def test_arrays_are_matched_by_position():
    schema = encode({"n": [1.0, 2.0], "c": ["b", "d"]}).schema
    assert lists(encode(np.array([[3, "d"], [4, "x"]], dtype=object), schema=schema)) == [[3.0, 4.0], [1, -2]]
    assert lists(encode([[3, "b"]], schema=schema)) == [[3.0], [0]]
    with pytest.raises(ValueError, match=r"the table has 3 columns, but 2 are expected: 'n', 'c'"):
        encode(np.ones((2, 3)), schema=schema)
    with pytest.raises(ValueError, match=r"column 'c' must hold texts .*row 0 is 1.0"):
        encode(np.ones((2, 2)), schema=schema)
    plain = encode(np.ones((2, 2))).schema
    matrix = np.ones((1, 2))
    assert encode(matrix, schema=plain).columns is matrix
    with pytest.raises(ValueError, match=r"the table has 1 columns, but 2 are expected"):
        encode(np.ones((2, 1)), schema=plain)
    assert lists(encode({"a": [3], "b": [4]}, schema=plain)) == [[3.0], [4.0]]  # x0, x1 were never names
    assert lists(encode({"x1": [3], "x0": [4]}, schema=plain)) == [[4.0], [3.0]]
    with pytest.raises(ValueError, match=r"column 'x0': row 0 is 9007199254740993"):
        encode(np.full((1, 2), 2**53 + 1), schema=plain)


def test_bools_and_numbers_understand_each_other():
    truths = encode({"b": [True, False]}).schema
    assert lists(encode(np.array([[1.0], [0.0], [2.0], [NAN]]), schema=truths)) == [[1, 0, -2, -1]]
    assert lists(encode(np.array([[True], [False]]), schema=truths)) == [[1, 0]]
    matrix = encode(np.array([[True], [False]]))
    assert kinds(matrix) == ["number"]
    assert lists(matrix) == [[1.0, 0.0]]
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
    with pytest.raises(ValueError, match=r"same name: 'a', 'b'"):
        encode(pd.DataFrame(np.ones((1, 5)), columns=list("abcab")))


def test_kinds_can_be_chosen():
    table = {"n": [3, 1, None, 3], "f": [2.5, -0.0, 0.0, NAN], "c": ["a", "b", "a", "b"]}
    data = encode(table, kinds={"n": "category", "f": "category"})
    assert lists(data) == [[1, 0, -1, 1], [1, 0, 0, -1], [0, 1, 0, 1]]
    assert [column.categories for column in data.schema.columns] == [(1, 3), (0.0, 2.5), ("a", "b")]
    assert lists(encode({"n": [1.0, 2, 3], "f": [0] * 3, "c": ["a"] * 3}, schema=data.schema))[0] == [
        0,
        -2,
        1,
    ]
    matrix = np.array([[1.5, 2], [0.5, 2]])
    mixed = encode(matrix, kinds={0: "category"})
    assert kinds(mixed) == ["category", "number"]
    assert np.shares_memory(mixed.columns[1], matrix)
    assert kinds(encode(matrix, kinds=["number", "category"])) == ["number", "category"]
    assert lists(encode({"b": [True, False]}, kinds=["number"])) == [[1.0, 0.0]]
    assert lists(encode(np.array([[True], [False]]), kinds={0: "category"})) == [[1, 0]]
    assert encode({"e": [None]}, kinds=["category"]).schema.columns[0] == Column("e", "category", ())


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"z": "number"}, "no column 'z'; the columns are 'c', 't'"),
        ({"c": "ordinal"}, "unknown kind 'ordinal'; known: number"),
        ({"c": "number"}, "column 'c' is to be read as numbers, but no cell is a number; row 1 is 'seven'"),
        (["number"], "kinds has 1 entries, but .* 2 columns"),
        ({"t": "category"}, "column 't' holds times"),
        ({"c": "time"}, "column 'c' is to be read as times, but no cell is a date; row 1 is 'seven'"),
        ({0: "number"}, "no column 0"),
    ],
)
def test_kinds_that_cannot_be(chosen, message):
    with pytest.raises(ValueError, match=message):
        encode({"c": [None, "seven"], "t": [dt.date(2020, 1, 1), None]}, kinds=chosen)


def test_kinds_go_without_schema():
    with pytest.raises(ValueError, match=r"kinds or a schema, not both"):
        encode(np.ones((1, 1)), kinds={}, schema=Schema((Column("a"),)))
    for wrong in ("number", 3):
        with pytest.raises(TypeError, match=r"kinds must be a dict"):
            encode(np.ones((1, 1)), kinds=wrong)


def test_declared_categories():
    pd, pl, pa = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    declared = pd.Categorical(["lo", None, "hi"], categories=["lo", "mid", "hi"])
    for column in (
        declared,
        pd.Series(declared),
        pl.Series(["lo", None, "hi"], dtype=pl.Enum(["lo", "mid", "hi"])),
    ):
        data = encode({"c": column})
        assert data.schema.columns[0].categories == ("lo", "mid", "hi")
        assert lists(data) == [[0, -1, 2]]
        assert lists(encode({"c": pd.Categorical(["hi", "new"])}, schema=data.schema)) == [[2, -2]]
        assert lists(encode({"c": pl.Series(["hi", "lo"], dtype=pl.Categorical)}, schema=data.schema)) == [
            [2, 0]
        ]
        assert lists(encode({"c": ["hi", "lo"]}, schema=data.schema)) == [[2, 0]]
    chunks = pa.chunked_array(
        [pa.array(["b", None]).dictionary_encode(), pa.array(["a"]).dictionary_encode()]
    )
    repeated = pa.DictionaryArray.from_arrays(pa.array([0, 3, 1, 2]), pa.array(["b", "b", None, "a"]))
    assert lists(encode({"c": chunks})) == [[1, -1, 0]]
    assert lists(encode({"c": repeated})) == [[1, 0, 1, -1]]
    assert encode({"c": pl.Series(["z", "b"], dtype=pl.Categorical)}).schema.columns[0].categories == (
        "b",
        "z",
    )
    numbers = encode({"c": pd.Categorical([3, 1])})
    assert numbers.schema.columns[0].categories == (1, 3)
    assert type(numbers.schema.columns[0].categories[0]) is int
    assert lists(encode({"c": pd.Categorical([3, 1, None])}, schema=Schema((Column("c"),))))[0][:2] == [
        3.0,
        1.0,
    ]
    cut = encode({"c": pd.Series(pd.cut([1, 5, 9], [0, 5, 10]))})
    assert cut.schema.columns[0].categories == ("(0, 5]", "(5, 10]")
    assert lists(cut) == [[0, 0, 1]]
    with pytest.raises(ValueError, match=r"column 'c', in its categories, mixes types"):
        encode({"c": pd.Categorical([1, "a"])})


def test_columns_of_libraries():
    pd, pl, pa = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    for dtype in ("Int64", "int64[pyarrow]", "Float32", "double[pyarrow]", "UInt8"):
        assert str(lists(encode({"c": pd.Series([1, None, 3], dtype=dtype)}))) == "[[1.0, nan, 3.0]]"
    for dtype in ("string[python]", "string[pyarrow]", "str", object, "category"):
        assert lists(encode({"c": pd.Series(["b", None, "a"], dtype=dtype)})) == [[1, -1, 0]]
        assert kinds(encode({"c": pd.Series([None, None], dtype=dtype)})) == [
            "number" if dtype is object else "category"
        ]
    assert lists(encode({"c": pd.array([True, None], dtype="boolean")})) == [[1, -1]]
    assert lists(encode({"c": pd.array([0.0, 2.0], dtype="Sparse[float]")})) == [[0.0, 2.0]]
    assert lists(encode({"c": pd.Series([1, "a", pd.NA], dtype=object).iloc[[1, 2]]})) == [[0, -1]]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        assert lists(encode({"c": pa.array(["b", None, "a"], kind)})) == [[1, -1, 0]]
    for column in (pl.Series([1, 2]).cast(pl.Decimal(10, 2)), pa.array([1, 2]).cast(pa.decimal128(20, 1))):
        assert lists(encode({"c": column})) == [[1.0, 2.0]]
    assert lists(encode({"c": pl.Series([1, 2], dtype=pl.Int128)})) == [[1.0, 2.0]]
    assert kinds(encode({"c": pl.Series([None, None], dtype=pl.String)})) == ["category"]
    for column in (
        pd.Series(pd.period_range("2020", periods=2, freq="M")),
        pl.Series([[1], [2]]),
        pa.array([b"a", b"b"]),
        pa.array([dt.time(1), dt.time(2)]),
        pl.Series([dt.time(1), dt.time(2)]),
    ):
        with pytest.raises(TypeError, match=r"column 'c' has type .*neither numbers"):
            encode({"c": column})
    for column in (
        pl.Series([0, 2**60, None]),
        pa.array([0, 2**60, None]),
        pd.Series([0, 2**60, None], dtype="Int64"),
    ):
        with pytest.raises(ValueError, match=r"column 'c': row 1 is 1152921504606846976, beyond"):
            encode({"c": column})


def test_float_columns_are_not_copied():
    pd, pl, pa = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    values = np.arange(8.0)
    matrix = np.arange(12, dtype=np.float32).reshape(4, 3)
    series = pl.Series(values)
    assert np.shares_memory(encode({"a": values[::2]}).columns[0], values)
    assert all(
        np.shares_memory(column, matrix) for column in encode(pd.DataFrame(matrix, copy=False)).columns
    )
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
    doors = (
        Stream(),
        Batch(),
        table.to_batches()[0],
        table.to_reader(),
        many,
        nw.from_native(table),
        pl.from_arrow(table),
        pl.from_arrow(table).lazy(),
        nw.from_native(pl.from_arrow(table).lazy()),
        table.to_pandas(),
    )
    for door in doors:
        assert str(lists(encode(door))) == "[[1.5, nan], [1, 0]]"
    target = nw.from_native(pl.Series("z", ["u", "v"]), series_only=True)
    assert encode(table, target).schema.targets == (Target("z", ("u", "v")),)
    for series in (pd.Series([1.0]), pl.Series([1.0])):
        with pytest.raises(ValueError, match=r"Reshape"):
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
    for column in (
        np.array([0, 1500], "M8[ns]"),
        pd.Series([pd.Timestamp(0), pd.Timestamp(1500)], dtype=object),
        np.array([0, 1500], "m8[ns]"),
        pd.Series([pd.Timedelta(0), pd.Timedelta(1500)], dtype=object),
    ):
        with pytest.raises(ValueError, match=r"column 't': row 1 is .*not a whole number of microseconds"):
            encode({"t": column})
    assert lists(encode({"t": np.array(["9999-12-31T23:59:59"], "M8[s]")})) == [[253402300799e6]]
    with pytest.raises(ValueError, match=r"row 0 is 9999-12-31T23:59:59.999999, too far from 1970"):
        encode({"t": np.array(["9999-12-31T23:59:59.999999"], "M8[us]")})
    assert lists(encode({"t": np.array([3 * 10**6], "M8[ps]")})) == [[3.0]]
    for far in (
        np.array([2**62], "M8[s]"),
        np.array([2**62], "m8[h]"),
        np.array([2**55], "M8[Y]"),
        np.array([2**62], "M8[10us]"),
    ):
        with pytest.raises(ValueError, match=r"too far away"):
            encode({"t": far})
    with pytest.raises(ValueError, match=r"row 0 is .* too long"):
        encode({"t": np.array([300 * 365], "m8[D]")})
    with pytest.raises(ValueError, match=r"has no length in seconds"):
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
        with pytest.raises(ValueError, match=r"column 't' must hold times .*row 0 is"):
            encode({"t": wrong}, schema=schema)
    assert np.isnan(encode({"t": [None]}, schema=schema).columns[0]).all()


def test_a_table_and_its_target_are_two_arguments() -> None:
    table, target = np.zeros((3, 2)), ["a", "b", "c"]
    for pair in ((table, target), [table, target]):
        with pytest.raises(TypeError, match=r"item 0 of the \w+ is a ndarray, not a row; .* table, target$"):
            encode(pair)
    with pytest.raises(TypeError, match="item 0 of the tuple is a DataFrame, not a row"):
        encode((pytest.importorskip("pandas").DataFrame(table), target))
