"""Words for sums of columns: how many there are, which, and their weights as they are printed."""

from __future__ import annotations

from treewright.certifying.decimals import (
    Reader,
    number_bits,
    read_number,
    read_whole,
    whole_bits,
    write_number,
    write_whole,
)
from treewright.tree.oblique import Direction


def sum_bits(direction: Direction, n_columns: int) -> int:
    """The length of what `write_sum` writes.

    >>> sum_bits(Direction((0, 2), (1.0, -0.5)), 4)  # 1 for the number, 4 for the columns, 6 for each weight
    17
    """
    width = (n_columns - 1).bit_length()
    weights = sum(number_bits(weight, signed=True) for weight in direction.weights)
    return whole_bits(len(direction.columns) - 1, 0) + width * len(direction.columns) + weights


def write_sum(direction: Direction, n_columns: int) -> str:
    """A sum of some of so many columns: two at least, in the order in which they are added up."""
    width = (n_columns - 1).bit_length()
    words = [write_whole(len(direction.columns) - 1, 0)]
    words += [f"{column:0{width}b}" for column in direction.columns]
    words += [write_number(weight, signed=True) for weight in direction.weights]
    return "".join(words)


def read_sum(reader: Reader, n_columns: int) -> Direction:
    """The sum that a word writes.

    >>> read_sum(Reader(write_sum(Direction((0, 2), (1.0, -0.5)), 4)), 4)
    Direction(columns=(0, 2), weights=(1.0, -0.5))
    """
    length, width = read_whole(reader, 0) + 1, (n_columns - 1).bit_length()
    columns = [reader.take(width) for _ in range(length)]
    return Direction.of(columns, [read_number(reader, signed=True) for _ in range(length)])
