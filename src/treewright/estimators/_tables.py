"""From a table to encoded rows and back to attributes: what all estimators of tables share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.validation import validate_data

from treewright.encoding import Dataset, encode
from treewright.encoding.columns import renamed_columns
from treewright.encoding.few_rows import few_rows
from treewright.encoding.schema import Schema
from treewright.encoding.tables import FLOATS, float_matrix
from treewright.estimators.targets import class_attributes, plain_target, weight_by_class
from treewright.tree.shortcuts import Shortcuts

Fitted = dict[str, Any]  # the attributes that a fit sets, by name
_MADE_AGAIN = frozenset({"_view", "_members"})
# the attributes that the next fit does not always set again
_OF_A_FIT = _MADE_AGAIN | frozenset(
    {"feature_names_in_", "pruning_path_", "competitors_", "_leaf_targets"}
    | {"oob_curve_", "oob_decision_function_", "oob_prediction_", "oob_score_"}
    | {"model_", "n_outputs_", "_plain", "_seed", "_fingerprint", "_fit_rows", "_of_others"}
)


class TableModel(Shortcuts):
    """An estimator whose `model_` has a `schema`, by which rows are encoded.

    Attributes
    ----------
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.
    n_outputs_ : int
        The number of targets.
    """

    parameter_error: ClassVar[type[Exception]] = InvalidParameterError
    kinds: Any
    n_jobs: int | None
    _predicts_classes: ClassVar[bool]

    def _training_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Dataset, Fitted]:
        """The rows with their targets and final weights, and the attributes that describe the table."""
        data = self._encode(X, y, sample_weight)
        names = column_names(X, data.schema)
        attributes: Fitted = {
            "n_features_in_": len(data.schema.columns),
            "n_outputs_": len(data.schema.targets),
            "_plain": names is None and data.schema.only_numbers,
        }
        if names is not None:
            attributes["feature_names_in_"] = names
        if self._predicts_classes:
            attributes |= class_attributes(data.schema, y)
            data = self._reweighted(data)
        return data, attributes

    def _encode(self, X: Any, y: Any, sample_weight: Any) -> Dataset:
        refuse_one_dimension(X)
        target = plain_target(y, type(self).__name__)
        return encode(X, target, weight=sample_weight, kinds=self.kinds, classes=self._predicts_classes)

    def _reweighted(self, data: Dataset) -> Dataset:
        """The rows, with `class_weight` multiplied into their weights where the estimator has one."""
        return weight_by_class(data, getattr(self, "class_weight", None))

    def _fitted(self, error: type[Exception] = NotFittedError) -> Fitted:
        """The attributes of one fit, even if another fit follows in another thread."""
        fitted = vars(self)
        if "model_" not in fitted:
            name = type(self).__name__
            raise error(
                f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before using "
                "this estimator."
            )
        return fitted

    def _fitted_model(self) -> Self:
        self._fitted()
        return self

    def _rows(self, X: Any) -> tuple[Fitted, Dataset]:
        """The attributes of the fit and the encoded rows to predict."""
        fitted = self._fitted()
        return fitted, rows_to_predict(self, fitted, X)

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()  # what is made again on demand is not pickled
        return {name: value for name, value in state.items() if name not in _MADE_AGAIN}

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        return any_table(super().__sklearn_tags__())  # type: ignore[misc]


def any_table(tags: Any) -> Any:
    """The tags of an estimator that takes tables of all kinds."""
    tags.input_tags.allow_nan = True
    tags.input_tags.sparse = True
    tags.input_tags.categorical = True
    tags.input_tags.string = True
    return tags


def replace_fit(estimator: Any, fitted: Fitted) -> None:
    """Set the attributes of a fit, all at once and last: a failure before has changed nothing, and another
    thread sees the old fit or the new one, never a mixture.
    """
    dropped = _OF_A_FIT.union(vars(estimator).get("_of_others", ()))
    kept = {name: value for name, value in vars(estimator).items() if name not in dropped}
    estimator.__dict__ = kept | fitted


def rows_to_predict(estimator: Any, fitted: Fitted, X: Any) -> Dataset:
    """The rows to predict; an array of floats is taken as it is where all columns are unnamed numbers."""
    schema: Schema = fitted["model_"].schema
    plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype in FLOATS and fitted["_plain"]
    if plain and X.shape[1] == fitted["n_features_in_"] and X.shape[0] and X.flags.aligned:
        return Dataset(schema, X)
    names = fitted.get("feature_names_in_")
    matrix = float_matrix(X, names) if names is not None and schema.only_numbers else None
    if matrix is not None:
        return Dataset(schema, matrix)
    rows = None if names is None else few_rows(X, schema)
    if rows is not None:
        return rows
    refuse_one_dimension(X)
    if not is_unknown_to_sklearn(X):
        _check_columns(estimator, X, schema)
    return encode(X, schema=schema)


def _check_columns(estimator: Any, X: Any, schema: Schema) -> None:
    """scikit-learn's check of names and number of columns; its error also says what a new name may mean."""
    try:
        validate_data(estimator, X, reset=False, skip_check_array=True)
    except ValueError as error:
        names = column_names(X, schema)
        given = dict.fromkeys([] if names is None else names.tolist())
        extra = [name for name in given if name not in schema.names]
        meant = renamed_columns(extra, [name for name in schema.names if name not in given])
        if not meant:
            raise
        raise ValueError("\n".join([str(error), *meant])) from None


def column_names(X: Any, schema: Schema) -> NDArray[Any] | None:
    """The names of the columns by scikit-learn's rule: only where all of them are strings."""
    if is_unknown_to_sklearn(X):
        return np.array(schema.names, dtype=object)
    if type(X) is np.ndarray:
        return None
    probe = BaseEstimator()  # scikit-learn applies its rule to estimators only
    validate_data(probe, X, skip_check_array=True)
    return getattr(probe, "feature_names_in_", None)


def is_unknown_to_sklearn(X: Any) -> bool:
    """Whether scikit-learn does not know such tables: a dict of columns, a list of dicts, a lazy frame, an
    array with fields.
    """
    if isinstance(X, list):
        return bool(X) and isinstance(X[0], Mapping)
    if has_fields(X):
        return True
    return not hasattr(X, "shape") and (isinstance(X, Mapping) or not hasattr(X, "__len__"))


def has_fields(X: Any) -> bool:
    """Whether a table is an array with fields, which are its columns."""
    return isinstance(X, np.ndarray) and X.dtype.names is not None


def refuse_one_dimension(X: Any) -> None:
    """Refuse a table that has one dimension; the error says how to reshape it."""
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and len(shape) == 1 and not is_unknown_to_sklearn(X):
        raise ValueError(
            "Expected 2D array, got 1D array instead. Reshape your data: X.reshape(-1, 1) if it is one "
            "column, X.reshape(1, -1) if it is one row"
        )
