"""Columns that hinder: row numbers, ids, too many categories, constant or mostly missing ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from treewright._arrays import Array
from treewright._text import amount, count, percent
from treewright.advice import Advice
from treewright.advising.naming import about_columns
from treewright.encoding import Dataset
from treewright.encoding.schema import Column

LEAST_ROWS = 20  # of a table, and known values of a column of ids
NEARLY_ALL = 0.95  # of the known values are distinct: ids
MANY_CATEGORIES, FEW_ROWS_EACH = 50, 5.0  # more values than this, with fewer rows for each
VERY_MANY_CATEGORIES = 1_000  # too many however many rows there are
LONG_NUMBER = 10_000_000  # integers of so many digits, all different, are ids
MOSTLY_MISSING, NEARLY_ALL_MISSING = 0.8, 0.99
_SAMPLE = 20_000  # values that quickly show that a column is not unique

Columns = list[tuple[Array, Column]]


def column_advice(
    data: Dataset, *, only_categories: bool = False, doubtful: Collection[str | None] = ()
) -> list[Advice]:
    """What is worth knowing about each column by itself, whatever the target is.

    With `only_categories` numbers are not checked; the rest costs next to nothing. `doubtful` columns have
    many categories because of how they were read, such as dates that were not recognised.
    """
    if data.n_rows < LEAST_ROWS:
        return []
    columns = [
        (data.column(j), column)
        for j, column in enumerate(data.schema.columns)
        if column.is_category or not only_categories
    ]
    numbering = {} if only_categories else dict(_row_numbers(columns))
    ids = dict(_ids(columns, numbering))
    shares = {column.name: float(column.type.is_unknown(values).mean()) for values, column in columns}
    missing = {name: f"{percent(share)} missing" for name, share in shares.items() if share >= MOSTLY_MISSING}
    empty = {name: fact for name, fact in missing.items() if shares[name] >= NEARLY_ALL_MISSING}
    skip = {*numbering, *ids, *missing, *doubtful}
    many = {name: fact for name, fact in _many_categories(columns) if name not in skip}
    return [
        *about_columns("row_number", numbering, "[numbers|number] the rows"),
        *about_columns(
            "id",
            ids,
            "[looks like an id|look like ids]: nearly every row has its own value, so what a split learns "
            "from [it|them] does not hold for new rows",
        ),
        *about_columns(
            "many_categories",
            many,
            "[has|have] very many categories: of all ways to group them some fit the training rows by chance",
            "group rare values, replace [it|them] by what is known about each value, or drop [it|them]",
            "group rare values in the table, or leave [it|them] out: {drop}",
        ),
        *about_columns("nearly_empty", empty, "[holds|hold] next to nothing"),
        *about_columns(
            "mostly_missing",
            {name: fact for name, fact in missing.items() if name not in empty},
            "[has|have] a value in few rows only: a split on [it|them] mostly tells whether there is one",
            "keep [it|them] if that is intended, or drop [it|them] from X",
            "keep [it|them] if that is intended; {drop} [leaves it|leave them] out",
        ),
        *about_columns(
            "constant",
            {column.name: "" for values, column in columns if _is_constant(values, column)},
            "[has|have] the same value in every row, so no split can use [it|them]",
        ),
    ]


def _row_numbers(columns: Columns) -> Iterator[tuple[str, str]]:
    """Columns that go from row to row in equal steps, with the step."""
    for values, column in columns:
        if not column.is_summable:
            continue
        with np.errstate(invalid="ignore", over="ignore"):  # infinite values have no steps
            step = float(values[1] - values[0])
            if step and _has_steps(values[:LEAST_ROWS], step) and _has_steps(values, step):
                yield column.name, f"in steps of {amount(step)}"


def _has_steps(values: Array, step: float) -> bool:
    return bool((np.abs(np.diff(values) - step) <= 1e-6 * abs(step)).all())


def _ids(columns: Columns, skip: Collection[str]) -> Iterator[tuple[str, str]]:
    """Columns of categories or integers that are nearly unique, with how many values they have."""
    for values, column in columns:
        if column.name in skip:
            continue
        if column.is_category and len(column.categories) >= LEAST_ROWS:
            known, distinct = _known_codes(values)
        elif column.is_summable and _are_integers(values[:LEAST_ROWS]):
            known = values[~np.isnan(values)]
            distinct = len(np.unique(known)) if _may_be_ids(known) else 0
        else:
            continue
        if len(known) >= LEAST_ROWS and distinct >= NEARLY_ALL * len(known):
            yield column.name, f"{count(distinct, 'value')} in {count(len(known), 'row')}"


def _known_codes(codes: Array) -> tuple[Array, int]:
    """The codes of the known categories of a column, and how many different ones occur."""
    known = codes[codes >= 0]
    return known, int(np.count_nonzero(np.bincount(known))) if known.size else 0


def _may_be_ids(known: NDArray[np.floating]) -> bool:
    """Whether numbers are integers that do not repeat, and are dense, increasing, or long, as ids are."""
    if len(known) < LEAST_ROWS or not _are_integers(known):
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


def _are_integers(values: NDArray[np.floating]) -> bool:
    """Whether all values are integers, or missing."""
    return bool(((np.floor(values) == values) | np.isnan(values)).all())


def _many_categories(columns: Columns) -> Iterator[tuple[str, str]]:
    """Columns of very many categories, with how many there are."""
    for codes, column in columns:
        if len(column.categories) <= MANY_CATEGORIES:
            continue
        known, distinct = _known_codes(codes)
        each = len(known) / max(distinct, 1)
        if distinct > VERY_MANY_CATEGORIES or (distinct > MANY_CATEGORIES and each < FEW_ROWS_EACH):
            yield column.name, f"{count(distinct, 'value')}, {each:.1f} rows for each"


def _is_constant(values: Array, column: Column) -> bool:
    """Whether all cells hold the same value, none of them missing."""
    if values[0] != values[-1] or column.type.is_unknown(values[:1])[0]:
        return False
    return bool((values == values[0]).all())
