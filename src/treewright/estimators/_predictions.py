"""The prediction methods of classifiers and regressors, documented once for all estimators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treewright.estimators._tables import Fitted
from treewright.parameters import documented

Floats = NDArray[np.float64]


def class_labels(classes: Any, codes: NDArray[Any]) -> NDArray[Any]:
    """The labels of class codes of shape (n_rows, n_targets); `classes` is a list where there are several."""
    known = classes if isinstance(classes, list) else [classes]
    columns = [labels.take(codes[:, k]) for k, labels in enumerate(known)]
    if len(columns) == 1:
        return np.asarray(columns[0])
    same = len({column.dtype.kind for column in columns}) == 1
    return np.stack(columns if same else [column.astype(object) for column in columns], axis=1)


def one_or_list(arrays: list[Floats]) -> Any:
    """The array of a single target itself, or the list of one array per target."""
    return arrays[0] if len(arrays) == 1 else arrays


class ClassifierPredictions:
    """`predict`, `predict_proba` and `predict_log_proba`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them
        The sorted classes; one array per target if there are several.
    n_classes_ : int, or an array of them
        The number of classes.
    """

    _predicts_classes: ClassVar[bool] = True

    # the fitted attributes, and the predicted class codes of shape (n_rows, n_targets)
    _class_codes: Callable[[Any], tuple[Fitted, NDArray[Any]]]
    _class_probabilities: Callable[[Any], list[Floats]]  # for each target those of its classes

    @documented
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row; of several equally good classes the first.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_targets)
            The predicted classes.
        """
        fitted, codes = self._class_codes(X)
        return class_labels(fitted["classes_"], codes)

    @documented
    def predict_proba(self, X: Any) -> Any:
        """Predict the probability of each class.

        Returns
        -------
        ndarray of shape (n_rows, n_classes), or a list of them, one per target
            The probabilities, in the order of `classes_`.
        """
        return one_or_list(self._class_probabilities(X))

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of `predict_proba`: minus infinity where a probability is 0."""
        with np.errstate(divide="ignore"):
            return one_or_list([np.log(each) for each in self._class_probabilities(X)])


class RegressorPredictions:
    """`predict` for numbers."""

    _predicts_classes: ClassVar[bool] = False

    _numbers: Callable[[Any], Floats]  # the predictions, of shape (n_rows,) or (n_rows, n_targets)

    @documented
    def predict(self, X: Any) -> Floats:
        """Predict the number of each row.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_targets)
            The predicted numbers.
        """
        return self._numbers(X)


class BoostedClassifierPredictions(ClassifierPredictions):
    """Predictions of boosted trees, also after each iteration. `raw` is what the trees add up to."""

    _raw: Callable[[Any], tuple[Fitted, Any]]  # the fitted attributes, and the raw scores of all iterations
    _staged_raw: Callable[[Any], Iterator[tuple[Fitted, Any]]]  # the same after each iteration
    _codes: Callable[[Any], NDArray[Any]]  # from raw scores to class codes of shape (n_rows,)
    _probabilities: Callable[[Any], Floats]
    _decision: Callable[[Any], Floats]

    def _class_codes(self, X: Any) -> tuple[Fitted, NDArray[Any]]:
        fitted, raw = self._raw(X)
        return fitted, self._codes(raw)[:, np.newaxis]

    def _class_probabilities(self, X: Any) -> list[Floats]:
        return [self._probabilities(self._raw(X)[1])]

    @documented
    def decision_function(self, X: Any) -> Floats:
        """The score of each class: positive for the second of two classes, largest for the predicted one.

        Returns
        -------
        ndarray of shape (n_rows,) for two classes, or (n_rows, n_classes)
            The scores, in the order of `classes_`.
        """
        return self._decision(self._raw(X)[1])

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield `predict` after each iteration."""
        for fitted, raw in self._staged_raw(X):
            yield class_labels(fitted["classes_"], self._codes(raw)[:, np.newaxis])

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield `predict_proba` after each iteration."""
        for _, raw in self._staged_raw(X):
            yield self._probabilities(raw)

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield `decision_function` after each iteration."""
        for _, raw in self._staged_raw(X):
            yield self._decision(raw)
