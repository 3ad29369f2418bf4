"""What the estimators of many trees share: from a table to rows with targets, and rows to predict."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from treewright.encoding import Dataset, encode
from treewright.encoding.fingerprints import fingerprint
from treewright.encoding.known_rows import FitRows, KnownRows
from treewright.estimators.certified import Certified
from treewright.estimators.fitting import (
    Fitted,
    any_table,
    column_names,
    refuse_one_dimension,
    rows_to_predict,
)
from treewright.estimators.targets import class_arrays, plain_target, weighed_by_class

# what a fit tells of the table, for each tree as for all of them
OF_EACH_TREE = (
    "classes_",
    "n_classes_",
    "n_outputs_",
    "n_features_in_",
    "feature_names_in_",
    "_plain",
    "_fit_rows",
)


class EnsembleEstimator(Certified):
    """The scikit-learn clothes of many trees; `model_` is the value below, which has a `schema`.

    A fit collects what it has found in a dict and sets it last, by `fitting.replace_fit`, so that a fit that
    fails leaves the estimator as it was.
    """

    model_: Any
    kinds: Any
    n_jobs: int | None

    def _encoded(self, X: Any, y: Any, sample_weight: Any, *, classes: bool) -> tuple[Dataset, Fitted]:
        """The rows with their targets and final weights, and what there is to tell about them."""
        refuse_one_dimension(X)
        target = plain_target(y, type(self).__name__)
        data = encode(X, target, weight=sample_weight, kinds=self.kinds, classes=classes)
        names = column_names(X, data.schema)
        described: Fitted = {
            "_fingerprint": fingerprint(data),
            "_fit_rows": FitRows((KnownRows.of(data),)),
            "n_features_in_": len(data.schema.columns),
            "n_outputs_": len(data.schema.targets),
            "_plain": names is None and data.schema.only_numbers,
        }
        if names is not None:
            described["feature_names_in_"] = names
        if classes:
            labels = class_arrays(data.schema, y)
            sizes = [len(each) for each in labels]
            described |= {"classes_": labels, "n_classes_": sizes}
            if len(labels) == 1:
                described |= {"classes_": labels[0], "n_classes_": sizes[0]}
            data = self._reweighted(data)
        return data, described

    def _reweighted(self, data: Dataset) -> Dataset:
        """Rows with the weights of their classes, where the estimator has some."""
        return weighed_by_class(data, getattr(self, "class_weight", None))

    def _fitted(self, error: type[Exception] = NotFittedError) -> Fitted:
        """What a fit has set, of one fit, even if another follows."""
        fitted = vars(self)
        if "model_" not in fitted:
            name = type(self).__name__
            raise error(f"this {name} is not fitted yet; call fit with a table and a target first")
        return fitted

    def _rows(self, X: Any) -> tuple[Fitted, Dataset]:
        """What a fit has set and the rows to predict."""
        fitted = self._fitted()
        return fitted, rows_to_predict(self, fitted, X)

    def _named(self, fitted: Fitted, codes: NDArray[Any]) -> NDArray[Any]:
        """The classes of codes, (rows, targets), as scikit-learn wants them."""
        known = [fitted["classes_"]] if fitted["n_outputs_"] == 1 else fitted["classes_"]
        columns = [classes.take(codes[:, k]) for k, classes in enumerate(known)]
        if len(columns) == 1:
            return np.asarray(columns[0])
        same = len({column.dtype.kind for column in columns}) == 1
        return np.stack(columns if same else [column.astype(object) for column in columns], axis=1)

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        return any_table(super().__sklearn_tags__())  # type: ignore[misc]
