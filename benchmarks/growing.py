"""Growing one tree: the whole `fit` call of each library."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.measuring import Job
from benchmarks.peers import PEERS, Peer
from benchmarks.problems import HELD_OUT, Problem
from benchmarks.working import Task

PROBLEMS = (
    Problem("10k x 20", 10_000, quick=True),
    Problem("100k x 20", 100_000, quick=True),
    Problem("100k x 20 float64", 100_000, dtype="float64"),
    Problem("1M x 20", 1_000_000),
    Problem("1M x 20 depth 6", 1_000_000, max_depth=6),
    Problem("1M x 20 64 leaves", 1_000_000, max_leaf_nodes=64),
    Problem("1M x 20 few distinct", 1_000_000, distinct=20),
    Problem("10k x 100", 10_000, columns=100),
    Problem("100k x 20 depth 6", 100_000, max_depth=6, quick=True),
    Problem("100k x 20 few distinct", 100_000, distinct=20),
    Problem("100k x 20 10 classes", 100_000, classes=10),
    Problem("100k x 20 100 classes", 100_000, classes=100),
    Problem("100k x 20 weights", 100_000, weighted=True),
    Problem("100k x 20 missing values", 100_000, missing=0.1),
    Problem("100k x 20 categories", 100_000, categories=30),
    Problem("100k x 20 regression", 100_000, classes=0),
    Problem("iris", 150, columns=4, classes=3, dtype="float64", source="iris"),
    Problem("breast cancer", 569, columns=30, dtype="float64", source="breast_cancer", quick=True),
)


def prepare(job: Job) -> Task:
    """Fit; then tell the size of the tree and its score on the held-out rows."""
    peer, problem = PEERS[job.peer], job.problem
    with np.load(job.data) as file:
        data = dict(file)
    warm_up(peer, problem, data)
    table, weight = peer.table(problem, data["train"]), data.get("weight")
    models: list[Any] = []

    def work() -> None:
        models.clear()
        models.append(peer.fit(problem, table, data["target"], weight, job.threads))

    return Task(work, lambda: describe(peer, problem, models[0], data))


def describe(peer: Peer, problem: Problem, model: Any, data: dict[str, Any]) -> dict[str, Any]:
    """The size of a tree and its score on held-out rows."""
    told: dict[str, Any] = {"leaves": peer.leaves(model), "depth": peer.depth(model)}
    held_out = slice(0, HELD_OUT)
    if len(data["test"]):
        predicted = peer.predict(model, peer.table(problem, data["test"][held_out]), 1)
        told["score"] = score(problem, predicted, data["test_target"][held_out])
    return told


def warm_up(peer: Peer, problem: Problem, data: dict[str, Any]) -> None:
    """A small fit, so that what a library loads late is not counted."""
    few = slice(0, 200)
    weight = data["weight"][few] if problem.weighted else None
    peer.fit(problem, peer.table(problem, data["train"][few]), data["target"][few], weight, 1)


def score(problem: Problem, predicted: Any, target: Any) -> float:
    """The share of right classes, or R² for numbers."""
    predicted = np.asarray(predicted, dtype=np.float64).ravel()
    if problem.classes:
        return float(np.mean(predicted == target))
    return float(1 - np.mean((predicted - target) ** 2) / np.var(target))
