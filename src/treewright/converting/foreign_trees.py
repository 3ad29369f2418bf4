"""Trees of other libraries as `Tree`: nodes in any order, category codes, raw scores, recounted rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from treewright import _core
from treewright._arrays import Array, Flags, Floats, Int32s
from treewright.encoding import Dataset, encode
from treewright.encoding.kinds import KindName
from treewright.encoding.schema import Column, Schema, Target
from treewright.tree import Tree, builder, evaluate
from treewright.tree.class_counts import SparseRows
from treewright.tree.conditions import subset_bits

Categories = Mapping[str, Sequence[Hashable]]
MOST_CODES = 65_536  # up to this code all codes of a column are categories, known to the model or not


@dataclass(frozen=True)
class Nodes:
    """The nodes of a tree as another library keeps them; node 0 is the root."""

    left: Array  # the children; below 0 at a leaf
    right: Array
    feature: Array
    threshold: Floats  # value <= threshold goes left
    missing_left: Flags
    rows: Array  # at leaves; branches are counted
    statistic: Floats  # as a tree's; of classes only at leaves
    # codes that go left, at tests of categories
    lefts: Mapping[int, frozenset[int]] = field(default_factory=dict)


def assemble(nodes: Nodes, schema: Schema, criterion: str) -> Tree:
    """The tree of some nodes, with best-first steps; ValueError if they do not form a tree."""
    left, right = nodes.left.tolist(), nodes.right.tolist()
    order = builder.preorder(0, lambda node: (left[node], right[node]) if left[node] >= 0 else (), len(left))
    feature, threshold, missing_left = (
        array.tolist() for array in (nodes.feature, nodes.threshold, nodes.missing_left)
    )

    def test(node: int) -> builder.NodeEntry:
        if left[node] < 0:
            return builder.LEAF
        codes = nodes.lefts.get(node)
        if codes is None:
            return builder.NodeEntry(feature[node], threshold[node], b"", missing_left[node])
        bits = subset_bits(8 * schema.subset_sizes[feature[node]], sorted(codes))
        return builder.NodeEntry(feature[node], np.nan, bits, missing_left[node])

    arrays = builder.node_arrays(test(node) for node in order)
    end, is_leaf = arrays["end"], arrays["feature"] < 0
    tree = Tree(
        **arrays,
        step=builder.preorder_steps(is_leaf),
        rows=builder.sum_of_leaves(end, np.where(is_leaf, nodes.rows[order], 0)),
        statistic=_statistic(schema, end, is_leaf, nodes.statistic[order]),
        schema=schema,
        criterion=criterion,
    )
    tree.check()
    return _with_steps(tree)


def _with_steps(tree: Tree) -> Tree:
    return replace(tree, step=builder.best_first_order(tree.end, tree.gain))


def _statistic(schema: Schema, end: Int32s, is_leaf: Flags, given: Floats) -> Floats | SparseRows:
    """The statistic with weights summed from the leaves, so that they add up exactly."""
    if schema.is_wide:
        return SparseRows.of(end, given)
    if schema.predicts_classes:
        return _core.join_classes(end, np.where(is_leaf[:, np.newaxis], given, 0.0))
    weights = _core.join_classes(end, np.where(is_leaf[:, np.newaxis], given[:, ::3], 0.0))
    statistic = np.array(given, np.float64)
    statistic[:, ::3] = weights
    statistic[:, 2::3] = np.maximum(statistic[:, 2::3], 0.0)
    return statistic


def scores(value: Floats, count: Floats, n_nodes: int, leaves: Array) -> Floats:
    """The statistic of a tree of raw scores, with deviations 0 at leaves."""
    statistic = np.zeros((n_nodes, 3))
    statistic[leaves, 0] = count
    statistic[leaves, 1] = value
    return statistic


def tree_of_scores(nodes: Nodes, columns: tuple[Column, ...], data: Any = None) -> Tree:
    """The tree of raw scores, with the mean and deviation of the leaves below each branch, recounted on
    `data` if there are any.
    """
    tree = assemble(nodes, Schema(columns, (Target("score"),)), "squared_error")
    statistic = np.where(tree.is_leaf[:, np.newaxis], np.asarray(tree.statistic), 0.0)
    tree = _with_steps(replace(tree, statistic=_core.join_moments(tree.end, statistic)))
    return tree if data is None else recount(tree, data)


def recount(tree: Tree, data: Any) -> Tree:
    """The tree with the rows, weights and deviations of `data`: a Dataset, (table, target) or (table, target,
    weight).

    Its predictions stay the same.
    """
    encoded = _encoded(tree, data)
    if tree.schema.predicts_classes:
        new = tree.recount(encoded)
        if not np.array_equal(new.label[new.is_leaf], tree.label[tree.is_leaf]):
            raise ValueError(
                "the rows of data would change the prediction of a leaf; they are not those that the tree "
                "was fitted to (with the same weights)"
            )
        return _with_steps(new)
    rows_of = evaluate.rows_of(tree, encoded)
    if not rows_of.all():
        raise ValueError(f"no row of the data reaches node {int(np.argmin(rows_of))}")
    statistic = np.array(evaluate.statistic_of(tree, encoded))
    statistic[:, 1::3] = tree.value
    statistic[:, 2::3] = evaluate.losses(tree, encoded)[:, np.newaxis] / len(tree.schema.targets)
    return _with_steps(replace(tree, rows=rows_of, statistic=statistic))


def _encoded(tree: Tree, data: Any) -> Dataset:
    """The rows of `data`; numbers to predict that are not given are those that the tree predicts."""
    if isinstance(data, Dataset):
        return evaluate.given_rows(tree, data, "data")
    if not isinstance(data, tuple | list) or len(data) not in (2, 3):
        raise TypeError("data must be a Dataset, (table, target) or (table, target, weight)")
    table, target, weight = (*data, None)[:3]
    if target is None and not tree.schema.predicts_classes:
        leaf = tree.apply(encode(table, weight=weight, schema=tree.schema))
        target = tree.value[leaf] if len(tree.schema.targets) > 1 else tree.value[leaf, 0]
    return encode(table, target, weight=weight, schema=tree.schema)


def check_number(tree: int, n_trees: int) -> None:
    """ValueError unless the model has a tree of this number."""
    if not 0 <= tree < n_trees:
        raise ValueError(f"tree is {tree}; the model has {n_trees} trees, numbered from 0")


@dataclass(frozen=True)
class Columns:
    """The columns of a booster, and the codes of those whose categories have no names."""

    columns: tuple[Column, ...]
    codes: Mapping[int, Sequence[int]]

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        codes: Mapping[int, Iterable[int]],
        kept: Mapping[int, Sequence[Hashable]],
        given: Categories | None,
    ) -> Columns:
        """Columns of categories if there are `codes`, else of numbers. Categories are those of the user, or
        else of the booster, or else the codes themselves.
        """
        given = given or {}
        for name in given:
            if name not in names:
                raise ValueError(f"categories names the column {name!r}; the columns are {', '.join(names)}")
            if names.index(name) not in codes:
                raise ValueError(f"categories names the column {name!r}, which holds numbers in this model")
        own = {j: _code_range(codes[j]) for j in codes if j not in kept and names[j] not in given}
        columns = []
        for j, name in enumerate(names):
            labels = given[name] if name in given else kept.get(j, own.get(j, ()))
            kind: KindName = "category" if j in codes else "number"
            columns.append(Column(name, kind, tuple(_plain(label) for label in labels)))
        return cls(tuple(columns), own)

    def positions(self, column: int, codes: Iterable[int]) -> frozenset[int]:
        """The positions of codes among the categories of a column."""
        own = self.codes.get(column)
        if own is None or isinstance(own, range):
            return frozenset(code for code in codes if code < len(self.columns[column].categories))
        place = {code: position for position, code in enumerate(own)}
        return frozenset(place[code] for code in codes if code in place)


def _code_range(codes: Iterable[int]) -> Sequence[int]:
    """All codes up to the largest, unless there are too many."""
    in_order = sorted(codes)
    return range(in_order[-1] + 1) if in_order and in_order[-1] < MOST_CODES else in_order


def _plain(label: Any) -> Hashable:
    """A category as a plain Python value; whole floats become ints."""
    value: Any = label.item() if hasattr(label, "item") else label
    return int(value) if isinstance(value, float) and value.is_integer() else value
