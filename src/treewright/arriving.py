"""Other rows in a tree: the statistic of those that arrive at each node, and what they lose there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.costing import cheapest, cost_arrays, lost
from treewright.encoding import Dataset, encode
from treewright.schema import Schema
from treewright.sparse import SparseRows

if TYPE_CHECKING:
    from treewright.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


def encoded_rows(rows: Any, name: str, schema: Schema | None = None) -> Dataset:
    """Rows as a Dataset: one, a table, or a tuple (table, target) or (table, target, weights).

    `name` is what the rows are called where they are given, for errors.
    """
    if isinstance(rows, Dataset):
        return rows
    table, target, weight = (*rows, None)[:3] if is_pair(rows) else (rows, None, None)
    try:
        return encode(table, target, weight=weight, schema=schema)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: {error}") from error


def is_pair(rows: Any) -> bool:
    """Whether rows are a tuple (table, target) or (table, target, weights)."""
    return isinstance(rows, tuple) and not hasattr(rows, "_asdict") and len(rows) in (2, 3)


def given_table(tree: Tree, rows: Any, name: str) -> Dataset:
    """Rows for a tree, with targets or without: what `encoded_rows` takes."""
    data = encoded_rows(rows, name, tree.schema)
    if data.schema is not tree.schema and data.schema.columns != tree.schema.columns:
        raise ValueError(f"the columns of {name} are not the tree's; encode it with schema=tree.schema")
    return data


def given_rows(tree: Tree, rows: Any, name: str) -> Dataset:
    """Rows for a tree with their targets: a Dataset, or (table, target) or (table, target, weights).

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0]}, ["a", "b"]))
    >>> given_rows(tree, ({"x": [1.5]}, ["b"]), "test").n_rows
    1
    >>> given_rows(tree, {"x": [1.5]}, "test")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    TypeError: test must be a Dataset, as encode(table, target, schema=tree.schema) makes it, or a tuple ...
    """
    if not (isinstance(rows, Dataset) or is_pair(rows)):
        raise TypeError(
            f"{name} must be a Dataset, as encode(table, target, schema=tree.schema) makes it, or a tuple "
            f"(table, target) or (table, target, weights), not {type(rows).__name__}"
        )
    missing = is_pair(rows) and rows[1] is None
    data = None if missing else given_table(tree, rows, name)
    if data is None or data.targets is None:
        raise ValueError(f"{name} has no target; give (table, target), or a Dataset with its target")
    if not data.n_counted:
        raise ValueError(f"{name} has no rows" + (" that weigh something" if data.n_rows else ""))
    if not same_targets(tree, data):
        raise ValueError(f"the target of {name} is not the tree's; encode it with schema=tree.schema")
    return data


def same_targets(tree: Tree, data: Dataset) -> bool:
    """Whether rows have the targets of a tree: as many, of the same classes."""
    return [each.classes for each in data.schema.targets] == [each.classes for each in tree.schema.targets]


def checked_targets(tree: Tree, data: Dataset) -> NDArray[Any]:
    """The targets of rows for a tree, one after the other; ValueError if they are not those of the tree."""
    if data.targets is None:
        raise ValueError("data has no target; encode the table with target=")
    if not same_targets(tree, data):
        raise ValueError("the table's targets are not the tree's; encode it with schema=tree.schema")
    return np.asarray(data.targets)


def leaves_of(tree: Tree, data: Dataset) -> Ints:
    """The leaf of each row. Those of the last table are kept: several questions about it cost one walk."""
    table, leaf = vars(tree).get("_arrived", (None, None))
    if table is None or table() is not data:
        leaf = tree.apply(data)
        vars(tree)["_arrived"] = ref(data), leaf
    return cast(Ints, leaf)


def statistic_of(tree: Tree, data: Dataset) -> Floats | SparseRows:
    """The statistic of other rows at each node, like the tree's own."""
    targets, schema = checked_targets(tree, data), tree.schema
    leaf = leaves_of(tree, data)
    weight = data.row_weights
    if not schema.predicts_classes:
        blocks = [_moments(tree, leaf, weight, y, tree.centre[:, i]) for i, y in enumerate(targets)]
        return np.concatenate(blocks, axis=1)
    first = np.cumsum((0, *schema.block_widths))[:-1]
    columns = (targets + first[:, np.newaxis]).ravel()
    leaves, weights = np.tile(leaf, len(targets)), np.tile(weight, len(targets))
    if isinstance(tree.statistic, SparseRows):
        return SparseRows.summed(tree.end, leaves, columns, weights, schema.width)
    cells = leaves.astype(np.int64) * schema.width + columns
    sums: Floats = np.bincount(cells, weights, tree.n_nodes * schema.width).astype(np.float64, copy=False)
    return _core.join_classes(tree.end, sums.reshape(tree.n_nodes, schema.width))


def _moments(tree: Tree, leaf: Ints, weight: Floats, numbers: Floats, value: Floats) -> Floats:
    """(weight, mean, squared deviation) at each node: about each leaf's value, so that an offset of y
    costs no digits; then parents join their children.
    """
    shift = numbers - value[leaf]
    powers = [np.bincount(leaf, weight * shift**power, tree.n_nodes) for power in range(3)]
    sums = np.stack(powers, axis=1)
    mean = np.divide(sums[:, 1], sums[:, 0], out=np.zeros(tree.n_nodes), where=sums[:, 0] > 0)
    centre = value[0]
    deviation = np.maximum(sums[:, 2] - sums[:, 0] * mean**2, 0.0)
    out = _core.join_moments(tree.end, np.stack([sums[:, 0], value - centre + mean, deviation], axis=1))
    out[:, 1] += centre
    return out


def own_losses(tree: Tree) -> Floats:
    """What the training rows of each node lose if it answers them; see `losses`."""
    if isinstance(tree.statistic, SparseRows):
        summary = tree.statistic.summary(tree.criterion, tree.schema.block_widths)
        return np.asarray((summary.weight - summary.heaviest).sum(axis=1))
    if tree.linear is not None:
        return tree.linear.loss
    if not tree.schema.predicts_classes:
        return np.asarray(tree.statistic[:, 2::3].sum(axis=1))
    return least_losses(tree.schema, tree.statistic)


def least_losses(schema: Schema, statistic: Floats) -> Floats:
    """What rows of the given weights of classes lose by the best answer to them."""
    blocks = np.split(statistic, np.cumsum(schema.block_widths)[:-1], axis=1)
    parts = zip(blocks, cost_arrays(schema), strict=True)
    return np.asarray(sum(lost(block, cheapest(block, costs), costs) for block, costs in parts))


def losses(tree: Tree, data: Dataset) -> Floats:
    """What the rows that arrive at each node lose if it answers them, added up over the targets: the weight
    of those misclassified, or what that costs; for numbers the loss of the tree's criterion.
    """
    by_row = tree.criterion != "squared_error" or tree.linear is not None
    if not tree.schema.predicts_classes and by_row:
        return _climbing(tree, data, 1)
    arrived = statistic_of(tree, data)
    if isinstance(arrived, SparseRows):
        first = np.cumsum((0, *tree.schema.block_widths))[:-1]
        weight = arrived.summary(tree.criterion, tree.schema.block_widths).weight
        return np.asarray((weight - arrived.at(tree.label + first)).sum(axis=1))
    if tree.schema.predicts_classes:
        return _class_losses(tree, arrived)
    block = arrived.reshape(tree.n_nodes, -1, 3)
    return np.asarray((block[:, :, 2] + block[:, :, 0] * (block[:, :, 1] - tree.value) ** 2).sum(axis=1))


def loses_0_or_1(tree: Tree) -> bool:
    """Whether each row is right or wrong, so that what it loses is its own square."""
    schema = tree.schema
    return schema.predicts_classes and len(schema.targets) == 1 and not schema.has_costs


def squared_losses(tree: Tree, data: Dataset) -> Floats:
    """The sum of the squares of what each row loses at each node: what a standard error is made of."""
    if not tree.schema.predicts_classes or len(tree.schema.targets) > 1:
        return _climbing(tree, data, 2)
    if loses_0_or_1(tree):
        return losses(tree, data)
    return _class_losses(tree, np.asarray(statistic_of(tree, data)), power=2)


def _class_losses(tree: Tree, statistic: Floats, power: int = 1) -> Floats:
    blocks = np.split(statistic, np.cumsum(tree.schema.block_widths)[:-1], axis=1)
    answers = tree.label.T
    parts = zip(blocks, answers, cost_arrays(tree.schema), strict=True)
    return np.asarray(sum(lost(block, label, costs, power) for block, label, costs in parts))


def _climbing(tree: Tree, data: Dataset, power: int) -> Floats:
    """Σ weight · loss**power at each node, by sending every row from its leaf up to the root."""
    checked_targets(tree, data)
    node, total = leaves_of(tree, data), np.zeros(tree.n_nodes)
    while node.size:
        loss = answer_losses(tree, node, np.asarray(data.targets), data)
        total += np.bincount(node, data.row_weights * loss**power, tree.n_nodes)
        below = node > 0
        node, data = tree.parent[node[below]], data if below.all() else data.take(below)
    return total


def answer_losses(tree: Tree, node: Ints, targets: NDArray[Any], data: Dataset | None = None) -> Floats:
    """What single rows lose by the answer of one node each, added up over the targets; formulas need the rows
    themselves.
    """
    if tree.linear is not None and data is not None:
        return number_losses(tree.criterion, targets[0], tree.linear.at(node, data))
    return np.asarray(sum(_row_losses(tree, i, node, y) for i, y in enumerate(targets)))


def _row_losses(tree: Tree, i: int, node: Ints, y: NDArray[Any]) -> Floats:
    """What single rows lose by the answer of one node each, for one target."""
    if tree.schema.predicts_classes:
        costs = cost_arrays(tree.schema)[i]
        label = tree.label[node, i]
        return np.asarray(label != y if costs is None else costs[y, label], np.float64)
    return number_losses(tree.criterion, y, tree.value[node, i])


def number_losses(criterion: str, y: Floats, value: Floats) -> Floats:
    """What answers lose against numbers, by the loss of a criterion; of poisson half the deviance."""
    if criterion == "poisson":
        ratio = np.where(y > 0, np.inf, 1.0)  # an answer of 0 to a positive number is infinitely wrong
        np.divide(y, value, out=ratio, where=(y > 0) & (value > 0))
        return np.asarray(y * np.log(ratio) - y + value)
    distance: Floats = np.abs(y - value)
    return distance if criterion == "absolute_error" else distance**2


def rows_of(tree: Tree, data: Dataset) -> NDArray[np.int64]:
    """How many rows of positive weight arrive at each node."""
    leaf = leaves_of(tree, data)
    counted = leaf if data.weight is None else leaf[data.weight > 0]
    before = np.concatenate([[0], np.cumsum(np.bincount(counted, minlength=tree.n_nodes))])
    return np.asarray(before[tree.end] - before[:-1])
