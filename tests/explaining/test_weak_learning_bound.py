"""The top-down algorithm and what the edges of its tests prove."""

from __future__ import annotations

import numpy as np
import pytest

from treewright import TopDownClassifier, encode, grow
from treewright.explaining.weak_learning_bound import _best_edges, weak_learning_bound


def drawn(seed: int, n: int = 120) -> tuple[dict, np.ndarray]:
    rng = np.random.default_rng(seed)
    table = {
        "x": rng.normal(size=n).round(1),
        "z": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        "c": rng.choice(list("abcde"), n),
    }
    y = (table["x"] + np.isin(table["c"], ["a", "d"]) + 0.7 * rng.normal(size=n) > 0.5).astype(int)
    return table, y


def brute_edge(table: dict, y: np.ndarray, rows: np.ndarray) -> float:
    """The best edge of any threshold, with missing values on either side, and of any set of categories."""
    y = y[rows]
    found = [0.0]

    def edge(left: np.ndarray) -> None:
        found.append(abs(left[y == 1].mean() - left[y == 0].mean()) / 2)

    for column in (table["x"][rows], table["z"][rows]):
        for threshold in column[~np.isnan(column)]:
            edge(column <= threshold)
            edge((column <= threshold) | np.isnan(column))
        edge(np.isnan(column))
    names = table["c"][rows]
    for bits in range(32):
        edge(np.isin(names, [name for i, name in enumerate("abcde") if bits >> i & 1]))
    return max(found)


@pytest.mark.parametrize("criterion", ["sqrt", "gini", "entropy"])
@pytest.mark.parametrize("seed", range(6))
def test_the_bound_holds_and_falls(criterion: str, seed: int) -> None:
    table, y = drawn(seed)
    data = encode(table, y)
    tree = grow(data, criterion=criterion, max_leaf_nodes=41)
    found = weak_learning_bound(tree, data)
    assert (found.error <= found.bound + 1e-12).all()
    assert (np.diff(found.bound) <= 1e-12).all()
    assert found.bound[0] <= 0.5
    assert len(found.error) == tree.n_splits + 1
    assert found.error[-1] == tree.curve(data)[-1]
    assert (found.weakest >= 0).all()
    assert found.advantage == found.weakest.min()


def test_the_best_edges_are_those_of_all_tests() -> None:
    table, y = drawn(11, n=50)
    data = encode(table, y)
    tree = grow(data, criterion="sqrt", max_leaf_nodes=7)
    leaf, edges = tree.apply(data), _best_edges(tree, data)
    for node in range(tree.n_nodes):
        rows = np.flatnonzero((leaf >= node) & (leaf < tree.end[node]))
        if len(set(y[rows].tolist())) == 2:
            assert edges[node] == pytest.approx(brute_edge(table, y, rows))
        else:
            assert np.isnan(edges[node])


def test_an_edge_of_one_half_is_all_at_once() -> None:
    data = encode({"x": np.arange(10.0)}, np.arange(10) // 5)
    for criterion, bound in (("sqrt", 0.0), ("gini", 0.25)):
        found = weak_learning_bound(grow(data, criterion=criterion), data)
        assert found.weakest.tolist() == [0.5]
        assert found.error.tolist() == [0.5, 0.0]
        assert found.bound[1] >= 0.0
        assert found.bound[1] <= 0.5
        assert found.bound[1] <= max(bound, 0.19)


def test_the_worked_example_of_the_notes() -> None:
    """q = .8 and children of .6 and 1, half each: √(q(1-q)) falls from .4 to .244949; the error stays.

    The edge is 5/16, which alone proves a fall to .4 √(1 - 4γ²).
    """
    rows = [(0, 1)] * 3 + [(0, 0)] * 2 + [(1, 1)] * 5
    data = encode({"h": [h for h, _ in rows]}, [y for _, y in rows])
    found = weak_learning_bound(grow(data, criterion="sqrt", max_leaf_nodes=2), data)
    assert found.error.tolist() == [0.2, 0.2]
    assert found.bound[0] == pytest.approx(0.4)
    assert found.edge[0] == 5 / 16
    assert found.bound[1] == pytest.approx(0.4 * (1 - 4 * (5 / 16) ** 2) ** 0.5)
    assert found.bound[1] > 0.244949


def test_the_classifier_makes_so_many_splits() -> None:
    table, y = drawn(3)
    model = TopDownClassifier(n_splits=7).fit(table, y)
    assert model.model_.n_splits == 7
    assert model.model_.criterion == "sqrt"
    assert model.model_ == grow(encode(table, y), criterion="sqrt", max_leaf_nodes=8)
    found = model.weak_learning_bound(table, y)
    assert "7 splits by sqrt leave a training error of at most" in str(found)
    assert found.to_dict()["edge"] == found.edge.tolist()
    none = TopDownClassifier(n_splits=0).fit(table, y).weak_learning_bound(table, y)
    assert "No split" in str(none)
    assert len(none.error) == 1
    plain = TopDownClassifier(n_splits=3, criterion="error").fit(table, y).weak_learning_bound(table, y)
    assert "has no bound" in str(plain)
    assert (plain.bound == plain.bound[0]).all()
    with pytest.raises(ValueError, match="n_splits"):
        TopDownClassifier(n_splits=-1).fit(table, y)


def test_the_curves_are_drawn() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    table, y = drawn(3)
    axes = TopDownClassifier(n_splits=5).fit(table, y).weak_learning_bound(table, y).plot()
    assert len(axes.lines) == 2
    assert len(axes.lines[0].get_xdata()) == 6


def test_other_rows_and_other_trees_are_refused() -> None:
    table, y = drawn(1)
    data = encode(table, y)
    tree = grow(data, criterion="sqrt", max_leaf_nodes=4)
    with pytest.raises(ValueError, match="rows that the tree was grown from"):
        weak_learning_bound(tree, encode(*drawn(2), schema=data.schema))
    three = encode({"x": [1, 2, 3]}, ["a", "b", "c"])
    with pytest.raises(ValueError, match="two classes"):
        weak_learning_bound(grow(three), three)
    with pytest.raises(ValueError, match="no such theorem"):
        weak_learning_bound(grow(data, criterion="gain_ratio"), data)
