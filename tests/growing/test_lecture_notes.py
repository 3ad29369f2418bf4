"""The worked numbers of the lecture notes on growing, obtained from the package's own criteria and grower."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from tests.checks import risk
from tests.strategies import table_of
from treewright import encode, grow
from treewright.growing.id3 import grow_id3
from treewright.tree import Tree

TWO_CLASS = ["error", "gini", "entropy", "sqrt"]
# The notes scale their cost functions to G(1/2) = 1/2: gini 1 - sum p^2 and sqrt are so already, bits not.
NORMAL = {"error": 1.0, "gini": 1.0, "entropy": 0.5, "sqrt": 1.0}


def gain_rate(tree: Tree, node: int = 0) -> float:
    """Gain per unit of the node's weight, as the notes give it."""
    return float(tree.gain[node] / tree.weight[node])


def cost(criterion: str, q: float | np.ndarray) -> np.ndarray:
    """The notes' G(q), from the package's criterion."""
    q = np.atleast_1d(np.asarray(q, dtype=float))
    return NORMAL[criterion] * risk(criterion, np.column_stack([q, 1 - q]))


@pytest.mark.parametrize(
    ("criterion", "before", "after"),
    [("error", 0.2, 0.2), ("gini", 0.32, 0.24), ("entropy", 0.360964, 0.242738), ("sqrt", 0.4, 0.244949)],
)
def test_figure_12_3(criterion: str, before: float, after: float) -> None:
    """q = .8 splits in the middle into .6 and 1: progress that the error does not see (fig. 12.3)."""
    table = table_of([[0] * 5 + [1] * 5], [1, 1, 1, 0, 0, 1, 1, 1, 1, 1])
    tree = table.grow(criterion, max_leaf_nodes=2)
    assert tree.n_leaves == 2
    scale = NORMAL[criterion]
    assert scale * tree.risk[0] / 10 == pytest.approx(before, abs=5e-7)
    assert scale * tree.risk[1:].sum() / 10 == pytest.approx(after, abs=5e-7)
    assert scale * gain_rate(tree) == pytest.approx(before - after, abs=1e-6)


def fifteen_rows() -> tuple[list[int], list[int], list[int]]:
    """(x1, x2): (0,0) 1+/1-, (0,1) 2+/1-, (1,0) 3+/1-, (1,1) 4+/2-."""
    cells = [(0, 0, 1, 1), (0, 1, 2, 1), (1, 0, 3, 1), (1, 1, 4, 2)]
    rows = [(a, b, y) for a, b, plus, minus in cells for y in [1] * plus + [0] * minus]
    return tuple(list(part) for part in zip(*rows, strict=True))


@pytest.mark.parametrize(
    ("criterion", "x1", "x2"),
    [("gini", 1 / 225, 0.0), ("entropy", 0.007118, 0.0), ("error", 0.0, 0.0), ("gain_ratio", 0.007118, 0.0)],
)
def test_fifteen_row_table(criterion: str, x1: float, x2: float) -> None:
    """The handwritten notes' table: x1 is worth 1/225, x2 nothing."""
    one, two, y = fifteen_rows()
    for column, wanted in ((one, x1), (two, x2)):
        tree = table_of([column], y).grow(criterion, max_depth=1)
        assert gain_rate(tree) == pytest.approx(wanted, abs=5e-7)
    root = table_of([two, one], y).grow(criterion, max_depth=1)
    assert root.feature[0] == (0 if x1 == 0 else 1)


def test_fifteen_row_table_root() -> None:
    """5 of 15 negative: 1/3 by the error, 4/9 by gini."""
    _, _, y = fifteen_rows()
    assert table_of([[0.0] * 15], y).grow("error").risk[0] / 15 == pytest.approx(1 / 3)
    assert table_of([[0.0] * 15], y).grow("gini").risk[0] / 15 == pytest.approx(4 / 9)


def iris_ratios() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    data, y = load_iris(return_X_y=True)
    return data[:, 0] / data[:, 1], data[:, 2] / data[:, 3], y


@pytest.mark.parametrize("style", ["readable", "midpoint"])
def test_iris_ratios(style: str) -> None:
    """Sepal and petal length over width: gains .323432 and .203873, with the counts of the real data.

    A threshold rounded to four digits would move the two rows at 49/18 = 2.7222... to the other side.
    """
    x1, x2, y = iris_ratios()
    tree = table_of([x1, x2], y).grow("gini", max_leaf_nodes=3, threshold=style)
    assert tree.feature[0] == 0
    assert 1.6667 <= tree.threshold[0] < 1.7647
    assert gain_rate(tree) == pytest.approx(0.323432, abs=5e-7)
    assert tree.statistic[1].tolist() == [49, 0, 0]
    second = int(tree.right[0])
    assert tree.statistic[second].tolist() == [1, 50, 50]
    assert tree.risk[second] / 101 == pytest.approx(5200 / 10201)
    assert tree.feature[second] == 1
    assert 2.72222 <= tree.threshold[second] < 2.72728
    assert gain_rate(tree, second) == pytest.approx(0.203873, abs=5e-7)
    children = tree.statistic[[tree.left[second], tree.right[second]]]
    assert sorted(children.tolist()) == [[0, 1, 31], [1, 49, 19]]
    assert sorted(tree.risk[tree.end == np.arange(tree.n_nodes) + 1][1:] / [32, 69]) == pytest.approx(
        [0.0605, 0.4197], abs=5e-5
    )


@pytest.mark.parametrize(("criterion", "gain"), [("error", 0.0), ("gini", 4 / 225), ("entropy", 0.030353)])
def test_equal_error_unequal_gini(criterion: str, gain: float) -> None:
    """1/3 -> 2/3 * 2/5 + 1/3 * 1/5: nothing gained by the error, something by gini and entropy."""
    table = table_of([[0] * 10 + [1] * 5], [1] * 4 + [0] * 6 + [1] + [0] * 4)
    assert gain_rate(table.grow(criterion, max_depth=1)) == pytest.approx(gain, abs=5e-7)


@pytest.mark.parametrize("criterion", [*TWO_CLASS, "gain_ratio"])
def test_xor(criterion: str) -> None:
    """No split gains anything; growing must not stop there."""
    tree = table_of([[0, 0, 1, 1], [0, 1, 0, 1]], [0, 1, 1, 0]).grow(criterion)
    assert tree.gain[0] == pytest.approx(0, abs=1e-15)
    assert tree.depth == 2
    assert tree.n_leaves == 4
    assert tree.risk[tree.is_leaf].sum() == 0


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2)), min_size=2, max_size=40))
def test_gain_is_mutual_information(rows: list[tuple[bool, int]]) -> None:
    """H(Y) - H(Y | h) of the notes is the entropy gain, in bits."""
    h, y = (np.array(part) for part in zip(*rows, strict=True))
    assume(len(set(h)) == 2)
    assume(len(set(y)) > 1)
    tree = table_of([h.astype(float)], y).grow("entropy", max_depth=1)
    joint = np.array([[np.mean((h == a) & (y == b)) for b in range(3)] for a in (False, True)])
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    assert gain_rate(tree) == pytest.approx(
        float((joint[seen] * np.log2(joint[seen] / apart[seen])).sum()), abs=1e-12
    )


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=60))
def test_weak_learner_lowers_gini(rows: list[tuple[bool, bool]]) -> None:
    """With edge gamma the gini gain is at least 32 gamma^2 [q(1-q)]^2, and so the 16 of the notes."""
    h, f = (np.array(part) for part in zip(*rows, strict=True))
    assume(0 < h.mean() < 1)
    assume(0 < f.mean() < 1)
    q, tau = f.mean(), h.mean()
    gamma = (h[f].mean() - h[~f].mean()) / 2
    drop = gain_rate(table_of([h.astype(float)], f.astype(int)).grow("gini", max_depth=1))
    assert drop == pytest.approx(2 * (q * (1 - q)) ** 2 * (2 * gamma) ** 2 / (tau * (1 - tau)), abs=1e-12)
    assert drop >= 32 * gamma**2 * (q * (1 - q)) ** 2 - 1e-12


@pytest.mark.parametrize("criterion", TWO_CLASS)
def test_conditions_on_the_cost_function(criterion: str) -> None:
    """G is symmetric and concave with G(0) = 0 and G(1/2) = 1/2, hence above the error."""
    q = np.linspace(0, 1, 257)
    g = cost(criterion, q)
    assert g[0] == 0
    assert g[-1] == 0
    assert cost(criterion, 0.5) == pytest.approx(0.5, abs=1e-15)
    np.testing.assert_allclose(g, g[::-1], atol=1e-15)
    assert (g[1:-1] >= (g[:-2] + g[2:]) / 2 - 1e-15).all()
    assert (g >= np.minimum(q, 1 - q) - 1e-15).all()


@pytest.mark.parametrize("criterion", TWO_CLASS)
@pytest.mark.parametrize("classes", [2, 3, 7])
def test_uncertainty_of_many_classes(criterion: str, classes: int) -> None:
    """Largest when the classes are equally heavy, zero when there is only one (lecture 4)."""
    random = np.random.default_rng(0)
    share = random.dirichlet(np.ones(classes), size=200)
    uniform = risk(criterion, np.full(classes, 1 / classes))[0]
    assert (risk(criterion, share) <= uniform + 1e-14).all()
    top = {
        "error": 1 - 1 / classes,
        "gini": 1 - 1 / classes,
        "entropy": math.log2(classes),
        "sqrt": (classes - 1) / 2,
    }
    assert uniform == pytest.approx(top[criterion])


def test_top_down_steps() -> None:
    """t steps make t inner nodes and t + 1 leaves, the best (leaf, split) pair first."""
    x1, x2, y = iris_ratios()
    table = table_of([x1, x2], y)
    full = table.grow("gini")
    for t in range(0, full.n_leaves, 5):
        assert table.grow("gini", max_leaf_nodes=t + 1).n_leaves == t + 1
    inner = np.flatnonzero(~full.is_leaf)
    order = inner[np.argsort(full.step[inner])]
    assert full.step[order].tolist() == list(range(len(order)))
    for t, chosen in enumerate(order):
        parents = full.parent[order[t:]]
        leaves = order[t:][(parents < 0) | np.isin(parents, order[:t])]  # those of the tree of t splits
        assert chosen in leaves
        assert full.gain[chosen] >= full.gain[leaves].max() - 1e-12


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=2, max_size=60))
def test_figure_12_2(rows: list[tuple[int, bool]]) -> None:
    """q = tau p + (1 - tau) r at every split: what arrives at a node is divided between its children."""
    x, f = (np.array(part) for part in zip(*rows, strict=True))
    tree = table_of([x.astype(float)], f.astype(int)).grow("gini")
    share = tree.statistic[:, -1] / tree.weight
    for node in np.flatnonzero(~tree.is_leaf):
        left, right = tree.left[node], tree.right[node]
        tau = tree.weight[left] / tree.weight[node]
        assert share[node] == pytest.approx(tau * share[left] + (1 - tau) * share[right], abs=1e-12)


def test_figure_12_4() -> None:
    """The four cost functions lie above each other, and meet at 0, 1/2 and 1 only."""
    q = np.linspace(0, 1, 201)
    order = [cost(name, q) for name in ("error", "gini", "entropy", "sqrt")]
    inside = (q > 0.005) & (q < 0.995) & (abs(q - 0.5) > 0.005)
    for lower, upper in pairwise(order):
        assert (upper[inside] > lower[inside]).all()
        np.testing.assert_allclose(upper[[0, 100, 200]], lower[[0, 100, 200]], atol=1e-15)


def test_a_leaf_that_more_inputs_reach_goes_first() -> None:
    """Pr[leaf] is part of what a split is worth: 40 rows of a smaller drop go before two of the largest."""
    first = [0] * 2 + [1] * 40
    second = [0, 1] + [0] * 20 + [1] * 20
    y = [0, 1] + [0] * 15 + [1] * 5 + [0] * 5 + [1] * 15
    tree = table_of([first, second], y).grow("gini", max_depth=2, root="x0")
    small, large = int(tree.left[0]), int(tree.right[0])
    assert gain_rate(tree, small) == pytest.approx(0.5)
    assert gain_rate(tree, large) == pytest.approx(0.125)
    assert tree.step[[0, large, small]].tolist() == [0, 1, 2]


@pytest.mark.parametrize("criterion", ["gini", "entropy", "sqrt"])
def test_lemma_12_1(criterion: str) -> None:
    """After t splits some leaf has Pr[leaf] >= error/3t and errs on at least error/3 of its inputs."""
    random = np.random.default_rng(0)
    for _ in range(20):
        x = random.random((3, 80)).round(1)
        y = ((x[0] > 0.4) ^ (x[1] > 0.6) ^ (random.random(80) < 0.2)).astype(int)
        for t in range(1, 12):
            tree = table_of(list(x), y).grow(criterion, max_leaf_nodes=t + 1)
            if tree.n_leaves < t + 1:
                break
            leaves = tree.is_leaf
            reached = tree.weight[leaves] / tree.weight[0]
            wrong = tree.loss[leaves] / tree.weight[leaves]
            error = float(reached @ wrong)
            assert ((reached >= error / (3 * t)) & (wrong >= error / 3)).any()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()), min_size=1, max_size=30))
def test_leaves_of_the_largest_tree(rows: list[tuple[int, int, bool]]) -> None:
    """Growth ends at leaves of one class or of identical vectors (the slides on pruning, T_max)."""
    a, b, y = (np.array(part) for part in zip(*rows, strict=True))
    table = table_of([a.astype(float), b.astype(float)], y.astype(int))
    tree = table.grow("gini")
    leaf = tree.apply(np.column_stack([a, b]).astype(float))
    for each in np.unique(leaf):
        here = leaf == each
        assert len(set(y[here].tolist())) == 1 or len(set(zip(a[here], b[here], strict=True))) == 1


def papayas() -> tuple[dict[str, list[str]], list[str]]:
    """A papaya is tasty if its colour is pale green to pale yellow and it gives slightly to the hand."""
    colours, softness = ["green", "pale green", "yellow"], ["hard", "gives slightly", "mushy"]
    fruits = [(colour, touch) for colour in colours for touch in softness]
    table = {"colour": [colour for colour, _ in fruits], "softness": [touch for _, touch in fruits]}
    return table, ["tasty" if each == ("pale green", "gives slightly") else "not tasty" for each in fruits]


def test_papayas() -> None:
    """The first example of the book and its digest: two questions, three leaves."""
    table, taste = papayas()
    tree = grow(encode(table, taste), category_gain="plain")
    assert tree.n_leaves == 3
    assert tree.depth == 2
    assert tree.predict(table).tolist() == taste


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=2, max_size=40))
def test_variables_of_one_and_minus_one(rows: list[tuple[bool, bool, bool]]) -> None:
    """c(x) = (1 + x)/2 turns -1 and 1 into 0 and 1: both are the same columns to the tree.

    The error of a tree of one split is the sum of phi(P[y | side]) P[side] over both sides.
    """
    one, two, y = (np.array(part) for part in zip(*rows, strict=True))
    indicators = table_of([one.astype(float), two.astype(float)], y.astype(int))
    signs = table_of([2.0 * one - 1, 2.0 * two - 1], y.astype(int))
    tree, other = indicators.grow("gini", max_depth=1), signs.grow("gini", max_depth=1)
    assert tree.feature.tolist() == other.feature.tolist()
    assert tree.statistic.tolist() == other.statistic.tolist()
    if tree.n_leaves == 2:
        side = (one, two)[int(tree.feature[0])]
        parts = [(y[side == value].mean(), (side == value).mean()) for value in (False, True)]
        assert tree.loss[1:].sum() / len(y) == pytest.approx(sum(min(a, 1 - a) * p for a, p in parts))


def test_each_level_tests_the_next_column() -> None:
    """Gains fall from x1 to x3: the tree of the figure, and what is left of it without its last level."""
    corners = np.array(list(product((-1, 1), repeat=3)))
    y = [int(k < 7 + score) for score in corners @ [3, 2, 1] for k in range(14)]
    rows = corners.repeat(14, axis=0)
    tree = table_of(list(rows.T.astype(float)), y).grow("gini")
    assert tree.n_leaves == 8
    assert tree.feature[~tree.is_leaf].tolist() == tree.depths[~tree.is_leaf].tolist()
    pruned = tree.collapse(np.flatnonzero(tree.depths == 2))
    assert pruned.n_leaves == 4
    share = np.array([4, 12, 16, 24]) / 28
    assert pruned.loss[pruned.is_leaf].sum() / 112 == pytest.approx(np.minimum(share, 1 - share).mean())
    small = grow_id3(
        encode(
            {f"x{j}": rows[:, j] for j in range(3)}, y, kinds=dict.fromkeys(("x0", "x1", "x2"), "category")
        )
    )
    assert small.feature[~small.is_leaf].tolist() == tree.feature[~tree.is_leaf].tolist()
