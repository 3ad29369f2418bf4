"""How results show themselves: sentences and a table as text, and as HTML in notebooks."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from html import escape
from textwrap import wrap
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from treewright._json import plain
from treewright._text import aligned

# Notebooks have light and dark pages: nothing here has a colour of its own.
_BLOCK = "overflow-x:auto"
_TABLE = "border-collapse:collapse;border:none;margin:2px 0"
_CELL = "padding:2px 8px"
_NO_BREAK = ";white-space:nowrap"
_SHORT = 24  # characters of a cell that stays on one line
_LINE = "margin:2px 0"


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
    """What a printed result consists of: sentences, a table, sentences; a table without rows is left out."""

    above: Sequence[str]
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    right: Container[int] = ()  # the columns that are flush right
    below: Sequence[str] = ()
    notes: Mapping[int, Sequence[str]] = MappingProxyType({})  # lines below a row, by its place
    gap: int = 3  # between columns of the text
    marked: int | None = None  # the row that stands out in HTML
    title: str = ""  # of HTML

    @classmethod
    def of_facts(cls, title: str, facts: Mapping[str, str], below: Sequence[str] = ()) -> Layout:
        """A title and a table of names and values."""
        return cls([], ["", ""], list(map(list, facts.items())), (), below, title=title)

    def text(self, wraps: bool = False) -> str:
        """As text; `wraps` breaks long sentences."""
        table = aligned([self.head, *self.rows], self.right, gap=self.gap) if self.rows else []
        for place in sorted(self.notes, reverse=True):
            table[place + 2 : place + 2] = self.notes[place]
        lines = wrapped_lines if wraps else list
        return "\n".join([*lines(self.above), *table, *lines(self.below)])

    def html(self) -> str:
        """As HTML without scripts, for light and dark pages; all names are escaped.

        >>> Layout(["<b>"], ["a"], [["1"]]).html()
        '<div style="overflow-x:auto"><div style="margin:2px 0">&lt;b&gt;</div>\
<table style="border-collapse:collapse;border:none;margin:2px 0"><thead><tr>\
<th style="text-align:left;padding:2px 8px;white-space:nowrap">a</th></tr></thead>\
<tbody><tr><td style="text-align:left;padding:2px 8px;white-space:nowrap">1</td></tr></tbody></table></div>'
        """
        lines = [
            self._html_row(row, "td", "font-weight:bold;" * (place == self.marked))
            + "".join(_html_note(note, len(row)) for note in self.notes.get(place, ()))
            for place, row in enumerate(self.rows)
        ]
        head = f"<thead>{self._html_row(self.head, 'th')}</thead>" if any(self.head) else ""
        table = f'<table style="{_TABLE}">{head}<tbody>{"".join(lines)}</tbody></table>' if lines else ""
        title = f'<div style="{_LINE};font-weight:bold">{escape(self.title)}</div>' if self.title else ""
        return html_block(title, sentences_html(self.above), table, sentences_html(self.below))

    def _html_row(self, cells: Sequence[str], tag: str, look: str = "") -> str:
        sides = ("right" if i in self.right else "left" for i in range(len(cells)))
        html = (
            f'<{tag} style="{look}text-align:{side};{_CELL}{_NO_BREAK * (len(cell) <= _SHORT)}">'
            f"{escape(cell)}</{tag}>"
            for side, cell in zip(sides, cells, strict=True)
        )
        return f"<tr>{''.join(html)}</tr>"


class Shown:
    """A result that notebooks show as HTML."""

    def _layout(self) -> Layout:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self._layout().html()


class ShownTable(Shown):
    """A result that prints as sentences and a table, and that notebooks show as an HTML table."""

    _wraps: ClassVar[bool] = False  # whether long sentences are wrapped in the text

    def __str__(self) -> str:
        return self._layout().text(self._wraps)


class TableResult(Record, ShownTable):
    """The same as a record."""


def html_block(*parts: str) -> str:
    """Pieces of HTML below each other; a wide table scrolls."""
    return f'<div style="{_BLOCK}">{"".join(parts)}</div>'


def sentences_html(sentences: Sequence[str]) -> str:
    """Sentences, one below the other; empty ones are left out."""
    return "".join(f'<div style="{_LINE}">{escape(each)}</div>' for each in sentences if each)


def _html_note(note: str, width: int) -> str:
    cell = f'colspan="{max(width - 1, 1)}" style="text-align:left;{_CELL};opacity:0.75"'
    return f"<tr><td></td><td {cell}>{escape(note.strip())}</td></tr>"


def wrapped_lines(sentences: Sequence[str], width: int = 100) -> list[str]:
    """Sentences as lines of text; a long word is not broken, and an empty sentence is an empty line."""
    return [
        line
        for sentence in sentences
        for line in wrap(sentence, width, break_long_words=False, break_on_hyphens=False) or [""]
    ]
