"""From the parameters of `grow` to plain options, and from these to the limits of the core."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from math import ceil, log2, sqrt
from typing import Any

import numpy as np

from treewright._arrays import Floats
from treewright.encoding import Dataset
from treewright.encoding.schema import Schema
from treewright.parameters.checks import is_int
from treewright.parameters.checks import n_threads as n_threads
from treewright.parameters.spec import Option
from treewright.parameters.tree import GROW
from treewright.parameters.values import Costs, FeatureCosts, Gain, Oblique, Surrogates
from treewright.tree.costs import with_emphasis

ROW_LIMITS = {"min_samples_split", "min_samples_leaf"}  # whole numbers, or fractions of all rows
WEIGHT_LIMITS = {  # fractions of the total weight, and the options that have them in its units
    "min_weight_fraction_leaf": "_min_weight_leaf",
    "min_impurity_decrease": "_min_gain",
}
_LARGEST_LIMIT = 2**62
_RESOLVE = {name: each.resolve for name, each in GROW.items() if each.resolve is not None}
_DEFAULTS: dict[str, Any] = {
    **Surrogates().keywords(),
    **Oblique().keywords(),
    **Gain().keywords(),
    **Costs().keywords(),
    **FeatureCosts().keywords(),
    **{name: each.default for name, each in GROW.items()},
    "max_splits": None,
    "_small_rows": 0,
    "_word_rows": 0,
    "_constraints": None,
}
_NO_CORRECTION, _BY_WEIGHT, _BY_ROWS = range(3)  # of the gains of categories, as the core has them


def core_options(options: Mapping[str, Any], data: Dataset) -> dict[str, Any]:
    """The parameters of `grow` with option values as plain entries, and with fractions as counts.

    >>> from treewright import encode
    >>> from treewright.parameters import Surrogates
    >>> data = encode([[1.0], [2.0], [3.0]], [0, 1, 1])
    >>> plain = core_options({"missing": Surrogates(3), "min_samples_leaf": 0.5}, data)
    >>> plain["missing"], plain["n_surrogates"], plain["min_samples_leaf"]
    ('surrogate', 3, 2)
    """
    plain = in_units({**_DEFAULTS, **options}, data.n_counted, data.total_weight)
    for name, resolve in _RESOLVE.items():
        if plain[name] is not _DEFAULTS[name]:
            value = resolve(plain[name])
            if isinstance(value, Option):
                plain.update(value.keywords())
    if plain["max_leaf_nodes"] is not None:
        plain["max_splits"] = plain["max_leaf_nodes"] - 1
    return plain


def in_units(options: Mapping[str, Any], n_rows: int, weight: float) -> dict[str, Any]:
    """Options of `grow` for a part of some rows: fractions of all of them as rows and weights.

    >>> in_units({"min_samples_leaf": 0.5, "min_impurity_decrease": 0.1, "max_depth": 3}, 9, 20.0)
    {'min_samples_leaf': 5, 'max_depth': 3, '_min_gain': 2.0}
    """
    found = dict(options)
    for name in ROW_LIMITS & found.keys():
        found[name] = row_count(name, found[name], n_rows)
    for name, of_weight in WEIGHT_LIMITS.items():
        if name in found:
            found.setdefault(of_weight, float(found.pop(name)) * weight)
    return found


def row_count(name: str, value: int | float, n_rows: int) -> int:
    """The number of rows that `min_samples_split` or `min_samples_leaf` means; fractions are rounded up."""
    if is_int(value):
        return int(value)
    return max(2 if name == "min_samples_split" else 1, ceil(value * n_rows))


def n_features_drawn(max_features: Any, n_columns: int) -> int:
    """How many columns a node considers: scikit-learn's `max_features_`."""
    if max_features is None:
        return n_columns
    if max_features == "sqrt":
        return max(1, int(sqrt(n_columns)))
    if max_features == "log2":
        return max(1, int(log2(n_columns)))
    if is_int(max_features):
        return int(max_features)
    return max(1, int(max_features * n_columns))


def core_limits(options: Mapping[str, Any], data: Dataset) -> dict[str, Any]:
    """The limits among the options of `core_options`, by the names that the core has for them.

    The weights of `data` are those that the splits are chosen by.
    """
    schema = data.schema
    n_columns = len(schema.columns)
    drawn = n_features_drawn(options["max_features"], n_columns)
    by_gain = options["selection"] == "gain"  # otherwise the level is that of the tests that choose columns
    corrects = options["category_gain"] == "corrected"
    return {
        "max_depth": as_limit(options["max_depth"]),
        "max_splits": as_limit(options["max_splits"]),
        "min_rows_split": as_limit(options["min_samples_split"]),
        "min_rows_leaf": as_limit(options["min_samples_leaf"]),
        "min_weight_leaf": float(options["_min_weight_leaf"]),
        "min_gain": float(options["_min_gain"]),
        "max_columns": drawn if drawn < n_columns else 0,
        "seed": as_limit(options["random_state"]),
        "critical": _critical_values(options["significance"], schema) if by_gain else None,
        "correction": _correction(data) if by_gain and corrects else _NO_CORRECTION,
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
    """A table whose parts are grown on their own: they correct gains as the whole table does, even if all
    weights of a part happen to be whole numbers.

    >>> from treewright import encode
    >>> part = as_whole(encode([[1.0], [2.0], [3.0]], [0, 1, 1], weight=[0.5, 1.0, 2.0])).take([1, 2])
    >>> part.is_drawn
    True
    """
    by_rows = _correction(with_emphasis(data)) == _BY_ROWS
    return data.with_weight(data.weight, is_drawn=True) if by_rows else data


def as_limit(value: int | None) -> int:
    """A limit as the core takes it: -1 is none, and beyond any table all limits are the same."""
    return -1 if value is None else min(int(value), _LARGEST_LIMIT)


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


def _critical_values(significance: float | None, schema: Schema) -> Floats | None:
    """The least χ² that is significant, by degrees of freedom; None without a test."""
    if significance is None:
        return None
    if not schema.predicts_classes:
        raise ValueError("significance is for classes; the target is a number, for which there is no χ² test")
    from scipy.special import chdtri

    freedom = np.arange(1, sum(width - 1 for width in schema.block_widths) + 1)
    return np.concatenate([[0.0], chdtri(freedom, significance)])
