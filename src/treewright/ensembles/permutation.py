"""What a tree loses where columns are shuffled among rows, all of them in one walk."""

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

_MOST_CELLS = 2**22  # of rows that go down again at a time


def shuffled_rises(tree: Tree, data: Dataset, rows: Ints, rng: np.random.Generator) -> Floats:
    """How much the mean loss of some rows rises where one column after the other is shuffled among them.

    Only the rows whose way asks for a column can lose by its shuffling: each of them goes down again once for
    each column of its way, many of them in one walk.
    """
    rise = np.zeros(data.n_columns)
    if not len(rows) or tree.is_leaf[0]:
        return rise
    asked = np.unique(tree.feature[~tree.is_leaf])
    place = np.full(data.n_columns + 1, -1, np.int32)
    place[asked] = np.arange(len(asked))
    feature = place[tree.feature]
    routes = (tree.end, feature, tree.threshold, tree.subset, tree.missing_left, tree.heavier_left)
    own = [data.column(j, rows) for j in asked.tolist()]
    others = [values[rng.permutation(len(rows))] for values in own]
    leaf = _core.apply(own, *routes, tree.subsets, 1)
    said = tree.label if tree.schema.predicts_classes else tree.value
    targets, weight = np.asarray(data.targets)[:, rows], data.row_weights[rows]
    before = prediction_losses(tree, said[leaf], targets)
    tables = _together(own), _together(others)
    step = max(1, _MOST_CELLS // (len(asked) * tree.height))
    for first in range(0, len(rows), step):
        column, row = _asked_on_the_way(tree, feature, leaf[first : first + step], len(asked))
        row += first
        moved = _core.apply(_exchanged(*tables, column, row), *routes, tree.subsets, 1)
        more = prediction_losses(tree, said[moved], targets[:, row]) - before[row]
        rise[asked] += np.bincount(column, weight[row] * more, len(asked))
    return np.asarray(rise / weight.sum())


def _asked_on_the_way(
    tree: Tree, feature: NDArray[np.int32], leaf: NDArray[np.int32], n_columns: int
) -> tuple[Ints, Ints]:
    """Pairs (column, row), each once and by columns: the row's way to its leaf asks for the column."""
    asks = np.zeros((n_columns, len(leaf)), np.bool_)
    row, node = np.arange(len(leaf)), tree.parent[leaf]
    while row.size:
        asks[feature[node], row] = True
        below = node > 0
        row, node = row[below], tree.parent[node[below]]
    column, row = np.nonzero(asks)
    return column, row


def _together(columns: list[NDArray[Any]]) -> Any:
    """Numbers as a matrix, whose rows are copied quickly; with categories among them columns stay columns."""
    return np.column_stack(columns) if all(each.dtype.kind == "f" for each in columns) else columns


def _exchanged(own: Any, others: Any, column: Ints, row: Ints) -> Any:
    """For each pair of a column and a row the row, with the other value of the column."""
    if isinstance(own, np.ndarray):
        table = own[row]
        table[np.arange(len(row)), column] = others[row, column]
        return table
    columns = [values[row] for values in own]
    borders = np.searchsorted(column, np.arange(len(columns) + 1))
    for j, (low, high) in enumerate(pairwise(borders)):
        columns[j][low:high] = others[j][row[low:high]]
    return columns
