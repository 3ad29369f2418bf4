"""Tables as lines of text, without borders."""

from __future__ import annotations

from collections.abc import Container, Sequence


def aligned(rows: Sequence[Sequence[str]], right: Container[int] = (), *, gap: int = 3) -> list[str]:
    """The lines of a table; the columns named in `right` are flush right.

    >>> aligned([["tree", "leaves"], ["grown", "166"]], right=(1,))
    ['tree    leaves', 'grown      166']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((" " * gap).join(cells).rstrip())
    return lines
