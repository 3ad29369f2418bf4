"""Base classes of the results: plain values for JSON, and a table as text and as HTML."""

from __future__ import annotations

from collections.abc import Container, Sequence
from html import escape
from textwrap import wrap
from typing import Any, ClassVar, NamedTuple

from treewright._json import plain
from treewright._text import aligned


class Record:
    """A dataclass with `to_dict`, which also converts the records in its fields."""

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values: numbers, text, lists and dicts."""
        return {name: _plain(value) for name, value in vars(self).items()}


def _plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    return [_plain(each) for each in value] if isinstance(value, tuple) else plain(value)


class Layout(NamedTuple):
    """What a printed result consists of; without rows its table is left out of the text."""

    above: list[str]
    head: list[str]
    rows: list[list[str]]
    right: Container[int]  # the columns that are flush right
    below: list[str]


class TableResult(Record):
    """A record that prints as sentences and a table, and that notebooks show as an HTML table."""

    _wraps: ClassVar[bool] = False  # whether long sentences are wrapped in the text

    def _layout(self) -> Layout:
        raise NotImplementedError

    def __str__(self) -> str:
        above, head, rows, right, below = self._layout()
        table = aligned([head, *rows], right=right) if rows else []
        lines = wrapped if self._wraps else list
        return "\n".join([*lines(above), *table, *lines(below)])

    def _repr_html_(self) -> str:
        above, head, rows, right, below = self._layout()
        return html_table(head, rows, right, [note for note in [*above, *below] if note])


def wrapped(notes: Sequence[str], width: int = 100) -> list[str]:
    """Sentences as lines of text; a long word is not broken, and an empty sentence is an empty line."""
    return [
        line
        for note in notes
        for line in wrap(note, width, break_long_words=False, break_on_hyphens=False) or [""]
    ]


def html_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], right: Container[int] = (), notes: Sequence[str] = ()
) -> str:
    """A table for notebooks, with lines of text below it.

    >>> html_table(["a"], [["<b>"]])
    '<table><thead><tr><th style="text-align:left;padding:2px 8px">a</th></tr></thead><tbody><tr>\
<td style="text-align:left;padding:2px 8px">&lt;b&gt;</td></tr></tbody></table>'
    """

    def line(cells: Sequence[str], tag: str) -> str:
        sides = ["right" if i in right else "left" for i in range(len(cells))]
        made = [
            f'<{tag} style="text-align:{side};padding:2px 8px">{escape(cell)}</{tag}>'
            for side, cell in zip(sides, cells, strict=True)
        ]
        return f"<tr>{''.join(made)}</tr>"

    body = "".join(line(cells, "td") for cells in rows)
    below = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return f"<table><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>{below}"
