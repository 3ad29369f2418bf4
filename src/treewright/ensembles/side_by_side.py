"""Work for many trees, side by side in threads: in order, and stopped as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import TypeVar

T = TypeVar("T")
Listener = Callable[[float], object]


class _StoppedError(Exception):
    """Another tree has failed, or somebody has asked to stop."""


def side_by_side(
    work: Callable[[int, Listener], T],
    members: Iterable[int],
    n_threads: int,
    done: Callable[[T], object],
) -> None:
    """Call `work(member, listener)` for each member, and `done(result)` for each in order, in this thread.

    The listener is to be called now and then by the work, with anything; it raises where the work is no
    longer wanted. Whatever is raised, Ctrl-C included, ends all the work and is raised here; the results
    before it have been handed over.

    >>> found = []
    >>> side_by_side(lambda member, listener: member * member, range(4), 2, found.append)
    >>> found
    [0, 1, 4, 9]
    """
    members = list(members)
    stop = Event()

    def listen(_: float) -> None:
        if stop.is_set():
            raise _StoppedError

    if min(n_threads, len(members)) <= 1:
        for member in members:
            done(work(member, listen))
        return
    ahead = 2 * n_threads  # results that may wait to be handed over: they take memory
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: list[Future[T]] = []
        try:
            for place in range(len(members) + ahead):
                if place < len(members):
                    waiting.append(pool.submit(work, members[place], listen))
                if len(waiting) >= ahead or place >= len(members):
                    if not waiting:
                        break
                    done(waiting.pop(0).result())
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
