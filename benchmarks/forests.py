"""Forests beside their peers: growing a hundred trees, answering many rows with them, and their errors."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import comparing, forest_errors, keeping, measuring, problems, ranger, reporting
from benchmarks.forest_peers import EXTRA, FOREST, LIBRARIES, OOB, TREES, Library, columns_drawn, size_of
from benchmarks.growing import score
from benchmarks.keeping import Origin, Section
from benchmarks.measuring import Job, Result
from benchmarks.peers import PEERS
from benchmarks.problems import HELD_OUT, WIDE, Problem
from benchmarks.reporting import OURS, cpu, find, markdown, number, seconds, times
from benchmarks.working import Task

GROWN = (
    Problem("100k x 20", 100_000),
    Problem("10k x 20", 10_000, quick=True),
    Problem("20k x 20 regression", 20_000, classes=0),
    Problem("200 x 10,000", 200, 10_000, source=WIDE),
    Problem("1,000 x 10,000", 1_000, 10_000, source=WIDE),
    Problem("2,000 x 2,000", 2_000, 2_000, source=WIDE),
    Problem("200 x 100,000", 200, 100_000, source=WIDE),
)
ANSWERED = (
    Problem("200k rows, depth 8", 20_000, max_depth=8, predicted=200_000, quick=True),
    Problem("200k rows, deep trees", 20_000, predicted=200_000),
)
WORKS = {"fit": GROWN, "predict": ANSWERED}
RANGER = "ranger"
EXACT = reporting.EXACT | {RANGER}
HOW = (
    f"{TREES} trees from drawn rows, to purity unless a depth is told; a node considers the root of the "
    "number of columns for classes, a third of them for numbers (bagging: all). float32. The whole `fit` or "
    "`predict` call, the least of the runs; what takes long runs once. Each library in a process of its own, "
    "in turn. CPU: one thread, a star where more than one was at work; 2 threads: by the clock. Times ours: "
    "more than 1 where treewright's ensemble of the same kind is faster. Exact: every threshold is "
    "considered; binned: at most 256 per column; drawn: one by chance. Accuracy and R²: of 20,000 further "
    "rows, or of those predicted. Memory: the most held on top of the data during the first run. Size: of "
    "the pickled model (ranger: serialised), for treewright also of its arrays in memory. LightGBM and "
    "XGBoost draw .632 of the rows without replacement; scikit-learn's bagging takes processes for threads."
)


def prepare(job: Job) -> Task:
    """One work of one library: `peer` is "work: library"."""
    work, name = job.peer.split(": ")
    library, problem = LIBRARIES[name], job.problem
    with np.load(job.data) as file:
        data = dict(file)
    library.fit(problem, library.table(data["train"][:200]), data["target"][:200], 1)  # imports what it needs
    table = library.table(data["train"])
    if work == "predict":
        return _answering(library, problem, library.fit(problem, table, data["target"], job.threads), data)
    models: list[Any] = []

    def grow() -> None:
        models.clear()
        models.append(library.fit(problem, table, data["target"], job.threads))

    return Task(grow, lambda: _told(library, problem, models[0], data))


def _answering(library: Library, problem: Problem, model: Any, data: dict[str, Any]) -> Task:
    rows = library.table(data["test"][: problem.predicted].astype(library.dtype))
    model.predict(
        library.table(data["train"][:200].astype(library.dtype))
    )  # what it loads late is not counted
    truth = data["test_target"][: problem.predicted]
    return Task(lambda: model.predict(rows), lambda: {"score": score(problem, model.predict(rows), truth)})


def _told(library: Library, problem: Problem, model: Any, data: dict[str, Any]) -> Result:
    """The score of a forest on held-out rows, by its rows out of bag where it was asked for, and its size."""
    predicted = model.predict(library.table(data["test"][:HELD_OUT]))
    told = {"score": score(problem, predicted, data["test_target"][:HELD_OUT])}
    if library.family == OOB:
        told["out_of_bag"] = float(model.oob_score_)
    return told | size_of(model)


def run(chosen: Namespace) -> None:
    """Measure every library; keep the figures if nothing was left out."""
    measured: dict[str, list[Section]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for work, known in WORKS.items():
            selected, sections = comparing.select(known, chosen), measured.setdefault(work, [])
            for problem, following in zip_longest(selected, selected[1:]):
                print(f"forests: {work} {problem.name} …", flush=True)
                data = problems.make(problem, folder)
                sections.append((problem, _measured(work, problem, data, chosen)))
                print(table(*sections[-1]), flush=True)
                comparing.forget(problem, following, folder)
    if chosen.only is None and chosen.rows is None:
        print("forests: errors …", flush=True)
        figures = forest_errors.measured(quick=chosen.quick)
        measured["errors"] = [(forest_errors.SPAM, figures)]
        print(forest_errors.table(figures), flush=True)
    if not chosen.partial:
        origin = keeping.here(sorted({library.package for library in LIBRARIES.values()}))
        origin = replace(origin, versions=origin.versions | ranger.versions())
        keeping.save_parts("forests", origin, measured)
        keeping.write(keeping.RESULTS / "forests.md", page(origin, measured))


def _measured(work: str, problem: Problem, data: Path, chosen: Namespace) -> list[Result]:
    """The libraries of each family in turn, with one thread and with two; ranger after them."""
    packages = {PEERS[name].package for name in chosen.peers}
    asked = {n: lib for n, lib in LIBRARIES.items() if work in lib.works and lib.package in packages}
    found: list[Result] = []
    for family in dict.fromkeys(library.family for library in asked.values()):
        if problem.source == WIDE and family not in (FOREST, EXTRA):
            continue
        members = [name for name, library in asked.items() if library.family == family]
        for threads in (1, 2) if family != OOB else (1,):
            found += _in_turn(work, problem, members, threads, data, chosen)
    if work == "fit" and len(chosen.peers) == len(PEERS):
        for threads in (1, 2):
            told = ranger.measure(
                problem,
                data,
                trees=TREES,
                columns=columns_drawn(problem),
                threads=threads,
                limit=chosen.limit,
            )
            found.append({"peer": RANGER, "threads": threads} | told)
    return found


def _in_turn(
    work: str, problem: Problem, names: Sequence[str], threads: int, data: Path, chosen: Namespace
) -> list[Result]:
    why = {name: LIBRARIES[name].why_not(problem) for name in names}
    present = [name for name in names if why[name] is None]
    jobs = [Job("forests", problem, f"{work}: {name}", threads, str(data)) for name in present]
    results = dict(zip(present, measuring.measure(jobs, chosen.seconds, chosen.limit), strict=True))
    return [{"peer": name, "threads": threads} | results.get(name, {"skipped": why[name]}) for name in names]


def family_of(name: str) -> str:
    """Which ensembles a line is compared with."""
    return FOREST if name == RANGER else LIBRARIES[name].family


def of_family(results: list[Result], family: str) -> list[Result]:
    """What is compared within a family, under the plain names of the libraries."""
    named = [
        result | {"peer": result["peer"].removesuffix(f", {family}")}
        for result in results
        if family_of(result["peer"]) == family
    ]
    return [result for result in named if not result["peer"].startswith(f"{OURS},")]


def _ours(family: str) -> str:
    return OURS if family == FOREST else f"{OURS}, {family}"


def table(problem: Problem, results: list[Result]) -> str:
    """One line per library, with one thread and with two; below, who is missing and why."""
    measured = "accuracy" if problem.classes else "R²"
    head = ("library", "", "CPU", "times ours", "2 threads", "times ours", measured, "memory MB", "size MB")
    lines = []
    for name in dict.fromkeys(result["peer"] for result in results):
        ours = _ours(family_of(name))
        one, two = (find(results, name, threads=threads) for threads in (1, 2))
        known = one or two
        if known is None:
            continue
        kind = "exact" if name == RANGER else LIBRARIES[name].kind
        cells = [cpu(one) if one else "–", times(one, find(results, ours))]
        cells += [seconds(two["wall"]) if two else "–"]
        cells += [times(two, find(results, ours, threads=2), "wall")]
        lines.append([name, kind, *cells, _score(known), _mb(known, "memory"), _size(known)])
    missing = {_who(result): result["skipped"] for result in results if "skipped" in result}
    return "\n".join([markdown(head, lines), *(f"{name}: {why}.\n" for name, why in missing.items())])


def _who(result: Result) -> str:
    return result["peer"] + (", 2 threads" if result["threads"] > 1 else "")


def _score(result: Result) -> str:
    told = f"{result['score']:.4f}" if "score" in result else "–"
    return told + (f" (out of bag {result['out_of_bag']:.4f})" if "out_of_bag" in result else "")


def _size(result: Result) -> str:
    return _mb(result, "size") + (f" ({number(result['held'])} in memory)" if "held" in result else "")


def _mb(result: Result, what: str) -> str:
    return number(max(result[what], 0.0)) if what in result else "–"


def short(measured: dict[str, list[Section]]) -> str:
    """A line per problem and family, where treewright is behind, and the errors in a sentence."""
    sections: list[Section] = []
    for work in WORKS:
        for problem, results in measured[work]:
            for family in dict.fromkeys(family_of(result["peer"]) for result in results):
                members = of_family(results, family)
                if family != OOB and find(members, "scikit-learn"):
                    name = f"{family} {problem.name}" if work == "fit" else problem.name
                    sections.append((replace(problem, name=name), members))
    parts = [reporting.summary(sections, f"{TREES} trees", EXACT), f"{reporting.wins_and_losses(sections)}\n"]
    return "\n".join([*parts, f"{forest_errors.sentence(measured['errors'][0][1])}\n"])


def page(origin: Origin, measured: dict[str, list[Section]]) -> str:
    """The figures as a page."""
    parts = ["# Forests\n", f"{origin}\n", f"{HOW}\n"]
    for work, title in (("fit", "Growing"), ("predict", "Predicting")):
        for problem, results in measured[work]:
            parts += [f"## {title}: {problem.name}\n", f"{problem.describe()}\n", table(problem, results)]
    parts += [
        "## Errors on e-mails\n",
        f"{forest_errors.HOW}\n",
        forest_errors.table(measured["errors"][0][1]),
    ]
    return "\n".join(parts)
