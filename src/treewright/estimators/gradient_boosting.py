"""GradientBoostingClassifier and GradientBoostingRegressor: scikit-learn's HistGradientBoosting, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.utils import check_random_state

from treewright.encoding import Dataset
from treewright.encoding.known_rows import FitRows
from treewright.encoding.splits import set_aside
from treewright.ensembles import losses
from treewright.ensembles.gradient_boosting import GradientBoosted, boost
from treewright.estimators._early_stopping import EarlyStopping
from treewright.estimators._predictions import (
    BoostedClassifierPredictions,
    BoostedRegressorPredictions,
    Floats,
)
from treewright.estimators._table_estimator import TableEstimator
from treewright.estimators.advised import warn_about_trees
from treewright.estimators.fitting import Fitted, replace_fit
from treewright.estimators.parameters import (
    CLASS_WEIGHT,
    Rule,
    check_each,
    is_fraction,
    is_int,
    is_real,
    n_features_drawn,
    not_negative,
    one_of,
)
from treewright.growing import n_threads

_MANY_ROWS = 10_000  # from which on early_stopping="auto" means True
_OWN: dict[str, Rule] = {
    "learning_rate": ((lambda v: is_real(v) and 0 < v < float("inf")), "a positive number"),
    "max_iter": ((lambda v: is_int(v) and v >= 1), "an int >= 1"),
    "l2_regularization": not_negative(),
    "max_delta_step": (
        (lambda v: v is None or (isinstance(v, str) and v == "auto") or (is_real(v) and v > 0)),
        "a positive number, 'auto' or None",
    ),
    "max_bins": ((lambda v: v is None or (is_int(v) and 2 <= v <= 255)), "an int from 2 to 255, or None"),
    "warm_start": ((lambda v: isinstance(v, bool | np.bool_)), "True or False"),
    "early_stopping": (
        (lambda v: isinstance(v, bool | np.bool_) or (isinstance(v, str) and v == "auto")),
        "'auto', True or False",
    ),
    "scoring": (
        (lambda v: v is None or isinstance(v, str) or callable(v)),
        "'loss', the name of a scorer, a callable (estimator, X, y), or None: the estimator's own score",
    ),
    "validation_fraction": (
        (lambda v: v is None or (is_fraction(v) and 0 < v < 1) or (is_int(v) and v >= 1)),
        "a float in (0, 1), a number of rows, or None: early stopping by the training rows",
    ),
    "n_iter_no_change": ((lambda v: is_int(v) and v >= 1), "an int >= 1"),
    "tol": not_negative(),
    "verbose": ((lambda v: isinstance(v, bool | np.bool_) or (is_int(v) and v >= 0)), "an int >= 0"),
    "class_weight": CLASS_WEIGHT,
}


class GradientBoostingEstimator(TableEstimator):
    """What the classifier and the regressor share."""

    model_: GradientBoosted
    n_iter_: int
    train_score_: Floats
    validation_score_: Floats
    do_early_stopping_: bool

    loss: str
    learning_rate: float
    max_iter: int
    max_leaf_nodes: int | None
    max_depth: int | None
    min_samples_leaf: int | float
    l2_regularization: float
    max_features: Any
    max_bins: int | None
    monotonic_cst: Any
    warm_start: bool
    early_stopping: Any
    scoring: Any
    validation_fraction: Any
    n_iter_no_change: int
    tol: float
    verbose: int
    random_state: Any

    @property
    def _quantile(self) -> float:
        return 0.5

    @property
    def _longest_step(self) -> float | str | None:
        return "auto"

    def _check_parameters(self) -> None:
        check_each(self, _OWN | self._loss_rules())

    def _fit(self, X: Any, y: Any, data: Dataset, described: Fitted) -> None:
        losses.check_targets(self.loss, data)
        begun, seeds = self._begun(data)
        stops = data.n_counted > _MANY_ROWS if self.early_stopping == "auto" else bool(self.early_stopping)
        aside = None
        if stops and self.validation_fraction is not None:
            aside = set_aside(data, self._share(data.n_counted), seeds[0])
        monitor = EarlyStopping(self, X, y, data, described, begun, stops=stops)
        model = boost(
            data,
            **self._options(data, begun),
            seed=seeds[1],
            validation=aside,
            scored=stops and self.scoring == "loss",
            patience=int(self.n_iter_no_change) if stops and self.scoring == "loss" else None,
            tol=float(self.tol),
            begun=begun,
            after=monitor.after,
        )
        monitor.finish(model)
        fitted: Fitted = described | {
            "model_": model,
            "n_iter_": model.n_iterations,
            "do_early_stopping_": stops,
            "train_score_": monitor.train_score(model),
            "validation_score_": monitor.validation_score(model),
            "_seeds": seeds,
            "_scores": monitor.scores,
        }
        if begun is not None:  # a warm start may continue with other rows
            before: FitRows = vars(self)["_fit_rows"]
            fitted["_fit_rows"] = FitRows((*before.grew, *described["_fit_rows"].grew))
        replace_fit(self, fitted)
        warn_about_trees(self, data, (tree for trees in model.trees for tree in trees))

    @property
    def n_trees_per_iteration_(self) -> int:
        """The number of trees per iteration: 1, or one per class for more than two classes."""
        return self._fitted(AttributeError)["model_"].n_outputs  # type: ignore[no-any-return]

    @property
    def feature_importances_(self) -> Floats:
        """The share of each column in the gains of all trees."""
        return self._fitted(AttributeError)["model_"].importances()  # type: ignore[no-any-return]

    def _loss_rules(self) -> dict[str, Rule]:
        return {"loss": one_of(*(losses.OF_CLASSES if is_classifier(self) else losses.OF_NUMBERS))}

    def _begun(self, data: Dataset) -> tuple[GradientBoosted | None, tuple[int, int]]:
        """The model that a warm start continues, if any, and the seeds of the (first) fit."""
        before = vars(self)
        if not self.warm_start or "model_" not in before:
            random = check_random_state(self.random_state)
            return None, (int(random.randint(2**31 - 1)), int(random.randint(2**31 - 1)))
        begun: GradientBoosted = before["model_"]
        if begun.schema != data.schema or begun.loss != self.loss:
            raise ValueError(
                "warm_start: the table, the target or the loss is not that of the fit to be continued"
            )
        if self.max_iter < begun.n_iterations:
            raise ValueError(
                f"warm_start: max_iter is {self.max_iter}, but {begun.n_iterations} iterations are done"
            )
        return begun, before["_seeds"]

    def _share(self, n_rows: int) -> float:
        """The share of the rows that is set aside."""
        asked = self.validation_fraction
        n = asked if is_int(asked) else round(asked * n_rows)
        if not 1 <= n < n_rows:
            raise ValueError(
                f"validation_fraction={asked!r} of {n_rows} rows sets {n} aside for validation; at least one "
                "row must be set aside and one left for training (or set early_stopping=False, or "
                "validation_fraction=None)"
            )
        return float(n / n_rows)

    def _options(self, data: Dataset, begun: GradientBoosted | None) -> dict[str, Any]:
        """The parameters of `boost`."""
        n_columns, least = data.n_columns, self.min_samples_leaf
        drawn = ceil(self.max_features * n_columns) if is_fraction(self.max_features) else 0
        drawn = drawn or n_features_drawn(self.max_features, n_columns)
        left = self.max_iter - (begun.n_iterations if begun is not None else 0)
        return {
            "loss": self.loss,
            "quantile": self._quantile,
            "learning_rate": float(self.learning_rate),
            "n_iterations": int(left),
            "max_leaf_nodes": None if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            "max_depth": None if self.max_depth is None else int(self.max_depth),
            "min_samples_leaf": int(least) if is_int(least) else ceil(least * data.n_counted),
            "l2_regularization": float(self.l2_regularization),
            "max_delta_step": self._longest_step,
            "max_features": drawn if drawn < n_columns else None,
            "max_bins": None if self.max_bins is None else int(self.max_bins),
            "monotonic_cst": self.monotonic_cst,
            "n_jobs": self.n_jobs,
        }

    def _raw(self, X: Any) -> tuple[Fitted, Floats]:
        """The attributes of the fit, and the sums of its trees for each row."""
        fitted, rows = self._rows(X)
        return fitted, fitted["model_"].raw(rows, n_threads(self.n_jobs))

    def _staged_raw(self, X: Any) -> Iterator[tuple[Fitted, Floats]]:
        fitted, rows = self._rows(X)
        for raw in fitted["model_"].staged_raw(rows, n_threads(self.n_jobs)):
            yield fitted, raw


class GradientBoostingClassifier(
    GradientBoostingEstimator,
    BoostedClassifierPredictions,
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
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

    def _codes(self, raw: Floats) -> NDArray[Any]:
        return losses.codes(raw)

    def _probabilities(self, raw: Floats) -> Floats:
        return losses.probabilities(raw)

    def _decision(self, raw: Floats) -> Floats:
        return raw[:, 0] if raw.shape[1] == 1 else raw


class GradientBoostingRegressor(
    GradientBoostingEstimator,
    BoostedRegressorPredictions,
    RegressorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
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

    def _numbers(self, X: Any) -> Floats:
        fitted, raw = self._raw(X)
        return losses.answers(fitted["model_"].loss, raw)

    def _staged_numbers(self, X: Any) -> Iterator[Floats]:
        for fitted, raw in self._staged_raw(X):
            yield losses.answers(fitted["model_"].loss, raw)

    def _loss_rules(self) -> dict[str, Rule]:
        needs = self.loss == "quantile"
        allowed = "a number in (0, 1)" if needs else "None, or a number in (0, 1) for loss='quantile'"
        return super()._loss_rules() | {
            "quantile": (lambda v: (v is None and not needs) or (is_real(v) and 0 < v < 1), allowed)
        }

    @property
    def _quantile(self) -> float:
        return 0.5 if self.quantile is None else float(self.quantile)
