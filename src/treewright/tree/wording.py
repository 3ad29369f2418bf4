"""Words for people: tests, conditions, numbers, dates, categories, shares; the same wherever shown."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.encoding.schema import Column
from treewright.tree.missing import sent_by_others
from treewright.tree.node import columns_with_missing, missing_arrives
from treewright.tree.rule_list import Between, Condition
from treewright.tree.tree import Tree

LONGEST_NAME = 60  # characters that are shown of the name of a column
LONGEST_WORD = 100  # characters of a category or class that are written out
LONGEST_LIST = 6  # categories written out; of a longer list the first ones and the number of the others
_LARGE_NUMBERS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))


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
    column = tree.tested[tree.feature[node]]
    name = name_in_words(column.name)
    only_missing_right = not (tree.missing_left[node] or sent_by_others(tree))
    if tree.subset[node] >= 0:
        goes_left = tree.goes_left(node)
        only_missing_right &= bool(goes_left.all())
        words = _among(column, goes_left == is_left, longest)
    else:
        only_missing_right &= bool(tree.threshold[node] == np.inf)
        words = _beside(column, float(tree.threshold[node]), is_left)
    if only_missing_right:
        return name, "is known" if is_left else "is missing"
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
        if tree.subset[parent] >= 0:
            own &= tree.goes_left(parent) == is_left
        elif is_left:
            upto = min(upto, float(tree.threshold[parent]))
        else:
            above = max(above, float(tree.threshold[parent]))
        node = parent
    name = name_in_words(column.name)
    if column.kind == "category":
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
    return _one_of(named, within, longest)


def _branch_of_numbers(column: Column, above: float, upto: float) -> str:
    """Which numbers a branch is for: those up to one, above one, or between two."""
    if above == np.inf:
        return "is missing"
    if above == -np.inf:
        return "is known" if upto == np.inf else f"<= {value_in_words(column, upto)}"
    if upto == np.inf:
        return f"> {value_in_words(column, above)}"
    return f"> {value_in_words(column, above)} and <= {value_in_words(column, upto)}"


def _among(column: Column, own: NDArray[np.bool_], longest: int) -> str:
    """Some categories of a column, or all but the others where these are fewer."""
    within = 2 * int(own.sum()) <= len(own)
    codes = np.flatnonzero(own == within)
    named = [column.categories[code] for code in codes[:longest].tolist()]
    return _one_of(named, within, longest, more=len(codes) - len(named))


def _beside(column: Column, threshold: float, is_left: bool) -> str:
    """One side of a threshold."""
    return f"{'<=' if is_left else '>'} {value_in_words(column, threshold)}"


def surrogate_in_words(tree: Tree, entry: int, to_left: bool = True, *, longest: int = LONGEST_LIST) -> str:
    """What a row must satisfy to be sent left, or right, by a surrogate."""
    surrogates, schema = tree.surrogates, tree.schema
    position = int(surrogates.feature[entry])
    column, passes = schema.columns[position], to_left != bool(surrogates.reversed[entry])
    start = int(surrogates.subset[entry])
    if start < 0:
        words = _beside(column, float(surrogates.threshold[entry]), passes)
    else:
        own = surrogates.bits(entry, schema) == passes
        words = _among(column, own, longest)
    return f"{name_in_words(column.name)} {words}"


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
    column = name_in_words(tree.tested[tree.feature[node]].name)
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


def condition_in_words(
    condition: Condition, column: Column, *, told_missing: bool = True, longest: int = LONGEST_LIST
) -> str:
    """A condition: an interval, or the categories in it or out of it, whichever are fewer."""
    name = name_in_words(column.name)
    if isinstance(condition, Between):
        above, upto = condition.above, condition.upto
        if above is None and upto is None:
            return f"{name} is known"
        if above == np.inf:
            return f"{name} is missing"
        if above is None or upto is None:
            words = f"{name} > {value_in_words(column, above)}" if above is not None else ""
            words += f"{name} <= {value_in_words(column, upto)}" if upto is not None else ""
        else:
            words = f"{value_in_words(column, above)} < {name} <= {value_in_words(column, upto)}"
    else:
        own = frozenset(condition.categories)
        others = tuple(category for category in column.categories if category not in own)
        if not own:
            return f"{name} is missing" if condition.missing else f"{name} is a new category"
        if not others:
            return f"{name} is known" + (" or missing" if condition.missing else "")
        within = len(own) <= len(others)
        named = condition.categories if within else others
        words = f"{name} {_one_of(named, within, longest)}"
    return words + (" or missing" if condition.missing and told_missing else "")


def note_on_missing(tree: Tree) -> str:
    """A few words for a picture, whose tests do not tell where missing values go; empty where they do."""
    if tree.missing == "surrogate":
        return "missing values: by surrogates" if len(tree.surrogates) else ""
    notes = {"fractional": "missing values: down both sides", "error": "missing values: refused"}
    return notes.get(tree.missing, "") if tree.n_nodes > 1 else ""


def value_in_words(column: Column, value: float) -> str:
    """A threshold: a number as short as it can be and still be the same one, a time as a date."""
    if column.kind == "time":
        try:
            moment = datetime(1970, 1, 1) + timedelta(microseconds=int(np.floor(value)))
        except (OverflowError, ValueError):  # beyond the calendar, which ends with the year 9999
            return f"{value!r} µs since 1970"
        return str(moment).removesuffix(" 00:00:00")
    return repr(value).removesuffix(".0")


def listed(categories: Sequence[Hashable], longest: int = LONGEST_LIST, *, more: int = 0) -> str:
    """Categories in braces; of a long list only the first ones, and how many `more` there are."""
    words = [word(category) for category in categories[:longest]]
    more += len(categories) - len(words)
    return "{" + ", ".join([*words, f"… {more} more"] if more else words) + "}"


def _one_of(categories: Sequence[Hashable], within: bool, longest: int, *, more: int = 0) -> str:
    """One of some categories, or none of them; of one alone: equal to it."""
    if within and len(categories) == 1 and not more:
        return f"= {word(categories[0])}"
    return f"{'in' if within else 'not in'} {listed(categories, longest, more=more)}"


def word(name: Hashable) -> str:
    """A category or class; in quotes where it could be taken for several, for another, or for none."""
    text = shortened(str(name))
    plain = text and text == text.strip() and not set(text) & set(",{}'\"…")
    return escape(text) if plain else repr(text)


def name_in_words(name: str) -> str:
    """The name of a column or target as it is shown, on one line.

    >>> name_in_words("age"), len(name_in_words("n" * 10_000))
    ('age', 121)
    """
    return escape(shortened(name))


def shortened(text: str, longest: int = LONGEST_WORD) -> str:
    """A text as people can read it: of a very long one the beginning, and how long it is.

    >>> shortened("cook"), shortened("x" * 1000, 10)
    ('cook', 'xxxxxxxxxx… (1,000 characters)')
    """
    return text if len(text) <= longest + 20 else f"{text[:longest]}… ({len(text):,} characters)"


def answer_in_words(answer: Hashable) -> str:
    """What a tree answers: a class, or a number of six digits.

    >>> answer_in_words("a, b"), answer_in_words(0.1 + 0.2)
    ("'a, b'", '0.3')
    """
    return f"{answer:.6g}" if isinstance(answer, float) else word(answer)


def number_in_words(tree: Tree, node: int, digits: int = 6) -> str:
    """What a node of a tree of numbers answers: the number of each target, or its formula."""
    if tree.linear is None:
        return ", ".join(f"{value:.{digits}g}" for value in tree.value[node].tolist())
    text = f"{tree.linear.intercept[node]:.{digits}g}"
    for column, coefficient in tree.linear.terms(node):
        sign = "-" if coefficient < 0 else "+"
        text += f" {sign} {abs(coefficient):.{digits}g}·{name_in_words(tree.schema.columns[column].name)}"
    return text


def rows_in_words(rows: int) -> str:
    """A number of rows."""
    if rows == 0:
        return "no rows"
    return "1 row" if rows == 1 else f"{rows:,} rows"


def percent(share: float) -> str:
    """A share as per cent; only a whole is written 100 %, only nothing 0 %.

    >>> percent(0.25), percent(0.9999), percent(0.0001), percent(0.0)
    ('25.0 %', '> 99.9 %', '< 0.1 %', '0.0 %')
    """
    if 0 < share < 0.0005:
        return "< 0.1 %"
    if share < 1:
        return "> 99.9 %" if share >= 0.9995 else f"{share:.1%}".replace("%", " %")
    return "100 %"


def amount(value: float, *, up: bool = False) -> str:
    """A number as people write it in a sentence: four digits, more only where they are whole; `up` rounds
    upwards, so that a bound still holds as it is quoted.

    >>> amount(42069.3), amount(0.63333), amount(325_912_345.0), amount(-1234.5), amount(2.1e-7)
    ('42,069', '0.6333', '325.9 million', '-1,234', '2.1e-07')
    >>> amount(42069.3, up=True), amount(0.63333, up=True), amount(5.0, up=True)
    ('42,070', '0.6334', '5')
    """
    size = abs(value)
    if size == 0 or not math.isfinite(value):
        return "0" if size == 0 else str(value).replace("inf", "∞")
    for scale, name in _LARGE_NUMBERS:
        if max(scale, 1e7) <= size < 1e15:
            return f"{amount(value / scale, up=up)} {name}"
    is_extreme = not 1e-5 <= size < 1e15
    power = math.floor(math.log10(size)) - 3
    power = power if is_extreme else min(0, power)
    steps = value / 10.0**power
    rounded = float(f"{math.ceil(steps - 1e-9) if up else round(steps)}e{power}")
    text = f"{rounded:.4g}" if is_extreme else f"{rounded:,.{-power}f}"
    return text.rstrip("0").rstrip(".") if "." in text and not is_extreme else text


def escape(text: str) -> str:
    r"""`text` on one line: line breaks, terminal codes and other unprintable characters are written out.

    >>> print(escape("two\nlines, naïve"))
    two\nlines, naïve
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


def quoted(name: str) -> str:
    """A name in quotes; of a very long one the beginning.

    >>> quoted("age"), len(quoted("n" * 10_000))
    ("'age'", 83)
    """
    return (
        repr(name)
        if len(name) <= LONGEST_NAME
        else f"{repr(name[:LONGEST_NAME])[:-1]}…' ({len(name):,} characters)"
    )


def count(number: int, thing: str) -> str:
    """A number of things, with its plural.

    >>> count(1, "row"), count(12345, "row"), count(2, "class"), count(2, "category")
    ('1 row', '12,345 rows', '2 classes', '2 categories')
    """
    if number == 1:
        return f"1 {thing}"
    plural = f"{thing[:-1]}ies" if thing.endswith("y") else thing + ("es" if thing.endswith("s") else "s")
    return f"{number:,} {plural}"
