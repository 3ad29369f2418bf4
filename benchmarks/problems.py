"""The data of the benchmarks: made by scikit-learn's generators from fixed seeds, or shipped with it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

HELD_OUT = 20_000  # rows made in addition, never learnt from; as many as are predicted, if those are more
CHANCE, WIDE = "chance", "wide"  # sources: no signal at all; few rows of many columns, as in genetics
CATEGORY_COLUMNS = 5  # of a problem with categories, the first ones


@dataclass(frozen=True)
class Problem:
    """One table and the limits of the tree to grow on it."""

    name: str
    rows: int
    columns: int = 20
    classes: int = 2  # 0: the target is a number
    dtype: str = "float32"
    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    distinct: int | None = None  # values per column; None: as many as rows
    missing: float = 0.0  # share of cells without a value
    categories: int = 0  # values of each of the first columns, which are then categories
    weighted: bool = False
    frame: bool = False  # the table is given as a pandas frame, not as an array
    source: str | None = None  # one of scikit-learn's own tables, CHANCE or WIDE
    predicted: int = 0  # rows to predict at once, where predicting is measured
    quick: bool = False

    @property
    def needs(self) -> frozenset[str]:
        """What a library must be able to do for this problem."""
        needs = {
            "numbers": self.classes == 0,
            "many classes": self.classes > 2,
            "max_leaf_nodes": self.max_leaf_nodes is not None,
            "missing values": self.missing > 0,
            "categories": self.categories > 0,
            "pandas frames": self.frame,
            "weights": self.weighted,
            "100 classes": self.classes >= 100,
            "a huge tree": self.rows >= 1_000_000 and self.max_depth is None and self.max_leaf_nodes is None,
        }
        return frozenset(need for need, needed in needs.items() if needed)

    @property
    def input_mb(self) -> float:
        """The size of the table, were it float32: what the memory is compared with."""
        return (self.predicted or self.rows) * self.columns * 4 / 2**20

    def describe(self) -> str:
        """The problem in a few words, for the tables."""
        limit = "to purity"
        if self.max_depth is not None:
            limit = f"max_depth={self.max_depth}"
        if self.max_leaf_nodes is not None:
            limit = f"max_leaf_nodes={self.max_leaf_nodes}, best first"
        predicted = f"; {self.predicted:,} rows predicted" * (self.predicted > 1)
        form = " in a pandas frame" * self.frame
        return f"{self.rows:,} rows x {self.columns} columns of {self.dtype}{form}, {limit}{predicted}"


def file_of(problem: Problem, folder: Path) -> Path:
    """Where the data of a problem is; problems that differ by the limits of the tree share it."""
    limits = {"name": "", "max_depth": None, "max_leaf_nodes": None, "frame": False, "quick": False}
    parts = (str(value).strip("()") for value in asdict(replace(problem, **limits)).values())
    return folder / ("_".join(parts) + ".npz")


def make(problem: Problem, folder: Path) -> Path:
    """Make the data of a problem and keep it in `folder`, so that every library reads the same bytes."""
    path = file_of(problem, folder)
    if not path.exists():
        maker = {None: _made, CHANCE: _drawn, WIDE: _wide}.get(problem.source, _shipped)
        np.savez(path, **maker(problem))
    return path


def _drawn(problem: Problem) -> dict[str, Any]:
    """A target that has nothing to do with the table: the largest trees there are."""
    random = np.random.default_rng(0)
    table = random.normal(size=(problem.rows, problem.columns)).astype(problem.dtype)
    target = (
        random.normal(size=len(table))
        if not problem.classes
        else random.integers(problem.classes, size=len(table))
    )
    return {"train": table, "target": target, "test": table[:0], "test_target": target[:0]}


def _wide(problem: Problem) -> dict[str, Any]:
    """Two classes by the sum of twenty of the columns, with noise."""
    random = np.random.default_rng(0)
    held_out = 2_000 if problem.columns <= 10_000 else 200  # of 100,000 columns they take 160 MB
    table = random.normal(size=(problem.rows + held_out, problem.columns)).astype(problem.dtype)
    target = (table[:, :20].sum(axis=1) + random.normal(size=len(table)) > 0).astype(int)
    learnt, others = slice(problem.rows), slice(problem.rows, None)
    return {
        "train": table[learnt],
        "target": target[learnt],
        "test": table[others],
        "test_target": target[others],
    }


def _shipped(problem: Problem) -> dict[str, Any]:
    from sklearn import datasets

    data = getattr(datasets, f"load_{problem.source}")()
    rows = data.data.astype(problem.dtype)
    return {"train": rows, "target": data.target, "test": rows[:0], "test_target": data.target[:0]}


def _made(problem: Problem) -> dict[str, Any]:
    from sklearn.datasets import make_classification, make_regression

    random = np.random.default_rng(1)
    n, d = problem.rows + max(HELD_OUT, problem.predicted), problem.columns
    if problem.classes:
        table, target = make_classification(
            n,
            d,
            n_informative=d // 2,
            n_redundant=d // 4,
            n_classes=problem.classes,
            flip_y=0.05,
            random_state=0,
        )
    else:
        table, target = make_regression(n, d, n_informative=d // 2, noise=10.0, random_state=0)
        target = target + 100 * np.sin(table[:, 0] * table[:, 1])  # something that a plane cannot say
    table = table.astype(problem.dtype)
    if problem.distinct:
        table = np.clip(np.round(table * problem.distinct / 8), -problem.distinct // 2, problem.distinct // 2)
        table = table.astype(problem.dtype)
    for column in range(CATEGORY_COLUMNS if problem.categories else 0):
        edges = np.quantile(table[:, column], np.linspace(0, 1, problem.categories + 1)[1:-1])
        # The codes are shuffled: their order says nothing, as with names.
        table[:, column] = random.permutation(problem.categories)[np.searchsorted(edges, table[:, column])]
    if problem.missing:
        table[random.random(table.shape) < problem.missing] = np.nan
    made = {
        "train": np.ascontiguousarray(table[: problem.rows]),
        "target": target[: problem.rows],
        "test": np.ascontiguousarray(table[problem.rows :]),
        "test_target": target[problem.rows :],
    }
    if problem.weighted:
        made["weight"] = random.exponential(size=problem.rows)
    return made
