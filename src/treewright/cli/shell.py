"""A command as a line that can be pasted into a shell."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from cyclopts import Parameter

from treewright.cli.options import PIPE


def command_line(words: Iterable[str]) -> str:
    """The words of a command, quoted for a POSIX shell.

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

    >>> from treewright.cli.options import Columns, Limits
    >>> list(group_words(Limits(max_depth=3, monotone=["age=1"])))
    ['--max-depth', '3', '--monotone', 'age=1']
    >>> list(group_words(Columns(drop=["id"], classes=False)))
    ['--drop', 'id', '--numbers']
    """
    hints = get_type_hints(type(group), include_extras=True)
    for field in fields(group):
        value = getattr(group, field.name)
        if value is None or value == field.default:
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
