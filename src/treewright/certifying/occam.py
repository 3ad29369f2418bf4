"""Langford's Occam's razor: the exact binomial limit at δ·2^-bits, which all words of a code share."""

from __future__ import annotations

from treewright.certifying.binomial import Floats
from treewright.certifying.training_rows import Evidence, TrainingMethod, exact_upper


class Occam(TrainingMethod):
    """Where losses are not 0 or 1, Chernoff's limit takes the place of the binomial one.

    >>> METHOD(180, 3000, bits=143.33).round(4).item()
    0.1405
    """

    title, limit, needs_bits, other_parts = "Occam", "binomial", True, ()

    def bound(self, evidence: Evidence) -> Floats:
        """The limit at the price of the code word."""
        return exact_upper(evidence.errors, evidence.rows, evidence.code_nats, evidence.whole)


METHOD = Occam()
