"""How a CSV file is laid out: separator, names, compression; and the place of whatever is wrong in it."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

from treewright.cli.errors import Trouble, count, listed

SEPARATORS = (",", ";", "\t", "|")
HEAD = 1 << 20  # characters that are looked at to tell the layout
SAMPLED = 2000  # records that are looked at to guess the forms of the columns
LONGEST_CELL = 1 << 27
_NAMED = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True)
class Layout:
    """A CSV file: where it is, what separates its cells, and the names of its columns."""

    path: str
    separator: str
    names: tuple[str, ...]
    compressed: bool
    sample: tuple[list[str], ...] = field(default=(), repr=False)  # the first records below the header

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """The records below the header, each with the line it begins in; slow, for finding a place."""
        with _opened(self.path, self.compressed) as file:
            reader = _reader(file, self.separator)
            next(reader)
            line = reader.line_num + 1
            for record in reader:
                if record:
                    yield line, record
                line = reader.line_num + 1

    def line_of(self, column: int, cell: str) -> int | None:
        """The first line in which a column has this cell, spaces around it aside."""
        for line, record in self.records():
            if column < len(record) and record[column].strip() == cell.strip():
                return line
        return None

    def line_of_row(self, row: int) -> int | None:
        """The line in which a row begins; rows are counted from 0, below the header."""
        for position, (line, _) in enumerate(self.records()):
            if position == row:
                return line
        return None


def sniff(path: str) -> Layout:
    """The layout of a CSV file, from its first lines; Trouble if it is no such file."""
    with open(path, "rb") as binary:
        start = binary.read(1 << 16)
    if start[:4] == b"PAR1":
        raise Trouble(f"{path} is a Parquet file; rename it to end in .parquet")
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise Trouble(f"{path} is UTF-16 text; save it as UTF-8: iconv -f UTF-16 -t UTF-8 {path} > new.csv")
    compressed = start[:2] == b"\x1f\x8b"
    if b"\0" in start and not compressed:
        raise Trouble(f"{path} is not text (it has zero bytes); a table is read from CSV or Parquet")
    try:
        with _opened(path, compressed) as file:
            text = file.read(HEAD)
    except UnicodeDecodeError:
        _diagnose_bytes(path, compressed)
        raise
    except (EOFError, gzip.BadGzipFile, OSError) as error:
        if not compressed:
            raise
        raise Trouble(f"{path} is damaged: it does not unpack ({error})") from error
    if "\0" in text:
        raise Trouble(f"{path} is not text (it has zero bytes); a table is read from CSV or Parquet")
    if not text.strip():
        raise Trouble(f"{path} is empty; a table has a line of names and then its rows")
    separator = _separator(text)
    records = _first(text, separator, SAMPLED + 1)
    if not records:
        raise Trouble(f"{path}: the first line cannot be read as names of columns: its quotes do not close")
    return Layout(path, separator, _names(path, records[0]), compressed, tuple(records[1:]))


def _opened(path: str, compressed: bool) -> IO[str]:
    opened: Any = gzip.open if compressed else open
    return io.TextIOWrapper(opened(path, "rb"), encoding="utf-8-sig", newline="")


def _reader(file: Any, separator: str) -> Any:
    csv.field_size_limit(LONGEST_CELL)
    return csv.reader(file, delimiter=separator, strict=True, skipinitialspace=True)


def _first(text: str, separator: str, most: int) -> list[list[str]]:
    """The first records of a text, which may end anywhere."""
    records: list[list[str]] = []
    try:
        for record in _reader(io.StringIO(text, newline=""), separator):
            records += [record] * bool(record)
            if len(records) == most:
                return records
    except csv.Error:
        return records
    return records if len(text) < HEAD else records[:-1]


def _separator(text: str) -> str:
    """The separator with which most of the first records are as wide as the first, and wider than one."""

    def score(separator: str) -> tuple[int, int]:
        widths = [len(record) for record in _first(text, separator, 100)]
        return (widths.count(widths[0]), widths[0]) if widths and widths[0] > 1 else (0, 0)

    return max(SEPARATORS, key=score)


def _names(path: str, header: list[str]) -> tuple[str, ...]:
    names = [name.strip() or f"column {position}" for position, name in enumerate(header, 1)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Trouble(f"{path}: several columns have the name {listed(twice)}; rename them in the first line")
    return tuple(names)


def diagnose(layout: Layout) -> None:
    """Trouble that names the line of what is wrong with a CSV file, if something is.

    Called after the quick reader has failed: this one is slow, but it can tell the place.
    """
    path, width = layout.path, len(layout.names)
    _diagnose_bytes(path, layout.compressed)
    line = 1
    try:
        for line, record in layout.records():
            trailing = len(record) == width + 1 and not record[-1]  # a separator at the end of the line
            if len(record) != width and not trailing:
                raise Trouble(
                    f"{path}, line {line} has {count(len(record), 'cell')}, but the first line names "
                    f"{count(width, 'column')} (separated by {_NAMED[layout.separator]}); mend or remove it"
                )
    except csv.Error as error:
        said = "its quotes do not close" if "end of" in str(error) else f"it cannot be read ({error})"
        raise Trouble(f"{path}: something is wrong from line {line + 1} on: {said}") from error


def _diagnose_bytes(path: str, compressed: bool) -> None:
    """Trouble that names the first byte which is not UTF-8."""
    with gzip.open(path) if compressed else open(path, "rb") as binary:
        for line, content in enumerate(binary, 1):
            try:
                content.decode("utf-8")
            except UnicodeDecodeError as error:
                raise Trouble(
                    f"{path} is not UTF-8 text: line {line} has the byte 0x{content[error.start]:02X} after "
                    f"{content[max(0, error.start - 20) : error.start].decode('utf-8', 'replace')!r}; "
                    f"if it is Latin-1, convert it: iconv -f LATIN1 -t UTF-8 {path} > new.csv"
                ) from error
