"""Reduced-error pruning: a branch stays only where it pays on rows that the tree was not grown from.

One pass from the leaves to the root. A branch becomes a leaf when that loses no more on the held-out rows
than what is left of its subtree; the answers stay those of the rows that grew the tree. As every node chooses
the better of the two after all nodes below it have, no pruning loses less on the held-out rows, and where
ties prune none of those that lose as little is smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.pruning.passing import SAME_LOSS, pass_up
from treewright.pruning.path import PruningPath, refuse_no_rows, refuse_training_rows
from treewright.tree import Tree
from treewright.tree.class_counts import SparseRows
from treewright.tree.evaluate import rows_of
from treewright.tree.missing import divides

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Rule = Callable[[Ints, Floats], Mask]
Choice = Literal["prune", "keep"]


def reduced_error(
    tree: Tree,
    *,
    validation: Dataset,
    ties: Choice = "prune",
    root: bool = True,
    unreached: Choice = "prune",
    significance: float | None = None,
) -> PruningPath:
    """Collapse every branch that does no better than a leaf on held-out rows, from the leaves to the root.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is left as it is.
    validation : Dataset
        Rows that the tree was not grown from, encoded with its schema.
    ties : {"prune", "keep"}
        What happens to a branch that loses as much as a leaf in its place would.
    root : bool
        Whether the root may become a leaf, too.
    unreached : {"prune", "keep"}
        What happens to a branch that no held-out row reaches.
    significance : float, optional
        Between 0 and 1. A branch then stays only if what is left of it is right on significantly more of the
        rows on which it and the leaf disagree: if as many or more would be right with probability at most
        `significance` were both equally good (the exact one-sided McNemar test). For the classes of one
        target, with rows that weigh whole numbers and mistakes that all cost the same.

    Returns
    -------
    PruningPath
        The grown tree and the pruned one, with their losses on the held-out rows.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1, 2, 3, 4, 5, 6]}, ["a", "a", "a", "b", "a", "b"]))
    >>> held_out = encode({"x": [1, 2, 4, 5, 6, 7]}, ["a", "a", "b", "b", "b", "b"], schema=tree.schema)
    >>> path = reduced_error(tree, validation=held_out)
    >>> path.leaves.tolist(), path.validation.round(3).tolist()
    ([4, 2], [0.167, 0.0])
    """
    for name, choice in (("ties", ties), ("unreached", unreached)):
        if choice not in ("prune", "keep"):
            raise ValueError(f"{name} is {choice!r}; it must be 'prune' or 'keep'")
    refuse_no_rows(validation)
    refuse_training_rows(tree, validation)
    worth, rule = (
        _less_loss(tree, validation, ties)
        if significance is None
        else _significantly_right(tree, validation, significance)
    )
    # Where no row arrives, nothing is lost either way: a tie.
    untouched = None if ties == unreached and significance is None else rows_of(tree, validation) == 0

    def decide(wave: Ints, kept: Floats) -> Mask:
        gone = rule(wave, kept)
        if untouched is not None:
            gone = np.where(untouched[wave], unreached == "prune", gone)
        return gone if root else gone & (wave > 0)

    return PruningPath.collapsed("reduced_error", tree, pass_up(tree, worth, decide), validation)


def _less_loss(tree: Tree, validation: Dataset, ties: Choice) -> tuple[Floats, Rule]:
    """A branch collapses where a leaf loses less, or as much."""
    loss = tree.loss_of(validation)
    slack = SAME_LOSS * loss if ties == "prune" else -SAME_LOSS * loss

    def rule(wave: Ints, kept: Floats) -> Mask:
        leaf, branch = loss[wave], kept[:, 0]
        return leaf <= branch + slack[wave] if ties == "prune" else leaf < branch + slack[wave]

    return loss[:, np.newaxis], rule


def _significantly_right(tree: Tree, validation: Dataset, significance: float) -> tuple[Floats, Rule]:
    """A branch collapses unless it is right on significantly more rows.

    Its current leaves tell all that is needed: `kept[v, k]`, the rows of class k that the subtree of v
    answers with k. If v itself would answer L, the rows on which only the subtree is right are the other
    columns of `kept`, and those on which only the leaf is right are the rows of class L less column L.
    """
    from scipy.special import betainc

    _check_testable(tree, validation, significance)
    counts: Floats = np.asarray(tree.statistic_of(validation))
    label = tree.label[:, 0]
    nodes = np.arange(tree.n_nodes)
    right = np.zeros_like(counts)
    right[nodes, label] = counts[nodes, label]

    def rule(wave: Ints, kept: Floats) -> Mask:
        answer = label[wave]
        both = kept[np.arange(len(wave)), answer]
        branch_only = kept.sum(axis=1) - both
        leaf_only = counts[wave, answer] - both
        chance = betainc(
            np.maximum(branch_only, 1.0), leaf_only + 1.0, 0.5
        )  # P[Binomial(n, ½) >= branch_only]
        return np.asarray((branch_only == 0) | (chance > significance))

    return right, rule


def _check_testable(tree: Tree, validation: Dataset, significance: float) -> None:
    if not isinstance(significance, Real) or not 0 < significance < 1:
        raise ValueError(f"significance is {significance!r}; it must be between 0 and 1, such as 0.05")
    schema = tree.schema
    if not schema.predicts_classes or len(schema.targets) != 1:
        raise ValueError("significance counts right answers; it is for trees of the classes of one target")
    if divides(tree, validation):
        raise ValueError(
            "significance counts rows, and this tree divides those of validation that miss values "
            "(missing='fractional')"
        )
    if schema.has_costs:
        raise ValueError("significance counts right answers; it cannot weigh what mistakes cost")
    if isinstance(tree.statistic, SparseRows):
        raise ValueError(f"significance is for up to 256 classes; the tree has {schema.width}")
    if validation.weight is not None and (validation.weight % 1).any():
        row = int(np.argmax(validation.weight % 1 > 0))
        raise ValueError(
            f"significance counts rows: weights must be whole numbers; row {row} of validation weighs "
            f"{validation.weight[row]:g}"
        )
