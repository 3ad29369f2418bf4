"""Memory that runs out, wherever it happens: a MemoryError and nothing worse; the next call is as ever."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz import fuzz_memory

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="loads a library before all others"),
    pytest.mark.skipif(
        "san.so" in os.environ.get("LD_PRELOAD", ""), reason="a checker allocates its own way"
    ),
]


def test_every_allocation_may_fail(tmp_path: Path) -> None:
    """A sample; `python -m fuzz memory` lets every one of them fail."""
    library = fuzz_memory.compiled(tmp_path)
    if library is None:
        pytest.skip("no C++ compiler")
    assert fuzz_memory.sweep(library, most=9, seconds=60, seed=0) > 300


# How much address space a fit may take beyond what the process has; from nearly nothing to enough.
TIGHT = """
import resource
import numpy as np
from treewright import _core, encode, grow

random = np.random.default_rng(0)
x = random.random((60_000, 8))
y = random.integers(0, 3, len(x))
text = {"a": [f"v{i % 500}" for i in range(60_000)], "b": x[:, 0]}
whole = grow(encode(x, y), max_depth=6)
outcomes = set()

def attempt(work):
    try:
        result = work()
    except MemoryError:
        outcomes.add("refused")
    else:
        outcomes.add("done")
        return result

def has():
    return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()

hard = resource.getrlimit(resource.RLIMIT_AS)[1]
for kilobytes in (0, 256, 1500, 4000, 10_000, 40_000, 400_000):
    for n_jobs in (1, 8):
        resource.setrlimit(resource.RLIMIT_AS, (has() + 1024 * kilobytes, hard))
        tree = attempt(lambda: grow(encode(x, y), max_depth=6, n_jobs=n_jobs))
        leaves = attempt(lambda: whole.apply(encode(x, schema=whole.schema), n_threads=n_jobs))
        attempt(lambda: encode(text, y))
        attempt(lambda: grow(encode(x, x[:, 1]), n_jobs=n_jobs, max_depth=4, criterion="poisson"))
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, hard))
        assert tree is None or tree == whole
        assert leaves is None or (np.bincount(leaves, minlength=whole.n_nodes)[whole.is_leaf] > 0).all()
assert grow(encode(x, y), max_depth=6, n_jobs=2) == whole
print(*sorted(outcomes))
"""


def test_growing_in_little_address_space() -> None:
    result = subprocess.run(
        [sys.executable, "-c", TIGHT], capture_output=True, text=True, timeout=240, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "done refused\n"
