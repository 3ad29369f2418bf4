"""The scanner of model files: their lines in order, and the values within a line.

A file may come from anyone. Arrays are flat and read piece by piece, a line is read from left to right, and
nothing is passed to JSON that could nest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from treewright._arrays import Array
from treewright.saving.writer import LARGEST_INTEGER_BITS, label_text

Label = str | bool | int | float
Part = TypeVar("Part")

_PIECE = 2**16  # bytes of an array that are read at a time
_LONGEST_NUMBER = 64


class Lines:
    """The lines of a model, taken one after the other, each the one that is expected."""

    def __init__(self, content: bytearray, number: int) -> None:
        self.content = content
        self.position = 0
        self.number = number  # of the line in the file
        self.holds = "a tree"  # the expected content of the file, for errors
        self.margin = "    "  # of entries and arrays

    def take(self, begin: str, end: str = "") -> tuple[int, int]:
        """The position of the content of the next line between `begin` and `end`."""
        self.number += 1
        start, stop = self._here()
        self.position = stop + 1
        first, last = start + len(begin), stop - len(end)
        fits = self.content.startswith(begin.encode(), start, stop)
        if first > last or not fits or not self.content.endswith(end.encode(), start, stop):
            raise self.wrong(f"should be {begin.strip() or 'an entry'} … {end}")
        return first, last

    def _here(self) -> tuple[int, int]:
        """The start and end of the next line."""
        stop = self.content.find(b"\n", self.position)
        return self.position, len(self.content) if stop < 0 else stop

    def comes(self, begin: str) -> bool:
        """Whether the next line begins with `begin` after the margin."""
        return self.content.startswith((self.margin + begin).encode(), *self._here())

    def literal(self, line: str) -> None:
        """A line that is the same in every model."""
        start, stop = self.take(line)
        if start != stop:
            raise self.wrong(f"should be {line.strip()}")

    def wrong(self, what: str) -> ValueError:
        """An error about the line."""
        return self.unsound(f"line {self.number} {what}")

    def unsound(self, reason: str) -> ValueError:
        """An error about what is in the lines."""
        return ValueError(f"does not hold {self.holds}: {reason}")

    def finish(self) -> None:
        """No line may follow."""
        if self.position <= len(self.content):
            raise self.wrong("is followed by another")

    def entry(self, name: str, read: Callable[[Text], Part]) -> Part:
        """A line of one value."""
        return self._read(*self.take(f'{self.margin}"{name}": ', ","), read)

    def entries(self, name: str, read: Callable[[Text], Part]) -> tuple[Part, ...]:
        """A list with one entry per line."""
        self.literal(f'{self.margin}"{name}": [')
        values = []
        more = True
        while more:
            start, stop = self.take(f"{self.margin}  ")
            more = self.content.endswith(b",", start, stop)
            values.append(self._read(start, stop - more, read))
        self.literal(f"{self.margin}],")
        return tuple(values)

    def _read(self, start: int, stop: int, read: Callable[[Text], Part]) -> Part:
        try:
            text = Text(self.content[start:stop].decode("utf-8"))
            value = read(text)
            text.finish()
        except ValueError as error:
            raise self.wrong(f"cannot be read: {error}") from None
        return value

    def array(self, name: str, kind: type[np.generic], size: int | None, last: bool = False) -> Array:
        """A line with an array of numbers, of a given size or of any (None)."""
        start, stop = self.take(f'{self.margin}"{name}": [', "]" if last else "],")
        pieces = [self._piece(start, comma, kind) for start, comma in self._pieces(start, stop)]
        array = np.concatenate(pieces) if pieces else np.zeros(0, kind)
        if size is not None and len(array) != size:
            raise self.wrong(f"has {len(array)} values; {name} needs {size}")
        return array

    def _pieces(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """The positions of pieces of an array, cut at commas."""
        while start < stop:
            comma = self.content.find(b",", min(start + _PIECE, stop), stop)
            end = stop if comma < 0 else comma
            yield start, end
            if end == stop - 1:
                raise self.wrong("has a comma too many")
            start = end + 1

    def _piece(self, start: int, stop: int, kind: type[np.generic]) -> Array:
        """A part of an array. Its characters are checked first, so that JSON cannot nest."""
        dtype = np.dtype(kind)
        characters, convert, what = _FAMILIES[dtype.kind]
        text = bytes(self.content[start:stop])
        try:
            if len(text) > _PIECE + _LONGEST_NUMBER or not characters.fullmatch(text):
                raise ValueError
            return convert(json.loads(b"[" + text + b"]"), dtype)
        except (ValueError, OverflowError, KeyError):
            span = f" from {np.iinfo(dtype).min} to {np.iinfo(dtype).max}" if dtype.kind in "iu" else ""
            raise self.wrong(f"must hold {what}{span}") from None


def _integers(values: list[Any], dtype: np.dtype[Any]) -> Array:
    numbers = np.array(values, np.int64)
    limits = np.iinfo(dtype)
    if set(map(type, values)) != {int} or numbers.min() < limits.min or numbers.max() > limits.max:
        raise ValueError
    return numbers.astype(dtype)


def _floats(values: list[Any], dtype: np.dtype[Any]) -> Array:
    words = [value for value in values if type(value) is not float]
    if words:
        values = [value if type(value) is float else _WORDS[value] for value in values]
    numbers = np.array(values, dtype)
    if np.isinf(numbers).sum() != sum(word is not None for word in words):
        raise ValueError  # digits beyond the range of floats
    return numbers


def _bools(values: list[Any], dtype: np.dtype[Any]) -> Array:
    if set(map(type, values)) != {bool}:
        raise ValueError
    return np.array(values, dtype)


_WORDS = {None: np.nan, "inf": np.inf, "-inf": -np.inf}
_FAMILIES: dict[str, tuple[re.Pattern[bytes], Callable[[list[Any], np.dtype[Any]], Array], str]] = {
    "i": (re.compile(rb"[-0-9,]+"), _integers, "whole numbers"),
    "u": (re.compile(rb"[0-9,]+"), _integers, "whole numbers"),
    "f": (re.compile(rb'[-+0-9.e,nulif"]+'), _floats, 'decimal numbers, null, "inf" or "-inf"'),
    "b": (re.compile(rb"[truefals,]+"), _bools, "true or false"),
}


class Text:
    """One line, read from left to right. A label is one token, so that JSON cannot nest."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.position = 0

    def skip(self, literal: str) -> bool:
        """Whether `literal` comes next; it is passed over."""
        found = self.source.startswith(literal, self.position)
        self.position += len(literal) if found else 0
        return found

    def need(self, literal: str) -> None:
        """Pass over `literal`, which must come next."""
        if not self.skip(literal):
            raise ValueError(f"{literal.strip(' ,')!r} is missing at character {self.position}")

    def finish(self) -> None:
        """Nothing may follow."""
        if self.position != len(self.source):
            raise ValueError(f"it goes on at character {self.position}")

    def _label_of(self, kind: type[Part], what: str) -> Part:
        label = self.label()
        if type(label) is not kind:
            raise ValueError(f"{label!r} stands where {what} must stand")
        return label

    def text(self) -> str:
        """A text."""
        return self._label_of(str, "a text")

    def flag(self) -> bool:
        """Either true or false."""
        return self._label_of(bool, "true or false")

    def whole(self) -> int:
        """A whole number of at least 0."""
        number = self._label_of(int, "a whole number of at least 0")
        if number < 0:
            raise ValueError(f"{number} stands where a whole number of at least 0 must stand")
        return number

    def text_or_null(self) -> str | None:
        """A text, or null."""
        return None if self.skip("null") else self.text()

    def whole_or_null(self) -> int | None:
        """A whole number of at least 0, or null."""
        return None if self.skip("null") else self.whole()

    def _list(self, read: Callable[[], Part]) -> tuple[Part, ...]:
        self.need("[")
        items: list[Part] = []
        while not self.skip("]"):
            if items:
                self.need(", ")
            items.append(read())
        return tuple(items)

    def labels(self) -> tuple[Label, ...]:
        """A list of categories or classes."""
        return self._list(self.label)

    def texts(self) -> tuple[str, ...]:
        """A list of texts."""
        return self._list(self.text)

    def table(self) -> tuple[tuple[float, ...], ...]:
        """A list of lists of floats."""
        return self._list(self.floats)

    def floats(self) -> tuple[float, ...]:
        """A list of floats."""
        return self._list(lambda: self._label_of(float, "a number with a point"))

    def label(self) -> Label:
        """A text, bool, integer or float, in the one form in which `writer` writes it."""
        start = self.position
        label = self._next_label()
        if isinstance(label, int) and label.bit_length() > LARGEST_INTEGER_BITS:
            raise ValueError(f"the integer at character {start} is too large")
        if label_text(label, "") != self.source[start : self.position]:
            raise ValueError(f"the value at character {start} is not in its usual form")
        return label

    def _next_label(self) -> Label:
        match = _SPECIAL_LABEL.match(self.source, self.position)  # JSON cannot express it
        if match is not None:
            self.position = match.end()
            return float(match[1]) if match[1] else "".join(chr(int(code)) for code in match[2].split(", "))
        if _LABEL_START.match(self.source, self.position):
            with suppress(ValueError):
                label: Label
                label, self.position = _DECODER.raw_decode(self.source, self.position)
                return label
        raise ValueError(f"no text, number or bool begins at character {self.position}")


_DECODER = json.JSONDecoder()
_LABEL_START = re.compile(r'"|-?[0-9]|true|false')
_SPECIAL_LABEL = re.compile(r'\{"(?:float": "(-?inf)"|characters": \[([0-9]{1,7}(?:, [0-9]{1,7})*)\])\}')
