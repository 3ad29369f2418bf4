"""What mistakes cost: the matrix that a user gives, checked, and the losses that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.schema import Schema, Target

if TYPE_CHECKING:
    from treewright.tree import Tree

Floats = NDArray[np.float64]


def costed_schema(tree: Tree, cost_matrix: Any, priors: Any) -> Schema:
    """The tree's schema with the costs of mistakes, each row scaled by how much more often its class comes
    than in the tree's own rows.
    """
    schema = tree.schema
    if not schema.predicts_classes or len(schema.targets) != 1:
        raise ValueError("costs and priors are for trees that predict the classes of one target")
    if schema.is_wide:
        raise ValueError(f"costs and priors are for up to 256 classes; the tree has {schema.width}")
    target = schema.targets[0]
    costs = _matrix(target, cost_matrix)
    if priors is not None:
        statistic: Floats = np.asarray(tree.statistic[0])
        costs = costs * _factors(target, priors, statistic / statistic.sum())[:, np.newaxis]
    plain = tuple(tuple(row) for row in costs.tolist())
    return replace(schema, targets=(replace(target, costs=plain),))


def _matrix(target: Target, cost_matrix: Any) -> Floats:
    """The cost of each answer (column) to each class (row); 1 for every mistake where none is given."""
    classes = target.classes or ()
    n = len(classes)
    if cost_matrix is None:
        return 1.0 - np.eye(n)
    if isinstance(cost_matrix, Mapping):
        costs = _from_mapping(classes, cost_matrix)
    else:
        try:
            costs = np.asarray(cost_matrix, np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"cost_matrix must be {n} × {n} numbers, one row per class") from None
    if costs.shape != (n, n):
        raise ValueError(
            f"cost_matrix has shape {costs.shape}; for the {n} classes of {target.name!r} it must be "
            f"{(n, n)}: cost_matrix[i, j] is the cost of answering class j when the truth is class i"
        )
    if not (np.isfinite(costs).all() and (costs >= 0).all()):
        raise ValueError("cost_matrix must hold finite numbers of at least 0")
    if costs.diagonal().any():
        raise ValueError("cost_matrix must have zeros on its diagonal: a right answer costs nothing")
    if not costs.any():
        raise ValueError("cost_matrix is all zeros: then any tree will do")
    return costs


def _from_mapping(classes: tuple[Any, ...], cost_matrix: Mapping[Any, Any]) -> Floats:
    costs = 1.0 - np.eye(len(classes))
    place = {label: i for i, label in enumerate(classes)}
    for truth, row in cost_matrix.items():
        if truth not in place or not isinstance(row, Mapping):
            raise ValueError(
                f"cost_matrix[{truth!r}] must be a dict of costs for a class; classes: {classes}"
            )
        for answer, cost in row.items():
            if answer not in place:
                raise ValueError(f"cost_matrix names the class {answer!r}; the classes are {classes}")
            costs[place[truth], place[answer]] = cost
    return costs


def _factors(target: Target, priors: Any, shares: Floats) -> Floats:
    """How much more often each class comes than in the rows of the tree."""
    classes = target.classes or ()
    if isinstance(priors, Mapping):
        if set(priors) != set(classes):
            raise ValueError(f"priors must name every class once: {classes}")
        priors = [priors[label] for label in classes]
    try:
        wanted = np.asarray(priors, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"priors must be {len(classes)} numbers, one for each class, or a dict") from None
    if wanted.shape != (len(classes),):
        raise ValueError(
            f"priors has shape {wanted.shape}; it must be one number for each of {len(classes)} classes"
        )
    if not (np.isfinite(wanted).all() and (wanted >= 0).all() and wanted.sum() > 0):
        raise ValueError("priors must be finite numbers of at least 0, not all 0")
    more: Floats = np.divide(wanted / wanted.sum(), shares, out=np.zeros(len(classes)), where=shares > 0)
    return more


def cost_arrays(schema: Schema) -> list[Floats | None]:
    """The cost matrix of each target; None where every mistake costs 1."""
    return [None if target.costs is None else np.array(target.costs) for target in schema.targets]


def cheapest(block: Floats, costs: Floats | None) -> NDArray[np.int64]:
    """The answer of least cost to rows of the given weights of classes; the first among equals."""
    return np.asarray(block.argmax(axis=1) if costs is None else (block @ costs).argmin(axis=1))


def cheapest_in_order(block: Floats, costs: Floats | None) -> NDArray[np.int64]:
    """`cheapest` with sums added up class after class: the same bits in any program that does it so."""
    if costs is None:
        return np.asarray(block.argmax(axis=1))
    total = np.zeros(block.shape)
    for shares, row in zip(block.T, costs, strict=True):
        total += shares[:, np.newaxis] * row
    return np.asarray(total.argmin(axis=1))


def lost(block: Floats, label: NDArray[np.int64], costs: Floats | None, power: int = 1) -> Floats:
    """What rows of the given weights of classes lose by the answer `label`: Σ weight · cost**power."""
    if costs is None:
        return np.asarray(block.sum(axis=1) - np.take_along_axis(block, label[:, np.newaxis], axis=1)[:, 0])
    return np.asarray((block * (costs**power).T[label]).sum(axis=1))
