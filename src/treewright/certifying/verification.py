"""Checks of certificates: each inequality is evaluated at the certified value, none is inverted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from treewright.certifying.method import method_of

if TYPE_CHECKING:
    from treewright.certifying.certificate import Certificate

_CLOSE = 1e-7


def fits(certificate: Certificate) -> bool:
    """Whether the value is the solution of its inequality, for the loss, rows, bits and δ that it states.

    The evidence against a true loss of p grows with p. At the solution it equals what δ and the bits require:
    just below it must be smaller, and just above larger, unless the value is 1.
    """
    rows, most = certificate.rows - certificate.naming_rows, certificate.most
    nats = method_of(certificate.method).nats(certificate)
    if certificate.limit == "normal":
        return _normal(certificate, nats)
    loss = certificate.error / most * certificate.rows
    if rows <= loss:  # every row was wrong
        return certificate.value == most
    value = certificate.value / most
    if certificate.limit == "kl or bernstein":
        return _either(certificate, loss, rows, value, nats + math.log(2))
    return _solves(certificate.limit, loss, rows, value, nats)


def _solves(limit: str, loss: float, rows: int, value: float, nats: float) -> bool:
    below, above = value * (1 - _CLOSE), value * (1 + _CLOSE)
    return (
        loss / rows < value <= 1
        and _evidence(limit, loss, rows, below) <= nats
        and (above >= 1 or _evidence(limit, loss, rows, above) >= nats)
    )


def solves_kl(observed: float, value: float, nats: float) -> bool:
    """Whether a value is the largest chance whose divergence from an observed one is at most `nats`.

    >>> solves_kl(0.0, 0.5, math.log(2)), solves_kl(0.0, 0.4, math.log(2)), solves_kl(0.5, 0.9, 9.0)
    (True, False, False)
    """
    if observed >= 1:
        return value == 1
    return 0 < value <= 1 and _solves("kl", observed, 1, value, nats)


def _evidence(limit: str, loss: float, rows: int, p: float) -> float:
    """The evidence that the true loss is below p, in nats."""
    mean = loss / rows
    if p <= mean and limit != "binomial":
        return 0.0
    match limit:
        case "binomial":
            return -binomial_sum(round(loss), rows, p)
        case "kl":
            return rows * _kl(mean, p)
        case "hoeffding":
            return 2 * rows * (p - mean) ** 2
        case "relative deviation":
            return rows * (p - mean) ** 2 / (4 * p)
    return math.nan


def binomial_sum(errors: int, rows: int, chance: float) -> float:
    """The logarithm of P(at most `errors` wrong of `rows`): each term by the one before it, then their sum.

    >>> round(math.exp(binomial_sum(1, 3, 0.5)), 10)
    0.5
    """
    if errors >= rows:
        return 0.0
    k = np.arange(1, errors + 1, dtype=np.float64)
    ratios = np.log((rows - k + 1) / k) + (math.log(chance) - math.log1p(-chance))
    terms = rows * math.log1p(-chance) + np.concatenate([[0.0], np.cumsum(ratios)])
    top = float(terms.max())
    return top + math.log(math.fsum(np.exp(terms - top).tolist()))


def _kl(q: float, p: float) -> float:
    first = q * math.log(q / p) if q > 0 else 0.0
    return first + ((1 - q) * math.log((1 - q) / (1 - p)) if q < 1 else 0.0)


def _either(certificate: Certificate, loss: float, rows: int, value: float, nats: float) -> bool:
    """The smaller of two limits, each of which has half of δ."""
    both, spread, bernstein = nats + math.log(2), certificate.deviation / certificate.most, 1.0
    if rows > 1:
        bernstein = loss / rows + spread * math.sqrt(2 * both / rows) + 7 * both / (3 * (rows - 1))
    if _solves("kl", loss, rows, value, nats):
        return min(bernstein, 1.0) >= value * (1 - _CLOSE)
    smaller = _evidence("kl", loss, rows, value) <= nats * (1 + _CLOSE)
    return smaller and math.isclose(bernstein, value, rel_tol=_CLOSE)


def _normal(certificate: Certificate, nats: float) -> bool:
    """The chance of a normal number beyond the distance, in standard errors, is δ."""
    if certificate.rows < 2:
        return certificate.value == math.inf
    if certificate.deviation == 0:
        return certificate.value == certificate.error
    distance = (certificate.value - certificate.error) / certificate.deviation * math.sqrt(certificate.rows)
    return math.isclose(math.erfc(distance / math.sqrt(2)) / 2, math.exp(-nats), rel_tol=1e-6)
