"""Evaluation of a tree on other rows: the statistic and the loss of the rows that reach each node.

Where a tree divides rows with missing values, each part counts with its share of the row's weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from weakref import ref

import numpy as np

from treewright import _core
from treewright._arrays import Array, Floats, Int32s, Ints
from treewright.encoding import Dataset
from treewright.encoding.rows import encoded_rows, has_target, is_pair
from treewright.encoding.schema import Schema
from treewright.tree.builder import sum_of_leaves
from treewright.tree.class_counts import SparseRows
from treewright.tree.costs import cheapest, class_losses, cost_arrays, costs_of, highest_costs
from treewright.tree.missing import Parts, divides, parts_of
from treewright.tree.number_losses import NUMBER_LOSSES

if TYPE_CHECKING:
    from treewright.tree.tree import Tree


def given_table(tree: Tree, rows: Any, name: str, *, judging: bool = False) -> Dataset:
    """Rows for a tree, with targets or without: what `encoded_rows` takes."""
    data = encoded_rows(rows, name, tree.schema, judging=judging)
    if data.schema is not tree.schema and data.schema.columns != tree.schema.columns:
        raise ValueError(f"the columns of {name} are not the tree's; encode it with schema=tree.schema")
    if not judging:
        data.refuse_unknown_classes(name)
    return data


def given_rows(tree: Tree, rows: Any, name: str, *, judging: bool = False) -> Dataset:
    """Rows for a tree with their targets: a Dataset, or (table, target) or (table, target, weights).

    With `judging`, they may have classes that the tree does not know.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0]}, ["a", "b"]))
    >>> given_rows(tree, ({"x": [1.5]}, ["b"]), "test").n_rows
    1
    >>> given_rows(tree, {"x": [1.5]}, "test")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    TypeError: test must be a Dataset, as encode(table, target, schema=tree.schema) makes it, or a tuple ...
    """
    if not has_target(rows):
        raise TypeError(
            f"{name} must be a Dataset, as encode(table, target, schema=tree.schema) makes it, or a tuple "
            f"(table, target) or (table, target, weights), not {type(rows).__name__}; the target may be the "
            "name of its column"
        )
    missing = is_pair(rows) and rows[1] is None
    data = None if missing else given_table(tree, rows, name, judging=judging)
    if data is None or data.targets is None:
        raise ValueError(f"{name} has no target; give (table, target), or a Dataset with its target")
    if not data.n_counted:
        raise ValueError(f"{name} has no rows" + (" with positive weight" if data.n_rows else ""))
    if not same_targets(tree, data):
        raise ValueError(f"the target of {name} is not the tree's; encode it with schema=tree.schema")
    return data


def same_targets(tree: Tree, data: Dataset) -> bool:
    """Whether rows have as many targets as a tree, of the same classes."""
    return [each.classes for each in data.schema.targets] == [each.classes for each in tree.schema.targets]


def checked_targets(tree: Tree, data: Dataset) -> Array:
    """The targets of rows for a tree; ValueError if they are not those of the tree."""
    if data.targets is None:
        raise ValueError("data has no target; encode the table with target=")
    if not same_targets(tree, data):
        raise ValueError("the table's targets are not the tree's; encode it with schema=tree.schema")
    return data.target_array


def leaves_of(tree: Tree, data: Dataset) -> Int32s:
    """The leaf of each undivided row. Those of the last table are cached."""
    table, leaf = vars(tree).get("_leaves_of", (None, None))
    if table is None or table() is not data:
        leaf = tree.apply(data)
        vars(tree)["_leaves_of"] = ref(data), leaf
    return cast(Int32s, leaf)


def whole_rows(tree: Tree, data: Dataset) -> tuple[Int32s, Array]:
    """The leaves and the targets of the rows that are not divided."""
    leaf, targets = leaves_of(tree, data), data.target_array
    if not divides(tree, data):
        return leaf, targets
    whole = np.concatenate([np.diff(parts.start) == 1 for parts in parts_of(tree, data)])
    return leaf[whole], targets[:, whole]


class Arrival(NamedTuple):
    """Rows, or parts of them, at leaves."""

    row: Any  # an index of rows
    leaf: Int32s
    weight: Floats


def arrivals(tree: Tree, data: Dataset) -> Iterator[Arrival]:
    """All rows at their leaves; if the tree divides rows, some of their parts at a time."""
    weight = data.row_weights
    if not divides(tree, data):
        yield Arrival(slice(None), leaves_of(tree, data), weight)
        return
    for parts in parts_of(tree, data):
        row = parts.first + parts.place
        yield Arrival(row, parts.leaf, weight[row] * parts.share)


def statistic_of(tree: Tree, data: Dataset) -> Floats | SparseRows:
    """The statistic of other rows at each node, without classes that the tree does not know."""
    targets, schema = checked_targets(tree, data), tree.schema
    if not schema.predicts_classes:
        return np.concatenate(_moments(tree, data, targets), axis=1)
    first = np.cumsum((0, *schema.block_widths))[:-1]
    columns, unknown = targets + first[:, np.newaxis], data.unknown_classes
    if unknown is not None:
        columns[unknown] = -1
    if isinstance(tree.statistic, SparseRows):
        return _sparse_sums(tree, data, columns)
    sums = np.zeros(tree.n_nodes * schema.width)
    for row, leaf, weight in arrivals(tree, data):
        for column in columns[:, row]:
            cells = leaf.astype(np.int64) * schema.width + column
            known = slice(None) if unknown is None else column >= 0
            sums += _core.exact_sums(weight[known], group=cells[known], n_groups=len(sums))
    return _core.join_classes(tree.end, sums.reshape(tree.n_nodes, schema.width))


def _sparse_sums(tree: Tree, data: Dataset, columns: Array) -> SparseRows:
    """The weights of very many classes at each node, added up over some parts of rows at a time."""
    width, cells = tree.schema.width, list[tuple[Array, Array, Floats]]()
    for row, leaf, weight in arrivals(tree, data):
        own = columns[:, row]
        known = own.ravel() >= 0
        parts = np.tile(leaf, len(own))[known], own.ravel()[known], np.tile(weight, len(own))[known]
        sums = SparseRows.from_weights(tree.end, *parts, width)
        cells.append((np.repeat(np.arange(tree.n_nodes), np.diff(sums.start)), sums.column, sums.value))
    node, column, value = (np.concatenate(part) for part in zip(*cells, strict=True))
    return SparseRows.from_weights(tree.end, node, column, value, width)


def _moments(tree: Tree, data: Dataset, targets: Array) -> list[Floats]:
    """(weight, mean, squared deviation) at each node, for each target; computed about each leaf's value, so
    that an offset of y costs no precision.
    """
    n = tree.n_nodes
    sums = np.zeros((len(targets), 3, n))
    for row, leaf, weight in arrivals(tree, data):
        for i, numbers in enumerate(targets[:, row]):
            shift = numbers - tree.centre[leaf, i]
            sums[i] += [np.bincount(leaf, weight * shift**power, n) for power in range(3)]
    blocks = []
    for (total, first, second), value in zip(sums, tree.centre.T, strict=True):
        mean = np.divide(first, total, out=np.zeros(n), where=total > 0)
        deviation = np.maximum(second - total * mean**2, 0.0)
        own = np.stack([total, value - value[0] + mean, deviation], axis=1)
        out = _core.join_moments(tree.end, own)
        out[:, 1] += value[0]
        blocks.append(out)
    return blocks


def own_losses(tree: Tree) -> Floats:
    """The loss of the training rows at each node; see `losses`."""
    if isinstance(tree.statistic, SparseRows):
        summary = tree.statistic.summary(tree.criterion, tree.schema.block_widths)
        return np.asarray((summary.weight - summary.heaviest).sum(axis=1))
    if tree.linear is not None:
        return tree.linear.loss
    if not tree.schema.predicts_classes:
        return np.asarray(tree.statistic[:, 2::3].sum(axis=1))
    return node_losses(tree.schema, tree.statistic)


def losses(tree: Tree, data: Dataset) -> Floats:
    """The loss of each node's prediction for the rows that reach it, summed over the targets: the weight of
    misclassified rows or their cost; for numbers the loss of the tree's criterion.

    A row of a class that the tree does not know is always misclassified, at the highest cost.
    """
    by_row = tree.criterion != "squared_error" or tree.linear is not None
    if not tree.schema.predicts_classes and by_row:
        return _climbing(tree, data, 1)
    arrived = statistic_of(tree, data)
    if isinstance(arrived, SparseRows):
        first = np.cumsum((0, *tree.schema.block_widths))[:-1]
        weight = arrived.summary(tree.criterion, tree.schema.block_widths).weight
        return np.asarray((weight - arrived.at(tree.label + first)).sum(axis=1)) + _unknown_losses(tree, data)
    if tree.schema.predicts_classes:
        return node_losses(tree.schema, arrived, tree.label) + _unknown_losses(tree, data)
    block = arrived.reshape(tree.n_nodes, -1, 3)
    return np.asarray((block[:, :, 2] + block[:, :, 0] * (block[:, :, 1] - tree.value) ** 2).sum(axis=1))


def loses_0_or_1(tree: Tree) -> bool:
    """Whether the loss of each row is 0 or 1, so that it equals its square."""
    schema = tree.schema
    return schema.predicts_classes and len(schema.targets) == 1 and not schema.has_costs


def squared_losses(tree: Tree, data: Dataset) -> Floats:
    """The sum of the squared losses of the rows at each node, for standard errors.

    Parts of a row count as rows of their weight, which is an upper bound.
    """
    if not tree.schema.predicts_classes or len(tree.schema.targets) > 1:
        return _climbing(tree, data, 2)
    if loses_0_or_1(tree):
        return losses(tree, data)
    known = node_losses(tree.schema, np.asarray(statistic_of(tree, data)), tree.label, power=2)
    return np.asarray(known + _unknown_losses(tree, data, power=2))


def node_losses(schema: Schema, statistic: Floats, label: Array | None = None, power: int = 1) -> Floats:
    """The losses of predicting `label`, (nodes, targets), for rows with the given weights of classes; by
    default of the best predictions.
    """
    total, borders = np.zeros(len(statistic)), np.cumsum(schema.block_widths)[:-1]
    blocks = zip(np.split(statistic, borders, axis=1), cost_arrays(schema), strict=True)
    for i, (block, costs) in enumerate(blocks):
        total += class_losses(block, cheapest(block, costs) if label is None else label[:, i], costs, power)
    return total


def unknown_weights(tree: Tree, data: Dataset) -> Floats:
    """The weight of rows with classes that the tree does not know, at each node and for each target."""
    at_leaf, unknown = np.zeros((tree.n_nodes, len(tree.schema.targets))), data.unknown_classes
    if unknown is None:
        return at_leaf
    for row, leaf, weight in arrivals(tree, data):
        for i, here in enumerate(unknown[:, row]):
            at_leaf[:, i] += np.bincount(leaf[here], weight[here], tree.n_nodes)
    before = np.concatenate([np.zeros((1, at_leaf.shape[1])), np.cumsum(at_leaf, axis=0)])
    return np.asarray(before[tree.end] - before[:-1])


def _unknown_losses(tree: Tree, data: Dataset, power: int = 1) -> Floats | float:
    """The loss of rows with unknown classes."""
    if data.unknown_classes is None:
        return 0.0
    return np.asarray(unknown_weights(tree, data) @ np.array(highest_costs(tree.schema)) ** power)


def _climbing(tree: Tree, data: Dataset, power: int) -> Floats:
    """Σ weight · loss**power at each node, following every row from its leaf to the root."""
    targets = checked_targets(tree, data)
    total = np.zeros(tree.n_nodes)
    for row, node, weight in arrivals(tree, data):
        own, rows = targets[:, row], None if tree.linear is None else data.take(row)
        while node.size:
            loss = answer_losses(tree, node, own, rows)
            total += np.bincount(node, weight * loss**power, tree.n_nodes)
            below = node > 0
            node, weight, own = tree.parent[node[below]], weight[below], own[:, below]
            rows = None if rows is None else rows.take(below)
    return total


def answer_losses(tree: Tree, node: Int32s, targets: Array, rows: Dataset | None = None) -> Floats:
    """The loss of each row by the prediction of one node each; linear models need the `rows`."""
    if rows is not None:
        return prediction_losses(tree, tree.numbers_at(node, rows), targets)
    predictions = tree.label if tree.schema.predicts_classes else tree.value
    return prediction_losses(tree, predictions[node], targets)


def prediction_losses(tree: Tree, predictions: Array, targets: Array) -> Floats:
    """The loss of each row by predictions, (rows, targets) codes or numbers, summed over the targets."""
    total = np.zeros(len(predictions))
    for y, own, matrix in zip(targets, predictions.T, cost_arrays(tree.schema), strict=True):
        if not tree.schema.predicts_classes:
            total += NUMBER_LOSSES[tree.criterion].of_rows(y, own)
        else:
            total += own != y if matrix is None else costs_of(matrix, y, own)
    return total


def rows_of(tree: Tree, data: Dataset) -> Ints:
    """The number of rows with positive weight that reach each node, as a whole or in part."""
    at_leaf = np.zeros(tree.n_nodes, np.int64)
    if divides(tree, data):
        for parts in parts_of(tree, data):
            at_leaf += _part_counts(tree, parts, data.row_weights)
    else:
        at_leaf += np.bincount(leaves_of(tree, data)[data.counted], minlength=tree.n_nodes)
    return sum_of_leaves(tree.end, at_leaf)


def _part_counts(tree: Tree, parts: Parts, weight: Floats) -> Ints:
    """Numbers whose sum over a subtree is the number of rows with a part in it: 1 for each part, and -1 at
    the lowest common ancestor of two consecutive parts of a row.
    """
    row = parts.first + parts.place
    here = np.flatnonzero(weight[row] > 0)
    count = np.bincount(parts.leaf[here], minlength=tree.n_nodes)
    again = here[1:][row[here[1:]] == row[here[:-1]]]
    one, node = parts.leaf[again - 1], parts.leaf[again]
    while node.size:
        node = tree.parent[node]
        met = node <= one
        count -= np.bincount(node[met], minlength=tree.n_nodes)
        one, node = one[~met], node[~met]
    return np.asarray(count, np.int64)
