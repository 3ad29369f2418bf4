"""Readable thresholds, and the `Tree` made from the arrays that the core returns.

The core returns each split as a gap between two neighbouring values; a threshold is a number in this gap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from treewright import _core
from treewright._arrays import Floats, Int32s
from treewright.encoding import Dataset
from treewright.encoding.schema import Missing, Schema
from treewright.tree import Tree
from treewright.tree.class_counts import SparseRows
from treewright.tree.oblique import Direction, provenance
from treewright.tree.surrogates import Surrogates

Threshold = Literal["readable", "midpoint"]


def tree_from_core(
    grown: _core.GrownTree, data: Dataset, criterion: str, threshold: Threshold, missing: Missing
) -> Tree:
    """The tree of the arrays that `_core.grow` returns."""
    directions = tuple(Direction.of(*direction) for direction in grown["directions"])
    return Tree(
        **_arrays(grown, ("end", "feature", "subset", "step", "rows", "subsets")),
        threshold=thresholds_in_gaps(grown["feature"], grown["low"], grown["high"], data, threshold),
        missing_left=grown["missing_left"].view(np.bool_),
        statistic=_statistic(grown, data.schema),
        schema=data.schema,
        criterion=criterion,
        missing=missing,
        directions=directions,
        provenance=provenance(data, directions),
    )


def constrained_tree_from_core(
    grown: _core.CarefullyGrownTree, data: Dataset, criterion: str, threshold: Threshold, missing: Missing
) -> Tree:
    """The tree of the arrays of the constrained grower: multiway splits and surrogates in addition."""
    gaps = grown["surrogate_feature"], grown["surrogate_low"], grown["surrogate_high"]
    surrogates = Surrogates(
        **_arrays(grown, ("node", "feature", "subset", "agreement", "adjusted", "subsets"), "surrogate_"),
        threshold=thresholds_in_gaps(*gaps, data, threshold),
        reversed=grown["surrogate_reversed"].view(np.bool_),
    )
    tree = tree_from_core(grown, data, criterion, threshold, missing)
    return replace(tree, joined=grown["joined"].view(np.bool_), surrogates=surrogates)


def _arrays(grown: Mapping[str, Any], names: tuple[str, ...], prefix: str = "") -> dict[str, Any]:
    return {name: grown[prefix + name] for name in names}


def _statistic(grown: _core.GrownTree, schema: Schema) -> Floats | SparseRows:
    if not schema.is_wide:
        return grown["statistic"]
    return SparseRows(grown["end"], grown["start"], grown["column"], grown["value"], schema.width)


def thresholds_in_gaps(
    feature: Int32s,
    low: Floats,
    high: Floats,
    data: Dataset,
    threshold: Threshold,
) -> Floats:
    """A threshold in each gap (low, high) of tests of the columns `feature`."""
    if threshold == "midpoint":
        return _core.midpoint(low, high)
    values = _core.readable(low, high)
    for j, kind in data.schema.own_thresholds:
        tests = feature == j
        if tests.any():
            values[tests] = kind.readable_thresholds(low[tests], high[tests])
    return values
