"""Tests of independence: how likely chance alone makes a table, or a column and a target, so unequal.

Weights count as so many rows. The tests of a column and a target are those of Strasser and Weber (1999), as
Hothorn, Hornik and Zeileis (2006) use them: all orders of the targets are as likely. The statistic is the
quadratic form of Σ g(x) h(y) about its mean, where g and h are the number itself or one indicator for each
category or class; by the central limit theorem it has a χ² distribution. For each pair of kinds it is (n - 1)
times a share of variation that is explained:

    number and number       the squared correlation          1 degree of freedom
    number and classes      between the classes, of all      classes - 1
    category and number     between the categories, of all   categories - 1
    category and classes    Pearson's χ² / n                 (categories - 1) (classes - 1)
"""

from __future__ import annotations

from math import frexp, ldexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_SMALLEST = 1e-290  # p-values below this are found by their logarithm
_FRACTIONS = 300  # terms of a continued fraction, which has converged long before


def two_samples(left: Floats, right: Floats) -> Floats:
    """The p-value of Pearson's test for each pair of rows of class weights; 1 where all is of one class, or
    on one side.
    """
    from scipy.special import chdtrc

    both = left + right
    total = both.sum(axis=1)
    on_left, on_right = left.sum(axis=1), right.sum(axis=1)
    # Of each class the left side is expected to have its share, and what it has more the right side has less:
    # Σ (O − E)² (1/E_left + 1/E_right), where 1/E_left + 1/E_right = total² / (class · left · right).
    surplus = left - both * (on_left / total)[:, np.newaxis]
    per_class = np.divide(surplus**2, both, out=np.zeros_like(both), where=both > 0)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        statistic = per_class.sum(axis=1) * (total / on_left) * (total / on_right)
    freedom = (both > 0).sum(axis=1) - 1
    is_told = (freedom > 0) & (on_left > 0) & (on_right > 0)
    return np.where(is_told, chdtrc(np.maximum(freedom, 1), statistic), 1.0)


def pearson(table: Floats) -> tuple[float, int]:
    """Pearson's χ² of a table of weights and its degrees of freedom; lines without weight do not count.

    >>> pearson(np.array([[10.0, 20.0, 0.0], [30.0, 5.0, 0.0], [0.0, 0.0, 0.0]]))
    (18.726190476190474, 1)
    """
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    if min(table.shape) < 2:
        return 0.0, 0
    table, order = _near_one(table)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    statistic = float(np.ldexp(((table - expected) ** 2 / expected).sum(), order))
    return statistic, (table.shape[0] - 1) * (table.shape[1] - 1)


def log_chance(statistic: float, freedom: int) -> float:
    """The logarithm of the probability that a χ² with so many degrees of freedom is larger; 0 without any.

    >>> round(float(np.exp(log_chance(19.345, 1))), 8), round(log_chance(20000.0, 3), 3)
    (1.091e-05, -9995.274)
    """
    if freedom <= 0:
        return 0.0
    from scipy.special import chdtrc, gammaln

    p = float(chdtrc(freedom, statistic))
    if p > _SMALLEST:
        return float(np.log(p))
    # Lentz's continued fraction of the upper incomplete gamma function, which x > a + 1 lets converge
    a, x = freedom / 2, statistic / 2
    b = x + 1 - a
    c, d = 1e300, 1 / b
    h = d
    for i in range(1, _FRACTIONS):
        step = -i * (i - a)
        b += 2
        d, c = 1 / (step * d + b), b + step / c
        h *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return float(a * np.log(x) - x - gammaln(a) + np.log(h))


def association(x: NDArray[Any], y: NDArray[Any], weight: Floats, n_classes: int) -> tuple[float, int]:
    """The statistic of a column and a target and its degrees of freedom.

    Parameters
    ----------
    x : array
        Numbers, NaN where missing; or codes of categories (of an integer type), negative where missing. Rows
        without a value are left out.
    y : array
        Numbers, or codes of classes where `n_classes` is not 0.
    weight : array
        How many rows each one counts for.
    n_classes : int
        How many classes there are; 0 for numbers.

    Examples
    --------
    >>> x, y, weight = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 0, 1, 1]), np.ones(4)
    >>> statistic, freedom = association(x, y, weight, 2)
    >>> round(statistic, 4), freedom
    (2.4, 1)
    """
    is_category = x.dtype.kind == "i"
    known = (x >= 0) if is_category else ~np.isnan(x)
    if not known.all():
        x, y, weight = x[known], y[known], weight[known]
    total = float(weight.sum())
    if total <= 1:
        return 0.0, 0
    if is_category and n_classes:
        n = int(x.max(initial=0)) + 1
        table = np.bincount(x.astype(np.int64) * n_classes + y, weight, n * n_classes).reshape(n, n_classes)
        statistic, freedom = pearson(table.astype(np.float64))
        order = frexp(total)[1]  # their product would overflow where weights are huge
        return statistic * ldexp(total - 1, -order) / ldexp(total, -order), freedom
    weight, _ = _near_one(weight)
    if is_category:
        share, freedom = _between(_scaled(y), x, weight)
    elif n_classes:
        share, freedom = _between(_scaled(x), y, weight)
    else:
        share, freedom = _correlation(_scaled(x), _scaled(y), weight)
    return share * (total - 1), freedom


def _near_one(weight: Floats) -> tuple[Floats, int]:
    """Weights divided by a power of two, so that no square overflows, and that power."""
    order = int(np.frexp(weight.max(initial=0.0))[1])
    return np.ldexp(weight, -order), order


def _scaled(numbers: NDArray[Any]) -> Floats:
    """Numbers between -1 and 1, so that no square overflows; an infinite one counts as the last finite."""
    values = np.asarray(numbers, np.float64)
    finite = values[np.isfinite(values)]
    if not finite.size:
        return np.sign(values)
    values = np.clip(values, finite.min(), finite.max())
    return np.asarray(values / (np.abs(finite).max() or 1.0))


def _between(numbers: Floats, group: NDArray[Any], weight: Floats) -> tuple[float, int]:
    """The share of the variation of numbers that lies between groups, and how many groups there are but 1."""
    count = np.bincount(group, weight)
    present = int(np.count_nonzero(count))
    centred = numbers - float(weight @ numbers) / float(weight.sum())
    whole = float(weight @ centred**2)
    if present < 2 or not whole > _rounding(numbers, weight):
        return 0.0, 0
    sums = np.bincount(group, weight * centred)
    explained = np.divide(sums**2, count, out=np.zeros_like(sums), where=count > 0).sum()
    return min(float(explained) / whole, 1.0), present - 1


def _correlation(x: Floats, y: Floats, weight: Floats) -> tuple[float, int]:
    """The squared correlation, and one degree of freedom unless one of the two does not vary."""
    total = float(weight.sum())
    a, b = x - float(weight @ x) / total, y - float(weight @ y) / total
    in_x, in_y = float(weight @ a**2), float(weight @ b**2)
    if not (in_x > _rounding(x, weight) and in_y > _rounding(y, weight)):
        return 0.0, 0
    return min(float(weight @ (a * b)) ** 2 / in_x / in_y, 1.0), 1


def _rounding(numbers: Floats, weight: Floats) -> float:
    """The variation that equal numbers seem to have."""
    return float(weight.sum()) * float(np.abs(numbers).max(initial=0.0)) ** 2 * 1e-28
