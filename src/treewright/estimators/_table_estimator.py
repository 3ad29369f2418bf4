"""The base of the estimators of encoded tables: `fit` with its checks, and the rows to predict."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import column_or_1d

from treewright._suggestions import checked_keywords
from treewright.encoding import Dataset
from treewright.encoding.row_hashes import FitRows, KnownRows, fingerprint
from treewright.estimators._certify import Certified
from treewright.estimators._tables import Fitted, TableModel

# Attributes of a fit that each tree of an ensemble shares with the ensemble.
_SHARED_BY_TREES = (
    "classes_",
    "n_classes_",
    "n_outputs_",
    "n_features_in_",
    "feature_names_in_",
    "_plain",
    "_fit_rows",
)


def shared_by_trees(fitted: Fitted) -> Fitted:
    """The attributes of an ensemble's fit that its trees have; their `n_classes_` is numpy's integers."""
    shared = {name: fitted[name] for name in _SHARED_BY_TREES if name in fitted}
    if "n_classes_" in shared:
        shared["n_classes_"] = np.array(shared["n_classes_"], dtype=np.intp)[()]
    return shared


def of_ensemble(described: Fitted) -> Fitted:
    """The attributes of a table; the `n_classes_` of scikit-learn's ensembles is Python's integers."""
    numbers = {"n_classes_": described["n_classes_"].tolist()} if "n_classes_" in described else {}
    return described | numbers


class TableEstimator(Certified, TableModel):
    """An estimator whose `model_` is fitted to an encoded table; `model_` has a `schema`.

    A fit collects its attributes in a dict and sets them last, by `fitting.replace_fit`, so that a fit that
    fails leaves the estimator unchanged.
    """

    check_parameters: Any
    _takes_several_targets = False

    @checked_keywords
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to a table.

        A fit that fails or is interrupted leaves the estimator unchanged. Only a forest or a bagging ensemble
        with ``warm_start=True`` keeps the complete trees of an interrupted fit; the next one continues.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            A numpy array, a pandas or polars DataFrame, an Arrow table, a sparse matrix, a dict of columns or
            a list of rows. Strings, bools and categorical columns are split by subsets, dates as numbers; all
            of them may have missing values.
        y : array of shape (n_rows,) or (n_rows, n_targets)
            The classes or numbers to predict. Several targets are for forests and bagging only.
        sample_weight : array of shape (n_rows,), default=None
            A weight per row, not negative; 0 is the same as leaving the row out.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._fit(*self._read_rows(X, y, sample_weight))
        return self

    def _read_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Dataset, Fitted]:
        """The arguments of `_fit`, checked."""
        self.check_parameters()
        if not self._takes_several_targets:
            y = self._single_target(y)
        data, described = self._training_data(X, y, sample_weight)
        data.hash_rows(getattr(self, "n_jobs", None))
        described |= {"_fingerprint": fingerprint(data), "_fit_rows": FitRows((KnownRows.of(data),))}
        if len(data.schema.targets) > 1 and not self._takes_several_targets:
            raise self._too_many_targets(len(data.schema.targets))
        return X, y, data, described

    def _fit(self, X: Any, y: Any, data: Dataset, described: Fitted) -> None:
        """Fit the model to encoded rows and set the attributes; `described` are those of the table."""
        raise NotImplementedError

    def _single_target(self, y: Any) -> Any:
        """The target as one dimension; a column vector comes with scikit-learn's warning."""
        shape: Any = getattr(y, "shape", ())
        if len(shape) == 2 and shape[1] > 1:
            raise self._too_many_targets(shape[1])
        return column_or_1d(y, warn=True) if len(shape) == 2 else y

    def _too_many_targets(self, n_targets: int) -> ValueError:
        return ValueError(f"y has {n_targets} columns; {type(self).__name__} predicts one target")
