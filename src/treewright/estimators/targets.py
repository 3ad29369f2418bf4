"""Targets of estimators: the arrays of their classes, and the weights of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from treewright._suggestions import did_you_mean
from treewright.advice import warn_caller
from treewright.encoding import Dataset
from treewright.encoding.schema import Schema

Classes = list[NDArray[Any]]  # per target


class SparseTargetError(TypeError, ValueError):
    """A sparse target: scikit-learn's trees raise a TypeError, its forests a ValueError."""


def plain_target(y: Any, estimator: str) -> Any:
    """The target; strings are labels here, never names of columns."""
    if y is None:
        raise ValueError(f"{estimator} requires y to be passed, but the target y is None")
    if isinstance(y, str):
        raise ValueError(
            f"y is the text {y!r}; it must be one label or number per row, such as table[{y!r}], "
            "and X the other columns"
        )
    if issparse(y):
        raise SparseTargetError("sparse multilabel-indicator for y is not supported; pass y.toarray()")
    if isinstance(y, list | tuple) and all(isinstance(label, str) for label in y):
        return np.array(y, dtype=object)
    return y


def known_criterion(criterion: Any) -> Any:
    """The criterion by the name that the grower knows; scikit-learn's "friedman_mse" with its warning."""
    if criterion != "friedman_mse":
        return criterion
    warn_caller(
        "criterion='friedman_mse' grows the trees of 'squared_error' and will be removed, as in "
        "scikit-learn; use 'squared_error' instead",
        FutureWarning,
    )
    return "squared_error"


def class_arrays(schema: Schema, y: Any) -> Classes:
    """The sorted classes of each target, in the dtype of the given labels."""
    given = getattr(y, "dtype", None)
    arrays = []
    for target in schema.targets:
        labels = target.classes or ()
        if isinstance(given, np.dtype):
            arrays.append(np.array(labels, dtype=given))
        elif isinstance(y, list | tuple) or not isinstance(labels[0], str):
            arrays.append(np.array(labels))
        else:  # text of pandas, polars and Arrow has no fixed width
            arrays.append(np.array(labels, dtype=object))
    return arrays


def class_attributes(schema: Schema, y: Any) -> dict[str, Any]:
    """`classes_` and `n_classes_`, of one target or of several."""
    classes = class_arrays(schema, y)
    sizes = np.array([len(labels) for labels in classes], dtype=np.intp)
    if len(classes) == 1:
        return {"classes_": classes[0], "n_classes_": sizes[0]}
    return {"classes_": classes, "n_classes_": sizes}


def weight_by_class(data: Dataset, class_weight: Any) -> Dataset:
    """Rows with the weights of their classes, if any are given."""
    if class_weight is None:
        return data
    classes = [np.array(target.classes) for target in data.schema.targets]
    return data.with_weight(class_weights(class_weight, classes, data.targets, data.weight))


def class_weights(
    class_weight: Any, classes: Classes, codes: NDArray[Any] | None, weight: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """The final weight of each row: the given one times that of its class, for each target."""
    factors = class_factors(class_weight, classes, codes, weight)
    result = factors if weight is None else weight * factors
    if not result.any():
        raise ValueError(f"all weights are zero after class_weight={class_weight!r}")
    return result


def class_factors(
    class_weight: Any, classes: Classes, codes: NDArray[Any] | None, weight: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """The weight of the class of each row, multiplied over the targets."""
    assert codes is not None
    per_target = _per_target(class_weight, len(classes))
    factors = np.ones(codes.shape[1])
    for given, labels, code in zip(per_target, classes, codes, strict=True):
        by_class = (
            _balanced_weights(code, len(labels), weight)
            if given == "balanced"
            else _dict_weights(given, labels)
        )
        factors *= by_class[code]
    return factors


def factors_of(data: Dataset, class_weight: Any) -> NDArray[np.float64]:
    """The weight of the class of each row of a table."""
    classes = [np.array(target.classes) for target in data.schema.targets]
    return class_factors(class_weight, classes, data.targets, data.weight)


def _per_target(class_weight: Any, n_targets: int) -> Sequence[Any]:
    if isinstance(class_weight, list):
        if len(class_weight) != n_targets:
            raise ValueError(
                "number of elements in class_weight should match number of outputs: it has "
                f"{len(class_weight)} dicts, but y has {n_targets} targets"
            )
        return class_weight
    if isinstance(class_weight, Mapping) and n_targets > 1:
        raise ValueError(f"class_weight must be 'balanced' or a list of {n_targets} dicts, one per target")
    return [class_weight] * n_targets


def _balanced_weights(code: NDArray[np.int32], n_classes: int, weight: Any) -> NDArray[np.float64]:
    """Factors that give each class the same total weight."""
    totals = np.bincount(code, weights=weight, minlength=n_classes).astype(np.float64)
    present = totals > 0
    factors = np.zeros(n_classes)
    factors[present] = totals.sum() / (present.sum() * totals[present])
    return factors


def _dict_weights(weights: Any, labels: NDArray[Any]) -> NDArray[np.float64]:
    """The weights of the classes in a dict; 1 for a class that is not in it."""
    if not isinstance(weights, Mapping):
        raise ValueError(f"class_weight must give each target a dict of weights by class; got {weights!r}")
    known = labels.tolist()
    unknown = [label for label in weights if label not in known]
    without = [label for label in known if label not in weights]
    if unknown and without:
        hint = did_you_mean(unknown[0], without)
        raise ValueError(f"class_weight has no {without!r}, but has {unknown!r}, which y has not{hint}")
    factors = np.array([weights.get(label, 1.0) for label in known], dtype=np.float64)
    if not (np.isfinite(factors).all() and (factors >= 0).all()):
        raise ValueError(f"class_weight must be finite and not negative; got {dict(weights)!r}")
    return factors
