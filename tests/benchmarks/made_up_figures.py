"""A small problem to measure, and figures that nobody measured, for the tests of the benchmarks."""

from __future__ import annotations

from typing import Any

from benchmarks.keeping import Origin
from benchmarks.problems import Problem

SMALL = Problem("small", 500, columns=8, predicted=10)
ORIGIN = Origin("2026-01-02", "a machine, 2 cores", {"treewright": "1.2.3"}, "python -m benchmarks")


def result(peer: str, cpu: float, threads: int = 1, **more: Any) -> dict[str, Any]:
    """What a library is said to have taken."""
    measured = {"cpu": cpu, "wall": cpu, "runs": 3, "busy": 1.0, "memory": 4.0, "leaves": 7, "depth": 3}
    return {"peer": peer, "threads": threads} | measured | more
