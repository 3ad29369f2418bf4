"""What each option of growing costs when it is switched on, and that none costs anything when it is not."""

from __future__ import annotations

import os
import tempfile
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import comparing, keeping, measuring, problems
from benchmarks.keeping import Origin, Section
from benchmarks.measuring import Job, Result
from benchmarks.problems import Problem
from benchmarks.reporting import cpu, markdown, number, seconds
from treewright.parameters import Costs, FeatureCosts

DEFAULT = "default"
BEFORE = "before"  # the same by an older treewright
SHARE = 0.1  # of the cells of the table with missing values
PROBLEMS = (
    Problem("100k x 20", 100_000, dtype="float64", max_depth=10),
    Problem("100k x 20, missing values", 100_000, dtype="float64", max_depth=10, missing=SHARE),
    Problem("100k x 20, numbers", 100_000, classes=0, dtype="float64", max_depth=10),
    Problem("10k x 20", 10_000, dtype="float64", max_depth=10, quick=True),
)
COSTS = [[0.0, 1.0], [5.0, 0.0]]
OPTIONS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "cost_matrix": {"costs": COSTS},
    "generalised Gini": {"costs": Costs(COSTS, split="generalised_gini")},
    "priors": {"costs": Costs(priors=[0.3, 0.7])},
    "feature_costs": {"feature_costs": [0.1 * (i % 3) for i in range(20)]},
    "monotonic_cst": {"monotonic_cst": [1, -1, *[0] * 18]},
    "interaction_cst": {"interaction_cst": [list(range(10)), list(range(10, 20))]},
    "max_features_used": {"feature_costs": FeatureCosts(max_used=5)},
    'missing="surrogate"': {"missing": "surrogate"},
    'missing="fractional"': {"missing": "fractional"},
    'missing="category"': {"missing": "category"},
    'selection="test"': {"selection": "test"},
    'split="oblique"': {"split": "oblique"},
    'leaf="linear"': {"leaf": "linear"},
}
FOR_CLASSES = {"cost_matrix", "generalised Gini", "priors"}
FOR_NUMBERS = {'leaf="linear"'}
FOR_MISSING = {name for name in OPTIONS if name.startswith("missing=")}
HOW = (
    "One tree to depth 10, encoded beforehand, one thread. The options take turns on the same table, each in "
    "a process of its own; the least of the runs. Times default: how many times as long as without any "
    "option. Before: the default by an older release, named by its version; the ratio says what the options "
    "cost those who do not use them."
)


def run(chosen: Namespace) -> None:
    """Measure every option; keep the figures if nothing was left out."""
    sections: list[Section] = []
    for problem in comparing.select(PROBLEMS, chosen):
        print(f"options: {problem.name} …", flush=True)
        with tempfile.TemporaryDirectory() as name:
            sections.append((problem, _measured(problem, problems.make(problem, Path(name)), chosen)))
        print(table(*sections[-1]))
    if not chosen.partial:
        origin = keeping.here(["treewright"])
        keeping.save_sections("options", origin, sections)
        keeping.write(keeping.RESULTS / "options.md", page(origin, sections))


def _measured(problem: Problem, data: Path, chosen: Namespace) -> list[Result]:
    """The default, beside the older release if there is one, for long: a few percent shall be seen; then the
    options.
    """
    pair = [DEFAULT, BEFORE] if os.environ.get("BENCH_BEFORE") else [DEFAULT]
    others = [name for name in OPTIONS if name != DEFAULT and _fits(name, problem)]
    found = []
    for names, seconds_each in ((pair, 6 * chosen.seconds), (others, chosen.seconds)):
        jobs = [Job("older", problem, name, 1, str(data)) for name in names]
        results = measuring.measure(jobs, seconds_each, chosen.limit)
        found += [{"peer": name, "threads": 1} | result for name, result in zip(names, results, strict=True)]
    return found


def _fits(name: str, problem: Problem) -> bool:
    if problem.missing:
        return name == DEFAULT or name in FOR_MISSING
    return name not in FOR_MISSING and name not in (FOR_NUMBERS if problem.classes else FOR_CLASSES)


def table(problem: Problem, results: Sequence[Result]) -> str:
    """One line per option."""
    usual = next((result for result in results if result["peer"] == DEFAULT and "cpu" in result), None)
    lines = []
    for result in results:
        if "cpu" not in result:
            lines.append([result["peer"], result["skipped"], "", "", ""])
            continue
        ratio = f"{number(result['cpu'] / usual['cpu'])}x" if usual else "–"
        name = f"before ({result['version']})" if result["peer"] == BEFORE else result["peer"]
        lines.append([name, cpu(result), seconds(result["wall"]), ratio, f"{result['leaves']:,}"])
    return markdown(("option", "CPU", "wall", "times default", "leaves"), lines)


def page(origin: Origin, sections: Sequence[Section]) -> str:
    """The figures as a page."""
    parts = [
        f"## {problem.name}\n\n{problem.describe()}\n\n{table(problem, results)}"
        for problem, results in sections
    ]
    return "\n".join(["# Options\n", f"{origin}\n", f"{HOW}\n", *parts])
