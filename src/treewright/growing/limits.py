"""Limits and levels as users give them: checked, and in the terms of the core."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.encoding.schema import Schema
from treewright.tree.costs import with_emphasis

_LARGEST_LIMIT = 2**62
_MOST_THREADS = 256
_NO_CORRECTION, _BY_WEIGHT, _BY_ROWS = range(3)  # of the gains of categories, as the core has them


def n_threads(n_jobs: int | None) -> int:
    """The number of threads that scikit-learn's `n_jobs` means: None is 1, -1 all cores, -2 all but one.

    >>> n_threads(None), n_threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    jobs = whole_number("n_jobs", n_jobs, -_LARGEST_LIMIT)
    if jobs == 0:
        raise ValueError("n_jobs is 0; it must be a positive number, or negative to count from all cores")
    return min(jobs, _MOST_THREADS) if jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + jobs)


def core_limits(given: Mapping[str, Any], data: Dataset) -> dict[str, Any]:
    """The limits among the parameters of `grow`, checked, by the names that the core has for them.

    The weights of `data` are those that the splits are chosen by.
    """
    schema = data.schema
    tests = given["selection"] == "gain"  # else the level is that of the tests that choose columns
    corrects = given["category_gain"] == "corrected"
    return {
        "max_depth": _limit("max_depth", given["max_depth"], 0),
        "max_splits": split_budget(given["max_leaf_nodes"], given["max_splits"]),
        "min_rows_split": whole_number("min_samples_split", given["min_samples_split"], 1),
        "min_rows_leaf": whole_number("min_samples_leaf", given["min_samples_leaf"], 1),
        "min_weight_leaf": non_negative("min_weight_leaf", given["min_weight_leaf"]),
        "min_gain": non_negative("min_gain", given["min_gain"]),
        "max_columns": _drawn_columns(given["max_features"], len(schema.columns)),
        "seed": whole_number("seed", given["seed"], 0),
        "critical": _critical_values(given["significance"], schema) if tests else None,
        "correction": _correction(data) if tests and corrects else _NO_CORRECTION,
    }


def _correction(data: Dataset) -> int:
    """How the core corrects gains of categories for chance: by the weight of each category where all weights
    are whole, and so numbers of equal rows; by its rows where weights say how much a row counts, or how often
    it was drawn.

    Whole weights times a constant may therefore give another tree: three equal rows are more evidence than
    one row of weight 1.5. Plain gains, and tables without a column of three or more categories, have the same
    tree for weights times any power of two.
    """
    weight = data.weight
    whole = weight is None or not (data.is_drawn or (weight % 1).any())
    return _BY_WEIGHT if whole else _BY_ROWS


def as_whole(data: Dataset) -> Dataset:
    """A table of which parts are grown by themselves: they correct gains as the whole table does, even where
    all weights of a part are whole numbers by accident.

    >>> from treewright import encode
    >>> part = as_whole(encode([[1.0], [2.0], [3.0]], [0, 1, 1], weight=[0.5, 1.0, 2.0])).take([1, 2])
    >>> part.is_drawn
    True
    """
    by_rows = _correction(with_emphasis(data)) == _BY_ROWS
    return data.reweighted(data.weight, is_drawn=True) if by_rows else data


def _limit(name: str, value: int | None, least: int) -> int:
    """A whole number of at least `least`; -1 stands for None."""
    return -1 if value is None else whole_number(name, value, least)


def whole_number(name: str, value: int, least: int) -> int:
    """A whole number of at least `least`; beyond any table all limits are the same."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} is {value!r}; it must be a whole number") from None
    if number < least:
        raise ValueError(f"{name} is {number}; it must be at least {least}")
    return min(number, _LARGEST_LIMIT)


def non_negative(name: str, value: float) -> float:
    """A number of at least 0; ValueError names it."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not number >= 0:
        raise ValueError(f"{name} is {value!r}; it must be a number of at least 0")
    return number


def split_budget(max_leaf_nodes: int | None, max_splits: int | None) -> int:
    """The smaller of the two budgets in splits; -1 without one."""
    leaves = _limit("max_leaf_nodes", max_leaf_nodes, 1)
    budgets = [n for n in (leaves - 1 if leaves >= 0 else -1, _limit("max_splits", max_splits, 0)) if n >= 0]
    return min(budgets, default=-1)


def _drawn_columns(max_features: int | None, n_columns: int) -> int:
    """How many columns a node draws; 0 where it looks at all of them."""
    drawn = _limit("max_features", max_features, 1)
    return 0 if drawn < 0 or drawn >= n_columns else drawn


def _critical_values(significance: float | None, schema: Schema) -> NDArray[np.float64] | None:
    """The least χ² that is significant, by degrees of freedom; None without a test."""
    if significance is None:
        return None
    if not schema.predicts_classes:
        raise ValueError("significance is for classes; the target is a number, for which there is no χ² test")
    level = checked_level(significance)
    from scipy.special import chdtri

    freedom = np.arange(1, sum(width - 1 for width in schema.block_widths) + 1)
    return np.concatenate([[0.0], chdtri(freedom, level)])


def checked_level(significance: float) -> float:
    """A level of significance; ValueError where it is none."""
    try:
        level = float(significance)
    except (TypeError, ValueError):
        level = math.nan
    if not 0 < level <= 1:
        raise ValueError(f"significance is {significance!r}; it must be a number above 0 and at most 1")
    return level
