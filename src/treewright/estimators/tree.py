"""The tree estimators: DecisionTree* and ExtraTree*, for classes and for numbers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import sklearn.tree
from numpy.typing import NDArray

from treewright.estimators._predictions import ClassifierPredictions, Floats, class_labels
from treewright.estimators.fitting import TreeEstimator
from treewright.growing import n_threads
from treewright.parameters import documented
from treewright.parameters.tree import ClassifierParameters, RandomThresholds, RegressorParameters
from treewright.tree.missing import divides
from treewright.tree.predict import codes, numbers, proportions


class TreeClassifier(ClassifierPredictions, TreeEstimator, sklearn.tree.DecisionTreeClassifier):  # type: ignore[misc]
    """What all estimators of one tree that predicts classes share."""

    @documented
    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """The heaviest class of each row's leaf, or the class of the smallest cost; the first of several.

        For a row that the tree divides (``missing="fractional"``), that of the mixture of its leaves.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_targets)
            The predicted classes.
        """
        fitted, rows = self._rows(X)
        tree, known, threads = fitted["model_"], fitted["classes_"], n_threads(self.n_jobs)
        if fitted["n_outputs_"] == 1:
            if rows.n_rows <= tree.n_nodes or divides(tree, rows):
                return np.asarray(known.take(codes(tree, rows, threads)[:, 0]))
            labels = known.take(tree.label[:, 0])  # faster for many rows: the labels of the nodes first
            return np.asarray(labels.take(tree.apply(rows, n_jobs=threads)))
        return class_labels(known, codes(tree, rows, threads))

    @documented
    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """The share of each class in the weight of each row's leaf.

        Returns
        -------
        ndarray of shape (n_rows, n_classes), or a list of them, one per target
            The shares, in the order of `classes_`.
        """
        return super().predict_proba(X)

    def _class_probabilities(self, X: Any) -> list[Floats]:
        fitted, rows = self._rows(X)
        return proportions(fitted["model_"], rows, n_threads(self.n_jobs))


class TreeRegressor(TreeEstimator, sklearn.tree.DecisionTreeRegressor):  # type: ignore[misc]
    """What all estimators of one tree that predicts numbers share."""

    _predicts_classes: ClassVar[bool] = False

    @documented
    def predict(self, X: Any, check_input: bool = True) -> NDArray[np.float64]:
        """The prediction of each row's leaf: the mean of its targets, the median for "absolute_error", or the
        value of its linear model.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_targets)
            The predicted numbers.
        """
        fitted, rows = self._rows(X)
        values = numbers(fitted["model_"], rows, n_threads(self.n_jobs))
        return values[:, 0] if values.shape[1] == 1 else values


class DecisionTreeClassifier(ClassifierParameters, TreeClassifier):
    """A decision tree that predicts classes.

    Everything that takes scikit-learn's class of the same name takes this one: it is a subclass with the same
    parameters, and a few more after them. The tree is grown exactly, in float64, and is the same for any
    number of threads. Columns may be numbers, categories (strings, bools and categorical columns) and dates,
    with missing values; `y` may have several columns.

    See Also
    --------
    DecisionTreeRegressor : The same for numbers.
    treewright.grow : The function below it, for tables without an estimator around them.

    Examples
    --------
    >>> from treewright import DecisionTreeClassifier
    >>> table = {"wind": [3, 12, 5, 14, 9], "sky": ["clear", "clear", "rain", "rain", "clouds"]}
    >>> model = DecisionTreeClassifier().fit(table, ["sail", "stay", "sail", "stay", "sail"])
    >>> model.predict({"wind": [4, 20], "sky": ["clouds", None]})
    array(['sail', 'stay'], dtype='<U4')
    >>> model.get_n_leaves()
    2
    """


class DecisionTreeRegressor(RegressorParameters, TreeRegressor):
    """A decision tree that predicts numbers.

    Everything that takes scikit-learn's class of the same name takes this one: it is a subclass with the same
    parameters, and a few more after them. The tree is grown exactly, in float64, and is the same for any
    number of threads. Columns may be numbers, categories (strings, bools and categorical columns) and dates,
    with missing values; `y` may have several columns.

    See Also
    --------
    DecisionTreeClassifier : The same for classes.
    treewright.grow : The function below it, for tables without an estimator around them.

    Examples
    --------
    >>> from treewright import DecisionTreeRegressor
    >>> table = {"rooms": [1, 2, 3, 4, 5], "lift": [True, False, True, False, True]}
    >>> model = DecisionTreeRegressor(max_depth=1).fit(table, [300.0, 420.0, 500.0, 900.0, 1000.0])
    >>> model.predict({"rooms": [2, 6], "lift": [True, True]}).round(1)
    array([406.7, 950. ])
    """


class ExtraTreeClassifier(RandomThresholds, DecisionTreeClassifier):  # type: ignore[misc]
    """A decision tree that predicts classes, with thresholds drawn at random.

    Each node draws some columns, one threshold in each, and takes the best of these splits. Meant for
    ensembles: one such tree alone is worse than a `DecisionTreeClassifier`, from which it differs in the
    defaults only.

    See Also
    --------
    DecisionTreeClassifier : The tree with the best thresholds.
    ExtraTreeRegressor : The same for numbers.

    Examples
    --------
    >>> from treewright import ExtraTreeClassifier
    >>> model = ExtraTreeClassifier(random_state=0).fit([[0, 1], [1, 0], [2, 2], [3, 1]], [0, 0, 1, 1])
    >>> model.predict([[0, 1], [3, 1]])
    array([0, 1])
    """

    splitter: str = "random"
    max_features: int | float | str | None = "sqrt"


class ExtraTreeRegressor(RandomThresholds, DecisionTreeRegressor):  # type: ignore[misc]
    """A decision tree that predicts numbers, with thresholds drawn at random.

    Each node draws some columns, one threshold in each, and takes the best of these splits. Meant for
    ensembles: one such tree alone is worse than a `DecisionTreeRegressor`, from which it differs in the
    defaults only.

    See Also
    --------
    DecisionTreeRegressor : The tree with the best thresholds.
    ExtraTreeClassifier : The same for classes.

    Examples
    --------
    >>> from treewright import ExtraTreeRegressor
    >>> model = ExtraTreeRegressor(random_state=0).fit([[0, 1], [1, 0], [2, 2], [3, 1]], [0.0, 0.5, 2.0, 2.5])
    >>> model.predict([[0, 1], [3, 1]])
    array([0. , 2.5])
    """

    splitter: str = "random"
    max_features: int | float | str | None = 1.0
