"""The smallest change of a row that changes the answer."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import ceil, floor, inf, isfinite, isnan, nextafter
from typing import Any, Literal, NamedTuple

import numpy as np

from treewright import _core
from treewright._json import plain
from treewright._text import aligned, escape, label_text, set_text
from treewright.encoding import Dataset
from treewright.encoding.schema import Column, Schema
from treewright.explaining.row import Cell, Row, one_row
from treewright.explaining.tables import html_table
from treewright.tree import Tree
from treewright.tree.conditions import Between, Condition, merge_conditions
from treewright.tree.evaluate import given_table
from treewright.tree.missing import refuse_rows_with_missing, refuse_sending
from treewright.tree.oblique import only_columns
from treewright.tree.rule_list import paths
from treewright.tree.shortcuts import as_tree
from treewright.tree.wording import answer_in_words

Norm = Literal["distance", "columns"]
STEP = 0.01  # fraction of the scale by which a readable number may exceed its threshold
_UNITS = (86_400e6, 3_600e6, 60e6, 1e6, 1e3)  # a day, an hour, a minute … in microseconds


@dataclass(frozen=True)
class Change:
    """One column that changes."""

    column: str
    before: Any  # None where the value was missing
    after: Any
    words: str  # what changes, for people
    cost: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {name: plain(value) for name, value in vars(self).items()}


@dataclass(frozen=True)
class Counterfactual:
    """The smallest change of a row that changes the answer of a tree, or why there is none."""

    answer: Hashable  # for the row as it is
    new_answer: Hashable | None  # for the changed row, as the tree gives it; None where there is no way
    changes: tuple[Change, ...]
    distance: float  # the sum of the costs of the changes; infinite where there is no way
    row: Mapping[str, Any]  # the changed row, with all columns that came; None where a value is missing
    measure: str  # how changes were measured, in words
    reason: str | None = None  # why there is no way

    @property
    def possible(self) -> bool:
        """Whether some allowed change leads to the answer that is wanted."""
        return self.reason is None

    def _lines(self) -> tuple[str, list[list[str]], list[str]]:
        old = answer_in_words(self.answer)
        if self.reason is not None:
            return f"The answer is {old}, and no allowed change makes it another: {self.reason}.", [], []
        if not self.changes:
            return f"The answer is {old} already; nothing has to change.", [], []
        told = f"The answer is {old}. It becomes {answer_in_words(self.new_answer)} if"
        lines = [[change.words, f"{change.cost:.3g}"] for change in self.changes]
        return told, lines, [f"distance {self.distance:.3g}: {self.measure}"]

    def __str__(self) -> str:
        told, lines, rest = self._lines()
        return "\n".join([told, *(f"  {line}" for line in aligned(lines, right=(1,)) if lines), *rest])

    def _repr_html_(self) -> str:
        told, lines, rest = self._lines()
        return html_table([told, "cost" if lines else ""], lines, (1,), rest)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        facts = {name: plain(value) for name, value in vars(self).items() if name != "changes"}
        return {**facts, "possible": self.possible, "changes": [change.to_dict() for change in self.changes]}


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
    """The smallest change of a row that changes the answer of a tree.

    It is exact: in each leaf that gives the wanted answer the nearest point is known, column by column, and
    the nearest of all leaves is taken. The changed row is sent through the tree before it is returned.

    Where a tree sends missing values by surrogates or down both sides, the row must have all values that the
    tree tests.

    The distance is the sum over the columns of ``costs[column] · |change| / scale``; a change of a category,
    or from or to a missing value, counts as one scale. The scale of a column is the middle half of its values
    in `data` (the interquartile range; where that is 0 the standard deviation), or 1 without data.

    Parameters
    ----------
    model : Tree or fitted estimator
        A tree of one target.
    row : dict, one-row table, list, array or Dataset
        The row; by name only the columns that the tree tests are needed.
    to : class, or (low, high), optional
        The class that is wanted; for numbers the interval, an end of which may be None. By default any answer
        but the present one.
    costs : dict, optional
        What a change of one scale costs, by column, 1 by default; for a category also a dict by the new one.
    frozen : collection of str
        Columns that cannot change.
    ranges : dict, optional
        Allowed values by column: (low, high), an end of which may be None; for a category those allowed.
    directions : dict, optional
        By column "increase" or "decrease": the only way in which it can change.
    whole : collection of str
        Columns whose new values are whole numbers.
    scales : dict, optional
        Scales by column, instead of those of the data.
    data : Dataset, table or tuple (table, target), optional
        Rows that tell the scales, such as those of the training.
    norm : {"distance", "columns"}
        What is made smallest: the distance, or first the cost of the columns that change, however far.
    allow_missing : bool
        Whether a value may become missing.
    readable : bool
        To be above a threshold a number goes to the roundest one within a hundredth of the scale; False: to
        the very next number that a computer knows. The leaf is chosen by the latter in any case.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"age": [20, 30, 40, 50], "debt": [9, 9, 1, 9]}, ["no", "no", "yes", "no"]))
    >>> print(counterfactual(tree, {"age": 40, "debt": 9}))
    The answer is no. It becomes yes if
      debt falls from 9 to 5   4
    distance 4: the sum of the changes, each as it is
    >>> print(counterfactual(tree, {"age": 40, "debt": 9}, frozen=["debt"]))
    The answer is no, and no allowed change makes it another: the only leaf that answers yes needs a change \
of debt, which is frozen.
    """
    tree = as_tree(model)
    only_columns(tree, "counterfactual is for trees that test one column at a time")
    if len(tree.schema.targets) > 1:
        raise ValueError(f"counterfactual is for one target; this tree has {len(tree.schema.targets)}")
    if norm not in ("distance", "columns"):
        raise ValueError(f"norm is {norm!r}; it must be 'distance' or 'columns'")
    asked = one_row(tree, row)
    refuse_rows_with_missing(tree, asked.data, "what is asked", "give a value to start from")
    if allow_missing:
        refuse_sending(tree, "allow_missing=True has no nearest change there;")
    leaf = int(tree.apply(asked.data)[0])
    wanted = _wanted(tree, leaf, to)
    data = None if data is None else given_table(tree, data, "data")
    rules = movers(tree, asked.data, costs, frozen, ranges, directions, whole, scales, data, allow_missing)
    measure = _measure(norm, data is not None, bool(scales))
    if leaf in wanted:
        return Counterfactual(
            _answer(tree, leaf), _answer(tree, leaf), (), 0.0, _values(asked, tree), measure
        )
    best, moves, blocked = _nearest(tree, wanted, rules, norm)
    if best is None:
        reason = _reason(tree, wanted, blocked, rules, to)
        return Counterfactual(_answer(tree, leaf), None, (), inf, _values(asked, tree), measure, reason)
    steps = [rules[j].shown(condition) if readable else move for j, condition, move in moves]
    changed = _changed(asked.data, dict(zip((j for j, _, _ in moves), steps, strict=True)))
    if int(tree.apply(changed)[0]) != best:
        raise RuntimeError(f"the changed row does not reach leaf {best}; please report this")
    after = Row(changed, asked.unseen, given=asked.given)
    changes = tuple(
        _change(rules[j], asked.cell(j), after.cell(j), move.cost)
        for (j, _, _), move in zip(moves, steps, strict=True)
    )
    distance = sum(change.cost for change in changes)
    return Counterfactual(
        _answer(tree, leaf), _answer(tree, best), changes, distance, _values(after, tree), measure
    )


def _wanted(tree: Tree, leaf: int, to: Any) -> frozenset[int]:
    """The leaves that give an answer that is wanted."""
    leaves = np.flatnonzero(tree.is_leaf)
    if not tree.schema.predicts_classes:
        value = tree.value[leaves, 0]
        if to is None:
            return frozenset(leaves[value != tree.value[leaf, 0]].tolist())
        low, high = ends("to", to)
        return frozenset(leaves[(value >= low) & (value <= high)].tolist())
    label = tree.label[leaves, 0]
    if to is None:
        return frozenset(leaves[label != tree.label[leaf, 0]].tolist())
    classes = tree.schema.targets[0].classes or ()
    if not isinstance(to, Hashable) or to not in classes:
        raise ValueError(f"to is {to!r}; the classes are {set_text(classes, 20)}")
    return frozenset(leaves[label == classes.index(to)].tolist())


def _nearest(
    tree: Tree, wanted: frozenset[int], rules: list[Mover], norm: Norm
) -> tuple[int | None, _Moves, dict[int, int]]:
    """The nearest leaf, the moves to it, and how often each column stood in the way."""
    position = {name: j for j, name in enumerate(tree.schema.names)}
    best, best_moves, least = None, [], (inf, inf)
    blocked: dict[int, int] = {}
    for leaf, conditions in paths(tree):
        if leaf not in wanted:
            continue
        moves: _Moves = []
        distance = price = 0.0
        for condition in merge_conditions(conditions):
            j = position[condition.column]
            move = None if condition.never else rules[j].move(condition)
            if move is None:
                if not any(each.never for each in merge_conditions(conditions)):
                    blocked[j] = blocked.get(j, 0) + 1
                break
            if move.is_change:
                moves.append((j, condition, move))
                distance += move.cost
                price += rules[j].price(move)
        else:
            size = (distance, price) if norm == "distance" else (price, distance)
            if best is None or size < least:
                best, best_moves, least = leaf, moves, size
    return best, best_moves, blocked


def _changed(data: Dataset, moves: Mapping[int, Move]) -> Dataset:
    columns = []
    for j, column in enumerate(data.schema.columns):
        own = data.column(j)
        if j in moves:
            own = np.array([moves[j].value], np.int32 if column.kind == "category" else np.float64)
        columns.append(own)
    return Dataset(data.schema, tuple(columns))


def _values(row: Row, tree: Tree) -> dict[str, Any]:
    used = set(tree.feature[~tree.is_leaf].tolist())
    cells = {name: row.cell(j) for j, name in enumerate(tree.schema.names)}
    return {
        name: cell.value
        for j, (name, cell) in enumerate(cells.items())
        if j in used or row.given is None or name in row.given
    }


def _answer(tree: Tree, leaf: int) -> Hashable:
    if not tree.schema.predicts_classes:
        return float(tree.value[leaf, 0])
    classes = tree.schema.targets[0].classes or ()
    return classes[int(tree.label[leaf, 0])]


def _change(rule: Mover, before: Cell, after: Cell, cost: float) -> Change:
    name = escape(rule.column.name)
    if isinstance(before.value, float) and isinstance(after.value, float) and not isnan(before.value):
        verb = "rises" if after.value > before.value else "falls"
    elif rule.column.kind == "time" and before.known and after.known:
        verb = "moves"
    else:
        verb = "changes"
    return Change(
        rule.column.name,
        before.value,
        after.value,
        f"{name} {verb} from {before.words} to {after.words}",
        cost,
    )


def _measure(norm: Norm, by_data: bool, by_hand: bool) -> str:
    each = "in scales of its own" if by_hand else "in interquartile ranges" if by_data else "as it is"
    told = f"the sum of the changes, each {each}"
    return f"{told}, of as few columns as can be" if norm == "columns" else told


def _reason(
    tree: Tree, wanted: frozenset[int], blocked: Mapping[int, int], rules: list[Mover], to: Any
) -> str:
    """Why no leaf can be reached."""
    what = (
        "otherwise"
        if to is None
        else label_text(to)
        if tree.schema.predicts_classes
        else _interval_in_words(*to)
    )
    if not wanted:
        return f"no leaf of the tree answers {what}"
    if not blocked:
        return f"no row at all can reach the leaves that answer {what}"
    j = max(blocked, key=lambda j: (blocked[j], -j))
    column = f"{escape(rules[j].column.name)}, which {rules[j].limits()}"
    n_leaves = sum(blocked.values())  # that a row can reach
    answers = {_answer(tree, leaf) for leaf in wanted}
    if to is None and len(answers) == 1:
        what = answer_in_words(answers.pop())
    if n_leaves == 1:
        return f"the only leaf that answers {what} needs a change of {column}"
    each = f"each of the {n_leaves:,} leaves that answer {what}"
    if len(blocked) == 1:
        return f"{each} needs a change of {column}"
    return f"{each} needs a change that is not allowed, mostly of {column}"


def _interval_in_words(low: Any, high: Any) -> str:
    if low is None or high is None:
        return "any number" if low is high else f"{low} or more" if high is None else f"{high} or less"
    return f"between {low} and {high}"


class Move(NamedTuple):
    """Where a value goes, as it is encoded, and what that costs."""

    value: float
    cost: float
    is_change: bool = True


_Moves = list[tuple[int, Condition, Move]]  # position of the column, condition to satisfy, move


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
