"""The tables whose best trees are searched, with the losses that are published for them."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
SPAM = "spam"  # shipped with the package; its training rows
REAL, BINARY, MADE, NUMBERS, LARGE = "real-valued", "0/1", "made up", "squared error", "improve"

# The least training errors at depth 2, 3, 4; None is not known.
REAL_OPTIMA = {
    "bank": (82, 19, 0),
    "bidding": (95, 37, 16),
    "fault": (647, 494, None),
    "magic": (2971, 2567, None),
    "page": (200, 125, 91),
    "raisin": (91, 76, None),
    "segment": (786, 208, 76),
    SPAM: (None, None, None),
}
BINARY_OPTIMA = {
    "anneal": (137, 112, 91),
    "australian-credit": (87, 73, 56),
    "breast-wisconsin": (22, 15, 7),
    "german-credit": (267, 236, 204),
    "hepatitis": (16, 10, 3),
    "kr-vs-kp": (418, 198, 144),
    "mushroom": (252, 8, 0),
    "tic-tac-toe": (282, 216, 137),
    "vote": (17, 12, 5),
}
DEEP = ("bank", "bidding", "page", "segment")  # searched to depth 4


@dataclass(frozen=True)
class Task:
    """One table and the depth of its best tree."""

    kind: str
    data: str  # of made-up tables the rows and columns: "30000 x 10"
    depth: int
    optimum: int | None = None  # the published loss
    threads: int = 1

    @property
    def name(self) -> str:
        """What the tables of results call it."""
        threads = f", {self.threads} threads" if self.threads > 1 else ""
        return f"{self.data}, depth {self.depth}{threads}"

    def table(self) -> tuple[Any, Any]:
        """The rows and the targets; the classes are whole numbers."""
        if self.data == SPAM:
            from treewright.datasets import load_spam

            spam = load_spam()
            data, target = spam.data[~spam.is_test], spam.target[~spam.is_test]
            return np.asarray(data, np.float64), np.unique(target, return_inverse=True)[1]
        if self.kind in (REAL, BINARY):
            folder = "continuous" if self.kind == REAL else "binary"
            return _read(SHARED / folder / f"{self.data}.csv.gz")
        return _made(self.kind, *map(int, self.data.split(" x ")))


def tasks() -> Iterator[Task]:
    """All of them, the tables that are here."""
    for depth in (2, 3):
        yield from (_known(REAL, data, depth) for data in REAL_OPTIMA)
    yield from (_known(REAL, data, 4) for data in DEEP)
    for depth in (3, 4):
        yield from (_known(BINARY, data, depth) for data in BINARY_OPTIMA)
    for size in ("30000 x 10", "100000 x 10"):
        yield from (Task(MADE, size, 3, threads=threads) for threads in (1, 2))
    yield Task(NUMBERS, "10000 x 10", 2)
    yield from (Task(LARGE, size, 6) for size in ("15000 x 10", "1000000 x 20"))


def _known(kind: str, data: str, depth: int) -> Task:
    optima = REAL_OPTIMA if kind == REAL else BINARY_OPTIMA
    return Task(kind, data, depth, optima[data][depth - 2])


def is_here(task: Task) -> bool:
    """Whether its table is there; those of the literature are not shipped."""
    return task.data == SPAM or task.kind not in (REAL, BINARY) or SHARED.is_dir()


def _read(path: Path) -> tuple[Any, Any]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        names, *rows = list(csv.reader(file))
    place = names.index("class")
    target = np.unique([row.pop(place) for row in rows], return_inverse=True)[1]
    return np.array(rows, np.float64), target


def _made(kind: str, rows: int, columns: int) -> tuple[Any, Any]:
    from sklearn.datasets import make_classification, make_regression

    if kind == NUMBERS:
        return make_regression(rows, columns, n_informative=columns // 2, noise=10.0, random_state=0)  # type: ignore[no-any-return]
    return make_classification(  # type: ignore[no-any-return]
        rows, columns, n_informative=columns // 2, flip_y=0.05, random_state=0
    )
