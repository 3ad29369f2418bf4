"""HistGradientBoostingClassifier and HistGradientBoostingRegressor: those of scikit-learn, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state

from treewright.encoding import Dataset
from treewright.encoding.row_hashes import FitRows
from treewright.encoding.splits import set_aside
from treewright.ensembles import losses
from treewright.ensembles.gradient_boosting import GradientBoosted, boost
from treewright.estimators._early_stopping import EarlyStopping
from treewright.estimators._fit_warnings import warn_about_trees
from treewright.estimators._predictions import (
    BoostedClassifierPredictions,
    Floats,
    RegressorPredictions,
)
from treewright.estimators._table_estimator import TableEstimator
from treewright.estimators._tables import Fitted, replace_fit
from treewright.growing import n_features_drawn, n_threads
from treewright.parameters.boosting import GradientBoostingParameters, LongestStep
from treewright.parameters.checks import is_fraction, is_int, number, one_of
from treewright.parameters.spec import parameter

_MANY_ROWS = 10_000  # from which on early_stopping="auto" means True
_OPTIONS = (  # those of `boost` that have the same name and meaning
    *("loss", "learning_rate", "max_leaf_nodes", "max_depth", "l2_regularization"),
    *("max_bins", "monotonic_cst", "tol", "n_jobs"),
)


class GradientBoostingEstimator(GradientBoostingParameters, TableEstimator):
    """What the classifier and the regressor share.

    Attributes
    ----------
    model_ : treewright.ensembles.gradient_boosting.GradientBoosted
        The trees, iteration by iteration. ``print(model.model_.trees[0][0])`` shows the first.
    n_iter_ : int
        The number of iterations.
    n_trees_per_iteration_ : int
        1, or one tree for each of more than two classes.
    train_score_, validation_score_ : ndarray of shape (n_iter_ + 1,)
        The score at the start and after each iteration, of the training rows (a scorer sees 10,000 of them at
        most) and of those set aside; with ``scoring="loss"`` it is minus the loss. Empty without early
        stopping.
    do_early_stopping_ : bool
        Whether early stopping was in use.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in the gains of all trees.
    """

    def _fit(self, X: Any, y: Any, data: Dataset, described: Fitted) -> None:
        losses.check_target(self.loss, data)
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
            **{name: getattr(self, name) for name in _OPTIONS},
            "quantile": 0.5 if getattr(self, "quantile", None) is None else self.quantile,  # type: ignore[attr-defined]
            "max_delta_step": getattr(self, "max_delta_step", "auto"),
            "n_iterations": int(left),
            "min_samples_leaf": int(least) if is_int(least) else ceil(least * data.n_counted),
            "max_features": drawn if drawn < n_columns else None,
        }

    def _raw(self, X: Any) -> tuple[Fitted, Floats]:
        """The attributes of the fit, and the sums of its trees for each row."""
        fitted, rows = self._rows(X)
        return fitted, fitted["model_"].raw(rows, n_threads(self.n_jobs))

    def _staged_raw(self, X: Any) -> Iterator[tuple[Fitted, Floats]]:
        fitted, rows = self._rows(X)
        for raw in fitted["model_"].staged_raw(rows, n_threads(self.n_jobs)):
            yield fitted, raw


class HistGradientBoostingClassifier(
    GradientBoostingEstimator,
    LongestStep,
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

    See Also
    --------
    HistGradientBoostingRegressor : The same for numbers.
    DecisionTreeClassifier : A single tree, to be read.

    Examples
    --------
    >>> from treewright import HistGradientBoostingClassifier
    >>> table = {"wind": [3, 12, 5, 14] * 15, "sky": ["clear", "clear", "rain", None] * 15}
    >>> model = HistGradientBoostingClassifier().fit(table, ["sail", "stay", "sail", "stay"] * 15)
    >>> model.predict({"wind": [4, 20], "sky": ["rain", None]})
    array(['sail', 'stay'], dtype='<U4')
    >>> model.predict_proba({"wind": [4], "sky": ["rain"]}).round(3)
    array([[1., 0.]])
    """

    loss: str = parameter(
        default="log_loss",
        doc="The logistic loss, multinomial for more than two classes.",
        allowed=one_of(*losses.OF_CLASSES),
    )
    class_weight: Any = parameter(
        default=None,
        kind='dict, "balanced" or None',
        doc='Weights of the classes, multiplied into those of the rows. "balanced" gives each class the same '
        "total weight.",
        group="Growing",
    )

    def _codes(self, raw: Floats) -> NDArray[Any]:
        return losses.LOSSES[self.loss].predictions(raw)

    def _probabilities(self, raw: Floats) -> Floats:
        return losses.probabilities(raw)

    def _decision(self, raw: Floats) -> Floats:
        return raw[:, 0] if raw.shape[1] == 1 else raw


class HistGradientBoostingRegressor(
    GradientBoostingEstimator,
    RegressorPredictions,
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

    See Also
    --------
    HistGradientBoostingClassifier : The same for classes.
    DecisionTreeRegressor : A single tree, to be read.

    Examples
    --------
    >>> from treewright import HistGradientBoostingRegressor
    >>> rows, target = [[i] for i in range(80)], [1.5] * 40 + [3.5] * 40
    >>> model = HistGradientBoostingRegressor(max_iter=50).fit(rows, target)
    >>> model.predict([[0], [79]]).round(2)
    array([1.51, 3.49])
    """

    loss: str = parameter(
        default="squared_error",
        doc="The loss that the trees reduce, and with it what they predict. "
        + " ".join(f'"{name}": {losses.LOSSES[name].predicts}.' for name in losses.OF_NUMBERS),
        allowed=one_of(*losses.OF_NUMBERS),
    )
    quantile: float | None = parameter(
        default=None,
        kind="float or None",
        doc='The quantile to predict, in (0, 1); only for ``loss="quantile"``.',
        allowed=number(0, 1, open_left=True, open_right=True, none=True),
        group="Growing",
    )

    def check_parameters(self) -> None:
        """Raise an error about the first parameter whose value is not allowed; "quantile" needs its level."""
        super().check_parameters()
        if self.loss == "quantile" and self.quantile is None:
            self.refuse_parameter("quantile", "a number in (0, 1) for loss='quantile'")

    def _numbers(self, X: Any) -> Floats:
        fitted, raw = self._raw(X)
        return losses.LOSSES[fitted["model_"].loss].predictions(raw)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield `predict` after each iteration."""
        for fitted, raw in self._staged_raw(X):
            yield losses.LOSSES[fitted["model_"].loss].predictions(raw)
