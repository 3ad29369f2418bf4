"""TreeSelector: the columns from which trees score best on held-out rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics._scorer import _BaseScorer
from sklearn.model_selection import check_cv

from treewright import _core
from treewright.encoding import Dataset
from treewright.encoding.splits import folds
from treewright.ensembles.side_by_side import Listener
from treewright.estimators._scoring import scorer_of
from treewright.estimators._tables import Fitted
from treewright.estimators.fitting import TreeEstimator, check_parameters
from treewright.estimators.selectors._base import TableSelector, support_mask
from treewright.estimators.targets import class_arrays, class_attributes
from treewright.estimators.tree import DecisionTreeClassifier, DecisionTreeRegressor, TreeRegressor
from treewright.feature_selection.wrapper import SelectionPath, search_columns
from treewright.growing import n_threads
from treewright.parameters.checks import is_int
from treewright.parameters.selectors import SearchOptions, WrapperParameters
from treewright.parameters.values import Gain, Pruning
from treewright.tree import Tree
from treewright.tree.predict import answers

# The prunings that do not depend on the number of columns.
_WITHOUT_COLUMN_COUNT = (None, *map(Pruning.of, ("cost_complexity", "reduced_error", "pessimistic")))
_BY_COLUMN = ("monotonic_cst", "feature_costs", "interaction_cst")


class TreeSelector(WrapperParameters, SearchOptions, TableSelector):
    """A wrapper method: keep the columns from which trees score best on held-out rows.

    The table is encoded once; trees are grown from sets of its columns in each fold of a cross-validation.
    The sets are found by sequential search, which adds the column that helps most or drops the one that is
    missed least, or by recursive feature elimination.

    The score of the chosen set is optimistic, because it is the best of many. For an unbiased one, run a
    cross-validation around the selector: ``cross_val_score(make_pipeline(TreeSelector(),
    DecisionTreeClassifier()), X, y)`` selects the columns within each fold.

    Attributes
    ----------
    cv_results_ : dict of ndarrays
        One entry for each set of the search: `n_features`, `mean_test_score`, `std_test_score`,
        `standard_error`, `split0_test_score` …, `columns` (positions) and `changed` (names of the columns
        added or dropped).
    path_ : treewright.feature_selection.SelectionPath
        The same as a value; ``print`` shows it with a star at the chosen set.
    n_features_ : int
        The number of columns that are kept.
    estimator_ : estimator
        The tree estimator of the search, not fitted.

    See Also
    --------
    SplitFilter : Faster: one column at a time, no trees.
    ShadowSelector : All columns that matter, also those that others could replace.

    Notes
    -----
    A tree that does not test a column is the same tree without it: "backward" and "rfe" do not grow it again
    (unless its growing draws at random, or its pruning depends on the number of columns).

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import TreeSelector
    >>> x = np.random.default_rng(0).normal(size=(100, 6))
    >>> keep = TreeSelector(random_state=0).fit(x, (x[:, 1] > 0) & (x[:, 4] < 1))
    >>> keep.get_support(indices=True)
    array([1, 4])
    >>> print(keep.path_)
    columns    score     ± SE   added
          1   0.8800   0.0122   x1
          2   1.0000   0.0000   x4      *
    """

    def _selection(self, X: Any, y: Any, sample_weight: Any) -> Fitted:
        model = self._tree_estimator()
        classes = None if model is None else not isinstance(model, TreeRegressor)
        kinds = self.kinds or getattr(model, "kinds", None)
        data, columns = self._encode(X, y, sample_weight, classes, kinds)
        if model is None:
            model = DecisionTreeClassifier() if data.schema.predicts_classes else DecisionTreeRegressor()
        seed, model = self._seed(), clone(model)
        if "n_jobs" in model.get_params():
            model.set_params(n_jobs=None)
        if "random_state" in model.get_params() and not is_int(model.random_state):
            model.set_params(random_state=seed)
        n_columns = None
        if self.n_features_to_select != "best":
            n_columns = self._n_columns("n_features_to_select", data.n_columns)
        if data.n_rows > _core.small_rows:
            data.bins(n_threads(self.n_jobs))
        path = search_columns(
            data,
            self._folds(data, y, seed),
            _Trees(model, data, y, self.scoring),
            n_features_to_select=n_columns,
            **self._options(SearchOptions, n_jobs=self.n_jobs),
        )
        return {
            **columns,
            "path_": path,
            "cv_results_": _cv_results(path),
            "n_features_": len(path.columns),
            "support_": support_mask(list(path.columns), data.n_columns),
            "estimator_": model,
        }

    def _tree_estimator(self) -> Any:
        """The parameter `estimator`, checked."""
        if self.estimator is None:
            return None
        if not isinstance(self.estimator, TreeEstimator):
            self.refuse_parameter(
                "estimator", "a tree of treewright (for other models: sklearn's SequentialFeatureSelector)"
            )
        if getattr(self.estimator, "root", None) is not None:
            raise ValueError(
                "TreeSelector: estimator has a given root, which not every set of columns can test"
            )
        check_parameters(self.estimator)
        return self.estimator

    def _folds(self, data: Dataset, y: Any, seed: int) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Positions of training rows and test rows."""
        if is_int(self.cv):
            if data.n_counted < self.cv:
                self.refuse_parameter(
                    "cv", f"at most the number of rows of positive weight: n_samples = {data.n_counted}"
                )
            fold = folds(data, int(self.cv), seed)
            return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(int(self.cv))]
        splitter = check_cv(self.cv, np.asarray(y), classifier=data.schema.predicts_classes)
        pairs = list(splitter.split(np.zeros((data.n_rows, 1)), np.asarray(y)))
        if not pairs:
            self.refuse_parameter("cv", "at least one pair (training rows, test rows)")
        return pairs


class _Trees:
    """How trees are grown and scored in a search for columns."""

    def __init__(self, estimator: TreeEstimator, data: Dataset, y: Any, scoring: Any) -> None:
        self.estimator, self.names = estimator, data.schema.names
        # without random draws a tree depends only on the columns that it tests
        plain = type(estimator) in (DecisionTreeClassifier, DecisionTreeRegressor)
        self.ignores_untested_columns = plain and _ignores_untested_columns(estimator)
        self.classes = class_arrays(data.schema, y) if data.schema.predicts_classes else None
        self.attributes: Fitted = {"n_outputs_": len(data.schema.targets)}
        if data.schema.predicts_classes:
            self.attributes |= class_attributes(data.schema, y)
        self.scorer = None if scoring is None else scorer_of(estimator, scoring)

    def grow(self, data: Dataset, listener: Listener) -> Tree:
        """The tree of a fit of the estimator."""
        estimator: TreeEstimator = copy(_for_columns(self.estimator, self.names, data.schema.names))
        growing = estimator._growing
        # with the listener, so that an exception of it ends the growing as well
        vars(estimator)["_growing"] = lambda rows: growing(rows) | {"progress": listener}
        return estimator._tree_of(data)

    def score(self, tree: Tree, data: Dataset) -> float:
        """The score by the scorer, or the accuracy, or R²."""
        if self.scorer is None:
            return _default_score(tree, data)
        model = copy(self.estimator)  # as it is fitted, but it predicts encoded rows
        fitted = self.attributes | {"model_": tree}
        vars(model).update(fitted, _rows=lambda rows: (fitted, rows))
        truth = np.asarray(data.targets)
        if self.classes is not None:
            truth = np.stack([labels[code] for labels, code in zip(self.classes, truth, strict=True)])
        y = truth[0] if len(truth) == 1 else truth.T
        takes_weight = data.weight is not None and isinstance(self.scorer, _BaseScorer)
        score = self.scorer(model, data, y, **({"sample_weight": data.weight} if takes_weight else {}))
        if not np.isfinite(score):
            raise ValueError(f"scoring={self.scorer!r} gives {score} for a fold; a score must be finite")
        return float(score)


def _default_score(tree: Tree, data: Dataset) -> float:
    """The accuracy, or R², by weight, averaged over the targets."""
    predicted, truth, weight = answers(tree, data).T, np.asarray(data.targets), data.row_weights
    if not weight.any():
        raise ValueError("a fold has no rows of positive weight; use fewer folds")
    if tree.schema.predicts_classes:
        return float(np.average((predicted == truth).mean(axis=0), weights=weight))
    error = np.average((truth - predicted) ** 2, axis=1, weights=weight)
    centred = truth - np.average(truth, axis=1, weights=weight)[:, np.newaxis]
    variance = np.average(centred**2, axis=1, weights=weight)
    explained = 1 - np.divide(error, variance, out=np.ones_like(error), where=variance > 0)
    return float(np.mean(np.where(variance > 0, explained, error == 0)))


def _ignores_untested_columns(estimator: Any) -> bool:
    """Whether a tree stays the same without the columns that it does not test."""
    by_gain = estimator.selection in ("gain", Gain()) and estimator.splitter == "best"
    draws = estimator.max_features is not None or estimator.split != "axis"
    return bool(by_gain and not draws and Pruning.of(estimator.pruning) in _WITHOUT_COLUMN_COUNT)


def _for_columns(estimator: Any, names: Sequence[str], kept_names: Sequence[str]) -> Any:
    """The estimator with its parameters by column restricted to some of the columns."""
    changes = {
        name: _restrict(value, names, kept_names)
        for name in _BY_COLUMN
        if (value := getattr(estimator, name, None)) is not None
    }
    return clone(estimator).set_params(**changes) if changes else estimator


def _restrict(value: Any, names: Sequence[str], kept_names: Sequence[str]) -> Any:
    """A parameter by column, restricted: a dict, one value for each column, or groups of columns."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {name: each for name, each in value.items() if str(name) in kept_names}
    if all(isinstance(each, list | tuple | set | frozenset) for each in value):
        groups = [{names[j] if is_int(j) else str(j) for j in group} & {*kept_names} for group in value]
        return [sorted(group) for group in groups if group]
    place = {name: j for j, name in enumerate(names)}
    return [value[place[name]] for name in kept_names]


def _cv_results(path: SelectionPath) -> dict[str, NDArray[Any]]:
    """The path under scikit-learn's names."""
    columns, changed = np.empty(len(path), object), np.empty(len(path), object)
    for place in range(len(path)):
        columns[place], changed[place] = path.sets[place], path.change(place)
    return {
        "n_features": path.sizes,
        "mean_test_score": path.mean,
        "std_test_score": path.scores.std(axis=1),
        "standard_error": path.standard_error,
        **{f"split{i}_test_score": fold for i, fold in enumerate(path.scores.T)},
        "columns": columns,
        "changed": changed,
    }
