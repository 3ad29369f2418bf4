"""The tables of the benchmark `messy`: made ones, and the shared ones of numbers, categories and gaps."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks import c45
from benchmarks.category_tables import cells_as_array
from benchmarks.messy_makers import (
    churn,
    clicks,
    credit,
    houses,
    medical,
    retail,
    survey,
    tickets,
    titanic,
    weblog,
)
from benchmarks.messy_sheets import Messy

MADE = (
    credit,
    titanic,
    partial(titanic, leak=True),
    clicks,
    churn,
    houses,
    medical,
    weblog,
    survey,
    retail,
    tickets,
)
SHARED = {"crx": "credit approval (UCI)", "hypo": "hypothyroid (UCI)", "vote": "votes in Congress (UCI)"}


def tables(seed: int = 0) -> Iterator[Messy]:
    """The made tables, then the shared ones that are here."""
    for maker in MADE:
        yield maker(seed)
    for name, about in SHARED.items():
        if (c45.SHARED / f"{name}.train.csv").exists():
            yield shared(name, about)


def shared(name: str, about: str) -> Messy:
    """All rows of a shared table, those to learn from and those to test on, as they come."""
    texts = [(c45.SHARED / f"{name}.{part}.csv").read_text(encoding="utf-8") for part in ("train", "test")]
    text = texts[0] + texts[1].split("\n", 1)[1]
    rows = list(csv.DictReader(io.StringIO(text)))
    columns = {key: [row[key] or None for row in rows] for key in rows[0] if key != "class"}
    cleaned = {key: cells_as_array(c45.numbers(cells)) for key, cells in columns.items()}
    return Messy(name, about, text, "class", np.array([row["class"] for row in rows], dtype=object), cleaned)
