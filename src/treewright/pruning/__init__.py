"""Pruning: which nodes of a grown tree to collapse. One file per method, and this folder is the list of them.

A method is a file with a function of its own name; `Tree.collapse` and `Tree.graft` do the cutting.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from treewright._registry import Folder
from treewright.encoding.rows import has_target
from treewright.encoding.schema import Schema
from treewright.growing.constraints import Constraints
from treewright.parameters.values import Costs, from_first
from treewright.pruning.arguments import with_encoded_rows
from treewright.pruning.cost_complexity import (
    CostComplexityPath,
    cost_complexity,
    cost_complexity_path,
    cut_at,
    refuse_lost_squares,
    weakest_links,
)
from treewright.pruning.path import PruningPath
from treewright.tree.shortcuts import as_tree

__all__ = [
    "METHODS",
    "CostComplexityPath",
    "PruningPath",
    "cost_complexity",
    "cost_complexity_path",
    "cut_at",
    "leaves_choice",
    "methods",
    "prune",
    "refuse_raising",
    "weakest_links",
]


METHODS = Folder(__name__, __path__, "method")


def methods() -> tuple[str, ...]:
    """The names of the methods that `prune` knows.

    >>> "cost_complexity" in methods()
    True
    """
    return METHODS.names


def leaves_choice(method: str, options: Container[str]) -> bool:
    """Whether a method, with these options, leaves it to `select` to choose a tree of its path."""
    closed_by = getattr(METHODS.module(method), "CLOSED_BY", None)
    return closed_by is not None and closed_by not in options


def refuse_raising(
    method: str, options: Mapping[str, Any], growing: Mapping[str, Any], schema: Schema
) -> None:
    """Refuse to raise branches where the answers must be ordered: a branch that takes the place of the node
    above it gets rows that its order knows nothing of. `growing` is what the tree was grown with.
    """
    raises = "raising" in METHODS.options(method) and options.get("raising", True)
    if raises and Constraints.of(schema, monotonic_cst=growing.get("monotonic_cst")).monotone is not None:
        raise ValueError(
            f"{method} raises branches, which can break monotonic_cst; set raising=False, or take another "
            "method"
        )


def prune(
    model: Any,
    method: str = "cost_complexity",
    *,
    costs: Any = None,
    **options: Any,
) -> PruningPath:
    """Prune a tree by one of `methods()`.

    Parameters
    ----------
    model : Tree or fitted estimator
        The tree: grown, loaded or written by hand. It is left as it is.
    method : str
        One of `methods()`.
    costs : Costs, array or dict of dicts, optional
        Misclassification costs, and prior probabilities by ``Costs(matrix, priors=…)``: the tree predicts by
        them, and the losses of pruning are costs.
    **options
        Those of the method, by name. All methods that look at rows call them `data` (those that the tree was
        grown from) and `validation` (others): a Dataset, or a tuple (table, target).

    Returns
    -------
    PruningPath
        The trees that the method makes; ``.pruned`` is the one that it chooses.

    Examples
    --------
    >>> from treewright import encode, grow, prune
    >>> tree = grow(encode({"x": [1, 2, 3, 4, 5, 6]}, ["a", "a", "a", "b", "a", "b"]))
    >>> prune(tree, "cost_complexity", alpha=0.1).pruned.n_leaves
    2
    """
    tree = as_tree(model)
    refuse_lost_squares(tree)
    if method == "rules":
        raise ValueError(
            "rules are no tree: treewright.pruning.rule_post_pruning.rule_list makes them of one"
        )
    function = METHODS.function(method)
    METHODS.check(method, options, ("costs", "method"))
    data, validation = options.get("data"), options.get("validation")
    if has_target(data) and data is validation:
        raise ValueError("data and validation are the same rows; a row grows the tree or judges it, not both")
    if costs is not None:
        own = from_first(Costs)(costs)
        tree = tree.with_costs(own.matrix, own.priors)
    path: PruningPath = function(tree, **with_encoded_rows(tree, options))
    return path
