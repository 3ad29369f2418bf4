"""Whether the first line of a CSV file holds names of columns, or cells like the lines below it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from treewright.cli import forms
from treewright.cli.forms import Form
from treewright.cli.options import MISSING, NEVER_KNOWN

DOUBT = (
    "its first line looks like a row, not like names of columns; --no-header reads it as one, and calls them "
    "'column 1', 'column 2', …"
)
_FAMILIES: dict[Form, str] = {
    **dict.fromkeys(("integer", "huge", "number", "comma"), "number"),
    **dict.fromkeys(("time", "zoned"), "time"),
}


def looks_like_cells(header: Sequence[str], records: Sequence[Sequence[str]], comma: bool) -> bool:
    """Whether a first line is more like the cells below it than like names.

    Where columns hold numbers or times, all of them begin so, and some text stands below itself again; where
    there are only texts, all of them do. Years and positions that count up are names all the same.

    >>> looks_like_cells(["5.1", "setosa"], [["4.9", "setosa"], ["7.0", "virginica"]], False)
    True
    >>> looks_like_cells(["country", "2019", "2020"], [["France", "1", "2"], ["Spain", "2", "3"]], False)
    False
    >>> looks_like_cells(["0", "1", "2"], [["7", "8", "9"]], False)
    False
    """
    rows = [record for record in records if len(record) == len(header)]
    typed, repeated = [], []
    for position, name in enumerate(header):
        cells = [record[position] for record in rows]
        kind, own = _family(cells, comma), _family([name], comma)
        if not name.strip() or kind is None:
            continue
        if kind == "text":
            repeated.append(name.strip() in {cell.strip() for cell in cells})
        else:
            typed.append((name.strip(), own == kind))
    if not typed:
        return bool(repeated) and all(repeated)
    are_cells = all(alike for _, alike in typed) and not _count_up([name for name, _ in typed])
    return are_cells and (not repeated or any(repeated))


def _family(cells: Sequence[str], comma: bool) -> str | None:
    """What cells are: number, time or text; None if all are missing."""
    form = forms.guessed(cells, comma, (*NEVER_KNOWN, *MISSING))
    return None if form == "nothing" else _FAMILIES.get(form, "text")


def _count_up(names: Sequence[str]) -> bool:
    """Whether names are whole numbers, each one more than the one before."""
    if not all(name.isascii() and name.isdigit() for name in names):
        return False
    return all(int(after) == int(before) + 1 for before, after in pairwise(names))
