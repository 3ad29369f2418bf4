"""The student: a small tree grown from what the teacher answers to real rows and to rows drawn from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset
from treewright.encoding.schema import Schema, Target
from treewright.growing import grow
from treewright.tree import Tree
from treewright.tree.evaluate import leaves_of, rows_of
from treewright.tree.surgery import grafted_arrays

Floats = NDArray[np.float64]
Sources = NDArray[np.integer]

_RESAMPLED = 0.25  # the share of cells of a drawn row that are another row's; measured: .1 to .25 do best
_OVERGROWN = 4  # times as many leaves are grown as are kept; measured: 16 are no better


def drawn(data: Dataset, n: int, rng: np.random.Generator) -> Sources:
    """Rows of the cells of others: most of one row, some of any row each; of which row each cell is.

    So every column keeps its values, its categories and its share of missing ones in their frequencies, and
    columns hang together in part.
    """
    weight = data.row_weights / data.total_weight
    base = rng.choice(data.n_rows, n, p=weight)
    source = np.repeat(base[:, np.newaxis], data.n_columns, axis=1)
    away = rng.random(source.shape) < _RESAMPLED
    source[away] = rng.choice(data.n_rows, int(away.sum()), p=weight)
    return source


def itself(rows: NDArray[np.integer], n_columns: int) -> Sources:
    """Rows as they are, said as drawn ones are."""
    return np.broadcast_to(rows[:, np.newaxis], (len(rows), n_columns))


def mosaic_columns(data: Dataset, source: Sources) -> NDArray[Any] | tuple[NDArray[Any], ...]:
    """The encoded columns of rows that are made of the cells of others."""
    if isinstance(data.columns, np.ndarray):
        return data.columns[source, np.arange(data.n_columns)]
    return tuple(column[source[:, i]] for i, column in enumerate(data.columns))


def labelled(schema: Schema, columns: Any, shares: Floats, weight: Floats) -> Dataset:
    """Rows with the teacher's answers as targets: numbers, or each class of a row weighing its share."""
    if not schema.predicts_classes:
        return Dataset(schema, columns, np.ascontiguousarray(shares.T), weight, "predicted")
    row, label = np.nonzero(shares)
    rows = Dataset(schema, columns).take(row)
    own = label.astype(np.int32)[np.newaxis]
    return Dataset(schema, rows.columns, own, weight[row] * shares[row, label], "predicted")


def student(
    data: Dataset,
    taught: Dataset,
    decided: Dataset,
    *,
    max_leaf_nodes: int,
    progress: Callable[[float], object] | None = None,
    **options: Any,
) -> Tree:
    """The tree of at most so many leaves that answers most rows like the teacher.

    Parameters
    ----------
    data : Dataset
        The real rows; every leaf gets some.
    taught, decided : Dataset
        All rows with what the teacher answers to them, as it is grown from and as it is judged by.
    max_leaf_nodes : int
        The most leaves. A larger tree is grown, and of all its prunings the best one is taken.
    progress : callable, optional
        As in `grow`.
    **options
        Of `grow`.
    """
    grown = grow(taught, max_leaf_nodes=_OVERGROWN * max_leaf_nodes, progress=progress, **options)
    grown = _without_empty(grown, data)
    leaves, _, length, choices = _core.front(
        grown.end, np.ascontiguousarray(grown.loss_of(decided)), max_leaf_nodes
    )
    tree = grown.collapse(_core.front_pruning(grown.end, length, choices, int(leaves[-1])).tolist())
    return _counted(tree, data, taught)


def _without_empty(tree: Tree, data: Dataset) -> Tree:
    """The tree without the sides that no real row goes to."""
    rows = rows_of(tree, data)
    inner = np.flatnonzero(~tree.is_leaf & (rows > 0))
    left, right = tree.left[inner], tree.right[inner]
    one_sided = (rows[left] == 0) | (rows[right] == 0)
    kept = np.where(rows[left] == 0, right, left)
    replaced: Mapping[int, int] = dict(zip(inner[one_sided].tolist(), kept[one_sided].tolist(), strict=True))
    return replace(tree, **grafted_arrays(tree, replaced)) if replaced else tree


def _counted(tree: Tree, data: Dataset, taught: Dataset) -> Tree:
    """The tree with the weights of the real rows, and answers by all that the teacher was asked."""
    weight = np.bincount(leaves_of(tree, data), data.row_weights, tree.n_nodes)
    if tree.schema.predicts_classes:
        told = np.asarray(tree.statistic_of(taught))
        total = told.sum(axis=1, keepdims=True)
        own = np.where(tree.is_leaf[:, np.newaxis], weight[:, np.newaxis] * told / total, 0.0)
        statistic = _core.join_classes(tree.end, own)
    else:
        statistic = np.array(tree.statistic)
        total = _core.join_classes(tree.end, np.where(tree.is_leaf, weight, 0.0)[:, np.newaxis])[:, 0]
        statistic[:, 2] *= total / statistic[:, 0]
        statistic[:, 0] = total
    counted = replace(tree, rows=rows_of(tree, data), statistic=statistic, step=_steps(tree))
    counted.check()
    return counted


def _steps(tree: Tree) -> NDArray[np.int32]:
    """The steps of what is left, counted without gaps."""
    step = np.full(tree.n_nodes, -1, np.int32)
    inner = np.flatnonzero(~tree.is_leaf)
    step[inner[np.argsort(tree.step[inner], kind="stable")]] = np.arange(len(inner))
    return step


def task_schema(data: Dataset, classes: tuple[Any, ...] | None) -> Schema:
    """The data's columns, and the teacher's answers as the target."""
    name = data.schema.targets[0].name if data.schema.targets else "y"
    return Schema(data.schema.columns, (Target(name, classes),))
