"""Pruning inside a fit: the parameters of an estimator as a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from treewright.encoding import Dataset
from treewright.pruning import METHODS, PruningPath
from treewright.selecting import WAYS
from treewright.selecting.planning import VALIDATION_SHARE, Plan
from treewright.tree import Tree


def pruned(
    estimator: Any,
    data: Dataset,
    validation: Dataset | None,
    grow: Callable[[Dataset], Tree],
    growing: Callable[[Dataset], Mapping[str, Any]],
) -> tuple[PruningPath, Dataset]:
    """The path of an estimator's `pruning`, with one tree chosen, and the rows that its tree was grown from.

    `grow` makes the estimator's tree of some rows, and `growing` says by which parameters.
    """
    method, given = estimator.pruning, dict(estimator.pruning_options or {})
    by, share = given.pop("select", None), given.pop("validation_fraction", VALIDATION_SHARE)
    if method == "rules":
        raise ValueError("pruning='rules': rules are no tree; RuleListClassifier makes them")
    if method not in METHODS.names:
        raise ValueError(f"pruning={method!r} is unknown; known: None, {', '.join(METHODS.names)}")
    if by is not None and by not in WAYS.names:
        raise ValueError(f"pruning_options: select={by!r} is unknown; known: {', '.join(WAYS.names)}")
    if not (isinstance(share, float) and 0 < share < 1):
        raise ValueError(f"validation_fraction is {share!r}; it must be a number between 0 and 1")
    plan = Plan.of(method, given, by, said="pruning_options", also=("select", "validation_fraction"))
    seed = seed_of(estimator.random_state)
    data, validation = plan.parts(data, validation, share, seed)
    return plan.path(grow(data), data, validation, growing(data), seed), data


def chosen_by_rows(path: PruningPath | None) -> bool:
    """Whether validation rows pruned the tree or chose it, and were not only looked at."""
    return path is not None and (METHODS.needs(path.method, "validation") or "judged_by" in path.details)


def choices_of(path: PruningPath | None) -> int | None:
    """From how many trees validation rows have chosen; None: from all prunings of one."""
    return None if path is None or METHODS.needs(path.method, "validation") else len(path)


def seed_of(random_state: Any) -> int:
    """The seed of the parts: without a random_state always the same ones."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state)
