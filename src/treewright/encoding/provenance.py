"""Where the counts of a tree come from: what a guarantee must know of its training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Labels = Literal["observed", "predicted"]
Weights = Literal["equal", "unequal"]
LABELS: tuple[Labels, ...] = ("observed", "predicted")
WEIGHTS: tuple[Weights, ...] = ("equal", "unequal")


@dataclass(frozen=True)
class Provenance:
    """The facts about training rows that their counts in a tree cannot show.

    A bound from training rows takes them for independent draws with their true labels. It must not be given
    for the answers of another model (distillation), nor for weighted rows: weights that average out within
    every leaf leave no trace in its counts.

    >>> from treewright import encode, grow
    >>> grow(encode({"x": [1, 2, None], "z": [1, 2, 3]}, ["a", "b", "b"])).provenance
    Provenance(labels='observed', weights='equal', incomplete=(0,))
    """

    labels: Labels = "observed"
    weights: Weights = "equal"
    incomplete: tuple[int, ...] | None = None  # columns in which some row misses a value; None: not known

    @property
    def are_draws(self) -> bool:
        """Whether each row counts as one draw with its true label."""
        return self.labels == "observed" and self.weights == "equal"
