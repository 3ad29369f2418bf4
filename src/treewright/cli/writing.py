"""Predictions as CSV or Parquet: written whole or not at all, floats exact, texts no formulas."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import sys
import tempfile
from typing import Any, BinaryIO

import duckdb
import numpy as np
from numpy.typing import NDArray

from treewright.cli.errors import Trouble
from treewright.cli.sources import PARQUET_SUFFIXES, first_line
from treewright.files import replacing

Answers = dict[str, NDArray[Any]]

ROWS_AT_ONCE = 10_000
_WRITTEN = (".csv", ".tsv", ".txt", *PARQUET_SUFFIXES)
_FORMULA = re.compile(r"[=+\-@\t\r]+.*\w", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Trouble if a file of such a name is neither CSV nor Parquet (devices and pipes are CSV)."""
    name = os.fspath(path)
    if os.path.exists(name) and not os.path.isfile(name):
        return
    if not name.lower().endswith(_WRITTEN):
        raise Trouble(f"{name}: predictions are written as CSV or Parquet; end the name in .csv or .parquet")


def write(answers: Answers, path: str | os.PathLike[str] | None, *, raw: bool) -> None:
    """Write columns to a file, or to the standard output."""
    if path is None:
        sys.stdout.flush()
        _write_csv(answers, sys.stdout.buffer, ",", raw)
        sys.stdout.buffer.flush()
        return
    name = os.fspath(path).lower()
    with replacing(path) as file:
        if name.endswith(PARQUET_SUFFIXES):
            _write_parquet(answers, file)
        else:
            _write_csv(answers, file, "\t" if name.endswith(".tsv") else ",", raw)


def _write_csv(answers: Answers, file: BinaryIO, separator: str, raw: bool) -> None:
    safe = str if raw else harmless
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerow(map(safe, answers))
    columns = [_cells(column, raw) for column in answers.values()]
    for start in range(0, len(columns[0]), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        writer.writerows(zip(*(column[rows].tolist() for column in columns), strict=True))
        file.write(text.getvalue().encode())
        text.seek(0)
        text.truncate()


def _cells(column: NDArray[Any], raw: bool) -> NDArray[Any]:
    """The cells to write; Python itself writes the shortest digits that make the same float."""
    if raw or column.dtype != object:
        return column
    texts = {cell: harmless(cell) for cell in set(column.tolist()) if isinstance(cell, str)}
    if all(cell == safe for cell, safe in texts.items()):
        return column
    return np.array([texts.get(cell, cell) for cell in column.tolist()], dtype=object)


def harmless(text: str) -> str:
    """A text that no spreadsheet runs as a formula: a quote goes before it, unless it is a number.

    >>> harmless("=1+2"), harmless("-1.5"), harmless("plain"), harmless("+")
    ("'=1+2", '-1.5', 'plain', '+')
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def _write_parquet(answers: Answers, file: BinaryIO) -> None:
    """DuckDB writes Parquet to files of its own only; the content is copied from there."""
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as database:
        place = os.path.join(folder, "answers.parquet")
        columns = {f"c{position}": _uniform(column) for position, column in enumerate(answers.values())}
        database.register("answers", columns)
        names = (name.replace('"', '""') for name in answers)
        selected = ", ".join(f'c{position} AS "{name}"' for position, name in enumerate(names))
        try:
            database.execute(f"COPY (SELECT {selected} FROM answers) TO '{place}' (FORMAT parquet)")
        except duckdb.Error as error:
            raise Trouble(f"the predictions cannot be written as Parquet ({first_line(error)})") from error
        with open(place, "rb") as written:
            shutil.copyfileobj(written, file)


def _uniform(column: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers as such; texts and floats are uniform already."""
    if column.dtype == object and all(
        type(cell) is int and abs(cell) < 2**63 for cell in set(column.tolist())
    ):
        return column.astype(np.int64)
    return column
