"""`treewright explain`: the decision path of one row, and what would change the prediction."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from treewright.cli import options as opt
from treewright.cli.console import Stages, Voice
from treewright.cli.errors import Misuse, Trouble, count, did_you_mean, in_options, name_list
from treewright.cli.model_files import open_model
from treewright.cli.tables.cell_types import Form
from treewright.cli.tables.labelled import note_remarks, read_for_model, rows_for_tree, tested_columns
from treewright.cli.tables.model_columns import as_cells, form_of
from treewright.cli.tables.sources import open_source
from treewright.encoding.schema import Column
from treewright.explaining import Counterfactual
from treewright.explaining import counterfactual as counterfactual_of
from treewright.explaining import explain as explain_row
from treewright.tree import Tree

MISSING = ("", "NA", "?", "missing")  # values of --set that are missing


def explain(
    model: opt.Model,
    data: opt.Table | None = None,
    /,
    *,
    row: opt.Positive = None,
    set: opt.Repeated = None,
    counterfactual: opt.Flag = False,
    frozen: opt.Repeated = None,
    to: str | None = None,
    train: opt.Rows = None,
    test: opt.Rows = None,
    delta: Annotated[opt.Delta, Parameter(help="The probability that the interval does not hold.")] = 0.05,
    labelled: opt.Labelled = opt.LABELLED,
    style: opt.Style = opt.TEXT,
) -> None:
    """Explain the prediction of a saved tree for one row.

    Each test on the path of the row is shown, and how it changes the probabilities of the classes, or the
    mean.

    Parameters
    ----------
    row
        Which row of the table, counted from 1.
    set
        The value of a column, as COLUMN=VALUE; may be repeated. It makes a row without a table, or replaces a
        value of the row. NA is a missing value; columns that the tree tests and that are not set are missing.
    counterfactual
        Also find the smallest change of the row that changes the prediction. Whole numbers stay whole, in
        columns that have no others.
    frozen
        A column that the counterfactual must not change; may be repeated.
    to
        The prediction that the counterfactual should have: a class; for numbers a range such as 100..200,
        100.. or ..200.
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
    treewright explain loans.tree.json new.csv --row 3 --counterfactual --frozen age
        and what would change the prediction, with the same age
    """
    if (frozen or to) and not counterfactual:
        raise Misuse(f"--{'frozen' if frozen else 'to'} is for --counterfactual")
    if data is None and row is not None:
        raise Misuse("--row is the number of a row in a table; name the table before it")
    if data is None and not set:
        raise Misuse("there is no row to explain; name a table and --row, or use --set COLUMN=VALUE")
    if data is not None and row is None:
        raise Misuse(f"which row of {data}? --row 1 is the first")
    voice = Voice(style)
    with voice.stages() as work:
        tree = open_model(model, work)
        table = {} if data is None else _table(data, tree, row or 1, labelled.dialect, work)
        values = _values(tree, set or [])
        whole = [name for name, column in (table | values).items() if _is_whole(tree, name, column)]
        cells = {name: column[row - 1 : row] for name, column in table.items() if row is not None} | values
        absent = [name for name in tested_columns(tree) if name not in cells]
        cells |= dict.fromkeys(absent)
        rows = rows_for_tree(model, tree, labelled, {"train": train, "test": test}, work)
        work.begin("explaining")
        with in_options(data="--train", test="--test"):
            decision = explain_row(tree, cells, data=rows.get("train"), test=rows.get("test"), delta=delta)
            limits = {"frozen": frozen or [], "whole": whole}
            change = _change(tree, cells, to, limits, rows.get("train")) if counterfactual else None
    if absent:
        voice.note(f"{name_list(absent)} not set, so missing")
    text = str(decision).replace("held-out rows (test=)", "held-out rows (--test FILE)")
    voice.answer(
        lambda: text if change is None else f"{text}\n\n{change}",
        lambda: decision.to_dict() | ({} if change is None else {"counterfactual": change.to_dict()}),
    )


def _table(path: Path, tree: Tree, row: int, dialect: opt.Dialect, work: Stages) -> dict[str, Any]:
    """The columns of a table that the tree knows; it must have the row."""
    work.begin("reading", str(path))
    source = open_source(path, dialect)
    note_remarks(source, work)
    source.require(tested_columns(tree), "the tree tests")
    forms: dict[str, Form | None]
    forms = {column.name: form_of(column) for column in tree.schema.columns if column.name in source.names}
    if not forms:
        raise Trouble(f"{source.path} has none of the columns of the tree, {name_list(tree.schema.names)}")
    frame = read_for_model(source, forms, tree.schema, 1, work)
    if row > frame.n_rows:
        raise Trouble(f"--row {row}: {source.path} has {count(frame.n_rows, 'row')}")
    return dict(frame.columns)


def _is_whole(tree: Tree, name: str, cells: Any) -> bool:
    """Whether a column has whole numbers: these cells, and thresholds that tell no others apart."""
    values = np.ravel(cells)
    if values.dtype.kind not in "iuf" or tree.schema.columns[tree.schema.position(name)].is_category:
        return False
    places = [j for j, column in enumerate(tree.tested) if column.name == name]
    numbers = np.concatenate([values, 2 * tree.threshold[np.isin(tree.feature, places)]])
    known = numbers[np.isfinite(numbers)]
    return bool((known == np.floor(known)).all())


def _values(tree: Tree, texts: list[str]) -> dict[str, Any]:
    """The values of --set."""
    cells: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise Misuse(f"--set {text}: it must be COLUMN=VALUE, such as --set income=30000")
        cells[name] = _value(_column(tree, name, f"--set {text}"), value, text)
    return cells


def _column(tree: Tree, name: str, option: str) -> Column:
    """The column of this name; Misuse if the tree has none."""
    if name not in tree.schema.names:
        hint = did_you_mean(name, tree.schema.names)
        raise Misuse(f"{option}: the tree has no column {name!r}; {hint}")
    return tree.schema.columns[tree.schema.position(name)]


def _value(column: Column, value: str, option: str) -> Any:
    """A value as `encode` takes it for the column; None if it is missing."""
    if value in MISSING and value not in map(str, column.categories):
        return None
    if column.text is not None and not np.isnan(known := column.text.values([value])).any():
        return as_cells(known, column.text)
    if column.is_category:
        return _label(value, column.categories)
    try:
        return column.type.decode(column, np.array([column.type.parse_threshold(value)]))
    except (ValueError, OverflowError):
        what = "a number" if column.is_summable else "a date, such as 2026-03-01"
        raise Misuse(f"--set {option}: {value!r} is not {what}") from None


def _label(text: str, labels: tuple[Hashable, ...]) -> Hashable:
    """The category or class that is written so; the text itself if there is none."""
    return next((each for each in labels if text in (str(each), str(each).lower())), text)


def _change(
    tree: Tree, cells: dict[str, Any], to: str | None, limits: dict[str, list[str]], data: Any
) -> Counterfactual:
    if len(tree.schema.targets) > 1:
        raise Misuse("--counterfactual is for trees of one target")
    for name in limits["frozen"]:
        _column(tree, name, f"--frozen {name}")
    prediction = None if to is None else _prediction(to, tree.schema.targets[0].classes)
    return counterfactual_of(
        tree, cells, to=prediction, frozen=limits["frozen"], whole=limits["whole"], data=data
    )


def _prediction(to: str, classes: tuple[Hashable, ...] | None) -> Any:
    """The prediction that --to names: a class, or the ends of a range of numbers."""
    if classes is not None:
        if (label := _label(to, classes)) in classes:
            return label
        raise Misuse(f"--to {to}: the classes are {name_list(map(str, classes))}")
    low, dots, high = to.partition("..")
    try:
        ends = tuple(float(end) if end.strip() else None for end in (low, high))
    except ValueError:
        ends = (None, None)
    if not dots or ends == (None, None):
        raise Misuse(f"--to {to}: for numbers it is a range, such as 100..200, 100.. or ..200")
    return ends
