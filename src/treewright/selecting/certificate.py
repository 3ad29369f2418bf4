"""By certificate: the tree whose error is proved to be lowest, from the training rows alone."""

from __future__ import annotations

from typing import cast

import numpy as np

from treewright._suggestions import choices_text
from treewright.certifying import BOUNDS, certify, header_bits, is_complete, node_bits
from treewright.certifying.binomial import check_delta
from treewright.certifying.held_out import same_statistic
from treewright.certifying.losses import training_loss
from treewright.certifying.training_rows import choices_of
from treewright.encoding import Dataset
from treewright.pruning import PruningPath
from treewright.pruning.arguments import method
from treewright.pruning.traversal import Floats
from treewright.selecting.one_standard_error import choose, least
from treewright.tree import Tree
from treewright.tree.oblique import known_complete


@method
def certificate(
    path: PruningPath, *, delta: float = 0.05, method: str = "occam", data: Dataset | None = None
) -> PruningPath:
    """The tree of least certificate, the smallest of several.

    Certificates from training rows hold for all trees of the code at once: choosing among them costs nothing.
    For trees that predict classes.

    Parameters
    ----------
    method : str
        One of the certificates from training rows: "occam", "pac_bayes", "mdl" …
    data : Dataset or tuple (table, target), optional
        The training rows: they tell whether values were missing, which else is assumed.

    Returns
    -------
    PruningPath
        ``details["certificates"]`` has the certificate of each tree.
    """
    check_delta(delta)
    if not path.full_tree.schema.predicts_classes:
        raise ValueError(
            "certificate is for trees that predict classes, and this one predicts numbers; select by "
            "held_out or folds"
        )
    if method not in BOUNDS:
        raise ValueError(
            f"method {method!r} is unknown; those from training rows are {choices_text(method, BOUNDS)}"
        )
    if data is not None and not same_statistic(path.full_tree, data):
        raise ValueError("data are not the rows that the tree was grown from: its nodes count others")
    if BOUNDS[method].needs_bits:
        value = _by_code(path, delta, method, data)
    else:
        value = np.array([certify(tree, method, data=data, delta=delta).value for tree in path])
    how = f"certificate ({method.replace('_', ' ')})"
    return choose(path, least(path, value), how, certificates=value, delta=delta)


def _by_code(path: PruningPath, delta: float, method: str, data: Dataset | None) -> Floats:
    """All certificates at once; the code is that of the whole tree."""
    _, rows, whole, most = training_loss(path.full_tree)
    complete = known_complete(path.full_tree) if data is None else is_complete(path.full_tree, data)
    errors = path.training * rows / most
    bits = header_bits(path.full_tree) + path.prunings.sums(
        lambda tree, _: code_bits(tree, complete), cast(Dataset, None)
    )  # no rows are looked at
    value: Floats = BOUNDS[method](
        np.rint(errors) if whole else errors,
        rows,
        leaves=path.leaves,
        bits=bits,
        **choices_of(path.full_tree),
        delta=delta,
        whole=whole,
    )
    return value * most


def code_bits(tree: Tree, complete: bool) -> Floats:
    """Bits for each node that add up over the leaves of any pruning to the length of that pruning.

    A pruning has one split between each leaf and the next one: the node whose right side begins where the
    leaf ends, whatever else is pruned. Its bits are added to those of the leaf.
    """
    leaf, split = node_bits(tree, complete=complete)
    following = np.append(tree.parent, -1)[tree.end]  # the split after each node; -1 after the last leaf
    return leaf + np.where(following >= 0, split[following], 0.0)
