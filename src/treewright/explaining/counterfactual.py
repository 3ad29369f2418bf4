"""The smallest change of a row that changes the answer."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from math import inf, isnan
from typing import Any, Literal

import numpy as np

from treewright._json import plain
from treewright._text import aligned
from treewright.encoding import Dataset
from treewright.explaining.moving import Move, Mover, ends, movers
from treewright.explaining.row import Cell, Row, one_row
from treewright.explaining.tables import html_table
from treewright.tree import Tree
from treewright.tree.evaluate import given_table
from treewright.tree.missing import refuse_rows_with_missing, refuse_sending
from treewright.tree.oblique import only_columns
from treewright.tree.rule_list import Condition, column_of, merged, paths
from treewright.tree.shortcuts import as_tree
from treewright.tree.wording import answer_in_words, escape, listed, word

Norm = Literal["distance", "columns"]


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
        raise ValueError(f"to is {to!r}; the classes are {listed(classes, 20)}")
    return frozenset(leaves[label == classes.index(to)].tolist())


_Moves = list[tuple[int, Condition, Move]]


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
        for condition in merged(conditions):
            j = position[condition.column]
            move = None if condition.never else rules[j].move(condition)
            if move is None:
                if not any(each.never for each in merged(conditions)):
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
        own = column_of(data, j)
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
        "otherwise" if to is None else word(to) if tree.schema.predicts_classes else _interval_in_words(*to)
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
