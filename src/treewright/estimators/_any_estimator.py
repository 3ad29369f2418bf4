"""Ensembles that take any estimator: treewright's trees are their own, others are left to scikit-learn."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ClassVar, Self, TypeVar

from scipy.sparse import issparse
from sklearn.exceptions import NotFittedError

from treewright.encoding import Dataset, encode
from treewright.encoding.row_hashes import FitRows, KnownRows, fingerprint
from treewright.estimators._tables import Fitted, is_unknown_to_sklearn, replace_fit
from treewright.estimators.fitting import TreeEstimator
from treewright.estimators.targets import plain_target

_PACKAGE = __name__.partition(".")[0] + "."
_Class = TypeVar("_Class", bound=type)


class AnyEstimator:
    """An ensemble of treewright's trees, or of any other estimators.

    Trees share one encoded table. Other estimators are fitted by scikit-learn's class of the same name; the
    ensemble then has the attributes of that fit, and `left_to` says what runs by scikit-learn's methods.
    """

    estimator: Any
    check_parameters: Any
    parameters: ClassVar[dict[str, Any]]
    _predicts_classes: ClassVar[bool]
    _scikit_learn: ClassVar[type[Any]]  # scikit-learn's class of the same name
    _for_trees: ClassVar[Sequence[str]]  # parameters without a meaning for other estimators
    _of_trees: ClassVar[str]  # the methods and attributes that need trees, in words

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the ensemble to a table.

        A fit that fails or is interrupted leaves the estimator unchanged; bagging with ``warm_start=True``
        keeps the complete trees of an interrupted fit, and the next one continues.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            For treewright's trees a numpy array, a pandas or polars DataFrame, an Arrow table, a sparse
            matrix, a dict of columns or a list of rows, with numbers, categories, dates and missing values.
            For other estimators what these and scikit-learn's class of this name take.
        y : array of shape (n_rows,) or (n_rows, n_targets)
            The classes or numbers to predict.
        sample_weight : array of shape (n_rows,), default=None
            A weight per row, not negative; 0 is the same as leaving the row out.
        **fit_params
            Passed to the `fit` of the estimators by scikit-learn's metadata routing, where that is enabled.

        Returns
        -------
        self
            The fitted estimator.
        """
        self.check_parameters()
        has_others = bool(fit_params) or not self._takes_trees
        fitted = vars(self)
        if getattr(self, "warm_start", False) and ("model_" if has_others else "_of_others") in fitted:
            raise ValueError(
                "warm_start=True continues with the kind of estimator that was fitted before, and estimator "
                f"is now {self.estimator!r}; set warm_start=False"
            )
        if not has_others:
            return super().fit(X, y, sample_weight)  # type: ignore[misc, no-any-return]
        self._fit_others(X, y, sample_weight, fit_params)
        return self

    @property
    def _takes_trees(self) -> bool:
        """Whether the next fit grows treewright's trees."""
        return self.estimator is None or is_own_tree(self.estimator)

    @property
    def _has_others(self) -> bool:
        """Whether the fit was of estimators other than treewright's trees."""
        return "_of_others" in vars(self)

    def _fit_others(self, X: Any, y: Any, sample_weight: Any, fit_params: dict[str, Any]) -> None:
        """Fit by scikit-learn's class, and take over what it has set."""
        self._refuse_what_is_for_trees(X)
        theirs = self._unfitted()
        parameters = vars(theirs).keys() | {"estimator_params"}
        if getattr(self, "warm_start", False):
            before = {name: vars(self)[name] for name in vars(self).get("_of_others", ())}
            vars(theirs).update({name: copy.copy(value) for name, value in before.items()})
        theirs.fit(X, y, sample_weight=sample_weight, **fit_params)
        state = {name: value for name, value in vars(theirs).items() if name not in parameters}
        state |= self._recognised_rows(X, y, sample_weight)
        replace_fit(self, {**state, "_of_others": tuple(state)})

    def _unfitted(self) -> Any:
        """An instance of scikit-learn's class with the parameters of this one."""
        names = inspect.signature(self._scikit_learn).parameters.keys() - set(self._for_trees)
        return self._scikit_learn(**{name: getattr(self, name) for name in names})

    def _refuse_what_is_for_trees(self, X: Any) -> None:
        name, own = type(self).__name__, self.estimator
        for each in self._for_trees:
            if getattr(self, each) != self.parameters[each].default:
                raise ValueError(
                    f"{name}: {each}={getattr(self, each)!r} is for treewright's trees, and estimator is "
                    f"{own!r}; leave {each} at its default"
                )
        if is_unknown_to_sklearn(X):
            raise TypeError(
                f"{name}: X is a {type(X).__name__}, which estimators other than treewright's trees do not "
                "take; make it an array or a DataFrame"
            )

    def _recognised_rows(self, X: Any, y: Any, sample_weight: Any) -> Fitted:
        """What recognises the rows of the fit when others are to judge it; nothing where that would take a
        dense copy of a sparse table, or where the table is none that treewright knows.
        """
        if issparse(X):
            return {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the columns are not read for the model
            try:
                target = plain_target(y, type(self).__name__)
                data = encode(X, target, weight=sample_weight, classes=self._predicts_classes)
            except (TypeError, ValueError):
                return {}
        known = FitRows((KnownRows.of(data),))
        return {"_schema": data.schema, "_fingerprint": fingerprint(data), "_fit_rows": known}

    def _judging_rows(self, X: Any, target: Any) -> Dataset | None:
        if not self._has_others:
            return super()._judging_rows(X, target)  # type: ignore[misc, no-any-return]
        schema = vars(self).get("_schema")
        return None if schema is None else encode(X, target, schema=schema, judging=True)

    def _fitted(self, error: type[Exception] = NotFittedError) -> Fitted:
        if self._has_others:
            own, other = type(self).__name__, type(vars(self)["estimator_"]).__name__
            raise AttributeError(
                f"this {own} was fitted with {other} as its estimator; {self._of_trees} need treewright's "
                "trees, such as estimator=None"
            )
        return super()._fitted(error)  # type: ignore[misc, no-any-return]

    def __sklearn_is_fitted__(self) -> bool:
        return self._has_others or super().__sklearn_is_fitted__()  # type: ignore[misc]

    def __sklearn_tags__(self) -> Any:
        if self._takes_trees:
            return super().__sklearn_tags__()  # type: ignore[misc]
        return self._scikit_learn.__sklearn_tags__(self)


def is_own_tree(estimator: Any) -> bool:
    """Whether an estimator is one of treewright's trees, and no subclass that fits or predicts otherwise."""
    kind = type(estimator)
    methods = [getattr(kind, name, None) for name in ("fit", "predict", "predict_proba")]
    return isinstance(estimator, TreeEstimator) and all(
        method.__module__.startswith(_PACKAGE) for method in methods if method is not None
    )


def left_to(scikit_learn: type[Any], *names: str) -> Callable[[_Class], _Class]:
    """Decorate a class that takes any estimator: the methods and properties that, after a fit of others than
    treewright's trees, are those of scikit-learn's class.
    """

    def decorate(cls: _Class) -> _Class:
        cls._scikit_learn = scikit_learn  # type: ignore[attr-defined]
        for name in names:
            ours, theirs = inspect.getattr_static(cls, name), inspect.getattr_static(scikit_learn, name, None)
            made = _property(name, ours, theirs) if isinstance(ours, property) else _method(ours, theirs)
            setattr(cls, name, made)
        return cls

    return decorate


def _method(ours: Any, theirs: Any) -> Any:
    @wraps(ours)
    def method(self: Any, *args: Any, **others: Any) -> Any:
        return (theirs if self._has_others else ours)(self, *args, **others)

    return method


def _property(name: str, ours: property, theirs: property | None) -> property:
    @wraps(ours.fget)  # type: ignore[arg-type]
    def value(self: Any) -> Any:
        if not self._has_others:
            return ours.fget(self)  # type: ignore[misc]
        return vars(self)[name] if theirs is None else theirs.fget(self)  # type: ignore[misc]

    return property(value)
