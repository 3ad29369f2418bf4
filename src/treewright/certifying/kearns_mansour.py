"""Kearns and Mansour's pruning: the penalty of a subtree for its size, and the bound on the excess error.

A node v is pruned when its own error is at most that of its subtree plus α, which depends on the rows m_v
that reach it, the length ℓ of its path and the size s of its subtree; see `penalty`. The theorem bounds the
true error of the pruned tree above that of the best pruning, up to a constant; see `excess`.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from treewright.certifying.binomial import Floats

Form = Literal["boolean", "counted", "vc", "mansour97"]


def penalty(
    rows_here: Any,
    depth: Any,
    nodes: Any,
    *,
    rows: int,
    columns: int,
    delta: float = 0.05,
    c: float = 1.0,
    form: Form = "boolean",
) -> Floats:
    """α = c √((ln|paths| + ln|trees| + ln(m/δ)) / m_v) of subtrees, in theory with a constant c above 1.

    The theorem leaves c open. On each of its rows a subtree is worse than a leaf by -1, 0 or 1, so that
    Hoeffding's inequality takes c = √2, with the form "counted".

    Parameters
    ----------
    rows_here, depth, nodes : array
        The training rows at each node, the tests above it, and the nodes of its subtree (m_v, ℓ, s).
    rows, columns : int
        Of the table (m, d).
    delta, c : float
        The failure probability, and the constant.
    form : {"boolean", "counted", "vc", "mansour97"}
        "boolean": ln|paths| = ℓ ln d and ln|trees| = s ln d, for columns of yes and no. "counted": the exact
        numbers for them, ℓ ln 2d and ln Catalan(I) + I ln d + (I + 1) ln 2 with I inner nodes. "vc": for
        thresholds, each test being worth the dimension of a stump and ln 2m. "mansour97": the rule's
        predecessor, c √(leaves / m_v).

    Examples
    --------
    >>> penalty([3000, 1000, 200, 50], [0, 2, 4, 6], [33, 5, 7, 3], rows=3000, columns=57).round(4).tolist()
    [0.2194, 0.1983, 0.5267, 0.9735]
    """
    here, path, size = (np.asarray(x, np.float64) for x in (rows_here, depth, nodes))
    inner = (size - 1) / 2
    if form == "mansour97":
        return np.asarray(c * np.sqrt((inner + 1) / here))
    if form == "boolean":
        count = (path + size) * np.log(columns)
    elif form == "counted":
        count = path * np.log(2 * columns) + _log_catalan(inner)
        count = count + inner * np.log(columns) + (inner + 1) * np.log(2)
    elif form == "vc":
        count = (path + inner) * stump_dimension(columns) * np.log(2 * rows)
    else:
        raise ValueError(f"form is {form!r}; it must be 'boolean', 'counted', 'vc' or 'mansour97'")
    return np.asarray(c * np.sqrt((count + np.log(rows / delta)) / here))


def excess(nodes: Any, depth: Any, *, rows: int, columns: int, delta: float = 0.05, c: float = 1.0) -> Floats:
    """The quantity of the theorem: (ln(s/δ) + ℓ √(ln d + ln(m/δ))) √(s/m) for the best pruning's s and ℓ.

    The pruned tree's true error lies above the best pruning's by at most a constant times this. The constant
    is not known, so it is no guarantee; it shows how the excess falls with the rows.

    >>> excess(33, 6, rows=3000, columns=57).round(3).item()
    3.122
    """
    size = np.asarray(nodes, np.float64)
    inside = np.log(size / delta) + np.asarray(depth) * np.sqrt(np.log(columns) + np.log(rows / delta))
    return np.asarray(c * inside * np.sqrt(size / rows))


def stump_dimension(columns: int) -> int:
    """The VC dimension of one threshold on one of d real columns: the largest k with C(k, k/2) <= 2d.

    >>> stump_dimension(57), stump_dimension(1)
    (8, 2)
    """
    from math import comb

    k = 1
    while comb(k + 1, (k + 1) // 2) <= 2 * columns:
        k += 1
    return k


def _log_catalan(n: Floats) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(2 * n + 1) - gammaln(n + 1) - gammaln(n + 2))
