"""How the neighbours of estimators are found: by treewright's k-d tree, or by scikit-learn's searches."""

from __future__ import annotations

from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.metrics import DistanceMetric
from sklearn.neighbors import VALID_METRICS, BallTree, NearestNeighbors
from sklearn.utils.validation import validate_data

from treewright.encoding import encode
from treewright.encoding.schema import Schema
from treewright.estimators._tables import has_fields, is_unknown_to_sklearn, refuse_one_dimension
from treewright.neighbours.kd_tree import KDTree
from treewright.parameters.neighbours import METRICS

KNOWN_METRICS = tuple(sorted({*METRICS, *chain.from_iterable(VALID_METRICS.values())}))
Searcher: TypeAlias = KDTree | Any  # or a NearestNeighbors


def is_metric(value: Any) -> bool:
    """Whether a value is the name of a metric, a function of two rows or one of scikit-learn's metrics."""
    is_name = isinstance(value, str) and value in KNOWN_METRICS
    return is_name or callable(value) or isinstance(value, DistanceMetric)


def fitted_searcher(estimator: Any, probe: Any, X: Any) -> Searcher:
    """What finds the neighbours among the rows of a table; the columns are kept by `probe`."""
    if isinstance(X, KDTree):
        probe.n_features_in_ = X.n_columns
        return X
    is_table = not isinstance(X, BallTree | NearestNeighbors)
    table = _rows(probe, X, estimator.metric, reset=True) if is_table else X
    if is_table and not issparse(X) and _has_kd_tree(estimator):
        return KDTree(table, **_options(estimator, "leaf_size", "metric", "p", "spill", "n_jobs"))
    if estimator.search != "exact" or estimator.spill:
        raise ValueError(
            "search='defeatist' and spill are for treewright's k-d tree, which takes no sparse tables, "
            f"algorithm='auto' or 'kd_tree', and as metric one of {', '.join(map(repr, METRICS))}"
        )
    names = ("n_neighbors", "algorithm", "leaf_size", "metric", "p", "metric_params", "n_jobs")
    searcher = NearestNeighbors(**_options(estimator, *names)).fit(table)
    probe.n_features_in_ = searcher._fit_X.shape[1]  # n_features_in_ is there only after a fit to a table
    return searcher


def _options(estimator: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(estimator, name) for name in names}


def _has_kd_tree(estimator: Any) -> bool:
    """Whether treewright's k-d tree can do what the parameters say."""
    metric = estimator.metric
    is_known = isinstance(metric, str) and metric in METRICS and estimator.metric_params is None
    is_metric_power = metric not in ("minkowski", "p") or estimator.p >= 1
    return is_known and is_metric_power and estimator.algorithm in ("auto", "kd_tree")


def effective_metric(searcher: Searcher) -> tuple[Any, dict[str, Any]]:
    """The metric and its parameters, as scikit-learn tells them."""
    if isinstance(searcher, KDTree):
        return searcher.metric, {"p": searcher.p} if searcher.metric == "minkowski" else {}
    return searcher.effective_metric_, searcher.effective_metric_params_


def n_rows_of(searcher: Searcher) -> int:
    """The number of rows among which neighbours are found."""
    return int(searcher.n_points if isinstance(searcher, KDTree) else searcher.n_samples_fit_)


def nearest(
    estimator: Any, searcher: Searcher, X: Any, count: int
) -> tuple[NDArray[np.floating], NDArray[np.intp]]:
    """The distances and positions of the nearest rows; of those of the fit without themselves for X=None."""
    if not isinstance(searcher, KDTree):
        queries = None if X is None else _rows(estimator, X, searcher.metric, reset=False)
        distance, index = searcher.kneighbors(queries, count)
        return distance, index
    if issparse(X):
        raise ValueError(
            "X is sparse, but the fit was dense: make it dense with X.toarray(), or fit with "
            "algorithm='brute'"
        )
    queries = searcher.data if X is None else number_matrix(estimator, X, reset=False)
    distance, index = searcher.query(
        queries, count + (X is None), search=estimator.search, n_jobs=estimator.n_jobs
    )
    return _without_itself(distance, index) if X is None else (distance, index)


def _rows(estimator: Any, X: Any, metric: Any, *, reset: bool) -> Any:
    """A table as a matrix; a sparse one by rows."""
    if not issparse(X):
        return number_matrix(estimator, X, reset=reset)
    if metric == "precomputed":  # scikit-learn takes or refuses it: some forms lose distances of 0
        return X
    rows = X.tocsr()
    # without indices of 32 bits some metrics of scikit-learn fail
    if rows.indices.dtype == np.int64 and max(*rows.shape, rows.nnz) < 2**31:
        parts = rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        rows = type(rows)(parts, shape=rows.shape)
    return rows


def number_matrix(estimator: Any, X: Any, *, reset: bool) -> NDArray[np.floating]:
    """A table as a matrix of float32 or float64; ValueError names a column that holds something else."""
    refuse_one_dimension(X)
    if is_unknown_to_sklearn(X) and (has_fields(X) or not hasattr(X, "__array__")):
        data = encode(X)
        _refuse_categories(data.schema)
        names = np.array(data.schema.names, dtype=object)
        if reset:
            estimator.n_features_in_, estimator.feature_names_in_ = len(names), names
        elif names.tolist() != getattr(estimator, "feature_names_in_", names).tolist():
            raise ValueError("The feature names should match those that were passed during fit")
        return np.stack([np.asarray(column, np.float64) for column in data.columns], axis=1)
    try:
        return validate_data(  # type: ignore[no-any-return]
            estimator, X, reset=reset, dtype=(np.float64, np.float32), order="C", ensure_all_finite=False
        )
    except ValueError as trouble:
        try:
            schema = encode(X).schema
        except (TypeError, ValueError):
            raise trouble from None
        _refuse_categories(schema)
        raise


def _refuse_categories(schema: Schema) -> None:
    """Raise an error that names the first column that does not hold numbers."""
    for column in schema.columns:
        if not column.type.is_summable:
            raise ValueError(
                f"column {column.name!r} holds no numbers ({column.kind}); nearest neighbours need numbers "
                "in all columns: encode it, or drop it"
            ) from None


def _without_itself(
    distance: NDArray[np.float64], index: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The neighbours of the rows of the fit without the row itself, or the last one if it is absent."""
    itself = index == np.arange(len(index))[:, None]
    itself[~itself.any(axis=1), -1] = True
    shape = len(index), index.shape[1] - 1
    return distance[~itself].reshape(shape), index[~itself].reshape(shape)
