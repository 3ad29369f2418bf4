"""Progress of a stage as progress of the whole."""

from __future__ import annotations

from treewright.ensembles.side_by_side import Listener


def of_stage(progress: Listener | None, start: float, share: float) -> Listener | None:
    """A listener for a stage that begins at `start` and is a `share` of the whole work.

    >>> of_stage(print, 0.5, 0.25)(1.0)
    0.75
    """
    return None if progress is None else lambda done: progress(start + share * done)
