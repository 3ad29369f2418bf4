"""A command as a line that can be pasted into a shell."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from cyclopts import Parameter

from treewright.cli import current_command
from treewright.cli.errors import LONGEST_NAME, quote
from treewright.cli.options import PIPE
from treewright.cli.tables.profiles import MOST_VALUES, Profile
from treewright.cli.tables.sources import Source


def command_line(words: Iterable[str]) -> str:
    """The words of a command, quote for a POSIX shell.

    >>> print(command_line(["treewright", "fit", "my loans.csv", "--target", "it's"]))
    treewright fit 'my loans.csv' --target 'it'"'"'s'
    """
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    """A word for the shell; one with control characters as $'…', so that no terminal obeys them."""
    if word.isprintable() or not word:
        return shlex.quote(word)
    escaped = word.encode("unicode_escape").decode("ascii").replace("'", "\\'")
    return f"$'{escaped}'"


def file_word(path: Path) -> str:
    """A file as an argument: one whose name begins with a hyphen is no option."""
    text = str(path)
    return f"./{text}" if text.startswith("-") and path != PIPE else text


def option_words(name: str, value: str) -> list[str]:
    """An option and its value as words; a value that begins with a hyphen stays with its option."""
    return [f"{name}={value}"] if value.startswith("-") else [name, value]


def group_words(group: Any) -> Iterator[str]:
    """The options of a dataclass of options that are not at their defaults.

    >>> from treewright.cli.options import Learning, Limits
    >>> list(group_words(Limits(max_depth=3, monotonic_cst=["age=1"])))
    ['--max-depth', '3', '--monotonic-cst', 'age=1']
    >>> list(group_words(Learning(target="y", drop=["id"], classes=False)))
    ['--target', 'y', '--drop', 'id', '--numbers']
    """
    hints = get_type_hints(type(group), include_extras=True)
    for field in fields(group):
        value = getattr(group, field.name)
        if value is None or value == field.default:
            continue
        if is_dataclass(value):
            yield from group_words(value)
            continue
        option = f"--{field.name.replace('_', '-')}"
        if isinstance(value, bool):
            yield option if value else _negative(hints[field.name], option)
            continue
        for each in value if isinstance(value, list) else [value]:
            yield from option_words(option, str(each))


def _negative(hint: Any, option: str) -> str:
    """What the opposite of a flag is called."""
    if get_origin(hint) is Annotated:
        for part in get_args(hint)[1:]:
            if isinstance(part, Parameter) and part.negative:
                return part.negative if isinstance(part.negative, str) else next(iter(part.negative))
    return f"--no-{option.removeprefix('--')}"


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
    _, _, *given = shlex.split(current_command()) or ("", "", str(PIPE))
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
