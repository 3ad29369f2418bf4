"""Many trees that answer together, and one tree that answers as they do."""

from __future__ import annotations

from treewright.ensembles.forest import Forest, grow_forest
from treewright.ensembles.out_of_bag import (
    ForestImportance,
    OutOfBag,
    importance_of,
    out_of_bag,
    votes_against,
)
from treewright.ensembles.proximity import proximity

__all__ = [
    "Forest",
    "ForestImportance",
    "OutOfBag",
    "grow_forest",
    "importance_of",
    "out_of_bag",
    "proximity",
    "votes_against",
]
