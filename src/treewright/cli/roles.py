"""What the columns of a table are there for: target, weight, tests; and what looks wrong about that."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._text import shorten
from treewright.advice import Advice
from treewright.cli.errors import Misuse, Trouble, count, quote
from treewright.cli.forms import Form
from treewright.cli.models import form_of
from treewright.cli.reading import Column, Frame, marked_row
from treewright.cli.sources import Source, check_columns
from treewright.encoding import Dataset, encode_with_advice
from treewright.encoding.schema import Schema
from treewright.encoding.text.recognise import recognise

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
