"""What the estimators take and what they refuse: any table, bad input, and fits that fail."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import treewright
from treewright import DecisionTreeClassifier, DecisionTreeRegressor
from treewright.estimators import fitting

NAMES = ["DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor"]
IRIS = load_iris(return_X_y=True)


# ---- tables ------------------------------------------------------------------------------------------------

ROWS = {
    "wind": [3.0, None, 5.0, 14.0, 9.0, 20.0, 1.0, 11.0],
    "sky": ["clear", "rain", "rain", "clear", "clouds", None, "clouds", "rain"],
}
SAIL = ["yes", "no", "no", "yes", "yes", "no", "yes", "no"]


def tables():
    pandas, polars, arrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    frame = pandas.DataFrame(ROWS)
    yield "dict", ROWS
    yield "list of dicts", [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]
    yield "pandas", frame
    yield "pandas categorical", frame.astype({"sky": "category"})
    yield "polars", polars.DataFrame(ROWS)
    yield (
        "polars enum",
        polars.DataFrame(ROWS, schema_overrides={"sky": polars.Enum(["rain", "clouds", "clear"])}),
    )
    yield "polars lazy", polars.DataFrame(ROWS).lazy()
    yield "arrow", arrow.table(ROWS)
    yield "array with fields", frame.to_records(index=False)


def test_any_table() -> None:
    found = {}
    for name, table in tables():
        model = DecisionTreeClassifier().fit(table, SAIL)
        assert model.feature_names_in_.tolist() == ["wind", "sky"], name
        assert model.n_features_in_ == 2
        assert model.predict(table).tolist() == SAIL, name
        found[name] = str(model.model_)
        for other, rows in tables():
            assert model.predict(rows).tolist() == SAIL, f"fitted on {name}, given {other}"
    assert len(set(found.values())) == 1


def test_unseen_category_is_no_missing_value() -> None:
    model = DecisionTreeClassifier().fit(ROWS, SAIL)
    assert set(model.predict({"wind": [4.0, 4.0], "sky": ["hail", None]})) <= {"yes", "no"}


def test_sparse_is_dense() -> None:
    X, y = IRIS
    X = np.where(X < 2, 0, X)
    dense = DecisionTreeClassifier().fit(X, y)
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array, sparse.dok_matrix):
        model = DecisionTreeClassifier().fit(kind(X), y)
        np.testing.assert_array_equal(model.model_.threshold, dense.model_.threshold)
        np.testing.assert_array_equal(model.predict_proba(kind(X)), dense.predict_proba(X))


def test_kinds() -> None:
    X = np.array([[1.0], [2.0], [3.0]])
    model = DecisionTreeClassifier(kinds=["category"], category_gain="plain").fit(X, [0, 1, 0])
    assert model.get_n_leaves() == 2
    assert model.predict(X).tolist() == [0, 1, 0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, bool, object, ">f8"])
@pytest.mark.parametrize("order", ["C", "F", "strided", "read-only"])
def test_any_array(dtype, order: str) -> None:
    X = np.random.default_rng(0).integers(0, 2, size=(40, 3)).astype(dtype)
    y = X[:, 0].astype(int) ^ X[:, 2].astype(int)
    if order == "F":
        X = np.asfortranarray(X)
    elif order == "strided":
        X = np.repeat(X, 2, axis=0)[::2, ::-1][:, ::-1]
    else:
        X.setflags(write=order != "read-only")
    model = DecisionTreeClassifier().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    np.testing.assert_array_equal(model.predict(X[:1]), y[:1])


def test_float64_is_kept() -> None:
    """Two numbers that are one in float32 are still told apart."""
    X = np.array([[1.0], [1.0 + 1e-12]])
    model = DecisionTreeClassifier().fit(X, [0, 1])
    assert model.predict(X).tolist() == [0, 1]


# ---- names of columns at prediction ------------------------------------------------------------------------


def test_names_are_checked_as_scikit_learn_does() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = IRIS
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = DecisionTreeClassifier().fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame[list("dcba")])
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- e"):
        model.predict(frame.rename(columns={"d": "e"}))
    with pytest.raises(ValueError, match=r"now missing:\n- d"):
        model.predict(frame[list("abc")])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        predicted = model.predict(X)
    np.testing.assert_array_equal(predicted, model.predict(frame))
    with pytest.warns(UserWarning, match="fitted without feature names"):
        DecisionTreeClassifier().fit(X, y).predict(frame)


def test_frames_of_floats_are_read_as_other_frames_are() -> None:
    """Small ones are read as a matrix; other types, other orders and large ones column by column."""
    pandas = pytest.importorskip("pandas")
    X, y = IRIS
    frame = pandas.DataFrame(np.where(X > 5.5, np.nan, X), columns=list("abcd"))
    model = DecisionTreeClassifier(random_state=0).fit(frame, y)
    expected = model.predict_proba(frame.astype("Float64"))
    np.testing.assert_array_equal(model.predict_proba(frame), expected)
    np.testing.assert_array_equal(model.predict_proba(frame.iloc[[7]]), expected[[7]])
    np.testing.assert_array_equal(model.predict_proba(frame.assign(d=frame["d"])), expected)
    np.testing.assert_array_equal(
        model.predict(frame.astype("float32")), model.predict(frame.astype("float32").to_dict("list"))
    )
    many = pandas.concat([frame] * 200, ignore_index=True)
    np.testing.assert_array_equal(model.predict_proba(many), np.tile(expected, (200, 1)))
    whole = frame.fillna(0).astype(int)
    np.testing.assert_array_equal(model.predict(whole), model.predict(whole.astype(float)))
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        model.predict(frame.iloc[:0])


def test_few_rows_of_a_frame_are_read_as_its_columns_are() -> None:
    """Cell by cell or column by column: the same predictions and the same errors."""
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    n = 400
    frame = pandas.DataFrame(
        {
            "x": np.where(random.random(n) < 0.1, np.nan, random.normal(size=n)),
            "single": random.normal(size=n).astype(np.float32),
            "whole": random.integers(-5, 5, n),
            "flag": random.random(n) < 0.5,
            "word": random.choice(["u", "v", "w"], n),
            "hole": random.choice(np.array(["p", "q", None], object), n),
            "declared": pandas.Categorical(random.choice(["b", "a"], n), ["b", "a", "c"]),
        }
    )
    y = (frame.x.fillna(0) + frame.single + (frame.word == "u") + (frame.hole == "p")) > frame.whole / 5
    model = DecisionTreeClassifier(random_state=0).fit(frame, y)
    expected = model.predict_proba(frame.to_dict("list"))
    odd = frame.assign(x=np.nan, word="never seen")
    for some, wanted in ((frame, expected), (odd, model.predict_proba(odd.to_dict("list")))):
        for size in (1, 3):
            parts = [model.predict_proba(some.iloc[i : i + size]) for i in range(0, 30, size)]
            np.testing.assert_array_equal(np.concatenate(parts), wanted[:30])
    one = frame.iloc[[0]]
    np.testing.assert_array_equal(model.predict_proba(one.astype(object)), expected[[0]])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(one[frame.columns[::-1]])
    for wrong in ({"x": "text"}, {"word": 3}, {"whole": 2**60}, {"x": -(2**63)}, {"x": 1j}):
        with pytest.raises((ValueError, TypeError)) as of_one:
            model.predict(one.assign(**wrong))
        with pytest.raises((ValueError, TypeError)) as of_many:
            model.predict(pandas.concat([one.assign(**wrong)] * 9))
        assert str(of_one.value) == str(of_many.value)


def test_names_go_when_the_next_table_has_none() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = IRIS
    model = DecisionTreeClassifier().fit(pandas.DataFrame(X, columns=list("abcd")), y)
    assert model.tree_.n_features == 4
    model.fit(X[:, :2], y)
    assert not hasattr(model, "feature_names_in_")
    assert model.tree_.n_features == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X[:, :2])


@pytest.mark.parametrize("columns", [1, 3, 5])
@pytest.mark.parametrize("dtype", [float, int])
def test_number_of_columns_is_checked(columns: int, dtype) -> None:
    model = DecisionTreeClassifier().fit(*IRIS)
    message = f"X has {columns} features, but DecisionTreeClassifier is expecting 4 features"
    for method in (model.predict, model.predict_proba, model.apply, model.decision_path):
        with pytest.raises(ValueError, match=message):
            method(np.zeros((2, columns), dtype=dtype))


# ---- bad input ---------------------------------------------------------------------------------------------

X4 = np.array([[1.0], [2.0], [3.0], [4.0]])
BAD_CLASSES = [
    ("no rows", np.empty((0, 2)), [], "0 sample"),
    ("no columns", np.empty((3, 0)), [0, 1, 0], "0 feature"),
    ("one dimension", np.arange(4.0), [0, 1, 0, 1], "Reshape your data"),
    ("complex", X4 + 1j, [0, 1, 0, 1], "Complex data not supported"),
    ("no target", X4, None, "requires y to be passed"),
    ("a word", X4, "target", "'target'"),
    ("too short", X4, [0, 1, 0], "3 rows"),
    ("missing label", X4, [0.0, 1.0, np.nan, 1.0], "row 2"),
    ("infinite label", X4, [0.0, 1.0, np.inf, 1.0], "row 2"),
    ("no label", X4, ["a", "b", None, "b"], "row 2"),
    ("mixed labels", X4, np.array(["a", 1, "a", 1], dtype=object), "y"),
    ("continuous", X4, [0.5, 1.0, 1.5, 2.0], "continuous"),
    ("three dimensions", X4, np.zeros((4, 1, 1)), "dimension"),
]
BAD_NUMBERS = [
    ("no target", X4, None, "requires y to be passed"),
    ("missing", X4, [0.0, 1.0, np.nan, 1.0], "row 2"),
    ("infinite", X4, [0.0, 1.0, -np.inf, 1.0], "row 2"),
    ("words", X4, ["a", "b", "c", "d"], "number"),
    ("too long", X4, [0.0] * 5, "5 rows"),
    ("beyond float64", X4, [2**53 + 1, 0, 1, 2], "2\\^53|2\\*\\*53"),
]


@pytest.mark.parametrize(("X", "y", "told"), [c[1:] for c in BAD_CLASSES], ids=[c[0] for c in BAD_CLASSES])
def test_bad_input_for_classes(X, y, told: str) -> None:
    with pytest.raises((ValueError, TypeError), match=told):
        DecisionTreeClassifier().fit(X, y)


@pytest.mark.parametrize(("X", "y", "told"), [c[1:] for c in BAD_NUMBERS], ids=[c[0] for c in BAD_NUMBERS])
def test_bad_input_for_numbers(X, y, told: str) -> None:
    with pytest.raises((ValueError, TypeError), match=told):
        DecisionTreeRegressor().fit(X, y)


@pytest.mark.parametrize(
    ("weight", "told"),
    [
        ([1, 1, 1], "3"),
        ([1, -1, 1, 1], "row 1"),
        ([1, 1, np.nan, 1], "row 2"),
        ([1, 1, np.inf, 1], "row 2"),
        ([0, 0, 0, 0], "zero"),
        (np.ones((4, 2)), "weight"),
        (["a"] * 4, "weight"),
    ],
)
def test_bad_weights(weight, told: str) -> None:
    with pytest.raises((ValueError, TypeError), match=told):
        DecisionTreeClassifier().fit(X4, [0, 1, 0, 1], sample_weight=weight)


def test_poisson_wants_counts() -> None:
    model = DecisionTreeRegressor(criterion="poisson")
    with pytest.raises(ValueError, match="row 2"):
        model.fit(X4, [0.0, 1.0, -1.0, 2.0])
    with pytest.raises(ValueError, match="positive"):
        model.fit(X4, [0.0, 0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="positive"):
        model.fit(X4, [0.0, 0.0, 0.0, 5.0], sample_weight=[1, 1, 1, 0])


@pytest.mark.parametrize(
    ("X", "told"),
    [
        (np.zeros((0, 4)), "0 sample"),
        (np.zeros(4), "Reshape your data"),
        (np.zeros((2, 4), dtype=complex), "Complex"),
        (np.full((2, 4), "a"), "x0"),
    ],
)
def test_bad_rows_to_predict(X, told: str) -> None:
    model = DecisionTreeClassifier().fit(*IRIS)
    with pytest.raises((ValueError, TypeError), match=told):
        model.predict(X)


def test_right_answers_at_the_edges() -> None:
    one_row = DecisionTreeClassifier().fit([[1.0]], ["a"])
    assert one_row.predict([[9.0]]).tolist() == ["a"]
    assert one_row.predict_proba([[9.0]]).tolist() == [[1.0]]
    assert one_row.feature_importances_.tolist() == [0.0]
    assert one_row.decision_path([[9.0]]).toarray().tolist() == [[1]]
    constant = DecisionTreeRegressor().fit(np.ones((5, 2)), np.arange(5.0))
    assert constant.predict([[1.0, 1.0]]).tolist() == [2.0]
    missing = DecisionTreeClassifier().fit(np.full((4, 1), np.nan), [0, 0, 1, 0])
    assert missing.predict([[np.nan], [3.0]]).tolist() == [0, 0]
    infinite = DecisionTreeClassifier().fit([[-np.inf], [0.0], [np.inf]], [0, 1, 2])
    assert infinite.predict([[-np.inf], [0.0], [np.inf]]).tolist() == [0, 1, 2]
    huge = DecisionTreeClassifier(threshold="midpoint").fit([[1e308], [1.7e308]], [0, 1])
    assert huge.predict([[1e308], [1.7e308]]).tolist() == [0, 1]


# ---- fits that fail, and no fit at all ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "spoil",
    [
        {"X": np.zeros((3, 0)), "y": [0, 1, 0]},
        {"X": np.zeros((3, 2)), "y": [0, 1]},
        {"X": np.zeros((3, 2)), "y": [0.5, 1, 0]},
        {"X": np.zeros((3, 2)), "y": [0, 1, 0], "sample_weight": [-1, 0, 1]},
    ],
)
def test_a_failed_fit_changes_nothing(spoil) -> None:
    model = DecisionTreeClassifier().fit(*IRIS)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=r"\w"):
        model.fit(**spoil)
    assert vars(model) == before
    assert model.score(*IRIS) == 1.0


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt, RuntimeError])
def test_a_fit_that_stops_in_the_core_changes_nothing(error, monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    model = DecisionTreeClassifier().fit(*IRIS)
    before = dict(vars(model))

    def stop(*_, **__):
        raise error

    monkeypatch.setattr(fitting, "grow", stop)
    with pytest.raises(error):
        model.fit(pandas.DataFrame({"a": [1.0, 2.0]}), ["x", "y"])
    assert vars(model) == before


def test_a_wrong_parameter_changes_nothing() -> None:
    model = DecisionTreeClassifier().fit(*IRIS)
    tree = model.model_
    with pytest.raises(ValueError, match="max_depth"):
        model.set_params(max_depth=-1).fit(*IRIS)
    assert model.model_ is tree
    assert model.predict(IRIS[0][:1]).tolist() == [0]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_fitted_says_so(name: str) -> None:
    model = getattr(treewright, name)()
    for method in ("predict", "apply", "decision_path", "get_depth", "get_n_leaves", "predict_proba"):
        if hasattr(model, method):
            arguments = () if method.startswith("get_") else (IRIS[0],)
            with pytest.raises(NotFittedError, match=name):
                getattr(model, method)(*arguments)
    assert not hasattr(model, "tree_")
    assert not hasattr(model, "feature_importances_")
    assert not model.__sklearn_is_fitted__()


def test_the_name_of_a_column_is_no_target() -> None:
    """Whoever passes one learns what to pass instead."""
    table = {"x": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]}
    with pytest.raises(ValueError, match=r"such as table\['y'\], and X the other columns"):
        DecisionTreeClassifier().fit(table, "y")
