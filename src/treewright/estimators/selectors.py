"""What the selectors of columns share: from a table to rows with targets, and a table with fewer columns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import validate_data

from treewright.encoding import Dataset, encode
from treewright.estimators.fitting import (
    Fitted,
    any_table,
    column_names,
    is_unknown_to_sklearn,
    refuse_one_dimension,
)
from treewright.estimators.parameters import RULES, Rule, at_least, is_fraction, is_int, is_real
from treewright.estimators.selecting_tables import in_container, with_columns
from treewright.estimators.targets import plain_target
from treewright.growing import criteria

RULES_OF_ALL: dict[str, Rule] = {name: RULES[name] for name in ("random_state", "kinds", "n_jobs")}


def positive(name: str) -> Rule:
    """A whole number from 1 on."""
    return (lambda v: is_int(v) and v >= 1), f"an int >= 1: {name}"


def a_level() -> Rule:
    """A number between 0 and 1."""
    return (lambda v: is_real(v) and 0 < v < 1), "a number in (0, 1)"


def or_none(rule: Rule) -> Rule:
    """What a rule allows, or None."""
    allows, allowed = rule
    return (lambda v: v is None or allows(v)), f"{allowed}, or None"


COUNT: Rule = (
    lambda v: (is_int(v) and v >= 1) or (is_fraction(v) and 0 < v <= 1),
    "an int >= 1, or a float in (0, 1]: a fraction of the columns",
)
CRITERION: Rule = (lambda v: v is None or isinstance(v, str), "the name of a criterion, or None")
MIN_LEAF: Rule = RULES["min_samples_leaf"]
FEATURES: Rule = RULES["max_features"]
DEPTH: Rule = at_least(1)


class TableSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """The scikit-learn clothes of a way to select columns of a table of any kind."""

    support_: NDArray[np.bool_]
    n_features_in_: int
    kinds: Any
    random_state: Any

    def transform(self, X: Any) -> Any:
        """The table with the kept columns only.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Rows with the columns of the fit.

        Returns
        -------
        table of shape (n_rows, n_kept_columns)
            What has names keeps its form: a pandas or polars frame, an Arrow table, a dict of columns; arrays
            and sparse matrices stay what they are, lists of rows become arrays. `set_output` asks for pandas
            or polars instead.
        """
        support = self._get_support_mask()
        refuse_one_dimension(X)
        names = vars(self).get("feature_names_in_")
        if is_unknown_to_sklearn(X):
            _check_names(X, names)
        else:
            validate_data(self, X, reset=False, skip_check_array=True)
        self._check_cells(X)
        if not support.any():
            warnings.warn(
                f"{type(self).__name__} has kept no column: none passed; make it less strict, or see whether "
                "the columns tell of the target at all",
                UserWarning,
                stacklevel=2,
            )
        kept = None if names is None else names[support].tolist()
        table = with_columns(X, np.flatnonzero(support).tolist(), kept)
        container = _get_output_config("transform", estimator=self)["dense"]
        return in_container(table, container)

    def _check_cells(self, X: Any) -> None:
        """Refuse a table whose cells a selector cannot take; the columns are those of the fit."""

    def _get_support_mask(self) -> NDArray[np.bool_]:
        if "support_" not in vars(self):
            name = type(self).__name__
            raise NotFittedError(f"this {name} is not fitted yet; call fit with a table and a target first")
        return self.support_

    def _encoded(
        self, X: Any, y: Any, sample_weight: Any = None, classes: bool | None = None, kinds: Any = None
    ) -> tuple[Dataset, Fitted]:
        """The rows with their targets, and what there is to tell about them."""
        refuse_one_dimension(X)
        target = plain_target(y, type(self).__name__)
        data = encode(X, target, weight=sample_weight, kinds=kinds or self.kinds, classes=classes)
        names = column_names(X, data.schema)
        described: Fitted = {"n_features_in_": data.n_columns}
        return data, described if names is None else described | {"feature_names_in_": names}

    def _seed(self) -> int:
        """The seed of all draws of a fit."""
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _refuse(self, name: str, allowed: str) -> ValueError:
        value = getattr(self, name)
        return ValueError(f"{type(self).__name__}: {name}={value!r} is not possible; it must be {allowed}")

    def _count(self, name: str, n_columns: int) -> int:
        """How many columns a parameter asks for, in a table of so many."""
        asked = getattr(self, name)
        count = int(asked) if is_int(asked) else max(1, int(asked * n_columns))
        if count > n_columns:
            raise self._refuse(name, f"at most the number of columns, {n_columns}")
        return count

    def __sklearn_is_fitted__(self) -> bool:
        return "support_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = any_table(super().__sklearn_tags__())
        tags.target_tags.required = True
        return tags


def _check_names(X: Any, names: NDArray[Any] | None) -> None:
    """A table of a kind that scikit-learn does not know must have the columns of the fit."""
    if names is None:
        raise ValueError("this table has names of columns, but that of the fit had none; give an array")
    rows = X if isinstance(X, list) else [X]
    if not isinstance(rows[0], Mapping):
        return
    given = {str(name) for row in rows for name in row}
    lacking = [name for name in names.tolist() if name not in given]
    if lacking:
        raise ValueError(f"the table has no column {', '.join(map(repr, lacking[:5]))}, which the fit had")


def classes_by(criterion: str | None) -> bool | None:
    """Whether a criterion takes the target for classes or numbers; None leaves it to the target itself."""
    if criterion is None:
        return None
    return criterion not in criteria("numbers")
