"""What held-out rows say of one leaf: a share, a mean or a median, with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright._json import plain
from treewright.certifying.binomial import binomial_lower, binomial_upper

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class HeldOut:
    """Rows that the tree has never seen, of those that come to the same leaf.

    With confidence `1 - delta` the true share, mean or median in the leaf lies from `lower` to `upper`:
    for this leaf by itself. The limits of a share and of a median are exact; those of a mean hold where the
    mean of so many rows is nearly normal.
    """

    what: Literal["share", "mean", "median"]  # of the rows with the answer's class; of their numbers
    rows: int
    value: float | None  # None without rows
    lower: float | None  # None: no limit
    upper: float | None
    delta: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {name: plain(value) for name, value in vars(self).items()}


def share_held_out(hits: int, rows: int, delta: float) -> HeldOut:
    """Clopper and Pearson's interval, half of delta at either end.

    >>> share = share_held_out(9, 10, 0.05)
    >>> round(share.lower, 4), round(share.upper, 4)
    (0.555, 0.9975)
    """
    if not rows:
        return HeldOut("share", 0, None, 0.0, 1.0, delta)
    nats = np.log(2 / delta)
    lower, upper = binomial_lower(hits, rows, nats), binomial_upper(hits, rows, nats)
    return HeldOut("share", rows, hits / rows, float(lower), float(upper), delta)


def mean_held_out(numbers: Floats, delta: float) -> HeldOut:
    """Student's interval of the mean.

    >>> mean = mean_held_out(np.array([1.0, 2.0, 3.0]), 0.05)
    >>> round(mean.lower, 3), round(mean.upper, 3)
    (-0.484, 4.484)
    """
    n = len(numbers)
    value = float(numbers.mean()) if n else None
    if n < 2 or value is None:
        return HeldOut("mean", n, value, None, None, delta)
    from scipy.special import stdtrit

    reach = float(stdtrit(n - 1, 1 - delta / 2) * numbers.std(ddof=1) / np.sqrt(n))
    return HeldOut("mean", n, value, value - reach, value + reach, delta)


def median_held_out(numbers: Floats, delta: float) -> HeldOut:
    """The interval between two of the sorted numbers: at most delta / 2 that the median lies on either side.

    >>> median = median_held_out(np.arange(1.0, 7.0), 0.05)
    >>> median.value, median.lower, median.upper
    (3.5, 1.0, 6.0)
    """
    n = len(numbers)
    value = float(np.median(numbers)) if n else None
    from scipy.special import bdtr

    outside = np.asarray(bdtr(np.arange(n // 2 + 1), max(n, 1), 0.5)) <= delta / 2  # of k + 1 from the end
    if not n or not outside[0]:
        return HeldOut("median", n, value, None, None, delta)
    k = int(np.count_nonzero(outside)) - 1
    ordered = np.sort(numbers)
    return HeldOut("median", n, value, float(ordered[k]), float(ordered[n - 1 - k]), delta)
