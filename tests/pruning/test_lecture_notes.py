"""The lemmas of the lecture notes on pruning, by exact tails and on tables whose true error is known."""

from __future__ import annotations

from itertools import product
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom

from tests.pruning.cases import case
from tests.shapes import all_prunings
from treewright import (
    Below,
    Branch,
    Column,
    Dataset,
    Leaf,
    Schema,
    Target,
    Tree,
    encode,
    grow,
    overfitting_curve,
    prune,
)
from treewright.certifying import excess
from treewright.datasets import load_spam
from treewright.metrics import confusion_matrix

CUBE = np.array(list(product((0.0, 1.0), repeat=4)))
DELTA = 0.05


def population(noise: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The chance of class 1 at each corner of the cube: x0 and x1, or x2, with noise; x3 says nothing."""
    sense = np.where(CUBE[:, 0] == 1, CUBE[:, 1], CUBE[:, 2])
    return CUBE, noise + (1 - 2 * noise) * sense


def sample(rows: int, noise: float, seed: int) -> Dataset:
    random = np.random.default_rng(seed)
    corners, chance = population(noise)
    drawn = random.integers(0, len(corners), rows)
    return encode(corners[drawn], (random.random(rows) < chance[drawn]).astype(int))


def true_losses(tree: Tree, noise: float) -> NDArray[np.float64]:
    """p_v ε_v(∅): the chance to reach a node and to be wrong there, were it a leaf."""
    corners, chance = population(noise)
    leaf = tree.apply(corners)
    wrong = np.where(tree.label[:, 0][:, None] == 1, 1 - chance, chance) / len(corners)
    reached = (leaf >= np.arange(tree.n_nodes)[:, None]) & (leaf < tree.end[:, None])
    return np.asarray((wrong * reached).sum(axis=1))


def best_pruning(tree: Tree, loss: NDArray[np.float64]) -> list[int]:
    """The leaves of T_opt: the least true error, the fewest leaves among equals."""
    prunings = [list(leaves) for leaves in all_prunings(tree.end)]
    return min(prunings, key=lambda leaves: (round(loss[leaves].sum(), 12), len(leaves)))


def leaves_in(tree: Tree, pruned: Tree) -> list[int]:
    """The nodes of a tree that are the leaves of one of its prunings."""
    found, node = [], 0
    inner = iter(pruned.is_leaf.tolist())
    while node < tree.n_nodes:
        if next(inner):
            found.append(node)
            node = int(tree.end[node])
        else:
            node += 1
    return found


def below(leaves: list[int], tree: Tree, others: list[int]) -> bool:
    """Whether each of the `others` lies at or below one of the leaves: the pruning is a subtree of theirs."""
    return all(any(leaf <= other < tree.end[leaf] for leaf in leaves) for other in others)


def test_lemma_12_2_by_exact_tails() -> None:
    """Hoeffding's inequality is 2 exp(-2 λ² m); the exp(-λ² m) of the notes is not true for all m."""
    for m, p in product((1, 5, 30), np.linspace(0.01, 0.99, 25)):
        for errors in range(m + 1):
            gap = abs(errors / m - p)
            tail = binom.cdf(np.floor(m * (p - gap) + 1e-9), m, p)
            tail += binom.sf(np.ceil(m * (p + gap) - 1e-9) - 1, m, p)
            assert tail <= 2 * np.exp(-2 * gap**2 * m) + 1e-12
    assert binom.cdf(0, 1, 0.5) + binom.sf(0, 1, 0.5) > np.exp(-(0.5**2))


def test_lemma_12_2_for_all_paths_and_trees() -> None:
    """With the right constants, more than the lemma allows happens in less than a share δ of the samples."""
    noise, rows, draws = 0.2, 200, 200
    _, chance = population(noise)
    tests = [CUBE[:, j] == value for j in range(4) for value in (0.0, 1.0)]
    paths = [np.ones(16, bool), *tests, *(a & b for a, b in product(tests, tests) if (a & b).any())]
    trees = [np.zeros(16, bool), np.ones(16, bool), *tests]
    wrong = np.where(np.array(trees), 1 - chance, chance)
    here = np.array(paths, float)
    true = here @ wrong.T / here.sum(axis=1, keepdims=True)
    failures = 0
    random = np.random.default_rng(1)
    for _ in range(draws):
        count = np.bincount(random.integers(0, 16, rows), minlength=16)
        ones = random.binomial(count, chance)
        errors = here @ np.where(np.array(trees), count - ones, ones).T
        reached = here @ count
        allowed = np.sqrt((log(len(paths)) + log(len(trees)) + log(2 / DELTA)) / (2 * reached))
        failures += bool((abs(errors / reached[:, None] - true) > allowed[:, None]).any())
    assert failures <= DELTA * draws


def test_lemma_12_3() -> None:
    """With c = √2 and exact counts the pruned tree is a subtree of T_opt; without a penalty often not."""
    outside = {sqrt(2): 0, 0.0: 0}
    for seed in range(25):
        tree = grow(sample(200, 0.4, seed))
        optimal = best_pruning(tree, true_losses(tree, 0.4))
        for c in outside:
            pruned = prune(tree, "bottom_up", c=c, form="counted", delta=DELTA).pruned
            outside[c] += not below(leaves_in(tree, pruned), tree, optimal)
    assert outside[sqrt(2)] == 0
    assert outside[0.0] > 10


@pytest.mark.parametrize("rows", [5_000, 100_000])
def test_theorem_12_5(rows: int) -> None:
    """The error above that of the best pruning falls with √(s/m), below the bound with a constant of 1."""
    for seed in range(5):
        tree = grow(sample(rows, 0.3, seed))
        loss = true_losses(tree, 0.3)
        optimal = best_pruning(tree, loss)
        pruned = prune(tree, "bottom_up", c=sqrt(2), form="counted", delta=DELTA).pruned
        more = loss[leaves_in(tree, pruned)].sum() - loss[optimal].sum()
        depth = int(tree.depths[optimal].max())
        bound = excess(2 * len(optimal) - 1, depth, rows=rows, columns=4, delta=DELTA)
        assert 0 <= more + 1e-12 <= bound
        if rows == 100_000:
            assert bound < 0.2
            assert more < 1e-12


@given(seed=st.integers(0, 2**20))
def test_equation_12_9(seed: int) -> None:
    """What a pruning errs more is the sum over the nodes that it made leaves."""
    tree = grow(sample(80, 0.3, seed))
    loss = true_losses(tree, 0.3)
    pruned = prune(tree, "cost_complexity", alpha=0.02).pruned
    leaves = leaves_in(tree, pruned)
    more = sum(
        loss[leaf] - loss[leaf : tree.end[leaf]][tree.is_leaf[leaf : tree.end[leaf]]].sum() for leaf in leaves
    )
    assert true_losses(pruned, 0.3)[pruned.is_leaf].sum() - loss[tree.is_leaf].sum() == pytest.approx(
        more, abs=1e-12
    )


def test_lemma_12_4_by_exact_tails() -> None:
    """If p > 12 ln(t/δ)/m, less than half of the expected rows arrive with probability δ/t at most."""
    for m, t in product((500, 5000), (1, 10, 100)):
        least = 12 * log(t / DELTA) / m
        for p in np.linspace(least, 1, 30) if least < 1 else []:
            tail = binom.cdf(np.floor(m * p / 2), m, p)
            assert tail <= np.exp(-m * p / 12) + 1e-15
            assert tail <= DELTA / t


def test_the_best_prunings_of_two_sizes_need_not_be_comparable() -> None:
    """Of five leaves, four are best without the left branch, three with it and without the right one."""
    schema = Schema((Column("x"), Column("y")), (Target("class", ("a", "b")),))
    left = Branch(Below("y", 1), Leaf([5, 0]), Leaf([0, 2]))
    right = Branch(Below("y", 1), Leaf([0, 4]), Branch(Below("x", 2), Leaf([3, 0]), Leaf([0, 4])))
    tree = Tree.write(schema, Branch(Below("x", 1), left, right))
    four, three = (prune(tree, "minimum_errors")[place] for place in (1, 2))
    assert (four, three) == (tree.collapse([1]), tree.collapse([4]))
    kept = [leaves_in(tree, each) for each in (four, three)]
    assert not below(kept[0], tree, kept[1])
    assert not below(kept[1], tree, kept[0])


@given(seed=st.integers(0, 2**20))
def test_prunings_are_partially_ordered(seed: int) -> None:
    """T' ⪯ T if T' is a pruning of T: pruning twice is pruning once, and nothing comes back.

    Prunings of one tree need not be comparable.
    """
    tree = case(seed, max_leaf_nodes=6).tree
    prunings = [frozenset(leaves) for leaves in all_prunings(tree.end)]
    order = {
        (a, b): below(list(prunings[a]), tree, list(prunings[b]))
        for a, b in product(range(len(prunings)), repeat=2)
    }
    n = range(len(prunings))
    assert all(order[a, a] for a in n)
    assert all(a == b or not (order[a, b] and order[b, a]) for a, b in order)
    assert all(order[a, c] for a, b, c in product(n, repeat=3) if order[a, b] and order[b, c])
    for leaves in prunings[:5]:
        once = tree.collapse(sorted(leaves))
        inner = [node for node in range(once.n_nodes) if not once.is_leaf[node]][:1]
        twice = once.collapse(inner)
        assert below(leaves_in(tree, twice), tree, leaves_in(tree, once))


def test_the_largest_tree_overfits() -> None:
    """Definition of overfitting: another tree errs more on the training rows and less on all others."""
    random = np.random.default_rng(0)
    table = random.random((5300, 2))
    target = ((table[:, 0] > 0.5) ^ (random.random(5300) < 0.2)).astype(int)
    train = encode(table[:300], target[:300])
    curve = overfitting_curve(train, test=encode(table[300:], target[300:], schema=train.schema))
    assert curve.test is not None
    assert curve.training[-1] == 0 < curve.training[curve.best]
    assert curve.test[-1] > curve.test[curve.best] + 0.05
    assert (np.diff(curve.training) <= 1e-12).all()


def test_the_spam_tree_of_17_leaves() -> None:
    """The slide's matrix has an error of 4.0 + 5.3 = 9.3 %, not the 4.51 % beside it."""
    slide = np.array([[57.3, 4.0], [5.3, 33.4]])
    assert slide.sum() == pytest.approx(100)
    assert slide[0, 1] + slide[1, 0] == pytest.approx(9.3)
    spam = load_spam()
    assert (len(spam.target), len(spam.feature_names)) == (4601, 57)
    assert (spam.target == "spam").mean() == pytest.approx(0.394, abs=5e-4)
    train = encode(spam.table(~spam.is_test), spam.target[~spam.is_test])
    test = encode(spam.table(spam.is_test), spam.target[spam.is_test], schema=train.schema)
    path = prune(grow(train), "cost_complexity")
    tree = path[int(np.flatnonzero(path.leaves <= 17)[0])]
    assert 15 <= tree.n_leaves <= 17
    found = confusion_matrix(tree, test) / test.n_rows
    assert found[0, 1] + found[1, 0] == pytest.approx(0.09, abs=0.005)
