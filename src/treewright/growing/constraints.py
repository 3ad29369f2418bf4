"""Constraints on a tree: monotonic columns, interactions, feature costs, treatment of missing values.

Parameters of `grow` refer to columns by name or position, the core by position. `Constraints.of` converts
the one to the other and rejects invalid values and combinations with messages that name the parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._arrays import Array, Floats
from treewright._suggestions import choices_text
from treewright.encoding import Dataset
from treewright.encoding.schema import Missing, Schema
from treewright.parameters.checks import is_int, is_real
from treewright.tree.number_losses import predicts_medians

ByColumn = Mapping[Any, Any] | Sequence[Any] | Array
Groups = str | Iterable[Iterable[Any]]

_PARAMETERS = (
    "missing",
    "n_surrogates",
    "monotonic_cst",
    "interaction_cst",
    "feature_costs",
    "max_features_used",
)
_USUAL_WAYS = {"splitter": "best", "selection": "gain", "split": "axis"}
_SIGNS = (-1, 0, 1)
_LARGEST_COUNT = 2**31 - 1


@dataclass(frozen=True)
class Constraints:
    """The constraints on a tree as the core takes them; None and -1 stand for no constraint."""

    missing: Missing = "learn"
    n_surrogates: int = 5
    monotone: NDArray[np.int8] | None = None  # by column: 1 increasing, -1 decreasing, 0 unconstrained
    groups: list[list[int]] | None = None  # columns that may be tested on one path together
    max_columns_used: int = -1
    prices: Floats | None = None  # of measuring each column
    costs: Floats | None = None  # of mistakes, for the generalised Gini index
    multiway: bool = False  # one branch for each category
    once: bool = False  # a column is tested once on a path
    release8: bool = False  # the split criteria of C4.5, release 8

    @classmethod
    def of(
        cls,
        schema: Schema,
        missing: Missing = "learn",
        n_surrogates: int = 5,
        monotonic_cst: ByColumn | None = None,
        interaction_cst: Groups | None = None,
        feature_costs: ByColumn | None = None,
        max_features_used: int | None = None,
    ) -> Constraints:
        """The constraints that the parameters of `grow` describe; ValueError where they are invalid.

        >>> from treewright import Column, Schema
        >>> schema = Schema((Column("age"), Column("income"), Column("job", "category", ("clerk", "cook"))))
        >>> Constraints.of(schema, monotonic_cst={"income": -1}).monotone.tolist()
        [0, -1, 0]
        >>> Constraints.of(schema, interaction_cst=[["age", "job"]]).groups
        [[0, 2]]
        >>> Constraints.of(schema, monotonic_cst={"job": 1})  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        ValueError: monotonic_cst: column 'job' holds categories, which have no order; ...
        """
        stakes = schema.targets[0].stakes
        given = monotonic_cst, interaction_cst, feature_costs, max_features_used, stakes
        if missing == "learn" and all(value is None for value in given):
            return _UNCONSTRAINED  # the usual case, and small trees grow in microseconds
        found = cls(
            missing=missing,
            n_surrogates=min(n_surrogates, _LARGEST_COUNT),
            monotone=_monotone(schema, monotonic_cst),
            groups=_groups(schema, interaction_cst),
            max_columns_used=_columns_used(schema, max_features_used),
            prices=_prices(schema, feature_costs),
            costs=None if stakes is None else np.array(stakes),
        )
        _check_together(found, schema)
        return found

    @classmethod
    def of_options(cls, schema: Schema, options: Mapping[str, Any]) -> Constraints:
        """The constraints among the options of `grow`."""
        found = cls.of(schema, *map(options.__getitem__, _PARAMETERS))
        return replace(found, **options["_constraints"]) if options["_constraints"] else found

    @property
    def parameters_set(self) -> list[str]:
        """The parameters that were set and that only the constrained grower supports."""
        return [
            *([f"missing={self.missing!r}"] if self.missing not in ("learn", "error") else []),
            *(["monotonic_cst"] if self.monotone is not None else []),
            *(["interaction_cst"] if self.groups is not None else []),
            *(["feature_costs"] if self.prices is not None else []),
            *(["feature_costs=FeatureCosts(max_used=…)"] if self.max_columns_used >= 0 else []),
            *(["costs=Costs(split='generalised_gini')"] if self.costs is not None else []),
            *[name for name in ("multiway", "once", "release8") if getattr(self, name)],
        ]

    @property
    def need_constrained_grower(self) -> bool:
        """Whether the fast grower does not support them."""
        return bool(self.parameters_set)

    @property
    def core_arguments(self) -> dict[str, Any]:
        """The arguments of the core's constrained grower."""
        return vars(self) | {"missing": "learn" if self.missing == "error" else self.missing}


_UNCONSTRAINED = Constraints()


def check_compatible(
    found: Constraints,
    data: Dataset,
    criterion: str,
    options: Mapping[str, Any],
) -> None:
    """Refuse constraints that are incompatible with other parameters of `grow` or with the rows."""
    if found.missing == "error":
        refuse_missing_values(data)
    others = [f"{name}={options[name]!r}" for name, usual in _USUAL_WAYS.items() if options[name] != usual]
    if len(others) > 1:
        raise ValueError(f"{others[0]} does not go with {others[1]}; choose one of them")
    if not found.need_constrained_grower:
        return
    first = found.parameters_set[0]
    if others and not others[0].startswith("splitter"):
        name = others[0].split("=")[0]
        raise ValueError(f"{first} does not go with {others[0]}; set {name}={_USUAL_WAYS[name]!r}")
    if found.costs is not None and criterion != "gini":
        raise ValueError(f"{first} needs criterion='gini'; 'altered_priors' goes with any criterion")
    if found.missing == "fractional" and any(target.emphasis for target in data.schema.targets):
        raise ValueError(
            "missing='fractional' divides rows by weights, and costs and priors change the weights for the "
            "splits: set costs=Costs(…, split='none'), or let missing be 'learn', 'surrogate' or 'category'"
        )
    if predicts_medians(criterion) and found.missing == "fractional":
        raise ValueError(
            f"missing='fractional' does not go with criterion={criterion!r}: medians are of whole rows. Take "
            "'squared_error' or 'poisson', or let missing be 'learn', 'surrogate' or 'category'"
        )


def refuse_missing_values(data: Dataset) -> None:
    """Refuse training rows with a missing value; the error names the first one.

    >>> from treewright import encode
    >>> refuse_missing_values(encode({"age": [31, None, 45]}, [0, 1, 1]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: column 'age' has a missing value in row 1, and missing is 'error'; ...
    """
    for j, column in enumerate(data.schema.columns):
        hole = column.type.is_unknown(data.column(j))
        if hole.any():
            raise ValueError(
                f"column {column.name!r} has a missing value in row {int(np.argmax(hole))}, and missing is "
                "'error'; fill it in, or let missing be 'learn', 'surrogate', 'fractional' or 'category'"
            )


def _check_together(found: Constraints, schema: Schema) -> None:
    """Refuse constraints that contradict each other."""
    if found.monotone is not None and found.missing in ("surrogate", "fractional"):
        raise ValueError(
            f"monotonic_cst does not go with missing={found.missing!r}: rows with missing values would "
            "reach leaves whose order is not constrained; let missing be 'learn', 'category' or 'error'"
        )
    if found.groups is not None and found.missing == "surrogate":
        raise ValueError(
            "interaction_cst does not go with missing='surrogate': a surrogate would bring a column from "
            "outside the group into the path; choose another value of missing"
        )


def _monotone(schema: Schema, given: ByColumn | None) -> NDArray[np.int8] | None:
    if given is not None and len(schema.targets) != 1:
        raise ValueError(
            "Monotonicity constraints are not supported with multiple outputs: monotonic_cst is for one "
            f"target, the table has {len(schema.targets)}"
        )
    signs = np.zeros(len(schema.columns), np.int8)
    for position, sign in _by_column("monotonic_cst", schema, given):
        column = schema.columns[position]
        if not is_real(sign) or sign not in _SIGNS:
            raise ValueError(
                "monotonic_cst must be None or an array-like of -1, 0 or 1, or a dict of them by column: "
                f"column {column.name!r} has {sign!r} in {given}"
            )
        if sign and column.is_category:
            raise ValueError(
                f"monotonic_cst: column {column.name!r} holds categories, which have no order; it must be 0 "
                "or left out"
            )
        signs[position] = sign
    return signs if signs.any() else None


def _prices(schema: Schema, given: ByColumn | None) -> Floats | None:
    prices = np.zeros(len(schema.columns))
    for position, price in _by_column("feature_costs", schema, given):
        if not is_real(price) or not 0 <= float(price) < np.inf:
            name = schema.columns[position].name
            raise ValueError(
                f"feature_costs: column {name!r} has {price!r}; it must be a number of at least 0"
            )
        prices[position] = float(price)
    return prices if prices.any() else None


def _groups(schema: Schema, given: Groups | None) -> list[list[int]] | None:
    """The groups by position; the core treats each column without a group as a group of its own."""
    if given is None:
        return None
    n_columns = len(schema.columns)
    if isinstance(given, str):
        if given == "no_interactions":
            return [[column] for column in range(n_columns)]
        if given == "pairwise":
            return [list(pair) for pair in combinations(range(n_columns), 2)] or [[0]]
        raise ValueError(
            f"interaction_cst is {given!r}; it must be 'pairwise', 'no_interactions' or groups of columns"
        )
    if not _is_listed(given) or not all(_is_listed(group) for group in given):
        raise ValueError(
            f"interaction_cst is {given!r}; it must be 'pairwise', 'no_interactions' or groups of columns, "
            "each a list of names or positions"
        )
    return [sorted({_position("interaction_cst", schema, key) for key in group}) for group in given]


def _columns_used(schema: Schema, most: int | None) -> int:
    return -1 if most is None or most >= len(schema.columns) else most


def _by_column(name: str, schema: Schema, given: ByColumn | None) -> list[tuple[int, Any]]:
    """(position, value) pairs from a dict by column or from a sequence with one entry per column."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [(_position(name, schema, key), value) for key, value in given.items()]
    if isinstance(given, str) or not hasattr(given, "__len__"):
        raise ValueError(
            f"{name} is {given!r}; it must be a dict by column, or a list with one entry for each"
        )
    if len(given) != len(schema.columns):
        raise ValueError(
            f"{name} has shape {len(given)} but the input data X has {len(schema.columns)} features: it must "
            "have one entry for each column, or be a dict by column"
        )
    return list(enumerate(given))


def _position(parameter: str, schema: Schema, key: Any) -> int:
    """The position of a column given by name or by position."""
    if isinstance(key, str) and key in schema.names:
        return schema.names.index(key)
    if is_int(key) and 0 <= key < len(schema.columns):
        return int(key)
    known = choices_text(key, schema.names, in_quotes=True)
    raise ValueError(f"{parameter}: there is no column {key!r}; the columns are {known}")


def _is_listed(value: Any) -> bool:
    """Whether a value is a collection rather than a single name."""
    return isinstance(value, Iterable) and not isinstance(value, str | Mapping)
