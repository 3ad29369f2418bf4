"""Bounds on the true error from the training rows alone, as plain functions of numbers.

Every one takes arrays, so that a pruner can weigh thousands of candidates at once, and has the same form:

    bound(errors, rows, *, leaves, bits, columns, classes=2, delta=0.05, whole=True, test_bits=0.0) -> array

errors     what the training rows lose, each within [0, 1]; `whole` where each loses 0 or 1
rows       how many rows there are
leaves     of the tree; it has leaves - 1 splits and 2 leaves - 1 nodes
bits       the length of the tree in a code fixed beforehand (occam, pac_bayes)
columns    of the table: what a split may test
classes    that a leaf may answer (the product over several targets)
test_bits  to be added by mdl, compression and vc, whose own counts of a tree know columns, shape and classes
           but neither the subsets of categories nor directions of missing values (nor, for mdl, thresholds)

The result is at most 1, and holds with probability 1 - delta over the draw of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.certifying.binomial import binomial_upper, hoeffding_upper, kl_upper

Floats = NDArray[np.float64]

LN2 = float(np.log(2.0))


def mdl(
    errors: Any,
    rows: Any,
    *,
    leaves: Any,
    columns: int,
    bits: Any = None,
    classes: int = 2,
    delta: float = 0.05,
    whole: bool = True,
    test_bits: Any = 0.0,
    nats: bool = False,
) -> Floats:
    """The minimum description length bound of Shalev-Shwartz and Ben-David, section 18.1, as it is printed.

    Training error + √(((n + 1) log2(d + 3) + ln(2/δ)) / 2m) for n nodes: d tests, two classes and an end sign
    are d + 3 symbols (d + K + 1 for K classes). The book counts bits where nats would do; `nats` takes them.
    Its tests are the columns themselves, which are yes or no: thresholds have to be paid by `test_bits`.

    >>> mdl(180, 3000, leaves=17, columns=57).round(4).item()
    0.2446
    """
    length = 2 * np.asarray(leaves) * np.log2(columns + classes + 1) + test_bits
    spent = length * (LN2 if nats else 1.0) + np.log(2 / delta)
    return hoeffding_upper(np.asarray(errors) / rows, rows, spent)


def occam(
    errors: Any,
    rows: Any,
    *,
    bits: Any,
    leaves: Any = None,
    columns: Any = None,
    classes: int = 2,
    delta: float = 0.05,
    whole: bool = True,
    test_bits: Any = 0.0,
) -> Floats:
    """Langford's Occam's razor: the exact binomial limit at δ·2^-bits, which all words of a code share.

    Where losses are not 0 or 1 Chernoff's limit takes its place.

    >>> occam(180, 3000, bits=143.33).round(4).item()
    0.1405
    """
    spent = np.asarray(bits) * LN2 - np.log(delta)
    if whole:
        return binomial_upper(errors, rows, spent)
    return kl_upper(np.asarray(errors) / rows, spent / rows)


def occam_hoeffding(
    errors: Any,
    rows: Any,
    *,
    bits: Any,
    leaves: Any = None,
    columns: Any = None,
    classes: int = 2,
    delta: float = 0.05,
    whole: bool = True,
    test_bits: Any = 0.0,
) -> Floats:
    """The same with Hoeffding's limit, the form of most textbooks; never better than `occam`.

    >>> occam_hoeffding(180, 3000, bits=143.33).round(4).item()
    0.1906
    """
    return hoeffding_upper(np.asarray(errors) / rows, rows, np.asarray(bits) * LN2 - np.log(delta))


def pac_bayes(
    errors: Any,
    rows: Any,
    *,
    bits: Any,
    leaves: Any = None,
    columns: Any = None,
    classes: int = 2,
    delta: float = 0.05,
    whole: bool = True,
    test_bits: Any = 0.0,
) -> Floats:
    """The PAC-Bayes-kl bound of the single tree: kl(training error, p) <= (bits ln 2 + ln(2√m/δ)) / m.

    It holds for any losses within [0, 1].

    >>> pac_bayes(180, 3000, bits=143.33).round(3).item()
    0.144
    """
    spent = np.asarray(bits) * LN2 + np.log(2 * np.sqrt(rows) / delta)
    return kl_upper(np.asarray(errors) / rows, spent / rows)


def compression(
    errors: Any,
    rows: Any,
    *,
    leaves: Any,
    columns: int,
    bits: Any = None,
    classes: int = 2,
    delta: float = 0.05,
    whole: bool = True,
    test_bits: Any = 0.0,
    points: int = 2,
) -> Floats:
    """Sample compression: thresholds are named by the training rows next to them, the rest by the code.

    A threshold between two rows is told by `points=2` of them, one at a row's own value by 1. Rows that name
    thresholds do not count as seen; log2(m) bits for each, in order and with repetition.

    >>> compression(180, 3000, leaves=17, columns=57, points=1).round(3).item()
    0.197
    """
    named = points * (np.asarray(leaves) - 1)
    left = np.asarray(rows, np.float64) - named
    spent = (untested_bits(leaves, columns, classes) + test_bits + named * np.log2(rows)) * LN2
    spent = spent - np.log(delta)
    enough = left > np.asarray(errors)
    left, errors = np.where(enough, left, 1.0), np.where(enough, errors, 1.0)
    value = binomial_upper(errors, left, spent) if whole else kl_upper(errors / left, spent / left)
    return np.where(enough, value, 1.0)


def vc(
    errors: Any,
    rows: Any,
    *,
    leaves: Any,
    columns: int,
    bits: Any = None,
    classes: int = 2,
    delta: float = 0.05,
    whole: bool = True,
    test_bits: Any = 0.0,
) -> Floats:
    """Vapnik and Chervonenkis' relative deviation, with the growth function of trees; for losses of 0 or 1.

    R <= R̂ + 2A(1 + √(1 + R̂/A)) with A = (ln Π(2m) + ln(4/δ)) / m. A threshold cuts 2m rows in 2m ways: the
    cut that leaves all rows on one side counts once, since the tree with both children swapped is counted as
    well. Shape, columns and classes are counted in bits, which pays for the choice of the size too.

    >>> vc(180, 3000, leaves=17, columns=57).round(3).item()
    0.436
    """
    if not whole:
        raise ValueError("the vc bound is for rows that are right or wrong; take occam or pac_bayes")
    grown = (untested_bits(leaves, columns, classes) + test_bits) * LN2
    grown = grown + (np.asarray(leaves) - 1) * np.log(2 * np.asarray(rows, np.float64))
    share, a = np.asarray(errors) / rows, (grown + np.log(4 / delta)) / rows
    return np.minimum(share + 2 * a * (1 + np.sqrt(1 + share / a)), 1.0)


def untested_bits(leaves: Any, columns: int, classes: int) -> Any:
    """Shape, columns and classes of a tree: what our code takes apart from thresholds and subsets.

    >>> round(float(untested_bits(17, columns=57, classes=2)), 2)
    143.33
    """
    return 2 * leaves - 1 + (leaves - 1) * np.log2(columns) + leaves * np.log2(classes)


BOUNDS: dict[str, Callable[..., Floats]] = {
    bound.__name__: bound for bound in (occam, pac_bayes, mdl, compression, vc, occam_hoeffding)
}
