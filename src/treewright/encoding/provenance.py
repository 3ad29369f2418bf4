"""The provenance of the counts in a tree: what a certificate must know about the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Labels = Literal["observed", "predicted"]
Weights = Literal["equal", "unequal"]
LABELS: tuple[Labels, ...] = get_args(Labels)
WEIGHTS: tuple[Weights, ...] = get_args(Weights)


@dataclass(frozen=True)
class Provenance:
    """The facts about training rows that the counts in a tree do not show.

    A bound from training rows assumes independent draws with true labels. It does not hold for the
    predictions of another model (distillation), nor for weighted rows: weights that average out within every
    leaf leave no trace in its counts.

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
