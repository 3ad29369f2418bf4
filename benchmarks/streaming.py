"""`treewright predict` on tables larger than what it may hold: time and peak memory by the number of rows."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from benchmarks import keeping
from benchmarks.keeping import Origin
from benchmarks.measuring import Result
from benchmarks.reporting import markdown, seconds

ROWS = (1_000_000, 10_000_000)
QUICK_ROWS = (100_000,)
LEARNT = 50_000  # rows that the tree is grown from
NUMBERS = 8  # columns, beside one of categories
AT_ONCE = 100_000  # rows made at a time
OUTPUTS = ("csv", "parquet")
HEADER = ",".join([*(f"x{i}" for i in range(NUMBERS)), "job"])
JOBS = np.array(["clerk", "cook", "pilot", "smith"])


def run(chosen: Namespace) -> None:
    """Measure each size and each format of the output; keep the figures if nothing was left out."""
    figures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = learnt(folder)
        for rows in QUICK_ROWS if chosen.quick else ROWS:
            table = folder / "rows.csv"
            with open(table, "w") as file:
                write_rows(file, rows)
            size = table.stat().st_size / 1e6
            figures += [{"rows": rows, "size": size} | measured(model, table, suffix) for suffix in OUTPUTS]
            table.unlink()
    print(report(figures))
    if not chosen.partial:
        origin = keeping.here(("duckdb",))
        keeping.save("streaming", origin, figures)
        keeping.write(keeping.RESULTS / "streaming.md", page(origin, figures))


def write_rows(file: TextIO, rows: int, with_target: bool = False) -> None:
    """A CSV file of numbers with four decimals and one column of categories."""
    rng = np.random.default_rng(0)
    file.write(f"{HEADER},y\n" if with_target else f"{HEADER}\n")
    for start in range(0, rows, AT_ONCE):
        n = min(AT_ONCE, rows - start)
        numbers = rng.normal(size=(n, NUMBERS)).round(4)
        jobs = JOBS[rng.integers(0, len(JOBS), n)]
        truth = (numbers[:, 0] + numbers[:, 1] * (jobs == "cook") + rng.normal(size=n) / 2) > 0
        lines = (",".join(map(repr, row)) for row in numbers.tolist())
        ends = zip(jobs.tolist(), np.where(truth, "yes", "no").tolist(), strict=True)
        cells = (f"{job},{y}" if with_target else job for job, y in ends)
        file.writelines(f"{line},{end}\n" for line, end in zip(lines, cells, strict=True))


def learnt(folder: Path) -> Path:
    """The model of some such rows."""
    table, model = folder / "learnt.csv", folder / "model.json"
    with open(table, "w") as file:
        write_rows(file, LEARNT, with_target=True)
    command = [sys.executable, "-m", "treewright", "fit", str(table), "--target", "y", "-o", str(model)]
    subprocess.run([*command, "--quiet"], check=True, timeout=300)
    return model


def measured(model: Path, table: Path, suffix: str) -> Result:
    """Seconds and peak memory of one call, all of it: the start of Python is included."""
    output = table.with_name(f"answers.{suffix}")
    command = [sys.executable, "-m", "treewright", "predict", str(model), str(table), "-o", str(output), "-q"]
    began = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"treewright predict ended with code {process.returncode}")
    written = output.stat().st_size / 1e6
    output.unlink()
    cpu = usage.ru_utime + usage.ru_stime
    return {"output": suffix, "cpu": cpu, "wall": wall, "memory": usage.ru_maxrss / 1024, "written": written}


def page(origin: Origin, figures: list[dict[str, Any]]) -> str:
    """The figures as a page."""
    how = (
        f"`treewright predict` of a CSV file with {NUMBERS} columns of numbers and one of categories, by a "
        f"tree of {LEARNT:,} rows. Each line is one call, the start of Python included; memory is the most "
        "that the process held at any time."
    )
    return "\n".join(["# Streaming\n", f"{origin}\n", f"{how}\n", report(figures)])


def report(figures: list[dict[str, Any]]) -> str:
    """One line per call."""
    lines = [
        [
            f"{each['rows']:,}",
            f"{each['size']:,.0f} MB",
            each["output"],
            seconds(each["cpu"]),
            seconds(each["wall"]),
            f"{each['memory']:.0f} MB",
        ]
        for each in figures
    ]
    return markdown(("rows", "table", "output", "CPU", "wall", "peak memory"), lines)
