"""Random tiny tables for the search of the best tree, as the package and as the oracle take them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.optimising.oracle import Oracle
from treewright import encode
from treewright.encoding import Dataset

NAMES = "pqrst"


@dataclass(frozen=True, eq=False)
class TinyTable:
    """Columns with gaps, targets, weights, and the limits of a search."""

    columns: list[list[Any]]
    kinds: list[str]
    targets: list[Any]
    weights: list[float] | None
    limits: dict[str, Any]

    @property
    def predicts_numbers(self) -> bool:
        return isinstance(self.targets[0], float)

    @property
    def data(self) -> Dataset:
        table = {
            f"x{j}": [None if v is None else (NAMES[v] if kind == "category" else v) for v in column]
            for j, (column, kind) in enumerate(zip(self.columns, self.kinds, strict=True))
        }
        kinds = {f"x{j}": kind for j, kind in enumerate(self.kinds)}
        weights = None if self.weights is None else np.array(self.weights)
        return encode(table, self.targets, weight=weights, kinds=kinds, classes=not self.predicts_numbers)

    def oracle(self, **changes: Any) -> Oracle:
        """The oracle of the same problem."""
        classes = sorted(set(self.targets))
        targets = self.targets if self.predicts_numbers else [classes.index(y) for y in self.targets]
        limits = {
            "min_rows": self.limits.get("min_samples_leaf", 1),
            "categories": self.limits.get("categories", "single"),
            "costs": self.limits.get("costs"),
        }
        oracle = Oracle(
            self.columns, self.kinds, targets, self.weights, numbers=self.predicts_numbers, **limits | changes
        )
        if penalty := self.limits.get("leaf_penalty"):
            assert not self.predicts_numbers
            total = sum((oracle.weight(i) for i in oracle.rows), Fraction(0))
            oracle.price = Fraction(repr(float(penalty))) * total
        return oracle

    def take(self, rows: list[int]) -> TinyTable:
        """Some of the rows, in this order."""
        weights = None if self.weights is None else [self.weights[i] for i in rows]
        columns = [[column[i] for i in rows] for column in self.columns]
        return TinyTable(columns, self.kinds, [self.targets[i] for i in rows], weights, self.limits)


@st.composite
def tiny_tables(
    draw: st.DrawFn, *, numbers: bool = False, most_rows: int = 16, with_limits: bool = True
) -> TinyTable:
    """Tables of up to three columns with ties, gaps, weights, and limits of all kinds."""
    n = draw(st.integers(1, most_rows))
    kinds = draw(st.lists(st.sampled_from(["number", "number", "category"]), min_size=1, max_size=3))
    columns = [_column(draw, n, kind) for kind in kinds]
    n_classes = draw(st.integers(1, 4))
    target = st.sampled_from([-1.5, 0.0, 0.25, 2.0, 7.0]) if numbers else st.integers(0, n_classes - 1)
    targets = draw(st.lists(target, min_size=n, max_size=n))
    targets = targets if numbers else [f"c{y}" for y in targets]
    weights = None
    if draw(st.booleans()):
        pool = draw(st.sampled_from([[0.0, 1.0, 2.0, 3.0], [0.1, 0.7, 1.3], [0.5, 2.25]]))
        weights = draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n))
        weights[0] = pool[-1]
    limits = (
        _limits(draw, len(set(targets)), numbers) if with_limits else {"max_depth": draw(st.integers(0, 3))}
    )
    return TinyTable(columns, kinds, targets, weights, limits)


def _column(draw: st.DrawFn, n: int, kind: str) -> list[Any]:
    n_values = draw(st.integers(1, 4 if kind == "category" else 7))
    values = st.integers(0, n_values - 1)
    if draw(st.integers(0, 2)) == 0:
        values = st.one_of(values, values, st.none())
    column = draw(st.lists(values, min_size=n, max_size=n))
    return column if kind == "category" else [None if v is None else v * 1.5 - 2 for v in column]


def _limits(draw: st.DrawFn, n_classes: int, numbers: bool) -> dict[str, Any]:
    limits: dict[str, Any] = {"max_depth": draw(st.integers(0, 3))}
    if draw(st.booleans()):
        limits["max_leaf_nodes"] = draw(st.integers(1, 8))
    if draw(st.integers(0, 2)) == 0:
        limits["min_samples_leaf"] = draw(st.integers(1, 5))
    if draw(st.integers(0, 2)) == 0:
        limits["categories"] = "subset"
    if not numbers and draw(st.integers(0, 2)) == 0:
        limits["leaf_penalty"] = draw(st.sampled_from([0.01, 0.05, 0.125]))
    if not numbers and n_classes > 1 and draw(st.integers(0, 2)) == 0:
        cost = st.sampled_from([0.0, 0.5, 1.0, 2.5, 10.0])
        costs = [[draw(cost) for _ in range(n_classes)] for _ in range(n_classes)]
        for i in range(n_classes):
            costs[i][i] = 0.0
        costs[0][1] = 1.0
        limits["costs"] = costs
    return limits
