"""Reading a model that anyone may have written.

The lines of a model come in one order and no other is read; arrays are flat and read piece by piece. So
nothing can nest, repeat or be left out, and memory stays within a small multiple of the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from treewright.combining import Direction
from treewright.linear import LinearAnswers
from treewright.saving.layout import (
    ARRAYS,
    DIRECTION_TYPES,
    LARGEST_INTEGER_BITS,
    LINEAR_TYPES,
    NUMBER_STATISTIC,
    label_text,
)
from treewright.schema import Column, Schema, Target
from treewright.sparse import SparseRows
from treewright.surrogates import TYPES as SURROGATE_TYPES
from treewright.surrogates import Surrogates
from treewright.tree import Tree

Label = str | bool | int | float
Part = TypeVar("Part")

_PIECE = 2**16  # bytes of an array that are read at a time
_LONGEST_NUMBER = 64


def read_tree(model: bytearray, line: int, version: int) -> Tree:
    """The tree of a model that begins after `line` lines; `check` is to say whether it is one."""
    lines = _Lines(model, line)
    lines.literal("{")
    lines.entry("writer", _Text.text)
    criterion = lines.entry("criterion", _Text.text)
    is_extended = version >= 3
    missing: Any = lines.entry("missing", _Text.text) if is_extended else "learn"
    columns = lines.entries("columns", _read_column)
    targets = lines.entries("targets", _read_target)
    schema = Schema(columns, targets)
    arrays: dict[str, Any] = {}
    for name, kind in ARRAYS.items():
        n = None if name in ("end", "subsets") else len(arrays["end"])
        arrays[name] = lines.array(name, kind, n)
    statistic = _read_statistic(lines, schema, arrays["end"], last=not is_extended)
    more = _read_extended(lines, len(arrays["end"])) if is_extended else {}
    lines.literal("  }")
    lines.finish()
    return Tree(**arrays, statistic=statistic, schema=schema, criterion=criterion, missing=missing, **more)


def _read_extended(lines: _Lines, n: int) -> dict[str, Any]:
    """What files before version 3 could not say."""
    joined = lines.array("joined", np.bool_, n)
    surrogates = {
        name: lines.array(f"surrogate {name}", kind, None) for name, kind in SURROGATE_TYPES.items()
    }
    start, column, weight = (
        lines.array(f"direction {name}", kind, None) for name, kind in DIRECTION_TYPES.items()
    )
    if not (len(start) and start[0] == 0 and (np.diff(start) >= 0).all() and start[-1] == len(column)):
        raise ValueError("does not hold a tree: its directions have loose ends")
    if len(column) != len(weight):
        raise ValueError("does not hold a tree: a direction has loose ends")
    borders = start[1:-1]
    parts = zip(np.split(column, borders), np.split(weight, borders), strict=True) if len(start) > 1 else ()
    linear = {
        name: lines.array(f"linear {name}", kind, None, last=name == "mean")
        for name, kind in LINEAR_TYPES.items()
    }
    return {
        "joined": joined,
        "surrogates": Surrogates(**surrogates),
        "directions": tuple(Direction(tuple(of.tolist()), tuple(by.tolist())) for of, by in parts),
        "linear": LinearAnswers(**linear) if len(linear["start"]) else None,
    }


def _read_statistic(
    lines: _Lines, schema: Schema, end: NDArray[np.int32], last: bool
) -> NDArray[np.float64] | SparseRows:
    """The statistic from its arrays."""
    n = len(end)
    if not schema.predicts_classes:
        size, final = n * len(schema.targets), NUMBER_STATISTIC[-1]
        parts = [
            lines.array(f"statistic {name}", np.float64, size, last=last and name == final)
            for name in NUMBER_STATISTIC
        ]
        return np.stack(parts, axis=1).reshape(n, 3 * len(schema.targets))
    start = lines.array("statistic start", np.int64, n + 1)
    if start[0] != 0 or (np.diff(start) < 0).any():
        raise ValueError("does not hold a tree: `start` of the statistic does not rise from 0")
    column = lines.array("statistic class", np.int64, int(start[-1]))
    weight = lines.array("statistic weight", np.float64, int(start[-1]), last=last)
    node = np.repeat(np.arange(n), np.diff(start))
    place = node * schema.width + column
    if column.size and not 0 <= column.min() <= column.max() < schema.width:
        raise ValueError(
            f"does not hold a tree: the statistic names a class beyond the {schema.width} there are"
        )
    if (np.diff(place) <= 0).any():
        raise ValueError("does not hold a tree: the classes of a node's statistic are not in order")
    if schema.is_wide:
        return SparseRows(end, start, column.astype(np.int32), weight, schema.width)
    statistic = np.zeros((n, schema.width))
    statistic.ravel()[place] = weight
    return statistic


def _read_column(text: _Text) -> Column:
    text.need('{"name": ')
    name = text.text()
    text.need(', "kind": ')
    kind: Any = text.text()
    categories: tuple[Label, ...] = ()
    if kind == "category":
        text.need(', "categories": ')
        categories = text.labels()
    text.need("}")
    return Column(name, kind, categories)


def _read_target(text: _Text) -> Target:
    text.need('{"name": ')
    name = text.text()
    text.need(', "classes": ')
    classes = None if text.skip("null") else text.labels()
    costs = text.table() if text.skip(', "costs": ') else None
    emphasis = text.floats() if text.skip(', "emphasis": ') else None
    stakes = text.table() if text.skip(', "stakes": ') else None
    text.need("}")
    return Target(name, classes, costs, emphasis, stakes)


class _Lines:
    """The lines of a model, taken one after the other, each the one that is expected."""

    def __init__(self, content: bytearray, number: int) -> None:
        self.content = content
        self.position = 0
        self.number = number  # of the line in the file

    def take(self, begin: str, end: str = "") -> tuple[int, int]:
        """Where the next line has what stands between `begin` and `end`."""
        self.number += 1
        start, stop = self.position, self.content.find(b"\n", self.position)
        stop = len(self.content) if stop < 0 else stop
        self.position = stop + 1
        first, last = start + len(begin), stop - len(end)
        fits = self.content.startswith(begin.encode(), start, stop)
        if first > last or not fits or not self.content.endswith(end.encode(), start, stop):
            raise self.wrong(f"should be {begin.strip() or 'an entry'} … {end}")
        return first, last

    def literal(self, line: str) -> None:
        """A line that is the same in every model."""
        start, stop = self.take(line)
        if start != stop:
            raise self.wrong(f"should be {line.strip()}")

    def wrong(self, what: str) -> ValueError:
        """An error about the line."""
        return ValueError(f"does not hold a tree: line {self.number} {what}")

    def finish(self) -> None:
        """No line may follow."""
        if self.position <= len(self.content):
            raise self.wrong("is followed by another")

    def entry(self, name: str, read: Callable[[_Text], Part]) -> Part:
        """A line of one value."""
        return self._read(*self.take(f'    "{name}": ', ","), read)

    def entries(self, name: str, read: Callable[[_Text], Part]) -> tuple[Part, ...]:
        """A list with one entry per line."""
        self.literal(f'    "{name}": [')
        found = []
        more = True
        while more:
            start, stop = self.take("      ")
            more = self.content.endswith(b",", start, stop)
            found.append(self._read(start, stop - more, read))
        self.literal("    ],")
        return tuple(found)

    def _read(self, start: int, stop: int, read: Callable[[_Text], Part]) -> Part:
        try:
            text = _Text(self.content[start:stop].decode("utf-8"))
            value = read(text)
            text.finish()
        except ValueError as error:
            raise self.wrong(f"cannot be read: {error}") from None
        return value

    def array(self, name: str, kind: type[np.generic], size: int | None, last: bool = False) -> NDArray[Any]:
        """A line with an array of numbers, of a given size or of any (None)."""
        start, stop = self.take(f'    "{name}": [', "]" if last else "],")
        pieces = [self._piece(start, comma, kind) for start, comma in self._pieces(start, stop)]
        array = np.concatenate(pieces) if pieces else np.zeros(0, kind)
        if size is not None and len(array) != size:
            raise self.wrong(f"has {len(array)} values; {name} needs {size}")
        return array

    def _pieces(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Where an array can be cut at commas."""
        while start < stop:
            comma = self.content.find(b",", min(start + _PIECE, stop), stop)
            end = stop if comma < 0 else comma
            yield start, end
            if end == stop - 1:
                raise self.wrong("has a comma too many")
            start = end + 1

    def _piece(self, start: int, stop: int, kind: type[np.generic]) -> NDArray[Any]:
        """A part of an array. Its characters are looked at first: then JSON can neither nest nor surprise."""
        dtype = np.dtype(kind)
        characters, convert, meant = _FAMILIES[dtype.kind]
        text = bytes(self.content[start:stop])
        try:
            if len(text) > _PIECE + _LONGEST_NUMBER or not characters.fullmatch(text):
                raise ValueError
            return convert(json.loads(b"[" + text + b"]"), dtype)
        except (ValueError, OverflowError, KeyError):
            raise self.wrong(f"must hold {meant}{_range(dtype)}") from None


def _range(dtype: np.dtype[Any]) -> str:
    return f" from {np.iinfo(dtype).min} to {np.iinfo(dtype).max}" if dtype.kind in "iu" else ""


def _integers(values: list[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    numbers = np.array(values, np.int64)
    limits = np.iinfo(dtype)
    if set(map(type, values)) != {int} or numbers.min() < limits.min or numbers.max() > limits.max:
        raise ValueError
    return numbers.astype(dtype)


def _floats(values: list[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    words = [value for value in values if type(value) is not float]
    if words:
        values = [value if type(value) is float else _WORDS[value] for value in values]
    numbers = np.array(values, dtype)
    if np.isinf(numbers).sum() != sum(word is not None for word in words):
        raise ValueError  # digits beyond the range of floats
    return numbers


def _bools(values: list[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    if set(map(type, values)) != {bool}:
        raise ValueError
    return np.array(values, dtype)


_WORDS = {None: np.nan, "inf": np.inf, "-inf": -np.inf}
_FAMILIES: dict[str, tuple[re.Pattern[bytes], Callable[[list[Any], np.dtype[Any]], NDArray[Any]], str]] = {
    "i": (re.compile(rb"[-0-9,]+"), _integers, "whole numbers"),
    "u": (re.compile(rb"[0-9,]+"), _integers, "whole numbers"),
    "f": (re.compile(rb'[-+0-9.e,nulif"]+'), _floats, 'decimal numbers, null, "inf" or "-inf"'),
    "b": (re.compile(rb"[truefals,]+"), _bools, "true or false"),
}


class _Text:
    """One line, read from left to right. A label is one token: nothing is handed to JSON that could nest."""

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

    def text(self) -> str:
        """A name."""
        label = self.label()
        if not isinstance(label, str):
            raise ValueError(f"{label!r} stands where a text must stand")
        return label

    def labels(self) -> tuple[Label, ...]:
        """A list of categories or classes."""
        self.need("[")
        found: list[Label] = []
        while not self.skip("]"):
            if found:
                self.need(", ")
            found.append(self.label())
        return tuple(found)

    def table(self) -> tuple[tuple[float, ...], ...]:
        """A list of lists of floats."""
        self.need("[")
        rows: list[tuple[float, ...]] = []
        while not self.skip("]"):
            if rows:
                self.need(", ")
            rows.append(self.floats())
        return tuple(rows)

    def floats(self) -> tuple[float, ...]:
        """A list of floats."""
        row = self.labels()
        if not all(type(number) is float for number in row):
            raise ValueError(f"not all costs before character {self.position} are numbers with a point")
        return cast(tuple[float, ...], row)

    def label(self) -> Label:
        """A text, bool, integer or float, written as `layout` writes it."""
        start = self.position
        label = self._special() or self._token()
        if isinstance(label, int) and label.bit_length() > LARGEST_INTEGER_BITS:
            raise ValueError(f"the integer at character {start} is too large")
        if label_text(label, "") != self.source[start : self.position]:
            raise ValueError(f"the value at character {start} is not in its usual form")
        return label

    def _special(self) -> Label | None:
        """What JSON has no word for; None where the next label is not of that sort."""
        match = _SPECIAL_LABEL.match(self.source, self.position)
        if match is None:
            return None
        self.position = match.end()
        return float(match[1]) if match[1] else "".join(chr(int(code)) for code in match[2].split(", "))

    def _token(self) -> Label:
        if _LABEL_START.match(self.source, self.position):
            with suppress(ValueError):
                label: Label
                label, self.position = _DECODER.raw_decode(self.source, self.position)
                return label
        raise ValueError(f"no text, number or bool begins at character {self.position}")


_DECODER = json.JSONDecoder()
_LABEL_START = re.compile(r'"|-?[0-9]|true|false')
_SPECIAL_LABEL = re.compile(r'\{"(?:float": "(-?inf)"|characters": \[([0-9]{1,7}(?:, [0-9]{1,7})*)\])\}')
