"""Several threads on one object, many threads in one call, and processes that fork."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tests.checks import same_tree
from treewright import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    encode,
    grow,
)

pytestmark = pytest.mark.threads
ESTIMATORS = [DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor]


@pytest.fixture(autouse=True)
def restless() -> Iterator[None]:
    """Python changes between threads a thousand times as often."""
    old = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(old)


def at_once(works: list[Callable[[], Any]]) -> list[Any]:
    """All calls together, each in a thread of its own; their results."""
    gate = threading.Barrier(len(works))

    def go(work: Callable[[], Any]) -> Any:
        gate.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(go, works, timeout=120))


def tables(n_rows: int = 60) -> list[tuple[Any, Any]]:
    """Tables of different widths, with classes of different names."""
    random = np.random.default_rng(0)
    wide, narrow = random.normal(size=(n_rows, 40)), random.normal(size=(n_rows, 2))
    return [(wide, 10 + (wide[:, 39] > 0)), (narrow, 20 + np.digitize(narrow[:, 0], [-0.5, 0.5]))]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_fits_and_predictions_of_one_object(estimator: Any) -> None:
    """A prediction belongs to one of the fits as a whole, or is refused for its width."""
    (wide, of_wide), (narrow, of_narrow) = tables()
    model = estimator(random_state=0).fit(wide, of_wide)
    answers = {
        len(table[0]): estimator(random_state=0).fit(table, y).predict(table)
        for table, y in ((wide, of_wide), (narrow, of_narrow))
    }

    def fit() -> None:
        for turn in range(30):
            model.fit(*((wide, of_wide) if turn % 2 else (narrow, of_narrow)))

    def predict(table: Any) -> Callable[[], int]:
        def work() -> int:
            n_right = 0
            for _ in range(150):
                try:
                    predicted = model.predict(table)
                except ValueError as error:
                    if "features" not in str(error) and "columns" not in str(error):
                        raise
                else:
                    np.testing.assert_array_equal(predicted, answers[len(table[0])])
                    n_right += 1
            return n_right

        return work

    at_once([fit, fit, predict(wide), predict(narrow), predict(wide), predict(narrow)])
    assert set(map(int, model.predict(narrow) if model.n_features_in_ == 2 else model.predict(wide))) <= {
        10, 11, 20, 21, 22,
    }  # fmt: skip


@pytest.mark.parametrize("criterion", ["gini", "gain_ratio", "squared_error", "absolute_error", "poisson"])
def test_many_threads_grow_from_one_data_set(criterion: str) -> None:
    random = np.random.default_rng(1)
    x = random.normal(size=(400, 4))
    x[::7, 1] = np.nan
    is_class = criterion in ("gini", "gain_ratio")
    y = np.digitize(x[:, 0] + 0.5 * random.normal(size=400), [-0.5, 0.5])
    data = encode(x, y if is_class else y.astype(float), classes=is_class)
    limits: dict[str, Any] = {"criterion": criterion, "_small_rows": 50, "max_depth": 6}
    wanted = grow(encode(x, y if is_class else y.astype(float), classes=is_class), **limits)
    for tree in at_once([lambda k=k: grow(data, n_jobs=1 + k % 3, **limits) for k in range(8)]):
        same_tree(wanted, tree)


def test_many_threads_read_one_tree() -> None:
    """What a tree computes at the first question, several may ask first."""
    table = {"x": np.arange(60.0), "c": np.array(list("abcdef") * 10)}
    y = (np.arange(60) * 7 % 11 > 5).astype(int)
    wanted = str(grow(encode(table, y)))
    for _ in range(5):
        tree = grow(encode(table, y))
        works = [
            lambda tree=tree: str(tree),
            lambda tree=tree: tree.predict_proba(table),
            lambda tree=tree: (tree.gain, tree.depths, tree.risk),
            lambda tree=tree: tree.curve(encode(table, y, schema=tree.schema)),
        ]
        results = at_once(works * 2)
        assert results[0] == results[4] == wanted
        np.testing.assert_array_equal(results[1], results[5])


@pytest.mark.parametrize("n_jobs", [2, 3, 7])
def test_predictions_of_many_rows_in_threads(n_jobs: int) -> None:
    """Above 50,000 rows the core predicts in threads of its own; here several calls do so at once."""
    random = np.random.default_rng(2)
    x = random.normal(size=(60_000, 3))
    model = DecisionTreeRegressor(max_depth=8, n_jobs=1).fit(x[:2000], x[:2000, 0] * x[:2000, 1])
    wanted = model.predict(x)
    model.set_params(n_jobs=n_jobs)
    for predicted in at_once([lambda: model.predict(x)] * 3):
        assert predicted.tobytes() == wanted.tobytes()
    mixed = {"x": x[:, 0], "c": np.array(list("abcde"))[np.arange(60_000) % 5]}
    model = DecisionTreeClassifier(max_depth=5).fit(mixed, np.arange(60_000) % 5 % 2)
    wanted = model.predict(mixed)
    np.testing.assert_array_equal(model.set_params(n_jobs=n_jobs).predict(mixed), wanted)


@pytest.mark.parametrize("n_jobs", [5, 64, 100_000])
@pytest.mark.parametrize("n_rows", [1, 2, 10])
def test_more_threads_than_rows(n_rows: int, n_jobs: int) -> None:
    x, y = np.arange(3.0 * n_rows).reshape(n_rows, 3), np.arange(n_rows) % 2
    same_tree(grow(encode(x, y)), grow(encode(x, y), n_jobs=n_jobs, _small_rows=1))


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
def test_no_thread_outlives_its_call() -> None:
    random = np.random.default_rng(3)
    x, y = random.normal(size=(3000, 4)), random.integers(0, 2, 3000)
    before = len(os.listdir("/proc/self/task"))
    for _ in range(3):
        grow(encode(x, y), n_jobs=8, _small_rows=100, max_depth=4)
    ends = time.monotonic() + 5  # the system may list a thread for a moment after it has been joined
    while len(os.listdir("/proc/self/task")) > before and time.monotonic() < ends:
        time.sleep(0.001)
    assert len(os.listdir("/proc/self/task")) <= before


FORK = """
import multiprocessing, os, sys, threading
import numpy as np
from treewright import DecisionTreeClassifier

random = np.random.default_rng(0)
x = random.normal(size=(60_000, 4))
y = (x[:, 0] * x[:, 1] > 0).astype(int)
model = DecisionTreeClassifier(max_depth=6, n_jobs=2).fit(x, y)
wanted = model.predict(x)

def again(seed):
    other = DecisionTreeClassifier(max_depth=6, n_jobs=2).fit(x, y)
    return bool(other.model_ == model.model_ and (model.predict(x) == wanted).all())

def in_child():
    child = os.fork()
    if child == 0:
        os._exit(0 if again(0) else 1)
    assert os.waitpid(child, 0)[1] == 0

in_child()
thread = threading.Thread(target=again, args=(1,))  # another thread is growing while this one forks
thread.start()
in_child()
thread.join()
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert all(pool.map(again, range(4)))
assert again(0)
print("done")
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.skipif("tsan" in os.environ.get("LD_PRELOAD", ""), reason="the checker of races cannot fork")
def test_fork_after_fit() -> None:
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK], capture_output=True, text=True, timeout=120, check=False
    )
    assert result.stdout == "done\n", result.stderr
