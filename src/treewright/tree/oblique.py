"""Directions: sums of weighted columns that a tree tests as if they were columns of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding.schema import Column, Schema

if TYPE_CHECKING:
    from treewright.encoding import Dataset, Provenance
    from treewright.tree.tree import Tree


@dataclass(frozen=True)
class Direction:
    """Σ weight · column, added up in this order in double precision; missing where a part is.

    >>> Direction((0, 2), (1.0, -0.5)).name(Schema((Column("a"), Column("b"), Column("c"))))
    'a - 0.5 c'
    """

    columns: tuple[int, ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, columns: Iterable[Any], weights: Iterable[Any]) -> Direction:
        """The direction of any numbers, whole ones for the columns."""
        return cls(tuple(int(column) for column in columns), tuple(float(weight) for weight in weights))

    def name(self, schema: Schema) -> str:
        """The sum as people write it."""
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

    def values(self, data: Dataset) -> NDArray[np.float64]:
        """The sum for each row of a table."""
        columns = data.columns.T if isinstance(data.columns, np.ndarray) else data.columns
        total = np.zeros(data.n_rows)
        with np.errstate(invalid="ignore", over="ignore"):  # opposite infinities have no sum: missing
            for position, (column, weight) in enumerate(zip(self.columns, self.weights, strict=True)):
                part = weight * columns[column].astype(np.float64)
                total = total + part if position else part
        return total


def provenance(data: Dataset, directions: tuple[Direction, ...]) -> Provenance:
    """Where the counts of a tree that tests these directions come from; a direction without a value is as
    incomplete as a column.
    """
    if not directions:
        return data.provenance
    counted = data.take(data.counted)
    undefined = {
        column
        for direction in directions
        if np.isnan(direction.values(counted)).any()
        for column in direction.columns
    }
    return replace(data.provenance, incomplete=tuple(sorted({*data.incomplete, *undefined})))


def tested_columns(schema: Schema, directions: tuple[Direction, ...]) -> tuple[Column, ...]:
    """What a tree's `feature` counts: the columns of the table, then the directions by their names.

    >>> tested_columns(Schema((Column("a"), Column("b"))), (Direction((0, 1), (1.0, 0.5)),))[2].name
    'a + 0.5 b'
    """
    columns, taken = list(schema.columns), set(schema.names)
    for direction in directions:
        name = direction.name(schema)
        while name in taken:  # a column may be called so, too
            name = f"({name})"
        taken.add(name)
        columns.append(Column(name))
    return tuple(columns)


def extended_columns(data: Dataset, directions: tuple[Direction, ...]) -> Any:
    """The columns of a table, followed by the values of the directions."""
    if not directions:
        return data.columns
    columns = data.columns.T if isinstance(data.columns, np.ndarray) else data.columns
    return [*columns, *(direction.values(data) for direction in directions)]


def plain_leaves(data: Dataset, directions: tuple[Direction, ...], *routes: Any) -> NDArray[np.int32]:
    """The leaf of each row of a table; `routes` are what `_core.apply` takes after the columns."""
    if not directions:
        return _core.apply(data.columns, *routes)
    pairs = [(np.array(each.columns, np.int32), np.array(each.weights)) for each in directions]
    return _core.apply_sums(data.columns, pairs, *routes)


def column_at(tree: Tree, data: Dataset, feature: int, rows: NDArray[Any]) -> NDArray[Any]:
    """What a tree tests by a `feature`, a column or a sum, for some rows of a table."""
    n_columns = len(tree.schema.columns)
    if feature >= n_columns:
        return tree.directions[feature - n_columns].values(data.take(rows))
    return data.column(feature, rows)


def extended(data: Dataset, directions: tuple[Direction, ...]) -> Dataset:
    """A table with the directions as columns of their own."""
    if not directions:
        return data
    schema = replace(data.schema, columns=tested_columns(data.schema, directions))
    return replace(data, schema=schema, columns=tuple(extended_columns(data, directions)))


def asked_columns(tree: Tree, nodes: NDArray[np.bool_] | None = None) -> list[int]:
    """The columns of the table that an answer may depend on, in order: of tests, alone or in a sum, of what
    stands in for them, and of the formulas of leaves. `nodes` flags those whose tests and formulas count.

    >>> from treewright import encode, grow
    >>> asked_columns(grow(encode({"x": [1.0, 1.0], "z": [2.0, 3.0]}, ["a", "b"])))
    [1]
    """
    counts = np.ones(tree.n_nodes, np.bool_) if nodes is None else nodes
    n_columns, asked = len(tree.schema.columns), set(tree.surrogates.feature.tolist())
    for feature in np.unique(tree.feature[counts & ~tree.is_leaf]).tolist():
        asked |= {feature} if feature < n_columns else set(tree.directions[feature - n_columns].columns)
    if tree.linear is not None:
        for leaf in np.flatnonzero(counts & tree.is_leaf).tolist():
            asked |= {column for column, _ in tree.linear.terms(leaf)}
    return sorted(asked)


def known_complete(tree: Tree) -> bool:
    """Whether it is known that no row that the tree was grown from misses a value that it asks for."""
    known = None if tree.provenance is None else tree.provenance.incomplete
    return known is not None and not set(known) & set(asked_columns(tree))


def asks(tree: Tree, column: int) -> NDArray[np.bool_]:
    """Whether each node asks for a column of the table, alone or in a sum."""
    sums = [len(tree.schema.columns) + i for i, each in enumerate(tree.directions) if column in each.columns]
    return np.isin(tree.feature, [column, *sums])


def by_column(tree: Tree, amount: NDArray[Any], *, whole: bool = False) -> NDArray[np.float64]:
    """An amount of each branch added up by the columns of the table.

    The columns of a sum share what its tests have evenly, or each has the `whole` of it.
    """
    n_columns, inner = len(tree.schema.columns), ~tree.is_leaf
    sums = np.bincount(tree.feature[inner], amount[inner], n_columns + len(tree.directions))
    found = sums[:n_columns].astype(np.float64)
    for total, direction in zip(sums[n_columns:], tree.directions, strict=True):
        found[list(direction.columns)] += total if whole else total / len(direction.columns)
    return found


def only_columns(tree: Tree, what: str) -> None:
    """Raise ValueError where a tree tests sums, for those who know only tests of single columns."""
    if tree.directions:
        name = tree.tested[len(tree.schema.columns)].name
        raise ValueError(f"the tree tests {name!r}, a sum of columns; {what}")
