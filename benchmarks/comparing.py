"""treewright beside its peers on the problems of a room: measured in turn, shown as tables."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import Any

from benchmarks import keeping, measuring, problems, reporting
from benchmarks.keeping import Section
from benchmarks.peers import PEERS
from benchmarks.problems import Problem


def run(room: str, chosen: Namespace) -> None:
    """Measure the problems that the options ask for; keep the results if nothing was left out."""
    sections: list[Section] = []
    selected = select(import_module(f"benchmarks.{room}").PROBLEMS, chosen)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for problem, following in zip_longest(selected, selected[1:]):
            print(f"{room}: {problem.name} …", flush=True)
            results = compare(room, problem, chosen, problems.make(problem, folder))
            sections.append((problem, results))
            print(reporting.table(problem, results), flush=True)
            forget(problem, following, folder)
    print(reporting.summary(sections))
    if not chosen.partial:
        origin = keeping.here()
        keeping.save_sections(room, origin, sections)
        keeping.write(keeping.RESULTS / f"{room}.md", reporting.page(room, origin, sections))


def select(known: tuple[Problem, ...], chosen: Namespace) -> list[Problem]:
    """The problems that the options ask for."""
    return [
        problem
        for problem in known
        if (not chosen.quick or problem.quick)
        and (chosen.rows is None or max(problem.rows, problem.predicted) <= chosen.rows)
        and (chosen.only is None or chosen.only in problem.name)
    ]


def compare(room: str, problem: Problem, chosen: Namespace, data: Path) -> list[dict[str, Any]]:
    """Every peer on one problem; treewright also with two threads, in predicting all that can use them."""
    cells = [
        (peer, threads)
        for peer in (PEERS[name] for name in chosen.peers)
        for threads in (1, 2)
        if threads == 1 or (peer.threaded and (room == "predicting" or peer.name == reporting.OURS))
    ]
    skipped = {peer.name: peer.why_not(problem) for peer, _ in cells}
    jobs = {
        (peer.name, threads): measuring.Job(room, problem, peer.name, threads, str(data))
        for peer, threads in cells
        if not skipped[peer.name]
    }
    measured = measuring.measure(list(jobs.values()), chosen.seconds, chosen.limit)
    results = dict(zip(jobs, measured, strict=True))
    return [
        {"peer": peer.name, "threads": threads}
        | results.get((peer.name, threads), {"skipped": skipped[peer.name]})
        for peer, threads in cells
    ]


def forget(problem: Problem, following: Problem | None, folder: Path) -> None:
    """Remove the data of a problem unless the next one uses it too."""
    data = problems.file_of(problem, folder)
    if following is None or problems.file_of(following, folder) != data:
        data.unlink()
