"""Occam's razor with Hoeffding's limit, the form of most textbooks; never better than `occam`."""

from __future__ import annotations

from treewright.certifying.binomial import Floats, hoeffding_upper
from treewright.certifying.occam import Occam
from treewright.certifying.training_rows import Evidence


class OccamHoeffding(Occam):
    """Training error + √((bits · ln 2 + ln(1/δ)) / 2m).

    >>> METHOD(180, 3000, bits=143.33).round(4).item()
    0.1906
    """

    title, limit = "Occam, Hoeffding", "hoeffding"

    def bound(self, evidence: Evidence) -> Floats:
        """As above."""
        return hoeffding_upper(evidence.error, evidence.rows, evidence.code_nats)


METHOD = OccamHoeffding()
