"""The command to go on with after a table was described."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import NamedTuple

from treewright.cli import command_line
from treewright.cli.errors import LONGEST_NAME, quote
from treewright.cli.options import PIPE
from treewright.cli.profiles import MOST_VALUES, Profile
from treewright.cli.sources import Source

USUAL_TARGETS = ("target", "label", "class", "y", "outcome", "response", "default", "churn", "survived")
_FOR_PEOPLE = {"--json", "--quiet", "-q"}
_MOST_DROPPED = 5  # columns that the command names


class Command(NamedTuple):
    """A command, and why it is this one."""

    words: list[str]
    why: str


def next_command(
    source: Source, profiles: Sequence[Profile], target: str | None, copies: Sequence[str] = ()
) -> Command:
    """`fit` with the options that `describe` was given, and those that the table calls for: it leaves out ids
    and `copies` of the target.
    """
    guess, why = (target, "") if target is not None else _likely_target(profiles)
    _, _, *given = shlex.split(command_line()) or ("", "", str(PIPE))
    words = ["treewright", "fit", *_without(given or [source.path], _FOR_PEOPLE)]
    words += ["--target", guess] if target is None else []
    words += ["--no-header"] if source.doubt is not None and "--header" not in given else []
    left_out = [each.name for each in profiles if (each.is_id or each.name in copies) and each.name != guess]
    left_out = [name for name in left_out if _can_be_typed(name)]
    for name in left_out[:_MOST_DROPPED] if source.doubt is None else ():
        words += ["--drop", name]
    return Command(words, why)


def _without(words: Sequence[str], left_out: set[str]) -> list[str]:
    return [word for word in words if word not in left_out]


def _likely_target(profiles: Sequence[Profile]) -> tuple[str, str]:
    """A column that people would predict, and why it is taken for that."""
    named = [each for each in profiles if _can_be_typed(each.name)]
    usual = [each for each in named if each.name.lower() in USUAL_TARGETS and each.distinct > 1]
    if usual:
        return usual[0].name, f"if {quote(usual[0].name)} is to be predicted (a guess by its name)"
    able = [each for each in named if _can_be_predicted(each)] or named
    if not able:
        return "COLUMN", "with the column to predict"
    last = able[-1].name
    which = "the last column" if able[-1] is profiles[-1] else "the last column that can be"
    return last, f"if {quote(last)} is to be predicted (a guess: {which})"


def _can_be_typed(name: str) -> bool:
    return name.isprintable() and len(name) <= LONGEST_NAME


def _can_be_predicted(profile: Profile) -> bool:
    if profile.kind == "number":
        return profile.distinct > 1 and not profile.is_id
    return profile.kind == "category" and 1 < profile.distinct <= max(MOST_VALUES, profile.rows // 20)
