"""Vapnik and Chervonenkis' relative deviation, with the growth function of trees; for losses of 0 or 1."""

from __future__ import annotations

import math

import numpy as np

from treewright.certifying.binomial import Floats
from treewright.certifying.method import LN2
from treewright.certifying.training_rows import Evidence, TrainingMethod
from treewright.tree import Tree


class Vc(TrainingMethod):
    """R <= R̂ + 2A(1 + √(1 + R̂/A)) with A = (ln Π(2m) + ln(4/δ)) / m.

    A threshold cuts 2m rows in 2m ways: the cut that leaves all rows on one side counts once, since the tree
    with both children swapped is counted as well. Shape, columns and classes are counted in bits, which pays
    for the choice of the size too.

    >>> METHOD(180, 3000, leaves=17, columns=57).round(3).item()
    0.436
    """

    title, limit, constant = "VC", "relative deviation", 4.0

    def bound(self, evidence: Evidence) -> Floats:
        """As above."""
        if not evidence.whole:
            raise ValueError("the vc bound is for rows that are right or wrong; take occam or pac_bayes")
        cuts = (np.asarray(evidence.leaves) - 1) * np.log(2 * np.asarray(evidence.rows, np.float64))
        growth = evidence.structure_bits * LN2 + cuts
        error, a = evidence.error, (growth + np.log(4 / evidence.delta)) / evidence.rows
        return np.asarray(np.minimum(error + 2 * a * (1 + np.sqrt(1 + error / a)), 1.0))

    def own_bits(self, tree: Tree, rows: int, naming_rows: int) -> dict[str, float]:
        """The cuts of the rows by each split."""
        return {"cuts": (tree.n_leaves - 1) * math.log2(2 * rows)}


METHOD = Vc()
