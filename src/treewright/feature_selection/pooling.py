"""Work side by side: threads that grow trees, results in the order of the tasks, an end to all at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TypeVar

from treewright.growing import n_threads

Task = TypeVar("Task")
Result = TypeVar("Result")
Tell = Callable[[float], object]  # told the share that is done; what it raises ends the work


class _Ended(Exception):  # noqa: N818 (nothing is wrong)
    """Another thread has failed, or the user wants no more."""


def side_by_side(
    work: Callable[[Task, Tell], Result],
    tasks: Sequence[Task],
    n_jobs: int | None = None,
    progress: Tell | None = None,
) -> list[Result]:
    """What `work` makes of each task, in their order, whatever the number of threads.

    `work` gets a task and a function to call now and then, as `grow(progress=)` does: it raises when the
    others have failed or Ctrl-C was pressed. `progress` is told by the calling thread.

    >>> side_by_side(lambda task, told: task**2, [1, 2, 3], n_jobs=2)
    [1, 4, 9]
    """
    threads = min(n_threads(n_jobs), len(tasks))
    if threads <= 1:
        return _one_by_one(work, tasks, progress)
    ended = Event()

    def told(_: float) -> None:
        if ended.is_set():
            raise _Ended

    def begun(task: Task) -> Result:
        told(0.0)
        return work(task, told)

    results: list[Result] = []
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(begun, task) for task in tasks]
        try:
            for place, future in enumerate(futures):
                if progress is not None:
                    progress(place / len(tasks))
                results.append(future.result())
        except BaseException:
            ended.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return results


def _one_by_one(
    work: Callable[[Task, Tell], Result], tasks: Sequence[Task], progress: Tell | None
) -> list[Result]:
    results = []
    for place, task in enumerate(tasks):
        start = place / len(tasks)
        if progress is not None:
            progress(start)
        results.append(work(task, _part_of(progress, start, 1 / len(tasks))))
    return results


def _part_of(progress: Tell | None, start: float, share: float) -> Tell:
    """Progress within one task as progress of the whole."""
    if progress is None:
        return lambda _: None
    return lambda done: progress(start + share * done)
