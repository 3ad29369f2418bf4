"""BaggingClassifier and BaggingRegressor: trees or any other estimators, fitted to samples of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import sklearn.ensemble
from numpy.typing import NDArray
from sklearn.base import clone

from treewright.encoding import Dataset
from treewright.ensembles.bootstrap import Draws
from treewright.ensembles.forest import Growing, tree_seed
from treewright.ensembles.side_by_side import Listener
from treewright.estimators._any_estimator import AnyEstimator, left_to
from treewright.estimators._tables import Fitted
from treewright.estimators._voting import VotingClassifierMixin, VotingEstimator, VotingRegressorMixin
from treewright.estimators.fitting import TreeEstimator, check_parameters
from treewright.estimators.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    TreeClassifier,
    TreeRegressor,
)
from treewright.growing import n_features_drawn
from treewright.parameters.checks import is_int
from treewright.parameters.forest import BaggingParameters, Quantiles, Votes
from treewright.tree import Tree
from treewright.tree.columns import restricted_to, spread_over

_PER_COLUMN = ("monotonic_cst", "interaction_cst", "feature_costs", "root")
_COLUMN_STREAM = 3  # the random stream that draws the columns of a tree


class BaggingEstimator(AnyEstimator, BaggingParameters, VotingEstimator):
    """Trees, or other estimators, from samples of the rows and, with `max_features`, of the columns.

    Attributes
    ----------
    estimators_ : list of estimators
        Each tree as an estimator of its own, for the columns that were drawn for it; or the other estimators,
        which know classes by their positions in `classes_`.
    estimators_features_ : list of ndarray
        The columns that were drawn for each of them.
    estimator_ : estimator
        What was fitted to the samples.
    model_ : treewright.Forest
        The trees, for all columns; not with other estimators.
    """

    _default_tree: ClassVar[type[Any]] = DecisionTreeClassifier
    _tree_family: ClassVar[type[TreeEstimator]] = TreeClassifier
    _of_trees = "model_, apply, decision_path, proximity and oob_importance"

    def check_parameters(self) -> None:
        """Raise an error about the first parameter whose value is not allowed, or about `estimator`."""
        super().check_parameters()
        if self._takes_trees and self.estimator is not None:
            self._tree_estimator()

    def _tree_estimator(self) -> TreeEstimator:
        """A new estimator of one tree, its parameters checked."""
        if self.estimator is None:
            default: TreeEstimator = self._default_tree()
            return default
        if not isinstance(self.estimator, self._tree_family):
            name, kind = type(self).__name__, "classes" if self._predicts_classes else "numbers"
            raise TypeError(f"{name}: estimator is a {type(self.estimator).__name__}; it must predict {kind}")
        member: TreeEstimator = clone(self.estimator)
        check_parameters(member)
        return member

    @property
    def kinds(self) -> Any:
        """The kinds of columns of the tree."""
        return getattr(self.estimator, "kinds", None)

    def _tree_grower(self, data: Dataset, draws: Draws) -> Growing:
        n_columns = len(data.schema.columns)
        per_column = [name for name in _PER_COLUMN if getattr(self.estimator, name, None) is not None]
        if self._draws_columns(n_columns) and per_column:
            raise ValueError(
                f"{per_column[0]} of the estimator is for all columns, but some of them are drawn for each "
                f"tree (max_features={self.max_features!r}); set max_features=1.0"
            )

        def grow_tree(rows: Dataset, seed: int, listener: Listener) -> Tree:
            listener(0.0)
            member: Any = self._tree_estimator()
            own = {"random_state": seed, "n_jobs": None}
            member.set_params(**{name: own[name] for name in own.keys() & member.get_params().keys()})
            columns = self._drawn_columns(seed, n_columns)
            if len(columns) == n_columns:
                return member._tree_of(rows)  # type: ignore[no-any-return]
            return spread_over(member._tree_of(rows.select_columns(columns)), columns, rows.schema.columns)

        return grow_tree

    def _draws_columns(self, n_columns: int) -> bool:
        """Whether trees are grown from some of the columns."""
        return bool(self.bootstrap_features) or self._n_drawn(n_columns) < n_columns

    def _n_drawn(self, n_columns: int) -> int:
        """How many columns are drawn for each tree."""
        most = self.max_features
        n_drawn = int(most) if is_int(most) else max(1, int(most * n_columns))
        if n_drawn > n_columns:
            raise ValueError(
                f"max_features must be <= n_features, but max_features={most!r} is more than the {n_columns} "
                "columns of the table"
            )
        return n_drawn

    def _drawn_columns(self, seed: int, n_columns: int) -> NDArray[np.intp]:
        """The columns of the tree with this seed, in rising order, each once."""
        if not self._draws_columns(n_columns):
            return np.arange(n_columns)
        random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_COLUMN_STREAM,)))
        replace = bool(self.bootstrap_features)
        return np.unique(random.choice(n_columns, self._n_drawn(n_columns), replace=replace))

    def _finish(
        self, data: Dataset, described: Fitted, trees: Sequence[Tree], draws: Draws, n_before: int
    ) -> None:
        n_columns = len(data.schema.columns)
        before: list[NDArray[np.intp]] = vars(self)["estimators_features_"][:n_before] if n_before else []
        new = [
            self._drawn_columns(tree_seed(draws, member), n_columns) for member in range(n_before, len(trees))
        ]
        super()._finish(data, {**described, "estimators_features_": before + new}, trees, draws, n_before)

    def _fitted_tree_estimator(self, member: int, fitted: Fitted) -> Any:
        estimator, columns = (
            super()._fitted_tree_estimator(member, fitted),
            fitted["estimators_features_"][member],
        )
        if len(columns) == fitted["n_features_in_"]:
            return estimator
        own = vars(estimator)
        own["model_"] = tree = restricted_to(own["model_"], columns)
        own["n_features_in_"] = len(columns)
        own["max_features_"] = n_features_drawn(getattr(estimator, "max_features", None), len(columns))
        if "feature_names_in_" in own:
            own["feature_names_in_"] = own["feature_names_in_"][columns]
        own["_plain"] = "feature_names_in_" not in own and tree.schema.only_numbers
        del own["_fit_rows"]  # they are known by all columns
        return estimator

    @property
    def estimator_(self) -> Any:
        """The estimator that was fitted to the samples, itself not fitted."""
        return vars(self)["estimator_"] if self._has_others else super().estimator_

    @property
    def estimators_samples_(self) -> list[NDArray[Any]]:
        """The rows that were drawn for each tree, as int64, which is what scikit-learn's bagging has; its
        forests have int32.
        """
        return [rows.astype(np.int64) for rows in super().estimators_samples_]

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The importances of the columns for the estimators, averaged: for trees the share of each column in
        the gain of the splits (MDI).

        It favours columns of many values and is computed from the training rows; `oob_importance` has neither
        bias. Other estimators need `feature_importances_` of their own.
        """
        if not self._has_others:
            return super().feature_importances_
        total = np.zeros(vars(self)["n_features_in_"])
        for estimator, columns in zip(self.estimators_, vars(self)["estimators_features_"], strict=True):
            np.add.at(total, columns, estimator.feature_importances_)
        return np.asarray(total / len(self.estimators_))


@left_to(
    sklearn.ensemble.BaggingClassifier,
    *("estimators_", "estimators_samples_", "predict", "predict_proba", "predict_log_proba"),
)
class BaggingClassifier(VotingClassifierMixin, Votes, BaggingEstimator, sklearn.ensemble.BaggingClassifier):  # type: ignore[misc]
    """Trees or other classifiers fitted to samples of the rows, which vote for classes (Breiman 1996).

    For treewright's trees the table is encoded once for all of them, and drawn rows are weights. Any other
    `estimator` is fitted by scikit-learn's class of the same name.

    Examples
    --------
    >>> from treewright import BaggingClassifier, DecisionTreeClassifier
    >>> model = BaggingClassifier(DecisionTreeClassifier(max_depth=2), random_state=0)
    >>> X, y = [[0], [1], [2], [3], [4], [5]], ["a", "a", "a", "b", "b", "b"]
    >>> model.fit(X, y).predict([[0], [5]])
    array(['a', 'b'], dtype='<U1')
    >>> from sklearn.linear_model import LogisticRegression
    >>> BaggingClassifier(LogisticRegression(), random_state=0).fit(X, y).predict([[0], [5]])
    array(['a', 'b'], dtype='<U1')
    """

    _for_trees = ("voting",)


@left_to(sklearn.ensemble.BaggingRegressor, "estimators_", "estimators_samples_", "predict")
class BaggingRegressor(VotingRegressorMixin, Quantiles, BaggingEstimator, sklearn.ensemble.BaggingRegressor):  # type: ignore[misc]
    """Trees or other regressors fitted to samples of the rows, which predict by their mean (Breiman 1996).

    For treewright's trees the table is encoded once for all of them, and drawn rows are weights. Any other
    `estimator` is fitted by scikit-learn's class of the same name.

    Examples
    --------
    >>> from treewright import BaggingRegressor
    >>> model = BaggingRegressor(n_estimators=30, random_state=0)
    >>> model.fit([[0], [1], [2], [3]], [0.0, 1.0, 2.0, 3.0]).predict([[0], [3]]).round(0)
    array([0., 3.])
    """

    _default_tree = DecisionTreeRegressor
    _tree_family = TreeRegressor
    _for_trees = ()
    _of_trees = (
        "model_, apply, decision_path, proximity, oob_importance, predict_quantiles and predict_interval"
    )
