"""Targets, weights, sparse tables, subsets of rows, and what encoding may cost."""

from __future__ import annotations

import subprocess
import sys
import timeit

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.encoding import encode, tables
from treewright.encoding.schema import Column, Target

NAN, INF = float("nan"), float("inf")
X = np.arange(8.0).reshape(4, 2)


# Classes


@pytest.mark.parametrize(
    ("labels", "classes", "codes"),
    [
        (["b", "a", "c", "a"], ("a", "b", "c"), [1, 0, 2, 0]),
        ([3, -1, 3, 7], (-1, 3, 7), [1, 0, 1, 2]),
        ([10**9, 0, 5, 0], (0, 5, 10**9), [2, 0, 1, 0]),
        ([2**60 + 1, 2**60, 2**60, 10**30], (2**60, 2**60 + 1, 10**30), [1, 0, 0, 2]),
        ([True, True, False, True], (False, True), [1, 1, 0, 1]),
        ([True, True, True, True], (True,), [0, 0, 0, 0]),
        (np.array([1, 200, 1, 255], np.uint8), (1, 200, 255), [0, 1, 0, 2]),
        (np.array([-128, 127, 0, 0], np.int8), (-128, 0, 127), [0, 2, 1, 1]),
        (
            np.array([2**64 - 1, 2**64 - 2, 2**64 - 1, 2**64 - 1], np.uint64),
            (2**64 - 2, 2**64 - 1),
            [1, 0, 1, 1],
        ),
        (np.array(["é", "a", "z", "a"]), ("a", "z", "é"), [2, 0, 1, 0]),
        (np.array([1, 0, 1, 1], ">i4"), (0, 1), [1, 0, 1, 1]),
    ],
)
@pytest.mark.parametrize("said", [None, True])
def test_labels_become_codes(labels, classes, codes, said):
    data = encode(X, labels, classes=said)
    assert data.targets.dtype == np.int32
    assert data.targets.tolist() == [codes]
    assert data.schema.targets == (Target("y", classes),)
    assert {type(label) for label in data.schema.targets[0].classes} <= {str, int, bool}
    again = encode(X[:1], np.asarray(labels)[2:3], schema=data.schema)
    assert again.targets.tolist() == [[codes[2]]]
    assert again.schema is data.schema


def test_float_labels():
    data = encode(X, [1.0, 0.0, 2.0, 1.0], classes=True)
    assert data.schema.targets[0].classes == (0.0, 1.0, 2.0)
    assert data.targets.tolist() == [[1, 0, 2, 1]]
    assert not encode(X, [1.0, 0.0, 2.0, 1.0]).schema.predicts_classes
    with pytest.raises(ValueError, match=r"Unknown label type: target 'y' is continuous, row 1 is 0.5"):
        encode(X, [1.0, 0.5, 2.0, 1.0], classes=True)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b", None, "a"], "target 'y': row 2 is NaN .missing."),
        ([1, 2, 3, None], "row 3 is NaN"),
        (np.array([1, NAN, 1, 1]), "row 1 is NaN"),
        (np.array([1, 1, INF, 1]), "row 2 is inf"),
        (["a", 1, "b", "b"], "target 'y' mixes types"),
        ([True, 2, 0, 1], "mixes types"),
        (["a", "b"], "the target has 2 rows, but the table has 4"),
        (np.ones(5, int), "has 5 rows, but the table has 4"),
        (np.ones((4, 2, 2)), "dimension"),
        (np.array(3), "dimension"),
        (np.array(["2020"] * 4, "M8[Y]"), "target 'y' holds times"),
    ],
)
def test_labels_that_cannot_be(labels, message):
    with pytest.raises(ValueError, match=message):
        encode(X, labels, classes=True)


def test_unknown_label_is_named():
    schema = encode(X, ["a", "b", "c", "a"]).schema
    with pytest.raises(
        ValueError, match=r"target 'y': row 1 has the label 'd', which is unknown; known: 'a', 'b', 'c'"
    ):
        encode(X[:2], ["a", "d"], schema=schema)
    with pytest.raises(ValueError, match=r"row 0 has the label 1, which is unknown"):
        encode(X[:2], [1, 2], schema=schema)
    with pytest.raises(ValueError, match=r"classes=False, but the schema predicts classes"):
        encode(X[:2], [1, 2], schema=schema, classes=False)
    with pytest.raises(ValueError, match=r"2 target\(s\) are given, but the schema has 1"):
        encode(X, np.ones((4, 2), int), schema=schema)


# Numbers


@pytest.mark.parametrize(
    "values", [np.arange(4.0), np.arange(4), [0, 1.0, 2, 3], np.arange(4, dtype=np.float32)]
)
def test_numbers_to_predict(values):
    data = encode(X, values, classes=False)
    assert data.targets.dtype == np.float64
    assert data.targets.tolist() == [[0, 1, 2, 3]]
    assert data.schema.targets == (Target("y"),)
    assert encode(X[:2], [5, 7.5], schema=data.schema).targets.tolist() == [[5, 7.5]]


def test_float_target_is_not_copied_and_bools_are_0_and_1():
    y = np.arange(4.0)
    assert np.shares_memory(encode(X, y).targets, y)
    assert encode(X, [True, False, True, True], classes=False).targets.tolist() == [[1, 0, 1, 1]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, NAN, 2, 3], "target 'y': row 1 is NaN"),
        ([1.0, 2, None, 3], "row 2 is NaN"),
        ([1, 2, 3, -INF], "row 3 is -inf"),
        ([None, "a", "b", "c"], "row 1 is 'a'; every row needs a finite number"),
        ([2**60, 1, 1, 1], "row 0 is .* beyond"),
    ],
)
def test_numbers_that_cannot_be(values, message):
    with pytest.raises(ValueError, match=message):
        encode(X, values, classes=False)


# Where targets come from


def test_targets_of_libraries():
    pd, pl, pa = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    categorical = pd.Series(pd.Categorical(["b", "a", "b", "b"], categories=["z", "b", "a"]), name="label")
    data = encode(X, categorical)
    assert data.schema.targets == (Target("label", ("a", "b")),)
    assert data.targets.tolist() == [[1, 0, 1, 1]]
    for series in (
        pl.Series("q", ["b", "a", "b", "b"]),
        pd.Series(["b", "a", "b", "b"], name="q", index=[3, 2, 1, 0]),
    ):
        assert encode(X, series).schema.targets == (Target("q", ("a", "b")),)
        assert encode(X, series).targets.tolist() == [[1, 0, 1, 1]]
    assert encode(X, pa.array([1.5, 2, 3, 4])).targets.tolist() == [[1.5, 2, 3, 4]]
    assert encode(X, pd.Series([1.5, 2, 3, 4], name=7)).schema.targets[0].name == "y"
    several = encode(X, pd.DataFrame({"u": [1, 0, 1, 1], "v": list("abab")}))
    assert several.schema.targets == (Target("u", (0, 1)), Target("v", ("a", "b")))
    assert several.targets.tolist() == [[1, 0, 1, 1], [0, 1, 0, 1]]
    swapped = encode(X, pl.DataFrame({"v": list("abab"), "u": [1, 0, 1, 1]}), schema=several.schema)
    assert swapped.targets.tolist() == several.targets.tolist()


@pytest.mark.parametrize("library", ["dict", "pandas", "polars", "pyarrow"])
def test_targets_by_name(library):
    table = {"a": [1.0, 2, 3], "y": ["n", "m", "n"], "z": ["q", "q", "p"]}
    if library != "dict":
        module = pytest.importorskip(library)
        table = module.table(table) if library == "pyarrow" else module.DataFrame(table)
    data = encode(table, ["y", "z"])
    assert data.schema.names == ("a",)
    assert [target.name for target in data.schema.targets] == ["y", "z"]
    assert data.targets.tolist() == [[1, 0, 1], [1, 1, 0]]
    assert encode(table, ["z", "y"], schema=data.schema).targets.tolist() == data.targets.tolist()
    one = encode(table, "y")
    assert one.schema.names == ("a", "z")
    assert one.schema.targets == (Target("y", ("m", "n")),)
    assert encode(table, schema=one.schema).targets is None
    with pytest.raises(ValueError, match=r"no column 'w' to be the target; the columns are 'a', 'y', 'z'"):
        encode(table, "w")
    with pytest.raises(ValueError, match=r"no column 'w' to be the target"):
        encode(table, ["y", "w"])
    with pytest.raises(ValueError, match=r"may mean columns of the table or the labels of its 3 rows"):
        encode(table, ["a", "y", "z"])
    with pytest.raises(ValueError, match=r"target 'a' looks like numbers|target 'y' looks like classes"):
        encode(table, ["y", "a"])
    assert encode(table, ["z", "z", "u"]).targets.tolist() == [[1, 1, 0]]  # labels: 'u' is no column


def test_target_names_of_arrays():
    with pytest.raises(ValueError, match=r"no column 'y' to be the target; it has no column names"):
        encode(X, "y")
    with pytest.raises(ValueError, match=r"no columns besides the target"):
        encode({"y": [1, 2]}, "y")
    with pytest.raises(ValueError, match=r"names a column twice"):
        encode({"y": [1, 2, 3], "a": [1, 2, 3]}, ["y", "y"])
    assert [target.name for target in encode(X, np.ones((4, 2))).schema.targets] == ["y0", "y1"]
    assert encode(X, [[1, 2], [1, 3], [1, 4], [1, 5]]).targets.tolist() == [[0] * 4, [0, 1, 2, 3]]
    assert encode(X, np.ones((4, 1))).schema.targets == (Target("y"),)
    with pytest.raises(ValueError, match=r"the target has 3 rows, but the table has 4"):
        encode(X, np.ones((3, 2)))


# Weights


@pytest.mark.parametrize(
    "weight", [[0, 1, 2.5, 3], np.array([0, 1, 2, 3], np.uint8), np.array([True, False, True, True])]
)
def test_weights(weight):
    data = encode(X, [0, 1, 0, 1], weight=weight)
    assert data.weight.dtype == np.float64
    assert data.weight.tolist() == [float(w) for w in weight]
    assert encode(X).weight is None


def test_float_weight_is_not_copied():
    weight = np.ones(8)[::2]
    assert np.shares_memory(encode(X, weight=weight).weight, weight)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 1, -1, 1], "weight: row 2 is -1"),
        ([1, NAN, 1, 1], "row 1 is nan"),
        ([1, 1, 1, INF], "row 3 is inf"),
        ([1, None, 1, 1], "row 1 is nan"),
        ([0, 0, 0, 0], "every row is zero"),
        ([1, 1], "weight has 2 rows, but the table has 4"),
        (np.ones((4, 1)), "weight must be one-dimensional"),
        (["a"] * 4, "weight must hold numbers, not text"),
        ([1e308] * 4, "overflows"),
        ([None] * 4, "row 0 is nan"),
    ],
)
def test_weights_that_cannot_be(weight, message):
    with pytest.raises(ValueError, match=message):
        encode(X, weight=weight)


@pytest.mark.parametrize("weight", [2, 0.5, np.array(0), np.float32(1)])
def test_one_weight_for_all_rows_is_refused(weight):
    with pytest.raises(TypeError, match=r"got scalar `array\([0-9.]+\)` instead. Weights must be"):
        encode(X, weight=weight)


# Sparse tables


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dok", "lil", "dia"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.int64, bool])
@pytest.mark.parametrize("suffix", ["array", "matrix"])
def test_sparse_tables(layout, dtype, suffix):
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.array([[0, 1, 0, 0], [1, 0, 0, 1]]).astype(dtype)
    data = encode(getattr(sparse, f"{layout}_{suffix}")(dense))
    assert data.columns.flags.f_contiguous
    assert data.columns.dtype in (np.float64, np.float32)
    np.testing.assert_array_equal(data.columns, dense.astype(float))
    assert data.schema.names == ("x0", "x1", "x2", "x3")


def test_sparse_cells():
    sparse = pytest.importorskip("scipy.sparse")
    stored = sparse.csr_array(np.array([[NAN, INF, 0]]))
    np.testing.assert_array_equal(encode(stored).columns, [[NAN, INF, 0]])
    twice = sparse.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2))
    np.testing.assert_array_equal(encode(twice).columns, [[0, 3]])
    with pytest.raises(ValueError, match=r"column 'x1': row 2 is 1152921504606846976, beyond"):
        encode(sparse.csr_array(np.array([[1, 0], [0, 5], [0, 2**60]])))
    with pytest.raises(ValueError, match=r"Complex data not supported"):
        encode(sparse.csr_array(np.ones((2, 2), complex)))
    with pytest.raises(ValueError, match="no rows"):
        encode(sparse.csr_array((0, 3)))
    with pytest.raises(TypeError, match=r"target is a sparse matrix; pass y.toarray\(\)"):
        encode(np.ones((2, 1)), sparse.csr_array(np.ones((2, 1))))
    mixed = encode(sparse.csr_array(np.array([[0, 2], [1, 0]])), kinds={0: "category"})
    assert mixed.columns[0].tolist() == [0, 1]
    assert mixed.schema.columns[0] == Column("x0", "category", (0.0, 1.0))


def test_damaged_sparse_tables_are_refused():
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.eye(4)
    for layout, part in [
        ("csr", "indices"),
        ("csc", "indices"),
        ("bsr", "indices"),
        ("coo", "row"),
        ("coo", "col"),
    ]:
        for index in (-1, 10**6):
            table = getattr(sparse, f"{layout}_matrix")(dense)
            getattr(table, part)[1] = index
            with pytest.raises(ValueError, match=r"sparse matrix is damaged"):
                encode(table)
    csr, lil, wrong, dia = (getattr(sparse, f"{name}_matrix")(dense) for name in ("csr", "lil", "lil", "dia"))
    csr.indptr[2] = 100
    lil.rows[1] = [77]
    wrong.data[1] = [1.0, 2.0, 3.0]
    dia.offsets = np.arange(3)
    for table in (csr, lil, wrong, dia):
        with pytest.raises(ValueError, match=r"sparse matrix is damaged"):
            encode(table)


def test_sparse_tables_that_do_not_fit(monkeypatch):
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(
        MemoryError, match=r"10000000 x 10000000 needs 800000\.0 GB when dense, but only .* GB of memory"
    ):
        encode(sparse.csr_array((10**7, 10**7)))
    assert tables.available_memory() > 10**6
    monkeypatch.setattr(tables, "available_memory", lambda: 31)
    with pytest.raises(MemoryError):
        encode(sparse.csr_array(np.eye(2)))
    monkeypatch.setattr(tables, "available_memory", lambda: None)
    assert encode(sparse.csr_array(np.eye(2))).n_rows == 2


# The data set


@given(rows=st.lists(st.integers(0, 3), max_size=6), named=st.booleans())
@settings(max_examples=50, deadline=None)
def test_take_is_the_encoding_of_the_rows(rows, named):
    columns = {"n": np.arange(4.0), "c": np.array(["b", "a", "b", "c"])}
    table = columns if named else X
    data = encode(table, ["u", "v", "u", "w"], weight=[1, 0, 2, 3])
    part = data.take(rows)
    assert part.schema is data.schema
    assert part.n_rows == len(rows)
    assert part.n_columns == 2
    assert part.targets.tolist() == [[data.targets[0, row] for row in rows]]
    assert part.weight.tolist() == [data.weight[row] for row in rows]
    if rows:
        chosen = {name: column[rows] for name, column in columns.items()} if named else X[rows]
        again = encode(chosen, schema=data.schema)
        np.testing.assert_array_equal(np.stack(list(part.columns)), np.stack(list(again.columns)))


def test_take_slices_masks_and_rows_to_predict():
    data = encode(X)
    assert data.take(slice(1, 3)).columns.tolist() == X[1:3].tolist()
    assert data.take(np.array([True, False, False, True])).columns.tolist() == X[[0, 3]].tolist()
    assert data.take([]).n_rows == 0
    assert data.take([0]).targets is None
    assert data.take([0]).weight is None
    with pytest.raises(IndexError):
        data.take([4])
    with pytest.raises(AttributeError):
        data.weight = np.ones(4)


CELLS = [
    st.none() | st.floats(allow_subnormal=True),
    st.none() | st.integers(-(2**53), 2**53),
    st.none() | st.text(),
    st.none() | st.booleans(),
]


@pytest.mark.slow
@given(st.lists(st.tuples(*CELLS), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_round_trip(rows):
    data = encode(rows, kinds={"x2": "category"})  # also where all of its texts are numbers or dates
    again = encode(rows, schema=data.schema)
    for column, values, repeated, cells in zip(
        data.schema.columns, data.columns, again.columns, zip(*rows, strict=True), strict=True
    ):
        np.testing.assert_array_equal(values, repeated)
        if column.kind == "category":
            assert [column.categories[code] if code >= 0 else None for code in values] == list(cells)
        else:
            np.testing.assert_array_equal(values, [NAN if cell is None else cell for cell in cells])


# Costs


@pytest.mark.slow
def test_no_library_is_imported_for_numpy():
    script = (
        "import sys; import numpy as np; from treewright.encoding import encode;"
        "encode(np.ones((3, 2)), ['a', 'b', 'a'], weight=[1, 2, 3]);"
        "encode([[1, 'a']]); encode({'a': [1.5]});"
        "print(sorted({'pandas', 'polars', 'pyarrow', 'narwhals', 'scipy', 'sklearn'} & set(sys.modules)))"
    )
    paths = ["-c", f"import sys; sys.path[:] = {sys.path!r}; {script}"]
    assert (
        subprocess.run([sys.executable, *paths], capture_output=True, text=True, check=True).stdout.strip()
        == "[]"
    )


@pytest.mark.slow
def test_a_matrix_costs_microseconds():
    rows, row = np.ones((150, 4)), np.ones((1, 4))
    labels = np.repeat([0, 1, 2], 50)
    schema = encode(rows, labels).schema
    for work in (lambda: encode(rows, labels), lambda: encode(row, schema=schema)):
        # A few microseconds on a quiet machine.
        assert min(timeit.repeat(work, number=100, repeat=20)) / 100 < 100e-6
