"""C4.5's pessimistic error: the upper limit of a binomial, as Release 8 computes it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from treewright.pruning.traversal import Floats

# Quinlan's table of normal deviates and the probabilities that they are exceeded; interpolated linearly.
_PROBABILITIES = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
_DEVIATES = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)
_NONE = 1e-6  # fewer errors than this are none
_ONE = 0.9999  # from here on errors count as whole ones


def add_errors(rows: ArrayLike, errors: ArrayLike, confidence: float = 0.25) -> Floats:
    """The errors to add to the training errors of a leaf or rule: C4.5's `AddErrs(N, e)`.

    Of `rows` rows (or weight) it got `errors` wrong; with probability `confidence` it makes more than
    `errors + add_errors(rows, errors, confidence)` errors on as many new rows. It is Quinlan's pessimistic
    estimate rather than a guarantee: the rows are those the tree was grown from.

    - no error: exactly N·(1 − CF^(1/N));
    - less than one (weights): linear between no error and one;
    - all wrong but for half an error: .67·(N − e);
    - else the normal limit with a continuity correction of half an error, its deviate interpolated in a
      table, as in Release 8: .6925 for CF = .25, where the normal distribution has .6745.

    Parameters
    ----------
    rows, errors : array-like
        Rows (or weight) and errors, 0 <= errors <= rows; arrays that broadcast together.
    confidence : float
        CF, above 0 and at most 1; smaller is more pessimistic.

    >>> add_errors([6, 9, 1, 16], [0, 0, 0, 1]).round(4).tolist()
    [1.2378, 1.2848, 0.75, 1.5069]
    """
    if not 0 < confidence <= 1:
        raise ValueError(f"confidence is {confidence!r}; it must be above 0 and at most 1 (C4.5's is 0.25)")
    n, e = np.broadcast_arrays(np.asarray(rows, float), np.asarray(errors, float))
    at_none = _limit_of_none(n, confidence)
    whole = _limit_of_some(n, np.maximum(e, 1.0), confidence)
    return np.asarray(
        np.where(e < _NONE, at_none, np.where(e < _ONE, at_none + e * (whole - at_none), whole)), np.float64
    )


def _limit_of_none(n: Floats, confidence: float) -> Floats:
    """N·(1 − CF^(1/N)): at that error rate none occurs with probability CF; 0 without rows."""
    return np.asarray(-n * np.expm1(np.log(confidence) / np.where(n > 0, n, 1.0)))


def _limit_of_some(n: Floats, e: Floats, confidence: float) -> Floats:
    """The errors to add to one error or more."""
    z2 = float(np.interp(confidence, _PROBABILITIES, _DEVIATES)) ** 2
    half_more = np.minimum(e + 0.5, n)  # where this is n, the other formula holds
    spread = np.sqrt(z2 * (half_more * (1 - half_more / np.where(n > 0, n, 1.0)) + z2 / 4))
    total = n + z2
    share = (half_more + z2 / 2 + spread) / np.where(total > 0, total, 1.0)
    return np.where(e + 0.5 >= n, 0.67 * np.maximum(n - e, 0.0), n * share - e)
