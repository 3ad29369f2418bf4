"""Sample compression: thresholds are named by the training rows next to them, the rest by the code."""

from __future__ import annotations

import math

import numpy as np

from treewright.certifying.binomial import Floats
from treewright.certifying.method import LN2
from treewright.certifying.training_rows import Evidence, TrainingMethod, exact_upper
from treewright.tree import Tree


class Compression(TrainingMethod):
    """A threshold between two rows is named by `points=2` of them, one at a row's own value by 1.

    Rows that name thresholds do not count as seen; log2(m) bits for each, in order and with repetition.

    >>> METHOD(180, 3000, leaves=17, columns=57, points=1).round(3).item()
    0.197
    """

    title, limit = "sample compression", "binomial"

    def bound(self, evidence: Evidence) -> Floats:
        """The binomial limit of the rows that name no threshold; 1 where these are too few."""
        naming_rows = evidence.points * (np.asarray(evidence.leaves) - 1)
        rows = np.asarray(evidence.rows, np.float64) - naming_rows
        nats = (evidence.structure_bits + naming_rows * np.log2(evidence.rows)) * LN2 - np.log(evidence.delta)
        enough = rows > np.asarray(evidence.errors)
        errors, rows = np.where(enough, evidence.errors, 1.0), np.where(enough, rows, 1.0)
        return np.where(enough, exact_upper(errors, rows, nats, evidence.whole), 1.0)

    def naming_rows(self, tree: Tree, points: int) -> int:
        """So many for each threshold."""
        return points * (tree.n_leaves - 1)

    def own_bits(self, tree: Tree, rows: int, naming_rows: int) -> dict[str, float]:
        """The rows that name thresholds."""
        return {"rows": naming_rows * math.log2(rows)}

    def assumption(self, points: int) -> str:
        """About the thresholds."""
        values = "the two training values that it lies between" if points == 2 else "one training value"
        return f"every threshold was made by a fixed rule from {values}"


METHOD = Compression()
