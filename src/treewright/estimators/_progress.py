"""A progress bar for long fits, on one line of the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Protocol

_WIDTH = 24
_PAUSE = 0.1  # seconds between two updates of the bar


class Steps(Protocol):
    """Called after each step with the number of completed steps."""

    def __call__(self, done: int) -> None: ...


@contextmanager
def progress_bar(what: str, total: int, verbose: int) -> Iterator[Steps]:
    """Show a bar on stderr for `total` steps if `verbose`; it ends with a newline, even after an error.

    >>> with progress_bar("trees", 3, verbose=0) as step:
    ...     step(1)
    """
    if not verbose:
        yield lambda done: None
        return
    begin, shown = monotonic(), 0.0

    def show(done: int) -> None:
        nonlocal shown
        now = monotonic()
        if done < total and now - shown < _PAUSE:
            return
        shown = now
        full = round(_WIDTH * done / max(total, 1))
        bar = "█" * full + "·" * (_WIDTH - full)
        sys.stderr.write(f"\r{bar} {done:,} of {total:,} {what}, {now - begin:.1f} s")
        sys.stderr.flush()

    show(0)
    try:
        yield show
    finally:
        sys.stderr.write("\n")
