"""Early stopping of gradient boosting: the scores after each iteration, and a line of progress."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing

from treewright.encoding import Dataset
from treewright.ensembles import losses
from treewright.ensembles.gradient_boosting import GradientBoosted, Stage

Floats = NDArray[np.float64]
_MOST_SCORED = 10_000  # training rows that a scorer sees: it is slower than a loss


class _Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The model after an iteration, for a scorer: it predicts the rows whose raw predictions it has."""

    def __init__(self, raw: Floats, classes: NDArray[Any]) -> None:
        self.raw = raw
        self.classes_ = classes

    def decision_function(self, X: Any) -> Floats:
        return self.raw[:, 0] if self.raw.shape[1] == 1 else self.raw

    def predict_proba(self, X: Any) -> Floats:
        return losses.probabilities(self.raw)

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.classes_.take(losses.LogLoss().predictions(self.raw)))

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _Regressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """The same for numbers."""

    def __init__(self, raw: Floats, loss: str) -> None:
        self.raw = raw
        self.loss = loss

    def predict(self, X: Any) -> NDArray[Any]:
        return losses.LOSSES[self.loss].predictions(self.raw)

    def __sklearn_is_fitted__(self) -> bool:
        return True


class EarlyStopping:
    """Follows a fit of an estimator; `boost` calls `after`, which is None where there is nothing to do."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        data: Dataset,
        described: dict[str, Any],
        begun: GradientBoosted | None,
        *,
        stops: bool,
    ) -> None:
        self._estimator, self._X, self._data = estimator, X, data
        self._y = np.asarray(y)
        self._classes = described.get("classes_")
        self._scores_each = stops and estimator.scoring != "loss"
        self._stops = stops
        self._start = self._last = perf_counter()
        before = vars(estimator).get("_scores") if begun is not None else None
        self.scores: tuple[list[float], list[float]] = ([], [])
        if before is not None:
            self.scores = (list(before[0]), list(before[1]))
        if self._scores_each:
            self._scorer = check_scoring(estimator, estimator.scoring)
        self.after = self._after if self._scores_each or estimator.verbose else None

    def _after(self, stage: Stage) -> bool:
        must_stop = self._scores_each and self._has_settled(stage)
        if self._estimator.verbose and stage.iteration:
            self._print_line(stage)
        return must_stop

    def _has_settled(self, stage: Stage) -> bool:
        """Score the training rows (10,000 of them at most) and the validation rows; whether to stop."""
        train, validation = self.scores
        n = stage.n_train
        sample = np.arange(n) if n <= _MOST_SCORED else np.arange(_MOST_SCORED) * n // _MOST_SCORED
        train.append(self._score(stage, sample))
        set_aside = np.arange(n, stage.raw.shape[1])
        if len(set_aside):
            validation.append(self._score(stage, set_aside))
        scores, patience = validation or train, int(self._estimator.n_iter_no_change)
        if len(scores) <= patience:
            return False
        return bool(max(scores[-patience:]) <= scores[-patience - 1] + self._estimator.tol)

    def _score(self, stage: Stage, places: NDArray[Any]) -> float:
        rows = places if stage.rows is None else stage.rows[places].astype(np.intp)
        raw = np.ascontiguousarray(stage.raw[:, places].T)
        model: Any
        if self._classes is None:
            model = _Regressor(raw, self._estimator.loss)
        else:
            model = _Classifier(raw, self._classes)
        table = _safe_indexing(self._X, rows) if hasattr(self._X, "shape") else rows[:, np.newaxis]
        weight = None if self._data.weight is None else self._data.weight[rows]
        weights = {} if weight is None else {"sample_weight": weight}
        return float(self._scorer(model, table, self._y[rows], **weights))

    def _print_line(self, stage: Stage) -> None:
        now = perf_counter()
        figures = ""
        if self._stops and self._estimator.scoring == "loss":
            figures = f", loss {stage.train_loss:.5f}"
            if not np.isnan(stage.validation_loss):
                figures += f", validation {stage.validation_loss:.5f}"
        elif self._scores_each:
            figures = f", score {self.scores[0][-1]:.5f}"
            if self.scores[1]:
                figures += f", validation {self.scores[1][-1]:.5f}"
        took = now - self._last
        self._last = now
        done = f"[{stage.iteration}/{self._estimator.max_iter}]"
        print(f"{done} {stage.n_leaves} leaves{figures}, {took:.3f} s", flush=True)

    def finish(self, model: GradientBoosted) -> None:
        """Print the last line, if `verbose`."""
        if self._estimator.verbose:
            n_trees = sum(map(len, model.trees))
            print(f"{n_trees} trees in {perf_counter() - self._start:.3f} s", flush=True)

    def train_score(self, model: GradientBoosted) -> Floats:
        """The training score after each iteration: minus the loss, or that of the scorer; empty without early
        stopping.
        """
        return np.array(self.scores[0]) if self._scores_each else -model.train_loss

    def validation_score(self, model: GradientBoosted) -> Floats:
        """The same for the validation rows."""
        return np.array(self.scores[1]) if self._scores_each else -model.validation_loss
