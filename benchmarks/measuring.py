"""Measuring several libraries on one problem, each in a process of its own, in turn: A B C A B C …

No library disturbs another, and what else the machine does meanwhile hits all alike.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.problems import Problem

THREAD_LIMITS = (
    "OMP_NUM_THREADS",
    "OMP_THREAD_LIMIT",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
LEAST_RUNS, LEAST_SECONDS = 3, 3.0  # three runs for all, unless they take longer than this

Result = dict[str, Any]  # "cpu", "wall", "runs", "busy", "memory", …; or only "skipped", the reason


@dataclass(frozen=True)
class Job:
    """What one process is to measure."""

    room: str  # the module that prepares the work: "growing" or "predicting"
    problem: Problem
    peer: str
    threads: int
    data: str  # the file that `problems.make` wrote


def measure(jobs: Sequence[Job], seconds: float, limit: float) -> list[Result]:
    """The least CPU and wall seconds of each job among its runs, which alternate with those of the others.

    A job stays in the round until it has run for `seconds`, and three times unless that takes too long. What
    fails, or takes longer than `limit` at once, is told by a word, and the others go on.
    """
    workers = [Worker(job) for job in jobs]
    try:
        until = time.monotonic() + limit
        for worker in workers:
            worker.hear(until - time.monotonic(), limit)
        while [worker for worker in workers if worker.turn(seconds, limit)]:
            pass
        return [worker.finish(limit) for worker in workers]
    finally:
        for worker in workers:
            worker.close()


class Worker:
    """One process that has prepared one job and runs it when asked; `benchmarks.working` is its other end."""

    def __init__(self, job: Job) -> None:
        threads = {name: str(job.threads) for name in THREAD_LIMITS}
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `close`)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.working", json.dumps(asdict(job))],
            env=os.environ | threads,
            cwd=Path(__file__).parent.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )
        self.runs: list[Result] = []
        self.skipped: str | None = None

    def turn(self, seconds: float, limit: float) -> bool:
        """Run a little, unless enough is measured; whether it ran."""
        used, count = sum(run["used"] for run in self.runs), sum(run["runs"] for run in self.runs)
        enough = used >= seconds and (count >= LEAST_RUNS or used >= LEAST_SECONDS)
        if self.skipped or enough:
            return False
        run = self.ask("run", limit)
        if run is not None:
            self.runs.append(run)
        return run is not None

    def finish(self, limit: float) -> Result:
        """All that was measured; what fails after the runs does not take them away."""
        if not self.runs:
            return {"skipped": self.skipped}
        used = sum(run["used"] for run in self.runs)
        result = {
            "cpu": min(run["cpu"] for run in self.runs),
            "wall": min(run["wall"] for run in self.runs),
            "runs": sum(run["runs"] for run in self.runs),
            "busy": sum(run["busy"] * run["used"] for run in self.runs) / used,  # threads, on average
            "memory": self.runs[0]["memory"],
        }
        told = None if self.skipped else self.ask("finish", limit)
        return result | (told or {})

    def ask(self, word: str, limit: float) -> Result | None:
        """Send a word and hear the answer."""
        with contextlib.suppress(BrokenPipeError):  # the process has ended; what it said last tells why
            self.process.stdin.write(f"{word}\n".encode())
            self.process.stdin.flush()
        return self.hear(limit, limit)

    def hear(self, patience: float, limit: float) -> Result | None:
        """The next answer; None, with `skipped` set and the process ended, if none comes."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(max(patience, 0.0)):
                self.skipped = f"took more than {limit:.0f} s"
                self.close()
                return None
        line = self.process.stdout.readline()
        if line:
            answer: Result = json.loads(line)
            return answer
        self.process.wait()
        self.errors.seek(0)
        said = self.errors.read().decode(errors="replace").strip().splitlines()
        last = said[-1] if said else f"it ended with code {self.process.returncode} and without a word"
        self.skipped = f"failed: {last.split(' at /')[0][:90]}"
        return None

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdout, self.errors):
            pipe.close()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
