"""How the tree is to be pruned, as the options of the command line say it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from treewright.cli.errors import Misuse, known
from treewright.pruning import METHODS
from treewright.selecting import WAYS
from treewright.selecting.planning import Plan

NONE = "none"  # instead of a method
DEFAULT = "cost_complexity"


def planned(
    prune: str | None,
    select: str | None,
    leaves: int | None,
    alpha: float | None,
    options: Iterable[str],
    said: str = "--prune",
) -> Plan | None:
    """The plan; None if the tree is to stay as it is grown. `said` is the option that names the method."""
    given = named(options)
    for name, value in (("leaves", leaves), ("alpha", alpha)):
        if value is not None and name in given:
            raise Misuse(f"--{name} and --option {name}=… say the same thing; leave one of them out")
    if prune == NONE:
        if select is not None or leaves is not None or alpha is not None or given:
            raise Misuse(
                f"{said} {NONE} leaves the tree as it is grown; --select, --leaves, --alpha and --option "
                "are for pruning"
            )
        return None
    method = known(said, prune or DEFAULT, (NONE, *METHODS.names))
    by = None if select is None else known("--select", select, WAYS.names)
    if leaves is not None:
        if by not in (None, "leaves"):
            raise Misuse(f"--leaves and --select {by} are two ways to choose a tree; leave one of them out")
        by, given = "leaves", {**given, "leaves": leaves}
    if alpha is not None:
        if "alpha" not in METHODS.options(method):
            raise Misuse(f"--alpha is the price of a leaf, which {said} {method} does not know")
        given["alpha"] = alpha
    try:
        plan = Plan.of(method, given, by, said="--option")
    except ValueError as error:
        raise Misuse(str(error)) from error
    if plan.by == "leaves" and "leaves" not in plan.choosing:
        raise Misuse("--select leaves needs --leaves, the most that the tree may have")
    return plan


def named(options: Iterable[str], example: str = "rule=1-SE") -> dict[str, Any]:
    """The values of --option name=value, as JSON has them; what is not JSON is a text.

    >>> named(["c=0.3", "root=false", "ties=keep"])
    {'c': 0.3, 'root': False, 'ties': 'keep'}
    """
    values: dict[str, Any] = {}
    for option in options:
        name, equals, text = option.partition("=")
        if not equals or not name.strip():
            raise Misuse(f"--option {option}: it must be name=value, such as --option {example}")
        if name.strip() in values:
            raise Misuse(f"--option {name.strip()} is given twice")
        values[name.strip()] = _value(text.strip())
    return values


def _value(text: str) -> Any:
    try:
        return json.loads({"True": "true", "False": "false", "None": "null"}.get(text, text))
    except ValueError:
        return text
    except RecursionError as error:
        raise Misuse(f"--option: the value {text[:20]}… is nested too deeply to be one") from error


def in_words(plan: Plan, details: Mapping[str, Any]) -> str:
    """The method, and how one of its trees was chosen."""
    how = details.get("chosen_by")
    return plan.method if how is None else f"{plan.method} ({how})"
