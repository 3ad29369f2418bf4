"""What many-valued categories cost and are worth: our trees and forests beside LightGBM, YDF and CatBoost."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Sequence
from statistics import mean, stdev
from typing import Any

from benchmarks import keeping, reusing
from benchmarks.category_methods import ENSEMBLES, TREE_METHODS, Method, absent, default, has_plain, score
from benchmarks.category_tables import Table, split, tables, without
from benchmarks.keeping import Origin
from benchmarks.reporting import markdown, seconds

SEEDS, QUICK_SEEDS = 5, 2
WITHOUT = "without the column"
OURS, PLAIN = "treewright", "treewright, plain"
HARM = 0.01  # what a noise column may cost
KEPT = 0.95  # the share of plain's advantage that an informative column must keep
PEERS = {  # methods without code of ours, and the package of each
    "LightGBM, one tree": "lightgbm",
    "YDF CART": "ydf",
    "YDF CART, random subsets": "ydf",
    "LightGBM": "lightgbm",
    "CatBoost": "catboost",
}
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

Figure = dict[str, Any]  # "table", "role", "kind", "fingerprint", "results": of "test", by method
PART = "test"  # the rows that the scores are of


def run(chosen: Namespace) -> None:
    """Measure every method on every table; keep the figures if nothing was left out."""
    methods = TREE_METHODS | ({} if chosen.quick else ENSEMBLES)
    missing = {name: absent(name) for name in methods}
    present = {name: method for name, method in methods.items() if missing[name] is None}
    origin = keeping.here(PACKAGES)
    known = reusing.kept("categories", origin.versions, PEERS) if chosen.reuse else []
    figures = measured(present, QUICK_SEEDS if chosen.quick else SEEDS, chosen.only or "", known)
    gone = sorted({package for package in missing.values() if package is not None})
    text = page(origin, figures, gone)
    print(text)
    if not chosen.partial:
        keeping.save("categories", origin, {"tables": figures, "absent": gone})
        keeping.write(keeping.RESULTS / "categories.md", text)


def measured(
    methods: dict[str, Method], seeds: int, only: str = "", known: Sequence[Figure] = ()
) -> list[Figure]:
    """A figure for each table, with the scores of every seed, but for what is known of the same tables."""
    before = {figure["fingerprint"]: figure["results"][PART] for figure in known}
    figures = []
    for drawn in zip(*(tables(seed) for seed in range(seeds)), strict=True):
        if only not in drawn[0].name:
            continue
        print(f"categories: {drawn[0].name} …", flush=True)
        seal = _fingerprint(drawn)
        found = dict(before.get(seal, {})) | {WITHOUT: _over_seeds(default, [without(t) for t in drawn])}
        for name, method in methods.items():
            if name not in found:
                found[name] = _over_seeds(method, drawn)
        first = {"table": drawn[0].name, "role": drawn[0].role, "kind": drawn[0].kind}
        measured_by = {name: figure for name, figure in found.items() if figure is not None}
        figures.append(first | {"fingerprint": seal, "results": {PART: measured_by}})
    return figures


def _fingerprint(drawn: Sequence[Table]) -> str:
    """What tells these tables, one for each seed, from others."""
    cells = ([table.target, *table.columns.values()] for table in drawn)
    return reusing.fingerprint(repr([[column.tolist() for column in columns] for columns in cells]))


def _over_seeds(method: Method, drawn: Sequence[Table]) -> Figure | None:
    """The scores on the test rows of each seed and the mean CPU; none if the method cannot do the table."""
    scores, took = [], []
    for seed, table in enumerate(drawn):
        *rows, test = split(table, seed)
        began = time.process_time()
        try:
            answers = method(*rows, test)
        except NotImplementedError:
            return None
        took.append(time.process_time() - began)
        scores.append(round(score(test, answers), 5))
    return {"scores": scores, "cpu": mean(took)}


def _scores(figure: Figure) -> dict[str, list[float]]:
    return {name: found["scores"] for name, found in figure["results"][PART].items()}


# ---- showing ----------------------------------------------------------------------------------------


def page(origin: Origin, figures: Sequence[Figure], gone: Sequence[str] = ()) -> str:
    """The tables of single trees, of ensembles and of times, and whether the marks are met."""
    seeds = max((len(_scores(figure)[WITHOUT]) for figure in figures), default=0)
    parts = ["# Categories with many values\n", f"{origin}\n", f"{HOW} There were {seeds} seeds.\n"]
    if gone:
        parts.append(f"Not installed, hence left out: {', '.join(gone)}.\n")
    if not has_plain():
        parts.append("This version has no correction of category gains: both of our columns are plain.\n")
    parts += ["## Marks\n", marks(figures), "## Single trees\n", shown(figures, TREE_METHODS)]
    if any(set(ENSEMBLES) & set(_scores(figure)) for figure in figures):
        parts += ["## Ensembles\n", shown(figures, ENSEMBLES), "## CPU\n", times(figures)]
    return "\n".join(parts)


def marks(figures: Sequence[Figure]) -> str:
    """What noise costs our tree, and what share of plain's advantage an informative column keeps."""
    lines = []
    for figure in figures:
        scores = {name: mean(values) for name, values in _scores(figure).items()}
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
    columns = [WITHOUT, *(name for name in methods if any(name in _scores(figure) for figure in figures))]
    lines = []
    for figure in figures:
        scores = _scores(figure)
        means = {name: mean(scores[name]) for name in columns if name in scores}
        best = max((value for name, value in means.items() if name != WITHOUT), default=0.0)
        cells = [_cell(scores.get(name), best, name) for name in columns]
        lines.append([figure["table"], *cells])
    for kind, word in (("classes", "mean accuracy"), ("numbers", "mean R²")):
        of_kind = [_scores(figure) for figure in figures if figure["kind"] == kind]
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
        found = {figure["table"]: figure["results"][PART].get(name) for figure in figures}
        took = {table: figure["cpu"] for table, figure in found.items() if figure is not None}
        if took:
            slowest = max(took, key=lambda table: took[table])
            lines.append([name, seconds(mean(took.values())), f"{seconds(took[slowest])} ({slowest})"])
    return markdown(("method", "mean CPU", "longest"), lines)
