"""Random cuts in the constrained grower: it draws as the fast one does, and keeps the constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.checks import same_tree
from tests.oracle import CLASSES, NUMBERS
from tests.strategies import Table, table_of, tables
from treewright import ExtraTreeRegressor, FeatureCosts, grow

NAN = float("nan")


def free(table: Table) -> dict[str, Any]:
    """A constraint that allows everything: all columns are in one group."""
    return {"interaction_cst": [list(range(len(table.columns)))]}


@pytest.mark.parametrize("criterion", [*CLASSES, *NUMBERS])
@settings(max_examples=25)
@given(data=st.data())
def test_a_constraint_that_allows_everything_changes_nothing(criterion: str, data: st.DataObject) -> None:
    """The fast grower is the judge: of every column it draws the same threshold, side or subset."""
    table = data.draw(tables(criterion, max_rows=30))
    options: dict[str, Any] = {"splitter": "random", "random_state": data.draw(st.integers(0, 99))}
    options["max_features"] = data.draw(st.sampled_from([None, 1, 2]))
    same_tree(table.grow(criterion, **options), table.grow(criterion, **options, **free(table)))


def cut_values(seed: int, missing: str) -> tuple[float, list[int]]:
    """The threshold of a stump on 0, 1, … 9 and two missing values, and the rows of its nodes."""
    table = table_of([[*range(10), NAN, NAN]], [*range(10), 20.0, 30.0])
    tree = table.grow(
        "squared_error", splitter="random", random_state=seed, missing=missing, max_leaf_nodes=2
    )
    return float(tree.threshold[0]), tree.rows.tolist()


@pytest.mark.parametrize("missing", ["surrogate", "fractional"])
def test_thresholds_are_drawn_evenly(missing: str) -> None:
    """Each of the nine gaps about equally often; the known rows go where the threshold says."""
    found = [cut_values(seed, missing)[0] for seed in range(900)]
    counts = np.bincount(np.floor(found).astype(int), minlength=9)
    assert len(counts) == 9
    assert (abs(counts - 100) < 5 * np.sqrt(100)).all(), counts


def test_missing_values_as_a_category_stay_apart() -> None:
    """Low, high and missing: the threshold is drawn among the known rows only."""
    table = table_of([[*range(10), NAN, NAN]], [*range(10), 20.0, 30.0])
    firsts = set()
    for seed in range(60):
        tree = table.grow(
            "squared_error", splitter="random", random_state=seed, missing="category", max_leaf_nodes=3
        )
        assert tree.threshold[0] == np.inf
        assert tree.rows[[0, 1]].tolist() == [12, 10]
        firsts.add(int(tree.rows[2]))
    assert firsts == set(range(1, 10))


def test_costs_and_limits_of_columns_hold() -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(200, 4))
    table = table_of(list(x.T), x @ [1.0, 1, 1, 1])
    tree = table.grow("squared_error", splitter="random", feature_costs=FeatureCosts(max_used=2))
    assert len(set(tree.feature[tree.feature >= 0])) == 2
    dear = table.grow("squared_error", splitter="random", feature_costs={"x0": 1e6})
    first = dear.feature[np.argsort(np.where(dear.step < 0, 10**6, dear.step))[:5]]
    assert 0 not in first


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_extra_trees_follow_the_order(criterion: str) -> None:
    """Predictions of rows that differ in one constrained column alone."""
    random = np.random.default_rng(1)
    x = random.normal(size=(600, 3))
    y = np.exp(x[:, 0] - x[:, 1] + random.normal(size=600))
    signs = np.array([1.0, -1.0, 0.0])
    probes = random.normal(size=(400, 3))
    free_steps = 0
    for seed in range(5):
        model = ExtraTreeRegressor(criterion=criterion, monotonic_cst=signs, random_state=seed).fit(x, y)
        assert model.get_n_leaves() > 4
        loose = ExtraTreeRegressor(criterion=criterion, random_state=seed).fit(x, y)
        for column, sign in ((0, 1), (1, -1)):
            moved = probes.copy()
            moved[:, column] += random.exponential(size=400)
            assert (sign * (model.predict(moved) - model.predict(probes)) >= 0).all()
            free_steps += (sign * (loose.predict(moved) - loose.predict(probes)) < 0).sum()
    assert free_steps > 100, "without the constraint the order breaks"


def test_any_number_of_threads() -> None:
    random = np.random.default_rng(2)
    x = random.normal(size=(9000, 8))
    x[random.random(x.shape) < 0.1] = NAN
    data = table_of(list(x.T), np.nan_to_num(x).sum(axis=1)).dataset()
    options: dict[str, Any] = {
        "splitter": "random",
        "monotonic_cst": {0: 1, 3: -1},
        "max_depth": 6,
        "random_state": 4,
    }
    assert grow(data, **options, n_jobs=1) == grow(data, **options, n_jobs=3)
