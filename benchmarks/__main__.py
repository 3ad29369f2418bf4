"""`python -m benchmarks`: measure, print tables, and write them to benchmarks/results."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import measuring, problems, reporting
from benchmarks.peers import PEERS, Peer
from benchmarks.problems import Problem

ROOMS = ("growing", "predicting")
RESULTS = Path(__file__).parent / "results"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("rooms", nargs="*", help=f"what to measure: {', '.join(ROOMS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="a few small problems, in two minutes")
    parser.add_argument("--rows", type=int, help="only problems with at most so many rows")
    parser.add_argument("--only", help="only problems whose name contains this")
    parser.add_argument("--peers", help=f"only these, separated by commas: {', '.join(PEERS)}")
    parser.add_argument(
        "--seconds", type=float, default=3.0, help="repeat each measurement for so long (default 3)"
    )
    parser.add_argument(
        "--limit", type=float, default=600.0, help="give up on a measurement after so long (default 600)"
    )
    parser.add_argument("--packages", action="store_true", help="print the PyPI names of the peers and stop")
    chosen = parser.parse_args()
    unknown = [f"{name!r}" for name in chosen.rooms if name not in ROOMS]
    if unknown:
        parser.error(f"there is nothing to measure called {', '.join(unknown)}; known: {', '.join(ROOMS)}")
    chosen.peers = [name.strip() for name in chosen.peers.split(",")] if chosen.peers else list(PEERS)
    unknown = [f"{name!r}" for name in chosen.peers if name not in PEERS]
    if unknown:
        parser.error(f"there is no peer called {', '.join(unknown)}; known: {', '.join(PEERS)}")
    return chosen


def select(room: str, chosen: argparse.Namespace) -> list[Problem]:
    """The problems that the options ask for."""
    return [
        problem
        for problem in import_module(f"benchmarks.{room}").PROBLEMS
        if (not chosen.quick or problem.quick)
        and (chosen.rows is None or max(problem.rows, problem.predicted) <= chosen.rows)
        and (chosen.only is None or chosen.only in problem.name)
    ]


def measure(
    room: str, problem: Problem, chosen: argparse.Namespace, folder: Path
) -> Iterator[dict[str, Any]]:
    """Every peer on one problem, each in a process of its own; treewright also with two threads."""
    data = problems.make(problem, folder)
    seconds = min(chosen.seconds, 1.0) if chosen.quick else chosen.seconds
    for peer in (PEERS[name] for name in chosen.peers):
        for threads in (1, 2) if peer.name == reporting.OURS else (1,):
            job = measuring.Job(room, problem, peer.name, threads, str(data), seconds)
            skipped = why_not(peer, problem)
            result = {"skipped": skipped} if skipped else measuring.run(job, chosen.limit)
            yield {"peer": peer.name, "threads": threads, **result}
    data.unlink()


def why_not(peer: Peer, problem: Problem) -> str | None:
    """Why a peer is not measured on a problem."""
    lacking = sorted(problem.needs & peer.cannot)
    return peer.missing() or (f"cannot do {', '.join(lacking)} in one tree" if lacking else None)


def main() -> None:
    chosen = options()
    if chosen.packages:
        packages = {peer.package for peer in PEERS.values()} - {reporting.OURS}
        print(*sorted(packages), sep="\n")
        return
    for room in chosen.rooms or ROOMS:
        sections = []
        with tempfile.TemporaryDirectory() as folder:
            for problem in select(room, chosen):
                print(f"{room}: {problem.name} …", flush=True)
                results = list(measure(room, problem, chosen, Path(folder)))
                sections.append((problem, results))
                print(reporting.table(problem, results), flush=True)
        print(reporting.summary(sections))
        part = chosen.quick or chosen.rows or chosen.only or len(chosen.peers) < len(PEERS)
        write(room, f"{room}-partial" if part else room, sections)


def write(room: str, name: str, sections: list[tuple[Problem, list[reporting.Result]]]) -> None:
    """Keep the results as a page and as data."""
    command = " ".join(["python -m benchmarks", *sys.argv[1:]])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(reporting.page(room, command, sections))
    kept = [{"problem": asdict(problem), "results": results} for problem, results in sections]
    (RESULTS / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
