"""What it takes to find the best tree and to prove it, beside the solvers of optimal trees and CART."""

from __future__ import annotations

import math
import os
from argparse import Namespace
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from statistics import fmean
from typing import Any

from benchmarks import keeping
from benchmarks.keeping import Origin
from benchmarks.optimising_solvers import CART, EARLY, OURS, PACKAGES, measured, solvers
from benchmarks.optimising_tasks import BINARY, LARGE, MADE, NUMBERS, REAL, Task, is_here, tasks
from benchmarks.reporting import markdown, number, seconds

ROOM = "optimising"
PEERS = ("pycontree", "pystreed")
TITLES = {
    REAL: "Real-valued columns",
    BINARY: "Columns of 0 and 1",
    MADE: "Made-up tables of real-valued columns",
    NUMBERS: "Squared error",
}
HOW = (
    "All solvers search the tree of the fewest training errors of a depth, with every threshold, on one "
    "thread, each in a process of its own, several of them at a time. CPU seconds of the search "
    "until the proof. That of treewright includes the search of a tree with fewer leaves and as few errors, "
    "which takes a quarter of the work again, at most. pystreed takes columns of 0 and 1 only. Published: "
    "the least error in the literature; all that is proved here agrees with it. Times ours: the ratio of "
    "CPU seconds, more than 1 where treewright is faster."
)

Figure = dict[str, Any]  # "task", "results" by solver


def run(chosen: Namespace) -> None:
    """Search the best trees; keep the figures if nothing was left out."""
    own = [task for task in tasks() if is_here(task) and (chosen.only is None or chosen.only in task.name)]
    if chosen.quick:
        own = [task for task in own if task.kind in (REAL, BINARY) and task.depth == 2]
    figures = [{"task": asdict(task), "results": found} for task, found in _found(own, chosen.limit)]
    check(figures)
    origin = keeping.here(PACKAGES)
    print(page(origin, chosen.limit, figures))
    if not chosen.partial:
        keeping.save(ROOM, origin, {"limit": chosen.limit, "tasks": figures})
        keeping.write(keeping.RESULTS / f"{ROOM}.md", page(origin, chosen.limit, figures))


def _found(own: list[Task], limit: float) -> list[tuple[Task, dict[str, Figure]]]:
    """What each solver finds: with one thread several tasks at a time, with more each by itself."""

    def solved(task: Task) -> tuple[Task, dict[str, Figure]]:
        found = {solver: measured(solver, task, limit) for solver in solvers(task)}
        print(f"{ROOM}: {task.name}: {_words(found)}", flush=True)
        return task, found

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        alone = pool.map(solved, [task for task in own if task.threads == 1])
    found = dict([*alone, *(solved(t) for t in own if t.threads > 1)])
    return [(task, found[task]) for task in own]


def _words(found: dict[str, Figure]) -> str:
    return ", ".join(f"{solver} {_time(figure)}" for solver, figure in found.items())


def check(figures: Iterable[Figure]) -> None:
    """Refuse figures in which a proved loss is not the published one, or not that of another solver."""
    wrong = []
    for figure in figures:
        task, results = Task(**figure["task"]), figure["results"]
        if task.kind not in (REAL, BINARY, MADE):
            continue
        losses = {solver: found["loss"] for solver, found in results.items() if _is_solved(solver, found)}
        if task.optimum is not None:
            losses["published"] = task.optimum
        if len(set(losses.values())) > 1:
            wrong.append(f"{task.name}: {losses}")
    if wrong:
        raise ValueError(f"the least losses differ: {'; '.join(wrong)}")


def _is_solved(solver: str, found: Figure) -> bool:
    """Whether a solver has proved what it found."""
    return solver != CART and "loss" in found and bool(found.get("proved", True))


def table(figures: list[Figure], kind: str) -> str:
    """A line for each task of a kind: losses and times."""
    own = [figure for figure in figures if figure["task"]["kind"] == kind]
    peers = [name for name in PEERS if any(name in figure["results"] for figure in own)]
    head = ["table", "published", "least loss", "treewright", *(t for p in peers for t in (p, "times ours"))]
    lines = []
    for figure in own:
        task, results = Task(**figure["task"]), figure["results"]
        ours, cart = results[OURS], results.get(CART, {})
        published = "–" if task.optimum is None else f"{task.optimum:,}"
        cells = [task.name, published, _loss(ours), _time(ours)]
        for peer in peers:
            other = results.get(peer)
            cells += ["–", "–"] if other is None else [_time(other), _times(other, ours)]
        lines.append([*cells, f"{cart['loss']:,.6g}" if "loss" in cart else "–"])
    return markdown([*head, "CART's loss"], lines)


def _loss(found: Figure) -> str:
    """The loss; where it is not proved, with the bound."""
    if "loss" not in found:
        return "–"
    text = f"{found['loss']:,.6g}"
    return text if found["proved"] else f"{text} (bound {found['bound']:,.6g})"


def _time(found: Figure) -> str:
    """The CPU time, or where the search was cut."""
    if "cut" in found:
        return f"cut at {found['cut']:.0f} s"
    if "failure" in found:
        return "failed"
    return seconds(found["cpu"]) if found.get("proved", True) else f"cut at {seconds(found['cpu'])}"


def _times(other: Figure, ours: Figure) -> str:
    """The ratio of CPU seconds, at least so much where the other was cut."""
    if not ours.get("proved", True) or "failure" in other or "cpu" not in ours:
        return "–"
    if "cut" in other:
        return f"> {number(other['cut'] / ours['cpu'])}x"
    return f"{number(other['cpu'] / ours['cpu'])}x"


def in_words(figures: list[Figure], kinds: tuple[str, ...] = (REAL, BINARY, MADE)) -> str:
    """The geometric means of the ratios, and how often a search was cut."""
    sentences = []
    for kind in kinds:
        own = [each["results"] for each in figures if each["task"]["kind"] == kind]
        if not own:
            continue
        proved = [results for results in own if results[OURS].get("proved")]
        parts = [f"treewright proves {len(proved)} of {len(own)} trees"]
        for peer in PEERS:
            tried = [results[peer] for results in own if peer in results]
            ratios = [r[peer]["cpu"] / r[OURS]["cpu"] for r in proved if "cpu" in r.get(peer, {})]
            if not ratios:
                continue
            mean = math.exp(fmean(map(math.log, ratios)))
            faster = sum(ratio > 1 for ratio in ratios)
            parts.append(
                f"{peer} proves {sum('cpu' in found for found in tried)} of {len(tried)} and takes "
                f"{number(mean)}x the CPU time (geometric mean of the {len(ratios)} that both prove; "
                f"treewright is faster in {faster})"
            )
        sentences.append(f"- {TITLES[kind]}: {'; '.join(parts)}.")
    return "\n".join(sentences) + "\n"


def gaps(figures: list[Figure]) -> str:
    """Of searches that were cut: loss and bound after ten seconds of CPU time and at the limit."""
    head = ("table", f"after {EARLY:.0f} s: loss", "bound", "at the limit: loss", "bound", "gap", "published")
    lines = []
    for figure in figures:
        task, ours = Task(**figure["task"]), figure["results"][OURS]
        if "bound" not in ours or ours["proved"]:
            continue
        numbers = [*(ours["early"] or ("–", "–")), ours["loss"], ours["bound"], ours["loss"] - ours["bound"]]
        cells = [each if isinstance(each, str) else f"{each:,.6g}" for each in numbers]
        lines.append([task.name, *cells, "–" if task.optimum is None else f"{task.optimum:,}"])
    return markdown(head, lines) if lines else "None was cut.\n"


def improved(figures: list[Figure]) -> str:
    """A line for each tree whose subtrees were replaced by better ones."""
    lines = []
    for figure in figures:
        found = figure["results"][OURS]
        if figure["task"]["kind"] != LARGE or "before" not in found:
            continue
        sizes = [f"{size:,}" for size in found["leaves"]]
        losses = [f"{found[key]:,.6g}" for key in ("before", "loss")]
        lines.append([Task(**figure["task"]).name, *losses, *sizes, seconds(found["cpu"])])
    head = ("table", "errors before", "after", "leaves before", "after", "CPU")
    return markdown(head, lines) if lines else "None was measured.\n"


def short(kept: Figure) -> str:
    """What docs/benchmarks.md says of it."""
    figures = kept["tasks"]
    return f"{in_words(figures)}\n{table(figures, REAL)}"


def page(origin: Origin, limit: float, figures: list[Figure]) -> str:
    """The figures as a page."""
    parts = ["# Optimising\n", f"{origin}\n", f"{HOW} Each search is cut after {limit:.0f} s of CPU time.\n"]
    parts += ["## In short\n", in_words(figures)]
    kinds = {figure["task"]["kind"] for figure in figures}
    for kind, title in TITLES.items():
        if kind in kinds:
            parts += [f"## {title}\n", table(figures, kind)]
    parts += ["## What is known of trees that were not proved\n", gaps(figures)]
    parts += ["## Better subtrees in a grown tree\n", improved(figures)]
    return "\n".join(parts)
