"""Selecting: which tree of a path to keep. One file per way, and this folder is the list of them.

A way is a file with a function of its own name, which returns a `PruningPath` with one of its trees chosen.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from treewright.pruning import PruningPath
from treewright.selecting.comparing import Comparison, compare
from treewright.selecting.overfitting import OverfittingCurve, overfitting_curve

__all__ = ["Comparison", "OverfittingCurve", "compare", "overfitting_curve", "select", "way_function", "ways"]

# An option that only one way has names the way.
_IMPLIED = {"validation": "held_out", "data": "folds", "leaves": "leaves", "delta": "certificate", "c": "srm"}


@cache
def ways() -> tuple[str, ...]:
    """The names of the ways that `select` knows.

    >>> ways()
    ('certificate', 'folds', 'held_out', 'leaves', 'srm')
    """
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(name for name in names if hasattr(import_module(f"{__name__}.{name}"), name))


def way_function(way: str) -> Callable[..., PruningPath]:
    """The function of a way."""
    if way not in ways():
        raise ValueError(f"by={way!r} is unknown; known: {', '.join(ways())}")
    function: Callable[..., PruningPath] = getattr(import_module(f"{__name__}.{way}"), way)
    return function


def select(path: PruningPath, by: str | None = None, **options: Any) -> PruningPath:
    """Choose a tree of a path.

    Parameters
    ----------
    path : PruningPath
        What `prune` returns. It is left as it is.
    by : str, optional
        One of `ways()`. It may be left out where an option tells: ``validation=`` is by held-out rows,
        ``data=`` by folds, ``leaves=`` by size, ``delta=`` by certificate, ``c=`` by srm.
    **options
        Those of the way, by name.

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
    if not isinstance(path, PruningPath):
        raise TypeError(f"select takes a PruningPath, which prune makes of a tree, not {type(path).__name__}")
    way = _implied(options) if by is None else by
    function = way_function(way)
    parameters = dict(list(inspect.signature(function).parameters.items())[1:])
    for name in options:
        if name not in parameters:
            raise TypeError(f"by={way!r} has no option {name!r}; its options are {', '.join(parameters)}")
    for name, parameter in parameters.items():
        if parameter.default is parameter.empty and options.get(name) is None:
            raise TypeError(f"by={way!r} needs {name}=")
    return function(path, **options)


def _implied(options: dict[str, Any]) -> str:
    """The way that the options tell."""
    told = {_IMPLIED[name] for name in options if name in _IMPLIED}
    if len(told) != 1:
        raise TypeError(f"select needs by=, one of {', '.join(ways())}")
    return told.pop()
