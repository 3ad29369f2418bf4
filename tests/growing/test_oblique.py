"""Trees of sums: every scan is exact, sums are taken where they gain clearly more, and all limits hold."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests import checks
from treewright import Combination, Dataset, DecisionTreeClassifier, DecisionTreeRegressor, Tree, encode, grow
from treewright.parameters import Gain, Oblique
from treewright.tree.oblique import Direction, with_directions

PRICE = 0.1  # of each column after the first, as `grow` states it


def diagonal(n: int = 400, seed: int = 0, noise: float = 0.0) -> tuple[Any, Any]:
    """Two columns that tell by their difference, and two that tell nothing."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n, 4)).round(3)
    classes = (rows[:, 0] - 0.5 * rows[:, 1] > 0.3).astype(int)
    return rows, np.where(random.random(n) < noise, 1 - classes, classes)


def table(kind: str, *, missing: bool = True, weighted: bool = False, n: int = 250, seed: int = 3) -> Dataset:
    """Rows with numbers, a category and a time, holes and weights, for each kind of target."""
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(n, 3)) * [1.0, 30.0, 0.001]
    signal = numbers @ [1.0, 1 / 30, -1000.0] + random.normal(size=n) / 2
    if missing:
        numbers[random.random(numbers.shape) < 0.08] = np.nan
    columns = {
        "a": numbers[:, 0],
        "word": random.choice(["p", "q", "r"], n),
        "b": numbers[:, 1],
        "day": np.datetime64("2024-01-01", "us") + random.integers(0, 10**9, n).astype("m8[us]"),
        "c": numbers[:, 2].astype(np.float32),
    }
    targets: dict[str, Any] = {
        "two": signal > 0,
        "three": np.digitize(signal, [-0.7, 0.7]),
        "number": signal,
        "counts": np.floor(np.exp(signal.clip(-2, 2))),
        "several": np.stack([signal > 0, numbers[:, 0] > 0.5], axis=1),
    }
    return encode(columns, targets[kind], weight=random.integers(1, 4, n) if weighted else None)


def rows_at(tree: Tree, data: Dataset, node: int) -> Dataset:
    leaf = tree.apply(data)
    return data.take((leaf >= node) & (leaf < tree.end[node]))


def of_one_column(data: Dataset, position: int) -> Dataset:
    """A table with one of its columns, the sums among them, alone."""
    column = data.columns[:, position] if isinstance(data.columns, np.ndarray) else data.columns[position]
    schema = replace(data.schema, columns=(data.schema.columns[position],))
    return Dataset(schema, (np.ascontiguousarray(column),), data.targets, data.weight)


KINDS = [("two", "gini"), ("two", "entropy"), ("two", "sqrt"), ("two", "error"), ("three", "gini"),
         ("three", "entropy"), ("number", "squared_error"), ("number", "absolute_error"),
         ("counts", "poisson"), ("several", "gini")]  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("kind", "criterion"), KINDS)
def test_every_split_is_the_best_of_its_column_or_sum(kind: str, criterion: str, weighted: bool) -> None:
    """Given the direction, threshold and side of missing values are those that the exact engine finds; a sum
    gains clearly more than the best column, and a column is the best of all.
    """
    data = table(kind, weighted=weighted)
    # plain: what competes is the gain that a tree tells
    common: dict[str, Any] = {"criterion": criterion, "min_samples_leaf": 3, "category_gain": "plain"}
    tree = grow(data, split="oblique", max_leaf_nodes=12, **common)
    checks.check_tree(tree)
    limits = {**common, "max_leaf_nodes": 2}
    n_sums = 0
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        rows = rows_at(tree, data, node)
        axis = grow(rows, **limits)
        feature = int(tree.feature[node])
        if feature < len(data.schema.columns):
            assert axis.test(0) == tree.test(node)
            continue
        n_sums += 1
        alone = grow(of_one_column(with_directions(rows, tree.directions), feature), **limits)
        assert alone.threshold[0] == tree.threshold[node]
        assert alone.missing_left[0] == tree.missing_left[node]
        assert np.isclose(alone.gain[0], tree.gain[node], rtol=1e-9)
        size = len(tree.directions[feature - len(data.schema.columns)].columns)
        assert tree.gain[node] * (1 - PRICE * (size - 1)) > axis.gain[0] * (1 - 1e-9)
    assert n_sums > 0


@pytest.mark.parametrize("seed", range(5))
def test_a_scan_against_every_threshold(seed: int) -> None:
    """Gini of every cut, with the missing rows on either side, by plain counting."""
    data = table("two", seed=seed, n=120)
    tree = grow(data, split="oblique", max_leaf_nodes=2)
    direction = tree.directions[0]
    values, y = direction.values(data), np.asarray(data.targets)[0]
    known = np.unique(values[~np.isnan(values)])

    def gini(some: Any) -> float:
        counts = np.bincount(y[some], minlength=2)
        return float(counts.sum() - (counts**2).sum() / max(counts.sum(), 1))

    best = 0.0
    for threshold in known.tolist():
        for missing_left in (True, False):
            left = np.where(np.isnan(values), missing_left, values <= threshold)
            best = max(best, gini(np.ones(len(y), bool)) - gini(left) - gini(~left))
    assert np.isclose(tree.gain[0], best, rtol=1e-12)


def test_the_diagonal_is_found_as_it_was_made() -> None:
    rows, classes = diagonal()
    tree = grow(encode(rows, classes), split="oblique")
    assert tree.n_leaves == 2
    assert tree.root.test == Combination({"x0": 1.0, "x1": -0.5}, 0.3)
    assert grow(encode(rows, classes)).n_leaves > 10


def test_exclusive_or_needs_three_leaves() -> None:
    """No column and no regression tells anything; a sum of two cuts off one of the four corners."""
    random = np.random.default_rng(0)
    corners = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 25, axis=0)
    rows = corners + random.normal(scale=0.08, size=corners.shape)
    data = encode(rows, corners.sum(axis=1) % 2)
    tree = grow(data, split="oblique")
    assert tree.n_leaves == 3
    assert (tree.predict(rows) == corners.sum(axis=1) % 2).all()


def test_numbers_along_a_slope() -> None:
    random = np.random.default_rng(1)
    rows = random.uniform(size=(500, 3))
    y = np.where(rows[:, 0] + rows[:, 2] > 1, 5.0, 0.0)
    tree = grow(encode(rows, y), split="oblique")
    assert tree.n_leaves == 2
    assert tree.root.test == Combination({"x0": 1.0, "x2": 1.0}, 1.0)


def test_three_columns_where_they_are_allowed() -> None:
    random = np.random.default_rng(2)
    rows = random.normal(size=(600, 5))
    data = encode(rows, rows[:, 0] + rows[:, 1] - rows[:, 3] > 0)
    two, three = (grow(data, split=Oblique(k), max_leaf_nodes=2) for k in (2, 3))
    assert len(two.directions[0].columns) == 2
    assert three.directions == (Direction((0, 1, 3), (1.0, 1.0, -1.0)),)
    assert three.gain[0] > two.gain[0]


def test_weights_are_short_and_largest_is_one() -> None:
    tree = grow(table("three", n=600), split=Oblique(3))
    assert len(tree.directions) > 5
    assert len(set(tree.directions)) == len(tree.directions)
    for direction in tree.directions:
        assert max(map(abs, direction.weights)) == 1
        assert direction.weights[0] > 0
        assert list(direction.columns) == sorted(direction.columns)
        for weight in direction.weights:
            digits = re.sub(r"e.*|\.|-", "", repr(weight)).strip("0")
            assert len(digits) <= 2, weight


@pytest.mark.parametrize("kind", ["two", "number"])
def test_the_same_for_any_number_of_threads(kind: str) -> None:
    data = table(kind, n=1500)
    one, four = (grow(data, split=Oblique(3), n_jobs=n) for n in (1, 4))
    assert one == four
    assert one == grow(data, split=Oblique(3))
    budget = [grow(data, split="oblique", max_leaf_nodes=9, n_jobs=n) for n in (1, 3)]
    assert budget[0] == budget[1]


def test_large_nodes_are_searched_by_a_sample_and_scanned_in_all_rows() -> None:
    rows, classes = diagonal(20_000, noise=0.05)
    data = encode(rows, classes)
    tree = grow(data, split="oblique", max_leaf_nodes=2, n_jobs=2)
    assert tree.directions == (Direction((0, 1), (1.0, -0.5)),)
    alone = grow(of_one_column(with_directions(data, tree.directions), 4), max_leaf_nodes=2)
    assert alone.threshold[0] == tree.threshold[0]
    assert np.array_equal(alone.statistic, tree.statistic)


@pytest.mark.parametrize("kind", ["two", "three", "number"])
@pytest.mark.parametrize("options", [{}, {"max_features": 2, "random_state": 1}, {"min_samples_leaf": 9}])
def test_columns_are_searched_by_histograms_as_in_lists(kind: str, options: dict[str, Any]) -> None:
    data = table(kind, n=700)
    lists, histograms = (
        grow(data, split="oblique", max_depth=5, _small_rows=rows, **options) for rows in (10**6, 40)
    )
    assert lists == histograms


def test_limits() -> None:
    data = table("two", n=600)
    assert grow(data, split="oblique", max_depth=3).depth == 3
    assert grow(data, split="oblique", max_leaf_nodes=7).n_leaves == 7
    assert grow(data, split="oblique", min_samples_leaf=40).rows.min() >= 40
    assert grow(data, split="oblique", max_leaf_nodes=1).n_leaves == 1
    weighed = table("two", n=600, weighted=True)
    least = grow(weighed, split="oblique", min_weight_fraction_leaf=0.1)
    assert least.weight.min() >= 0.1 * weighed.total_weight
    gains = grow(data, split="oblique", min_impurity_decrease=5 / 600)
    assert gains.gain[~gains.is_leaf].min() >= 5
    split = grow(data, split="oblique", min_samples_split=100)
    assert split.rows[~split.is_leaf].min() >= 100
    sure = grow(data, split="oblique", selection=Gain(significance=1e-6))
    assert 1 < sure.n_leaves < grow(data, split="oblique").n_leaves


def test_best_first_trees_grow_out_of_each_other() -> None:
    data = table("two", n=400)
    whole = grow(data, split="oblique")
    for leaves in (2, 5, 9):
        assert grow(data, split="oblique", max_leaf_nodes=leaves) == whole.first(leaves - 1)


def test_weights_are_copies_and_none_is_absence() -> None:
    data = table("two", n=200, missing=False)
    counts = np.random.default_rng(5).integers(0, 4, data.n_rows)
    weighed = grow(data.with_weight(counts.astype(float)), split="oblique", max_depth=3, min_samples_leaf=1)
    copied = grow(data.take(np.repeat(np.arange(data.n_rows), counts)), split="oblique", max_depth=3)
    assert weighed.root.test == copied.root.test
    assert np.allclose(weighed.statistic[0], copied.statistic[0])
    absent = grow(
        data.take(counts > 0).with_weight(counts[counts > 0].astype(float)), split="oblique", max_depth=3
    )
    assert absent == weighed


def test_a_missing_part_makes_the_sum_missing() -> None:
    rows, classes = diagonal(600)
    rows[::7, 1] = np.nan
    classes[::7] = 1  # so that missing sums tell something
    tree = grow(encode(rows, classes), split="oblique", max_leaf_nodes=3)
    nodes = np.flatnonzero(tree.feature >= 4)
    assert nodes.size
    assert not tree.missing_left[nodes[0]], "the larger side is that of class 1"
    assert (tree.predict(rows) == classes).all()
    holes = np.full((1, 4), np.nan)
    assert tree.predict(holes).tolist() == [1]


def test_infinite_values_do_not_stop_it() -> None:
    rows, classes = diagonal(300)
    rows[0, :2] = np.inf, -np.inf
    rows[1, :2] = np.inf, np.inf  # their difference is missing
    rows[2, 0] = 1e308
    tree = grow(encode(rows, classes), split="oblique")
    checks.check_tree(tree)
    assert (tree.predict(rows) == classes).all()


def test_only_numbers_are_added_up() -> None:
    tree = grow(table("two", n=600), split=Oblique(3))
    kinds = {tree.schema.columns[c].kind for each in tree.directions for c in each.columns}
    assert kinds == {"number"}
    assert tree.directions


@pytest.mark.parametrize(
    "columns",
    [
        {"job": ["a", "b", "a", "c", "b", "c"] * 5},
        {"x": np.arange(30.0)},
        {"x": np.arange(30.0), "same": np.zeros(30)},
    ],
)
def test_without_two_numbers_it_is_the_plain_tree(columns: Any) -> None:
    data = encode(columns, [0, 1, 1, 0, 0] * 6)
    assert grow(data, split="oblique") == grow(data)


def test_chance_only_draws_sums() -> None:
    random = np.random.default_rng(0)
    rows = random.normal(size=(400, 20))
    data = encode(rows, (rows[:, 2] * rows[:, 5] > 0).astype(int))
    trees = [grow(data, split="oblique", random_state=seed) for seed in (0, 0, 2)]
    assert trees[0] == trees[1]
    assert trees[0] != trees[2]


def test_drawn_columns_bound_the_sums() -> None:
    rows, classes = diagonal(500)
    tree = grow(encode(rows, classes), split="oblique", max_features=2, random_state=4)
    checks.check_tree(tree)
    assert tree.n_leaves > 2


def test_many_columns_and_many_classes() -> None:
    random = np.random.default_rng(0)
    rows = random.normal(size=(400, 60))
    classes = np.digitize(rows[:, 7] + rows[:, 41], np.linspace(-2, 2, 9))
    tree = grow(encode(rows, classes), split="oblique", max_leaf_nodes=10)
    assert Direction((7, 41), (1.0, 1.0)) in tree.directions
    wide = encode(random.normal(size=(900, 3)), random.integers(0, 300, 900))
    checks.check_tree(grow(wide, split="oblique", max_leaf_nodes=20))


def test_what_is_refused() -> None:
    data = table("two")
    with pytest.raises(ValueError, match="split='slanted' is not possible"):
        grow(data, split="slanted")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="columns=1 is not possible; it must be an int >= 2"):
        grow(data, split=Oblique(1))
    with pytest.raises(ValueError, match="splitter='random' does not go with split='oblique'"):
        grow(data, split="oblique", splitter="random")
    with pytest.raises(ValueError, match="Oblique: columns=1 is not possible; it must be an int >= 2"):
        DecisionTreeClassifier(split="oblique").set_params(split__columns=1)
    with pytest.raises(ValueError, match="split='x' is not possible; it must be one of 'axis', 'oblique'"):
        DecisionTreeRegressor(split="x").fit([[1.0], [2.0]], [0.0, 1.0])


def test_estimators() -> None:
    rows, classes = diagonal(500, noise=0.1)
    model = DecisionTreeClassifier(split="oblique", max_leaf_nodes=2).fit(rows, classes)
    assert model.score(rows, classes) > 0.85
    assert model.feature_importances_.tolist() == [0.5, 0.5, 0.0, 0.0]
    with pytest.raises(AttributeError, match=r"tree_ is not available: the tree tests 'x0 - 0\.5 x1'"):
        model.tree_  # noqa: B018
    numbers = DecisionTreeRegressor(split="oblique", max_leaf_nodes=2).fit(rows, rows[:, 0] + rows[:, 1] > 0)
    assert numbers.model_.directions[0].columns == (0, 1)
    seeds = [
        DecisionTreeClassifier(split="oblique", random_state=s).fit(rows, classes).model_ for s in (0, 0)
    ]
    assert seeds[0] == seeds[1]
    pruned = DecisionTreeClassifier(split="oblique", pruning="cost_complexity", random_state=0)
    assert pruned.fit(rows, classes).get_n_leaves() <= 6


def test_progress_rises_and_its_exception_ends_the_growing() -> None:
    rows, classes = diagonal(30_000, noise=0.2)
    told: list[float] = []
    grow(encode(rows, classes), split="oblique", max_leaf_nodes=30, progress=told.append)
    assert all(a <= b for a, b in pairwise(told))
    assert told
    assert 0 <= told[0] <= told[-1] <= 1

    def stop(_: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        grow(encode(rows, classes), split="oblique", progress=stop)
