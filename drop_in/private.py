"""Private names of scikit-learn's classes that its tests read, answered from what treewright's classes have.

A test that reads one of them is about the behaviour behind it: the leaves, the drawn rows, the search that
was chosen. With these names, which only the tests see, it tests that behaviour.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import treewright
from treewright import KDTree, Tree, encode
from treewright.ensembles.gradient_boosting import _groups
from treewright.estimators._early_stopping import has_settled


class KDTree32(KDTree):
    """The k-d tree with distances and densities of 32 bits, as scikit-learn's private class has them."""

    def query(self, *arguments: Any, **options: Any) -> Any:
        distances, index = super().query(*arguments, **options)
        return distances.astype(np.float32), index

    def query_radius(self, *arguments: Any, **options: Any) -> Any:
        found = super().query_radius(*arguments, **options)
        if not isinstance(found, tuple):
            return found
        _, distances = found
        for query, each in enumerate(distances):
            distances[query] = each.astype(np.float32)
        return found

    def kernel_density(self, *arguments: Any, **options: Any) -> NDArray[np.float32]:
        return super().kernel_density(*arguments, **options).astype(np.float32)


class Predictor:
    """A tree of gradient boosting as the tests of scikit-learn look at it."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @property
    def nodes(self) -> NDArray[Any]:
        """The nodes in preorder, as rows of a structured array."""
        tree = self._tree
        thresholds = np.nan_to_num(tree.threshold)  # NaN equals nothing
        arrays = [tree.value.ravel(), tree.feature, thresholds, tree.missing_left, tree.rows]
        return np.rec.fromarrays(arrays, names="value,feature,threshold,missing_left,rows")

    @property
    def raw_left_cat_bitsets(self) -> NDArray[np.uint32]:
        """For each split, 256 bits: whether a category goes left."""
        splits = np.flatnonzero(~self._tree.is_leaf)
        bits = np.zeros((len(splits), 256), np.uint8)
        for row, node in zip(bits, splits, strict=True):
            row[[int(category) for category in self._tree.categories_left(node)]] = 1
        return np.packbits(bits, axis=1, bitorder="little").view(np.uint32)

    def get_max_depth(self) -> int:
        return self._tree.depth

    def get_n_leaf_nodes(self) -> int:
        return self._tree.n_leaves


def _predictors(boosted: Any) -> list[list[Predictor]]:
    return [[Predictor(tree) for tree in trees] for trees in boosted.model_.trees]


def _raw_predict(boosted: Any, X: Any) -> NDArray[np.float64]:
    return boosted.model_.raw(X)  # type: ignore[no-any-return]


def _check_interaction_cst(boosted: Any, n_features: int) -> list[set[int]] | None:
    schema = encode(np.zeros((1, n_features)), [0.0]).schema
    return [set(group) for group in _groups(boosted.interaction_cst, schema)] or None


def _should_stop(boosted: Any, scores: list[float]) -> bool:
    return has_settled(scores, boosted.n_iter_no_change, boosted.tol)


def _preprocessor(boosted: Any) -> SimpleNamespace:
    """The encoder of the categorical columns, of which the tests read the categories."""
    columns = [column for column in boosted.model_.schema.columns if column.is_category]
    encoder = SimpleNamespace(categories_=[np.array(column.categories) for column in columns])
    return SimpleNamespace(named_transformers_={"encoder": encoder})


def _fit_method(neighbours: Any) -> str:
    """The search that was chosen; other searches than the k-d tree's are scikit-learn's own."""
    return getattr(neighbours.model_, "_fit_method", "kd_tree")


def _n_samples_bootstrap(forest: Any) -> int:
    return len(forest.estimators_samples_[0])


def give_private_names() -> None:
    """Give them to treewright's classes."""
    for boosting in (treewright.HistGradientBoostingClassifier, treewright.HistGradientBoostingRegressor):
        boosting._predictors = property(_predictors)
        boosting._raw_predict = _raw_predict
        boosting._check_interaction_cst = _check_interaction_cst
        boosting._should_stop = _should_stop
        boosting._preprocessor = property(_preprocessor)
    for neighbours in (treewright.KNeighborsClassifier, treewright.KNeighborsRegressor):
        neighbours._fit_method = property(_fit_method)
    for forest in (
        *(treewright.RandomForestClassifier, treewright.RandomForestRegressor),
        *(treewright.ExtraTreesClassifier, treewright.ExtraTreesRegressor),
    ):
        forest._n_samples_bootstrap = property(_n_samples_bootstrap)
