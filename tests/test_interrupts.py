"""Ctrl-C in every phase of the work: it stops within moments, and the process goes on from there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends SIGINT to another process")

# Each phase runs over and over until a signal stops it; then the next one begins in the same process.
# scipy is loaded beforehand: Python ends with the code of the signal where one was caught within the `exec`
# of a module that is being imported.
DRIVER = """
import numpy as np
import scipy.special, scipy.stats
from treewright import TreeSelector, _core, shapley_values, competitors, encode, grow, grow_forest, importance
from treewright import KDTree, stability
from treewright.ensembles import importance_of, out_of_bag
from treewright.feature_selection import boruta, split_scores
from treewright.pruning import cost_complexity_path

random = np.random.default_rng(0)
x = random.random((120_000, 12), dtype=np.float32)
y = (x[:, 0] + random.normal(size=len(x)) > 0.5).astype(int)
value = random.random(len(x))
classes, count = encode(x, y), encode(x, random.integers(0, 150, len(x)))
numbers = encode(x, value)
text = {"a": [f"v{i % 3000}" for i in range(400_000)], "b": list(range(400_000))}
tree = grow(encode(x[:30_000], value[:30_000]))
rows = encode(np.tile(x, (4, 1)), schema=tree.schema)
mixed = {"x": value, "c": (np.arange(len(x)) % 300).astype(str)}
by_category = grow(encode(mixed, value + np.arange(len(x)) % 300 % 7), min_samples_leaf=5)
mixed_rows = encode(mixed, schema=by_category.schema)
mixed_judged = encode(mixed, value, schema=by_category.schema)
some = rows.take(slice(200))
forest = grow_forest(classes, n_estimators=6)
wide_rows = encode(np.tile(x, (4, 1)), schema=classes.schema)
number = np.arange(600_001)
chain = np.where(number % 2, number + 1, len(number)).astype(np.int32)
small = {"_small_rows": 10**9}
near = KDTree(x)

phases = {
    "encode text": lambda: encode(text),
    "encode integers": lambda: encode((x * 1000).astype(np.int64)),
    "bin, 1 thread": lambda: encode(x).bins(1),
    "bin, 2 threads": lambda: encode(x).bins(2),
    "sort rows": lambda: grow(numbers, max_depth=0),
    "large nodes, 1 thread": lambda: grow(classes, max_depth=5, min_samples_leaf=4000),
    "large nodes, 2 threads": lambda: grow(classes, max_depth=5, min_samples_leaf=4000, n_jobs=2),
    "whole tree, 1 thread": lambda: grow(classes),
    "whole tree, 2 threads": lambda: grow(classes, n_jobs=2),
    "numbers, 2 threads": lambda: grow(numbers, n_jobs=2),
    "long lists": lambda: grow(classes, **small),
    "long lists of poisson": lambda: grow(numbers, criterion="poisson", **small),
    "poisson, 2 threads": lambda: grow(numbers, criterion="poisson", n_jobs=2),
    "medians, 2 threads": lambda: grow(numbers, criterion="absolute_error", n_jobs=2),
    "many classes": lambda: grow(count, criterion="entropy", max_depth=3),
    "random splits": lambda: grow(classes, splitter="random"),
    "categories": lambda: grow(encode(mixed, value)),
    "bootstraps, 2 threads": lambda: stability(classes, n_jobs=2, max_depth=5),
    "shuffles": lambda: importance(by_category, mixed_judged, n_repeats=50),
    "competitors": lambda: competitors(by_category, mixed_judged),
    "forest, 1 thread": lambda: grow_forest(classes, n_estimators=5),
    "forest, 2 threads": lambda: grow_forest(classes, n_estimators=5, n_jobs=2),
    "votes, 2 threads": lambda: forest.sums(wide_rows, 2),
    "out of bag, 2 threads": lambda: out_of_bag(forest, classes, n_jobs=2),
    "importance of a forest": lambda: importance_of(forest, classes),
    "permutations, 2 threads": lambda: split_scores(classes, n_permutations=50, n_jobs=2),
    "shadows, 2 threads": lambda: boruta(classes, n_jobs=2),
    "wrapper, 2 threads": lambda: TreeSelector(n_jobs=2).fit(x, y),
    "pruning path": lambda: cost_complexity_path(tree),
    "front of a chain": lambda: _core.front(chain, np.arange(len(chain), 0.0, -1.0)),
    "predict, 1 thread": lambda: tree.apply(rows),
    "predict, 2 threads": lambda: tree.apply(rows, n_jobs=2),
    "predict by categories": lambda: by_category.apply(mixed_rows, n_jobs=2),
    "shapley_values, 1 thread": lambda: shapley_values(tree, rows),
    "shapley_values, 2 threads": lambda: shapley_values(by_category, mixed_rows, n_jobs=2),
    "k-d tree, 1 thread": lambda: KDTree(x),
    "k-d tree, 2 threads": lambda: KDTree(x, leaf_size=1, n_jobs=2),
    "spill tree": lambda: KDTree(x, spill=0.1),
    "neighbours, 1 thread": lambda: near.query(x, 9),
    "neighbours, 2 threads": lambda: near.query(x, 100, n_jobs=2),
    "defeatist search": lambda: near.query(x, 1000, search="defeatist"),
    "within a radius": lambda: near.query_radius(x, 0.5, n_jobs=2),
    "shapley_values by a background": lambda: shapley_values(tree, some, background=rows, n_jobs=2),
}
for name, work in phases.items():
    try:
        print(name, flush=True)
        while True:
            work()
    except KeyboardInterrupt:
        print("stopped", flush=True)
assert grow(classes, max_depth=2).n_leaves == 4
print("done", flush=True)
"""
TOO_LONG = 30.0  # seconds; a hang on any machine, however busy: the delays are some hundredths


@pytest.fixture
def driver() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, "-c", DRIVER], stdout=subprocess.PIPE, text=True) as process:
        watch = threading.Timer(300, process.kill)
        watch.start()
        yield process
        watch.cancel()
        process.kill()


@pytest.mark.slow
def test_ctrl_c_in_every_phase(driver: subprocess.Popen[str]) -> None:
    assert driver.stdout is not None
    delays: dict[str, float] = {}
    for line in driver.stdout:
        phase = line.strip()
        if phase == "done":
            break
        time.sleep(0.15)
        sent = time.monotonic()
        driver.send_signal(signal.SIGINT)
        assert driver.stdout.readline() == "stopped\n", f"{phase} was killed or failed"
        delays[phase] = time.monotonic() - sent
    assert driver.wait(30) == 0
    assert len(delays) == DRIVER.count("lambda")
    slow = {phase: round(delay, 2) for phase, delay in delays.items() if delay > TOO_LONG}
    assert not slow
