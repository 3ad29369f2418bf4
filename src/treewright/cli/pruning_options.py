"""Options for pruning, and the plan that they make."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter

from treewright.cli.errors import Misuse, check_name
from treewright.cli.options import PRUNING, NotNegative, Positive, Repeated, one_of
from treewright.pruning import METHODS
from treewright.selecting import WAYS
from treewright.selecting.planning import Plan

NONE = "none"  # instead of a method
DEFAULT = "cost_complexity"

Method = Annotated[
    str | None,
    PRUNING,
    Parameter(
        help=f"The pruning method: {', '.join(METHODS.names)}; by default {DEFAULT}. With `fit`, {NONE} does "
        "not prune."
    ),
]


@Parameter(name="*")
@dataclass(frozen=True)
class Pruning:
    """How far a tree is pruned; each command has its own option for the method."""

    select: Annotated[
        str | None,
        PRUNING,
        Parameter(
            help="How one of several trees is chosen, where the method makes several: "
            f"{', '.join(WAYS.names)}; by default held_out, by the rows of --validation.",
            validator=one_of("--select", WAYS.names),
        ),
    ] = None

    leaves: Annotated[Positive, PRUNING] = None
    """Prune to at most this many leaves (--select leaves)."""

    alpha: Annotated[NotNegative, PRUNING] = None
    """Prune at this cost of a leaf: splits that save fewer errors, as a share of the rows, are removed."""

    option: Annotated[Repeated, PRUNING] = None
    """Another option of the pruning method or of --select, as name=value: rule=1-SE, n_folds=5, c=0.3; may be
    repeated."""

    def plan(self, method: str | None, flag: str = "--prune") -> Plan | None:
        """The plan; None if the tree is to stay as it is grown. `flag` is the option of the method."""
        values = option_values(self.option or ())
        for name, value in (("leaves", self.leaves), ("alpha", self.alpha)):
            if value is not None and name in values:
                raise Misuse(f"--{name} and --option {name}=… mean the same; leave one of them out")
        if method == NONE:
            if self != AS_USUAL:
                raise Misuse(
                    f"{flag} {NONE} leaves the tree as it is grown; --select, --leaves, --alpha and --option "
                    "are for pruning"
                )
            return None
        method, by = method or DEFAULT, self.select
        check_name(flag, method, (NONE, *METHODS.names))
        if self.leaves is not None:
            if by not in (None, "leaves"):
                raise Misuse(
                    f"--leaves and --select {by} are two ways to choose a tree; leave one of them out"
                )
            by, values["leaves"] = "leaves", self.leaves
        if self.alpha is not None:
            if "alpha" not in METHODS.options(method):
                raise Misuse(f"--alpha is the cost of a leaf, which {flag} {method} does not have")
            values["alpha"] = self.alpha
        try:
            plan = Plan.of(method, values, by, owner="--option")
        except ValueError as error:
            raise Misuse(str(error)) from error
        if plan.by == "leaves" and "leaves" not in plan.choosing:
            raise Misuse("--select leaves needs --leaves, the largest number of leaves")
        return plan


AS_USUAL = Pruning()


def option_values(options: Iterable[str], example: str = "rule=1-SE") -> dict[str, Any]:
    """The values of --option name=value, read as JSON; what is not JSON is a text.

    >>> option_values(["c=0.3", "root=false", "ties=keep"])
    {'c': 0.3, 'root': False, 'ties': 'keep'}
    """
    values: dict[str, Any] = {}
    for option in options:
        name, equals, text = map(str.strip, option.partition("="))
        if not equals or not name:
            raise Misuse(f"--option {option}: it must be name=value, such as --option {example}")
        if name in values:
            raise Misuse(f"--option {name} is given twice")
        try:
            values[name] = json.loads({"True": "true", "False": "false", "None": "null"}.get(text, text))
        except ValueError:
            values[name] = text
        except RecursionError as error:
            raise Misuse(f"--option: the value {text[:20]}… is nested too deeply") from error
    return values


def in_words(plan: Plan, details: Mapping[str, Any]) -> str:
    """The method, and how one of its trees was chosen."""
    how = details.get("chosen_by")
    return plan.method if how is None else f"{plan.method} ({how})"
