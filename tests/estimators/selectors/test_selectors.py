"""All selectors: the type of the table, scikit-learn's conventions for transformers, weights, pickling."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from tests.checks import same_tree
from treewright import (
    DecisionTreeClassifier,
    ShadowSelector,
    SplitFilter,
    TreeSelector,
    ZeroNormSelector,
    encode,
    grow,
)

N = 60
RANDOM = np.random.default_rng(0)
SKY = np.where(np.arange(N) % 3 == 0, "rain", np.where(np.arange(N) % 3 == 1, "sun", None)).astype(object)
ROWS = {"noise": RANDOM.normal(size=N), "sky": list(SKY), "wind": [None, *RANDOM.normal(size=N - 1)]}
STAY = ["yes" if sky == "rain" else "no" for sky in SKY]
MIXED = [
    SplitFilter(k=1),
    TreeSelector(n_features_to_select=1, cv=3, random_state=0),
    ShadowSelector(n_estimators=10, random_state=0),
]
ALL = [*MIXED, ZeroNormSelector(n_features_to_select=2, random_state=0)]


def tables():
    pandas, polars, arrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    frame = pandas.DataFrame(ROWS)
    return {
        "dict": ROWS,
        "list of dicts": [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)],
        "pandas": frame,
        "pandas categorical": frame.astype({"sky": "category"}),
        "polars": polars.DataFrame(ROWS),
        "polars lazy": polars.DataFrame(ROWS).lazy(),
        "arrow": arrow.table(ROWS),
        "array with fields": frame.to_records(index=False),
    }


@pytest.mark.slow
@pytest.mark.parametrize("selector", MIXED, ids=lambda each: type(each).__name__)
def test_tables_keep_their_form(selector) -> None:
    for name, table in tables().items():
        selector = clone(selector).fit(table, STAY)
        assert selector.get_feature_names_out().tolist() == ["sky"], name
        kept = selector.transform(table)
        assert type(kept) is type(table), name
        if name == "dict":
            assert kept == {"sky": ROWS["sky"]}
        if name == "list of dicts":
            assert kept == [{"sky": sky} for sky in ROWS["sky"]]
        if name.startswith("pandas"):
            assert kept.columns.tolist() == ["sky"]
            assert kept.dtypes["sky"] == table.dtypes["sky"]
        if name.startswith("polars"):
            assert (kept.collect() if name == "polars lazy" else kept).columns == ["sky"]
        if name == "array with fields":
            assert kept.dtype.names == ("sky",)
        if name == "arrow":
            assert kept.schema.names == ["sky"]


def test_arrays_keep_their_form() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.where(X < 1, 0, X)
    for kind in (np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        keep = SplitFilter(k=2).fit(kind(X), y)
        kept = keep.transform(kind(X))
        assert sparse.issparse(kept) == sparse.issparse(kind(X))
        dense = kept.toarray() if sparse.issparse(kept) else kept
        np.testing.assert_array_equal(dense, X[:, keep.get_support()])
    assert SplitFilter(k=2).fit(X.tolist(), y).transform(X.tolist()).shape == (150, 2)
    mixed = [[i, "a" if i % 2 else "b"] for i in range(20)]
    both = SplitFilter(k=2).fit(mixed, [i % 2 for i in range(20)])
    assert both.transform(mixed)[3].tolist() == [3, "a"]  # numbers stay numbers
    keep = SplitFilter(k=2).fit(X, y)
    back = keep.inverse_transform(keep.transform(X))
    np.testing.assert_array_equal(back, np.where(keep.support_, X, 0))


def test_set_output() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for name, table in tables().items():
        for container, library in (("pandas", pandas), ("polars", polars)):
            keep = SplitFilter(k=1).set_output(transform=container).fit(table, STAY)
            kept = keep.transform(table)
            assert isinstance(kept, library.DataFrame), (name, container)
            assert list(kept.columns) == ["sky"]
            assert len(kept) == N
    X, y = load_iris(return_X_y=True)
    for container in ("pandas", "polars"):
        kept = SplitFilter(k=2).set_output(transform=container).fit(X, y).transform(X)
        assert list(kept.columns) == ["x2", "x3"]


@pytest.mark.slow
def test_pipelines_and_searches() -> None:
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(SplitFilter(), DecisionTreeClassifier(max_depth=3))
    search = GridSearchCV(pipeline, {"splitfilter__k": [1, 2, 4]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    for selector in ALL:
        model = make_pipeline(clone(selector), DecisionTreeClassifier(max_depth=3)).fit(X, y)
        assert model.score(X, y) > 0.9
    for selector in MIXED:  # categories and missing values go through as they are
        for table in tables().values():
            model = make_pipeline(clone(selector), DecisionTreeClassifier()).fit(table, STAY)
            assert model.predict(table).tolist() == STAY


@pytest.mark.slow
@pytest.mark.parametrize("selector", ALL, ids=lambda each: type(each).__name__)
def test_pickles_and_failed_fits(selector) -> None:
    X, y = load_iris(return_X_y=True)
    selector = clone(selector)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        selector.transform(X)
    selector.fit(X, y)
    again = pickle.loads(pickle.dumps(selector))
    np.testing.assert_array_equal(again.transform(X), selector.transform(X))
    before = dict(vars(selector))
    with pytest.raises(ValueError, match="the target has 149 rows"):
        selector.fit(X, y[:-1])
    with pytest.raises(ValueError, match="X has 3 features"):
        selector.transform(X[:, :3])
    assert vars(selector).keys() == before.keys()
    assert all(vars(selector)[name] is value for name, value in before.items())


def test_tables_without_the_columns_of_the_fit() -> None:
    keep = SplitFilter(k=1).fit(ROWS, STAY)
    with pytest.raises(ValueError, match="no column 'sky', which the fit had"):
        keep.transform({"noise": [1.0], "wind": [2.0]})
    with pytest.raises(ValueError, match="that of the fit had none"):
        SplitFilter(k=1).fit([[1.0], [2.0]], [0, 1]).transform({"x0": [1.0]})
    with pytest.raises(ValueError, match="Reshape"):
        keep.transform(np.arange(3))


@pytest.mark.slow
def test_several_targets() -> None:
    X = np.random.default_rng(0).normal(size=(200, 5))
    both = np.stack([X[:, 1] > 0, X[:, 3] > 0], axis=1).astype(int)
    for y in (both, both * 1.5):  # classes, and numbers
        for selector in (SplitFilter(k=2), TreeSelector(), ShadowSelector(n_estimators=15)):
            keep = selector.set_params(random_state=0).fit(X, y)
            assert keep.get_support(True).tolist() == [1, 3], selector


def test_many_rows_share_their_bins() -> None:
    X = np.random.default_rng(0).normal(size=(6000, 6)).astype(np.float32)
    y = (X[:, 2] > 0) & (X[:, 4] < 0.5)
    data = encode(X, y)
    data.bins()
    few = data.select_columns([4, 2])
    assert np.shares_memory(few.column(0), X)
    same_tree(grow(few, max_depth=6), grow(encode({"x4": X[:, 4], "x2": X[:, 2]}, y), max_depth=6))
    for direction in ("forward", "rfe"):
        keep = TreeSelector(direction=direction, cv=2, random_state=0, n_jobs=2).fit(X, y)
        assert keep.get_support(True).tolist() == [2, 4]


def test_rows_without_weight_change_nothing() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(80, 4)), random.integers(0, 2, 80)
    weight = np.repeat([1.0, 0.0], 40)
    for selector, name in (
        (SplitFilter(alpha=0.5, n_permutations=9, random_state=0), "adjusted_pvalues_"),
        (ShadowSelector(n_estimators=5, max_iter=4, random_state=0), "importances_"),
    ):
        one = getattr(clone(selector).fit(X, y, weight), name)
        two = getattr(clone(selector).fit(X[:40], y[:40]), name)
        np.testing.assert_allclose(one, two)
