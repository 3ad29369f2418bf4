"""Permutation importance of one tree: how much its loss rises when columns are shuffled, in one pass."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset
from treewright.tree import Tree
from treewright.tree.evaluate import prediction_losses

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MOST_CELLS = 2**22  # of rows that are routed again at a time


def shuffled_rises(tree: Tree, data: Dataset, rows: Ints, rng: np.random.Generator) -> Floats:
    """The rise of the mean loss of some rows when one column after the other is shuffled among them.

    Shuffling a column changes the prediction only of rows whose path tests it. Each row is therefore routed
    again once for each column on its path, many of them in one call of the core.
    """
    rise = np.zeros(data.n_columns)
    if not len(rows) or tree.is_leaf[0]:
        return rise
    tested = np.unique(tree.feature[~tree.is_leaf])
    place = np.full(data.n_columns + 1, -1, np.int32)
    place[tested] = np.arange(len(tested))
    feature = place[tree.feature]
    sides = (tree.missing_left, tree.heavier_left, tree.subsets)
    view = _core.TreeView(len(tested), tree.end, feature, tree.threshold, tree.subset, *sides)
    own = [data.column(j, rows) for j in tested.tolist()]
    others = [values[rng.permutation(len(rows))] for values in own]
    leaf = _core.apply(view, own, 1)
    predicted = tree.label if tree.schema.predicts_classes else tree.value
    targets, weight = np.asarray(data.targets)[:, rows], data.row_weights[rows]
    before = prediction_losses(tree, predicted[leaf], targets)
    tables = _as_table(own), _as_table(others)
    step = max(1, _MOST_CELLS // (len(tested) * tree.height))
    for first in range(0, len(rows), step):
        column, row = _columns_on_paths(tree, feature, leaf[first : first + step], len(tested))
        row += first
        new_leaf = _core.apply(view, _with_shuffled_cells(*tables, column, row), 1)
        more = prediction_losses(tree, predicted[new_leaf], targets[:, row]) - before[row]
        rise[tested] += np.bincount(column, weight[row] * more, len(tested))
    return np.asarray(rise / weight.sum())


def _columns_on_paths(
    tree: Tree, feature: NDArray[np.int32], leaf: NDArray[np.int32], n_columns: int
) -> tuple[Ints, Ints]:
    """The pairs (column, row) in which the path of the row tests the column, sorted by columns."""
    tests = np.zeros((n_columns, len(leaf)), np.bool_)
    row, node = np.arange(len(leaf)), tree.parent[leaf]
    while row.size:
        tests[feature[node], row] = True
        below = node > 0
        row, node = row[below], tree.parent[node[below]]
    column, row = np.nonzero(tests)
    return column, row


def _as_table(columns: list[NDArray[Any]]) -> Any:
    """A matrix if all columns are numbers, because its rows are copied quickly; else the columns."""
    return np.column_stack(columns) if all(each.dtype.kind == "f" for each in columns) else columns


def _with_shuffled_cells(own: Any, others: Any, column: Ints, row: Ints) -> Any:
    """The row of each pair (column, row), with the shuffled value of the column."""
    if isinstance(own, np.ndarray):
        table = own[row]
        table[np.arange(len(row)), column] = others[row, column]
        return table
    columns = [values[row] for values in own]
    borders = np.searchsorted(column, np.arange(len(columns) + 1))
    for j, (low, high) in enumerate(pairwise(borders)):
        columns[j][low:high] = others[j][row[low:high]]
    return columns
