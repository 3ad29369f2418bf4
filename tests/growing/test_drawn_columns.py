"""Nodes that draw a few of many columns: the same trees without sorted lists, by values, bins or ranks."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from tests.growing.constrained_cases import assert_same, grow_constrained, grow_fast
from tests.strategies import Table, table_of
from treewright import RandomForestClassifier, _core, encode
from treewright.encoding import Dataset
from treewright.growing import criteria

nan = float("nan")


def wide(n: int, criterion: str, *, seed: int = 0, weighted: bool = False) -> Table:
    """Forty columns: numbers, rounded ones, constants, with gaps or infinities, and categories."""
    rng = np.random.default_rng(seed)
    columns = list(rng.normal(size=(40, n)))
    for j in range(0, 40, 4):
        columns[j] = columns[j].round(1) + 0.0
        columns[j + 1][rng.random(n) < 0.2] = nan
    columns[3], columns[7][::9], columns[11][:] = np.full(n, 2.5), np.inf, nan
    kinds = ["number"] * 36 + ["category"] * 4
    for j in range(36, 40):
        columns[j] = rng.integers(-1, 2 * (j - 35), n)
    signal = columns[0] + np.nan_to_num(columns[1]) + columns[2] + (columns[36] % 2) + rng.normal(size=n)
    if criterion in criteria("classes"):
        y = np.digitize(signal, [-1.0, 1.0])
    else:
        y = np.exp(signal).round(2) if criterion == "poisson" else signal.round(2)
    weight = rng.integers(0, 4, n) / 4 if weighted else None
    return table_of(columns, y, kinds=kinds, weight=weight)


def ranked(data: Dataset) -> Dataset:
    data.ranks(1)
    return data


@pytest.mark.parametrize("criterion", sorted(criteria()))
@pytest.mark.parametrize(
    "limits", [{}, {"max_splits": 12}, {"min_rows_leaf": 4, "min_weight_leaf": 3.0}], ids=str
)
def test_drawn_columns_split_as_sorted_lists_do(criterion: str, limits: dict[str, Any]) -> None:
    """The constrained grower draws the same columns and sorts in its own way."""
    for seed, weighted in itertools.product(range(2), (False, True)):
        table = wide(150, criterion, seed=seed, weighted=weighted)
        some = {"max_columns": 3, "seed": seed, **limits}
        sought = grow_constrained(table.dataset(), criterion, **some)
        assert_same(grow_fast(table.dataset(), criterion, **some), sought)
        assert_same(grow_fast(ranked(table.dataset()), criterion, **some), sought)
        assert_same(grow_fast(table.dataset(), criterion, small_rows=10**6, **some), sought)


def test_ranks_order_cells_as_values_do() -> None:
    table = {"x": [0.5, nan, -0.0, 0.0, np.inf, 1e-300, 0.5], "sky": ["c", "a", None, "c", "b", "a", "b"]}
    known, missing = [3, 1, 1, 4, 2, 3], _core.max_ranked_rows
    x, sky = encode(table, list("abababa")).ranks().astype(int)
    assert np.argsort(np.delete(x, 1), kind="stable").tolist() == np.argsort(known, kind="stable").tolist()
    assert x[1] == sky[2] == missing
    assert x[2] == x[3]
    assert x[0] == x[6]
    assert sky[0] == sky[3] > sky[4] == sky[6] > sky[1] == sky[5]


def test_ranks_of_another_table_are_refused() -> None:
    data = encode(np.arange(10.0).reshape(5, 2), list("aabbb"))
    data.__dict__["_ranks"] = np.zeros((2, 4), np.uint16)
    with pytest.raises(ValueError, match="ranks do not fit"):
        grow_fast(data, "gini")


def test_a_forest_of_few_rows_and_many_columns_is_that_of_single_trees() -> None:
    """The forest ranks its cells once; a tree alone sorts values."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 900)).astype(np.float32)
    y = (X[:, :20].sum(axis=1) > 0).astype(int)
    forest = RandomForestClassifier(30, random_state=0).fit(X, y)
    for member, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        weights = np.bincount(rows, minlength=60).astype(float)
        alone = type(member)(**member.get_params()).fit(X, y, sample_weight=weights)
        assert alone.model_ == member.model_
