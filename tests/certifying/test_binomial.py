"""Limits of a chance: exact, inverse of what they invert, monotone; and right as often as they say."""

from __future__ import annotations

from fractions import Fraction
from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.certifying.binomial import (
    bernstein_upper,
    binomial_lower,
    binomial_upper,
    check_delta,
    hoeffding_upper,
    kl,
    kl_upper,
    log_tail,
)
from treewright.certifying.verification import binomial_sum

NATS = log(20)


def tail(k: int, n: int, p: float) -> float:
    """P(at most k wrong of n) in exact arithmetic."""
    share = Fraction(p)
    return float(sum(comb(n, j) * share**j * (1 - share) ** (n - j) for j in range(k + 1)))


@pytest.mark.slow
@given(st.integers(1, 60), st.floats(0, 1), st.floats(0.001, 0.999))
def test_the_limit_solves_its_equation_in_exact_arithmetic(n: int, share: float, delta: float) -> None:
    k = min(int(share * n), n - 1)
    p = float(binomial_upper(k, n, -log(delta)))
    assert tail(k, n, p) == pytest.approx(delta, rel=1e-9)
    low = float(binomial_lower(k + 1, n, -log(delta)))
    assert 1 - tail(k, n, low) == pytest.approx(delta, rel=1e-7)


@pytest.mark.slow
@given(st.integers(2, 3_000_000), st.floats(0, 1), st.floats(0.01, 20_000))
def test_tails_agree_with_the_sum_of_their_terms_down_to_any_depth(n: int, share: float, nats: float) -> None:
    k = min(int(share * min(n, 20_000)), n - 1)  # terms to add up
    p = float(binomial_upper(k, n, nats))
    if p < 1 - 1e-6:
        assert binomial_sum(k, n, p) == pytest.approx(-nats, rel=1e-7, abs=1e-7)
        assert float(log_tail(k, n, p)) == pytest.approx(-nats, rel=1e-7, abs=1e-7)
    assert float(kl_upper(k / n, nats / n)) >= p * (1 - 1e-12)


def test_known_values() -> None:
    n = np.array([1, 10, 1000, 10**9])
    np.testing.assert_allclose(binomial_upper(0, n, NATS), -np.expm1(np.log(0.05) / n), rtol=1e-14)
    assert binomial_upper(7, 7, NATS) == 1
    assert binomial_lower(0, 7, NATS) == 0
    assert binomial_upper(180, 3000, 5000.0) == pytest.approx(0.86520911, abs=1e-8)
    assert binomial_upper(5, 7, 5000.0) == 1
    np.testing.assert_allclose(kl([0.0, 1.0, 0.3], [0.5, 0.25, 0.3]), [np.log(2), np.log(4), 0], atol=1e-15)
    assert hoeffding_upper(0.9, 10, 50.0) == 1
    assert bernstein_upper(0.1, 0.0, 1, NATS) == 1
    assert bernstein_upper(0.1, 0.04, 50, NATS) == pytest.approx(
        0.1 + np.sqrt(2 * 0.04 * log(40) / 50) + 7 * log(40) / (3 * 49), rel=1e-14
    )


@pytest.mark.parametrize("nats", [391.65613612741834, 545.5565594512393, 740.0])
def test_limits_near_the_end_of_floating_point(nats: float) -> None:
    """Where e^-nats is tiny but still a number, and far more rows were wrong than right."""
    for k, n in ((14464, 15833), (22094, 23477), (900, 2000)):
        p = float(binomial_upper(k, n, nats))
        assert binomial_sum(k, n, p) == pytest.approx(-nats, rel=1e-9)


def test_limits_are_monotone() -> None:
    k, n, nats = np.arange(1, 60), 100, np.linspace(0.05, 200, 59)
    assert (np.diff(binomial_upper(k, n, NATS)) > 0).all()
    assert (np.diff(binomial_upper(10, n + k, NATS)) < 0).all()
    assert (np.diff(binomial_upper(10, n, nats)) > 0).all()
    assert (np.diff(kl_upper(k / n, 0.1)) > 0).all()
    assert (np.diff(kl_upper(0.2, nats / 1000)) > 0).all()
    assert (binomial_upper(k, n, NATS) <= kl_upper(k / n, NATS / n)).all()
    assert (kl_upper(k / n, NATS / n) <= hoeffding_upper(k / n, n, NATS) + 1e-15).all()
    assert (binomial_lower(k, n, NATS) < k / n).all()


@pytest.mark.slow
@given(st.floats(0, 1), st.floats(1e-9, 30))
def test_the_inverse_of_the_divergence(q: float, nats: float) -> None:
    p = float(kl_upper(q, nats))
    assert q <= p <= 1
    if p < 1 - 1e-6:
        assert float(kl(q, p)) == pytest.approx(nats, rel=1e-6, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.003, 0.08, 0.5, 0.97])
@pytest.mark.parametrize("n", [5, 60, 1000])
def test_coverage_of_counts(p: float, n: int) -> None:
    """The chance to fail, added up over all counts, is at most δ, and near it where counts are many."""
    k = np.arange(n + 1)
    terms = np.exp([binomial_sum(i, n, p) for i in range(n)] + [0.0])
    chance = np.diff(terms, prepend=0.0)
    for delta in (0.3, 0.05, 0.001):
        fails = chance[binomial_upper(k, n, -log(delta)) < p].sum()
        assert fails <= delta * (1 + 1e-9)
        assert n * p * (1 - p) < 20 or fails > delta / 4
        assert chance[binomial_lower(k, n, -log(delta)) > p].sum() <= delta * (1 + 1e-9)


def test_coverage_of_bounded_losses_by_simulation() -> None:
    """Losses of three sizes: each limit fails in at most a share δ of 20,000 draws, beyond chance."""
    draw = np.random.default_rng(7)
    n, delta, trials = 80, 0.2, 20_000
    losses = draw.choice([0.0, 0.2, 1.0], p=[0.7, 0.25, 0.05], size=(trials, n))
    mean, truth = losses.mean(axis=1), 0.25 * 0.2 + 0.05
    noise = 4 * np.sqrt(delta / trials)
    for limit in (
        kl_upper(mean, -log(delta) / n),
        hoeffding_upper(mean, n, -log(delta)),
        bernstein_upper(mean, losses.var(axis=1, ddof=1), n, -log(delta)),
    ):
        assert (limit < truth).mean() <= delta + noise
    assert (kl_upper(mean, -log(0.9) / n) < truth).mean() > delta + noise  # a mishandled δ is noticed


@pytest.mark.parametrize("delta", [0, 1, -0.1, 2, float("nan"), "0.05", None, True])
def test_delta_is_a_chance(delta: object) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        check_delta(delta)
