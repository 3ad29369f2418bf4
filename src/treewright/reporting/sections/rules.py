"""The model as text: its rules, and the tree with indentation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treewright.explaining.rules import rules
from treewright.exporting.text import render
from treewright.reporting.context import Context
from treewright.tree import Tree
from treewright.tree.missing import sent_by_others

MOST_LINES = 1_000  # of the tree as text
MOST_RULES = 300
MOST_CONDITIONS = 6_000  # of all rules together


def values(context: Context) -> dict[str, str]:
    """Both texts, without those of too large a tree."""
    model = context.subject.model_tree
    return {"rules": rules_text(model), "tree": tree_text(model)}


def rules_text(tree: Tree) -> str:
    """The rules of a tree as text, or a note that it is too large for them."""
    if tree.n_leaves > MOST_RULES or int(tree.depths[tree.is_leaf].sum()) > 10 * MOST_CONDITIONS:
        return f"The tree has {tree.n_leaves:,} leaves, too many to read as rules; prune it first."
    if not sent_by_others(tree):
        return str(rules(tree))
    complete = replace(rules(tree.with_missing("learn")), with_missing=frozenset())
    return f"For rows without missing values in the columns of a rule:\n{complete}"


def tree_text(tree: Tree) -> str:
    """The tree as text; of a large one the first levels."""
    if tree.n_nodes <= MOST_LINES:
        return render(tree)
    by_depth = np.cumsum(np.bincount(tree.levels[~tree.joined]))
    return render(tree, max_depth=max(int(np.searchsorted(by_depth, MOST_LINES, side="right")) - 1, 1))
