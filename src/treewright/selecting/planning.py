"""Pruning inside a fit: gives each option to the pruner or the selector, and sets validation rows aside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from treewright._registry import options_for
from treewright._suggestions import choices_text
from treewright.encoding import Dataset
from treewright.encoding.splits import split
from treewright.pruning import METHODS, PruningPath, leaves_choice, prune, refuse_raising
from treewright.pruning.arguments import PROVIDED
from treewright.selecting import WAYS, implied_way, select
from treewright.tree import Tree

VALIDATION_SHARE = 0.25  # of the rows of a fit that needs some to validate by and was given none
_OF_PRUNE = ("costs",)  # options of every method


@dataclass(frozen=True)
class Plan:
    """How a tree is to be pruned: the method and, where it makes several trees, the way to choose.

    >>> plan = Plan.of("cost_complexity", {"on": "impurity", "rule": "1-SE"})
    >>> plan.by, plan.pruning, plan.choosing, plan.needs_validation
    ('held_out', {'on': 'impurity'}, {'rule': '1-SE'}, True)
    >>> Plan.of("cost_complexity", {"alpha": 0.01}).needs_validation
    False
    >>> Plan.of("cost_complexity", {"leaves": 17}).by
    'leaves'
    """

    method: str
    by: str | None  # None: the method itself says which tree it is
    pruning: Mapping[str, Any]  # options of the method
    choosing: Mapping[str, Any]  # options of the way

    @staticmethod
    def of(
        method: str,
        options: Mapping[str, Any],
        by: str | None = None,
        *,
        owner: str = "options",
        also: tuple[str, ...] = (),
    ) -> Plan:
        """The plan by names; options belong to the method or else to the way.

        Where there is a choice and no `by`, an option may imply the way, as for `select`; else it is by
        held-out rows. ValueError about an option that neither has: `owner` is the user's name of the options,
        `also` are others that are allowed.
        """
        of_method = [name for name in (*METHODS.options(method), *_OF_PRUNE) if name not in PROVIDED]
        pruning = {name: value for name, value in options.items() if name in of_method}
        if by is None and leaves_choice(method, pruning):
            by = implied_way(options.keys() - {*PROVIDED, *of_method}) or "held_out"
        of_way = [name for name in WAYS.options(by) if name not in (*PROVIDED, *of_method)] if by else []
        choosing = {name: value for name, value in options.items() if name in of_way}
        unknown = options.keys() - pruning.keys() - choosing.keys()
        if unknown:
            known = choices_text(min(unknown), (*also, *of_method, *of_way))
            raise ValueError(f"{owner} has {min(unknown)!r}, which {method} does not know; known: {known}")
        return Plan(method, by, pruning, choosing)

    @property
    def needs_validation(self) -> bool:
        """Whether it needs validation rows."""
        return METHODS.needs(self.method, "validation") or self.by == "held_out"

    def split_rows(
        self, data: Dataset, validation: Dataset | None, share: float, random_state: int
    ) -> tuple[Dataset, Dataset | None]:
        """The training and validation rows; a share is set aside where validation rows are missing."""
        if validation is None and self.needs_validation:
            data, validation = split(data, (1 - share, share), random_state)
        return data, validation

    def path(
        self,
        tree: Tree,
        data: Dataset | None,
        validation: Dataset | None,
        growing: Mapping[str, Any],
        random_state: int,
    ) -> PruningPath:
        """The path of a tree that was grown from `data` with the arguments `growing`, one tree chosen.

        `random_state` is the seed of the folds; `growing` has that of the trees. The validation
        rows are evaluated once: by the pruning if it needs them, else by the selection.
        """
        refuse_raising(self.method, self.pruning, growing, tree.schema)
        facts = {"data": data, "validation": validation, "growing": growing, "random_state": random_state}
        known = set(METHODS.options(self.method))
        if self.by is not None and not METHODS.needs(self.method, "validation"):
            known.discard("validation")
        path = prune(tree, self.method, **options_for(known, facts), **self.pruning)
        if path.validation is not None:
            del facts["validation"]
        if self.by is not None:
            path = select(path, self.by, **options_for(WAYS.options(self.by), facts), **self.choosing)
        if validation is None or path.validation is not None:
            return path
        return path.with_validation(validation)
