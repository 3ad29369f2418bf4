"""The zero norm: linear machines whose weights vanish one after the other, by rescaling the columns.

min ‖w‖₀ so that y (w·x + b) ≥ 1 counts the columns that a separator needs; to find it exactly is hard.
Weston, Elisseeff, Schölkopf and Tipping (2003), "Use of the zero-norm with linear models and kernel methods",
lower Σ ln(ε + |w|) instead, step by step: solve an ordinary machine on the columns times z, multiply z by
|w|, again. What has a small weight gets a smaller scale, which makes its weight smaller still. Where the
scales stand still, the penalty of the machine, Σ (w/z)² / 2, is 1/2 for each column that is left: it counts
them. It is a local search, and may stand still at more columns than are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.ensembles.side_by_side import Listener
from treewright.growing import non_negative, whole_number

Floats = NDArray[np.float64]
Solver = Callable[[Floats], Floats]  # the weights, (columns,) or (machines, columns), of rows × columns


@dataclass(frozen=True, eq=False)
class ZeroNorm:
    """What is left of the scales of the columns."""

    scale: Floats  # z, 0 where a column is gone
    kept: NDArray[np.int64]  # positions of the chosen columns
    history: tuple[int, ...] = field(repr=False)  # how many columns had a scale, at first and after each step
    converged: bool = False

    @property
    def n_iterations(self) -> int:
        """How many machines were trained."""
        return len(self.history) - 1


def zero_norm(
    matrix: Floats,
    solve: Solver,
    *,
    n_columns: int | None = None,
    threshold: float = 1e-4,
    max_iter: int = 100,
    tol: float = 1e-3,
    progress: Listener | None = None,
) -> ZeroNorm:
    """Rescale columns by the weights of linear machines until few are left or nothing changes.

    Parameters
    ----------
    matrix : array of shape (rows, columns)
        Numbers, finite, of comparable spread (standardise them first: a small unit makes a large weight).
    solve : callable
        Trains a machine on a matrix with some of the columns, rescaled, and returns its weights; those of
        several machines (of one class against the others) are added up by their sizes.
    n_columns : int, optional
        End as soon as no more than so many are left, and keep the so many that had the largest scales.
    threshold : float
        A column is gone when its scale is below this share of the largest one.
    max_iter : int
        The most machines.
    tol : float
        End when no scale changes by more than this share of the largest one.
    progress : callable, optional
        Told the share of `max_iter` that is done; what it raises ends the work.

    Returns
    -------
    ZeroNorm

    Examples
    --------
    Least squares in place of a machine finds the one column that says all:

    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(50, 4))
    >>> found = zero_norm(x, lambda part: np.linalg.lstsq(part, x[:, 2], rcond=None)[0])
    >>> found.kept.tolist(), found.converged
    ([2], True)
    """
    total = matrix.shape[1]
    if n_columns is not None and whole_number("n_columns", n_columns, 1) > total:
        raise ValueError(f"n_columns is {n_columns}, but there are {total} columns")
    least, change = non_negative("threshold", threshold), non_negative("tol", tol)
    most = whole_number("max_iter", max_iter, 1)
    scale, history, converged = np.ones(total), [total], False
    for step in range(most):
        if progress is not None:
            progress(step / most)
        before, scale = scale, _rescaled(matrix, scale, solve, least)
        left = int(np.count_nonzero(scale))
        history.append(left)
        if left == 0 or (n_columns is not None and left <= n_columns):
            return ZeroNorm(scale, _chosen(scale, before, n_columns), tuple(history), True)
        if np.abs(scale - before).max() <= change * scale.max():
            converged = True
            break
    return ZeroNorm(scale, _chosen(scale, scale, n_columns), tuple(history), converged)


def _rescaled(matrix: Floats, scale: Floats, solve: Solver, threshold: float) -> Floats:
    """One step: the scales times the sizes of the weights, without those that are next to nothing."""
    left = np.flatnonzero(scale)
    weights = np.atleast_2d(np.asarray(solve(matrix[:, left] * scale[left]), np.float64))
    result = np.zeros_like(scale)
    result[left] = scale[left] * np.abs(weights).sum(axis=0)
    result[result < threshold * result.max()] = 0.0
    return result


def _chosen(scale: Floats, before: Floats, n_columns: int | None) -> NDArray[Any]:
    """All columns that are left, or so many: those left first, then those that were gone last."""
    if n_columns is None:
        return np.flatnonzero(scale)
    order = np.lexsort((np.arange(len(scale)), -before, -scale))
    return np.sort(order[:n_columns])
