"""How far one value of a row must move to satisfy a condition, within what is allowed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import ceil, floor, inf, isfinite, isnan, nextafter
from typing import Any, NamedTuple

import numpy as np

from treewright import _core
from treewright._text import set_text
from treewright.encoding import Dataset
from treewright.encoding.schema import Column, Schema
from treewright.tree import Tree
from treewright.tree.conditions import Between, Condition

STEP = 0.01  # of the scale: how far above a threshold a readable number may be
_UNITS = (86_400e6, 3_600e6, 60e6, 1e6, 1e3)  # of a time in microseconds: a day, an hour, …


class Move(NamedTuple):
    """Where a value goes, as it is encoded, and what that costs."""

    value: float
    cost: float
    is_change: bool = True


@dataclass(frozen=True)
class Mover:
    """One value of a row, where it may go and what that costs."""

    column: Column
    value: float  # encoded: a number, or the code of a category
    scale: float = 1.0
    cost: float = 1.0
    costs: Mapping[int, float] = field(default_factory=dict)  # of new categories, by code, where they differ
    low: float = -inf
    high: float = inf
    direction: str | None = None
    allowed: frozenset[int] | None = None  # categories; None: all
    is_frozen: bool = False
    is_whole: bool = False
    may_be_missing: bool = False
    typical: float = 0.0  # for a value that was missing
    likely: tuple[int, ...] = ()  # categories, the most frequent first

    @property
    def is_missing(self) -> bool:
        """Whether the value is missing now."""
        return self.value == -1 if self.column.kind == "category" else isnan(self.value)

    def move(self, condition: Condition) -> Move | None:
        """The cheapest move that satisfies a condition; None where none is allowed."""
        array = np.array([int(self.value)]) if self.column.kind == "category" else np.array([self.value])
        if condition.holds(array, self.column.categories)[0]:
            return Move(self.value, 0.0, is_change=False)
        if self.is_frozen:
            return None
        to = (
            self._number(condition)
            if isinstance(condition, Between)
            else self._category(condition.categories)
        )
        if condition.missing and self.may_be_missing and (to is None or to.cost > self.cost):
            return Move(-1 if self.column.kind == "category" else float("nan"), self.cost)
        return to

    def shown(self, condition: Condition) -> Move:
        """The same move to a number that can be read, where one is near."""
        exact = self.move(condition)
        assert exact is not None
        if not isinstance(condition, Between) or condition.above is None or isnan(exact.value):
            return exact
        low, high = self._interval(condition)
        counts = self.is_whole and self.column.kind != "time"
        if counts or self.is_missing or exact.value != low or not isfinite(low) or low >= high:
            return exact
        most = min(high, condition.above + STEP * self.scale)
        number = self._round(condition.above, most)
        return Move(number, self._cost(number)) if low <= number <= high else exact

    def price(self, move: Move) -> float:
        """What a change costs, however far it goes."""
        return self.costs.get(int(move.value), self.cost) if self.column.kind == "category" else self.cost

    def limits(self) -> str:
        """What stands in the way, as the end of a sentence."""
        if self.is_frozen:
            return "is frozen"
        if self.column.kind == "category":
            names = [self.column.categories[code] for code in sorted(self.allowed or ())]
            return f"may only be in {set_text(names)}" if self.allowed is not None else "cannot be so"
        if self.direction is not None:
            return f"may only {self.direction}"
        if isfinite(self.low) or isfinite(self.high):
            low, high = (self.column.threshold_text(end) for end in (self.low, self.high))
            return f"must stay between {low} and {high}"
        return "would have to be missing" if not self.may_be_missing else "cannot be so"

    def _interval(self, condition: Between) -> tuple[float, float]:
        """The least and the greatest value that are allowed and satisfy the condition; none if they cross."""
        low, high = self.low, self.high
        if not self.is_missing and self.direction is not None:
            low, high = (
                (max(low, self.value), high) if self.direction == "increase" else (low, min(high, self.value))
            )
        if condition.above == inf:
            return inf, -inf
        if condition.above is not None:
            low = max(low, nextafter(condition.above, inf))
        if condition.upto is not None:
            high = min(high, condition.upto)
        if self.is_whole:
            low = float(ceil(low)) if isfinite(low) else low
            high = float(floor(high)) if isfinite(high) else high
        return low, high

    def _number(self, condition: Between) -> Move | None:
        low, high = self._interval(condition)
        if low > high:
            return None
        start = self.typical if self.is_missing else self.value
        value = min(max(start, low), high)
        if self.is_whole and isfinite(value):
            value = float(floor(value)) if floor(value) >= low else float(ceil(value))
        return Move(value, self._cost(value))

    def _category(self, names: Collection[Any]) -> Move | None:
        own = frozenset(names)
        codes = [
            code
            for code in (self.likely or range(len(self.column.categories)))
            if self.column.categories[code] in own and (self.allowed is None or code in self.allowed)
        ]
        if not codes:
            return None
        best = min(codes, key=lambda code: self.costs.get(code, self.cost))
        return Move(best, self.costs.get(best, self.cost))

    def _cost(self, value: float) -> float:
        """Of a number; a missing one is one scale away from all others."""
        return self.cost if self.is_missing else self.cost * (abs(value - self.value) / self.scale)

    def _round(self, above: float, most: float) -> float:
        if self.column.kind == "time":
            for unit in _UNITS:
                moment = (floor(above / unit) + 1) * unit
                if above < moment <= most:
                    return moment
            return nextafter(above, inf)
        if not (isfinite(most) and above < most):
            return nextafter(above, inf)
        return float(_core.readable(np.array([above]), np.array([nextafter(most, inf)]))[0])


def movers(
    tree: Tree,
    row: Dataset,
    costs: Mapping[str, Any] | None,
    frozen: Collection[str],
    ranges: Mapping[str, Any] | None,
    directions: Mapping[str, str] | None,
    whole: Collection[str],
    scales: Mapping[str, float] | None,
    data: Dataset | None,
    allow_missing: bool,
) -> list[Mover]:
    """What may become of each value of a row."""
    schema = tree.schema
    if isinstance(frozen, str) or isinstance(whole, str):
        raise ValueError("frozen and whole are collections of names, such as ['age']")
    given = {
        "costs": costs or {},
        "ranges": ranges or {},
        "directions": directions or {},
        "scales": scales or {},
    }
    for option, by_name in given.items():
        if not isinstance(by_name, Mapping):
            raise ValueError(f"{option} is {by_name!r}; it must be a dict by the names of columns")
    for option, names in {**given, "frozen": frozen, "whole": whole}.items():
        _check_names(schema, option, names)
    rules = []
    for j, column in enumerate(schema.columns):
        limits: dict[str, Any] = {
            "is_frozen": column.name in frozen,
            "is_whole": column.name in whole or column.kind == "time",
            "may_be_missing": allow_missing,
            **_costs(column, given["costs"].get(column.name, 1.0)),
            **_allowed(column, given["ranges"].get(column.name)),
            **_told(column, None if data is None else data.column(j)),
        }
        direction = given["directions"].get(column.name)
        if direction is not None:
            if direction not in ("increase", "decrease") or column.kind == "category":
                raise ValueError(
                    f"directions[{column.name!r}] is {direction!r}; a number may 'increase' or 'decrease'"
                )
            limits["direction"] = direction
        if column.name in given["scales"]:
            limits["scale"] = _positive(f"scales[{column.name!r}]", given["scales"][column.name])
        rules.append(Mover(column, row.column(j)[0].item(), **limits))
    return rules


def _check_names(schema: Schema, option: str, names: Collection[str]) -> None:
    known = frozenset(schema.names)
    for name in names:
        if name not in known:
            near = get_close_matches(str(name), schema.names, 1)
            hint = f"is {near[0]!r} meant?" if near else f"the columns are {set_text(schema.names, 10)}"
            raise ValueError(f"{option} names {name!r}, which is no column; {hint}")


def _positive(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if not number > 0 or not isfinite(number):
        raise ValueError(f"{name} is {value!r}; it must be a positive number")
    return number


def _costs(column: Column, given: Any) -> dict[str, Any]:
    name = f"costs[{column.name!r}]"
    if not isinstance(given, Mapping):
        return {"cost": _positive(name, given)}
    if column.kind != "category":
        raise ValueError(f"{name} is a dict; that is for categories, and {column.name!r} is a {column.kind}")
    return {"costs": {_code(column, name, key): _positive(name, cost) for key, cost in given.items()}}


def _allowed(column: Column, given: Any) -> dict[str, Any]:
    name = f"ranges[{column.name!r}]"
    if given is None:
        return {}
    if column.kind == "category":
        if isinstance(given, str) or not isinstance(given, Collection):
            raise ValueError(f"{name} is {given!r}; it must be a collection of categories")
        return {"allowed": frozenset(_code(column, name, category) for category in given)}
    low, high = ends(name, given, column)
    return {"low": low, "high": high}


def ends(name: str, given: Collection[Any], column: Column | None = None) -> tuple[float, float]:
    """The two ends of a range, where None has no end.

    >>> ends("ranges['age']", (18, None))
    (18.0, inf)
    """
    try:
        low, high = (
            end if value is None else _end(column or Column(""), value)
            for value, end in zip(given, (-inf, inf), strict=True)
        )
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} is {given!r}; it must be (low, high), either of which may be None"
        ) from None
    if not low <= high:
        raise ValueError(f"{name} is {given!r}; low must not be above high")
    return low, high


def _end(column: Column, value: Any) -> float:
    """One end of a range; of a time also as a date."""
    if column.kind == "time" and not isinstance(value, int | float):
        return float(np.datetime64(value, "us").astype(np.int64))
    return float(value)


def _code(column: Column, name: str, category: Any) -> int:
    try:
        return column.categories.index(category)
    except ValueError:
        raise ValueError(
            f"{name} names {category!r}; the categories of {column.name!r} are "
            f"{set_text(column.categories, 10)}"
        ) from None


def _told(column: Column, values: Any) -> dict[str, Any]:
    """What rows tell of a column: its scale and its middle; the frequency of its categories."""
    if values is None:
        return {}
    if column.kind == "category":
        counts = np.bincount(values[values >= 0], minlength=len(column.categories))
        return {"likely": tuple(np.argsort(-counts, kind="stable").tolist())}
    known = np.asarray(values, np.float64)
    known = known[np.isfinite(known)]
    if not known.size:
        return {}
    low, middle, high = np.quantile(known, (0.25, 0.5, 0.75))
    scale = next((float(s) for s in (high - low, known.std()) if s > 0 and isfinite(s)), 1.0)
    return {"scale": scale, "typical": float(middle)}
