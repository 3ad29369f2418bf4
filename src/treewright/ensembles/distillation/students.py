"""The student: a small tree grown from the teacher's predictions for real and synthetic rows."""

from __future__ import annotations

from collections.abc import Mapping
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

_RESAMPLED = 0.25  # the share of cells of a synthetic row that are another row's; measured: .1 to .25 do best
_OVERGROWN = 4  # times the allowed number of leaves are grown before pruning; measured: 16 is no better


def random_cells(data: Dataset, n: int, rng: np.random.Generator) -> Sources:
    """The row that each cell of `n` synthetic rows is taken from: mostly one row, sometimes any other.

    Every column keeps its distribution, missing values included, and columns keep part of their dependence.
    """
    weight = data.row_weights / data.total_weight
    base = rng.choice(data.n_rows, n, p=weight)
    source = np.repeat(base[:, np.newaxis], data.n_columns, axis=1)
    is_other = rng.random(source.shape) < _RESAMPLED
    source[is_other] = rng.choice(data.n_rows, int(is_other.sum()), p=weight)
    return source


def own_cells(rows: NDArray[np.integer], n_columns: int) -> Sources:
    """The sources of the cells of real rows: the rows themselves."""
    return np.broadcast_to(rows[:, np.newaxis], (len(rows), n_columns))


def mixed_columns(data: Dataset, source: Sources) -> NDArray[Any] | tuple[NDArray[Any], ...]:
    """The encoded columns of synthetic rows."""
    if isinstance(data.columns, np.ndarray):
        return data.columns[source, np.arange(data.n_columns)]
    return tuple(column[source[:, i]] for i, column in enumerate(data.columns))


def with_answers(schema: Schema, columns: Any, answers: Floats, weight: Floats) -> Dataset:
    """Rows with the teacher's predictions as targets: numbers, or classes weighted by their probabilities."""
    if not schema.predicts_classes:
        return Dataset(schema, columns, np.ascontiguousarray(answers.T), weight, "predicted")
    row, label = np.nonzero(answers)
    rows = Dataset(schema, columns).take(row)
    own = label.astype(np.int32)[np.newaxis]
    return Dataset(schema, rows.columns, own, weight[row] * answers[row, label], "predicted")


def grow_student(
    data: Dataset,
    soft: Dataset,
    hard: Dataset,
    *,
    max_leaf_nodes: int,
    **options: Any,
) -> Tree:
    """The tree of at most `max_leaf_nodes` leaves that agrees with the teacher on most rows.

    `data` are the real rows, some of which are in every leaf; `soft` and `hard` all rows with the teacher's
    predictions, to grow a larger tree and to choose among its prunings.
    """
    large = grow(soft, max_leaf_nodes=_OVERGROWN * max_leaf_nodes, **options)
    large = _without_empty_branches(large, data)
    leaves, _, length, choices = _core.front(
        large.end, np.ascontiguousarray(large.loss_of(hard)), max_leaf_nodes
    )
    tree = large.collapse(_core.front_pruning(large.end, length, choices, int(leaves[-1])).tolist())
    return _with_real_weights(tree, data, soft)


def _without_empty_branches(tree: Tree, data: Dataset) -> Tree:
    """The tree without branches that no real row reaches."""
    rows = rows_of(tree, data)
    inner = np.flatnonzero(~tree.is_leaf & (rows > 0))
    left, right = tree.left[inner], tree.right[inner]
    one_sided = (rows[left] == 0) | (rows[right] == 0)
    child = np.where(rows[left] == 0, right, left)
    grafts: Mapping[int, int] = dict(zip(inner[one_sided].tolist(), child[one_sided].tolist(), strict=True))
    return replace(tree, **grafted_arrays(tree, grafts)) if grafts else tree


def _with_real_weights(tree: Tree, data: Dataset, soft: Dataset) -> Tree:
    """The tree with the weights of the real rows, and predictions from real and synthetic rows."""
    weight = np.bincount(leaves_of(tree, data), data.row_weights, tree.n_nodes)
    if tree.schema.predicts_classes:
        counts = np.asarray(tree.statistic_of(soft))
        total = counts.sum(axis=1, keepdims=True)
        own = np.where(tree.is_leaf[:, np.newaxis], weight[:, np.newaxis] * counts / total, 0.0)
        statistic = _core.join_classes(tree.end, own)
    else:
        statistic = np.array(tree.statistic)
        total = _core.join_classes(tree.end, np.where(tree.is_leaf, weight, 0.0)[:, np.newaxis])[:, 0]
        statistic[:, 2] *= total / statistic[:, 0]
        statistic[:, 0] = total
    weighted = replace(tree, rows=rows_of(tree, data), statistic=statistic, step=_steps(tree))
    weighted.check()
    return weighted


def _steps(tree: Tree) -> NDArray[np.int32]:
    """The best-first steps, renumbered without gaps."""
    step = np.full(tree.n_nodes, -1, np.int32)
    inner = np.flatnonzero(~tree.is_leaf)
    step[inner[np.argsort(tree.step[inner], kind="stable")]] = np.arange(len(inner))
    return step


def task_schema(data: Dataset, classes: tuple[Any, ...] | None) -> Schema:
    """The columns of the data, and the teacher's predictions as the target."""
    name = data.schema.targets[0].name if data.schema.targets else "y"
    return Schema(data.schema.columns, (Target(name, classes),))
