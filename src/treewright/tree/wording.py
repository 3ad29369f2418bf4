"""Nodes of a tree in words: tests, branches, surrogates, predictions; the same in all outputs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from treewright._text import LONGEST_LIST, label_text, name_text, number_text, percent
from treewright.encoding import Dataset
from treewright.encoding.schema import Column
from treewright.tree.conditions import IS_KNOWN, IS_MISSING, OR_MISSING, join_words
from treewright.tree.missing import columns_with_missing, missing_arrives, sent_by_others
from treewright.tree.tree import Tree


def branch_in_words(
    tree: Tree, node: int, is_left: bool, *, learnt: frozenset[int] | None = None, longest: int = LONGEST_LIST
) -> str:
    """The condition for the left or right child of `node`.

    It ends with "or missing" at the side of missing values, if any can reach the node, for the columns of
    `learnt`, by default `columns_with_missing`. Of more than `longest` categories the first ones are named.

    >>> from treewright import Among, Branch, Column, Leaf, Schema, Target, Tree
    >>> job = Column("job", "category", ("cook", "clerk", "smith"))
    >>> schema = Schema((job,), (Target("loan", ("no", "yes")),))
    >>> tree = Tree.write(schema, Branch(Among("job", ["cook", "smith"]), Leaf([8, 2]), Leaf([1, 9])))
    >>> branch_in_words(tree, 0, True), branch_in_words(tree, 0, False)
    ('job not in {clerk}', 'job = clerk')
    """
    return " ".join(branch_parts(tree, node, is_left, learnt=learnt, longest=longest))


def branch_parts(
    tree: Tree, node: int, is_left: bool, *, learnt: frozenset[int] | None = None, longest: int = LONGEST_LIST
) -> tuple[str, str]:
    """The two parts of `branch_in_words`: the column, and what its value must be."""
    if learnt is None:
        learnt = columns_with_missing(tree)
    name = name_text(tree.tested[tree.feature[node]].name)
    test = tree.stored_test(node)
    if test.passes_all and not (tree.missing_left[node] or sent_by_others(tree)):
        return name, IS_KNOWN if is_left else IS_MISSING
    words = test.text(is_left, longest)
    if tree.feature[node] in learnt and tree.missing_left[node] == is_left and missing_arrives(tree)[node]:
        words += OR_MISSING
    return name, words


def way_in_words(
    tree: Tree, node: int, *, learnt: frozenset[int] | None = None, longest: int = LONGEST_LIST
) -> str:
    """The condition for a node at the split above it, which may have many branches.

    >>> from treewright import encode
    >>> from treewright.growing.id3 import grow_id3
    >>> tree = grow_id3(encode({"sky": ["clear", "rain", "snow"]}, ["walk", "read", "ski"]))
    >>> [way_in_words(tree, branch) for branch in tree.branches(0)]
    ['sky = clear', 'sky = rain', 'sky = snow']
    """
    return join_words(*way_parts(tree, node, learnt=learnt, longest=longest))


def way_parts(
    tree: Tree, node: int, *, learnt: frozenset[int] | None = None, longest: int = LONGEST_LIST
) -> tuple[str, str]:
    """The two parts of `way_in_words`: the column, and what its value must be."""
    parent = int(tree.parent[node])
    head = int(tree.heads[parent])
    if head == parent and not tree.joined[[tree.left[head], tree.right[head]]].any():
        return branch_parts(tree, parent, node == parent + 1, learnt=learnt, longest=longest)
    if learnt is None:
        learnt = columns_with_missing(tree)
    column: Column = tree.tested[tree.feature[head]]
    condition: Any = tree.condition(parent, node == parent + 1)
    while parent != head:
        node, parent = parent, int(tree.parent[parent])
        condition = condition.and_(tree.condition(parent, node == parent + 1))
    words = condition.words(column, longest, own_upto=longest)
    has_missing = condition.missing and missing_arrives(tree)[head] and tree.feature[head] in learnt
    is_said = words in (IS_MISSING, IS_KNOWN)
    return name_text(column.name), words + OR_MISSING * bool(has_missing and not is_said)


def surrogate_in_words(tree: Tree, entry: int, to_left: bool = True, *, longest: int = LONGEST_LIST) -> str:
    """The condition of a surrogate for the left side, or the right."""
    test = tree.surrogates.test(entry, tree.schema)
    passes = to_left != bool(tree.surrogates.reversed[entry])
    return f"{name_text(test.column.name)} {test.text(passes, longest)}"


def missing_in_words(tree: Tree, node: int, *, longest: int = LONGEST_LIST) -> str:
    """The side of rows without the value of a node: by the first surrogate whose value is known.

    >>> from dataclasses import replace
    >>> from treewright import Below, Branch, Column, Leaf, Schema, Target, Tree
    >>> from treewright.tree.surrogates import Surrogates
    >>> schema = Schema((Column("age"), Column("income")), (Target("loan", ("no", "yes")),))
    >>> tree = Tree.write(schema, Branch(Below("age", 40), Leaf([8, 2]), Leaf([1, 6])))
    >>> income = Surrogates.of_tests(schema, [(0, Below("income", 30), False, 0.85, 0.6)])
    >>> missing_in_words(replace(tree, missing="surrogate", surrogates=income), 0)
    'if age is missing: income <= 30 (agrees 85.0 %) · else left'
    """
    column = name_text(tree.tested[tree.feature[node]].name)
    side = "left" if tree.missing_left[node] else "right"
    surrogates = [
        f"{surrogate_in_words(tree, entry, longest=longest)} ({'agrees ' * (not place)}"
        f"{percent(float(tree.surrogates.agreement[entry]))})"
        for place, entry in enumerate(tree.surrogates.of(node))
    ]
    return f"if {column} {IS_MISSING}: " + " · ".join([*surrogates, f"else {side}" if surrogates else side])


def surrogate_of(tree: Tree, node: int, row: Dataset) -> str:
    """The condition that a single row satisfies of the surrogate that routes it at a node; empty if none."""
    for entry in tree.surrogates.of(node):
        passes = tree.surrogates.passes(entry, row)
        if passes is not None:
            return surrogate_in_words(tree, entry, passes != bool(tree.surrogates.reversed[entry]))
    return ""


def note_on_missing(tree: Tree) -> str:
    """A note on missing values for a plot, unless its tests name their side."""
    if tree.missing == "surrogate":
        return "missing values: by surrogates" if len(tree.surrogates) else ""
    notes = {"fractional": "missing values: down both sides", "error": "missing values: refused"}
    return notes.get(tree.missing, "") if tree.n_nodes > 1 else ""


def answer_in_words(answer: Hashable) -> str:
    """A prediction in words: a class, or a number of six digits.

    >>> answer_in_words("a, b"), answer_in_words(0.1 + 0.2)
    ("'a, b'", '0.3')
    """
    return number_text(answer) if isinstance(answer, float) else label_text(answer)


def number_in_words(tree: Tree, node: int, digits: int = 6) -> str:
    """The prediction of a node of a regression tree: the number of each target, or its linear model."""
    if tree.linear is None:
        return ", ".join(number_text(value, digits) for value in tree.value[node].tolist())
    text = number_text(tree.linear.intercept[node], digits)
    for column, coefficient in tree.linear.terms(node):
        sign = "-" if coefficient < 0 else "+"
        text += (
            f" {sign} {number_text(abs(coefficient), digits)}·{name_text(tree.schema.columns[column].name)}"
        )
    return text
