"""Pruning by a χ² test: splits whose two sides do not differ significantly in their classes are collapsed.

The test is Pearson's, of the table of two sides by K classes. It uses the rows that chose the split among
many candidates, so its p-values are too small; a strict `significance` or the Bonferroni factor corrects for
that.
"""

from __future__ import annotations

from math import log, log1p

import numpy as np

from treewright.encoding import Dataset
from treewright.encoding.schema import Schema
from treewright.growing.conditional_inference import two_sample_p_values
from treewright.pruning.arguments import check_classes, check_probability, method, refuse_many_classes
from treewright.pruning.path import PruningPath
from treewright.pruning.traversal import Floats, Ints, Mask, collapse_mask
from treewright.tree import Tree


@method
def chi_squared(
    tree: Tree, *, significance: float = 0.05, bonferroni: bool = False, validation: Dataset | None = None
) -> PruningPath:
    """Collapse splits that are not statistically significant, from the leaves to the root.

    A branch whose children are leaves, or have become leaves, collapses if the p-value of its split is above
    `significance`. A significant split therefore keeps all its ancestors, whatever their p-values. For trees
    that predict the classes of one target.

    Parameters
    ----------
    bonferroni : bool
        Whether to multiply p-values by the number of candidate splits of the node: its rows less one for
        each numeric column, 2^(k − 1) − 1 for a categorical column of k values.

    Returns
    -------
    PruningPath
        The grown tree and the pruned one; ``details["p_value"]`` has the p-value of each branch, NaN at
        leaves.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": range(12)}, list("aaaaaabbbbab")))
    >>> path = chi_squared(tree, significance=0.05)
    >>> path.leaves.tolist(), path.details["p_value"][0].round(4).item()
    ([4, 2], 0.0034)
    """
    check_probability("significance", significance)
    check_classes(tree, "chi_squared compares classes", one_target=True)
    refuse_many_classes(tree, "chi_squared")
    p_value = np.full(tree.n_nodes, np.nan)
    inner = np.flatnonzero(~tree.is_leaf)
    p_value[inner] = two_sample_p_values(tree.statistic[tree.left[inner]], tree.statistic[tree.right[inner]])
    if bonferroni:
        with np.errstate(divide="ignore"):
            log_p = np.log(p_value[inner]) + _log_splits(tree.schema, tree.rows[inner])
        p_value[inner] = np.exp(np.minimum(log_p, 0.0))

    def decide(wave: Ints, leaves: Floats) -> Mask:
        return np.asarray((leaves[:, 0] == 2) & (p_value[wave] > significance))

    collapses = collapse_mask(tree, np.ones((tree.n_nodes, 1)), decide)
    path = PruningPath.from_collapse("chi_squared", tree, collapses, p_value=p_value)
    return path.with_validation(validation)


def _log_splits(schema: Schema, rows: Ints) -> Floats:
    """The logarithm of the largest possible number of candidate splits of so many rows, at least 0.

    >>> from treewright import Column, Schema
    >>> schema = Schema((Column("x"), Column("job", "category", ("clerk", "cook", "pilot"))))
    >>> np.exp(_log_splits(schema, np.array([1, 11]))).round(9).tolist()
    [3.0, 13.0]
    """
    counts = [len(column.categories) for column in schema.columns if column.is_category]
    subsets = [(n - 1) * log(2) + log1p(-(2.0 ** (1 - n))) for n in counts if n > 1]
    numbers = len(schema.columns) - len(counts)
    with np.errstate(divide="ignore"):
        thresholds = np.log(numbers * (rows - 1.0))
    return np.asarray(np.maximum(np.logaddexp(thresholds, np.logaddexp.reduce([-np.inf, *subsets])), 0.0))
