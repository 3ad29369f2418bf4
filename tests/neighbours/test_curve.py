"""The curve of defeatist search, beside its definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from treewright import KDTree, defeatist_curve


def test_the_curve_is_what_it_says() -> None:
    random = np.random.default_rng(0)
    points, queries = random.random((3000, 3)), random.random((300, 3))
    curve = defeatist_curve(points, queries, 4, spills=(0.0, 0.1), leaf_sizes=(20, 80), n_jobs=2)
    assert curve.spill.tolist() == [0.0, 0.1, 0.0, 0.1]
    assert curve.leaf_size.tolist() == [20, 20, 80, 80]
    assert (curve.n_points, curve.n_queries, curve.k) == (3000, 300, 4)
    truth, near = KDTree(points).query(queries, 4)
    assert curve.n_visited_exact == KDTree(points, 20).n_visited(queries, 4).mean()
    for i in range(4):
        tree = KDTree(points, int(curve.leaf_size[i]), spill=float(curve.spill[i]))
        distance, index = tree.query(queries, 4, search="defeatist")
        assert curve.copies[i] == tree.copies
        assert curve.n_visited[i] == tree.n_visited(queries, 4, search="defeatist").mean()
        assert curve.exact_share[i] == pytest.approx((index == near).all(axis=1).mean())
        hits = [len(set(a) & set(b)) / 4 for a, b in zip(index, near, strict=True)]
        assert curve.recall[i] == pytest.approx(np.mean(hits))
        assert curve.distance_ratio[i] == pytest.approx((distance.mean(axis=1) / truth.mean(axis=1)).mean())
    assert str(curve).splitlines()[0].split() == [
        "spill", "leaf_size", "copies", "visited", "exact", "recall", "distance",
    ]  # fmt: skip
    assert len(str(curve).splitlines()) == 6


def test_the_curve_of_queries_that_are_points() -> None:
    """Whoever is in the tree finds itself, and its distance of zero has no ratio."""
    points = np.random.default_rng(0).random((500, 2))
    curve = defeatist_curve(points, points[:50], spills=(0.0,))
    assert curve.exact_share.tolist() == curve.recall.tolist() == curve.distance_ratio.tolist() == [1.0]


def test_the_curve_can_be_drawn() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    random = np.random.default_rng(0)
    ax = defeatist_curve(random.random((300, 2)), random.random((30, 2)), spills=(0, 0.1)).plot()
    assert "queries with the exact answer" in ax.get_ylabel()
    assert [text.get_text() for text in ax.texts] == ["0", "0.1"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"spills": ()}, "spills or leaf_sizes is empty"),
        ({"leaf_sizes": ()}, "spills or leaf_sizes is empty"),
        ({"queries": np.empty((0, 2))}, "queries has no rows"),
        ({"k": 9}, "k is 9; it must be at most 3"),
        ({"spills": (0.7,)}, "spill=0.7 is not possible"),
    ],
)
def test_curves_that_cannot_be(given: dict[str, Any], said: str) -> None:
    points = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]
    with pytest.raises(ValueError, match=said):
        defeatist_curve(**{"X": points, "queries": points} | given)
