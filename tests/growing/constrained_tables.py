"""Tables and rules for the constrained grower, and its tree straight from the core."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.growing.constrained_oracle import Constrained
from tests.strategies import Table, tables
from treewright import _core
from treewright.growing.constraints import Constraints
from treewright.growing.thresholds import constrained_tree_from_core
from treewright.tree import Tree

WAYS = ("learn", "surrogate", "fractional", "category")


def grown(
    table: Table, criterion: str, *, n_jobs: int = 1, threshold: Any = "readable", **options: Any
) -> Tree:
    """The core's tree for limits and rules by the names of the core and of the oracle."""
    data = table.dataset()
    limits = {name: options.pop(name) for name in list(options) if name in _LIMITS}
    constraints = Constraints(**_arrays(options))
    labels = data.targets if data.schema.predicts_classes else None
    budgets = [limits.get("max_splits", -1), limits.get("max_leaf_nodes", 0) - 1]
    arrays = _core.grow_constrained(
        columns=data.columns,
        n_categories=data.schema.category_counts,
        labels=labels,
        n_classes=list(data.schema.block_widths) if labels is not None else [],
        numbers=data.targets if labels is None else None,
        weight=data.weight,
        criterion=criterion,
        max_depth=limits.get("max_depth", -1),
        max_splits=min((budget for budget in budgets if budget >= 0), default=-1),
        min_rows_split=limits.get("min_samples_split", 2),
        min_rows_leaf=limits.get("min_samples_leaf", 1),
        min_weight_leaf=limits.get("min_weight_leaf", 0.0),
        min_gain=limits.get("min_gain", 0.0),
        max_columns=0,
        seed=0,
        critical=None,
        correction=0,
        n_threads=n_jobs,
        progress=None,
        **constraints.core_arguments,
    )
    tree = constrained_tree_from_core(arrays, data, criterion, threshold, constraints.missing)
    tree.check()
    return tree


_LIMITS = (
    "max_depth",
    "max_splits",
    "max_leaf_nodes",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_leaf",
    "min_gain",
)


def _arrays(options: dict[str, Any]) -> dict[str, Any]:
    types = {"monotone": np.int8, "prices": np.float64, "costs": np.float64}
    return {
        name: np.array(value, types[name]) if name in types and value is not None else value
        for name, value in options.items()
    }


def oracle(table: Table, criterion: str, **options: Any) -> Constrained:
    """The judge of the same task."""
    known = {"categories": table.categories}
    return Constrained(table.columns, table.kinds, table.targets, table.weight, criterion, **known, **options)


@st.composite
def cases(draw: Any, criterion: str, missing: str, **about: Any) -> tuple[Table, dict[str, Any]]:
    """A table, and rules of every kind that go with it; most of the time most of them are left out."""
    table = draw(tables(criterion, max_rows=14, **about))
    n_columns = len(table.columns)
    every = {
        "groups": st.lists(st.lists(st.integers(0, n_columns - 1), unique=True), max_size=3),
        "max_columns_used": st.integers(1, n_columns),
        "prices": st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n_columns, max_size=n_columns),
        "once": st.just(True),
    }
    if missing in ("learn", "category") and len(table.targets) == 1:
        signs = [st.just(0) if kind == "category" else st.sampled_from([1, -1, 0]) for kind in table.kinds]
        every["monotone"] = st.tuples(*signs)
    if missing == "surrogate":
        every["n_surrogates"] = st.integers(0, 3)
    if criterion == "gini" and len(table.targets) == 1:
        every["costs"] = costs(len(table.schema().targets[0].classes or ()))
    return table, draw(st.fixed_dictionaries({"missing": st.just(missing)}, optional=every))


def costs(n_classes: int) -> st.SearchStrategy[np.ndarray]:
    """A matrix of costs with zeros on the diagonal."""
    cells = st.lists(st.sampled_from([0.0, 1.0, 2.0, 0.5, 7.0]), min_size=n_classes**2, max_size=n_classes**2)
    return cells.map(lambda c: np.array(c).reshape(n_classes, n_classes) * (1 - np.eye(n_classes)))
