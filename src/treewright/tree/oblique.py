"""Oblique splits: directions, weighted sums of columns that a tree tests like columns."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright._arrays import Array, Flags, Floats
from treewright.encoding.schema import Column, Schema

if TYPE_CHECKING:
    from treewright.encoding import Dataset, Provenance
    from treewright.tree.tree import Tree


_SURELY_SUMMED = np.finfo(np.float32).max  # far from what overflows in double precision


@dataclass(frozen=True)
class Direction:
    """Σ weight · column, summed in this order in double precision; missing where a term is missing.

    >>> Direction((0, 2), (1.0, -0.5)).name(Schema((Column("a"), Column("b"), Column("c"))))
    'a - 0.5 c'
    """

    columns: tuple[int, ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, columns: Iterable[Any], weights: Iterable[Any]) -> Direction:
        """The direction of columns and weights of any numeric types."""
        return cls(tuple(int(column) for column in columns), tuple(float(weight) for weight in weights))

    def name(self, schema: Schema) -> str:
        """The sum as text."""
        text = ""
        for column, weight in zip(self.columns, self.weights, strict=True):
            size = abs(weight)
            part = schema.names[column] if size == 1 else f"{size!r} {schema.names[column]}"
            sign = "-" if weight < 0 else "+"
            text += (f" {sign} " if text else "-" * (weight < 0)) + part
        return text

    def by_name(self, schema: Schema) -> dict[str, float]:
        """The weight of each column."""
        return {schema.names[c]: weight for c, weight in zip(self.columns, self.weights, strict=True)}

    def values(self, data: Dataset) -> Floats:
        """The sum for each row of a table."""
        columns = data.column_arrays
        terms = zip(self.columns, self.weights, strict=True)
        with np.errstate(invalid="ignore", over="ignore"):  # opposite infinities have no sum: missing
            return reduce(operator.add, (weight * columns[j].astype(np.float64) for j, weight in terms))


def provenance(data: Dataset, directions: tuple[Direction, ...]) -> Provenance:
    """The provenance of a tree that tests these directions; the columns of a direction with missing values
    are incomplete.
    """
    if not directions:
        return data.provenance
    rows, incomplete = data.take(data.counted), set(data.incomplete)
    columns = rows.column_arrays
    tested = {j for direction in directions for j in direction.columns}
    has_sums = {j for j in tested if _has_all_sums(columns[j])}
    for direction in directions:
        if not has_sums.issuperset(direction.columns) and np.isnan(direction.values(rows)).any():
            incomplete.update(direction.columns)
    return replace(data.provenance, incomplete=tuple(sorted(incomplete)))


def _has_all_sums(column: Array) -> bool:
    """Whether no value of a column is missing, or so large that a sum with others like it may be.

    The weights of a direction are 1 at most.
    """
    return bool(np.abs(column).max(initial=0.0) < _SURELY_SUMMED)


def tested_columns(schema: Schema, directions: tuple[Direction, ...]) -> tuple[Column, ...]:
    """The columns that a tree's `feature` counts: those of the table, then the directions by their names.

    >>> tested_columns(Schema((Column("a"), Column("b"))), (Direction((0, 1), (1.0, 0.5)),))[2].name
    'a + 0.5 b'
    """
    columns = {column.name: column for column in schema.columns}
    for direction in directions:
        name = direction.name(schema)
        while name in columns:  # a column may have this name, too
            name = f"({name})"
        columns[name] = Column(name)
    return tuple(columns.values())


def extended_columns(data: Dataset, directions: tuple[Direction, ...]) -> Any:
    """The columns of a table, followed by the values of the directions."""
    if not directions:
        return data.columns
    return [*data.column_arrays, *(direction.values(data) for direction in directions)]


def column_at(tree: Tree, data: Dataset, feature: int, rows: Array) -> Array:
    """The values of a tree's `feature`, a column or a direction, in some rows of a table."""
    n_columns = len(tree.schema.columns)
    if feature >= n_columns:
        return tree.directions[feature - n_columns].values(data.take(rows))
    return data.column(feature, rows)


def with_directions(data: Dataset, directions: tuple[Direction, ...]) -> Dataset:
    """A table with the directions as columns of their own."""
    if not directions:
        return data
    schema = replace(data.schema, columns=tested_columns(data.schema, directions))
    return replace(data, schema=schema, columns=tuple(extended_columns(data, directions)))


def asked_columns(tree: Tree, nodes: Flags | None = None) -> list[int]:
    """The columns of the table that predictions may depend on, in order: those of tests, surrogates and
    linear leaves. `nodes` flags the nodes whose tests and linear models count.

    >>> from treewright import encode, grow
    >>> asked_columns(grow(encode({"x": [1.0, 1.0], "z": [2.0, 3.0]}, ["a", "b"])))
    [1]
    """
    counts = np.ones(tree.n_nodes, np.bool_) if nodes is None else nodes
    n_columns, columns = len(tree.schema.columns), set(tree.surrogates.feature.tolist())
    for feature in np.unique(tree.feature[counts & ~tree.is_leaf]).tolist():
        columns |= {feature} if feature < n_columns else set(tree.directions[feature - n_columns].columns)
    if tree.linear is not None:
        for leaf in np.flatnonzero(counts & tree.is_leaf).tolist():
            columns |= {column for column, _ in tree.linear.terms(leaf)}
    return sorted(columns)


def known_complete(tree: Tree) -> bool:
    """Whether the training rows are known to have all values of the columns that the tree uses."""
    incomplete = None if tree.provenance is None else tree.provenance.incomplete
    return incomplete is not None and not set(incomplete) & set(asked_columns(tree))


def asks(tree: Tree, column: int) -> Flags:
    """Whether each node tests a column of the table, alone or in a direction."""
    sums = [len(tree.schema.columns) + i for i, each in enumerate(tree.directions) if column in each.columns]
    return np.isin(tree.feature, [column, *sums])


def by_column(tree: Tree, amount: Array, *, whole: bool = False) -> Floats:
    """An amount of each branch summed by the columns of the table.

    The amount of a direction is divided evenly among its columns, or each gets the `whole` of it.
    """
    n_columns, inner = len(tree.schema.columns), ~tree.is_leaf
    sums = np.bincount(tree.feature[inner], amount[inner], n_columns + len(tree.directions))
    amounts = sums[:n_columns].astype(np.float64)
    for total, direction in zip(sums[n_columns:], tree.directions, strict=True):
        amounts[list(direction.columns)] += total if whole else total / len(direction.columns)
    return amounts


def only_columns(tree: Tree, what: str) -> None:
    """ValueError where a tree tests directions, for callers that support single columns only."""
    if tree.directions:
        name = tree.tested[len(tree.schema.columns)].name
        raise ValueError(f"the tree tests {name!r}, a sum of columns; {what}")
