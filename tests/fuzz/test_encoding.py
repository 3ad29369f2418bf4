"""A short, seeded run of the fuzzer of tables; `make fuzz` goes on for longer."""

from __future__ import annotations

import pytest

pytest.importorskip("polars")
pytest.importorskip("pyarrow")

from fuzz import fuzz_encoding


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_odd_tables(seed: int) -> None:
    """Refused in the package's own words, or a sound tree that answers for its rows."""
    taken = sum(fuzz_encoding.attack(seed, number) for number in range(1000))
    assert taken > 50
