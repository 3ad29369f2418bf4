"""The constrained grower as tests call it: every keyword with a default, and the fast one with the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright import _core
from treewright.encoding import Dataset

LIMITS: dict[str, Any] = {
    "max_depth": -1,
    "max_splits": -1,
    "min_rows_split": 2,
    "min_rows_leaf": 1,
    "min_weight_leaf": 0.0,
    "min_gain": 0.0,
    "max_columns": 0,
    "seed": 0,
    "critical": None,
    "correction": 0,
    "n_threads": 1,
    "progress": None,
}
OPTIONS: dict[str, Any] = {
    "missing": "learn",
    "n_surrogates": 0,
    "monotone": None,
    "groups": None,
    "max_columns_used": -1,
    "prices": None,
    "costs": None,
    "multiway": False,
    "once": False,
    "release8": False,
}
Arrays = dict[str, Any]


def given(data: Dataset, criterion: str) -> dict[str, Any]:
    """What both growers take of a dataset."""
    assert data.targets is not None
    is_classes = data.schema.predicts_classes
    targets = np.ascontiguousarray(data.targets)
    return {
        "columns": data.columns,
        "n_categories": data.schema.category_counts,
        "labels": targets if is_classes else None,
        "n_classes": list(data.schema.block_widths) if is_classes else [],
        "numbers": None if is_classes else targets,
        "weight": data.weight,
        "criterion": criterion,
    }


def grow_constrained(data: Dataset, criterion: str, **options: Any) -> Arrays:
    """The constrained grower's arrays."""
    return dict(_core.grow_constrained(**given(data, criterion), **{**LIMITS, **OPTIONS, **options}))


def grow_fast(data: Dataset, criterion: str, small_rows: int = 0, **limits: Any) -> Arrays:
    """The fast grower's arrays; with histograms for nodes above `small_rows`, if any are given.

    By the ranks of cells, if the data set has them.
    """
    bins, is_mixed = data.bins(1) if small_rows else (None, None)
    return dict(
        _core.grow(
            **given(data, criterion),
            **{**LIMITS, **limits},
            bins=bins,
            is_mixed=is_mixed,
            is_wide=False,
            random_splits=False,
            small_rows=small_rows,
            combined=[],
            max_combined=2,
            ranks=data.ranks() if data.has_ranks else None,
        )
    )


def assert_same(one: Arrays, other: Arrays, exact: bool = True) -> None:
    """Every array of the one is the same, to the bit, in the other."""
    for name, array in one.items():
        if name == "directions":
            assert array == other[name] == []
            continue
        assert array.dtype == other[name].dtype, name
        if exact or array.dtype.kind != "f":
            np.testing.assert_array_equal(array, other[name], name)
            assert array.tobytes() == other[name].tobytes(), f"{name} differs in its bits"
        else:
            np.testing.assert_allclose(array, other[name], rtol=1e-12, atol=1e-12, err_msg=name)


def limits_of(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters of `grow`, as the strategies draw them, in the words of the core."""
    words = {"min_samples_split": "min_rows_split", "min_samples_leaf": "min_rows_leaf"}
    out = {words.get(name, name): value for name, value in parameters.items() if name != "threshold"}
    leaves = out.pop("max_leaf_nodes", None)
    if leaves is not None:
        out["max_splits"] = min(leaves - 1, out.get("max_splits", leaves - 1))
    return out
