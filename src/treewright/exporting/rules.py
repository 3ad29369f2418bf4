"""A tree as a list of rules: one for each leaf, the conditions of each column merged."""

from __future__ import annotations

from treewright.exporting.text import rules_as_text
from treewright.tree import Tree
from treewright.tree.rule_list import RuleList


def render(tree: Tree) -> str:
    """The rules as text, for a tree of one target.

    >>> from treewright import encode, grow
    >>> print(render(grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))))
    2 rules: the first that fits answers
    1.  x <= 2.5   a   2 rows   100 %
    2.  x > 2.5    b   2 rows   100 %
    """
    return rules_as_text(RuleList.of(tree))
