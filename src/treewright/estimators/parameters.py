"""The parameters of the estimators: what each may be, and what it means for the table at hand.

scikit-learn's own validation costs about as much as growing a small tree; this one costs a few microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, get_args

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import InvalidParameterError

from treewright.encoding.schema import MISSING
from treewright.growing.limits import ROW_LIMITS, n_features_drawn, row_count
from treewright.neighbours.kd_tree import METRICS, Search
from treewright.parameters.tree import GROW
from treewright.tree.conditions import Among, Below

Rule = tuple[Callable[[Any], bool], str]  # whether a value is allowed, and what is, in words


def is_int(value: Any) -> bool:
    """Whether a value is a whole number and not a truth value."""
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool | np.bool_))


def is_fraction(value: Any) -> bool:
    """Whether a value is a real number that is not whole by type: 1.0 is a fraction, 1 is a count."""
    return type(value) is float or (isinstance(value, Real) and not isinstance(value, Integral | np.bool_))


def is_real(value: Any) -> bool:
    """Whether a value is a number and not a truth value."""
    return is_fraction(value) or is_int(value)


def at_least(lowest: int) -> Rule:
    """A whole number from `lowest` on, or None."""
    return (lambda v: v is None or (is_int(v) and v >= lowest)), f"an int >= {lowest}, or None"


def one_of(*names: str) -> Rule:
    """One of some names."""
    return (lambda v: isinstance(v, str) and v in names), "one of " + ", ".join(map(repr, names))


def not_negative() -> Rule:
    """A finite number from zero on."""
    return (lambda v: is_real(v) and 0 <= v < float("inf")), "a finite number >= 0"


def by_column() -> Rule:
    """A dict by the names of columns, one entry for each column, or None; `grow` knows the columns."""
    allowed = "a dict by column, one entry for each, or None"
    return (lambda v: v is None or isinstance(v, Mapping | list | tuple | np.ndarray)), allowed


def _is_random_state(value: Any) -> bool:
    return value is None or isinstance(value, np.random.RandomState) or (is_int(value) and 0 <= value < 2**32)


_BOOL: Rule = (lambda v: isinstance(v, bool | np.bool_), "True or False")

RULES: dict[str, Rule] = {
    "min_objs": (lambda v: is_int(v) and v >= 1, "an int >= 1"),  # before the names that follow from it
    "criterion": (lambda v: isinstance(v, str), "the name of a criterion"),  # the grower knows the names
    "splitter": one_of("best", "random"),
    "selection": one_of("gain", "test"),
    "max_depth": at_least(1),
    "min_samples_split": (
        lambda v: (is_int(v) and v >= 2) or (is_fraction(v) and 0 < v <= 1),
        "an int >= 2, or a float in (0, 1]: a fraction of the rows",
    ),
    "min_samples_leaf": (
        lambda v: (is_int(v) and v >= 1) or (is_fraction(v) and 0 < v < 1),
        "an int >= 1, or a float in (0, 1): a fraction of the rows",
    ),
    "min_weight_fraction_leaf": (lambda v: is_real(v) and 0 <= v <= 0.5, "a number in [0, 0.5]"),
    "max_features": (
        lambda v: (
            v is None
            or (isinstance(v, str) and v in ("sqrt", "log2"))
            or (is_int(v) and v >= 1)
            or (is_fraction(v) and 0 < v <= 1)
        ),
        "an int >= 1, a float in (0, 1]: a fraction of the columns, 'sqrt', 'log2', or None: all columns",
    ),
    "random_state": (_is_random_state, "an int in [0, 2**32), a numpy RandomState, or None"),
    "max_leaf_nodes": at_least(2),
    "min_impurity_decrease": not_negative(),
    "ccp_alpha": not_negative(),
    "monotonic_cst": by_column(),
    "missing": one_of(*MISSING),
    "n_surrogates": (lambda v: is_int(v) and v >= 0, "an int >= 0"),
    "category_gain": one_of("corrected", "plain"),
    "interaction_cst": (
        lambda v: v is None or v in ("pairwise", "no_interactions") or isinstance(v, list | tuple | set),
        "'pairwise', 'no_interactions', a list of groups of columns, or None",
    ),
    "feature_costs": by_column(),
    "max_features_used": at_least(1),
    "n_splits": (lambda v: is_int(v) and v >= 0, "an int >= 0"),  # before the other name of it
    "max_splits": at_least(0),
    "raising": _BOOL,
    "cv": (lambda v: is_int(v) and v >= 2, "an int >= 2"),
    "rule": one_of("1-SE", "0-SE"),
    "max_classes": (lambda v: is_int(v) and v >= 2, "an int >= 2"),
    "alpha_merge": (lambda v: is_real(v) and 0 < v <= 1, "a number in (0, 1]"),
    "alpha_split": (lambda v: is_real(v) and 0 < v <= 1, "a number in (0, 1]"),
    "alpha_resplit": (lambda v: v is None or (is_real(v) and 0 < v <= 1), "a number in (0, 1], or None"),
    "pruning": (lambda v: v is None or isinstance(v, str), "the name of a pruning method, or None"),
    "pruning_options": (lambda v: v is None or isinstance(v, Mapping), "a dict of options, or None"),
    "threshold": one_of("readable", "midpoint"),
    "leaf": one_of("constant", "linear"),
    "root": (
        lambda v: v is None or isinstance(v, str | Below | Among),
        "Below(column, threshold), Among(column, categories), the name of a column, or None",
    ),
    "n_competitors": (lambda v: is_int(v) and v >= 0, "an int >= 0"),
    "split": one_of("axis", "oblique"),
    "max_combined": (lambda v: is_int(v) and v >= 2, "an int >= 2"),
    "kinds": (lambda v: v is None or isinstance(v, Mapping | list | tuple), "a dict, a list, or None"),
    "n_estimators": (lambda v: is_int(v) and v >= 1, "an int >= 1"),
    "bootstrap": _BOOL,
    "bootstrap_features": _BOOL,
    "keep_targets": _BOOL,
    "oob_score": (lambda v: callable(v) or isinstance(v, bool | np.bool_), "True, False or a function"),
    "max_samples": (
        lambda v: v is None or (is_int(v) and v >= 1) or (is_fraction(v) and 0 < v <= 1),
        "an int >= 1, a float in (0, 1]: a fraction of the rows, or None",
    ),
    "warm_start": _BOOL,
    "verbose": (lambda v: isinstance(v, bool | np.bool_) or (is_int(v) and v >= 0), "an int >= 0"),
    "voting": one_of("soft", "hard"),
    "n_jobs": (lambda v: v is None or (is_int(v) and v != 0), "an int other than 0, or None"),
    "learning_rate": (lambda v: is_real(v) and 0 < v < float("inf"), "a finite number > 0"),
    "algorithm": one_of("SAMME", "M1"),
    "resample": _BOOL,
    "method": one_of("pessimistic", "validation"),
    "confidence": (lambda v: is_real(v) and 0 < v <= 1, "a number in (0, 1]"),
    "validation_fraction": (lambda v: is_fraction(v) and 0 < v < 1, "a float in (0, 1)"),
    "n_neighbors": (lambda v: is_int(v) and v >= 1, "an int >= 1"),
    "weights": (
        lambda v: v is None or callable(v) or (isinstance(v, str) and v in ("uniform", "distance")),
        "'uniform', 'distance', a function of distances, or None",
    ),
    "leaf_size": (lambda v: is_int(v) and v >= 1, "an int >= 1"),
    "p": (lambda v: is_real(v) and v in (1, 2, float("inf")), "1, 2 or infinity"),
    "metric": one_of(*METRICS),
    "search": one_of(*get_args(Search)),
    "spill": (lambda v: is_real(v) and 0 <= v < 0.5, "a number in [0, 0.5)"),
}
SIGNIFICANCE: Rule = (lambda v: v is None or (is_real(v) and 0 < v <= 1), "a number in (0, 1], or None")
CLASS_WEIGHT: Rule = (
    lambda v: v is None or isinstance(v, dict | list) or (isinstance(v, str) and v == "balanced"),
    "a dict, a list of dicts (one per target), 'balanced', or None",
)


def check_each(estimator: Any, own: Mapping[str, Rule] | None = None) -> None:
    """Refuse a parameter that cannot be, of those that the estimator has; say what would be right.

    `own` rules are those of one estimator alone, and come before the common ones of the same name.
    """
    for name, (allows, allowed) in (RULES | dict(own or {})).items():
        if hasattr(estimator, name) and not allows(getattr(estimator, name)):
            _refuse(estimator, name, allowed)


def check_parameters(estimator: Any) -> None:
    """Refuse a parameter of a tree that is not possible, or not together with another one."""
    estimator.check_parameters()
    if estimator.pruning is not None and estimator.ccp_alpha > 0:
        estimator.refuse_parameter(
            "ccp_alpha", "zero where there is pruning (or pruning=CostComplexity(alpha=…))"
        )


def _refuse(estimator: Any, name: str, allowed: str) -> None:
    kind, value = type(estimator).__name__, getattr(estimator, name)
    raise InvalidParameterError(f"{kind}: {name}={value!r} is not possible; it must be {allowed}")


def growing_options(estimator: Any, n_rows: int, n_columns: int, weight: float) -> dict[str, Any]:
    """The arguments of `grow`: the parameters of an estimator, fractions as counts and weights of this table.

    `n_rows` and `weight` are those of the rows with a positive weight, so that a row of weight zero is as
    good as absent here, too.
    """
    options = {name: getattr(estimator, name) for name in GROW if hasattr(estimator, name)}
    for name in ROW_LIMITS:
        options[name] = row_count(name, options[name], n_rows)
    drawn = n_features_drawn(estimator.max_features, n_columns)
    draws_sums = options.get("split", "axis") != "axis" and estimator.random_state is not None
    is_random = estimator.splitter == "random" or drawn < n_columns or draws_sums
    return {
        **options,
        "max_features": drawn,
        "min_weight_leaf": float(estimator.min_weight_fraction_leaf) * weight,
        "min_gain": float(estimator.min_impurity_decrease) * weight,
        # without chance in the growing the seed is not even drawn: the tree depends on the table alone
        "seed": int(check_random_state(estimator.random_state).randint(2**31 - 1)) if is_random else 0,
    }
