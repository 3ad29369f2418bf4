"""The classic algorithms: CART, C4.5, ID3, CHAID, and the top-down algorithm of Kearns and Mansour."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import column_or_1d

from treewright.advice import warn
from treewright.encoding import Dataset, encode, encode_with_advice
from treewright.encoding.kinds import KindName
from treewright.encoding.text.advice import fold_advice
from treewright.estimators.fitting import Fitted, TreeEstimator, refuse_one_dimension
from treewright.estimators.pruned import seed_of
from treewright.estimators.targets import plain_target
from treewright.estimators.tree import TreeClassifier, TreeRegressor
from treewright.explaining.weak_learning_bound import WeakLearningBound, weak_learning_bound
from treewright.growing import grow
from treewright.growing.chaid import grow_chaid
from treewright.growing.id3 import grow_id3
from treewright.parameters.checks import TRUE_OR_FALSE, number, one_of, whole
from treewright.parameters.spec import Parameters, parameter
from treewright.parameters.values import Surrogates
from treewright.pruning import PruningPath, prune
from treewright.pruning.fractional_rows import collapse_useless_splits
from treewright.selecting import select
from treewright.tree import Tree

MOST_REPEATED = 10**7  # rows that whole weights may make
MOST_VALUES = 64  # different numbers of a column that ID3 takes for categories
RELEASE_8 = {"multiway": True, "release8": True}


class Classic(TreeEstimator):
    """An algorithm with few parameters; the others are fixed, as attributes of its class.

    A subclass declares the parameters of its algorithm, and may grow its tree in `_model`.
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
    category_gain = "plain"  # as their authors compared columns
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
    """A classic algorithm for the classes of one target, whose tree is not grown by `grow`."""

    def _plant(self, data: Dataset) -> Tree:
        """The tree of some rows."""
        raise NotImplementedError

    def _model(self, data: Dataset, validation: Dataset | None) -> tuple[Tree, PruningPath | None, Dataset]:
        return self._plant(data), None, data

    def _training_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Dataset, Fitted]:
        if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        data, described = super()._training_data(X, y, sample_weight)
        return _without_weightless(data), described

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        tags.classifier_tags.multi_label = False
        return tags


def repeated(data: Dataset) -> Dataset:
    """Rows of whole weights so many times each: limits count rows, and a weight of two is the row twice."""
    weight = data.weight
    if weight is None or (weight % 1).any() or weight.sum() > MOST_REPEATED:
        return data
    return data.take(np.repeat(np.arange(data.n_rows), weight.astype(np.int64))).reweighted(None)


def _without_weightless(data: Dataset) -> Dataset:
    """The rows without the categories that only rows of weight zero have: these are as good as absent."""
    if data.weight is None or data.weight.all() or data.schema.only_numbers:
        return data
    counted, columns, arrays = data.counted, list(data.schema.columns), list(data.columns)
    for position, column in enumerate(columns):
        if column.kind != "category":
            continue
        codes, n = data.column(position), len(column.categories)
        own, others = (np.bincount(some[some >= 0], minlength=n) > 0 for some in (codes[counted], codes))
        kept = own | ~others  # what the table names and no row has stays
        names = tuple(name for name, stays in zip(column.categories, kept.tolist(), strict=True) if stays)
        columns[position] = replace(column, categories=names)
        place = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int32)
        arrays[position] = place[codes]  # a missing value, -1, finds the last entry
    schema = replace(data.schema, columns=tuple(columns))
    return replace(data, schema=schema, columns=tuple(arrays))


class ClassicRegressor(Parameters, Classic, TreeRegressor):
    """A classic algorithm that predicts numbers."""

    criterion = "squared_error"


class _Pruned(Classic):
    """A tree that is grown large and pruned by the cost of a leaf that cross-validation chooses."""

    n_surrogates: int
    cv: int
    rule: Any

    @property
    def missing(self) -> Surrogates:
        """Missing values go where surrogate splits send them."""
        return Surrogates(self.n_surrogates)

    def _model(self, data: Dataset, validation: Dataset | None) -> tuple[Tree, PruningPath | None, Dataset]:
        growing = self._growing(
            data
        )  # once: it may draw the seed of the tree, which is that of the folds' trees
        path = prune(self._grow(data, growing), "cost_complexity")
        folds = min(int(self.cv), data.n_counted)
        if folds < 2 or len(path) < 2:  # nothing to choose from, or nothing to choose by
            return path[0], path, data
        seed = seed_of(self.random_state)
        path = select(path, "folds", data=data, n_folds=folds, rule=self.rule, growing=growing, seed=seed)
        return path.pruned, path, data


class CARTClassifier(_Pruned, ClassicClassifier):
    """CART: binary splits by the Gini index, minimal cost-complexity pruning by cross validation, surrogates.

    Breiman, Friedman, Olshen and Stone (1984). A large tree is grown; of its prunings that are best for some
    price of a leaf, folds choose the simplest whose error is within one standard error of the least. Where
    the value that a node asks is missing, the columns that part the rows most alike decide.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them
        The sorted classes.
    model_ : treewright.Tree
        The chosen tree; ``model_.surrogates`` are its surrogates.
    pruning_path_ : treewright.PruningPath
        All prunings with their errors, rpart's table of complexity: ``print(model.pruning_path_)``.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    See Also
    --------
    CARTRegressor : The same for numbers.
    DecisionTreeClassifier : All criteria, prunings and ways with missing values.

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

    min_samples_split: int | float = parameter(default=20)
    min_samples_leaf: int | float = parameter(default=7)
    cv: int = parameter(
        default=10, doc="The number of folds; at most the number of rows.", allowed=whole(2), group="Pruning"
    )
    rule: str = parameter(
        default="1-SE",
        doc="The simplest tree within one standard error of the smallest error, or that of the smallest "
        "error.",
        allowed=one_of("1-SE", "0-SE"),
        group="Pruning",
    )
    n_surrogates: int = parameter(
        default=5,
        doc="How many surrogate columns each split keeps for rows whose own value is missing.",
        allowed=whole(0),
        group="Missing values",
    )
    costs: Any = parameter(default=None)
    random_state: Any = parameter(
        default=None, doc="Seeds how rows are assigned to folds; None is a fixed seed."
    )
    kinds: Any = parameter(default=None)
    n_jobs: int | None = parameter(default=None)


class CARTRegressor(_Pruned, ClassicRegressor):
    """CART for numbers: binary splits by squared error, minimal cost-complexity pruning, surrogates.

    Breiman, Friedman, Olshen and Stone (1984). A large tree is grown; of its prunings that are best for some
    price of a leaf, folds choose the simplest whose error is within one standard error of the least. Where
    the value that a node asks is missing, the columns that part the rows most alike decide.

    Attributes
    ----------
    model_ : treewright.Tree
        The chosen tree; ``model_.surrogates`` are its surrogates.
    pruning_path_ : treewright.PruningPath
        All prunings with their errors, rpart's table of complexity: ``print(model.pruning_path_)``.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    See Also
    --------
    CARTClassifier : The same for classes.
    DecisionTreeRegressor : All criteria, prunings and ways with missing values.

    Examples
    --------
    >>> from treewright import CARTRegressor
    >>> x = list(range(60))
    >>> model = CARTRegressor().fit({"x": x}, [10.0 + (i > 30) + 0.1 * (i % 3) for i in x])
    >>> model.predict({"x": [5, 50]}).round(2)
    array([10.1, 11.1])
    """

    min_samples_split: int | float = parameter(default=20)
    min_samples_leaf: int | float = parameter(default=7)
    cv: int = parameter(
        default=10, doc="The number of folds; at most the number of rows.", allowed=whole(2), group="Pruning"
    )
    rule: str = parameter(
        default="1-SE",
        doc="The simplest tree within one standard error of the smallest error, or that of the smallest "
        "error.",
        allowed=one_of("1-SE", "0-SE"),
        group="Pruning",
    )
    n_surrogates: int = parameter(
        default=5,
        doc="How many surrogate columns each split keeps for rows whose own value is missing.",
        allowed=whole(0),
        group="Missing values",
    )
    random_state: Any = parameter(
        default=None, doc="Seeds how rows are assigned to folds; None is a fixed seed."
    )
    kinds: Any = parameter(default=None)
    n_jobs: int | None = parameter(default=None)


class C45Classifier(OneTarget):
    """C4.5: splits by gain ratio, one branch for each category, rows of unknown value in parts; then pruned.

    Quinlan's program of 1993 in its Release 8. A split has the best gain ratio among those of at least
    average gain; the gain of a threshold is lowered by the cost of naming it. Splits that save no training
    error are left out, and error-based pruning makes leaves of branches, or raises their largest branch,
    where fewer errors are to be feared.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The sorted classes.
    model_ : treewright.Tree
        The pruned tree. ``print(model.model_)`` shows it; a split into many branches is one decision.
    pruning_path_ : treewright.PruningPath
        The tree before pruning, ``.full_tree``, and after; ``.details["estimate"]`` is the pessimistic
        estimate of the error rate.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    See Also
    --------
    ID3Classifier : Its ancestor.
    RuleListClassifier : C4.5's rules.

    Notes
    -----
    A row with a missing value goes down every branch with the share that the branch has of the rows whose
    value is known, in growing, pruning and predicting. A whole weight is so many rows; of other weights
    `min_objs` counts the rows. Thresholds are values of the column: the greatest one
    that is not above the middle between two neighbours.

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

    min_objs: int = parameter(
        default=2,
        doc="At least two branches of a split have this many rows; so does each side of a threshold.",
        allowed=whole(1),
        group="Stopping",
    )
    confidence: float = parameter(
        default=0.25,
        doc="C4.5's CF, above 0 and at most 1; smaller values prune more.",
        allowed=number(0, 1, open_left=True),
        group="Pruning",
    )
    raising: bool = parameter(
        default=True,
        doc="Whether the largest branch of a split may take its place.",
        allowed=TRUE_OR_FALSE,
        group="Pruning",
    )
    kinds: Any = parameter(default=None)
    n_jobs: int | None = parameter(default=None)

    @property
    def min_samples_leaf(self) -> int:
        """The name that the grower has for it."""
        return self.min_objs

    @property
    def min_samples_split(self) -> int:
        """A node with fewer rows cannot have two branches of `min_objs`."""
        return 2 * self.min_objs

    def _plant(self, data: Dataset) -> Tree:
        return collapse_useless_splits(grow(data, **self._growing(data) | {"_constraints": RELEASE_8}))

    def _model(self, data: Dataset, validation: Dataset | None) -> tuple[Tree, PruningPath | None, Dataset]:
        data = repeated(data)
        tree = self._plant(data)
        options = {"confidence": float(self.confidence), "raising": bool(self.raising)}
        path = prune(tree, "pessimistic", data=data, **options)
        return path.pruned, path, data


class TopDownClassifier(ClassicClassifier):
    """The top-down algorithm: so many splits, each time of the leaf and by the test that lower the risk most.

    Kearns and Mansour (1996) show that it boosts: if every leaf has a test that is a little better than
    chance, the training error falls with the number of splits, fastest by their criterion √(q(1-q)).
    `boosting` measures how much better the tests were, and says what follows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them
        The sorted classes.
    model_ : treewright.Tree
        The tree; ``model_.first(k)`` is that of the first k splits.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

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
    Every leaf of both classes had a test with an edge of at least 0.167; so 3 splits by sqrt leave a training
    error of at most 34.3 %. It is 16.7 %.
    """

    n_splits: int = parameter(
        default=10,
        doc="How many splits are made; one less than the leaves.",
        allowed=whole(0),
        group="Stopping",
    )
    criterion: str = parameter(
        default="sqrt",
        kind='{"sqrt", "entropy", "gini", "error"}',
        doc="The impurity that splits reduce. The training error itself has no such guarantee: a test may "
        "leave it unchanged, however good it is.",
    )
    kinds: Any = parameter(default=None)
    n_jobs: int | None = parameter(default=None)

    @property
    def max_leaf_nodes(self) -> int:  # type: ignore[override]
        """The budget of the grower."""
        return self.n_splits + 1

    def weak_learning_bound(self, X: Any, y: Any, sample_weight: Any = None) -> WeakLearningBound:
        """The training error after each split beside the bound that the edges of the tests prove.

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


class ID3Classifier(OneTarget):
    """ID3: each node is split by the column that tells most of the class, one branch for each of its values.

    Quinlan's algorithm of 1986 in its plain form: a column is asked once on the way to a leaf, nodes of one
    class are leaves, where no column is left the majority answers, and nothing is pruned. Values of a column
    that no row of a node has lead to a leaf without rows, which answers as the node does.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The sorted classes.
    model_ : treewright.Tree
        The tree. ``print(model.model_)`` shows it; a split into many branches is one decision.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    See Also
    --------
    C45Classifier : Its successor, with thresholds, missing values and pruning.
    DecisionTreeClassifier : Binary splits by any criterion.

    Notes
    -----
    Columns of numbers with at most 64 different values are taken for categories; with more, the fit is
    refused, as every value would be a branch. A missing value is a value of its own. Of equal gains the first
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

    criterion: str = parameter(
        default="entropy",
        kind='{"entropy", "gini", "error"}',
        doc="The impurity that splits reduce: the entropy, the Gini index, or the training error.",
    )
    max_depth: int | None = parameter(
        default=None,
        doc="The largest number of decisions on a path from the root to a leaf; None is no limit.",
    )
    kinds: Any = parameter(default=None)

    def _plant(self, data: Dataset) -> Tree:
        return grow_id3(data, criterion=self.criterion, max_depth=self.max_depth)

    def _encode(self, X: Any, y: Any, sample_weight: Any, classes: bool) -> Dataset:
        refuse_one_dimension(X)
        target = plain_target(y, type(self).__name__)
        options: dict[str, Any] = {"weight": sample_weight, "classes": classes}
        data, advice = encode_with_advice(X, target, kinds=self.kinds, **options)
        kinds = [self._kind(data, position) for position in range(data.n_columns)]
        if all(column.kind == "category" for column in data.schema.columns):
            warn(fold_advice(advice))
            return data
        return encode(X, target, kinds=kinds, **options)

    def _kind(self, data: Dataset, position: int) -> KindName:
        """The kind of a column for ID3: a category, if it has few enough values."""
        column = data.schema.columns[position]
        if column.kind == "number":
            values = data.column(position)
            found = len(np.unique(values[~np.isnan(values)]))
            if found > MOST_VALUES:
                raise ValueError(
                    f"column {column.name!r} has {found} different numbers; ID3 makes a branch of each value "
                    f"and takes up to {MOST_VALUES}: cut it into ranges, or take C45Classifier"
                )
        elif column.kind == "time":
            raise ValueError(f"column {column.name!r} is a time; ID3 splits categories: cut it into ranges")
        return "category"


class CHAIDClassifier(OneTarget):
    """CHAID: values that do not differ in their classes are merged, and what still differs is split.

    Kass's algorithm of 1980. In each node the values of every column are merged while two groups do not
    differ significantly; the column with the smallest p-value, corrected for the number of possible merges,
    makes one branch of each group, if it is significant. Nothing has to be pruned.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The sorted classes.
    model_ : treewright.Tree
        The tree. ``print(model.model_)`` shows it; a split into many branches is one decision.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    See Also
    --------
    ID3Classifier : One branch for each value.
    DecisionTreeClassifier : With ``selection="test"``, binary splits of the column that a test chooses.

    Notes
    -----
    Missing values are a value of their own, which may be merged with any group. The p-values are those of
    Pearson's test; weights count as so many rows.

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

    alpha_merge: float = parameter(
        default=0.05,
        doc="Groups of values are merged while the p-value of their difference is above this.",
        allowed=number(0, 1, open_left=True),
        group="Growing",
    )
    alpha_split: float = parameter(
        default=0.05,
        doc="A node is split if the smallest adjusted p-value is at most this.",
        allowed=number(0, 1, open_left=True),
        group="Growing",
    )
    alpha_resplit: float | None = parameter(
        default=None,
        kind="float or None",
        doc="Merged groups of three or more values are divided again where two of their parts differ with a "
        "p-value of at most this; None is never.",
        allowed=number(0, 1, open_left=True, none=True),
        group="Growing",
    )
    max_depth: int | None = parameter(
        default=None,
        doc="The largest number of decisions on a path from the root to a leaf; None is no limit.",
    )
    min_samples_split: int = parameter(default=2, kind="int", doc="A node with fewer rows is not split.")
    min_samples_leaf: int = parameter(
        default=1,
        kind="int",
        doc="A group with fewer rows is merged with the one that it differs from least.",
    )
    max_classes: int = parameter(
        default=10,
        doc="Into how many classes of about equal weight numbers are binned, once for all nodes; only "
        "neighbouring classes are merged.",
        allowed=whole(2),
        group="Growing",
    )
    kinds: Any = parameter(default=None)

    def _plant(self, data: Dataset) -> Tree:
        return grow_chaid(
            data,
            alpha_merge=self.alpha_merge,
            alpha_split=self.alpha_split,
            alpha_resplit=self.alpha_resplit,
            max_depth=self.max_depth,
            min_samples_split=self.min_samples_split,
            min_samples_leaf=self.min_samples_leaf,
            max_classes=self.max_classes,
        )
