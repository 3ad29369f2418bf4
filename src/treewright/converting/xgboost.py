"""One tree of an XGBoost model as a `Tree`, read from the JSON of the model."""

from __future__ import annotations

import json
from collections.abc import Hashable
from itertools import pairwise
from typing import Any

import numpy as np

from treewright._suggestions import checked_keywords
from treewright.converting import foreign_trees as foreign
from treewright.converting.float32_thresholds import Rows, check_rows, thresholds
from treewright.converting.foreign_trees import Categories, Columns, Nodes
from treewright.tree import Tree


@checked_keywords
def from_xgboost(
    model: Any,
    *,
    rows: Rows = "float64",
    tree: int = 0,
    data: Any = None,
    categories: Categories | None = None,
) -> Tree:
    """One tree of an XGBoost booster as a tree of raw scores, which sends rows to the same leaf.

    XGBoost rounds tables to float32 and tests whether a number is less than another. The thresholds of the
    tree make the same decisions for float64 numbers.

    Parameters
    ----------
    model : xgboost.Booster, XGBModel
        The booster, or a fitted wrapper of it.
    rows : {"float64", "float32"}
        The type of tables for the tree. For float32 the shortest of equivalent thresholds are chosen.
    tree : int
        The index of the tree.
    data : Dataset, tuple (table, target) or (table, target, weight), optional
        Rows to recount; the target may be None. By default weights are XGBoost's sums of hessians, rows are
        these, rounded, and deviations are between the scores.
    categories : dict, optional
        The categories of columns, in the order of their codes. By default those in the booster, or else the
        whole numbers up to the largest in it.

    Returns
    -------
    Tree
        Its predictions are the scores of the leaves, without the base score. Categories unknown to the
        booster go to the heavier side, as in every `Tree`.

    Examples
    --------
    >>> import xgboost, numpy as np  # doctest: +SKIP
    >>> rows = xgboost.DMatrix(np.arange(100.0)[:, None], np.arange(100) > 50)  # doctest: +SKIP
    >>> booster = xgboost.train({"objective": "binary:logistic"}, rows, 1)  # doctest: +SKIP
    >>> print(from_xgboost(booster))  # doctest: +SKIP
    """
    check_rows(rows)
    booster = _booster(model)
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    boosted = learner["gradient_booster"]
    if boosted["name"] != "gbtree":
        raise ValueError(f"this booster is a {boosted['name']}; only those of kind gbtree can be converted")
    trees = boosted["model"]["trees"]
    foreign.check_number(tree, len(trees))
    if int(trees[tree]["tree_param"].get("size_leaf_vector", 1)) > 1:
        raise ValueError(f"tree {tree} of this model predicts several targets; a Tree of scores has one")
    columns = _columns(learner, trees, categories)
    return foreign.tree_of_scores(_nodes(trees[tree], columns, rows), columns.columns, data)


def _booster(model: Any) -> Any:
    if hasattr(model, "save_raw"):
        return model
    if not hasattr(model, "get_booster"):
        raise TypeError(f"an XGBoost booster or a fitted model is wanted here, not a {type(model).__name__}")
    if not model.__sklearn_is_fitted__():
        raise TypeError(f"this {type(model).__name__} is not fitted yet; call fit first")
    missing = getattr(model, "missing", np.nan)
    if missing is not None and not np.isnan(missing):
        raise ValueError(f"this model takes {missing!r} for a missing value; a Tree takes only NaN for one")
    return model.get_booster()


def _columns(learner: dict[str, Any], trees: list[dict[str, Any]], categories: Categories | None) -> Columns:
    n_columns = int(learner["learner_model_param"]["num_feature"])
    names = learner.get("feature_names") or [f"x{j}" for j in range(n_columns)]
    types = learner.get("feature_types") or ()
    codes: dict[int, set[int]] = {j: set() for j, kind in enumerate(types) if kind == "c"}
    for tree in trees:
        for node, segment in _segments(tree).items():
            codes.setdefault(tree["split_indices"][node], set()).update(segment)
    encodings = (learner["gradient_booster"]["model"].get("cats") or {}).get("enc") or ()
    others = {j: encoding for j, encoding in enumerate(encodings) if names[j] not in (categories or {})}
    kept = {j: _category_names(encoding, names[j]) for j, encoding in others.items() if j in codes}
    return Columns.of(names, codes, {j: labels for j, labels in kept.items() if labels}, categories)


def _category_names(encoding: dict[str, Any], name: str) -> list[Hashable]:
    """The categories of a column of a frame in the booster: texts as bytes one after the other."""
    values = encoding.get("values", [])
    if "offsets" not in encoding:
        return list(values)
    text, borders = bytes(value % 256 for value in values), encoding["offsets"]
    if not text.isascii():  # XGBoost counts characters instead of bytes, and loses the rest
        raise ValueError(
            f"XGBoost does not keep categories beyond ASCII as they were, and column {name!r} has some: "
            "name them, in the order of their codes, by categories="
        )
    return [text[a:b].decode() for a, b in pairwise(borders)]


def _segments(tree: dict[str, Any]) -> dict[int, list[int]]:
    """The categories that go right at each test of categories."""
    parts = zip(tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True)
    return {node: tree["categories"][start : start + size] for node, start, size in parts}


def _nodes(tree: dict[str, Any], columns: Columns, rows: Rows) -> Nodes:
    left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
    leaves = np.flatnonzero(left < 0)
    feature = np.array(tree["split_indices"])
    number = np.array(tree["split_conditions"], np.float32)  # of a leaf: its score
    with np.errstate(over="ignore"):
        below = np.nextafter(number, np.float32(-np.inf))  # less than a number: at most the one before it
    weight = np.array(tree["sum_hessian"], np.float64)
    lefts = {}
    for node, codes in _segments(tree).items():
        j = int(feature[node])
        every = frozenset(range(len(columns.columns[j].categories)))
        lefts[node] = every - columns.positions(j, codes)
    if not (weight[leaves] > 0).all():
        raise ValueError("a leaf of this tree has no weight (its hessians add up to 0), which a Tree cannot")
    return Nodes(
        left=left,
        right=right,
        feature=feature,
        threshold=thresholds(below, rows),
        missing_left=np.array(tree["default_left"], np.bool_),
        rows=np.rint(weight),
        statistic=foreign.scores(number[leaves].astype(np.float64), weight[leaves], len(left), leaves),
        lefts=lefts,
    )
