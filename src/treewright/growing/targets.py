"""Targets: the criterion that suits them, checks of their range, and scaling by powers of two."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from treewright import _core
from treewright._arrays import Floats
from treewright._suggestions import checked_keywords, choices_text
from treewright.encoding import Dataset
from treewright.tree import Tree
from treewright.tree.number_losses import NUMBER_LOSSES

_ALIASES = {"log_loss": "entropy"}
_MOST_ROWS = 2**31 - 1  # the core numbers them in 32 bits
_LARGEST_TARGET = 1e150  # beyond it squares leave the range of floating point
_LARGEST_SUM = 1e305  # of weighted squares, logarithms included
_UNSCALED = 256  # exponents on either side of 0 that need no scaling
_LEAST_ORDER = 1000  # numbers below 2 ** -1000 lose digits


@checked_keywords
def criteria(task: Literal["classes", "numbers"] | None = None) -> list[str]:
    """The names of all criteria, or of those for one task.

    Parameters
    ----------
    task : {"classes", "numbers"}, optional
        The kind of the target.

    Examples
    --------
    >>> criteria("numbers")
    ['absolute_error', 'poisson', 'squared_error']
    """
    if task not in (None, "classes", "numbers"):
        raise ValueError(f"task {task!r} is unknown; known: {choices_text(task, ('classes', 'numbers'))}")
    return [name for name, of in _core.criteria() if task in (None, of)]


def targets_for(data: Dataset, criterion: str) -> dict[str, Any]:
    """The core's arguments for columns, targets and weights, checked for the criterion."""
    schema, targets = data.schema, np.ascontiguousarray(data.target_array)
    if not schema.predicts_classes:
        for target, numbers in zip(schema.targets, targets, strict=True):
            _check_numbers(target.name, numbers, data.weight, criterion)
    _check_categories(data)
    return {
        "columns": data.columns,
        "n_categories": schema.category_counts,
        "labels": targets if schema.predicts_classes else None,
        "n_classes": list(schema.block_widths) if schema.predicts_classes else [],
        "is_wide": schema.is_wide,
        "numbers": None if schema.predicts_classes else targets,
        "weight": data.weight,
    }


def check_rows(data: Dataset) -> None:
    """Refuse a dataset without targets, or with more rows than the core can index."""
    if data.targets is None:
        raise ValueError("data has no target to learn; encode the table with target=")
    data.refuse_unknown_classes("data")
    if data.n_rows > _MOST_ROWS:
        raise ValueError(f"the table has {data.n_rows} rows; a tree can be grown from {_MOST_ROWS} at most")


def checked_criterion(criterion: str | None, data: Dataset) -> str:
    """The canonical name of a criterion that suits the targets, or their default criterion."""
    task: Literal["classes", "numbers"] = "classes" if data.schema.predicts_classes else "numbers"
    if criterion is None:
        return "gini" if task == "classes" else "squared_error"
    name = _ALIASES.get(criterion, criterion) if isinstance(criterion, str) else ""
    own = criteria(task)
    if name not in own:
        known = sorted([*own, *(alias for alias, meant in _ALIASES.items() if meant in own)])
        if name in criteria():
            raise ValueError(
                f"criterion {criterion!r} is not for {task}; those are: {choices_text(criterion, known)}"
            )
        choices = choices_text(criterion, known)
        raise ValueError(f"criterion {criterion!r} is unknown; known for {task}: {choices}")
    return name


def _check_numbers(name: str, numbers: Floats, weight: Floats | None, criterion: str) -> None:
    """Refuse numbers whose sums the criterion cannot represent."""
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
    if NUMBER_LOSSES[criterion].is_of_counts:
        if low < 0:
            raise ValueError(
                f"target {name!r} has a negative number in row {numbers.argmin()}; {criterion} needs y >= 0"
            )
        counted = numbers > 0 if weight is None else (numbers > 0) & (weight > 0)
        if not counted.any():
            raise ValueError(f"target {name!r} is zero in every row; {criterion} needs a positive sum")
        share = numbers / total if weight is None else weight / total * numbers
        if not share[counted].all():  # the mean of its node would be zero, and the logarithm infinite
            row = int(np.argmax(counted & (share == 0)))
            raise ValueError(
                f"target {name!r}: row {row} counts for nothing beside the weights of the others; drop it"
            )


def _check_categories(data: Dataset) -> None:
    """Refuse training rows with categories outside the schema."""
    if data.schema.only_numbers:
        return
    for column, codes in zip(data.schema.columns, data.columns, strict=True):
        if column.is_category and (codes < -1).any():
            row = int(np.argmax(codes < -1))
            raise ValueError(
                f"column {column.name!r} has a category in row {row} that the schema does not know"
            )


@dataclass(frozen=True)
class Scale:
    """Powers of two by which targets and weights are multiplied, so that sums of squares neither overflow nor
    underflow; no digit is lost.
    """

    numbers: int = 0  # the exponents
    weights: int = 0

    @classmethod
    def of(cls, data: Dataset, *, weights_count: bool) -> Scale:
        """The scale of a table; weights that count as rows are not scaled.

        Only values far from 1 are scaled: tiny targets up, weights in either direction. Huge targets are
        refused elsewhere, because a tree cannot store their squares. Classes need no scale.

        >>> from treewright import encode
        >>> Scale.of(encode({"x": [1.0, 2.0]}, [0.0, 2.0**-500]), weights_count=False)
        Scale(numbers=499, weights=0)
        """
        if data.targets is None or data.schema.predicts_classes:
            return cls()
        weights = 0 if weights_count or data.weight is None else _exponent_to_one(data.weight)
        return cls(max(_exponent_to_one(data.target_array), 0), weights)

    def __bool__(self) -> bool:
        return self != Scale()

    def scale_rows(self, data: Dataset) -> Dataset:
        """The rows with scaled targets and weights."""
        weight = None if data.weight is None else np.ldexp(data.weight, self.weights)
        return data.with_targets(np.ldexp(data.target_array, self.numbers)).with_weight(weight)

    def scale_limits(self, options: Mapping[str, Any], criterion: str) -> dict[str, float]:
        """The limits in units of weight or gain, scaled like the rows."""
        exponents = {"_min_weight_leaf": self.weights, "_min_gain": self._loss_exponent(criterion)}
        return {name: float(np.ldexp(float(options[name]), n)) for name, n in exponents.items()}

    def _loss_exponent(self, criterion: str) -> int:
        """The exponent of a loss, which is a weight times a power of the target."""
        return self.weights + self.numbers * NUMBER_LOSSES[criterion].power

    def unscale(self, tree: Tree) -> Tree:
        """The tree of the original rows; losses too small for floating point become 0."""
        of_target = [self.weights, self.numbers, self._loss_exponent(tree.criterion)]
        exponents = np.tile(of_target, len(tree.schema.targets))
        with np.errstate(over="ignore"):
            statistic = np.ldexp(np.asarray(tree.statistic), -exponents)
        if not np.isfinite(statistic).all():
            raise ValueError(
                "weight: the loss of the targets, a weighted sum of squares or distances, overflows float64; "
                "divide the weights or the targets by a constant"
            )
        linear = tree.linear
        if linear is not None:
            linear = replace(
                linear,
                intercept=np.ldexp(linear.intercept, -self.numbers),
                coefficient=np.ldexp(linear.coefficient, -self.numbers),
                loss=np.ldexp(linear.loss, -self._loss_exponent("squared_error")),
            )
        return replace(tree, statistic=statistic, linear=linear)


def _exponent_to_one(values: Floats) -> int:
    """The exponent of two that scales the largest of some numbers to about 1; 0 where it is near enough, and
    limited so that the smallest number keeps its digits.
    """
    sizes = np.abs(values[values != 0])
    order = -math.frexp(float(sizes.max(initial=0.0)))[1]
    if abs(order) <= _UNSCALED:
        return 0
    return order if order > 0 else min(max(order, -_LEAST_ORDER - math.frexp(float(sizes.min()))[1]), 0)
