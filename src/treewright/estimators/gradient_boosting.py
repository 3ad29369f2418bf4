"""Gradient boosting in scikit-learn's clothes: GradientBoostingClassifier, GradientBoostingRegressor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from treewright.ensembles import losses
from treewright.estimators.boosting_fitting import GradientBoosting
from treewright.estimators.parameters import Rule, is_real


class GradientBoostingClassifier(GradientBoosting, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Gradient boosting for classes: trees that add up to the logits of the classes.

    The parameters are those of scikit-learn's `HistGradientBoostingClassifier` but two, and where no column
    has more than `max_bins` values so are the trees, unless `max_delta_step` bounds a step. Sums are exact:
    the model is the same for any number of threads. Columns may be numbers, categories (strings, bools and
    categorical columns, by subsets) and dates, with missing values, whose side is learnt.

    There is no `categorical_features`, and no `is_categorical_`: categories are known by the kind of their
    column, which `kinds` can say. There is no `interaction_cst`, and `fit` takes no validation rows. A
    target of one class is refused.

    Parameters
    ----------
    loss : {"log_loss"}, default="log_loss"
        The logistic loss, multinomial for more than two classes.
    learning_rate : float, default=0.1
        The share of each step that is taken. Smaller needs more iterations.
    max_iter : int, default=100
        The most iterations; each adds a tree, or of more than two classes one for each.
    max_leaf_nodes : int or None, default=31
        The most leaves of a tree; the leaf with the largest gain is split first.
    max_depth : int or None, default=None
        The most tests on the way to a leaf.
    min_samples_leaf : int or float, default=20
        No split leaves a side with fewer rows. A float is a fraction of all rows, rounded up.
    l2_regularization : float, default=0.0
        Added to the hessians of a leaf, so that small leaves make small steps.
    max_delta_step : float, "auto" or None, default="auto"
        The longest step of a leaf, before the learning rate, as in XGBoost and LightGBM. "auto" is
        ``5 / learning_rate``: no leaf multiplies the odds of a class by more than exp(5). Without a bound, as
        None has it and scikit-learn, a class of a few rows can ruin the predictions of all others.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        How many columns, drawn at random, each node considers; a float is a fraction of them.
    max_bins : int or None, default=255
        A column with at most so many different values is split exactly; the values of others are told apart
        as so many intervals of about equally many rows. None: every value counts, by the exact grower, which
        takes several times as long.
    monotonic_cst : dict or array of shape (n_columns,), default=None
        By name, or one for each column: 1 if the answer must not fall as the column grows, -1 if it must not
        rise, 0 if it may do both.
    warm_start : bool, default=False
        Whether the next fit continues this one, up to a larger `max_iter`. The rows must be the same.
    early_stopping : "auto" or bool, default="auto"
        Whether to end where the score has settled. "auto" does for more than 10,000 rows.
    scoring : str, callable or None, default="loss"
        What is to settle: the loss, a scorer by name, or ``scorer(estimator, X, y)``. None is the estimator's
        own score.
    validation_fraction : float, int or None, default=0.1
        The share (or number) of rows that is set aside for that; None: the training rows are scored.
    n_iter_no_change : int, default=10
        For how many iterations the score must not have risen.
    tol : float, default=1e-7
        By more than this.
    verbose : int, default=0
        Whether a line is printed after each iteration.
    random_state : int, RandomState or None, default=None
        Seeds the rows that are set aside and the columns that are drawn.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into those of the rows. "balanced" gives each class the same weight
        in all.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.
    n_jobs : int, default=None
        Threads to fit and predict with; the result is the same for any number. None is one, -1 all cores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The sorted classes.
    model_ : treewright.ensembles.gradient_boosting.GradientBoosted
        The trees, iteration by iteration. ``print(model.model_.trees[0][0])`` shows the first.
    n_iter_ : int
        The number of iterations.
    n_trees_per_iteration_ : int
        One, or of more than two classes one for each.
    train_score_, validation_score_ : ndarray of shape (n_iter_ + 1,)
        The score at the start and after each iteration, of the rows learnt from (a scorer sees 10,000 of them
        at most) and of those set aside; minus the loss where that is what counts. Empty without early
        stopping.
    do_early_stopping_ : bool
        Whether early stopping was in use.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in the gains of all trees.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    See Also
    --------
    GradientBoostingRegressor : The same for numbers.
    DecisionTreeClassifier : A single tree, to be read.

    Examples
    --------
    >>> from treewright import GradientBoostingClassifier
    >>> table = {"wind": [3, 12, 5, 14] * 15, "sky": ["clear", "clear", "rain", None] * 15}
    >>> model = GradientBoostingClassifier().fit(table, ["sail", "stay", "sail", "stay"] * 15)
    >>> model.predict({"wind": [4, 20], "sky": ["rain", None]})
    array(['sail', 'stay'], dtype='<U4')
    >>> model.predict_proba({"wind": [4], "sky": ["rain"]}).round(3)
    array([[1., 0.]])
    """

    _of_classes = True

    def __init__(
        self,
        *,
        loss: str = "log_loss",
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int | float = 20,
        l2_regularization: float = 0.0,
        max_delta_step: float | str | None = "auto",
        max_features: int | float | str | None = 1.0,
        max_bins: int | None = 255,
        monotonic_cst: Any = None,
        warm_start: bool = False,
        early_stopping: bool | str = "auto",
        scoring: Any = "loss",
        validation_fraction: float | int | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: Any = None,
        class_weight: Any = None,
        kinds: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_delta_step = max_delta_step
        self.max_features = max_features
        self.max_bins = max_bins
        self.monotonic_cst = monotonic_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.class_weight = class_weight
        self.kinds = kinds
        self.n_jobs = n_jobs

    @property
    def _longest_step(self) -> float | str | None:
        return self.max_delta_step

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each row.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
            The predicted classes.
        """
        fitted, raw = self._raw(X)
        return self._named(fitted, losses.codes(raw)[:, np.newaxis])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The probabilities, in the order of `classes_`.
        """
        return losses.probabilities(self._raw(X)[1])

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of `predict_proba`.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The logarithms, in the order of `classes_`.
        """
        return np.asarray(np.log(self.predict_proba(X)))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The sums of the trees: the logit of the second of two classes, or one number for each class.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            The sums.
        """
        raw = self._raw(X)[1]
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """`decision_function` after each iteration.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Yields
        ------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            The sums.
        """
        for _, raw in self._staged_raw(X):
            yield raw[:, 0] if raw.shape[1] == 1 else raw

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """`predict` after each iteration.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Yields
        ------
        ndarray of shape (n_rows,)
            The predicted classes.
        """
        for fitted, raw in self._staged_raw(X):
            yield self._named(fitted, losses.codes(raw)[:, np.newaxis])

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """`predict_proba` after each iteration.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Yields
        ------
        ndarray of shape (n_rows, n_classes)
            The probabilities.
        """
        for _, raw in self._staged_raw(X):
            yield losses.probabilities(raw)


class GradientBoostingRegressor(GradientBoosting, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Gradient boosting for numbers: trees that add up to the answer, or to its logarithm.

    The parameters are those of scikit-learn's `HistGradientBoostingRegressor` but two, and where no column
    has more than `max_bins` values so are the trees. Sums are exact: the model is the same for any number
    of threads. Columns may be numbers, categories (strings, bools and categorical columns, by subsets) and
    dates, with missing values, whose side is learnt.

    There is no `categorical_features`, and no `is_categorical_`: categories are known by the kind of their
    column, which `kinds` can say. There is no `interaction_cst`, and `fit` takes no validation rows.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "quantile", "poisson", "gamma"}, default="squared_error"
        What the trees are to lower; the answer is about the mean, the median or a quantile of the rows alike.
        "poisson" is for y >= 0 and "gamma" for y > 0; their trees add up to the logarithm of the mean.
    quantile : float, default=None
        Which one, in (0, 1), for the loss of that name.
    learning_rate : float, default=0.1
        The share of each step that is taken. Smaller needs more iterations.
    max_iter : int, default=100
        The most iterations; each adds a tree, or of more than two classes one for each.
    max_leaf_nodes : int or None, default=31
        The most leaves of a tree; the leaf with the largest gain is split first.
    max_depth : int or None, default=None
        The most tests on the way to a leaf.
    min_samples_leaf : int or float, default=20
        No split leaves a side with fewer rows. A float is a fraction of all rows, rounded up.
    l2_regularization : float, default=0.0
        Added to the hessians of a leaf, so that small leaves make small steps.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        How many columns, drawn at random, each node considers; a float is a fraction of them.
    max_bins : int or None, default=255
        A column with at most so many different values is split exactly; the values of others are told apart
        as so many intervals of about equally many rows. None: every value counts, by the exact grower, which
        takes several times as long.
    monotonic_cst : dict or array of shape (n_columns,), default=None
        By name, or one for each column: 1 if the answer must not fall as the column grows, -1 if it must not
        rise, 0 if it may do both.
    warm_start : bool, default=False
        Whether the next fit continues this one, up to a larger `max_iter`. The rows must be the same.
    early_stopping : "auto" or bool, default="auto"
        Whether to end where the score has settled. "auto" does for more than 10,000 rows.
    scoring : str, callable or None, default="loss"
        What is to settle: the loss, a scorer by name, or ``scorer(estimator, X, y)``. None is the estimator's
        own score.
    validation_fraction : float, int or None, default=0.1
        The share (or number) of rows that is set aside for that; None: the training rows are scored.
    n_iter_no_change : int, default=10
        For how many iterations the score must not have risen.
    tol : float, default=1e-7
        By more than this.
    verbose : int, default=0
        Whether a line is printed after each iteration.
    random_state : int, RandomState or None, default=None
        Seeds the rows that are set aside and the columns that are drawn.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.
    n_jobs : int, default=None
        Threads to fit and predict with; the result is the same for any number. None is one, -1 all cores.

    Attributes
    ----------
    model_ : treewright.ensembles.gradient_boosting.GradientBoosted
        The trees, iteration by iteration. ``print(model.model_.trees[0][0])`` shows the first.
    n_iter_ : int
        The number of iterations.
    n_trees_per_iteration_ : int
        One, or of more than two classes one for each.
    train_score_, validation_score_ : ndarray of shape (n_iter_ + 1,)
        The score at the start and after each iteration, of the rows learnt from (a scorer sees 10,000 of them
        at most) and of those set aside; minus the loss where that is what counts. Empty without early
        stopping.
    do_early_stopping_ : bool
        Whether early stopping was in use.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in the gains of all trees.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    See Also
    --------
    GradientBoostingClassifier : The same for classes.
    DecisionTreeRegressor : A single tree, to be read.

    Examples
    --------
    >>> from treewright import GradientBoostingRegressor
    >>> model = GradientBoostingRegressor(max_iter=50).fit([[i] for i in range(80)], [1.5] * 40 + [3.5] * 40)
    >>> model.predict([[0], [79]]).round(2)
    array([1.51, 3.49])
    """

    def __init__(
        self,
        *,
        loss: str = "squared_error",
        quantile: float | None = None,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int | float = 20,
        l2_regularization: float = 0.0,
        max_features: int | float | str | None = 1.0,
        max_bins: int | None = 255,
        monotonic_cst: Any = None,
        warm_start: bool = False,
        early_stopping: bool | str = "auto",
        scoring: Any = "loss",
        validation_fraction: float | int | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: Any = None,
        kinds: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.monotonic_cst = monotonic_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.kinds = kinds
        self.n_jobs = n_jobs

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The answer to each row.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
            The numbers.
        """
        fitted, raw = self._raw(X)
        return losses.answers(fitted["model_"].loss, raw)

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """`predict` after each iteration.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Yields
        ------
        ndarray of shape (n_rows,)
            The numbers.
        """
        for fitted, raw in self._staged_raw(X):
            yield losses.answers(fitted["model_"].loss, raw)

    def _losses(self) -> dict[str, Rule]:
        needs = self.loss == "quantile"
        allowed = "a number in (0, 1)" if needs else "None, or a number in (0, 1) for loss='quantile'"
        return super()._losses() | {
            "quantile": (lambda v: (v is None and not needs) or (is_real(v) and 0 < v < 1), allowed)
        }

    @property
    def _quantile(self) -> float:
        return 0.5 if self.quantile is None else float(self.quantile)
