"""Columns that hinder: row numbers, ids, too many categories, constant or mostly missing ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from treewright._text import amount, count, percent
from treewright.advice import Advice
from treewright.advising.naming import about_columns, drop_options, leave_out
from treewright.encoding import Dataset
from treewright.encoding.schema import Column

LEAST_ROWS = 20  # of a table of which anything can be said, and known values of a column of ids
NEARLY_ALL = 0.95  # of the known values are distinct: ids
MANY_CATEGORIES, FEW_ROWS_EACH = 50, 5.0  # more values than this, with fewer rows for each
VERY_MANY_CATEGORIES = 1_000  # too many however many rows there are
LONG_NUMBER = 10_000_000  # whole numbers of so many digits, all different, are ids
MOSTLY_MISSING, NEARLY_ALL_MISSING = 0.8, 0.99
_SAMPLE = 20_000  # values that tell quickly that a column is not unique


def column_advice(
    data: Dataset, *, only_categories: bool = False, explained: Collection[str | None] = ()
) -> list[Advice]:
    """What is worth knowing about each column by itself, whatever the target is.

    With `only_categories` numbers are not looked at: what remains costs next to nothing. Of `explained`
    columns it is known why they have many categories, such as dates that could not be read.
    """
    if data.n_rows < LEAST_ROWS:
        return []
    columns = [
        (j, column)
        for j, column in enumerate(data.schema.columns)
        if column.is_category or not only_categories
    ]
    numbering = {} if only_categories else dict(_row_numbers(data))
    ids = dict(_ids(data, columns, set(numbering)))
    empty = {column.name: share for column, share in _missing(data, columns) if share >= MOSTLY_MISSING}
    told = {*numbering, *ids, *empty, *explained}
    many = [found for found in _many_categories(data, columns) if found[0] not in told]
    return [
        *about_columns("row_number", list(numbering.items()), ("numbers", "number"), " the rows"),
        *about_columns(
            "id",
            list(ids.items()),
            ("looks like an id", "look like ids"),
            f": nearly every row has its own value, so what a split learns from {_them(list(ids.items()))} "
            "does not hold for new rows",
        ),
        *_many_advice(many),
        *_missing_advice(empty),
        *_constant_advice([(column.name, "") for j, column in columns if _is_constant(data.column(j))]),
    ]


def _row_numbers(data: Dataset) -> Iterator[tuple[str, str]]:
    """Columns that go from row to row in equal steps, with the step."""
    for j, column in enumerate(data.schema.columns):
        values = data.column(j)
        if not column.is_summable or len(values) < LEAST_ROWS:
            continue
        with np.errstate(invalid="ignore", over="ignore"):
            step = float(values[1] - values[0])
        if not step or not _steps_are(values[:LEAST_ROWS], step) or not _steps_are(values, step):
            continue
        yield column.name, f"in steps of {amount(step)}"


def _steps_are(values: NDArray[np.floating], step: float) -> bool:
    with np.errstate(invalid="ignore", over="ignore"):  # infinite values have no steps
        return bool((np.abs(np.diff(values) - step) <= 1e-6 * abs(step)).all())


def _ids(data: Dataset, columns: list[tuple[int, Column]], skipped: set[str]) -> Iterator[tuple[str, str]]:
    """Columns of categories or whole numbers that are nearly unique, with how many values they have."""
    for j, column in columns:
        if column.name in skipped or not (column.is_category or column.is_summable):
            continue
        values = data.column(j)
        if column.is_category:
            if len(column.categories) < max(LEAST_ROWS, NEARLY_ALL * LEAST_ROWS):
                continue
            known = values[values >= 0]
            distinct = int(np.count_nonzero(np.bincount(known))) if known.size else 0
        else:
            if not _are_whole(values[:LEAST_ROWS][~np.isnan(values[:LEAST_ROWS])]):
                continue
            known = values[~np.isnan(values)]
            distinct = len(np.unique(known)) if _may_be_ids(known) else 0
        if len(known) >= LEAST_ROWS and distinct >= NEARLY_ALL * len(known):
            yield column.name, f"{count(distinct, 'value')} in {count(len(known), 'row')}"


def _may_be_ids(known: NDArray[np.floating]) -> bool:
    """Whether numbers are whole, and dense, rising from row to row, or long, as ids are; and not repeated."""
    if len(known) < LEAST_ROWS or not _are_whole(known[:LEAST_ROWS]) or not _are_whole(known):
        return False
    least, most = float(known.min()), float(known.max())
    if not np.isfinite(most - least):
        return False
    if most - least + 1 < NEARLY_ALL * len(known):
        return False  # not enough different numbers
    is_dense = most - least < 2 * len(known)
    is_long = min(abs(least), abs(most)) >= LONG_NUMBER and least * most > 0
    if not (is_dense or is_long or bool((np.diff(known) > 0).all())):
        return False
    sample = known[:: max(1, len(known) // _SAMPLE)]
    return len(np.unique(sample)) >= NEARLY_ALL * len(sample)


def _are_whole(values: NDArray[np.floating]) -> bool:
    return bool((np.floor(values) == values).all())


def _many_categories(data: Dataset, columns: list[tuple[int, Column]]) -> Iterator[tuple[str, str]]:
    """Columns of very many categories, with how many there are."""
    for j, column in columns:
        if len(column.categories) <= MANY_CATEGORIES:
            continue
        codes = data.column(j)
        known = codes[codes >= 0]
        distinct = int(np.count_nonzero(np.bincount(known))) if known.size else 0
        each = len(known) / max(distinct, 1)
        if distinct > VERY_MANY_CATEGORIES or (distinct > MANY_CATEGORIES and each < FEW_ROWS_EACH):
            yield column.name, f"{count(distinct, 'value')}, {each:.1f} rows for each"


def _many_advice(found: list[tuple[str, str]]) -> list[Advice]:
    them = _them(found)
    return about_columns(
        "many_categories",
        found,
        ("has very many categories", "have very many categories"),
        ": of all ways to group them some fit the training rows by chance",
        in_python=f"group rare values, replace {them} by what is known about each value, or drop {them}",
        on_command_line=f"group rare values in the table, or leave {them} out: {drop_options(_names(found))}",
    )


def _missing(data: Dataset, columns: list[tuple[int, Column]]) -> Iterator[tuple[Column, float]]:
    """Columns with the share of their cells that is missing."""
    for j, column in columns:
        values = data.column(j)
        yield column, int(np.count_nonzero(column.type.is_unknown(values))) / max(len(values), 1)


def _missing_advice(shares: dict[str, float]) -> list[Advice]:
    """Of columns with next to nothing in them, and of those that only rarely have a value."""
    empty = [(name, _missing_word(share)) for name, share in shares.items() if share >= NEARLY_ALL_MISSING]
    mostly = [(name, _missing_word(share)) for name, share in shares.items() if share < NEARLY_ALL_MISSING]
    rare, it = ("has a value in few rows only", "have a value in few rows only"), _them(mostly)
    return [
        *about_columns("nearly_empty", empty, ("holds next to nothing", "hold next to nothing"), ""),
        *about_columns(
            "mostly_missing",
            mostly,
            rare,
            f": a split on {it} mostly tells whether there is one",
            in_python=f"keep {it} if that is meant, or drop {it} from X",
            on_command_line=f"keep {it} if that is meant; {leave_out(_names(mostly))}",
        ),
    ]


def _missing_word(share: float) -> str:
    return f"{percent(share)} missing"


def _constant_advice(found: list[tuple[str, str]]) -> list[Advice]:
    rest = f" the same value in every row, so no split can use {_them(found)}"
    return about_columns("constant", found, ("has", "have"), rest)


def _them(found: list[tuple[str, str]]) -> str:
    return "it" if len(found) == 1 else "them"


def _names(found: list[tuple[str, str]]) -> list[str]:
    return [name for name, _ in found]


def _is_constant(values: NDArray[np.generic]) -> bool:
    """Whether all cells hold the same value, none of them missing."""
    if not len(values) or values[0] != values[-1]:
        return False
    return bool((values == values[0]).all()) and not (values.dtype.kind == "i" and values[0] < 0)
