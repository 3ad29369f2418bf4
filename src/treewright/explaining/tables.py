"""Base classes of the results: plain values for JSON, and a table as text and as HTML."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from html import escape
from textwrap import wrap
from types import MappingProxyType
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

    above: Sequence[str]
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    right: Container[int] = ()  # the columns that are flush right
    below: Sequence[str] = ()
    notes: Mapping[int, Sequence[str]] = MappingProxyType({})  # lines below a row, by its place
    gap: int = 3  # between columns of the text


class TableResult(Record):
    """A record that prints as sentences and a table, and that notebooks show as an HTML table."""

    _wraps: ClassVar[bool] = False  # whether long sentences are wrapped in the text

    def _layout(self) -> Layout:
        raise NotImplementedError

    def __str__(self) -> str:
        layout = self._layout()
        table = aligned([layout.head, *layout.rows], layout.right, gap=layout.gap) if layout.rows else []
        for place in sorted(layout.notes, reverse=True):
            table[place + 2 : place + 2] = layout.notes[place]
        lines = wrapped_lines if self._wraps else list
        return "\n".join([*lines(layout.above), *table, *lines(layout.below)])

    def _repr_html_(self) -> str:
        above, head, rows, right, below, notes, _ = self._layout()
        cells = list(rows)
        for place in sorted(notes, reverse=True):
            blank = [""] * (len(head) - 2)
            cells[place + 1 : place + 1] = [["", note.strip(), *blank] for note in notes[place]]
        return html_table(head, cells, right, [note for note in [*above, *below] if note])


def wrapped_lines(sentences: Sequence[str], width: int = 100) -> list[str]:
    """Sentences as lines of text; a long word is not broken, and an empty sentence is an empty line."""
    return [
        line
        for sentence in sentences
        for line in wrap(sentence, width, break_long_words=False, break_on_hyphens=False) or [""]
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
        styles = (
            f"text-align:{'right' if i in right else 'left'};padding:2px 8px" for i in range(len(cells))
        )
        html = (f'<{tag} style="{s}">{escape(c)}</{tag}>' for s, c in zip(styles, cells, strict=True))
        return f"<tr>{''.join(html)}</tr>"

    body = "".join(line(cells, "td") for cells in rows)
    below = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return f"<table><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>{below}"
