"""Early stopping of gradient boosting: the scores after each iteration, and a line of progress."""

from __future__ import annotations

from copy import copy
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from treewright.encoding import Dataset
from treewright.ensembles.gradient_boosting import GradientBoosted, Stage
from treewright.estimators._scoring import scorer_of

Floats = NDArray[np.float64]
_MOST_SCORED = 10_000  # training rows that a scorer sees: it is slower than a loss


def has_settled(scores: list[float], patience: int, tol: float) -> bool:
    """Whether none of the last scores is better than the one before them by more than a tolerance.

    >>> has_settled([1, 3, 3.5], patience=1, tol=1)
    True
    """
    return len(scores) > patience and bool(max(scores[-patience:]) <= scores[-patience - 1] + tol)


class EarlyStopping:
    """Follows a fit of an estimator; `boost` calls `after`, which is None where there is nothing to do.

    `X` and `y` are those of the fit and those given to judge it (or None), `data` the rows of both.
    """

    def __init__(
        self,
        estimator: Any,
        X: tuple[Any, Any],
        y: tuple[Any, Any],
        data: Dataset,
        described: dict[str, Any],
        begun: GradientBoosted | None,
        *,
        stops: bool,
    ) -> None:
        self._estimator, self._X, self._data = estimator, X, data
        self._y = tuple(np.asarray(each) for each in y)
        self._described = described
        self._scores_each = stops and estimator.scoring != "loss"
        self._stops = stops
        self._start = self._last = perf_counter()
        before = vars(estimator).get("_scores") if begun is not None else None
        self.scores: tuple[list[float], list[float]] = ([], [])
        if before is not None:
            self.scores = (list(before[0]), list(before[1]))
        if self._scores_each:
            self._scorer = scorer_of(estimator, estimator.scoring, ("loss",))
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
        return has_settled(scores, patience, self._estimator.tol)

    def _score(self, stage: Stage, places: NDArray[Any]) -> float:
        rows = places if stage.rows is None else stage.rows[places].astype(np.intp)
        raw = np.ascontiguousarray(stage.raw[:, places].T)
        model = copy(
            self._estimator
        )  # as it is fitted, but it predicts the rows whose raw predictions are known
        fitted = self._described | {"model_": SimpleNamespace(loss=model.loss)}
        vars(model).update(fitted, _raw=lambda _: (fitted, raw))
        weights = {} if self._data.weight is None else {"sample_weight": self._data.weight[rows]}
        given = int(rows[0] >= len(self._y[0]))  # whether they are rows of X_val
        rows = rows - given * len(self._y[0])
        X, y = self._X[given], self._y[given]
        table = _safe_indexing(X, rows) if hasattr(X, "shape") else rows[:, np.newaxis]
        return float(self._scorer(model, table, y[rows], **weights))

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
