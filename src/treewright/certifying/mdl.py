"""The minimum description length bound of Shalev-Shwartz and Ben-David, section 18.1, as it is printed."""

from __future__ import annotations

import math

import numpy as np

from treewright.certifying.binomial import Floats, hoeffding_upper
from treewright.certifying.method import LN2
from treewright.certifying.training_rows import OTHER_PARTS, Evidence, TrainingMethod, choices_of
from treewright.tree import Tree


class Mdl(TrainingMethod):
    """Training error + √(((n + 1) log2(d + 3) + ln(2/δ)) / 2m) for n nodes.

    d tests, two classes and an end sign are d + 3 symbols (d + K + 1 for K classes). The book counts bits
    where nats would do; `nats` takes them. Its tests are the columns themselves, which are yes or no:
    thresholds have to be paid by `test_bits`.

    >>> METHOD(180, 3000, leaves=17, columns=57).round(4).item()
    0.2446
    """

    title, limit, constant, nats_per_bit = "MDL", "hoeffding", 2.0, 1.0
    counted_parts = ()
    other_parts = (*OTHER_PARTS, "thresholds")

    def bound(self, evidence: Evidence) -> Floats:
        """As above, with n + 1 = 2 · leaves."""
        symbol_bits = np.log2(evidence.columns + evidence.classes + 1)
        length = 2 * np.asarray(evidence.leaves) * symbol_bits + evidence.test_bits
        nats = length * (LN2 if evidence.nats else 1.0) + np.log(2 / evidence.delta)
        return hoeffding_upper(evidence.error, evidence.rows, nats)

    def own_bits(self, tree: Tree, rows: int, naming_rows: int) -> dict[str, float]:
        """The symbols of the nodes and the end sign."""
        return {"symbols": (tree.n_nodes + 1) * math.log2(sum(choices_of(tree).values()) + 1)}

    def assumption(self, points: int) -> str:
        """About the unit."""
        return "bits are counted as in the book, where nats would do"


METHOD = Mdl()
