"""Minimal cost-complexity pruning: the subtree of least risk + alpha * leaves, for every alpha at once.

Let R(v) be the risk of node v as a leaf and R(T_v) that of the leaves below it. As alpha grows, the inner
node with the smallest g(v) = (R(v) - R(T_v)) / (|T_v| - 1) collapses first (the weakest link), and so on up
to the root. Searching for the weakest link repeatedly costs O(nodes * depth); the core finds all of them in
one bottom-up pass instead.

The risk is that of the tree's criterion unless the caller passes another one: any number per node that adds
up over leaves, such as the weight of the misclassified rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan
from numbers import Real
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from treewright import _core
from treewright.encoding import Dataset
from treewright.pruning.arguments import method
from treewright.pruning.path import PruningPath
from treewright.pruning.traversal import Floats, Ints
from treewright.tree import Tree

_LEAST_LOSS = 1e-290  # smaller sums have lost digits, or lose them in a division
CLOSED_BY = "alpha"  # without this option the path goes on to the root, and `select` chooses


@dataclass(frozen=True)
class CostComplexityPath:
    """The nested sequence of subtrees, from the whole tree to its root.

    From `alpha[i]` on (up to `alpha[i + 1]`) the best subtree has the risk `risk[i]` and `leaves[i]` leaves.
    Risks are per unit of weight: those of the leaves, divided by the weight of the root.
    """

    alpha: Floats
    risk: Floats
    leaves: Ints


def weakest_links(tree: Tree, risk: ArrayLike | None = None) -> Floats:
    """For each node the alpha at which it, or an ancestor of it, collapses; infinity at leaves.

    At a given alpha, collapsing every node whose level is at most alpha gives the smallest subtree among
    those with the least risk + alpha * leaves (risk per unit of weight, as in scikit-learn).
    """
    return _weakest_links(tree, risk)[0]


def cost_complexity_path(tree: Tree, risk: ArrayLike | None = None) -> CostComplexityPath:
    """Every subtree that is optimal for some alpha, with the alpha from which on it is.

    Nodes of the same level collapse together: whole numbers are compared exactly, others up to rounding.
    """
    return _weakest_links(tree, risk)[1]


def _weakest_links(tree: Tree, risk: ArrayLike | None) -> tuple[Floats, CostComplexityPath]:
    """The level of each node and the sequence of subtrees, from one pass."""
    level, alpha, total, leaves = _core.weakest_links(tree.end, _check_risk(tree, risk))
    weight = float(tree.weight[0])
    return level / weight, CostComplexityPath(alpha / weight, total / weight, leaves)


@method
def cost_complexity(
    tree: Tree,
    *,
    alpha: float | None = None,
    on: Literal["loss", "impurity"] = "loss",
    validation: Dataset | None = None,
) -> PruningPath:
    """Every subtree of least loss + alpha · leaves, from alpha = 0 to the root alone.

    Parameters
    ----------
    alpha : float, optional
        The complexity parameter, >= 0: the path ends with the optimal subtree of this alpha. Without it,
        `select` chooses.
    on : {"loss", "impurity"}
        The risk: the loss of the predictions, with costs, or the impurity of the criterion that the tree was
        grown by, as in scikit-learn. Both per unit of weight.

    Returns
    -------
    PruningPath
        The subtrees; `level` is the alpha from which on each is optimal, the smallest one among equals.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1, 2, 3, 4, 5, 6]}, ["a", "a", "a", "b", "a", "b"]))
    >>> path = cost_complexity(tree)
    >>> path.leaves.tolist(), path.level.round(3).tolist()
    ([4, 2, 1], [0.0, 0.083, 0.167])
    """
    if on not in ("loss", "impurity"):
        raise ValueError(f"on is {on!r}; it must be 'loss' or 'impurity'")
    if alpha is not None:
        _check_alpha(alpha)
    level, subtrees = _weakest_links(tree, tree.loss if on == "loss" else tree.risk)
    alphas = subtrees.alpha
    steps = len(alphas) if alpha is None else int(np.searchsorted(alphas, alpha, side="right"))
    position = np.searchsorted(alphas, level, side="left")
    path = PruningPath.from_nested("cost_complexity", tree, position, alphas[:steps], on=on, alphas=alphas)
    return replace(path, is_open=alpha is None).with_validation(validation)


def cut_at(tree: Tree, alpha: float, risk: ArrayLike | None = None) -> Tree:
    """The smallest subtree with the least risk + alpha * leaves, risk being per unit of weight.

    Alpha 0 removes only useless splits; from the last alpha of the path on, only the root is left. `alpha` is
    scikit-learn's ``ccp_alpha``.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1, 2, 3, 4, 5, 6]}, ["a", "a", "a", "b", "a", "b"]))
    >>> path = cost_complexity_path(tree)
    >>> path.leaves.tolist(), path.alpha.round(3).tolist()
    ([4, 2, 1], [0.0, 0.111, 0.222])
    >>> cut_at(tree, 0.2).n_leaves
    2
    """
    _check_alpha(alpha)
    level = weakest_links(tree, risk)
    return tree.collapse(np.flatnonzero((level <= alpha) & ~tree.is_leaf))


def _check_alpha(alpha: float) -> None:
    if not isinstance(alpha, Real) or isnan(alpha) or alpha < 0:
        raise ValueError(f"alpha is {alpha!r}; it must be a number >= 0")


def refuse_lost_squares(tree: Tree) -> None:
    """Raise ValueError where the tree distinguishes numbers whose squares underflow: all losses would be 0,
    and every split useless.
    """
    if tree.schema.predicts_classes or tree.criterion != "squared_error":
        return
    for place, target in enumerate(tree.schema.targets):
        values = tree.centre[:, place]
        if np.ptp(values) > 0 and tree.statistic[0, 3 * place + 2] < _LEAST_LOSS:
            raise ValueError(
                f"target {target.name!r}: the squared errors of this tree add up to less than "
                f"{_LEAST_LOSS:g}, too small to be compared in floating point; scale the target or the "
                "weights up to prune it"
            )


def _check_risk(tree: Tree, risk: ArrayLike | None) -> Floats:
    refuse_lost_squares(tree)
    if risk is None:
        return np.ascontiguousarray(tree.risk)
    risks = np.ascontiguousarray(risk, dtype=np.float64)
    if risks.shape != (tree.n_nodes,):
        raise ValueError(
            f"risk has the shape {risks.shape}; it must have one number for each of {tree.n_nodes} nodes"
        )
    if not np.isfinite(risks).all():
        raise ValueError(f"the risk of node {int(np.argmin(np.isfinite(risks)))} is not a finite number")
    return risks
