"""The sheets of a workbook, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice, repeat, zip_longest
from typing import Any, NamedTuple

from treewright._text import count, escape, name_text, shorten
from treewright._version import __version__
from treewright.encoding.schema import Column
from treewright.exporting._excel.formulas import (
    CHECK,
    REQUIRED,
    Layout,
    nested_formulas,
    predict_formulas,
    walk_formulas,
)
from treewright.exporting._excel.values import (
    LAST_COLUMN,
    LAST_ROW,
    Formula,
    letters,
    readable,
    time_threshold,
)
from treewright.exporting._split_tests import Question, questions
from treewright.exporting._tree import Style, family
from treewright.tree.wording import branch_in_words, surrogate_in_words

MOST_FORMULAS = 1_000_000
LONGEST_HEADING = 1_000  # characters
INPUT, OUTPUT = "FFF8DC", "E2EFDA"  # colors
_FORMATS = {"time": "yyyy-mm-dd hh:mm:ss", "text": "@"}


class Look(NamedTuple):
    """How a column looks below its heading."""

    width: float
    color: str | None = None
    format: str = "General"


class Sheet(NamedTuple):
    """A sheet: its rows, which are made while they are written, and how it looks."""

    title: str
    rows: Iterator[Sequence[Any]]
    looks: Sequence[Look]
    freeze: str | None = "A2"
    choices: Sequence[tuple[str, str]] = ()  # cells and where their list of values is


def sheets(layout: Layout, style: Style, n_rows: int, examples: Sequence[list[Any]]) -> Iterator[Sheet]:
    """The sheets of a workbook; `examples` are the first cells of each input."""
    nested = nested_formulas(layout, style)
    _check_size(layout, n_rows, 0 if nested else layout.steps + len(layout.features))
    yield _predict_sheet(layout, predict_formulas(layout, nested), n_rows, examples)
    looks = [Look(width) for width in (8, 20, 44, 8, 8, 10, 10)]
    looks += [_output_look(heading) for heading in layout.node_columns[len(looks) :]]
    yield Sheet("Tree", _node_rows(layout, not nested), [look._replace(color=None) for look in looks], "B2")
    yield Sheet("Columns", _column_rows(layout), [Look(24)] * len(layout.inputs))
    if not nested:
        looks = [Look(_width(layout.code.tree.tested[j].name)) for j in layout.features]
        yield Sheet("Walk", _walk_rows(layout, n_rows), looks)
    yield Sheet("Read me", _read_me(layout, bool(nested), n_rows), [Look(100)], None)


def _check_size(layout: Layout, n_rows: int, walk: int) -> None:
    """ValueError about a workbook that is larger than Excel takes."""
    if n_rows * walk > MOST_FORMULAS or walk >= LAST_COLUMN:
        raise ValueError(
            f"this tree makes up to {layout.steps:,} tests in a row, so that {n_rows:,} rows take "
            f"{n_rows * walk:,} formulas, where {MOST_FORMULAS:,} are reasonable: "
            "say rows= fewer, prune the tree, or export it as sql or python"
        )
    width = max(
        len(layout.inputs) + len(layout.code.sums) + len(layout.outputs), len(layout.node_columns) + 3
    )
    if width > LAST_COLUMN or layout.n_nodes >= LAST_ROW:
        raise ValueError(
            f"the workbook would have a sheet of {width:,} columns and one of {layout.n_nodes + 1:,} rows; "
            f"Excel has {LAST_COLUMN:,} and {LAST_ROW:,}: prune the tree, or leave columns= out"
        )


# ---- the sheet "Predict"


def _predict_sheet(
    layout: Layout, formulas: list[Formula], n_rows: int, examples: Sequence[list[Any]]
) -> Sheet:
    """The sheet to type rows into."""
    sums = [name_text(layout.code.tree.tested[j].name) for j in layout.code.sums]
    headings = [*map(_heading, layout.columns), *sums, *layout.outputs]
    formats = [_FORMATS.get(family(column), "General") for column in layout.columns]
    looks = [
        Look(max(_width(heading), len(format) + 1), INPUT, format)
        for heading, format in zip(headings, formats, strict=False)
    ]
    looks += [*map(_output_look, headings[len(looks) : CHECK]), Look(34, OUTPUT)]
    choices = [
        (f"{letters(place)}2:{letters(place)}{n_rows + 1}", layout.categories(j))
        for place, j in enumerate(layout.inputs, start=1)
        if j in layout.code.used and layout.code.tree.tested[j].categories
    ]
    values = chain(zip(*examples, strict=True), repeat((None,) * len(examples)))
    rows = ([*cells, *formulas] for cells in islice(values, n_rows))
    return Sheet("Predict", chain([headings], rows), looks, "A2", choices)


def _heading(column: Column) -> str:
    """The name of a column as the user wrote it, but for thousands of characters."""
    return shorten(column.name, LONGEST_HEADING) or "(no name)"


def _width(heading: str) -> float:
    return min(max(12, len(heading) + 3), 40)


def _output_look(heading: str) -> Look:
    return Look(_width(heading), OUTPUT, "0.0%" if heading.startswith("P(") else "General")


# ---- the sheets "Columns", "Tree" and "Walk"


def _column_rows(layout: Layout) -> Iterator[list[Any]]:
    """Each column as in the sheet "Predict": its kind, whether it has to be there, its categories."""
    code = layout.code
    yield [*map(_heading, layout.columns)]
    yield [*layout.kinds()]
    needs = dict.fromkeys(code.used, "may be empty") | dict.fromkeys(code.demanded, REQUIRED)
    yield [needs.get(j, "not used") for j in layout.inputs]
    categories = [code.tree.schema.columns[j].categories if j in code.used else () for j in layout.inputs]
    yield from map(list, zip_longest(*categories))


def _node_rows(layout: Layout, is_walked: bool) -> Iterator[list[Any]]:
    """The nodes, then the surrogates; for a walk also with what its formulas read: the input, the threshold,
    the categories as one character each, 1 yes, 0 no, ? missing, first that of new categories.
    """
    tree, answers, surrogates = layout.code.tree, _leaf_cells(layout), []
    yield [*layout.node_columns, *(["input", "threshold", "categories"] if is_walked else [])]
    blank, right = [None] * (len(layout.node_columns) - 7), tree.right.tolist()
    for node in range(tree.n_nodes):
        rows = int(tree.rows[node])
        if tree.is_leaf[node]:
            yield [node, *[None] * 5, rows, *next(answers)]
            continue
        entries = tree.surrogates.of(node)
        default = node + 1 if tree.missing_left[node] else right[node]
        places = [tree.n_nodes + entry for entry in entries] + [default]
        tests = [[*_test_cells(layout, test)] if is_walked else [] for test in questions(tree, node)]
        name = escape(name_text(tree.tested[tree.feature[node]].name))
        words = escape(branch_in_words(tree, node, True, learnt=frozenset()))
        yield [node, name, words, node + 1, right[node], places[0], rows, *blank, *tests[0]]
        for entry, gap, test in zip(entries, places[1:], tests[1:], strict=True):
            is_left = tree.surrogates.subset[entry] >= 0 or not tree.surrogates.reversed[entry]
            ways = [node + 1, right[node]] if is_left else [right[node], node + 1]
            words = escape(surrogate_in_words(tree, entry, is_left))
            start = [tree.n_nodes + entry, f"instead of node {node}", words]
            surrogates.append([*start, *ways, gap, None, *blank, *test])
    yield from surrogates


def _test_cells(layout: Layout, test: Question) -> list[Any]:
    """A test as formulas read it."""
    place = layout.features.index(test.feature) + 1
    if test.is_category:
        unseen = {True: "1", False: "0", None: "?"}[test.unseen_left]
        left = {*test.left}
        codes = range(len(test.left) + len(test.right))
        return [place, None, unseen + "".join("01"[code in left] for code in codes)]
    is_time = layout.code.tree.tested[test.feature].kind == "time"
    return [place, time_threshold(test.threshold) if is_time else readable(test.threshold), None]


def _leaf_cells(layout: Layout) -> Iterator[list[Any]]:
    """What each leaf answers: predictions and probabilities, or the coefficients of its formula."""
    code = layout.code
    if code.formulas is not None:
        for first, terms in code.formulas:
            slopes = {j: coefficient for j, coefficient, _ in terms}
            yield [first, *(slopes.get(j, 0.0) for j in layout.regressors)]
        return
    columns = []
    for k, target in enumerate(code.targets):
        classes, found = target.classes, code.answers(k)
        columns.append(found if classes is None else [classes[answer] for answer in found])
    shares = code.tree.shares(code.leaves) if layout.classes else []
    columns += [shares[k][:, each].tolist() for k, each, _ in layout.classes]
    yield from map(list, zip(*columns, strict=True))


def _walk_rows(layout: Layout, n_rows: int) -> Iterator[Sequence[Any]]:
    names = [escape(name_text(layout.code.tree.tested[j].name)) for j in layout.features]
    yield [*names, "start", *(f"step {step}" for step in range(1, layout.steps + 1))]
    yield from repeat(walk_formulas(layout), n_rows)


# ---- the sheet "Read me"


def _read_me(layout: Layout, is_nested: bool, n_rows: int) -> Iterator[list[Any]]:
    tree, names = layout.code.tree, " and ".join(name_text(target.name) for target in layout.code.targets)
    leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves:,} leaves"
    also = "" if is_nested else ', and that of the sheet "Walk"'
    yield [f"A decision tree that predicts {escape(names)}"]
    rows = count(int(tree.rows[0]), "training row")
    yield [f"It has {leaves} and was grown on {rows}."]
    yield [f"Made by treewright {__version__}."]
    yield []
    yield ['How to use it: type or paste rows into the yellow cells of the sheet "Predict".']
    yield [f"The formulas reach down to row {n_rows + 1:,}; for more rows copy the last one{also} downwards."]
    yield ["An empty cell is a missing value. A row without any value has no prediction."]
    yield ["Texts are equal if every character is, including spaces and upper and lower case."]
    yield ['The column "check" names values that are not of the kind of their column, listed in "Columns".']
    if layout.code.has_categories:
        yield ["A category that the tree has never seen goes with the larger part of the rows at each test."]
    if any(column.kind == "time" for column in layout.code.columns):
        yield ["Times are compared by the millisecond."]
    yield ["Numbers are compared by their first 15 digits, as Excel always does."]
    yield ['The column "leaf" is the number of a node; the sheet "Tree" lists the nodes.']
    if not is_nested:
        yield ['The sheet "Walk" looks up the node of each row after each test.']
