"""Columns and classes in advice: their names in sentences, and in the options of a command line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Hashable, Mapping, Sequence

from treewright._text import LONGEST_NAME, count, quote
from treewright.advice import Advice

MOST_NAMED = 5  # columns or classes that one sentence names


def listing(facts: Mapping[str, str], thing: str = "column") -> str:
    """Names with a fact each, as the subject of a sentence; only the first of very many.

    >>> listing({"id": "900 values"}), listing({"a": "", "b": ""})
    ("column 'id' (900 values)", "columns 'a' and 'b'")
    """
    words = [f"{quote(name)} ({fact})" if fact else quote(name) for name, fact in facts.items()]
    if len(words) == 1:
        return f"{thing} {words[0]}"
    plural = count(2, thing).removeprefix("2 ")
    if len(words) > MOST_NAMED:
        more = count(len(words) - MOST_NAMED, f"more {thing}")
        return f"{plural} {', '.join(words[:MOST_NAMED])} … and {more}"
    return f"{plural} {', '.join(words[:-1])} and {words[-1]}"


def about_columns(
    code: str,
    facts: Mapping[str, str],
    predicate: str,
    in_python: str = "drop [it|them] from X",
    on_command_line: str = "{drop} [leaves it|leave them] out",
    **words: str,
) -> list[Advice]:
    """One piece of advice about all columns of `facts`, by name with a fact to show each; none without any.

    In the texts, ``[it|them]`` is singular or plural, ``{drop}`` the options that leave the columns out, and
    the names of `words` stand for these.
    """
    if not facts:
        return []
    words["drop"] = drop_options(list(facts))

    def fill(text: str) -> str:
        return number_words(text, len(facts)).format(**words)

    text, only = f"{listing(facts)} {fill(predicate)}", next(iter(facts)) if len(facts) == 1 else None
    return [Advice(code, text, fill(in_python), fill(on_command_line), only)]


def number_words(text: str, number: int) -> str:
    """A text with its singular or plural words.

    >>> number_words("[it|they] [has|have] one", 1), number_words("[it|they] [has|have] one", 2)
    ('it has one', 'they have one')
    """
    return re.sub(r"\[(.*?)\|(.*?)\]", lambda pair: pair[1 if number == 1 else 2], text)


def drop_options(names: Sequence[str]) -> str:
    """The options of a command line that leave columns out.

    >>> drop_options(["id", "first name", "-x"])
    "--drop id --drop 'first name' --drop=-x"
    """
    options = [f"--drop{'=' if n.startswith('-') else ' '}{shell_word(n)}" for n in names[:MOST_NAMED]]
    return " ".join(options) + (" …" if len(names) > MOST_NAMED else "")


def shell_word(name: str) -> str:
    """A name as a shell reads it; a long or unprintable one as in sentences."""
    return shlex.quote(name) if name.isprintable() and len(name) <= LONGEST_NAME else quote(name)


def cost_option(truth: Hashable, answer: Hashable, cost: float) -> str:
    """The option that sets the cost of one mistake.

    >>> cost_option("yes", "no", 32.3)
    '--cost yes:no=32'
    """
    labels = [label_text(label) for label in (truth, answer)]
    if any(set(label) & set(":=") for label in labels):
        labels = ["TRUTH", "ANSWER"]
    return f"--cost {shell_word(f'{labels[0]}:{labels[1]}={max(cost, 2):.0f}')}"


def label_text(label: Hashable) -> str:
    """A class as it is written in files."""
    return str(label).lower() if isinstance(label, bool) else str(label)


def class_name(label: Hashable) -> str:
    """A class in a sentence.

    >>> class_name("yes"), class_name(3), class_name(True)
    ("'yes'", '3', 'true')
    """
    return quote(label) if isinstance(label, str) else label_text(label)
