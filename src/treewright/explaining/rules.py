"""A tree as rules: each leaf with the conditions that lead to it, in the shortest form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from treewright.encoding.schema import Schema
from treewright.tree import Tree
from treewright.tree.class_counts import SparseRows
from treewright.tree.rule_list import RuleList
from treewright.tree.shortcuts import as_tree


def rules(model: Any, *, target: str | None = None, merge: bool = False) -> RuleList:
    """The leaves of a tree as rules, with the tests of each column on the way merged into one condition.

    Exactly one rule fits any row, and it answers as the tree does: missing values and categories never seen
    before included. Leaves that no row can reach have no rule. To make fewer and simpler rules, which no tree
    can say, see `treewright.pruning.rule_post_pruning.rule_list`.

    Parameters
    ----------
    model : Tree or fitted estimator
        Of classes or of numbers. The rules of a `RuleListClassifier` are its own.
    target : str, optional
        Of a tree that has several: the one that the rules answer.
    merge : bool
        Whether leaves of the same answer under one test become one rule. The answers stay; the shares are
        then those of all rows of the rule.

    Returns
    -------
    RuleList

    Examples
    --------
    >>> from treewright import encode, grow, rules
    >>> tree = grow(encode({"x": [1, 2, 3, 4, 5]}, [10.0, 10.0, 20.0, 20.0, 50.0]))
    >>> print(rules(tree))
    3 rules: the first that fits answers
    1.  x <= 2.5         10   2 rows
    2.  2.5 < x <= 4.5   20   2 rows
    3.  x > 4.5          50    1 row
    """
    own = getattr(model, "rules_", None)
    if isinstance(own, RuleList):
        if target is not None or merge:
            raise ValueError("target and merge are for trees; these rules are made already")
        return own
    tree = as_tree(model)
    if target is not None:
        tree = _for_target(tree, target)
    return RuleList.of(_merged(tree) if merge else tree)


def _for_target(tree: Tree, name: str) -> Tree:
    """The same tests, with what they say of one target."""
    names = [target.name for target in tree.schema.targets]
    if name not in names:
        known = ", ".join(map(repr, names))
        raise ValueError(f"there is no target {name!r}; the tree predicts {known}")
    i = names.index(name)
    if len(names) == 1:
        return tree
    borders = np.cumsum((0, *tree.schema.block_widths))
    first, last = int(borders[i]), int(borders[i + 1])
    schema = Schema(tree.schema.columns, (tree.schema.targets[i],))
    statistic: Any = tree.statistic
    if isinstance(statistic, SparseRows):
        node = np.repeat(np.arange(tree.n_nodes), np.diff(statistic.start))
        own = (statistic.column >= first) & (statistic.column < last)
        cells = node[own], statistic.column[own] - first, statistic.value[own]
        statistic = SparseRows.from_cells(tree.end, *cells, last - first)
    else:
        statistic = statistic[:, first:last]
    return replace(tree, schema=schema, statistic=statistic)


def _merged(tree: Tree) -> Tree:
    """The tree in which branches are leaves where all leaves below give the branch's own answer."""
    answer = tree.label if tree.schema.predicts_classes else tree.value
    same = tree.is_leaf.copy()
    for wave in tree.waves:
        left, right = tree.left[wave], tree.right[wave]
        alike = (answer[left] == answer[wave]) & (answer[right] == answer[wave])
        same[wave] = same[left] & same[right] & alike.all(axis=1)
    return tree.collapse(np.flatnonzero(same & ~tree.is_leaf).tolist())
