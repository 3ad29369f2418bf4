"""The results as tables: all measurements of a problem, and one line per problem for the hurried."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.peers import PEERS
from benchmarks.problems import Problem

OURS = "treewright"
Result = dict[str, Any]  # what `measure` returned, with "peer", "threads"; or "peer", "threads", "skipped"


def machine() -> str:
    """The processor and how many of them, without the machine's name."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = {line.split(":")[1].strip() for line in lines if line.startswith("model name")}
    return f"{', '.join(sorted(models)) or platform.machine()}, {os.cpu_count()} cores, {platform.system()}"


def versions() -> str:
    """The versions of Python and of every library that is installed."""
    packages = dict.fromkeys(["numpy", *(peer.package for peer in PEERS.values() if not peer.missing())])
    return ", ".join(
        [f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in packages)]
    )


def page(room: str, command: str, sections: Sequence[tuple[Problem, list[Result]]]) -> str:
    """A whole page of results."""
    parts = [
        f"# {room.capitalize()}: measured on {date.today()}\n",
        f"Machine: {machine()}. {versions()}. Command: `{command}`.\n",
        "Seconds are the least of the repeats; CPU counts every thread. Times ours: the ratio of CPU "
        "seconds, more than 1 where treewright is faster. Exact: every threshold is considered; binned: at "
        "most 256 per column. Memory: the most held at once on top of the data.\n",
        "## In short\n",
        summary(sections),
    ]
    for problem, results in sections:
        parts += [f"## {problem.name}\n", f"{problem.describe()}\n", table(problem, results)]
    return "\n".join(parts)


def summary(sections: Sequence[tuple[Problem, list[Result]]]) -> str:
    """One line per problem: our time, and how many times as long the others take (CPU, one thread).

    The gain of 2 threads is one of wall time.
    """
    head = (
        "problem",
        "treewright CPU",
        "scikit-learn",
        "fastest exact peer",
        "fastest binned peer",
        "gain of 2 threads",
    )
    lines = []
    for problem, results in sections:
        ours = _time(results, OURS)
        if ours is None:
            continue
        others = [result for result in _alone(results) if result["peer"] != OURS and "cpu" in result]
        cells = [problem.name, seconds(ours), _times(_time(results, "scikit-learn"), ours)]
        for exact in (True, False):
            fastest = min(
                (result for result in others if PEERS[result["peer"]].exact is exact),
                key=lambda result: result["cpu"],
                default=None,
            )
            cells.append(f"{_times(fastest['cpu'], ours)} ({fastest['peer']})" if fastest else "–")
        walls = [_time(results, OURS, threads=threads, clock="wall") for threads in (1, 2)]
        cells.append(_times(walls[0], walls[1]))
        lines.append(cells)
    return _markdown(head, lines)


def table(problem: Problem, results: list[Result]) -> str:
    """All measurements of one problem."""
    ours = _time(results, OURS)
    measured = "accuracy" if problem.classes else "R²"
    head = ("library", "", "CPU", "wall", "times ours", "leaves", f"held-out {measured}", "memory MB")
    lines = []
    for result in results:
        name = result["peer"] + (f", {result['threads']} threads" if result["threads"] > 1 else "")
        kind = "exact" if PEERS[result["peer"]].exact else "binned"
        if "skipped" in result:
            lines.append([name, kind, f"skipped: {result['skipped']}", "", "", "", "", ""])
            continue
        leaves, score = result.get("leaves"), result.get("score")
        lines.append(
            [
                name,
                kind,
                seconds(result["cpu"]),
                seconds(result["wall"]),
                _times(result["cpu"], ours),
                "?" if leaves is None else f"{leaves:,}",
                "–" if score is None else f"{score:.4f}",
                f"{result['memory']:.0f}",
            ]
        )
    return _markdown(head, lines)


def seconds(value: float) -> str:
    """Three digits, in microseconds or milliseconds where that reads better."""
    for scale, unit in ((1e-6, "µs"), (1e-3, "ms")):
        if value < 999.5 * scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value:.3g} s"


def _alone(results: list[Result]) -> list[Result]:
    return [result for result in results if result["threads"] == 1]


def _time(results: list[Result], peer: str, *, threads: int = 1, clock: str = "cpu") -> float | None:
    for result in results:
        if result["peer"] == peer and result["threads"] == threads and clock in result:
            value: float = result[clock]
            return value
    return None


def _times(value: float | None, ours: float | None) -> str:
    return f"{value / ours:.3g}x" if value and ours else "–"


def _markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
    rows[1] = ["-" * width for width in widths]
    padded = (" | ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(f"| {row} |" for row in padded) + "\n"
