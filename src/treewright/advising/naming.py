"""Columns and classes in advice: their names in sentences, and in the options of a command line."""

from __future__ import annotations

import shlex
from collections.abc import Hashable, Sequence

from treewright._text import LONGEST_NAME, count, quote
from treewright.advice import Advice

MOST_NAMED = 5  # columns or classes that one sentence names


def listing(found: Sequence[tuple[str, str]], thing: str = "column") -> str:
    """Names with a number each, as the subject of a sentence; not hundreds of them.

    >>> listing([("id", "900 values")]), listing([("a", ""), ("b", "")])
    ("column 'id' (900 values)", "columns 'a' and 'b'")
    """
    words = [f"{quote(name)} ({fact})" if fact else quote(name) for name, fact in found[:MOST_NAMED]]
    if len(found) == 1:
        return f"{thing} {words[0]}"
    plural = count(2, thing).removeprefix("2 ")
    if len(found) > MOST_NAMED:
        return f"{plural} {', '.join(words)} … and {count(len(found) - MOST_NAMED, f'more {thing}')}"
    return f"{plural} {', '.join(words[:-1])} and {words[-1]}"


def about_columns(
    code: str,
    found: Sequence[tuple[str, str]],
    verbs: tuple[str, str],
    rest: str,
    *,
    in_python: str | None = None,
    on_command_line: str | None = None,
) -> list[Advice]:
    """One piece of advice about all columns of a code; none where there are none.

    `found` are their names, each with a number to show; `verbs` is the beginning of the predicate, of one
    column and of several. What to try is by default to leave them out.
    """
    if not found:
        return []
    names, it = [name for name, _ in found], "it" if len(found) == 1 else "them"
    return [
        Advice(
            code,
            f"{listing(found)} {verbs[len(found) > 1]}{rest}",
            f"drop {it} from X" if in_python is None else in_python,
            leave_out(names) if on_command_line is None else on_command_line,
            names[0] if len(names) == 1 else None,
        )
    ]


def drop_options(names: Sequence[str]) -> str:
    """The options of a command line that leave columns out.

    >>> drop_options(["id", "first name", "-x"])
    "--drop id --drop 'first name' --drop=-x"
    """
    named = [f"--drop={shell_word(n)}" if n.startswith("-") else f"--drop {shell_word(n)}" for n in names]
    return " ".join(named[:MOST_NAMED]) + (" …" if len(names) > MOST_NAMED else "")


def leave_out(names: Sequence[str]) -> str:
    """What to add to a command line so that columns are left out.

    >>> leave_out(["id"]), leave_out(["id", "nr"])
    ('--drop id leaves it out', '--drop id --drop nr leave them out')
    """
    return f"{drop_options(names)} {'leaves it out' if len(names) == 1 else 'leave them out'}"


def shell_word(name: str) -> str:
    """A name as a shell takes it; one that no line can hold in quotes, as in sentences."""
    return shlex.quote(name) if name.isprintable() and len(name) <= LONGEST_NAME else quote(name)


def cost_option(truth: Hashable, answer: Hashable, cost: float) -> str:
    """The option that makes one mistake dearer than others.

    >>> cost_option("yes", "no", 32.3)
    '--cost yes:no=32'
    """
    named = [label_text(label) for label in (truth, answer)]
    if any(set(name) & set(":=") for name in named):
        named = ["TRUTH", "ANSWER"]
    return f"--cost {shell_word(f'{named[0]}:{named[1]}={max(cost, 2):.0f}')}"


def label_text(label: Hashable) -> str:
    """A class as files have it."""
    return str(label).lower() if isinstance(label, bool) else str(label)


def class_name(label: Hashable) -> str:
    """A class in a sentence.

    >>> class_name("yes"), class_name(3), class_name(True)
    ("'yes'", '3', 'true')
    """
    return quote(label) if isinstance(label, str) else label_text(label)
