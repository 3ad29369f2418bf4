"""Pruning inside a fit: the rows are dealt to the growing and to the choosing, and no row does both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from treewright.encoding import Dataset
from treewright.enlisting import Folder
from treewright.folding import split
from treewright.pruning import METHODS, PruningPath, leaves_choice, prune
from treewright.selecting import WAYS, select
from treewright.tree import Tree

VALIDATION_SHARE = 0.25  # of the rows of a fit that needs some to validate by and was given none
_OF_PRUNE = ("cost_matrix", "priors")  # options of every method
_GIVEN = ("data", "validation", "growing", "seed")  # what the fit itself provides


def pruned(
    estimator: Any,
    data: Dataset,
    validation: Dataset | None,
    grow: Callable[[Dataset], Tree],
    growing: Callable[[Dataset], Mapping[str, Any]],
) -> PruningPath:
    """The path of an estimator's `pruning`, with one tree chosen.

    `grow` makes the estimator's tree of some rows, and `growing` says by which parameters.
    """
    method, given = estimator.pruning, dict(estimator.pruning_options or {})
    by, share = given.pop("select", None), given.pop("validation_fraction", VALIDATION_SHARE)
    pruning, selecting, by = _shared_out(method, by, given)
    seed = _seed(estimator.random_state)
    if validation is None and (METHODS.needs(method, "validation") or by == "held_out"):
        if not (isinstance(share, float) and 0 < share < 1):
            raise ValueError(f"validation_fraction is {share!r}; it must be a number between 0 and 1")
        data, validation = split(data, (1 - share, share), seed)
    facts = {"data": data, "validation": validation, "growing": growing(data), "seed": seed}
    path = prune(grow(data), method, **_offered(METHODS, method, facts), **pruning)
    if by is not None:
        path = select(path, by, **_offered(WAYS, by, facts), **selecting)
    return path


def _shared_out(
    method: str, by: str | None, given: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], str | None]:
    """The options of the method and those of the choice, and how the choice is made where there is one."""
    if method not in METHODS.names:
        raise ValueError(f"pruning={method!r} is unknown; known: None, {', '.join(METHODS.names)}")
    if by is not None and by not in WAYS.names:
        raise ValueError(f"pruning_options: select={by!r} is unknown; known: {', '.join(WAYS.names)}")
    of_method = [name for name in (*METHODS.options(method), *_OF_PRUNE) if name not in _GIVEN]
    pruning = {name: value for name, value in given.items() if name in of_method}
    if by is None and leaves_choice(method, pruning):
        by = "held_out"
    of_choice = [name for name in WAYS.options(by) if name not in (*_GIVEN, *of_method)] if by else []
    selecting = {name: value for name, value in given.items() if name in of_choice}
    unknown = given.keys() - pruning.keys() - selecting.keys()
    if unknown:
        known = ["select", "validation_fraction", *of_method, *of_choice]
        raise ValueError(
            f"pruning_options has {min(unknown)!r}, which {method} does not know; known: {', '.join(known)}"
        )
    return pruning, selecting, by


def _offered(folder: Folder, name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """What the fit knows of what a function asks for."""
    asked = folder.options(name)
    return {fact: value for fact, value in facts.items() if fact in asked and value is not None}


def _seed(random_state: Any) -> int:
    """The seed of the parts: without a random_state always the same ones."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state)
