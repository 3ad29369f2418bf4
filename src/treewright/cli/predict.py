"""`treewright predict`: what a saved tree says of the rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.cli.console import Voice, unbroken_pipe
from treewright.cli.errors import (
    Misuse,
    Trouble,
    check_output,
    closest,
    count,
    did_you_mean,
    listed,
    thread_count,
    writing_to,
)
from treewright.cli.models import form_of, open_model
from treewright.cli.options import (
    PIPE,
    USUAL,
    Dialect,
    Flag,
    Jobs,
    Json,
    Model,
    Output,
    Quiet,
    Repeated,
    Table,
)
from treewright.cli.reading import Frame, read
from treewright.cli.sources import Source, open_source
from treewright.cli.writing import Answers, check_suffix, write
from treewright.encoding import Dataset, encode
from treewright.tree import Tree


def predict(
    model: Model,
    data: Table,
    /,
    *,
    output: Output = None,
    proba: Flag = False,
    keep: Repeated = None,
    raw: Flag = False,
    jobs: Jobs = -1,
    dialect: Dialect = USUAL,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Predict the rows of a table with a saved tree.

    Columns are found by their names, in any order; those that the tree does not test need not be there.

    Parameters
    ----------
    output
        The file to write, CSV or Parquet by its suffix; without it, CSV goes to the standard output.
    proba
        Add a column for each class: its share among the rows that the leaf has learnt from.
    keep
        Carry a column of the table over, as it stands there; may be repeated.
    raw
        Write texts that a spreadsheet would run as formulas (=, +, -, @ first) as they are, without a quote.
    """
    voice = Voice(json, quiet)
    output = None if output == PIPE else output
    if output is not None:
        check_suffix(output)
        check_output(output, (model, data))
    threads = thread_count(jobs)
    with voice.stages() as work:
        work.begin("reading", str(model))
        tree = open_model(str(model))
        if proba and not tree.schema.predicts_classes:
            raise Misuse(f"--proba: the tree in {model} predicts numbers; only classes have probabilities")
        work.begin("reading", str(data))
        source = open_source(data, dialect)
        tested = [tree.schema.columns[i] for i in np.unique(tree.feature[tree.feature >= 0])]
        _check_names(source, [column.name for column in tested], keep or [])
        wanted = {column.name: form_of(column) for column in tested}
        frame = read(source, wanted or {source.names[0]: "text"}, keep or (), threads)
        work.begin("encoding", count(frame.n_rows, "row"))
        rows = encode_rows(frame, tree)
        work.begin("predicting", count(frame.n_rows, "row"))
        answers = _answers(tree, tree.apply(rows, n_threads=threads), proba, frame)
        work.begin("writing", "" if output is None else str(output))
        if output is not None:
            with writing_to(output):
                write(answers, output, raw=raw)
    if output is None:
        with unbroken_pipe():
            write(answers, None, raw=raw)
    _tell_oddities(voice, tree, rows)


def _check_names(source: Source, tested: list[str], keep: list[str]) -> None:
    absent = [name for name in tested if name not in source.names]
    if absent:
        verb = "lacks the column" if len(absent) == 1 else "lacks the columns"
        close = closest(absent[0], source.names)
        there = f"its columns are {listed(source.names)}" if close is None else f"it has {close!r}"
        raise Trouble(f"{source.path} {verb} {listed(absent)}, which the tree tests; {there}")
    for name in keep:
        if name not in source.names:
            raise Trouble(f"--keep: {source.path} has no column {name!r}; {did_you_mean(name, source.names)}")


def encode_rows(frame: Frame, tree: Tree, target: Any = None, weight: Any = None) -> Dataset:
    """The rows of a frame as the tree's schema wants them; columns that the frame lacks are all missing."""
    nothing = np.broadcast_to(np.nan, frame.n_rows)
    table = {column.name: frame.columns.get(column.name, nothing) for column in tree.schema.columns}
    try:
        return encode(table, target, weight=weight, schema=tree.schema)
    except (ValueError, TypeError) as error:
        raise frame.located(error) from error


def _answers(tree: Tree, leaf: Any, proba: bool, frame: Frame) -> Answers:
    """The columns to write: what was kept, what the tree says, how surely."""
    answers: Answers = dict(frame.kept)
    single = len(tree.schema.targets) == 1
    for i, target in enumerate(tree.schema.targets):
        suffix = "" if single else f"_{target.name}"
        added: Answers = {}
        if target.classes is None:
            added[f"prediction{suffix}"] = tree.value[leaf, i]
        else:
            names = np.array([_label(label) for label in target.classes], dtype=object)
            added[f"prediction{suffix}"] = names[tree.label[leaf, i]]
            if proba:
                shares = tree.proportions[i]
                added |= {
                    f"probability{suffix}_{name}": shares[leaf, code]
                    for code, name in enumerate(names.tolist())
                }
        taken = [name for name in added if name in answers]
        if taken:
            raise Trouble(
                f"--keep {taken[0]}: the predictions have a column of this name; rename it in the table"
            )
        answers |= added
    return answers


def _label(label: Any) -> str | int | float:
    """A class as it is written: bools in small letters, as most programs read them."""
    return str(label).lower() if isinstance(label, bool) else label


def _tell_oddities(voice: Voice, tree: Tree, rows: Dataset) -> None:
    """One line each about rows with missing values and with categories that the tree has not seen."""
    tested = np.unique(tree.feature[tree.feature >= 0])
    missing, unseen, where = np.zeros(rows.n_rows, bool), np.zeros(rows.n_rows, bool), []
    for i in tested:
        column, cells = tree.schema.columns[i], rows.columns[i]
        if column.kind == "category":
            missing |= cells == -1
            new = cells == -2
            unseen |= new
            where += [column.name] * bool(new.any())
        else:
            missing |= np.isnan(cells)
    if unseen.any():
        voice.note(
            f"{count(int(unseen.sum()), 'row')} with categories that the tree has not seen, "
            f"in {listed(where)}; there they go where most rows went"
        )
    if missing.any():
        rows_missing = count(int(missing.sum()), "row")
        voice.note(f"{rows_missing} with missing values; they go where the tree sends missing values")
