"""By structural risk: the training error and a price for size that falls with the number of rows."""

from __future__ import annotations

from dataclasses import replace

from treewright.pruning import PruningPath
from treewright.pruning.arguments import check_classes, check_constant, method
from treewright.pruning.srm import Size, choose_by_penalty


@method
def srm(path: PruningPath, *, c: float = 1.0, size: Size = "nodes") -> PruningPath:
    """The tree of least error + c · √(size / rows), the smallest of several.

    On a path by "cost_complexity" of the loss this is the best of all prunings of the tree: the price is
    concave in the size, so that it lies on a corner of the hull of (leaves, errors), and those are the path.
    For trees that predict classes.

    Parameters
    ----------
    c : float
        How much size counts; 1 is the theory, which takes small trees.
    size : {"nodes", "leaves"}
        Whether branches count as well.
    """
    check_classes(path.full_tree, "by='srm' weighs misclassified rows against size")
    check_constant(c)
    chosen = choose_by_penalty(path, c, size)
    return replace(chosen, details=chosen.details | {"chosen_by": f"structural risk, c = {c:g}"})
