"""Coverage by simulation: a bound fails no more often than it says."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from simulations.counting import counted
from simulations.situations import SITUATIONS

from tests.tree.small_trees import YES_NO, stump
from treewright import certify, encode, grow
from treewright.certifying import BOUNDS, binomial_upper, leaf_intervals
from treewright.encoding import Dataset as Rows


def test_coverage_of_certificates() -> None:
    """A tree with a true error of 10 %: held-out rows get it wrong in at most a share δ of all draws."""
    draw = np.random.default_rng(3)
    tree, rows = stump([9, 1], [1, 9]), 60
    wrong = draw.binomial(rows, 0.1, 200_000)
    for delta in (0.05, 0.2):
        for _ in range(10):
            x = draw.integers(0, 2, rows)
            y = np.where(draw.random(rows) < 0.1, 1 - x, x)
            test = Rows(YES_NO, x.astype(float)[:, np.newaxis], y[np.newaxis].astype(np.int32))
            limit = binomial_upper((x != y).sum(), rows, -log(delta))
            assert certify(tree, test=test, delta=delta).value == limit
        missed = (binomial_upper(np.arange(rows + 1), rows, -log(delta))[wrong] < 0.1).mean()
        assert delta / 4 < missed <= delta + 4 * np.sqrt(delta / len(wrong))


def test_coverage_after_choosing() -> None:
    """The best of 30 worthless trees on 50 rows: δ/30 holds, δ alone does not."""
    draw = np.random.default_rng(5)
    best = draw.binomial(50, 0.5, (20_000, 30)).min(axis=1)
    counts = np.arange(51)
    assert (binomial_upper(counts, 50, log(20 * 30))[best] < 0.5).mean() <= 0.05
    assert (binomial_upper(counts, 50, log(20))[best] < 0.5).mean() > 0.3


@pytest.mark.slow
def test_coverage_of_occam_on_noise() -> None:
    """Trees grown on labels of pure noise: none of 60 gets a bound below the true error, one half."""
    draw = np.random.default_rng(11)
    for trial in range(60):
        data = encode(draw.integers(0, 9, (300, 5)).astype(float), draw.integers(0, 2, 300), classes=True)
        tree = grow(data, max_leaf_nodes=2 + trial % 20)
        for name in BOUNDS:
            assert certify(tree, name, data=data, delta=0.5).value >= 0.5


def test_coverage_where_rows_bring_their_own_categories() -> None:
    """Each of the lighter class has a name of its own, the others share one: the tree knows all training rows
    by heart and is wrong on every new row of the lighter class, 45 %.
    """
    draw = np.random.default_rng(7)
    regular = draw.random(1000) < 0.55
    names = ["regular" if x else f"guest {i}" for i, x in enumerate(regular)]
    data = encode({"name": names}, regular, classes=True)
    tree = grow(data)
    assert tree.loss[tree.is_leaf].sum() == 0
    new = encode({"name": ["regular", "a new guest"]}, [True, False], schema=data.schema)
    assert tree.loss_of(new)[tree.is_leaf].sum() == 1
    for name in BOUNDS:
        assert certify(tree, name, data=data, delta=0.5).value > 0.45
        assert certify(tree, name, data=data).check()


def test_coverage_of_leaf_intervals() -> None:
    draw = np.random.default_rng(2)
    tree, truth, missed = stump([9, 1], [1, 9]), np.array([0.1, 0.3]), 0
    for _ in range(150):
        x = draw.integers(0, 2, 40)
        y = np.where(draw.random(40) < truth[x], 1 - x, x)
        found = leaf_intervals(
            tree, Rows(YES_NO, x.astype(float)[:, np.newaxis], y[np.newaxis].astype(np.int32)), delta=0.2
        )
        missed += not ((found.lower <= truth) & (truth <= found.upper)).all()
    assert missed <= 0.2 * 150


def test_a_certificate_that_fails_too_often_is_noticed() -> None:
    """The battery below can fail: half as much again as δ is too often."""
    from simulations.counting import Count

    assert Count("made up", "held_out", draws=500, failed=150).chance(0.2) < 1e-4
    assert Count("made up", "held_out", draws=500, failed=110).chance(0.2) > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("situation", SITUATIONS)
def test_every_certificate_holds_in_every_situation(situation: str) -> None:
    """500 tables each; the chance of so many failures, if each has the chance δ, is no small one.

    `make simulate` draws thousands.
    """
    counts = {count.certificate: count for count in counted(500, 0.2, 1, [situation])}
    for count in counts.values():
        assert count.chance(0.2) > 1e-4, f"{count} fails more often than it says"
        assert not count.is_missing, f"{count} is refused"
    for name in BOUNDS:
        if situation in ("priors", "distilled"):
            assert counts[name].refused == counts[name].draws > 0
        if situation == "weights":
            assert (
                counts[name].refused == counts[name].given == 500
            )  # of each pair the one of unequal weights
    if "held_out" in counts:  # rows that were never used always say something
        assert counts["held_out"].given == counts["held_out"].draws >= 490
