"""Cells as the columns of a schema: kinds are found or given, categories are mapped by value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import cast

import numpy as np

from treewright._arrays import Array
from treewright._suggestions import choices_text, closest
from treewright.encoding.cells import Cells, numbers
from treewright.encoding.kinds import KINDS, KindName, natural_kind
from treewright.encoding.schema import Column, Schema
from treewright.encoding.tables import Table
from treewright.encoding.text.cells import Reader, plain_numbers

_MOST_RENAMED, _MOST_COMPARED = 3, 1000  # names in a message, and those that each is compared with
Kinds = Mapping[str, KindName] | Mapping[int, KindName] | Sequence[KindName]


@lru_cache(maxsize=64)
def plain_columns(count: int) -> tuple[Column, ...]:
    """The columns of a matrix of numbers: x0, x1, …"""
    return tuple(Column(f"x{position}") for position in range(count))


def matrix_numbers(table: Table, columns: tuple[Column, ...]) -> Array | None:
    """The matrix behind a table as floats, the same memory if it holds floats; None if there is none."""
    matrix = table.matrix
    if matrix is None or matrix.dtype.kind not in "fiub":
        return None
    try:
        return numbers(matrix, table.missing, "the table")
    except ValueError:  # say it again with the name of the column
        for position, column in enumerate(columns):
            missing = None if table.missing is None else table.missing[:, position]
            numbers(matrix[:, position], missing, f"column {column.name!r}")
        raise


def discover(
    table: Table, kinds: Kinds | None, reader: Reader
) -> tuple[tuple[Column, ...], tuple[Array, ...]]:
    """The columns of a table without a schema, each of the kind that the user names or its cells suggest."""
    names = table.names or tuple(f"x{position}" for position in range(table.n_columns))
    named_kinds = _named_kinds(kinds, names, by_position=table.names is None)
    # A matrix of bools is a matrix of 0 and 1; among columns of several kinds a bool is a category.
    is_truth_matrix = table.matrix is not None and table.matrix.dtype == bool
    columns, arrays = [], []
    for position, (name, kind) in enumerate(zip(names, named_kinds, strict=True)):
        text, cells = reader.recognise(table.cells(position, f"column {name!r}"), name, kind)
        if kind is None:
            kind = cast("KindName", "number" if is_truth_matrix else natural_kind(cells))
        column = Column(name, kind, KINDS[kind].categories(cells, name), text)
        columns.append(column)
        arrays.append(conform_cells(cells, column))
    return tuple(columns), tuple(arrays)


def _named_kinds(kinds: Kinds | None, names: tuple[str, ...], by_position: bool) -> list[KindName | None]:
    """The kind that the user gave to each column, or None."""
    of_columns: list[KindName | None] = [None] * len(names)
    if kinds is None:
        return of_columns
    if isinstance(kinds, str) or not hasattr(kinds, "__len__"):
        raise TypeError(f"kinds must be a dict of columns to kinds, or one kind per column, not {kinds!r}")
    if not isinstance(kinds, Mapping):
        if len(kinds) != len(names):
            raise ValueError(f"kinds has {len(kinds)} entries, but the table has {len(names)} columns")
        kinds = dict(zip(names, kinds, strict=True))
    place = {name: position for position, name in enumerate(names)}
    for key, kind in cast("Mapping[str | int, KindName]", kinds).items():
        if by_position and isinstance(key, int | np.integer) and 0 <= key < len(names):
            position = int(key)
        elif str(key) in place:
            position = place[str(key)]
        else:
            known = choices_text(key, names, in_quotes=True)
            raise ValueError(f"kinds: there is no column {key!r}; the columns are {known}")
        if kind not in KINDS:
            known = choices_text(kind, KINDS)
            raise ValueError(f"kinds: column {key!r} is given the unknown kind {kind!r}; known: {known}")
        of_columns[position] = kind
    return of_columns


def conform(table: Table, schema: Schema, reader: Reader) -> tuple[Array, ...]:
    """The columns of a table as a schema wants them: frames are matched by name, arrays by position.

    Texts are read as those were that the schema comes from.
    """
    arrays = []
    for position, column in zip(_positions(table, schema), schema.columns, strict=True):
        cells = table.cells(position, f"column {column.name!r}")
        if cells.family == "text" and column.text is not None:
            cells = reader.read(cells, column.text, column.name)
        elif cells.family == "text" and column.type.text_kind == "number":
            cells = plain_numbers(cells, column.name, column.kind)
        arrays.append(conform_cells(cells, column))
    return tuple(arrays)


def _positions(table: Table, schema: Schema) -> Sequence[int]:
    """For each column of the schema, its position in the table."""
    names, wanted = table.names, schema.names
    # Columns that were never named (x0, x1, …) can only be meant by position.
    if names is None or (set(names) != set(wanted) and all(name == f"x{i}" for i, name in enumerate(wanted))):
        check_width(table.n_columns, schema.columns)
        return range(len(wanted))
    place = {name: position for position, name in enumerate(names)}
    expected = dict.fromkeys([*wanted, *(target.name for target in schema.targets)])
    lacking = [name for name in wanted if name not in place]
    extra = [name for name in names if name not in expected]
    complaints = [f"lacks the columns {_name_list(lacking)}"] if lacking else []
    if extra:
        complaints.append(f"has columns that were not there before: {_name_list(extra)}")
    if complaints:
        meant = "".join(f"; {question}" for question in renamed_columns(extra, lacking))
        raise ValueError(f"the table {' and '.join(complaints)}; expected are {_name_list(wanted)}{meant}")
    return [place[name] for name in wanted]


def renamed_columns(extra: Sequence[str], lacking: Sequence[str]) -> list[str]:
    """For the first new names of a table: the lacking column that each may stand for.

    >>> renamed_columns(["Age", "zebra"], ["age", "income"])
    ["did you mean 'age' by 'Age'?"]
    """
    pairs = ((name, closest(name, lacking[:_MOST_COMPARED])) for name in extra[:_MOST_RENAMED])
    return [f"did you mean {meant!r} by {name!r}?" for name, meant in pairs if meant is not None]


def check_width(n_columns: int, columns: Sequence[Column]) -> None:
    """ValueError unless a table has as many columns as are expected."""
    if n_columns != len(columns):
        names = _name_list([column.name for column in columns])
        raise ValueError(f"the table has {n_columns} columns, but {len(columns)} are expected: {names}")


def _name_list(names: Sequence[str]) -> str:
    """The first ten names, for an error."""
    first = ", ".join(map(repr, names[:10]))
    return first if len(names) <= 10 else f"{first}, … ({len(names)} in all)"


def conform_cells(cells: Cells, column: Column) -> Array:
    """The cells as the array of a known column; an error where they are of another family."""
    family = column.type.family(column.categories)
    fits = cells.family == family or {cells.family, family} <= {"number", "bool"} or family == "nothing"
    if not fits and not (is_missing := cells.is_missing).all():
        row = int(np.argmin(is_missing))
        value = str(np.datetime64(int(cells.values[row]), "us")) if cells.family == "time" else cells[row]
        raise ValueError(
            f"column {column.name!r} must hold {_PLURAL[family]} (its kind is {column.kind!r}), but "
            f"row {row} is {value!r}, a {cells.family}"
        )
    if not fits and not column.is_category:  # nothing but missing cells
        return column.type.missing_cells(len(cells.values))
    return column.type.encode(cells, column)


_PLURAL = {"number": "numbers", "text": "texts", "bool": "bools", "time": "times (datetime64 or the like)"}
