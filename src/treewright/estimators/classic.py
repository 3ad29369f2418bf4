"""What the classic algorithms share as estimators: few parameters, the rest as their authors had it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import column_or_1d

from treewright.encoding import Dataset
from treewright.estimators.classifier import DecisionTreeClassifier
from treewright.estimators.fitting import Fitted, TreeEstimator
from treewright.estimators.regressor import DecisionTreeRegressor
from treewright.pruning import PruningPath
from treewright.tree import Tree

MOST_REPEATED = 10**7  # rows that whole weights may make


class Classic(TreeEstimator):
    """An estimator whose other parameters are fixed: they are attributes of its class.

    A subclass has an `__init__` of its own, with the parameters that its algorithm has, and grows its tree in
    `_model`.
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
    n_surrogates: Any = 5
    category_gain = "plain"  # as their authors compared columns
    monotonic_cst = None
    interaction_cst = None
    feature_costs = None
    max_features_used: int | None = None
    max_splits: int | None = None
    significance: float | None = None
    selection = "gain"
    pruning: str | None = None
    pruning_options: dict[str, Any] | None = None
    threshold = "readable"
    kinds: Any = None
    n_jobs: int | None = None

    def _unpruned(self, X: Any, y: Any, sample_weight: Any) -> Tree:
        fitted = clone(self).fit(X, y, sample_weight)
        path: PruningPath | None = vars(fitted).get("pruning_path_")
        return fitted.model_ if path is None else path.full_tree


class ClassicClassifier(Classic, DecisionTreeClassifier):
    """A classic algorithm that predicts classes."""

    criterion = "gini"
    class_weight: Any = None


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


class ClassicRegressor(Classic, DecisionTreeRegressor):
    """A classic algorithm that predicts numbers."""

    criterion = "squared_error"
