"""How many tests and trees there are: the logarithms that bounds on pruning are made of."""

from __future__ import annotations

from math import log, log1p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.schema import Schema

Floats = NDArray[np.float64]


def log_tests(schema: Schema, rows: Any) -> Floats:
    """The logarithm of how many tests `rows` rows can tell apart, at most; of none it is that of one.

    rows − 1 thresholds for each number or time, 2^(k − 1) − 1 subsets for a category of k values.

    >>> from treewright import Column, Schema
    >>> schema = Schema((Column("x"), Column("job", "category", ("clerk", "cook", "pilot"))))
    >>> np.exp(log_tests(schema, [1, 11])).round(9).tolist()
    [3.0, 13.0]
    """
    counts = [len(column.categories) for column in schema.columns if column.kind == "category"]
    subsets = [(n - 1) * log(2) + log1p(-(2.0 ** (1 - n))) for n in counts if n > 1]
    numbers = len(schema.columns) - len(counts)
    with np.errstate(divide="ignore"):
        thresholds = np.log(numbers * np.maximum(np.asarray(rows, np.float64) - 1.0, 0.0))
    both = np.logaddexp(thresholds, np.logaddexp.reduce([-np.inf, *subsets]))
    return np.asarray(np.maximum(both, 0.0))


def log_trees(leaves: Any, log_test: float, log_answers: float) -> Floats:
    """The logarithm of the number of binary trees of so many leaves.

    Catalan(I) shapes of I = leaves − 1 branches, times the tests of each branch and the answers of each leaf.

    >>> np.exp(log_trees([1, 2, 3], log(5), log(2))).round(6).tolist()
    [2.0, 20.0, 400.0]
    """
    from scipy.special import gammaln

    leaf: Floats = np.asarray(leaves, np.float64)
    shapes = gammaln(2 * leaf - 1) - gammaln(leaf + 1) - gammaln(leaf)
    return np.asarray(shapes + (leaf - 1) * log_test + leaf * log_answers)
