"""AdaBoost in scikit-learn's clothes: for classes by SAMME or M1, for numbers by R2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score

from treewright.encoding import Dataset
from treewright.ensembles.adaboost import Boosted, boost, chances_of, decision_of
from treewright.ensembles.adaboost_r2 import BoostedNumbers, boost_numbers
from treewright.estimators.adaptive import AdaptiveEstimator
from treewright.estimators.classifier import DecisionTreeClassifier
from treewright.estimators.fitting import Fitted, TreeEstimator
from treewright.estimators.regressor import DecisionTreeRegressor
from treewright.estimators.targets import plain_target
from treewright.growing import n_threads


class AdaBoostClassifier(ClassifierMixin, AdaptiveEstimator, BaseEstimator):  # type: ignore[misc]
    """AdaBoost: trees that vote, each grown on weights that favour the rows the ones before it got wrong.

    Of scikit-learn's class of the same name it has the parameters, the methods and, for the same trees, the
    votes. Boosting ends early where a tree makes no error (its vote then outweighs all others: it alone
    decides) or where one is no better than chance (it gets no vote).

    Parameters
    ----------
    estimator : tree estimator, default=None
        The pattern of the trees: any of treewright's classifiers that grow one, with any of their options,
        pruning included. None is a stump, ``DecisionTreeClassifier(max_depth=1)``. Its `class_weight` is
        multiplied once into the weights with which boosting starts; the errors are of these weights.
    n_estimators : int, default=50
        The most trees.
    learning_rate : float, default=1.0
        A factor of all votes; less takes more trees.
    algorithm : {"SAMME", "M1"}, default="SAMME"
        Of more than two classes SAMME takes every tree that is better than guessing; M1 needs trees that
        are right more often than not, and then the training error is bound to fall.
    random_state : int, RandomState or None, default=None
        Seeds the trees, where they draw anything; each has a seed of its own.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.
    n_jobs : int, default=None
        Threads to grow and predict with; the result is the same for any number. None is one, or what
        `estimator` says, -1 all cores.
    verbose : int, default=0
        Print a line for each tree.

    Attributes
    ----------
    estimators_ : list of tree estimators
        The trees, as fitted estimators.
    estimator_weights_ : ndarray of shape (n_trees,)
        Their votes.
    estimator_errors_ : ndarray of shape (n_trees,)
        The share of the weight that each got wrong when it was grown.
    training_errors_ : ndarray of shape (n_trees,)
        The training error of the vote after each tree.
    bounds_ : ndarray of shape (n_trees,)
        What the errors of the trees prove of it: for two classes, and for M1, the product of 2√(ε(1-ε)). For
        K classes by SAMME it is that of K/√(K-1)·√(ε(1-ε)), which proves something only where ε < 1/K.
    classes_, n_classes_ : ndarray of shape (n_classes,), int
        The sorted classes, and their number.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in the total gain of a tree, averaged by the votes.
    estimator_ : tree estimator
        The pattern.
    model_ : treewright.ensembles.adaboost.Boosted
        Trees, votes and errors without scikit-learn; ``model_.plot(…)`` draws them.

    See Also
    --------
    AdaBoostRegressor : The same for numbers.

    Examples
    --------
    >>> from treewright import AdaBoostClassifier
    >>> model = AdaBoostClassifier(n_estimators=3).fit([[x] for x in range(10)], list("aaabbbbaaa"))
    >>> model.predict([[0], [5], [9]])
    array(['a', 'b', 'a'], dtype='<U1')
    >>> model.training_errors_
    array([0.3, 0.3, 0. ])
    """

    model_: Boosted

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        algorithm: str = "SAMME",
        random_state: Any = None,
        kinds: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.algorithm = algorithm
        self.random_state = random_state
        self.kinds = kinds
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _usual(self) -> TreeEstimator:
        return DecisionTreeClassifier(max_depth=1)

    def _boosted(self, data: Dataset, seed: int, grower: Any) -> Boosted:
        return boost(
            data,
            rounds=int(self.n_estimators),
            algorithm=self.algorithm,  # type: ignore[arg-type]
            learning_rate=self.learning_rate,
            grower=grower,
            n_jobs=self.n_jobs,
            progress=self._say,
        )

    @property
    def bounds_(self) -> NDArray[np.float64]:
        """What the errors of the trees prove of the training error, after each tree."""
        return self._fitted()["model_"].bounds  # type: ignore[no-any-return]

    @property
    def training_errors_(self) -> NDArray[np.float64]:
        """The training error of the vote after each tree."""
        return self._fitted()["model_"].training_errors.copy()  # type: ignore[no-any-return]

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the most votes for each row, the first of several.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
            The predicted classes.
        """
        fitted, scores = self._scores(X)
        return self._named(fitted, scores.argmax(axis=1)[:, np.newaxis])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The votes for each class less the mean of those for the others, as a share of all votes.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes), or (n_rows,) for two classes
            Of two classes one number in [-2, 2], positive for the second one, as scikit-learn has it.
        """
        fitted, scores = self._scores(X)
        return decision_of(scores, float(fitted["model_"].votes.sum()))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Chances of the classes: the softmax of the decision function by SAMME's formula, as scikit-learn.

        They tell the order of the classes, and are never far from each other.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of `classes_`; they add up to 1.
        """
        fitted, scores = self._scores(X)
        return chances_of(scores, float(fitted["model_"].votes.sum()))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of `predict_proba`.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of `classes_`.
        """
        return np.asarray(np.log(self.predict_proba(X)))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """The classes after each tree.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Yields
        ------
        ndarray of shape (n_rows,)
            As `predict`.
        """
        for fitted, scores, _ in self._stages(X):
            yield self._named(fitted, scores.argmax(axis=1)[:, np.newaxis])

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """The decision function after each tree.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Yields
        ------
        ndarray of shape (n_rows, n_classes), or (n_rows,) for two classes
            As `decision_function`.
        """
        for _, scores, total in self._stages(X):
            yield decision_of(scores, total)

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Chances of the classes after each tree.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Yields
        ------
        ndarray of shape (n_rows, n_classes)
            As `predict_proba`.
        """
        for _, scores, total in self._stages(X):
            yield chances_of(scores, total)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """The share of rows that are right after each tree.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.
        y : array of shape (n_rows,)
            Their classes.
        sample_weight : array of shape (n_rows,), default=None
            A weight per row.

        Yields
        ------
        float
            As `score`.
        """
        for said in self.staged_predict(X):
            yield accuracy_score(y, said, sample_weight=sample_weight)

    def margins(self, X: Any, y: Any) -> NDArray[np.float64]:
        """How clearly each row is decided: from -1, all votes for one other class, to 1, all for its own.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.
        y : array of shape (n_rows,)
            Their classes.

        Returns
        -------
        ndarray of shape (n_rows,)
            The votes for the class less those for the strongest other one, as a share of all.
        """
        model: Boosted = self._rows(X)[0]["model_"]
        return model.margins((X, plain_target(y, type(self).__name__)), n_threads=n_threads(self.n_jobs))

    def _scores(self, X: Any) -> tuple[Fitted, NDArray[np.float64]]:
        fitted, data = self._rows(X)
        return fitted, fitted["model_"].scores(data, n_threads=n_threads(self.n_jobs))

    def _stages(self, X: Any) -> Iterator[tuple[Fitted, NDArray[np.float64], float]]:
        """What a fit has set, and the votes for each class with their total after each tree."""
        fitted, data = self._rows(X)
        model: Boosted = fitted["model_"]
        stages = model.staged_scores(data, n_threads=n_threads(self.n_jobs))
        for scores, total in zip(stages, np.cumsum(model.votes).tolist(), strict=True):
            yield fitted, scores, total


class AdaBoostRegressor(RegressorMixin, AdaptiveEstimator, BaseEstimator):  # type: ignore[misc]
    """AdaBoost.R2: trees of numbers, each grown on weights that favour the rows that were missed most.

    The answer is the median of the trees' answers by their votes (Drucker 1997). Of scikit-learn's class of
    the same name it has the parameters and methods. Each tree is grown on rows drawn by their weights, as in
    Drucker's paper: trees differ more, and mostly predict a little better. With ``resample=False`` each is
    grown on the weighted rows themselves, so that nothing is left to chance and a weight of two is as good as
    the row twice; that is for trees with limits.

    Parameters
    ----------
    estimator : tree estimator, default=None
        The pattern of the trees: any of treewright's regressors. None is
        ``DecisionTreeRegressor(max_depth=3)``.
    n_estimators : int, default=50
        The most trees.
    learning_rate : float, default=1.0
        A factor of all votes; less takes more trees.
    loss : {"linear", "square", "exponential"}, default="linear"
        What a row loses by its distance from the answer, as a share of the largest distance.
    random_state : int, RandomState or None, default=None
        Seeds the trees, where they draw anything, and the rows that are drawn.
    resample : bool, default=True
        Whether each tree is grown on rows drawn by their weights, or on the weighted rows.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.
    n_jobs : int, default=None
        Threads to grow and predict with; the result is the same for any number. None is one, or what
        `estimator` says, -1 all cores.
    verbose : int, default=0
        Print a line for each tree.

    Attributes
    ----------
    estimators_ : list of tree estimators
        The trees, as fitted estimators.
    estimator_weights_ : ndarray of shape (n_trees,)
        Their votes.
    estimator_errors_ : ndarray of shape (n_trees,)
        The mean loss of each on the weighted rows, within [0, 1].
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in the total gain of a tree, averaged by the votes.
    estimator_ : tree estimator
        The pattern.
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

    model_: BoostedNumbers

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        random_state: Any = None,
        resample: bool = True,
        kinds: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.random_state = random_state
        self.resample = resample
        self.kinds = kinds
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _usual(self) -> TreeEstimator:
        return DecisionTreeRegressor(max_depth=3)

    def _boosted(self, data: Dataset, seed: int, grower: Any) -> BoostedNumbers:
        return boost_numbers(
            data,
            rounds=int(self.n_estimators),
            loss=self.loss,  # type: ignore[arg-type]
            learning_rate=self.learning_rate,
            resample=bool(self.resample),
            seed=seed,
            grower=grower,
            n_jobs=self.n_jobs,
            progress=self._say,
        )

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The median of the trees' answers to each row, by their votes.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
            The predicted numbers.
        """
        fitted, data = self._rows(X)
        model: BoostedNumbers = fitted["model_"]
        return model.predict(data, n_threads=n_threads(self.n_jobs))

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """The numbers after each tree.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Yields
        ------
        ndarray of shape (n_rows,)
            As `predict`.
        """
        fitted, data = self._rows(X)
        yield from fitted["model_"].staged_predict(data, n_threads=n_threads(self.n_jobs))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """The coefficient of determination after each tree.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.
        y : array of shape (n_rows,)
            Their numbers.
        sample_weight : array of shape (n_rows,), default=None
            A weight per row.

        Yields
        ------
        float
            As `score`.
        """
        for said in self.staged_predict(X):
            yield r2_score(y, said, sample_weight=sample_weight)
