"""The solvers of optimal trees, each run in a process of its own, which ends when its CPU time is spent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import THREAD_LIMITS
from benchmarks.optimising_tasks import BINARY, LARGE, NUMBERS, REAL, Task

OURS, CART = "treewright", "CART (scikit-learn)"
REPEATED = 1.0  # seconds: what takes longer runs once
BATCHES, LEAST_CPU, MOST_RUNS = 3, 0.1, 50  # the least mean of three batches of at least 0.1 s
EARLY = 10.0  # CPU seconds after which loss and bound are kept as well
PATIENCE = 20.0  # seconds of the clock for each of CPU time, on a machine that does other work

Figure = dict[str, Any]


def measured(solver: str, task: Task, limit: float) -> Figure:
    """What a solver finds within so many seconds of CPU time; {"cut": limit} if it found nothing by then."""
    job = json.dumps({"solver": solver, "task": asdict(task), "limit": limit})
    environment = os.environ | {name: str(task.threads) for name in THREAD_LIMITS}
    command = [sys.executable, "-m", "benchmarks.optimising_solvers", job]
    root = Path(__file__).parent.parent
    try:
        done = subprocess.run(
            command, env=environment, cwd=root, capture_output=True, text=True, timeout=PATIENCE * limit
        )
    except subprocess.TimeoutExpired:
        return {"cut": limit}
    if done.returncode < 0:
        return {"cut": limit}
    if done.returncode:
        return {"failure": done.stderr.strip().splitlines()[-1]}
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def _ours(task: Task, data: Any, target: Any, limit: float) -> Callable[[], Figure]:
    from treewright import improve, optimise
    from treewright.encoding import encode

    rows = encode(data, target if task.kind == NUMBERS else [str(each) for each in target.tolist()])
    if task.kind == LARGE:
        from treewright import grow

        tree = grow(rows, max_depth=task.depth, n_jobs=task.threads)

        def run() -> Figure:
            better = improve(tree, rows, n_jobs=task.threads)
            before, after = (float(each.loss[each.is_leaf].sum()) for each in (tree, better))
            return {"before": before, "loss": after, "leaves": [tree.n_leaves, better.n_leaves]}

        return run

    def search() -> Figure:
        start, early = time.process_time(), list[float]()

        def progress(_: float, loss: float, bound: float) -> None:
            spent = time.process_time() - start
            if spent >= EARLY and not early:
                early.extend((loss, bound))
            if spent >= limit:
                raise KeyboardInterrupt

        options = {"max_depth": task.depth, "time_limit": None, "n_jobs": task.threads}
        best = optimise(rows, **options, progress=progress)
        found = {"loss": best.loss, "bound": best.bound, "proved": best.is_proved}
        return found | {"smallest": best.is_smallest, "leaves": best.tree.n_leaves, "early": early}

    return search


def _pycontree(task: Task, data: Any, target: Any, limit: float) -> Callable[[], Figure]:
    from pycontree import ConTree

    def run() -> Figure:
        model = ConTree(max_depth=task.depth, time_limit=PATIENCE * limit).fit(data, target)
        return {"loss": int((model.predict(data) != target).sum())}

    return run


def _pystreed(task: Task, data: Any, target: Any, limit: float) -> Callable[[], Figure]:
    from pystreed import STreeDClassifier

    bits = data.astype(np.int32)

    def run() -> Figure:
        model = STreeDClassifier(max_depth=task.depth, time_limit=PATIENCE * limit).fit(bits, target)
        return {"loss": int((model.predict(bits) != target).sum())}

    return run


def _cart(task: Task, data: Any, target: Any, limit: float) -> Callable[[], Figure]:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    tree = DecisionTreeRegressor if task.kind == NUMBERS else DecisionTreeClassifier

    def run() -> Figure:
        predicted = tree(max_depth=task.depth, random_state=0).fit(data, target).predict(data)
        is_number = task.kind == NUMBERS
        losses = (predicted - target) ** 2 if is_number else predicted != target
        return {"loss": float(losses.sum())}

    return run


_Prepare = Callable[[Task, Any, Any, float], Callable[[], Figure]]
_PREPARE: dict[str, _Prepare] = {OURS: _ours, "pycontree": _pycontree, "pystreed": _pystreed, CART: _cart}
PACKAGES = ("treewright", "pycontree", "pystreed", "scikit-learn")


def solvers(task: Task) -> tuple[str, ...]:
    """Who solves a task: pycontree for real-valued columns (on columns of 0 and 1 it is far behind pystreed,
    and is spared depth 4), pystreed for columns of 0 and 1; only treewright uses several threads.
    """
    if task.threads > 1 or task.kind == LARGE:
        return (OURS,)
    if task.kind == NUMBERS:
        return (OURS, CART)
    if task.kind == BINARY:
        return (OURS, "pystreed", *(["pycontree"] if task.depth < 4 else []), CART)
    return (OURS, "pycontree", CART)


def _limit_cpu(seconds: float) -> None:
    """End this process when it has used so much more CPU time."""
    import resource

    most = int(time.process_time() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))


def main() -> None:
    """Solve the task in the arguments and print what was found, with the least CPU time of the runs."""
    job = json.loads(sys.argv[1])
    task, limit = Task(**job["task"]), float(job["limit"])
    prepare = _PREPARE[job["solver"]]
    small = Task(task.kind, "200 x 4", 2) if task.kind not in (REAL, BINARY) else task
    data, target = small.table()
    prepare(Task(task.kind, "", 1), data[:100], target[:100], limit)()  # what is loaded at the first use
    run = prepare(task, *task.table(), limit)
    if job["solver"] != OURS:
        _limit_cpu(limit)
    found, cpu, wall = _timed(run, 1)
    n_runs = min(MOST_RUNS, max(1, int(LEAST_CPU / max(cpu, 1e-6))))
    if cpu < REPEATED:
        _, cpu, wall = min((_timed(run, n_runs) for _ in range(BATCHES)), key=lambda each: each[1])
    print(json.dumps({"cpu": cpu, "wall": wall, **found}))


def _timed(run: Callable[[], Figure], n_runs: int) -> tuple[Figure, float, float]:
    """What is found, and the CPU and wall seconds of one of several runs."""
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(n_runs):
        found = run()
    return found, (time.process_time() - cpu) / n_runs, (time.perf_counter() - wall) / n_runs


if __name__ == "__main__":
    main()
