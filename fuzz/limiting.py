"""A limit on the time of one case: what hangs is a failure as well."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_CASE = 20  # seconds


@contextmanager
def limited_time(seconds: int = LONGEST_CASE) -> Iterator[None]:
    """TimeoutError where a case takes too long, on systems that have alarms."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError(f"the case takes more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
