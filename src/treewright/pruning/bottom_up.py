"""Kearns and Mansour's bottom-up pruning: a subtree stays only if it beats a leaf by more than a penalty.

One pass from the leaves to the root, with local information only. Branch v, at depth ℓ, reached by m_v of m
rows, becomes a leaf if, for what is left of its subtree,

    error of the subtree on its rows + α  >=  error of a leaf on its rows,
    α = c · √((ln paths + ln trees + ln(m / δ)) / m_v),

where `paths` counts the conjunctions of ℓ tests and `trees` the trees of the subtree's size. With a constant
a little above 1, with probability 1 − δ no remaining subtree has a larger true error than a leaf; in practice
such a constant prunes far too much.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

import numpy as np

from treewright._suggestions import choices_text
from treewright.certifying.kearns_mansour import Form, penalty
from treewright.encoding import Dataset
from treewright.pruning.arguments import check_classes, check_constant, check_probability, method
from treewright.pruning.cross_validation import tune_constant
from treewright.pruning.path import PruningPath
from treewright.pruning.traversal import SAME_LOSS, Floats, Ints, Mask, collapse_mask
from treewright.tree import Tree

FORMS: tuple[Form, ...] = ("boolean", "counted", "vc", "mansour97")
GRID = tuple(np.geomspace(0.02, 0.5, 11).round(4).tolist())  # the constants that folds choose from


@method
def bottom_up(
    tree: Tree,
    *,
    form: Form = "boolean",
    c: float | Literal["cv"] = 0.05,
    delta: float = 0.05,
    data: Dataset | None = None,
    growing: Mapping[str, Any] | None = None,
    n_folds: int = 10,
    random_state: int = 0,
    validation: Dataset | None = None,
) -> PruningPath:
    """Collapse every branch whose current subtree does not beat a leaf by more than a penalty.

    For trees that predict classes.

    Parameters
    ----------
    form : {"boolean", "counted", "vc", "mansour97"}
        How paths and trees are counted, for d columns and a subtree of k leaves. "boolean": d^ℓ paths and
        d^(2k − 1) trees, as in Kearns and Mansour's example of Boolean columns; "counted": the exact numbers
        for Boolean columns, (2d)^ℓ paths and Catalan(k − 1) · d^(k − 1) · 2^k trees; "vc": for thresholds,
        ℓ + k − 1 tests of the VC dimension of one, times ln 2m; "mansour97": no logarithms, a branch
        collapses if errors of the leaf <= errors of the subtree + c · √(m_v · k).
    c : float or "cv"
        The factor of the penalty; about 1 in theory, 0 collapses splits without gain. "cv" takes the value of
        `GRID` with the smallest cross-validated loss, the largest among equals.
    delta : float
        The failure probability, between 0 and 1; not used by "mansour97".

    Returns
    -------
    PruningPath
        The grown tree and the pruned one; ``details["c"]`` is the factor, and after cross-validation
        ``details["tried"]``, ``["losses"]`` and ``["standard_errors"]`` describe all factors.

    Notes
    -----
    Errors are weighted by the row weights; m and m_v are numbers of rows. With misclassification costs the
    penalty is multiplied by the highest cost.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": range(12)}, list("aaaaaabbbbab")))
    >>> bottom_up(tree, c=0.05).leaves.tolist(), bottom_up(tree, c=0.2).leaves.tolist()
    ([4, 4], [4, 2])
    """
    if form not in FORMS:
        raise ValueError(f"form is {form!r}; it must be one of {choices_text(form, FORMS)}")
    check_probability("delta", delta)
    check_classes(tree, "bottom_up compares error rates")
    details: dict[str, Any] = {"form": form, "delta": delta}
    if c == "cv":

        def prune_at(grown_tree: Tree, constant: float) -> Tree:
            return grown_tree.collapse(np.flatnonzero(_collapses(grown_tree, form, constant, delta)).tolist())

        details |= tune_constant(tree, data, growing, n_folds, random_state, prune_at, GRID)
    else:
        details["c"] = check_constant(c, " or 'cv'")
    collapses = _collapses(tree, form, details["c"], delta)
    return PruningPath.from_collapse("bottom_up", tree, collapses, **details).with_validation(validation)


def _collapses(tree: Tree, form: Form, c: float, delta: float) -> Mask:
    """Mask of the branches that the pass collapses."""
    loss, rows, depth = tree.loss, tree.rows, tree.depths
    alpha = partial(penalty, rows=int(rows[0]), columns=len(tree.schema.columns), delta=delta, form=form)
    costs = [max(map(max, target.costs)) for target in tree.schema.targets if target.costs is not None]
    scale = c * max(costs, default=1.0) * len(tree.schema.targets) * tree.weight  # from α to losses

    def decide(wave: Ints, kept: Floats) -> Mask:
        subtree, leaves = kept.T
        price = scale[wave] * alpha(rows[wave], depth[wave], 2 * leaves - 1)
        return np.asarray(subtree + price >= loss[wave] * (1 - SAME_LOSS))

    return collapse_mask(tree, np.stack([loss, np.ones(tree.n_nodes)], axis=1), decide)
