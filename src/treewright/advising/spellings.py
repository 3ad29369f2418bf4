"""Two spellings of one value, and classes that are marks of missing values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence

from treewright._text import count, quote
from treewright.advice import Advice
from treewright.advising.naming import MOST_NAMED, about_columns, number_words, shell_word
from treewright.encoding import Dataset
from treewright.encoding.text.formats import is_missing

MOST_CATEGORIES = 1_000  # of a column that is looked at
CAN_BE_CLASSES = frozenset({"none", "nil", "unknown", "unbekannt", "missing"})  # though they can be marks too


def column_spellings(data: Dataset) -> list[Advice]:
    """Columns with categories that differ only in case or spaces."""
    facts = {}
    for column in data.schema.columns:
        is_read = column.is_category and len(column.categories) <= MOST_CATEGORIES
        if is_read and (groups := alike(column.categories)):
            facts[column.name] = in_words(groups)
    return about_columns(
        "spelling",
        facts,
        "[has|have] categories that differ only in case or spaces",
        "if they are one, write them alike first, such as by .str.strip().str.casefold()",
        "if they are one, write them alike in the table",
    )


def class_spellings(data: Dataset) -> list[Advice]:
    """Classes that differ only in case or spaces, and classes that look like missing values."""
    target = data.schema.targets[0]
    labels, found = target.classes or (), []
    if groups := alike(labels):
        found.append(
            Advice(
                "spelling",
                f"classes {in_words(groups)} differ only in case or spaces; each is learnt as its own",
                "if they are one, write them alike first, such as by y.str.strip().str.casefold()",
                "if they are one, write them alike in the table",
            )
        )
    marks = [label for label in labels if isinstance(label, str) and is_missing(label)]
    if marks := [mark for mark in marks if mark.strip().casefold() not in CAN_BE_CLASSES]:
        words = number_words("[looks like a missing value|look like missing values]", len(marks))
        options = " ".join(f"--na-values {shell_word(mark)}" for mark in marks)
        found.append(
            Advice(
                "missing_class",
                f"{number_words('[class|classes]', len(marks))} {' and '.join(map(quote, marks))} {words}",
                number_words("leave [its|their] rows out", len(marks)),
                f"{options} --drop-missing-target {number_words('leaves [its|their] rows out', len(marks))}",
            )
        )
    return found


def alike(names: Iterable[Hashable]) -> list[list[str]]:
    """The groups of texts that differ only in case or spaces; single letters may be codes, so they are left.

    >>> alike(["no", "No ", "yes", "YES", "a", "A", 1])
    [['no', 'No '], ['yes', 'YES']]
    """
    groups = defaultdict(list)
    for name in names:
        if isinstance(name, str):
            groups[" ".join(name.casefold().split())].append(name)
    return [group for key, group in groups.items() if len(key) > 1 and len(group) > 1]


def in_words(groups: Sequence[Sequence[str]]) -> str:
    """
    >>> in_words([["no", "No "], ["yes", "Yes"]])
    "'no' and 'No ', 'yes' and 'Yes'"
    """
    words = [" and ".join(map(quote, group)) for group in groups[:MOST_NAMED]]
    more = [f"… ({count(len(groups), 'pair')} in all)"] if len(groups) > MOST_NAMED else []
    return ", ".join(words + more)
