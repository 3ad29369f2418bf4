"""Notes as wrapped lines, and tables of HTML in which every cell is escaped."""

from __future__ import annotations

from collections.abc import Container, Sequence
from html import escape
from textwrap import wrap


def wrapped(notes: Sequence[str], width: int = 100) -> list[str]:
    """Sentences as lines of text; a long word is not broken."""
    return [
        line for note in notes for line in wrap(note, width, break_long_words=False, break_on_hyphens=False)
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
