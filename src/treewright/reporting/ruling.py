"""The rules of a report: each leaf of the model as one sentence to copy."""

from __future__ import annotations

from treewright.rule_lists import RuleList, merged, paths
from treewright.tree import Tree
from treewright.viewing import columns_with_missing
from treewright.wording import condition_in_words, rows_in_words

MOST_RULES = 300
MOST_CONDITIONS = 6_000  # of all rules together


def rules_text(tree: Tree) -> str:
    """The rules of a tree as text; a tree too large for it says so."""
    if tree.n_leaves > MOST_RULES or int(tree.depths[tree.is_leaf].sum()) > 10 * MOST_CONDITIONS:
        return f"The tree has {tree.n_leaves:,} leaves, too many to read as rules; prune it first."
    return str(RuleList.of(tree)) if tree.schema.predicts_classes else _of_numbers(tree)


def _of_numbers(tree: Tree) -> str:
    learnt, names = columns_with_missing(tree), tree.schema.names
    place = {name: i for i, name in enumerate(names)}
    lines: list[str] = []
    for leaf, conditions in paths(tree):
        own = merged(conditions)
        if any(condition.never for condition in own):
            continue
        words = [
            condition_in_words(
                each, tree.schema.columns[place[each.column]], told_missing=place[each.column] in learnt
            )
            for each in own
        ]
        number = f"{tree.value[leaf, 0]:.6g}   {rows_in_words(int(tree.rows[leaf]))}"
        lines.append(f"{len(lines) + 1}.  {' and '.join(words) or 'always'}   {number}")
    return "\n".join([f"{len(lines):,} rule{'s' * (len(lines) != 1)}: exactly one fits", *lines])
