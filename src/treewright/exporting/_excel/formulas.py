"""The formulas that predict, by tests within tests or by a walk from node to node, and where they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from treewright._text import label_text, name_text
from treewright.encoding.schema import Column
from treewright.exporting._excel.values import (
    DEEPEST_FORMULA,
    MOST_ARGUMENTS,
    ROW,
    Formula,
    date,
    formula,
    in_last_row,
    label,
    letters,
    number,
    time_threshold,
)
from treewright.exporting._split_tests import Question, questions
from treewright.exporting._tree import Code, Style, family

MOST_CLASSES = 100  # whose probabilities are shown
FIRST_CATEGORY = 4  # row of the first category in the sheet "Columns"
LEAF, CHECK = -2, -1  # places among the outputs
FIRST_ANSWER = 8  # column of the first prediction in the sheet "Tree"
NUMBER, TIME, TEXT, BOOL, ANY = "a number", "a date or time", "a text", "TRUE or FALSE", "anything"
LONGEST_NESTED = 7_000  # characters, in the last row; Excel keeps 16,384 bytes of a formula, about 2 for each
REQUIRED = "required"  # in the sheet "Columns"
_NOT_OF_KIND = {
    NUMBER: "(1-ISNUMBER({0}))",
    TIME: "(1-ISNUMBER({0}))",
    BOOL: "({0}<>TRUE)*({0}<>FALSE)",
}


@dataclass(frozen=True)
class Layout:
    """The columns of the sheets."""

    code: Code
    takes_all: bool = False  # all columns of the table, not only those that are tested

    @cached_property
    def inputs(self) -> list[int]:
        """The columns of the table that are columns of the sheet "Predict"."""
        return list(range(len(self.code.tree.schema.columns))) if self.takes_all else self.code.used or [0]

    @cached_property
    def columns(self) -> list[Column]:
        """These columns, as the schema describes them."""
        return [self.code.tree.schema.columns[j] for j in self.inputs]

    @cached_property
    def features(self) -> list[int]:
        """What tests compare: the columns, then the sums."""
        return [*self.code.used, *self.code.sums]

    @cached_property
    def predictions(self) -> list[str]:
        """The headings of the predictions, then of the probabilities."""
        names = [name_text(target.name) for target in self.code.targets]
        ends = [f" of {name}" for name in names] if len(names) > 1 else [""]
        shares = [f"P({label_text(label)}){ends[k]}" for k, _, label in self.classes]
        return [*(f"prediction{end}" for end in ends), *shares]

    @property
    def outputs(self) -> list[str]:
        """The headings to the right of the inputs and sums."""
        return [*self.predictions, "leaf", "check"]

    @cached_property
    def classes(self) -> list[tuple[int, int, Any]]:
        """The classes whose probabilities are shown: the target, the code, the label."""
        targets = enumerate(target.classes or () for target in self.code.targets)
        found = [(k, code, label) for k, classes in targets for code, label in enumerate(classes)]
        return found if len(found) <= MOST_CLASSES else []

    @cached_property
    def node_columns(self) -> list[str]:
        """The headings of the sheet "Tree", without those that only formulas read."""
        found = ["node", "column", "test", "if yes", "if no", "if missing", "rows"]
        if self.code.formulas is None:
            return found + self.predictions
        slopes = (f"per {name_text(self.code.tree.schema.names[j])}" for j in self.regressors)
        return [*found, "intercept", *slopes]

    @cached_property
    def regressors(self) -> dict[int, float]:
        """The columns in the formulas of leaves, with what a missing value of them counts as."""
        found = {j: mean for _, terms in self.code.formulas or () for j, _, mean in terms}
        return dict(sorted(found.items()))

    @property
    def n_nodes(self) -> int:
        """The rows of the sheet "Tree": the nodes, then the surrogates."""
        return self.code.tree.n_nodes + len(self.code.tree.surrogates)

    @cached_property
    def steps(self) -> int:
        """The largest number of tests that a row meets, with all surrogates."""
        tree = self.code.tree
        above = ~tree.is_leaf + np.bincount(tree.surrogates.node, minlength=tree.n_nodes)
        for node, parent in enumerate(tree.parent[1:].tolist(), start=1):
            above[node] += above[parent]
        return int(above.max())

    def cell(self, feature: int) -> str:
        """The cell of a column or sum in the sheet "Predict"."""
        return f"{letters([*self.inputs, *self.code.sums].index(feature) + 1)}{ROW}"

    def output(self, place: int) -> str:
        """The cell of an output, counted from 0, or from the last one backwards."""
        first = len(self.inputs) + len(self.code.sums) + 1
        return f"${letters(first + place % len(self.outputs))}{ROW}"

    def inputs_of(self, row: int | str) -> str:
        """The cells of the inputs of a row."""
        return f"$A{row}:${letters(len(self.inputs))}{row}"

    def of_leaf(self, place: int) -> str:
        """What a column of the sheet "Tree" says of the leaf of a row."""
        column = letters(place)
        return f"INDEX(Tree!${column}$2:${column}${self.n_nodes + 1},{self.output(LEAF)}+1)"

    def categories(self, feature: int) -> str:
        """The cells of the categories of a column in the sheet "Columns"."""
        name, count = letters(self.inputs.index(feature) + 1), len(self.code.tree.tested[feature].categories)
        return f"Columns!${name}${FIRST_CATEGORY}:${name}${FIRST_CATEGORY + count - 1}"

    def kinds(self) -> Iterator[str]:
        """What the cells of each input hold."""
        for j, column in zip(self.inputs, self.columns, strict=True):
            kind = family(column)
            if j not in self.code.used:
                yield ANY
            elif kind == "name":
                yield BOOL if isinstance(column.categories[0], bool) else NUMBER
            else:
                yield {"number": NUMBER, "time": TIME, "text": TEXT}[kind]


# ---- the sheet "Predict"


def predict_formulas(layout: Layout, nested: dict[int, str]) -> list[Formula]:
    """The formulas to the right of the inputs; `nested` has those of some outputs."""
    found = [_sum(layout, j) for j in layout.code.sums]
    for place, output in enumerate(layout.outputs[:CHECK]):
        if place in nested:
            value = nested[place]
        elif output == layout.outputs[LEAF]:
            value = f"Walk!${letters(len(layout.features) + 1 + layout.steps)}{ROW}"
        else:
            value = layout.of_leaf(FIRST_ANSWER + place)
            for position, (j, mean) in enumerate(layout.regressors.items(), start=FIRST_ANSWER + 1):
                cell = layout.cell(j)
                value += f'+{layout.of_leaf(position)}*IF({cell}="",{number(mean)},{cell})'
        found.append(formula(f'IF({layout.output(CHECK)}="ok",{value},"")', f"the {output}"))
    return [*found, _check(layout)]


def _sum(layout: Layout, feature: int) -> Formula:
    """A sum of columns, empty where one of them is."""
    terms = [(layout.cell(j), weight) for j, weight in layout.code.terms(feature)]
    what = f"the sum {name_text(layout.code.tree.tested[feature].name)}"
    gaps = "+".join(f'({cell}="")' for cell, _ in terms)
    total = "+".join(f"{number(weight)}*{cell}" for cell, weight in terms)
    return formula(f'IF({gaps}>0,"",{total})', what)


def _check(layout: Layout) -> Formula:
    """Whether the values of a row are of the kinds of their columns, and there where they have to be."""
    cells, headings = layout.inputs_of(ROW), layout.inputs_of("$1")
    kinds, needs = (f"Columns!{layout.inputs_of(row)}" for row in ("$2", "$3"))
    found = '"ok"'
    if layout.code.demanded:
        gap = f'SUMPRODUCT(MAX(({cells}="")*COLUMN({cells})*({needs}="{REQUIRED}")))'
        found = f'IF({gap}>0,INDEX({headings},{gap})&" is missing","ok")'
    own = {*layout.kinds()}
    tests = [f'({kinds}="{kind}")*{test}' for kind, test in _NOT_OF_KIND.items() if kind in own]
    if tests:
        wrong = "+".join(tests).format(cells)
        place = f'SUMPRODUCT(MAX(({cells}<>"")*COLUMN({cells})*({wrong})))'
        found = f'IF({place}>0,INDEX({headings},{place})&" must be "&INDEX({kinds},{place}),{found})'
    return formula(f'IF(COUNTBLANK({cells})={len(layout.inputs)},"",{found})', "the check")


# ---- tests within tests


def nested_formulas(layout: Layout, style: Style) -> dict[int, str]:
    """The classes and the leaf as IFs within IFs, by their places among the outputs; none where they would
    be too long, or tables are wanted.

    Numbers are looked up by the leaf, as they may have more digits than people want to read.
    """
    code = layout.code
    if not code.nests(style):
        return {}
    answers = {len(layout.outputs) + LEAF: [str(leaf) for leaf in code.leaves.tolist()]}
    for k, target in enumerate(code.targets):
        if target.classes is not None:
            answers[k] = [label(target.classes[answer]) for answer in code.answers(k)]
    found = {place: _subtree(layout, 0, own) for place, own in answers.items()}
    longest = max(len(in_last_row(each)) for each in found.values())
    tests = [[*questions(code.tree, int(node))] for node in np.flatnonzero(~code.tree.is_leaf)]
    deepest = code.tree.depth + 2 * max(map(len, tests), default=0) + 4
    widest = max((len(codes) for own in tests for test in own for codes in _lists(test)), default=0)
    if longest <= LONGEST_NESTED and deepest <= DEEPEST_FORMULA and widest < MOST_ARGUMENTS:
        return found
    if style == "auto":
        return {}
    raise ValueError(
        f"this tree is too large for style='nested': a formula would have {longest:,} characters in up to "
        f"{deepest} levels, and a value be compared with {widest} categories; Excel reads about "
        f"{LONGEST_NESTED:,}, {DEEPEST_FORMULA} and {MOST_ARGUMENTS - 1}: use style='tables'"
    )


def _subtree(layout: Layout, node: int, answers: list[str]) -> str:
    """The answer of a row that is at a node; `answers` are those of the leaves."""
    tree = layout.code.tree
    if tree.is_leaf[node]:
        return answers[layout.code.place[node]]
    left, right = (_subtree(layout, int(child), answers) for child in (node + 1, tree.right[node]))
    return f"IF({_goes_left(layout, node)},{left},{right})"


def _goes_left(layout: Layout, node: int) -> str:
    """The test of a node, and of its surrogates where a value is missing."""
    missing_left = bool(layout.code.tree.missing_left[node])
    tests = list(questions(layout.code.tree, node))
    if len(tests) == 1:
        return _test(layout, tests[0], missing_left)
    found = label(missing_left)
    for test in reversed(tests):
        cell = layout.cell(test.feature)
        if test.is_category and test.unseen_left is None:  # a new category is a missing value
            left, right = (_any(_same(layout, test.feature, codes)) for codes in _lists(test))
            found = f"IF({left},TRUE,IF({right},FALSE,{found}))"
        else:
            found = f'IF({cell}="",{found},{_test(layout, test, None)})'
    return found


def _test(layout: Layout, test: Question, missing_left: bool | None) -> str:
    """Whether a value goes left; it is known if `missing_left` is None. Excel takes an empty cell for 0."""
    cell = layout.cell(test.feature)
    if test.is_category:
        within, codes = test.listed
        gap = [f'{cell}=""'] * (missing_left == within)
        condition = _any(gap + _same(layout, test.feature, codes))
        return condition if within else f"NOT({condition})"
    if np.isinf(test.threshold):
        known_left = (test.threshold > 0) != test.reversed
        if missing_left in (None, known_left):
            return label(known_left)
        return f'{cell}{"<>" if known_left else "="}""'
    is_time = layout.code.tree.tested[test.feature].kind == "time"
    bound = date(time_threshold(test.threshold)) if is_time else number(test.threshold)
    comparison = f"{cell}{test.operator}{bound}"
    if missing_left is None:
        return comparison
    return f'OR({cell}="",{comparison})' if missing_left else f'AND({cell}<>"",{comparison})'


def _same(layout: Layout, feature: int, codes: Sequence[int]) -> list[str]:
    """Conditions of which one holds where a category is among some."""
    column, cell = layout.code.tree.tested[feature], layout.cell(feature)
    labels = [label(column.categories[code]) for code in codes]
    if family(column) == "text":
        return [f"EXACT({cell},{each})" for each in labels]
    return [f'AND({cell}<>"",{_any([f"{cell}={each}" for each in labels])})'] if labels else []


def _lists(test: Question) -> list[tuple[int, ...]]:
    """The categories that a formula names."""
    return [test.left, test.right] if test.unseen_left is None else [test.listed[1]]


def _any(conditions: list[str]) -> str:
    return f"OR({','.join(conditions)})" if len(conditions) > 1 else conditions[0] if conditions else "FALSE"


# ---- the sheet "Walk"


def walk_formulas(layout: Layout) -> list[Formula | int]:
    """The values that tests compare, then the node of a row before each test and at the end."""
    width, last, first = len(layout.features), layout.n_nodes + 1, len(layout.node_columns) + 1
    read, threshold, categories = (
        f"INDEX(Tree!${name}$2:${name}${last},{{0}}+1)" for name in map(letters, range(first, first + 3))
    )
    found: list[Formula | int] = [*(_code(layout, j) for j in layout.features), 0]
    for step in range(layout.steps):
        node = f"{letters(width + 1 + step)}{ROW}"
        value = f"INDEX($A{ROW}:${letters(max(width, 1))}{ROW},{read.format(node)})"
        below = f"IF({value}<={threshold.format(node)},1,2)"
        among = f'FIND(MID({categories.format(node)},{value}+1,1),"10?")'
        way = f'IF({value}="",3,IF({categories.format(node)}="",{below},{among}))'
        go = f"INDEX(Tree!$D$2:$F${last},{node}+1,{way})"
        found.append(formula(f"IF({read.format(node)}=0,{node},{go})", "a step"))
    return found


def _code(layout: Layout, feature: int) -> Formula:
    """A number as it is; a category as its place among those of its column, 0 if it is none of them."""
    cell, column = f"Predict!{layout.cell(feature)}", layout.code.tree.tested[feature]
    value = cell
    if column.categories:
        known = layout.categories(feature)
        same = f"EXACT({cell},{known})" if family(column) == "text" else f"({cell}={known})"
        value = f"SUMPRODUCT({same}*(ROW({known})-{FIRST_CATEGORY - 1}))"
    return formula(f'IF({cell}="","",{value})', "a value")
