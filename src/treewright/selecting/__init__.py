"""Selecting: which tree of a path to keep. One file per way, and this folder is the list of them.

A way is a file with a function of its own name, which returns a `PruningPath` with one of its trees chosen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from treewright._registry import Folder, check_names
from treewright.optimising import OptimalFront
from treewright.pruning import PruningPath
from treewright.pruning.arguments import with_encoded_rows
from treewright.selecting.comparison import Comparison, compare
from treewright.selecting.optimal_sizes import path_of_front
from treewright.selecting.overfitting import OverfittingCurve, overfitting_curve

__all__ = ["WAYS", "Comparison", "OverfittingCurve", "compare", "overfitting_curve", "select", "ways"]

_WAY = {"validation": "held_out", "data": "folds", "leaves": "leaves", "delta": "certificate", "c": "srm"}
WAYS = Folder(__name__, __path__, "by")


def ways() -> tuple[str, ...]:
    """The names of the ways that `select` knows.

    >>> ways()
    ('certificate', 'folds', 'held_out', 'leaves', 'srm')
    """
    return WAYS.names


def select(path: PruningPath | OptimalFront, by: str | None = None, **options: Any) -> PruningPath:
    """Choose a tree of a path.

    Parameters
    ----------
    path : PruningPath or OptimalFront
        What `prune` or `optimal_front` returns; it is not changed.
    by : str, optional
        One of `ways()`. It may be left out where an option implies it: ``validation=`` is by held-out rows,
        ``data=`` by folds, ``leaves=`` by size, ``delta=`` by certificate, ``c=`` by srm.
    **options
        Those of the way, by name. Rows are a Dataset, or a tuple (table, target).

    Returns
    -------
    PruningPath
        The same trees; ``.pruned`` is the chosen one, and ``.validation`` with its ``.standard_error`` is
        filled where the way measures them.

    Examples
    --------
    >>> from treewright import encode, grow, prune, select
    >>> tree = grow(encode({"x": [1, 2, 3, 4, 5, 6]}, ["a", "a", "a", "b", "a", "b"]))
    >>> path = prune(tree, "cost_complexity")
    >>> select(path, leaves=3).pruned.n_leaves
    2
    >>> others = encode({"x": [1, 3, 4, 6]}, ["a", "a", "b", "b"], schema=tree.schema)
    >>> select(path, by="held_out", validation=others).pruned.n_leaves
    2
    """
    if isinstance(path, OptimalFront):
        path = path_of_front(path)
    if not isinstance(path, PruningPath):
        raise TypeError(f"select takes a PruningPath, which prune makes of a tree, not {type(path).__name__}")
    way = by or implied_way(options)
    if way is None:
        known = dict.fromkeys(option for each in ways() for option in WAYS.options(each))
        check_names("select", ["by", *known], options)
        raise TypeError(f"select needs by=, one of {', '.join(ways())}")
    WAYS.check(way, options, ("by",))
    chosen: PruningPath = WAYS.function(way)(path, **with_encoded_rows(path, options))
    return chosen


def implied_way(options: Iterable[str]) -> str | None:
    """The way that has one of the options; None if none has, or several."""
    implied = {_WAY[name] for name in options if name in _WAY}
    return implied.pop() if len(implied) == 1 else None
