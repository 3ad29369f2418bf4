"""Kernel densities and correlations of a k-d tree, beside sums over all points and scikit-learn's tree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import sklearn.neighbors
from scipy.stats import gaussian_kde

from treewright import KDTree

KERNELS = {
    "gaussian": lambda u: math.exp(-u * u / 2),
    "tophat": lambda u: float(u < 1),
    "epanechnikov": lambda u: max(1 - u * u, 0.0),
    "exponential": lambda u: math.exp(-u),
    "linear": lambda u: max(1 - u, 0.0),
    "cosine": lambda u: math.cos(math.pi / 2 * u) if u < 1 else 0.0,
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_density_is_the_sum_over_all_points(kernel: str, d: int) -> None:
    random = np.random.default_rng(d)
    points, queries, h = random.normal(size=(150, d)), random.normal(size=(20, d)), 0.7
    value = KERNELS[kernel]
    surface = 2 * math.pi ** (d / 2) / math.gamma(d / 2)
    end = 40.0 if kernel in ("gaussian", "exponential") else 1.0
    mass = surface * scipy.integrate.quad(lambda u: value(u) * u ** (d - 1), 0, end, epsabs=1e-13)[0]
    distance = np.sqrt(((queries[:, None] - points) ** 2).sum(axis=2))
    expected = np.vectorize(value)(distance / h).sum(axis=1) / (mass * h**d)
    tree = KDTree(points, leaf_size=5)
    density = tree.kernel_density(queries, h, kernel)
    np.testing.assert_allclose(density, expected, rtol=1e-7)
    with np.errstate(divide="ignore"):
        logarithms = np.log(expected)
    np.testing.assert_allclose(
        tree.kernel_density(queries, h, kernel, return_log=True), logarithms, rtol=1e-7
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "minkowski"])
def test_other_metrics_beside_scikit_learn(kernel: str, metric: str) -> None:
    random = np.random.default_rng(0)
    points, queries = random.random((400, 3)), random.random((40, 3))
    power = {"p": 3} if metric == "minkowski" else {}
    trees = [kind(points, metric=metric, **power) for kind in (KDTree, sklearn.neighbors.KDTree)]
    mine, its = (tree.kernel_density(queries, 0.2, kernel, rtol=1e-10) for tree in trees)
    np.testing.assert_allclose(mine, its, rtol=1e-8, atol=1e-9)
    r = np.array([[0.0, 0.2], [0.5, 3.0]])
    counts = trees[0].two_point_correlation(queries, r)
    assert counts.tolist() == its_counts(points, queries, metric, r).tolist()
    assert counts[1, 1] == 16_000


def its_counts(points: Any, queries: Any, metric: str, r: Any) -> Any:
    apart = np.abs(queries[:, None] - points)
    distance = {
        "manhattan": lambda: apart.sum(axis=2),
        "chebyshev": lambda: apart.max(axis=2),
        "minkowski": lambda: (apart**3).sum(axis=2) ** (1 / 3),
    }[metric]()
    return (distance <= r[..., None, None]).sum(axis=(2, 3))


def test_a_density_estimate_beside_scipy() -> None:
    random = np.random.default_rng(0)
    points, queries = random.normal(size=5000), np.linspace(-3, 3, 20)
    estimate = KDTree(points[:, None]).kernel_density(queries[:, None], 0.3) / 5000
    np.testing.assert_allclose(estimate, gaussian_kde(points, 0.3 / points.std(ddof=1))(queries), rtol=1e-7)


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_is_left_out_keeps_to_the_tolerance(kernel: str) -> None:
    random = np.random.default_rng(1)
    points, queries = random.random((3000, 2)), random.random((50, 2))
    tree = KDTree(points)
    exact = tree.kernel_density(queries, 0.05, kernel, rtol=0)
    np.testing.assert_allclose(tree.kernel_density(queries, 0.05, kernel, rtol=1e-3), exact, rtol=1e-3)
    loose = tree.kernel_density(queries, 0.05, kernel, atol=30.0, rtol=0)
    np.testing.assert_allclose(loose, exact, rtol=0, atol=30.0)


def test_far_from_all_points_logarithms_are_finite() -> None:
    tree = KDTree(np.zeros((2, 1)))
    log_density = tree.kernel_density([[100.0]], 1.0, return_log=True)
    assert log_density[0] == pytest.approx(math.log(2) - 5000 - math.log(2 * math.pi) / 2)
    assert tree.kernel_density([[100.0]], 1.0).tolist() == [0.0]
    assert tree.kernel_density([[100.0]], 1.0, "linear", return_log=True).tolist() == [-math.inf]
    assert tree.kernel_density(np.empty((0, 1)), 1.0).shape == (0,)


def test_blocks_of_queries_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    points = random.random((300, 2))
    whole = KDTree(points).kernel_density(points, 0.1)
    monkeypatch.setattr("treewright.neighbours.kernels._MOST_PAIRS", 1000)
    np.testing.assert_array_equal(KDTree(points, n_jobs=2).kernel_density(points, 0.1), whole)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"h": 0}, "h is 0; the bandwidth must be a finite number > 0"),
        ({"h": math.inf}, "h is inf"),
        ({"h": 1, "kernel": "box"}, "kernel is 'box'; it must be one of 'gaussian', 'tophat'"),
        ({"h": 1, "atol": -1}, "atol is -1"),
        ({"h": 1, "rtol": math.nan}, "rtol is nan"),
    ],
)
def test_densities_that_cannot_be(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        KDTree([[0.0], [1.0]]).kernel_density([[0.5]], **options)
