"""The estimators of provably optimal trees."""

from __future__ import annotations

from typing import Any, Self

from sklearn.utils.validation import column_or_1d

from treewright._suggestions import checked_keywords
from treewright.encoding import Dataset
from treewright.encoding.row_hashes import FitRows, KnownRows
from treewright.estimators._fit_warnings import warn_about_tree
from treewright.estimators._tables import Fitted, replace_fit
from treewright.estimators.classic import Classic, OneTarget
from treewright.estimators.fitting import check_parameters
from treewright.estimators.tree import TreeRegressor
from treewright.optimising import Optimum, optimise
from treewright.parameters.optimal import OPTIMISE, OptimalTreeParameters
from treewright.parameters.spec import parameter
from treewright.pruning import PruningPath
from treewright.tree import Tree


class _OptimalTree(OptimalTreeParameters, Classic):  # type: ignore[misc]
    """The tree of least training loss within the limits.

    Attributes
    ----------
    model_ : treewright.Tree
        The tree. ``print(model.model_)`` shows it.
    optimum_ : treewright.Optimum
        The tree with all that is known about others; ``print(model.optimum_)`` states it.
    proved_ : bool
        Whether no tree within the limits loses less.
    bound_ : float
        The least loss that any such tree can have.
    gap_ : float
        What any of them could save at most: 0 where it is proved.
    """

    optimum_: Optimum

    @property
    def min_weight_fraction_leaf(self) -> float:  # type: ignore[override]
        """Not there: the search has no such limit, and whoever looks for the attribute must not find it."""
        raise AttributeError(f"{type(self).__name__} has no parameter min_weight_fraction_leaf")

    @checked_keywords
    def fit(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True
    ) -> Self:
        """Search the best tree.

        A fit that fails leaves the estimator unchanged. One that is interrupted keeps the best tree so far,
        and raises KeyboardInterrupt.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            A numpy array, a pandas or polars DataFrame, an Arrow table, a sparse matrix, a dict of columns or
            a list of rows, with numbers, categories, dates and missing values.
        y : array of shape (n_rows,)
            The classes or numbers to predict.
        sample_weight : array of shape (n_rows,), default=None
            A weight per row, not negative; 2 is the same as the row twice, 0 the same as leaving it out.
        check_input : bool, default=True
            Without effect, for scikit-learn's signature: the input is always checked.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self)
        data, attributes = self._training_data(X, y, sample_weight)
        optimum = self._optimum(data)
        fitted: Fitted = {
            **attributes,
            "model_": optimum.tree,
            "_fit_rows": FitRows((KnownRows.of(data),)),
            "max_features_": len(data.schema.columns),
            "optimum_": optimum,
            "proved_": optimum.is_proved,
            "bound_": optimum.bound,
            "gap_": optimum.gap,
        }
        replace_fit(self, fitted)
        if optimum.stopped == "interrupt":
            raise KeyboardInterrupt
        warn_about_tree(self, data, optimum.tree, None)
        return self

    def _training_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Dataset, Fitted]:
        if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        return super()._training_data(X, y, sample_weight)

    def _optimum(self, data: Dataset) -> Optimum:
        own = {name: getattr(self, name) for name in OPTIMISE if hasattr(self, name)}
        return optimise(data, **own)

    def _model(self, data: Dataset, validation: Dataset | None) -> tuple[Tree, PruningPath | None, Dataset]:
        return self._optimum(data).tree, None, data


class OptimalTreeClassifier(_OptimalTree, OneTarget):  # type: ignore[misc]
    """The tree of the fewest training errors within a depth and a number of leaves, with its proof.

    All trees of `max_depth` are searched, with every threshold, every category, missing values, weights and
    costs. Where `time_limit` ends the search, the best tree so far is kept, with a bound for all others.

    See Also
    --------
    OptimalTreeRegressor : The same for numbers.
    DecisionTreeClassifier : The greedy tree, for any depth and any table.
    treewright.optimise : The function below it.

    Notes
    -----
    The fewest errors on the training rows are not the fewest on new ones: choose `max_leaf_nodes` or
    `leaf_penalty` by cross-validation, as for any tree.

    Examples
    --------
    >>> from treewright import OptimalTreeClassifier
    >>> table = {"a": [0, 0, 1, 1, 1], "b": [0, 1, 0, 1, 1]}
    >>> model = OptimalTreeClassifier(max_depth=2).fit(table, ["no", "yes", "yes", "no", "no"])
    >>> model.proved_, model.bound_, model.score(table, ["no", "yes", "yes", "no", "no"])
    (True, 0.0, 1.0)
    """

    criterion = "error"
    class_weight: Any = parameter(default=None)
    costs: Any = parameter(default=None)


class OptimalTreeRegressor(_OptimalTree, TreeRegressor):  # type: ignore[misc]
    """The tree of the least squared training error within a depth and a number of leaves, with its proof.

    All trees of `max_depth` are searched, with every threshold, every category, missing values and weights.
    Where `time_limit` ends the search, the best tree so far is kept, with a bound for all others.

    See Also
    --------
    OptimalTreeClassifier : The same for classes.
    DecisionTreeRegressor : The greedy tree, for any depth and any table.
    treewright.optimise : The function below it.

    Notes
    -----
    "Proved" means within 1e-9 of the squared error about the mean: sums of squares are rounded.

    Examples
    --------
    >>> from treewright import OptimalTreeRegressor
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}
    >>> model = OptimalTreeRegressor(max_depth=2).fit(table, [1.0, 3.0, 3.0, 1.0])
    >>> model.predict(table), model.proved_
    (array([1., 3., 3., 1.]), True)
    """

    criterion = "squared_error"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags
