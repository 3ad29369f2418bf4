"""The best trees of all sizes, and the choice of one of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from tests.optimising.oracle import close
from tests.optimising.tables import TinyTable, tiny_tables
from treewright import encode, optimal_front, optimise, select


@given(tiny_tables())
def test_every_size_is_the_best(table: TinyTable) -> None:
    limits = {name: value for name, value in table.limits.items() if name != "leaf_penalty"}
    table = replace(table, limits=limits)
    front, oracle = optimal_front(table.data, **limits), table.oracle()
    depth, most = limits["max_depth"], limits.get("max_leaf_nodes", 8)
    assert front.is_proved
    assert front.leaves[-1] == 1
    assert (np.diff(front.leaves) < 0).all()
    assert (np.diff(front.loss) > 0).all()
    for leaves in range(1, min(most, 2**depth) + 1):
        tree = front.of_size(leaves)
        tree.check()
        assert close(float(tree.loss[tree.is_leaf].sum()), oracle.least(depth, leaves))


@given(tiny_tables(with_limits=False))
def test_the_ends_are_the_leaf_and_the_optimum(table: TinyTable) -> None:
    front, optimum = optimal_front(table.data, **table.limits), optimise(table.data, **table.limits)
    assert front.loss[0] == pytest.approx(optimum.loss, abs=1e-9)
    assert front[-1].n_leaves == 1
    assert front.bound[0] == pytest.approx(optimum.bound, abs=1e-9)


def test_a_size_is_chosen_like_a_pruning() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(240, 3))
    y = np.where((X[:, 0] > 0) ^ (rng.random(240) < 0.1), "a", "b")
    data, others = encode(X[:160], y[:160]), encode(X[160:], y[160:])
    front = optimal_front(data, max_depth=2)
    assert select(front, leaves=3).pruned.n_leaves <= 3
    held_out = select(front, by="held_out", validation=(X[160:], y[160:]))
    assert held_out.pruned.n_leaves == 2
    assert held_out.n_validation == others.n_rows
    by_folds = select(front, by="folds", data=data, n_folds=4)
    assert by_folds.pruned.n_leaves == 2
    assert len(by_folds.validation) == len(front)
    assert str(by_folds).startswith("optimal_front: ")
    with pytest.raises(ValueError, match="leaves is 0"):
        front.of_size(0)


def test_the_front_of_numbers() -> None:
    x = np.arange(12.0)
    front = optimal_front({"x": x}, np.floor(x / 3) ** 2, max_depth=2)
    assert front.leaves.tolist() == [4, 3, 2, 1]
    assert front.loss[0] == 0
    assert front.is_proved
    assert front.to_dict()["leaves"] == [4, 3, 2, 1]
