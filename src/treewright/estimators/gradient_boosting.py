"""HistGradientBoostingClassifier and HistGradientBoostingRegressor: those of scikit-learn, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state

from treewright._suggestions import checked_keywords
from treewright.encoding import Dataset, encode
from treewright.encoding.row_hashes import FitRows, KnownRows
from treewright.ensembles import losses
from treewright.ensembles.gradient_boosting import GradientBoosted, boost
from treewright.estimators._boosting_rows import given_rows, joined, kinds_of_columns, rows_set_aside
from treewright.estimators._early_stopping import EarlyStopping
from treewright.estimators._fit_warnings import warn_about_trees
from treewright.estimators._predictions import (
    BoostedClassifierPredictions,
    Floats,
    RegressorPredictions,
)
from treewright.estimators._table_estimator import TableEstimator
from treewright.estimators._tables import Fitted, replace_fit
from treewright.estimators.targets import plain_target
from treewright.growing import n_features_drawn
from treewright.parameters.boosting import GradientBoostingParameters, LongestStep
from treewright.parameters.checks import is_fraction, is_int, number, one_of
from treewright.parameters.spec import parameter
from treewright.plotting.boosting import plot_boosting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MANY_ROWS = 10_000  # from which on early_stopping="auto" means True
_OPTIONS = (  # those of `boost` that have the same name and meaning
    *("loss", "learning_rate", "max_leaf_nodes", "max_depth", "l2_regularization"),
    *("max_bins", "monotonic_cst", "interaction_cst", "tol", "n_jobs"),
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
    is_categorical_ : ndarray of shape (n_features_in_,) or None
        Whether each column holds categories; None if none does.
    """

    @checked_keywords
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Fit the trees to a table.

        A fit that fails or is interrupted leaves the estimator unchanged.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            A numpy array, a pandas or polars DataFrame, an Arrow table, a sparse matrix, a dict of columns or
            a list of rows. Strings, bools and categorical columns are split by subsets, dates as numbers; all
            of them may have missing values.
        y : array of shape (n_rows,)
            The classes or numbers to predict.
        sample_weight : array of shape (n_rows,), default=None
            A weight per row, not negative; 0 is the same as leaving the row out.
        X_val, y_val, sample_weight_val
            Rows that judge the iterations in early stopping, in place of a `validation_fraction` of `X`.

        Returns
        -------
        self
            The fitted estimator.
        """
        if (X_val is None) != (y_val is None):
            given, lacking = ("X_val", "y_val") if y_val is None else ("y_val", "X_val")
            raise ValueError(f"{given} is provided, but {lacking} was not provided.")
        if X_val is not None and self.early_stopping is False:
            raise ValueError(
                "X_val and y_val are passed to fit while at the same time early_stopping is False; set it to "
                "'auto' or True"
            )
        X, y, data, described = self._read_rows(X, y, sample_weight)
        others = None if X_val is None else given_rows(X_val, y_val, sample_weight_val, data.schema)
        self._fit(X, y, data, described, others, X_val, y_val)
        return self

    @checked_keywords
    def plot(self, ax: Axes | None = None) -> Axes:  # type: ignore[override]
        """Plot the loss after each iteration, where early stopping has measured it; needs matplotlib."""
        return plot_boosting(self._fitted_model(), ax)

    def _encode(self, X: Any, y: Any, sample_weight: Any) -> Dataset:
        data = super()._encode(X, y, sample_weight)
        kinds = kinds_of_columns(self.categorical_features, X, data.schema)
        if kinds is None:
            return data
        target = plain_target(y, type(self).__name__)
        return encode(X, target, weight=sample_weight, kinds=kinds, classes=self._predicts_classes)

    def _fit(
        self,
        X: Any,
        y: Any,
        data: Dataset,
        described: Fitted,
        others: Dataset | None = None,
        X_val: Any = None,
        y_val: Any = None,
    ) -> None:
        losses.check_target(self.loss, data)
        begun, seeds = self._begun(data)
        stops = data.n_counted > _MANY_ROWS if self.early_stopping == "auto" else bool(self.early_stopping)
        rows, aside, grew = data, None, described["_fit_rows"].grew
        if stops and others is not None:
            rows, aside = joined(data, others), np.arange(data.n_rows + others.n_rows) >= data.n_rows
            grew = (*grew, KnownRows.of(others))  # they have chosen the number of trees
        elif stops and self.validation_fraction is not None:
            aside = rows_set_aside(data, self.validation_fraction, seeds["_random_seed"])
        if begun is not None:  # a warm start may continue with other rows
            grew = (*vars(self)["_fit_rows"].grew, *grew)
        monitor = EarlyStopping(self, (X, X_val), (y, y_val), rows, described, begun, stops=stops)
        model = boost(
            rows,
            **self._options(data, begun),
            random_state=seeds["_column_seed"],
            validation=aside,
            scored=stops and self.scoring == "loss",
            n_iter_no_change=int(self.n_iter_no_change) if stops and self.scoring == "loss" else None,
            begun=begun,
            after=monitor.after,
        )
        monitor.finish(model)
        is_category = np.array([column.is_category for column in data.schema.columns])
        fitted: Fitted = (
            described
            | seeds
            | {
                "model_": model,
                "n_iter_": model.n_iter,
                "do_early_stopping_": stops,
                "is_categorical_": is_category if is_category.any() else None,
                "train_score_": monitor.train_score(model),
                "validation_score_": monitor.validation_score(model),
                "_scores": monitor.scores,
                "_fit_rows": FitRows(grew),
            }
        )
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

    def _begun(self, data: Dataset) -> tuple[GradientBoosted | None, dict[str, int]]:
        """The model that a warm start continues, if any, and the seeds of the (first) fit: of the rows that
        are set aside, drawn as scikit-learn draws it, and of the columns.
        """
        before, names = vars(self), ("_random_seed", "_column_seed")
        if not self.warm_start or "model_" not in before:
            random = check_random_state(self.random_state)
            return None, {name: int(random.randint(2**32 - 1, dtype=np.uint64)) for name in names}
        begun: GradientBoosted = before["model_"]
        if begun.schema != data.schema or begun.loss != self.loss:
            raise ValueError(
                "warm_start: the table, the target or the loss is not that of the fit to be continued"
            )
        if self.max_iter < begun.n_iter:
            raise ValueError(
                f"max_iter={self.max_iter} must be larger than or equal to n_iter_={begun.n_iter} when "
                "warm_start==True"
            )
        return begun, {name: before[name] for name in names}

    def _options(self, data: Dataset, begun: GradientBoosted | None) -> dict[str, Any]:
        """The parameters of `boost`."""
        n_columns, least = data.n_columns, self.min_samples_leaf
        drawn = ceil(self.max_features * n_columns) if is_fraction(self.max_features) else 0
        drawn = drawn or n_features_drawn(self.max_features, n_columns)
        left = self.max_iter - (begun.n_iter if begun is not None else 0)
        return {
            **{name: getattr(self, name) for name in _OPTIONS},
            "quantile": 0.5 if getattr(self, "quantile", None) is None else self.quantile,  # type: ignore[attr-defined]
            "max_delta_step": getattr(self, "max_delta_step", "auto"),
            "max_iter": int(left),
            "min_samples_leaf": int(least) if is_int(least) else ceil(least * data.n_counted),
            "max_features": drawn if drawn < n_columns else None,
        }

    def _raw(self, X: Any) -> tuple[Fitted, Floats]:
        """The attributes of the fit, and the sums of its trees for each row."""
        fitted, rows = self._rows(X)
        return fitted, fitted["model_"].raw(rows, self.n_jobs)

    def _staged_raw(self, X: Any) -> Iterator[tuple[Fitted, Floats]]:
        fitted, rows = self._rows(X)
        for raw in fitted["model_"].staged_raw(rows, self.n_jobs):
            yield fitted, raw


class HistGradientBoostingClassifier(
    GradientBoostingEstimator,
    LongestStep,
    BoostedClassifierPredictions,
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Gradient boosting for classes: trees that add up to the logits of the classes.

    The parameters are those of scikit-learn's `HistGradientBoostingClassifier`, and where no column has more
    than `max_bins` values so are the trees, unless `max_delta_step` bounds a step. Sums are exact: the model
    is the same for any number of threads. Columns may be numbers, categories (strings, bools and categorical
    columns, by subsets) and dates, with missing values, whose side is learnt.

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
        return losses.probabilities(raw, self._fitted()["model_"].schema.width)

    def _decision(self, raw: Floats) -> Floats:
        return raw[:, 0] if raw.shape[1] == 1 else raw


class HistGradientBoostingRegressor(
    GradientBoostingEstimator,
    RegressorPredictions,
    RegressorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Gradient boosting for numbers: trees that add up to the answer, or to its logarithm.

    The parameters are those of scikit-learn's `HistGradientBoostingRegressor`, and where no column has more
    than `max_bins` values so are the trees. Sums are exact: the model is the same for any number of threads.
    Columns may be numbers, categories (strings, bools and categorical columns, by subsets) and dates, with
    missing values, whose side is learnt.

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
