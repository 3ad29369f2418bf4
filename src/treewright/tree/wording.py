"""Text about the nodes of a tree: tests, paths, surrogates, predictions; the same wherever it is shown."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from treewright._text import LONGEST_LIST, label_text, name_text, percent
from treewright.encoding import Dataset
from treewright.encoding.schema import Column
from treewright.tree.conditions import membership_text
from treewright.tree.missing import sent_by_others
from treewright.tree.node import columns_with_missing, missing_arrives
from treewright.tree.tree import Tree


def branch_in_words(
    tree: Tree, node: int, is_left: bool, *, learnt: frozenset[int] | None = None, longest: int = LONGEST_LIST
) -> str:
    """What a row must satisfy to go to one child of `node`.

    "or missing" stands where missing values go, if they can come here, in the columns of `learnt`: those in
    which the tree has met some, unless the caller knows them already. Of more than `longest` categories the
    first ones are named.

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
        return name, "is known" if is_left else "is missing"
    words = test.text(is_left, longest)
    if tree.feature[node] in learnt and tree.missing_left[node] == is_left and missing_arrives(tree)[node]:
        words += " or missing"
    return name, words


def way_in_words(
    tree: Tree, node: int, *, learnt: frozenset[int] | None = None, longest: int = LONGEST_LIST
) -> str:
    """What a row must satisfy to come to a node from the decision above it, which may have many branches.

    >>> from treewright import encode
    >>> from treewright.growing.id3 import grow_id3
    >>> tree = grow_id3(encode({"sky": ["clear", "rain", "snow"]}, ["walk", "read", "ski"]))
    >>> [way_in_words(tree, branch) for branch in tree.branches(0)]
    ['sky = clear', 'sky = rain', 'sky = snow']
    """
    name, words = way_parts(tree, node, learnt=learnt, longest=longest)
    if words.startswith("> ") and " and <= " in words:
        above, words = words[2:].split(" and ", 1)
        return f"{above} < {name} {words}"
    return f"{name} {words}"


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
    column = tree.tested[tree.feature[head]]
    above, upto, missing = -np.inf, np.inf, bool(missing_arrives(tree)[head])
    own = np.ones(len(column.categories), np.bool_)
    while node != head:
        parent = int(tree.parent[node])
        is_left = node == parent + 1
        missing &= bool(tree.missing_left[parent]) == is_left
        if column.is_category:
            own &= tree.goes_left(parent) == is_left
        elif is_left:
            upto = min(upto, float(tree.threshold[parent]))
        else:
            above = max(above, float(tree.threshold[parent]))
        node = parent
    name = name_text(column.name)
    if column.is_category:
        words = _branch_of_categories(column, own, longest)
    else:
        words = _branch_of_numbers(column, above, upto)
    is_told = missing and tree.feature[head] in learnt and words not in ("is missing", "is known")
    return name, words + " or missing" * is_told


def _branch_of_categories(column: Column, own: NDArray[np.bool_], longest: int) -> str:
    """Which categories a branch is for: one, several, or all but some."""
    codes, others = np.flatnonzero(own), np.flatnonzero(~own)
    if not codes.size:
        return "is missing"
    if not others.size:
        return "is known"
    within = len(codes) <= max(len(others), longest)
    named = [column.categories[code] for code in (codes if within else others).tolist()]
    return membership_text(named, within, longest)


def _branch_of_numbers(column: Column, above: float, upto: float) -> str:
    """Which numbers a branch is for: those up to one, above one, or between two."""
    if above == np.inf:
        return "is missing"
    if above == -np.inf:
        return "is known" if upto == np.inf else f"<= {column.threshold_text(upto)}"
    if upto == np.inf:
        return f"> {column.threshold_text(above)}"
    return f"> {column.threshold_text(above)} and <= {column.threshold_text(upto)}"


def surrogate_in_words(tree: Tree, entry: int, to_left: bool = True, *, longest: int = LONGEST_LIST) -> str:
    """What a row must satisfy to be sent left, or right, by a surrogate."""
    test = tree.surrogates.test(entry, tree.schema)
    passes = to_left != bool(tree.surrogates.reversed[entry])
    return f"{name_text(test.column.name)} {test.text(passes, longest)}"


def missing_in_words(tree: Tree, node: int, *, longest: int = LONGEST_LIST) -> str:
    """Where a row goes that misses the value of a node: left by the first of these whose column is known.

    >>> from dataclasses import replace
    >>> from treewright import Below, Branch, Column, Leaf, Schema, Target, Tree
    >>> from treewright.tree.surrogates import Surrogates
    >>> schema = Schema((Column("age"), Column("income")), (Target("loan", ("no", "yes")),))
    >>> tree = Tree.write(schema, Branch(Below("age", 40), Leaf([8, 2]), Leaf([1, 6])))
    >>> income = Surrogates.listed(schema, [(0, Below("income", 30), False, 0.85, 0.6)])
    >>> missing_in_words(replace(tree, missing="surrogate", surrogates=income), 0)
    'if age is missing: income <= 30 (agrees 85.0 %) · else left'
    """
    column = name_text(tree.tested[tree.feature[node]].name)
    side = "left" if tree.missing_left[node] else "right"
    told = [
        f"{surrogate_in_words(tree, entry, longest=longest)} ({'agrees ' * (not place)}"
        f"{percent(float(tree.surrogates.agreement[entry]))})"
        for place, entry in enumerate(tree.surrogates.of(node))
    ]
    return f"if {column} is missing: " + " · ".join([*told, f"else {side}" if told else side])


def surrogate_of(tree: Tree, node: int, row: Dataset) -> str:
    """What a single row satisfies of the surrogate that decides for it at a node; empty where none does."""
    for entry in tree.surrogates.of(node):
        passes = tree.surrogates.passes(entry, row)
        if passes is not None:
            return surrogate_in_words(tree, entry, passes != bool(tree.surrogates.reversed[entry]))
    return ""


def note_on_missing(tree: Tree) -> str:
    """A few words for a picture, whose tests do not tell where missing values go; empty where they do."""
    if tree.missing == "surrogate":
        return "missing values: by surrogates" if len(tree.surrogates) else ""
    notes = {"fractional": "missing values: down both sides", "error": "missing values: refused"}
    return notes.get(tree.missing, "") if tree.n_nodes > 1 else ""


def answer_in_words(answer: Hashable) -> str:
    """What a tree answers: a class, or a number of six digits.

    >>> answer_in_words("a, b"), answer_in_words(0.1 + 0.2)
    ("'a, b'", '0.3')
    """
    return f"{answer:.6g}" if isinstance(answer, float) else label_text(answer)


def number_in_words(tree: Tree, node: int, digits: int = 6) -> str:
    """What a node of a tree of numbers answers: the number of each target, or its formula."""
    if tree.linear is None:
        return ", ".join(f"{value:.{digits}g}" for value in tree.value[node].tolist())
    text = f"{tree.linear.intercept[node]:.{digits}g}"
    for column, coefficient in tree.linear.terms(node):
        sign = "-" if coefficient < 0 else "+"
        text += f" {sign} {abs(coefficient):.{digits}g}·{name_text(tree.schema.columns[column].name)}"
    return text
