"""What mistakes cost: the matrix and the priors that a user gives, checked; the losses that follow from them,
and how they alter the choice of splits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset
from treewright.encoding.schema import Schema, Target
from treewright.parameters.values import Costs

Floats = NDArray[np.float64]
CostSplit = Literal["altered_priors", "generalised_gini", "none"]

_SUM_OF_PRIORS = 1e-6  # how far from 1 it may be


def costed_schema(schema: Schema, weights: Floats, cost_matrix: Any, priors: Any) -> Schema:
    """The schema with the costs of mistakes, each row scaled by how much more often its class comes than in
    rows of these weights of classes. How splits are chosen stays as it was.
    """
    return replace(schema, targets=(_with_costs(schema, weights, cost_matrix, priors)[0],))


def _with_costs(
    schema: Schema, weights: Floats, cost_matrix: Any, priors: Any
) -> tuple[Target, Floats, Floats]:
    """The target with its costs and priors; the matrix as given; the factors of the classes by the priors."""
    target = _costed_target(schema)
    costs = _matrix(target, cost_matrix)
    factors, shares = np.ones(len(costs)), None
    if priors is not None:
        wanted = _shares(target, priors, weights)
        factors, shares = _factors(wanted, weights), tuple(wanted.tolist())
    return replace(target, costs=_plain(costs * factors[:, np.newaxis]), priors=shares), costs, factors


def costed(data: Dataset, cost_matrix: Any, priors: Any, cost_split: CostSplit) -> Dataset:
    """Rows whose schema says what mistakes cost and how that alters the choice of splits.

    "altered_priors" lets a row of class i weigh as if the class came π_i Σ_j C(i, j) times as often, and
    "generalised_gini" looks at both costs of each pair of classes. The whole weight stays what it is.
    """
    target = _costed_target(data.schema)
    codes, n_classes = data.target_array[0], len(target.classes or ())
    weights = np.bincount(codes, data.row_weights, n_classes).astype(np.float64)
    target, costs, factors = _with_costs(data.schema, weights, cost_matrix, priors)
    if cost_split == "altered_priors":
        factors = (costs * factors[:, np.newaxis]).sum(axis=1)
    elif cost_split == "none":
        factors = np.ones(len(weights))
    stakes = _plain(costs) if cost_split == "generalised_gini" else None
    return data.restated((replace(target, emphasis=_normalised(factors, weights), stakes=stakes),))


def costs_option(target: Target, weights: Floats) -> Costs:
    """The `costs` of `grow` that give a tree of rows of these weights of classes the costs that it has."""
    if target.stakes is None:
        return Costs(target.costs, split="altered_priors" if target.emphasis else "none")
    priors = None if target.emphasis is None else np.array(target.emphasis) * weights / weights.sum()
    shares = None if priors is None else tuple(priors.tolist())
    return Costs(target.stakes, priors=shares, split="generalised_gini")


def emphasised(data: Dataset) -> Dataset:
    """The rows with the weights that splits are chosen by."""
    if not any(target.emphasis for target in data.schema.targets):
        return data
    weight = data.row_weights
    for target, codes in zip(data.schema.targets, data.target_array, strict=True):
        if target.emphasis is not None:
            weight = weight * np.array(target.emphasis)[codes]
    return data.reweighted(weight) if weight.any() else data  # of rows that cost nothing any tree will do


def class_risks(criterion: str, block: Floats, target: Target) -> Floats:
    """Weight × impurity of rows of the given weights of classes, as splits are chosen."""
    if target.emphasis is not None:
        block = block * np.array(target.emphasis)
    if target.stakes is None:
        return _core.risk(criterion, np.ascontiguousarray(block))
    weight, pairs = block.sum(axis=1), ((block @ np.array(target.stakes)) * block).sum(axis=1)
    return np.asarray(np.divide(pairs, weight, out=np.zeros(len(block)), where=weight > 0))


def _costed_target(schema: Schema) -> Target:
    """The target that costs are about; ValueError where there can be none."""
    if not schema.predicts_classes or len(schema.targets) != 1:
        what = "numbers" if not schema.predicts_classes else f"{len(schema.targets)} targets"
        raise ValueError(f"costs and priors are for the classes of one target; this is about {what}")
    if schema.is_wide:
        raise ValueError(f"costs and priors are for up to 256 classes; there are {schema.width}")
    return schema.targets[0]


def _plain(matrix: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def _normalised(more: Floats, weights: Floats) -> tuple[float, ...] | None:
    """Factors of the classes that leave the whole weight as it is; None where they change nothing."""
    whole = float(more @ weights)
    if whole == 0:
        return None
    factors = more * (weights.sum() / whole)
    same = np.allclose(factors[weights > 0], 1.0, rtol=1e-12, atol=0)
    return None if same else tuple(factors.tolist())


def _matrix(target: Target, cost_matrix: Any) -> Floats:
    """The cost of each answer (column) to each class (row); 1 for every mistake where none is given."""
    classes = target.classes or ()
    n = len(classes)
    if cost_matrix is None:
        return 1.0 - np.eye(n)
    cost_matrix = _by_labels(cost_matrix, classes)
    if isinstance(cost_matrix, Mapping):
        costs = _from_mapping(classes, cost_matrix)
    else:
        costs = _numbers(cost_matrix, f"cost_matrix must be {n} × {n} numbers, one row per class")
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


def _by_labels(given: Any, classes: tuple[Any, ...]) -> Any:
    """A Series or DataFrame as dicts by its labels; whatever has none of its own as it is."""
    index = getattr(given, "index", None)
    if index is None or callable(index) or not hasattr(given, "to_dict"):
        return given
    if list(index) == list(range(len(classes))) and set(classes) != set(index):
        return np.asarray(given)
    return given.to_dict("index") if hasattr(given, "columns") else given.to_dict()


def _from_mapping(classes: tuple[Any, ...], cost_matrix: Mapping[Any, Any]) -> Floats:
    costs = 1.0 - np.eye(len(classes))
    place = {label: i for i, label in enumerate(classes)}
    for truth, row in cost_matrix.items():
        if truth not in place:
            raise ValueError(f"cost_matrix names the class {truth!r}; the classes are {classes}")
        if not isinstance(row, Mapping):
            raise ValueError(f"cost_matrix[{truth!r}] is {row!r}; it must be a dict of costs by answer")
        for answer, cost in row.items():
            if answer not in place:
                raise ValueError(f"cost_matrix names the class {answer!r}; the classes are {classes}")
            wrong = f"cost_matrix[{truth!r}][{answer!r}] is {cost!r}; it must be a number"
            costs[place[truth], place[answer]] = _numbers(cost, wrong, dimensions=0)
    return costs


def _numbers(given: Any, wrong: str, dimensions: int | None = None) -> Floats:
    """What was given as floats; ValueError with the words `wrong` where it is none."""
    try:
        numbers = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise ValueError(wrong) from None
    if dimensions is not None and numbers.ndim != dimensions:
        raise ValueError(wrong)
    return numbers


def _factors(shares: Floats, weights: Floats) -> Floats:
    """How much more often each class comes than in rows of these weights of classes."""
    seen = weights / weights.sum()
    return np.asarray(np.divide(shares, seen, out=np.zeros(len(shares)), where=seen > 0))


def _shares(target: Target, priors: Any, weights: Floats) -> Floats:
    """The share of each class among all rows to come, checked against the weights of the rows there are."""
    classes = target.classes or ()
    priors = _by_labels(priors, classes)
    if isinstance(priors, Mapping):
        if set(priors) != set(classes):
            raise ValueError(f"priors must name every class once: {classes}")
        priors = [priors[label] for label in classes]
    wanted = _numbers(priors, f"priors must be {len(classes)} numbers, one for each class, or a dict")
    if wanted.shape != (len(classes),):
        raise ValueError(
            f"priors has shape {wanted.shape}; it must be one number for each of {len(classes)} classes"
        )
    if not (np.isfinite(wanted).all() and (wanted >= 0).all()):
        raise ValueError("priors must be finite numbers of at least 0")
    if abs(wanted.sum() - 1) > _SUM_OF_PRIORS:
        raise ValueError(f"priors add up to {wanted.sum():.6g}; as shares of all rows they must add up to 1")
    for label, prior, weight in zip(classes, wanted.tolist(), weights.tolist(), strict=True):
        if prior == 0 < weight:
            raise ValueError(f"priors says that class {label!r} never comes, but there are rows of it")
        if weight == 0 < prior:
            raise ValueError(f"priors gives class {label!r} a share of {prior:g}, but there is no row of it")
    shares: Floats = wanted / wanted.sum()
    return shares


def cost_arrays(schema: Schema) -> list[Floats | None]:
    """The cost matrix of each target; None where every mistake costs 1."""
    return [None if target.costs is None else np.array(target.costs) for target in schema.targets]


def dearest(schema: Schema) -> list[float]:
    """The most that a mistake costs, for each target."""
    return [1.0 if costs is None else float(costs.max()) for costs in cost_arrays(schema)]


def costs_of(matrix: Floats, truth: NDArray[Any], answer: NDArray[Any]) -> Floats:
    """What answers cost. To a class that is not in the matrix, of code -1, each costs what the dearest does.

    >>> costs_of(np.array([[0.0, 1.0], [5.0, 0.0]]), np.array([1, 0, -1]), np.array([0, 0, 0])).tolist()
    [5.0, 0.0, 5.0]
    """
    return np.asarray(np.where(truth < 0, matrix.max(), matrix[truth, answer]))


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
