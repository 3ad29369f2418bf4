"""The classic algorithms: CART, C4.5, ID3, CHAID, and the top-down algorithm of Kearns and Mansour."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import column_or_1d

from treewright._suggestions import checked_keywords
from treewright.advice import warn
from treewright.encoding import Dataset, encode, encode_with_advice
from treewright.encoding.text.advice import fold_advice
from treewright.estimators._pruning import seed_of
from treewright.estimators._tables import Fitted, refuse_one_dimension
from treewright.estimators.fitting import TreeEstimator
from treewright.estimators.targets import plain_target
from treewright.estimators.tree import TreeClassifier, TreeRegressor
from treewright.explaining.weak_learning_bound import WeakLearningBound, weak_learning_bound
from treewright.growing import grow
from treewright.growing.chaid import grow_chaid
from treewright.growing.id3 import grow_id3
from treewright.parameters.classic import (
    C45Parameters,
    CARTParameters,
    CHAIDParameters,
    ID3Parameters,
    TopDownParameters,
)
from treewright.parameters.spec import Parameters, parameter
from treewright.parameters.values import Surrogates
from treewright.pruning import PruningPath, prune
from treewright.pruning.fractional_rows import collapse_useless_splits
from treewright.selecting import select
from treewright.tree import Tree

MOST_REPEATED = 10**7  # rows into which integer weights are expanded
MOST_VALUES = 64  # different numbers of a column that ID3 takes as categories
RELEASE_8 = {"multiway": True, "release8": True}


class Classic(TreeEstimator):
    """An algorithm with few parameters; the others of a tree are fixed, as attributes of its class.

    A subclass inherits the parameters of its algorithm, and may grow its tree in `_model`.
    """

    splitter = "best"
    max_depth: int | None = None
    min_samples_split: Any = 2
    min_samples_leaf: Any = 1
    min_weight_fraction_leaf = 0.0
    max_features = None
    random_state: Any = None
    max_leaf_nodes: int | None = None
    min_impurity_decrease = 0.0
    ccp_alpha = 0.0
    missing: Any = "learn"
    category_gain = "plain"  # as in the original algorithms
    monotonic_cst = None
    interaction_cst = None
    feature_costs = None
    selection = "gain"
    pruning: str | None = None
    threshold = "readable"
    kinds: Any = None
    n_jobs: int | None = None

    def _unpruned(self, X: Any, y: Any, sample_weight: Any) -> Tree:
        fitted = clone(self).fit(X, y, sample_weight)
        path: PruningPath | None = vars(fitted).get("pruning_path_")
        return fitted.model_ if path is None else path.full_tree


class ClassicClassifier(Parameters, Classic, TreeClassifier):
    """A classic algorithm that predicts classes."""

    criterion = "gini"
    class_weight = None


class OneTarget(ClassicClassifier):
    """A classic algorithm for the classes of one target; a subclass grows its tree in `_tree`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The sorted classes.
    model_ : treewright.Tree
        The tree, after any pruning. ``print(model.model_)`` shows it; a split into many branches is one
        decision.
    """

    def _tree(self, data: Dataset) -> Tree:
        """The tree of some rows, before any pruning."""
        raise NotImplementedError

    def _model(self, data: Dataset, validation: Dataset | None) -> tuple[Tree, PruningPath | None, Dataset]:
        return self._tree(data), None, data

    def _training_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Dataset, Fitted]:
        if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        data, attributes = super()._training_data(X, y, sample_weight)
        return _without_unused_categories(data), attributes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        tags.classifier_tags.multi_label = False
        return tags


def repeat_by_weight(data: Dataset) -> Dataset:
    """Rows of integer weights as that many rows each, because limits count rows; others as they are."""
    weight = data.weight
    if weight is None or (weight % 1).any() or weight.sum() > MOST_REPEATED:
        return data
    return data.take(np.repeat(np.arange(data.n_rows), weight.astype(np.int64))).with_weight(None)


def _without_unused_categories(data: Dataset) -> Dataset:
    """The rows without the categories that only rows of weight zero have: such rows count as absent."""
    if data.weight is None or data.weight.all() or data.schema.only_numbers:
        return data
    counted_rows, columns, arrays = data.counted, list(data.schema.columns), list(data.columns)
    for position, column in enumerate(columns):
        if not column.is_category:
            continue
        codes, n = data.column(position), len(column.categories)
        own, others = (np.bincount(some[some >= 0], minlength=n) > 0 for some in (codes[counted_rows], codes))
        stays = own | ~others  # categories of the table that no row has stay as well
        names = tuple(name for name, each in zip(column.categories, stays.tolist(), strict=True) if each)
        columns[position] = replace(column, categories=names)
        place = np.append(np.where(stays, np.cumsum(stays) - 1, -1), -1).astype(np.int32)
        arrays[position] = place[codes]  # a missing value, -1, takes the last entry
    schema = replace(data.schema, columns=tuple(columns))
    return replace(data, schema=schema, columns=tuple(arrays))


class _CART(CARTParameters, Classic):
    """A large tree that is pruned by a cost of a leaf, which is chosen by cross-validation.

    Attributes
    ----------
    model_ : treewright.Tree
        The chosen tree; ``model_.surrogates`` are its surrogates.
    pruning_path_ : treewright.PruningPath
        All prunings with their errors, as rpart's table of complexity: ``print(model.pruning_path_)``.
    """

    @property
    def missing(self) -> Surrogates:
        """Missing values go where surrogate splits send them."""
        return Surrogates(self.n_surrogates)

    def _model(self, data: Dataset, validation: Dataset | None) -> tuple[Tree, PruningPath | None, Dataset]:
        growing = self._growing(data)  # called once: it may draw the seed, which the folds share
        path = prune(self._grow(data, growing), "cost_complexity")
        folds = min(int(self.cv), data.n_counted)
        if folds < 2 or len(path) < 2:  # nothing to choose from, or nothing to choose by
            return path[0], path, data
        seed = seed_of(self.random_state)
        path = select(
            path, "folds", data=data, n_folds=folds, rule=self.rule, growing=growing, random_state=seed
        )
        return path.pruned, path, data


class CARTClassifier(_CART, ClassicClassifier):
    """CART: binary splits by the Gini index, cost-complexity pruning by cross-validation, surrogates.

    Breiman, Friedman, Olshen and Stone (1984). A large tree is grown. Of its prunings that are best for some
    cost of a leaf, the simplest is chosen whose cross-validated error is within one standard error of the
    smallest. Rows whose value is missing follow surrogate splits on other columns.

    See Also
    --------
    CARTRegressor : The same for numbers.
    DecisionTreeClassifier : All criteria, prunings and ways to treat missing values.

    Examples
    --------
    >>> from treewright import CARTClassifier
    >>> x = list(range(60))
    >>> model = CARTClassifier().fit({"x": x}, ["a" if i < 30 or i % 10 == 0 else "b" for i in x])
    >>> print(model.model_)
    60 rows
    ├─ x <= 30.5   a   31 rows    100 %
    └─ x > 30.5    b   29 rows   93.1 %
    """

    costs: Any = parameter(default=None)


class CARTRegressor(_CART, TreeRegressor):
    """CART for numbers: splits by squared error, cost-complexity pruning by cross-validation, surrogates.

    The algorithm is that of `CARTClassifier`, with the squared error in place of the error rate.

    See Also
    --------
    CARTClassifier : The same for classes, with the algorithm.
    DecisionTreeRegressor : All criteria, prunings and ways to treat missing values.

    Examples
    --------
    >>> from treewright import CARTRegressor
    >>> x = list(range(60))
    >>> model = CARTRegressor().fit({"x": x}, [10.0 + (i > 30) + 0.1 * (i % 3) for i in x])
    >>> model.predict({"x": [5, 50]}).round(2)
    array([10.1, 11.1])
    """

    criterion = "squared_error"


class C45Classifier(C45Parameters, OneTarget):
    """C4.5: splits by gain ratio, one branch for each category, fractional rows, and error-based pruning.

    Quinlan's program of 1993 in its Release 8. A split has the best gain ratio among those of at least
    average gain; the gain of a threshold is reduced by the cost of encoding it. Splits that do not reduce the
    training error are left out. Error-based pruning replaces branches by leaves, or by their largest branch
    (subtree raising), where the pessimistic estimate of the error falls.

    Attributes
    ----------
    pruning_path_ : treewright.PruningPath
        The tree before pruning, ``.full_tree``, and after; ``.details["estimate"]`` is the pessimistic
        estimate of the error rate.

    See Also
    --------
    ID3Classifier : Its predecessor.
    RuleListClassifier : C4.5's rules.

    Notes
    -----
    In growing, pruning and predicting, a row with a missing value follows every branch with a fraction of its
    weight: the share of the branch in the rows whose value is known. An integer weight counts as that many
    rows; of rows with other weights `min_objs` counts each once. A threshold is a value of the column: the
    largest one that is not above the midpoint of two neighbours.

    Examples
    --------
    >>> from treewright import C45Classifier
    >>> table = {"sky": ["sun", "sun", "sun", "clouds", "clouds", "rain", "rain", "rain"] * 2,
    ...          "wind": [3, 9, 14, 4, 12, 2, 8, 15] * 2}
    >>> plans = ["walk", "sail", "sail", "sail", "sail", "read", "read", "read"] * 2
    >>> model = C45Classifier().fit(table, plans)
    >>> print(model.model_)
    16 rows
    ├─ sky = clouds   sail   4 rows   100 %
    ├─ sky = rain     read   6 rows   100 %
    └─ sky = sun
       ├─ wind <= 4   walk   2 rows   100 %
       └─ wind > 4    sail   4 rows   100 %
    where a value is missing, a row goes down both sides in the shares of their weights
    """

    criterion = "gain_ratio"
    missing = "fractional"

    @property
    def min_samples_leaf(self) -> int:
        """The grower's name for `min_objs`."""
        return self.min_objs

    @property
    def min_samples_split(self) -> int:
        """A node with fewer rows cannot have two branches of `min_objs`."""
        return 2 * self.min_objs

    def _tree(self, data: Dataset) -> Tree:
        if len(data.schema.targets) > 1:
            raise ValueError("C4.5 predicts the classes of one target")
        return collapse_useless_splits(grow(data, **self._growing(data) | {"_constraints": RELEASE_8}))

    def _model(self, data: Dataset, validation: Dataset | None) -> tuple[Tree, PruningPath | None, Dataset]:
        data = repeat_by_weight(data)
        options = {"confidence": float(self.confidence), "raising": bool(self.raising)}
        path = prune(self._tree(data), "pessimistic", data=data, **options)
        return path.pruned, path, data


class TopDownClassifier(TopDownParameters, ClassicClassifier):
    """The top-down algorithm: a number of splits, each of the leaf and by the test that reduce the risk most.

    Kearns and Mansour (1996) show that it boosts: if every leaf has a test that is slightly better than
    chance, the training error falls with the number of splits, fastest with their criterion √(q(1-q)).
    `weak_learning_bound` measures how much better than chance the tests are, and the bound that follows.

    Attributes
    ----------
    model_ : treewright.Tree
        The tree; ``model_.first(k)`` is that of the first k splits.

    Examples
    --------
    >>> from treewright import TopDownClassifier
    >>> x = list(range(12))
    >>> y = ["a", "a", "b", "a", "a", "b", "b", "a", "b", "b", "b", "b"]
    >>> model = TopDownClassifier(n_splits=3).fit({"x": x}, y)
    >>> print(model.weak_learning_bound({"x": x}, y))  # doctest: +NORMALIZE_WHITESPACE
    splits    edge   least edge    error    bound
         0                        41.7 %   49.3 %
         1   0.286        0.329   25.0 %   37.2 %
         2   0.200        0.233   25.0 %   35.0 %
         3   0.167        0.167   16.7 %   34.3 %
    <BLANKLINE>
    Every leaf with both classes had a test with an edge of at least 0.167; so 3 splits by sqrt leave a
    training error of at most 34.3 %. It is 16.7 %.
    """

    @property
    def max_leaf_nodes(self) -> int:  # type: ignore[override]
        """The grower's name for the limit."""
        return self.n_splits + 1

    @checked_keywords
    def weak_learning_bound(self, X: Any, y: Any, sample_weight: Any = None) -> WeakLearningBound:
        """The training error after each split, and the bound that follows from the edges of the tests.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit; of two classes.

        Returns
        -------
        WeakLearningBound
            ``print`` shows it as a table, ``.plot()`` as curves.
        """
        tree = self._fitted_tree()
        return weak_learning_bound(tree, self._judging_data(tree.schema, X, y, sample_weight))


class ID3Classifier(ID3Parameters, OneTarget):
    """ID3: each node is split by the column of the largest gain, with one branch for each of its values.

    Quinlan's algorithm of 1986 in its plain form: a column is tested once on a path, nodes of one class are
    leaves, where no column is left the majority class is predicted, and nothing is pruned. Values of a column
    that no row of a node has lead to a leaf without rows, which predicts the majority class of the node.

    See Also
    --------
    C45Classifier : Its successor, with thresholds, missing values and pruning.
    DecisionTreeClassifier : Binary splits by any criterion.

    Notes
    -----
    Columns of numbers with at most 64 different values are taken as categories; more are an error, because
    every value would be a branch. A missing value is a category of its own. Among equal gains the first
    column wins; a gain of 0 does not stop the growing.

    Examples
    --------
    >>> from treewright import ID3Classifier
    >>> table = {"sky": ["sun", "sun", "clouds", "rain", "rain"], "wind": ["no", "yes", "no", "no", "yes"]}
    >>> model = ID3Classifier().fit(table, ["walk", "sail", "sail", "read", "read"])
    >>> print(model.model_)
    5 rows
    ├─ sky = clouds    sail    1 row   100 %
    ├─ sky = rain      read   2 rows   100 %
    └─ sky = sun
       ├─ wind = no    walk    1 row   100 %
       └─ wind = yes   sail    1 row   100 %
    """

    def _tree(self, data: Dataset) -> Tree:
        return grow_id3(data, criterion=self.criterion, max_depth=self.max_depth)

    def _encode(self, X: Any, y: Any, sample_weight: Any) -> Dataset:
        refuse_one_dimension(X)
        target = plain_target(y, type(self).__name__)
        options: dict[str, Any] = {"weight": sample_weight, "classes": True}
        data, advice = encode_with_advice(X, target, kinds=self.kinds, **options)
        for position in range(data.n_columns):
            _check_few_values(data, position)
        if all(column.is_category for column in data.schema.columns):
            warn(fold_advice(advice))
            return data
        return encode(X, target, kinds=["category"] * data.n_columns, **options)


def _check_few_values(data: Dataset, position: int) -> None:
    """Raise an error if a column cannot be taken as categories: a time, or a number of many values."""
    column, values = data.schema.columns[position], data.column(position)
    if column.is_category:
        return
    if not column.is_summable:
        raise ValueError(
            f"column {column.name!r} is a {column.kind}; ID3 splits categories: cut it into ranges"
        )
    n_values = len(np.unique(values[~np.isnan(values)]))
    if n_values > MOST_VALUES:
        raise ValueError(
            f"column {column.name!r} has {n_values} different numbers; ID3 makes a branch of each value "
            f"and takes up to {MOST_VALUES}: cut it into ranges, or take C45Classifier"
        )


class CHAIDClassifier(CHAIDParameters, OneTarget):
    """CHAID: values of a column that do not differ significantly are merged, and significant groups split.

    Kass's algorithm of 1980. In each node the values of every column are merged while two groups do not
    differ significantly; the column with the smallest p-value, corrected for the number of possible merges,
    gets one branch for each group, if it is significant. Nothing has to be pruned.

    See Also
    --------
    ID3Classifier : One branch for each value.
    DecisionTreeClassifier : With ``selection="test"``, binary splits of the column that a test chooses.

    Notes
    -----
    Missing values are a category of their own, which may be merged with any group. The p-values are those of
    Pearson's test; a weight counts as that many rows.

    Examples
    --------
    >>> from treewright import CHAIDClassifier
    >>> table = {"job": ["cook", "clerk", "smith", "pilot"] * 20, "age": list(range(80))}
    >>> model = CHAIDClassifier().fit(table, ["bus", "bus", "car", "car"] * 20)
    >>> print(model.model_)
    80 rows
    ├─ job in {clerk, cook}    bus   40 rows   100 %
    └─ job in {pilot, smith}   car   40 rows   100 %
    """

    def _tree(self, data: Dataset) -> Tree:
        return grow_chaid(
            data, **{name: getattr(self, name) for name in CHAIDParameters.parameters if name != "kinds"}
        )
