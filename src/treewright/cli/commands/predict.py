"""`treewright predict`: the predictions of a saved tree or ensemble for the rows of a table."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter
from numpy.typing import NDArray

from treewright.cli.console import Stages, Voice
from treewright.cli.errors import (
    Misuse,
    Trouble,
    check_output,
    closest,
    count,
    listed,
    quote,
    thread_count,
)
from treewright.cli.model_files import open_any_model
from treewright.cli.options import (
    OUTPUT,
    PIPE,
    TEXT,
    USUAL,
    Dialect,
    Flag,
    Jobs,
    Model,
    Output,
    Repeated,
    Style,
    Table,
)
from treewright.cli.tables.labelled import note_remarks
from treewright.cli.tables.model_columns import ModelCells, form_of
from treewright.cli.tables.reader import Frame, stream
from treewright.cli.tables.sources import Source, open_source
from treewright.cli.tables.writer import TEXT_FORMATS, Answers, JsonSink, format_of, open_sink
from treewright.encoding import Dataset, encode
from treewright.encoding.schema import Column, Schema
from treewright.ensembles import losses
from treewright.ensembles.adaboost import Boosted, vote_probabilities
from treewright.ensembles.adaboost_r2 import BoostedNumbers
from treewright.ensembles.forest import Forest, split_targets
from treewright.ensembles.gradient_boosting import GradientBoosted
from treewright.saving import Model as Saved
from treewright.saving import trees_in
from treewright.tree import Tree
from treewright.tree.oblique import asked_columns
from treewright.tree.predict import answers as answers_to
from treewright.tree.predict import proportions


def predict(
    model: Model,
    data: Table,
    /,
    *,
    output: Output = None,
    format: Annotated[str | None, Parameter(group=OUTPUT)] = None,
    proba: Flag = False,
    keep: Repeated = None,
    raw: Flag = False,
    n_jobs: Jobs = -1,
    dialect: Dialect = USUAL,
    style: Style = TEXT,
) -> None:
    """Predict the rows of a table with a saved tree, or with the trees of a saved ensemble.

    Columns are found by their names, in any order; those that no tree tests need not be there. The
    table may be larger than the memory: rows are read, predicted and written a few at a time.

    Parameters
    ----------
    output
        The file to write: CSV, TSV or JSON lines, also with .gz, or Parquet, by its suffix; without it, or
        with -, CSV goes to the standard output.
    format
        The format of the standard output: csv (the default), tsv or jsonl.
    proba
        Add the probability of each class as a column: its share of the training rows of the leaf, or of the
        votes.
    keep
        Copy a column of the table to the output as it is; may be repeated.
    raw
        Do not put a quote before texts that a spreadsheet would run as formulas (they begin with =, +, -, @).

    Examples
    --------
    treewright predict loans.tree.json new.csv -o answers.csv
        a column "prediction", one line for each row of new.csv
    treewright predict loans.tree.json new.csv --proba --keep id
        with the column id beside it and the probability of each class
    treewright predict loans.tree.json huge.csv.gz -o huge.parquet
        a table of any size, in little memory
    cat new.jsonl | treewright predict loans.tree.json - --format jsonl
        from a pipe to a pipe
    """
    voice = Voice(style)
    output = None if output == PIPE else output
    format = _format(output, format, style.json)
    if output is not None:
        check_output(output, (model, data))
    threads = thread_count(n_jobs)
    with voice.stages(shown=output is not None) as work:
        saved = open_any_model(model, work)
        if proba and not saved.schema.predicts_classes:
            raise Misuse(
                f"--proba: the {word_for(saved)} in {model} predicts numbers; only classes have probabilities"
            )
        work.begin("reading", str(data))
        source = open_source(data, dialect)
        note_remarks(source, work)
        answering = Answering(saved, tuple(keep or ()), proba, threads)
        _check_names(source, answering)
        with open_sink(output, format, raw=raw) as sink:
            with closing(answering.pieces(source, work)) as pieces:
                for answers in pieces:
                    sink.write(answers)
            answering.tell_oddities(voice)
            if isinstance(sink, JsonSink):
                sink.more = {**answering.document(source, model), "notes": voice.notes}
    if output is not None:
        voice.mention(f"{count(answering.rows, 'prediction')} written to {output}")
    if style.json and output is not None:
        document = {**answering.document(source, model), "files": {"predictions": str(output)}}
        voice.answer(str, lambda: document)


def _format(output: Path | None, format: str | None, json: bool) -> str:
    """The format of what is written."""
    if output is not None:
        if format is not None:
            raise Misuse(f"--format {format} is for the standard output; a file has the format of its suffix")
        return format_of(output)
    if format is not None and json:
        raise Misuse(f"--json is a format of its own; leave out --format {format}")
    if format is not None and format not in TEXT_FORMATS:
        raise Misuse(f"--format {format} is unknown; known: {', '.join(TEXT_FORMATS)}")
    return "json" if json else format or "csv"


def _check_names(source: Source, answering: Answering) -> None:
    absent = [column.name for column in answering.tested if column.name not in source.names]
    if absent:
        verb = "lacks the column" if len(absent) == 1 else "lacks the columns"
        close = closest(absent[0], source.names)
        there = f"its columns are {listed(source.names)}" if close is None else f"it has {close!r}"
        there += "" if source.doubt is None else f"; {source.doubt}"
        raise Trouble(f"{source.path} {verb} {listed(absent)}, which the {answering.word} tests; {there}")
    for name in answering.keep:
        if name not in source.names:
            raise Trouble(f"--keep: {source.path} has no column {quote(name)}; {source.hint(name)}")


def encode_rows(frame: Frame, schema: Schema, tested: Iterable[Column]) -> Dataset:
    """The rows of a frame as a schema wants them; of columns that are not tested, all is missing."""
    nothing = np.broadcast_to(np.nan, frame.n_rows)
    table = {column.name: nothing for column in schema.columns}
    table |= {column.name: frame.columns[column.name] for column in tested}
    try:
        return encode(table, schema=schema)
    except (ValueError, TypeError) as error:
        raise frame.located(error) from error


class Answering:
    """What a model says of the rows of a table, piece by piece, and what was odd about them."""

    def __init__(self, model: Saved, keep: tuple[str, ...], proba: bool, threads: int) -> None:
        self.model, self.keep, self.proba, self.threads = model, keep, proba, threads
        self.word = word_for(model)
        trees = trees_in(model)
        self._positions = sorted({column for tree in trees for column in asked_columns(tree)})
        self._missing_by = {tree.missing for tree in trees}
        self.tested = [model.schema.columns[i] for i in self._positions]
        self.rows = self.missing = self.unseen = 0
        self.unseen_in: dict[str, None] = {}  # the columns, in their order
        self.unread: list[str] = []  # what to say of cells that could not be read
        self._labels = [_labels(target.classes) for target in model.schema.targets]
        self._names = self._added()

    def _added(self) -> list[list[str]]:
        """The names of the columns that each target adds."""
        single, names = len(self.model.schema.targets) == 1, []
        for target in self.model.schema.targets:
            suffix = "" if single else f"_{target.name}"
            of_classes = (_said(label) for label in target.classes or ()) if self.proba else ()
            names.append([f"prediction{suffix}", *(f"probability{suffix}_{label}" for label in of_classes)])
        for name in self.keep:
            if any(name in added for added in names):
                raise Trouble(
                    f"--keep {name}: the predictions have a column of this name; rename it in the table"
                )
        return names

    def pieces(self, source: Source, work: Stages) -> Generator[Answers, None, None]:
        """The columns to write, a few rows at a time."""
        wanted = {column.name: form_of(column) for column in self.tested} or {source.names[0]: "text"}
        width = sum(map(len, self._names))
        cells, last = ModelCells.of(self.tested, source.conventions), None
        with closing(stream(source, wanted, self.keep, width=width, as_text=cells.as_text)) as frames:
            for frame in map(cells.read, frames):
                rows = encode_rows(frame, self.model.schema, self.tested)
                self._count(rows)
                work.begin("predicting", f"{self.rows:,} rows")
                if last is not None:
                    yield last
                last = self._answers(frame, rows)
        self.unread = cells.notes(source.path)  # before the last piece: a short table has no other
        if last is not None:
            yield last

    def _answers(self, frame: Frame, rows: Dataset) -> Answers:
        """What was kept, what the model says, how surely."""
        answers: Answers = {name: frame.kept[name] for name in self.keep}
        values, shares = said_by(self.model, rows, self.proba, self.threads)
        for i, ((said, *of_classes), labels) in enumerate(zip(self._names, self._labels, strict=True)):
            answers[said] = values[:, i] if labels is None else labels[values[:, i]]
            answers |= {name: shares[i][:, code] for code, name in enumerate(of_classes)}
        return answers

    def _count(self, rows: Dataset) -> None:
        """Rows with missing values, and with categories that the tree has not seen."""
        missing, unseen = np.zeros(rows.n_rows, bool), np.zeros(rows.n_rows, bool)
        for i, column in zip(self._positions, self.tested, strict=True):
            cells = rows.columns[i]
            if column.kind == "category":
                missing |= cells == -1
                new = cells == -2
                unseen |= new
                self.unseen_in |= {column.name: None} if new.any() else {}
            else:
                missing |= np.isnan(cells)
        self.rows += rows.n_rows
        self.missing += int(missing.sum())
        self.unseen += int(unseen.sum())

    def tell_oddities(self, voice: Voice) -> None:
        """One line each."""
        for note in self.unread:
            voice.note(note)
        if self.unseen:
            voice.note(
                f"{count(self.unseen, 'row')} with categories that the {self.word} has not seen, "
                f"in {listed(self.unseen_in)}; there they go where most rows went"
            )
        if self.missing:
            rows = count(self.missing, "row")
            way, *others = self._missing_by or {"learn"}
            by_side = f"they go where the {self.word} sends missing values"
            voice.note(f"{rows} with missing values; {by_side if others else _GOING.get(way, by_side)}")

    def document(self, source: Source, model: Path) -> dict[str, Any]:
        """The same for programs."""
        counts = {"rows": self.rows, "rows_with_missing": self.missing, "rows_with_unseen": self.unseen}
        return {"model": str(model), "table": source.path, **counts, "unseen_in": list(self.unseen_in)}


def word_for(model: Saved) -> str:
    """What a model is called in sentences."""
    return "tree" if isinstance(model, Tree) else "ensemble"


def said_by(
    model: Saved, rows: Dataset, proba: bool, threads: int
) -> tuple[NDArray[Any], list[NDArray[np.float64]]]:
    """Codes of classes or numbers, (rows, targets), and with `proba` the shares of each target's classes."""
    if isinstance(model, BoostedNumbers):
        return model.predict(rows, n_threads=threads)[:, np.newaxis], []
    if isinstance(model, Boosted):
        scores = model.scores(rows, n_threads=threads)
        shares = [vote_probabilities(scores, float(model.votes.sum()))] if proba else []
        return scores.argmax(axis=1)[:, np.newaxis], shares
    if isinstance(model, GradientBoosted):
        raw = model.raw(rows, threads)
        found = losses.LOSSES[model.loss].predictions(raw)[:, np.newaxis]
        return found, [losses.probabilities(raw)] if proba and model.schema.predicts_classes else []
    if isinstance(model, Forest):
        votes = model.sums(rows, threads)
        shares = split_targets(model.schema, votes / len(model)) if proba else []
        return model.decide(votes, len(model)), shares
    return answers_to(model, rows, threads), proportions(model, rows, threads) if proba else []


_GOING = {
    "surrogate": "surrogates decide where they go",
    "fractional": "they go down both sides, and their answers are mixtures",
}


def _labels(classes: tuple[Any, ...] | None) -> NDArray[Any] | None:
    """Classes as an array, of whole numbers or bools where all are; None for numbers."""
    if classes is None:
        return None
    kinds = {type(label) for label in classes}
    if kinds == {int} and all(abs(label) < 2**63 for label in classes):
        return np.array(classes, dtype=np.int64)
    return np.array(classes, dtype=bool if kinds == {bool} else float if kinds == {float} else object)


def _said(label: Any) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)
