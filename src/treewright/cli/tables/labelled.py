"""What the columns of a table are there for: target, weight, tests; and what looks wrong about that."""

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
from treewright.cli.options import PIPE, Dialect, Labelled, Learning, kinds_of
from treewright.cli.splits import Wish, check_files
from treewright.cli.tables.cell_types import Form
from treewright.cli.tables.model_columns import ModelCells, form_of
from treewright.cli.tables.reader import Column, Frame, marked_row, read
from treewright.cli.tables.sources import Source, check_columns, open_source
from treewright.encoding import Dataset, encode_with_advice
from treewright.encoding.schema import Column as SchemaColumn
from treewright.encoding.schema import Schema
from treewright.encoding.text.recognise import recognise
from treewright.tree import Tree
from treewright.tree.oblique import asked_columns

MOST_CLASSES = 20  # different whole numbers that are classes; more of them are numbers
FORMS: dict[str, Form] = {"number": "number", "category": "text", "time": "time"}  # to read a kind of column

_PADDED = re.compile(r"[+-]?0\d[\d.]*", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Roles:
    """The columns that the command line names, and what for."""

    target: str
    weights: str | None
    drop: list[str]
    kinds: dict[str, str]
    classes: bool | None

    def forms(self, source: Source, schema: Schema | None = None) -> dict[str, Form | None]:
        """The columns to read and the forms they must have; those of a schema, if there is one already."""
        self._check(source, schema)
        if schema is None:
            wanted: dict[str, Form | None] = dict.fromkeys(n for n in source.names if n not in self.drop)
            wanted.update((name, FORMS[kind]) for name, kind in self.kinds.items())
            if self.classes is False:
                wanted[self.target] = "number"
        else:
            wanted = {column.name: form_of(column) for column in schema.columns}
            labels = schema.targets[0].classes
            are_texts = labels is not None and isinstance(labels[0], str)
            wanted[self.target] = "number" if labels is None else "text" if are_texts else None
        if self.weights is not None:
            wanted[self.weights] = "number"
        if set(wanted) <= {self.target, self.weights}:
            raise Trouble(f"{source.path} has no columns besides the target to predict it from")
        return wanted

    def _check(self, source: Source, schema: Schema | None) -> None:
        """Trouble if a column that is named is not there, or is named for two things."""
        weights = [self.weights] if self.weights is not None else []
        named = [("--target", self.target), *(("--weights", name) for name in weights)]
        if schema is None:
            named += [("--drop", name) for name in self.drop] + [("--kinds", name) for name in self.kinds]
        else:
            named += [("the tree", column.name) for column in schema.columns]
        check_columns(source, named)
        uses = [self.target, *weights, *self.drop]
        twice = [name for name in uses if uses.count(name) > 1]
        twice += [name for name in self.kinds if name in [*weights, *self.drop]]
        if twice:
            raise Misuse(f"column {quote(twice[0])} is named for two things that exclude each other")

    def as_text(self) -> dict[str, bool]:
        """The columns that are read as texts where some cells are not what they are asked to be."""
        kinds = {name: False for name, kind in self.kinds.items() if kind != "category"}
        return kinds | ({self.target: False} if self.classes is not True else {})

    def encoded(
        self, frame: Frame, rows: NDArray[Any] | None, schema: Schema | None = None, *, judging: bool = False
    ) -> tuple[Dataset, list[Advice]]:
        """The rows of a frame with their targets, and how texts were read; `rows` are those to take, None
        takes all.

        Those that only judge may have classes that the schema does not know.
        """
        columns = {name: column if rows is None else column[rows] for name, column in frame.columns.items()}
        target = {self.target: columns.pop(self.target)}
        if judging and schema is not None:
            target[self.target] = _as_classes(target[self.target], schema.targets[0].classes or ())
        weight = None if self.weights is None else columns.pop(self.weights)
        kinds: dict[str, Any] = {name: kind for name, kind in self.kinds.items() if name in columns}
        said = {} if schema is not None else frame.conventions.arguments([*columns, self.target])
        try:
            data, advice = encode_with_advice(
                columns,
                target,
                weight=weight,
                kinds=None if schema is not None else kinds,
                schema=schema,
                classes=self._are_classes(frame, target[self.target]) if schema is None else None,
                judging=judging,
                place=marked_row,
                **said,
            )
        except (ValueError, TypeError) as error:
            raise frame.located(error, rows) from error
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
        """Whether the target is classes: as said, or by its form and how many different values it has."""
        if self.classes is None and self.target in self.kinds:
            return self.kinds[self.target] == "category"
        form = frame.forms[self.target]
        if self.classes is not None or form not in ("integer", "text"):
            return self.classes
        different = set(target.tolist())
        if len(different) <= MOST_CLASSES or form == "integer":
            return len(different) <= MOST_CLASSES
        return False if _are_numbers(target, frame.conventions.marks(self.target)) else None

    def hints(self, frame: Frame, problem: Dataset) -> Iterator[str]:
        """What may not be meant as it was taken, with the option that changes it."""
        target = problem.schema.targets[0]
        if self.classes is None and self.target not in self.kinds and frame.forms[self.target] == "integer":
            kind, other = ("numbers", "--classes") if target.classes is None else ("classes", "--numbers")
            if target.classes is None or len(target.classes) > 2:
                yield f"the whole numbers of {quote(self.target)} are taken for {kind}; {other} changes that"
        if target.classes is not None and len(target.classes) == 1:
            only = shorten(str(target.classes[0]))
            yield f"all rows have the same {quote(self.target)}, {only!r}: the tree is a single leaf"
        for column in problem.schema.columns:
            name, called = column.name, quote(column.name)
            if _are_padded(column.categories) and name not in self.kinds:
                yield (
                    f"column {called} has leading zeros, so it is taken for categories; "
                    f"--kinds {shlex.quote(f'{name}=number')} takes it for numbers"
                )


def _are_numbers(texts: Column, marks: tuple[str | None, str | None]) -> bool:
    """Whether all texts of a target are numbers, with currencies and the like."""
    labels = sorted(set(texts.tolist()))
    codes = {label: code for code, label in enumerate(labels)}
    cells = np.array([codes[text] for text in texts.tolist()])
    found = recognise(labels, cells, name="", decimal=marks[0], thousands=marks[1])
    return found.format is not None and found.format.kind == "number" and not found.n_unread


def _are_padded(categories: tuple[Any, ...]) -> bool:
    """Whether categories are all digits, some behind a zero."""
    texts = [category for category in categories if isinstance(category, str)]
    return any(map(_PADDED.fullmatch, texts)) and all(map(_NUMBER.fullmatch, texts))


def rows_with_target(frame: Frame, target: str, drop: bool) -> NDArray[Any] | None:
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
    """Labels as numbers, where one that is none has made texts of classes that are whole numbers or bools: it
    becomes a number that is no class.

    >>> _as_classes(np.array(["1", "new"], object), (1, 2)).tolist()
    [1, 3]
    """
    is_text = labels.dtype.kind in "OUT" and any(isinstance(label, str) for label in labels.tolist())
    if not is_text or not classes or isinstance(classes[0], str):
        return labels
    known = {str(label).lower(): int(label) for label in classes}
    return np.array([known.get(str(label).lower(), max(known.values()) + 1) for label in labels.tolist()])


def note_remarks(source: Source, work: Stages) -> None:
    """Say how a file is read, where that is worth knowing."""
    for remark in source.remarks:
        work.note(remark)


def note_reading(source: Source, work: Stages) -> None:
    """The same of a table to learn from, and that the names of its columns may be none."""
    note_remarks(source, work)
    if source.doubt is not None:
        work.note(f"{source.path}: {source.doubt}; --header insists that they are names")


@dataclass(frozen=True)
class Reading:
    """A table and what its columns are for."""

    path: Path
    roles: Roles
    dialect: Dialect
    drop_missing_target: bool
    advice: list[Advice] = field(default_factory=list)  # how texts of the table were read

    @staticmethod
    def of(path: Path, given: Learning) -> Reading:
        """As the options say."""
        roles = Roles(given.target, given.weights, given.drop or [], kinds_of(given.kinds), given.classes)
        return Reading(path, roles, given.dialect, given.drop_missing_target)

    def open(self, path: str | Path) -> Source:
        """The table, or another one that is written alike."""
        return open_source(path, self.dialect)

    def frame(self, source: Source, threads: int, work: Stages) -> Frame:
        """The columns of the table."""
        forms = self.roles.forms(source)
        note_reading(source, work)
        return read(source, forms, jobs=threads, as_text=self.roles.as_text())

    def encoded(
        self, frame: Frame, work: Stages, schema: Schema | None = None, *, judging: bool = False
    ) -> Dataset:
        """The rows of a frame that have a target; how texts were read is kept, or noted of another table."""
        rows = rows_with_target(frame, self.roles.target, self.drop_missing_target)
        data, advice = self.roles.encoded(frame, rows, schema, judging=judging)
        if schema is None:
            self.advice.extend(advice)
        else:
            for each in advice:
                work.note(each.command_text)
        return data

    def other(
        self, source: Source, data: Dataset, threads: int, work: Stages, *, judging: bool = False
    ) -> Dataset:
        """The rows of another file, in the schema of the table."""
        note_remarks(source, work)
        forms = self.roles.forms(source, data.schema)
        frame = read_for_model(source, forms, data.schema, threads, work)
        return self.encoded(frame, work, data.schema, judging=judging)


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


@dataclass(frozen=True)
class Labelling:
    """How tables of rows with targets are read for a tree."""

    model: Path
    tree: Tree
    options: Labelled
    threads: int = 1

    def parts(self, files: Mapping[str, Path | None], work: Stages) -> dict[str, Dataset]:
        """The rows of each file that is given, by option; no file has two roles."""
        named = {option: path for option, path in files.items() if path is not None}
        if len([path for path in named.values() if path == PIPE]) > 1:
            raise Misuse("the standard input can be read only once; name files for the other rows")
        check_files(self.model, [Wish(option, file=str(path)) for option, path in named.items()])
        return {option: self._rows(path, work, option == "--test") for option, path in named.items()}

    def _rows(self, path: Path, work: Stages, judging: bool) -> Dataset:
        work.begin("reading", str(path))
        schema = self.tree.schema
        if len(schema.targets) > 1:
            raise Trouble(
                f"{self.model} predicts {count(len(schema.targets), 'target')} at once; rows are read for "
                "trees of one: fit a tree for each"
            )
        roles = Roles(schema.targets[0].name, self.options.weights, [], {}, None)
        source = open_source(path, self.options.dialect)
        note_remarks(source, work)
        self._check(source)
        there = Schema(tuple(c for c in schema.columns if c.name in source.names), schema.targets)
        frame = read_for_model(source, roles.forms(source, there), there, self.threads, work)
        columns = {c.name: _unknown(c, frame.n_rows) for c in schema.columns} | frame.columns
        rows = rows_with_target(frame, roles.target, drop=False)
        data, advice = roles.encoded(replace(frame, columns=columns), rows, schema, judging=judging)
        for each in advice:
            work.note(each.command_text)
        return data

    def _check(self, source: Source) -> None:
        """Trouble if a column that the tree predicts or tests is not there; others may be absent."""
        tree, names = self.tree, self.tree.schema.names
        tested = [(names[column], "tests") for column in asked_columns(tree)]
        for name, use in [(tree.schema.targets[0].name, "predicts"), *tested]:
            if name not in source.names:
                raise Trouble(
                    f"{source.path} has no column {name!r}, which the tree {use}; {source.hint(name)}"
                )


def _unknown(column: SchemaColumn, n_rows: int) -> Any:
    """The cells of a column that a table does not have."""
    if column.kind == "category":
        return np.full(n_rows, None)
    return np.full(n_rows, np.nan if column.kind == "number" else np.datetime64("NaT", "us"))
