"""Tables of rows with a target, to learn from or for a saved tree: what their columns are for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._text import shorten
from treewright.advice import Advice
from treewright.cli.console import Stages
from treewright.cli.errors import Misuse, Trouble, count, quote
from treewright.cli.options import PIPE, Labelled, Learning
from treewright.cli.splits import RowsOption, check_files
from treewright.cli.tables.cell_types import Form
from treewright.cli.tables.model_columns import ModelCells, form_of, form_of_kind
from treewright.cli.tables.reader import Column, Frame, marked_row, read
from treewright.cli.tables.sources import Source, check_columns, open_source
from treewright.encoding import Dataset, encode_with_advice
from treewright.encoding.schema import Schema
from treewright.encoding.text.recognise import recognise
from treewright.tree import Tree
from treewright.tree.oblique import asked_columns

MOST_CLASSES = 20  # different whole numbers that are classes; more of them are numbers
_MOST_DOUBTFUL = 100  # of which a note says so; nobody takes more of them for classes

_PADDED = re.compile(r"[+-]?0\d[\d.]*", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Roles:
    """The columns that the command line names, and what for."""

    target: str
    weights: str | None = None
    drop: list[str] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    classes: bool | None = None
    drop_missing_target: bool = False

    @staticmethod
    def of(options: Learning) -> Roles:
        """The columns by the options."""
        drop, kinds = options.columns.drop or [], options.columns.column_kinds
        return Roles(
            options.target, options.weights, drop, kinds, options.classes, options.drop_missing_target
        )

    def read(self, source: Source, threads: int, work: Stages) -> Frame:
        """The columns of a table to learn from."""
        forms = self.forms(source)
        note_remarks(source, work, with_doubt=True)
        return read(source, forms, jobs=threads, as_text=self.as_text())

    def read_other(
        self, source: Source, schema: Schema, threads: int, work: Stages, *, judging: bool
    ) -> Dataset:
        """The rows of another file in the schema of the table; columns that it does not have are missing."""
        there = Schema(tuple(c for c in schema.columns if c.name in source.names), schema.targets)
        frame = read_for_model(source, self.forms(source, there), there, threads, work)
        absent = {
            column.name: column.type.decode(column, column.type.missing_cells(frame.n_rows))
            for column in schema.columns
            if column not in there.columns
        }
        frame = replace(frame, columns=absent | frame.columns)
        data, advice = self.encode(frame, schema, judging=judging)
        for each in advice:
            work.note(each.command_text)
        return data

    def forms(self, source: Source, schema: Schema | None = None) -> dict[str, Form | None]:
        """The columns to read and the forms they must have; those of a schema, if there is one already."""
        self.check(source, schema)
        forms: dict[str, Form | None]
        if schema is None:
            forms = dict.fromkeys(name for name in source.names if name not in self.drop)
            forms.update((name, form_of_kind(kind)) for name, kind in self.kinds.items())
            if self.classes is False:
                forms[self.target] = "number"
        else:
            forms = {column.name: form_of(column) for column in schema.columns}
            labels = schema.targets[0].classes
            are_texts = labels is not None and isinstance(labels[0], str)
            forms[self.target] = "number" if labels is None else "text" if are_texts else None
        if self.weights is not None:
            forms[self.weights] = "number"
        if set(forms) <= {self.target, self.weights}:
            raise Trouble(f"{source.path} has no columns besides the target to predict it from")
        return forms

    def check(self, source: Source, schema: Schema | None) -> None:
        """Trouble if a column that is named is not there, or is named for two things."""
        weights = [self.weights] if self.weights is not None else []
        options = [("--target", self.target), *(("--weights", name) for name in weights)]
        if schema is None:
            options += [("--drop", name) for name in self.drop] + [("--kinds", name) for name in self.kinds]
        else:
            options += [("the tree", column.name) for column in schema.columns]
        check_columns(source, options)
        uses = [self.target, *weights, *self.drop]
        conflicts = [name for name in uses if uses.count(name) > 1]
        conflicts += [name for name in self.kinds if name in [*weights, *self.drop]]
        if conflicts:
            raise Misuse(f"column {quote(conflicts[0])} is named for two things that exclude each other")

    def as_text(self) -> dict[str, bool]:
        """The columns that are read as texts where some cells do not have the form that is wanted."""
        kinds = {name: False for name, kind in self.kinds.items() if kind != "category"}
        return kinds | ({self.target: False} if self.classes is not True else {})

    def encode(
        self, frame: Frame, schema: Schema | None = None, *, judging: bool = False
    ) -> tuple[Dataset, list[Advice]]:
        """The rows of a frame that have a target, and how texts were read.

        Rows that only judge may have classes that the schema does not know.
        """
        rows = _rows_with_target(frame, self.target, self.drop_missing_target)
        columns = {name: column if rows is None else column[rows] for name, column in frame.columns.items()}
        target = {self.target: columns.pop(self.target)}
        if judging and schema is not None:
            target[self.target] = _as_classes(target[self.target], schema.targets[0].classes or ())
        options: dict[str, Any] = {}
        if self.weights is not None:
            options["weight"] = columns.pop(self.weights)
        if schema is None:
            options["kinds"] = {name: kind for name, kind in self.kinds.items() if name in columns}
            options["classes"] = self._are_classes(frame, target[self.target])
            options |= frame.source.conventions.arguments([*columns, self.target])
        try:
            data, advice = encode_with_advice(
                columns, target, schema=schema, judging=judging, place=marked_row, **options
            )
        except (ValueError, TypeError) as error:
            raise frame.trouble(error, rows) from error
        if schema is None and self.classes is None:
            self._check_classes(frame.path, data)
        return data, frame.advice(advice, rows)

    def _check_classes(self, path: str, data: Dataset) -> None:
        """Trouble about a target of so many classes that they look like names of the rows."""
        classes = data.schema.targets[0].classes or ()
        if len(classes) > max(MOST_CLASSES, data.n_rows / 2):
            raise Trouble(
                f"{path}: the target {quote(self.target)} has {len(classes):,} classes in {data.n_rows:,} "
                "rows, too many to learn them; name another column (--target), or insist by --classes"
            )

    def _are_classes(self, frame: Frame, target: Column) -> bool | None:
        """Whether the target is classes: by the options, or by its form and number of different values."""
        if self.classes is None and self.target in self.kinds:
            return self.kinds[self.target] == "category"
        form = frame.forms[self.target]
        if self.classes is not None or form not in ("integer", "text"):
            return self.classes
        are_few = len(set(target.tolist())) <= MOST_CLASSES
        if are_few or form == "integer":
            return are_few
        return False if _are_numbers(target, frame.source.conventions.marks(self.target)) else None

    def hints(self, frame: Frame, data: Dataset) -> Iterator[str]:
        """Notes on how columns were taken where that may be wrong, with the option that changes it."""
        target = data.schema.targets[0]
        if self.classes is None and self.target not in self.kinds and frame.forms[self.target] == "integer":
            kind, other = ("numbers", "--classes") if target.classes is None else ("classes", "--numbers")
            values = np.unique(data.target_array[0])
            if len(values) <= _MOST_DOUBTFUL and (target.classes is None or len(target.classes) > 2):
                yield f"the whole numbers of {quote(self.target)} are taken for {kind}; {other} changes that"
        if target.classes is not None and len(target.classes) == 1:
            only = shorten(str(target.classes[0]))
            yield f"all rows have the same {quote(self.target)}, {only!r}: the tree is a single leaf"
        for column in data.schema.columns:
            if _are_padded(column.categories) and column.name not in self.kinds:
                yield (
                    f"column {quote(column.name)} has leading zeros, so it is taken for categories; "
                    f"--kinds {shlex.quote(f'{column.name}=number')} takes it for numbers"
                )


def _are_numbers(texts: Column, marks: tuple[str | None, str | None]) -> bool:
    """Whether all texts of a target are numbers, with currencies and the like."""
    labels, codes = np.unique(texts, return_inverse=True)
    reading = recognise(labels.tolist(), codes, name="", decimal=marks[0], thousands=marks[1])
    return reading.format is not None and reading.format.kind == "number" and not reading.n_unread


def _are_padded(categories: tuple[Any, ...]) -> bool:
    """Whether categories are all digits, some behind a zero."""
    texts = [category for category in categories if isinstance(category, str)]
    return any(map(_PADDED.fullmatch, texts)) and all(map(_NUMBER.fullmatch, texts))


def _rows_with_target(frame: Frame, target: str, drop: bool) -> NDArray[Any] | None:
    """The rows that have a target, None if all have; Trouble about the others unless they may be dropped."""
    column = frame.columns[target]
    if isinstance(column, np.ma.MaskedArray):
        missing = np.ma.getmaskarray(column)
    elif column.dtype == object:
        missing = np.array([cell is None for cell in column.tolist()])
    else:
        missing = column != column
    if not missing.any():
        return None
    if missing.all():
        raise Trouble(f"{frame.path}: the target {target!r} is missing in every row")
    if not drop:
        others = int(missing.sum()) - 1
        more = f" (and in {count(others, 'more row')})" if others else ""
        place = frame.place(int(np.argmax(missing)))
        raise Trouble(
            f"{frame.path}: the target {target!r} is missing in {place}{more}; "
            "--drop-missing-target leaves such rows out"
        )
    return np.flatnonzero(~missing)


def _as_classes(labels: NDArray[Any], classes: tuple[Any, ...]) -> NDArray[Any]:
    """Labels as numbers where the classes are whole numbers or bools and one unknown label has made them
    texts; it becomes a number that is no class.

    >>> _as_classes(np.array(["1", "new"], object), (1, 2)).tolist()
    [1, 3]
    """
    is_text = labels.dtype.kind in "OUT" and any(isinstance(label, str) for label in labels.tolist())
    if not is_text or not classes or isinstance(classes[0], str):
        return labels
    known = {str(label).lower(): int(label) for label in classes}
    return np.array([known.get(str(label).lower(), max(known.values()) + 1) for label in labels.tolist()])


def note_remarks(source: Source, work: Stages, *, with_doubt: bool = False) -> None:
    """Note how a file is read, where that is worth knowing; `with_doubt` also doubts about its header."""
    for remark in source.remarks:
        work.note(remark)
    if with_doubt and source.doubt is not None:
        work.note(f"{source.path}: {source.doubt}; --header insists that they are names")


def read_for_model(
    source: Source, forms: dict[str, Form | None], schema: Schema, threads: int, work: Stages
) -> Frame:
    """The columns of a file, texts read as the schema knows them; what could not be read is noted."""
    cells = ModelCells.of([c for c in schema.columns if c.name in forms], source.conventions)
    targets = {target.name: target.text is not None for target in schema.targets if target.classes is None}
    frame = cells.read(read(source, forms, jobs=threads, as_text=cells.as_text | targets))
    for note in cells.notes(source.path):
        work.note(note)
    return frame


def rows_for_tree(
    model: Path,
    tree: Tree,
    options: Labelled,
    tables: Mapping[str, Path | None],
    work: Stages,
    threads: int = 1,
) -> dict[str, Dataset]:
    """The rows of the tables that are given, by role: train, validation, test; no file has two roles."""
    files = {role: path for role, path in tables.items() if path is not None}
    if list(files.values()).count(PIPE) > 1:
        raise Misuse("the standard input can be read only once; name files for the other rows")
    check_files(model, [RowsOption(f"--{role}", file=str(path)) for role, path in files.items()])
    rows, targets = {}, tree.schema.targets
    for role, path in files.items():
        work.begin("reading", str(path))
        if len(targets) > 1:
            raise Trouble(
                f"{model} predicts {count(len(targets), 'target')} at once; rows are read for trees of one: "
                "fit a tree for each"
            )
        source = open_source(path, options.dialect)
        note_remarks(source, work)
        source.require([targets[0].name], "the tree predicts")
        source.require(tested_columns(tree), "the tree tests")
        roles, judging = Roles(targets[0].name, options.weights), role == "test"
        rows[role] = roles.read_other(source, tree.schema, threads, work, judging=judging)
    return rows


def tested_columns(tree: Tree) -> list[str]:
    """The names of the columns that a tree tests."""
    return [tree.schema.names[column] for column in asked_columns(tree)]
