"""Answers that are formulas: an intercept and weights of columns for each node of a model tree."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class LinearAnswers:
    """What the nodes of a tree answer: intercept + Σ coefficient · value, the node's terms in a slice.

    A value that is missing or not finite counts as the column's `mean`.
    """

    intercept: NDArray[np.float64]  # (nodes,)
    start: NDArray[np.int64]  # (nodes + 1,): the terms of node i are start[i] … start[i + 1]
    column: NDArray[np.int32]
    coefficient: NDArray[np.float64]
    mean: NDArray[np.float64]  # of each column of the table; 0 where none is needed

    def __post_init__(self) -> None:
        for part in fields(self):
            array = getattr(self, part.name).view()
            array.flags.writeable = False
            object.__setattr__(self, part.name, array)

    def __setstate__(self, state: dict[str, NDArray[np.generic]]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinearAnswers):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, part.name), getattr(other, part.name)) for part in fields(self)
        )

    __hash__ = None  # type: ignore[assignment]

    def kept(self, nodes: NDArray[np.bool_]) -> LinearAnswers:
        """The answers of some of the nodes."""
        lengths = np.diff(self.start)
        terms = np.repeat(nodes, lengths)
        start = np.concatenate([[0], np.cumsum(lengths[nodes])])
        return LinearAnswers(
            self.intercept[nodes], start, self.column[terms], self.coefficient[terms], self.mean
        )
