"""Zero-norm selection: a linear model is fitted again and again to columns rescaled by its weights.

min ‖w‖₀ subject to y (w·x + b) ≥ 1 is the smallest number of columns that separate the classes; finding it is
NP-hard. Weston, Elisseeff, Schölkopf and Tipping (2003), "Use of the zero-norm with linear models and kernel
methods", minimise Σ ln(ε + |w|) instead: fit a linear model to the columns times z, multiply z by |w|, and
repeat. A small weight makes the scale smaller, which makes the next weight smaller still. At a fixed point
the penalty Σ (w/z)² / 2 is 1/2 for each remaining column, so that it counts them. The search is local and may
end with more columns than necessary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.growing import whole_number
from treewright.parameters import takes
from treewright.parameters.selectors import ProgressParameters, ZeroNormOptions

Floats = NDArray[np.float64]
Solver = Callable[[Floats], Floats]  # a matrix of rows × columns to weights, (columns,) or (models, columns)


@dataclass(frozen=True, eq=False)
class ZeroNorm:
    """The scales of the columns after the last step, and the chosen columns."""

    scale: Floats  # z, 0 for columns that were dropped
    columns: NDArray[np.int64]  # positions of the chosen columns
    history: tuple[int, ...] = field(repr=False)  # columns left, at first and after each step
    converged: bool = False

    @property
    def n_iter(self) -> int:
        """The number of models that were fitted."""
        return len(self.history) - 1


@takes(ZeroNormOptions.parameters | ProgressParameters.parameters)
def zero_norm(
    matrix: Floats, solve: Solver, *, n_features_to_select: int | None = None, **options: Any
) -> ZeroNorm:
    """Rescale columns by the weights of linear models until few are left or nothing changes.

    Parameters
    ----------
    matrix : array of shape (rows, columns)
        Finite numbers of comparable spread: standardise them first; a small unit makes a large weight.
    solve : callable
        Fits a linear model to a matrix of some of the columns, rescaled, and returns its weights; absolute
        weights of several models (one class against the others) are added up.
    n_features_to_select : int, optional
        Stop as soon as at most this many columns are left, and keep this many with the largest scales.

    Examples
    --------
    Least squares finds the one column that determines the target:

    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(50, 4))
    >>> found = zero_norm(x, lambda columns: np.linalg.lstsq(columns, x[:, 2], rcond=None)[0])
    >>> found.columns.tolist(), found.converged
    ([2], True)
    """
    total, most, progress = matrix.shape[1], int(options["max_iter"]), options["progress"]
    n_columns = n_features_to_select
    if n_columns is not None and whole_number("n_features_to_select", n_columns, 1) > total:
        raise ValueError(f"n_features_to_select is {n_columns}, but there are {total} columns")
    scale, history, converged = np.ones(total), [total], False
    for step in range(most):
        if progress is not None:
            progress(step / most)
        before, scale = scale, _rescale(matrix, scale, solve, options["threshold"])
        left = int(np.count_nonzero(scale))
        history.append(left)
        if left == 0 or (n_columns is not None and left <= n_columns):
            return ZeroNorm(scale, _choose(scale, before, n_columns), tuple(history), True)
        if np.abs(scale - before).max() <= options["tol"] * scale.max():
            converged = True
            break
    return ZeroNorm(scale, _choose(scale, scale, n_columns), tuple(history), converged)


def _rescale(matrix: Floats, scale: Floats, solve: Solver, threshold: float) -> Floats:
    """One step: the scales times the absolute weights, and 0 below the threshold."""
    left = np.flatnonzero(scale)
    weights = np.atleast_2d(np.asarray(solve(matrix[:, left] * scale[left]), np.float64))
    result = np.zeros_like(scale)
    result[left] = scale[left] * np.abs(weights).sum(axis=0)
    result[result < threshold * result.max()] = 0.0
    return result


def _choose(scale: Floats, before: Floats, n_columns: int | None) -> NDArray[Any]:
    """All remaining columns, or `n_columns`: the remaining ones first, then those that were dropped last."""
    if n_columns is None:
        return np.flatnonzero(scale)
    order = np.lexsort((np.arange(len(scale)), -before, -scale))
    return np.sort(order[:n_columns])
