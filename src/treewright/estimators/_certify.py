"""A bound on the true error of any fitted estimator, from rows that it has never seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.certifying import Certificate, certify_errors, certify_losses
from treewright.encoding import Dataset, encode
from treewright.encoding.row_subsets import separated
from treewright.estimators._tables import refuse_one_dimension
from treewright.estimators.targets import plain_target
from treewright.parameters import documented


class Certified:
    """An estimator whose true error can be bounded, whatever its model is."""

    @documented
    def certify(
        self,
        X: Any,
        y: Any = None,
        *,
        delta: float = 0.05,
        choices: int = 1,
        loss_bound: float | None = None,
        check_rows: bool = True,
    ) -> Certificate:
        """A bound on the true error, from rows that were never used for fitting.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Rows that had no part in the fit or in any choice; each counts as one draw. Or a tuple (X, y).
        y : str or array of shape (n_rows,) or (n_rows, n_targets)
            The column of X with their classes or numbers, or these themselves. A class that did not occur in
            the fit counts as an error, whatever is predicted.
        loss_bound : float, default=None
            For numbers: the largest squared error of a row. Without it there is an estimate only.
        check_rows : bool, default=True
            Whether rows of the fit are recognised, in any order, and refused.

        Returns
        -------
        Certificate
            ``print`` states it in a sentence; ``.value`` is the bound.
        """
        X, y = separated(X, y)
        refuse_one_dimension(X)
        target = plain_target(y, type(self).__name__)
        answers, truth = np.asarray(self.predict(X)), np.asarray(target)  # type: ignore[attr-defined]
        if len(truth) != len(answers):
            raise ValueError(f"X has {len(answers)} rows, but y has {len(truth)}")
        data = self._judging_rows(X, target)
        if check_rows and data is not None:
            vars(self)["_fit_rows"].refuse(data, choices=choices)
        truth = truth.reshape(answers.shape)
        if not hasattr(self, "classes_"):
            squares = (truth - answers) ** 2
            losses = squares.reshape(len(squares), -1).mean(axis=1)
            return certify_losses(losses, delta=delta, choices=choices, loss_bound=loss_bound)
        if loss_bound is not None:
            raise ValueError("loss_bound is for numbers; the loss of a class is at most 1")
        wrong = truth != answers
        if wrong.ndim == 1:
            return certify_errors(int(wrong.sum()), len(wrong), delta=delta, choices=choices)
        return certify_losses(wrong.mean(axis=1), delta=delta, choices=choices, what="error", loss_bound=1.0)

    def _judging_rows(self, X: Any, target: Any) -> Dataset | None:
        """The rows in the schema of the fit; None where the fit kept none."""
        return encode(X, target, schema=vars(self)["model_"].schema, judging=True)
