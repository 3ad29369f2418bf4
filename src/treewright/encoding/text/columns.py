"""A column of texts to be recognised, and one way to read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from treewright.encoding.cells import Array
from treewright.encoding.text import TextFormat, is_missing

RARE = 0.05  # up to this share of the cells may be unreadable, and are missing then
_FEW = 10  # as many different unreadable texts are accepted, or a share RARE of the different texts
HALF = 0.5  # where this share of the cells can be read, it is worth a word


@dataclass(frozen=True)
class Texts:
    """The different texts of a column that are not marks for missing, in the order of their first rows."""

    labels: Sequence[str]
    codes: Sequence[int]  # the positions among all texts of the column
    counts: Sequence[int]
    rows: Sequence[int]  # where each occurs first
    n_cells: int

    @classmethod
    def of(cls, labels: Sequence[str], codes: Array) -> Texts:
        """The texts behind codes; -1 is missing."""
        counts = np.bincount(codes + 1, minlength=len(labels) + 1)[1:]
        first = np.zeros(len(labels) + 1, np.int64)  # the last for -1
        first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # of equal codes the last one stays: row 0
        order = np.argsort(first[:-1], kind="stable")
        order = order[counts[order] > 0]
        kept = [code for code in order.tolist() if not is_missing(labels[code])]
        known: list[int] = counts[np.array(kept, np.int64)].tolist()
        rows: list[int] = first[np.array(kept, np.int64)].tolist()
        return cls([labels[code] for code in kept], kept, known, rows, sum(known))


@dataclass(frozen=True)
class Trouble:
    """Why a column is not read unless it is asked for, with texts as examples by their positions."""

    code: Literal["units", "multipliers", "codes", "date order", "date orders"]
    examples: tuple[int, ...] = ()
    is_worth_a_word: bool = True


@dataclass(frozen=True)
class Reading:
    """One way to read a column, and the values of its texts."""

    format: TextFormat
    values: NDArray[np.float64]  # of each text; NaN where it cannot be read
    trouble: Trouble | None = None
    other: TextFormat | None = None  # another reading of the same texts
    doubtful: int = 0  # a text that both read, each in its way

    @cached_property
    def read(self) -> NDArray[np.bool_]:
        """Which texts can be read."""
        return ~np.isnan(self.values)

    @property
    def unread(self) -> list[int]:
        """The positions of the texts that cannot be read."""
        return [int(place) for place in np.flatnonzero(~self.read)]

    def n_read(self, texts: Texts) -> int:
        """The number of cells that can be read."""
        return int(np.dot(self.read, texts.counts))

    def is_sound(self, texts: Texts) -> bool:
        """Whether nothing speaks against it and only few cells cannot be read."""
        few = len(self.unread) <= max(_FEW, RARE * len(texts.labels))
        return self.trouble is None and few and self.n_read(texts) >= (1 - RARE) * texts.n_cells
