"""The best tree of a path by its loss, with the 0-SE and 1-SE rules of CART."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright._suggestions import choices_text
from treewright.pruning import PruningPath
from treewright.pruning.traversal import Floats

RULES = ("0-SE", "1-SE")
SAME = 1e-12  # losses that differ by this share of the largest one are equal: sums round


def check_rule(rule: str) -> None:
    """ValueError unless it is a rule of CART: the least loss, or within one standard error of it."""
    if rule not in RULES:
        raise ValueError(f"rule is {rule!r}; it must be one of {choices_text(rule, RULES)}")


def least(path: PruningPath, loss: Floats, more: float = 0.0) -> int:
    """The place of the smallest tree whose loss is the least, or above it by `more` at most."""
    limit = loss.min() + more + SAME * float(np.abs(loss).max())
    fit = np.flatnonzero(loss <= limit)
    return int(fit[path.leaves[fit].argmin()])


def by_rule(path: PruningPath, rule: str, how: str) -> PruningPath:
    """The path with the tree that the rule takes by its validation loss."""
    assert path.validation is not None
    place = least(path, path.validation)
    if rule == "1-SE" and path.standard_error is not None:
        place = least(path, path.validation, float(path.standard_error[place]))
    return choose(path, place, f"{how}, {rule}", judged_by=how)


def choose(path: PruningPath, place: int, how: str, **details: Any) -> PruningPath:
    """The path with a tree chosen, and `how` in words."""
    return path.choose(place, details=path.details | {"chosen_by": how} | details)
