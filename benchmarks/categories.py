"""What many-valued categories cost and are worth: our trees and forests beside LightGBM, YDF and CatBoost."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from statistics import mean, stdev
from typing import Any

from benchmarks import keeping
from benchmarks.category_methods import ENSEMBLES, TREE_METHODS, Method, absent, default, has_plain, score
from benchmarks.category_tables import Table, split, tables, without
from benchmarks.keeping import Origin
from benchmarks.reporting import markdown, seconds

SEEDS, QUICK_SEEDS = 5, 2
WITHOUT = "without the column"
OURS, PLAIN = "treewright", "treewright, plain"
HARM = 0.01  # what a noise column may cost
KEPT = 0.95  # the share of plain's advantage that an informative column must keep
PACKAGES = ("treewright", "scikit-learn", "lightgbm", "ydf", "catboost", "category_encoders")
HOW = (
    "60 % of the rows grow a model, 20 % prune or stop it, 20 % test it; means over the seeds, each with its "
    "own table (the real ones: its own rows and split), ± the standard error. Accuracy, or R² where the "
    "target is numbers. Made tables have 12,000 rows and 8 numbers beside the column of names. The first "
    "column is our tree without the many-valued columns; bold is best among the single trees. Single trees "
    "are pruned by the same 20 % (cost complexity for ours; YDF in its own way; LightGBM by the number of "
    "leaves), and all libraries have their defaults otherwise. CPU is the mean time of a fit and its "
    "answers, its pruning included, on one thread."
)

Figure = dict[str, Any]  # "table", "role", "kind", "scores": by method those of the seeds, "cpu": means


def run(chosen: Namespace) -> None:
    """Measure every method on every table; keep the figures if nothing was left out."""
    methods = TREE_METHODS | ({} if chosen.quick else ENSEMBLES)
    missing = {name: absent(name) for name in methods}
    present = {name: method for name, method in methods.items() if missing[name] is None}
    figures = measured(present, QUICK_SEEDS if chosen.quick else SEEDS, chosen.only or "")
    gone = sorted({package for package in missing.values() if package is not None})
    origin = keeping.here(PACKAGES)
    text = page(origin, figures, gone)
    print(text)
    if not chosen.partial:
        keeping.save("categories", origin, {"tables": figures, "absent": gone})
        keeping.write(keeping.RESULTS / "categories.md", text)


def measured(methods: dict[str, Method], seeds: int, only: str = "") -> list[Figure]:
    """A figure for each table, with the scores of every seed."""
    found: dict[str, Figure] = {}
    for seed in range(seeds):
        for table in tables(seed):
            if only not in table.name:
                continue
            print(f"categories: {table.name}, seed {seed} …", flush=True)
            figure = found.setdefault(table.name, _empty(table))
            for name, value, took in _scores(table, methods, seed):
                figure["scores"].setdefault(name, []).append(value)
                figure["seconds"].setdefault(name, []).append(took)
    return list(found.values())


def _empty(table: Table) -> Figure:
    return {"table": table.name, "role": table.role, "kind": table.kind, "scores": {}, "seconds": {}}


def _scores(table: Table, methods: dict[str, Method], seed: int) -> Iterator[tuple[str, float, float]]:
    """(method, score on test rows, CPU seconds), our tree without the many-valued columns first."""
    *rows, test = split(without(table), seed)
    yield WITHOUT, score(test, default(*rows, test)), 0.0
    *rows, test = split(table, seed)
    for name, method in methods.items():
        began = time.process_time()
        try:
            answers = method(*rows, test)
        except NotImplementedError:
            continue
        yield name, score(test, answers), time.process_time() - began


# ---- showing ----------------------------------------------------------------------------------------


def page(origin: Origin, figures: Sequence[Figure], gone: Sequence[str] = ()) -> str:
    """The tables of single trees, of ensembles and of times, and whether the marks are met."""
    seeds = max((len(figure["scores"][WITHOUT]) for figure in figures), default=0)
    parts = ["# Categories with many values\n", f"{origin}\n", f"{HOW} There were {seeds} seeds.\n"]
    if gone:
        parts.append(f"Not installed, hence left out: {', '.join(gone)}.\n")
    if not has_plain():
        parts.append("This version has no correction of category gains: both of our columns are plain.\n")
    parts += ["## Marks\n", marks(figures), "## Single trees\n", shown(figures, TREE_METHODS)]
    if any(set(ENSEMBLES) & set(figure["scores"]) for figure in figures):
        parts += ["## Ensembles\n", shown(figures, ENSEMBLES), "## CPU\n", times(figures)]
    return "\n".join(parts)


def marks(figures: Sequence[Figure]) -> str:
    """What noise costs our tree, and what share of plain's advantage an informative column keeps."""
    lines = []
    for figure in figures:
        scores = {name: mean(values) for name, values in figure["scores"].items()}
        if figure["role"] == "noise":
            told, met = _harm(scores[WITHOUT], scores[OURS])
            lines.append([figure["table"], told, _harm(scores[WITHOUT], scores[PLAIN])[0], _word(met)])
        elif figure["role"] == "informative":
            told, met = _kept(scores[WITHOUT], scores[PLAIN], scores[OURS])
            gain = f"gains {100 * (scores[PLAIN] - scores[WITHOUT]):.2f} points"
            lines.append([figure["table"], told, gain, _word(met)])
    return markdown(("table", OURS, PLAIN, "mark"), lines)


def _harm(base: float, ours: float) -> tuple[str, bool]:
    return f"costs {100 * (base - ours):.2f} points", base - ours <= HARM


def _kept(base: float, raw: float, ours: float) -> tuple[str, bool]:
    """The share of plain's advantage that is kept; where plain has none, nothing can be lost."""
    if raw <= base:
        return f"{100 * (ours - base):+.2f} points", ours >= raw
    return f"keeps {(ours - base) / (raw - base):.1%}", ours - base >= KEPT * (raw - base)


def _word(met: bool) -> str:
    return "met" if met else "**missed**"


def shown(figures: Sequence[Figure], methods: dict[str, Method]) -> str:
    """A line for each table, a column for each method, and the means over all tables of classes."""
    columns = [WITHOUT, *(name for name in methods if any(name in figure["scores"] for figure in figures))]
    lines = []
    for figure in figures:
        means = {name: mean(figure["scores"][name]) for name in columns if name in figure["scores"]}
        best = max((value for name, value in means.items() if name != WITHOUT), default=0.0)
        cells = [_cell(figure["scores"].get(name), best, name) for name in columns]
        lines.append([figure["table"], *cells])
    for kind, word in (("classes", "mean accuracy"), ("numbers", "mean R²")):
        of_kind = [figure["scores"] for figure in figures if figure["kind"] == kind]
        lines.append([word, *(_mean(of_kind, name) for name in columns)])
    return markdown(("table", *columns), lines)


def _cell(values: Sequence[float] | None, best: float, name: str) -> str:
    if not values:
        return "–"
    spread = f" ± {stdev(values) / len(values) ** 0.5:.3f}" if len(values) > 1 else ""
    told = f"{mean(values):.3f}{spread}"
    return f"**{told}**" if name != WITHOUT and round(mean(values), 3) == round(best, 3) else told


def _mean(scores: Sequence[dict[str, list[float]]], name: str) -> str:
    """The mean over the tables, of methods that did all of them."""
    if not scores or any(name not in figure for figure in scores):
        return "–"
    return f"{mean(mean(figure[name]) for figure in scores):.3f}"


def times(figures: Sequence[Figure]) -> str:
    """The mean and the longest CPU time of each method."""
    lines = []
    for name in (*TREE_METHODS, *ENSEMBLES):
        took = {
            figure["table"]: mean(figure["seconds"][name]) for figure in figures if name in figure["seconds"]
        }
        if took:
            slowest = max(took, key=lambda table: took[table])
            lines.append([name, seconds(mean(took.values())), f"{seconds(took[slowest])} ({slowest})"])
    return markdown(("method", "mean CPU", "longest"), lines)
