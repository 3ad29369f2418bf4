"""Zero norm: sparse separators that are known, and the toy problem of Weston et al."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from treewright import ZeroNormSelector
from treewright.feature_selection import zero_norm


def toy(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two triples of columns of which one tells the class, 196 columns of noise on a larger scale."""
    random = np.random.default_rng(seed)
    y, X = random.choice([-1, 1], n), random.normal(0, 20, (n, 202))
    first = random.random(n) < 0.7
    for i in range(3):
        X[:, i] = np.where(first, y * random.normal(i + 1, 1, n), random.normal(0, 1, n))
        X[:, 3 + i] = np.where(first, random.normal(0, 1, n), y * random.normal(i + 1, 1, n))
    return X, y


def test_a_sparse_separator_is_found() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 60)) * np.logspace(-3, 3, 60)  # units do not matter
    score = 2 * X[:, 5] / X[:, 5].std() - X[:, 20] / X[:, 20].std() + X[:, 51] / X[:, 51].std()
    clear = np.abs(score) > 0.3
    keep = ZeroNormSelector(random_state=0).fit(X[clear], score[clear] > 0)
    assert keep.get_support(True).tolist() == [5, 20, 51]
    weights = keep.scales_[[5, 20, 51]]
    np.testing.assert_allclose(weights / weights[1], [2, 1, 1], rtol=0.3)
    assert keep.n_columns_[0] == 60
    assert keep.n_columns_[-1] == 3
    assert (np.diff(keep.n_columns_) <= 0).all()
    assert len(keep.n_columns_) == keep.n_iter_ + 1


def test_toy_problem_of_weston_et_al() -> None:
    for seed in range(5):
        X, y = toy(100, seed)
        kept = ZeroNormSelector(random_state=0).fit(X, y).get_support(True)
        assert {*kept} <= {*range(6)}, kept
        assert {*kept} & {0, 1, 2}, "one of each triple"
        assert {*kept} & {3, 4, 5}
        two = ZeroNormSelector(n_features_to_select=2, random_state=0).fit(X, y).get_support(True)
        assert len(two) == 2
        assert {*two} <= {*range(6)}


@pytest.mark.slow
def test_many_classes() -> None:
    X, y = load_iris(return_X_y=True)
    noisy = np.hstack([np.random.default_rng(0).normal(size=(150, 30)), X])
    for way in ("ovr", "crammer_singer"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            keep = ZeroNormSelector(n_features_to_select=3, multi_class=way, random_state=0).fit(noisy, y)
        assert {*keep.get_support(True)} <= {30, 31, 32, 33}, way


def test_steps_equal_a_manual_computation() -> None:
    """With a solver that always says the same, scales are powers of its weights."""
    weights = np.array([1.0, 0.5, 0.0, 0.9])
    seen = []

    def solve(part: np.ndarray) -> np.ndarray:
        seen.append(part.copy())
        return (
            weights[[0, 1, 3]] if part.shape[1] == 3 else weights if part.shape[1] == 4 else weights[[0, 3]]
        )

    found = zero_norm(np.ones((2, 4)), solve, threshold=0.2, max_iter=4, tol=0.0)
    np.testing.assert_allclose(found.scale, [1, 0, 0, 0.9**4])
    assert found.history == (4, 3, 3, 2, 2)  # ½³ < 0.2
    assert not found.converged
    np.testing.assert_allclose(seen[2], [[1, 0.25, 0.81]] * 2)
    assert zero_norm(np.ones((2, 4)), solve, n_features_to_select=1, threshold=0.2).columns.tolist() == [0]
    assert zero_norm(np.ones((2, 4)), solve, n_features_to_select=2, threshold=0.7).columns.tolist() == [0, 3]
    several = zero_norm(np.ones((2, 2)), lambda part: np.array([[1.0, -0.5], [1.0, 0.5]]), max_iter=1)
    np.testing.assert_allclose(several.scale, [2, 1])


def test_n_columns() -> None:
    X, y = toy(60, 0)
    for n, count in ((7, 7), (0.1, 20), (202, 202)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            assert ZeroNormSelector(n_features_to_select=n, random_state=0).fit(X, y).support_.sum() == count


def test_warning_when_max_iter_is_reached() -> None:
    X, y = toy(60, 0)
    with pytest.warns(ConvergenceWarning, match="max_iter=2 machines"):
        ZeroNormSelector(max_iter=2, random_state=0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="svm_max_iter=1 "):
        ZeroNormSelector(svm_max_iter=1, random_state=0).fit(X, y)


def test_constant_columns_are_dropped() -> None:
    X, y = toy(100, 1)
    X[:, 7] = 0.1
    keep = ZeroNormSelector(random_state=0).fit(X, y)
    assert keep.scales_[7] == 0
    with pytest.raises(ValueError, match="all columns are constant"):
        ZeroNormSelector().fit(np.ones((4, 2)), [0, 1, 0, 1])


def test_weights_are_repetitions() -> None:
    X, y = toy(80, 2)
    weight = np.random.default_rng(0).integers(0, 3, 80)
    one = ZeroNormSelector(random_state=0, n_features_to_select=2).fit(X, y, weight)
    two = ZeroNormSelector(random_state=0, n_features_to_select=2).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    assert one.get_support(True).tolist() == two.get_support(True).tolist()


@pytest.mark.parametrize(
    ("table", "y", "words"),
    [
        ({"x": [1.0, None, 3.0], "z": [1, 2, 3]}, [0, 1, 0], r"column 'x' is missing \(NaN\) in row 1"),
        ({"x": [1.0, np.inf, 3.0]}, [0, 1, 0], "column 'x' is infinite"),
        ({"x": [1.0, 2.0, 3.0], "sky": ["a", "b", "a"]}, [0, 1, 0], "column 'sky' is a category"),
        ([[1.0], [2.0], [3.0]], [0.5, 1.5, 2.5], "Unknown label type: target 'y' is continuous, row 0"),
        ([[1.0], [2.0]], ["a", "a"], "one class only, 'a'"),
        ([[1.0], [2.0]], [[0, 1], [1, 0]], "y has 2 targets"),
    ],
)
def test_invalid_tables(table: object, y: list, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ZeroNormSelector().fit(table, y)


def test_invalid_parameters() -> None:
    for parameters, words in (
        ({"n_features_to_select": 3}, "at most the number of columns, 1"),
        ({"C": 0}, "C=0 is not possible"),
        ({"loss": "log"}, "loss='log'"),
        ({"threshold": 1.0}, "threshold=1.0"),
    ):
        with pytest.raises(ValueError, match=words):
            ZeroNormSelector(**parameters).fit([[1.0], [2.0]], [0, 1])
