"""The width of text without a font: an upper bound for every common one."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

# Hundredths of the font size from the space to the tilde, in DejaVu Sans, wider than Arial or Roboto.
_PLAIN = (
    "32 40 46 84 64 95 78 27 39 39 50 84 32 36 32 34 64 64 64 64 64 64 64 64 64 64 34 34 84 84 84 53 100 "
    "68 69 70 77 63 58 77 75 29 29 66 56 86 75 79 60 79 69 63 61 73 68 99 69 61 69 39 34 39 84 50 50 61 "
    "63 55 63 62 35 63 63 28 28 58 28 97 63 61 63 63 41 52 39 63 59 82 59 59 52 64 34 64 84 "
)
_BOLD = (
    "35 46 52 84 70 100 87 31 46 46 52 84 38 42 38 37 70 70 70 70 70 70 70 70 70 70 40 40 84 84 84 58 100 "
    "77 76 73 83 68 68 82 84 37 37 77 64 100 84 85 73 85 77 72 68 81 77 110 77 72 73 46 37 46 84 50 50 67 "
    "72 59 72 68 44 72 71 34 34 67 34 104 71 69 72 72 49 60 48 71 65 92 65 65 58 71 37 71 84 "
)
_SLACK = 1.03  # some painters round the width of each letter
_WIDTHS = {
    is_bold: {chr(32 + i): int(width) / 100 for i, width in enumerate(widths.split())}
    for is_bold, widths in ((False, _PLAIN), (True, _BOLD))
}


@lru_cache(maxsize=4096)
def _letter(letter: str, bold: bool) -> float:
    """The width of one character in font sizes."""
    widths = _WIDTHS[bold]
    if letter in widths:
        return widths[letter]
    if unicodedata.combining(letter):
        return 0.0
    base = unicodedata.normalize("NFD", letter)[0]
    if base in widths:
        return widths[base]
    return 1.05 if unicodedata.east_asian_width(letter) in "WF" or letter == "…" else 1.0 if bold else 0.9


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of a line of text, at most.

    >>> text_width("wide", 10.0), text_width("ill", 10.0)
    (24.21, 8.65)
    """
    return round(_SLACK * size * sum(_letter(letter, bold) for letter in text), 2)


def shorten_to_fit(text: str, room: float, size: float, *, bold: bool = False, keep_end: bool = True) -> str:
    """`text` if it fits, else its beginning and its end with … between them.

    Without `keep_end` only its beginning is kept.

    >>> shorten_to_fit("capital_run_length_average", 120.0, 12.0)
    'capital_r…average'
    """
    if len(text) * size * 0.27 <= room and text_width(text, size, bold=bold) <= room:
        return text
    room -= text_width("…", size, bold=bold)
    start, end, sizes = 0, len(text), [0.0, 0.0]
    while start < end:  # the shorter side takes the next letter, the beginning first
        is_end = keep_end and sizes[1] + 0.01 * size < sizes[0]
        letter = text[end - 1] if is_end else text[start]
        width = _SLACK * size * _letter(letter, bold)
        if sum(sizes) + width > room:
            break
        sizes[is_end] += width
        start, end = (start, end - 1) if is_end else (start + 1, end)
    return f"{text[:start].rstrip()}…{text[end:].lstrip() if keep_end else ''}"
