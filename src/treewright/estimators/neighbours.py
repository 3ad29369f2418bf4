"""KNeighborsClassifier and KNeighborsRegressor: predictions from the nearest rows."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_array, check_is_fitted, column_or_1d

from treewright._suggestions import checked_keywords
from treewright.estimators._neighbour_search import (
    KNOWN_METRICS,
    effective_metric,
    fitted_searcher,
    is_metric,
    n_rows_of,
    nearest,
)
from treewright.estimators._predictions import ClassifierPredictions, RegressorPredictions
from treewright.estimators._tables import Fitted, replace_fit
from treewright.estimators.targets import plain_target
from treewright.parameters.checks import Allowed
from treewright.parameters.neighbours import NeighbourParameters, Weights
from treewright.parameters.spec import parameter


class NeighboursEstimator(NeighbourParameters, BaseEstimator):  # type: ignore[misc]
    """What the classifier and the regressor share: the k-d tree, the neighbours and their weights.

    Attributes
    ----------
    model_ : treewright.KDTree or sklearn.neighbors.NearestNeighbors
        What finds the neighbours; see `algorithm`.
    effective_metric_ : str or callable
        The metric, such as "euclidean" for "minkowski" with ``p=2``.
    effective_metric_params_ : dict
        Its parameters, such as the `p` of "minkowski".
    n_samples_fit_ : int
        The number of rows of the fit.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.
    """

    metric: Any = parameter(
        default="minkowski",
        allowed=Allowed(
            is_metric, f"one of {', '.join(map(repr, KNOWN_METRICS))}, or a function of two rows"
        ),
    )
    parameter_error: ClassVar[type[Exception]] = InvalidParameterError

    # keywords are left to Python, whose own error tells a vote of scikit-learn that no weights are taken
    def fit(self, X: Any, y: Any) -> Self:
        """Build the k-d tree.

        A fit that fails leaves the estimator unchanged.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns), KDTree, or what scikit-learn's search takes
            Finite numbers; float32 is kept as it is. A sparse matrix, a `BallTree` or a fitted
            `NearestNeighbors` are searched by scikit-learn.
        y : array of shape (n_rows,) or (n_rows, n_targets)
            The classes or numbers to predict.

        Returns
        -------
        self
            The fitted estimator.
        """
        self.check_parameters()
        probe = type(self)()  # takes the columns, so that a fit that fails changes nothing
        searcher = fitted_searcher(self, probe, X)
        n_rows = n_rows_of(searcher)
        plain_target(y, type(self).__name__)
        target = np.asarray(y)
        if target.ndim == 2 and target.shape[1] == 1:
            target = column_or_1d(target, warn=True)
        of_target = self._target_attributes(target)
        if len(target) != n_rows:
            raise ValueError(f"X has {n_rows} rows, but y has {len(target)}; both must have the same number")
        fitted: Fitted = {name: value for name, value in vars(probe).items() if name.endswith("_in_")}
        fitted |= of_target
        fitted |= {"model_": searcher, "n_samples_fit_": n_rows}
        fitted["effective_metric_"], fitted["effective_metric_params_"] = effective_metric(searcher)
        replace_fit(self, fitted)
        return self

    @checked_keywords
    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """The nearest rows of the fit.

        Parameters
        ----------
        X : table of shape (n_queries, n_columns), default=None
            The queries; None for the rows of the fit, none of which is then its own neighbour. With
            ``metric="precomputed"`` the distances to the rows of the fit.
        n_neighbors : int, default=None
            The number of neighbours; None for that of the estimator.
        return_distance : bool, default=True
            Whether to return the distances as well.

        Returns
        -------
        distance : ndarray of shape (n_queries, n_neighbors)
            The distances, the smallest first; only with `return_distance`.
        index : ndarray of shape (n_queries, n_neighbors)
            The positions of the neighbours among the rows of the fit.
        """
        fitted = self._fitted()
        count = self.n_neighbors if n_neighbors is None else n_neighbors
        type(self)(count).check_parameters()
        n_others = fitted["n_samples_fit_"] - (X is None)
        if count > n_others:
            raise ValueError(
                f"n_neighbors is {count}; it must be at most {n_others}, the number of rows of the fit"
                + " less the query itself" * (X is None)
            )
        distance, index = nearest(self, fitted["model_"], X, count)
        return (distance, index) if return_distance else index

    @checked_keywords
    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> csr_matrix:
        """The neighbours as a sparse matrix.

        Parameters
        ----------
        X, n_neighbors
            As for `kneighbors`.
        mode : {"connectivity", "distance"}, default="connectivity"
            The value of a neighbour: 1, or its distance.

        Returns
        -------
        csr_matrix of shape (n_queries, n_rows)
            A row for each query.
        """
        if mode not in ("connectivity", "distance"):
            raise ValueError(f"mode is {mode!r}; it must be 'connectivity' or 'distance'")
        distance, index = self.kneighbors(X, n_neighbors)
        n, k = index.shape
        values = distance.ravel() if mode == "distance" else np.ones(n * k)
        start = np.arange(0, n * k + 1, k)
        return csr_matrix((values, index.ravel(), start), shape=(n, self._fitted()["n_samples_fit_"]))

    def _target_attributes(self, target: NDArray[Any]) -> Fitted:
        """The fitted attributes of the targets, which are checked."""
        raise NotImplementedError

    def _fitted(self) -> Fitted:
        check_is_fitted(self)
        return self.__dict__

    def _weighted_neighbours(self, X: Any) -> tuple[Fitted, NDArray[np.intp], NDArray[np.float64]]:
        """The neighbours of each query and their weights, which add up to 1."""
        fitted = self._fitted()
        distance, index = self.kneighbors(X)
        counts = np.asarray(neighbour_weights(self.weights, distance), dtype=np.float64)
        total = counts.sum(axis=1, keepdims=True)
        bad = np.flatnonzero(~((total[:, 0] > 0) & (total[:, 0] < np.inf)) | (counts < 0).any(axis=1))
        if bad.size:
            raise ValueError(
                f"the weights of the neighbours of row {bad[0]} are {counts[bad[0]].tolist()}; they must be "
                "finite, >= 0, and not all zero"
            )
        return fitted, index, counts / total

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = self.search == "exact" and not self.spill
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.allow_nan = self.metric == "nan_euclidean"
        return tags


class KNeighborsClassifier(ClassifierPredictions, ClassifierMixin, NeighboursEstimator):  # type: ignore[misc]
    """A classifier that predicts the most frequent class of the nearest rows; for numbers see
    `KNeighborsRegressor`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them
        The sorted classes; one array per target if there are several.
    outputs_2d_ : bool
        Whether `y` had several columns.

    Examples
    --------
    >>> from treewright import KNeighborsClassifier
    >>> model = KNeighborsClassifier(3).fit([[1], [2], [3], [7], [8]], ["a", "a", "b", "b", "b"])
    >>> model.predict([[1.5], [6]])
    array(['a', 'b'], dtype='<U1')
    >>> model.predict_proba([[1.5]]).round(2)
    array([[0.67, 0.33]])
    """

    def _class_codes(self, X: Any) -> tuple[Fitted, NDArray[Any]]:
        fitted, shares = self._class_shares(X)
        return fitted, np.stack([share.argmax(axis=1) for share in shares], axis=1)

    def _class_probabilities(self, X: Any) -> list[NDArray[np.float64]]:
        return self._class_shares(X)[1]

    def _class_shares(self, X: Any) -> tuple[Fitted, list[NDArray[np.float64]]]:
        """The attributes of the fit, and per target the share of each class among the neighbours."""
        fitted, index, counts = self._weighted_neighbours(X)
        classes = fitted["classes_"] if fitted["outputs_2d_"] else [fitted["classes_"]]
        shares = []
        for column, labels in enumerate(classes):
            cell = fitted["_target"][index, column] + len(labels) * np.arange(len(index))[:, None]
            flat = np.bincount(cell.ravel(), counts.ravel(), minlength=len(index) * len(labels))
            shares.append(flat.reshape(len(index), len(labels)).astype(np.float64, copy=False))
        return fitted, shares

    def _target_attributes(self, target: NDArray[Any]) -> Fitted:
        assert_all_finite(target, input_name="y")
        check_classification_targets(target)
        several = target.ndim == 2
        pairs = [np.unique(column, return_inverse=True) for column in (target.T if several else [target])]
        classes = [labels for labels, _ in pairs]
        return {
            "classes_": classes if several else classes[0],
            "outputs_2d_": several,
            "_target": np.stack([codes.reshape(-1) for _, codes in pairs], axis=1),
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class KNeighborsRegressor(RegressorPredictions, RegressorMixin, NeighboursEstimator):  # type: ignore[misc]
    """A regressor that predicts the mean of the nearest rows; for classes see `KNeighborsClassifier`.

    Examples
    --------
    >>> from treewright import KNeighborsRegressor
    >>> model = KNeighborsRegressor(2).fit([[1], [2], [3], [7]], [10.0, 20.0, 30.0, 70.0])
    >>> model.predict([[1.2], [6.0]])
    array([15., 50.])
    """

    def _numbers(self, X: Any) -> NDArray[np.float64]:
        fitted, index, counts = self._weighted_neighbours(X)
        target = fitted["_target"]
        means: NDArray[np.float64] = np.einsum("qk,qkt->qt", counts, target.reshape(len(target), -1)[index])
        return means if target.ndim == 2 else means[:, 0]

    def _target_attributes(self, target: NDArray[Any]) -> Fitted:
        options = {"ensure_2d": False, "input_name": "y", "estimator": self}
        return {"_target": check_array(target, dtype=np.float64, **options)}


def neighbour_weights(weights: Weights, distance: NDArray[np.float64]) -> Any:
    """The weight of each neighbour."""
    if weights is None or (isinstance(weights, str) and weights == "uniform"):
        return np.ones_like(distance)
    if callable(weights):
        result = np.asarray(weights(distance))
        if result.shape != distance.shape:
            raise ValueError(
                f"weights gives the shape {result.shape} for distances of the shape {distance.shape}; "
                "the shapes must be equal"
            )
        return result
    at_zero = distance == 0
    safe = np.where(at_zero, 1.0, distance)
    nearest = safe.min(axis=1, keepdims=True)  # weights relative to it cannot overflow
    return np.where(at_zero.any(axis=1, keepdims=True), at_zero, nearest / safe)
