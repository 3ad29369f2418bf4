"""The search of the best tree: against all trees of tiny tables, its laws, and what it refuses."""

from __future__ import annotations

import pickle
import subprocess
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.optimising.oracle import close
from tests.optimising.tables import TinyTable, tiny_tables
from treewright import AdviceWarning, Costs, encode, grow, optimise
from treewright.datasets import load_spam
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
    assert optimum.is_proved
    assert close(optimum.objective, least, scale), (optimum.objective, float(least))
    if optimum.is_smallest and not table.predicts_numbers:
        assert optimum.tree.n_leaves == oracle.fewest_leaves(*limits)


@given(tiny_tables())
def test_no_tree_of_classes_is_better(table: TinyTable) -> None:
    is_optimal(table)


@given(tiny_tables(numbers=True))
def test_no_tree_of_numbers_is_better(table: TinyTable) -> None:
    is_optimal(table)


@pytest.mark.slow
@settings(max_examples=20)
@given(tiny_tables(most_rows=30))
def test_no_tree_of_larger_tables_is_better(table: TinyTable) -> None:
    is_optimal(table)


@given(tiny_tables(numbers=True), st.integers(0, 40))
def test_the_bound_is_below_the_optimum_at_any_time(table: TinyTable, work: int) -> None:
    optimum = optimise(table.data, **table.limits, work_limit=work)
    check_tree(table, optimum)
    least = float(table.oracle().least(table.limits["max_depth"], table.limits.get("max_leaf_nodes")))
    slack = 1e-9 * (1 + abs(least)) * 100
    assert optimum.bound <= least + slack
    assert least <= optimum.objective + slack
    _, _, losses, bounds = optimum.history.T
    assert (np.diff(bounds) >= 0).all()
    assert (np.diff(losses) <= 0).all()
    assert (bounds <= least + slack).all()
    assert (least <= losses + slack).all()


@given(tiny_tables(), st.integers(0, 200))
def test_the_same_for_classes(table: TinyTable, work: int) -> None:
    optimum = optimise(table.data, **table.limits, work_limit=work)
    check_tree(table, optimum)
    least = float(table.oracle().least(table.limits["max_depth"], table.limits.get("max_leaf_nodes")))
    assert optimum.bound <= least * (1 + 1e-9) + 1e-9
    assert least <= optimum.objective * (1 + 1e-9) + 1e-9


@given(tiny_tables(with_limits=False), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(table: TinyTable, random: Any) -> None:
    order = list(range(len(table.targets)))
    random.shuffle(order)
    one, other = (optimise(data, **table.limits) for data in (table.data, table.data.take(order)))
    assert one.tree == other.tree
    assert one.bound == other.bound


@given(tiny_tables(with_limits=False), st.lists(st.integers(0, 3), min_size=16, max_size=16))
def test_a_weight_is_a_number_of_rows(table: TinyTable, counts: list[int]) -> None:
    data = table.data.with_weight(None)
    repeats = np.array(counts[: data.n_rows])
    repeats[0] = 2
    weighted = data.with_weight(repeats.astype(float))
    repeated = data.take(np.repeat(np.arange(data.n_rows), repeats))
    one, other = optimise(weighted, **table.limits), optimise(repeated, **table.limits)
    assert one.objective == other.objective
    assert one.is_proved == other.is_proved
    assert np.array_equal(one.tree.feature, other.tree.feature)
    assert np.array_equal(one.tree.threshold, other.tree.threshold, equal_nan=True)


@given(tiny_tables(with_limits=False))
def test_monotone_maps_change_thresholds_only(table: TinyTable) -> None:
    columns = [
        [None if v is None else (v if kind == "category" else v**3 + 5) for v in column]
        for column, kind in zip(table.columns, table.kinds, strict=True)
    ]
    mapped = TinyTable(columns, table.kinds, table.targets, table.weights, table.limits)
    one, other = (optimise(each.data, **table.limits).tree for each in (table, mapped))
    assert np.array_equal(one.end, other.end)
    assert np.array_equal(one.feature, other.feature)
    assert np.array_equal(one.rows, other.rows)
    assert np.array_equal(one.statistic, other.statistic)


@given(tiny_tables(), st.sampled_from([2, 5]))
def test_threads_do_not_matter(table: TinyTable, n_jobs: int) -> None:
    one, other = (optimise(table.data, **table.limits, n_jobs=n) for n in (1, n_jobs))
    assert one.tree == other.tree
    assert one.bound == other.bound


@given(tiny_tables(with_limits=False))
def test_deeper_is_never_worse_nor_is_growing_better(table: TinyTable) -> None:
    losses = []
    for depth in range(4):
        optimum = optimise(table.data, max_depth=depth, categories="subset")
        for criterion in ("gini", "error"):
            grown = grow(table.data, max_depth=depth, criterion=criterion)
            assert optimum.loss <= loss_of(grown) * (1 + 1e-9) + 1e-9
        losses.append(optimum.loss)
    assert all(b <= a * (1 + 1e-9) + 1e-12 for a, b in pairwise(losses))


@given(tiny_tables(with_limits=False))
def test_one_level_is_the_best_split(table: TinyTable) -> None:
    if set(table.kinds) == {"number"}:
        grown = grow(table.data, max_depth=1, criterion="error")
        assert optimise(table.data, max_depth=1).loss == pytest.approx(loss_of(grown))


def test_missing_values_and_categories_are_named_as_grown() -> None:
    table = {"size": [1.0, None, 3.0, 4.0, None, 2.0], "sky": ["blue", "grey", None, "blue", "red", None]}
    tree = optimise(table, ["n", "y", "n", "n", "y", "n"], max_depth=1).tree
    assert str(tree.root.test) == "Below(column='size', threshold=inf)"
    assert not tree.missing_left[0]
    assert tree.predict({"size": [5.0, None], "sky": [None, None]}).tolist() == ["n", "y"]
    tree = optimise({"sky": table["sky"]}, ["y", "n", "n", "y", "n", "n"], max_depth=1).tree
    assert tree.root.test.categories == ("blue",)
    assert tree.predict({"sky": ["green", None]}).tolist() == ["n", "n"]


def test_costs_priors_and_penalties_are_in_units_of_the_tree() -> None:
    x, y = [1, 2, 3, 4, 5, 6, 7, 8], list("nnnynnyy")
    costly = optimise({"x": x}, y, max_depth=1, costs={"y": {"n": 10}, "n": {"y": 0.25}})
    assert costly.loss == costly.bound == 0.5
    by_priors = optimise({"x": x}, y, max_depth=1, costs=Costs(priors={"n": 0.5, "y": 0.5}))
    assert by_priors.is_proved
    assert by_priors.loss == pytest.approx(loss_of(by_priors.tree))
    assert optimise({"x": x}, y, leaf_penalty=0.2).tree.n_leaves == 2
    assert optimise({"x": x}, y, leaf_penalty=0.5).tree.n_leaves == 1
    penalised = optimise({"x": x}, y, leaf_penalty=0.2)
    assert penalised.objective == pytest.approx(penalised.loss + 0.2 * 8 * 2)
    assert "for each leaf" in str(penalised)


def test_a_column_of_ids_is_no_obstacle() -> None:
    optimum = optimise({"id": [f"r{i}" for i in range(40)]}, ["a", "b"] * 20, max_depth=2)
    assert optimum.is_proved
    assert optimum.loss == 18


def test_one_class_is_a_proved_leaf() -> None:
    optimum = optimise({"x": [1, 2, 3]}, ["a", "a", "a"])
    assert optimum.tree.n_leaves == 1
    assert optimum.is_proved
    assert optimum.is_smallest
    assert str(optimum).startswith("a single leaf: 0 of 3 rows wrong (0.0 %)\nproved: no tree of depth 3")


def test_no_time_still_gives_a_tree() -> None:
    rng = np.random.default_rng(0)
    optimum = optimise(rng.normal(size=(300, 4)), rng.integers(0, 3, 300), time_limit=0)
    optimum.tree.check()
    assert not optimum.is_proved
    assert optimum.stopped == "time"
    assert "stopped by time_limit" in str(optimum)


def test_a_gap_ends_the_search() -> None:
    rng = np.random.default_rng(1)
    optimum = optimise(rng.normal(size=(200, 4)), rng.integers(0, 2, 200), gap=50)
    assert optimum.gap <= 50
    assert optimise(rng.normal(size=(50, 2)), rng.integers(0, 2, 50), max_depth=2, gap=0).is_proved


def test_progress_is_told_in_units_of_the_loss() -> None:
    rng = np.random.default_rng(2)
    table = (
        rng.normal(size=(1500, 5)),
        rng.integers(0, 2, 1500),
        np.full(1500, 0.5) + rng.integers(0, 2, 1500),
    )
    told: list[tuple[float, float, float]] = []
    optimum = optimise(table, max_depth=3, time_limit=0.3, progress=lambda *now: told.append(now))
    seconds, losses, bounds = np.array(told).T
    assert (np.diff(seconds) >= 0).all()
    assert (np.diff(losses) <= 1e-9).all()
    assert (np.diff(bounds) >= -1e-9).all()
    assert bounds[-1] <= optimum.bound + 1e-9
    assert optimum.objective <= losses[-1] + 1e-9

    def stop(*_: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        optimise(table, max_depth=3, progress=stop)


def test_results_travel_without_their_rows() -> None:
    optimum = optimise(*XOR, max_depth=2)
    copy = pickle.loads(pickle.dumps(optimum))
    assert copy.tree == optimum.tree
    assert copy.to_dict() == optimum.to_dict()
    assert str(copy) == str(optimum)
    assert "treewright" not in str(optimum.to_dict())
    assert "<div" in optimum._repr_html_()
    with pytest.raises(ValueError, match="call optimise again"):
        _ = copy.first_columns
    assert len(optimum.first_columns) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_depth": None}, "max_depth=None is not possible"),
        ({"max_depth": -1}, "max_depth=-1 is not possible"),
        ({"max_depth": 2.5}, "max_depth=2.5 is not possible"),
        ({"time_limit": -1}, "time_limit=-1 is not possible"),
        ({"leaf_penalty": -0.1}, "leaf_penalty=-0.1"),
        ({"categories": "all"}, "categories='all'"),
        ({"gap": -1}, "gap=-1"),
    ],
)
def test_impossible_values_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        optimise(*XOR, **options)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("criterion", "absolute_error"),
        ("missing", "surrogate"),
        ("split", "oblique"),
        ("monotonic_cst", {"a": 1}),
        ("random_state", 0),
    ],
)
def test_parameters_of_growing_are_refused_with_a_reason(name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"optimise has no parameter '{name}': "):
        optimise(*XOR, **{name: value})


def test_tables_that_cannot_be_searched_are_refused() -> None:
    data = encode(*XOR)
    with pytest.raises(ValueError, match="has no rows"):
        optimise(data.take([]))
    with pytest.raises(ValueError, match="no rows with positive weight"):
        optimise(data.with_weight(np.zeros(5)))
    two = encode(XOR[0], np.array([[0, 1], [1, 0], [0, 0], [1, 1], [0, 1]]))
    with pytest.raises(ValueError, match="data has 2 targets"):
        optimise(two)
    with pytest.raises(ValueError, match="categories='subset' tries all subsets of up to 8"):
        optimise({"x": list("abcdefghijkl")}, [0, 1] * 6, categories="subset")


def test_a_wide_table_comes_with_advice() -> None:
    rng = np.random.default_rng(0)
    wide = rng.integers(0, 2, (60, 10_000)).astype(float)
    with pytest.warns(AdviceWarning, match="compares all pairs of"):
        optimise(wide, rng.integers(0, 2, 60), max_depth=2, time_limit=0, work_limit=0)


@pytest.mark.slow
@pytest.mark.parametrize(("depth", "errors"), [(1, 617), (2, 389), (3, 277)])
def test_published_optima(depth: int, errors: int) -> None:
    spam = load_spam()
    rows = ~spam.is_test
    optimum = optimise(spam.data[rows], spam.target[rows], max_depth=depth, time_limit=None)
    assert (optimum.loss, optimum.bound) == (errors, errors)


@pytest.mark.slow
def test_ctrl_c_keeps_the_best_tree() -> None:
    code = """
import signal, threading, time, numpy as np, os
from treewright import OptimalTreeClassifier, optimise
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X, y = rng.normal(size=(4000, 12)), rng.integers(0, 2, 4000)
threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
optimum = optimise(X, y, max_depth=4)
print(optimum.stopped, optimum.tree.n_leaves > 1)
threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
model = OptimalTreeClassifier(max_depth=4)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print("KeyboardInterrupt", model.proved_, model.optimum_.stopped)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.stdout.split() == ["interrupt", "True", "KeyboardInterrupt", "False", "interrupt"], run.stderr
