"""Simultaneous confidence intervals of the true error of each leaf."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treewright._display import Layout, Shown
from treewright._suggestions import checked_keywords
from treewright._text import percent
from treewright.certifying.binomial import Floats, binomial_lower, binomial_upper, check_delta
from treewright.certifying.losses import checked_rows
from treewright.encoding import Dataset
from treewright.tree import Tree
from treewright.tree.evaluate import whole_rows
from treewright.tree.shortcuts import as_tree


@dataclass(frozen=True, eq=False)
class LeafIntervals(Shown):
    """For each leaf an interval of its true error; with probability 1 - delta every one of them holds.

    `print` shows a line for each leaf.
    """

    leaf: NDArray[np.int64]  # the nodes
    rows: NDArray[np.int64]  # held-out rows in it
    errors: NDArray[np.int64]  # of which it got wrong
    lower: Floats
    upper: Floats
    delta: float

    def __str__(self) -> str:
        lines = ["leaf    rows   error   true error between"]
        for node, n, k, (low, high) in zip(
            self.leaf.tolist(), self.rows.tolist(), self.errors.tolist(), self.limits, strict=True
        ):
            error = f"{100 * k / n:.1f} %" if n else "-"
            lines.append(f"{node:>4}  {n:>6,}  {error:>6}   {low} and {high}")
        return "\n".join([*lines, self.confidence])

    def _layout(self) -> Layout:
        rows = [
            [str(node), f"{n:,}", percent(k / n) if n else "–", low, high]
            for node, n, k, (low, high) in zip(
                self.leaf.tolist(), self.rows.tolist(), self.errors.tolist(), self.limits, strict=True
            )
        ]
        head = ["leaf", "rows", "error", "true error from", "to"]
        return Layout([], head, rows, range(5), [self.confidence])

    @property
    def limits(self) -> list[tuple[str, str]]:
        """The ends of each interval in words, rounded outwards."""
        lower, upper = np.floor(1000 * self.lower + 1e-9) / 10, np.ceil(1000 * self.upper - 1e-9) / 10
        return [(f"{low:.1f} %", f"{high:.1f} %") for low, high in zip(lower, upper, strict=True)]

    @property
    def confidence(self) -> str:
        """The confidence in words."""
        return f"with {round(100 * (1 - self.delta), 10):g} % confidence all of them hold"


@checked_keywords
def leaf_intervals(tree: Tree, test: Dataset, *, delta: float = 0.05) -> LeafIntervals:
    """Clopper and Pearson's interval of each leaf's error at δ / leaves, from held-out rows.

    Half of it is for the lower and half for the upper end. A leaf without rows has the interval from 0 to 1.
    Rows with missing values that the tree splits into fractions belong to no leaf and are left out.

    Parameters
    ----------
    tree : Tree or fitted estimator
        A tree that predicts the classes of one target.
    test : Dataset
        Rows that were not used to grow or prune it.
    delta : float
        The probability that any of the intervals fails.

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
    leaf, targets = whole_rows(tree, data)
    wrong = leaf[tree.label[leaf, 0] != targets[0]]
    leaves = np.flatnonzero(tree.is_leaf)
    rows, errors = (np.bincount(which, minlength=tree.n_nodes)[leaves] for which in (leaf, wrong))
    nats, n = np.log(2 * len(leaves) / delta), np.maximum(rows, 1)
    lower = np.where(rows, binomial_lower(errors, n, nats), 0.0)
    upper = np.where(rows, binomial_upper(errors, n, nats), 1.0)
    return LeafIntervals(leaves, rows, errors, lower, upper, delta)
