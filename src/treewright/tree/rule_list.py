"""The value `RuleList`: an ordered list of rules (a decision list); the first that fits a row predicts."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright._arrays import Array, Flags, Floats, Int32s, Ints
from treewright._display import Layout, Shown
from treewright.encoding.rows import encoded_rows, rows_to_predict
from treewright.encoding.schema import Column, Schema
from treewright.tree.class_counts import SparseRows
from treewright.tree.conditions import Condition, Within, merge_conditions
from treewright.tree.missing import columns_with_missing, refuse_sending
from treewright.tree.oblique import Direction, tested_columns, with_directions
from treewright.tree.tree import Tree, as_array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Conditions, or categories named in them, of all paths of a tree together: more would not fit in memory.
MOST_CONDITIONS = 10_000_000


@dataclass(frozen=True)
class Rule:
    """If all conditions hold, the class or the number is `label`.

    `rows` and `weights` are the number of the training rows for which the rule predicts in its list, and
    their weight by class. `error` is the estimated error of the rule by itself, on all rows that it fits; for
    numbers the mean loss.
    """

    conditions: tuple[Condition, ...]
    label: Hashable
    rows: int
    weights: tuple[tuple[Hashable, float], ...]  # (class, weight) of the classes that are there
    error: float
    of_numbers: float = 0.0  # the weight of the rows where the label is a number

    @property
    def weight(self) -> float:
        """The weight of the training rows for which the rule predicts."""
        return self.of_numbers or sum(weight for _, weight in self.weights)

    @property
    def errors(self) -> float:
        """The weight of those that it misclassifies; for numbers their loss."""
        if self.of_numbers:
            return self.error * self.of_numbers
        return sum(weight for label, weight in self.weights if label != self.label)

    def to_dict(self) -> dict[str, Any]:
        """Plain values: text, numbers, lists and dicts."""
        return {
            "conditions": [condition.to_dict() for condition in self.conditions],
            "label": self.label,
            "rows": self.rows,
            "weight": self.weight,
            "weights": [{"class": label, "weight": weight} for label, weight in self.weights],
            "error": self.error,
        }


@dataclass(frozen=True)
class RuleList(Shown):
    """Rules in an order: the first that fits a row predicts for it, and `default` if none does.

    >>> from treewright import encode, grow
    >>> data = encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"])
    >>> rules = RuleList.of(grow(data))
    >>> print(rules)
    2 rules: the first that fits answers
    1.  x <= 2.5   a   2 rows   100 %
    2.  x > 2.5    b   2 rows   100 %
    >>> rules.predict({"x": [0.0, 9.0]}).tolist()
    ['a', 'b']
    """

    rules: tuple[Rule, ...]
    default: Rule
    schema: Schema
    # columns with missing values in training, whose rules say which of them they fit
    with_missing: frozenset[str] = field(default=frozenset(), compare=False)
    complete: bool = field(default=False, compare=False)  # some rule fits any row: the default is unused
    directions: tuple[Direction, ...] = ()  # sums of columns in conditions, by their names

    @classmethod
    def of(cls, tree: Tree) -> RuleList:
        """Each path of a tree as a rule, conditions on one column merged: with the predictions of the tree.

        Leaves that no row can reach have no rule. For one target, of classes or of numbers.
        """
        refuse_sending(tree, "rules could not predict the same for such rows;")
        _refuse_several(tree.schema)
        rules_of = _class_rules if tree.schema.predicts_classes else _number_rules
        rules = []
        leaves = np.flatnonzero(tree.is_leaf)
        for (leaf, conditions), rule in zip(paths(tree), rules_of(tree, leaves), strict=True):
            conditions = merge_conditions(conditions)
            if not any(condition.never for condition in conditions):
                rules.append(replace(rule, conditions=conditions, rows=int(tree.rows[leaf])))
        with_missing = frozenset(tree.tested[column].name for column in columns_with_missing(tree))
        default = replace(next(rules_of(tree, np.zeros(1, np.intp))), weights=())
        return cls(
            tuple(rules), default, tree.schema, with_missing, complete=True, directions=tree.directions
        )

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __getitem__(self, place: int) -> Rule:
        return self.rules[place]

    @cached_property
    def tested(self) -> dict[str, Column]:
        """The columns of the table, then the directions, by name."""
        return {column.name: column for column in tested_columns(self.schema, self.directions)}

    @property
    def n_conditions(self) -> int:
        """The number of conditions of all rules."""
        return sum(len(rule.conditions) for rule in self.rules)

    def apply(self, data: Any) -> Int32s:
        """The index of the rule that predicts for each row of a table or a Dataset; `len(rules)`: the
        default.
        """
        data = encoded_rows(data, "data", self.schema, judging=True)
        if data.schema is not self.schema and data.schema.columns != self.schema.columns:
            raise ValueError("the table's columns are not the rules'; encode it with schema=rules.schema")
        data = with_directions(data, self.directions)
        place = {name: j for j, name in enumerate(self.tested)}
        columns = {c.column: data.column(place[c.column]) for rule in self.rules for c in rule.conditions}
        categories = {name: self.tested[name].categories for name in columns}
        answers = np.full(data.n_rows, len(self.rules), np.int32)
        left = np.arange(data.n_rows)
        for number, rule in enumerate(self.rules):
            fits = left
            for c in rule.conditions:
                fits = fits[c.holds(columns[c.column][fits], categories[c.column])]
            if fits.size:
                answers[fits] = number
                left = left[answers[left] > number]
            if not left.size:
                break
        return answers

    def predict(self, table: Any) -> Array:
        """The class or number of each row of a table."""
        places = self.apply(rows_to_predict(table, self.schema))
        if self.schema.predicts_classes:
            return as_array(classes_of(self.schema))[self.codes[places]]
        return np.array([rule.label for rule in (*self.rules, self.default)], np.float64)[places]

    def predict_proba(self, table: Any) -> Floats:
        """The share of each class among the training rows of the same rule."""
        return self.shares(self.apply(rows_to_predict(table, self.schema)))

    def shares(self, places: NDArray[np.integer]) -> Floats:
        """The share of each class among the training rows of the rules at these places.

        A default without training rows has the shares of all training rows, or if there are none, its class.
        """
        start, code, share = self._shares
        lengths = (start[1:] - start[:-1])[places]
        first = np.repeat(start[:-1][places] - np.cumsum(lengths) + lengths, lengths)
        cells = first + np.arange(len(first))
        out = np.zeros((len(places), len(classes_of(self.schema))))
        out[np.repeat(np.arange(len(places)), lengths), code[cells]] = share[cells]
        return out

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """The code of the class of each rule, the default last."""
        return np.array([self._positions[rule.label] for rule in (*self.rules, self.default)], np.intp)

    @cached_property
    def _positions(self) -> dict[Hashable, int]:
        return {label: code for code, label in enumerate(classes_of(self.schema))}

    @cached_property
    def _shares(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """The shares of each rule and the default, one after the other: where each begins, class, share."""
        rules, sums = (*self.rules, self.default), dict[Hashable, float]()
        for label, weight in (pair for rule in rules for pair in rule.weights):
            sums[label] = sums.get(label, 0.0) + weight
        cells, lengths = [], [0]
        for rule in rules:
            weights = rule.weights or tuple(sums.items()) or ((rule.label, 1.0),)
            total = sum(weight for _, weight in weights)
            cells += [(self._positions[label], weight / total) for label, weight in weights]
            lengths.append(len(weights))
        code, share = zip(*cells, strict=True)
        return np.cumsum(lengths), np.array(code, np.intp), np.array(share, np.float64)

    def to_dict(self) -> dict[str, Any]:
        """Plain values: text, numbers, lists and dicts."""
        sums = zip(list(self.tested)[len(self.schema.columns) :], self.directions, strict=True)
        return {
            "target": self.schema.targets[0].name,
            **({"sums": {name: each.by_name(self.schema) for name, each in sums}} if self.directions else {}),
            "rules": [rule.to_dict() for rule in self.rules],
            "default": None if self.complete else self.default.to_dict(),
        }

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Plot each rule as a bar of its rows; see `treewright.plot_rules`; needs matplotlib."""
        from treewright.plotting.rules import plot_rules  # uphill: a list plots itself

        return plot_rules(self, ax, **options)

    def __getstate__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def __str__(self) -> str:
        from treewright.exporting.text import rules_as_text  # uphill: a list prints itself

        return rules_as_text(self)

    def _layout(self) -> Layout:
        from treewright.exporting.text import rules_layout  # uphill

        return rules_layout(self)

    def __repr__(self) -> str:
        default = self.default.label
        return f"<RuleList: {len(self)} rules, {self.n_conditions} conditions, otherwise {default!r}>"


def classes_of(schema: Schema) -> tuple[Hashable, ...]:
    """The classes of the one target; ValueError for several targets or numbers."""
    if not schema.predicts_classes:
        raise ValueError("these rules are for classes; this tree predicts numbers")
    _refuse_several(schema)
    return schema.targets[0].classes or ()


def _refuse_several(schema: Schema) -> None:
    if len(schema.targets) > 1:
        names = ", ".join(repr(target.name) for target in schema.targets[:10])
        raise ValueError(
            f"rules are for one target; this tree has {len(schema.targets)}: {names}. "
            "Name one of them: rules(tree, target=)"
        )


def _class_rules(tree: Tree, nodes: NDArray[np.intp]) -> Iterator[Rule]:
    """The predictions of nodes as rules without conditions."""
    classes = classes_of(tree.schema)
    start, code, weight = weights_by_class(tree, nodes)
    for place, node in enumerate(nodes):
        part = slice(start[place], start[place + 1])
        labels = [classes[c] for c in code[part].tolist()]
        weights = tuple(zip(labels, weight[part].tolist(), strict=True))
        yield Rule((), classes[int(tree.label[node, 0])], 0, weights, 1.0 - float(tree.confidence[node, 0]))


def _number_rules(tree: Tree, nodes: NDArray[np.intp]) -> Iterator[Rule]:
    """The predictions of nodes as rules without conditions."""
    answers = tree.value[nodes, 0].tolist()
    statistic = np.asarray(tree.statistic[nodes]).tolist()
    for (weight, _, deviation), value in zip(statistic, answers, strict=True):
        yield Rule((), value, 0, (), deviation / weight if weight else 0.0, weight)


def paths(tree: Tree, nodes: Flags | None = None) -> Iterator[tuple[int, tuple[Condition, ...]]]:
    """Each leaf with the conditions on its path, the narrowest of each kind: at most a lower and an upper
    bound of a column of numbers, one set of categories. `nodes` flags other nodes instead of the leaves.

    One walk in preorder without recursion, so that a leaf at any depth costs only its conditions.
    """
    way: dict[tuple[int, bool | None], Any] = {}  # (column, is it an upper bound): condition
    before: list[tuple[tuple[int, bool | None], Condition | None]] = []  # to be restored, by depth
    depths, parents = tree.depths.tolist(), tree.parent.tolist()
    is_end, size = tree.is_leaf if nodes is None else nodes, 0
    for node in range(tree.n_nodes):
        while len(before) >= max(depths[node], 1):
            key, old = before.pop()
            if old is None:
                del way[key]
            else:
                way[key] = old
        if node > 0:
            parent = parents[node]
            condition = tree.condition(parent, node == parent + 1)
            is_upper = None if isinstance(condition, Within) else node == parent + 1
            key = int(tree.feature[parent]), is_upper
            old = way.get(key)
            before.append((key, old))
            way[key] = condition if old is None else old.and_(condition)
        if is_end[node]:
            size += sum(condition.size for condition in way.values())
            if size > MOST_CONDITIONS:
                raise ValueError(
                    f"the paths of this tree have more than {MOST_CONDITIONS:,} conditions and categories; "
                    "prune it before making rules of it"
                )
            yield node, tuple(way.values())


def weights_by_class(tree: Tree, leaves: NDArray[np.intp]) -> tuple[Ints, Int32s, Floats]:
    """The classes of nodes, one node after the other: start of each, class, weight."""
    rows = tree.statistic
    if isinstance(rows, SparseRows) and len(leaves) == tree.n_leaves:
        return np.append(rows.start[leaves], rows.start[-1]), rows.column, rows.value
    table = tree.statistic[leaves]
    place, code = np.nonzero(table)
    start = np.searchsorted(place, np.arange(len(leaves) + 1))
    return start.astype(np.int64), code.astype(np.int32), table[place, code]
