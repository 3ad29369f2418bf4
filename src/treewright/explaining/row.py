"""One row for the functions that explain a prediction, from any form that a row may have."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright._suggestions import did_you_mean
from treewright._text import escape, label_text, set_text
from treewright.certifying.held_out import same_statistic
from treewright.encoding import Dataset, encode
from treewright.encoding.kinds import UNSEEN_CODE as UNSEEN
from treewright.encoding.readers import is_a
from treewright.encoding.schema import Column
from treewright.encoding.tables import Table, read_table
from treewright.tree import Tree
from treewright.tree.oblique import Direction, asked_columns


class Cell(NamedTuple):
    """One value of a row."""

    value: Any  # a number, a category, a date as text; None where it is missing
    words: str
    known: bool = True  # to the tree: neither missing nor a category that it has never seen


class Row(NamedTuple):
    """One row, encoded for a tree, and the words of its categories that the tree has never seen."""

    data: Dataset
    unseen: Mapping[str, Any]
    directions: tuple[Direction, ...] = ()
    names: frozenset[str] | None = None  # of the columns that it came with; None: all of them

    def is_unseen(self, position: int) -> bool:
        """Whether the column at a position has a category that the tree has never seen."""
        if position >= self.data.n_columns:
            return False  # a sum
        return _is_unseen(self.data.schema.columns[position], self.data.column(position))

    def cell(self, position: int) -> Cell:
        """The value of the column at a position; after the columns of the table come the sums."""
        if position >= self.data.n_columns:
            return self._sum(self.directions[position - self.data.n_columns])
        column = self.data.schema.columns[position]
        cells = self.data.column(position)
        if _is_unseen(column, cells):
            if column.name not in self.unseen:  # an encoded row does not hold the word
                return Cell(None, "a category never seen before", known=False)
            new = str(self.unseen[column.name])
            return Cell(new, f"{label_text(new)}, never seen before", known=False)
        if column.type.is_missing(cells)[0]:
            return _MISSING
        text = column.type.value_text(column, cells[0])
        if column.type.has_categories:
            return Cell(column.categories[cells[0]], text)
        if not column.type.is_summable:  # a date
            return Cell(text, text)
        if cells.dtype == np.float32:  # 0.1, not the digits of the double that it becomes
            text = str(cells[0]).removesuffix(".0")
        return Cell(float(cells[0]), text)

    def _sum(self, direction: Direction) -> Cell:
        """A sum, with its parts."""
        total = float(direction.values(self.data)[0])
        names = self.data.schema.names
        parts = ", ".join(f"{escape(names[j])} {self.cell(j).words}" for j in direction.columns)
        if np.isnan(total):
            return Cell(None, f"missing ({parts})", known=False)
        text = Column("").threshold_text(float(f"{total:.12g}"))
        return Cell(total, f"{text} ({parts})")


_MISSING = Cell(None, "missing", known=False)


def _is_unseen(column: Column, cells: NDArray[Any]) -> bool:
    return column.type.is_category and bool(cells[0] == UNSEEN)


def one_row(tree: Tree, row: Any) -> Row:
    """A row for a tree, from a dict, a one-row table, a list, a 1-d array, a Series or a Dataset.

    By name only the columns that the tree tests must be there, and what it does not know is left out; without
    names there must be a value for each column.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0], "z": [0.0, 0.0]}, ["a", "b"]))
    >>> one_row(tree, {"x": 1.5}).cell(0).words
    '1.5'
    >>> one_row(tree, {"y": 1.5})
    Traceback (most recent call last):
    ValueError: the row lacks the column 'x', which the tree tests; it has {y}
    """
    if isinstance(row, Dataset):
        tree._check_columns(row)
        _check_alone(row.n_rows)
        return Row(row, {}, tree.directions)
    table = _as_table(row)
    _check_alone(table.n_rows)
    schema = tree.schema
    unnamed = all(name == f"x{i}" for i, name in enumerate(schema.names))
    names = None
    if table.names is None or (unnamed and not set(table.names) & set(schema.names)):
        _check_length(table, tree)
        cells = [_cells(table, position) for position in range(table.n_columns)]
    else:
        place = {name: position for position, name in enumerate(table.names)}
        _check_names(tree, place)
        names = frozenset(place)
        cells = [_cells(table, place[name]) if name in place else [None] for name in schema.names]
    data = encode(dict(zip(schema.names, cells, strict=True)), schema=schema)
    unseen = {
        column.name: np.asarray(cell, object)[0]
        for j, (column, cell) in enumerate(zip(schema.columns, cells, strict=True))
        if _is_unseen(column, data.column(j))
    }
    return Row(data, unseen, tree.directions, names)


def is_one_row(row: Any) -> bool:
    """Whether this is a row by itself, and no table: its values are single ones.

    >>> is_one_row({"x": 1.5}), is_one_row([1, "a"]), is_one_row({"x": [1.5]}), is_one_row([[1, "a"]])
    (True, True, False, False)
    """
    if is_a(row, "pandas", "Series") or (isinstance(row, tuple) and hasattr(row, "_asdict")):
        return True
    if isinstance(row, np.ndarray):
        return row.ndim == 1 and row.dtype.names is None
    values = row.values() if isinstance(row, Mapping) else row if isinstance(row, list | tuple) else ()
    return bool(values) and not any(map(_is_column, values))


def _as_table(row: Any) -> Table:
    """The row as a table; what looks like a single row is one."""
    if is_a(row, "pandas", "Series"):
        row = dict(zip(map(str, row.index), row.tolist(), strict=True))
    elif isinstance(row, tuple) and hasattr(row, "_asdict"):
        row = row._asdict()
    if isinstance(row, Mapping):
        alone = {name: [value] for name, value in row.items() if not _is_column(value)}
        return read_table({**row, **alone})
    if is_one_row(row):
        return read_table(row[np.newaxis] if isinstance(row, np.ndarray) else [row])
    return read_table(row)


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


def _cells(table: Table, position: int) -> Any:
    if table.matrix is None:
        return table.columns[position]
    masked = table.missing is not None and table.missing[0, position]
    return [None] if masked else table.matrix[:, position]


def _check_alone(n_rows: int) -> None:
    if n_rows != 1:
        raise ValueError(f"there are {n_rows} rows; one row is explained at a time")


def _check_length(table: Table, tree: Tree) -> None:
    names = tree.schema.names
    if table.n_columns < len(names):
        raise ValueError(
            f"the row has {table.n_columns} values, but the tree has {len(names)} columns; it lacks "
            f"{names[table.n_columns]!r} and what follows. A dict needs only the columns that the tree tests"
        )
    if table.n_columns > len(names):
        raise ValueError(f"the row has {table.n_columns} values, but the tree has {len(names)} columns")


def _check_names(tree: Tree, place: Mapping[str, int]) -> None:
    """Every column that the tree tests is there."""
    for position in asked_columns(tree):
        name = tree.schema.columns[position].name
        if name in place:
            continue
        hint = name_hint(name, place, "it has")
        raise ValueError(f"the row lacks the column {name!r}, which the tree tests{hint}")


def name_hint(name: str, known: Collection[str], what: str) -> str:
    """The end of a message about a name: the closest known one, or the first ten."""
    return did_you_mean(name, known) or f"; {what} {set_text(tuple(known), 10)}"


def is_training_data(tree: Tree, rows: Dataset) -> bool:
    """Whether these look like the rows that the tree was grown from: every node counts the same."""
    return tree.n_leaves > 1 and same_statistic(tree, rows)
