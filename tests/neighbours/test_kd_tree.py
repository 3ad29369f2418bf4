"""The k-d tree: exact search is brute force, defeatist search is so in its own leaf."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from treewright import KDTree

Array = NDArray[Any]
METRICS = ("euclidean", "manhattan", "chebyshev", "minkowski")
POOLS = {
    "few": st.sampled_from([0.0, -0.0, 1.0, 2.0]),
    "whole": st.integers(-5, 5).map(float),
    "any": st.floats(-1e6, 1e6, width=32),
    "extreme": st.sampled_from(
        [0.0, 5e-324, 1e-200, 1.0, math.nextafter(1.0, 2.0), 1e200, -1.7e308, 1.7e308]
    ),
    "mostly equal": st.sampled_from([3.0] * 9 + [1.0]),
}


@st.composite
def problems(draw: st.DrawFn) -> tuple[Array, Array, dict[str, Any]]:
    """Points, queries (some of them points), and how the tree is to be built."""
    kind = draw(st.sampled_from(list(POOLS)))
    d, n = draw(st.integers(1, 20)), draw(st.integers(1, 40))
    dtype = np.float64 if kind == "extreme" else draw(st.sampled_from([np.float32, np.float64]))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    pool = np.array(draw(st.lists(POOLS[kind], min_size=1, max_size=12)))
    points = random.choice(pool, (n, d)).astype(dtype)
    queries = np.concatenate([points[:3].astype(np.float64), random.choice(pool, (4, d))])
    options = {
        "leaf_size": draw(st.sampled_from([1, 2, 3, 8, 40])),
        "metric": draw(st.sampled_from(METRICS)),
        "p": draw(st.sampled_from([1.5, 3, 20])),
        "rule": draw(st.sampled_from(["widest", "cycle"])),
    }
    return points, queries, options


def power(base: float, exponent: float) -> float:
    """That of the C library, as in the core; numpy's may differ in the last bit."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf


powers = np.vectorize(power, otypes=[float])


def sums(points: Array, queries: Array, metric: str, p: float) -> Array:
    """What is compared, as it is documented: added up in float64, column by column."""
    total = np.zeros((len(queries), len(points)))
    with np.errstate(over="ignore"):
        for c in range(points.shape[1]):
            apart = np.abs(queries[:, None, c] - points[None, :, c].astype(np.float64))
            if metric == "chebyshev":
                total = np.maximum(total, apart)
            elif metric == "minkowski":
                total = total + powers(apart, p)
            else:
                total = total + (apart * apart if metric == "euclidean" else apart)
    return total


def brute_force(points: Array, queries: Array, metric: str, p: float) -> tuple[Array, Array]:
    """All distances in order, ties by index, and whose they are."""
    total = sums(points, queries, metric, p)
    index = np.argsort(total, axis=1, kind="stable")
    ordered = np.take_along_axis(total, index, axis=1)
    if metric == "minkowski":
        return powers(ordered, 1 / p), index
    return (np.sqrt(ordered) if metric == "euclidean" else ordered), index


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(problems(), st.data())
def test_exact_search_is_brute_force(
    problem: tuple[Array, Array, dict[str, Any]], data: st.DataObject
) -> None:
    points, queries, options = problem
    k = data.draw(st.integers(1, len(points)))
    spill = data.draw(st.sampled_from([0.0, 0.0, 0.1]))
    tree = KDTree(
        points, spill=spill, **options | {"leaf_size": max(options["leaf_size"], 8 if spill else 1)}
    )
    distance, index = tree.query(queries, k)
    true_distance, true_index = brute_force(points, queries, options["metric"], options["p"])
    np.testing.assert_array_equal(distance, true_distance[:, :k])
    np.testing.assert_array_equal(index, true_index[:, :k])


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(problems(), st.data())
def test_a_radius_reaches_what_is_at_exactly_its_distance(
    problem: tuple[Array, Array, dict[str, Any]], data: st.DataObject
) -> None:
    points, queries, options = problem
    tree = KDTree(points, **options)
    true_distance, true_index = brute_force(points, queries, options["metric"], options["p"])
    rank = data.draw(st.integers(0, len(points) - 1))
    r = true_distance[:, rank]
    counts = tree.query_radius(queries, r, count_only=True)
    np.testing.assert_array_equal(counts, (true_distance <= r[:, None]).sum(axis=1))
    index, distance = tree.query_radius(queries, r, return_distance=True, sort_results=True)
    unsorted = tree.query_radius(queries, r)
    for i, n in enumerate(counts):
        np.testing.assert_array_equal(distance[i], true_distance[i, :n])
        np.testing.assert_array_equal(index[i], true_index[i, :n])
        assert set(unsorted[i].tolist()) == set(index[i].tolist())


def own_leaf(tree: KDTree, query: Array, k: int) -> Array:
    """The points of the smallest node on the query's way that holds k, found by the arrays of the tree."""
    arrays = tree.arrays
    way, node = [0], 0
    while arrays["column"][node] >= 0:
        node = int(arrays["left" if query[arrays["column"][node]] < arrays["cut"][node] else "right"][node])
        way.append(node)
    for node in reversed(way):
        inside = points_below(tree, node)
        if len(inside) >= k:
            return inside
    raise AssertionError("the root holds fewer than k points")


def points_below(tree: KDTree, node: int) -> Array:
    arrays = tree.arrays
    waiting, found = [node], set()
    while waiting:
        here = waiting.pop()
        if arrays["column"][here] >= 0:
            waiting += [int(arrays["left"][here]), int(arrays["right"][here])]
        else:
            begin, size = int(arrays["begin"][here]), int(arrays["size"][here])
            found.update(arrays["order"][begin : begin + size].tolist())
    return np.array(sorted(found))


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(problems(), st.data())
def test_defeatist_search_is_brute_force_in_its_own_leaf(
    problem: tuple[Array, Array, dict[str, Any]], data: st.DataObject
) -> None:
    points, queries, options = problem
    spill = data.draw(st.sampled_from([0.0, 0.05, 0.2]))
    tree = KDTree(
        points, spill=spill, **options | {"leaf_size": max(options["leaf_size"], 8 if spill else 1)}
    )
    k = data.draw(st.integers(1, len(points)))
    distance, index = tree.query(queries, k, search="defeatist")
    exact, _ = tree.query(queries, k)
    assert (distance >= exact).all()
    for i, query in enumerate(queries):
        inside = own_leaf(tree, query, k)
        near, which = brute_force(points[inside], query[None], options["metric"], options["p"])
        np.testing.assert_array_equal(distance[i], near[0, :k])
        np.testing.assert_array_equal(index[i], inside[which[0, :k]])


@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from([0.0, 0.1, 0.3]))
def test_the_tree_is_what_it_says(problem: tuple[Array, Array, dict[str, Any]], spill: float) -> None:
    points, _, options = problem
    size = max(options["leaf_size"], 12 if spill else 1)
    tree = KDTree(points, spill=spill, **options | {"leaf_size": size})
    np.testing.assert_array_equal(tree.data, points)
    assert tree.data.dtype == points.dtype
    arrays = tree.arrays
    leaves = arrays["column"] < 0
    homes = [
        arrays["order"][begin : begin + home]
        for begin, home in zip(arrays["begin"][leaves], arrays["home"][leaves], strict=True)
    ]
    assert sorted(np.concatenate(homes).tolist()) == list(range(len(points)))  # each is at home once
    assert (tree.n_nodes, tree.n_leaves) == (len(leaves), leaves.sum())
    assert len(arrays["order"]) == arrays["size"].sum() == round(tree.copies * len(points))
    for node in range(tree.n_nodes):
        inside = points[points_below(tree, node)]
        if leaves[node]:
            assert len(inside) <= size or (inside == inside[0]).all() or tree.depth >= 16
            continue
        column, cut = arrays["column"][node], arrays["cut"][node]
        assert inside[:, column].min() < cut <= inside[:, column].max()  # no half is empty
        left, right = (points_below(tree, int(arrays[side][node])) for side in ("left", "right"))
        assert len(left) < len(inside) > len(right)
        if not spill:
            assert (points[left, column] < cut).all()
            assert (points[right, column] >= cut).all()
            ordered = np.sort(inside[:, column])
            median = ordered[len(ordered) // 2]
            assert cut == (median if median > ordered[0] else ordered[ordered > median].min())


def test_the_rule_of_the_lecture_notes() -> None:
    """Columns in turn, L = {x < median}, R = {x >= median}: seven points in the plane, by hand."""
    points = [[2, 3], [5, 4], [9, 6], [4, 7], [8, 1], [7, 2], [6, 6]]
    arrays = KDTree(points, leaf_size=1, rule="cycle").arrays
    # the median of 2 4 5 6 7 8 9 is 6: (2, 3) (5, 4) (4, 7) | (9, 6) (8, 1) (7, 2) (6, 6)
    # left, by y: 3 4 7, median 4: (2, 3) | (5, 4) (4, 7); these by x: 4 5, upper median 5: (4, 7) | (5, 4)
    # right, by y: 1 2 6 6, upper median 6: (8, 1) (7, 2) | (9, 6) (6, 6); then by x: 8, and 9
    assert arrays["column"].tolist() == [0, 1, -1, 0, -1, -1, 1, 0, -1, -1, 0, -1, -1]
    cuts = arrays["cut"]
    assert cuts[~np.isnan(cuts)].tolist() == [6, 4, 5, 6, 8, 9]
    assert arrays["order"].tolist() == [0, 3, 1, 5, 4, 6, 2]


def test_the_widest_column_is_cut() -> None:
    points = np.array([[0, 0.0], [1, 10], [2, 20], [3, 30]])
    assert KDTree(points, leaf_size=2).arrays["column"][0] == 1
    assert KDTree(points, leaf_size=2, rule="cycle").arrays["column"][0] == 0


@pytest.mark.parametrize("rule", ["widest", "cycle"])
def test_equal_points_make_one_leaf(rule: Any) -> None:
    tree = KDTree(np.ones((500, 3)), leaf_size=1, rule=rule)
    assert (tree.n_nodes, tree.depth) == (1, 0)
    distance, index = tree.query(np.ones((1, 3)), 500)
    assert index[0].tolist() == list(range(500))
    assert not distance.any()


def test_one_hot_points_do_not_make_a_chain() -> None:
    """Each column parts one point from the others: it ends before it takes the square of the time."""
    points = np.eye(400)
    tree = KDTree(points, leaf_size=1)
    assert tree.depth == int(2 * math.log2(400) + 16)
    assert tree.arrays["size"].max() == 400 - tree.depth
    distance, index = tree.query(points[::50], 2)
    assert index[:, 0].tolist() == list(range(0, 400, 50))
    assert index[:, 1].tolist() == [1, *[0] * 7]
    np.testing.assert_array_equal(distance, [[0, math.sqrt(2)]] * 8)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 7])
def test_many_points_beside_scipy_and_with_threads(d: int, dtype: Any) -> None:
    """Large enough for samples, threads and portions of queries."""
    random = np.random.default_rng(d)
    points = random.normal(size=(30_000, d)).astype(dtype)
    points[::5] = points[0]  # and many ties
    queries = random.normal(size=(1500, d))
    peer = cKDTree(points.astype(np.float64))
    true_distance, _ = peer.query(queries, 60)
    answers = []
    for threads in (1, 2, 3):
        tree = KDTree(points, n_jobs=threads)
        distance, index = tree.query(queries, 60)
        near, which = tree.query(queries, 1)
        counts = tree.query_radius(queries, 0.1, count_only=True)
        inside, how_far = tree.query_radius(queries, 0.1, return_distance=True)
        loose = tree.query(queries, 3, search="defeatist")
        answers.append(
            [distance, index, near, which, counts, np.concatenate(inside), np.concatenate(how_far)]
        )
        answers[-1] += [*loose, *tree.arrays.values()]
    np.testing.assert_allclose(distance, true_distance, rtol=1e-12)
    np.testing.assert_array_equal(near, distance[:, :1])
    np.testing.assert_array_equal(which, index[:, :1])
    np.testing.assert_array_equal(counts, peer.query_ball_point(queries, 0.1, return_length=True))
    for other in answers[1:]:
        for mine, its in zip(answers[0], other, strict=True):
            np.testing.assert_array_equal(mine, its)


def test_spill_is_the_same_with_threads() -> None:
    random = np.random.default_rng(0)
    points, queries = random.normal(size=(25_000, 3)), random.normal(size=(500, 3))
    one, three = (KDTree(points, spill=0.05, n_jobs=jobs) for jobs in (1, 3))
    for mine, its in zip(one.arrays.values(), three.arrays.values(), strict=True):
        np.testing.assert_array_equal(mine, its)
    for mine, its in zip(*(tree.query(queries, search="defeatist") for tree in (one, three)), strict=True):
        np.testing.assert_array_equal(mine, its)
    np.testing.assert_array_equal(one.query(queries, 9)[0], KDTree(points).query(queries, 9)[0])


def test_spill_zero_is_the_plain_tree() -> None:
    random = np.random.default_rng(0)
    points = random.random((500, 3))
    plain, spilled = KDTree(points, leaf_size=9), KDTree(points, leaf_size=9, spill=0.0)
    for mine, its in zip(plain.arrays.values(), spilled.arrays.values(), strict=True):
        np.testing.assert_array_equal(mine, its)
    assert plain.copies == 1


def test_a_share_of_each_half_is_taken_over() -> None:
    """100 points in a row, spill 0.1: each half of 50 takes at most ten of the other."""
    arrays = KDTree(np.arange(100.0)[:, None], leaf_size=60, spill=0.1).arrays
    leaves = [
        sorted(arrays["order"][begin : begin + size].tolist())
        for begin, size in zip(arrays["begin"][1:], arrays["size"][1:], strict=True)
    ]
    assert leaves == [list(range(60)), list(range(41, 100))]
    assert arrays["home"][1:].tolist() == [50, 50]


def test_float32_points_are_measured_in_float64() -> None:
    points = np.array([[16_777_216.0], [16_777_218.0]], dtype=np.float32)
    distance, _ = KDTree(points).query([[16_777_217.5]], 2)
    assert distance.tolist() == [[0.5, 1.5]]


def test_n_visited_counts_the_points_that_are_compared() -> None:
    random = np.random.default_rng(0)
    points, queries = random.random((4096, 2)), random.random((200, 2))
    tree = KDTree(points, leaf_size=16)
    assert (tree.n_visited(queries, search="defeatist") == 16).all()
    exact = tree.n_visited(queries)
    assert exact.min() >= 16
    assert exact.mean() < 200
    assert (tree.n_visited(queries, k=4096) == 4096).all()


@pytest.mark.parametrize("spill", [0.0, 0.1])
def test_pickle_and_copies(spill: float) -> None:
    random = np.random.default_rng(0)
    points, queries = random.random((300, 2)).astype(np.float32), random.random((20, 2))
    tree = KDTree(points, 7, "chebyshev", rule="cycle", spill=spill)
    for other in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert repr(other) == repr(tree)
        assert (other.leaf_size, other.metric, other.rule, other.spill) == (7, "chebyshev", "cycle", spill)
        np.testing.assert_array_equal(other.data, points)
        for mine, its in zip(tree.arrays.values(), other.arrays.values(), strict=True):
            np.testing.assert_array_equal(mine, its)
        np.testing.assert_array_equal(other.query(queries, 5)[1], tree.query(queries, 5)[1])


def test_points_are_copied() -> None:
    points = np.arange(10.0)[:, None]
    tree = KDTree(points)
    points[:] = 0
    assert tree.query([[9.0]], return_distance=False).tolist() == [[9]]


@pytest.mark.parametrize(
    ("X", "said"),
    [
        ([1.0, 2.0], "1 dimensions instead of 2"),
        (np.empty((0, 2)), r"shape \(0, 2\).*at least one row"),
        (np.empty((2, 0)), r"shape \(2, 0\).*one column"),
        ([["a", "b"]], "takes numbers"),
        (np.array([[1, "a"]], dtype=object), "other things than numbers"),
        ([[1j, 0]], "takes numbers"),
        ([[1.0, 2.0], [math.nan, 0.0]], "row 1, column 0 of the points is NaN"),
        ([[1.0, math.inf]], "row 0, column 1 of the points is inf"),
        (np.array([[1.0, -math.inf]], dtype=np.float32), "row 0, column 1 of the points is -inf"),
        (scipy.sparse.eye(3), "dense"),
    ],
)
def test_points_that_cannot_be(X: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        KDTree(X)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"leaf_size": 0}, "leaf_size=0 is not possible; it must be an int >= 1"),
        ({"leaf_size": 2.5}, "leaf_size=2.5 is not possible; it must be an int >= 1"),
        ({"metric": "cosine"}, "metric is 'cosine'; it must be one of"),
        ({"metric": None}, "metric is None"),
        ({"p": 0.5}, "p=0.5 is not possible; it must be a number >= 1, or infinity"),
        ({"p": math.nan}, "p=nan is not possible"),
        ({"p": "2"}, "p='2' is not possible"),
        ({"rule": "random"}, "rule='random' is not possible; it must be one of 'widest', 'cycle'"),
        ({"spill": 0.5}, r"spill=0.5 is not possible; it must be a number in \[0, 0.5\)"),
        ({"spill": -0.1}, "spill=-0.1 is not possible"),
        ({"spill": math.nan}, "spill=nan is not possible"),
        ({"spill": 0.4, "leaf_size": 1}, "smaller spill or a larger leaf_size"),
        ({"n_jobs": 0}, "n_jobs=0 is not possible"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        KDTree(np.random.default_rng(0).random((5000, 2)), **options)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda tree: tree.query([[0, 0]], 0), "k is 0; it must be at least 1"),
        (lambda tree: tree.query([[0, 0]], 4), "k is 4; it must be at most 3, the number of points"),
        (lambda tree: tree.query([[0, 0]], 1.5), "k is 1.5; it must be a whole number"),
        (lambda tree: tree.query([[0, 0]], True), "k is True; it must be a whole number"),
        (lambda tree: tree.query([[0, 0]], k=np.True_), "k is True; it must be a whole number"),
        (lambda tree: tree.query([[0]]), "X has 1 columns, but the tree has 2"),
        (lambda tree: tree.query([0, 0]), "1 dimensions"),
        (lambda tree: tree.query([[0, 0], [0, math.nan]]), "row 1, column 1 of the queries is NaN"),
        (lambda tree: tree.query([[0, 0]], search="quick"), "search='quick' is not possible"),
        (lambda tree: tree.query_radius([[0, math.inf]], 1), "row 0, column 1 of the queries is inf"),
        (lambda tree: tree.query_radius([[0, 0]], -1), "r is -1.0; it must be a number >= 0"),
        (lambda tree: tree.query_radius([[0, 0]], [math.nan]), r"r\[0\] is nan"),
        (lambda tree: tree.query_radius([[0, 0]], [1, 2]), r"r has the shape \(2,\)"),
        (lambda tree: tree.query_radius([[0, 0]], 1, True, True), "count_only and return_distance"),
        (
            lambda tree: tree.query_radius([[0, 0]], 1, sort_results=True),
            "sort_results is True, but return_distance is not",
        ),
        (
            lambda tree: tree.query_radius([[0, 0]], 1, count_only=True, sort_results=True),
            "sort_results is True, but return_distance is not",
        ),
    ],
)
def test_questions_that_cannot_be(ask: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ask(KDTree([[0, 0], [1, 1], [2, 0]]))


def test_no_queries() -> None:
    tree = KDTree([[0.0], [1.0]])
    distance, index = tree.query(np.empty((0, 1)), 2)
    assert distance.shape == index.shape == (0, 2)
    assert tree.query_radius(np.empty((0, 1)), 1.0).shape == (0,)


def test_names_of_metrics() -> None:
    points, query = [[0.0, 0.0], [10.0, 10.0]], [[3.0, 4.0]]
    for options, distance in (
        ({}, 5.0),
        ({"metric": "l2"}, 5.0),
        ({"metric": "cityblock"}, 7.0),
        ({"p": 1}, 7.0),
        ({"metric": "infinity"}, 4.0),
        ({"p": math.inf}, 4.0),
    ):
        assert KDTree(points, **options).query(query)[0] == distance
    assert KDTree(points).query_radius(query, math.inf, count_only=True).tolist() == [2]
