"""What the estimators of AdaBoost share: a tree estimator as the pattern of all trees, and what they tell."""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import column_or_1d

from treewright.encoding import Dataset
from treewright.ensembles.adaboost import Boosted, Round
from treewright.ensembles.adaboost_r2 import BoostedNumbers, NumberRound
from treewright.estimators.advised import warn_about_trees
from treewright.estimators.ensemble import OF_EACH_TREE, EnsembleEstimator
from treewright.estimators.fitting import Fitted, TreeEstimator, replace_fit
from treewright.estimators.parameters import check_each, check_parameters, n_features_drawn
from treewright.tree import Tree


class AdaptiveEstimator(EnsembleEstimator):
    """AdaBoost in scikit-learn's clothes, whatever it predicts."""

    model_: Boosted | BoostedNumbers
    estimator: Any
    n_estimators: int
    learning_rate: float
    random_state: Any
    verbose: int

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees one after the other; a fit that fails leaves the estimator as it was.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Any table that the trees take, with numbers, categories, dates and missing values.
        y : array of shape (n_rows,)
            The classes or numbers to predict.
        sample_weight : array of shape (n_rows,), default=None
            The weights with which boosting starts, not negative. A weight of two is as good as the row
            twice, zero as good as no row.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_each(self)
        pattern = self._pattern()
        if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        data, described = self._encoded(X, y, sample_weight, classes=is_classifier(self))
        data = pattern._reweighted(data)  # once: to balance each round would undo what boosting has weighed
        state = pattern.random_state if self.random_state is None else self.random_state
        seed = int(check_random_state(state).randint(2**31 - 1))
        model = self._boosted(data, seed, partial(_grown, pattern, seed))
        replace_fit(self, {**described, "model_": model, "estimator_": pattern})
        warn_about_trees(self, data, model.trees)
        return self

    def _boosted(self, data: Dataset, seed: int, grower: Any) -> Boosted | BoostedNumbers:
        raise NotImplementedError

    def _usual(self) -> TreeEstimator:
        """The tree estimator that is the pattern where none is given."""
        raise NotImplementedError

    def _pattern(self) -> Any:
        """The estimator whose trees are boosted, checked, with the threads of the whole."""
        name = type(self).__name__
        if self.estimator is not None and not isinstance(self.estimator, TreeEstimator):
            raise TypeError(
                f"{name}: estimator is a {type(self.estimator).__name__}; it must be one of treewright's "
                "tree estimators, or None"
            )
        pattern: Any = self._usual() if self.estimator is None else clone(self.estimator)
        if is_classifier(pattern) != is_classifier(self):
            kind = "classes" if is_classifier(self) else "numbers"
            raise TypeError(f"{name}: estimator is a {type(pattern).__name__}; it must predict {kind}")
        if pattern.kinds is not None:
            raise ValueError(f"{name}: columns are encoded once for all trees; give kinds to {name} itself")
        if self.n_jobs is not None and "n_jobs" in pattern.get_params(deep=False):
            pattern.set_params(n_jobs=self.n_jobs)
        check_parameters(pattern)
        return pattern

    def _say(self, each: Round | NumberRound) -> None:
        """A line about a round, where `verbose` asks for it."""
        if not self.verbose:
            return
        line = f"tree {each.number} of {self.n_estimators}: error {each.error:.4f}, vote {each.vote:.4f}"
        print(line + (f", training error {each.training:.4f}" if isinstance(each, Round) else ""), flush=True)

    @property
    def estimators_(self) -> list[Any]:
        """The trees as fitted estimators, in their order."""
        fitted = self._fitted(AttributeError)
        common: Fitted = {name: fitted[name] for name in OF_EACH_TREE if name in fitted}
        if "n_classes_" in common:
            common["n_classes_"] = np.intp(common["n_classes_"])
        drawn = n_features_drawn(fitted["estimator_"].max_features, fitted["n_features_in_"])
        made = []
        for tree in fitted["model_"].trees:
            made.append(copy(fitted["estimator_"]))
            replace_fit(made[-1], {**common, "model_": tree, "max_features_": drawn})
        return made

    @property
    def estimator_weights_(self) -> NDArray[np.float64]:
        """The vote of each tree."""
        return self._fitted(AttributeError)["model_"].votes.copy()  # type: ignore[no-any-return]

    @property
    def estimator_errors_(self) -> NDArray[np.float64]:
        """The error of each tree on the weighted rows that it was grown from."""
        return self._fitted(AttributeError)["model_"].errors.copy()  # type: ignore[no-any-return]

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The share of each column in the total gain of a tree, averaged over the trees by their votes."""
        return np.average(
            [tree.feature_importances_ for tree in self.estimators_], axis=0, weights=self.estimator_weights_
        )


def _grown(pattern: Any, seed: int, data: Dataset, number: int) -> Tree:
    """The tree of a round, as an estimator like the pattern grows and prunes it."""
    if "random_state" in vars(pattern):  # else it draws nothing
        pattern = copy(pattern)
        pattern.random_state = int(np.random.SeedSequence(seed, spawn_key=(number,)).generate_state(1)[0])
    tree: Tree = pattern._model(data, None)[0]
    return tree
