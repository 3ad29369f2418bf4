"""Trees of other libraries as `Tree`: nodes in any order, category codes, scores, rows counted again."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import encode
from treewright.encoding.schema import Column, Schema
from treewright.tree import Tree, evaluate
from treewright.tree.builder import (
    LEAF,
    NodeEntry,
    best_first_order,
    node_arrays,
    preorder,
    subset_bits,
    sum_of_leaves,
)
from treewright.tree.class_counts import SparseRows

Floats = NDArray[np.float64]
Categories = Mapping[str, Sequence[Hashable]]
MOST_CODES = 65_536  # codes of a column up to which all codes are categories, whether the model has seen them


@dataclass(frozen=True)
class Nodes:
    """The nodes of a tree as another library keeps them; node 0 is the root."""

    left: NDArray[Any]  # the children; below 0 at a leaf
    right: NDArray[Any]
    feature: NDArray[Any]
    threshold: Floats  # value <= threshold goes left
    missing_left: NDArray[np.bool_]
    rows: NDArray[Any]  # at leaves; branches are counted
    statistic: Floats  # as a tree's; of classes only at leaves
    lefts: Mapping[int, frozenset[int]] = field(
        default_factory=dict
    )  # codes that go left, at tests of categories


def assemble(nodes: Nodes, schema: Schema, criterion: str) -> Tree:
    """The tree of some nodes, with best-first steps; ValueError if they do not form a tree."""
    left, right = nodes.left.tolist(), nodes.right.tolist()
    order = preorder(0, lambda node: (left[node], right[node]) if left[node] >= 0 else (), len(left))
    feature, threshold, missing_left = (
        array.tolist() for array in (nodes.feature, nodes.threshold, nodes.missing_left)
    )

    def test(node: int) -> NodeEntry:
        if left[node] < 0:
            return LEAF
        codes = nodes.lefts.get(node)
        if codes is None:
            return NodeEntry(feature[node], threshold[node], b"", missing_left[node])
        bits = subset_bits(8 * schema.subset_sizes[feature[node]], sorted(codes))
        return NodeEntry(feature[node], np.nan, bits, missing_left[node])

    arrays = node_arrays(test(node) for node in order)
    end, is_leaf = arrays["end"], arrays["feature"] < 0
    tree = Tree(
        **arrays,
        step=np.where(is_leaf, -1, np.cumsum(~is_leaf) - 1).astype(np.int32),
        rows=sum_of_leaves(end, np.where(is_leaf, nodes.rows[order], 0)),
        statistic=_statistic(schema, end, is_leaf, nodes.statistic[order]),
        schema=schema,
        criterion=criterion,
    )
    tree.check()
    return _with_steps(tree)


def _with_steps(tree: Tree) -> Tree:
    return replace(tree, step=best_first_order(tree.end, tree.gain))


def _statistic(
    schema: Schema, end: NDArray[np.int32], is_leaf: NDArray[np.bool_], given: Floats
) -> Floats | SparseRows:
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


def scores(value: Floats, count: Floats, n_nodes: int, leaves: NDArray[Any]) -> Floats:
    """The statistic of a tree of scores: leaves without deviation, as if each row had the score of its
    leaf.
    """
    statistic = np.zeros((n_nodes, 3))
    statistic[leaves, 0] = count
    statistic[leaves, 1] = value
    return statistic


def join_scores(tree: Tree) -> Tree:
    """The tree of scores with the mean and deviation of the leaves below each branch."""
    statistic = np.where(tree.is_leaf[:, np.newaxis], np.asarray(tree.statistic), 0.0)
    return _with_steps(replace(tree, statistic=_core.join_moments(tree.end, statistic)))


def recount(tree: Tree, data: Any) -> Tree:
    """The tree with the rows, weights and deviations of `data`: (table, target) or (table, target, weight).

    Predictions stay the same: classes are counted again, numbers keep their values.
    """
    if not isinstance(data, tuple | list) or len(data) not in (2, 3):
        raise TypeError("data must be (table, target) or (table, target, weight)")
    table, target, weight = (*data, None)[:3]
    numbers = not tree.schema.predicts_classes
    if target is None and numbers:
        rows = encode(table, weight=weight, schema=tree.schema)
        leaf = tree.apply(rows)
        target = tree.value[leaf] if len(tree.schema.targets) > 1 else tree.value[leaf, 0]
    encoded = encode(table, target, weight=weight, schema=tree.schema)
    if not numbers:
        made = tree.restated(encoded)
        if not np.array_equal(made.label[made.is_leaf], tree.label[tree.is_leaf]):
            raise ValueError(
                "the rows of data would change what a leaf predicts; they are not those that the tree was "
                "fitted to (with the same weights)"
            )
        return _with_steps(made)
    counted = evaluate.rows_of(tree, encoded)
    if not counted.all():
        raise ValueError(f"no row of the data reaches node {int(np.argmin(counted))}")
    statistic = np.array(evaluate.statistic_of(tree, encoded))
    statistic[:, 1::3] = tree.value
    statistic[:, 2::3] = evaluate.losses(tree, encoded)[:, np.newaxis] / len(tree.schema.targets)
    return _with_steps(replace(tree, rows=counted, statistic=statistic))


def check_number(tree: int, n_trees: int) -> None:
    """ValueError unless there is a tree of that number."""
    if not 0 <= tree < n_trees:
        raise ValueError(f"tree is {tree}; the model has {n_trees} trees, numbered from 0")


def columns_of(
    names: Sequence[str], known: Mapping[int, Sequence[Hashable]], given: Categories | None
) -> tuple[Column, ...]:
    """Columns of numbers and of categories; categories in the order of their codes, as given or else as
    known.
    """
    for name in given or ():
        if name not in names:
            raise ValueError(f"categories names the column {name!r}; the columns are {', '.join(names)}")
        if names.index(name) not in known:
            raise ValueError(f"categories names the column {name!r}, which holds numbers in this model")
    columns = []
    for j, name in enumerate(names):
        if j not in known:
            columns.append(Column(name))
            continue
        labels = tuple((given or {}).get(name, known[j]))
        columns.append(Column(name, "category", tuple(_plain(label) for label in labels)))
    return tuple(columns)


def numbered(met: Iterable[int]) -> Sequence[int]:
    """The categories of a column whose codes have no names: all codes up to the largest, unless too many."""
    codes = sorted(met)
    return range(codes[-1] + 1) if codes and codes[-1] < MOST_CODES else codes


def positions(codes: Iterable[int], column: Column, unnamed: Sequence[int] | None) -> frozenset[int]:
    """The positions of codes among the categories of a column, which have names or are the codes
    themselves.
    """
    if unnamed is None or isinstance(unnamed, range):
        return frozenset(code for code in codes if code < len(column.categories))
    place = {code: position for position, code in enumerate(unnamed)}
    return frozenset(place[code] for code in codes if code in place)


def _plain(label: Any) -> Hashable:
    """A category as a plain Python value; whole floats become ints."""
    value: Any = label.item() if hasattr(label, "item") else label
    return int(value) if isinstance(value, float) and value.is_integer() else value
