"""Instructions of the core for encoding and growing small tables: a guard that no busy machine disturbs.

valgrind counts them for each library of a process; only the core's own count, since that of Python varies.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import treewright
from benchmarks import keeping
from benchmarks.reporting import markdown

CHANGE = 0.03  # from which a difference is marked

# Name -> options of `grow`, after the names of what `data_of` changes.
CASES: dict[str, tuple[frozenset[str], dict[str, int]]] = {
    "10k rows to purity": (frozenset({"large"}), {}),
    "10k rows, depth 4": (frozenset({"large"}), {"max_depth": 4}),
    "2k rows to purity": (frozenset(), {}),
    "2k rows, numbers": (frozenset({"numbers"}), {}),
    "2k rows, weights": (frozenset({"weights"}), {}),
    "2k rows, 10 classes": (frozenset({"classes"}), {}),
}


def data_of(changes: frozenset[str]) -> treewright.Dataset:
    """A fixed table made with numpy alone, whose import is quick."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(10_000 if "large" in changes else 2_000, 10)).astype(np.float32)
    score = rows[:, 0] * rows[:, 1] + rows[:, 2] + random.normal(size=len(rows)) / 4
    edges = np.linspace(-2, 2, 9) if "classes" in changes else [0.0]
    target = score if "numbers" in changes else np.digitize(score, edges)
    weight = random.exponential(size=len(rows)) if "weights" in changes else None
    return treewright.encode(rows, target, weight=weight, classes="numbers" not in changes)


def work(name: str) -> None:
    """What is counted."""
    changes, options = CASES[name]
    treewright.grow(data_of(changes), n_jobs=1, **options)


def count(name: str) -> int:
    """The instructions that the core executes in a process that does `work`."""
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "profile"
        tool = ["valgrind", "--tool=callgrind", "--compress-strings=no", "--compress-pos=no"]
        subprocess.run(
            [*tool, f"--callgrind-out-file={profile}", sys.executable, "-m", "benchmarks.counting", name],
            env=os.environ | {"PYTHONHASHSEED": "0"},
            cwd=Path(__file__).parent.parent,
            capture_output=True,
            check=True,
            timeout=600,
        )
        return instructions(profile.read_text().splitlines(), "_core.")


def instructions(profile: Sequence[str], library: str) -> int:
    """The instructions in all libraries whose file name starts so, from the lines of callgrind's profile.

    A line of two numbers is a place and its count; after `calls=` it repeats what the callee is counted for.
    """
    total, inside, called = 0, False, False
    for line in profile:
        if line.startswith("ob="):
            inside = Path(line.removeprefix("ob=")).name.startswith(library)
        elif inside and not called and line[:1].isdigit():
            total += int(line.split()[1])
        called = line.startswith("calls=")
    return total


def run(chosen: Namespace) -> None:
    """Count every case and compare with what is kept; `--save` keeps the new counts."""
    if not shutil.which("valgrind"):
        print("counts: valgrind is not installed, so nothing is counted (Debian: apt install valgrind)")
        return
    counted = {}
    for name in CASES:
        print(f"counts: {name} …", flush=True)
        counted[name] = count(name)
    file = keeping.RESULTS / "counts.json"
    kept = json.loads(file.read_text())["figures"] if file.exists() else {}
    print(compare(counted, kept))
    if chosen.save:
        keeping.save("counts", keeping.here(["treewright"]), counted)


def compare(counted: dict[str, int], kept: dict[str, int]) -> str:
    """Old and new counts side by side; what changed by more than 3 % is marked."""
    lines = []
    for name, new in counted.items():
        old = kept.get(name)
        change = new / old - 1 if old else 0.0
        mark = "" if abs(change) <= CHANGE else "  SLOWER" if change > 0 else "  faster"
        lines.append([name, f"{old:,}" if old else "–", f"{new:,}", f"{change:+.1%}{mark}" if old else "new"])
    return markdown(("grow", "kept", "now", "change"), lines)


if __name__ == "__main__":
    work(sys.argv[1])
