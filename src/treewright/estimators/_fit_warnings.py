"""Warnings of a fit about the table and the trees, where they cost next to nothing.

For a matrix of floats the only check is whether the trees have any split; for other tables the columns of
categories are checked as well. `treewright.advise` checks everything.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from treewright.advice import Advice, warn
from treewright.advising import by_severity
from treewright.advising.columns import column_advice
from treewright.advising.results import one_leaf, one_leaf_each
from treewright.encoding import Dataset
from treewright.pruning import PruningPath
from treewright.tree import Tree

# Parameters that may forbid splits; where one of them is set, a tree of one leaf is no surprise.
_LIMITS = frozenset(
    {"max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_leaf_nodes"}
    | {"min_impurity_decrease", "ccp_alpha", "selection", "monotonic_cst", "interaction_cst", "feature_costs"}
    | {"root", "n_splits", "min_objs", "alpha_split", "estimator", "l2_regularization", "max_samples"}
)


def warn_about_tree(estimator: Any, data: Dataset, tree: Tree, path: PruningPath | None) -> None:
    """Warn about the columns of the table, and about a tree that is a single leaf; called by `fit` itself."""
    found = _columns(data)
    if tree.n_nodes == 1 and ((path is not None and path.full_tree.n_nodes > 1) or _is_free(estimator)):
        found += [_in_terms_of(estimator, each) for each in one_leaf(tree, path=path, data=data)]
    if found:
        warn(by_severity(found))


def warn_about_trees(estimator: Any, data: Dataset, trees: Iterable[Tree]) -> None:
    """Warn about the columns of the table, and about trees that are single leaves; called by `fit` itself."""
    found = _columns(data)
    if all(tree.n_nodes == 1 for tree in trees) and _is_free(estimator):
        found += one_leaf_each(data)
    if found:
        warn(by_severity(found))


def _columns(data: Dataset) -> list[Advice]:
    return [] if isinstance(data.columns, np.ndarray) else column_advice(data, only_categories=True)


def _is_free(estimator: Any) -> bool:
    """Whether the user has set no parameter that may forbid splits."""
    known = inspect.signature(type(estimator)).parameters
    return all(getattr(estimator, name) is known[name].default for name in _LIMITS & known.keys())


def _in_terms_of(estimator: Any, advice: Advice) -> Advice:
    """The same where the estimator always prunes, and has no parameter for it."""
    if "pruning" in inspect.signature(type(estimator)).parameters:
        return advice
    return replace(advice, in_python="try DecisionTreeClassifier, which prunes only where it is told to")
