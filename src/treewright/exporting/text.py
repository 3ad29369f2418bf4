"""A tree as text for people: one line per test; at each leaf what it says, of how many rows, how surely."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

from treewright.rules import Between, Condition, Rule, RuleList
from treewright.schema import Column
from treewright.tree import Tree

DEEPEST_INDENT = 24  # deeper lines name their depth instead: a chain of n tests would take n * n characters
LONGEST_LIST = 6  # categories written out; of a longer list the first ones and the number of the others
WIDEST_TEST = 72  # a wider line does not push the leaves of the other lines to the right
GAP = "   "  # between the parts of a line
COLORS = (36, 33, 35, 32, 34, 31)  # terminal colours of the classes, in turn


def render(tree: Tree, *, max_depth: int | None = None, color: bool = False, width: int | None = None) -> str:
    """The tree as text, down to `max_depth` tests; `color` adds terminal colours, one per class.

    Where a line would be longer than `width`, what the leaf says goes to a line of its own.

    "or missing" stands where missing values go, in the columns of which the tree has learnt it.

    >>> from treewright import Below, Branch, Column, Leaf, Schema, Target, Tree
    >>> schema = Schema((Column("petal width"),), (Target("species", ("setosa", "virginica")),))
    >>> tree = Tree.write(schema, Branch(Below("petal width", 0.8), Leaf([50, 0]), Leaf([5, 45])))
    >>> print(render(tree))
    100 rows
    ├─ petal width <= 0.8   setosa      50 rows    100 %
    └─ petal width > 0.8    virginica   50 rows   90.0 %
    """
    if max_depth is not None and max_depth < 0:
        raise ValueError(
            f"max_depth is {max_depth}; it is the number of tests to show in a row, 0 or more, or None"
        )
    lines = list(_lines(tree, max_depth))
    ends = [line for line in lines if line.rows]
    sizes = [max(len(part) for part in parts) for parts in zip(*(line[1:5] for line in ends), strict=True)]
    room = WIDEST_TEST
    if width is not None:
        room = min(room, width - sum(size + len(GAP) for size in sizes if size))
    start = max((len(line.start) for line in ends if len(line.start) <= room), default=0)
    text = []
    for line in lines:
        if not line.rows:
            text.append(line.start)
            continue
        says, *others = (part.ljust(size) for part, size in zip(line[1:5], sizes, strict=True))
        others[:2] = [line.rows.rjust(sizes[1]), line.share.rjust(sizes[2])]
        begin = line.start
        if width is not None and len(begin) > max(start, room):
            text.append(begin)
            begin = re.sub("[├└]─ .*|….*", lambda cut: "│" if cut[0][0] == "├" else "", begin)
        if color:
            says = f"\x1b[{COLORS[line.color % len(COLORS)]}m{says}\x1b[0m"
        text.append(GAP.join([begin.ljust(start)] * bool(line.start) + [says, *others]).rstrip())
    return "\n".join(text)


class _Line(NamedTuple):
    """One line: the test that leads here and, where the text goes no deeper, what the node says."""

    start: str
    says: str = ""
    rows: str = ""
    share: str = ""
    note: str = ""
    color: int = 0


def _lines(tree: Tree, max_depth: int | None) -> Iterator[_Line]:
    """The lines in preorder, the order in which the nodes are stored: no stack, so any depth will do."""
    depths, parents, learnt = tree.depths, tree.parent, columns_with_missing(tree)
    bars: list[str] = []  # for each level above the line: does a right child still follow?
    node = 0
    while node < tree.n_nodes:
        depth, parent = int(depths[node]), int(parents[node])
        if node == 0:
            start = _rows(tree, 0) if tree.n_leaves > 1 and max_depth != 0 else ""
        else:
            is_left = node == parent + 1
            del bars[depth - 1 :]
            if depth <= DEEPEST_INDENT:
                start = "".join(bars) + ("├─ " if is_left else "└─ ")
            else:
                start = "".join(bars) + f"… depth {depth}: "
            if depth < DEEPEST_INDENT:
                bars.append("│  " if is_left else "   ")
            start += _test(tree, parent, is_left, learnt)
        ends = bool(tree.is_leaf[node]) or depth == max_depth
        yield _leaf(tree, node, start) if ends else _Line(start)
        node = int(tree.end[node]) if ends else node + 1


def columns_with_missing(tree: Tree) -> frozenset[int]:
    """The columns in which some node sends missing values elsewhere than by default, to the heavier child."""
    inner = np.flatnonzero(~tree.is_leaf)
    heavier_left = tree.weight[tree.left[inner]] >= tree.weight[tree.right[inner]]
    learnt = (tree.missing_left[inner] != heavier_left) | np.isposinf(tree.threshold[inner])
    return frozenset(tree.feature[inner[learnt]].tolist())


def _test(tree: Tree, node: int, is_left: bool, learnt: frozenset[int]) -> str:
    """What a row must satisfy to go to one child of `node`, in words."""
    column = tree.schema.columns[tree.feature[node]]
    name, only_missing_right = escape(column.name), not tree.missing_left[node]
    if tree.subset[node] >= 0:
        own = tree.categories_left(node)
        lefts = frozenset(own)
        others = tuple(category for category in column.categories if category not in lefts)
        only_missing_right &= not others
        if not is_left:
            own, others = others, own
        words = f"in {_listed(own)}" if len(own) <= len(others) else f"not in {_listed(others)}"
    else:
        only_missing_right &= np.isposinf(tree.threshold[node])
        words = f"{'<=' if is_left else '>'} {_value(column, float(tree.threshold[node]))}"
    if only_missing_right:
        return f"{name} is known" if is_left else f"{name} is missing"
    if tree.feature[node] in learnt and tree.missing_left[node] == is_left:
        words += " or missing"
    return f"{name} {words}"


def _leaf(tree: Tree, node: int, start: str) -> _Line:
    """The line of a node below which nothing is shown."""
    below = 0 if tree.is_leaf[node] else int(np.sum(tree.is_leaf[node : tree.end[node]]))
    note = f"(… {below} leaves below)" if below else ""
    if not tree.schema.predicts_classes:
        return _Line(
            start, ", ".join(f"{value:.6g}" for value in tree.value[node]), _rows(tree, node), note=note
        )
    labels = [
        word((target.classes or ())[code])
        for target, code in zip(tree.schema.targets, tree.label[node], strict=True)
    ]
    shares = [_percent(share) for share in tree.confidence[node].tolist()]
    return _Line(
        start, ", ".join(labels), _rows(tree, node), ", ".join(shares), note, int(tree.label[node, 0])
    )


def rules_as_text(rules: RuleList) -> str:
    """A list of rules, one after the other: conditions, class, training rows that it answers, their share."""
    heading = f"{len(rules):,} rule{'s' * (len(rules) != 1)}: the first that fits answers"
    last = () if rules.complete else (rules.default,)
    parts = [
        (_wrapped(rule, rules), word(rule.label), _count(rule.rows), _rightly(rule))
        for rule in (*rules, *last)
    ]
    numbers = [f"{i + 1}." for i in range(len(rules))] + [""] * len(last)
    indent = max(map(len, numbers), default=0) + 2
    sizes = [max((len(part[i]) for part in parts), default=0) for i in (1, 2, 3)]
    start = max((len(part[0][-1]) for part in parts), default=0)
    lines = [heading] if rules.rules else []
    for number, (conditions, label, count, share) in zip(numbers, parts, strict=True):
        *first, end = conditions
        end = GAP.join(
            [end.ljust(start), label.ljust(sizes[0]), count.rjust(sizes[1]), share.rjust(sizes[2])]
        )
        block = [*first, end.rstrip()]
        lines += [
            (number if i == 0 else "").ljust(indent if rules.rules else 0) + text
            for i, text in enumerate(block)
        ]
    return "\n".join(lines)


def _wrapped(rule: Rule, rules: RuleList) -> list[str]:
    """The conditions of a rule, as many on a line as there is room for."""
    if not rule.conditions:
        return ["otherwise" if rule is rules.default else "always"]
    words = [_words(condition, rules) for condition in rule.conditions]
    lines = [words[0]]
    for text in words[1:]:
        if len(lines[-1]) + len(text) + 5 <= WIDEST_TEST:
            lines[-1] += f" and {text}"
        else:
            lines.append(f"  and {text}")
    return lines


def _words(condition: Condition, rules: RuleList) -> str:
    """A condition: an interval, or the categories in it or out of it, whichever are fewer."""
    column = rules.schema.columns[rules.schema.position(condition.column)]
    name = escape(column.name)
    if isinstance(condition, Between):
        above, upto = condition.above, condition.upto
        if above is None and upto is None:
            return f"{name} is known"
        if above == np.inf:
            return f"{name} is missing"
        if above is None or upto is None:
            words = f"{name} > {_value(column, above)}" if above is not None else ""
            words += f"{name} <= {_value(column, upto)}" if upto is not None else ""
        else:
            words = f"{_value(column, above)} < {name} <= {_value(column, upto)}"
    else:
        own = frozenset(condition.categories)
        others = tuple(category for category in column.categories if category not in own)
        if not own:
            return f"{name} is missing" if condition.missing else f"{name} is a new category"
        if not others:
            return f"{name} is known" + (" or missing" if condition.missing else "")
        within = len(own) <= len(others)
        words = f"{name} in {_listed(condition.categories)}" if within else f"{name} not in {_listed(others)}"
    return words + (" or missing" if condition.missing and column.name in rules.told_missing else "")


def _rightly(rule: Rule) -> str:
    return _percent(1 - rule.errors / rule.weight) if rule.weight > 0 else ""


def _rows(tree: Tree, node: int) -> str:
    """How many rows of those learnt from came to a node."""
    return _count(int(tree.rows[node]))


def _count(rows: int) -> str:
    return "1 row" if rows == 1 else f"{rows:,} rows"


def _percent(share: float) -> str:
    """A share as per cent; only a whole is written 100 %."""
    if share < 1:
        return "> 99.9 %" if share >= 0.9995 else f"{share:.1%}".replace("%", " %")
    return "100 %"


def _value(column: Column, value: float) -> str:
    """A threshold: a number as short as it can be and still be the same one, a time as a date."""
    if column.kind == "time":
        try:
            moment = datetime(1970, 1, 1) + timedelta(microseconds=int(np.floor(value)))
        except (OverflowError, ValueError):  # beyond the calendar, which ends with the year 9999
            return f"{value!r} µs since 1970"
        return str(moment).removesuffix(" 00:00:00")
    return repr(value).removesuffix(".0")


def _listed(categories: Sequence[Hashable]) -> str:
    """Categories in braces; of a long list only the first ones."""
    words = [word(category) for category in categories[:LONGEST_LIST]]
    if len(categories) > LONGEST_LIST:
        words.append(f"… {len(categories) - LONGEST_LIST} more")
    return "{" + ", ".join(words) + "}"


def word(name: Hashable) -> str:
    """A category or class; in quotes where it could be taken for several, for another, or for none."""
    text = str(name)
    plain = text and text == text.strip() and not set(text) & set(",{}'\"…")
    return escape(text) if plain else repr(text)


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
