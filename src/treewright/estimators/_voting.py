"""The base of forests and bagging: bootstrap samples, trees in parallel, votes, out-of-bag estimates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state

from treewright._suggestions import checked_keywords
from treewright.advice import warn_caller
from treewright.certifying import VoteCertificate, certify_votes
from treewright.encoding import Dataset, encode
from treewright.encoding.row_hashes import fingerprint
from treewright.ensembles.bootstrap import Draws
from treewright.ensembles.forest import Forest, Growing, grow_members, split_targets, tree_seed
from treewright.ensembles.out_of_bag import (
    ForestImportance,
    OutOfBag,
    importance_of,
    out_of_bag,
    votes_against,
)
from treewright.ensembles.proximity import LeafTargets, leaves_of, proximity
from treewright.estimators._fit_warnings import warn_about_trees
from treewright.estimators._predictions import ClassifierPredictions, Floats, RegressorPredictions
from treewright.estimators._progress import progress_bar
from treewright.estimators._table_estimator import TableEstimator, of_ensemble, shared_by_trees
from treewright.estimators._tables import Fitted, refuse_one_dimension, replace_fit
from treewright.estimators.fitting import passed_nodes
from treewright.estimators.targets import factors_of, plain_target
from treewright.growing import n_features_drawn, n_threads
from treewright.parameters import documented
from treewright.parameters.checks import is_int, is_real
from treewright.parameters.forest import VotingParameters
from treewright.tree.tree import Tree, decode_predictions


class VotingEstimator(VotingParameters, TableEstimator):
    """An ensemble of trees that vote.

    Attributes
    ----------
    model_ : treewright.Forest
        The trees.
    estimators_ : list of tree estimators
        Each tree as an estimator of its own.
    estimators_samples_ : list of ndarray
        The rows that were drawn for each tree.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in the gain of the splits; biased, `oob_importance` is not.
    oob_score_ : float
        The accuracy, or R², of the out-of-bag predictions; of several targets of classes the share of rows
        where all are right. Only with `oob_score`.
    oob_curve_ : ndarray of shape (n_estimators,)
        The error of the out-of-bag predictions after each tree: the share of wrong ones, their mean cost
        where the trees have costs, or the mean squared error. Only with `oob_score`.
    """

    _takes_several_targets = True

    def _tree_grower(self, data: Dataset, draws: Draws) -> Growing:
        """The function that grows one tree from its sample of the rows."""
        raise NotImplementedError

    def _tree_estimator(self) -> Any:
        """A new, unfitted estimator with the parameters of one tree."""
        raise NotImplementedError

    def _fit(self, X: Any, y: Any, data: Dataset, described: Fitted) -> None:
        if getattr(y, "shape", ())[1:] == (1,):
            warn_caller(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                DataConversionWarning,
            )
        before: Forest | None = vars(self).get("model_") if self.warm_start else None
        n_before = 0 if before is None else len(before)
        if before is not None and self.n_estimators == n_before:
            warn_caller("Warm-start fitting without increasing n_estimators does not fit new trees.")
            if not self.oob_score or "oob_score_" in vars(self):
                return
        if before is not None:
            self._check_same_rows(before, data, described)
        draws = self._draws(data, before)
        if self.oob_score and not draws.leaves_rows_out:
            raise ValueError(
                "Out of bag estimation only available if bootstrap=True, or if max_samples is less than all "
                "rows: oob_score needs rows that a tree has not seen"
            )
        trees = [] if before is None else list(before.trees)
        if self.n_estimators < n_before:
            raise ValueError(
                f"n_estimators={self.n_estimators} is less than the {n_before} trees of the forest; with "
                "warm_start=True it can only increase"
            )
        try:
            self._grow_more(data, draws, trees)
        except KeyboardInterrupt:
            if self.warm_start and len(trees) > n_before:
                self._finish(data, described, trees, draws, n_before)
            raise
        self._finish(data, described, trees, draws, n_before)
        warn_about_trees(self, data, trees)

    def _check_same_rows(self, before: Forest, data: Dataset, described: Fitted) -> None:
        """Raise an error unless a warm start continues with the rows of the fit before."""
        if before.schema.columns != data.schema.columns or before.schema.targets != data.schema.targets:
            raise ValueError(
                "warm_start=True continues a forest whose columns, categories or classes are not those of "
                "this table; set warm_start=False"
            )
        if not before.draws.are_of(data) or vars(self)["_fingerprint"] != described["_fingerprint"]:
            raise ValueError(
                f"warm_start=True continues a forest of {before.draws.n_rows:,} rows, but the "
                f"{data.n_rows:,} rows of this table, their targets or their weights are different; set "
                "warm_start=False"
            )

    def _draws(self, data: Dataset, before: Forest | None) -> Draws:
        most = data.n_counted
        size = self.max_samples
        if size is not None:
            size = int(size) if is_int(size) else max(1, int(size * most))
            if size == most and not self.bootstrap:
                size = None
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        try:
            draws = Draws.of(data, seed=seed, size=size, replace=bool(self.bootstrap))
        except ValueError as error:
            raise ValueError(f"max_samples={self.max_samples!r}: {error}") from None
        if before is None:
            return draws
        if (draws.size, draws.replace) != (before.draws.size, before.draws.replace):
            raise ValueError(
                "warm_start=True continues with the samples of the forest, but bootstrap or max_samples have "
                "changed; set warm_start=False"
            )
        return before.draws

    def _grow_more(self, data: Dataset, draws: Draws, trees: list[Tree]) -> None:
        """Grow the missing trees; each is appended to the list as soon as it is complete."""
        members = range(len(trees), self.n_estimators)
        tree = self._tree_estimator()
        with progress_bar("trees", self.n_estimators, self.verbose) as step:

            def note(tree: Tree) -> None:
                trees.append(tree)
                step(len(trees))

            grow_members(
                data,
                draws,
                self._tree_grower(data, draws),
                members,
                n_threads(self.n_jobs),
                note,
                draws_cuts=getattr(tree, "splitter", "best") == "random",
                n_drawn=n_features_drawn(getattr(tree, "max_features", None), data.n_columns),
            )

    def _finish(
        self,
        data: Dataset,
        described: Fitted,
        trees: Sequence[Tree],
        draws: Draws,
        n_before: int,
    ) -> None:
        forest = Forest(tuple(trees), draws, getattr(self, "voting", "soft"))
        fitted: Fitted = {"model_": forest, **of_ensemble(described)}
        if self.oob_score:
            fitted |= self._oob_attributes(out_of_bag(forest, data, n_jobs=self.n_jobs), data)
        if getattr(self, "keep_targets", False) and len(data.schema.targets) == 1:
            more = LeafTargets.of(trees[n_before:], draws, data, n_before, self.n_jobs)
            old: LeafTargets | None = vars(self).get("_leaf_targets") if n_before else None
            fitted["_leaf_targets"] = more if old is None else old.extend(more)
        replace_fit(self, fitted)

    def _oob_attributes(self, out: OutOfBag, data: Dataset) -> Fitted:
        """The out-of-bag attributes, by scikit-learn's names."""
        targets, has_votes = np.asarray(data.targets).T, out.votes > 0
        n_without = np.count_nonzero(~has_votes & (data.row_weights > 0))
        if n_without:
            warn_caller(
                "Some inputs do not have OOB scores. This probably means too few estimators were used to "
                f"compute any reliable oob estimates: {n_without:,} rows were in every tree"
            )
        fitted: Fitted = {"oob_curve_": out.curve}
        answers, truth = out.answers[has_votes], targets[has_votes]
        if data.schema.predicts_classes:
            blocks = split_targets(data.schema, out.means)
            same = len({block.shape[1] for block in blocks}) == 1
            shares: Any = blocks[0] if len(blocks) == 1 else np.stack(blocks, axis=2) if same else blocks
            fitted["oob_decision_function_"] = shares
        else:
            fitted["oob_prediction_"] = out.answers[:, 0] if targets.shape[1] == 1 else out.answers
        fitted["oob_score_"] = self._oob_score(truth, answers, data) if has_votes.any() else np.nan
        return fitted

    def _oob_score(self, truth: NDArray[Any], answers: NDArray[Any], data: Dataset) -> float:
        if callable(self.oob_score):
            return float(
                self.oob_score(*(decode_predictions(data.schema, each) for each in (truth, answers)))
            )
        if data.schema.predicts_classes:
            return float((truth == answers).all(axis=1).mean())
        return float(r2_score(truth, answers))

    @property
    def estimators_(self) -> list[Any]:
        """The trees, each as a fitted estimator of its own."""
        fitted = self._fitted()
        known: list[Any]
        known, forest = vars(self).get("_members", ([], None))
        if forest is not fitted["model_"]:
            known = [self._fitted_tree_estimator(member, fitted) for member in range(len(fitted["model_"]))]
            vars(self)["_members"] = known, fitted["model_"]
        return known

    def _fitted_tree_estimator(self, member: int, fitted: Fitted) -> Any:
        estimator, tree = self._tree_estimator(), fitted["model_"].trees[member]
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=tree_seed(fitted["model_"].draws, member))
        vars(estimator).update(shared_by_trees(fitted))
        drawn = n_features_drawn(getattr(estimator, "max_features", None), len(tree.schema.columns))
        vars(estimator).update(model_=tree, max_features_=drawn)
        return estimator

    @property
    def estimator_(self) -> Any:
        """An unfitted estimator of one tree."""
        return self._tree_estimator()

    @property
    def estimators_samples_(self) -> list[NDArray[Any]]:
        """The rows that were drawn for each tree."""
        forest: Forest = self._fitted()["model_"]
        return [forest.draws.rows(member).astype(np.int32) for member in range(len(forest))]

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The share of each column in the gain of the splits, averaged over the trees (MDI).

        It favours columns of many values and is computed from the training rows; `oob_importance` has neither
        bias.
        """
        forest: Forest = self._fitted()["model_"]
        return forest.gain_shares

    @checked_keywords
    def oob_importance(self, X: Any, y: Any, sample_weight: Any = None) -> ForestImportance:
        """Permutation importance on out-of-bag rows: how much the loss of a tree rises when the column is
        shuffled among the rows that the tree has not seen, averaged over the trees.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit.

        Returns
        -------
        ForestImportance
            ``print`` shows it, the most important column first; ``.rises`` has one number per column.
        """
        forest, data = self._fit_data(X, y, sample_weight)
        return importance_of(forest, data, self.n_jobs)

    @documented
    def apply(self, X: Any) -> NDArray[np.int64]:
        """The leaf of each row in each tree.

        Returns
        -------
        ndarray of shape (n_rows, n_estimators)
            Node numbers, in preorder from left to right.
        """
        fitted, rows = self._rows(X)
        return leaves_of(fitted["model_"], rows, self.n_jobs).astype(np.int64)

    @documented
    def decision_path(self, X: Any) -> tuple[csr_matrix, NDArray[np.intp]]:
        """The nodes on the path of each row in each tree.

        Returns
        -------
        indicator : sparse matrix of shape (n_rows, nodes of all trees)
            1 where the row passes through the node.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            The nodes of tree i are the columns ``n_nodes_ptr[i]`` to ``n_nodes_ptr[i + 1]``.
        """
        fitted, rows = self._rows(X)
        paths = [passed_nodes(tree, tree.apply(rows)) for tree in fitted["model_"].trees]
        return hstack(paths).tocsr(), np.cumsum([0, *(path.shape[1] for path in paths)])

    @checked_keywords
    def proximity(self, X: Any, Y: Any = None, *, out_of_bag: bool = False) -> NDArray[np.float64]:
        """The proximity of rows: the share of the trees in which two rows reach the same leaf.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Rows, with the columns of the fit.
        Y : table of shape (n_others, n_columns), default=None
            Other rows; the same ones if None.
        out_of_bag : bool, default=False
            Count only the trees that have seen neither row; X must be the rows of the fit, and Y None.

        Returns
        -------
        ndarray of shape (n_rows, n_others)
            From 0 to 1.
        """
        fitted, rows = self._rows(X)
        others = None if Y is None else self._rows(Y)[1]
        forest: Forest = fitted["model_"]
        if out_of_bag and fingerprint(rows).in_order != fitted["_fingerprint"].in_order:
            raise ValueError(
                f"out_of_bag=True is for the {forest.draws.n_rows:,} rows of the fit, in their order; X has "
                f"{rows.n_rows:,} rows, and not the same"
            )
        return proximity(forest, rows, others, out_of_bag=out_of_bag, n_jobs=self.n_jobs)

    def _fit_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Forest, Dataset]:
        forest: Forest = self._fitted()["model_"]
        refuse_one_dimension(X)
        data = encode(X, plain_target(y, type(self).__name__), weight=sample_weight, schema=forest.schema)
        vars(self)["_fingerprint"].refuse_others(data, "out-of-bag rows are known by their position")
        return forest, self._reweighted(data)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class VotingClassifierMixin(ClassifierPredictions):
    """Predictions of classes by votes, and a certificate from out-of-bag rows.

    Attributes
    ----------
    oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        The votes of the trees that were not grown from a row; NaN where there are none. Only with
        `oob_score`.
    """

    n_jobs: int | None
    _rows: Any
    _fit_data: Any

    @checked_keywords
    def oob_certificate(
        self, X: Any, y: Any, sample_weight: Any = None, *, delta: float = 0.05, method: str | None = None
    ) -> VoteCertificate:
        """A PAC-Bayes bound on the true error of the vote, from the rows of the fit: each tree is evaluated
        on the rows that it has not seen (see `treewright.certify_votes`).

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit, an i.i.d. sample of the population that is to be predicted.
        delta : float, default=0.05
            The probability that the bound fails.
        method : {"first_order", "tandem", "disagreement", "c_bound"}, default=None
            The method of the bound; None takes the smallest bound of all of them, which then share `delta`.

        Returns
        -------
        VoteCertificate
            ``print`` says it in a sentence; ``.value`` is the bound. It is valid but loose: `certify` with
            rows that no tree has seen gives a tighter one.

        Raises
        ------
        ValueError
            If the bound would not hold for `predict`, or would not come from unseen rows: rows drawn by
            unequal weights, ``class_weight="balanced"`` (which counts all rows; "balanced_subsample" does
            not), soft votes of trees with costs or priors, several targets.
        """
        forest, data = self._fit_data(X, y, sample_weight)
        self._refuse_class_weights(data)
        against, unseen = votes_against(forest, data, self.n_jobs)
        return certify_votes(against, out=unseen, method=method, delta=delta)

    def _refuse_class_weights(self, data: Dataset) -> None:
        """Raise an error for class weights by which a tree may depend on its out-of-bag rows."""
        by_class = getattr(self, "class_weight", None)
        if by_class == "balanced":
            raise ValueError(
                "class_weight='balanced' weighs classes by their frequency in all rows, those out of bag "
                "included, so that no tree is independent of them; use class_weight='balanced_subsample' or "
                "a dict of weights, or certify with rows that no tree has seen"
            )
        if by_class not in (None, "balanced_subsample") and not factors_of(data, by_class).all():
            raise ValueError(
                f"class_weight={by_class!r} leaves a class out: a tree whose sample has no other class "
                "predicts from all rows; certify with rows that no tree has seen"
            )

    def _class_codes(self, X: Any) -> tuple[Fitted, NDArray[Any]]:
        fitted, rows = self._rows(X)
        return fitted, fitted["model_"].answers(rows, n_threads(self.n_jobs))

    def _class_probabilities(self, X: Any) -> list[Floats]:
        fitted, rows = self._rows(X)
        shares: list[Floats] = fitted["model_"].shares(rows, n_threads(self.n_jobs))
        return shares


class VotingRegressorMixin(RegressorPredictions):
    """Predictions of numbers: means over the trees, and quantiles of the training rows in the same leaves.

    Attributes
    ----------
    oob_prediction_ : ndarray of shape (n_rows,)
        The mean of the trees that were not grown from a row; NaN where there are none. Only with `oob_score`.
    """

    n_jobs: int | None
    keep_targets: bool
    _rows: Any

    def _numbers(self, X: Any) -> Floats:
        fitted, rows = self._rows(X)
        values: Floats = fitted["model_"].answers(rows, n_threads(self.n_jobs))
        return values[:, 0] if values.shape[1] == 1 else values

    @documented
    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> Floats:
        """Quantiles of the target, from the training rows that share leaves with each row (Meinshausen 2006).

        Parameters
        ----------
        quantiles : sequence of float, default=(0.05, 0.5, 0.95)
            Probabilities from 0 to 1.

        Returns
        -------
        ndarray of shape (n_rows, n_quantiles)
            The quantiles. They are better with ``min_samples_leaf=5`` or more: leaves of single rows tell
            little about the spread.
        """
        fitted, rows = self._rows(X)
        if "_leaf_targets" not in fitted:
            if fitted["n_outputs_"] > 1:
                raise ValueError("quantiles are for one target; this forest predicts several")
            raise ValueError("quantiles need the targets of the training rows: fit with keep_targets=True")
        forest = fitted["model_"]
        found: Floats = fitted["_leaf_targets"].quantiles(forest, rows, quantiles, self.n_jobs)
        return found

    @documented
    def predict_interval(self, X: Any, confidence: float = 0.9) -> Floats:
        """Intervals that contain the target of each row with about this confidence.

        Parameters
        ----------
        confidence : float, default=0.9
            Between 0 and 1; half of the remaining probability is cut off at each end.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            The lower and upper ends; see `predict_quantiles`.
        """
        if not (is_real(confidence) and 0 < confidence < 1):
            raise ValueError(f"confidence is {confidence!r}; it must be a number between 0 and 1")
        rest = (1 - confidence) / 2
        return self.predict_quantiles(X, (rest, 1 - rest))
