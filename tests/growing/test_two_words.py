"""Sums of two words find the split that exact rational arithmetic finds."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from tests.checks import same_structure
from tests.growing.test_multiset import target, weights
from tests.strategies import Array, table_of
from treewright.growing import grow

WORD_ROWS = 64


def exact_risk(y: list[Fraction], w: list[Fraction], *, of_classes: bool) -> Fraction:
    """Gini and squared error, times the weight."""
    total = sum(w, Fraction(0))
    if not total:
        return total
    if of_classes:
        by_class: dict[Fraction, Fraction] = {}
        for label, weight in zip(y, w, strict=True):
            by_class[label] = by_class.get(label, Fraction(0)) + weight
        return total - sum(each * each for each in by_class.values()) / total
    s = sum((a * b for a, b in zip(y, w, strict=True)), Fraction(0))
    return sum((a * a * b for a, b in zip(y, w, strict=True)), Fraction(0)) - s * s / total


def sides(x: Array, *, is_category: bool) -> list[Array]:
    """All ways to send rows left by a column, with missing rows on either side."""
    is_missing = x < 0 if is_category else np.isnan(x)
    values = np.unique(x[~is_missing])
    if is_category:
        known = [np.isin(x, some) for k in range(1, len(values) + 1) for some in combinations(values, k)]
    else:
        known = [x <= value for value in values]
    return [left | way for left in known for way in (np.zeros_like(is_missing), is_missing)]


def exact_gains(columns: list[Array], y: Array, w: Array, *, of_classes: bool) -> list[list[float]]:
    """The gains of all cuts of each column; the last column is one of categories."""
    numbers, weight = [Fraction(float(each)) for each in y], [Fraction(float(each)) for each in w]
    whole = exact_risk(numbers, weight, of_classes=of_classes)
    gains: list[list[float]] = []
    for i, x in enumerate(columns):
        gains.append([])
        for left in sides(x, is_category=i + 1 == len(columns)):
            if left.all() or not left.any():
                continue
            rest = whole
            for side in (left, ~left):
                rows = np.flatnonzero(side)
                rest -= exact_risk(
                    [numbers[r] for r in rows], [weight[r] for r in rows], of_classes=of_classes
                )
            gains[i].append(float(rest))
    return gains


@pytest.mark.parametrize("weight", ["none", "counts", "real", "decades"])
@pytest.mark.parametrize(
    ("criterion", "kind"),
    [
        ("gini", "plain"),
        ("gini", "few"),
        ("squared_error", "plain"),
        ("squared_error", "offset"),
        ("squared_error", "outliers"),
    ],
)
def test_the_split_of_exact_arithmetic(criterion: str, kind: str, weight: str) -> None:
    """Two and three classes, numbers with outliers of 1e15, weights over twelve decades, missing values."""
    random = np.random.default_rng(5)
    n = 150
    signal = random.normal(size=n)
    x = np.round(signal + random.normal(size=n), 1)
    x[random.random(n) < 0.1] = np.nan
    codes = np.clip(np.round(signal + random.normal(size=n)) + 1, -1, 2).astype(np.int32)
    y, w = target(random, criterion, signal, kind), weights(random, n, weight)
    columns = [x, codes]
    table = table_of(columns, y, kinds=["number", "category"], weight=w)
    options = {"criterion": criterion, "max_depth": 1, "category_gain": "plain"}
    tree = grow(table.dataset(), _word_rows=WORD_ROWS, _small_rows=2, **options)
    gains = exact_gains(columns, y, np.ones(n) if w is None else w, of_classes=criterion == "gini")
    best = max(max(each) for each in gains)
    assert tree.gain[0] == pytest.approx(best, rel=1e-9)
    assert max(gains[tree.feature[0]]) == pytest.approx(best, rel=1e-9)
    same_structure(tree, grow(table.dataset(), _small_rows=10**6, **options))
