"""How long Shapley values take, beside shap's TreeExplainer on the same tree and the same rows."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import comparing, keeping, measuring, problems
from benchmarks.keeping import Origin, Section
from benchmarks.measuring import Job, Result
from benchmarks.problems import Problem
from benchmarks.reporting import OURS, cpu, find, markdown, seconds, times
from benchmarks.working import Task

SHAP = "shap"
BACKGROUND = 100  # rows
SPAM = 4601
PROBLEMS = (
    Problem(
        "spam, 20 leaves", SPAM, columns=57, max_leaf_nodes=20, source="spam", predicted=SPAM, quick=True
    ),
    Problem("spam, to purity", SPAM, columns=57, source="spam", predicted=SPAM, quick=True),
    Problem("100k x 20, depth 6", 100_000, dtype="float64", max_depth=6, predicted=100_000),
    Problem("100k x 20, depth 10", 100_000, dtype="float64", max_depth=10, predicted=100_000),
    Problem(
        "100k x 20, 5 classes, depth 8", 100_000, classes=5, dtype="float64", max_depth=8, predicted=20_000
    ),
    Problem("100k x 20, to purity", 100_000, dtype="float64", predicted=2_000),
    Problem(
        "100k x 20, numbers, 1,000 leaves",
        100_000,
        classes=0,
        dtype="float64",
        max_leaf_nodes=1_000,
        predicted=20_000,
    ),
    Problem("100k x 20, depth 6, background", 100_000, dtype="float64", max_depth=6, predicted=2_000),
)
HOW = (
    "Shapley values of all columns and classes for rows that are encoded already, by `shapley_values` and by "
    f"shap's `TreeExplainer.shap_values` on the same tree; with a background of {BACKGROUND} rows where the "
    "name says so, path-dependent otherwise. The two take turns, each in a process of its own; the least of "
    "the runs. "
    "Times ours: how many times as long shap takes, CPU on one thread."
)


def run(chosen: Namespace) -> None:
    """Measure both; keep the figures if nothing was left out."""
    sections: list[Section] = []
    selected = comparing.select(PROBLEMS, chosen)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for problem, following in zip_longest(selected, selected[1:]):
            print(f"attributing: {problem.name} …", flush=True)
            made = problem.source != "spam"
            data = problems.make(problem, folder) if made else Path()
            sections.append((problem, _measured(problem, data, chosen)))
            if made:
                comparing.forget(problem, following, folder)
    print(table(sections))
    if not chosen.partial:
        origin = keeping.here([OURS, SHAP])
        keeping.save_sections("attributing", origin, sections)
        keeping.write(keeping.RESULTS / "attributing.md", page(origin, sections))


def _measured(problem: Problem, data: Path, chosen: Namespace) -> list[Result]:
    cells = [(OURS, 1), (OURS, 2), *([(SHAP, 1)] if find_spec(SHAP) else [])]
    jobs = [Job("attributing", problem, who, threads, str(data)) for who, threads in cells]
    results = measuring.measure(jobs, chosen.seconds, chosen.limit)
    return [
        {"peer": who, "threads": threads} | result
        for (who, threads), result in zip(cells, results, strict=True)
    ]


def prepare(job: Job) -> Task:
    """The tree and the rows; the work is to attribute the answers."""
    from treewright import encode, grow
    from treewright.explaining.shapley import shapley_values

    train, target, rows = _tables(job)
    limits = {"max_depth": job.problem.max_depth, "max_leaf_nodes": job.problem.max_leaf_nodes}
    tree = grow(encode(train, target), **limits)
    others = train[:BACKGROUND] if "background" in job.problem.name else None
    kept: list[Any] = []
    if job.peer == OURS:
        data = encode(rows, schema=tree.schema)
        back = None if others is None else encode(others, schema=tree.schema)

        def work() -> Any:
            kept[:] = [shapley_values(tree, data, background=back, n_jobs=job.threads).values]

    else:
        import shap

        how = "tree_path_dependent" if others is None else "interventional"
        explainer = shap.TreeExplainer(tree.to_shap(), others, feature_perturbation=how)

        def work() -> Any:
            kept[:] = [np.asarray(explainer.shap_values(rows, check_additivity=False))]

    def finish() -> Result:
        found = kept[0].reshape(len(rows), train.shape[1], -1)
        return {"leaves": tree.n_leaves, "mean": float(np.abs(found[..., -1]).mean())}

    return Task(work, finish)


def _tables(job: Job) -> tuple[Any, Any, Any]:
    """The rows that grow the tree, their targets, the rows to explain."""
    if job.problem.source == "spam":
        from treewright.datasets import load_spam

        spam = load_spam()
        table = np.column_stack([np.asarray(column, float) for column in spam.table().values()])
        return table, np.asarray(spam.target), table
    with np.load(job.data) as kept:
        return kept["train"], kept["target"], kept["test"][: job.problem.predicted]


def table(sections: Sequence[Section]) -> str:
    """One line per problem."""
    head = (
        "tree",
        "leaves",
        "rows",
        "treewright CPU",
        "wall",
        "2 threads wall",
        "shap CPU",
        "wall",
        "times ours",
    )
    lines = []
    for problem, results in sections:
        ours, two, theirs = find(results, OURS), find(results, OURS, threads=2), find(results, SHAP)
        if ours is None:
            lines.append([problem.name, "–", f"{problem.predicted:,}", results[0]["skipped"], *[""] * 5])
            continue
        cells = [f"{ours['leaves']:,}", f"{problem.predicted:,}", cpu(ours), seconds(ours["wall"])]
        cells += [seconds(two["wall"]) if two else "–"]
        cells += [cpu(theirs), seconds(theirs["wall"])] if theirs else ["–", "–"]
        lines.append([problem.name, *cells, times(theirs, ours)])
    return markdown(head, lines)


def page(origin: Origin, sections: Sequence[Section]) -> str:
    """The figures as a page."""
    return "\n".join(["# Attributing\n", f"{origin}\n", f"{HOW}\n", table(sections)])
