"""Duplicated rows: test rows that are copies of training rows, and copies within a table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treewright._text import count, percent
from treewright.advice import Advice
from treewright.encoding import Dataset

MANY_WITHIN = 0.1  # the share of rows that are copies of others
MANY_ACROSS = 0.15  # the share of test rows that are copies of training rows
LEAST_ROWS = 20
_ROOM = 100  # fewer possible rows per row than this make copies by chance


def duplicates_across(train: Dataset, test: Dataset) -> list[Advice]:
    """Test rows that are copies of training rows, the target included."""
    if test.n_rows < LEAST_ROWS or not _has_room(train):
        return []
    copies = int(np.isin(_hashes(test), _hashes(train)).sum())
    share = copies / test.n_rows
    if share <= MANY_ACROSS:
        return []
    return [
        Advice(
            "duplicates_across",
            f"{copies:,} of {count(test.n_rows, 'test row')} ({percent(share)}) are exact copies of training "
            "rows, target included, so the error on them says little about new rows",
            "remove duplicates before you split, or keep all rows of one subject in the same part",
            "remove duplicates from the table first, or test on rows of other subjects: --test FILE",
        )
    ]


def duplicates_within(data: Dataset) -> list[Advice]:
    """Rows that are copies of others of the same table, where these are many."""
    if data.n_rows < LEAST_ROWS or not _has_room(data):
        return []
    copies = data.n_rows - len(np.unique(_hashes(data)))
    share = copies / data.n_rows
    if share <= MANY_WITHIN:
        return []
    return [
        Advice(
            "duplicates",
            f"{copies:,} of {count(data.n_rows, 'row')} ({percent(share)}) are exact copies of others, while "
            "a certificate assumes independent rows",
            "remove duplicates if they are not separate observations",
            "remove duplicates from the table if they are not separate observations",
        )
    ]


def _hashes(data: Dataset) -> NDArray[np.uint64]:
    """A number for each row and its targets: equal for equal rows, hardly ever for others."""
    hashes = data.row_hashes
    if data.targets is None:
        return hashes
    for target in data.targets:
        bits = np.ascontiguousarray(target, np.float64).view(np.uint64)
        with np.errstate(over="ignore"):
            hashes = (hashes ^ (bits + np.uint64(0x9E3779B97F4A7C15))) * np.uint64(0xFF51AFD7ED558CCD)
            hashes = hashes ^ (hashes >> np.uint64(32))
    return hashes


def _has_room(data: Dataset) -> bool:
    """Whether so many different rows are possible that copies are unlikely to come by chance."""
    needed, room = float(np.log(_ROOM * max(data.n_rows, 1))), 0.0
    for j, column in enumerate(data.schema.columns):
        distinct = len(column.categories) or len(np.unique(data.column(j, slice(0, 10_000))))
        room += float(np.log(max(distinct, 1)))
        if room >= needed:
            return True
    return False
