"""Answers that are formulas: an intercept and weights of columns for each node of a model tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treewright.tree.frozen_arrays import FrozenArrays

if TYPE_CHECKING:
    from treewright.encoding import Dataset

TYPES: dict[str, type[np.generic]] = {  # of the arrays
    "intercept": np.float64,
    "start": np.int64,
    "column": np.int32,
    "coefficient": np.float64,
    "loss": np.float64,
    "mean": np.float64,
}


@dataclass(frozen=True, eq=False)
class LinearAnswers(FrozenArrays):
    """What the nodes of a tree answer: intercept + Σ coefficient · value, the node's terms in a slice.

    A value that is missing or not finite counts as the column's `mean`.
    """

    intercept: NDArray[np.float64]  # (nodes,)
    start: NDArray[np.int64]  # (nodes + 1,): the terms of node i are start[i] … start[i + 1]
    column: NDArray[np.int32]
    coefficient: NDArray[np.float64]
    loss: NDArray[np.float64]  # (nodes,): Σ weight · (y − answer)² of the training rows of each node
    mean: NDArray[np.float64]  # of each column of the table; 0 where none is needed

    def kept(self, nodes: NDArray[np.bool_]) -> LinearAnswers:
        """The answers of some of the nodes."""
        lengths = np.diff(self.start)
        terms = np.repeat(nodes, lengths)
        start = np.concatenate([[0], np.cumsum(lengths[nodes])])
        return LinearAnswers(
            intercept=self.intercept[nodes],
            start=start,
            column=self.column[terms],
            coefficient=self.coefficient[terms],
            loss=self.loss[nodes],
            mean=self.mean,
        )

    def terms(self, node: int) -> Iterator[tuple[int, float]]:
        """The columns of a node's formula with their coefficients, in the order in which they are added."""
        own = slice(int(self.start[node]), int(self.start[node + 1]))
        return zip(self.column[own].tolist(), self.coefficient[own].tolist(), strict=True)

    def at(self, nodes: NDArray[np.integer], data: Dataset) -> NDArray[np.float64]:
        """What one node each answers to the rows of a table."""
        used = np.unique(self.column)
        columns = data.columns.T if isinstance(data.columns, np.ndarray) else data.columns
        values = np.empty((len(used), data.n_rows))
        for place, j in enumerate(used.tolist()):
            values[place] = known_values(columns[j], float(self.mean[j]))
        answer: NDArray[np.float64] = self.intercept[nodes]
        length = np.diff(self.start)[nodes]
        for k in range(int(length.max(initial=0))):  # the k-th term of every row that has one
            rows = np.flatnonzero(length > k)
            term = self.start[nodes[rows]] + k
            place = np.searchsorted(used, self.column[term])
            with np.errstate(over="ignore", invalid="ignore"):  # huge values may leave the range of floats
                answer[rows] += self.coefficient[term] * values[place, rows]
        return answer


def known_values(column: NDArray[np.floating], mean: float) -> NDArray[np.float64]:
    """A column of numbers in which those that are missing or not finite count as the mean."""
    values = column.astype(np.float64)
    return np.asarray(np.where(np.isfinite(values), values, mean))
