"""The process that measures one job: it prepares, says so, and runs whenever a line on its input asks."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.measuring import Job
from benchmarks.problems import Problem

SLICE = 0.02  # a turn repeats what is shorter than so many seconds
BATCH = (
    0.001  # looking at the clocks takes about a microsecond: calls are timed together up to so many seconds
)


@dataclass(frozen=True)
class Task:
    """A job made ready: `work` is what is timed, `finish` tells about the last result."""

    work: Callable[[], Any]
    finish: Callable[[], dict[str, Any]]


def run(work: Callable[[], Any], with_memory: bool) -> dict[str, Any]:
    """One turn: the least CPU (of all threads) and wall seconds of a call, and how many threads were busy.

    `memory` is the most that the calls held at once on top of what the process held before, in MB.
    """
    if with_memory:
        before = _forget_peak_memory()
    cpu: list[float] = []
    wall: list[float] = []
    runs, calls = 0, 1
    began = time.perf_counter()
    while not cpu or time.perf_counter() - began < SLICE:
        cpu_start, wall_start = time.process_time(), time.perf_counter()
        for _ in range(calls):
            work()
        wall.append((time.perf_counter() - wall_start) / calls)
        cpu.append((time.process_time() - cpu_start) / calls)
        runs += calls
        calls = 1 + int(BATCH / wall[-1])
    used = time.perf_counter() - began
    result = {"cpu": min(cpu), "wall": min(wall), "runs": runs, "used": used, "busy": sum(cpu) / sum(wall)}
    return result | ({"memory": _peak_memory() - before} if with_memory else {})


def _forget_peak_memory() -> float:
    """Let the peak start anew from what the process holds now, where the system can do that (Linux).

    What was freed before goes back to the system first, or the calls could take it without being seen.
    """
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
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
    """Do the job that the only argument describes; answers are lines of JSON."""
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is not an answer

    def answer(result: dict[str, Any]) -> None:
        answers.write(json.dumps(result) + "\n")
        answers.flush()

    told = json.loads(sys.argv[1])
    job = Job(**{**told, "problem": Problem(**told["problem"])})
    task: Task = import_module(f"benchmarks.{job.room}").prepare(job)
    answer({"ready": True})
    for turn, word in enumerate(sys.stdin):
        if word.strip() == "finish":
            answer(task.finish())
            return
        answer(run(task.work, with_memory=turn == 0))


if __name__ == "__main__":
    main()
