"""BaggingClassifier and BaggingRegressor: any tree of treewright, fitted to samples of the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

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
from treewright.estimators.fitting import TreeEstimator, check_parameters
from treewright.estimators.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    TreeClassifier,
    TreeRegressor,
)
from treewright.parameters.checks import is_int
from treewright.parameters.forest import BaggingParameters, Quantiles, Votes
from treewright.tree import Tree

_PER_COLUMN = ("monotonic_cst", "interaction_cst", "feature_costs", "root")
_COLUMN_STREAM = 3  # the random stream that draws the columns of a tree


class BaggingEstimator(BaggingParameters, VotingEstimator):
    """Trees from samples of the rows and, with `max_features`, of the columns."""

    _default_tree: ClassVar[type[Any]] = DecisionTreeClassifier
    _tree_family: ClassVar[type[TreeEstimator]] = TreeClassifier

    def _tree_estimator(self) -> TreeEstimator:
        """A new estimator of one tree, its parameters checked."""
        if self.estimator is None:
            default: TreeEstimator = self._default_tree()
            return default
        if not isinstance(self.estimator, self._tree_family):
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
        """The kinds of columns of the tree."""
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
                return member._tree_of(rows)  # type: ignore[no-any-return]
            random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_COLUMN_STREAM,)))
            columns = np.unique(random.choice(n_columns, n_drawn, replace=bool(self.bootstrap_features)))
            return _with_all_columns(member._tree_of(rows.select_columns(columns)), columns, rows.schema)

        return grow_tree


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


class BaggingClassifier(VotingClassifierMixin, Votes, BaggingEstimator, sklearn.ensemble.BaggingClassifier):  # type: ignore[misc]
    """Trees grown from samples of the rows, which vote for classes (Breiman 1996).

    The table is encoded once for all trees; drawn rows are weights.

    Examples
    --------
    >>> from treewright import BaggingClassifier, DecisionTreeClassifier
    >>> model = BaggingClassifier(DecisionTreeClassifier(max_depth=2), random_state=0)
    >>> model.fit([[0], [1], [2], [3], [4], [5]], ["a", "a", "a", "b", "b", "b"]).predict([[0], [5]])
    array(['a', 'b'], dtype='<U1')
    """


class BaggingRegressor(VotingRegressorMixin, Quantiles, BaggingEstimator, sklearn.ensemble.BaggingRegressor):  # type: ignore[misc]
    """Trees grown from samples of the rows, which predict numbers by their mean (Breiman 1996).

    The table is encoded once for all trees; drawn rows are weights.

    Examples
    --------
    >>> from treewright import BaggingRegressor
    >>> model = BaggingRegressor(n_estimators=30, random_state=0)
    >>> model.fit([[0], [1], [2], [3]], [0.0, 1.0, 2.0, 3.0]).predict([[0], [3]]).round(0)
    array([0., 3.])
    """

    _default_tree = DecisionTreeRegressor
    _tree_family = TreeRegressor
