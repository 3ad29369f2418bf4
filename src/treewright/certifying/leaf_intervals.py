"""How far each leaf can be wrong, all leaves at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treewright.certifying.binomial import Floats, binomial_lower, binomial_upper, check_delta
from treewright.certifying.losses import checked_rows
from treewright.encoding import Dataset
from treewright.tree import Tree
from treewright.tree.evaluate import whole_rows
from treewright.tree.shortcuts import as_tree


@dataclass(frozen=True, eq=False)
class LeafIntervals:
    """For each leaf an interval of its true error; with probability 1 - delta every one of them holds.

    `print` shows a line for each leaf.
    """

    leaf: NDArray[np.int64]  # the nodes
    rows: NDArray[np.int64]  # held-out rows that arrived
    errors: NDArray[np.int64]  # of which the leaf answered wrongly
    lower: Floats
    upper: Floats
    delta: float

    def __str__(self) -> str:
        lines = ["leaf    rows   error   true error between"]
        for node, n, k, (low, high) in zip(
            self.leaf.tolist(), self.rows.tolist(), self.errors.tolist(), self.limits, strict=True
        ):
            seen = f"{100 * k / n:.1f} %" if n else "-"
            lines.append(f"{node:>4}  {n:>6,}  {seen:>6}   {low} and {high}")
        return "\n".join([*lines, self.confidence])

    @property
    def limits(self) -> list[tuple[str, str]]:
        """The ends of each interval in words, rounded outwards."""
        lower, upper = np.floor(1000 * self.lower + 1e-9) / 10, np.ceil(1000 * self.upper - 1e-9) / 10
        return [(f"{low:.1f} %", f"{high:.1f} %") for low, high in zip(lower, upper, strict=True)]

    @property
    def confidence(self) -> str:
        """How sure they are, in words."""
        return f"with {round(100 * (1 - self.delta), 10):g} % confidence all of them hold"


def leaf_intervals(tree: Tree, test: Dataset, *, delta: float = 0.05) -> LeafIntervals:
    """Clopper and Pearson's interval of each leaf's error at δ / leaves, from held-out rows.

    Half of it is spent below and half above. A leaf that no row reaches says nothing: 0 to 1. Rows that the
    tree divides, since they miss values, belong to no leaf and are left out.

    Parameters
    ----------
    tree : Tree or fitted estimator
        A tree that predicts the classes of one target.
    test : Dataset
        Rows that were not used to grow or prune it.
    delta : float
        The chance that one of the intervals fails.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": range(8)}, ["a", "a", "a", "a", "b", "b", "b", "b"]))
    >>> test = encode({"x": range(100)}, ["a"] * 6 + ["b"] * 94, schema=tree.schema)
    >>> print(leaf_intervals(tree, test))
    leaf    rows   error   true error between
       1       4   0.0 %   0.0 % and 66.6 %
       2      96   2.1 %   0.1 % and 8.2 %
    with 95 % confidence all of them hold
    """
    check_delta(delta)
    tree = as_tree(tree)
    if not tree.schema.predicts_classes or len(tree.schema.targets) > 1:
        raise ValueError("leaf intervals are for trees that predict the classes of one target")
    data = checked_rows(tree, test)
    arrived, targets = whole_rows(tree, data)
    wrong = arrived[tree.label[arrived, 0] != targets[0]]
    leaves = np.flatnonzero(tree.is_leaf)
    rows = np.bincount(arrived, minlength=tree.n_nodes)[leaves]
    errors = np.bincount(wrong, minlength=tree.n_nodes)[leaves]
    nats = np.log(2 * len(leaves) / delta)
    reached = np.maximum(rows, 1)
    lower = np.where(rows, binomial_lower(np.minimum(errors, reached), reached, nats), 0.0)
    upper = np.where(rows, binomial_upper(np.minimum(errors, reached), reached, nats), 1.0)
    return LeafIntervals(leaves, rows, errors, lower, upper, delta)
