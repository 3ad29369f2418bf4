"""Growing as boosting: the number of splits that reduce the error to ε if every leaf has a test of edge γ.

For two classes. At a leaf with the share q of one class, a test sends the share a of that class and the share
b of the other to the left; its edge is γ = |a - b| / 2, by which it beats a coin where both classes are made
equally frequent. Let G be the average of the criterion over the leaves, scaled so that G(1/2) = 1/2; then the
error is never above it. The drop at a leaf is at least

    gini     2 q(1-q)          8 γ² G²            (exact: 2 (q(1-q))² (a-b)² / (τ(1-τ)), and τ(1-τ) <= 1/4)
    entropy  H(q)/2, in bits   4 γ² q(1-q)/ln 2   (Pinsker's inequality for the classes' two sides)
    sqrt     √(q(1-q))         (1 - √(1-4γ²)) G   (exact: G (1 - √(ab) - √((1-a)(1-b))))

each of the form c·v(G) with v convex and rising. Of t leaves that have G in all, the best one has a weighted
drop of at least c·v(G)/t, by Jensen's inequality. So with Ψ(ε) = ∫ dG/v(G) from ε to 1/2, S splits reach
G <= ε as soon as c (1 + 1/2 + … + 1/S) >= Ψ(ε), for which S + 1 = exp(Ψ(ε)/c) is enough:

    gini     exp((1/ε - 2) / 8γ²)
    entropy  exp(ln²((1-q)/q) / 16γ²)  where H(q)/2 = ε
    sqrt     (1/2ε)^(1/(1-√(1-4γ²))), about (1/2ε)^(1/2γ²)

The literature has the same forms for entropy and sqrt, and a larger one, with ε² for ε, for gini. The error
itself as a criterion has no such bound: a test with an edge may leave it as it was.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from treewright.certifying.binomial import Floats
from treewright.tree import Tree
from treewright.tree.class_counts import SparseRows

Criterion = Literal["error", "gini", "entropy", "sqrt"]


def log_splits_needed(criterion: Criterion, error: float, edge: float) -> float:
    """ln(S + 1) for the number of splits S that is enough; infinite for the criterion "error".

    `criterion` chooses leaf and test ("sqrt" is Kearns and Mansour's), `error` > 0 is the training error to
    reach, and every leaf must have a test with an edge of at least `edge`: γ, above 0 and at most 1/2.

    >>> [round(log_splits_needed(name, 0.1, 0.3), 2) for name in ("gini", "entropy", "sqrt")]
    [11.11, 8.21, 8.05]
    """
    if not error > 0:
        raise ValueError(f"error is {error!r}; it must be above 0")
    if not 0 < edge <= 0.5:
        raise ValueError(f"edge is {edge!r}; it must be above 0 and at most 1/2")
    if criterion not in ("error", "gini", "entropy", "sqrt"):
        raise ValueError(f"criterion is {criterion!r}; it must be 'error', 'gini', 'entropy' or 'sqrt'")
    if error >= 0.5:
        return 0.0  # the root alone is as good
    if criterion == "error":
        return math.inf
    if criterion == "gini":
        return (1 / error - 2) / (8 * edge**2)
    if criterion == "entropy":
        q = _entropy_inverse(2 * error)
        return (math.log1p(-q) - math.log(q)) ** 2 / (16 * edge**2)
    # 1 - √(1-4γ²), without the cancellation
    drop = 4 * edge**2 / (1 + math.sqrt(max(1 - 4 * edge**2, 0.0)))
    return -math.log(2 * error) / drop


def splits_needed(criterion: Criterion, error: float, edge: float) -> float:
    """The number of splits that are enough for a training error of `error`; infinite beyond any count.

    >>> splits_needed("sqrt", 0.1, 0.3), splits_needed("error", 0.1, 0.3)
    (3124.0, inf)
    """
    logarithm = log_splits_needed(criterion, error, edge)
    return math.ceil(math.expm1(logarithm) * (1 - 1e-12)) + 0.0 if logarithm < 700 else math.inf


def _entropy_inverse(bits: float) -> float:
    """The share q <= 1/2 whose entropy is `bits`, to the last digits."""
    low, high = 0.0, 0.5
    for _ in range(200):
        middle = (low + high) / 2 if low > 0 else high / 2**8
        entropy = -(middle * math.log(middle) + (1 - middle) * math.log1p(-middle)) / math.log(2)
        low, high = (middle, high) if entropy < bits else (low, middle)
    return high


def measured_edges(tree: Tree) -> Floats:
    """γ of the test at each node of a tree of two classes, on its training rows.

    NaN at leaves, and at nodes of a single class, where there is nothing to tell apart.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1, 1, 1, 2, 2, 2]}, ["a", "a", "b", "a", "b", "b"]))
    >>> measured_edges(tree).round(4).tolist()
    [0.1667, nan, nan]
    """
    if not tree.schema.predicts_classes or tree.schema.block_widths != (2,):
        raise ValueError("edges are measured in trees that predict the two classes of one target")
    assert not isinstance(tree.statistic, SparseRows)
    edges = np.full(tree.n_nodes, np.nan)
    inner = np.flatnonzero(~tree.is_leaf)
    here = np.where(tree.statistic[inner] > 0, tree.statistic[inner], np.nan)
    shares = tree.statistic[tree.left[inner]] / here
    edges[inner] = np.abs(shares[:, 1] - shares[:, 0]) / 2
    return edges
