"""The process that grows one tree with one option, by this treewright or by an older one.

BENCH_BEFORE names the folder in which an older treewright is installed; nothing of this one may be imported
before it is known which of the two is meant.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from benchmarks.measuring import Job
from benchmarks.working import Task

BEFORE = "before"


def prepare(job: Job) -> Task:
    """The table, encoded; the work is to grow the tree."""
    if job.peer == BEFORE:
        sys.path.insert(0, os.environ["BENCH_BEFORE"])
    import treewright

    options: dict[str, Any] = {}
    if job.peer != BEFORE:
        from benchmarks.options import OPTIONS

        options = OPTIONS[job.peer]
    with np.load(job.data) as kept:
        data = treewright.encode(kept["train"], kept["target"])
    kept_tree: list[Any] = []

    def work() -> Any:
        kept_tree[:] = [treewright.grow(data, max_depth=job.problem.max_depth, **options)]

    def finish() -> dict[str, Any]:
        return {"leaves": kept_tree[0].n_leaves, "version": treewright.__version__}

    return Task(work, finish)
