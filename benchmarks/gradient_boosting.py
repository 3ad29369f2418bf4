"""Gradient boosting beside scikit-learn, LightGBM and XGBoost: time, and errors on held-out rows."""

from __future__ import annotations

import csv
import gzip
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np

from benchmarks import c45, comparing, keeping, measuring, problems
from benchmarks.keeping import Origin, Section
from benchmarks.measuring import Job, Result
from benchmarks.problems import HELD_OUT, Problem
from benchmarks.reporting import cpu, find, markdown, number, seconds, times
from benchmarks.working import Task

OURS, EVERY_VALUE = "treewright", "treewright, max_bins=None"
PROBLEMS = (
    Problem("10k x 20", 10_000, dtype="float64", quick=True),
    Problem("10k x 20, numbers", 10_000, classes=0, dtype="float64", quick=True),
    Problem("100k x 20", 100_000, dtype="float64"),
    Problem("100k x 20, numbers", 100_000, classes=0, dtype="float64"),
    Problem("100k x 20, 5 classes", 100_000, classes=5, dtype="float64"),
    Problem("100k x 20, missing values", 100_000, dtype="float64", missing=0.1),
    Problem("1M x 20", 1_000_000, dtype="float64"),
    Problem("1M x 20, numbers", 1_000_000, classes=0, dtype="float64"),
)
SPLITS = 5
ITERATIONS = 100
HOW = (
    f"{ITERATIONS} iterations, 31 leaves, at least 20 rows in a leaf, learning rate 0.1, 255 bins, no early "
    "stopping, one thread: the whole `fit`, binning included. The libraries take turns on the same table, "
    "each in a process of its own; the least of the runs. Times ours: the ratio of CPU seconds, more than 1 "
    "where treewright is faster. Score: accuracy, or R² of numbers, on rows that were not learnt from."
)
HOW_ACCURATE = (
    "Errors in per cent (± the standard error of the mean) and mean log losses on held-out rows: "
    f"{SPLITS} deals of 70 to 30 %, the same ones for all, with the parameters above; `spam` is ESL's own "
    "split of it."
)

Figure = dict[str, Any]


def _ours(numbers: bool, threads: int, max_bins: int | None = 255) -> Any:
    from treewright import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingRegressor if numbers else HistGradientBoostingClassifier
    return kind(max_iter=ITERATIONS, early_stopping=False, max_bins=max_bins, n_jobs=threads)


def _scikit_learn(numbers: bool, threads: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingRegressor if numbers else HistGradientBoostingClassifier
    return kind(max_iter=ITERATIONS, early_stopping=False)


def _lightgbm(numbers: bool, threads: int) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMRegressor if numbers else LGBMClassifier
    return kind(n_estimators=ITERATIONS, min_child_samples=20, n_jobs=threads, verbose=-1)


def _xgboost(numbers: bool, threads: int) -> Any:
    from xgboost import XGBClassifier, XGBRegressor

    kind = XGBRegressor if numbers else XGBClassifier
    return kind(
        n_estimators=ITERATIONS,
        learning_rate=0.1,
        tree_method="hist",
        grow_policy="lossguide",
        max_leaves=31,
        max_depth=0,
        max_bin=255,
        reg_lambda=0.0,
        n_jobs=threads,
    )


LIBRARIES: dict[str, Callable[..., Any]] = {
    OURS: _ours,
    EVERY_VALUE: lambda numbers, threads: _ours(numbers, threads, None),
    "scikit-learn": _scikit_learn,
    "LightGBM": _lightgbm,
    "XGBoost": _xgboost,
}


def run(chosen: Namespace) -> None:
    """Measure times, then errors; keep the figures if nothing was left out."""
    sections: list[Section] = []
    for problem in comparing.select(PROBLEMS, chosen):
        print(f"gradient_boosting: {problem.name} …", flush=True)
        with tempfile.TemporaryDirectory() as name:
            sections.append((problem, _measured(problem, problems.make(problem, Path(name)), chosen)))
        print(table(*sections[-1]))
    figures = list(_figures(2 if chosen.quick else SPLITS))
    if figures:
        print(errors(figures))
    if not chosen.partial:
        origin = keeping.here(["treewright", "scikit-learn", "lightgbm", "xgboost"])
        keeping.save_parts("gradient_boosting", origin, {"times": sections})
        keeping.save("gradient_boosting_errors", origin, figures)
        keeping.write(keeping.RESULTS / "gradient_boosting.md", page(origin, sections, figures))


def prepare(job: Job) -> Task:
    """Fit; then tell the score on rows that were not learnt from."""
    with np.load(job.data) as file:
        data = dict(file)
    small = slice(0, 200)
    LIBRARIES[job.peer](job.problem.classes == 0, job.threads).fit(
        data["train"][small], data["target"][small]
    )
    models: list[Any] = []

    def work() -> None:
        models.clear()
        model = LIBRARIES[job.peer](job.problem.classes == 0, job.threads)
        models.append(model.fit(data["train"], data["target"]))

    def finish() -> dict[str, Any]:
        held_out = slice(0, HELD_OUT)
        return {"score": float(models[0].score(data["test"][held_out], data["test_target"][held_out]))}

    return Task(work, finish)


def _measured(problem: Problem, data: Path, chosen: Namespace) -> list[Result]:
    names = [name for name in LIBRARIES if name != EVERY_VALUE or problem.rows <= 100_000]
    jobs = [Job("gradient_boosting", problem, name, 1, str(data)) for name in names]
    results = measuring.measure(jobs, chosen.seconds, chosen.limit)
    return [{"peer": name, "threads": 1} | result for name, result in zip(names, results, strict=True)]


def _tables() -> Iterator[tuple[str, Any, Any, list[tuple[Any, Any]] | None]]:
    """Names, columns, classes, and the split where there is one of its own."""
    from treewright.datasets import load_spam

    for path in sorted((c45.SHARED.parent / "continuous").glob("*.csv.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = list(csv.reader(lines))[1:]
        yield path.name.removesuffix(".csv.gz"), *_columns(rows), None
    spam = load_spam()
    table = np.column_stack(list(spam.table().values())).astype(float)
    own = [(np.flatnonzero(~spam.is_test), np.flatnonzero(spam.is_test))]
    yield "spam", table, np.unique(spam.target, return_inverse=True)[1], own


def _columns(rows: list[list[str]]) -> tuple[Any, Any]:
    numbers = np.array([row[:-1] for row in rows], dtype=float)
    return numbers, np.unique([row[-1] for row in rows], return_inverse=True)[1]


def _figures(n_splits: int) -> Iterator[Figure]:
    from sklearn.model_selection import StratifiedShuffleSplit

    for name, table, target, own in _tables():
        print(f"gradient_boosting: errors on {name} …", flush=True)
        deal = StratifiedShuffleSplit(n_splits, test_size=0.3, random_state=0)
        splits = own or list(deal.split(table, target))
        for library, make in LIBRARIES.items():
            judged = [_judged(make(False, 1), table, target, *split) for split in splits]
            wrong, lost = zip(*judged, strict=True)
            spread = stdev(wrong) / len(wrong) ** 0.5 if len(wrong) > 1 else 0.0
            yield {
                "data": name,
                "library": library,
                "error": mean(wrong),
                "spread": spread,
                "loss": mean(lost),
            }


def _judged(model: Any, table: Any, target: Any, train: Any, test: Any) -> tuple[float, float]:
    from sklearn.metrics import log_loss

    model.fit(table[train], target[train])
    shares = model.predict_proba(table[test])
    return float(np.mean(shares.argmax(axis=1) != target[test])), float(log_loss(target[test], shares))


def table(problem: Problem, results: Sequence[Result]) -> str:
    """One line per library."""
    ours = next((result for result in results if result["peer"] == OURS and "cpu" in result), None)
    lines = []
    for result in results:
        if "cpu" not in result:
            lines.append([result["peer"], result["skipped"], "", "", ""])
            continue
        ratio = f"{number(result['cpu'] / ours['cpu'])}x" if ours else "–"
        told = [
            result["peer"],
            cpu(result),
            seconds(result["wall"]),
            ratio,
            f"{result.get('score', np.nan):.4f}",
        ]
        lines.append(told)
    return markdown(("library", "CPU", "wall", "times ours", "score"), lines)


def errors(figures: Sequence[Figure]) -> str:
    """A line for each table, a column for each library."""
    lines = []
    for name in dict.fromkeys(figure["data"] for figure in figures):
        found = {figure["library"]: figure for figure in figures if figure["data"] == name}
        lines.append([name, *(_told(found[library]) for library in LIBRARIES)])
    means = [mean(figure["error"] for figure in figures if figure["library"] == name) for name in LIBRARIES]
    lines.append(["mean", *(f"{100 * each:.2f}" for each in means)])
    return markdown(("table", *LIBRARIES), lines)


def _told(figure: Figure) -> str:
    spread = f" ± {100 * figure['spread']:.2f}" if figure["spread"] else ""
    return f"{100 * figure['error']:.2f}{spread}; {figure['loss']:.3f}"


def short(measured: dict[str, list[Section]]) -> str:
    """A line per problem: our CPU seconds, and how many times as long the others take."""
    others = [name for name in LIBRARIES if name not in (OURS, EVERY_VALUE)]
    lines = []
    for problem, results in measured["times"]:
        ours = find(results, OURS)
        ratios = [times(find(results, name), ours) for name in others]
        lines.append([problem.name, cpu(ours) if ours else "–", *ratios])
    return markdown((f"boosting, {ITERATIONS} trees", f"{OURS} CPU", *others), lines)


def page(origin: Origin, sections: Sequence[Section], figures: Sequence[Figure]) -> str:
    """The figures as a page."""
    parts = [
        f"## {problem.name}\n\n{problem.describe()}\n\n{table(problem, results)}"
        for problem, results in sections
    ]
    told = ["## Errors\n", f"{HOW_ACCURATE}\n", errors(figures)] if figures else []
    return "\n".join(["# Gradient boosting\n", f"{origin}\n", f"{HOW}\n", *parts, *told])
