"""Bounds on majority votes: worked by hand and by loops, and tried on many simulated draws."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from treewright import VoteCertificate, certify_votes
from treewright.certifying import VOTE_METHODS, kl, vote_counts


def drawn(trees: int = 8, rows: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Who is wrong where, who is out of which bag, and votes."""
    draw = np.random.default_rng(seed)
    hard = draw.random(rows)
    return draw.random((trees, rows)) < hard / 2, draw.random((trees, rows)) < 0.5, draw.random(trees)


def upper(observed: float, nats: float) -> float:
    """The largest chance within a divergence, by bisection."""
    return float(brentq(lambda p: float(kl(observed, p)) - nats, observed, 1 - 1e-12, xtol=1e-14))


def counted(wrong: np.ndarray, out: np.ndarray, share: np.ndarray) -> tuple[float, float, float, int, int]:
    """One, both, one of two, and the fewest rows, in loops over trees, pairs and rows."""
    single = both = one = 0.0
    fewest = pair_fewest = 10**9
    trees, rows = wrong.shape
    for i in range(trees):
        own = [r for r in range(rows) if out[i, r]]
        fewest = min(fewest, len(own))
        single += share[i] * sum(float(wrong[i, r]) for r in own) / len(own)
        for j in range(trees):
            common = [r for r in range(rows) if out[i, r] and out[j, r]]
            pair_fewest = min(pair_fewest, len(common))
            pairs = [(float(wrong[i, r]), float(wrong[j, r])) for r in common]
            both += share[i] * share[j] * sum(a * b for a, b in pairs) / len(common)
            one += share[i] * share[j] * sum(a + b - 2 * a * b for a, b in pairs) / len(common)
    return single, both, one, fewest, pair_fewest


@pytest.mark.parametrize("kind", ["whole", "shares"])
def test_numbers_against_loops(kind: str) -> None:
    """All four bounds from counts made in loops and limits found by bisection."""
    wrong, out, votes = drawn()
    lost = wrong if kind == "whole" else np.where(wrong, 0.9, 0.2)
    share = votes / votes.sum()
    single, both, one, n, pairs = counted(lost, out, share)
    divergence = sum(p * math.log(p * len(share)) for p in share)
    delta = 0.1

    def nats(rows: int, draws: int, part: float) -> float:
        return (draws * divergence + math.log(2 * math.sqrt(rows) / part)) / rows

    assert certify_votes(lost, votes, out=out, method="first_order", delta=delta).value == pytest.approx(
        min(2 * upper(single, nats(n, 1, delta)), 1)
    )
    assert certify_votes(lost, votes, out=out, method="tandem", delta=delta).value == pytest.approx(
        min(4 * upper(both, nats(pairs, 2, delta)), 1)
    )
    g = upper(single, nats(n, 1, delta / 2))
    e = 1 - upper(1 - one, nats(pairs, 2, delta / 2))
    assert certify_votes(lost, votes, out=out, method="disagreement", delta=delta).value == pytest.approx(
        min(4 * g - 2 * e, 1)
    )
    c = 1 - (1 - 2 * g) ** 2 / (1 - 2 * e) if g < 0.5 else 1.0
    assert certify_votes(lost, votes, out=out, method="c_bound", delta=delta).value == pytest.approx(c)
    found = certify_votes(lost, votes, out=out, delta=delta)
    assert found.counts[:5] == pytest.approx((single, both, one, n, pairs))
    assert found.counts.divergence == pytest.approx(divergence)
    assert found.limits["single"] == pytest.approx(upper(single, nats(n, 1, delta / 3)))
    assert found.value == min(found.bounds.values())
    assert set(found.bounds) == set(VOTE_METHODS)


def test_a_worked_number() -> None:
    """100 trees that are never wrong on 500 rows: kl(0, p) = -ln(1 - p), so all is in closed form."""
    found = certify_votes(np.zeros((100, 500), bool), method="first_order", delta=0.05)
    p = 1 - (2 * math.sqrt(500) / 0.05) ** (-1 / 500)
    assert found.value == pytest.approx(2 * p)
    assert found.value == pytest.approx(0.02700, abs=1e-5)
    assert str(found) == (
        "100 trees, one wrong on 0.0 % of rows it was not grown from, two at once on 0.0 %   → with 95 % "
        "confidence the true error of their vote is below 2.8 % (first order)"
    )


@pytest.mark.slow
def test_second_order_wins_where_trees_err_apart() -> None:
    """Independent errors of 20 %: two at once on 4 %; the same errors of all trees: first order wins."""
    draw = np.random.default_rng(1)
    apart = certify_votes(draw.random((50, 20_000)) < 0.2)
    assert apart.method == "c_bound"
    assert apart.value < apart.bounds["tandem"] < apart.bounds["first_order"]
    alike = certify_votes(np.repeat(draw.random((1, 20_000)) < 0.2, 50, axis=0))
    assert alike.method == "first_order"


def test_rows_without_classes() -> None:
    """Of two classes: one is wrong where two differ. Many such rows sharpen the bounds that need that."""
    draw = np.random.default_rng(2)
    wrong, answers = draw.random((30, 300)) < 0.2, (draw.random((30, 20_000)) < 0.2).astype(int)
    few = certify_votes(wrong, method="c_bound")
    many = certify_votes(wrong, unlabelled=answers, method="c_bound")
    assert many.value < few.value
    assert many.counts.other_rows == 20_000
    pairs = [np.mean(answers[i] != answers[j]) for i in range(30) for j in range(30)]
    assert many.counts.one == pytest.approx(np.mean(pairs))
    assert many.check(wrong, unlabelled=answers)
    assert not many.check(wrong, unlabelled=1 - answers * (draw.random(answers.shape) < 0.5))
    assert "without classes" in many.assumptions[-1]


def test_checks_find_every_change() -> None:
    wrong, out, votes = drawn()
    found = certify_votes(wrong, votes, out=out)
    assert found.check()
    assert found.check(wrong, votes, out=out)
    assert not found.check(wrong, out=out)
    assert not found.check(wrong, votes)
    assert not found.check(~wrong, votes, out=out)
    assert not replace(found, value=found.value * 0.99).check()
    assert not replace(found, delta=0.5).check()
    for name in found.limits:
        assert not replace(found, limits={**found.limits, name: found.limits[name] * 0.99}).check(), name
    for name in found.bounds:
        assert not replace(found, bounds={**found.bounds, name: found.bounds[name] - 0.01}).check(), name


def test_nothing_to_say() -> None:
    """Too few rows: no bound, and it says so. Worse than a coin: it says that, too."""
    wrong = np.zeros((3, 4), bool)
    out = np.array([[True, False, True, False], [False, True, False, True], [True, True, True, True]])
    found = certify_votes(wrong, out=out)
    assert found.counts.pair_rows == 0
    assert found.bounds["tandem"] == 1
    assert found.check(wrong, out=out)
    nobody = certify_votes(wrong, out=np.zeros_like(wrong))
    assert nobody.value == 1
    assert nobody.check()
    assert str(nobody).endswith("nothing can be said with 95 % confidence")
    weak = certify_votes(np.random.default_rng(0).random((9, 400)) < 0.25, method="first_order")
    assert 0.5 <= weak.value < 1
    assert weak.is_vacuous
    assert "no better than a coin" in str(weak)
    assert certify_votes(np.ones((3, 50), bool)).value == 1


def test_monotone() -> None:
    """More rows, fewer errors and a larger delta make the bound smaller; unequal votes cost something."""
    wrong = np.zeros((10, 200), bool)
    wrong[:, :20] = True
    for method in VOTE_METHODS:
        value = certify_votes(wrong, method=method).value
        assert certify_votes(np.tile(wrong, 5), method=method).value < value, method
        assert certify_votes(np.tile(wrong, 5), method=method, delta=0.5).value < value
        uneven = certify_votes(wrong, np.arange(10.0), method=method)
        assert uneven.value > value
        assert uneven.counts.single == pytest.approx(0.1)


def test_a_certificate_is_a_value() -> None:
    found = certify_votes(drawn()[0])
    assert isinstance(found, VoteCertificate)
    assert pickle.loads(pickle.dumps(found)) == found
    told = json.loads(json.dumps(found.to_dict()))
    assert told["value"] == found.value
    assert told["bounds"] == dict(found.bounds)
    with pytest.raises(TypeError):
        found.bounds["tandem"] = 0.0  # type: ignore[index]
    assert found.method in repr(found)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"wrong": [True, False]}, "wrong has the shape"),
        ({"wrong": np.zeros((0, 5), bool)}, "wrong has the shape"),
        ({"wrong": [[0.5, 2.0]]}, "within"),
        ({"wrong": [[np.nan, 0.0]]}, "within"),
        ({"wrong": [["a", "b"]]}, "within"),
        ({"out": [[True, False]]}, "out must be True or False for each of 2 trees"),
        ({"out": [[1, 0, 1], [1, 1, 1]]}, "out must be True or False"),
        ({"votes": [1.0]}, "votes must be a number"),
        ({"votes": [1.0, -1.0]}, "votes must be a number"),
        ({"votes": [0.0, 0.0]}, "not all of them 0"),
        ({"votes": [np.inf, 1.0]}, "votes must be a number"),
        ({"unlabelled": [[0, 1]]}, "the answers of each of 2 trees"),
        ({"unlabelled": [[0, 1], [2, 1]]}, "two classes only"),
        ({"wrong": [[0.5, 0.0], [0.0, 1.0]], "unlabelled": [[0, 1], [0, 1]]}, "whole votes"),
        ({"method": "third_order"}, "known: first_order, tandem"),
        ({"delta": 0.0}, "delta"),
    ],
)
def test_bad_input(given: dict[str, object], message: str) -> None:
    values: dict[str, object] = {"wrong": [[True, False, True], [False, False, True]], **given}
    with pytest.raises(ValueError, match=message):
        certify_votes(values.pop("wrong"), values.pop("votes", None), **values)  # type: ignore[arg-type]


CELLS, TREES, ROWS = 60, 9, 150


def simulated(draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray, dict[str, float], float]:
    """Trees that learn the class of each of some cells from their bags: who is wrong on which row, which rows
    are out of bag, what is true of trees drawn by equal votes, and the true error of the vote.
    """
    chance = draw.choice([0.1, 0.3, 0.45, 0.7, 0.9], CELLS)  # of class 1 in each cell
    cell = draw.integers(0, CELLS, ROWS)
    y = draw.random(ROWS) < chance[cell]
    bags = draw.multinomial(ROWS, np.full(ROWS, 1 / ROWS), TREES)
    ones = np.stack([np.bincount(cell, bag * (2.0 * y - 1), CELLS) for bag in bags])
    says = ones > 0
    error = np.where(says, 1 - chance, chance)  # of each tree in each cell
    pairs = [
        (np.where(says[i] == says[j], error[i], 0.0).mean(), (says[i] != says[j]).mean())
        for i in range(TREES)
        for j in range(TREES)
    ]
    both, one = np.mean(pairs, axis=0)
    vote = np.where(says.mean(axis=0) > 0.5, 1 - chance, chance).mean()
    return says[:, cell] != y, bags == 0, {"single": error.mean(), "both": both, "one": one}, vote


@pytest.mark.slow
def test_coverage() -> None:
    """Each limit fails in at most a share δ of all draws, and the bound with them. Rows that grew the trees
    are no judges: by them the limits fail far more often.
    """
    draw, delta, draws = np.random.default_rng(7), 0.3, 400
    failed = dict.fromkeys(("single", "both", "one", "vote"), 0)
    flattered = 0
    for _ in range(draws):
        wrong, out, true, vote = simulated(draw)
        for method, name in (("first_order", "single"), ("tandem", "both")):
            failed[name] += (
                certify_votes(wrong, out=out, method=method, delta=delta).limits[name] < true[name]
            )
        found = certify_votes(wrong, out=out, method="c_bound", delta=2 * delta)
        failed["one"] += found.limits["one"] > true["one"]
        failed["vote"] += certify_votes(wrong, out=out, delta=delta).value < vote
        flattered += certify_votes(wrong, method="first_order", delta=delta).limits["single"] < true["single"]
    slack = 3 * math.sqrt(delta * (1 - delta) / draws)
    assert all(count / draws <= delta + slack for count in failed.values()), failed
    assert flattered / draws > 2 * max(failed["single"] / draws, 0.02), (flattered, failed)


def test_the_moment_that_the_least_rows_rest_on() -> None:
    """E exp(m kl(mean of n, p)) <= 2√m for n >= m: what allows to take the fewest rows for all trees."""
    from scipy.special import logsumexp
    from scipy.stats import binom

    for n in (1, 2, 5, 40, 200):
        for m in {1, max(n // 3, 1), n}:
            for p in (0.01, 0.3, 0.5):
                k = np.arange(n + 1)
                moment = logsumexp(binom.logpmf(k, n, p) + m * kl(k / n, p))
                assert moment <= math.log(2 * math.sqrt(m)) + 1e-9, (n, m, p)


def test_many_rows_go_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    from treewright.certifying import votes

    wrong, out, share = drawn(rows=200)
    whole = vote_counts(wrong, share, out=out)
    monkeypatch.setattr(votes, "_MOST_NUMBERS", 100)
    assert vote_counts(wrong, share, out=out) == pytest.approx(whole)
