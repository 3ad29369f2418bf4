"""The classic trees whose splits have many branches: ID3Classifier and CHAIDClassifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.advice import warn
from treewright.encoding import Dataset, encode, encode_with_advice
from treewright.encoding.kinds import KindName
from treewright.encoding.text.advice import fold_advice
from treewright.estimators.classic import OneTarget
from treewright.estimators.fitting import refuse_one_dimension
from treewright.estimators.targets import plain_target
from treewright.growing.chaid import grow_chaid
from treewright.growing.id3 import grow_id3
from treewright.tree import Tree

MOST_VALUES = 64  # different numbers of a column that ID3 takes for categories


class ID3Classifier(OneTarget):
    """ID3: each node is split by the column that tells most of the class, one branch for each of its values.

    Quinlan's algorithm of 1986 in its plain form: a column is asked once on the way to a leaf, nodes of one
    class are leaves, where no column is left the majority answers, and nothing is pruned. Values of a column
    that no row of a node has lead to a leaf without rows, which answers as the node does.

    Parameters
    ----------
    criterion : {"entropy", "gini", "error"}, default="entropy"
        The gain: of information, of the Gini index, or of training error.
    max_depth : int, default=None
        The most decisions on the way to a leaf; no limit if None.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number" or "category", by name.

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

    def __init__(
        self, *, criterion: str = "entropy", max_depth: int | None = None, kinds: Any = None
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.kinds = kinds

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

    Parameters
    ----------
    alpha_merge : float, default=0.05
        Groups of values are merged while the p-value of their difference is above this.
    alpha_split : float, default=0.05
        A node is split if the smallest adjusted p-value is at most this.
    alpha_resplit : float, default=None
        Groups of three values or more that have been merged are parted again where two parts differ with a
        p-value of at most this; None: never.
    max_depth : int, default=None
        The most decisions on the way to a leaf; no limit if None.
    min_samples_split : int, default=2
        A node with fewer rows is not split.
    min_samples_leaf : int, default=1
        A group with fewer rows joins the one that it differs from least.
    max_classes : int, default=10
        Into how many classes of about equal weight numbers are cut, once for all nodes; only neighbours are
        merged.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.

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

    def __init__(
        self,
        *,
        alpha_merge: float = 0.05,
        alpha_split: float = 0.05,
        alpha_resplit: float | None = None,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        max_classes: int = 10,
        kinds: Any = None,
    ) -> None:
        self.alpha_merge = alpha_merge
        self.alpha_split = alpha_split
        self.alpha_resplit = alpha_resplit
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_classes = max_classes
        self.kinds = kinds

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
