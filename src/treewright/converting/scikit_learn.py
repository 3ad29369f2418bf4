"""A tree of scikit-learn as ours, which sends every row to the same leaf; and ours as one of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.converting.float32_thresholds import Rows, check_rows, thresholds
from treewright.converting.foreign_trees import Nodes, assemble, check_number, recount, scores, tree_of_scores
from treewright.converting.lightgbm import from_lightgbm
from treewright.converting.xgboost import from_xgboost
from treewright.encoding.schema import Column, Schema, Target
from treewright.tree import Tree
from treewright.tree.missing import refuse_sending
from treewright.tree.shortcuts import as_tree

Floats = NDArray[np.float64]
CRITERIA = {"log_loss": "entropy", "friedman_mse": "squared_error"}  # that have another name here


def from_sklearn(model: Any, *, tree: int = 0, data: Any = None, rows: Rows = "float64") -> Tree:
    """A fitted tree of scikit-learn as a `Tree`: to prune, certify, explain, report, save and export it.

    scikit-learn rounds tables to float32 and compares these numbers with its thresholds. The thresholds of
    the tree are chosen such that numbers of float64 are decided alike without being rounded.

    Parameters
    ----------
    model : estimator
        A fitted decision tree or extra tree, classifier or regressor, with one target or several; one of the
        trees of a forest (``forest.estimators_[0]``); a HistGradientBoosting model without categories; the
        scikit-learn wrappers of LightGBM and XGBoost.
    tree : int
        Which tree, of a model of boosted trees.
    data : (table, target) or (table, target, weight), optional
        Rows to count again, usually those of the fit. Without them rows and weights are those that
        scikit-learn kept, and where a regressor has several targets its impurity is shared out evenly.
    rows : {"float64", "float32"}
        What tables the tree is for. For those of float32 many thresholds decide alike, and the roundest are
        taken, which read better.

    Returns
    -------
    Tree
        A tree of classes or numbers; of a boosted model one of raw scores, before they are added up.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(*load_iris(return_X_y=True))
    >>> print(from_sklearn(model, rows="float32"))
    150 rows
    ├─ x3 <= 0.80000004   0   50 rows    100 %
    └─ x3 > 0.80000004
       ├─ x3 <= 1.75      1   54 rows   90.7 %
       └─ x3 > 1.75       2   46 rows   97.8 %
    """
    check_rows(rows)
    found = getattr(model, "model_", None)
    if isinstance(found, Tree):
        return found if data is None else recount(found, data)
    library = type(model).__module__.partition(".")[0]
    if library == "lightgbm":
        return from_lightgbm(model, tree=tree, data=data)
    if library == "xgboost":
        return from_xgboost(model, tree=tree, data=data, rows=rows)
    made = _boosted(model, tree) if hasattr(model, "_predictors") else _single(model, rows)
    return made if data is None else recount(made, data)


def to_sklearn(model: Any, *, rows: Rows = "float64") -> Any:
    """A tree as a fitted `DecisionTreeClassifier` or `DecisionTreeRegressor` of scikit-learn itself.

    scikit-learn rounds every table to float32 before it compares, and refuses infinite numbers.

    Parameters
    ----------
    model : Tree or fitted estimator
        The tree; it must test numbers and times only (times as microseconds since 1970).
    rows : {"float64", "float32"}
        For tables of float32 the answers are the same to the last bit. For those of float64 they are, except
        for a number that lies above a threshold but rounds to the same float32 as it.

    Returns
    -------
    estimator
        With the same nodes under the same numbers, so that whatever reads scikit-learn's trees reads it.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> model = to_sklearn(tree)
    >>> model
    DecisionTreeClassifier()
    >>> model.tree_.threshold[0].item()
    2.5
    """
    from treewright.estimators.sklearn_view import sklearn_model

    check_rows(rows)
    refuse_sending(as_tree(model), "scikit-learn's trees know one side only;")
    return sklearn_model(as_tree(model), cast_rows=rows == "float64")


def _single(model: Any, rows: Rows) -> Tree:
    """A tree that is a model of its own."""
    inner = getattr(model, "tree_", None)
    if inner is None or not hasattr(inner, "children_left"):
        name = type(model).__name__
        if hasattr(model, "estimators_"):
            raise TypeError(f"a {name} has many trees; give one of them: model.estimators_[0]")
        if hasattr(model, "fit") and "Tree" in name:
            raise TypeError(f"this {name} is not fitted yet; call fit first")
        raise TypeError(f"a fitted tree of scikit-learn, LightGBM or XGBoost is wanted here, not a {name}")
    classes = getattr(model, "classes_", None)
    schema = Schema(_columns(model), _targets(classes, inner.n_outputs))
    nodes = Nodes(
        left=inner.children_left,
        right=inner.children_right,
        feature=inner.feature,
        threshold=thresholds(inner.threshold, rows),
        missing_left=np.asarray(inner.missing_go_to_left, np.bool_),
        rows=inner.n_node_samples,
        statistic=_moments(inner) if classes is None else _weights(inner, schema),
    )
    return assemble(nodes, schema, CRITERIA.get(model.criterion, model.criterion))


def _columns(model: Any) -> tuple[Column, ...]:
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"x{j}" for j in range(int(model.n_features_in_))]
    return tuple(Column(str(name)) for name in names)


def _targets(classes: Any, n_targets: int) -> tuple[Target, ...]:
    several = [classes] if n_targets == 1 else classes or [None] * n_targets
    names = ["y"] if n_targets == 1 else [f"y{i}" for i in range(n_targets)]
    return tuple(
        Target(name, None if labels is None else tuple(np.asarray(labels).tolist()))
        for name, labels in zip(names, several, strict=True)
    )


def _weights(inner: Any, schema: Schema) -> Floats:
    """The weight of each class at each node; scikit-learn keeps shares, which need not give back counts."""
    total = inner.weighted_n_node_samples
    blocks = [inner.value[:, i, :width] * total[:, np.newaxis] for i, width in enumerate(schema.block_widths)]
    weights: Floats = np.concatenate(blocks, axis=1)
    counts = np.rint(weights)
    is_count = np.array_equal(total, inner.n_node_samples) and np.allclose(weights, counts, rtol=0, atol=1e-6)
    return counts if is_count else weights


def _moments(inner: Any) -> Floats:
    """(weight, value, deviation) of each target at each node."""
    weight: Floats = inner.weighted_n_node_samples
    blocks = [
        np.stack([weight, inner.value[:, i, 0], inner.impurity * weight], axis=1)
        for i in range(inner.n_outputs)
    ]
    return np.concatenate(blocks, axis=1)


def _boosted(model: Any, tree: int) -> Tree:
    """One tree of a HistGradientBoosting model: in float64 already."""
    predictors = [predictor for stage in model._predictors for predictor in stage]
    check_number(tree, len(predictors))
    if model.is_categorical_ is not None and model.is_categorical_.any():
        raise ValueError(
            "this HistGradientBoosting model has categories, which it sends elsewhere than a Tree can; "
            "only models of numbers can be converted"
        )
    found = predictors[tree].nodes
    leaves = np.flatnonzero(found["is_leaf"])
    nodes = Nodes(
        left=np.where(found["is_leaf"], -1, found["left"].astype(np.int64)),
        right=np.where(found["is_leaf"], -1, found["right"].astype(np.int64)),
        feature=found["feature_idx"],
        threshold=found["num_threshold"].astype(np.float64),
        missing_left=found["missing_go_to_left"].astype(np.bool_),
        rows=found["count"].astype(np.int64),
        statistic=scores(found["value"][leaves], found["count"][leaves], len(found), leaves),
    )
    return tree_of_scores(nodes, _columns(model))
