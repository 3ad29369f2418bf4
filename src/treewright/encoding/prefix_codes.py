"""A prefix code of numbers, times and names: short for 0.1, longer for 0.0555, defined for every double.

It was fixed before any data were seen, so that the length of a tree in it can be part of a guarantee. All
codes here are words of "0" and "1", none of which is the beginning of another one.

A number is the decimal that prints it: digits that do not end in 0, and the place of the first of them.

    0.0555 = 555, first digit in place -2         70 = 7, place 1

Both are written by exponential Golomb codes (Elias's gamma code, with `k` bits that come free): the digits
with k = 1, the place counted from -1 to both sides with k = 0. The digits "10" cannot occur, so they announce
what is not written this way: zero, the infinities, and numbers of so many digits that 64 bits are shorter.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Hashable, Iterable

import numpy as np

_SPECIAL = 10  # digits that no number has
_SPECIALS = (0.0, math.inf, -math.inf)
_RAW = len(_SPECIALS)  # announces the 64 bits of a double
_CENTRE = -1  # the place that is cheapest
_UNITS = ("Y", "M", "D", "h", "m", "s", "ms", "us")  # of a calendar, eight of them: three bits
_FREE = (5, 8, 13, 18, 24, 30, 40, 50)  # `k` for the count of each: some decades are written alike
_EPOCH = 30  # years from 1970 to the one from which years are counted
_LAST_TIME = 2.0**62  # microseconds; beyond that a calendar ends
_FREE_COUNT, _FREE_LENGTH = 1, 2  # `k` of the exponential Golomb codes: a name or none, short names


class Reader:
    """Bits that are read from the left.

    >>> read_whole(Reader("00101"), 0)
    5
    """

    def __init__(self, bits: str) -> None:
        self.bits, self.place = bits, 0

    def take(self, count: int) -> int:
        """The number that the next `count` bits write; EOFError where there are fewer."""
        if self.place + count > len(self.bits):
            raise EOFError("the bits end in the middle of a word")
        self.place += count
        return int(self.bits[self.place - count : self.place] or "0", 2)

    def zeros(self) -> int:
        """How many zeros come before the next one; both are passed."""
        place = self.bits.find("1", self.place)
        if place < 0:
            raise EOFError("the bits end in the middle of a word")
        count, self.place = place - self.place, place + 1
        return count


def write_whole(number: int, k: int) -> str:
    """A whole number of at least 1.

    >>> write_whole(1, 0), write_whole(5, 0), write_whole(5, 1)
    ('1', '00101', '0110')
    """
    text = f"{number - 1 + (1 << k):b}"
    return "0" * (len(text) - 1 - k) + text


def read_whole(reader: Reader, k: int) -> int:
    """What `write_whole` wrote."""
    zeros = reader.zeros()
    return (1 << (zeros + k) | reader.take(zeros + k)) + 1 - (1 << k)


def whole_bits(number: int, k: int) -> int:
    """The length of what `write_whole` writes, without writing it.

    >>> whole_bits(5, 1)
    4
    """
    return 2 * (number - 1 + (1 << k)).bit_length() - 1 - k


def _to_natural(number: int) -> int:
    """0, -1, 1, -2, 2 … as 1, 2, 3, 4, 5 …"""
    return 2 * number + 1 if number >= 0 else -2 * number


def _from_natural(number: int) -> int:
    return number // 2 if number % 2 else -(number // 2)


def _parts(value: float) -> tuple[int, int]:
    """(digits, place of the first) of a positive finite number, by the shortest decimal that prints it."""
    mantissa, exponent = f"{value!r}e0".split("e")[:2]
    before, _, after = mantissa.partition(".")
    digits = (before + after).lstrip("0")
    place = int(exponent) + len(digits) - len(after) - 1
    return int(digits.rstrip("0")), place


def write_number(value: float, signed: bool) -> str:
    """A number; `signed` where numbers below zero are possible.

    >>> write_number(0.1, signed=False), write_number(-0.0555, signed=True)
    ('101', '1000000001000101100010')
    """
    sign = ("1" if value < 0 and math.isfinite(value) else "0") if signed else ""
    if value in _SPECIALS:
        return sign + write_whole(_SPECIAL, 1) + f"{_SPECIALS.index(value):02b}"
    digits, place = _parts(abs(value))
    word = write_whole(digits, 1) + write_whole(_to_natural(place - _CENTRE), 0)
    raw = write_whole(_SPECIAL, 1) + f"{_RAW:02b}{_pattern(abs(value)):064b}"
    return sign + (word if len(word) <= len(raw) else raw)


def _pattern(value: float) -> int:
    """The 64 bits of a double as a number."""
    pattern: int = struct.unpack(">Q", struct.pack(">d", value))[0]
    return pattern


def read_number(reader: Reader, signed: bool) -> float:
    """What `write_number` wrote, to the last bit."""
    sign = -1.0 if signed and reader.take(1) else 1.0
    digits = read_whole(reader, 1)
    if digits != _SPECIAL:
        place = _from_natural(read_whole(reader, 0)) + _CENTRE
        return sign * float(f"{digits}e{place - len(str(digits)) + 1}")
    which = reader.take(2)
    if which != _RAW:
        return _SPECIALS[which]
    value: float = struct.unpack(">d", struct.pack(">Q", reader.take(64)))[0]
    return sign * value


def number_bits(value: float, signed: bool) -> int:
    """The length of what `write_number` writes.

    >>> [number_bits(x, signed=False) for x in (0.1, 0.5, 5.5, 0.0555, 0.0, 1 / 3)]
    [3, 5, 13, 21, 8, 72]
    """
    special = whole_bits(_SPECIAL, 1) + 2
    if value in _SPECIALS:
        return signed + special
    digits, place = _parts(abs(value))
    return signed + min(whole_bits(digits, 1) + whole_bits(_to_natural(place - _CENTRE), 0), special + 64)


def _calendar(value: float) -> tuple[int, int] | None:
    """(unit, count since 2000) of the longest calendar unit that begins at a time; None where none does."""
    if not (abs(value) < _LAST_TIME and value == int(value)):
        return None
    time = np.datetime64(int(value), "us")
    for i, unit in enumerate(_UNITS):
        start = time.astype(f"datetime64[{unit}]")
        if start.astype("datetime64[us]") == time:
            return i, int(start.astype(np.int64)) - _epoch(unit)
    raise AssertionError("a microsecond begins at every microsecond")


def _epoch(unit: str) -> int:
    """The first moment of 2000, in a unit since 1970."""
    return int(np.datetime64(_EPOCH, "Y").astype(f"datetime64[{unit}]").astype(np.int64))


def write_time(value: float) -> str:
    """A time in microseconds since 1970: a bit, then a calendar's unit and count, or else a plain number."""
    calendar = _calendar(value)
    if calendar is None:
        return "1" + write_number(value, signed=True)
    unit, count = calendar
    return f"0{unit:03b}" + write_whole(_to_natural(count), _FREE[unit])


def read_time(reader: Reader) -> float:
    """What `write_time` wrote."""
    if reader.take(1):
        return read_number(reader, signed=True)
    which = reader.take(3)
    unit = _UNITS[which]
    count = _from_natural(read_whole(reader, _FREE[which])) + _epoch(unit)
    return float(np.int64(count).astype(f"datetime64[{unit}]").astype("datetime64[us]").astype(np.int64))


def time_bits(value: float) -> int:
    """The length of what `write_time` writes.

    >>> time_bits(0.0), time_bits(1.0)  # the year 1970; a microsecond after it
    (12, 57)
    """
    calendar = _calendar(value)
    if calendar is None:
        return 1 + number_bits(value, signed=True)
    unit, count = calendar
    return 4 + whole_bits(_to_natural(count), _FREE[unit])


# ---- sets of categories, by their names ----------------------------------------------------------------
# A set is the number of its names, then each name: the number of its UTF-8 bytes, then the bytes; a bool is
# one bit. Referring to a list of the categories in the rows would be shorter, but that list depends on the
# rows: a tree could memorise a thousand customers at one bit each, and be wrong on all others.


def _bytes(name: Hashable) -> bytes:
    return str(name).encode("utf-8", "surrogatepass")


def name_bits(name: Hashable) -> int:
    """The length of one name.

    >>> name_bits("y"), name_bits("clerk"), name_bits(17), name_bits(True)
    (11, 45, 19, 1)
    """
    if isinstance(name, bool):
        return 1
    length = len(_bytes(name))
    return whole_bits(length + 1, _FREE_LENGTH) + 8 * length


def count_bits(count: int) -> int:
    """The length of what says how many names there are.

    >>> count_bits(1), count_bits(5)
    (2, 4)
    """
    return whole_bits(count + 1, _FREE_COUNT)


def write_names(names: Iterable[Hashable]) -> str:
    """The word of a set of names.

    >>> write_names(["y"])
    '1110101111001'
    """
    listed = list(names)
    words = [write_whole(len(listed) + 1, _FREE_COUNT)]
    for name in listed:
        if isinstance(name, bool):
            words.append("01"[name])
            continue
        text = _bytes(name)
        words += [write_whole(len(text) + 1, _FREE_LENGTH), *(f"{byte:08b}" for byte in text)]
    return "".join(words)


def read_names(reader: Reader, are_bools: bool) -> list[str]:
    """The names that `write_names` wrote, as texts.

    >>> read_names(Reader("1110101111001"), are_bools=False)
    ['y']
    """
    names = []
    for _ in range(read_whole(reader, _FREE_COUNT) - 1):
        if are_bools:
            names.append(str(bool(reader.take(1))))
            continue
        length = read_whole(reader, _FREE_LENGTH) - 1
        text = bytes(reader.take(8) for _ in range(length))
        names.append(text.decode("utf-8", "surrogatepass"))
    return names
