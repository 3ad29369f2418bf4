"""One tree of a LightGBM model as a `Tree`, read from the text of the model."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright._arrays import Flags, Floats, Ints
from treewright._suggestions import checked_keywords
from treewright.converting import foreign_trees as foreign
from treewright.converting.foreign_trees import Categories, Columns, Nodes
from treewright.tree import Tree


@checked_keywords
def from_lightgbm(
    model: Any, *, tree: int = 0, data: Any = None, categories: Categories | None = None
) -> Tree:
    """One tree of a LightGBM booster as a tree of raw scores, which sends rows to the same leaf.

    Parameters
    ----------
    model : lightgbm.Booster, LGBMModel
        The booster, or a fitted wrapper of it.
    tree : int
        The index of the tree.
    data : Dataset, tuple (table, target) or (table, target, weight), optional
        Rows to recount; the target may be None. By default leaves have the rows that LightGBM counted, and
        deviations are between their scores.
    categories : dict, optional
        The categories of columns, in the order of their codes. By default those of pandas' columns, by name,
        or else the whole numbers that the booster knows.

    Returns
    -------
    Tree
        Its predictions are the scores of the leaves, which contain the learning rate. Categories unknown to
        the booster go to the heavier side, as in every `Tree`; LightGBM sends them right.

    Examples
    --------
    >>> import lightgbm, numpy as np  # doctest: +SKIP
    >>> rows = lightgbm.Dataset(np.arange(100.0)[:, None], np.arange(100) > 50)  # doctest: +SKIP
    >>> booster = lightgbm.train({"objective": "binary", "verbose": -1}, rows, 1)  # doctest: +SKIP
    >>> from_lightgbm(booster).n_leaves == booster.trees_to_dataframe().split_feature.isna().sum()
    ... # doctest: +SKIP
    True
    """
    booster = _booster(model)
    foreign.check_number(tree, booster.num_trees())
    per_iteration = booster.num_model_per_iteration()
    text = booster.model_to_string(num_iteration=1, start_iteration=tree // per_iteration)
    head, *blocks = text.split("\nTree=")
    block = _fields(blocks[tree % per_iteration].partition("\n\n")[0])
    if block.get("is_linear", "0") != "0":
        raise ValueError(f"tree {tree} of this model has linear leaves; a Tree answers one number per leaf")
    columns = _columns(_fields(head), booster, categories)
    return foreign.tree_of_scores(_nodes(block, columns, tree), columns.columns, data)


def _booster(model: Any) -> Any:
    if hasattr(model, "model_to_string"):
        return model
    if getattr(model, "_Booster", None) is not None:
        return model.booster_
    if hasattr(model, "booster_") or hasattr(type(model), "booster_"):
        raise TypeError(f"this {type(model).__name__} is not fitted yet; call fit first")
    raise TypeError(f"a LightGBM booster or a fitted model is wanted here, not a {type(model).__name__}")


def _fields(text: str) -> dict[str, str]:
    parts = (line.partition("=") for line in text.splitlines())
    return {name: value for name, _, value in parts}


def _columns(head: dict[str, str], booster: Any, categories: Categories | None) -> Columns:
    infos = head["feature_infos"].split(" ")
    codes = {  # "[": numbers, "none": constant; the code -1 is for other categories
        j: {code for code in map(int, info.split(":")) if code >= 0}
        for j, info in enumerate(infos)
        if info[:1] not in ("[", "n")
    }
    kept, names = booster.pandas_categorical or [], booster.feature_name()
    if kept and len(kept) == len(codes):
        return Columns.of(names, codes, dict(zip(codes, kept, strict=True)), categories)
    if kept and any(names[j] not in (categories or {}) for j in codes):
        raise ValueError(
            "pandas' categories cannot be matched to the columns of this model, some of which are constant: "
            "name them by categories="
        )
    return Columns.of(names, codes, {}, categories)


def _nodes(block: dict[str, str], columns: Columns, tree: int) -> Nodes:
    """The branches of a tree, and after them its leaves."""
    n_leaves = int(block["num_leaves"])
    n_branches = n_leaves - 1
    value = _numbers(block, "leaf_value")
    count = _numbers(block, "leaf_count") if block.get("leaf_count") else np.ones(n_leaves)
    if n_leaves == 1:
        count = np.maximum(count, 1.0)
    if not (count > 0).all():
        raise ValueError(f"tree {tree} has a leaf without rows, which a Tree cannot")
    leaves = n_branches + np.arange(n_leaves)
    names = ("split_feature", "decision_type", "left_child", "right_child")
    whole = {name: _numbers(block, name).astype(np.int64) for name in names}
    threshold = _numbers(block, "threshold")
    no_leaf = np.full(n_leaves, -1)
    children = [
        np.concatenate([np.where(whole[side] < 0, n_branches + ~whole[side], whole[side]), no_leaf])
        for side in ("left_child", "right_child")
    ]
    return Nodes(
        left=children[0],
        right=children[1],
        feature=np.concatenate([whole["split_feature"], no_leaf]),
        threshold=np.concatenate([threshold, np.full(n_leaves, np.nan)]),
        missing_left=np.concatenate([_missing_left(whole, threshold, columns), no_leaf > 0]),
        rows=np.concatenate([np.zeros(n_branches), count]),
        statistic=foreign.scores(value, count, n_branches + n_leaves, leaves),
        lefts=_lefts(block, whole, threshold, columns),
    )


def _numbers(block: dict[str, str], name: str) -> Floats:
    return np.array(block.get(name, "").split(), np.float64)


def _missing_left(whole: dict[str, Ints], threshold: Floats, columns: Columns) -> Flags:
    """Whether NaN goes left: by the default direction, or like 0 if there was none to learn from."""
    kind = whole["decision_type"]
    is_category, default_left, missing = kind & 1 > 0, kind & 2 > 0, kind >> 2 & 3
    zero_is_missing = ~is_category & (missing == 1)
    if zero_is_missing.any():
        name = columns.columns[whole["split_feature"][np.argmax(zero_is_missing)]].name
        raise ValueError(
            f"this model takes 0 for a missing value in column {name!r} (zero_as_missing); a Tree does not"
        )
    return ~is_category & np.where(missing == 2, default_left, threshold >= 0.0)


def _lefts(
    block: dict[str, str],
    whole: dict[str, Ints],
    threshold: Floats,
    columns: Columns,
) -> dict[int, frozenset[int]]:
    """The positions of the categories that go left at each test of categories, from LightGBM's bits."""
    tests = np.flatnonzero(whole["decision_type"] & 1)
    if not tests.size:
        return {}
    borders = _numbers(block, "cat_boundaries").astype(np.int64)
    words = _numbers(block, "cat_threshold").astype(np.uint32)
    lefts = {}
    for node in tests.tolist():
        which = int(threshold[node])
        bits = np.unpackbits(words[borders[which] : borders[which + 1]].view(np.uint8), bitorder="little")
        j = int(whole["split_feature"][node])
        lefts[node] = columns.positions(j, np.flatnonzero(bits).tolist())
    return lefts
