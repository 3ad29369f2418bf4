"""RandomForest* and ExtraTrees*: forests of trees from samples of the rows, with columns drawn per node."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import sklearn.ensemble
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.ensembles.bootstrap import Draws
from treewright.ensembles.forest import Growing
from treewright.ensembles.side_by_side import Listener
from treewright.estimators._voting import VotingClassifierMixin, VotingEstimator, VotingRegressorMixin
from treewright.estimators.fitting import price_of_leaves
from treewright.estimators.parameters import growing_options
from treewright.estimators.targets import factors_of, weighed_by_class
from treewright.estimators.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from treewright.growing import grow, n_threads
from treewright.growing.targets import targets_for
from treewright.parameters.values import Surrogates
from treewright.pruning import cut_at
from treewright.tree import Tree

# Parameters of a forest that its trees do not have, or not with the same value.
_FOREST_ONLY = frozenset(
    {"n_estimators", "bootstrap", "oob_score", "verbose", "warm_start", "max_samples", "voting", "n_jobs"}
    | {"keep_targets"}
)


class ForestEstimator(VotingEstimator):
    """Trees from samples of the rows whose nodes consider a random choice of the columns."""

    splitter = "best"
    max_splits = max_features_used = None
    max_features: Any
    ccp_alpha: float
    criterion: str
    get_params: Any
    class_weight: Any
    _tree_class: type[Any] = DecisionTreeClassifier

    @property
    def estimator(self) -> Any:
        """An unfitted tree; scikit-learn's forests take their tags from it."""
        return self._tree_class()

    def _tree_grower(self, data: Dataset, draws: Draws) -> Growing:
        n_columns = len(data.schema.columns)
        factors = self._class_factors(data)
        share = 1.0 if factors is None else float(np.average(factors, weights=data.weight))
        options = growing_options(self, data.n_counted, n_columns, draws.drawn_weight * share)
        options["criterion"] = self.criterion
        if self.criterion == "poisson":
            targets_for(data, "poisson")  # all targets must be counts, and not all of them 0
        # a tree is grown by one thread; fewer trees than threads share the threads
        options["n_jobs"] = max(1, n_threads(self.n_jobs) // self.n_estimators)

        def grow_tree(rows: Dataset, seed: int, listener: Listener) -> Tree:
            if self.criterion == "poisson" and not _has_counts(rows):
                return replace(grow(rows, max_depth=0), criterion="poisson")
            weighted = self._with_class_weights(rows, factors)
            if not weighted.n_counted:  # all drawn classes have weight 0: a leaf of all rows instead
                return grow(self._with_class_weights(data, factors), criterion=self.criterion, max_depth=0)
            tree = grow(weighted, **options | {"seed": seed, "progress": listener})
            return cut_at(tree, self.ccp_alpha, price_of_leaves(tree)) if self.ccp_alpha > 0 else tree

        return grow_tree

    def _class_factors(self, data: Dataset) -> NDArray[np.float64] | None:
        """The class weight of each row, where it does not depend on the sample."""
        by_class = getattr(self, "class_weight", None)
        return None if by_class in (None, "balanced_subsample") else factors_of(data, by_class)

    def _with_class_weights(self, rows: Dataset, factors: NDArray[np.float64] | None) -> Dataset:
        """A sample of the rows with the weights of their classes: those of all rows, or of the sample."""
        if factors is not None:
            return rows.reweighted(rows.row_weights * factors)
        if getattr(self, "class_weight", None) == "balanced_subsample":
            return weighed_by_class(rows, "balanced")
        return rows

    def _reweighted(self, data: Dataset) -> Dataset:
        """The rows as they are drawn, without class weights.

        Class weights multiply the weight of a row within a tree, but not its chance of being drawn: rows of a
        heavy class would hardly ever be out of bag, and out-of-bag estimates would be those of the other
        classes.
        """
        factors = self._class_factors(data)
        if factors is not None and not (data.row_weights * factors).any():
            raise ValueError(f"all weights are zero after class_weight={self.class_weight!r}")
        return data

    def _tree_estimator(self) -> Any:
        own = {name: value for name, value in self.get_params(deep=False).items() if name not in _FOREST_ONLY}
        if own.get("class_weight") == "balanced_subsample":
            own["class_weight"] = "balanced"
        n_surrogates = own.pop("n_surrogates", 5)
        if own["missing"] == "surrogate":
            own["missing"] = Surrogates(n_surrogates)
        return self._tree_class(**own)


def _has_counts(rows: Dataset) -> bool:
    """Whether every target of a sample has a count above 0; a tree of zeros predicts 0."""
    return bool((np.asarray(rows.targets) * rows.row_weights).any(axis=1).all())


class RandomForestClassifier(VotingClassifierMixin, ForestEstimator, sklearn.ensemble.RandomForestClassifier):  # type: ignore[misc]
    """A random forest that predicts classes.

    Each tree is grown from rows that are drawn anew, and each of its nodes considers columns that are drawn
    anew. The table is encoded once for all of them. Trees, columns of all kinds, missing values: as in
    `DecisionTreeClassifier`; everything that takes scikit-learn's class of the same name takes this one.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.
    criterion : {"gini", "entropy", "log_loss", "error", "sqrt", "gain_ratio"}, default="gini"
        What a split is to lower.
    max_depth : int, default=None
        The most tests on the way to a leaf; no limit if None.
    min_samples_split : int or float, default=2
        A node with fewer rows is not split. A float is a fraction of all rows, rounded up.
    min_samples_leaf : int or float, default=1
        No split leaves a side with fewer rows. A float is a fraction of all rows, rounded up.
    min_weight_fraction_leaf : float, default=0.0
        No split leaves a side with less than this fraction of the weight of the drawn rows.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        How many columns, drawn at random, a node considers; a float is a fraction of them, None is all. If
        none of these can be split, more are drawn.
    max_leaf_nodes : int, default=None
        Stop a tree at this many leaves; the leaf with the largest gain is split first.
    min_impurity_decrease : float, default=0.0
        A split must lower the risk by at least this much per unit of the weight of the drawn rows.
    bootstrap : bool, default=True
        Draw the rows of each tree with replacement, by their weights; or else without.
    oob_score : bool or callable, default=False
        Judge the forest by the rows that trees have not seen; a callable scores (y_true, y_pred).
        With unequal `sample_weight` heavy rows are rarely out of bag: the score mostly reflects light ones.
    n_jobs : int, default=None
        Threads to grow and predict with; the result is the same to the bit for any number. None is one, -1
        all cores.
    random_state : int, RandomState or None, default=None
        Seeds what is drawn. A tree does not depend on how many others there are.
    verbose : int, default=0
        1 shows how many trees are done.
    warm_start : bool, default=False
        Keep the trees of the fit before, and grow those that are missing to `n_estimators`: the forest is the
        one that a single fit gives. The rows must be the same.
    class_weight : dict, list of dict, "balanced", "balanced_subsample" or None, default=None
        Weights of the classes, multiplied into those of the rows of each tree; one dict per target if there
        are several. "balanced" gives each class the same weight in all, "balanced_subsample" in the rows of
        each tree. Rows are drawn without them, so that figures out of bag stay fair to each class.
    ccp_alpha : float, default=0.0
        The price of a leaf for minimal cost-complexity pruning of each tree; 0 leaves it as grown.
    max_samples : int or float, default=None
        How many rows to draw for each tree; a float is a fraction of those that weigh something. None is as
        many as there are.
    monotonic_cst : dict or array of shape (n_columns,), default=None
        By name, or one for each column: 1 if the answer must not fall as the column grows, -1 if it must not
        rise, 0 if it may do both.
    voting : {"soft", "hard"}, default="soft"
        Whether the shares of classes in the leaves are averaged, or the answers of the trees are counted.
    threshold : {"readable", "midpoint"}, default="midpoint"
        The number that a test names, of all those that separate the same rows: the shortest decimal, or the
        middle.
    missing : {"learn", "surrogate", "fractional", "category", "error"}, default="learn"
        Where a row goes whose value is missing; see `DecisionTreeClassifier`.
    n_surrogates : int, default=5
        How many other columns a split keeps to ask; for ``missing="surrogate"``.
    interaction_cst : "pairwise", "no_interactions" or groups of columns, default=None
        Which columns, by name or position, may be tested together on one path.
    feature_costs : dict or array of shape (n_columns,), default=None
        The price of measuring a column; a split's gain is divided by 1 + price.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them
        The sorted classes; one array per target if there are several.
    n_classes_ : int, or a list of them
        The number of classes.
    model_ : treewright.Forest
        The forest.
    estimators_ : list of DecisionTreeClassifier
        Its trees.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.
    n_outputs_ : int
        The number of targets.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in the gain of the splits; biased, `oob_importance` is not.
    oob_score_ : float
        Accuracy of the out-of-bag predictions; only with `oob_score`, as the two that follow.
    oob_curve_ : ndarray of shape (n_estimators,)
        The share of wrong answers of the out-of-bag predictions after each tree.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        The votes of the trees that have not seen a row; NaN where all have.

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

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        voting: str = "soft",
        threshold: str = "midpoint",
        missing: str = "learn",
        n_surrogates: int = 5,
        interaction_cst: Any = None,
        feature_costs: Any = None,
        kinds: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.voting = voting
        self.threshold = threshold
        self.missing = missing
        self.n_surrogates = n_surrogates
        self.interaction_cst = interaction_cst
        self.feature_costs = feature_costs
        self.kinds = kinds


class RandomForestRegressor(VotingRegressorMixin, ForestEstimator, sklearn.ensemble.RandomForestRegressor):  # type: ignore[misc]
    """A random forest that predicts numbers, and intervals for them.

    Each tree is grown from rows that are drawn anew, and each of its nodes considers columns that are drawn
    anew. The table is encoded once for all of them. Trees, columns of all kinds, missing values: as in
    `DecisionTreeRegressor`; everything that takes scikit-learn's class of the same name takes this one.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        What a split is to lower. By "absolute_error" leaves answer medians, which the forest averages.
    max_depth : int, default=None
        The most tests on the way to a leaf; no limit if None.
    min_samples_split : int or float, default=2
        A node with fewer rows is not split. A float is a fraction of all rows, rounded up.
    min_samples_leaf : int or float, default=1
        No split leaves a side with fewer rows. A float is a fraction of all rows, rounded up.
    min_weight_fraction_leaf : float, default=0.0
        No split leaves a side with less than this fraction of the weight of the drawn rows.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        How many columns, drawn at random, a node considers; a float is a fraction of them, None is all. If
        none of these can be split, more are drawn.
    max_leaf_nodes : int, default=None
        Stop a tree at this many leaves; the leaf with the largest gain is split first.
    min_impurity_decrease : float, default=0.0
        A split must lower the risk by at least this much per unit of the weight of the drawn rows.
    bootstrap : bool, default=True
        Draw the rows of each tree with replacement, by their weights; or else without.
    oob_score : bool or callable, default=False
        Judge the forest by the rows that trees have not seen; a callable scores (y_true, y_pred).
        With unequal `sample_weight` heavy rows are rarely out of bag: the score mostly reflects light ones.
    n_jobs : int, default=None
        Threads to grow and predict with; the result is the same to the bit for any number. None is one, -1
        all cores.
    random_state : int, RandomState or None, default=None
        Seeds what is drawn. A tree does not depend on how many others there are.
    verbose : int, default=0
        1 shows how many trees are done.
    warm_start : bool, default=False
        Keep the trees of the fit before, and grow those that are missing to `n_estimators`: the forest is the
        one that a single fit gives. The rows must be the same.
    ccp_alpha : float, default=0.0
        The price of a leaf for minimal cost-complexity pruning of each tree; 0 leaves it as grown.
    max_samples : int or float, default=None
        How many rows to draw for each tree; a float is a fraction of those that weigh something. None is as
        many as there are.
    monotonic_cst : dict or array of shape (n_columns,), default=None
        By name, or one for each column: 1 if the answer must not fall as the column grows, -1 if it must not
        rise, 0 if it may do both.
    keep_targets : bool, default=True
        Keep which training rows are in the leaves, for `predict_quantiles` and `predict_interval`: some bytes
        for each row and tree.
    threshold : {"readable", "midpoint"}, default="midpoint"
        The number that a test names, of all those that separate the same rows: the shortest decimal, or the
        middle.
    missing : {"learn", "surrogate", "fractional", "category", "error"}, default="learn"
        Where a row goes whose value is missing; see `DecisionTreeRegressor`.
    n_surrogates : int, default=5
        How many other columns a split keeps to ask; for ``missing="surrogate"``.
    interaction_cst : "pairwise", "no_interactions" or groups of columns, default=None
        Which columns, by name or position, may be tested together on one path.
    feature_costs : dict or array of shape (n_columns,), default=None
        The price of measuring a column; a split's gain is divided by 1 + price.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.

    Attributes
    ----------
    model_ : treewright.Forest
        The forest.
    estimators_ : list of DecisionTreeRegressor
        Its trees.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.
    n_outputs_ : int
        The number of targets.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in the gain of the splits; biased, `oob_importance` is not.
    oob_score_ : float
        R² of the out-of-bag predictions; only with `oob_score`, as the two that follow.
    oob_curve_ : ndarray of shape (n_estimators,)
        The mean squared error of the out-of-bag predictions after each tree.
    oob_prediction_ : ndarray of shape (n_rows,)
        The mean of the trees that have not seen a row; NaN where all have.

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
    voting = "soft"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        keep_targets: bool = True,
        threshold: str = "midpoint",
        missing: str = "learn",
        n_surrogates: int = 5,
        interaction_cst: Any = None,
        feature_costs: Any = None,
        kinds: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.keep_targets = keep_targets
        self.threshold = threshold
        self.missing = missing
        self.n_surrogates = n_surrogates
        self.interaction_cst = interaction_cst
        self.feature_costs = feature_costs
        self.kinds = kinds


class ExtraTreesClassifier(VotingClassifierMixin, ForestEstimator, sklearn.ensemble.ExtraTreesClassifier):  # type: ignore[misc]
    """Extremely randomised trees that predict classes (Geurts, Ernst and Wehenkel 2006).

    Nodes draw columns, and of each of them one threshold, between the least and the largest value in the
    node. All rows are used for each tree, unless `bootstrap` or `max_samples` say otherwise. Trees, columns
    of all kinds, missing values: as in `ExtraTreeClassifier`.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.
    criterion : {"gini", "entropy", "log_loss", "error", "sqrt", "gain_ratio"}, default="gini"
        What a split is to lower.
    max_depth : int, default=None
        The most tests on the way to a leaf; no limit if None.
    min_samples_split : int or float, default=2
        A node with fewer rows is not split. A float is a fraction of all rows, rounded up.
    min_samples_leaf : int or float, default=1
        No split leaves a side with fewer rows. A float is a fraction of all rows, rounded up.
    min_weight_fraction_leaf : float, default=0.0
        No split leaves a side with less than this fraction of the weight of the drawn rows.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        How many columns, drawn at random, a node considers; a float is a fraction of them, None is all. If
        none of these can be split, more are drawn.
    max_leaf_nodes : int, default=None
        Stop a tree at this many leaves; the leaf with the largest gain is split first.
    min_impurity_decrease : float, default=0.0
        A split must lower the risk by at least this much per unit of the weight of the drawn rows.
    bootstrap : bool, default=False
        Draw the rows of each tree with replacement, by their weights; or else without.
    oob_score : bool or callable, default=False
        Judge the forest by the rows that trees have not seen; a callable scores (y_true, y_pred).
        With unequal `sample_weight` heavy rows are rarely out of bag: the score mostly reflects light ones.
    n_jobs : int, default=None
        Threads to grow and predict with; the result is the same to the bit for any number. None is one, -1
        all cores.
    random_state : int, RandomState or None, default=None
        Seeds what is drawn. A tree does not depend on how many others there are.
    verbose : int, default=0
        1 shows how many trees are done.
    warm_start : bool, default=False
        Keep the trees of the fit before, and grow those that are missing to `n_estimators`: the forest is the
        one that a single fit gives. The rows must be the same.
    class_weight : dict, list of dict, "balanced", "balanced_subsample" or None, default=None
        Weights of the classes, multiplied into those of the rows of each tree; one dict per target if there
        are several. "balanced" gives each class the same weight in all, "balanced_subsample" in the rows of
        each tree. Rows are drawn without them, so that figures out of bag stay fair to each class.
    ccp_alpha : float, default=0.0
        The price of a leaf for minimal cost-complexity pruning of each tree; 0 leaves it as grown.
    max_samples : int or float, default=None
        How many rows to draw for each tree; a float is a fraction of those that weigh something. None is as
        many as there are.
    monotonic_cst : None
        For scikit-learn's signature: thresholds that are drawn cannot be bound; `RandomForestClassifier` can.
    voting : {"soft", "hard"}, default="soft"
        Whether the shares of classes in the leaves are averaged, or the answers of the trees are counted.
    threshold : {"readable", "midpoint"}, default="midpoint"
        The number that a test names, of all those that separate the same rows: the shortest decimal, or the
        middle.
    missing : {"learn", "error"}, default="learn"
        Where a row goes whose value is missing: to a side that is drawn, too; or nowhere, it is an error.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them
        The sorted classes; one array per target if there are several.
    n_classes_ : int, or a list of them
        The number of classes.
    model_ : treewright.Forest
        The forest.
    estimators_ : list of ExtraTreeClassifier
        Its trees.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.
    n_outputs_ : int
        The number of targets.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in the gain of the splits; biased, `oob_importance` is not.
    oob_score_ : float
        Accuracy of the out-of-bag predictions; only with `oob_score`, as the two that follow.
    oob_curve_ : ndarray of shape (n_estimators,)
        The share of wrong answers of the out-of-bag predictions after each tree.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        The votes of the trees that have not seen a row; NaN where all have.

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
    splitter = "random"
    n_surrogates = 0
    interaction_cst = feature_costs = None

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        voting: str = "soft",
        threshold: str = "midpoint",
        missing: str = "learn",
        kinds: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.voting = voting
        self.threshold = threshold
        self.missing = missing
        self.kinds = kinds


class ExtraTreesRegressor(VotingRegressorMixin, ForestEstimator, sklearn.ensemble.ExtraTreesRegressor):  # type: ignore[misc]
    """Extremely randomised trees that predict numbers, and intervals for them.

    Nodes draw columns, and of each of them one threshold, between the least and the largest value in the
    node. All rows are used for each tree, unless `bootstrap` or `max_samples` say otherwise. Trees, columns
    of all kinds, missing values: as in `ExtraTreeRegressor`.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        What a split is to lower. By "absolute_error" leaves answer medians, which the forest averages.
    max_depth : int, default=None
        The most tests on the way to a leaf; no limit if None.
    min_samples_split : int or float, default=2
        A node with fewer rows is not split. A float is a fraction of all rows, rounded up.
    min_samples_leaf : int or float, default=1
        No split leaves a side with fewer rows. A float is a fraction of all rows, rounded up.
    min_weight_fraction_leaf : float, default=0.0
        No split leaves a side with less than this fraction of the weight of the drawn rows.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        How many columns, drawn at random, a node considers; a float is a fraction of them, None is all. If
        none of these can be split, more are drawn.
    max_leaf_nodes : int, default=None
        Stop a tree at this many leaves; the leaf with the largest gain is split first.
    min_impurity_decrease : float, default=0.0
        A split must lower the risk by at least this much per unit of the weight of the drawn rows.
    bootstrap : bool, default=False
        Draw the rows of each tree with replacement, by their weights; or else without.
    oob_score : bool or callable, default=False
        Judge the forest by the rows that trees have not seen; a callable scores (y_true, y_pred).
        With unequal `sample_weight` heavy rows are rarely out of bag: the score mostly reflects light ones.
    n_jobs : int, default=None
        Threads to grow and predict with; the result is the same to the bit for any number. None is one, -1
        all cores.
    random_state : int, RandomState or None, default=None
        Seeds what is drawn. A tree does not depend on how many others there are.
    verbose : int, default=0
        1 shows how many trees are done.
    warm_start : bool, default=False
        Keep the trees of the fit before, and grow those that are missing to `n_estimators`: the forest is the
        one that a single fit gives. The rows must be the same.
    ccp_alpha : float, default=0.0
        The price of a leaf for minimal cost-complexity pruning of each tree; 0 leaves it as grown.
    max_samples : int or float, default=None
        How many rows to draw for each tree; a float is a fraction of those that weigh something. None is as
        many as there are.
    monotonic_cst : None
        For scikit-learn's signature: thresholds that are drawn cannot be bound; `RandomForestRegressor` can.
    keep_targets : bool, default=True
        Keep which training rows are in the leaves, for `predict_quantiles` and `predict_interval`: some bytes
        for each row and tree.
    threshold : {"readable", "midpoint"}, default="midpoint"
        The number that a test names, of all those that separate the same rows: the shortest decimal, or the
        middle.
    missing : {"learn", "error"}, default="learn"
        Where a row goes whose value is missing: to a side that is drawn, too; or nowhere, it is an error.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.

    Attributes
    ----------
    model_ : treewright.Forest
        The forest.
    estimators_ : list of ExtraTreeRegressor
        Its trees.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.
    n_outputs_ : int
        The number of targets.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in the gain of the splits; biased, `oob_importance` is not.
    oob_score_ : float
        R² of the out-of-bag predictions; only with `oob_score`, as the two that follow.
    oob_curve_ : ndarray of shape (n_estimators,)
        The mean squared error of the out-of-bag predictions after each tree.
    oob_prediction_ : ndarray of shape (n_rows,)
        The mean of the trees that have not seen a row; NaN where all have.

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
    splitter = "random"
    n_surrogates = 0
    interaction_cst = feature_costs = None
    voting = "soft"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        keep_targets: bool = True,
        threshold: str = "midpoint",
        missing: str = "learn",
        kinds: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.keep_targets = keep_targets
        self.threshold = threshold
        self.missing = missing
        self.kinds = kinds
