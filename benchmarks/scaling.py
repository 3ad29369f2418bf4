"""How the time to grow one tree goes up with rows, columns, classes and depth; treewright alone."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from benchmarks import comparing, drawing, keeping, problems
from benchmarks.keeping import Origin, Section
from benchmarks.problems import Problem
from benchmarks.reporting import OURS, find, markdown, memory_ratio, seconds

PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "scaling.svg"
SECONDS = 0.5  # for each figure; there are many


@dataclass(frozen=True)
class Curve:
    """One thing that is varied, the others held."""

    name: str
    held: str  # what does not change, for the heading
    problems: tuple[Problem, ...]


CURVES = (
    Curve(
        "rows",
        "10 columns, two classes, to purity",
        tuple(
            Problem(f"{n:,}", n, columns=10, quick=n <= 30_000)
            for n in (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
        ),
    ),
    Curve(
        "columns",
        "10,000 rows, two classes, to purity",
        tuple(Problem(f"{d:,}", 10_000, columns=d, quick=d <= 30) for d in (10, 30, 100, 300, 1000)),
    ),
    Curve(
        "classes",
        "100,000 rows, 20 columns, to purity",
        tuple(Problem(f"{k}", 100_000, classes=k, quick=k <= 3) for k in (2, 3, 5, 10, 30, 100)),
    ),
    Curve(
        "depth limit",
        "1,000,000 rows, 20 columns, two classes",
        tuple(
            Problem("none" if depth is None else f"{depth}", 1_000_000, max_depth=depth)
            for depth in (1, 2, 4, 8, 16, None)
        ),
    ),
)


def run(chosen: Namespace) -> None:
    """Measure the curves with one thread and with two; keep and draw them if nothing was left out."""
    ours = Namespace(peers=[OURS], seconds=min(chosen.seconds, SECONDS), limit=chosen.limit)
    measured = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for curve in CURVES:
            selected = comparing.select(curve.problems, chosen)
            sections: list[Section] = []
            for problem, following in zip_longest(selected, selected[1:]):
                print(f"scaling: {curve.name} {problem.name} …", flush=True)
                data = problems.make(problem, folder)
                sections.append((problem, comparing.compare("growing", problem, ours, data)))
                comparing.forget(problem, following, folder)
            measured[curve.name] = sections
    print("\n".join(table(name, sections) for name, sections in measured.items() if sections))
    if not chosen.partial:
        origin = keeping.here(["treewright"])
        keeping.save_parts("scaling", origin, measured)
        keeping.write(keeping.RESULTS / "scaling.md", page(origin, measured))
        keeping.write(PICTURE, drawing.picture(origin, measured))


def page(origin: Origin, measured: dict[str, list[Section]]) -> str:
    """The curves as tables."""
    parts = [
        "# Scaling\n",
        f"{origin}\n",
        "The whole `fit` call of one tree: CPU seconds on one thread, wall seconds on two, the least of the "
        "runs. Memory: the most held at once on top of the table, as a multiple of the table in float32.\n",
    ]
    held = {curve.name: curve.held for curve in CURVES}
    for name, sections in measured.items():
        parts += [f"## By {name}\n", f"{held[name]}\n", table(name, sections)]
    return "\n".join(parts)


def table(name: str, sections: Sequence[Section]) -> str:
    """One curve."""
    lines = []
    for problem, results in sections:
        one, two = find(results, OURS), find(results, OURS, threads=2)
        if one is None or two is None:
            told = next(result["skipped"] for result in results if "skipped" in result)
            lines.append([problem.name, f"skipped: {told}", *[""] * 4])
            continue
        lines.append(
            [
                problem.name,
                seconds(one["cpu"]),
                seconds(two["wall"]),
                f"{one['leaves']:,}",
                f"{one['depth']}",
                memory_ratio(problem, one),
            ]
        )
    return markdown((name, "CPU, 1 thread", "wall, 2 threads", "leaves", "depth", "memory"), lines)
