"""The exact sums of the core, against `math.fsum` and fractions."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

CXX = shutil.which(os.environ.get("CXX", "c++"))
NATIVE = Path(__file__).parent / "native"
CORE = Path(__file__).parents[2] / "src/core"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CXX is None or not CORE.exists(), reason="no C++ compiler, or no sources"),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exact") / "exact_sum"
    flags = ["-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{CORE}"]
    subprocess.run([CXX or "c++", *flags, str(NATIVE / "exact_sum.cpp"), "-o", str(path)], check=True)
    return path


def answers(program: Path, lines: Sequence[tuple[str, Sequence[float]]]) -> list[tuple[float, float]]:
    """The value and the rest that the program prints for each line."""
    text = "".join(f"{what} {' '.join(float(x).hex() for x in numbers)}\n" for what, numbers in lines)
    run = subprocess.run([str(program)], input=text, capture_output=True, text=True, check=True)
    out = [line.split() for line in run.stdout.splitlines()]
    return [(float.fromhex(value), float.fromhex(rest)) for value, rest in out]


def families(seed: int) -> list[np.ndarray]:
    """Numbers that are hard to add: far apart, cancelling, subnormal, halfway between two doubles."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 60))
    wild = np.ldexp(random.normal(size=n), random.integers(-1070, 1000, n))
    near = random.normal(size=n)
    cancelling = np.concatenate([wild, -wild[::-1], near * 2.0**-300])
    tiny = random.integers(-9, 9, n) * 5e-324
    ties = np.concatenate([[2.0**53], np.full(n, 0.5), [1.0], random.choice([2.0**-60, -(2.0**-60), 0.0], 1)])
    out = [wild, near, cancelling, tiny, ties, -ties, near * 10.0 ** random.integers(-12, 13, n), np.zeros(n)]
    return [random.permutation(x) for x in out]


def nearest_with_rest(exact: Fraction) -> tuple[float, float]:
    value = float(exact)
    return value, float(exact - Fraction(value))


def test_sums_are_rounded_once_whatever_the_order(program: Path) -> None:
    random = np.random.default_rng(0)
    numbers = [x for seed in range(120) for x in families(seed)]
    lines = [("sum", x) for x in numbers] + [("merge", random.permutation(x)) for x in numbers]
    wanted = [nearest_with_rest(sum(map(Fraction, x.tolist()), Fraction())) for x in numbers]
    assert [value for value, _ in wanted] == [math.fsum(x) for x in numbers]
    assert answers(program, lines) == wanted * 2


def test_many_numbers_of_one_size_carry_in_time(program: Path) -> None:
    sizes = (1.0, math.nextafter(2.0, 0.0), 2.0**1000, -(2.0**-1000) * 1.75, 5e-324)
    assert [value for value, _ in answers(program, [("sum", [x] * 9000) for x in sizes])] == [
        math.fsum([x] * 9000) for x in sizes
    ]


def test_products_are_not_rounded(program: Path) -> None:
    lines, wanted = [], []
    for seed in range(60):
        random = np.random.default_rng(seed)
        pairs = np.ldexp(random.normal(size=(30, 2)), random.integers(-200, 200, (30, 2)))
        lines.append(("products", pairs.ravel()))
        wanted.append(
            nearest_with_rest(sum((Fraction(a) * Fraction(b) for a, b in pairs.tolist()), Fraction()))
        )
    assert answers(program, lines) == wanted


def test_quotients_are_rounded_once(program: Path) -> None:
    lines, wanted = [], []
    for seed in range(200):
        random = np.random.default_rng(seed)
        above = random.normal(size=8) * 10.0 ** random.integers(-9, 16, 8)
        below = random.gamma(2.0, size=8) * 10.0 ** random.integers(-6, 7, 8)
        lines.append(("quotient", [*above, *below]))
        wanted.append(float(sum(map(Fraction, above.tolist())) / sum(map(Fraction, below.tolist()))))
    assert [value for value, _ in answers(program, lines)] == wanted


def test_what_is_not_finite_stays_so(program: Path) -> None:
    lines = [("sum", x) for x in ([1.0, math.inf], [-math.inf, 1e308], [math.inf, -math.inf], [math.nan])]
    lines += [("sum", [1e308, 1e308]), ("products", [1e200, 1e200])]
    values = [value for value, _ in answers(program, lines)]
    assert values[:2] == [math.inf, -math.inf]
    assert np.isnan(values[2:4]).all()
    assert values[4:] == [math.inf, math.inf]
