"""A treewright tree as scikit-learn's own `Tree`, for programs that read its arrays.

scikit-learn offers no public way to make a `Tree`; the state that it writes when pickled is used instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn.tree
from numpy.typing import NDArray
from sklearn.tree._tree import NODE_DTYPE, TREE_LEAF, TREE_UNDEFINED
from sklearn.tree._tree import Tree as SklearnTree

from treewright.tree.missing import sent_by_others
from treewright.tree.oblique import only_columns
from treewright.tree.tree import Tree, as_array

_NODES_AT_ONCE = 4096
_CLASS_CRITERIA = "gini", "entropy"
_NUMBER_CRITERIA = "squared_error", "absolute_error", "poisson"


def sklearn_tree(tree: Tree, cast_rows: bool = True) -> SklearnTree:
    """The same tree as scikit-learn's `Tree`, with the same node numbers.

    scikit-learn and most readers of its trees cast the rows to float32. The thresholds are set such that rows
    cast that way go where they went before (see `float32_proof`), except where two numbers of a column differ
    in float64 only. Where the rows are float32 from the start (`cast_rows` is False), the thresholds stay as
    they are, and no row goes elsewhere. Its table of nodes by classes is scikit-learn's: with thousands of
    classes it takes gigabytes, which is why it is made on demand only.

    Raises
    ------
    AttributeError
        If a node tests a category or a sum: scikit-learn's arrays have thresholds of single columns only.
    """
    _refuse_what_arrays_lack(tree)
    schema = tree.schema
    widths = schema.block_widths if schema.predicts_classes else (1,) * len(schema.targets)
    view = SklearnTree(len(schema.columns), np.array(widths, dtype=np.intp), len(widths))
    view.__setstate__(
        {
            "max_depth": tree.depth,
            "node_count": tree.n_nodes,
            "nodes": _nodes(tree, cast_rows),
            "values": _values(tree, max(widths)),
        }
    )
    return view


def float32_proof(threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """Thresholds that send a number cast to float32 where the given ones send the number itself.

    Rounding keeps the order: x <= t implies float32(x) <= float32(t). So the larger of t and float32(t) lets
    pass whatever t lets pass, cast or not; numbers above t are stopped, unless they round to float32(t).

    >>> float32_proof(np.array([0.1, 0.7, 0.5]))  # 0.1 is above itself once cast, 0.7 below
    array([0.1, 0.7, 0.5])
    >>> float32_proof(np.array([0.1, 0.7, 0.5])) > np.array([0.1, 0.7, 0.5])
    array([ True, False, False])
    """
    with np.errstate(over="ignore"):  # beyond float32 the cast is infinite; then the threshold itself is used
        cast = threshold.astype(np.float32).astype(np.float64)
    return np.where(np.isfinite(cast), np.maximum(threshold, cast), threshold)


def sklearn_model(tree: Tree, cast_rows: bool = True) -> Any:
    """The same tree as a fitted estimator of scikit-learn; `cast_rows` as in `sklearn_tree`."""
    schema = tree.schema
    only_columns(tree, "scikit-learn's trees test one column at a time")
    try:
        view = sklearn_tree(tree, cast_rows)
    except AttributeError:
        name = schema.columns[int(tree.feature[tree.subset >= 0][0])].name
        raise ValueError(
            f"the tree tests the categories of column {name!r}, and scikit-learn's trees know thresholds only"
        ) from None
    if schema.predicts_classes:
        leaves = np.flatnonzero(tree.is_leaf)
        heaviest = np.stack([shares.argmax(axis=1) for shares in tree.shares(leaves)], axis=1)
        if not np.array_equal(heaviest, tree.label[leaves]):
            raise ValueError(
                "costs make a leaf predict another class than its heaviest, which scikit-learn cannot; "
                "tree.with_costs() is the tree without costs"
            )
    known = _CLASS_CRITERIA if schema.predicts_classes else _NUMBER_CRITERIA
    kind = (
        sklearn.tree.DecisionTreeClassifier if schema.predicts_classes else sklearn.tree.DecisionTreeRegressor
    )
    model = kind(criterion=tree.criterion if tree.criterion in known else known[0])
    model.n_features_in_ = model.max_features_ = len(schema.columns)
    model.n_outputs_ = len(schema.targets)
    if any(name != f"x{j}" for j, name in enumerate(schema.names)):
        model.feature_names_in_ = np.array(schema.names, object)
    if schema.predicts_classes:
        classes = [as_array(target.classes or ()) for target in schema.targets]
        sizes = np.array([len(labels) for labels in classes], np.intp)
        single = len(classes) == 1
        model.classes_, model.n_classes_ = (classes[0], sizes[0]) if single else (classes, sizes)
    model.tree_ = view
    return model


def _refuse_what_arrays_lack(tree: Tree) -> None:
    try:
        only_columns(tree, "scikit-learn's arrays know one column at a time. Use model_, the tree itself")
    except ValueError as error:
        raise AttributeError(f"tree_ is not available: {error}") from None
    tested = tree.feature[tree.subset >= 0]
    if tested.size:
        name = tree.schema.columns[int(tested[0])].name
        raise AttributeError(
            f"tree_ is not available: the tree tests the categories of column {name!r}, and scikit-learn's "
            f"arrays know thresholds only. Use model_, the tree itself, or make {name!r} numbers first"
        )


def _nodes(tree: Tree, cast_rows: bool) -> NDArray[Any]:
    if sent_by_others(tree):
        raise AttributeError(
            "tree_ is not available: surrogates decide where missing values go, or rows are divided, and "
            "scikit-learn's arrays know one side. Use model_, the tree, or model_.with_missing('learn')"
        )
    leaf = tree.is_leaf
    threshold = float32_proof(tree.threshold) if cast_rows else tree.threshold
    nodes = np.zeros(tree.n_nodes, dtype=NODE_DTYPE)
    nodes["left_child"] = np.where(leaf, TREE_LEAF, tree.left)
    nodes["right_child"] = np.where(leaf, TREE_LEAF, tree.right)
    nodes["feature"] = np.where(leaf, TREE_UNDEFINED, tree.feature)
    nodes["threshold"] = np.where(leaf, TREE_UNDEFINED, threshold)
    nodes["impurity"] = tree.risk / tree.weight
    nodes["n_node_samples"] = tree.rows
    nodes["weighted_n_node_samples"] = tree.weight
    nodes["missing_go_to_left"] = np.where(leaf, False, tree.missing_left)
    return nodes


def _values(tree: Tree, width: int) -> NDArray[np.float64]:
    """Per node and target the proportions of the classes (and zeros up to the most classes) or the number."""
    if not tree.schema.predicts_classes:
        return np.ascontiguousarray(tree.value, dtype=np.float64)[:, :, np.newaxis]
    values = np.zeros((tree.n_nodes, len(tree.schema.targets), width))
    for begin in range(0, tree.n_nodes, _NODES_AT_ONCE):  # the answer is large enough where classes are many
        nodes = np.arange(begin, min(begin + _NODES_AT_ONCE, tree.n_nodes))
        for target, shares in enumerate(tree.shares(nodes)):
            values[nodes, target, : shares.shape[1]] = shares
    return values
