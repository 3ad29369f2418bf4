"""Text for people: numbers, names, categories, and tables as lines of text; the same wherever it is shown."""

from __future__ import annotations

import math
from collections.abc import Container, Hashable, Sequence

LONGEST_NAME = 60  # characters that are shown of the name of a column
LONGEST_WORD = 100  # characters of a category or class that are written out
LONGEST_LIST = 6  # categories written out; of a longer list the first ones and the number of the others
_LARGE_NUMBERS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))

_PLURALS = {"leaf": "leaves", "y": "ies", "s": "ses", "": "s"}  # by the end of the singular


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


def set_text(categories: Sequence[Hashable], longest: int = LONGEST_LIST, *, more: int = 0) -> str:
    """Categories in braces; of a long list only the first ones, and how many `more` there are."""
    words = [label_text(category) for category in categories[:longest]]
    more += len(categories) - len(words)
    return "{" + ", ".join([*words, f"… {more} more"] if more else words) + "}"


def label_text(name: Hashable) -> str:
    """A category or class; in quotes where it could be taken for several, for another, or for none."""
    text = shorten(str(name))
    plain = text and text == text.strip() and not set(text) & set(",{}'\"…")
    return escape(text) if plain else repr(text)


def name_text(name: str) -> str:
    """The name of a column or target as it is shown, on one line.

    >>> name_text("age"), len(name_text("n" * 10_000))
    ('age', 121)
    """
    return escape(shorten(name))


def shorten(text: str, longest: int = LONGEST_WORD) -> str:
    """A text as people can read it: of a very long one the beginning, and how long it is.

    >>> shorten("cook"), shorten("x" * 1000, 10)
    ('cook', 'xxxxxxxxxx… (1,000 characters)')
    """
    return text if len(text) <= longest + 20 else f"{text[:longest]}… ({len(text):,} characters)"


def row_count(rows: int) -> str:
    """A number of rows."""
    if rows == 0:
        return "no rows"
    return "1 row" if rows == 1 else f"{rows:,} rows"


def percent(share: float) -> str:
    """A share as per cent; only a whole is written 100 %, only nothing 0 %.

    >>> percent(0.25), percent(0.9999), percent(0.0001), percent(0.0)
    ('25.0 %', '> 99.9 %', '< 0.1 %', '0.0 %')
    """
    if 0 < share < 0.0005:
        return "< 0.1 %"
    if share < 1:
        return "> 99.9 %" if share >= 0.9995 else f"{share:.1%}".replace("%", " %")
    return "100 %"


def amount(value: float, *, up: bool = False) -> str:
    """A number as people write it in a sentence: four digits, more only where they are whole; `up` rounds
    upwards, so that a bound still holds as it is quoted.

    >>> amount(42069.3), amount(0.63333), amount(325_912_345.0), amount(-1234.5), amount(2.1e-7)
    ('42,069', '0.6333', '325.9 million', '-1,234', '2.1e-07')
    >>> amount(42069.3, up=True), amount(0.63333, up=True), amount(5.0, up=True)
    ('42,070', '0.6334', '5')
    """
    size = abs(value)
    if size == 0 or not math.isfinite(value):
        return "0" if size == 0 else str(value).replace("inf", "∞")
    for scale, name in _LARGE_NUMBERS:
        if max(scale, 1e7) <= size < 1e15:
            return f"{amount(value / scale, up=up)} {name}"
    is_extreme = not 1e-5 <= size < 1e15
    power = math.floor(math.log10(size)) - 3
    power = power if is_extreme else min(0, power)
    steps = value / 10.0**power
    rounded = float(f"{math.ceil(steps - 1e-9) if up else round(steps)}e{power}")
    text = f"{rounded:.4g}" if is_extreme else f"{rounded:,.{-power}f}"
    return text.rstrip("0").rstrip(".") if "." in text and not is_extreme else text


def number_text(value: float, digits: int = 6, *, sign: str = "") -> str:
    """A number beside others: at least so many digits, those before the point in full, no separators.

    >>> number_text(1234567.89), number_text(-94992.3, 3, sign="+"), number_text(0.1 + 0.2)
    ('1234568', '-94992', '0.3')
    """
    if not 10.0 ** (digits - 1) <= abs(value) < 1e16:
        return f"{value:{sign}.{digits}g}"
    return f"{value:{sign}.0f}"


def escape(text: str) -> str:
    r"""`text` on one line: line breaks, terminal codes and other unprintable characters are written out.

    >>> print(escape("two\nlines, naïve"))
    two\nlines, naïve
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


def quote(name: str) -> str:
    """A name in quotes; of a very long one the beginning.

    >>> quote("age"), len(quote("n" * 10_000))
    ("'age'", 83)
    """
    return (
        repr(name)
        if len(name) <= LONGEST_NAME
        else f"{repr(name[:LONGEST_NAME])[:-1]}…' ({len(name):,} characters)"
    )


def count(number: int, thing: str) -> str:
    """A number of things, with its plural.

    >>> count(1, "row"), count(12345, "row"), count(2, "class"), count(2, "category"), count(2, "leaf")
    ('1 row', '12,345 rows', '2 classes', '2 categories', '2 leaves')
    """
    if number == 1:
        return f"1 {thing}"
    ending = next((ending for ending in _PLURALS if thing.endswith(ending)), "")
    return f"{number:,} {thing.removesuffix(ending)}{_PLURALS[ending]}"
