"""Predicting with one tree: many rows at once, and one row at a time (the whole call)."""

from __future__ import annotations

import numpy as np

from benchmarks.growing import describe, warm_up
from benchmarks.measuring import Job
from benchmarks.peers import PEERS
from benchmarks.problems import Problem
from benchmarks.working import Task

ROWS = 107_000  # learnt from; the tree then has about 7,800 leaves
PROBLEMS = (
    Problem("1 row", 10_000, predicted=1, quick=True),
    Problem("1 row pandas", 10_000, frame=True, predicted=1),
    Problem("100k rows", 10_000, predicted=100_000, quick=True),
    Problem("1M rows", ROWS, predicted=1_000_000),
    Problem("1M rows pandas", ROWS, frame=True, predicted=1_000_000),
    Problem("1M rows float64", ROWS, dtype="float64", predicted=1_000_000),
    Problem("1M rows depth 6", ROWS, max_depth=6, predicted=1_000_000),
    Problem("1M rows missing values", ROWS, missing=0.1, predicted=1_000_000),
    Problem("1M rows regression", ROWS, classes=0, predicted=1_000_000),
)


def prepare(job: Job) -> Task:
    """Fit once; then predict rows that were not learnt from."""
    peer, problem = PEERS[job.peer], job.problem
    with np.load(job.data) as file:
        data = dict(file)
    warm_up(peer, problem, data)
    learnt = peer.table(problem, data["train"])
    model = peer.fit(problem, learnt, data["target"], data.get("weight"), job.threads)
    table = peer.table(problem, np.ascontiguousarray(data["test"][: problem.predicted]))
    peer.predict(
        model, peer.table(problem, data["train"][:200]), job.threads
    )  # what it loads late is not counted
    return Task(lambda: peer.predict(model, table, job.threads), lambda: describe(peer, problem, model, data))
