"""DecisionTreeRegressor: scikit-learn's clothes for trees of numbers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import sklearn.tree
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.estimators.fitting import Fitted, TreeEstimator
from treewright.growing import n_threads
from treewright.tree.predict import numbers


class DecisionTreeRegressor(TreeEstimator, sklearn.tree.DecisionTreeRegressor):  # type: ignore[misc]
    """A decision tree that predicts numbers.

    Everything that takes scikit-learn's class of the same name takes this one: it is a subclass with the same
    parameters, and a few more after them. The tree is grown exactly, in float64, and is the same for any
    number of threads. Columns may be numbers, categories (strings, bools and categorical columns) and dates,
    with missing values; `y` may have several columns.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        What a split is to lower: the squared error about the mean, the absolute error about the median, or
        the Poisson deviance about the mean (for targets that are not negative).
    splitter : {"best", "random"}, default="best"
        Take the best threshold of each column, or one drawn at random.
    max_depth : int, default=None
        The most tests on the way to a leaf; no limit if None.
    min_samples_split : int or float, default=2
        A node with fewer rows is not split. A float is a fraction of all rows, rounded up.
    min_samples_leaf : int or float, default=1
        No split leaves a side with fewer rows. A float is a fraction of all rows, rounded up.
    min_weight_fraction_leaf : float, default=0.0
        No split leaves a side with less than this fraction of the whole weight.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        How many columns, drawn at random, a node considers; a float is a fraction of them. If none of these
        can be split, more are drawn.
    random_state : int, RandomState or None, default=None
        Seeds what is drawn. With ``splitter="best"`` and all columns nothing is: the same table gives the
        same tree. With ``split="oblique"`` some sums are drawn; None is a seed of its own then.
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
    category_gain : {"corrected", "plain"}, default="corrected"
        Whether the gain of a subset of categories is corrected for what chance would give, so that columns of
        very many values do not win by memorising rows; or compared as it is, as CART does.
    interaction_cst : "pairwise", "no_interactions" or groups of columns, default=None
        Which columns, by name or position, may be tested together on one path. A column in no group is tested
        with no other.
    feature_costs : dict or array of shape (n_columns,), default=None
        The price of measuring a column, by name or one for each; 0 where nothing is said. A split's gain is
        divided by 1 + price, unless the column was tested above it.
    max_features_used : int, default=None
        The most columns that the tree as a whole may test.
    leaf : {"constant", "linear"}, default="constant"
        Whether leaves answer their mean, or a formula of the columns that are tested on the way (a model
        tree; for one target, by "squared_error").
    root : Below, Among or str, default=None
        The first split, if it is given instead of found: a test, or a column whose best split is taken.
    n_competitors : int, default=0
        How many competitors of each test to keep: the best splits of other columns, as `competitors_`.
    split : {"axis", "oblique"}, default="axis"
        Test one column at a time, or also weighted sums of numbers, such as ``a - 0.5 b <= 2``, where they
        gain clearly more.
    max_combined : int, default=2
        The most columns of such a sum.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.
    n_jobs : int, default=None
        Threads to grow and predict with; the result is the same for any number. None is one, -1 all cores.

    Attributes
    ----------
    model_ : treewright.Tree
        The tree. ``print(model.model_)`` shows it.
    tree_ : sklearn.tree._tree.Tree
        The same tree as scikit-learn's arrays; not available if it tests categories or sums.
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
    competitors_ : treewright.explaining.competitors.Competitors
        What else could have been asked at each node, of a tree of more than 64 tests at those with the most
        rows; ``print`` shows it. Only with `n_competitors`.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in the total gain.

    See Also
    --------
    DecisionTreeClassifier : The same for classes.
    treewright.grow : The function below it, for tables without an estimator around them.

    Examples
    --------
    >>> from treewright import DecisionTreeRegressor
    >>> table = {"rooms": [1, 2, 3, 4, 5], "lift": [True, False, True, False, True]}
    >>> model = DecisionTreeRegressor(max_depth=1).fit(table, [300.0, 420.0, 500.0, 900.0, 1000.0])
    >>> model.predict({"rooms": [2, 6], "lift": [True, True]}).round(1)
    array([406.7, 950. ])
    """

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
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
        category_gain: str = "corrected",
        interaction_cst: Any = None,
        feature_costs: Any = None,
        max_features_used: int | None = None,
        leaf: str = "constant",
        root: Any = None,
        n_competitors: int = 0,
        split: str = "axis",
        max_combined: int = 2,
        kinds: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.max_splits = max_splits
        self.significance = significance
        self.selection = selection
        self.pruning = pruning
        self.pruning_options = pruning_options
        self.threshold = threshold
        self.missing = missing
        self.n_surrogates = n_surrogates
        self.category_gain = category_gain
        self.interaction_cst = interaction_cst
        self.feature_costs = feature_costs
        self.max_features_used = max_features_used
        self.leaf = leaf
        self.root = root
        self.n_competitors = n_competitors
        self.split = split
        self.max_combined = max_combined
        self.kinds = kinds
        self.n_jobs = n_jobs

    def predict(self, X: Any, check_input: bool = True) -> NDArray[np.float64]:
        """What each row's leaf answers: the mean of its targets, the median for "absolute_error", or what its
        formula says of the row.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.
        check_input : bool, default=True
            Without effect, for scikit-learn's signature.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_targets)
            The predicted numbers.
        """
        fitted, rows = self._rows(X)
        values = numbers(fitted["model_"], rows, n_threads(self.n_jobs))
        return values[:, 0] if values.shape[1] == 1 else values

    def _training_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Dataset, Fitted]:
        return self._encode(X, y, sample_weight, classes=False), {}

    def _criterion(self) -> str:
        if self.criterion != "friedman_mse":
            return super()._criterion()
        warnings.warn(
            "criterion='friedman_mse' grows the trees of 'squared_error' and will go, as in scikit-learn; "
            "say 'squared_error' instead",
            FutureWarning,
            stacklevel=4,
        )
        return "squared_error"
