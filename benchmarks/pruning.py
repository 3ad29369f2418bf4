"""How long pruning takes: paths and fronts by size, every method beside growing, selection by folds."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import numpy as np

from benchmarks import comparing, drawing, keeping, measuring, problems, pruners, rpart
from benchmarks.drawing import INK, ONE, TWO, Line
from benchmarks.keeping import Origin, Section
from benchmarks.measuring import Result
from benchmarks.peers import PEERS
from benchmarks.problems import Problem
from benchmarks.reporting import OURS, cpu, find, markdown, seconds, times

PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "pruning.svg"
SCIKIT = "scikit-learn"
MOST_FOR_SCIKIT = 40_000  # rows; its path takes time that grows with their square
PATIENCE = 30.0  # seconds for a method on a table of a million rows, or a selection from a large one
LARGE = 100_000  # rows
ASYMPTOTIC = 3_000  # leaves from which on the growth is fitted
MARK = 0.05  # of the time of growing, for a method that goes through the tree once


def _chance(rows: int, classes: int, quick_rows: int) -> Problem:
    kind = "two classes" if classes else "numbers"
    name = f"{kind}, {rows:,} rows"
    return Problem(name, rows, columns=2, classes=classes, source="chance", quick=rows <= quick_rows)


# Of a target with two classes that is drawn by chance, a tree has a leaf for about 2.7 rows.
PARTS: dict[str, tuple[Problem, ...]] = {
    "paths": (
        *(_chance(n, 0, 10_000) for n in (1_000, 3_000, 10_000, 40_000, 100_000, 300_000, 1_000_000)),
        *(_chance(n, 2, 10_000) for n in (4_000, 40_000, 400_000)),
    ),
    "fronts": (
        *(_chance(n, 0, 5_000) for n in (1_000, 2_000, 5_000, 10_000, 20_000)),
        *(_chance(n, 2, 5_000) for n in (4_000, 20_000, 75_000)),
    ),
    "shares": (
        Problem("100k x 20", 100_000, predicted=50_000, quick=True),
        Problem("1M x 20", 1_000_000, predicted=500_000),
    ),
    "selection": (Problem("10k x 20", 10_000), Problem("100k x 20", 100_000)),
}


def run(chosen: Namespace) -> None:
    """Measure the parts; keep, show and draw them if nothing was left out."""
    measured: dict[str, list[Section]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part, known in PARTS.items():
            selected = comparing.select(known, chosen)
            measured[part] = []
            for problem, following in zip_longest(selected, selected[1:]):
                print(f"pruning: {part}, {problem.name} …", flush=True)
                data = problems.make(problem, folder)
                measured[part].append((problem, _measured(part, problem, data, chosen)))
                comparing.forget(problem, following, folder)
            if measured[part]:
                print(TABLES[part](measured[part]), flush=True)
    if not chosen.partial:
        origin = keeping.here(["treewright", "scikit-learn"])
        origin = replace(origin, versions=origin.versions | rpart.versions())
        keeping.save_parts("pruning", origin, measured)
        keeping.write(keeping.RESULTS / "pruning.md", page(origin, measured))
        keeping.write(PICTURE, picture(origin, measured))


# ---- measuring -------------------------------------------------------------------------------------


def _measured(part: str, problem: Problem, data: Path, chosen: Namespace) -> list[Result]:
    """All who are measured on one problem of a part."""
    limit = chosen.limit
    if part in ("shares", "selection") and problem.rows >= LARGE:
        limit = min(limit, PATIENCE)
    if part == "selection":
        return _selections(problem, data, chosen, limit)
    if part == "shares":  # two at a time: ten tables of a million rows at once are too many
        cells = [(name, 1) for name in ("growing", *pruners.METHODS)]
        pairs = [cells[i : i + 2] for i in range(0, len(cells), 2)]
        return [found for pair in pairs for found in _run(part, problem, data, pair, chosen.seconds, limit)]
    cells = [("all sizes", 1), ("one tree", 1)]
    if part == "paths":
        cells = [(OURS, 1)]
        if problem.rows <= MOST_FOR_SCIKIT and SCIKIT in chosen.peers:
            cells.append((SCIKIT, 1))
    return _run(part, problem, data, cells, chosen.seconds, limit)


def _run(
    part: str, problem: Problem, data: Path, cells: list[tuple[str, int]], least: float, limit: float
) -> list[Result]:
    """Measure in turn who is named, each with so many threads."""
    jobs = [measuring.Job("pruners", problem, f"{part}: {who}", threads, str(data)) for who, threads in cells]
    results = measuring.measure(jobs, least, limit)
    return [
        {"peer": who, "threads": threads} | result
        for (who, threads), result in zip(cells, results, strict=True)
    ]


def _selections(problem: Problem, data: Path, chosen: Namespace, limit: float) -> list[Result]:
    """From the table to the chosen tree; who gives up on one thread is not asked for two."""
    cells = [(OURS, 1), (OURS, 2)]
    if SCIKIT in chosen.peers:
        cells.append((SCIKIT, 1))
    results = _run("selection", problem, data, cells, chosen.seconds, limit)
    if find(results, SCIKIT):
        results += _run("selection", problem, data, [(SCIKIT, 2)], chosen.seconds, limit)
    if set(chosen.peers) == set(PEERS):
        results.append({"peer": "rpart", "threads": 1} | rpart.measure(data, pruners.FOLDS, chosen.limit))
    return results


# ---- showing ---------------------------------------------------------------------------------------


def _told(result: Result | None) -> str:
    """The CPU time, or why there is none."""
    if result is None:
        return "–"
    return f"skipped: {result['skipped']}" if "skipped" in result else cpu(result)


def _paths(sections: Sequence[Section]) -> str:
    lines = []
    for problem, results in sections:
        ours, theirs = find(results, OURS), find(results, SCIKIT)
        leaves = f"{ours['leaves']:,}" if ours else "–"
        lines.append([problem.name, leaves, _told(results[0]), _told(theirs), times(theirs, ours)])
    table = markdown(("tree of", "leaves", "treewright", SCIKIT, "times ours"), lines)
    return f"{table}\n{_growth(sections)}\n"


def _growth(sections: Sequence[Section]) -> str:
    """The powers of the leaves with which the times go up."""
    told = []
    for who in (OURS, SCIKIT):
        power = exponent(points(sections, who, classes=0))
        if power is not None:
            told.append(f"leaves^{power:.2f} ({who})")
    where = f"From {ASYMPTOTIC:,} leaves on, for numbers, the time goes up as "
    return f"{where}{' and '.join(told)}." if told else ""


def points(sections: Sequence[Section], who: str, classes: int) -> list[tuple[float, float]]:
    """Leaves and CPU seconds of one who was measured, for numbers (0) or classes."""
    return [
        (results[0]["leaves"], found["cpu"])
        for problem, results in sections
        if problem.classes == classes and (found := find(results, who)) and "leaves" in results[0]
    ]


def exponent(curve: Sequence[tuple[float, float]]) -> float | None:
    """The slope of log time over log leaves; None for fewer than two large trees.

    >>> round(exponent([(10_000, 1.0), (20_000, 4.0), (40_000, 16.0)]), 6)
    2.0
    """
    large = [point for point in curve if point[0] >= ASYMPTOTIC]
    if len(large) < 2:
        return None
    leaves, took = np.log(large).T
    return float(np.polyfit(leaves, took, 1)[0])


def _fronts(sections: Sequence[Section]) -> str:
    lines = []
    for problem, results in sections:
        whole, one = results
        known = "skipped" not in whole
        memory = f"{max(whole['memory'], 0):.0f}" if known else ""
        leaves = f"{whole['leaves']:,}" if known else "–"
        lines.append([problem.name, leaves, _told(whole), memory, _told(one)])
    return markdown(("tree of", "leaves", "the whole front", "MB", "one tree of it"), lines)


def _shares(sections: Sequence[Section]) -> str:
    head = ["", *(text for problem, _ in sections for text in (problem.name, "of growing", "leaves"))]
    lines = []
    for name in ("growing", *pruners.METHODS):
        cells = [name]
        for _, results in sections:
            grown = find(results, "growing")
            result = next(result for result in results if result["peer"] == name)
            cells += [
                _told(result),
                share(result, grown),
                f"{result.get('leaves', ''):,}" if "leaves" in result else "",
            ]
        lines.append(cells)
    return f"{markdown(head, lines)}\n{_marks(sections)}\n"


def share(result: Result, grown: Result | None) -> str:
    """The time as a share of that of growing."""
    return f"{100 * result['cpu'] / grown['cpu']:.3g} %" if grown and "cpu" in result else ""


def _marks(sections: Sequence[Section]) -> str:
    """Which methods take more than the mark."""
    slow = [
        f"{result['peer']} ({problem.name}: {share(result, grown) or result['skipped']})"
        for problem, results in sections
        if (grown := find(results, "growing"))
        for result in results
        if result["peer"] != "growing" and result.get("cpu", np.inf) >= MARK * grown["cpu"]
    ]
    if not any(find(results, "growing") for _, results in sections):
        return "Growing was not measured."
    told = f"The mark is less than {MARK:.0%} of growing"
    return f"{told}; above it: {', '.join(slow)}." if slow else f"{told}; all methods keep to it."


def _selection(sections: Sequence[Section]) -> str:
    head = ("table", "library", "CPU", "wall", "times ours", "leaves", "held-out accuracy")
    lines = []
    for problem, results in sections:
        for result in results:
            threads = result["threads"]
            name = result["peer"] + (f", {threads} threads" if threads > 1 else "")
            if "skipped" in result:
                lines.append([problem.name, name, _told(result), *[""] * 4])
                continue
            ours = find(results, OURS, threads=threads)
            ratio = times(result, ours, "cpu" if threads == 1 else "wall")
            cells = [cpu(result), seconds(result["wall"]), ratio]
            lines.append([problem.name, name, *cells, f"{result['leaves']:,}", f"{result['score']:.4f}"])
    return markdown(head, lines)


TABLES = {"paths": _paths, "fronts": _fronts, "shares": _shares, "selection": _selection}
HEADINGS = {
    "paths": (
        "The weakest-link path",
        "All subtrees of minimal cost-complexity pruning, with their alphas: `cost_complexity_path(tree)` "
        "beside what scikit-learn's `cost_complexity_pruning_path` does after growing, on trees from the "
        "same rows. The targets are drawn by chance, so that the trees are as large as can be.",
    ),
    "fronts": (
        "The exact front",
        "The smallest pruning for every number of errors (for numbers: of squared error), by "
        "`minimum_errors(tree)`; the memory that this holds at most on top of the tree; and one tree from "
        "the middle of it, made on demand.",
    ),
    "shares": (
        "Methods beside growing",
        "From a tree grown to purity, as `grow` returns it, to the pruned tree; reduced_error by half as "
        "many rows as grew the tree. Growing: `grow` on rows that are encoded already.",
    ),
    "selection": (
        "Selection by 10 folds",
        'From the table to the chosen tree: treewright\'s `encode`, `grow`, `prune`, `select(by="folds")`; '
        "scikit-learn's `GridSearchCV` over `ccp_alpha`, at most 20 alphas of its own path; R's rpart with "
        "cp = 0, minsplit = 2, minbucket = 1, xval = 10, without surrogate and competing splits (its trees "
        "are at most 30 deep). Times ours: CPU on one thread, wall on two.",
    ),
}
HOW = (
    "CPU seconds on one thread unless said otherwise, the least of the runs; libraries take turns on the "
    "same data, each in a process of its own. rpart is timed inside R."
)


def page(origin: Origin, measured: dict[str, list[Section]]) -> str:
    """All parts as a page."""
    parts = ["# Pruning\n", f"{origin}\n", f"{HOW}\n"]
    for part, sections in measured.items():
        title, told = HEADINGS[part]
        parts += [f"## {title}\n", f"{told}\n", TABLES[part](sections)]
    return "\n".join(parts)


def picture(origin: Origin, measured: dict[str, list[Section]]) -> str:
    """How the times of paths and fronts go up."""
    paths, fronts = measured["paths"], measured["fronts"]
    panels = {
        "leaves: the weakest-link path": [
            Line(SCIKIT, points(paths, SCIKIT, 0), "s--", TWO),
            Line("treewright, numbers", points(paths, OURS, 0), "o-", ONE),
            Line("treewright, two classes", points(paths, OURS, 2), "^-", INK),
        ],
        "leaves: the exact front": [
            Line("all sizes, numbers", points(fronts, "all sizes", 0), "o-", ONE),
            Line("all sizes, two classes", points(fronts, "all sizes", 2), "^-", INK),
            Line("one tree, numbers", points(fronts, "one tree", 0), "s--", TWO),
        ],
    }
    shown = {label: [line for line in lines if line.points] for label, lines in panels.items()}
    return drawing.growth(origin, shown, f"treewright {origin.versions['treewright']}, one thread")


def summary(measured: dict[str, list[Section]]) -> str:
    """The part of docs/benchmarks.md: what a hurried reader should know."""
    largest = [(results[0]["leaves"], results) for _, results in measured["paths"] if "leaves" in results[0]]
    beside = [entry for entry in largest if find(entry[1], SCIKIT)]
    told = []
    if beside:
        leaves, results = max(beside, key=lambda entry: entry[0])
        ours, theirs = find(results, OURS), find(results, SCIKIT)
        told.append(
            f"The weakest-link path of a tree of {leaves:,} leaves takes {_told(ours)} "
            f"(scikit-learn: {_told(theirs)})"
        )
    if largest:
        leaves, results = max(largest, key=lambda entry: entry[0])
        told.append(f"of {leaves:,} leaves {_told(find(results, OURS))}")
    fronts = [results for _, results in measured["fronts"] if "leaves" in results[0]]
    if fronts:
        whole, one = max(fronts, key=lambda results: results[0]["leaves"])
        told.append(
            f"the exact front of {whole['leaves']:,} leaves {_told(whole)} and {whole['memory']:.0f} MB, "
            f"one tree of it {_told(one)}"
        )
    return "\n".join([f"{', '.join(told)}.\n", _selection(measured["selection"])])
