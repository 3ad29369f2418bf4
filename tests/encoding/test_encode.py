"""Any array or list in, numbers and a schema out; errors name the column and the row."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pytest

from treewright import AdviceWarning
from treewright.encoding import encode

NAN = float("nan")
DAY = 86400 * 10**6


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
    table = {
        "C": base,
        "F": np.asfortranarray(base),
        "strided": base[::2, 1::2],
        "reversed": base[::-1, ::-1],
        "read-only": base.copy(),
        "broadcast": np.broadcast_to(base[:1], (5, 4)),
        "memmap": base,
    }[change]
    if change == "memmap":
        table = np.memmap(tmp_path / "m", dtype=dtype, shape=base.shape, mode="w+")
        table[:] = base
    table.flags.writeable = False
    data = encode(table)
    assert isinstance(data.columns, np.ndarray)
    assert np.shares_memory(data.columns, table)
    assert data.columns.strides == table.strides
    assert data.columns.dtype == dtype
    np.testing.assert_array_equal(data.columns, table)
    assert data.schema.names == tuple(f"x{i}" for i in range(table.shape[1]))
    assert data.schema.targets == ()
    assert (data.n_rows, data.n_columns) == table.shape


@pytest.mark.parametrize(
    ("dtype", "result"),
    [
        ("i1", "f4"),
        ("i2", "f4"),
        ("u1", "f4"),
        ("u2", "f4"),
        ("i4", "f8"),
        ("u4", "f8"),
        ("i8", "f8"),
        ("u8", "f8"),
        ("?", "f4"),
        ("f2", "f4"),
        (">f8", "f8"),
        (">f4", "f4"),
        (">i2", "f4"),
        (">i8", "f8"),
        ("g", "f8"),
    ],
)
def test_other_matrices_become_native_floats(dtype, result):
    table = np.array([[0, 1], [1, 1], [1, 0]]).astype(dtype)
    data = encode(table)
    assert data.columns.dtype == np.dtype(result)
    assert data.columns.dtype.isnative
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
    with pytest.raises(ValueError, match=r"column 'x0': row 1 is .* beyond"):
        encode(np.array([[1], [2**64 - 1]], dtype=np.uint64))
    as_names = encode(table, kinds={1: "category"})
    assert as_names.schema.columns[1].categories == tuple(sorted((0, value)))
    assert encode({"id": [0, 10**30]}, kinds=["category"]).schema.columns[0].categories == (0, 10**30)
    with pytest.raises(ValueError, match=r"column 'id': row 1 is 10+, beyond"):
        encode({"id": [0, 10**30]})
    table[3, 1] = 2**53
    assert encode(table).columns[3, 1] == 2.0**53


def test_longdouble_must_be_exact():
    if np.finfo(np.longdouble).nmant == 52:
        pytest.skip("long double is double here")
    third = np.array([[1], [1]], np.longdouble) / np.array([[1], [3]], np.longdouble)
    with pytest.raises(ValueError, match=r"column 'x0': row 1 is .* float64 cannot hold"):
        encode(third)
    assert np.isnan(encode(np.array([[np.nan]], np.longdouble)).columns[0, 0])


@pytest.mark.parametrize("table", [np.ones((2, 2), complex), {"a": np.ones(2, complex)}])
def test_complex_is_refused(table):
    with pytest.raises(ValueError, match=r"Complex data not supported"):
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
    table = np.array(
        [[1, "b", True, None, 2.5], [None, "a", None, None, 3], [3, None, False, None, NAN]], dtype=object
    )
    data = encode(table)
    assert kinds(data) == ["number", "category", "category", "number", "number"]
    assert [str(cells) for cells in lists(data)] == [
        "[1.0, nan, 3.0]",
        "[1, 0, -1]",
        "[1, -1, 0]",
        "[nan, nan, nan]",
        "[2.5, 3.0, nan]",
    ]
    assert data.schema.columns[2].categories == (False, True)
    assert lists(encode(np.array([["x", "z"], ["y", "a"]]))) == [[0, 1], [1, 0]]
    with pytest.warns(AdviceWarning, match=r"column 'x1' holds numbers as text \('1' in row 0\)"):
        assert lists(encode(np.array([["x", "1"], ["y", "2"]]))) == [[0, 1], [1.0, 2.0]]
    assert lists(encode(np.array([["x"], ["y"]], dtype=np.dtypes.StringDType()))) == [[0, 1]]
    times = np.array([["1970-01-01"], ["NaT"]], dtype="M8[D]")
    assert kinds(encode(times)) == ["time"]
    assert str(lists(encode(times))) == "[[0.0, nan]]"


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
        with pytest.raises(TypeError, match=r"expected a two-dimensional numpy array"):
            encode(wrong)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.empty((0, 3)), "no rows.*shape=\\(0, 3\\)"),
        (np.empty((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while"),
        ([], "no rows"),
        ({}, "no columns"),
        ({"a": []}, "no rows"),
        (np.ones(3), "Reshape"),
        ([1, 2], "Reshape"),
        (["ab", "cd"], "Reshape"),
        (np.ones((2, 2, 2)), "3 dimensions"),
        ([[1, 2], [3]], "row 1 has 1 cells, but row 0 has 2"),
        ([[1], {"a": 1}], "row 1 is a dict"),
        ({"a": [1], "b": [1, 2]}, "column 'a' has 1 rows, but column 'b' has 2"),
        ({"a": np.ones((2, 2))}, "column 'a' must be one-dimensional"),
        ({1: [1], "1": [2]}, "same name: '1'"),
    ],
)
def test_bad_shapes(table, message):
    with pytest.raises(ValueError, match=message):
        encode(table)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([1, "a"], "column 'c' mixes types: row 0 is 1 .*row 1 is 'a'"),
        ([None, True, 2], "row 1 is True.*row 2 is 2"),
        (["a", 1.5, NAN], "row 0 is 'a'.*row 1 is 1.5"),
        ([dt.date(2020, 1, 1), "x"], "time.*row 1 is 'x'"),
        ([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, tzinfo=dt.UTC)], "with and without a time zone"),
    ],
)
def test_mixed_types_are_refused(cells, message):
    with pytest.raises(ValueError, match=message):
        encode({"c": cells})


def test_cells_that_are_no_cells():
    with pytest.raises(
        TypeError, match=r"column 'x0', row 1 is {'a': 1}, a dict: the argument must be .* string.* number"
    ):
        encode(np.array([[1], [{"a": 1}]], dtype=object))
    with pytest.raises(TypeError, match=r"column 'c' has dtype .S1.*decode"):
        encode({"c": np.array([b"a"])})
    for column in ("abc", 3):
        with pytest.raises(TypeError, match=r"column 'c' must be an array"):
            encode({"c": column})


def test_numbers_of_every_sort_in_one_column():
    cells = [
        1,
        2.5,
        np.int8(3),
        np.float32(0.5),
        Decimal("0.1"),
        None,
        Decimal("NaN"),
        NAN,
        float("-inf"),
    ]
    assert str(lists(encode({"c": cells}))) == "[[1.0, 2.5, 3.0, 0.5, 0.1, nan, nan, nan, -inf]]"
    with pytest.raises(ValueError, match=r"row 0 is 90071992547409930000001, beyond"):
        encode({"c": [Decimal("90071992547409930000001")]})
