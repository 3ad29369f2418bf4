"""The rows of a fit of gradient boosting: which columns are categories, which rows judge the iterations."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from treewright._suggestions import did_you_mean
from treewright.encoding import Dataset, encode
from treewright.encoding.kinds import KindName
from treewright.encoding.schema import Schema
from treewright.encoding.splits import set_aside
from treewright.estimators._tables import column_names, refuse_one_dimension
from treewright.estimators.targets import plain_target
from treewright.parameters.checks import is_int

_CANNOT_LIST = "categorical_features must be an array-like of bool, int or str, got: "


def kinds_of_columns(categorical_features: Any, X: Any, schema: Schema) -> list[KindName] | None:
    """The kind of each column if `categorical_features` says so; None where it agrees with the schema, which
    goes by the types of the columns.

    Text is categories whatever is listed, because it has no order.
    """
    if isinstance(categorical_features, str):  # "from_dtype"
        return None
    listed = _listed(categorical_features, X, schema)
    kinds: list[KindName] = []
    for is_listed, column in zip(listed, schema.columns, strict=True):
        holds_numbers = column.is_category and column.type.family(column.categories) in ("number", "bool")
        kinds.append("category" if is_listed else "number" if holds_numbers else column.kind)
    return None if kinds == [column.kind for column in schema.columns] else kinds


def _listed(categorical_features: Any, X: Any, schema: Schema) -> NDArray[np.bool_]:
    """Whether each column is listed, by a mask, by positions or by names."""
    n_columns = len(schema.columns)
    none = np.zeros(n_columns, bool)
    given = np.asarray([] if categorical_features is None else categorical_features)
    if not given.size:
        return none
    types = {type(each) for each in given} if given.dtype.kind == "O" else {str}
    if given.dtype.kind not in "biuUO" or types != {str}:
        names = [given.dtype.name] if given.dtype.kind != "O" else sorted(each.__name__ for each in types)
        raise ValueError(f"{_CANNOT_LIST}{', '.join(names)}.")
    if given.dtype.kind == "b":
        if given.shape != (n_columns,):
            raise ValueError(
                "categorical_features set as a boolean mask must have shape (n_features,), "
                f"here ({n_columns},); got: {given.shape}"
            )
        return given
    if given.dtype.kind in "iu":
        if given.min() < 0 or given.max() >= n_columns:
            raise ValueError(
                "categorical_features set as integer indices must be in [0, n_features - 1], here "
                f"[0, {n_columns - 1}]; got: {given.tolist()}"
            )
        none[given] = True
        return none
    return _named(given.tolist(), X, schema)


def _named(names: list[str], X: Any, schema: Schema) -> NDArray[np.bool_]:
    if column_names(X, schema) is None:
        raise ValueError(
            "categorical_features should be passed as an array of integers or as a boolean mask when the "
            "model is fitted on data without feature names."
        )
    for name in names:
        if name not in schema.names:
            raise ValueError(
                f"categorical_features has an item value {name!r} which is not a valid feature name of the "
                f"training data. Observed feature names: {list(schema.names)}"
                + did_you_mean(name, schema.names)
            )
    return np.array([name in names for name in schema.names])


def given_rows(X: Any, y: Any, sample_weight: Any, schema: Schema) -> Dataset:
    """Rows to judge the iterations by that the user has given."""
    refuse_one_dimension(X)
    target = plain_target(y, "early stopping")
    try:
        return encode(X, target, weight=sample_weight, schema=schema)
    except (TypeError, ValueError) as error:
        raise type(error)(f"X_val and y_val: {error}") from error


def joined(data: Dataset, others: Dataset) -> Dataset:
    """The rows of both, which have the same schema."""
    columns: Any
    if isinstance(data.columns, np.ndarray) and isinstance(others.columns, np.ndarray):
        columns = np.concatenate([data.columns, others.columns])
    else:
        pairs = zip(data.column_arrays, others.column_arrays, strict=True)
        columns = tuple(np.concatenate(pair) for pair in pairs)
    weight = None
    if data.weight is not None or others.weight is not None:
        weight = np.concatenate([data.row_weights, others.row_weights])
    targets = np.concatenate([data.target_array, others.target_array], axis=1)
    return replace(data, columns=columns, targets=targets, weight=weight)


def rows_set_aside(data: Dataset, validation_fraction: Any, seed: int) -> NDArray[np.bool_]:
    """Which rows are set aside to judge the iterations: those that scikit-learn sets aside with this seed.

    Where it would refuse to spread the classes, because one of them has a single row or there are more
    classes than rows to set aside, `set_aside` does so as far as it is possible.
    """
    rows = data.counted
    size = validation_fraction if is_int(validation_fraction) else ceil(validation_fraction * len(rows))
    if not 1 <= size < len(rows):
        raise ValueError(
            f"validation_fraction={validation_fraction!r} of {len(rows)} rows sets {size} aside for "
            "validation; at least one row must be set aside and one left for training (or set "
            "early_stopping=False, or validation_fraction=None)"
        )
    classes = None
    if data.schema.predicts_classes:
        classes = data.target_array[0][rows]
        n_of_each = np.unique(classes, return_counts=True)[1]
        if n_of_each.min() < 2 or len(n_of_each) > min(size, len(rows) - size):
            return set_aside(data, size / len(rows), seed)
    aside = np.zeros(data.n_rows, bool)
    aside[train_test_split(rows, test_size=validation_fraction, stratify=classes, random_state=seed)[1]] = (
        True
    )
    return aside
