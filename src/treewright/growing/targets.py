"""What is to be learnt: the criterion, and the targets that it can take."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset

_ALIASES = {"log_loss": "entropy"}
_MOST_ROWS = 2**31 - 1  # the core numbers them in 32 bits
_LARGEST_TARGET = 1e150  # beyond it squares leave the range of floating point
_LARGEST_SUM = 1e305  # of weighted squares, logarithms included


def criteria(task: Literal["classes", "numbers"] | None = None) -> list[str]:
    """The names of the criteria, of all or of one task.

    >>> criteria("numbers")
    ['absolute_error', 'poisson', 'squared_error']
    """
    return [name for name, of in _core.criteria() if task in (None, of)]


def targets_for(data: Dataset, criterion: str) -> dict[str, Any]:
    """The table and its targets as the core takes them, after the checks that depend on the criterion."""
    labels, numbers = _checked_targets(data, criterion)
    _check_categories(data)
    return {
        "columns": data.columns,
        "n_categories": data.schema.category_counts,
        "labels": labels,
        "n_classes": list(data.schema.block_widths) if labels is not None else [],
        "is_wide": data.schema.is_wide,
        "numbers": numbers,
        "weight": data.weight,
    }


def check_rows(data: Dataset) -> None:
    """Refuse rows that nothing can be learnt from, or more than the core can number."""
    if data.targets is None:
        raise ValueError("data has no target to learn; encode the table with target=")
    data.refuse_unknown_classes("data")
    if data.n_rows > _MOST_ROWS:
        raise ValueError(f"the table has {data.n_rows} rows; a tree can be grown from {_MOST_ROWS} at most")


def checked_criterion(criterion: str | None, data: Dataset) -> str:
    """The name of a criterion for the targets; their usual one where none is given."""
    task: Literal["classes", "numbers"] = "classes" if data.schema.predicts_classes else "numbers"
    if criterion is None:
        return "gini" if task == "classes" else "squared_error"
    name = _ALIASES.get(criterion, criterion) if isinstance(criterion, str) else ""
    own = criteria(task)
    if name not in own:
        known = ", ".join(sorted([*own, *(alias for alias, meant in _ALIASES.items() if meant in own)]))
        if name in criteria():
            raise ValueError(f"criterion {criterion!r} is not for {task}; those are: {known}")
        raise ValueError(f"criterion {criterion!r} is unknown; known for {task}: {known}")
    return name


def _checked_targets(
    data: Dataset, criterion: str
) -> tuple[NDArray[np.int32] | None, NDArray[np.float64] | None]:
    """The targets as labels or as numbers, after the checks that depend on the criterion."""
    targets = np.ascontiguousarray(data.targets)
    if data.schema.predicts_classes:
        return targets, None
    for target, numbers in zip(data.schema.targets, targets, strict=True):
        _check_numbers(target.name, numbers, data.weight, criterion)
    return None, targets


def _check_numbers(
    name: str, numbers: NDArray[np.float64], weight: NDArray[np.float64] | None, criterion: str
) -> None:
    """A target of numbers must leave room for the sums that a criterion makes of it."""
    low, high = float(numbers.min()), float(numbers.max())
    if max(-low, high) > _LARGEST_TARGET:
        raise ValueError(f"target {name!r} has numbers beyond ±{_LARGEST_TARGET:g}; scale it down")
    total = float(len(numbers)) if weight is None else float(weight.sum())
    spread = high - low
    if total * spread > _LARGEST_SUM / max(1.0, spread):
        raise ValueError(
            f"target {name!r} spreads over {spread:g} and the weights add up to {total:g}: the sum of "
            "squares leaves the range of floating point; scale the target or the weights down"
        )
    if criterion == "poisson":
        if low < 0:
            raise ValueError(
                f"target {name!r} has a negative number in row {numbers.argmin()}; poisson needs y >= 0"
            )
        counted = numbers > 0 if weight is None else (numbers > 0) & (weight > 0)
        if not counted.any():
            raise ValueError(f"target {name!r} is zero in every row; poisson needs a positive sum")
        share = numbers / total if weight is None else weight / total * numbers
        if not share[counted].all():  # the mean of its node would be zero, and the logarithm infinite
            row = int(np.argmax(counted & (share == 0)))
            raise ValueError(
                f"target {name!r}: row {row} counts for nothing beside the weights of the others; drop it"
            )


def _check_categories(data: Dataset) -> None:
    """Rows to learn from must have categories that the schema knows."""
    if data.schema.only_numbers:
        return
    for column, codes in zip(data.schema.columns, data.columns, strict=True):
        if column.kind == "category" and (codes < -1).any():
            row = int(np.argmax(codes < -1))
            raise ValueError(
                f"column {column.name!r} has a category in row {row} that the schema does not know"
            )
