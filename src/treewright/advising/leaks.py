"""Columns that alone predict nearly everything: possible leaks of the target, and copies of it.

A one-column tree is grown from half of the rows and evaluated on the other half, both ways, so that ids,
which fit their own rows perfectly, do not look like leaks. Only columns that pass a cheap condition, from the
counts of the target in each bin of the column, are tried.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from treewright._arrays import Ints
from treewright._text import percent, quote
from treewright.advice import Advice
from treewright.advising.naming import about_columns
from treewright.encoding import Dataset
from treewright.encoding.splits import split
from treewright.growing import grow
from treewright.tree.predict import answers

MOST_ROWS = 20_000  # of the sample
MOST_CELLS = 4_000_000  # of wide tables, from as few as 2,000 rows
FEWEST_OF_WIDE = 2_000
LEAST_ROWS = 40
NEARLY_ALL = 0.95  # of the error that a column removes alone
LEAST_BASE = 0.03  # share of rows outside the majority class; less is nothing to explain
LEAST_MISTAKES = 10  # the same in rows
_GUARD = 2  # mistakes added to those observed, for small tables
_LIKELY = 0.85  # the share in the cheap condition, which is rough for numbers
_MOST_GROWN = 20  # columns whose trees are grown
_COPY_AGREES = 0.99  # of the rows, for classes
_COPY_CORRELATION = 0.9999  # of numbers
_MOST_COUNTED = 100_000  # cells of a dense table of groups by classes
_COARSE = 8  # bits of a bin below the 256 coarse bins


@dataclass(frozen=True)
class _Reach:
    """How much of the error of the best constant prediction one column removes."""

    name: str
    position: int
    share: float
    fact: str  # the same in words


def leak_advice(data: Dataset) -> list[Advice]:
    """Columns that may tell the target because they are made from it, or come after it."""
    if data.targets is None or len(data.schema.targets) > 1 or data.n_counted < LEAST_ROWS:
        return []
    rows = _sample(data)
    if (base := _base(rows)) is None:
        return []
    found = [reach for j in _candidates(rows, base) if (reach := _reach(rows, j)).share >= NEARLY_ALL]
    copies = [reach for reach in found if _is_copy(rows, reach.position)]
    target = quote(data.schema.targets[0].name)
    return [
        *about_columns(
            "target_copy",
            {reach.name: "" for reach in copies},
            "[is|are] the target {target} in other words (the values go together one to one)",
            target=target,
        ),
        *about_columns(
            "leak",
            {reach.name: reach.fact for reach in found if reach not in copies},
            "[alone predicts|each alone predict] nearly all of {target}: a leak, if [it|they] came after the "
            "target or from it",
            "drop [it|them] from X unless [its value is|their values are] known before the target is",
            "{drop}, unless [its value is|their values are] known before the target is",
            target=target,
        ),
    ]


def _sample(data: Dataset) -> Dataset:
    """All rows of positive weight, or some of them at equal distances."""
    rows = data.counted
    if data.schema.predicts_classes:
        rows = rows[data.target_array[0][rows] >= 0]  # none of a class that the schema does not know
    most = max(FEWEST_OF_WIDE, min(MOST_ROWS, MOST_CELLS // max(data.n_columns, 1)))
    places = np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(np.intp)
    return replace(data.take(rows[places]), weight=None)


def _base(data: Dataset) -> float | None:
    """The error per row of the best constant prediction; None if there is next to nothing to explain."""
    target = data.target_array[0]
    if not data.schema.predicts_classes:
        with np.errstate(over="ignore", invalid="ignore"):
            spread = float(target.var())
        return spread if 0 < spread < np.inf else None
    mistakes = len(target) - int(np.bincount(target).max())
    enough = mistakes >= max(LEAST_MISTAKES, LEAST_BASE * len(target))
    return mistakes / len(target) if enough else None


def _candidates(data: Dataset, base: float) -> list[int]:
    """The columns whose bins may explain enough, the best first; each takes one pass over the rows."""
    bins, _ = data.bins()
    likely = []
    for j, column in enumerate(data.schema.columns):
        codes = data.column(j).astype(np.int64) + 2 if column.is_category else bins[:, j] >> _COARSE
        share = _share_by_group(data, codes.astype(np.int64), base)
        if share >= _LIKELY:
            likely.append((-share, j))
    return [j for _, j in sorted(likely)[:_MOST_GROWN]]


def _share_by_group(data: Dataset, group: Ints, base: float) -> float:
    """The share of the error of a constant prediction that one prediction per group removes."""
    target = data.target_array[0]
    if not data.schema.predicts_classes:
        rows, deviation = np.bincount(group), target - target.mean()
        sums = np.bincount(group, deviation)
        within = float(deviation @ deviation) - float((sums**2 / np.maximum(rows, 1)).sum())
        return 1 - within / len(target) / base
    n_classes, n_groups = int(target.max()) + 1, int(group.max()) + 1
    if n_classes * n_groups <= _MOST_COUNTED:
        cells = np.bincount(group * n_classes + target, minlength=n_classes * n_groups)
        best = cells.reshape(n_groups, n_classes).max(axis=1)
    else:
        pairs, rows = np.unique(group * n_classes + target, return_counts=True)
        best = np.zeros(n_groups, np.int64)
        np.maximum.at(best, pairs // n_classes, rows)
    return 1 - (len(target) - int(best.sum())) / len(target) / base


def _reach(data: Dataset, position: int) -> _Reach:
    """What a small tree of one column removes of the error on rows that it was not grown from."""
    halves = split(data.select_columns([position]), (0.5, 0.5), random_state=0)
    n_classes = len(data.schema.targets[0].classes or ())
    leaves = min(64, max(16, 2 * n_classes))
    error = base = 0.0
    for training, test in (halves, halves[::-1]):
        predicted, truth = answers(grow(training, max_leaf_nodes=leaves), test)[:, 0], test.target_array[0]
        if n_classes:
            error += int(np.sum(predicted != truth))
        else:
            error += float(np.sum((predicted - truth) ** 2))
            base += float(np.sum((truth - truth.mean()) ** 2))
    name = data.schema.columns[position].name
    if not n_classes:
        share = 1 - error / max(base, 1e-300)
        return _Reach(name, position, share, f"{percent(share)} of the variance")
    base = (_base(data) or 0.0) * data.n_rows
    share = 1 - (error + _GUARD) / max(base, 1e-300)
    fact = f"error {percent(error / data.n_rows)} instead of {percent(base / data.n_rows)}"
    return _Reach(name, position, share, fact)


def _is_copy(data: Dataset, position: int) -> bool:
    """Whether the values of a column and the target go together one to one."""
    values, target = data.column(position), data.target_array[0]
    kind = data.schema.columns[position].type
    is_known = ~kind.is_unknown(values)
    values, target = values[is_known], target[is_known]
    if len(values) < _COPY_AGREES * data.n_rows:
        return False
    if not data.schema.predicts_classes:
        if kind.is_category or not np.isfinite(values).all() or values.min() == values.max():
            return False
        scale = float(np.abs(values).max())
        values = values / scale
        return abs(float(np.corrcoef(values, target)[0, 1])) >= _COPY_CORRELATION
    distinct, value = np.unique(values, return_inverse=True)
    if len(distinct) != len(np.unique(target)):
        return False
    cells = np.zeros((len(distinct), int(target.max()) + 1), np.int64)
    np.add.at(cells, (value, target), 1)
    best = cells.argmax(axis=1)
    agrees = int(cells.max(axis=1).sum()) >= _COPY_AGREES * data.n_rows
    return agrees and len(np.unique(best)) == len(distinct)
