"""Predictions by votes: classes with their shares and a certificate, numbers with their intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.certifying import VoteCertificate, certify_votes
from treewright.encoding import Dataset
from treewright.ensembles.out_of_bag import votes_against
from treewright.estimators.parameters import is_real
from treewright.estimators.targets import factors_of
from treewright.growing import n_threads


class VotingClassifierMixin:
    """Predictions of classes by votes."""

    n_jobs: int | None
    _rows: Any
    _named: Any
    _rows_of_the_fit: Any

    def oob_certificate(
        self, X: Any, y: Any, sample_weight: Any = None, *, delta: float = 0.05, method: str | None = None
    ) -> VoteCertificate:
        """A bound on the true error of the vote, from the rows of the fit: each tree is judged by those that
        it has not seen (PAC-Bayes; see `treewright.certify_votes`).

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit, drawn independently from where the rows to come will be drawn.
        delta : float, default=0.05
            The chance that the bound fails.
        method : {"first_order", "tandem", "disagreement", "c_bound"}, default=None
            The one that gives the least bound if None; all share `delta` then.

        Returns
        -------
        VoteCertificate
            ``print`` says it in a sentence; ``.value`` is the bound. It is honest rather than sharp: rows
            that no tree has seen, by `certify`, say more.

        Raises
        ------
        ValueError
            Where the bound would not be one of what `predict` answers, or not from rows that a tree has not
            seen: rows drawn by unequal weights, ``class_weight="balanced"`` (which counts all rows;
            "balanced_subsample" does not), soft votes of trees with costs or priors, several targets.
        """
        forest, data = self._rows_of_the_fit(X, y, sample_weight)
        self._refuse_class_weights(data)
        against, unseen = votes_against(forest, data, n_threads(self.n_jobs))
        return certify_votes(against, out=unseen, method=method, delta=delta)

    def _refuse_class_weights(self, data: Dataset) -> None:
        """Weights of classes by which a tree may depend on rows out of its bag."""
        by_class = getattr(self, "class_weight", None)
        if by_class == "balanced":
            raise ValueError(
                "class_weight='balanced' weighs classes by how often they come in all rows, those out of bag "
                "included, so that no tree is independent of them; class_weight='balanced_subsample' or a "
                "dict of weights is, or certify by rows that no tree has seen"
            )
        if by_class not in (None, "balanced_subsample") and not factors_of(data, by_class).all():
            raise ValueError(
                f"class_weight={by_class!r} leaves a class out: a tree for which no other is drawn answers "
                "what all rows say; certify by rows that no tree has seen"
            )

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the most votes, or of soft votes of trees with costs the one that costs least by
        them; the first of several.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_targets)
            The predicted classes.
        """
        fitted, rows = self._rows(X)
        return np.asarray(self._named(fitted, fitted["model_"].answers(rows, n_threads(self.n_jobs))))

    def predict_proba(self, X: Any) -> Any:
        """The share of the votes that each class got.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes), or a list of them, one per target
            The shares, in the order of `classes_`.
        """
        fitted, rows = self._rows(X)
        shares = fitted["model_"].shares(rows, n_threads(self.n_jobs))
        return shares[0] if len(shares) == 1 else shares

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of `predict_proba`; minus infinity where a class got no vote.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes), or a list of them, one per target
            The logarithms, in the order of `classes_`.
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(share) for share in shares] if isinstance(shares, list) else np.log(shares)


class VotingRegressorMixin:
    """Predictions of numbers: means over the trees, and quantiles of the training rows in the same leaves."""

    n_jobs: int | None
    keep_targets: bool
    _rows: Any

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The mean of what the trees answer.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_targets)
            The predicted numbers.
        """
        fitted, rows = self._rows(X)
        values: NDArray[np.float64] = fitted["model_"].answers(rows, n_threads(self.n_jobs))
        return values[:, 0] if values.shape[1] == 1 else values

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> NDArray[np.float64]:
        """Quantiles of the target, from the training rows that share leaves with each row (Meinshausen 2006).

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.
        quantiles : sequence of float, default=(0.05, 0.5, 0.95)
            From 0 to 1.

        Returns
        -------
        ndarray of shape (n_rows, n_quantiles)
            The quantiles. Leaves of one row each know little of the spread: ``min_samples_leaf=5`` or more
            makes for better ones.
        """
        fitted, rows = self._rows(X)
        if "_leaf_targets" not in fitted:
            several = fitted["n_outputs_"] > 1
            why = "for one target; this forest predicts several" if several else "from keep_targets=True"
            raise ValueError(f"quantiles are {why}")
        threads = n_threads(self.n_jobs)
        found: NDArray[np.float64] = fitted["_leaf_targets"].quantiles(
            fitted["model_"], rows, quantiles, threads
        )
        return found

    def predict_interval(self, X: Any, confidence: float = 0.9) -> NDArray[np.float64]:
        """An interval in which the target of each row lies with about this confidence.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.
        confidence : float, default=0.9
            Between 0 and 1: half of the rest is cut off at each end.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Where each interval begins and ends; see `predict_quantiles`.
        """
        if not (is_real(confidence) and 0 < confidence < 1):
            raise ValueError(f"confidence is {confidence!r}; it must be a number between 0 and 1")
        rest = (1 - confidence) / 2
        return self.predict_quantiles(X, (rest, 1 - rest))
