"""What forests and bagging share: drawing rows, growing trees side by side, their votes, rows out of bag."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_random_state

from treewright.encoding import Dataset, encode
from treewright.encoding.fingerprints import fingerprint
from treewright.ensembles.bootstrap import Draws
from treewright.ensembles.forest import Forest, Growing, grow_members, split_targets, tree_seed
from treewright.ensembles.out_of_bag import ForestImportance, OutOfBag, importance_of, out_of_bag
from treewright.ensembles.proximity import LeafTargets, leaves_of, proximity
from treewright.estimators.advised import warn_about_trees
from treewright.estimators.ensemble import OF_EACH_TREE, EnsembleEstimator
from treewright.estimators.fitting import Fitted, passed_nodes, refuse_one_dimension, replace_fit
from treewright.estimators.parameters import check_each, is_int, n_features_drawn
from treewright.estimators.showing_progress import progress_bar
from treewright.estimators.targets import plain_target
from treewright.growing import n_threads
from treewright.tree.tree import Tree, as_array


class VotingEstimator(EnsembleEstimator):
    """Trees that vote, in scikit-learn's clothes; `model_` is a `Forest`."""

    model_: Forest
    n_estimators: int
    bootstrap: bool
    max_samples: int | float | None
    oob_score: Any
    warm_start: bool
    random_state: Any
    verbose: int
    voting: str
    keep_targets = False  # whether quantiles can be asked for

    def _growing_of(self, data: Dataset, draws: Draws) -> Growing:
        """How one tree is grown from drawn rows."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        A fit that fails leaves the estimator as it was; so does Ctrl-C, except that with ``warm_start=True``
        the trees that are done are kept, and the next fit goes on with them.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            A numpy array, a pandas or polars DataFrame, an Arrow table, a sparse matrix, a dict of columns or
            a list of rows, with missing values and categories as in the trees.
        y : array of shape (n_rows,) or (n_rows, n_targets)
            The classes or numbers to predict.
        sample_weight : array of shape (n_rows,), default=None
            A weight per row, not negative. With ``bootstrap=True`` rows are drawn by their weights.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_each(self)
        data, described = self._encoded(X, y, sample_weight, classes=is_classifier(self))
        before: Forest | None = vars(self).get("model_") if self.warm_start else None
        if before is not None:
            self._check_same_rows(before, data, described)
        draws = self._draws(data, before)
        if self.oob_score and not draws.leaves_rows_out:
            raise ValueError(
                "oob_score=True needs rows that a tree has not seen: set bootstrap=True, or max_samples to "
                "less than all rows"
            )
        trees = [] if before is None else list(before.trees)
        n_before = len(trees)
        if self.n_estimators < n_before:
            raise ValueError(
                f"n_estimators={self.n_estimators} is less than the {n_before} trees that are there; with "
                "warm_start=True it can only grow"
            )
        if self.n_estimators == n_before:
            warnings.warn("warm_start=True and no larger n_estimators: no tree is grown", stacklevel=2)
        try:
            self._grow_more(data, draws, trees)
        except KeyboardInterrupt:
            if self.warm_start and len(trees) > n_before:
                self._finish(data, described, trees, draws, n_before)
            raise
        self._finish(data, described, trees, draws, n_before)
        warn_about_trees(self, data, trees)
        return self

    def _check_same_rows(self, before: Forest, data: Dataset, described: Fitted) -> None:
        """A forest goes on with the rows that it was grown from, and with no others."""
        if before.schema.columns != data.schema.columns or before.schema.targets != data.schema.targets:
            raise ValueError(
                "warm_start=True goes on with a forest whose columns, categories or classes are not those of "
                "this table; set warm_start=False"
            )
        if not before.draws.are_of(data) or vars(self)["_fingerprint"] != described["_fingerprint"]:
            raise ValueError(
                f"warm_start=True goes on with a forest of {before.draws.n_rows:,} rows, and the "
                f"{data.n_rows:,} of this table, their targets or weights are others; set warm_start=False"
            )

    def _draws(self, data: Dataset, before: Forest | None) -> Draws:
        most = data.n_counted
        size = self.max_samples
        if size is not None:
            size = int(size) if is_int(size) else max(1, round(float(size) * most))
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
                "warm_start=True goes on with the draws of the forest, and bootstrap or max_samples ask for "
                "others; set warm_start=False"
            )
        return before.draws

    def _grow_more(self, data: Dataset, draws: Draws, trees: list[Tree]) -> None:
        """Grow what is missing; the trees that are done are in the list at any time."""
        members = range(len(trees), self.n_estimators)
        with progress_bar("trees", self.n_estimators, self.verbose) as step:

            def note(tree: Tree) -> None:
                trees.append(tree)
                step(len(trees))

            grow_members(
                data,
                draws,
                self._growing_of(data, draws),
                members,
                n_threads(self.n_jobs),
                note,
                draws_cuts=getattr(self, "splitter", "best") == "random",
            )

    def _finish(
        self,
        data: Dataset,
        described: Fitted,
        trees: Sequence[Tree],
        draws: Draws,
        n_before: int,
    ) -> None:
        forest = Forest(tuple(trees), draws, self.voting)  # type: ignore[arg-type]
        fitted: Fitted = {"model_": forest, **described}
        threads = n_threads(self.n_jobs)
        if self.oob_score:
            fitted |= self._judged(out_of_bag(forest, data, n_threads=threads), data)
        if self.keep_targets and len(data.schema.targets) == 1:
            more = LeafTargets.of(trees[n_before:], draws, data, n_before, threads)
            old: LeafTargets | None = vars(self).get("_leaf_targets") if n_before else None
            fitted["_leaf_targets"] = more if old is None else old.joined(more)
        replace_fit(self, fitted)

    def _judged(self, out: OutOfBag, data: Dataset) -> Fitted:
        """The attributes that out-of-bag rows give, by scikit-learn's names."""
        targets, is_judged = np.asarray(data.targets).T, out.votes > 0
        unheard = np.count_nonzero(~is_judged & (data.row_weights > 0))
        if unheard:
            warnings.warn(
                f"{unheard:,} rows were in every tree and have no out-of-bag prediction; grow more trees",
                stacklevel=4,
            )
        fitted: Fitted = {"oob_curve_": out.curve}
        answers, truth = out.answers[is_judged], targets[is_judged]
        if data.schema.predicts_classes:
            blocks = split_targets(data.schema, out.means)
            same = len({block.shape[1] for block in blocks}) == 1
            shares: Any = blocks[0] if len(blocks) == 1 else np.stack(blocks, axis=2) if same else blocks
            fitted["oob_decision_function_"] = shares
        else:
            fitted["oob_prediction_"] = out.answers[:, 0] if targets.shape[1] == 1 else out.answers
        fitted["oob_score_"] = self._scored(truth, answers, data) if is_judged.any() else np.nan
        return fitted

    def _scored(self, truth: NDArray[Any], answers: NDArray[Any], data: Dataset) -> float:
        if truth.shape[1] == 1:
            truth, answers = truth[:, 0], answers[:, 0]
        if callable(self.oob_score):
            if data.schema.predicts_classes and truth.ndim == 1:
                names = as_array(data.schema.targets[0].classes or ())
                truth, answers = names[truth], names[answers]
            return float(self.oob_score(truth, answers))
        if not data.schema.predicts_classes:
            return float(r2_score(truth, answers))
        return float(accuracy_score(truth, answers)) if truth.ndim == 1 else float((truth == answers).mean())

    @property
    def estimators_(self) -> list[Any]:
        """The trees as estimators of their own."""
        fitted = self._fitted(AttributeError)
        known: list[Any]
        known, forest = vars(self).get("_members", ([], None))
        if forest is not fitted["model_"]:
            known = [self._dressed(member, fitted) for member in range(len(fitted["model_"]))]
            vars(self)["_members"] = known, fitted["model_"]
        return known

    def _member(self) -> Any:
        """A new estimator of one tree."""
        raise NotImplementedError

    def _dressed(self, member: int, fitted: Fitted) -> Any:
        """One tree as an estimator."""
        estimator, tree = self._member(), fitted["model_"].trees[member]
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=tree_seed(fitted["model_"].draws, member))
        vars(estimator).update({name: fitted[name] for name in OF_EACH_TREE if name in fitted})
        drawn = n_features_drawn(getattr(estimator, "max_features", None), len(tree.schema.columns))
        vars(estimator).update(model_=tree, max_features_=drawn)
        return estimator

    @property
    def estimator_(self) -> Any:
        """An estimator of one tree, not fitted."""
        return self._member()

    @property
    def estimators_samples_(self) -> list[NDArray[np.intp]]:
        """The rows that were drawn for each tree."""
        forest: Forest = self._fitted(AttributeError)["model_"]
        return [forest.draws.rows(member) for member in range(len(forest))]

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The share of each column in the gain of the splits, averaged over the trees (MDI).

        It is biased towards columns of many values, and taken from the rows that chose the splits;
        `oob_importance` is not.
        """
        forest: Forest = self._fitted(AttributeError)["model_"]
        return forest.gain_shares

    def oob_importance(self, X: Any, y: Any, sample_weight: Any = None) -> ForestImportance:
        """What each column is worth: how much the loss of a tree rises where the column is shuffled among the
        rows that the tree has not seen, averaged over the trees.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit.

        Returns
        -------
        ForestImportance
            ``print`` shows it, the most useful first; ``.rises`` are the numbers by column.
        """
        forest, data = self._rows_of_the_fit(X, y, sample_weight)
        return importance_of(forest, data, n_threads(self.n_jobs))

    def apply(self, X: Any) -> NDArray[np.int64]:
        """The leaf of each row in each tree.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_estimators)
            Node numbers; the nodes are numbered as one meets them from left to right, parents first.
        """
        fitted, rows = self._rows(X)
        return leaves_of(fitted["model_"], rows, n_threads(self.n_jobs)).astype(np.int64)

    def decision_path(self, X: Any) -> tuple[csr_matrix, NDArray[np.intp]]:
        """The nodes that each row passes in each tree.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Returns
        -------
        indicator : sparse matrix of shape (n_rows, nodes of all trees)
            One where the row passes the node.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            The columns of tree i are ``n_nodes_ptr[i]`` to ``n_nodes_ptr[i + 1]``.
        """
        fitted, rows = self._rows(X)
        paths = [passed_nodes(tree, tree.apply(rows)) for tree in fitted["model_"].trees]
        return hstack(paths).tocsr(), np.cumsum([0, *(path.shape[1] for path in paths)])

    def proximity(self, X: Any, Y: Any = None, *, out_of_bag: bool = False) -> NDArray[np.float64]:
        """In what share of the trees two rows come to the same leaf.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Rows, with the columns of the fit.
        Y : table of shape (n_others, n_columns), default=None
            Other rows; the same ones if None.
        out_of_bag : bool, default=False
            Only trees count that have seen neither row; X must be the rows of the fit, and Y None.

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
                f"{rows.n_rows:,}, and others"
            )
        return proximity(forest, rows, others, out_of_bag=out_of_bag, n_threads=n_threads(self.n_jobs))

    def _rows_of_the_fit(self, X: Any, y: Any, sample_weight: Any) -> tuple[Forest, Dataset]:
        forest: Forest = self._fitted()["model_"]
        refuse_one_dimension(X)
        data = encode(X, plain_target(y, type(self).__name__), weight=sample_weight, schema=forest.schema)
        vars(self)["_fingerprint"].refuse_others(data, "which of them a tree has not seen is known by place")
        return forest, self._reweighted(data) if is_classifier(self) else data

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_members"}
