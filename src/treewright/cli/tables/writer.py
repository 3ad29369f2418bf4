"""Predictions as CSV, JSON lines or Parquet, piece by piece: floats exact, texts no formulas."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import duckdb
import numpy as np
from numpy.typing import NDArray

from treewright._atomic import replacing
from treewright.cli.errors import Trouble, writing_to
from treewright.cli.streams import Outlet
from treewright.cli.tables import temporary_files
from treewright.cli.tables.cell_types import literal
from treewright.cli.tables.csv_files import pattern
from treewright.cli.tables.sources import JSON_LINES, PARQUET, first_line

Predictions = dict[str, NDArray[Any]]

ROWS_AT_ONCE = 10_000
TEXT_FORMATS = ("csv", "tsv", "jsonl")  # what can go to the standard output
_SUFFIXES = {
    **{".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv"},
    **dict.fromkeys(JSON_LINES.suffixes, "jsonl"),
    **dict.fromkeys(PARQUET.suffixes, "parquet"),
}
_FORMULA = re.compile(r"[=+\-@\t\r]+.*\w", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def format_of(path: str | os.PathLike[str]) -> str:
    """The format of a file by its name; Trouble if it is none (devices and pipes are CSV)."""
    name = os.fspath(path)
    if os.path.exists(name) and not os.path.isfile(name):
        return "csv"
    plain = name.lower().removesuffix(".gz")
    format = _SUFFIXES.get(Path(plain).suffix)
    if format is None or (format == "parquet" and plain != name.lower()):
        raise Trouble(
            f"{name}: predictions are written as CSV, JSON lines or Parquet; end the name in .csv or "
            ".parquet or .jsonl (.gz packs texts)"
        )
    return format


class Sink(ABC):
    """Where predictions go, some rows at a time; all of them have the same columns."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    @abstractmethod
    def write(self, predictions: Predictions) -> None:
        """Some more rows."""

    def finish(self) -> None:  # noqa: B027
        """There are no more."""


@contextmanager
def open_sink(path: Path | None, format: str, *, raw: bool) -> Iterator[Sink]:
    """A file that is replaced as a whole when all is written, or the standard output."""
    if path is None:
        outlet: Any = Outlet(binary=True)
        yield (sink := _sink(outlet, format, raw))
        sink.finish()
        outlet.flush()
        return
    with writing_to(path), replacing(path) as file:
        is_packed = str(path).lower().endswith(".gz")
        inner: Any = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if is_packed else file
        yield (sink := _sink(inner, format, raw))
        sink.finish()
        if is_packed:
            inner.close()


def _sink(file: BinaryIO, format: str, raw: bool) -> Sink:
    if format == "parquet":
        return ParquetSink(file)
    if format in ("jsonl", "json"):
        return JsonSink(file, as_document=format == "json")
    return CsvSink(file, "\t" if format == "tsv" else ",", raw)


class CsvSink(Sink):
    """Lines of cells; the first has the names."""

    def __init__(self, file: BinaryIO, separator: str, raw: bool) -> None:
        super().__init__(file)
        self._text = io.StringIO(newline="")
        self._writer = csv.writer(self._text, delimiter=separator, lineterminator="\n")
        self._raw, self._has_names = raw, False

    def write(self, predictions: Predictions) -> None:
        """Python itself writes the shortest digits that make the same float."""
        if not self._has_names:
            self._writer.writerow(predictions if self._raw else map(harmless, predictions))
            self._has_names = True
        rows = zip(*(self._cells(column) for column in predictions.values()), strict=True)
        while some := list(islice(rows, ROWS_AT_ONCE)):
            self._writer.writerows(some)
            self.file.write(self._text.getvalue().encode())
            self._text.seek(0)
            self._text.truncate()

    def _cells(self, column: NDArray[Any]) -> list[Any]:
        """The cells to write: bools in small letters, as most programs read them, and texts that are safe."""
        cells: list[Any] = column.tolist()
        if column.dtype != object and column.dtype != bool:
            return cells
        texts = {cell: self._text_of(cell) for cell in set(cells)}
        return [texts[cell] for cell in cells]

    def _text_of(self, cell: Any) -> Any:
        if isinstance(cell, bool):
            return str(cell).lower()
        return harmless(cell) if isinstance(cell, str) and not self._raw else cell


def harmless(text: str) -> str:
    """A text that no spreadsheet runs as a formula: a quote goes before it, unless it is a number.

    >>> harmless("=1+2"), harmless("-1.5"), harmless("plain"), harmless("+")
    ("'=1+2", '-1.5', 'plain', '+')
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


class JsonSink(Sink):
    """One object per row: a line each, or all of them in the list "predictions" of one document."""

    def __init__(self, file: BinaryIO, as_document: bool) -> None:
        super().__init__(file)
        self._as_document, self._has_rows = as_document, False
        self.more: dict[str, Any] = {}  # what else the document holds

    def write(self, predictions: Predictions) -> None:
        """Numbers that JSON does not have are null."""
        columns = [_finite(column) for column in predictions.values()]
        rows = [json.dumps(dict(zip(predictions, row, strict=True))) for row in zip(*columns, strict=True)]
        between = ",\n" if self._as_document else "\n"
        before = "" if not self._as_document else between if self._has_rows else '{"predictions": [\n'
        self._has_rows = True
        self.file.write((before + between.join(rows) + ("" if self._as_document else "\n")).encode())

    def finish(self) -> None:
        """The end of the document."""
        if self._as_document:
            self.file.write(f"\n],\n{json.dumps(self.more)[1:]}\n".encode())


def _finite(column: NDArray[Any]) -> list[Any]:
    cells: list[Any] = column.tolist()
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        return [cell if np.isfinite(cell) else None for cell in cells]
    return cells


class ParquetSink(Sink):
    """DuckDB writes Parquet to files of its own only: one for each piece, then one of all to copy."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self._place = temporary_files.new_folder()
        self._pieces: list[str] = []

    def write(self, predictions: Predictions) -> None:
        """One more piece."""
        columns = {f"c{position}": column for position, column in enumerate(predictions.values())}
        names = (name.replace('"', '""') for name in predictions)
        selected = ", ".join(f'c{position} AS "{name}"' for position, name in enumerate(names))
        place = os.path.join(self._place, f"{len(self._pieces)}.parquet")
        with duckdb.connect() as database:
            database.register("predictions", columns)
            self._copy(database, f"SELECT {selected} FROM predictions", place)
        self._pieces.append(place)

    def finish(self) -> None:
        """The pieces as one file."""
        whole = self._pieces[0]
        if len(self._pieces) > 1:
            whole = os.path.join(self._place, "whole.parquet")
            pieces = ", ".join(map(pattern, self._pieces))
            with duckdb.connect() as database:
                self._copy(database, f"SELECT * FROM read_parquet([{pieces}])", whole)
        with open(whole, "rb") as content:
            shutil.copyfileobj(content, self.file)

    def _copy(self, database: Any, query: str, place: str) -> None:
        try:
            database.execute(f"COPY ({query}) TO {literal(place)} (FORMAT parquet)")
        except duckdb.Error as error:
            raise Trouble(f"the predictions cannot be written as Parquet ({first_line(error)})") from error
