"""A tree of scikit-learn as a `Tree`, which sends every row to the same leaf, and the reverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright._arrays import Floats
from treewright._suggestions import checked_keywords
from treewright.converting.float32_thresholds import Rows, check_rows, thresholds
from treewright.converting.foreign_trees import Nodes, assemble, check_number, recount, scores, tree_of_scores
from treewright.converting.lightgbm import from_lightgbm
from treewright.converting.xgboost import from_xgboost
from treewright.encoding.columns import plain_columns
from treewright.encoding.schema import Column, Schema, Target
from treewright.tree import Tree
from treewright.tree.missing import refuse_sending
from treewright.tree.shortcuts import as_tree, refuse_holder

CRITERIA = {"log_loss": "entropy", "friedman_mse": "squared_error"}  # with another name here


@checked_keywords
def from_sklearn(model: Any, *, tree: int = 0, data: Any = None, rows: Rows = "float64") -> Tree:
    """A fitted tree of scikit-learn as a `Tree`: to prune, certify, explain, report, save and export it.

    scikit-learn rounds tables to float32 and compares these numbers with its thresholds. The thresholds of
    the tree make the same decisions for float64 numbers.

    Parameters
    ----------
    model : estimator
        A fitted decision tree or extra tree, classifier or regressor, with one target or several; one of the
        trees of a forest (``forest.estimators_[0]``); a HistGradientBoosting model without categories; the
        scikit-learn wrappers of LightGBM and XGBoost.
    tree : int
        The index of the tree in a model of boosted trees.
    data : Dataset, tuple (table, target) or (table, target, weight), optional
        Rows to recount, usually those of the fit. By default rows and weights are those in the model, and the
        impurity of a regressor of several targets is divided evenly among them.
    rows : {"float64", "float32"}
        The type of tables for the tree. For float32 there are many thresholds with the same decisions, and
        the shortest decimals are chosen.

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
    library = type(model).__module__.partition(".")[0]
    if library == "lightgbm":
        return from_lightgbm(model, tree=tree, data=data)
    if library == "xgboost":
        return from_xgboost(model, tree=tree, data=data, rows=rows)
    converted = getattr(model, "model_", None)  # an estimator of treewright
    if not isinstance(converted, Tree):
        converted = _from_boosting(model, tree) if hasattr(model, "_predictors") else _single(model, rows)
    return converted if data is None else recount(converted, data)


def to_sklearn(model: Any, *, rows: Rows = "float64") -> Any:
    """A tree as a fitted `DecisionTreeClassifier` or `DecisionTreeRegressor` of scikit-learn itself.

    scikit-learn rounds every table to float32 before it compares, and refuses infinite numbers.

    Parameters
    ----------
    model : Tree or fitted estimator
        The tree; it must test numbers and times only (times as microseconds since 1970).
    rows : {"float64", "float32"}
        For tables of float32 the predictions are the same to the last bit. For those of float64 they are,
        except for a number above a threshold that rounds to the same float32.

    Returns
    -------
    estimator
        With the same nodes under the same numbers.

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
    refuse_sending(as_tree(model), "scikit-learn's trees send missing values to one side;")
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
        refuse_holder(name)
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
        return plain_columns(int(model.n_features_in_))
    return tuple(Column(str(name)) for name in names)


def _targets(classes: Any, n_targets: int) -> tuple[Target, ...]:
    several = [classes] if n_targets == 1 else classes or [None] * n_targets
    names = ["y"] if n_targets == 1 else [f"y{i}" for i in range(n_targets)]
    return tuple(
        Target(name, None if labels is None else tuple(np.asarray(labels).tolist()))
        for name, labels in zip(names, several, strict=True)
    )


def _weights(inner: Any, schema: Schema) -> Floats:
    """The weight of each class at each node: counts, unless rounding of the shares cannot explain it."""
    total = inner.weighted_n_node_samples
    blocks = [inner.value[:, i, :width] * total[:, np.newaxis] for i, width in enumerate(schema.block_widths)]
    weights: Floats = np.concatenate(blocks, axis=1)
    counts = np.rint(weights)
    is_count = np.array_equal(total, inner.n_node_samples) and np.allclose(weights, counts, rtol=0, atol=1e-6)
    return counts if is_count else weights


def _moments(inner: Any) -> Floats:
    """(weight, value, deviation) of each target at each node."""
    weight: Floats = inner.weighted_n_node_samples
    blocks = [np.stack([weight, value, inner.impurity * weight]) for value in inner.value[:, :, 0].T]
    return np.concatenate(blocks).T


def _from_boosting(model: Any, tree: int) -> Tree:
    """One tree of a HistGradientBoosting model, which compares in float64."""
    predictors = [predictor for stage in model._predictors for predictor in stage]
    check_number(tree, len(predictors))
    if model.is_categorical_ is not None and model.is_categorical_.any():
        raise ValueError(
            "this HistGradientBoosting model has categories, which it routes as no Tree can; "
            "only models of numbers can be converted"
        )
    table = predictors[tree].nodes
    leaves = np.flatnonzero(table["is_leaf"])
    nodes = Nodes(
        left=np.where(table["is_leaf"], -1, table["left"].astype(np.int64)),
        right=np.where(table["is_leaf"], -1, table["right"].astype(np.int64)),
        feature=table["feature_idx"],
        threshold=table["num_threshold"].astype(np.float64),
        missing_left=table["missing_go_to_left"].astype(np.bool_),
        rows=table["count"].astype(np.int64),
        statistic=scores(table["value"][leaves], table["count"][leaves], len(table), leaves),
    )
    return tree_of_scores(nodes, _columns(model))
