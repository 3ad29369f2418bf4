"""How much memory growing takes: the estimate against what a process of its own really takes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from treewright import encode, grow
from treewright.growing import memory
from treewright.growing.memory import memory_needed

MEASURED = """
import json, sys
from pathlib import Path
import numpy as np
from treewright import encode, grow
from treewright.growing.memory import memory_needed

rows, columns, kind, leaves, threads = json.loads(sys.argv[1])
random = np.random.default_rng(0)
table = random.normal(size=(rows, columns)).astype(np.float32)
signal = table[:, 0] + random.normal(size=rows)
data = encode(table, signal if kind == "numbers" else signal > 0)
grow(encode(table[:100], signal[:100]))

def most_held():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

Path("/proc/self/clear_refs").write_text("5")
before = most_held()
tree = grow(data, max_leaf_nodes=leaves, n_jobs=threads)
need = memory_needed(data, n_leaves=tree.n_leaves, n_threads=threads)
print(json.dumps([most_held() - before, need, 4 * rows * columns]))
"""


def measured(*case: object) -> tuple[int, int, int]:
    """Bytes that growing took, bytes that were foreseen, bytes of the table in float32."""
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("only Linux tells a process its peak since a moment")
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, json.dumps(case)], capture_output=True, text=True, check=True
    )
    taken, foreseen, table = json.loads(done.stdout)
    return taken, foreseen, table


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        (200_000, 20, "classes", None, 1),
        (200_000, 20, "classes", None, 2),
        (100_000, 10, "numbers", None, 1),
        (300_000, 20, "classes", 64, 1),
        (6_000, 500, "classes", None, 1),
    ],
    ids=str,
)
def test_the_estimate_is_enough_and_not_far_off(case: tuple[object, ...]) -> None:
    taken, foreseen, _ = measured(*case)
    assert taken <= foreseen <= 3 * taken


@pytest.mark.slow
def test_growing_takes_at_most_twice_the_table() -> None:
    taken, _, table = measured(500_000, 20, "classes", 1000, 1)
    assert taken <= 2 * table


def test_what_cannot_fit_is_refused_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 10**6)
    monkeypatch.setattr(memory, "_PLENTY", 0)
    data = encode(np.zeros((100_000, 10)), np.arange(100_000) % 2)
    with pytest.raises(
        MemoryError, match=r"growing needs about .* GB of memory, but only 0.0 GB are available"
    ):
        grow(data)
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    assert grow(data).n_leaves == 1


def test_more_leaves_threads_and_targets_need_more() -> None:
    data = encode(np.zeros((20_000, 3)), np.arange(20_000) % 2)
    few = memory_needed(data, n_leaves=2)
    assert few < memory_needed(data, n_leaves=2, n_threads=2)
    assert few < memory_needed(data, n_leaves=1000) < memory_needed(data)
    assert memory_needed(data, n_leaves=10**9) == memory_needed(data)
