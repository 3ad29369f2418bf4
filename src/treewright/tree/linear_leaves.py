"""Linear models as predictions of leaves: an intercept and coefficients for each node of a model tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treewright._arrays import Flags, Floats, Int32s, Ints
from treewright.encoding import Dataset
from treewright.tree.frozen_arrays import FrozenArrays


@dataclass(frozen=True, eq=False)
class LinearAnswers(FrozenArrays):
    """The linear model of each node: intercept + Σ coefficient · value, the node's terms in a slice.

    A value that is missing or not finite counts as the column's `mean`.
    """

    intercept: Floats  # (nodes,)
    start: Ints  # (nodes + 1,): the terms of node i are start[i] … start[i + 1]
    column: Int32s
    coefficient: Floats
    loss: Floats  # (nodes,): Σ weight · (y − answer)² of the training rows of each node
    mean: Floats  # of each column of the table; 0 where none is needed

    def of_nodes(self, nodes: Flags) -> LinearAnswers:
        """The linear models of some of the nodes."""
        lengths = np.diff(self.start)
        terms = np.repeat(nodes, lengths)
        return LinearAnswers(
            intercept=self.intercept[nodes],
            start=np.concatenate([[0], np.cumsum(lengths[nodes])]),
            column=self.column[terms],
            coefficient=self.coefficient[terms],
            loss=self.loss[nodes],
            mean=self.mean,
        )

    def terms(self, node: int) -> Iterator[tuple[int, float]]:
        """The columns of a node's model with their coefficients, in the order of summation."""
        own = slice(int(self.start[node]), int(self.start[node + 1]))
        return zip(self.column[own].tolist(), self.coefficient[own].tolist(), strict=True)

    def at(self, nodes: NDArray[np.integer], data: Dataset) -> Floats:
        """The prediction for each row of a table by the model of one node each."""
        columns = np.unique(self.column)
        values = np.empty((len(columns), data.n_rows))
        for place, j in enumerate(columns.tolist()):
            values[place] = known_values(data.column(j), float(self.mean[j]))
        predictions: Floats = self.intercept[nodes]
        length = np.diff(self.start)[nodes]
        for k in range(int(length.max(initial=0))):  # the k-th term of every row that has one
            rows = np.flatnonzero(length > k)
            term = self.start[nodes[rows]] + k
            place = np.searchsorted(columns, self.column[term])
            with np.errstate(over="ignore", invalid="ignore"):  # huge values may leave the range of floats
                predictions[rows] += self.coefficient[term] * values[place, rows]
        return predictions


def known_values(column: NDArray[np.floating], mean: float) -> Floats:
    """A column of numbers in which missing and not finite ones are replaced by the mean."""
    values = column.astype(np.float64)
    return np.asarray(np.where(np.isfinite(values), values, mean))
