"""Pruning inside `fit`: the parameters of an estimator as a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from treewright._suggestions import choices_text
from treewright.encoding import Dataset
from treewright.parameters.values import Pruning
from treewright.pruning import METHODS, PruningPath
from treewright.pruning import values as _values  # noqa: F401 (makes the classes of the methods)
from treewright.selecting import WAYS
from treewright.selecting.planning import Plan
from treewright.tree import Tree


def prune_in_fit(
    estimator: Any,
    data: Dataset,
    validation: Dataset | None,
    grow: Callable[[Dataset, Mapping[str, Any]], Tree],
    growing: Callable[[Dataset], Mapping[str, Any]],
) -> tuple[PruningPath, Dataset]:
    """The path of an estimator's `pruning`, with one tree chosen, and the rows that its tree was grown from.

    `growing` gives the arguments of `grow` for some rows. It is called once, since it may draw the seed of
    the tree, with which the trees of the folds are grown, too.
    """
    value = Pruning.of(estimator.pruning)
    if value == "rules":
        raise ValueError("pruning='rules': rules are no tree; RuleListClassifier makes them")
    if not isinstance(value, Pruning):
        raise ValueError(f"pruning={value!r} is unknown; known: None, {choices_text(value, METHODS.names)}")
    if value.select is not None and value.select not in WAYS.names:
        raise ValueError(
            f"{value!r}: select={value.select!r} is unknown; known: {choices_text(value.select, WAYS.names)}"
        )
    also = tuple(Pruning.parameters)
    plan = Plan.of(value.method, value.keywords(), value.select, owner=type(value).__name__, also=also)
    seed = seed_of(estimator.random_state)
    data, validation = plan.split_rows(data, validation, value.validation_fraction, seed)
    options = growing(data)
    return plan.path(grow(data, options), data, validation, options, seed), data


def chosen_by_rows(path: PruningPath | None) -> bool:
    """Whether validation rows pruned the tree or chose it, and did not only judge it."""
    return path is not None and (METHODS.needs(path.method, "validation") or "judged_by" in path.details)


def choices_of(path: PruningPath | None) -> int | None:
    """From how many trees validation rows have chosen; None is all prunings of one."""
    return None if path is None or METHODS.needs(path.method, "validation") else len(path)


def seed_of(random_state: Any) -> int:
    """The seed that sets rows aside: a fixed one without a random_state."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state)
