"""k-d trees beside their peers: building, exact search, and what defeatist search saves and loses."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import comparing, keeping, measuring
from benchmarks.keeping import Origin, Section
from benchmarks.measuring import Job, Result
from benchmarks.peers import version_of
from benchmarks.problems import Problem
from benchmarks.reporting import markdown, number, seconds
from benchmarks.working import Task

PROBLEMS = (
    Problem("1M x 3", 1_000_000, columns=3, predicted=100_000),
    Problem("200k x 8", 200_000, columns=8, predicted=10_000),
    Problem("50k x 16", 50_000, columns=16, predicted=1_000),
    Problem("20k x 3", 20_000, columns=3, predicted=2_000, quick=True),
)
WORKS = ("build", "k = 1", "k = 5")
SPILLS = (0.0, 0.02, 0.05, 0.1)
LEAF_SIZES = (40, 160)
OURS = "treewright"
HOW = (
    "Even points and queries in a cube, float64 unless the name says float32. Seconds by the clock, with one "
    "thread and with two, the least of the runs; each library in a process of its own, in turn. CPU: of "
    "building and k = 1 together. Times treewright: building and k = 1, by the clock, beside treewright of "
    "the same type of numbers. cKDTree, unbalanced: `balanced_tree=False, compact_nodes=False`. Libraries "
    "that build or search with one thread only do so in both tables."
)
HOW_DEFEATIST = (
    "Defeatist search among the points of the first table, one thread: what a tree keeps of each point, what "
    "a query looks at, the share of queries whose nearest neighbour is found, how much farther the answer is "
    "on average, and seconds for all queries."
)


@dataclass(frozen=True)
class Library:
    """How a library builds a tree and asks it."""

    package: str
    dtype: str
    build: Callable[[Any, int], Any]
    ask: Callable[[Any, Any, int, int], Any]


def _ours(points: Any, threads: int) -> Any:
    from treewright import KDTree

    return KDTree(points, n_jobs=threads)


def _scipy(points: Any, threads: int) -> Any:
    from scipy.spatial import cKDTree

    return cKDTree(points)


def _scipy_unbalanced(points: Any, threads: int) -> Any:
    from scipy.spatial import cKDTree

    return cKDTree(points, balanced_tree=False, compact_nodes=False)


def _sklearn(points: Any, threads: int) -> Any:
    from sklearn.neighbors import KDTree

    return KDTree(points)


def _pykdtree(points: Any, threads: int) -> Any:  # takes its threads from the environment
    from pykdtree.kdtree import KDTree

    return KDTree(points)


def _plainly(tree: Any, queries: Any, k: int, threads: int) -> Any:
    return tree.query(queries, k=k)


def _with_workers(tree: Any, queries: Any, k: int, threads: int) -> Any:
    return tree.query(queries, k=k, workers=threads)


LIBRARIES = {
    OURS: Library("treewright", "float64", _ours, _plainly),
    f"{OURS}, float32": Library("treewright", "float32", _ours, _plainly),
    "pykdtree": Library("pykdtree", "float64", _pykdtree, _plainly),
    "pykdtree, float32": Library("pykdtree", "float32", _pykdtree, _plainly),
    "cKDTree, unbalanced": Library("scipy", "float64", _scipy_unbalanced, _with_workers),
    "cKDTree": Library("scipy", "float64", _scipy, _with_workers),
    "scikit-learn KDTree": Library("scikit-learn", "float64", _sklearn, _plainly),
}


def points_of(problem: Problem, dtype: str) -> tuple[Any, Any]:
    """The points and the queries of a problem."""
    random = np.random.default_rng(0)
    points = random.random((problem.rows, problem.columns)).astype(dtype)
    return points, random.random((problem.predicted, problem.columns)).astype(dtype)


def prepare(job: Job) -> Task:
    """One work of one library: `peer` is "library: work"."""
    name, work = job.peer.split(": ")
    library = LIBRARIES[name]
    points, queries = points_of(job.problem, library.dtype)
    library.build(points[:2], 1)  # imports what it needs
    if work == "build":
        return Task(lambda: library.build(points, job.threads), dict)
    tree, k = library.build(points, job.threads), int(work.split()[-1])
    return Task(lambda: library.ask(tree, queries, k, job.threads), dict)


def run(chosen: Namespace) -> None:
    """Measure every library; keep the figures if nothing was left out."""
    sections: list[Section] = []
    selected = comparing.select(PROBLEMS, chosen)
    for problem in selected:
        print(f"neighbours: {problem.name} …", flush=True)
        sections.append((problem, _measured(problem, chosen)))
        print(table(sections[-1][1], 1), table(sections[-1][1], 2), sep="\n", flush=True)
    if not selected:
        return
    figures = defeatist(selected[0])
    print(defeatist_table(figures))
    if not chosen.partial:
        origin = keeping.here(sorted({library.package for library in LIBRARIES.values()}))
        keeping.save_parts("neighbours", origin, {"exact": sections, "defeatist": [(selected[0], figures)]})
        keeping.write(keeping.RESULTS / "neighbours.md", page(origin, sections, figures))


def _measured(problem: Problem, chosen: Namespace) -> list[Result]:
    """All libraries in turn, one work and one number of threads after the other."""
    present = [name for name, library in LIBRARIES.items() if version_of(library.package) is not None]
    found = []
    for threads in (1, 2):
        for work in WORKS:
            jobs = [Job("neighbours", problem, f"{name}: {work}", threads, "") for name in present]
            results = measuring.measure(jobs, chosen.seconds, chosen.limit)
            found += [
                {"peer": name, "work": work, "threads": threads} | result
                for name, result in zip(present, results, strict=True)
            ]
    return found


def table(results: Sequence[Result], threads: int) -> str:
    """One line per library."""
    by_name: dict[str, dict[str, Result]] = {}
    for result in results:
        if result["threads"] == threads:
            by_name.setdefault(result["peer"], {})[result["work"]] = result
    lines = []
    for name, works in by_name.items():
        cells = [seconds(works[w]["wall"]) if "wall" in works[w] else works[w]["skipped"] for w in WORKS]
        rival = by_name.get(f"{OURS}, float32" if name.endswith("float32") else OURS, {})
        its, ours = _total(works, "wall"), _total(rival, "wall")
        ratio = f"{number(its / ours)}x" if its and ours else "–"
        cpu = _total(works, "cpu")
        lines.append([name, *cells, seconds(its) if its else "–", seconds(cpu) if cpu else "–", ratio])
    head = (f"{threads} thread{'s' * (threads > 1)}", *WORKS, "build + k = 1", "CPU", "times treewright")
    return markdown(head, lines)


def _total(works: dict[str, Result], clock: str) -> float | None:
    """Building and k = 1 together."""
    parts = [works.get(work, {}).get(clock) for work in WORKS[:2]]
    return None if None in parts else sum(parts)


def defeatist(problem: Problem) -> list[Result]:
    """What defeatist search finds in trees of several spills, and how long it takes."""
    from treewright import KDTree, defeatist_curve

    points, queries = points_of(problem, "float64")
    curve = defeatist_curve(points, queries, spills=SPILLS, leaf_sizes=LEAF_SIZES)
    figures: list[Result] = [
        {
            "spill": float(curve.spill[i]),
            "leaf_size": int(curve.leaf_size[i]),
            "copies": float(curve.copies[i]),
            "visited": float(curve.n_visited[i]),
            "found": float(curve.exact_share[i]),
            "distance": float(curve.distance_ratio[i]),
        }
        for i in range(len(curve.spill))
    ]
    figures.append({"copies": 1.0, "visited": curve.n_visited_exact, "found": 1.0, "distance": 1.0})
    for figure in figures:
        tree = KDTree(points, figure.get("leaf_size", LEAF_SIZES[0]), spill=figure.get("spill", 0.0))
        figure["wall"] = _least(tree, queries, "defeatist" if "spill" in figure else "exact")
    return figures


def _least(tree: Any, queries: Any, search: str) -> float:
    taken = []
    for _ in range(5):
        began = time.perf_counter()
        tree.query(queries, search=search)
        taken.append(time.perf_counter() - began)
    return min(taken)


def defeatist_table(figures: Sequence[Result]) -> str:
    """One line per tree; the last one is exact search."""
    lines = [
        [
            f"{figure['spill']:g}" if "spill" in figure else "exact search",
            f"{figure.get('leaf_size', LEAF_SIZES[0])}",
            f"{figure['copies']:.2f}",
            f"{figure['visited']:.1f}",
            f"{100 * figure['found']:.1f} %",
            f"{figure['distance']:.3f}",
            seconds(figure["wall"]),
        ]
        for figure in figures
    ]
    return markdown(("spill", "leaf_size", "copies", "looked at", "found", "distance", "queries"), lines)


def short(measured: dict[str, list[Section]]) -> str:
    """A line per problem: our seconds to build and to find one neighbour, and those of the others beside."""
    others = [name for name in LIBRARIES if not name.startswith(OURS) and not name.endswith("float32")]
    lines = []
    for problem, results in measured["exact"]:
        walls = [_alone(results, name) for name in (OURS, *others)]
        ours = walls[0]
        ratios = [f"{number(wall / ours)}x" if wall and ours else "–" for wall in walls[1:]]
        lines.append([problem.name, f"{problem.predicted:,}", seconds(ours) if ours else "–", *ratios])
    how = "Seconds by the clock, one thread, float64: building a tree and finding the nearest of each query."
    return f"{markdown(('nearest neighbours', 'queries', OURS, *others), lines)}\n{how}\n"


def _alone(results: Sequence[Result], name: str) -> float | None:
    """The seconds of a library with one thread, by the clock."""
    works = {told["work"]: told for told in results if told["peer"] == name and told["threads"] == 1}
    return _total(works, "wall")


def page(origin: Origin, sections: Sequence[Section], figures: Sequence[Result]) -> str:
    """The figures as a page."""
    parts = ["# Neighbours\n", f"{origin}\n", f"{HOW}\n"]
    for problem, results in sections:
        title = f"{problem.rows:,} points x {problem.columns} columns, {problem.predicted:,} queries"
        parts += [f"## {problem.name}\n", f"{title}\n", table(results, 1), table(results, 2)]
    return "\n".join([*parts, "## Defeatist search\n", f"{HOW_DEFEATIST}\n", defeatist_table(figures)])
