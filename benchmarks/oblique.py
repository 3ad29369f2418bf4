"""How good and how fast trees of sums are: treewright with and without them, treeple, YDF's oblique CART."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import keeping
from benchmarks.keeping import Origin
from benchmarks.measuring import THREAD_LIMITS
from benchmarks.oblique_peers import DEPTHS, LIBRARIES, SPLITS
from benchmarks.reporting import OURS, markdown, seconds

SHIPPED = ("breast_cancer", "wine")  # with scikit-learn
FOLDER = "TREEWRIGHT_TABLES"  # names a folder of further tables: .csv.gz with a head, the class last
PYTHON = "TREEWRIGHT_PYTHON_"  # … and a library in capitals: another Python, which has that library
QUICK = 2  # tables

Figure = dict[str, Any]  # "table", "rows", "columns", "results": by library, what it did or why it did not
HOW = (
    f"Accuracy on test rows, leaves and CPU, means of {SPLITS} random splits: a quarter of the rows tests; "
    f"of the others a quarter chooses the depth (of {len(DEPTHS)}: {DEPTHS[0]} to {DEPTHS[-2]}, or none), "
    "alike for all libraries, and the tree is grown from the rest. CPU: growing to purity on one thread, the "
    "least of two runs."
)


def run(chosen: Namespace) -> None:
    """Measure all; keep the figures if nothing was left out."""
    figures = []
    with tempfile.TemporaryDirectory() as name:
        tables = _tables()
        for table in list(tables)[:QUICK] if chosen.quick else tables:
            if chosen.only is not None and chosen.only not in table:
                continue
            print(f"oblique: {table} …", flush=True)
            rows, classes = tables[table]()
            path = Path(name) / "table.npz"
            np.savez(path, rows=rows, classes=classes)
            results = {library: _measured(library, path, chosen.limit) for library in LIBRARIES}
            figures.append({"table": table, "rows": len(rows), "columns": rows.shape[1], "results": results})
    print(shown(figures))
    if not chosen.partial:
        origin = _told(keeping.here([OURS, "treeple", "ydf"]))
        keeping.save("oblique", origin, figures)
        keeping.write(keeping.RESULTS / "oblique.md", page(origin, figures))


def _tables() -> dict[str, Any]:
    """Functions that give (rows, classes), by name."""
    from treewright.datasets import load_spam

    def spam() -> tuple[Any, Any]:
        data = load_spam()
        return data.data, (data.target == "spam").astype(int)

    found: dict[str, Any] = {"spam": spam} | {name: _shipped(name) for name in SHIPPED}
    if os.environ.get(FOLDER):
        for path in sorted(Path(os.environ[FOLDER]).glob("*.csv.gz")):
            found[path.name.removesuffix(".csv.gz")] = _read(path)
    return found


def _shipped(name: str) -> Any:
    def made() -> tuple[Any, Any]:
        from sklearn import datasets

        data = getattr(datasets, f"load_{name}")()
        return data.data, data.target

    return made


def _read(path: Path) -> Any:
    def made() -> tuple[Any, Any]:
        cells = np.genfromtxt(path, delimiter=",", skip_header=1)
        return cells[:, :-1], cells[:, -1].astype(int)

    return made


def _measured(library: str, path: Path, limit: float) -> Figure:
    """What one library did in a process of its own, or why it did not."""
    python = os.environ.get(PYTHON + library.upper(), sys.executable)
    script = Path(__file__).with_name("oblique_peers.py")
    environment = os.environ | dict.fromkeys(THREAD_LIMITS, "1")
    command = [python, str(script), library, str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment)
    except subprocess.TimeoutExpired:
        return {"skipped": f"took more than {limit:.0f} s"}
    if done.returncode:
        return {"skipped": f"failed: {(done.stderr.strip().splitlines() or ['without a word'])[-1][:90]}"}
    result: Figure = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def _told(origin: Origin) -> Origin:
    """Where this was measured, with the libraries that needed a Python of their own."""
    apart = [library for library in LIBRARIES if PYTHON + library.upper() in os.environ]
    notes = [origin.note, f"In a Python of its own: {', '.join(apart)}." if apart else ""]
    return replace(origin, note=" ".join(filter(None, notes)))


def page(origin: Origin, figures: list[Figure]) -> str:
    """The results as a page."""
    return f"# Trees of sums\n\n{origin}\n\n{HOW}\n\n{shown(figures)}"


def shown(figures: list[Figure]) -> str:
    """A table of accuracy, leaves and CPU, a line for each table and library, and why some are absent."""
    lines, absent = [], {}
    for figure in figures:
        name = f"{figure['table']} ({figure['rows']:,} x {figure['columns']})"
        best = max(result.get("accuracy", 0.0) for result in figure["results"].values())
        for library, result in figure["results"].items():
            if "skipped" in result:
                absent[library] = result["skipped"]
                continue
            accuracy = f"{100 * result['accuracy']:.1f} %"
            is_best = round(result["accuracy"], 3) == round(best, 3)
            accuracy = f"**{accuracy}**" if is_best else accuracy
            lines.append([name, library, accuracy, f"{result['leaves']:.0f}", seconds(result["cpu"])])
            name = ""
    means = [
        ["mean", library, f"{100 * share:.1f} %", f"{leaves:.0f}", seconds(cpu)]
        for library, (share, leaves, cpu) in _means(figures).items()
    ]
    table = markdown(["table", "library", "accuracy", "leaves", "CPU to purity"], [*lines, *means])
    return "\n".join([table, *(f"{library}: {reason}.\n" for library, reason in absent.items())])


def _means(figures: list[Figure]) -> dict[str, tuple[float, float, float]]:
    """The means over all tables of the libraries that did all of them."""
    found = {}
    for library in LIBRARIES:
        results = [figure["results"].get(library, {"skipped": ""}) for figure in figures]
        if results and not any("skipped" in result for result in results):
            share, leaves, cpu = (
                np.mean([r[what] for r in results]) for what in ("accuracy", "leaves", "cpu")
            )
            found[library] = float(share), float(leaves), float(cpu)
    return found
