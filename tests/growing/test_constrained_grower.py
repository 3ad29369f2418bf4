"""The constrained grower: equal to the fast one without options, and each option in cases small enough to
work out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.growing.constrained_cases import assert_same, grow_constrained, grow_fast, limits_of
from tests.strategies import Table, limits, table_of, tables
from treewright.growing import criteria

nan = float("nan")
CRITERIA = [name for name in criteria() if name != "absolute_error"]
CLASSES = criteria("classes")


def mixed(n: int, criterion: str, *, seed: int = 0, weighted: bool = False, holes: float = 0.1) -> Table:
    """Numbers, some of them rounded, and categories, with gaps; the target follows them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(4, n))
    x[1] = x[1].round(1) + 0.0  # no -0.0, which is as good as 0.0
    x[2:][rng.random((2, n)) < holes] = nan
    code = rng.integers(-1 if holes else 0, 6, n)
    signal = x[0] + np.nan_to_num(x[2]) + (code % 3) + rng.normal(size=n)
    if criterion in CLASSES:
        y = np.digitize(signal, [0.0, 1.5, 3.0])
    else:
        y = np.exp(signal).round(2) if criterion == "poisson" else signal.round(2)
    weight = rng.integers(1, 4, n) / 4 if weighted else None
    return table_of([*x, code], y, kinds=["number"] * 4 + ["category"], weight=weight)


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_without_options_it_grows_the_tree_of_the_fast_grower(criterion: str, data: Any) -> None:
    table = data.draw(tables(criterion))
    some = limits_of(data.draw(limits()))
    assert_same(
        grow_fast(table.dataset(), criterion, **some), grow_constrained(table.dataset(), criterion, **some)
    )


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("weighted", [False, True])
def test_larger_tables_are_no_different(criterion: str, weighted: bool) -> None:
    data = mixed(1500, criterion, weighted=weighted).dataset()
    for some in ({"min_rows_leaf": 5}, {"max_splits": 20}, {"max_columns": 2, "seed": 3}):
        assert_same(grow_fast(data, criterion, **some), grow_constrained(data, criterion, **some))


OPTIONS: list[dict[str, Any]] = [
    {"missing": "surrogate", "n_surrogates": 3},
    {"missing": "fractional"},
    {"missing": "category"},
    {"groups": [[0, 1], [1, 2, 4]]},
    {"once": True},
    {"max_columns_used": 2},
    {"prices": np.array([0.0, 0.5, 1.0, 0.2, 3.0])},
    {"monotone": np.array([1, 0, -1, 0, 0], dtype=np.int8)},
    {"missing": "category", "multiway": True, "monotone": np.array([1, 0, -1, 0, 0], dtype=np.int8)},
    {"missing": "fractional", "multiway": True},
    {"multiway": True},
    {"critical": np.array([0.0, 3.0, 5.0, 8.0]), "missing": "surrogate", "n_surrogates": 1},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("criterion", ["gini", "gain_ratio", "squared_error"])
def test_neither_threads_nor_the_order_of_rows_matter(criterion: str, options: dict[str, Any]) -> None:
    if criterion == "squared_error" and "critical" in options:
        return
    table = mixed(12_000, criterion, weighted=True)
    some = {"min_rows_leaf": 40, **options}
    one = grow_constrained(table.dataset(), criterion, **some)
    assert len(one["end"]) > 3
    assert_same(one, grow_constrained(table.dataset(), criterion, n_threads=3, **some))
    shuffled = table.rows(np.random.default_rng(1).permutation(table.n_rows))
    assert_same(one, grow_constrained(shuffled.dataset(), criterion, **some))


@pytest.mark.parametrize("missing", ["surrogate", "fractional", "category"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_where_nothing_is_missing_nothing_is_done_with_it(criterion: str, missing: str) -> None:
    data = mixed(300, criterion, holes=0.0).dataset()
    learnt = grow_fast(data, criterion, min_rows_leaf=3)
    assert_same(learnt, grow_constrained(data, criterion, min_rows_leaf=3, missing=missing))
