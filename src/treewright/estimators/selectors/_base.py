"""The base class of the feature selectors: fitting to any table, and tables with fewer columns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from treewright._suggestions import checked_keywords
from treewright.encoding import Dataset, encode
from treewright.estimators._tables import (
    Fitted,
    any_table,
    column_names,
    has_fields,
    is_unknown_to_sklearn,
    refuse_one_dimension,
    replace_fit,
)
from treewright.estimators.selectors.tables import in_container, with_columns
from treewright.estimators.targets import plain_target
from treewright.growing import criteria
from treewright.parameters.checks import is_int
from treewright.parameters.selectors import SelectorParameters
from treewright.parameters.spec import Parameters


class TableSelector(SelectorParameters, SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """A selector of columns of any table, with the interface of scikit-learn.

    Attributes
    ----------
    support_ : ndarray of shape (n_features_in_,)
        Whether each column is kept.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.
    """

    parameter_error: ClassVar[type[Exception]] = InvalidParameterError

    @checked_keywords
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Select columns. A fit that fails leaves the selector unchanged.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Any table that `DecisionTreeClassifier` takes, with categories and missing values;
            `ZeroNormSelector` needs numbers.
        y : array of shape (n_rows,) or (n_rows, n_targets)
            Classes, or numbers where they are floats or the criterion is one for numbers; `ZeroNormSelector`
            needs one target of classes.
        sample_weight : array of shape (n_rows,), default=None
            A weight per row, not negative. Permutations move it with the target; bootstraps draw all rows of
            positive weight equally often and then use the weights.

        Returns
        -------
        self
            The fitted selector.
        """
        self.check_parameters()
        replace_fit(self, self._selection(X, y, sample_weight))
        return self

    def transform(self, X: Any) -> Any:
        """The table with the kept columns only.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Rows with the columns of the fit.

        Returns
        -------
        table of shape (n_rows, n_kept_columns)
            A table of the same type: a pandas or polars frame, an Arrow table, a dict of columns, an array, a
            sparse matrix. Lists of rows become arrays. `set_output` asks for pandas or polars instead.
        """
        support = self._get_support_mask()
        refuse_one_dimension(X)
        names = vars(self).get("feature_names_in_")
        if is_unknown_to_sklearn(X):
            _check_names(X, names)
        else:
            validate_data(self, X, reset=False, skip_check_array=True)
        self._check_cells(X)
        if not support.any():
            warnings.warn(
                f"{type(self).__name__} has kept no column: none passed; make it less strict, or check "
                "whether the columns are related to the target at all",
                UserWarning,
                stacklevel=2,
            )
        kept_names = None if names is None else names[support].tolist()
        table = with_columns(X, np.flatnonzero(support).tolist(), kept_names)
        return in_container(table, _get_output_config("transform", estimator=self)["dense"])

    def _selection(self, X: Any, y: Any, sample_weight: Any) -> Fitted:
        """The attributes of a fit."""
        raise NotImplementedError

    def _check_cells(self, X: Any) -> None:
        """Raise an error if the cells of a table are not possible; its columns are those of the fit."""

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, msg="this %(name)s is not fitted yet; call fit with a table and a target first")
        return np.asarray(self.support_)

    def _encode(
        self, X: Any, y: Any, sample_weight: Any, classes: bool | None, kinds: Any = None
    ) -> tuple[Dataset, Fitted]:
        """The encoded rows with their targets, and the attributes that describe the table."""
        refuse_one_dimension(X)
        target = plain_target(y, type(self).__name__)
        data = encode(X, target, weight=sample_weight, kinds=kinds or self.kinds, classes=classes)
        names = column_names(X, data.schema)
        columns: Fitted = {"n_features_in_": data.n_columns}
        return data, columns if names is None else columns | {"feature_names_in_": names}

    def _options(self, group: type[Parameters], **others: Any) -> dict[str, Any]:
        """The parameters of a group as arguments of a function, and other arguments."""
        return {name: getattr(self, name) for name in group.parameters} | others

    def _seed(self) -> int:
        """The seed of all draws of a fit."""
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _n_columns(self, name: str, total: int) -> int:
        """The number of columns that a parameter asks for, out of `total`."""
        value = getattr(self, name)
        number = int(value) if is_int(value) else max(1, int(value * total))
        if number > total:
            self.refuse_parameter(name, f"at most the number of columns, {total}")
        return number

    def __sklearn_is_fitted__(self) -> bool:
        return "support_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = any_table(super().__sklearn_tags__())
        tags.target_tags.required = True
        return tags


def support_mask(positions: Any, n_columns: int) -> NDArray[np.bool_]:
    """Which of the columns are at some positions."""
    support = np.zeros(n_columns, np.bool_)
    support[positions] = True
    return support


def _check_names(X: Any, names: NDArray[Any] | None) -> None:
    """Raise an error if a table of a type that scikit-learn does not know lacks a column of the fit."""
    if names is None:
        raise ValueError("this table has names of columns, but that of the fit had none; give an array")
    rows = X if isinstance(X, list) else [X]
    if has_fields(X):
        present = set(X.dtype.names)
    elif isinstance(rows[0], Mapping):
        present = {str(name) for row in rows for name in row}
    else:
        return
    missing = [name for name in names.tolist() if name not in present]
    if missing:
        raise ValueError(f"the table has no column {', '.join(map(repr, missing[:5]))}, which the fit had")


def expects_classes(criterion: str | None) -> bool | None:
    """Whether a criterion is for classes; None, if there is none, leaves it to the target."""
    return None if criterion is None else criterion not in criteria("numbers")
