"""AdaBoostClassifier (SAMME, M1) and AdaBoostRegressor (R2): boosting by reweighting the rows."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import partial
from typing import Any

import numpy as np
import sklearn.ensemble
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_random_state

from treewright._suggestions import checked_keywords
from treewright.encoding import Dataset
from treewright.ensembles.adaboost import Boosted, Round, boost, decision_function, vote_probabilities
from treewright.ensembles.adaboost_r2 import BoostedNumbers, NumberRound, boost_numbers
from treewright.estimators._any_estimator import AnyEstimator, left_to
from treewright.estimators._fit_warnings import warn_about_trees
from treewright.estimators._predictions import (
    BoostedClassifierPredictions,
    Floats,
    RegressorPredictions,
)
from treewright.estimators._table_estimator import TableEstimator, of_ensemble, shared_by_trees
from treewright.estimators._tables import Fitted, replace_fit
from treewright.estimators.fitting import TreeEstimator, check_parameters
from treewright.estimators.targets import plain_target
from treewright.estimators.tree import DecisionTreeClassifier, DecisionTreeRegressor
from treewright.growing import n_features_drawn
from treewright.parameters import documented
from treewright.parameters.boosting import AdaBoostParameters
from treewright.parameters.checks import TRUE_OR_FALSE, one_of
from treewright.parameters.spec import parameter
from treewright.tree import Tree


class AdaBoostEstimator(AnyEstimator, AdaBoostParameters, TableEstimator):
    """What the classifier and the regressor share: `estimator` is the template of all that are boosted.

    Attributes
    ----------
    estimators_ : list of estimators
        The trees or other estimators, fitted.
    estimator_weights_ : ndarray of shape (n_estimators,)
        Their votes.
    estimator_errors_ : ndarray of shape (n_estimators,)
        The share of the weight that each predicts wrongly, when it is fitted.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The importances of the columns for each (for trees, shares in the total gain), averaged by the votes.
    estimator_ : estimator
        The template.
    """

    def check_parameters(self) -> None:
        """Raise an error about the first parameter whose value is not allowed, or about `estimator`."""
        super().check_parameters()
        if self._takes_trees:
            self._template()

    def get_metadata_routing(self) -> Any:
        """What scikit-learn's metadata routing passes on: the weights; to other estimators nothing."""
        if self._takes_trees:
            return BaseEstimator.get_metadata_routing(self)
        return self._scikit_learn.get_metadata_routing(self)

    def _unfitted(self) -> Any:
        theirs = super()._unfitted()
        if self.n_jobs is not None and "n_jobs" in self.estimator.get_params(deep=False):
            theirs.estimator = clone(self.estimator).set_params(n_jobs=self.n_jobs)
        return theirs

    def _fit(self, X: Any, y: Any, data: Dataset, described: Fitted) -> None:
        template = self._template()
        data = template._reweighted(data)  # only once: balancing each round would undo the boosting weights
        state = template.random_state if self.random_state is None else self.random_state
        seed = int(check_random_state(state).randint(2**31 - 1))
        model = self._boosted(
            data,
            seed,
            n_estimators=int(self.n_estimators),
            learning_rate=self.learning_rate,
            grower=partial(_grow_round, template, seed),
            n_jobs=self.n_jobs,
            progress=self._print_round,
        )
        own = {"model_": model, "estimator_": template, "_seed": seed}
        replace_fit(self, of_ensemble(described) | own)
        warn_about_trees(self, data, model.trees)

    def _boosted(self, data: Dataset, seed: int, **options: Any) -> Boosted | BoostedNumbers:
        raise NotImplementedError

    def _default_tree(self) -> TreeEstimator:
        raise NotImplementedError

    def _template(self) -> Any:
        """The checked estimator of one tree, with the `n_jobs` of the ensemble."""
        name = type(self).__name__
        template: Any = self._default_tree() if self.estimator is None else clone(self.estimator)
        if template._predicts_classes != self._predicts_classes:
            kind = "classes" if self._predicts_classes else "numbers"
            raise TypeError(f"{name}: estimator is a {type(template).__name__}; it must predict {kind}")
        if template.kinds is not None:
            raise ValueError(f"{name}: columns are encoded once for all trees; give kinds to {name} itself")
        if self.n_jobs is not None and "n_jobs" in template.get_params(deep=False):
            template.set_params(n_jobs=self.n_jobs)
        check_parameters(template)
        return template

    def _print_round(self, each: Round | NumberRound) -> None:
        if not self.verbose:
            return
        line = f"tree {each.number} of {self.n_estimators}: error {each.error:.4f}, vote {each.vote:.4f}"
        print(line + (f", training error {each.training:.4f}" if isinstance(each, Round) else ""), flush=True)

    @property
    def estimators_(self) -> list[Any]:
        """The trees as fitted estimators, in their order."""
        fitted = self._fitted()
        common = shared_by_trees(fitted)
        drawn = n_features_drawn(fitted["estimator_"].max_features, fitted["n_features_in_"])
        estimators = []
        for number, tree in enumerate(fitted["model_"].trees):
            estimators.append(_seeded(fitted["estimator_"], fitted["_seed"], number))
            replace_fit(estimators[-1], {**common, "model_": tree, "max_features_": drawn})
        return estimators

    @property
    def estimator_weights_(self) -> Floats:
        """The weight of each tree in the vote."""
        return self._fitted()["model_"].votes.copy()  # type: ignore[no-any-return]

    @property
    def estimator_errors_(self) -> Floats:
        """The error of each tree on the weighted rows that it was grown from."""
        return self._fitted()["model_"].errors.copy()  # type: ignore[no-any-return]

    @property
    def feature_importances_(self) -> Floats:
        """The share of each column in the total gain of a tree, averaged over the trees by their weights."""
        return np.average(
            [tree.feature_importances_ for tree in self.estimators_], axis=0, weights=self.estimator_weights_
        )

    @checked_keywords
    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield `score` (accuracy, or R² for numbers) after each iteration."""
        metric = accuracy_score if self._predicts_classes else r2_score
        staged: Iterator[NDArray[Any]] = self.staged_predict(X)  # type: ignore[attr-defined]
        for predicted in staged:
            yield metric(y, predicted, sample_weight=sample_weight)


def _grow_round(template: Any, seed: int, data: Dataset, number: int) -> Tree:
    """The tree of a round, grown and pruned as the template would."""
    tree: Tree = _seeded(template, seed, number)._model(data, None)[0]
    return tree


def _seeded(template: Any, seed: int, number: int) -> Any:
    """A copy of the template with the random state of a round, where it draws anything."""
    own = copy(template)
    if "random_state" in vars(own):
        own.random_state = int(np.random.SeedSequence(seed, spawn_key=(number,)).generate_state(1)[0])
    return own


@left_to(
    sklearn.ensemble.AdaBoostClassifier,
    *("estimators_", "estimator_weights_", "estimator_errors_", "feature_importances_"),
    *("predict", "predict_proba", "predict_log_proba", "decision_function", "staged_score"),
    *("staged_predict", "staged_predict_proba", "staged_decision_function"),
)
class AdaBoostClassifier(
    BoostedClassifierPredictions,
    AdaBoostEstimator,
    sklearn.ensemble.AdaBoostClassifier,  # type: ignore[misc]
):
    """AdaBoost: trees that vote, each grown on weights that favour the rows the ones before it got wrong.

    Of scikit-learn's class of the same name, of which it is a subclass, it has the parameters, the methods
    and, for the same trees, the votes; an `estimator` that is none of treewright's trees is boosted by that
    class itself. Boosting ends early where a tree makes no error (its vote then outweighs all others: it
    alone decides) or where one is no better than chance (it gets no vote).

    Attributes
    ----------
    training_errors_ : ndarray of shape (n_trees,)
        The training error of the vote after each tree.
    bounds_ : ndarray of shape (n_trees,)
        The bounds on it that follow from the errors of the trees: for two classes, and for M1, the product
        of 2√(ε(1-ε)). For K classes by SAMME it is that of K/√(K-1)·√(ε(1-ε)), which is below 1 only where
        ε < 1/K.
    model_ : treewright.ensembles.adaboost.Boosted
        Trees, votes and errors without scikit-learn; ``model_.plot(…)`` draws them.

    See Also
    --------
    AdaBoostRegressor : The same for numbers.

    Notes
    -----
    `decision_function` is the votes for a class less the mean of those for the others, as a share of all
    votes; for two classes one number in [-2, 2]. `predict_proba` is its softmax by SAMME's formula, as in
    scikit-learn: it ranks the classes, but its values are never far from each other.

    Examples
    --------
    >>> from treewright import AdaBoostClassifier
    >>> model = AdaBoostClassifier(n_estimators=3).fit([[x] for x in range(10)], list("aaabbbbaaa"))
    >>> model.predict([[0], [5], [9]])
    array(['a', 'b', 'a'], dtype='<U1')
    >>> model.training_errors_
    array([0.3, 0.3, 0. ])
    """

    estimator: Any = parameter(
        default=None,
        kw_only=False,
        doc="What is boosted: any of treewright's tree classifiers with any of their options, pruning "
        "included, or any other classifier whose `fit` takes `sample_weight`. None is a stump, "
        "``DecisionTreeClassifier(max_depth=1)``. The `class_weight` of a tree is multiplied once into the "
        "weights with which boosting starts; the errors are those of these weights.",
    )
    algorithm: str = parameter(
        default="SAMME",
        doc="With more than two classes SAMME accepts every tree that is better than guessing; M1 needs trees"
        " that are right more often than not, and then the training error is bound to fall.",
        allowed=one_of("SAMME", "M1"),
        group="Growing",
    )

    _for_trees = ("algorithm", "kinds")
    _of_trees = "model_, bounds_, training_errors_ and margins"

    def _default_tree(self) -> TreeEstimator:
        return DecisionTreeClassifier(max_depth=1)

    def _boosted(self, data: Dataset, seed: int, **options: Any) -> Boosted:
        return boost(data, algorithm=self.algorithm, **options)

    @property
    def bounds_(self) -> Floats:
        """What the errors of the trees prove of the training error, after each tree."""
        return self._fitted()["model_"].bounds  # type: ignore[no-any-return]

    @property
    def training_errors_(self) -> Floats:
        """The training error of the vote after each tree."""
        return self._fitted()["model_"].training_errors.copy()  # type: ignore[no-any-return]

    @documented
    def margins(self, X: Any, y: Any) -> Floats:
        """How clearly each row is decided: from -1, all votes for one other class, to 1, all for its own.

        Parameters
        ----------
        y : array of shape (n_rows,)
            Their classes.

        Returns
        -------
        ndarray of shape (n_rows,)
            The votes for the class less those for the strongest other one, as a share of all.
        """
        model: Boosted = self._rows(X)[0]["model_"]
        return model.margins((X, plain_target(y, type(self).__name__)), n_jobs=self.n_jobs)

    @checked_keywords
    def plot(self, rows: Any = None, *, test: Any = None, axes: Any = None) -> Any:  # type: ignore[override]
        """Plot error and bound against rounds, and the margins of rows; see `Boosted.plot`."""
        boosted: Boosted = self._fitted()["model_"]
        return boosted.plot(rows, test=test, axes=axes)

    def _raw(self, X: Any) -> tuple[Fitted, tuple[Floats, float]]:
        """The votes for each class, and their total."""
        fitted, data = self._rows(X)
        model: Boosted = fitted["model_"]
        return fitted, (model.scores(data, n_jobs=self.n_jobs), float(model.votes.sum()))

    def _staged_raw(self, X: Any) -> Iterator[tuple[Fitted, tuple[Floats, float]]]:
        fitted, data = self._rows(X)
        model: Boosted = fitted["model_"]
        stages = model.staged_scores(data, n_jobs=self.n_jobs)
        for scores, total in zip(stages, np.cumsum(model.votes).tolist(), strict=True):
            yield fitted, (scores, total)

    def _codes(self, raw: tuple[Floats, float]) -> NDArray[Any]:
        return np.asarray(raw[0].argmax(axis=1))

    def _probabilities(self, raw: tuple[Floats, float]) -> Floats:
        return vote_probabilities(*raw)

    def _decision(self, raw: tuple[Floats, float]) -> Floats:
        return decision_function(*raw)


@left_to(
    sklearn.ensemble.AdaBoostRegressor,
    *("estimators_", "estimator_weights_", "estimator_errors_", "feature_importances_"),
    *("predict", "staged_predict", "staged_score"),
)
class AdaBoostRegressor(RegressorPredictions, AdaBoostEstimator, sklearn.ensemble.AdaBoostRegressor):  # type: ignore[misc]
    """AdaBoost.R2: trees of numbers, each grown on weights that favour the rows that were missed most.

    The answer is the median of the trees' answers by their votes (Drucker 1997). Of scikit-learn's class of
    the same name, of which it is a subclass, it has the parameters and methods; an `estimator` that is none
    of treewright's trees is boosted by that class itself. Each tree is grown on rows drawn by their weights,
    as in Drucker's paper: trees differ more, and mostly predict a little better. With ``resample=False`` each
    is grown on the weighted rows themselves, so that nothing is left to chance and a weight of two is as good
    as the row twice; that is for trees with limits.

    Attributes
    ----------
    estimator_errors_ : ndarray of shape (n_trees,)
        The mean loss of each tree on the weighted rows, within [0, 1].
    model_ : treewright.ensembles.adaboost_r2.BoostedNumbers
        Trees, votes and errors without scikit-learn.

    See Also
    --------
    AdaBoostClassifier : The same for classes.

    Examples
    --------
    >>> from treewright import AdaBoostRegressor
    >>> model = AdaBoostRegressor(random_state=1).fit([[0], [1], [2], [3]], [0.0, 1.0, 4.0, 9.0])
    >>> model.predict([[2], [7]])
    array([4., 9.])
    """

    estimator: Any = parameter(
        default=None,
        kw_only=False,
        doc="What is boosted: any of treewright's tree regressors, or any other regressor. None is "
        "``DecisionTreeRegressor(max_depth=3)``.",
    )
    loss: str = parameter(
        default="linear",
        doc="The loss of a row by its distance from the prediction, as a share of the largest distance.",
        allowed=one_of("linear", "square", "exponential"),
        group="Growing",
    )
    resample: bool = parameter(
        default=True,
        doc="Whether each tree is grown on rows drawn by their weights, or on the weighted rows.",
        allowed=TRUE_OR_FALSE,
        group="Growing",
    )

    _for_trees = ("resample", "kinds")
    _of_trees = "model_"

    def _default_tree(self) -> TreeEstimator:
        return DecisionTreeRegressor(max_depth=3)

    def _boosted(self, data: Dataset, seed: int, **options: Any) -> BoostedNumbers:
        resample = bool(self.resample)
        return boost_numbers(data, loss=self.loss, resample=resample, random_state=seed, **options)

    def _numbers(self, X: Any) -> Floats:
        fitted, data = self._rows(X)
        model: BoostedNumbers = fitted["model_"]
        return model.predict(data, n_jobs=self.n_jobs)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield `predict` after each iteration."""
        fitted, data = self._rows(X)
        yield from fitted["model_"].staged_predict(data, n_jobs=self.n_jobs)
