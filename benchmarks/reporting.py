"""The results as tables: all measurements of a problem, one line per problem for the hurried, the cliffs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from benchmarks.keeping import Origin, Section
from benchmarks.measuring import Result
from benchmarks.peers import PEERS
from benchmarks.problems import Problem

OURS = "treewright"
EXACT = frozenset(name for name, peer in PEERS.items() if peer.exact)
PLAIN = Problem("100k x 20", 100_000)  # what the cliffs are measured from
THREADS_SEEN = 1.1  # CPU seconds per second from which one thread is no longer believed
LEAST_INPUT = 0.5  # MB of input from which the memory is told as a multiple of it

HOW = (
    "The libraries take turns on the same data, each in a process of its own; a figure is the least of the "
    "runs. CPU counts every thread; a star marks more than one at work where one was asked for. Times ours: "
    "the ratio of CPU seconds, more than 1 where treewright is faster. Exact: every threshold is considered; "
    "binned: at most 256 per column. Memory: the most held at once during the first run on top of the data, "
    "the imported library and a small warm-up; also as a multiple of the table in float32."
)


def page(room: str, origin: Origin, sections: Sequence[Section]) -> str:
    """A whole page of results."""
    parts = [f"# {room.capitalize()}\n", f"{origin}\n", f"{HOW}\n", "## In short\n", summary(sections)]
    parts.append(f"{wins_and_losses(sections)}\n")
    steps = cliffs(sections)
    if steps:
        parts += [
            "## No cliffs\n",
            f"{PLAIN.describe()}, two classes; and what else costs beside it (CPU).\n",
            steps,
        ]
    for problem, results in sections:
        parts += [f"## {problem.name}\n", f"{problem.describe()}\n", table(problem, results)]
    return "\n".join(parts)


def summary(sections: Sequence[Section], title: str = "problem", exact_peers: Collection[str] = EXACT) -> str:
    """One line per problem: our time, and how many times as long the others take (CPU, one thread).

    The gain of 2 threads is one of wall time, the memory a multiple of the table in float32.
    """
    head = (
        title,
        "treewright CPU",
        "scikit-learn",
        "fastest exact peer",
        "fastest binned peer",
        "gain of 2 threads",
        "memory",
    )
    lines = []
    for problem, results in sections:
        ours = find(results, OURS)
        if ours is None:
            continue
        cells = [problem.name, cpu(ours), times(find(results, "scikit-learn"), ours)]
        for exact in (True, False):
            others = [other for other in peers(results) if (other["peer"] in exact_peers) is exact]
            fastest = min(others, key=lambda other: other["cpu"], default=None)
            cells.append(f"{times(fastest, ours)} ({fastest['peer']})" if fastest else "–")
        cells += [times(ours, find(results, OURS, threads=2), "wall"), memory_ratio(problem, ours)]
        lines.append(cells)
    return markdown(head, lines)


def wins_and_losses(sections: Sequence[Section]) -> str:
    """How often treewright takes less CPU time than a peer, and where it does not."""
    ratios = [
        (other["cpu"] / ours["cpu"], problem.name, other["peer"])
        for problem, results in sections
        if (ours := find(results, OURS)) is not None
        for other in peers(results)
    ]
    if not ratios:
        return "No peer was measured."
    losses = sorted(ratio for ratio in ratios if ratio[0] < 1)
    wins = len(ratios) - len(losses)
    told = f"treewright takes less CPU time in {wins} of {len(ratios)} comparisons with a peer"
    where = ", ".join(f"{name} ({peer} {number(ratio)}x)" for ratio, name, peer in losses)
    return f"{told}; more in: {where}." if losses else f"{told}."


def cliffs(sections: Sequence[Section]) -> str | None:
    """What each speciality costs beside the plain problem of the same size; None if that was not measured."""
    plain = next((results for problem, results in sections if _speciality(problem) == ""), None)
    if plain is None:
        return None
    names = (OURS, "scikit-learn")
    lines = []
    for problem, results in sections:
        speciality = _speciality(problem)
        if speciality is None:
            continue
        cells = [speciality or "plain"]
        for name in names:
            here, there = find(results, name), find(plain, name)
            cells += [cpu(here) if here else "–", times(here, there)]
        lines.append(cells)
    head = ["", *(text for name in names for text in (name, "times plain"))]
    return markdown(head, lines)


def _speciality(problem: Problem) -> str | None:
    """What a problem has that the plain one of its size has not; None if size or limits differ."""
    kept = {"name": PLAIN.name, "quick": PLAIN.quick}
    changed = {"classes": 2, "dtype": PLAIN.dtype, "distinct": None, "missing": 0.0, "categories": 0}
    if replace(problem, **kept, **changed, weighted=False) != PLAIN:
        return None
    return problem.name.removeprefix(PLAIN.name).strip()


def table(problem: Problem, results: list[Result]) -> str:
    """All measurements of one problem."""
    ours = find(results, OURS)
    measured = "accuracy" if problem.classes else "R²"
    head = (
        "library",
        "",
        "CPU",
        "wall",
        "times ours",
        "leaves",
        f"held-out {measured}",
        "memory MB",
        "x input",
    )
    lines = []
    for result in results:
        name = result["peer"] + (f", {result['threads']} threads" if result["threads"] > 1 else "")
        kind = "exact" if PEERS[result["peer"]].exact else "binned"
        if "skipped" in result:
            lines.append([name, kind, f"skipped: {result['skipped']}", *[""] * (len(head) - 3)])
            continue
        leaves, score = result.get("leaves"), result.get("score")
        lines.append(
            [
                name,
                kind,
                cpu(result),
                seconds(result["wall"]),
                times(result, ours),
                "?" if leaves is None else f"{leaves:,}",
                "–" if score is None else f"{score:.4f}",
                f"{result['memory']:.0f}",
                memory_ratio(problem, result),
            ]
        )
    return markdown(head, lines)


def find(results: list[Result], peer: str, *, threads: int = 1) -> Result | None:
    """What was measured of a peer; None if it was not."""
    for result in results:
        if result["peer"] == peer and result["threads"] == threads and "cpu" in result:
            return result
    return None


def peers(results: list[Result]) -> list[Result]:
    """What was measured of the others on one thread."""
    return [
        result for result in results if result["peer"] != OURS and result["threads"] == 1 and "cpu" in result
    ]


def cpu(result: Result) -> str:
    """CPU seconds, with a star where more threads were at work than asked for."""
    star = "*" if result["threads"] == 1 and result.get("busy", 1.0) > THREADS_SEEN else ""
    return seconds(result["cpu"]) + star


def times(result: Result | None, ours: Result | None, clock: str = "cpu") -> str:
    """How many times as long as ours."""
    return f"{number(result[clock] / ours[clock])}x" if result and ours else "–"


def memory_ratio(problem: Problem, result: Result) -> str:
    """The memory as a multiple of the table in float32, where the table has a size to speak of."""
    if problem.input_mb < LEAST_INPUT:
        return "–"
    return f"{number(max(result['memory'], 0) / problem.input_mb)}x"


def seconds(value: float) -> str:
    """Three digits, in microseconds or milliseconds where that reads better."""
    for scale, unit in ((1e-6, "µs"), (1e-3, "ms")):
        if value < 999.5 * scale:
            return f"{number(value / scale)} {unit}"
    return f"{number(value)} s"


def number(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{value:.3g}" if value < 999.5 else f"{value:,.0f}"


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table, aligned to be read as text as well."""
    rows = [head, [""] * len(head), *lines]
    widths = [max(3, *(len(row[k]) for row in rows)) for k in range(len(head))]
    rows[1] = ["-" * width for width in widths]
    padded = (" | ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(f"| {row} |" for row in padded) + "\n"
