"""The importance of the columns: gain, and permutation importance with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.encoding import Dataset
from treewright.explaining.importance import ColumnImportance, importance
from treewright.reporting.context import Context
from treewright.reporting.rounding import short
from treewright.reporting.samples import ROWS_IN_WORDS
from treewright.reporting.subject import gain_shares
from treewright.tree.oblique import asked_columns

N_REPEATS = 10  # of a permutation
MOST_PERMUTED = 20_000  # rows of a permutation; a larger sample is subsampled


def values(context: Context) -> dict[str, Any]:
    """Gain and permutation importance of the columns of the model, the most important first."""
    model, place = context.subject.model_tree, context.place
    gain = gain_shares(model)
    columns = np.array(asked_columns(model), np.int64)
    columns = columns[np.argsort(-gain[columns], kind="stable")]
    permuted: dict[int, ColumnImportance] = {}
    rows = "no rows were given, so there is only the gain on the training rows"
    note = (
        "The gain is measured on the training rows and is biased towards columns with many distinct values. "
        "Permutation importance is not, but correlated columns share their importance."
    )
    if context.full_samples:
        name, sample = list(context.full_samples.items())[-1]
        data = _subsample(sample.data, context.seed)
        options: dict[str, Any] = {
            "n_repeats": N_REPEATS,
            "random_state": context.seed,
            "delta": context.delta,
        }
        permuted = {each.position: each for each in importance(model, data, **options)}
        part = f"{data.n_rows:,} of " if data.n_rows < sample.data.n_rows else ""
        rows = f"on {part}the {sample.data.n_rows:,} {ROWS_IN_WORDS[name]}"
        if name == "train":
            note += " It was computed on the rows that the tree was grown from, which overstates it."
    return {
        "columns": [
            {"column": place[column], "gain": short(float(gain[column])), **_rise(permuted.get(column))}
            for column in columns.tolist()
        ],
        "rows": rows,
        "note": note,
    }


def _rise(column: ColumnImportance | None) -> dict[str, int | float | None]:
    """The rise of the loss and its interval; None where it is unknown."""
    numbers = {name: getattr(column, name, None) for name in ("permutation", "lower", "upper")}
    return {name: None if value is None else short(value) for name, value in numbers.items()}


def _subsample(data: Dataset, seed: int) -> Dataset:
    if data.n_rows <= MOST_PERMUTED:
        return data
    rows = np.random.default_rng(seed).choice(data.n_rows, MOST_PERMUTED, replace=False)
    kept = data.take(np.sort(rows))
    return kept if kept.total_weight > 0 else data
