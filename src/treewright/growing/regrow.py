"""Regrowing: another decision at one node of a tree, and a new subtree below it."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.encoding import Dataset
from treewright.encoding.rows import with_target
from treewright.growing import as_whole, grow
from treewright.growing.forced_splits import refuse_nonlocal_options
from treewright.growing.limits import in_units
from treewright.growing.model_trees import fit_linear_leaves
from treewright.parameters.tree import GROW
from treewright.tree import Tree
from treewright.tree.conditions import Among, Below
from treewright.tree.evaluate import given_rows, leaves_of, rows_of
from treewright.tree.number_losses import predicts_medians
from treewright.tree.shortcuts import as_tree
from treewright.tree.surgery import node_indices, plant_subtrees

BEST = "best"


def regrow(
    model: Any, node: int, split: Below | Among | str | None, data: Any, target: Any = None, /, **growing: Any
) -> Tree:
    """The tree with another decision at one node: the subtree below is grown again, the rest is kept.

    Parameters
    ----------
    model : Tree or fitted estimator
        The tree, which is not changed.
    node : int
        The node, a branch or a leaf.
    split : Below, Among, str or None
        A test, the name of a column whose best split is taken, "best" to let the grower choose, or None to
        make the node a leaf. (A column that is called "best" is tested by Below or Among.)
    data : table, tuple (table, target) or (table, target, weights), or Dataset
        The rows that the tree was grown from.
    target : str or array, optional
        Of a table in `data`: its target column, or its targets.
    **growing
        Options of `grow`, as the tree was grown with; they hold below the node and for the split itself. A
        budget (max_leaf_nodes) is that of the whole tree: what the rest leaves of it goes to the splits of
        the largest gain. Fractions are of all rows.

    Returns
    -------
    Tree
        It can be regrown in turn.

    Examples
    --------
    >>> from treewright import Below, encode, grow, regrow
    >>> data = encode({"x": [1, 2, 3, 4, 5, 6], "z": [1, 9, 2, 8, 3, 7]}, list("aabbab"))
    >>> tree = grow(data)
    >>> other = regrow(tree, 0, Below("z", 5), data)
    >>> print(other)
    6 rows
    ├─ z <= 5
    │  ├─ x <= 2      a    1 row   100 %
    │  └─ x > 2
    │     ├─ x <= 4   b    1 row   100 %
    │     └─ x > 4    a    1 row   100 %
    └─ z > 5
       ├─ x <= 3      a    1 row   100 %
       └─ x > 3       b   2 rows   100 %
    >>> regrow(other, 0, "best", data) == tree
    True
    """
    tree = as_tree(model)
    formulas = growing.pop("leaf", "constant") == "linear" or tree.linear is not None
    place = int(node_indices(tree, [node])[0])
    refuse_nonlocal_options(growing)
    if tree.missing == "fractional":
        raise ValueError("rows with missing values are in several leaves of this tree; it cannot be regrown")
    rows = _grown_rows(tree, with_target("regrow", data, target))
    rest = tree.collapse([place])
    if split is None:
        return fit_linear_leaves(rest, rows) if formulas else rest
    criterion = growing.pop("criterion", None) or tree.criterion
    leaf = leaves_of(tree, rows)
    here = as_whole(rows).take((leaf >= place) & (leaf < tree.end[place]))
    left_over = {**_left_over(rest, place, growing, rows), "criterion": criterion}
    below = grow(here, root=None if split == BEST else split, **left_over)
    if below.criterion != tree.criterion:
        raise ValueError(
            f"the tree was grown by {tree.criterion!r}; its nodes cannot be regrown by {criterion!r}"
        )
    if below.missing != tree.missing:
        raise ValueError(f"the tree was grown with missing={tree.missing!r}; so must its nodes be")
    whole = plant_subtrees(rest, {place: below})
    return fit_linear_leaves(whole, rows) if formulas else whole


def _left_over(rest: Tree, node: int, growing: dict[str, Any], data: Dataset) -> dict[str, Any]:
    """The limits that the rest of a tree leaves to what grows at one of its leaves."""
    found = dict(growing)
    for name in found.keys() & GROW.keys():
        GROW[name].check("regrow", found[name])
    if found.get("max_leaf_nodes") is not None:
        found["max_leaf_nodes"] = max(1, found["max_leaf_nodes"] - (rest.n_leaves - 1))
    if found.get("max_depth") is not None:
        found["max_depth"] = max(0, found["max_depth"] - int(rest.depths[node]))
    return in_units(found, data.n_counted, data.total_weight)


def _grown_rows(tree: Tree, data: Any) -> Dataset:
    """The rows that a tree was grown from: every node must get as many rows again."""
    rows = given_rows(tree, data, "data")
    arrived = rows_of(tree, rows)
    if not np.array_equal(arrived, tree.rows):
        node = int(np.argmax(arrived != tree.rows))
        raise ValueError(
            f"data is not what the tree was grown from: {arrived[node]} rows reach node {node}, which "
            f"has {tree.rows[node]}"
        )
    # for numbers the weight and the mean are compared; deviations and medians depend on the criterion
    n_columns = None if tree.schema.predicts_classes else 1 if predicts_medians(tree.criterion) else 2
    own = slice(n_columns)
    leaves = np.flatnonzero(tree.is_leaf)
    now, before = (np.asarray(each[leaves])[:, own] for each in (tree.statistic_of(rows), tree.statistic))
    if not np.allclose(now, before, rtol=1e-9):
        raise ValueError("data is not what the tree was grown from: its rows have other weights or targets")
    return rows.with_target_specs(tree.schema.targets)  # splits are chosen by the costs of the tree
