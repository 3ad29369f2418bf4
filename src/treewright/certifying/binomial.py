"""Limits on a chance that was seen at work: exact for counts, kl and Hoeffding for any bounded loss.

Everything takes arrays, and confidence as `nats` = ln(1/δ), so that δ = 2^-5000 is no smaller than any other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MOST_STEPS = 200  # of Newton's method; it needs a dozen
_MOST_TERMS = 100_000  # of the continued fraction; it needs about the root of the rows


def check_delta(delta: Any) -> None:
    """ValueError unless delta is a chance, neither 0 nor 1."""
    if isinstance(delta, bool) or not isinstance(delta, int | float | np.number) or not 0 < delta < 1:
        raise ValueError(f"delta is {delta!r}; it is the chance of being wrong, between 0 and 1: 0.05")


def binomial_upper(errors: Any, rows: Any, nats: Any) -> Floats:
    """The largest p with P(at most `errors` wrong of `rows`) >= e^-nats: an exact upper limit of the chance.

    Clopper and Pearson's one-sided limit. The logarithm of the tail is concave in p, and Chernoff's limit is
    never below the exact one: Newton's method walks down from there and never falls below the solution.

    >>> binomial_upper(80, 1000, np.log(20)).round(4).item()
    0.0956
    >>> binomial_upper(0, 50, np.log(20)).item() == 1 - 0.05 ** (1 / 50)
    True
    """
    k, n, t = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (errors, rows, nats)))
    p = np.ones(k.shape)
    none = k == 0
    p[none] = -np.expm1(-t[none] / n[none])
    todo = np.flatnonzero(~none & (k < n))
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
        todo = todo[np.abs(step) > 1e-15 * x]
        if (np.abs(step) < 1e-12 * x).all():  # what is left is rounding
            break
    return p


def log_tail(errors: Any, rows: Any, chance: Any) -> Floats:
    """Ln P(at most `errors` wrong of `rows`), errors < rows, however small it is.

    >>> np.exp(log_tail(1, 3, 0.5)).round(6).item()
    0.5
    """
    k, n, p = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (errors, rows, chance)))
    tail = _log_tail((n - k).ravel(), (k + 1).ravel(), p.ravel())[0]
    return tail.reshape(k.shape)


def _log_tail(a: Floats, b: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Ln I_{1-p}(a, b), the chance of fewer than b wrong of a + b - 1; and ln of its falling in p."""
    from scipy.special import betaln

    with np.errstate(divide="ignore", invalid="ignore"):  # a chance of 1 has a tail of 0
        front = a * np.log1p(-p) + b * np.log(p) - betaln(a, b)
        density = front - np.log(p) - np.log1p(-p)
    small = 1 - p < (a + 1) / (a + b + 2)  # the fraction converges fast on this side of the mean
    x = np.where(small, 1 - p, p)
    first, second = np.where(small, a, b), np.where(small, b, a)
    side = front - np.log(first) + np.log(_continued_fraction(first, second, x))
    with np.errstate(divide="ignore"):
        return np.where(small, side, np.log(-np.expm1(np.minimum(side, 0.0)))), density


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
        if (np.abs(d * c - 1) < 1e-15).all():
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
    """The divergence q ln(q/p) + (1-q) ln((1-q)/(1-p)) of two chances, in nats.

    >>> kl([0.0, 0.5, 0.5], [0.5, 0.5, 1.0]).round(4).tolist()
    [0.6931, 0.0, inf]
    """
    q, p = np.broadcast_arrays(np.asarray(observed, np.float64), np.asarray(chance, np.float64))
    return _part(q, p) + _part(1 - q, 1 - p)


def _part(q: Floats, p: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(q > 0, q * (np.log(q) - np.log(p)), 0.0)


def kl_upper(observed: Any, nats: Any) -> Floats:
    """The largest p with kl(observed, p) <= nats. With nats = ln(1/δ)/m this is Chernoff's limit.

    It holds for the mean of any independent losses within [0, 1]. In p the divergence is convex and rising:
    Newton's method walks down from the smaller of two limits that are never below the solution.

    >>> kl_upper(0.06, 0.01).round(4).item()
    0.0995
    """
    q, c = np.broadcast_arrays(np.asarray(observed, np.float64), np.asarray(nats, np.float64))
    entropy = -_part(q, np.ones_like(q)) - _part(1 - q, np.ones_like(q))
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(q < 1, -np.expm1(-(c + entropy) / (1 - q)), 1.0)
    p = np.minimum(q + np.sqrt(c / 2), far)
    for _ in range(_MOST_STEPS):
        open_ = (p < 1) & (p > q)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(open_, (kl(q, p) - c) * p * (1 - p) / (p - q), 0.0)
        p = np.clip(p - np.maximum(step, 0.0), q, 1.0)
        if (step <= 1e-15 * p).all():
            break
    return p


def hoeffding_upper(observed: Any, rows: Any, nats: Any) -> Floats:
    """The observed mean + √(nats / 2 rows), at most 1: for any independent losses within [0, 1].

    >>> hoeffding_upper(0.08, 1000, np.log(20)).round(4).item()
    0.1187
    """
    return np.minimum(np.asarray(observed) + np.sqrt(np.asarray(nats) / (2 * np.asarray(rows))), 1.0)


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
    return np.minimum(limit, 1.0)
