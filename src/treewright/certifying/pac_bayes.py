"""The PAC-Bayes-kl bound of the single tree."""

from __future__ import annotations

import math

import numpy as np

from treewright.certifying.binomial import Floats, kl_upper
from treewright.certifying.certificate import Certificate
from treewright.certifying.method import LN2
from treewright.certifying.training_rows import Evidence, TrainingMethod


class PacBayes(TrainingMethod):
    """kl(training error, p) <= (bits · ln 2 + ln(2√m/δ)) / m, for any losses within [0, 1].

    >>> METHOD(180, 3000, bits=143.33).round(3).item()
    0.144
    """

    title, limit, needs_bits, other_parts = "PAC-Bayes", "kl", True, ()

    def bound(self, evidence: Evidence) -> Floats:
        """As above."""
        nats = np.asarray(evidence.bits) * LN2 + np.log(2 * np.sqrt(evidence.rows) / evidence.delta)
        return kl_upper(evidence.error, nats / evidence.rows)

    def nats(self, certificate: Certificate) -> float:
        """With ln(2√m) beside the usual."""
        return super().nats(certificate) + math.log(2 * math.sqrt(certificate.rows))


METHOD = PacBayes()
