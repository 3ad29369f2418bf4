"""RandomForest* and ExtraTrees*: forests of trees from samples of the rows, with columns drawn per node."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import sklearn.ensemble
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.ensembles.bootstrap import Draws
from treewright.ensembles.forest import Growing
from treewright.ensembles.side_by_side import Listener
from treewright.estimators._voting import VotingClassifierMixin, VotingEstimator, VotingRegressorMixin
from treewright.estimators.fitting import growing_options, price_of_leaves
from treewright.estimators.targets import factors_of, known_criterion, weight_by_class
from treewright.estimators.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from treewright.growing import grow, n_threads
from treewright.growing.targets import targets_for
from treewright.parameters.forest import (
    ExtraTreesParameters,
    ForestClassifierParameters,
    ForestParameters,
    ForestRegressorParameters,
)
from treewright.parameters.values import Surrogates
from treewright.pruning import cut_at
from treewright.tree import Tree
from treewright.tree.number_losses import NUMBER_LOSSES


class ForestEstimator(ForestParameters, VotingEstimator):
    """Trees from samples of the rows whose nodes consider a random choice of the columns."""

    _tree_class: ClassVar[Any] = DecisionTreeClassifier

    @property
    def estimator(self) -> Any:
        """An unfitted tree; scikit-learn's forests take their tags from it."""
        return self._tree_class()

    def _tree_grower(self, data: Dataset, draws: Draws) -> Growing:
        n_columns = len(data.schema.columns)
        factors = self._class_factors(data)
        share = 1.0 if factors is None else float(np.average(factors, weights=data.weight))
        options = growing_options(self, data.n_counted, n_columns, draws.drawn_weight * share)
        options["criterion"] = criterion = known_criterion(self.criterion)
        loss = NUMBER_LOSSES.get(criterion)
        if loss is not None and loss.is_of_counts:
            targets_for(data, criterion)  # all targets must be counts, and not all of them 0
        # a tree is grown by one thread; fewer trees than threads share the threads
        options["n_jobs"] = max(1, n_threads(self.n_jobs) // self.n_estimators)

        def grow_tree(rows: Dataset, seed: int, listener: Listener) -> Tree:
            if loss is not None and loss.is_of_counts and not _has_counts(rows):
                return replace(grow(rows, max_depth=0), criterion=criterion)
            weighted = self._with_class_weights(rows, factors)
            if not weighted.n_counted:  # all drawn classes have weight 0: a leaf of all rows instead
                return grow(self._with_class_weights(data, factors), criterion=criterion, max_depth=0)
            tree = grow(weighted, **options | {"random_state": seed, "progress": listener})
            return cut_at(tree, self.ccp_alpha, price_of_leaves(tree)) if self.ccp_alpha > 0 else tree

        return grow_tree

    @property
    def _class_weight(self) -> Any:
        return getattr(self, "class_weight", None)

    def _class_factors(self, data: Dataset) -> NDArray[np.float64] | None:
        """The class weight of each row, where it does not depend on the sample."""
        by_class = self._class_weight
        return None if by_class in (None, "balanced_subsample") else factors_of(data, by_class)

    def _with_class_weights(self, rows: Dataset, factors: NDArray[np.float64] | None) -> Dataset:
        """A sample of the rows with the weights of their classes: those of all rows, or of the sample."""
        if factors is not None:
            return rows.with_weight(rows.row_weights * factors)
        if self._class_weight == "balanced_subsample":
            return weight_by_class(rows, "balanced")
        return rows

    def _reweighted(self, data: Dataset) -> Dataset:
        """The rows as they are drawn, without class weights.

        Class weights multiply the weight of a row within a tree, but not its chance of being drawn: rows of a
        heavy class would hardly ever be out of bag, and out-of-bag estimates would be those of the other
        classes.
        """
        factors = self._class_factors(data)
        if factors is not None and not (data.row_weights * factors).any():
            raise ValueError(
                f"all weights are zero after class_weight={getattr(self, 'class_weight', None)!r}"
            )
        return data

    def _tree_estimator(self) -> Any:
        shared = self.parameters.keys() & self._tree_class.parameters.keys() - {"n_jobs"}
        own = {name: getattr(self, name) for name in shared}
        if own.get("class_weight") == "balanced_subsample":
            own["class_weight"] = "balanced"
        return self._tree_class(**own)

    def __setstate__(self, state: dict[str, Any]) -> None:
        n_surrogates = state.pop("n_surrogates", None)  # of older versions
        if n_surrogates is not None and state.get("missing") == "surrogate":
            state["missing"] = Surrogates(n_surrogates)
        super().__setstate__(state)


def _has_counts(rows: Dataset) -> bool:
    """Whether every target of a sample has a count above 0; a tree of zeros predicts 0."""
    return bool((np.asarray(rows.targets) * rows.row_weights).any(axis=1).all())


class RandomForestClassifier(
    VotingClassifierMixin,
    ForestClassifierParameters,
    ForestEstimator,
    sklearn.ensemble.RandomForestClassifier,  # type: ignore[misc]
):
    """A random forest that predicts classes.

    Each tree is grown from its own sample of the rows, and each of its nodes considers its own sample of the
    columns. The table is encoded once for all trees. Trees, columns of all kinds, missing values: as in
    `DecisionTreeClassifier`; everything that takes scikit-learn's class of the same name takes this one.

    See Also
    --------
    RandomForestRegressor : The same for numbers.
    treewright.grow_forest : The function for tables without an estimator around them.

    Examples
    --------
    >>> from treewright import RandomForestClassifier
    >>> table = {"wind": [3, 12, 5, 14, 9, 15], "sky": ["clear", "clear", "rain", "rain", "clouds", "clouds"]}
    >>> model = RandomForestClassifier(n_estimators=20, random_state=0)
    >>> model.fit(table, ["sail", "stay", "sail", "stay", "sail", "stay"])
    RandomForestClassifier(n_estimators=20, random_state=0)
    >>> model.predict({"wind": [4, 20], "sky": ["clouds", None]})
    array(['sail', 'stay'], dtype='<U4')
    """


class RandomForestRegressor(
    VotingRegressorMixin,
    ForestRegressorParameters,
    ForestEstimator,
    sklearn.ensemble.RandomForestRegressor,  # type: ignore[misc]
):
    """A random forest that predicts numbers, and intervals for them.

    Each tree is grown from its own sample of the rows, and each of its nodes considers its own sample of the
    columns. The table is encoded once for all trees. Trees, columns of all kinds, missing values: as in
    `DecisionTreeRegressor`; everything that takes scikit-learn's class of the same name takes this one.

    See Also
    --------
    RandomForestClassifier : The same for classes.

    Examples
    --------
    >>> from treewright import RandomForestRegressor
    >>> model = RandomForestRegressor(n_estimators=50, random_state=0)
    >>> low, high = model.fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]).predict([[0.0], [3.0]])
    >>> bool(0.0 <= low < 1.0 < 2.0 < high <= 3.0)
    True
    """

    _tree_class = DecisionTreeRegressor


class ExtraTreesClassifier(  # type: ignore[misc]
    VotingClassifierMixin,
    ExtraTreesParameters,
    ForestClassifierParameters,
    ForestEstimator,
    sklearn.ensemble.ExtraTreesClassifier,  # type: ignore[misc]
):
    """Extremely randomised trees that predict classes (Geurts, Ernst and Wehenkel 2006).

    Nodes draw columns, and of each of them one threshold, between the least and the largest value in the
    node. All rows are used for each tree, unless `bootstrap` or `max_samples` say otherwise. Trees, columns
    of all kinds, missing values: as in `ExtraTreeClassifier`.

    See Also
    --------
    RandomForestClassifier : The best thresholds instead, from drawn rows.

    Examples
    --------
    >>> from treewright import ExtraTreesClassifier
    >>> table = {"wind": [3, 12, 5, 14, 9, 15], "sky": ["clear", "clear", "rain", "rain", "clouds", "clouds"]}
    >>> model = ExtraTreesClassifier(n_estimators=20, random_state=0)
    >>> model.fit(table, ["sail", "stay", "sail", "stay", "sail", "stay"])
    ExtraTreesClassifier(n_estimators=20, random_state=0)
    >>> model.predict({"wind": [4, 20], "sky": ["clouds", None]})
    array(['sail', 'stay'], dtype='<U4')
    """

    _tree_class = ExtraTreeClassifier


class ExtraTreesRegressor(  # type: ignore[misc]
    VotingRegressorMixin,
    ExtraTreesParameters,
    ForestRegressorParameters,
    ForestEstimator,
    sklearn.ensemble.ExtraTreesRegressor,  # type: ignore[misc]
):
    """Extremely randomised trees that predict numbers, and intervals for them.

    Nodes draw columns, and of each of them one threshold, between the least and the largest value in the
    node. All rows are used for each tree, unless `bootstrap` or `max_samples` say otherwise. Trees, columns
    of all kinds, missing values: as in `ExtraTreeRegressor`.

    See Also
    --------
    RandomForestRegressor : The best thresholds instead, from drawn rows.

    Examples
    --------
    >>> from treewright import ExtraTreesRegressor
    >>> model = ExtraTreesRegressor(n_estimators=50, random_state=0)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]).predict([[0.0], [3.0]]).round(0)
    array([0., 3.])
    """

    _tree_class = ExtraTreeRegressor
