"""`treewright predict`: the predictions of a saved tree or ensemble for the rows of a table."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from treewright.cli import options as opt
from treewright.cli.console import Stages, Voice
from treewright.cli.errors import Misuse, Trouble, check_output, count, name_list
from treewright.cli.model_files import open_any_model
from treewright.cli.tables.labelled import note_remarks
from treewright.cli.tables.model_columns import ModelCells, form_of
from treewright.cli.tables.reader import Frame, stream
from treewright.cli.tables.sources import Source, check_columns, open_source
from treewright.cli.tables.writer import TEXT_FORMATS, JsonSink, Predictions, format_of, open_sink
from treewright.encoding import Dataset, encode
from treewright.encoding.schema import Column, Schema
from treewright.ensembles import losses
from treewright.ensembles.adaboost import Boosted, vote_probabilities
from treewright.ensembles.adaboost_r2 import BoostedNumbers
from treewright.ensembles.forest import Forest, split_targets
from treewright.ensembles.gradient_boosting import GradientBoosted
from treewright.growing import n_threads
from treewright.saving import Model as Saved
from treewright.saving import trees_in
from treewright.tree import Tree
from treewright.tree.oblique import asked_columns
from treewright.tree.predict import answers as answers_to
from treewright.tree.predict import proportions


def predict(
    model: opt.Model,
    data: opt.Table,
    /,
    *,
    output: opt.Output = None,
    format: Annotated[str | None, opt.OUTPUT, opt.one_of("--format", TEXT_FORMATS)] = None,
    proba: opt.Flag = False,
    keep: opt.Repeated = None,
    raw: opt.Flag = False,
    n_jobs: opt.Jobs = -1,
    dialect: opt.Dialect = opt.USUAL,
    style: opt.Style = opt.TEXT,
) -> None:
    """Predict the rows of a table with a saved tree, or with the trees of a saved ensemble.

    Columns are found by their names, in any order; those that no tree tests may be absent. The table may be
    larger than the memory: rows are read, predicted and written a few at a time.

    Parameters
    ----------
    output
        The file to write: CSV, TSV or JSON lines, also with .gz, or Parquet, by its suffix. Without it, or
        with -, CSV goes to the standard output.
    format
        The format of the standard output: csv (the default), tsv or jsonl.
    proba
        Add the probability of each class as a column: its share of the training rows of the leaf, or of the
        votes.
    keep
        Copy a column of the table to the output as it is; may be repeated.
    raw
        Do not put a quote before texts that a spreadsheet would run as formulas: those that begin with
        an equals sign, @, a plus or a minus sign.

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
    output = None if output == opt.PIPE else output
    format = _format(output, format, style.json)
    if output is not None:
        check_output(output, (model, data))
    with voice.stages(shown=output is not None) as work:
        saved = open_any_model(model, work)
        predictor = Predictor(saved, tuple(keep or ()), proba, n_threads(n_jobs))
        if proba and not saved.schema.predicts_classes:
            raise Misuse(
                f"--proba: the {predictor.word} in {model} predicts numbers; only classes have probabilities"
            )
        work.begin("reading", str(data))
        source = open_source(data, dialect)
        note_remarks(source, work)
        source.require([column.name for column in predictor.columns], f"the {predictor.word} tests")
        check_columns(source, [("--keep", name) for name in predictor.keep])
        with open_sink(output, format, raw=raw) as sink:
            with closing(predictor.pieces(source, work)) as pieces:
                for piece in pieces:
                    sink.write(piece)
            for note in predictor.notes():
                voice.note(note)
            if isinstance(sink, JsonSink):
                sink.more = {**predictor.document(source, model), "notes": voice.notes}
    if output is not None:
        voice.mention(f"treewright: {count(predictor.n_rows, 'prediction')} written to {output}")
    if style.json and output is not None:
        document = {**predictor.document(source, model), "files": {"predictions": str(output)}}
        voice.answer(str, lambda: document)


def _format(output: Path | None, format: str | None, json: bool) -> str:
    """The format of the output."""
    if output is not None:
        if format is not None:
            raise Misuse(f"--format {format} is for the standard output; a file has the format of its suffix")
        return format_of(output)
    if format is not None and json:
        raise Misuse(f"--json is a format of its own; leave out --format {format}")
    return "json" if json else format or "csv"


def encode_rows(frame: Frame, schema: Schema, columns: Iterable[Column]) -> Dataset:
    """The rows of a frame in a schema, of which it has some columns; in the others all is missing."""
    nothing = np.broadcast_to(np.nan, frame.n_rows)
    table = {column.name: nothing for column in schema.columns}
    table |= {column.name: frame.columns[column.name] for column in columns}
    try:
        return encode(table, schema=schema)
    except (ValueError, TypeError) as error:
        raise frame.trouble(error) from error


class Predictor:
    """Predicts the rows of a table, piece by piece, and counts unusual cells."""

    def __init__(self, model: Saved, keep: tuple[str, ...], proba: bool, threads: int) -> None:
        self.model, self.keep, self.proba, self.threads = model, keep, proba, threads
        self.word = "tree" if isinstance(model, Tree) else "ensemble"
        trees = trees_in(model)
        self._positions = sorted({column for tree in trees for column in asked_columns(tree)})
        self._missing_by = {tree.missing for tree in trees}
        self.columns = [model.schema.columns[i] for i in self._positions]  # those that are tested
        self.n_rows = self.n_missing = self.n_unseen = 0
        self.unseen_in: dict[str, None] = {}  # the columns, in their order
        self.unread: list[str] = []  # notes on cells that could not be read
        self._labels = [_labels(target.classes) for target in model.schema.targets]
        self._names = self._new_columns()

    def _new_columns(self) -> list[list[str]]:
        """The names of the columns that each target adds."""
        is_single, names = len(self.model.schema.targets) == 1, []
        for target in self.model.schema.targets:
            suffix = "" if is_single else f"_{target.name}"
            labels = target.classes or () if self.proba else ()
            texts = (str(label).lower() if isinstance(label, bool) else label for label in labels)
            names.append([f"prediction{suffix}", *(f"probability{suffix}_{text}" for text in texts)])
        for name in self.keep:
            if any(name in of_target for of_target in names):
                raise Trouble(
                    f"--keep {name}: the predictions have a column of this name; rename it in the table"
                )
        return names

    def pieces(self, source: Source, work: Stages) -> Generator[Predictions, None, None]:
        """The columns to write, a few rows at a time."""
        forms = {column.name: form_of(column) for column in self.columns} or {source.names[0]: "text"}
        width = sum(map(len, self._names))
        cells, last = ModelCells.of(self.columns, source.conventions), None
        with closing(stream(source, forms, self.keep, width=width, as_text=cells.as_text)) as frames:
            for frame in map(cells.read, frames):
                rows = encode_rows(frame, self.model.schema, self.columns)
                self._count(rows)
                work.begin("predicting", f"{self.n_rows:,} rows")
                if last is not None:
                    yield last
                last = self._predict(frame, rows)
        self.unread = cells.notes(source.path)  # before the last piece: a short table has no other
        if last is not None:
            yield last

    def _predict(self, frame: Frame, rows: Dataset) -> Predictions:
        """The columns that are kept, the predictions and the probabilities."""
        columns: Predictions = {name: frame.kept[name] for name in self.keep}
        values, shares = predictions_of(self.model, rows, self.proba, self.threads)
        for i, ((name, *of_classes), labels) in enumerate(zip(self._names, self._labels, strict=True)):
            columns[name] = values[:, i] if labels is None else labels[values[:, i]]
            columns |= {of_class: shares[i][:, code] for code, of_class in enumerate(of_classes)}
        return columns

    def _count(self, rows: Dataset) -> None:
        """Rows with missing values, and with categories that the tree has not seen."""
        missing, unseen = np.zeros(rows.n_rows, bool), np.zeros(rows.n_rows, bool)
        for i, column in zip(self._positions, self.columns, strict=True):
            is_missing = column.type.is_missing(rows.columns[i])
            is_unseen = column.type.is_unknown(rows.columns[i]) & ~is_missing
            missing |= is_missing
            unseen |= is_unseen
            self.unseen_in |= {column.name: None} if is_unseen.any() else {}
        self.n_rows += rows.n_rows
        self.n_missing += int(missing.sum())
        self.n_unseen += int(unseen.sum())

    def notes(self) -> Iterator[str]:
        """What is worth knowing about the rows."""
        yield from self.unread
        if self.n_unseen:
            yield (
                f"{count(self.n_unseen, 'row')} with categories that the {self.word} has not seen, "
                f"in {name_list(self.unseen_in)}; there they go where most rows went"
            )
        if self.n_missing:
            way, *others = self._missing_by or {"learn"}
            by_side = f"they go where the {self.word} sends missing values"
            where = by_side if others else _WAYS.get(way, by_side)
            yield f"{count(self.n_missing, 'row')} with missing values; {where}"

    def document(self, source: Source, model: Path) -> dict[str, Any]:
        """The counts for programs."""
        rows = {"rows": self.n_rows, "rows_with_missing": self.n_missing, "rows_with_unseen": self.n_unseen}
        return {"model": str(model), "table": source.path, **rows, "unseen_in": list(self.unseen_in)}


def predictions_of(
    model: Saved, rows: Dataset, proba: bool, threads: int
) -> tuple[NDArray[Any], list[NDArray[np.float64]]]:
    """Codes of classes or numbers, (rows, targets), and with `proba` the shares of each target's classes."""
    if isinstance(model, BoostedNumbers):
        return model.predict(rows, n_jobs=threads)[:, np.newaxis], []
    if isinstance(model, Boosted):
        scores = model.scores(rows, n_jobs=threads)
        shares = [vote_probabilities(scores, float(model.votes.sum()))] if proba else []
        return scores.argmax(axis=1)[:, np.newaxis], shares
    if isinstance(model, GradientBoosted):
        raw = model.raw(rows, threads)
        found = losses.LOSSES[model.loss].predictions(raw)[:, np.newaxis]
        if not (proba and model.schema.predicts_classes):
            return found, []
        return found, [losses.probabilities(raw, model.schema.width)]
    if isinstance(model, Forest):
        votes = model.sums(rows, threads)
        shares = split_targets(model.schema, votes / len(model)) if proba else []
        return model.decide(votes, len(model)), shares
    return answers_to(model, rows, threads), proportions(model, rows, threads) if proba else []


_WAYS = {
    "surrogate": "surrogates decide where they go",
    "fractional": "they go to both sides, and their predictions are mixtures",
}


def _labels(classes: tuple[Any, ...] | None) -> NDArray[Any] | None:
    """Classes as an array, of whole numbers or bools where all are; None for numbers."""
    if classes is None:
        return None
    kinds = {type(label) for label in classes}
    if kinds == {int} and all(abs(label) < 2**63 for label in classes):
        return np.array(classes, dtype=np.int64)
    return np.array(classes, dtype=bool if kinds == {bool} else float if kinds == {float} else object)
