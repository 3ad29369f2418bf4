"""By rows that were held out: the tree that loses least on them."""

from __future__ import annotations

from typing import Literal

from treewright.encoding import Dataset
from treewright.pruning import PruningPath
from treewright.pruning.arguments import method
from treewright.pruning.path import refuse_training_rows
from treewright.selecting.one_standard_error import by_rule, check_rule


@method
def held_out(
    path: PruningPath, *, validation: Dataset | None = None, rule: Literal["0-SE", "1-SE"] = "0-SE"
) -> PruningPath:
    """The tree with the least loss on held-out rows, the smallest one of several.

    Parameters
    ----------
    validation : Dataset or tuple (table, target), optional
        Rows that the tree was not grown from; those that the path was tried on already by default.
    """
    check_rule(rule)
    if validation is not None:
        path = path.with_validation(validation)
        refuse_training_rows(path.full_tree, validation)
    if path.validation is None:
        raise TypeError("by='held_out' needs validation=, a Dataset of rows that the tree was not grown from")
    return by_rule(
        path, rule, f"{path.n_validation:,} held-out rows" if path.n_validation else "held-out rows"
    )
