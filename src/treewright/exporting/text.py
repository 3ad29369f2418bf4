"""A tree as text for people: one line per test, with prediction, rows and share of the class at leaves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from treewright._display import Layout
from treewright._suggestions import choices_text
from treewright._text import aligned, count, escape, label_text, name_text, percent, row_count
from treewright.encoding import Dataset
from treewright.plotting.scene.cards import check_limit
from treewright.tree import Tree
from treewright.tree.conditions import OR_MISSING
from treewright.tree.missing import columns_with_missing
from treewright.tree.rule_list import Rule, RuleList
from treewright.tree.shortcuts import intervals_of
from treewright.tree.wording import (
    answer_in_words,
    missing_in_words,
    number_in_words,
    surrogate_in_words,
    way_in_words,
)

if TYPE_CHECKING:
    from treewright.certifying.leaf_intervals import LeafIntervals

SUFFIXES = (".txt",)
DEEPEST_INDENT = 24  # deeper lines name their depth instead: a chain of n tests would take n * n characters
WIDEST_TEST = 72  # a wider line does not push the leaves of the other lines to the right
GAP = "   "  # between the parts of a line
MOST_RULES = 40  # rules that a notebook shows
COLORS = (36, 33, 35, 32, 34, 31)  # terminal colours of the classes, in turn


def render(
    tree: Tree,
    *,
    max_depth: int | None = None,
    color: bool = False,
    width: int | None = None,
    test: Any = None,
    intervals: LeafIntervals | None = None,
    delta: float = 0.05,
    surrogates: Telling = "short",
) -> str:
    """The tree as text, down to `max_depth` tests; `color` adds terminal colours, one per class.

    Where a line would be longer than `width`, the prediction of the leaf is on a line of its own.

    "or missing" stands where missing values go, in the columns of which the tree has learnt it. With
    surrogates a line below each test lists the conditions for going left where its value is missing: the
    first whose column is known decides, and the share tells how often it agrees with the test on the
    training rows. `surrogates` is "short", "full" (a line for each, with its adjusted agreement: the share
    of what the larger side alone gets wrong that it gets right) or "none".

    With `test`, rows that the tree was not grown from, each leaf shows an interval for its true error; with
    probability 1 - `delta` all of them are right. `intervals` gives intervals that are already computed.

    >>> from treewright import Below, Branch, Column, Leaf, Schema, Target, Tree
    >>> schema = Schema((Column("petal width"),), (Target("species", ("setosa", "virginica")),))
    >>> tree = Tree.write(schema, Branch(Below("petal width", 0.8), Leaf([50, 0]), Leaf([5, 45])))
    >>> print(render(tree))
    100 rows
    ├─ petal width <= 0.8   setosa      50 rows    100 %
    └─ petal width > 0.8    virginica   50 rows   90.0 %
    """
    check_limit("max_depth", max_depth, 0)
    if surrogates not in TELLING:
        raise ValueError(
            f"surrogates is {surrogates!r}; it must be one of {choices_text(surrogates, TELLING)}"
        )
    lines, last = list(_lines(tree, max_depth, surrogates)), list[str]()
    if test is not None or intervals is not None:
        lines, last = _with_intervals(tree, lines, test, intervals, delta)
    ends = [line for line in lines if line.rows]
    sizes = [max(len(part) for part in parts) for parts in zip(*(line[1:6] for line in ends), strict=True)]
    room = WIDEST_TEST
    if width is not None:
        room = min(room, width - sum(size + len(GAP) for size in sizes if size))
    start = max((len(line.start) for line in ends if len(line.start) <= room), default=0)
    text = []
    for line in lines:
        if not line.rows:
            text.append(line.start)
            continue
        says, *others = (part.ljust(size) for part, size in zip(line[1:6], sizes, strict=True))
        others[:2] = [line.rows.rjust(sizes[1]), line.share.rjust(sizes[2])]
        begin = line.start
        if width is not None and len(begin) > max(start, room):
            text.append(begin)
            begin = re.sub("[├└]─ .*|….*", lambda cut: "│" if cut[0][0] == "├" else "", begin)
        if color:
            says = f"\x1b[{COLORS[line.color % len(COLORS)]}m{says}\x1b[0m"
        others = [part for part in others if part]
        text.append(GAP.join([begin.ljust(start)] * bool(line.start) + [says, *others]).rstrip())
    if tree.n_nodes > 1 and tree.missing in _ON_MISSING:
        last.append(_ON_MISSING[tree.missing])
    return "\n".join(text + last)


Telling = Literal["short", "full", "none"]
TELLING = ("short", "full", "none")
_ON_MISSING = {
    "fractional": "where a value is missing, a row goes down both sides in the shares of their weights",
    "error": "rows with missing values in these columns are refused",
}


class _Line(NamedTuple):
    """One line: the test that leads here and, where the text goes no deeper, the prediction of the node."""

    start: str
    says: str = ""
    rows: str = ""
    share: str = ""
    interval: str = ""
    note: str = ""
    color: int = 0
    node: int = 0


def _lines(tree: Tree, max_depth: int | None, surrogates: Telling) -> Iterator[_Line]:
    """The lines in preorder, the order in which the nodes are stored: no stack, so any depth will do."""
    levels, parents, learnt = tree.levels, tree.parent, columns_with_missing(tree)
    bars: list[str] = []  # for each level above the line: does another branch still follow?
    node = 0
    while node < tree.n_nodes:
        if tree.joined[node]:  # not a decision of its own
            node += 1
            continue
        depth = int(levels[node])
        if node == 0:
            start = _rows(tree, 0) if tree.n_leaves > 1 and max_depth != 0 else ""
        else:
            is_last = tree.end[node] == tree.end[tree.heads[parents[node]]]
            del bars[depth - 1 :]
            branch = "└─ " if is_last else "├─ "
            start = "".join(bars) + (branch if depth <= DEEPEST_INDENT else f"… depth {depth}: ")
            if depth < DEEPEST_INDENT:
                bars.append("   " if is_last else "│  ")
            start += way_in_words(tree, node, learnt=learnt)
        ends = bool(tree.is_leaf[node]) or depth == max_depth
        yield _leaf(tree, node, start) if ends else _Line(start)
        if len(tree.surrogates) and not ends and surrogates != "none":
            yield from (_Line("".join(bars) + "│  " + told) for told in _stand_ins(tree, node, surrogates))
        node = int(tree.end[node]) if ends else node + 1


def _stand_ins(tree: Tree, node: int, surrogates: Telling) -> list[str]:
    """The lines about missing values at a node."""
    if surrogates == "short":
        return [missing_in_words(tree, node, longest=3)]
    entries = tree.surrogates.of(node)
    side = "left" if tree.missing_left[node] else "right"
    first = f"if {escape(tree.tested[tree.feature[node]].name)} is missing, left where"
    told = [
        f"  {surrogate_in_words(tree, entry)}: agrees {percent(float(tree.surrogates.agreement[entry]))}, "
        f"adjusted {percent(float(tree.surrogates.adjusted[entry]))}"
        for entry in entries
    ]
    return [first, *told, f"  else {side}"] if told else [missing_in_words(tree, node)]


def _leaf(tree: Tree, node: int, start: str) -> _Line:
    """The line of a node below which nothing is shown."""
    below = 0 if tree.is_leaf[node] else int(np.sum(tree.is_leaf[node : tree.end[node]]))
    note = f"(… {below} leaves below)" if below else "" if tree.weight[node] > 0 else "(as above)"
    if not tree.schema.predicts_classes:
        says = number_in_words(tree, node, 6 if tree.linear is None else 4)
        return _Line(start, says, _rows(tree, node), note=note, node=node)
    labels = [
        label_text((target.classes or ())[code])
        for target, code in zip(tree.schema.targets, tree.label[node], strict=True)
    ]
    shares = [percent(share) for share in tree.confidence[node].tolist() if tree.weight[node] > 0]
    color = int(tree.label[node, 0])
    return _Line(start, ", ".join(labels), _rows(tree, node), ", ".join(shares), "", note, color, node)


def _with_intervals(
    tree: Tree, lines: list[_Line], test: Dataset | None, intervals: LeafIntervals | None, delta: float
) -> tuple[list[_Line], list[str]]:
    """The lines with an interval for the true error of each leaf, and a last line with the confidence."""
    if test is not None:  # what is folded is judged as the leaf that is shown
        ends = [line.node for line in lines if line.rows]
        intervals = intervals_of(tree.collapse(ends), test, delta)
    else:
        assert intervals is not None
        ends = np.flatnonzero(tree.is_leaf).tolist()
        if ends != intervals.leaf.tolist():
            raise ValueError("intervals are those of another tree; make them with leaf_intervals(tree, test)")
    told = {
        node: f"wrong for {low} to {high}" if rows else "no test row"
        for node, rows, (low, high) in zip(ends, intervals.rows.tolist(), intervals.limits, strict=True)
    }
    last = f"wrong for: where the true error of each leaf lies; {intervals.confidence}"
    return [line._replace(interval=told.get(line.node, "")) if line.rows else line for line in lines], [last]


def rules_as_text(rules: RuleList) -> str:
    """A list of rules in order: conditions, class, training rows, the share that is predicted correctly."""
    heading = f"{count(len(rules), 'rule')}: the first that fits answers"
    last = () if rules.complete else (rules.default,)
    parts = [_rule_parts(rule, rules) for rule in (*rules, *last)]
    numbers = [f"{i + 1}." for i in range(len(rules))] + [""] * len(last)
    indent = max(map(len, numbers), default=0) + 2
    ends = aligned([(conditions[-1], *others) for conditions, *others in parts], right=(2, 3))
    lines = [heading] if rules.rules else []
    for number, (conditions, *_), end in zip(numbers, parts, ends, strict=True):
        first, *further = [*conditions[:-1], end]
        lines += [
            number.ljust(indent if rules.rules else 0) + first,
            *(" " * indent + each for each in further),
        ]
    return "\n".join(lines)


def rules_layout(rules: RuleList) -> Layout:
    """The same for a notebook: the first rules of a long list."""
    last = () if rules.complete else (rules.default,)
    shown = (*rules.rules[:MOST_RULES], *last)
    rows = []
    for number, rule in enumerate(shown, start=1):
        conditions, answer, _, share = _rule_parts(rule, rules)
        place = "" if rule is rules.default else f"{number}."
        rows.append([place, " ".join(line.strip() for line in conditions), answer, f"{rule.rows:,}", share])
    hidden = len(rules) - MOST_RULES
    below = [f"… {count(hidden, 'more rule')}"] if hidden > 0 else []
    heading = f"{count(len(rules), 'rule')}: the first that fits answers"
    target = name_text(rules.schema.targets[0].name)
    head = ["", "if", target, "training rows", "right"]
    if not rules.schema.predicts_classes:  # numbers are not right or wrong
        head, rows = head[:-1], [row[:-1] for row in rows]
    return Layout([heading], head, rows, (0, 3, 4), below)


def _rule_parts(rule: Rule, rules: RuleList) -> tuple[list[str], str, str, str]:
    """The lines of the conditions, the prediction, the rows, and the share that is predicted correctly."""
    conditions, rows = _condition_lines(rule, rules), row_count(rule.rows)
    if not rules.schema.predicts_classes:
        return conditions, answer_in_words(rule.label), rows, ""
    share = percent(1 - rule.errors / rule.weight) if rule.weight > 0 else ""
    return conditions, label_text(rule.label), rows, share


def _condition_lines(rule: Rule, rules: RuleList) -> list[str]:
    """The conditions of a rule, as many on a line as there is room for."""
    if not rule.conditions:
        return ["otherwise" if rule is rules.default else "always"]
    tests = [(condition, rules.tested[condition.column]) for condition in rule.conditions]
    words = [test.text(column, with_missing=column.name in rules.with_missing) for test, column in tests]
    if len(words) > 1:  # in brackets, what could be read in two ways
        words = [f"({text})" if text.endswith(OR_MISSING) else text for text in words]
    lines = [words[0]]
    for text in words[1:]:
        if len(lines[-1]) + len(text) + 5 <= WIDEST_TEST:
            lines[-1] += f" and {text}"
        else:
            lines.append(f"  and {text}")
    return lines


def _rows(tree: Tree, node: int) -> str:
    """The number of training rows of a node."""
    return row_count(int(tree.rows[node]))
