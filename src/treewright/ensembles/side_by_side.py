"""Work for many trees, side by side in threads: in order, and stopped as a whole."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import TypeVar

Task = TypeVar("Task")
T = TypeVar("T")
Listener = Callable[[float], object]  # told the share that is done; what it raises ends the work


class _StoppedError(Exception):
    """Another tree has failed, or somebody has asked to stop."""


def side_by_side(
    work: Callable[[Task, Listener], T],
    tasks: Sequence[Task],
    n_threads: int,
    done: Callable[[T], object],
) -> None:
    """Call `work(task, listener)` for each task, and `done(result)` for each in order, in this thread.

    The listener is to be called now and then by the work, with anything; it raises where the work is no
    longer wanted. Whatever is raised, Ctrl-C included, ends all the work and is raised here; the results
    before it have been handed over.

    >>> found = []
    >>> side_by_side(lambda task, listener: task * task, range(4), 2, found.append)
    >>> found
    [0, 1, 4, 9]
    """
    stop = Event()

    def listen(_: float) -> None:
        if stop.is_set():
            raise _StoppedError

    if min(n_threads, len(tasks)) <= 1:
        for task in tasks:
            done(work(task, listen))
        return
    ahead = 2 * n_threads  # results that may wait to be handed over: they take memory
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[Future[T]] = deque()
        try:
            for task in tasks:
                waiting.append(pool.submit(work, task, listen))
                if len(waiting) >= ahead:
                    done(waiting.popleft().result())
            while waiting:
                done(waiting.popleft().result())
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def gathered(
    work: Callable[[Task, Listener], T],
    tasks: Sequence[Task],
    n_threads: int,
    progress: Listener | None = None,
) -> list[T]:
    """What `side_by_side` makes of the tasks, in their order; `progress` is told how much is done.

    >>> gathered(lambda task, listener: task * task, [1, 2, 3], 2)
    [1, 4, 9]
    """
    results: list[T] = []

    def note(result: T) -> None:
        results.append(result)
        if progress is not None:
            progress(len(results) / len(tasks))

    if progress is not None:
        progress(0.0)
    side_by_side(work, tasks, n_threads, note)
    return results


def of_stage(progress: Listener | None, start: float, share: float) -> Listener | None:
    """A listener for a stage that begins at `start` and is a `share` of the whole work.

    >>> of_stage(print, 0.5, 0.25)(1.0)
    0.75
    """
    return None if progress is None else lambda done: progress(start + share * done)
