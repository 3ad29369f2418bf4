"""The trees with random thresholds: ExtraTreeClassifier and ExtraTreeRegressor."""

from __future__ import annotations

from typing import Any

from treewright.estimators.classifier import DecisionTreeClassifier
from treewright.estimators.regressor import DecisionTreeRegressor


class ExtraTreeClassifier(DecisionTreeClassifier):
    """A decision tree that predicts classes, with thresholds drawn at random.

    Each node draws some columns, one threshold in each, and takes the best of these splits. Meant for
    ensembles: one such tree alone is worse than a `DecisionTreeClassifier`, from which it differs in the
    defaults only.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "error", "sqrt", "gain_ratio"}, default="gini"
        What a split is to lower: the Gini index, the entropy ("log_loss" is another name for it), the
        training error or the Kearns-Mansour root; or C4.5's rule, the best gain ratio among the splits of at
        least average gain.
    splitter : {"best", "random"}, default="random"
        Take the best threshold of each column, or one drawn at random.
    max_depth : int, default=None
        The most tests on the way to a leaf; no limit if None.
    min_samples_split : int or float, default=2
        A node with fewer rows is not split. A float is a fraction of all rows, rounded up.
    min_samples_leaf : int or float, default=1
        No split leaves a side with fewer rows. A float is a fraction of all rows, rounded up.
    min_weight_fraction_leaf : float, default=0.0
        No split leaves a side with less than this fraction of the whole weight.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        How many columns, drawn at random, a node considers; a float is a fraction of them. If none of these
        can be split, more are drawn.
    random_state : int, RandomState or None, default=None
        Seeds what is drawn. With ``splitter="best"`` and all columns nothing is: the same table gives the
        same tree.
    max_leaf_nodes : int, default=None
        Stop at this many leaves; the leaf with the largest gain is split first.
    min_impurity_decrease : float, default=0.0
        A split must lower the risk by at least this much per unit of the whole weight.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Weights of the classes, multiplied into those of the rows; one dict per target if there are several.
        "balanced" gives each class the same weight in all (rows count by their `sample_weight`). What rows
        cost is multiplied by it, too; `priors` undo it.
    ccp_alpha : float, default=0.0
        The price of a leaf for minimal cost-complexity pruning; 0 leaves the tree as grown.
    monotonic_cst : dict or array of shape (n_columns,), default=None
        By name, or one for each column: 1 if the share of the later classes (of two: of the second one) must
        not fall as the column grows, -1 if it must not rise, 0 if it may do both.
    max_splits : int, default=None
        Stop after this many splits (one less than the leaves).
    significance : float, default=None
        Split a node only if the χ² test of its best split has a p-value of at most this.
    selection : {"gain", "test"}, default="gain"
        Whether the column of a node is the one with the best split, or the one that a test finds least likely
        to be independent of the target, however many values it has; then `significance` is the level below
        which a node is split, 0.05 if None.
    pruning : str or None, default=None
        How the grown tree is pruned: "cost_complexity", "reduced_error", "minimum_errors" … (all:
        `treewright.pruning.methods()`). None leaves it as grown.
    pruning_options : dict, default=None
        Options of the pruning, by name, and of the choice where the method makes several trees:
        ``{"select": "folds", "rule": "1-SE"}``, ``{"leaves": 17, "select": "leaves"}``; by default the tree
        is chosen by rows that are set aside, a ``validation_fraction`` of 0.25.
    threshold : {"readable", "midpoint"}, default="readable"
        The number that a test names, of all those that separate the same rows: the shortest decimal, or the
        middle.
    missing : {"learn", "surrogate", "fractional", "category", "error"}, default="learn"
        Where a row goes whose value is missing: to the side that gains more; where the tests of other columns
        say that go with the split's own (rpart); to both sides, by their shares (C4.5); to a branch of its
        own, as a value like any other; or nowhere: a missing value is an error.
    n_surrogates : int, default=5
        How many other columns a split keeps to ask; for ``missing="surrogate"``.
    interaction_cst : "pairwise", "no_interactions" or groups of columns, default=None
        Which columns, by name or position, may be tested together on one path. A column in no group is tested
        with no other.
    feature_costs : dict or array of shape (n_columns,), default=None
        The price of measuring a column, by name or one for each; 0 where nothing is said. A split's gain is
        divided by 1 + price, unless the column was tested above it.
    max_features_used : int, default=None
        The most columns that the tree as a whole may test.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.
    n_jobs : int, default=None
        Threads to grow and predict with; the result is the same for any number. None is one, -1 all cores.
    cost_matrix : array of shape (n_classes, n_classes) or dict of dicts, default=None
        ``cost_matrix[i, j]`` is the cost of answering class j when the truth is class i, in the order of
        `classes_`; or by name: ``{"ill": {"well": 10}}``, where what is not named costs 1. Leaves answer what
        costs least, and pruning, `ccp_alpha` included, and certificates go by costs. For one target.
    priors : array of shape (n_classes,) or dict, default=None
        How often each class comes in truth, if not as in the rows; they add up to 1.
    cost_split : {"altered_priors", "generalised_gini", "none"}, default="altered_priors"
        How costs and priors alter the splits: rows weigh more where their class is dearer, for any criterion;
        or by the Gini index with the costs of each pair of classes; or not at all.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them
        The sorted classes; one array per target if there are several.
    n_classes_ : int, or an array of them
        The number of classes.
    model_ : treewright.Tree
        The tree. ``print(model.model_)`` shows it.
    tree_ : sklearn.tree._tree.Tree
        The same tree as scikit-learn's arrays; not available if it tests categories.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.
    n_outputs_ : int
        The number of targets.
    max_features_ : int
        How many columns a node considers.
    pruning_path_ : treewright.PruningPath
        The trees that the pruning had to choose from; only with `pruning`.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in the total gain.

    See Also
    --------
    DecisionTreeClassifier : The tree with the best thresholds.
    ExtraTreeRegressor : The same for numbers.

    Examples
    --------
    >>> from treewright import ExtraTreeClassifier
    >>> model = ExtraTreeClassifier(random_state=0).fit([[0, 1], [1, 0], [2, 2], [3, 1]], [0, 0, 1, 1])
    >>> model.predict([[0, 1], [3, 1]])
    array([0, 1])
    """

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "random",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        max_splits: int | None = None,
        significance: float | None = None,
        selection: str = "gain",
        pruning: str | None = None,
        pruning_options: dict[str, Any] | None = None,
        threshold: str = "readable",
        missing: str = "learn",
        n_surrogates: int = 5,
        interaction_cst: Any = None,
        feature_costs: Any = None,
        max_features_used: int | None = None,
        kinds: Any = None,
        n_jobs: int | None = None,
        cost_matrix: Any = None,
        priors: Any = None,
        cost_split: str = "altered_priors",
    ) -> None:
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            class_weight=class_weight,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
            max_splits=max_splits,
            significance=significance,
            selection=selection,
            pruning=pruning,
            pruning_options=pruning_options,
            threshold=threshold,
            missing=missing,
            n_surrogates=n_surrogates,
            interaction_cst=interaction_cst,
            feature_costs=feature_costs,
            max_features_used=max_features_used,
            kinds=kinds,
            n_jobs=n_jobs,
            cost_matrix=cost_matrix,
            priors=priors,
            cost_split=cost_split,
        )


class ExtraTreeRegressor(DecisionTreeRegressor):
    """A decision tree that predicts numbers, with thresholds drawn at random.

    Each node draws some columns, one threshold in each, and takes the best of these splits. Meant for
    ensembles: one such tree alone is worse than a `DecisionTreeRegressor`, from which it differs in the
    defaults only.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        What a split is to lower: the squared error about the mean, the absolute error about the median, or
        the Poisson deviance about the mean (for targets that are not negative).
    splitter : {"best", "random"}, default="random"
        Take the best threshold of each column, or one drawn at random.
    max_depth : int, default=None
        The most tests on the way to a leaf; no limit if None.
    min_samples_split : int or float, default=2
        A node with fewer rows is not split. A float is a fraction of all rows, rounded up.
    min_samples_leaf : int or float, default=1
        No split leaves a side with fewer rows. A float is a fraction of all rows, rounded up.
    min_weight_fraction_leaf : float, default=0.0
        No split leaves a side with less than this fraction of the whole weight.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        How many columns, drawn at random, a node considers; a float is a fraction of them. If none of these
        can be split, more are drawn.
    random_state : int, RandomState or None, default=None
        Seeds what is drawn. With ``splitter="best"`` and all columns nothing is: the same table gives the
        same tree.
    max_leaf_nodes : int, default=None
        Stop at this many leaves; the leaf with the largest gain is split first.
    min_impurity_decrease : float, default=0.0
        A split must lower the risk by at least this much per unit of the whole weight.
    ccp_alpha : float, default=0.0
        The price of a leaf for minimal cost-complexity pruning; 0 leaves the tree as grown.
    monotonic_cst : dict or array of shape (n_columns,), default=None
        By name, or one for each column: 1 if the answer must not fall as the column grows, -1 if it must not
        rise, 0 if it may do both.
    max_splits : int, default=None
        Stop after this many splits (one less than the leaves).
    significance : float, default=None
        The level of the tests of ``selection="test"``.
    selection : {"gain", "test"}, default="gain"
        Whether the column of a node is the one with the best split, or the one that a test finds least likely
        to be independent of the target, however many values it has; then `significance` is the level below
        which a node is split, 0.05 if None.
    pruning : str or None, default=None
        How the grown tree is pruned: "cost_complexity", "reduced_error", "minimum_errors" … (all:
        `treewright.pruning.methods()`). None leaves it as grown.
    pruning_options : dict, default=None
        Options of the pruning, by name, and of the choice where the method makes several trees:
        ``{"select": "folds", "rule": "1-SE"}``, ``{"leaves": 17, "select": "leaves"}``; by default the tree
        is chosen by rows that are set aside, a ``validation_fraction`` of 0.25.
    threshold : {"readable", "midpoint"}, default="readable"
        The number that a test names, of all those that separate the same rows: the shortest decimal, or the
        middle.
    missing : {"learn", "surrogate", "fractional", "category", "error"}, default="learn"
        Where a row goes whose value is missing: to the side that gains more; where the tests of other columns
        say that go with the split's own (rpart); to both sides, by their shares (C4.5); to a branch of its
        own, as a value like any other; or nowhere: a missing value is an error.
    n_surrogates : int, default=5
        How many other columns a split keeps to ask; for ``missing="surrogate"``.
    interaction_cst : "pairwise", "no_interactions" or groups of columns, default=None
        Which columns, by name or position, may be tested together on one path. A column in no group is tested
        with no other.
    feature_costs : dict or array of shape (n_columns,), default=None
        The price of measuring a column, by name or one for each; 0 where nothing is said. A split's gain is
        divided by 1 + price, unless the column was tested above it.
    max_features_used : int, default=None
        The most columns that the tree as a whole may test.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.
    n_jobs : int, default=None
        Threads to grow and predict with; the result is the same for any number. None is one, -1 all cores.

    Attributes
    ----------
    model_ : treewright.Tree
        The tree. ``print(model.model_)`` shows it.
    tree_ : sklearn.tree._tree.Tree
        The same tree as scikit-learn's arrays; not available if it tests categories.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.
    n_outputs_ : int
        The number of targets.
    max_features_ : int
        How many columns a node considers.
    pruning_path_ : treewright.PruningPath
        The trees that the pruning had to choose from; only with `pruning`.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in the total gain.

    See Also
    --------
    DecisionTreeRegressor : The tree with the best thresholds.
    ExtraTreeClassifier : The same for classes.

    Examples
    --------
    >>> from treewright import ExtraTreeRegressor
    >>> model = ExtraTreeRegressor(random_state=0).fit([[0, 1], [1, 0], [2, 2], [3, 1]], [0.0, 0.5, 2.0, 2.5])
    >>> model.predict([[0, 1], [3, 1]])
    array([0. , 2.5])
    """

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "random",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = 1.0,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        max_splits: int | None = None,
        significance: float | None = None,
        selection: str = "gain",
        pruning: str | None = None,
        pruning_options: dict[str, Any] | None = None,
        threshold: str = "readable",
        missing: str = "learn",
        n_surrogates: int = 5,
        interaction_cst: Any = None,
        feature_costs: Any = None,
        max_features_used: int | None = None,
        kinds: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
            max_splits=max_splits,
            significance=significance,
            selection=selection,
            pruning=pruning,
            pruning_options=pruning_options,
            threshold=threshold,
            missing=missing,
            n_surrogates=n_surrogates,
            interaction_cst=interaction_cst,
            feature_costs=feature_costs,
            max_features_used=max_features_used,
            kinds=kinds,
            n_jobs=n_jobs,
        )
