"""C4.5's pessimistic errors: the numbers of Release 8, and the laws that they keep."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.pruning.pessimistic_errors import add_errors


@pytest.mark.parametrize(
    ("rows", "errors", "added"),
    [(6, 0, 1.2378), (9, 0, 1.2848), (1, 0, 0.75), (16, 1, 1.5069), (1, 1, 0.0), (10, 9.5, 0.335)],
)
def test_numbers_of_the_original_program(rows: float, errors: float, added: float) -> None:
    assert add_errors(rows, errors, 0.25) == pytest.approx(added, abs=1e-4)


@pytest.mark.parametrize("errors", [5e-7, 2e-6, 5e-4, 0.5, 0.9998, 1.0])
def test_where_the_cases_meet(errors: float) -> None:
    assert add_errors(10, errors, 0.1) == pytest.approx(oracle(10, errors, 0.1), rel=1e-12)


def test_the_subtree_of_the_book_is_pruned() -> None:
    leaves = add_errors([6, 9, 1], [0, 0, 0])
    assert leaves.sum() == pytest.approx(3.2726, abs=1e-3)
    assert 1 + add_errors(16, 1) < leaves.sum()


def oracle(n: float, e: float, cf: float) -> float:
    """One number at a time, in the words of the definition."""
    table = [(0, 4), (0.001, 3.09), (0.005, 2.58), (0.01, 2.33), (0.05, 1.65), (0.1, 1.28), (0.2, 0.84)]
    table += [(0.4, 0.25), (1, 0)]
    for (p0, d0), (p1, d1) in pairwise(table):
        if p0 < cf <= p1:
            z = d0 + (d1 - d0) * (cf - p0) / (p1 - p0)
    if e < 1e-6:
        return n * (1 - math.exp(math.log(cf) / n))
    if e < 0.9999:
        none = oracle(n, 0, cf)
        return none + e * (oracle(n, 1, cf) - none)
    if e + 0.5 >= n:
        return 0.67 * max(n - e, 0)
    e += 0.5
    upper = (e + z * z / 2 + math.sqrt(z * z * (e * (1 - e / n) + z * z / 4))) / (n + z * z)
    return n * upper - (e - 0.5)


@given(
    st.floats(0.5, 1e6), st.floats(0, 1), st.sampled_from([0.001, 0.01, 0.03, 0.25, 0.5, 1.0]), st.booleans()
)
def test_each_case_is_the_definition(n: float, share: float, cf: float, whole: bool) -> None:
    e = float(math.floor(n * share)) if whole else n * share
    assert add_errors(n, e, cf) == pytest.approx(oracle(n, e, cf), rel=1e-9, abs=1e-9 * n)


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.sampled_from([0.001, 0.05, 0.25, 0.9]))
def test_the_limit_is_a_number_of_errors(n: int, e: int, cf: float) -> None:
    e = min(e, n)
    added = float(add_errors(n, e, cf))
    assert added >= 0
    assert e + added <= n * (1 + 1e-12)
    assert add_errors(n, e, cf / 2) >= added  # surer is more


def test_arrays_go_together_and_no_row_fears_nothing() -> None:
    assert add_errors(np.zeros(3), 0).tolist() == [0, 0, 0]
    assert add_errors(np.ones((2, 1)), np.zeros(4)).shape == (2, 4)
    assert add_errors(0, 0, 1.0) == 0


@pytest.mark.parametrize("confidence", [0, -1, 1.5, float("nan")])
def test_confidence_is_a_probability(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence is"):
        add_errors(1, 0, confidence)
