"""A tree as rules: each leaf with the conditions that lead to it, in the shortest form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from treewright._suggestions import choices_text
from treewright.encoding.schema import Schema
from treewright.parameters import documented
from treewright.tree import Tree
from treewright.tree.class_counts import SparseRows
from treewright.tree.rule_list import RuleList
from treewright.tree.shortcuts import as_tree


@documented
def rules(model: Any, *, target: str | None = None, merge: bool = False) -> RuleList:
    """The leaves of a tree as rules, with the tests of each column on the way merged into one condition.

    Exactly one rule fits any row, with missing values and new categories as well, and it predicts what the
    tree does. Leaves that no row can reach have no rule. For fewer and simpler rules, which no tree can
    express, see `treewright.pruning.rule_post_pruning.rule_list`.

    Parameters
    ----------
    model : Tree or fitted estimator
        The tree; a `RuleListClassifier` has rules of its own.
    target : str, optional
        The target that the rules predict, of a tree with several.
    merge : bool
        Whether leaves with the same answer below one test become one rule. The answers stay; the shares are
        then those of all rows of the rule.

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
            raise ValueError("target and merge are for trees; this model is a list of rules already")
        return own
    tree = as_tree(model)
    if target is not None:
        tree = _for_target(tree, target)
    return RuleList.of(_merge_leaves(tree) if merge else tree)


def _for_target(tree: Tree, name: str) -> Tree:
    """The same tests, with the statistic of one target."""
    names = [target.name for target in tree.schema.targets]
    if name not in names:
        raise ValueError(
            f"there is no target {name!r}; the tree predicts {choices_text(name, names, in_quotes=True)}"
        )
    i = names.index(name)
    if len(names) == 1:
        return tree
    first, last = np.cumsum((0, *tree.schema.block_widths))[i : i + 2].tolist()
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


def _merge_leaves(tree: Tree) -> Tree:
    """The tree in which branches are leaves where all leaves below give the branch's own answer."""
    answer = tree.label if tree.schema.predicts_classes else tree.value
    same = tree.is_leaf.copy()
    for wave in tree.waves:
        left, right = tree.left[wave], tree.right[wave]
        alike = (answer[left] == answer[wave]) & (answer[right] == answer[wave])
        same[wave] = same[left] & same[right] & alike.all(axis=1)
    return tree.collapse(np.flatnonzero(same & ~tree.is_leaf).tolist())
