"""Gradient boosting in scikit-learn's clothes: what both estimators share."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import column_or_1d

from treewright.encoding import Dataset
from treewright.encoding.known_rows import FitRows
from treewright.encoding.splits import set_aside
from treewright.ensembles import losses
from treewright.ensembles.gradient_boosting import GradientBoosted, boost
from treewright.estimators.advised import warn_about_trees
from treewright.estimators.ensemble import EnsembleEstimator
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
from treewright.estimators.watching import Watch
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


class GradientBoosting(EnsembleEstimator):
    """What both estimators share: the fit, and predictions after each iteration."""

    model_: GradientBoosted
    n_iter_: int
    train_score_: NDArray[np.float64]
    validation_score_: NDArray[np.float64]
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

    _of_classes = False

    @property
    def _quantile(self) -> float:
        return 0.5

    @property
    def _longest_step(self) -> float | str | None:
        return "auto"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add trees, until there are `max_iter` or the loss has settled.

        A fit that fails or is interrupted leaves the estimator as it was.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            A numpy array, a pandas or polars DataFrame, an Arrow table, a sparse matrix, a dict of columns or
            a list of rows. Columns of strings, bools and categories are split by subsets, dates as numbers;
            missing values are welcome in all of them.
        y : array of shape (n_rows,)
            The classes or numbers to predict.
        sample_weight : array of shape (n_rows,), default=None
            A weight per row, not negative. Zero is as good as no row; whole weights are as good as so many
            equal rows, except that `min_samples_leaf` and early stopping count rows.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_each(self, _OWN | self._losses())
        y = self._single(y)
        data, described = self._encoded(X, y, sample_weight, classes=self._of_classes)
        losses.check_targets(self.loss, data)
        begun, seeds = self._begun(data)
        stops = data.n_counted > _MANY_ROWS if self.early_stopping == "auto" else bool(self.early_stopping)
        aside = None
        if stops and self.validation_fraction is not None:
            aside = set_aside(data, self._share(data.n_counted), seeds[0])
        watch = Watch(self, X, y, data, described, begun if self.warm_start else None, stops=stops)
        model = boost(
            data,
            **self._options(data),
            seed=seeds[1],
            validation=aside,
            scored=stops and self.scoring == "loss",
            patience=int(self.n_iter_no_change) if stops and self.scoring == "loss" else None,
            tol=float(self.tol),
            begun=begun,
            after=watch.after,
        )
        watch.finish(model)
        fitted: Fitted = described | {
            "model_": model,
            "n_iter_": model.n_iterations,
            "do_early_stopping_": stops,
            "train_score_": watch.train_score(model),
            "validation_score_": watch.validation_score(model),
            "_seeds": seeds,
        }
        fitted["_watched"] = watch.scores
        if begun is not None:  # a warm start may go on with other rows
            before: FitRows = vars(self)["_fit_rows"]
            fitted["_fit_rows"] = FitRows((*before.grew, *described["_fit_rows"].grew))
        replace_fit(self, fitted)
        warn_about_trees(self, data, (tree for trees in model.trees for tree in trees))
        return self

    @property
    def n_trees_per_iteration_(self) -> int:
        """How many trees an iteration has: one, or of more than two classes one for each."""
        return self._fitted_model().n_outputs

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The share of each column in the gains of all trees."""
        return self._fitted_model().importances()

    def _losses(self) -> dict[str, Rule]:
        return {"loss": one_of(*(losses.OF_CLASSES if self._of_classes else losses.OF_NUMBERS))}

    def _single(self, y: Any) -> Any:
        """The target, if it is one."""
        shape: Any = getattr(y, "shape", ())
        if len(shape) == 2 and shape[1] > 1:
            raise ValueError(f"y has {shape[1]} columns; {type(self).__name__} predicts one target")
        return column_or_1d(y, warn=True) if len(shape) == 2 else y

    def _begun(self, data: Dataset) -> tuple[GradientBoosted | None, tuple[int, int]]:
        """The model that a warm start continues, and the seeds of the draws, those of the first fit then."""
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
                f"validation_fraction={asked!r} of {n_rows} rows sets {n} aside to judge by; at least one "
                "must be, and one be left to learn from (or early_stopping=False, validation_fraction=None)"
            )
        return float(n / n_rows)

    def _options(self, data: Dataset) -> dict[str, Any]:
        """The parameters of `boost`."""
        n_columns, least = data.n_columns, self.min_samples_leaf
        drawn = ceil(self.max_features * n_columns) if is_fraction(self.max_features) else 0
        drawn = drawn or n_features_drawn(self.max_features, n_columns)
        left = self.max_iter - (vars(self)["model_"].n_iterations if self._continues else 0)
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

    @property
    def _continues(self) -> bool:
        return self.warm_start and "model_" in vars(self)

    def _fitted_model(self) -> GradientBoosted:
        if "model_" not in vars(self):
            name = type(self).__name__
            raise AttributeError(f"this {name} is not fitted yet; call fit with a table and a target first")
        return self.model_

    def _raw(self, X: Any) -> tuple[Fitted, NDArray[np.float64]]:
        """What a fit has set, and the sums of its trees for each row."""
        fitted, rows = self._rows(X)
        return fitted, fitted["model_"].raw(rows, n_threads(self.n_jobs))

    def _staged_raw(self, X: Any) -> Iterator[tuple[Fitted, NDArray[np.float64]]]:
        fitted, rows = self._rows(X)
        for raw in fitted["model_"].staged_raw(rows, n_threads(self.n_jobs)):
            yield fitted, raw
