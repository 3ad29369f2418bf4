"""The loss of each row by the predictions of a tree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from treewright._suggestions import choices_text
from treewright.certifying.binomial import Floats
from treewright.encoding import Dataset
from treewright.encoding.schema import Schema
from treewright.parameters.values import Costs, from_first
from treewright.tree import Tree
from treewright.tree.costs import cost_arrays, costs_of, highest_costs, schema_with_costs
from treewright.tree.evaluate import given_rows
from treewright.tree.number_losses import NUMBER_LOSSES
from treewright.tree.predict import answers


def loss_name(tree: Tree) -> str:
    """The loss of a tree in words: "error", "cost", "squared error" …"""
    if not tree.schema.predicts_classes:
        return NUMBER_LOSSES[tree.criterion].words
    return "cost" if tree.schema.has_costs else "error"


class RowLosses(NamedTuple):
    """The loss of each row, averaged over the targets."""

    loss: Floats
    most: float  # the largest possible loss of a row; infinite where unknown
    whole: bool  # whether every row loses either 0 or `most`
    what: str  # "error", "cost", "squared error" …
    unknown: int = 0  # rows of a class that the tree does not know
    by_priors: bool = False  # whether costs are scaled by priors and by the classes of the training rows


def row_losses(tree: Tree, data: Dataset, *, costs: Any = None, loss: str | None = None) -> RowLosses:
    """The losses of the rows of a table; rows of weight 0 are left out.

    A class that the tree does not know counts as a mistake of the highest cost. The costs are `costs`, a
    matrix or `Costs` without priors, or else the tree's own; predictions stay as they are. `loss` is for
    numbers, that of the tree's criterion by default.
    """
    data = checked_rows(tree, data)
    predicted, targets = answers(tree, data), np.asarray(data.targets)
    if not tree.schema.predicts_classes:
        if costs is not None:
            raise ValueError("costs are for classes; this tree predicts numbers")
        kind = loss or tree.criterion
        if kind not in NUMBER_LOSSES:
            raise ValueError(f"loss is {loss!r}; it must be one of {choices_text(loss, NUMBER_LOSSES)}")
        known = NUMBER_LOSSES[kind]
        if known.is_of_counts and (targets < 0).any():
            raise ValueError(f"the rows have negative numbers; the {known.words} needs y >= 0")
        each = known.of_rows(targets.T, predicted)
        return RowLosses(each.mean(axis=1), np.inf, False, known.words)
    if loss is not None:
        raise ValueError("loss is for trees that predict numbers; for classes give costs")
    schema = tree.schema
    if costs is not None:
        own = from_first(Costs)(costs)
        if own.priors is not None:
            raise ValueError("priors do not apply to test rows; give Costs(matrix) without them")
        schema = schema_with_costs(schema, np.zeros(0), own.matrix, None)
    unknown = 0 if data.unknown_classes is None else int(data.unknown_classes.any(axis=0).sum())
    if not schema.has_costs:
        wrong = (targets != predicted.T).mean(axis=0)
        return RowLosses(wrong, 1.0, len(targets) == 1, "error", unknown)
    row_costs = [
        (answer != y).astype(np.float64) if matrix is None else costs_of(matrix, y, answer)
        for matrix, answer, y in zip(cost_arrays(schema), predicted.T, targets, strict=True)
    ]
    by_priors = any(target.priors is not None for target in schema.targets)
    return RowLosses(np.mean(row_costs, axis=0), most_cost(schema), False, "cost", unknown, by_priors)


def training_loss(tree: Tree) -> tuple[float, int, bool, float]:
    """(loss of all training rows in units of the largest, rows, whether each loses 0 or 1, the largest loss).

    From the tree's own statistic, so that the rows themselves are not needed.
    """
    if not tree.schema.predicts_classes:
        raise ValueError(
            "this tree predicts numbers: from its training rows alone its error cannot be bounded, since "
            "neither the losses nor the answers are; give held-out rows with test="
        )
    _refuse_other_than_draws(tree)
    leaves, n_targets = np.flatnonzero(tree.is_leaf), len(tree.schema.targets)
    rows = int(tree.rows[0])
    unit = float(tree.weight[0]) / rows
    weight = tree.weight[leaves]
    right = weight[:, np.newaxis] * tree.confidence[leaves] / unit
    equal = np.allclose(weight, unit * tree.rows[leaves], rtol=1e-9)
    equal = equal and (tree.provenance is None or tree.provenance.weights == "equal")
    if not (equal and np.allclose(right, np.rint(right), atol=1e-6, rtol=1e-9)):
        raise ValueError(
            "the training rows have different weights, or are divided where they miss values; a bound from "
            "them counts every row as one draw. "
            "Give held-out rows of equal weight with test="
        )
    if tree.schema.has_costs:
        most = most_cost(tree.schema)
        return float(tree.loss[leaves].sum()) / unit / n_targets / most, rows, False, most
    return rows - float(np.rint(right).sum()) / n_targets, rows, n_targets == 1, 1.0


def _refuse_other_than_draws(tree: Tree) -> None:
    """Raise ValueError where the training rows do not show the errors of the tree."""
    if tree.provenance is not None and tree.provenance.labels == "predicted":
        raise ValueError(
            "this tree was distilled: its training labels are the predictions of another model, which say "
            "nothing about its true error. Give held-out rows with their observed classes, test="
        )
    if any(target.priors is not None for target in tree.schema.targets):
        raise ValueError(
            "the costs of this tree are scaled by its priors and by how often each class came in the "
            "training rows; a bound from these rows needs costs that were fixed before. Give held-out rows "
            "with test="
        )


def most_cost(schema: Schema) -> float:
    """The most that a row can cost, averaged over the targets."""
    return float(np.mean(highest_costs(schema)))


def checked_rows(tree: Tree, rows: Any) -> Dataset:
    """Rows as independent draws: with observed targets, not empty, of equal weight."""
    data = given_rows(tree, rows, "test", judging=True)
    if data.labels == "predicted":
        raise ValueError("the targets of these rows are the answers of a model; give observed ones")
    if data.weight is not None:
        data = data.take(data.counted)
        if not data.weighs_alike:
            raise ValueError(
                "the rows have different weights; a guarantee counts every row as one draw. Leave the "
                "weights out"
            )
    return data
