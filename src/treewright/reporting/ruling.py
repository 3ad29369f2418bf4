"""The rules of a report: each leaf of the model as one sentence to copy."""

from __future__ import annotations

from dataclasses import replace

from treewright.explaining.rules import rules
from treewright.tree import Tree
from treewright.tree.missing import sent_by_others

MOST_RULES = 300
MOST_CONDITIONS = 6_000  # of all rules together


def rules_text(tree: Tree) -> str:
    """The rules of a tree as text; a tree too large for it says so."""
    if tree.n_leaves > MOST_RULES or int(tree.depths[tree.is_leaf].sum()) > 10 * MOST_CONDITIONS:
        return f"The tree has {tree.n_leaves:,} leaves, too many to read as rules; prune it first."
    if not sent_by_others(tree):
        return str(rules(tree))
    told = replace(rules(tree.with_missing("learn")), told_missing=frozenset())
    return f"For rows that miss no value that a rule asks for:\n{told}"
