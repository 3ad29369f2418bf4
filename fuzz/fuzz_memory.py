"""Memory that runs out at any allocation of the core: a MemoryError and nothing worse."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NATIVE = Path(__file__).parent.parent / "tests" / "core" / "native"


def compiled(folder: Path) -> Path | None:
    """The library of failing_new.cpp; None without a compiler."""
    compiler = shutil.which(os.environ.get("CXX", "c++")) or shutil.which("g++")
    if compiler is None:
        return None
    library = folder / "failing_new.so"
    options = ["-std=c++17", "-O1", "-shared", "-fPIC"]
    subprocess.run([compiler, *options, "-o", library, NATIVE / "failing_new.cpp"], check=True, timeout=120)
    return library


def sweep(library: Path, *, most: int, seconds: float, seed: int) -> int:
    """Let allocations fail in a process of its own, so many at most in each call; the number of cases."""
    settings = dict(os.environ, LD_PRELOAD=str(library))
    if "san.so" in os.environ.get(
        "LD_PRELOAD", ""
    ):  # a checker allocates its own way: take the installed core
        settings.pop("PYTHONPATH", None)
    options = ["--most", str(most), "--seconds", str(seconds), "--seed", str(seed)]
    result = subprocess.run(
        [sys.executable, NATIVE / "sweep.py", library, *options],
        env=settings,
        capture_output=True,
        text=True,
        timeout=seconds + 120,
        check=False,
    )
    last = "\n".join(result.stderr.splitlines()[-20:])
    assert result.returncode == 0, f"sweep.py {' '.join(options)} ended with {result.returncode}:\n{last}"
    return int(result.stdout)


def run(seconds: float, seed: int) -> int:
    """Sweep for some seconds, none without a compiler; the number of cases tried."""
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(Path(folder))
        return sweep(library, most=100_000, seconds=seconds, seed=seed) if library else 0
