"""The text of each node in a picture, for every format: the test or the answer, the rows, the shares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treewright._text import LONGEST_LIST, escape, label_text, name_text, percent, row_count
from treewright.parameters import Option, parameter
from treewright.plotting.scene.colours import class_colours, value_colour
from treewright.plotting.scene.letters import shorten_to_fit, text_width
from treewright.tree import Tree
from treewright.tree.missing import columns_with_missing
from treewright.tree.wording import branch_parts, number_in_words, way_parts

MOST_LEAVES = 64  # of a larger tree the splits made first are shown, and the number of leaves below them
_LIST_LENGTHS = (LONGEST_LIST, 3, 2, 1)  # of categories, for as much room as there is
_LONGEST_FULL = 200  # categories where there is room for all words
_MOST_TARGETS = 3  # answers that a node names
_MOST_CELLS = 10**7  # of a table of nodes by classes
_LONG = 500  # letters that are too many for a line in any case
_MOST_NAMED = 8  # classes that the full text names


class Picture(Option):
    """What every picture of a tree shows of it."""

    max_depth: int | None = parameter(
        default=None, doc="The number of levels of tests that are shown; below, the leaves are counted."
    )
    max_leaf_nodes: int | None = parameter(
        default=MOST_LEAVES, doc="The splits made first are shown, up to so many leaves; None shows all."
    )


@dataclass(frozen=True)
class Card:
    """One node of a picture. Words are on one line each and printable, but as long as the data has them."""

    node: int
    parent: int  # its place among the cards; -1 at the root
    edge: str  # the label of the edge to it: yes or no, or which of many branches it is
    is_one_of_many: bool  # a branch of a split into more than two
    before: int  # rows of the branches before it
    is_last: bool  # whether no branch comes after it
    depth: int
    rows: int
    below: int  # leaves hidden below this one; 0 for a leaf of the tree itself
    column: str  # "" where the picture ends
    tests: tuple[str, ...]  # what a row must satisfy to go left, from the longest wording to the shortest
    answers: tuple[tuple[str, str], ...]  # class and its share, or number and nothing, for each target
    parts: tuple[tuple[float, str], ...]  # share and colour of the classes; for numbers the whole and one
    colour: str  # of the answer
    place: float | None  # of a number between the smallest and the largest; None for classes
    title: str  # all of it in full, several lines

    @property
    def is_end(self) -> bool:
        """Whether the picture shows nothing below."""
        return not self.tests

    @property
    def rows_words(self) -> str:
        """The rows in words."""
        return row_count(self.rows)

    @property
    def below_words(self) -> str:
        """How many leaves are hidden, in words; empty where none is."""
        return f"… {self.below:,} leaves below" if self.below else ""

    def test_lines(self, room: float, size: float) -> list[str]:
        """The test on one line, or the column and what its value must be on two, within `room`."""
        for test in self.tests:
            line = f"{self.column} {test}".rstrip()
            if len(test) < _LONG and text_width(line, size) <= room:
                return [line]
        if not self.tests[-1]:  # the conditions are on the branches
            return [shorten_to_fit(self.column, room, size)]
        fitting = (test for test in self.tests if len(test) < _LONG and text_width(test, size) <= room)
        test = next(fitting, None) or _cut(self.tests[-1], room, size)
        return [shorten_to_fit(self.column, room, size), test]

    def lines(self, room: float, size: float) -> list[str]:
        """The lines of the card, for formats that lay out text themselves."""
        if self.tests:
            return [*self.test_lines(room, size), self.rows_words]
        answers = [shorten_to_fit(part, room, size) for answer in self.answers for part in answer if part]
        return [*answers, self.rows_words, *([self.below_words] if self.below else [])]


def cards(
    tree: Tree, *, max_depth: int | None = None, max_leaf_nodes: int | None = MOST_LEAVES
) -> list[Card]:
    """The nodes that a picture shows, in preorder."""
    nodes = list(_visible_nodes(tree, max_depth, max_leaf_nodes))
    writer = _CardWriter(tree, np.array([node for node, _, _ in nodes]))
    return [writer.card(i, node, parent, ends) for i, (node, parent, ends) in enumerate(nodes)]


def shape(nodes: list[Card]) -> NDArray[np.int64]:
    """One past the subtree of each card."""
    end = np.arange(1, len(nodes) + 1)
    for i in range(len(nodes) - 1, 0, -1):
        end[nodes[i].parent] = max(end[nodes[i].parent], end[i])
    return end


def check_limit(name: str, most: int | None, least: int) -> None:
    """ValueError if a limit is neither a whole number nor None.

    >>> check_limit("max_depth", -1, 0)
    Traceback (most recent call last):
    ValueError: max_depth is -1; it must be a whole number of at least 0, or None for no limit
    """
    if most is not None and not (isinstance(most, int | np.integer) and most >= least):
        raise ValueError(
            f"{name} is {most!r}; it must be a whole number of at least {least}, or None for no limit"
        )


def _visible_nodes(
    tree: Tree, max_depth: int | None, max_leaf_nodes: int | None
) -> Iterator[tuple[int, int, bool]]:
    """(node, place of its parent, whether the picture ends there) of the nodes that are shown."""
    check_limit("max_depth", max_depth, 0)
    check_limit("max_leaf_nodes", max_leaf_nodes, 1)
    is_end = tree.is_leaf.copy()
    if max_depth is not None:
        is_end |= tree.levels >= max_depth
    if max_leaf_nodes is not None and max_leaf_nodes < tree.n_leaves:
        is_end |= tree.step >= _first_hidden_step(tree, max_leaf_nodes)
    places = np.full(tree.n_nodes, -1)
    node, i = 0, 0
    while node < tree.n_nodes:
        if tree.joined[node]:  # a part of the split above it, which is shown as one
            node += 1
            continue
        ends = bool(is_end[node])
        places[node] = i
        yield node, int(places[tree.heads[tree.parent[node]]]) if node else -1, ends
        node, i = int(tree.end[node]) if ends else node + 1, i + 1


def _first_hidden_step(tree: Tree, max_leaf_nodes: int) -> int:
    """The first split to hide, so that at most so many leaves are left; the root is always shown."""
    splits = np.flatnonzero(~tree.is_leaf & ~tree.joined)
    splits = splits[np.argsort(tree.step[splits])]
    more = 1 + np.bincount(tree.heads[tree.joined], minlength=tree.n_nodes)[splits]  # leaves by each split
    fitting = int(np.searchsorted(1 + np.cumsum(more), max_leaf_nodes, side="right"))
    fitting = max(fitting, int(max_leaf_nodes > 1))
    return int(tree.step[splits[fitting]]) if fitting < len(splits) else tree.n_nodes


class _CardWriter:
    """Makes the cards; holds what concerns all of them."""

    def __init__(self, tree: Tree, nodes: NDArray[np.int64]) -> None:
        self.tree, self.nodes = tree, nodes
        self.learnt = columns_with_missing(tree)
        self.depths = tree.levels[nodes].tolist()
        self.leaves_before = np.concatenate([[0], np.cumsum(tree.is_leaf)])

    def card(self, i: int, node: int, parent: int, ends: bool) -> Card:
        tree = self.tree
        head = int(tree.heads[tree.parent[node]]) if node else 0
        column, tests = ("", ()) if ends else self._tests(node)
        below = int(self.leaves_before[tree.end[node]] - self.leaves_before[node])
        below = below if ends and not tree.is_leaf[node] else 0
        parts, place = self._parts(i)
        title = "\n".join(self._title(i, node, ends, below))
        return Card(
            node,
            parent,
            self._edge(node),
            node > 0 and self._has_many(head),
            self._rows_before(head, node),
            int(tree.end[node]) == int(tree.end[head]),
            self.depths[i],
            int(tree.rows[node]),
            below,
            column,
            tests,
            tuple(self._answers(node)),
            parts,
            self._colours[int(tree.label[node, 0])] if place is None else parts[0][1],
            place,
            title,
        )

    def _has_many(self, node: int) -> bool:
        """Whether a split has more than two branches."""
        tree = self.tree
        return not tree.is_leaf[node] and bool(tree.joined[[tree.left[node], tree.right[node]]].any())

    def _edge(self, node: int) -> str:
        if node == 0:
            return ""
        parent = int(self.tree.parent[node])
        if not self._has_many(int(self.tree.heads[parent])):
            return "yes" if node == parent + 1 else "no"
        words = way_parts(self.tree, node, learnt=self.learnt, longest=_LIST_LENGTHS[-2])[1]
        return _typeset(words).removeprefix("= ")

    def _rows_before(self, head: int, node: int) -> int:
        """The rows of the branches of a split that come before one of them."""
        tree, before = self.tree, 0
        while node != head:
            parent = int(tree.parent[node])
            before += int(tree.rows[parent + 1]) if node != parent + 1 else 0
            node = parent
        return before

    def _tests(self, node: int) -> tuple[str, tuple[str, ...]]:
        if self._has_many(node):
            return escape(self.tree.tested[self.tree.feature[node]].name), ("",)
        lengths = _LIST_LENGTHS if self.tree.subset[node] >= 0 else (1,)
        wordings = [
            branch_parts(self.tree, node, True, learnt=self.learnt, longest=length) for length in lengths
        ]
        return wordings[0][0], tuple(dict.fromkeys(_typeset(words) for _, words in wordings))

    def _answers(self, node: int) -> Iterator[tuple[str, str]]:
        schema = self.tree.schema
        for i, target in enumerate(schema.targets[:_MOST_TARGETS]):
            if target.classes is None:
                yield self._number(node, i), ""
            else:
                label = target.classes[self.tree.label[node, i]]
                sure = percent(float(self.tree.confidence[node, i])) if self.tree.weight[node] > 0 else ""
                yield label_text(label), sure
        if len(schema.targets) > _MOST_TARGETS:
            yield f"… {len(schema.targets) - _MOST_TARGETS} more", ""

    def _number(self, node: int, i: int) -> str:
        """The number, or the formula, of a node for one target."""
        tree = self.tree
        return number(float(tree.value[node, i])) if tree.linear is None else number_in_words(tree, node, 3)

    @cached_property
    def _range(self) -> tuple[float, float]:
        return value_range(self.tree)

    @cached_property
    def _shares(self) -> list[list[tuple[int, float]]]:
        """The classes at each node with their shares, the heaviest first."""
        width = max(len(self.tree.schema.targets[0].classes or ()), 1)
        pairs: list[list[tuple[int, float]]] = []
        for first in range(0, len(self.nodes), step := max(_MOST_CELLS // width, 1)):
            for row in self.tree.shares(self.nodes[first : first + step])[0]:
                codes = np.flatnonzero(row)
                order = codes[np.argsort(-row[codes], kind="stable")]
                pairs.append([(code, float(row[code])) for code in order.tolist()])
        return pairs

    @cached_property
    def _colours(self) -> tuple[str, ...]:
        return class_colours(self.tree)

    def _parts(self, i: int) -> tuple[tuple[tuple[float, str], ...], float | None]:
        if not self.tree.schema.predicts_classes:
            least, most = self._range
            value = float(self.tree.centre[self.nodes[i], 0])  # of a formula: what it says on average
            place = (value - least) / (most - least) if most > least else 0.5
            return ((1.0, value_colour(place)),), place
        whole: dict[str, float] = {}
        for code, share in sorted(self._shares[i]):
            whole[self._colours[code]] = whole.get(self._colours[code], 0.0) + share
        order = {colour: place for place, colour in enumerate(dict.fromkeys(self._colours))}
        return tuple(
            (share, colour) for colour, share in sorted(whole.items(), key=lambda p: order[p[0]])
        ), None

    def _title(self, i: int, node: int, ends: bool, below: int) -> Iterator[str]:
        """The lines of the tooltip: everything in full."""
        tree, schema = self.tree, self.tree.schema
        if node and self._has_many(int(tree.heads[tree.parent[node]])):
            yield " ".join(way_parts(tree, node, learnt=self.learnt, longest=_LONGEST_FULL))
        if not ends and self._has_many(node):
            yield f"{name_text(tree.tested[tree.feature[node]].name)}?"
        elif not ends:
            yield " ".join(branch_parts(tree, node, True, learnt=self.learnt, longest=_LONGEST_FULL)) + "?"
        if not schema.predicts_classes:
            names = [name_text(target.name) for target in schema.targets]
            values = [self._number(node, i) for i in range(len(names))]
            yield ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))
        elif len(schema.targets) == 1:
            classes = schema.targets[0].classes or ()
            answer = tree.label[node, 0]
            yield f"{name_text(schema.targets[0].name)} = {label_text(classes[answer])}"
            some = self._shares[i][:_MOST_NAMED]
            more = len(self._shares[i]) - len(some)
            words = [f"{label_text(classes[code])} {percent(share)}" for code, share in some]
            yield ", ".join(words + [f"… {more} more classes"] * bool(more))
        else:
            for target, code, share in zip(
                schema.targets, tree.label[node], tree.confidence[node], strict=True
            ):
                answer = label_text((target.classes or ())[code])
                yield f"{name_text(target.name)} = {answer}: {percent(float(share))}"
        total = int(tree.rows[0])
        yield row_count(int(tree.rows[node])) + (
            f", {percent(tree.rows[node] / total)} of all" if node else ""
        )
        if below:
            yield f"{below:,} leaves below"


def value_range(tree: Tree) -> tuple[float, float]:
    """The smallest and the largest number of a leaf for the first target, on average."""
    values = tree.centre[tree.is_leaf, 0]
    return float(values.min()), float(values.max())


def number(value: float) -> str:
    """A number with four digits, or without decimals where it is large.

    >>> number(22.53219), number(1234567.8), number(4e-12)
    ('22.53', '1,234,568', '4e-12')
    """
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:,.4g}"


def _cut(test: str, room: float, size: float) -> str:
    """A test that is too long, shortened; the number of categories that it does not name stays."""
    place = test.rfind(", … ")
    rest = test[place:] if 0 < place > len(test) - 40 else ""
    start = shorten_to_fit(test.removesuffix(rest), room - text_width(rest, size), size, keep_end=not rest)
    return start + rest


def _typeset(words: str) -> str:
    return f"≤ {words[3:]}" if words.startswith("<= ") else words.replace(" and <= ", ", ≤ ")
