"""Whether the first line of a CSV file holds names of columns, or cells like the lines below it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from treewright.cli import forms
from treewright.cli.forms import Form
from treewright.cli.options import MISSING, NEVER_KNOWN
from treewright.encoding.text.recognise import recognise

DOUBT = (
    "its first line looks like a row, not like names of columns; --no-header reads it as one, and calls them "
    "'column 1', 'column 2', …"
)
_FAMILIES: dict[Form, str] = {
    **dict.fromkeys(("integer", "huge", "number", "comma"), "number"),
    **dict.fromkeys(("time", "zoned"), "time"),
}


def looks_like_cells(header: Sequence[str], records: Sequence[Sequence[str]], decimals: str = ".") -> bool:
    """Whether a first line is more like the cells below it than like names.

    Where columns hold numbers or times, all of them begin so, and some text stands below itself again; where
    there are only texts, all of them do. Years and positions that count up are names all the same.

    >>> looks_like_cells(["5.1", "setosa"], [["4.9", "setosa"], ["7.0", "virginica"]])
    True
    >>> looks_like_cells(["country", "2019", "2020"], [["France", "1", "2"], ["Spain", "2", "3"]])
    False
    >>> looks_like_cells(["0", "1", "2"], [["7", "8", "9"]])
    False
    """
    rows = [record for record in records if len(record) == len(header)]
    typed, repeated = [], []
    for position, name in enumerate(header):
        cells = [record[position] for record in rows]
        kind, own = _family(cells, decimals), _family([name], decimals)
        if kind is None or own is None:  # nothing can be told of them
            continue
        if kind == "text":
            repeated.append(name.strip() in {cell.strip() for cell in cells})
        else:
            typed.append((name.strip(), own == kind))
    if not typed:
        return bool(repeated) and all(repeated)
    are_cells = all(alike for _, alike in typed) and not _count_up([name for name, _ in typed])
    return are_cells and (not repeated or any(repeated))


def _family(cells: Sequence[str], decimals: str) -> str | None:
    """What cells are: number, time or text; None if all are missing."""
    form = forms.guessed(cells, decimals, (*NEVER_KNOWN, *MISSING))
    if form == "nothing":
        return None
    if form == "text" and (read := _read_as(cells)) is not None:
        return read
    return _FAMILIES.get(form, "text")


def _read_as(cells: Sequence[str]) -> str | None:
    """What texts are, if all of them are numbers with currencies and the like, or dates."""
    labels = list(dict.fromkeys(cells))
    codes = {label: code for code, label in enumerate(labels)}
    found = recognise(labels, np.array([codes[cell] for cell in cells]), name="")
    kind = None if found.format is None or found.n_unread else found.format.kind
    if kind is None and found.advice and found.advice[0].code == "text-date-order":
        return "time"
    return kind if kind in ("number", "time") else None


def _count_up(names: Sequence[str]) -> bool:
    """Whether names are whole numbers, each one more than the one before."""
    if not all(name.isascii() and name.isdigit() for name in names):
        return False
    return all(int(after) == int(before) + 1 for before, after in pairwise(names))
