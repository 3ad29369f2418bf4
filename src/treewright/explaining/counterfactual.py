"""Counterfactual explanations: the smallest change of a row that changes the prediction."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from math import ceil, floor, inf, isfinite, isnan, nextafter
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright._display import Layout, Record, TableResult
from treewright._suggestions import choices_text
from treewright._text import aligned, escape, label_text, number_text, set_text
from treewright.encoding import Dataset
from treewright.encoding.schema import Column, Schema
from treewright.explaining.row import Cell, Row, name_hint, one_row
from treewright.parameters import documented
from treewright.tree import Tree
from treewright.tree.conditions import Between, Condition, Within, merge_conditions
from treewright.tree.evaluate import given_table
from treewright.tree.missing import refuse_rows_with_missing, refuse_sending
from treewright.tree.oblique import only_columns
from treewright.tree.rule_list import paths
from treewright.tree.shortcuts import as_tree
from treewright.tree.wording import answer_in_words

Norm = Literal["distance", "columns"]
STEP = 0.01  # fraction of the scale by which a readable number may exceed its threshold


@dataclass(frozen=True)
class Change(Record):
    """One column that changes."""

    column: str
    before: Any  # None where the value was missing
    after: Any
    words: str  # the change as text
    cost: float


@dataclass(frozen=True)
class Counterfactual(TableResult):
    """The smallest change of a row that changes the prediction of a tree, or the reason why there is none."""

    prediction: Hashable  # for the row as it is
    new_prediction: Hashable | None  # of the tree for the changed row; None if no change is possible
    changes: tuple[Change, ...]
    distance: float  # the sum of the costs of the changes; infinite if no change is possible
    row: Mapping[str, Any]  # the changed row, with all columns that were given; None for a missing value
    measure: str  # how the distance is measured
    reason: str | None = None  # why no change is possible

    @property
    def possible(self) -> bool:
        """Whether an allowed change leads to the wanted prediction."""
        return self.reason is None

    def _layout(self) -> Layout:
        old = answer_in_words(self.prediction)
        if self.reason is not None:
            return Layout([f"The prediction is {old}, and no allowed change alters it: {self.reason}."])
        if not self.changes:
            return Layout([f"The prediction is already {old}; nothing has to change."])
        above = [f"The prediction is {old}. It becomes {answer_in_words(self.new_prediction)} if"]
        rows = [[change.words, number_text(change.cost, 3)] for change in self.changes]
        below = [f"distance {number_text(self.distance, 3)}: {self.measure}"]
        return Layout(above, ["change", "cost"], rows, (1,), below)

    def __str__(self) -> str:
        layout = self._layout()
        changes = aligned(layout.rows, right=layout.right)
        return "\n".join([*layout.above, *(f"  {line}" for line in changes), *layout.below])

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, and `possible`."""
        return {**super().to_dict(), "possible": self.possible}


@documented
def counterfactual(
    model: Any,
    row: Any,
    *,
    to: Any = None,
    costs: Mapping[str, Any] | None = None,
    frozen: Collection[str] = (),
    ranges: Mapping[str, Any] | None = None,
    directions: Mapping[str, str] | None = None,
    whole: Collection[str] = (),
    scales: Mapping[str, float] | None = None,
    data: Any = None,
    norm: Norm = "distance",
    allow_missing: bool = False,
    readable: bool = True,
) -> Counterfactual:
    """The counterfactual of a row: its smallest change that changes the prediction of a tree.

    The result is exact: a leaf is a box, its nearest point is found column by column, and the nearest leaf
    with the wanted prediction is chosen. The changed row is sent through the tree before it is returned.

    If the tree sends missing values by surrogates or down both sides, the row must have a value in every
    column that the tree tests.

    The distance is the sum over the columns of ``costs[column] · |change| / scale``; a change of a category,
    or from or to a missing value, counts as one scale. The scale of a column is its interquartile range in
    `data` (the standard deviation where that is 0), or 1 without data.

    Parameters
    ----------
    model : Tree or fitted estimator
        A tree with one target.
    row : dict, one-row table, list, array or Dataset
        The row. A dict needs only the columns that the tree tests.
    to : class, or (low, high), optional
        The wanted class; for numbers the wanted interval, either end of which may be None. By default any
        other prediction.
    costs : dict, optional
        Cost of a change by one scale, by column (default 1); for categories also a dict.
    frozen : collection of str
        Columns that cannot change.
    ranges : dict, optional
        Allowed values by column: (low, high), either of which may be None; for a categorical column a
        collection of categories.
    directions : dict, optional
        By column "increase" or "decrease": the only direction in which it may change.
    whole : collection of str
        Columns whose new values are whole numbers.
    scales : dict, optional
        Scales by column, used instead of those of `data`.
    data : Dataset, table or tuple (table, target), optional
        Rows from which the scales are computed, such as the training rows.
    norm : {"distance", "columns"}
        What is minimised: the distance, or first the total cost of the columns that change, however far.
    allow_missing : bool
        Whether a value may become missing.
    readable : bool
        Whether a number that must exceed a threshold becomes the roundest one within a hundredth of the
        scale; False: the next floating-point number. The leaf is chosen by the latter in any case.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"age": [20, 30, 40, 50], "debt": [9, 9, 1, 9]}, ["no", "no", "yes", "no"]))
    >>> print(counterfactual(tree, {"age": 40, "debt": 9}))
    The prediction is no. It becomes yes if
      debt falls from 9 to 5   4
    distance 4: the sum of the changes, each in its own unit
    >>> print(counterfactual(tree, {"age": 40, "debt": 9}, frozen=["debt"]))
    The prediction is no, and no allowed change alters it: the only leaf that predicts yes needs a change of \
debt, which is frozen.
    """
    tree = as_tree(model)
    only_columns(tree, "counterfactual is for trees that test one column at a time")
    if len(tree.schema.targets) > 1:
        raise ValueError(f"counterfactual is for one target; this tree has {len(tree.schema.targets)}")
    if norm not in ("distance", "columns"):
        raise ValueError(f"norm is {norm!r}; it must be 'distance' or 'columns'")
    start = one_row(tree, row)
    refuse_rows_with_missing(tree, start.data, "row", "give a value to start from")
    if allow_missing:
        refuse_sending(tree, "allow_missing=True has no nearest change there;")
    leaf = int(tree.apply(start.data)[0])
    targets = _target_leaves(tree, leaf, to)
    data = None if data is None else given_table(tree, data, "data")
    by_column = costs or {}, ranges or {}, directions or {}, scales or {}
    columns = column_moves(Limits(*by_column, frozen, whole, data, allow_missing), start.data)
    unchanged = Counterfactual(
        prediction=_prediction(tree, leaf),
        new_prediction=_prediction(tree, leaf),
        changes=(),
        distance=0.0,
        row=_values(start, tree),
        measure=_measure(norm, data is not None, bool(scales)),
    )
    if leaf in targets:
        return unchanged
    best, moves, blocked = _nearest(tree, targets, columns, norm)
    if best is None:
        reason = _reason(tree, targets, blocked, columns, to)
        return replace(unchanged, new_prediction=None, distance=inf, reason=reason)
    if readable:
        moves = [(j, condition, columns[j].readable_move(condition, move)) for j, condition, move in moves]
    new_row = _with_moves(start.data, {j: move for j, _, move in moves})
    if int(tree.apply(new_row)[0]) != best:
        raise RuntimeError(f"the changed row does not reach leaf {best}; please report this")
    after = Row(new_row, start.unseen, names=start.names)
    changes = tuple(_change(columns[j], start.cell(j), after.cell(j), move.cost) for j, _, move in moves)
    return replace(
        unchanged,
        new_prediction=_prediction(tree, best),
        changes=changes,
        distance=sum(change.cost for change in changes),
        row=_values(after, tree),
    )


def _target_leaves(tree: Tree, leaf: int, to: Any) -> frozenset[int]:
    """The leaves with a prediction that `to` asks for."""
    leaves = np.flatnonzero(tree.is_leaf)
    if not tree.schema.predicts_classes:
        value = tree.value[leaves, 0]
        if to is None:
            return frozenset(leaves[value != tree.value[leaf, 0]].tolist())
        low, high = interval_ends("to", to)
        return frozenset(leaves[(value >= low) & (value <= high)].tolist())
    label = tree.label[leaves, 0]
    if to is None:
        return frozenset(leaves[label != tree.label[leaf, 0]].tolist())
    classes = tree.schema.targets[0].classes or ()
    if not isinstance(to, Hashable) or to not in classes:
        raise ValueError(f"to is {to!r}; the classes are {choices_text(to, classes, in_quotes=True)}")
    return frozenset(leaves[label == classes.index(to)].tolist())


def _nearest(
    tree: Tree, targets: frozenset[int], columns: list[ColumnMoves], norm: Norm
) -> tuple[int | None, _Moves, dict[int, int]]:
    """The nearest leaf, the moves to it, and how many leaves each column blocks."""
    position = {name: j for j, name in enumerate(tree.schema.names)}
    best, best_moves, least = None, [], (inf, inf)
    blocked: dict[int, int] = {}
    for leaf, conditions in paths(tree):
        if leaf not in targets:
            continue
        moves: _Moves = []
        distance = price = 0.0
        for condition in merge_conditions(conditions):
            j = position[condition.column]
            move = None if condition.never else columns[j].move(condition)
            if move is None:
                if not any(each.never for each in merge_conditions(conditions)):
                    blocked[j] = blocked.get(j, 0) + 1
                break
            if move.is_change:
                moves.append((j, condition, move))
                distance += move.cost
                price += columns[j].price(move)
        else:
            size = (distance, price) if norm == "distance" else (price, distance)
            if best is None or size < least:
                best, best_moves, least = leaf, moves, size
    return best, best_moves, blocked


def _with_moves(data: Dataset, moves: Mapping[int, Move]) -> Dataset:
    columns = [
        np.array([moves[j].value], column.type.dtype) if j in moves else data.column(j)
        for j, column in enumerate(data.schema.columns)
    ]
    return Dataset(data.schema, tuple(columns))


def _values(row: Row, tree: Tree) -> dict[str, Any]:
    tests = set(tree.feature[~tree.is_leaf].tolist())
    return {
        name: row.cell(j).value
        for j, name in enumerate(tree.schema.names)
        if j in tests or row.names is None or name in row.names
    }


def _prediction(tree: Tree, leaf: int) -> Hashable:
    if not tree.schema.predicts_classes:
        return float(tree.value[leaf, 0])
    classes = tree.schema.targets[0].classes or ()
    return classes[int(tree.label[leaf, 0])]


def _change(moves: ColumnMoves, before: Cell, after: Cell, cost: float) -> Change:
    column = moves.column
    if isinstance(before.value, float) and isinstance(after.value, float) and not isnan(before.value):
        verb = "rises" if after.value > before.value else "falls"
    else:
        verb = "moves" if before.known and after.known and not column.type.has_categories else "changes"
    words = f"{escape(column.name)} {verb} from {before.words} to {after.words}"
    return Change(column.name, before.value, after.value, words, cost)


def _measure(norm: Norm, by_data: bool, by_hand: bool) -> str:
    each = "in the given scales" if by_hand else "in interquartile ranges" if by_data else "in its own unit"
    text = f"the sum of the changes, each {each}"
    return f"{text}, in as few columns as possible" if norm == "columns" else text


def _reason(
    tree: Tree, targets: frozenset[int], blocked: Mapping[int, int], columns: list[ColumnMoves], to: Any
) -> str:
    """Why none of the leaves can be reached."""
    what = "another value"
    if to is not None:
        what = label_text(to) if tree.schema.predicts_classes else _interval_in_words(*to)
    if not targets:
        return f"no leaf of the tree predicts {what}"
    if not blocked:
        return f"no row can reach the leaves that predict {what}"
    j = max(blocked, key=lambda j: (blocked[j], -j))
    column = f"{escape(columns[j].column.name)}, which {columns[j].limits()}"
    n_leaves = sum(blocked.values())  # that a row can reach
    predictions = {_prediction(tree, leaf) for leaf in targets}
    if to is None and len(predictions) == 1:
        what = answer_in_words(predictions.pop())
    if n_leaves == 1:
        return f"the only leaf that predicts {what} needs a change of {column}"
    each = f"each of the {n_leaves:,} leaves that predict {what}"
    if len(blocked) == 1:
        return f"{each} needs a change of {column}"
    return f"{each} needs a change that is not allowed, mostly of {column}"


def _interval_in_words(low: Any, high: Any) -> str:
    if low is None or high is None:
        return "any number" if low is high else f"{low} or more" if high is None else f"{high} or less"
    return f"between {low} and {high}"


class Move(NamedTuple):
    """The new value, encoded, and what the change costs."""

    value: float
    cost: float
    is_change: bool = True


_Moves = list[tuple[int, Condition, Move]]  # position of the column, condition to satisfy, move


class Limits(NamedTuple):
    """What the caller allows, by the names of columns, and the rows that the scales come from."""

    costs: Mapping[str, Any]
    ranges: Mapping[str, Any]
    directions: Mapping[str, str]
    scales: Mapping[str, float]
    frozen: Collection[str]
    whole: Collection[str]
    data: Dataset | None
    allow_missing: bool

    def check(self, schema: Schema) -> None:
        """Options of the wrong type, and names that are no columns, are refused."""
        if isinstance(self.frozen, str) or isinstance(self.whole, str):
            raise ValueError("frozen and whole are collections of names, such as ['age']")
        for option, names in list(self._asdict().items())[:6]:
            if option not in ("frozen", "whole") and not isinstance(names, Mapping):
                raise ValueError(f"{option} is {names!r}; it must be a dict by the names of columns")
            for name in names:
                if name not in schema.names:
                    hint = name_hint(str(name), schema.names, "the columns are")
                    raise ValueError(f"{option} names {name!r}, which is no column{hint}")


def column_moves(limits: Limits, row: Dataset) -> list[ColumnMoves]:
    """The allowed moves of each value of a row."""
    limits.check(row.schema)
    columns = []
    for j, column in enumerate(row.schema.columns):
        values = None if limits.data is None else limits.data.column(j)
        kind = CategoryMoves if column.type.has_categories else NumberMoves
        columns.append(kind.of(column, row.column(j)[0].item(), limits, values))
    return columns


@dataclass(frozen=True)
class ColumnMoves:
    """One value of a row: which values it may take instead, and at what cost."""

    column: Column
    value: float  # encoded: a number, or the code of a category
    is_frozen: bool
    may_be_missing: bool
    cost: float = 1.0

    @classmethod
    def of(cls, column: Column, value: float, limits: Limits, values: Any) -> ColumnMoves:
        """The moves of a column; `values` are those of the rows that the scales come from."""
        name = column.name
        cost = limits.costs.get(name, 1.0)
        own: dict[str, Any] = {} if isinstance(cost, Mapping) else {"cost": _positive("costs", name, cost)}
        own |= cls._options(column, limits, values)
        return cls(column, value, name in limits.frozen, limits.allow_missing, **own)

    @staticmethod
    def _options(column: Column, limits: Limits, values: Any) -> dict[str, Any]:
        raise NotImplementedError

    @property
    def is_missing(self) -> bool:
        """Whether the value is missing in the given row."""
        return bool(self.column.type.is_missing(self._cell)[0])

    @property
    def _cell(self) -> NDArray[Any]:
        return np.array([self.value], self.column.type.dtype)

    def move(self, condition: Condition) -> Move | None:
        """The cheapest move that satisfies a condition; None where none is allowed."""
        if condition.holds(self._cell, self.column.categories)[0]:
            return Move(self.value, 0.0, is_change=False)
        if self.is_frozen:
            return None
        to = self._cheapest(condition)
        if condition.missing and self.may_be_missing and (to is None or to.cost > self.cost):
            return Move(self.column.type.missing, self.cost)
        return to

    def _cheapest(self, condition: Any) -> Move | None:
        raise NotImplementedError

    def readable_move(self, condition: Any, exact: Move) -> Move:
        """The same move to a round number, where one is near."""
        return exact

    def price(self, move: Move) -> float:
        """What a change costs, regardless of its size."""
        return self.cost

    def limits(self) -> str:
        """What forbids the change, as the end of a sentence."""
        return "is frozen" if self.is_frozen else self._limits()

    def _limits(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class NumberMoves(ColumnMoves):
    """Moves of a number or a time."""

    scale: float = 1.0
    low: float = -inf
    high: float = inf
    direction: str | None = None
    is_whole: bool = False
    typical: float = 0.0  # median, the starting point of a missing value

    @staticmethod
    def _options(column: Column, limits: Limits, values: Any) -> dict[str, Any]:
        name = column.name
        own: dict[str, Any] = {"is_whole": name in limits.whole or column.type.is_whole}
        known = np.asarray([] if values is None else values, np.float64)
        known = known[np.isfinite(known)]
        if known.size:
            low, own["typical"], high = np.quantile(known, (0.25, 0.5, 0.75)).tolist()
            own["scale"] = next((float(s) for s in (high - low, known.std()) if s > 0 and isfinite(s)), 1.0)
        if isinstance(limits.costs.get(name), Mapping):
            raise ValueError(
                f"costs[{name!r}] is a dict; that is for categories, and {name!r} is a {column.kind}"
            )
        if name in limits.scales:
            own["scale"] = _positive("scales", name, limits.scales[name])
        if limits.ranges.get(name) is not None:
            own["low"], own["high"] = interval_ends(f"ranges[{name!r}]", limits.ranges[name], column)
        own["direction"] = limits.directions.get(name)
        if own["direction"] not in (None, "increase", "decrease"):
            _refuse_direction(name, own["direction"])
        return own

    def readable_move(self, condition: Between, exact: Move) -> Move:
        """The same move to a round number, where one is near."""
        if condition.above is None or isnan(exact.value):
            return exact
        low, high = self._interval(condition)
        is_integer = self.is_whole and not self.column.type.is_whole
        if is_integer or self.is_missing or exact.value != low or not isfinite(low) or low >= high:
            return exact
        most = min(high, condition.above + STEP * self.scale)
        number = self.column.type.round_value(condition.above, most)
        return Move(number, self._cost(number)) if low <= number <= high else exact

    def _limits(self) -> str:
        if self.direction is not None:
            return f"may only {self.direction}"
        if isfinite(self.low) or isfinite(self.high):
            low, high = (self.column.threshold_text(end) for end in (self.low, self.high))
            return f"must stay between {low} and {high}"
        return "cannot take such a value" if self.may_be_missing else "would have to be missing"

    def _interval(self, condition: Between) -> tuple[float, float]:
        """The smallest and the largest allowed value that satisfy the condition; none if they cross."""
        low, high = self.low, self.high
        if condition.above == inf:
            return inf, -inf
        if not self.is_missing and self.direction == "increase":
            low = max(low, self.value)
        if not self.is_missing and self.direction == "decrease":
            high = min(high, self.value)
        if condition.above is not None:
            low = max(low, nextafter(condition.above, inf))
        if condition.upto is not None:
            high = min(high, condition.upto)
        if self.is_whole:
            low = float(ceil(low)) if isfinite(low) else low
            high = float(floor(high)) if isfinite(high) else high
        return low, high

    def _cheapest(self, condition: Between) -> Move | None:
        low, high = self._interval(condition)
        if low > high:
            return None
        start = self.typical if self.is_missing else self.value
        value = min(max(start, low), high)
        if self.is_whole and isfinite(value):
            value = float(floor(value)) if floor(value) >= low else float(ceil(value))
        return Move(value, self._cost(value))

    def _cost(self, value: float) -> float:
        """The cost of a new number; a missing value is one scale away from all numbers."""
        return self.cost if self.is_missing else self.cost * (abs(value - self.value) / self.scale)


@dataclass(frozen=True)
class CategoryMoves(ColumnMoves):
    """Moves of a category; any change costs the same, or by the new category."""

    costs: Mapping[int, float] = field(default_factory=dict)  # by code, where it is not `cost`
    codes: frozenset[int] | None = None  # of the allowed categories; None: all
    likely: tuple[int, ...] = ()  # codes, the most frequent first

    @staticmethod
    def _options(column: Column, limits: Limits, values: Any) -> dict[str, Any]:
        own: dict[str, Any] = {}
        name = column.name
        costs, some = limits.costs.get(name), limits.ranges.get(name)
        if values is not None:
            counts = np.bincount(values[values >= 0], minlength=len(column.categories))
            own["likely"] = tuple(np.argsort(-counts, kind="stable").tolist())
        if name in limits.directions:
            _refuse_direction(name, limits.directions[name])
        if name in limits.scales:
            _positive("scales", name, limits.scales[name])
        if isinstance(costs, Mapping):
            own["costs"] = {
                _code(column, "costs", each): _positive("costs", name, cost) for each, cost in costs.items()
            }
        if some is not None:
            if isinstance(some, str) or not isinstance(some, Collection):
                raise ValueError(f"ranges[{name!r}] is {some!r}; it must be a collection of categories")
            own["codes"] = frozenset(_code(column, "ranges", category) for category in some)
        return own

    def price(self, move: Move) -> float:
        """What a change costs: by the new category."""
        return self.costs.get(int(move.value), self.cost)

    def _limits(self) -> str:
        if self.codes is None:
            return "cannot take such a value"
        return f"may only be in {set_text([self.column.categories[code] for code in sorted(self.codes)])}"

    def _cheapest(self, condition: Within) -> Move | None:
        names = frozenset(condition.categories)
        codes = [
            code
            for code in (self.likely or range(len(self.column.categories)))
            if self.column.categories[code] in names and (self.codes is None or code in self.codes)
        ]
        best = min(codes, key=lambda code: self.costs.get(code, self.cost), default=None)
        return None if best is None else Move(best, self.costs.get(best, self.cost))


def _positive(option: str, name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if not number > 0 or not isfinite(number):
        raise ValueError(f"{option}[{name!r}] is {value!r}; it must be a positive number")
    return number


def _refuse_direction(name: str, direction: Any) -> None:
    raise ValueError(f"directions[{name!r}] is {direction!r}; a number may 'increase' or 'decrease'")


def interval_ends(name: str, ends: Collection[Any], column: Column | None = None) -> tuple[float, float]:
    """The two ends of a range; None is infinite.

    >>> interval_ends("ranges['age']", (18, None))
    (18.0, inf)
    """
    try:
        low, high = (
            end if value is None else (column or Column("")).type.parse_threshold(value)
            for value, end in zip(ends, (-inf, inf), strict=True)
        )
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {ends!r}; it must be (low, high), either of which may be None") from None
    if not low <= high:
        raise ValueError(f"{name} is {ends!r}; low must not be above high")
    return low, high


def _code(column: Column, option: str, category: Any) -> int:
    try:
        return column.categories.index(category)
    except ValueError:
        raise ValueError(
            f"{option}[{column.name!r}] names {category!r}; the categories of {column.name!r} are "
            f"{set_text(column.categories, 10)}"
        ) from None
