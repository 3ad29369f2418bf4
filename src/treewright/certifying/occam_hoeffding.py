"""Occam's razor with Hoeffding's limit, the form of most textbooks; never better than `occam`."""

from __future__ import annotations

import numpy as np

from treewright.certifying.binomial import Floats, hoeffding_upper
from treewright.certifying.method import LN2
from treewright.certifying.training_rows import Evidence, TrainingMethod


class OccamHoeffding(TrainingMethod):
    """Training error + √((bits · ln 2 + ln(1/δ)) / 2m).

    >>> METHOD(180, 3000, bits=143.33).round(4).item()
    0.1906
    """

    title, limit, needs_bits, other_parts = "Occam, Hoeffding", "hoeffding", True, ()

    def bound(self, seen: Evidence) -> Floats:
        """As above."""
        return hoeffding_upper(seen.error, seen.rows, np.asarray(seen.bits) * LN2 - np.log(seen.delta))


METHOD = OccamHoeffding()
