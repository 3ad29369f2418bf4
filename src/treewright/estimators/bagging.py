"""BaggingClassifier and BaggingRegressor: any tree of treewright, fitted to samples of the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import sklearn.ensemble
from numpy.typing import NDArray
from sklearn.base import clone

from treewright.encoding import Dataset
from treewright.encoding.schema import Schema
from treewright.ensembles.bootstrap import Draws
from treewright.ensembles.forest import Growing
from treewright.ensembles.side_by_side import Listener
from treewright.estimators._voting import VotingClassifierMixin, VotingEstimator, VotingRegressorMixin
from treewright.estimators.classifier import DecisionTreeClassifier
from treewright.estimators.fitting import TreeEstimator
from treewright.estimators.parameters import check_parameters, is_int
from treewright.estimators.regressor import DecisionTreeRegressor
from treewright.tree import Tree

_PER_COLUMN = ("monotonic_cst", "interaction_cst", "feature_costs", "root")
_COLUMN_STREAM = 3  # the random stream that draws the columns of a tree


class BaggingEstimator(VotingEstimator):
    """Trees from samples of the rows and, with `max_features`, of the columns."""

    max_features: int | float
    bootstrap_features: bool
    estimator: Any
    _default_tree: type[Any] = DecisionTreeClassifier

    def _tree_estimator(self) -> TreeEstimator:
        """A new estimator of one tree, its parameters checked."""
        if self.estimator is None:
            default: TreeEstimator = self._default_tree()
            return default
        if not isinstance(self.estimator, TreeEstimator) or not isinstance(
            self.estimator, self._default_tree.__mro__[2]
        ):
            raise TypeError(
                f"estimator is {self.estimator!r}; {type(self).__name__} bags treewright's trees, such as "
                f"{self._default_tree.__name__}(). For other models there is "
                f"sklearn.ensemble.{type(self).__name__}"
            )
        member: TreeEstimator = clone(self.estimator)
        check_parameters(member)
        return member

    @property
    def kinds(self) -> Any:
        """The kinds of columns that the tree has been given."""
        return getattr(self.estimator, "kinds", None)

    def _tree_grower(self, data: Dataset, draws: Draws) -> Growing:
        n_columns = len(data.schema.columns)
        most = self.max_features
        n_drawn = int(most) if is_int(most) else max(1, int(most * n_columns))
        if n_drawn > n_columns:
            raise ValueError(f"max_features={most!r} is more than the {n_columns} columns of the table")
        draws_columns = n_drawn < n_columns or self.bootstrap_features
        per_column = [name for name in _PER_COLUMN if getattr(self.estimator, name, None) is not None]
        if draws_columns and per_column:
            raise ValueError(
                f"{per_column[0]} of the estimator is for all columns, but max_features={most!r} draws some "
                "of them for each tree; set max_features=1.0"
            )

        def grow_tree(rows: Dataset, seed: int, listener: Listener) -> Tree:
            listener(0.0)
            member: Any = self._tree_estimator()
            own = {"random_state": seed, "n_jobs": None}
            member.set_params(**{name: own[name] for name in own.keys() & member.get_params().keys()})
            if not draws_columns:
                return _fitted_tree(member, rows)
            random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_COLUMN_STREAM,)))
            columns = np.unique(random.choice(n_columns, n_drawn, replace=bool(self.bootstrap_features)))
            return _with_all_columns(_fitted_tree(member, rows.narrowed(columns)), columns, rows.schema)

        return grow_tree


def _fitted_tree(estimator: Any, rows: Dataset) -> Tree:
    tree: Tree = estimator._model(estimator._reweighted(rows), None)[0]
    return tree


def _with_all_columns(tree: Tree, columns: NDArray[np.intp], schema: Schema) -> Tree:
    """A tree of some columns as a tree of the whole table."""
    n_some, n_all, n_sums = len(columns), len(schema.columns), len(tree.directions)
    place = np.full(n_some + n_sums + 1, -1, np.int32)  # leaves, -1, find the last entry
    place[:n_some] = columns
    place[n_some:-1] = n_all + np.arange(n_sums)
    directions = tuple(
        replace(each, columns=tuple(int(columns[j]) for j in each.columns)) for each in tree.directions
    )
    surrogates = replace(tree.surrogates, feature=place[tree.surrogates.feature])
    whole = Schema(schema.columns, tree.schema.targets)
    return replace(
        tree, schema=whole, feature=place[tree.feature], directions=directions, surrogates=surrogates
    )


class BaggingClassifier(VotingClassifierMixin, BaggingEstimator, sklearn.ensemble.BaggingClassifier):  # type: ignore[misc]
    """Trees grown from draws of the rows, which vote for classes (Breiman 1996).

    The table is encoded once for all trees, and rows are drawn as weights.

    Parameters
    ----------
    estimator : treewright tree, default=None
        The tree to grow from each draw: any of ours, with any of its parameters, pruning and costs included.
        None is `DecisionTreeClassifier()`.
    n_estimators : int, default=10
        The number of trees.
    max_samples : int or float, default=None
        How many rows to draw for each tree; a float is a fraction of those that weigh something. None is as
        many as there are.
    max_features : int or float, default=1.0
        How many columns to draw for each tree (not for each node: that is the trees' own `max_features`).
    bootstrap : bool, default=True
        Draw rows with replacement, by their weights; or else without.
    bootstrap_features : bool, default=False
        Draw columns with replacement; a column that is drawn twice counts once.
    oob_score : bool or callable, default=False
        Judge by the rows that trees have not seen; a callable scores (y_true, y_pred).
        With unequal `sample_weight` heavy rows are rarely out of bag: the score mostly reflects light ones.
    warm_start : bool, default=False
        Keep the trees of the fit before, and grow those that are missing to `n_estimators`.
    n_jobs : int, default=None
        Threads; the result is the same to the bit for any number. None is one, -1 all cores.
    random_state : int, RandomState or None, default=None
        Seeds what is drawn.
    verbose : int, default=0
        1 shows how many trees are done.
    voting : {"soft", "hard"}, default="soft"
        Whether shares of classes are averaged, or the answers of the trees are counted: a majority vote.
        Where the trees have costs, averaged shares are answered by what costs least, and each counted answer
        is what costs least by its tree.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them
        The sorted classes.
    model_ : treewright.Forest
        The trees.
    estimators_ : list of estimators
        Each tree as an estimator of its own.
    estimators_samples_ : list of ndarray
        The rows that were drawn for each tree.
    n_features_in_ : int
        The number of columns.
    oob_score_ : float
        Accuracy of the out-of-bag predictions; only with `oob_score`, as the curve.
    oob_curve_ : ndarray of shape (n_estimators,)
        The share of wrong answers of the out-of-bag predictions after each tree, or what they cost where the
        trees have costs.

    Examples
    --------
    >>> from treewright import BaggingClassifier, DecisionTreeClassifier
    >>> model = BaggingClassifier(DecisionTreeClassifier(max_depth=2), random_state=0)
    >>> model.fit([[0], [1], [2], [3], [4], [5]], ["a", "a", "a", "b", "b", "b"]).predict([[0], [5]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: Any = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        voting: str = "soft",
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.voting = voting


class BaggingRegressor(VotingRegressorMixin, BaggingEstimator, sklearn.ensemble.BaggingRegressor):  # type: ignore[misc]
    """Trees grown from draws of the rows, which predict numbers by their mean (Breiman 1996).

    The table is encoded once for all trees, and rows are drawn as weights.

    Parameters
    ----------
    estimator : treewright tree, default=None
        The tree to grow from each draw: any of ours, with any of its parameters, pruning and costs included.
        None is `DecisionTreeRegressor()`.
    n_estimators : int, default=10
        The number of trees.
    max_samples : int or float, default=None
        How many rows to draw for each tree; a float is a fraction of those that weigh something. None is as
        many as there are.
    max_features : int or float, default=1.0
        How many columns to draw for each tree (not for each node: that is the trees' own `max_features`).
    bootstrap : bool, default=True
        Draw rows with replacement, by their weights; or else without.
    bootstrap_features : bool, default=False
        Draw columns with replacement; a column that is drawn twice counts once.
    oob_score : bool or callable, default=False
        Judge by the rows that trees have not seen; a callable scores (y_true, y_pred).
        With unequal `sample_weight` heavy rows are rarely out of bag: the score mostly reflects light ones.
    warm_start : bool, default=False
        Keep the trees of the fit before, and grow those that are missing to `n_estimators`.
    n_jobs : int, default=None
        Threads; the result is the same to the bit for any number. None is one, -1 all cores.
    random_state : int, RandomState or None, default=None
        Seeds what is drawn.
    verbose : int, default=0
        1 shows how many trees are done.
    keep_targets : bool, default=True
        Keep which training rows are in the leaves, for `predict_quantiles` and `predict_interval`: some bytes
        for each row and tree.

    Attributes
    ----------
    model_ : treewright.Forest
        The trees.
    estimators_ : list of estimators
        Each tree as an estimator of its own.
    estimators_samples_ : list of ndarray
        The rows that were drawn for each tree.
    n_features_in_ : int
        The number of columns.
    oob_score_ : float
        R² of the out-of-bag predictions; only with `oob_score`, as the curve.
    oob_curve_ : ndarray of shape (n_estimators,)
        The mean squared error of the out-of-bag predictions after each tree.

    Examples
    --------
    >>> from treewright import BaggingRegressor
    >>> model = BaggingRegressor(n_estimators=30, random_state=0)
    >>> model.fit([[0], [1], [2], [3]], [0.0, 1.0, 2.0, 3.0]).predict([[0], [3]]).round(0)
    array([0., 3.])
    """

    _default_tree = DecisionTreeRegressor
    voting = "soft"

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: Any = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        keep_targets: bool = True,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.keep_targets = keep_targets
