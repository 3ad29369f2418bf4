"""The sheets of a workbook, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import isfinite
from typing import Any, Literal

import numpy as np

from treewright._text import count, escape, name_text, percent, shorten
from treewright._version import __version__
from treewright.encoding.schema import Column
from treewright.exporting._excel.layout import (
    BOOL,
    CHECK,
    FIRST_ANSWER,
    FIRST_CATEGORY,
    LEAF,
    NUMBER,
    TIME,
    Layout,
    categories_range,
    kind_text,
)
from treewright.exporting._excel.nested import Nested
from treewright.exporting._excel.values import (
    LAST_COLUMN,
    Formula,
    formula,
    letters,
    number,
    readable,
    text,
    time_threshold,
)
from treewright.exporting._split_tests import Question, questions, stand_in
from treewright.exporting._tree import family
from treewright.tree import Tree
from treewright.tree.wording import branch_in_words, surrogate_in_words

MOST_FORMULAS = 1_000_000
LONGEST_HEADING = 1_000  # characters

Look = Literal["input", "sum", "output"]


@dataclass(frozen=True)
class Sheet:
    """A sheet: its rows, which are made while they are written, and how it looks."""

    title: str
    rows: Iterator[list[Any]]
    widths: Sequence[float] = ()
    looks: Sequence[Look] = ()  # of the columns, below the heading
    formats: Sequence[str] = ()
    freeze: str | None = None
    choices: Sequence[tuple[str, str]] = ()  # cells and where their list of values is


def sheets(layout: Layout, nested: Nested | None, table: dict[str, list[Any]]) -> Iterator[Sheet]:
    """The sheets of a workbook, with the columns of a table as the first rows."""
    width = 0 if nested else layout.steps + len(layout.features)
    if layout.n_rows * width > MOST_FORMULAS or width >= LAST_COLUMN:
        raise ValueError(
            f"this tree makes up to {layout.steps:,} tests in a row, so that {layout.n_rows:,} rows take "
            f"{layout.n_rows * width:,} formulas, where {MOST_FORMULAS:,} are reasonable: "
            "say rows= fewer, prune the tree, or export it as sql or python"
        )
    yield _predict_sheet(layout, nested, table)
    widths = [8, 20, 44, 8, 8, 10, 10, *[14] * (len(layout.node_columns) - 7)]
    shares = ["0.0%" if heading.startswith("P(") else "General" for heading in layout.node_columns]
    yield Sheet("Tree", _node_rows(layout, nested is None), widths, (), shares, "B2")
    yield Sheet("Columns", _column_rows(layout), [24] * len(layout.inputs), (), (), "A2")
    if nested is None:
        yield Sheet("Walk", _walk_rows(layout), [20] * len(layout.features), (), (), "A2")
    yield Sheet("Read me", _read_me(layout, nested is not None), [100])


# ---- the sheet "Predict"


def _predict_sheet(layout: Layout, nested: Nested | None, table: dict[str, list[Any]]) -> Sheet:
    code, columns = layout.code, [layout.code.tree.schema.columns[j] for j in layout.inputs]
    formats = [_FORMATS.get(family(column), "General") for column in columns]
    formats += ["General"] * (len(code.sums) + len(code.targets)) + ["0.0%"] * len(layout.classes)
    counts: list[tuple[Look, int]] = [
        ("input", len(columns)),
        ("sum", len(code.sums)),
        ("output", len(layout.outputs)),
    ]
    looks = [look for look, number_of in counts for _ in range(number_of)]
    headings = [
        *map(_heading, columns),
        *(name_text(code.tree.tested[j].name) for j in code.sums),
        *layout.outputs,
    ]
    widths = [min(max(12, len(heading) + 3), 40) for heading in headings]
    for place, column in enumerate(columns):
        widths[place] = max(widths[place], 20 * (column.kind == "time"))
    widths[-1] = 34
    choices = [
        (f"{letters(place)}2:{letters(place)}{layout.n_rows + 1}", categories_range(place, column))
        for place, (j, column) in enumerate(zip(layout.inputs, columns, strict=True), start=1)
        if column.categories and j in code.used
    ]
    rows = _predict_rows(layout, headings, nested, table)
    return Sheet("Predict", rows, widths, looks, formats, "A2", choices)


_FORMATS = {"time": "yyyy-mm-dd hh:mm:ss", "text": "@"}


def _heading(column: Column) -> str:
    """The name of a column as the user wrote it, but for thousands of characters."""
    return shorten(column.name, LONGEST_HEADING) or "(no name)"


def _predict_rows(
    layout: Layout, headings: list[str], nested: Nested | None, table: dict[str, list[Any]]
) -> Iterator[list[Any]]:
    yield list(headings)
    names = [layout.code.tree.schema.names[j] for j in layout.inputs]
    given = zip_longest(*(table.get(name, []) for name in names))
    for row in range(2, layout.n_rows + 2):
        values = next(given, (None,) * len(names))
        sums = [_sum(layout, j, row) for j in layout.code.sums]
        yield [*values, *sums, *_outputs(layout, nested, row), _check(layout, row)]


def _sum(layout: Layout, feature: int, row: int) -> Formula:
    """A sum of columns, empty where one of them is."""
    terms = [(layout.cell(j, row), weight) for j, weight in layout.code.terms(feature)]
    what = f"the sum {name_text(layout.code.tree.tested[feature].name)}"
    gaps = "+".join(f'({cell}="")' for cell, _ in terms)
    total = "+".join(f"{number(weight)}*{cell}" for cell, weight in terms)
    return formula(f'IF({gaps}>0,"",{total})', what)


def _outputs(layout: Layout, nested: Nested | None, row: int) -> Iterator[Formula]:
    """The formulas of a row but for the check."""
    for place, output in enumerate(layout.outputs[:CHECK]):
        if nested and place in nested:
            value = nested[place](row)
        elif place == len(layout.outputs) + LEAF:
            value = f"Walk!${letters(len(layout.features) + 1 + layout.steps)}{row}"
        elif layout.code.formulas is not None:
            value = _linear_answer(layout, row)
        else:
            value = layout.lookup(FIRST_ANSWER + place, row)
        yield layout.if_ok(value, row, f"the {output}")


def _linear_answer(layout: Layout, row: int) -> str:
    """The formula of a leaf; an empty cell counts as the mean of its column."""
    means = {j: mean for _, terms in layout.code.formulas or () for j, _, mean in terms}
    answer = layout.lookup(FIRST_ANSWER, row)
    for place, j in enumerate(layout.regressors, start=FIRST_ANSWER + 1):
        cell = layout.cell(j, row)
        answer += f'+{layout.lookup(place, row)}*IF({cell}="",{number(means[j])},{cell})'
    return answer


def _check(layout: Layout, row: int) -> Formula:
    """Whether the values of a row are of the kinds of their columns, and there where they have to be."""
    cells, headings = layout.inputs_of(row), layout.inputs_of("$1")
    found = '"ok"'
    if layout.code.required_columns:
        gap = (
            f'SUMPRODUCT(MAX(({cells}="")*COLUMN({cells})*(Columns!{layout.inputs_of("$3")}="{_REQUIRED}")))'
        )
        found = f'IF({gap}>0,INDEX({headings},{gap})&" is missing","ok")'
    wrong = _wrong_kind(layout, cells)
    if wrong:
        place = f'SUMPRODUCT(MAX(({cells}<>"")*COLUMN({cells})*{wrong}))'
        kind = f"INDEX(Columns!{layout.inputs_of('$2')},{place})"
        found = f'IF({place}>0,INDEX({headings},{place})&" must be "&{kind},{found})'
    return formula(f'IF(COUNTBLANK({cells})={len(layout.inputs)},"",{found})', "the check")


def _wrong_kind(layout: Layout, cells: str) -> str:
    """For each cell that is not empty, whether it is not of the kind of its column; empty if any cell is."""
    own = {kind_text(layout, j) for j in layout.inputs}
    kinds = f"Columns!{layout.inputs_of('$2')}"
    tests = [
        (f"({kinds}={text(kind)})*" if len(own) > 1 else "") + test.format(cells)
        for kind, test in _NOT_OF_KIND.items()
        if kind in own
    ]
    return tests[0] if len(tests) == 1 else f"({'+'.join(tests)})" if tests else ""


# ---- the sheets "Columns" and "Tree"

_NOT_OF_KIND = {
    NUMBER: "(1-ISNUMBER({0}))",
    TIME: "(1-ISNUMBER({0}))",
    BOOL: "({0}<>TRUE)*({0}<>FALSE)",
}
_REQUIRED, _OPTIONAL, _UNUSED = "required", "may be empty", "not used"


def _column_rows(layout: Layout) -> Iterator[list[Any]]:
    """Each column as in the sheet "Predict": its kind, whether it has to be there, its categories."""
    code = layout.code
    yield [_heading(code.tree.schema.columns[j]) for j in layout.inputs]
    yield [kind_text(layout, j) for j in layout.inputs]
    yield [
        _REQUIRED if j in code.required_columns else _OPTIONAL if j in code.used else _UNUSED
        for j in layout.inputs
    ]
    categories = [code.tree.schema.columns[j].categories if j in code.used else () for j in layout.inputs]
    yield from map(list, zip_longest(*categories))


def _node_rows(layout: Layout, is_looked_up: bool) -> Iterator[list[Any]]:
    """The nodes, then the surrogates, with what the formulas read: the input, the threshold, the categories
    as one character each, 1 yes, 0 no, ? missing, first that of new categories.
    """
    tree = layout.code.tree
    yield [*layout.node_columns, *(["input", "threshold", "categories"] if is_looked_up else [])]
    answers = _leaf_cells(layout)
    right, leaves = tree.right.tolist(), tree.is_leaf.tolist()
    for node in range(tree.n_nodes):
        if leaves[node]:
            yield [node, *[None] * 5, int(tree.rows[node]), *next(answers)]
            continue
        others = tree.surrogates.of(node)
        default = node + 1 if tree.missing_left[node] else right[node]
        gap = tree.n_nodes + others[0] if len(others) else default
        words = escape(branch_in_words(tree, node, True, learnt=frozenset()))
        name = escape(name_text(tree.tested[tree.feature[node]].name))
        start = [node, name, words, node + 1, right[node], gap, int(tree.rows[node])]
        yield _branch_row(layout, start, next(iter(questions(tree, node))) if is_looked_up else None)
    for entry in range(len(tree.surrogates)):
        node = int(tree.surrogates.node[entry])
        is_last = entry + 1 == len(tree.surrogates) or int(tree.surrogates.node[entry + 1]) != node
        default = node + 1 if tree.missing_left[node] else right[node]
        gap = default if is_last else tree.n_nodes + entry + 1
        question, name = stand_in(tree, entry), f"instead of node {node}"
        ways, is_left = [node + 1, right[node]], question.is_category or not question.reversed
        words = escape(surrogate_in_words(tree, entry, is_left))
        start = [tree.n_nodes + entry, name, words, *(ways if is_left else ways[::-1]), gap, None]
        yield _branch_row(layout, start, question if is_looked_up else None)


def _branch_row(layout: Layout, cells: list[Any], question: Question | None) -> list[Any]:
    """The row of a branch or surrogate, with its question as the formulas read it."""
    cells += [None] * (len(layout.node_columns) - len(cells))
    if question is None:
        return cells
    code = layout.code
    place = layout.features.index(question.feature) + 1
    if question.is_category:
        characters = np.full(len(question.left) + len(question.right), "0")
        characters[list(question.left)] = "1"
        unseen = {True: "1", False: "0", None: "?"}[question.unseen_left]
        return [*cells, place, None, unseen + "".join(characters.tolist())]
    is_time = code.tree.tested[question.feature].kind == "time"
    threshold = time_threshold(question.threshold) if is_time else readable(question.threshold)
    return [*cells, place, threshold, None]


def _leaf_cells(layout: Layout) -> Iterator[list[Any]]:
    """What each leaf answers: predictions and probabilities, or the coefficients of its formula."""
    code = layout.code
    if code.formulas is not None:
        for first, terms in code.formulas:
            own = {j: coefficient for j, coefficient, _ in terms}
            yield [first, *(own.get(j, 0.0) for j in layout.regressors)]
        return
    answers = []
    for k, target in enumerate(code.targets):
        classes = target.classes
        answers.append([answer if classes is None else classes[answer] for answer in code.answers(k)])
    shares = [code.tree.shares(code.leaves)[k] for k in range(len(answers))] if layout.classes else []
    for place in range(len(code.leaves)):
        yield [
            *(answer[place] for answer in answers),
            *(float(shares[k][place, own]) for _, k, own in layout.classes),
        ]


# ---- the sheet "Walk"


def _walk_rows(layout: Layout) -> Iterator[list[Any]]:
    """The values that tests compare, categories by their codes, and the node of each row after each test."""
    features, steps = layout.features, layout.steps
    names = [escape(name_text(layout.code.tree.tested[j].name)) for j in features]
    yield [*names, "start", *(f"step {step}" for step in range(1, steps + 1))]
    width, last, first = len(features), layout.n_nodes + 1, len(layout.node_columns) + 1
    read, threshold, categories = (
        f"INDEX(Tree!${name}$2:${name}${last},{{0}}+1)" for name in map(letters, range(first, first + 3))
    )
    ways = f"INDEX(Tree!$D$2:$F${last},{{0}}+1,{{1}})"
    for row in range(2, layout.n_rows + 2):
        cells: list[Any] = [_code_cell(layout, j, row) for j in features] + [0]
        for step in range(steps):
            node = f"{letters(width + 1 + step)}{row}"
            value = f"INDEX($A{row}:${letters(max(width, 1))}{row},{read.format(node)})"
            below = f"IF({value}<={threshold.format(node)},1,2)"
            among = f'FIND(MID({categories.format(node)},{value}+1,1),"10?")'
            way = f'IF({categories.format(node)}="",{below},{among})'
            go = ways.format(node, f'IF({value}="",3,{way})')
            cells.append(formula(f"IF({read.format(node)}=0,{node},{go})", "a step"))
        yield cells


def _code_cell(layout: Layout, feature: int, row: int) -> Formula:
    """A number as it is; a category as its place among those of its column, 0 if it is none of them."""
    cell = f"Predict!{layout.cell(feature, row)}"
    column = layout.code.tree.tested[feature]
    value = cell
    if column.categories:
        known = categories_range(layout.inputs.index(feature) + 1, column)
        same = f"EXACT({cell},{known})" if family(column) == "text" else f"({cell}={known})"
        value = f"SUMPRODUCT({same}*(ROW({known})-{FIRST_CATEGORY - 1}))"
    return formula(f'IF({cell}="","",{value})', "a value")


# ---- the sheet "Read me"


def _read_me(layout: Layout, is_nested: bool) -> Iterator[list[Any]]:
    tree, names = layout.code.tree, " and ".join(name_text(target.name) for target in layout.code.targets)
    rows = count(int(tree.rows[0]), "training row")
    yield [f"A decision tree that predicts {escape(names)}"]
    yield [f"It has {_leaf_count(tree)} and was grown on {rows}. {_training_error(tree)}"]
    yield [f"Made by treewright {__version__}."]
    yield []
    yield ['How to use it: type or paste rows into the yellow cells of the sheet "Predict".']
    also = "" if is_nested else ', of the sheet "Walk", too'
    yield [f"The formulas reach down to row {layout.n_rows + 1:,}; for more rows copy the last one{also}."]
    yield ["An empty cell is a missing value. A row without any value has no prediction."]
    yield ["Upper and lower case differ in texts, and so do spaces."]
    yield ['The column "check" names values that are not of the kind of their column, listed in "Columns".']
    if layout.code.has_categories:
        yield ["A category that the tree has never seen goes with the larger part of the rows at each test."]
    if any(column.kind == "time" for column in layout.code.columns):
        yield ["Times are compared by the millisecond."]
    yield ["Numbers are compared by their first 15 digits, as Excel always does."]
    yield ['The column "leaf" is the number of a node; the sheet "Tree" lists the nodes.']
    if not is_nested:
        yield ['The sheet "Walk" looks up the node of each row after each test.']


def _leaf_count(tree: Tree) -> str:
    return "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves:,} leaves"


def _training_error(tree: Tree) -> str:
    """What the tree loses on the rows that it was grown from."""
    loss = float(tree.mean(tree.loss[tree.is_leaf].sum()))
    if not isfinite(loss):
        return ""
    if not tree.schema.predicts_classes:
        return f"Its mean loss on them ({tree.criterion.replace('_', ' ')}) is {loss:.4g}."
    if tree.schema.has_costs:
        return f"Its mistakes on them cost {loss:.4g} per row."
    return f"It is wrong for {percent(loss)} of them."
