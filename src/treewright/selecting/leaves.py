"""By size: as many leaves as people are willing to read."""

from __future__ import annotations

import operator

import numpy as np

from treewright.pruning import PruningPath
from treewright.pruning.arguments import method
from treewright.selecting.one_standard_error import choose


@method
def leaves(path: PruningPath, *, leaves: int) -> PruningPath:
    """The largest tree of the path with at most so many leaves; of several the one that loses least.

    Parameters
    ----------
    leaves : int
        The most leaves that the tree may have.
    """
    try:
        most = operator.index(leaves)
    except TypeError:
        raise ValueError(f"leaves is {leaves!r}; it must be a whole number") from None
    fit = np.flatnonzero(path.leaves <= most)
    if not fit.size:
        raise ValueError(
            f"no tree of the path is as small as {most} leaves; the smallest has {path.leaves.min()}"
        )
    largest = fit[path.leaves[fit] == path.leaves[fit].max()]
    place = int(largest[path.training[largest].argmin()])
    return choose(path, place, f"size, at most {most} leaves")
