"""Other rows in a tree: the statistic of those that arrive at each node, and what they lose there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset
from treewright.sparse import SparseRows

if TYPE_CHECKING:
    from treewright.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


def statistic_of(tree: Tree, data: Dataset) -> Floats | SparseRows:
    """The statistic of other rows at each node, like the tree's own."""
    leaf = tree.apply(data)
    weight = np.ones(data.n_rows) if data.weight is None else data.weight
    if data.targets is None:
        raise ValueError("data has no target; encode the table with target=")
    schema = tree.schema
    if [target.classes for target in data.schema.targets] != [target.classes for target in schema.targets]:
        raise ValueError("the table's targets are not the tree's; encode it with schema=tree.schema")
    targets = np.asarray(data.targets)
    if not schema.predicts_classes:
        blocks = [_moments(tree, leaf, weight, y, tree.value[:, i]) for i, y in enumerate(targets)]
        return np.concatenate(blocks, axis=1)
    first = np.cumsum((0, *schema.block_widths))[:-1]
    columns = (targets + first[:, np.newaxis]).ravel()
    leaves, weights = np.tile(leaf, len(targets)), np.tile(weight, len(targets))
    if isinstance(tree.statistic, SparseRows):
        return SparseRows.summed(tree.end, leaves, columns, weights, schema.width)
    sums = np.zeros((tree.n_nodes, schema.width))
    np.add.at(sums, (leaves, columns), weights)
    return _core.join_classes(tree.end, sums)


def _moments(tree: Tree, leaf: Ints, weight: Floats, numbers: Floats, value: Floats) -> Floats:
    """(weight, mean, squared deviation) at each node: about each leaf's value, so that an offset of y
    costs no digits; then parents join their children.
    """
    shift = numbers - value[leaf]
    sums = np.zeros((tree.n_nodes, 3))
    for power in range(3):
        np.add.at(sums[:, power], leaf, weight * shift**power)
    mean = np.divide(sums[:, 1], sums[:, 0], out=np.zeros(tree.n_nodes), where=sums[:, 0] > 0)
    centre = value[0]
    deviation = np.maximum(sums[:, 2] - sums[:, 0] * mean**2, 0.0)
    out = _core.join_moments(tree.end, np.stack([sums[:, 0], value - centre + mean, deviation], axis=1))
    out[:, 1] += centre
    return out


def losses(tree: Tree, data: Dataset) -> Floats:
    """What the rows that arrive at each node lose if it answers them: the weight of those misclassified, or
    the squared error; added up over the targets.
    """
    arrived = statistic_of(tree, data)
    first = np.cumsum((0, *tree.schema.block_widths))[:-1]
    if isinstance(arrived, SparseRows):
        weight = arrived.summary(tree.criterion, tree.schema.block_widths).weight
        return np.asarray((weight - arrived.at(tree.label + first)).sum(axis=1))
    lost = np.zeros(tree.n_nodes)
    for i, width in enumerate(tree.schema.block_widths):
        block = arrived[:, first[i] : first[i] + width]
        if tree.schema.predicts_classes:
            lost += block.sum(axis=1) - block[np.arange(tree.n_nodes), tree.label[:, i]]
        else:
            lost += block[:, 2] + block[:, 0] * (block[:, 1] - tree.value[:, i]) ** 2
    return lost
