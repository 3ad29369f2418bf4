"""Truth values in texts: the spellings of true and false."""

from __future__ import annotations

from collections.abc import Callable
from math import nan

import numpy as np

from treewright._arrays import Array, Floats
from treewright.encoding.cells import Cells
from treewright.encoding.text.formats import LONGEST, Marks, Reading, TextFormat, TextKind, Texts

_TRUE = ("true", "yes", "y", "t", "ja", "j", "oui", "si", "sí", "sì", "wahr", "vrai")
_FALSE = ("false", "no", "n", "f", "nein", "non", "falsch", "faux")
TRUTHS: dict[str, float] = dict.fromkeys(_TRUE, 1.0) | dict.fromkeys(_FALSE, 0.0)
_MOST = 100  # different spellings of true and false, more than there are


class TruthTexts(TextKind):
    """Truth values: columns of categories, false and true."""

    name = "bool"
    noun = "truth value"
    family = "bool"

    def reader(self, given: TextFormat) -> Callable[[str], float]:
        """1 for true, 0 for false, in upper or lower case."""
        return lambda text: TRUTHS.get(text.strip().casefold(), nan) if len(text) <= LONGEST else nan

    def words(self, given: TextFormat) -> str:
        """Truth values have one format."""
        return "truth values"

    def find(self, texts: Texts, marks: Marks, *, required: bool) -> Reading | None:
        """The truth values of more than two spellings, if all of them can be read."""
        if not 2 < len(texts.labels) <= _MOST:
            return None
        reading = Reading.of(TextFormat("bool"), texts)
        return reading if reading.is_read.all() else None

    def cells(self, values: Floats, codes: Array) -> Cells:
        """Codes of false and true."""
        truths = np.where(np.isnan(values), -1, values).astype(np.int32)
        return Cells("bool", truths[codes], labels=(False, True), declared=True)
