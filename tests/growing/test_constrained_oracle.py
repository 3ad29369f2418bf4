"""The constrained grower against its oracle: every way with missing values, every constraint, all at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.checks import same_tree
from tests.growing.constrained_comparison import compare
from tests.growing.constrained_tables import WAYS, cases, grown, oracle
from tests.strategies import Table, limits, table_of, tables

NAN = float("nan")


def judged(table: Table, criterion: str, **options: Any) -> None:
    compare(grown(table, criterion, **options), oracle(table, criterion, **options))


@pytest.mark.slow
@pytest.mark.parametrize("missing", WAYS)
@pytest.mark.parametrize(
    "criterion", ["gini", "entropy", "gain_ratio", "squared_error", "absolute_error", "poisson"]
)
@settings(max_examples=12)
@given(data=st.data())
def test_missing_values(missing: str, criterion: str, data: st.DataObject) -> None:
    """Each way alone, with limits."""
    _skip_parts_of_medians(missing, criterion)
    table, limit = data.draw(tables(criterion, max_rows=14)), data.draw(limits())
    judged(table, criterion, missing=missing, **_shallow(limit, missing))


@pytest.mark.slow
@pytest.mark.parametrize("missing", WAYS)
@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
@settings(max_examples=30)
@given(data=st.data())
def test_rules_together(missing: str, criterion: str, data: st.DataObject) -> None:
    """Anything that hypothesis can think of."""
    _skip_parts_of_medians(missing, criterion)
    table, options = data.draw(cases(criterion, missing))
    judged(table, criterion, **options, **_shallow(data.draw(limits()), missing))


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["gini", "gain_ratio", "squared_error"])
@pytest.mark.parametrize("missing", ["fractional", "category"])
@settings(max_examples=15)
@given(data=st.data())
def test_one_branch_for_each_category(criterion: str, missing: str, data: st.DataObject) -> None:
    table, once = data.draw(tables(criterion, max_rows=14)), data.draw(st.booleans())
    judged(table, criterion, missing=missing, multiway=True, once=once, **_shallow({}, missing))


@pytest.mark.slow
@pytest.mark.parametrize("missing", WAYS)
@settings(max_examples=8)
@given(data=st.data())
def test_any_number_of_threads(missing: str, data: st.DataObject) -> None:
    table, options = data.draw(cases("gini", missing))
    one = grown(table, "gini", **options)
    for n_jobs in (2, 5):
        many = grown(table, "gini", **options, n_jobs=n_jobs)
        same_tree(one, many)
        assert one == many, "joined nodes and surrogates are part of it"


@pytest.mark.parametrize("missing", WAYS)
def test_a_larger_table(missing: str) -> None:
    """Some hundred rows with holes, on several threads."""
    random = np.random.default_rng(3)
    x = np.round(random.normal(size=(160, 4)), 1)
    y = (x[:, 0] + x[:, 1] * x[:, 2] > 0.3).astype(int) + (x[:, 3] > 1)
    x[:, 1] = np.where(random.random(160) < 0.3, x[:, 0], x[:, 1])
    x[random.random((160, 4)) < 0.15] = np.nan
    table = table_of(list(x.T), y, weight=random.integers(1, 4, 160))
    compare(
        grown(table, "gini", missing=missing, max_depth=4, min_samples_leaf=5, n_jobs=3),
        oracle(table, "gini", missing=missing, max_depth=4, min_samples_leaf=5, exact=False),
    )


def test_rows_that_lie_in_the_gap_of_a_surrogate() -> None:
    """They had no part in finding it; whatever threshold is named must send them where they were counted."""
    x0, y = [0, 0, 0, 1, 1, 1, NAN, NAN], [0, 0, 0, 1, 1, 1, 0, 1]
    for threshold in ("readable", "midpoint"):
        for low, high in [(3.0, 7.0), (2.5, 7.75), (4.9, 5.1)]:
            table = table_of([x0, [1, 1, 2, 8, 9, 1, low, high]], y)
            tree = grown(table, "gini", missing="surrogate", max_depth=1, threshold=threshold)
            assert tree.feature[0] == 0
            assert tree.rows.tolist() == [8, 4, 4]
            assert low <= tree.surrogates.threshold[0] < high


def _skip_parts_of_medians(missing: str, criterion: str) -> None:
    if (missing, criterion) == ("fractional", "absolute_error"):
        pytest.skip("medians are of whole rows")


def _shallow(limit: dict[str, Any], missing: str) -> dict[str, Any]:
    """Shares of shares have long denominators: few levels of them."""
    return limit if missing != "fractional" else limit | {"max_depth": min(limit.get("max_depth", 3), 3)}


OTHER: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"missing": "category"}),
    ({}, {"missing": "surrogate"}),
    ({"missing": "surrogate"}, {"missing": "fractional"}),
    ({"missing": "surrogate"}, {"missing": "surrogate", "n_surrogates": 1}),
    ({}, {"monotone": [-1, 0, 0]}),
    ({}, {"prices": [5.0, 0.0, 0.0]}),
    ({}, {"groups": [[0], [1, 2]]}),
    ({}, {"max_columns_used": 1}),
    ({}, {"once": True}),
    ({}, {"costs": [[0, 1, 9], [1, 0, 1], [9, 1, 0]]}),
    ({"missing": "category"}, {"missing": "category", "multiway": True}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("grown_by", "judged_by"), OTHER, ids=str)
def test_the_judge_tells_trees_of_other_rules(grown_by: dict[str, Any], judged_by: dict[str, Any]) -> None:
    random = np.random.default_rng(5)
    x = np.round(random.normal(size=(40, 2)), 1)
    job = random.integers(0, 4, 40)
    y = (x[:, 0] + x[:, 1] + job > 1).astype(int) + (x[:, 0] > 1)
    x[:, 1] += x[:, 0]
    x[random.random((40, 2)) < 0.2] = np.nan
    table = table_of([*x.T, job], y, kinds=["number", "number", "category"], categories=4)
    compare(grown(table, "gini", **judged_by), oracle(table, "gini", **judged_by))
    with pytest.raises(AssertionError):
        compare(grown(table, "gini", **grown_by), oracle(table, "gini", **judged_by))
