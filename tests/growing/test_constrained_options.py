"""Each option of the constrained grower in cases small enough to work out by hand, and what it promises in
general."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.growing.constrained_cases import Arrays, grow_constrained
from tests.strategies import table_of

nan = float("nan")
inf = float("inf")


def paths(tree: Arrays) -> list[list[int]]:
    """The columns tested on the way to each leaf; the nodes of one split count once."""
    out: list[list[int]] = []
    stack: list[tuple[int, list[int]]] = [(0, [])]
    while stack:
        node, above = stack.pop()
        if tree["feature"][node] < 0:
            out.append(above)
            continue
        here = above if tree["joined"][node] else [*above, int(tree["feature"][node])]
        stack += [(child, here) for child in (node + 1, tree["end"][node + 1])]
    return out


def noisy(n: int = 400, d: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(d, n)).round(2) + 0.0
    return x, x[0] + x[1] * x[2] + rng.normal(size=n)


def test_surrogates_send_rows_whose_value_is_missing() -> None:
    x0 = [1, 2, 3, 4, 5, 6, nan, nan]
    x1 = [10, 20, 45, 40, 50, 60, 15, 55]
    y = [0, 0, 0, 1, 1, 1, 0, 1]
    tree = grow_constrained(table_of([x0, x1], y).dataset(), "gini", missing="surrogate", n_surrogates=5)
    assert tree["feature"].tolist() == [0, -1, -1]
    assert (tree["low"][0], tree["high"][0]) == (3, 4)
    assert tree["statistic"].tolist() == [[4, 4], [4, 0], [0, 4]]
    assert tree["missing_left"].tolist() == [1, 0, 0]  # three known rows on each side: left
    assert tree["surrogate_node"].tolist() == [0]
    assert tree["surrogate_feature"].tolist() == [1]
    assert (tree["surrogate_low"][0], tree["surrogate_high"][0]) == (20, 40)  # as good as 45 | 50, and lower
    assert tree["surrogate_agreement"].tolist() == [5 / 6]
    assert tree["surrogate_adjusted"].tolist() == [2 / 3]
    assert tree["surrogate_reversed"].tolist() == [0]
    assert tree["surrogate_subset"].tolist() == [-1]


def test_surrogates_may_be_reversed_or_categories_and_are_ranked() -> None:
    x0 = [1, 2, 3, 4, 5, 6]
    x1 = [6, 5, 3, 4, 2, 1]  # high where x0 is low, one row of six on the wrong side
    code = [3, 3, 3, 0, 0, 1]
    useless = [1, 1, 2, 2, 1, 2]
    y = [0, 0, 0, 1, 1, 1]
    data = table_of([x0, x1, code, useless], y, kinds=["number", "number", "category", "number"]).dataset()
    tree = grow_constrained(data, "gini", missing="surrogate", n_surrogates=5)
    assert tree["feature"][0] == 0
    assert tree["surrogate_feature"].tolist() == [2, 1, 3]
    assert tree["surrogate_agreement"].tolist() == [1.0, 5 / 6, 4 / 6]
    assert tree["surrogate_reversed"].tolist() == [0, 1, 0]
    assert (tree["surrogate_low"][1], tree["surrogate_high"][1]) == (2, 3)
    assert tree["surrogate_subset"].tolist() == [0, -1, -1]
    # 3 goes left, 0 and 1 right, and what nobody has with the heavier side, the left one
    assert tree["surrogate_subsets"].tolist() == [0b11111100]
    two = grow_constrained(data, "gini", missing="surrogate", n_surrogates=2)
    assert two["surrogate_feature"].tolist() == [2, 1]


@pytest.mark.parametrize("criterion", ["gini", "error"])
def test_rows_whose_value_is_known_may_be_of_one_class(criterion: str) -> None:
    data = table_of([[0, 1, 0, 1, -1, -1]], [0, 0, 0, 0, 1, 2], kinds=["category"]).dataset()
    tree = grow_constrained(data, criterion, missing="surrogate", n_surrogates=1)
    assert tree["feature"].tolist() == [0, -1, -1]
    assert tree["statistic"].tolist() == [[4, 1, 1], [2, 1, 1], [2, 0, 0]]


def test_a_missing_value_goes_down_both_branches_in_parts() -> None:
    tree = grow_constrained(
        table_of([[1, 2, 3, nan]], [0, 0, 1, 1]).dataset(), "gini", missing="fractional", max_depth=1
    )
    assert tree["rows"].tolist() == [4, 3, 2]
    assert (tree["low"][0], tree["high"][0]) == (2, 3)
    np.testing.assert_allclose(tree["statistic"], [[2, 2], [2, 2 / 3], [0, 4 / 3]], rtol=1e-15)
    assert tree["missing_left"].tolist() == [1, 0, 0]


def test_parts_of_rows_count_as_parts() -> None:
    x0 = [1, 2, 3, 4, nan, nan]
    x1 = [1, 1, 1, 1, 1, 2]
    y = [0.0, 0.0, 9.0, 9.0, 0.0, 5.0]
    data = table_of([x0, x1], y).dataset()
    some: dict[str, Any] = {"missing": "fractional", "max_depth": 2}
    tree = grow_constrained(data, "squared_error", **some)
    assert tree["rows"][0] == 6
    np.testing.assert_allclose(tree["statistic"][1][0], 3.0)  # two rows, and half of two
    # by x1 the sixth row could be told from the others, but it is half a row in each child
    assert not (tree["feature"][1:] == 1).any()


def test_missing_numbers_are_a_branch_of_their_own() -> None:
    data = table_of([[1, 2, nan, nan]], [0, 1, 2, 2]).dataset()
    tree = grow_constrained(data, "gini", missing="category")
    assert tree["feature"].tolist() == [0, 0, -1, -1, -1]
    assert tree["joined"].tolist() == [0, 1, 0, 0, 0]
    assert tree["step"].tolist() == [0, 1, -1, -1, -1]
    assert tree["low"][:2].tolist() == [inf, 1]
    assert tree["high"][:2].tolist() == [inf, 2]
    assert tree["missing_left"].tolist() == [0, 1, 0, 0, 0]
    assert tree["statistic"].tolist() == [[1, 1, 2], [1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 2]]
    # where nothing tells the known ones apart, they stay together
    two = grow_constrained(table_of([[1, 1, nan, nan]], [0, 1, 2, 2]).dataset(), "gini", missing="category")
    assert two["joined"].tolist() == [0, 0, 0]
    assert two["low"][0] == inf
    # the three branches are one split: a budget has room for both nodes of it, or for none
    assert len(grow_constrained(data, "gini", missing="category", max_splits=1)["end"]) == 1


def test_groups_once_and_a_number_of_columns() -> None:
    x, y = noisy()
    data = table_of(list(x), y).dataset()
    some: dict[str, Any] = {"min_rows_leaf": 4}
    free = [set(path) for path in paths(grow_constrained(data, "squared_error", **some))]
    assert any(len(path) == 4 for path in free)
    groups = [[0, 1], [1, 2]]
    for path in paths(grow_constrained(data, "squared_error", groups=groups, **some)):
        assert any(set(path) <= set(group) for group in [*groups, [3]])
    for path in paths(grow_constrained(data, "squared_error", once=True, **some)):
        assert len(path) == len(set(path))
    for most in range(4):
        tree = grow_constrained(data, "squared_error", max_columns_used=most, **some)
        used = set(tree["feature"][tree["feature"] >= 0].tolist())
        assert len(used) == most
        assert (len(tree["end"]) > 50) == (most > 0)


def test_a_price_is_paid_once_on_a_path() -> None:
    x0 = [1, 2, 3, 4, 5, 6, 7, 8]
    x1 = [1, 1, 1, 2, 1, 2, 2, 2]
    y = [0, 0, 0, 0, 1, 1, 1, 0]
    data = table_of([x0, x1], y).dataset()
    # x0: 0000 | 1110 gains 3.75 − 1.5 = 2.25; x1: 0001 | 0110 gains 3.75 − 1.5 − 2 = .25
    assert grow_constrained(data, "gini", prices=np.array([7.9, 0.0]))["feature"][0] == 0
    assert grow_constrained(data, "gini", prices=np.array([8.1, 0.0]))["feature"][0] == 1
    free = grow_constrained(data, "gini")
    dear = grow_constrained(data, "gini", prices=np.array([5.0, 5.0]), min_gain=0.3)
    # 2.25 / 6 = .375 for the first look at x0, and .75 + .75 for the second one, which is free
    assert free["feature"].tolist() == dear["feature"].tolist() == [0, -1, 0, -1, -1]
    assert len(grow_constrained(data, "gini", prices=np.array([7.0, 5.0]), min_gain=0.3)["end"]) == 1


def answers(tree: Arrays, columns: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The value of the leaf of every row of numbers without gaps."""
    at = np.zeros(columns.shape[1], dtype=int)
    while (tree["feature"][at] >= 0).any():
        inner = tree["feature"][at] >= 0
        x = columns[tree["feature"][at], np.arange(len(at))]
        left = np.where(np.isnan(x), tree["missing_left"][at] > 0, x <= tree["low"][at])
        at = np.where(
            inner, np.where(left, at + 1, tree["end"][np.minimum(at + 1, len(tree["end"]) - 1)]), at
        )
    return value[at]


@pytest.mark.parametrize("missing", ["learn", "category"])
@pytest.mark.parametrize("n_classes", [0, 2, 4])
def test_answers_follow_monotone_columns(n_classes: int, missing: str) -> None:
    x, y = noisy(600, seed=n_classes)
    x[0, ::9] = nan
    if n_classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    monotone = np.array([1, 0, -1, 0], dtype=np.int8)
    criterion = "gini" if n_classes else "squared_error"
    data = table_of(list(x), y).dataset()
    tree = grow_constrained(data, criterion, monotone=monotone, missing=missing, min_rows_leaf=2)
    assert (np.isin(tree["feature"], [0, 2])).sum() > 5
    statistic = tree["statistic"]
    shares = np.cumsum(statistic, axis=1)[:, :-1] / statistic.sum(axis=1)[:, None]
    values = -shares.T if n_classes else [statistic[:, 1]]
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(4, 2000))
    farthest = 0.0
    for column, direction in ((0, 1), (2, -1)):
        more = rows.copy()
        more[column] += rng.exponential(size=2000)
        for value in values:
            moved = answers(tree, more, value) - answers(tree, rows, value)
            assert (direction * moved > -1e-12).all()
            farthest = max(farthest, float((direction * moved).max()))
    assert farthest > 0.01


def test_costs_say_which_classes_to_tell_apart() -> None:
    data = table_of([[1, 2, 3]], [0, 1, 2]).dataset()
    costs = np.array([[0, 0.1, 3], [0.1, 0, 2], [3, 2, 0]])
    assert grow_constrained(data, "gini")["low"][0] == 1  # a tie
    assert grow_constrained(data, "gini", costs=costs)["low"][0] == 2
    # the rows of a third class that costs nothing dilute what the other two cost
    diluted = table_of([[1, 1, 2, 2]], [0, 1, 2, 2]).dataset()
    assert (
        len(grow_constrained(diluted, "gini", costs=np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]]))["end"])
        == 1
    )
    ones = np.ones((3, 3)) - np.eye(3)
    assert len(grow_constrained(diluted, "gini", costs=ones)["end"]) == 3


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_a_branch_for_each_category(criterion: str) -> None:
    y = np.array([0, 0, 1, 1, 2, 2])
    data = table_of(
        [[0, 0, 1, 1, 2, -1]],
        y if criterion == "gini" else y * 1.0,
        kinds=["category"],
        categories=5,
    ).dataset()
    tree = grow_constrained(data, criterion, multiway=True)
    assert tree["feature"].tolist() == [0, -1, 0, -1, 0, -1, -1]
    assert tree["joined"].tolist() == [0, 0, 1, 0, 1, 0, 0]
    assert tree["step"].tolist() == [0, -1, 1, -1, 2, -1, -1]
    assert tree["rows"].tolist() == [6, 2, 4, 2, 2, 2, 0]  # the last one is for categories without rows
    assert tree["subsets"].tolist() == [0b1, 0b10, 0b100]
    assert tree["missing_left"].tolist() == [0, 0, 0, 0, 1, 0, 0]  # where they do least harm
    if criterion == "squared_error":
        assert tree["statistic"][-1].tolist() == [0, 2, 0]  # it answers as the node above
    own = grow_constrained(data, criterion, multiway=True, missing="category")
    assert own["rows"].tolist() == [6, 2, 4, 2, 2, 1, 1, 1, 0]
    assert own["subsets"].tolist() == [0b1, 0b10, 0b100, 0]
    assert own["missing_left"].tolist() == [0, 0, 0, 0, 0, 0, 1, 0, 0]
    shared = grow_constrained(data, criterion, multiway=True, missing="fractional", max_depth=1)
    assert shared["rows"].tolist() == [6, 3, 4, 3, 2, 2, 0]


GOLF = """0 85 85 0 0, 0 80 90 1 0, 1 83 78 0 1, 2 70 96 0 1, 2 68 80 0 1, 2 65 70 1 0, 1 64 65 1 1,
    0 72 95 0 0, 0 69 70 0 1, 2 75 80 0 1, 0 75 70 1 1, 1 72 90 1 1, 1 81 75 0 1, 2 71 80 1 0"""


def test_release_8_of_c45() -> None:
    outlook, temperature, humidity, windy, play = np.array(
        [[int(cell) for cell in row.split()] for row in GOLF.split(",")]
    ).T
    data = table_of(
        [outlook, temperature, humidity, windy],
        play,
        kinds=["category", "number", "number", "category"],
        categories=3,
    ).dataset()
    some: dict[str, Any] = {"missing": "fractional", "multiway": True, "release8": True, "min_rows_leaf": 2}
    tree = grow_constrained(data, "gain_ratio", **some)
    assert tree["feature"].tolist() == [0, 2, -1, -1, 0, -1, 3, -1, 3, -1, -1]
    assert tree["joined"].tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0]
    assert (tree["low"][1], tree["high"][1]) == (75, 75)  # a value of the table below the middle of 70 and 85
    leaves = tree["feature"] < 0
    assert tree["statistic"][leaves].tolist() == [[0, 2], [3, 0], [0, 4], [0, 3], [2, 0], [0, 0]]


@pytest.mark.parametrize("top", [inf, 2.0**60 + 256])
def test_release_8_leaves_infinite_and_neighbouring_values_on_their_sides(top: float) -> None:
    low = -inf if top == inf else 2.0**60
    data = table_of([[low] * 4 + [top] * 4], [0] * 4 + [1] * 4).dataset()
    some: dict[str, Any] = {"missing": "fractional", "multiway": True, "release8": True, "min_rows_leaf": 2}
    tree = grow_constrained(data, "gain_ratio", **some)
    assert tree["statistic"].tolist() == [[4, 4], [4, 0], [0, 4]]
    assert tree["low"][0] == low


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing": "drop"}, "missing is 'drop'"),
        ({"groups": [[0, 9]]}, "groups name a column"),
        ({"monotone": np.array([1, 1], dtype=np.int8)}, "no order"),
        ({"monotone": np.array([1, 0], dtype=np.int8), "missing": "surrogate"}, "learn or category"),
        ({"prices": np.array([1.0])}, "one number per column"),
        ({"prices": np.array([1.0, -1.0])}, "a price"),
        ({"costs": np.eye(3)}, "pair of classes"),
        ({"multiway": True, "missing": "surrogate"}, "splits into two"),
        ({"multiway": True, "critical": np.ones(2)}, "splits into two"),
        ({"release8": True}, "release8 needs"),
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, Any], message: str) -> None:
    data = table_of([[1, 2, 3], [0, 1, 0]], [0, 1, 1], kinds=["number", "category"]).dataset()
    with pytest.raises(ValueError, match=message):
        grow_constrained(data, "gini", **options)


def test_medians_are_of_whole_rows() -> None:
    data = table_of([[1, 2, 3]], [0.0, 1.0, 1.0]).dataset()
    for given in ({"missing": "fractional"}, {"missing": "category", "multiway": True}):
        with pytest.raises(ValueError, match="medians know no parts of rows"):
            grow_constrained(data, "absolute_error", **given)


def test_growing_can_be_stopped() -> None:
    x, y = noisy(30_000, 8)

    def stop(share: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        grow_constrained(table_of(list(x), y).dataset(), "squared_error", progress=stop)
