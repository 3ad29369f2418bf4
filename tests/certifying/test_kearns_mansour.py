"""Growing as boosting: the drops behind the bounds on the number of splits, and the bounds at work."""

from __future__ import annotations

import math

import numpy as np
import pytest

from treewright import encode, grow
from treewright.certifying import log_splits_needed, measured_edges, splits_needed

LN2 = math.log(2)


def entropy(q: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return -np.nan_to_num(q * np.log2(q)) - np.nan_to_num((1 - q) * np.log2(1 - q))


CRITERIA = {
    "gini": lambda q: 2 * q * (1 - q),
    "entropy": lambda q: entropy(q) / 2,
    "sqrt": lambda q: np.sqrt(q * (1 - q)),
}
LEAST = {
    "gini": lambda q, edge: 32 * edge**2 * (q * (1 - q)) ** 2,
    "entropy": lambda q, edge: 4 * edge**2 / LN2 * q * (1 - q),
    "sqrt": lambda q, edge: (1 - np.sqrt(1 - 4 * edge**2)) * np.sqrt(q * (1 - q)),
}


@pytest.mark.parametrize("name", CRITERIA)
def test_the_least_drop(name: str) -> None:
    """On a fine net of shares and tests no drop is smaller, and some are hardly larger."""
    q, a, b = np.meshgrid(np.linspace(0.001, 0.999, 61), *[np.linspace(0, 1, 81)] * 2)
    side = q * a + (1 - q) * b
    with np.errstate(divide="ignore", invalid="ignore"):
        left, right = np.nan_to_num(q * a / side), np.nan_to_num(q * (1 - a) / (1 - side))
    g = CRITERIA[name]
    drop = g(q) - side * g(np.clip(left, 0, 1)) - (1 - side) * g(np.clip(right, 0, 1))
    least = LEAST[name](q, np.abs(a - b) / 2)
    assert (drop >= least - 2e-8).all()  # the root of a share rounded to zero
    seen = np.abs(a - b) > 0.01
    assert (drop[seen] / least[seen]).min() < 1.02


@pytest.mark.parametrize("name", CRITERIA)
def test_the_bound_against_the_slowest_fall(name: str) -> None:
    """G falls by c·v(G)/t at the t-th step at least: after the promised splits it is at most ε."""
    error, edge = 0.2, 0.45
    g, least = CRITERIA[name], LEAST[name]
    splits = splits_needed(name, error, edge)  # type: ignore[arg-type]
    assert 1 < splits < 1e6
    shares = np.linspace(0, 0.5, 200_001)
    values = g(shares)
    total = 0.5
    for t in range(1, int(splits) + 1):
        q = np.interp(total, values, shares)
        total -= least(np.array(q), edge) / t
    assert total <= error * (1 + 1e-6)


def test_order_and_limits() -> None:
    sizes = [log_splits_needed(name, 0.001, 0.1) for name in ("sqrt", "entropy", "gini")]
    assert sizes == sorted(sizes)
    assert splits_needed("gini", 0.01, 0.01) == math.inf
    assert splits_needed("error", 0.1, 0.5) == math.inf
    assert splits_needed("error", 0.5, 0.1) == splits_needed("gini", 0.7, 0.1) == 0
    assert (
        splits_needed("sqrt", 0.05, 0.5) == 9
    )  # a perfect test: 1/2ε - 1 splits even if it goes the long way
    assert log_splits_needed("sqrt", 0.01, 1e-9) == pytest.approx(math.log(50) / 2e-18)
    assert log_splits_needed("entropy", 1e-300, 0.1) > log_splits_needed("entropy", 1e-200, 0.1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("gini", 0, 0.1), "error"),
        (("gini", 0.1, 0.6), "edge"),
        (("gini", 0.1, 0), "edge"),
        (("x", 0.1, 0.1), "'x'"),
    ],
)
def test_bad_input(arguments: tuple[object, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        log_splits_needed(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", CRITERIA)
def test_measured_edges_explain_the_gain(name: str) -> None:
    draw = np.random.default_rng(1)
    x = draw.random((500, 4))
    y = ((x[:, 0] > 0.5) ^ (x[:, 1] > 0.4) ^ (draw.random(500) < 0.1)).astype(int)
    tree = grow(encode(x, y, classes=True), criterion=name)
    edges = measured_edges(tree)
    inner = ~tree.is_leaf
    assert np.isnan(edges[~inner]).all()
    assert ((edges[inner] > 0) & (edges[inner] <= 0.5)).all()
    share = np.asarray(tree.statistic)[inner, 0] / tree.weight[inner]
    scale = 2 if name == "entropy" else 1  # the criterion is whole entropy, in bits or nats alike
    unit = tree.risk[inner] / tree.weight[inner] / (CRITERIA[name](share) * scale)
    drop = tree.gain[inner] / tree.weight[inner] / unit / scale
    assert (drop >= LEAST[name](share, edges[inner]) - 1e-12).all()


def test_edges_are_for_two_classes() -> None:
    for y in ([0.5, 1.5], ["a", "b"]):
        tree = grow(encode({"x": [1.0, 2.0]}, y))
        if tree.schema.predicts_classes:
            assert measured_edges(tree)[0] == 0.5
        else:
            with pytest.raises(ValueError, match="two classes"):
                measured_edges(tree)
