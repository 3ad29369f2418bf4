"""Confidence limits of a probability: exact for counts, by kl and Hoeffding for any bounded loss.

All functions take arrays, and the confidence as `nats` = ln(1/δ), so that δ = 2^-5000 does not underflow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MOST_NATS = 60.0  # beyond, the inverse incomplete beta function of scipy 1.17 is sometimes far off
_MOST_STEPS = 200  # of Newton's method; it needs a dozen
_SMALL_STEP = 1e-9  # of the solution: what is left after it is of the order of its square
_MOST_TERMS = 1000  # of the continued fraction; it needs a few dozen
_DEEPEST = -600.0  # the logarithm of the smallest tail that is taken from scipy


def check_delta(delta: Any) -> None:
    """ValueError unless delta is a probability, neither 0 nor 1."""
    if isinstance(delta, bool) or not isinstance(delta, int | float | np.number) or not 0 < delta < 1:
        raise ValueError(f"delta is {delta!r}; it is the chance of being wrong, between 0 and 1: 0.05")


def binomial_upper(errors: Any, rows: Any, nats: Any) -> Floats:
    """The largest p with P(at most `errors` wrong of `rows`) >= e^-nats: an exact upper limit.

    Clopper and Pearson's one-sided limit, by the inverse of the incomplete beta function where e^-nats is
    not too small. Beyond that by logarithms: that of the tail is concave in p, and Chernoff's limit is never
    below the exact one, so that Newton's method walks down from there and never below the solution.

    >>> binomial_upper(80, 1000, np.log(20)).round(4).item()
    0.0956
    >>> binomial_upper(0, 50, np.log(20)).item() == 1 - 0.05 ** (1 / 50)
    True
    """
    from scipy.special import betainccinv

    k, n, t = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (errors, rows, nats)))
    with np.errstate(all="ignore"):
        p: Floats = np.asarray(betainccinv(k + 1, n - k, np.exp(-np.minimum(t, _MOST_NATS))))
    none = k == 0
    p = np.where(none, -np.expm1(-t / n), np.where(k < n, p, 1.0))
    todo = np.flatnonzero(~none & (k < n) & ((t > _MOST_NATS) | ~np.isfinite(p)))
    if todo.size:
        k, n, t = k.flat[todo], n.flat[todo], t.flat[todo]
        p.flat[todo] = _newton(k, n, t, kl_upper(k / n, t / n))
    return p


def _newton(k: Floats, n: Floats, t: Floats, start: Floats) -> Floats:
    p = start.copy()
    todo = np.flatnonzero(p < 1)
    for _ in range(_MOST_STEPS):
        if not todo.size:
            break
        a, b, x = n[todo] - k[todo], k[todo] + 1, p[todo]
        tail, density = _log_tail(a, b, x)
        step = (tail + t[todo]) * np.exp(tail - density)  # of a tail that falls by its density
        p[todo] = np.clip(x + step, k[todo] / n[todo] * 1e-9, 1.0)
        todo = todo[np.abs(step) > _SMALL_STEP * x]
    return p


def log_tail(errors: Any, rows: Any, chance: Any) -> Floats:
    """The logarithm of P(at most `errors` wrong of `rows`), errors < rows, however small it is.

    >>> np.exp(log_tail(1, 3, 0.5)).round(6).item()
    0.5
    """
    k, n, p = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (errors, rows, chance)))
    tail = _log_tail((n - k).ravel(), (k + 1).ravel(), p.ravel())[0]
    return tail.reshape(k.shape)


def _log_tail(a: Floats, b: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Logarithms of I_{1-p}(a, b), the probability of fewer than b of a + b - 1, and of its slope in p."""
    from scipy.special import betainc, betaln

    with np.errstate(divide="ignore", invalid="ignore"):  # a chance of 1 has a tail of 0
        front = a * np.log1p(-p) + b * np.log(p) - betaln(a, b)
        density = front - np.log(p) - np.log1p(-p)
        tail = np.log(betainc(a, b, 1 - p))
    # Where it leaves the range of floating point; so far from the mean the fraction converges fast.
    deep = np.flatnonzero((tail < _DEEPEST) & (p < 1))
    fraction = _continued_fraction(a[deep], b[deep], 1 - p[deep])
    tail[deep] = front[deep] - np.log(a[deep]) + np.log(fraction)
    return tail, density


def _continued_fraction(a: Floats, b: Floats, x: Floats) -> Floats:
    """The fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method."""
    tiny = 1e-300
    c = np.ones_like(x)
    d = 1 - (a + b) * x / (a + 1)
    d = 1 / np.where(np.abs(d) < tiny, tiny, d)
    value = d.copy()
    for m in range(1, _MOST_TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + term * d
            d = 1 / np.where(np.abs(d) < tiny, tiny, d)
            c = 1 + term / c
            c = np.where(np.abs(c) < tiny, tiny, c)
            value = value * d * c
        if (np.abs(d * c - 1) < 1e-14).all():
            break
    return value


def binomial_lower(errors: Any, rows: Any, nats: Any) -> Floats:
    """The smallest p with P(at least `errors` wrong of `rows`) >= e^-nats.

    >>> binomial_lower(80, 1000, np.log(20)).round(4).item()
    0.0663
    """
    rows = np.asarray(rows, np.float64)
    return 1 - binomial_upper(rows - errors, rows, nats)


def kl(observed: Any, chance: Any) -> Floats:
    """The divergence q ln(q/p) + (1-q) ln((1-q)/(1-p)) of two probabilities, in nats.

    >>> kl([0.0, 0.5, 0.5], [0.5, 0.5, 1.0]).round(4).tolist()
    [0.6931, 0.0, inf]
    """
    q, p = np.broadcast_arrays(np.asarray(observed, np.float64), np.asarray(chance, np.float64))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(p < 2 * q, np.log1p((p - q) / q), np.log(p) - np.log(q))
        ones = np.where(q > 0, -q * ratio, 0.0)
        others = np.where(q < 1, (1 - q) * (np.log1p(-q) - np.log1p(-p)), 0.0)
    return np.asarray(ones + others)


def kl_upper(observed: Any, nats: Any) -> Floats:
    """The largest p with kl(observed, p) <= nats. With nats = ln(1/δ)/m this is Chernoff's limit.

    It holds for the mean of any independent losses within [0, 1]. In p the divergence is convex and rising:
    Newton's method walks down from the smaller of two limits that are never below the solution.

    >>> kl_upper(0.06, 0.01).round(4).item()
    0.0995
    """
    q, c = np.broadcast_arrays(np.asarray(observed, np.float64), np.asarray(nats, np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = np.where((q > 0) & (q < 1), -q * np.log(q) - (1 - q) * np.log1p(-q), 0.0)
        far = np.where(q < 1, -np.expm1(-(c + entropy) / (1 - q)), 1.0)
    p = np.minimum(q + np.sqrt(c / 2), far)
    for _ in range(_MOST_STEPS):
        open_ = (p < 1) & (p > q)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(open_, (kl(q, p) - c) * p * (1 - p) / (p - q), 0.0)
        p = np.clip(p - np.maximum(step, 0.0), q, 1.0)
        if (step <= _SMALL_STEP * p).all():
            break
    return np.asarray(p)


def hoeffding_upper(observed: Any, rows: Any, nats: Any) -> Floats:
    """The observed mean + √(nats / 2 rows), at most 1: for any independent losses within [0, 1].

    >>> hoeffding_upper(0.08, 1000, np.log(20)).round(4).item()
    0.1187
    """
    limit = np.asarray(observed) + np.sqrt(np.asarray(nats) / (2 * np.asarray(rows)))
    return np.asarray(np.minimum(limit, 1.0))


def bernstein_upper(observed: Any, variance: Any, rows: Any, nats: Any) -> Floats:
    """Maurer and Pontil's empirical Bernstein limit, at most 1, for independent losses within [0, 1].

    `variance` is that of the sample (divided by rows - 1). It is sharper than the others where losses vary
    little.

    >>> bernstein_upper(0.08, 0.0, 1000, np.log(20)).round(4).item()
    0.0886
    """
    rows = np.asarray(rows, np.float64)
    both = np.asarray(nats) + np.log(2)  # one half of δ for the variance
    with np.errstate(divide="ignore"):
        limit = observed + np.sqrt(2 * np.asarray(variance) * both / rows) + 7 * both / (3 * (rows - 1))
    return np.asarray(np.minimum(limit, 1.0))
