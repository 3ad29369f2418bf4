"""A table as a person has it: a sheet of cells written as text, beside the same table cleaned by hand."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np

EPOCH = datetime(1970, 1, 1)
Write = Callable[[Any], str]


@dataclass
class Sheet:
    """Columns of dirty cells and of clean values, with gaps in the same places."""

    random: np.random.Generator
    rows: int
    cells: dict[str, list[str]] = field(default_factory=dict)
    cleaned: dict[str, Any] = field(default_factory=dict)

    def add(
        self,
        name: str,
        values: Any,
        write: Write = str,
        *,
        gaps: float = 0.0,
        blank: Sequence[str] = ("",),
        clean: Any = None,
    ) -> None:
        """A column, written cell by cell; a share of the cells is blank, in one of several spellings.

        `clean` are the values that one could clean the cells to, where they say less than the truth.
        """
        lost = self.random.random(self.rows) < gaps
        spelling = self.random.choice(np.array(blank, dtype=object), self.rows)
        self.cells[name] = [
            word if gone else write(value) for value, gone, word in zip(values, lost, spelling, strict=True)
        ]
        known = np.asarray(values if clean is None else clean)
        if known.dtype.kind in "OU":
            self.cleaned[name] = np.where(lost, None, known.astype(object))
        else:
            self.cleaned[name] = np.where(lost, np.nan, known.astype(float))

    def junk(self, name: str, texts: Sequence[str]) -> None:
        """A column that one would drop: ids, names, free text."""
        self.cells[name] = list(texts)

    def spell(self, name: str, values: Any, spellings: dict[Any, Sequence[str]], gaps: float = 0.0) -> None:
        """A column whose values are each written in one of several ways."""
        drawn = self.random.random(self.rows)
        words = [
            spellings[value][int(share * len(spellings[value]))]
            for value, share in zip(values, drawn, strict=True)
        ]
        truth = np.array([str(value) for value in values], dtype=object)
        self.add(name, np.array(words, dtype=object), gaps=gaps, clean=truth)

    def pick(self, values: Sequence[Any], shares: Sequence[float] | None = None) -> Any:
        """One of the values for each row."""
        drawn = self.random.choice(len(values), self.rows, p=shares)
        return np.array(list(values), dtype=object)[drawn]

    def skewed(self, k: int, exponent: float = 1.0) -> Any:
        """A code below k for each row, the j-th with a share like 1/j^exponent."""
        shares = 1.0 / np.arange(1, k + 1) ** exponent
        return self.random.choice(k, self.rows, p=shares / shares.sum())

    def days(self, first: datetime, count: int) -> Any:
        """A day for each row, as days since 1970."""
        return (first - EPOCH).days + self.random.integers(count, size=self.rows)

    def classes(self, score: Any) -> Any:
        """True with the logistic chance of the score."""
        return self.random.random(self.rows) < 1.0 / (1.0 + np.exp(-score))


@dataclass(frozen=True)
class Messy:
    """A CSV file with a column to predict, and what a person would clean it to."""

    name: str
    about: str  # the dirt, in a few words
    text: str
    target: str
    answers: Any  # the target column: text for classes, floats for numbers
    cleaned: dict[str, Any]
    separator: str = ","

    @property
    def kind(self) -> str:
        """ "classes" or "numbers"."""
        return "classes" if self.answers.dtype.kind in "OU" else "numbers"

    @property
    def lines(self) -> list[str]:
        """The lines of the file, its head first; no cell has a line break."""
        return self.text.splitlines()


def finished(sheet: Sheet, name: str, about: str, target: str, answers: Any, separator: str = ",") -> Messy:
    """The sheet as a file, the target last."""
    if answers.dtype.kind not in "fOU":
        raise TypeError(f"{name}: the target must be text or floats, not {answers.dtype}")
    texts = [f"{cell:.6g}" if answers.dtype.kind == "f" else str(cell) for cell in answers]
    kept = np.array(texts, dtype=float if answers.dtype.kind == "f" else object)
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    writer.writerow([*sheet.cells, target])
    writer.writerows(zip(*sheet.cells.values(), texts, strict=True))
    return Messy(name, about, out.getvalue(), target, kept, sheet.cleaned, separator)


# ---- how cells are written --------------------------------------------------------------------------


def german(value: float, digits: int = 2) -> str:
    """A number with a decimal comma and dots between thousands.

    >>> german(2379.59)
    '2.379,59'
    """
    return f"{value:,.{digits}f}".translate(str.maketrans(",.", ".,"))


def dollars(value: float) -> str:
    """An amount as shops write it.

    >>> dollars(1234.5)
    '$1,234.50'
    """
    return f"${value:,.2f}"


def dated(form: str) -> Write:
    """Writes days since 1970 as dates.

    >>> dated("%d.%m.%Y")(17435)
    '26.09.2017'
    """
    return lambda day: (EPOCH + timedelta(days=float(day))).strftime(form)


def places(random: np.random.Generator, count: int) -> Any:
    """Names of towns, all different."""
    first = ["Ash", "Birch", "Clay", "Dun", "Elm", "Fair", "Glen", "Har", "Iron", "Kirk", "Lin", "Mill",
             "Nor", "Oak", "Pen", "Rock", "Stan", "Thorn", "Up", "Wal"]  # fmt: skip
    last = ["bury", "by", "dale", "field", "ford", "ham", "hurst", "ley", "mouth", "port", "stead", "ton",
            "wick", "wood", "worth"]  # fmt: skip
    kinds = ["", " Bay", " Heath", " Hill", " Junction", " Lake", " Mills", " Park", " Point", " Springs",
             " Valley", " Village", ", East", ", North", ", South", ", West", " Upper", " Lower"]  # fmt: skip
    every = [f"{a}{b}{c}" for a in first for b in last for c in kinds]
    return random.permutation(np.array(every, dtype=object))[:count]
