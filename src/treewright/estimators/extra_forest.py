"""Extremely randomised trees: forests whose thresholds are drawn, too."""

from __future__ import annotations

from typing import Any

import sklearn.ensemble

from treewright.estimators.extra_trees import ExtraTreeClassifier, ExtraTreeRegressor
from treewright.estimators.forest import ForestEstimator
from treewright.estimators.votes import VotingClassifierMixin, VotingRegressorMixin


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

    member = ExtraTreeClassifier
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

    member = ExtraTreeRegressor
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
