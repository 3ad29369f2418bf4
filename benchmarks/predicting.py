"""Predicting with one tree: many rows at once, and one row at a time (the whole call)."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.growing import score, warm_up
from benchmarks.measuring import Job, repeat
from benchmarks.peers import PEERS
from benchmarks.problems import Problem

PROBLEMS = (
    Problem("1 row", 10_000, predicted=1, quick=True),
    Problem("100k rows", 10_000, predicted=100_000, quick=True),
    Problem("1M rows", 100_000, predicted=1_000_000),
    Problem("1M rows float64", 100_000, dtype="float64", predicted=1_000_000),
    Problem("1M rows depth 6", 100_000, max_depth=6, predicted=1_000_000),
    Problem("1M rows missing values", 100_000, missing=0.1, predicted=1_000_000),
    Problem("1M rows regression", 100_000, classes=0, predicted=1_000_000),
)


def measure(job: Job) -> dict[str, Any]:
    """Fit once, then predict until the time is used up: the held-out rows, over and over."""
    peer, problem = PEERS[job.peer], job.problem
    with np.load(job.data) as file:
        data = dict(file)
    warm_up(peer, problem, data)
    model = peer.fit(
        problem, peer.table(problem, data["train"]), data["target"], data.get("weight"), job.threads
    )
    rows = np.resize(data["test"], (problem.predicted, problem.columns))
    table = peer.table(problem, rows)
    result: dict[str, Any] = repeat(lambda: peer.predict(model, table), job.seconds)
    result["leaves"] = peer.leaves(model)
    held_out = peer.predict(model, peer.table(problem, data["test"]))
    result["score"] = score(problem, held_out, data["test_target"])
    return result
