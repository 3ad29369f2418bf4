"""Surrogates: tests of other columns that stand in where the value that a node tests is missing."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

TYPES: dict[str, type[np.generic]] = {  # of the arrays
    "node": np.int32,
    "feature": np.int32,
    "threshold": np.float64,
    "subset": np.int64,
    "reversed": np.bool_,
    "agreement": np.float64,
    "adjusted": np.float64,
    "subsets": np.uint8,
}


@dataclass(frozen=True, eq=False)
class Surrogates:
    """Tests beside a tree, one per entry, in the order of their nodes; those of a node the best one first.

    A row that passes a surrogate goes left, or where it is `reversed` right. `agreement` is the share of the
    weight that the surrogate sends where the node's own test does (of the rows whose value is known),
    `adjusted` how much of what the blind majority gets wrong it gets right.
    """

    node: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    subset: NDArray[np.int64]
    reversed: NDArray[np.bool_]
    agreement: NDArray[np.float64]
    adjusted: NDArray[np.float64]
    subsets: NDArray[np.uint8]

    def __post_init__(self) -> None:
        for part in fields(self):
            array = getattr(self, part.name).view()
            array.flags.writeable = False
            object.__setattr__(self, part.name, array)

    @classmethod
    def none(cls) -> Surrogates:
        """No surrogates at all."""
        return cls(**{name: np.zeros(0, kind) for name, kind in TYPES.items()})

    def __len__(self) -> int:
        return len(self.node)

    def __setstate__(self, state: dict[str, NDArray[np.generic]]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Surrogates):
            return NotImplemented
        pairs = ((getattr(self, part.name), getattr(other, part.name)) for part in fields(self))
        return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def starts(self, n_nodes: int) -> NDArray[np.int64]:
        """Where the entries of each node begin, and where the last ones end."""
        return np.searchsorted(self.node, np.arange(n_nodes + 1)).astype(np.int64)

    def of(self, node: int) -> range:
        """The entries of one node, the best surrogate first."""
        first, end = np.searchsorted(self.node, [node, node + 1])
        return range(int(first), int(end))
