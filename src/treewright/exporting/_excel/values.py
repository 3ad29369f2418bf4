"""Numbers, texts and times as formulas of Excel write them, and what Excel can hold at all."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta
from typing import Any

LAST_ROW, LAST_COLUMN = 1_048_576, 16_384  # of a sheet
LONGEST_CELL = 32_767  # characters
LONGEST_FORMULA = 8_192
DEEPEST_FORMULA = 64  # functions within functions
MOST_ARGUMENTS = 255
LONGEST_LITERAL = 120  # characters of a text in a formula; Excel: 255 units of UTF-16
LARGEST = 9.99999999999999e307  # number that Excel reads
SMALLEST = 2.22507385850721e-308
DIGITS = 15  # of a number that Excel reads and compares
MICROSECONDS_A_DAY, EPOCH = 86_400_000_000, 25_569  # 1970-01-01 is the day 25,569 of Excel
FIRST_DAY, AFTER_LAST_DAY = 61, 2_958_466  # from March 1900, where the calendar of Excel is right, to 9999
ROW = "\0"  # no text in a formula holds it

UNREADABLE = re.compile("[\0\ud800-\udfff\ufffe\uffff]")  # neither a file nor a function of Excel has them
_UNDERSCORE = "_(?!x[0-9A-Fa-f]{4}_)"  # but where Excel takes _x0041_ for A
_PIECES = re.compile(f"[\x01-\x1f]|(?:[^\x01-\x1f_]|{_UNDERSCORE}){{1,{LONGEST_LITERAL}}}_?|_")


class Formula(str):
    """The text of a formula, with its "=", in which `ROW` stands for the number of its row; any other text
    in a cell is text, whatever it begins with.
    """

    __slots__ = ()


def formula(text: str, what: str) -> Formula:
    """A formula for any row; ValueError where it is too long for Excel."""
    length = len(in_last_row(text))
    if length >= LONGEST_FORMULA:
        raise ValueError(
            f"{what} takes a formula of {length:,} characters; Excel reads up to {LONGEST_FORMULA:,}: "
            "export the tree as sql or python"
        )
    return Formula(f"={text}")


def in_last_row(text: str) -> str:
    """A formula where it is longest."""
    return text.replace(ROW, str(LAST_ROW))


def number(value: float) -> str:
    """A number in a formula; of more than 15 digits, of which Excel reads no more, as a sum of two.

    >>> number(2.0), number(1e-300), number(math.inf), number(0.1 + 0.2)
    ('2', '1E-300', '9.99999999999999E+307', '(0.3+5.55111512312578E-17)')
    """
    value = readable(value)
    shortest = f"{value:.{DIGITS}g}".upper()
    rest = value - float(shortest)  # exact, as the two are neighbours
    if abs(rest) < SMALLEST:
        return shortest
    return f"({shortest}{rest:+.{DIGITS}g})".upper()


def readable(value: float) -> float:
    """A threshold as Excel reads it, which knows no infinite numbers and none nearer to 0 than 2.2e-308."""
    if 0 < abs(value) < SMALLEST:
        return 0.0 if value > 0 else -SMALLEST
    return min(max(value, -LARGEST), LARGEST) + 0.0  # no -0


def text(value: str) -> str:
    r"""A text in a formula: in pieces, where it is long or holds what a file of Excel cannot.

    >>> text('5" pipe'), text("a\tb")
    ('"5"" pipe"', '"a"&CHAR(9)&"b"')
    """
    pieces = _PIECES.findall(value)
    quoted = ('"' + each.replace('"', '""') + '"' if each >= " " else f"CHAR({ord(each)})" for each in pieces)
    return "&".join(quoted) or '""'


def label(value: Any) -> str:
    """A category or class in a formula."""
    if isinstance(value, str):
        return text(value)
    return str(value).upper() if isinstance(value, bool) else number(value)


def serial(microseconds: float) -> float:
    """A time as Excel counts days.

    >>> serial(0.0), serial(43200e6)
    (25569.0, 25569.5)
    """
    day, part = divmod(int(microseconds), MICROSECONDS_A_DAY)
    return EPOCH + day + part / MICROSECONDS_A_DAY


def time_threshold(microseconds: float) -> float:
    """A threshold of times as Excel counts days: half a millisecond later, unless it is midnight.

    So a time at the threshold, which Excel keeps to the millisecond, does not exceed it by rounding.

    >>> time_threshold(0.0), time_threshold(-1.0)
    (25569.0, 25568.999999994212)
    """
    if not math.isfinite(microseconds):
        return readable(microseconds)
    whole = math.floor(microseconds / 1000) * 1000
    return serial(whole + 500 if whole % MICROSECONDS_A_DAY else whole)


def date(value: float) -> str:
    """A threshold of times in a formula.

    >>> date(time_threshold(1715947200000000)), date(-1.0)
    ('DATE(2024,5,17)+0.500000005784', '-1')
    """
    if not FIRST_DAY <= value < AFTER_LAST_DAY:
        return number(value)
    day = datetime(1899, 12, 30) + timedelta(days=math.floor(value))
    part = f"+{value % 1:.12f}" if value % 1 else ""
    return f"DATE({day.year},{day.month},{day.day}){part}"


def letters(column: int) -> str:
    """A column, counted from 1, as Excel calls it.

    >>> letters(1), letters(27), letters(16384)
    ('A', 'AA', 'XFD')
    """
    before, last = divmod(column - 1, 26)
    return (letters(before) if before else "") + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[last]


def is_exact(value: float) -> bool:
    """Whether Excel can tell a number from all others."""
    return abs(value) <= LARGEST and float(f"{float(value):.{DIGITS}g}") == value
