"""What the ways to deal with missing values are worth: errors on held-out rows as more cells are removed."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator
from statistics import mean, stdev
from typing import Any

import numpy as np

from benchmarks import c45, keeping
from benchmarks.keeping import Origin
from benchmarks.reporting import markdown, seconds

DATA = ("hypo", "crx", "vote")
REMOVED = (
    0.0,
    0.05,
    0.1,
    0.2,
    0.4,
)  # shares of the cells, of the rows to learn from and of those to judge by
WAYS = ("learn", "surrogate", "fractional", "category")
REPEATS = 10
PRUNING: dict[str, Any] = {"select": "folds", "rule": "0-SE", "n_folds": 5}
HOW = (
    f"Each table is dealt {REPEATS} times into two thirds to learn from and one to judge by; then cells are "
    "removed at random, the same ones for every way. Trees are grown with at least two rows in a leaf and "
    "pruned by cost complexity, chosen by five folds. The error is the mean over the deals, ± its standard "
    "error; CPU is the time to fit and prune one tree, the mean over all deals."
)

Figure = dict[str, Any]


def run(chosen: Namespace) -> None:
    """Measure every way on every table; keep the figures if nothing was left out."""
    if not c45.SHARED.exists():
        print("missing: the tables hypo, crx and vote are not here; left out")
        return
    repeats = 2 if chosen.quick else REPEATS
    figures = [figure for name in DATA for figure in _figures(name, repeats)]
    print(table(figures))
    if not chosen.partial:
        origin = keeping.here(["treewright"])
        keeping.save("missing", origin, figures)
        keeping.write(keeping.RESULTS / "missing.md", page(origin, figures))


def _figures(name: str, repeats: int) -> Iterator[Figure]:
    columns, target = _whole(name)
    for removed in REMOVED:
        print(f"missing: {name}, {removed:.0%} removed …", flush=True)
        deals = [_deal(columns, target, removed, seed) for seed in range(repeats)]
        for way in WAYS:
            yield {"data": name, "removed": removed, "way": way} | _judged(way, deals)


def _whole(name: str) -> tuple[dict[str, Any], Any]:
    """All rows of a table, those to learn from and those to test on."""
    (first, labels), (second, others) = (
        c45.read(c45.SHARED / f"{name}.{part}.csv") for part in ("train", "test")
    )
    columns = {key: c45.numbers([*map(_text, first[key]), *map(_text, second[key])]) for key in first}
    return columns, np.array([*labels, *others])


def _text(cell: Any) -> str | None:
    return None if cell is None or cell != cell else str(cell)


def _deal(columns: dict[str, Any], target: Any, removed: float, seed: int) -> tuple[Any, Any, Any, Any]:
    """Rows to learn from and to judge by, with cells removed."""
    random = np.random.default_rng(seed)
    order = random.permutation(len(target))
    gone = random.random((len(columns), len(target))) < removed
    holed = {
        name: [None if lost else cell for cell, lost in zip(cells, missing, strict=True)]
        for (name, cells), missing in zip(columns.items(), gone, strict=True)
    }
    cut = len(target) * 2 // 3

    def part(rows: Any) -> dict[str, list[Any]]:
        return {name: [cells[row] for row in rows] for name, cells in holed.items()}

    train, test = order[:cut], order[cut:]
    return part(train), target[train], part(test), target[test]


def _judged(way: str, deals: list[tuple[Any, Any, Any, Any]]) -> Figure:
    from treewright import CostComplexity, DecisionTreeClassifier

    errors, leaves, took = [], [], []
    for train, labels, test, truth in deals:
        model = DecisionTreeClassifier(
            missing=way,
            min_samples_leaf=2,
            pruning=CostComplexity(on="loss", **PRUNING),
            random_state=0,
        )
        began = time.process_time()
        model.fit(train, labels)
        took.append(time.process_time() - began)
        errors.append(float(np.mean(model.predict(test) != truth)))
        leaves.append(model.get_n_leaves())
    spread = stdev(errors) / len(errors) ** 0.5
    return {"error": mean(errors), "spread": spread, "leaves": mean(leaves), "cpu": mean(took)}


def table(figures: list[Figure]) -> str:
    """A line for each table and share, a column for each way."""
    head = ("table", "removed", *WAYS, "leaves", "CPU")
    lines = []
    for data in DATA:
        for removed in REMOVED:
            found = {f["way"]: f for f in figures if f["data"] == data and f["removed"] == removed}
            if not found:
                continue
            best = min(f["error"] for f in found.values())
            cells = [_error(found[way], best) for way in WAYS]
            sizes = " / ".join(f"{found[way]['leaves']:.0f}" for way in WAYS)
            took = " / ".join(seconds(found[way]["cpu"]) for way in WAYS)
            lines.append([data, f"{removed:.0%}", *cells, sizes, took])
    return markdown(head, lines)


def _error(figure: Figure, best: float) -> str:
    told = f"{100 * figure['error']:.2f} ± {100 * figure['spread']:.2f} %"
    return f"**{told}**" if figure["error"] == best else told


def page(origin: Origin, figures: list[Figure]) -> str:
    """The figures as a page."""
    return "\n".join(["# Missing values\n", f"{origin}\n", f"{HOW}\n", table(figures)])
