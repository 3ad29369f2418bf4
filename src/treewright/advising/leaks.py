"""Columns that alone answer nearly everything: possible leaks of the target, and copies of it.

A one-column tree is grown from half of the rows and judged by the other half, both ways, so that ids, which
fit their own rows perfectly, do not look like leaks. Only columns that pass a cheap necessary condition, from
the counts of the target in each bin of the column, are grown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from treewright._text import percent, quote
from treewright.advice import Advice
from treewright.advising.naming import about_columns, drop_options
from treewright.encoding import Dataset
from treewright.encoding.splits import split
from treewright.growing import grow
from treewright.tree.predict import answers

MOST_ROWS = 20_000  # that are looked at
MOST_CELLS = 4_000_000  # of wide tables, from as few as 2,000 rows
FEWEST_OF_WIDE = 2_000
LEAST_ROWS = 40
NEARLY_ALL = 0.95  # of the error that a column removes alone
LEAST_BASE = 0.03  # a smaller share of mistakes of the majority is nothing to remove
LEAST_MISTAKES = 10  # of the majority, in rows
_GUARD = 2  # mistakes added to those seen: of small tables little is known
_LIKELY = 0.85  # of the cheap condition, which is rough for numbers
_MOST_GROWN = 20  # columns whose trees are grown
_COPY_AGREES = 0.99  # of the rows, for classes
_COPY_CORRELATION = 0.9999  # of numbers
_MOST_COUNTED = 100_000  # cells of a table of groups by classes that is counted as a whole
_COARSE = 8  # bits to the right of the 256 coarse bins


@dataclass(frozen=True)
class _Reach:
    """How much of the error of a constant answer one column removes."""

    position: int
    share: float
    error: float  # of the one-column tree, for classes
    base: float


def leak_advice(data: Dataset) -> list[Advice]:
    """Columns that may tell the target because they are made from it, or come after it."""
    if data.targets is None or len(data.schema.targets) > 1 or data.n_counted < LEAST_ROWS:
        return []
    rows = _sample(data)
    if (base := _base(rows)) is None:
        return []
    found = [reach for j in _candidates(rows, base) if (reach := _reach(rows, j)).share >= NEARLY_ALL]
    copies = [reach for reach in found if _is_copy(rows, reach.position)]
    others = [reach for reach in found if reach not in copies]
    return [*_copy_advice(rows, copies), *_leak_advice(rows, others)]


def _copy_advice(data: Dataset, found: list[_Reach]) -> list[Advice]:
    named = [(data.schema.columns[reach.position].name, "") for reach in found]
    target = quote(data.schema.targets[0].name)
    return about_columns(
        "target_copy",
        named,
        ("is", "are"),
        f" the target {target} in other words (the values go together one to one)",
    )


def _leak_advice(data: Dataset, found: list[_Reach]) -> list[Advice]:
    is_classes, target = data.schema.predicts_classes, quote(data.schema.targets[0].name)
    named = [
        (
            data.schema.columns[reach.position].name,
            f"error {percent(reach.error)} instead of {percent(reach.base)}"
            if is_classes
            else f"{percent(reach.share)} of the variance",
        )
        for reach in found
    ]
    names, it = [name for name, _ in named], "it" if len(named) == 1 else "they"
    is_known = "its value is" if len(named) == 1 else "their values are"
    them = "it" if len(named) == 1 else "them"
    return about_columns(
        "leak",
        named,
        ("alone predicts", "each alone predict"),
        f" nearly all of {target}: a leak, if {it} came after the target or from it",
        in_python=f"drop {them} from X unless {is_known} known before the target is",
        on_command_line=f"{drop_options(names)}, unless {is_known} known before the target is",
    )


def _sample(data: Dataset) -> Dataset:
    """The rows that are looked at: all that count, or some of them at equal distances."""
    rows = data.counted
    if data.schema.predicts_classes:
        rows = rows[data.target_array[0][rows] >= 0]  # none of a class that the schema does not know
    most = max(FEWEST_OF_WIDE, min(MOST_ROWS, MOST_CELLS // max(data.n_columns, 1)))
    chosen = rows[np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(np.intp)]
    return replace(data.take(chosen), weight=None)


def _base(data: Dataset) -> float | None:
    """What the best constant answer loses per row; None where there is next to nothing to explain."""
    target = data.target_array[0]
    if not data.schema.predicts_classes:
        with np.errstate(over="ignore", invalid="ignore"):
            spread = float(target.var())
        return spread if 0 < spread < np.inf else None
    mistakes = len(target) - int(np.bincount(target).max())
    enough = mistakes >= max(LEAST_MISTAKES, LEAST_BASE * len(target))
    return mistakes / len(target) if enough else None


def _candidates(data: Dataset, base: float) -> list[int]:
    """The columns whose bins could explain so much, the best first; each costs one pass over the rows."""
    bins, _ = data.bins()
    likely = []
    for j, column in enumerate(data.schema.columns):
        codes = data.column(j).astype(np.int64) + 2 if column.is_category else bins[:, j] >> _COARSE
        share = _explained(data, codes.astype(np.int64), base)
        if share >= _LIKELY:
            likely.append((-share, j))
    return [j for _, j in sorted(likely)[:_MOST_GROWN]]


def _explained(data: Dataset, group: NDArray[np.int64], base: float) -> float:
    """Which share of the constant answer's loss goes if each group has an answer of its own."""
    target = data.target_array[0]
    if not data.schema.predicts_classes:
        rows = np.bincount(group)
        centred = target - target.mean()
        sums = np.bincount(group, centred)
        within = float(centred @ centred) - float((sums**2 / np.maximum(rows, 1)).sum())
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
    """What a small tree of one column, grown from half of the rows, removes of the loss on the other half."""
    column = data.narrowed([position])
    halves = split(column, (0.5, 0.5), seed=0)
    n_classes = len(data.schema.targets[0].classes or ())
    leaves = min(64, max(16, 2 * n_classes))
    lost = base = 0.0
    for grown, judged in (halves, halves[::-1]):
        said, truth = answers(grow(grown, max_leaf_nodes=leaves), judged)[:, 0], judged.target_array[0]
        if data.schema.predicts_classes:
            lost += int(np.sum(said != truth))
        else:
            lost += float(np.sum((said - truth) ** 2))
            base += float(np.sum((truth - truth.mean()) ** 2))
    if data.schema.predicts_classes:
        base = (_base(data) or 0.0) * data.n_rows
    guard = _GUARD if data.schema.predicts_classes else 0
    return _Reach(position, 1 - (lost + guard) / max(base, 1e-300), lost / data.n_rows, base / data.n_rows)


def _is_copy(data: Dataset, position: int) -> bool:
    """Whether the values of a column and the target go together one to one."""
    values, target = data.column(position), data.target_array[0]
    kind = data.schema.columns[position].type
    known = ~kind.is_unknown(values)
    values, target = values[known], target[known]
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
