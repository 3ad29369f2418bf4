"""What rows lose by a tree's answers, one number within known limits for each row."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.tree import Tree

Floats = NDArray[np.float64]
Loss = Literal["squared_error", "absolute_error"]


class RowLosses(NamedTuple):
    """The loss of each row, averaged over the targets, and its leaf."""

    leaf: NDArray[np.int32]
    loss: Floats
    most: float  # that a row can lose; infinite where nobody knows
    whole: bool  # whether every row loses either 0 or `most`
    what: str  # "error", "cost", "squared error" …


def row_losses(tree: Tree, data: Dataset, *, costs: Any = None, loss: Loss | None = None) -> RowLosses:
    """The losses of the rows of a table; rows of weight 0 are left out.

    Parameters
    ----------
    tree : Tree
        The tree that answers.
    data : Dataset
        Rows with their targets, encoded with the tree's schema; all of the same weight.
    costs : array (classes, classes), optional
        What the answer j to a row of class i costs; the tree's own costs, or 1 for each mistake, by default.
    loss : {"squared_error", "absolute_error"}, optional
        For numbers; squared_error by default.
    """
    data = checked_rows(tree, data)
    leaf = tree.apply(data)
    targets = np.asarray(data.targets)
    if not tree.schema.predicts_classes:
        if costs is not None:
            raise ValueError("costs are for classes; this tree predicts numbers")
        kind = loss or "squared_error"
        if kind not in ("squared_error", "absolute_error"):
            raise ValueError(f"loss is {loss!r}; it must be 'squared_error' or 'absolute_error'")
        distance = np.abs(targets.T - tree.value[leaf])
        each = distance**2 if kind == "squared_error" else distance
        return RowLosses(leaf, each.mean(axis=1), np.inf, False, kind.replace("_", " "))
    if loss is not None:
        raise ValueError("loss is for trees that predict numbers; for classes give costs")
    answers = tree.label[leaf].T
    matrices = cost_matrices(tree, costs)
    if all(matrix is None for matrix in matrices):
        wrong = (answers != targets).mean(axis=0)
        return RowLosses(leaf, wrong, 1.0, len(targets) == 1, "error")
    paid = [
        (answer != y).astype(np.float64) if matrix is None else matrix[y, answer]
        for matrix, answer, y in zip(matrices, answers, targets, strict=True)
    ]
    return RowLosses(leaf, np.mean(paid, axis=0), most_cost(matrices), False, "cost")


def training_loss(tree: Tree) -> tuple[float, int, bool, float]:
    """(loss of all training rows in units of the largest, rows, whether each loses 0 or 1, the largest loss).

    From the tree's own statistic, so that the rows themselves are not needed.
    """
    if not tree.schema.predicts_classes:
        raise ValueError(
            "this tree predicts numbers: from its training rows alone its error cannot be bounded, since "
            "neither the losses nor the answers are; give held-out rows with test="
        )
    leaves = np.flatnonzero(tree.is_leaf)
    unit = float(tree.weight[0]) / int(tree.rows[0])
    weight = tree.weight[leaves]
    wrong = weight[:, np.newaxis] * (1 - tree.confidence[leaves]) / unit
    equal = np.allclose(weight, unit * tree.rows[leaves], rtol=1e-9)
    if not (equal and np.allclose(wrong, np.rint(wrong), atol=1e-6, rtol=1e-9)):
        raise ValueError(
            "the training rows have different weights; a bound from them counts every row as one draw. "
            "Give held-out rows of equal weight with test="
        )
    matrices, rows = cost_matrices(tree, None), int(tree.rows[0])
    if all(matrix is None for matrix in matrices):
        return float(np.rint(wrong).sum() / wrong.shape[1]), rows, wrong.shape[1] == 1, 1.0
    most, lost = most_cost(matrices), 0.0
    first = np.cumsum((0, *tree.schema.block_widths))
    statistic = np.asarray(tree.statistic[leaves])
    for i, matrix in enumerate(matrices):
        block = statistic[:, first[i] : first[i + 1]]
        price = (1.0 - np.eye(block.shape[1]) if matrix is None else matrix).T[tree.label[leaves, i]]
        lost += float((block * price).sum()) / unit
    return lost / most / len(matrices), rows, False, most


def cost_matrices(tree: Tree, costs: Any) -> list[Floats | None]:
    """The cost matrix of each target, the given or the tree's own; None where every mistake costs 1."""
    targets = tree.schema.targets
    if costs is None:
        own = [getattr(target, "costs", None) for target in targets]
        return [None if matrix is None else np.asarray(matrix, np.float64) for matrix in own]
    if len(targets) != 1:
        raise ValueError(f"costs are for one target; the tree has {len(targets)}")
    n = len(targets[0].classes or ())
    try:
        matrix = np.asarray(costs, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"costs must be {n} × {n} numbers, one row per class") from None
    if matrix.shape != (n, n):
        raise ValueError(
            f"costs has shape {matrix.shape}; for {n} classes it must be {(n, n)}: costs[i, j] is the cost of "
            "answering class j when the truth is class i"
        )
    if not (np.isfinite(matrix).all() and (matrix >= 0).all() and matrix.any()):
        raise ValueError("costs must be finite numbers of at least 0, not all of them 0")
    return [matrix]


def most_cost(matrices: list[Floats | None]) -> float:
    """The most that a row can cost, averaged over the targets."""
    return float(np.mean([1.0 if matrix is None else matrix.max() for matrix in matrices]))


def checked_rows(tree: Tree, data: Any) -> Dataset:
    """Rows that can be counted: with targets, some of them, and all of equal weight."""
    if not isinstance(data, Dataset):
        raise TypeError(
            f"rows must be a Dataset, not {type(data).__name__}: encode(table, y, schema=tree.schema)"
        )
    if data.targets is None:
        raise ValueError("the rows have no target; encode the table with target=")
    if [t.classes for t in data.schema.targets] != [t.classes for t in tree.schema.targets]:
        raise ValueError("the table's targets are not the tree's; encode it with schema=tree.schema")
    if data.weight is not None:
        data = data.take(data.weight > 0)
        weight = np.asarray(data.weight)
        if weight.size and not np.allclose(weight, weight[0], rtol=1e-12):
            raise ValueError(
                "the rows have different weights; a guarantee counts every row as one draw. Leave the weights out"
            )
    if not data.n_rows:
        raise ValueError("there are no rows to count")
    return data
