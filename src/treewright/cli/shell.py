"""A command as a line that can be pasted into a shell."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

from cyclopts import Parameter

from treewright.cli import current_command
from treewright.cli.errors import LONGEST_NAME, quote
from treewright.cli.options import PIPE
from treewright.cli.tables.profiles import MOST_VALUES, Profile
from treewright.cli.tables.sources import Source


def command_line(words: Iterable[str]) -> str:
    """The words of a command, quoted for a POSIX shell.

    >>> print(command_line(["treewright", "fit", "my loans.csv", "--target", "it's"]))
    treewright fit 'my loans.csv' --target 'it'"'"'s'
    """
    return " ".join(map(_quote, words))


def _quote(word: str) -> str:
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

    >>> from treewright.cli.options import Columns, Learning, Limits
    >>> list(group_words(Limits(max_depth=3, monotonic_cst=["age=1"])))
    ['--max-depth', '3', '--monotonic-cst', 'age=1']
    >>> list(group_words(Learning(target="y", columns=Columns(drop=["id"]), classes=False)))
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
        settings = [each for each in get_args(hints[field.name])[1:] if isinstance(each, Parameter)]
        own_names = [name for each in settings for name in each.name or ()]
        option = own_names[0] if own_names else f"--{field.name.replace('_', '-')}"
        if isinstance(value, bool):
            yield option if value else _negative(settings, option)
            continue
        for each in value if isinstance(value, list) else [value]:
            yield from option_words(option, str(each))


def _negative(settings: Iterable[Parameter], option: str) -> str:
    """The option for the opposite of a flag."""
    for each in settings:
        if each.negative:
            return each.negative if isinstance(each.negative, str) else next(iter(each.negative))
    return f"--no-{option.removeprefix('--')}"


USUAL_TARGETS = ("target", "label", "class", "y", "outcome", "response", "default", "churn", "survived")
_STYLE = {"--json", "--quiet", "-q"}
_MOST_DROPPED = 5  # columns that the command names


class Command(NamedTuple):
    """A command, and why it is this one."""

    words: list[str]
    why: str


def next_command(
    source: Source, profiles: Sequence[Profile], target: str | None, copies: Sequence[str] = ()
) -> Command:
    """`fit` with the options of `describe` and those that the table needs: ids and `copies` of the target are
    left out.
    """
    guess, why = (target, "") if target is not None else _likely_target(profiles)
    _, _, *options = shlex.split(current_command()) or ("", "", str(PIPE))
    options = [word for word in options or [source.path] if word not in _STYLE]
    words = ["treewright", "fit", *options]
    words += ["--target", guess] if target is None else []
    if source.doubt is not None:
        return Command(words + ([] if "--header" in options else ["--no-header"]), why)
    useless = [each.name for each in profiles if (each.is_id or each.name in copies) and each.name != guess]
    for name in [name for name in useless if _can_be_typed(name)][:_MOST_DROPPED]:
        words += ["--drop", name]
    return Command(words, why)


def _likely_target(profiles: Sequence[Profile]) -> tuple[str, str]:
    """The column that is most likely the target, and why it was chosen."""
    candidates = [each for each in profiles if _can_be_typed(each.name)]
    usual = [each for each in candidates if each.name.lower() in USUAL_TARGETS and each.distinct > 1]
    if usual:
        return usual[0].name, f"if {quote(usual[0].name)} is to be predicted (a guess by its name)"
    candidates = [each for each in candidates if _can_be_predicted(each)] or candidates
    if not candidates:
        return "COLUMN", "with the column to predict"
    last = candidates[-1].name
    which = "the last column" if candidates[-1] is profiles[-1] else "the last column that can be"
    return last, f"if {quote(last)} is to be predicted (a guess: {which})"


def _can_be_typed(name: str) -> bool:
    return name.isprintable() and len(name) <= LONGEST_NAME


def _can_be_predicted(profile: Profile) -> bool:
    if profile.kind == "number":
        return profile.distinct > 1 and not profile.is_id
    return profile.kind == "category" and 1 < profile.distinct <= max(MOST_VALUES, profile.rows // 20)
