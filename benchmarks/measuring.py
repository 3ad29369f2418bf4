"""Measuring one library on one problem in a process of its own, so that no library disturbs another."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.problems import Problem

THREAD_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
MOST_REPEATS = 1000


@dataclass(frozen=True)
class Job:
    """What one process is to measure."""

    room: str  # "growing" or "predicting"
    problem: Problem
    peer: str
    threads: int
    data: str  # the file that `problems.make` wrote
    seconds: float  # repeats stop after this time; the first one always runs


def run(job: Job, limit: float) -> dict[str, Any]:
    """Measure in a fresh process; what fails is told by its last line, and the others go on."""
    threads = {name: str(job.threads) for name in THREAD_LIMITS}
    command = [sys.executable, "-m", "benchmarks.measuring", json.dumps(asdict(job))]
    root = Path(__file__).parent.parent
    try:
        done = subprocess.run(
            command,
            env=os.environ | threads,
            cwd=root,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"skipped": f"took more than {limit:.0f} s"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        return {"skipped": f"failed: {last.split(' at /')[0][:90]}"}
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def repeat(work: Callable[[], Any], seconds: float) -> dict[str, float]:
    """The least CPU and wall seconds of `work` among its repeats within `seconds`; CPU counts every thread.

    `memory` is the most that the first run held on top of what the process held before, in MB.
    """
    cpu: list[float] = []
    wall: list[float] = []
    before, began = _forget_peak_memory(), time.perf_counter()
    while not cpu or (len(cpu) < MOST_REPEATS and time.perf_counter() - began < seconds):
        cpu_start, wall_start = time.process_time(), time.perf_counter()
        work()
        wall.append(time.perf_counter() - wall_start)
        cpu.append(time.process_time() - cpu_start)
        if len(cpu) == 1:
            memory = _peak_memory() - before
    return {"cpu": min(cpu), "wall": min(wall), "repeats": len(cpu), "memory": memory}


def _forget_peak_memory() -> float:
    """Let the peak start anew from what the process holds now, where the system can do that (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _peak_memory()


def _peak_memory() -> float:
    """The most memory that this process has held so far, in MB."""
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """The fresh process: do the job that the only argument describes and print the result as JSON."""
    warnings.simplefilter("ignore")
    told = json.loads(sys.argv[1])
    job = Job(**{**told, "problem": Problem(**told["problem"])})
    result = import_module(f"benchmarks.{job.room}").measure(job)
    print("\n" + json.dumps(result))  # a line of its own, whatever the library has printed


if __name__ == "__main__":
    main()
