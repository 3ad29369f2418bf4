"""Reduced-error pruning: a branch stays only where it lowers the loss on held-out rows.

One pass from the leaves to the root. A branch becomes a leaf when the leaf loses no more on the held-out rows
than what is left of its subtree; predictions stay those of the training rows. As every node takes the better
of the two after all nodes below it, no pruning has a smaller loss on the held-out rows, and with ties="prune"
no pruning of the same loss is smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from treewright.encoding import Dataset
from treewright.pruning.arguments import check_classes, check_probability, method, refuse_many_classes
from treewright.pruning.path import PruningPath, refuse_no_rows, refuse_training_rows
from treewright.pruning.traversal import SAME_LOSS, Floats, Ints, Mask, collapse_mask
from treewright.tree import Tree
from treewright.tree.evaluate import rows_of
from treewright.tree.missing import divides

Decision = Callable[[Ints, Floats], Mask]
Choice = Literal["prune", "keep"]


@method
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

    Predictions stay those of the training rows.

    Parameters
    ----------
    validation : Dataset or tuple (table, target)
        Rows that the tree was not grown from, encoded with its schema.
    ties : {"prune", "keep"}
        Whether to collapse a branch whose loss equals that of a leaf.
    root : bool
        Whether the root may become a leaf.
    unreached : {"prune", "keep"}
        Whether to collapse a branch that no held-out row reaches.
    significance : float, optional
        Between 0 and 1. A branch then stays only if, among the rows on which it and the leaf disagree, it is
        correct significantly more often: the exact one-sided McNemar test at this level. For the classes of
        one target, integer row weights and equal misclassification costs.

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
    loss = tree.loss_of(validation)
    if significance is None:
        values, collapses = _loss_decision(loss, ties)
    else:
        values, collapses = _mcnemar_decision(tree, validation, significance)
    # A branch that no row reaches is a tie.
    is_unreached = None if ties == unreached and significance is None else rows_of(tree, validation) == 0

    def decide(wave: Ints, kept: Floats) -> Mask:
        gone = collapses(wave, kept)
        if is_unreached is not None:
            gone = np.where(is_unreached[wave], unreached == "prune", gone)
        return gone if root else gone & (wave > 0)

    path = PruningPath.from_collapse("reduced_error", tree, collapse_mask(tree, values, decide))
    return path.with_validation(validation, lambda *_: loss)


def _loss_decision(loss: Floats, ties: Choice) -> tuple[Floats, Decision]:
    """A branch collapses where a leaf loses less, or as much."""
    slack = SAME_LOSS * loss if ties == "prune" else -SAME_LOSS * loss

    def collapses(wave: Ints, kept: Floats) -> Mask:
        leaf, branch = loss[wave], kept[:, 0]
        return leaf <= branch + slack[wave] if ties == "prune" else leaf < branch + slack[wave]

    return loss[:, np.newaxis], collapses


def _mcnemar_decision(tree: Tree, validation: Dataset, significance: float) -> tuple[Floats, Decision]:
    """A branch collapses unless it is correct on significantly more rows.

    `kept[v, k]` counts the rows of class k that the current subtree of v predicts correctly. If v as a leaf
    predicts L, the rows on which only the subtree is correct are the other columns of `kept`, and those on
    which only the leaf is correct are the rows of class L less column L.
    """
    from scipy.special import betainc

    _check_testable(tree, validation, significance)
    counts: Floats = np.asarray(tree.statistic_of(validation))
    label = tree.label[:, 0]
    nodes = np.arange(tree.n_nodes)
    correct = np.zeros_like(counts)
    correct[nodes, label] = counts[nodes, label]

    def collapses(wave: Ints, kept: Floats) -> Mask:
        prediction = label[wave]
        both = kept[np.arange(len(wave)), prediction]
        branch_only = kept.sum(axis=1) - both
        leaf_only = counts[wave, prediction] - both
        # P[Binomial(n, ½) >= branch_only]
        p_value = betainc(np.maximum(branch_only, 1.0), leaf_only + 1.0, 0.5)
        return np.asarray((branch_only == 0) | (p_value > significance))

    return correct, collapses


def _check_testable(tree: Tree, validation: Dataset, significance: float) -> None:
    check_probability("significance", significance)
    check_classes(tree, "significance counts correct predictions", one_target=True)
    if divides(tree, validation):
        raise ValueError(
            "significance counts whole rows, but this tree splits validation rows with missing values into "
            "fractions (missing='fractional')"
        )
    if tree.schema.has_costs:
        raise ValueError("significance counts correct predictions; it does not support costs")
    refuse_many_classes(tree, "significance")
    if validation.weight is not None and (validation.weight % 1).any():
        row = int(np.argmax(validation.weight % 1 > 0))
        raise ValueError(
            f"significance counts rows: weights must be whole numbers; row {row} of validation has weight "
            f"{validation.weight[row]:g}"
        )
