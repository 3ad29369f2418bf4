"""The other way to a certificate's number: each inequality is tried at the value, none is inverted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from treewright.certifying.certificate import Certificate

_CLOSE = 1e-7
_CONSTANT = {"mdl": 2.0, "vc": 4.0}  # that stands above δ


def fits(certificate: Certificate) -> bool:
    """Whether the value is the solution of its inequality, for the loss, rows, bits and δ that it states."""
    rows = certificate.rows - certificate.named
    value = certificate.value / certificate.most
    loss = certificate.error / certificate.most * certificate.rows
    if not rows > 0 or value >= 1:
        return certificate.value >= certificate.most
    nats = certificate.bits * (1.0 if certificate.method == "mdl" else math.log(2))
    nats += math.log(_CONSTANT.get(certificate.method, 1.0) / certificate.delta)
    if certificate.method == "pac_bayes":
        nats += math.log(2 * math.sqrt(rows))
    seen = loss / rows
    match certificate.limit:
        case "binomial":
            return math.isclose(binomial_sum(round(loss), rows, value), -nats, rel_tol=_CLOSE, abs_tol=_CLOSE)
        case "kl":
            return math.isclose(_kl(seen, value), nats / rows, rel_tol=_CLOSE)
        case "hoeffding":
            return math.isclose(2 * rows * (value - seen) ** 2, nats, rel_tol=_CLOSE)
        case "relative deviation":
            return math.isclose((value - seen) ** 2 * rows, 4 * nats * value, rel_tol=_CLOSE)
        case "kl or bernstein":
            return _either(certificate, seen, rows, value, nats)
        case "normal":
            return _normal(certificate, nats)
    return False


def binomial_sum(errors: int, rows: int, chance: float) -> float:
    """Ln of the chance of at most `errors` wrong of `rows`: every term by the one before it, then their sum.

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


def _either(certificate: Certificate, seen: float, rows: int, value: float, nats: float) -> bool:
    """The smaller of two limits, each of which has half of δ."""
    half = nats + math.log(2)
    by_kl = math.isclose(_kl(seen, value), half / rows, rel_tol=_CLOSE)
    spread, twice = certificate.deviation / certificate.most, half + math.log(2)
    bernstein = 1.0
    if rows > 1:
        bernstein = seen + spread * math.sqrt(2 * twice / rows) + 7 * twice / (3 * (rows - 1))
    if by_kl:
        return bernstein >= value * (1 - _CLOSE)
    return math.isclose(bernstein, value, rel_tol=_CLOSE) and _kl(seen, value) <= half / rows * (1 + _CLOSE)


def _normal(certificate: Certificate, nats: float) -> bool:
    """The chance of a normal number beyond the distance, in standard errors, is δ."""
    if certificate.deviation == 0:
        return certificate.value == certificate.error
    distance = (certificate.value - certificate.error) / certificate.deviation * math.sqrt(certificate.rows)
    return math.isclose(math.erfc(distance / math.sqrt(2)) / 2, math.exp(-nats), rel_tol=1e-6)
