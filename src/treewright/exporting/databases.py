"""Queries run in the databases that live in this process: DuckDB and SQLite."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from treewright.encoding.schema import Column
from treewright.exporting._tree import family, label_type, optional_module, plain

Columns = Sequence[tuple[str, Column, Any]]  # the name in quotes, what it is in the tree, its values


def run(
    database: str, table: list[str], columns: Columns, n_rows: int, times: str, query: str, *, nan: bool
) -> list[Any]:
    """The rows of a query of a table that is made for it; `table` are the parts of its name, in quotes.

    `nan` is whether the table has NaN beside NULL, in a database that knows NaN.
    """
    nan = nan and database != "sqlite"
    kinds = {name: _type(column, times) for name, column, _ in columns} or {'"nothing"': "DOUBLE"}
    values = [_values(column, cells, times, nan) for _, column, cells in columns] or [[None] * n_rows]
    return (_in_duckdb if database == "duckdb" else _in_sqlite)(table, kinds, values, query)


_TYPES = {"text": "VARCHAR", "bool": "BOOLEAN", "integer": "BIGINT", "float": "DOUBLE"}


def _type(column: Column, times: str) -> str:
    """The type of a column in DuckDB."""
    if column.is_category:
        return _TYPES[label_type(column.categories)]
    return "TIMESTAMP" if family(column) == "time" and times == "timestamp" else "DOUBLE"


def _values(column: Column, cells: Any, times: str, nan: bool) -> list[Any]:
    """The cells as parameters of a query: missing numbers are NULL, or with `nan` every other one NaN."""
    if column.is_category:
        return plain(cells)
    if _type(column, times) == "TIMESTAMP":
        texts = cells.astype("M8[us]").astype(str).tolist()
        return [None if text == "NaT" else text.replace("T", " ") for text in texts]
    values = [math.nan if value is None else float(value) for value in plain(cells)]
    return [
        None if math.isnan(value) and (i % 2 == 0 or not nan) else value for i, value in enumerate(values)
    ]


def _in_duckdb(table: list[str], kinds: dict[str, str], values: list[list[Any]], query: str) -> list[Any]:
    duckdb = optional_module("duckdb", "check= of SQL", "treewright[cli]")
    with duckdb.connect() as connection:
        if len(table) > 2:
            connection.execute(f"ATTACH ':memory:' AS {table[0]}")
        if len(table) > 1:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {'.'.join(table[:-1])}")
        cells = [
            f"unnest(${place}::{'VARCHAR' if kind == 'TIMESTAMP' else kind}[]::{kind}[]) AS {name}"
            for place, (name, kind) in enumerate(kinds.items(), start=1)
        ]
        connection.execute(f"CREATE TABLE {'.'.join(table)} AS SELECT {', '.join(cells)}", values)
        return list(connection.execute(query).fetchall())


def _in_sqlite(table: list[str], kinds: dict[str, str], values: list[list[Any]], query: str) -> list[Any]:
    affinities = {"DOUBLE": "REAL", "VARCHAR": "TEXT", "TIMESTAMP": "TEXT"}
    with closing(sqlite3.connect(":memory:")) as connection:
        if len(table) > 1:
            connection.execute(f"ATTACH ':memory:' AS {table[0]}")
        name = ".".join(table)
        columns = ", ".join(f"{name} {affinities.get(kind, 'INTEGER')}" for name, kind in kinds.items())
        connection.execute(f"CREATE TABLE {name} ({columns})")
        marks = ", ".join("?" * len(kinds))
        connection.executemany(f"INSERT INTO {name} VALUES ({marks})", zip(*values, strict=True))
        return connection.execute(query).fetchall()
