"""Directions: sums of weighted columns that a tree tests as if they were columns of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.schema import Column, Schema

if TYPE_CHECKING:
    from treewright.encoding import Dataset


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


def tested_columns(schema: Schema, directions: tuple[Direction, ...]) -> tuple[Column, ...]:
    """What a tree's `feature` counts: the columns of the table, then the directions by their names."""
    return (*schema.columns, *(Column(direction.name(schema)) for direction in directions))


def extended_columns(data: Dataset, directions: tuple[Direction, ...]) -> Any:
    """The columns of a table, followed by the values of the directions."""
    if not directions:
        return data.columns
    columns = data.columns.T if isinstance(data.columns, np.ndarray) else data.columns
    return [*columns, *(direction.values(data) for direction in directions)]
