"""Misclassification costs and prior probabilities: checks, losses, and the effect on splits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from treewright import _core
from treewright._arrays import Array, Floats, Ints
from treewright._suggestions import choices_text
from treewright.encoding import Dataset
from treewright.encoding.schema import Schema, Target
from treewright.parameters.values import Costs

CostSplit = Literal["altered_priors", "generalised_gini", "none"]

_SUM_OF_PRIORS = 1e-6  # its tolerance


def schema_with_costs(schema: Schema, weights: Floats, cost_matrix: Any, priors: Any) -> Schema:
    """The schema with misclassification costs; each row of the matrix is scaled by the prior of its class
    over its share in these `weights` of classes. The choice of splits does not change.
    """
    return replace(schema, targets=(_with_costs(schema, weights, cost_matrix, priors)[0],))


def _with_costs(
    schema: Schema, weights: Floats, cost_matrix: Any, priors: Any
) -> tuple[Target, Floats, Floats]:
    """The target with costs and priors; the costs without priors; the factors of the classes by priors."""
    target = _target_for_costs(schema)
    costs = _matrix(target, cost_matrix)
    factors, shares = np.ones(len(costs)), None
    if priors is not None:
        share, present = _priors(target, priors, weights), weights / weights.sum()
        factors = np.divide(share, present, out=np.zeros(len(share)), where=present > 0)
        shares = tuple(share.tolist())
    return replace(target, costs=_plain(costs * factors[:, np.newaxis]), priors=shares), costs, factors


def with_costs(data: Dataset, cost_matrix: Any, priors: Any, cost_split: CostSplit) -> Dataset:
    """Rows with misclassification costs in their schema, and with their effect on the choice of splits.

    "altered_priors" multiplies the weight of rows of class i by π_i Σ_j C(i, j), "generalised_gini" uses both
    costs of each pair of classes. The total weight stays the same.
    """
    target = _target_for_costs(data.schema)
    codes, n_classes = data.target_array[0], len(target.classes or ())
    weights = _core.exact_sums(data.row_weights, group=codes.astype(np.int64), n_groups=n_classes)
    target, costs, factors = _with_costs(data.schema, weights, cost_matrix, priors)
    if cost_split == "altered_priors":
        factors = (costs * factors[:, np.newaxis]).sum(axis=1)
    elif cost_split == "none":
        factors = np.ones(len(weights))
    stakes = _plain(costs) if cost_split == "generalised_gini" else None
    return data.with_target_specs((replace(target, emphasis=_emphasis(factors, weights), stakes=stakes),))


def costs_option(target: Target, weights: Floats) -> Costs:
    """The `costs` of `grow` for the costs of a target, given the weights of the classes in the rows."""
    if target.stakes is None:
        return Costs(target.costs, split="altered_priors" if target.emphasis else "none")
    priors = None if target.emphasis is None else np.array(target.emphasis) * weights / weights.sum()
    shares = None if priors is None else tuple(priors.tolist())
    return Costs(target.stakes, priors=shares, split="generalised_gini")


def with_emphasis(data: Dataset) -> Dataset:
    """The rows with the weights by which splits are chosen."""
    if not any(target.emphasis for target in data.schema.targets):
        return data
    weight = data.row_weights
    for target, codes in zip(data.schema.targets, data.target_array, strict=True):
        if target.emphasis is not None:
            weight = weight * np.array(target.emphasis)[codes]
    return data.with_weight(weight) if weight.any() else data  # without any costs any tree will do


def class_risks(criterion: str, block: Floats, target: Target) -> Floats:
    """Weight × impurity of rows with the given weights of classes, by which splits are chosen."""
    if target.emphasis is not None:
        block = block * np.array(target.emphasis)
    if target.stakes is None:
        return _core.risk(criterion, np.ascontiguousarray(block))
    weight, pairs = block.sum(axis=1), ((block @ np.array(target.stakes)) * block).sum(axis=1)
    return np.asarray(np.divide(pairs, weight, out=np.zeros(len(block)), where=weight > 0))


def _target_for_costs(schema: Schema) -> Target:
    """The target; ValueError where it cannot have costs."""
    if not schema.predicts_classes or len(schema.targets) != 1:
        what = "numbers" if not schema.predicts_classes else f"{len(schema.targets)} targets"
        raise ValueError(f"costs and priors are for the classes of one target; this is about {what}")
    if schema.is_wide:
        raise ValueError(f"costs and priors are for up to 256 classes; there are {schema.width}")
    return schema.targets[0]


def _plain(matrix: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def _emphasis(factors: Floats, weights: Floats) -> tuple[float, ...] | None:
    """The factors of the classes, scaled to keep the total weight; None where they change nothing."""
    total = float(factors @ weights)
    if total == 0:
        return None
    factors = factors * (weights.sum() / total)
    same = np.allclose(factors[weights > 0], 1.0, rtol=1e-12, atol=0)
    return None if same else tuple(factors.tolist())


def _matrix(target: Target, cost_matrix: Any) -> Floats:
    """The cost of predicting each class (column) for each class (row); by default 1 for every mistake."""
    classes = target.classes or ()
    n = len(classes)
    if cost_matrix is None:
        return 1.0 - np.eye(n)
    cost_matrix = _by_labels(cost_matrix, classes)
    if isinstance(cost_matrix, Mapping):
        costs = _from_mapping(classes, cost_matrix)
    else:
        costs = _numbers(cost_matrix, f"costs must be {n} × {n} numbers, one row per class")
    if costs.shape != (n, n):
        raise ValueError(
            f"costs has shape {costs.shape}; for the {n} classes of {target.name!r} it must be "
            f"{(n, n)}: costs[i, j] is the cost of predicting class j when the truth is class i"
        )
    if not (np.isfinite(costs).all() and (costs >= 0).all()):
        raise ValueError("costs must hold finite numbers of at least 0")
    if costs.diagonal().any():
        raise ValueError("costs must have zeros on its diagonal: a correct prediction costs nothing")
    if not costs.any():
        raise ValueError("costs is all zeros: then any tree will do")
    return costs


def _by_labels(given: Any, classes: tuple[Any, ...]) -> Any:
    """A Series or DataFrame with labels as dicts; other values as they are."""
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
        if not isinstance(row, Mapping):
            raise ValueError(f"costs[{truth!r}] is {row!r}; it must be a dict of costs by prediction")
        for label in (truth, *row):
            if label not in place:
                known = choices_text(label, classes, in_quotes=True)
                raise ValueError(f"costs name the class {label!r}; the classes are {known}")
        for answer, cost in row.items():
            wrong = f"costs[{truth!r}][{answer!r}] is {cost!r}; it must be a number"
            costs[place[truth], place[answer]] = _numbers(cost, wrong, dimensions=0)
    return costs


def _numbers(values: Any, message: str, dimensions: int | None = None) -> Floats:
    """The values as floats; ValueError with this message where that is impossible."""
    try:
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ValueError(message) from None
    if dimensions is not None and numbers.ndim != dimensions:
        raise ValueError(message)
    return numbers


def _priors(target: Target, priors: Any, weights: Floats) -> Floats:
    """The prior probability of each class, checked against the weights of the classes in the rows."""
    classes = target.classes or ()
    priors = _by_labels(priors, classes)
    if isinstance(priors, Mapping):
        if set(priors) != set(classes):
            wrong = next((label for label in priors if label not in classes), None)
            known = choices_text(wrong, classes, in_quotes=True)
            raise ValueError(f"priors must name every class once: {known}")
        priors = [priors[label] for label in classes]
    shares = _numbers(priors, f"priors must be {len(classes)} numbers, one for each class, or a dict")
    if shares.shape != (len(classes),):
        raise ValueError(
            f"priors has shape {shares.shape}; it must be one number for each of {len(classes)} classes"
        )
    if not (np.isfinite(shares).all() and (shares >= 0).all()):
        raise ValueError("priors must be finite numbers of at least 0")
    if abs(shares.sum() - 1) > _SUM_OF_PRIORS:
        raise ValueError(f"priors add up to {shares.sum():.6g}; as shares of all rows they must add up to 1")
    for label, prior, weight in zip(classes, shares.tolist(), weights.tolist(), strict=True):
        if prior == 0 < weight:
            raise ValueError(f"priors gives class {label!r} a share of 0, but there are rows of it")
        if weight == 0 < prior:
            raise ValueError(f"priors gives class {label!r} a share of {prior:g}, but there is no row of it")
    return np.asarray(shares / shares.sum())


def cost_arrays(schema: Schema) -> list[Floats | None]:
    """The cost matrix of each target; None where every mistake costs 1."""
    return [None if target.costs is None else np.array(target.costs) for target in schema.targets]


def highest_costs(schema: Schema) -> list[float]:
    """The highest cost of a mistake, for each target."""
    return [1.0 if costs is None else float(costs.max()) for costs in cost_arrays(schema)]


def costs_of(matrix: Floats, truth: Array, answer: Array) -> Floats:
    """The costs of answers; the highest cost for an unknown class, of code -1.

    >>> costs_of(np.array([[0.0, 1.0], [5.0, 0.0]]), np.array([1, 0, -1]), np.array([0, 0, 0])).tolist()
    [5.0, 0.0, 5.0]
    """
    return np.asarray(np.where(truth < 0, matrix.max(), matrix[truth, answer]))


def cheapest(block: Floats, costs: Floats | None) -> Ints:
    """The class of least cost for rows with the given weights of classes; the first among equals."""
    return np.asarray(block.argmax(axis=1) if costs is None else (block @ costs).argmin(axis=1))


def cheapest_in_order(block: Floats, costs: Floats | None) -> Ints:
    """`cheapest` with sums in the order of the classes, to the last bit as exported programs compute it."""
    if costs is None:
        return np.asarray(block.argmax(axis=1))
    total = np.zeros(block.shape)
    for shares, row in zip(block.T, costs, strict=True):
        total += shares[:, np.newaxis] * row
    return np.asarray(total.argmin(axis=1))


def class_losses(block: Floats, label: Ints, costs: Floats | None, power: int = 1) -> Floats:
    """The loss of predicting `label` for rows with the given weights of classes: Σ weight · cost**power."""
    if costs is None:
        return np.asarray(block.sum(axis=1) - np.take_along_axis(block, label[:, np.newaxis], axis=1)[:, 0])
    return np.asarray((block * (costs**power).T[label]).sum(axis=1))
