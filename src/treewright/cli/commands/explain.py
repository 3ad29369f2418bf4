"""`treewright explain`: the decision path of one row, and what would change the prediction."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np

from treewright.cli.console import Stages, Voice
from treewright.cli.errors import Misuse, Trouble, check_delta_option, count, did_you_mean, in_options, listed
from treewright.cli.model_files import open_model
from treewright.cli.options import (
    LABELLED,
    TEXT,
    Delta,
    Dialect,
    Flag,
    Labelled,
    Model,
    Positive,
    Repeated,
    Rows,
    Style,
    Table,
)
from treewright.cli.tables.cell_types import Form
from treewright.cli.tables.labelled import Labelling, note_remarks, read_for_model
from treewright.cli.tables.model_columns import form_of, typed
from treewright.cli.tables.sources import open_source
from treewright.encoding.schema import Column
from treewright.explaining import Counterfactual, Decision
from treewright.explaining import counterfactual as contrast_of
from treewright.explaining import explain as explain_row
from treewright.tree import Tree
from treewright.tree.oblique import asked_columns

MISSING = ("", "NA", "?", "missing")  # values of --set that are none


def explain(
    model: Model,
    data: Table | None = None,
    /,
    *,
    row: Positive = None,
    set: Repeated = None,
    contrast: Flag = False,
    frozen: Repeated = None,
    to: str | None = None,
    train: Rows = None,
    test: Rows = None,
    delta: Delta = 0.05,
    labelled: Labelled = LABELLED,
    style: Style = TEXT,
) -> None:
    """Explain the prediction of a saved tree for one row.

    Parameters
    ----------
    row
        Which row of the table, counted from 1.
    set
        The value of a column, as COLUMN=VALUE; may be repeated. It replaces the table, or the value in it. NA
        is a missing value; columns that the tree tests and that are not given are missing, too.
    contrast
        Also find the smallest change of the row that changes the prediction (a counterfactual).
    frozen
        A column that the change must leave as it is; may be repeated.
    to
        The prediction that the change should lead to: a class; for numbers a range such as 100..200, 100..
        or ..200.
    train
        The table that the tree was grown from: each test is shown with its competing splits.
    test
        A table of rows that were not used for the tree: the prediction gets a confidence interval.

    Examples
    --------
    treewright explain loans.tree.json new.csv --row 3
        the path of the third row through the tree
    treewright explain loans.tree.json --set income=30000 --set job=cook
        for a row that is in no table
    treewright explain loans.tree.json new.csv --row 3 --contrast --frozen age
        and what would change the prediction, with the same age
    """
    check_delta_option(delta)
    if (frozen or to) and not contrast:
        raise Misuse(f"--{'frozen' if frozen else 'to'} is for --contrast")
    if data is None and row is not None:
        raise Misuse("--row is the number of a row in a table; name the table before it")
    if data is None and not set:
        raise Misuse("there is no row to explain; name a table and --row, or say --set COLUMN=VALUE")
    if data is not None and row is None:
        raise Misuse(f"which row of {data}? --row 1 is the first")
    voice = Voice(style)
    with voice.stages() as work:
        tree = open_model(model, work)
        cells = {} if data is None else _cells(data, tree, row or 1, labelled.dialect, work)
        cells |= _said(tree, set or [])
        untold = [name for name in _tested(tree) if name not in cells]
        cells |= dict.fromkeys(untold)
        rows = Labelling(model, tree, labelled).parts({"--train": train, "--test": test}, work)
        work.begin("explaining")
        with in_options(data="--train", test="--test"):
            decision = explain_row(
                tree, cells, data=rows.get("--train"), test=rows.get("--test"), delta=delta
            )
            change = _change(tree, cells, to, frozen or [], rows.get("--train")) if contrast else None
    if untold:
        voice.note(f"nothing is said of {listed(untold)}; a value that is not told counts as missing")
    voice.answer(lambda: _text(decision, change), lambda: _document(decision, change))


def _cells(path: Path, tree: Tree, row: int, dialect: Dialect, work: Stages) -> dict[str, Any]:
    """One row of a table, those of its columns that the tree knows."""
    work.begin("reading", str(path))
    source = open_source(path, dialect)
    note_remarks(source, work)
    known: dict[str, Form | None]
    known = {column.name: form_of(column) for column in tree.schema.columns if column.name in source.names}
    for name in _tested(tree):
        if name not in known:
            raise Trouble(f"{source.path} has no column {name!r}, which the tree tests; {source.hint(name)}")
    if not known:
        raise Trouble(f"{source.path} has none of the columns of the tree, {listed(tree.schema.names)}")
    frame = read_for_model(source, known, tree.schema, 1, work)
    if row > frame.n_rows:
        raise Trouble(f"--row {row}: {source.path} has {count(frame.n_rows, 'row')}")
    return {name: cells[row - 1 : row] for name, cells in frame.columns.items()}


def _tested(tree: Tree) -> list[str]:
    """The columns that the tree tests."""
    return [tree.schema.names[column] for column in asked_columns(tree)]


def _said(tree: Tree, texts: list[str]) -> dict[str, Any]:
    """The values of --set."""
    cells: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise Misuse(f"--set {text}: it must be COLUMN=VALUE, such as --set income=30000")
        _check_column(tree, name, f"--set {text}")
        cells[name] = _value(tree.schema.columns[tree.schema.position(name)], value, text)
    return cells


def _check_column(tree: Tree, name: str, said: str) -> None:
    if name not in tree.schema.names:
        hint = did_you_mean(name, tree.schema.names)
        raise Misuse(f"{said}: the tree has no column {name!r}; {hint}")


def _value(column: Column, value: str, said: str) -> Any:
    """A value as the column has them; None if it is missing."""
    if value in MISSING and value not in map(str, column.categories):
        return None
    try:
        if column.text is not None and not np.isnan(known := column.text.values([value])).any():
            return typed(known, column.text)
        if column.kind == "number":
            return float(value)
        if column.kind == "time":
            return np.array([np.datetime64(value)])
    except ValueError:
        wanted = "a number" if column.kind == "number" else "a date, such as 2026-03-01"
        raise Misuse(f"--set {said}: {value!r} is not {wanted}") from None
    return _named(value, column.categories)


def _named(text: str, known: tuple[Hashable, ...]) -> Hashable:
    """The category or class that is written so; the text itself if there is none."""
    return next((each for each in known if text in (str(each), str(each).lower())), text)


def _change(
    tree: Tree, cells: dict[str, Any], to: str | None, frozen: list[str], data: Any
) -> Counterfactual:
    if len(tree.schema.targets) > 1:
        raise Misuse("--contrast is for trees of one target")
    for name in frozen:
        _check_column(tree, name, f"--frozen {name}")
    wanted = None if to is None else _wanted(to, tree.schema.targets[0].classes)
    return contrast_of(tree, cells, to=wanted, frozen=frozen, data=data)


def _wanted(to: str, classes: tuple[Hashable, ...] | None) -> Any:
    """The answer that --to means: a class, or the ends of a range of numbers."""
    if classes is not None:
        if (label := _named(to, classes)) in classes:
            return label
        raise Misuse(f"--to {to}: the classes are {listed(map(str, classes))}")
    low, dots, high = to.partition("..")
    try:
        ends = tuple(float(end) if end.strip() else None for end in (low, high))
    except ValueError:
        ends = (None, None)
    if not dots or ends == (None, None):
        raise Misuse(f"--to {to}: of numbers it is a range, such as 100..200, 100.. or ..200")
    return ends


def _text(decision: Decision, change: Counterfactual | None) -> str:
    story = str(decision).replace("held-out rows (test=)", "held-out rows (--test FILE)")
    return story if change is None else f"{story}\n\n{change}"


def _document(decision: Decision, change: Counterfactual | None) -> dict[str, Any]:
    return decision.to_dict() if change is None else {**decision.to_dict(), "contrast": change.to_dict()}
