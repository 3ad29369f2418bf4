"""Kernel density estimates by a k-d tree: kernels around the points are added up where they matter."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, lgamma, log, pi
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from treewright._arrays import Floats
from treewright.parameters.checks import is_real

if TYPE_CHECKING:
    from treewright.neighbours.kd_tree import KDTree

_MOST_PAIRS = 2**22  # of a query and a point, whose distances are held at a time
_LEAST_RTOL = 2.0**-53
_QUADRATURE = 100  # points of the integral of the cosine


class Kernel(NamedTuple):
    """A kernel by distances in bandwidths, and what a search by distance has to know about it."""

    log_value: Callable[[Floats], Floats]  # minus infinity beyond its support
    log_mass: Callable[[int], float]  # the logarithm of its integral over a number of columns
    reach: Callable[[Floats], Floats]  # where its logarithm falls below a number <= 0


def _log_ball(d: int) -> float:
    """The logarithm of the volume of the unit ball."""
    return d / 2 * log(pi) - lgamma(d / 2 + 1)


def _log_cosine_mass(d: int) -> float:
    """The logarithm of d · V(d) · ∫ cos(πr/2) r^(d−1) dr from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(_QUADRATURE)
    r = (nodes + 1) / 2
    return _log_ball(d) + log(d * float(weights @ (np.cos(pi / 2 * r) * r ** (d - 1))) / 2)


def _compact(value: Callable[[Floats], Floats], log_mass: Callable[[int], float]) -> Kernel:
    """A kernel that is zero from one bandwidth on."""

    def log_value(u: Floats) -> Floats:
        inside = u < 1
        with np.errstate(divide="ignore"):
            return np.where(inside, np.log(np.maximum(value(np.where(inside, u, 0.0)), 0.0)), -inf)

    return Kernel(log_value, log_mass, np.ones_like)


KERNELS = {
    "gaussian": Kernel(lambda u: -u * u / 2, lambda d: d / 2 * log(2 * pi), lambda low: np.sqrt(-2 * low)),
    "tophat": _compact(np.ones_like, _log_ball),
    "epanechnikov": _compact(lambda u: 1 - u * u, lambda d: _log_ball(d) + log(2 / (d + 2))),
    "exponential": Kernel(lambda u: -u, lambda d: _log_ball(d) + lgamma(d + 1), lambda low: -low),
    "linear": _compact(lambda u: 1 - u, lambda d: _log_ball(d) - log(d + 1)),
    "cosine": _compact(lambda u: np.cos(pi / 2 * u), _log_cosine_mass),
}


def kernel_density(
    tree: KDTree, queries: Floats, h: Any, kernel: str, *, atol: float, rtol: float, n_jobs: int | None
) -> Floats:
    """The logarithms of the sums of the kernels around the points of a tree, at each query.

    Points so far away that together they add less than the tolerance are left out.
    """
    shape = _kernel_of(kernel, h, atol, rtol)
    log_scale = -shape.log_mass(tree.n_columns) - tree.n_columns * log(h)
    n_together = max(1, _MOST_PAIRS // tree.n_points)
    parts = [np.empty(0)]
    for first in range(0, len(queries), n_together):
        block = queries[first : first + n_together]
        log_nearest = shape.log_value(tree.query(block, n_jobs=n_jobs)[0][:, 0] / h)
        log_error = np.full(len(block), log(max(rtol, _LEAST_RTOL))) + log_nearest
        if atol > 0:
            log_error = np.maximum(log_error, log(atol) - log_scale)
        radius = h * shape.reach(np.minimum(log_error - log(tree.n_points), 0.0))
        start, distance, _ = tree._within(block, radius, False, False, n_jobs)
        query = np.repeat(np.arange(len(block)), np.diff(start))
        offset = np.where(np.isfinite(log_nearest), log_nearest, 0.0)
        values = np.exp(shape.log_value(distance / h) - offset[query])
        with np.errstate(divide="ignore"):
            sums = np.log(np.bincount(query, values, minlength=len(block)))
        parts.append(sums + offset + log_scale)
    return np.concatenate(parts)


def _kernel_of(kernel: str, h: Any, atol: float, rtol: float) -> Kernel:
    """The kernel of a name; ValueError for arguments that are not possible."""
    if not isinstance(kernel, str) or kernel not in KERNELS:
        raise ValueError(f"kernel is {kernel!r}; it must be one of {', '.join(map(repr, KERNELS))}")
    if not (is_real(h) and 0 < h < inf):
        raise ValueError(f"h is {h!r}; the bandwidth must be a finite number > 0")
    for name, value in (("atol", atol), ("rtol", rtol)):
        if not (is_real(value) and 0 <= value < inf):
            raise ValueError(f"{name} is {value!r}; it must be a finite number >= 0")
    return KERNELS[kernel]
