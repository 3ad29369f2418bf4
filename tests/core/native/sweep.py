"""Lets the N-th allocation of the core fail, for many N: a MemoryError, nothing worse, and then all is well.

With the library of failing_new.cpp loaded first: python sweep.py LIBRARY [--most 60] [--seconds 9] [--seed 0]
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from treewright import _core, encode, grow, shapley_values
from treewright.encoding import Dataset


def data_sets() -> dict[str, Dataset]:
    """Classes, many classes, numbers; with holes, categories of few and of many names, weights."""
    random = np.random.default_rng(0)
    n = 500
    x = np.round(random.normal(size=(n, 3)), 2)
    x[random.random(n) < 0.1, 1] = np.nan
    table = {
        "x": x[:, 0],
        "z": x[:, 1],
        "few": random.choice(np.array(list("abcdef")), n),
        "many": random.integers(0, 400, n).astype(str),
    }
    y = np.digitize(x[:, 0] + random.normal(size=n), [-0.5, 0.5])
    return {
        "classes": encode(x, y),
        "two classes": encode(x, y > 0),
        "many classes": encode(x, random.integers(0, 60, n)),
        "table": encode(table, y, weight=random.integers(0, 3, n)),
        "numbers": encode(x, x[:, 0] + random.normal(size=n)),
        "counts": encode(table, np.exp(x[:, 0]), weight=random.random(n)),
        "two targets": encode(x, np.stack([y, y[::-1]], axis=1)),
    }


def works() -> Iterator[tuple[str, Callable[[], Any]]]:
    """The calls to be tried, each with its name; equal results are equal by ==."""
    data = data_sets()
    tasks = [
        ("classes", "gini"),
        ("two classes", "gini"),
        ("many classes", "entropy"),
        ("table", "entropy"),
        ("table", "gain_ratio"),
        ("numbers", "squared_error"),
        ("numbers", "absolute_error"),
        ("counts", "poisson"),
        ("two targets", "error"),
    ]
    for name, criterion in tasks:
        limits: dict[str, Any] = {"criterion": criterion, "min_samples_leaf": 3}
        rows = data[name]
        yield f"{name} by {criterion}", lambda rows=rows, limits=limits: grow(rows, **limits)
        for n_jobs in (1, 2, 3):
            some = {**limits, "n_jobs": n_jobs, "_small_rows": 60}
            yield f"{name} by {criterion}, {some}", lambda rows=rows, some=some: grow(rows, **some)
    rows = data["table"]
    yield "random splits", lambda: grow(rows, splitter="random", max_features=2, random_state=1)
    yield "a budget of splits", lambda: grow(rows, max_leaf_nodes=10, _small_rows=60, n_jobs=2)
    for n_jobs in (1, 3):
        yield (
            f"sums in {n_jobs} threads",
            lambda n_jobs=n_jobs: grow(data["classes"], split="oblique", max_leaf_nodes=6, n_jobs=n_jobs),
        )
    yield "bins", lambda: [a.tobytes() for a in Dataset(rows.schema, rows.columns).bins(2)]
    for name in ("table", "numbers"):
        tree = grow(data[name])
        many = data[name].take(np.arange(60_000) % 500)
        for n_threads in (1, 3):
            yield (
                f"predict {name} in {n_threads} threads",
                lambda tree=tree, many=many, n_threads=n_threads: tree.apply(
                    many, n_jobs=n_threads
                ).tobytes(),
            )
        few = data[name].take(np.arange(300))
        for others in (None, few.take(np.arange(5))):
            yield (
                f"attribute {name}" + " by a background" * (others is not None),
                lambda tree=tree, few=few, others=others: shapley_values(
                    tree, few, background=others, n_jobs=2
                ).values.tobytes(),
            )
    statistic = np.ones((50, 3))
    yield "risk", lambda: _core.risk("gini", statistic).tobytes()
    yield "thresholds", lambda: _core.readable(np.zeros(50), np.ones(50)).tobytes()


def numbers_to_fail(n: int, most: int, random: np.random.Generator) -> list[int]:
    """All allocations where they are few; else the first, the last, and some of those in between."""
    if n <= most:
        return list(range(n))
    third = most // 3
    between = random.choice(np.arange(third, n - third), most - 2 * third, replace=False)
    return [*range(third), *sorted(between.tolist()), *range(n - third, n)]


def n_threads_alive() -> int:
    return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1


def are_gone(wanted: int) -> bool:
    """Whether no more threads are left; the system may list one for a moment after it has been joined."""
    ends = time.monotonic() + 5
    while n_threads_alive() > wanted and time.monotonic() < ends:
        time.sleep(0.001)
    return n_threads_alive() <= wanted


def sweep(library: Any, most: int, seconds: float, seed: int) -> int:
    """Tries as many failures as the time allows; how many it were."""
    random, ends, tried = np.random.default_rng(seed), time.monotonic() + seconds, 0
    for name, work in works():
        library.fail_allocations(-1, -1)
        wanted = work()
        count, threads = library.count_allocations(), n_threads_alive()
        for first in numbers_to_fail(count, most, random):
            for last in (first, 2**62):  # this one only; this one and all that follow
                if time.monotonic() > ends:
                    return tried
                print(name, first, last, file=sys.stderr, flush=True)
                library.fail_allocations(first, last)
                try:
                    result = work()
                except MemoryError:
                    pass
                else:  # the failure was one that could be done without
                    assert result == wanted, "another result"
                finally:
                    library.fail_allocations(-1, -1)
                assert are_gone(threads), "a thread was left behind"
                tried += 1
            assert work() == wanted, "another result after a failure"
    return tried


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("--most", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    print(sweep(ctypes.CDLL(chosen.library), chosen.most, chosen.seconds, chosen.seed))
