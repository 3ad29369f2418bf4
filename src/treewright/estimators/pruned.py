"""Pruning inside a fit: the rows are dealt to the growing and to the choosing, and no row does both."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from treewright.encoding import Dataset
from treewright.folding import split
from treewright.pruning import PruningPath, leaves_choice, method_function, methods, prune
from treewright.selecting import select, way_function, ways
from treewright.tree import Tree

VALIDATION_SHARE = 0.25  # of the rows of a fit that needs some to validate by and was given none
_OF_PRUNE = ("cost_matrix", "priors")  # options of every method
_GIVEN = ("data", "validation", "growing", "seed", "path")  # what the fit itself provides
Grow = Callable[[Dataset], Tree]


def pruned(
    estimator: Any, data: Dataset, validation: Dataset | None, grow: Grow, growing: Callable[[Dataset], Any]
) -> PruningPath:
    """The path of an estimator's `pruning`, with one tree chosen.

    `grow` makes the estimator's tree of some rows, and `growing` says by which parameters.
    """
    method, given = estimator.pruning, dict(estimator.pruning_options or {})
    by = given.pop("select", None)
    share = given.pop("validation_fraction", VALIDATION_SHARE)
    seed = _seed(estimator.random_state)
    pruning, selecting, by = _shared_out(method, by, given)
    judged = _is_needed(method_function(method), "validation") or by == "held_out"
    if judged and validation is None:
        if not 0 < share < 1:
            raise ValueError(f"validation_fraction is {share!r}; it must be between 0 and 1")
        data, validation = split(data, (1 - share, share), seed)
    facts = {"data": data, "validation": validation, "growing": growing(data), "seed": seed}
    path = prune(grow(data), method, **_offered(method_function(method), facts), **pruning)
    if by is not None:
        path = select(path, by, **_offered(way_function(by), facts), **selecting)
    return path


def _shared_out(
    method: str, by: str | None, given: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], str | None]:
    """The options of the method and those of the choice, and how the choice is made where there is one."""
    if method not in methods():
        raise ValueError(f"pruning={method!r} is unknown; known: None, {', '.join(methods())}")
    if by is not None and by not in ways():
        raise ValueError(f"pruning_options: select={by!r} is unknown; known: {', '.join(ways())}")
    of_method = _options(method_function(method), *_OF_PRUNE)
    pruning = {name: value for name, value in given.items() if name in of_method}
    if by is None and leaves_choice(method, pruning):
        by = "held_out"
    of_choice = _options(way_function(by)) if by is not None else []
    selecting = {name: value for name, value in given.items() if name in of_choice and name not in of_method}
    for name in given:
        if name not in pruning and name not in selecting:
            known = ["select", "validation_fraction", *of_method, *of_choice]
            raise ValueError(
                f"pruning_options has {name!r}, which {method} does not know; known: {', '.join(known)}"
            )
    return pruning, selecting, by


def _options(function: Callable[..., Any], *more: str) -> list[str]:
    names = list(inspect.signature(function).parameters)[1:]
    return [name for name in (*names, *more) if name not in _GIVEN]


def _is_needed(function: Callable[..., Any], name: str) -> bool:
    parameter = inspect.signature(function).parameters.get(name)
    return parameter is not None and parameter.default is parameter.empty


def _offered(function: Callable[..., Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """What the fit knows of what a function asks for."""
    asked = inspect.signature(function).parameters
    return {name: value for name, value in facts.items() if name in asked and value is not None}


def _seed(random_state: Any) -> int:
    """The seed of the parts: without a random_state always the same ones."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state)
