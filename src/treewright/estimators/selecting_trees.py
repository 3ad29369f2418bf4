"""TreeSelector: the columns from which trees do best on rows that they have not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.metrics import check_scoring
from sklearn.metrics._scorer import _BaseScorer
from sklearn.model_selection import check_cv

from treewright import _core
from treewright.encoding import Dataset
from treewright.encoding.splits import folds as dealt
from treewright.ensembles.side_by_side import Listener
from treewright.estimators.fitting import TreeEstimator, replace_fit
from treewright.estimators.parameters import (
    RULES,
    Rule,
    check_each,
    check_parameters,
    is_int,
    not_negative,
    one_of,
)
from treewright.estimators.selectors import COUNT, RULES_OF_ALL, TableSelector, or_none
from treewright.estimators.targets import class_arrays
from treewright.estimators.tree import DecisionTreeClassifier, DecisionTreeRegressor, TreeRegressor
from treewright.feature_selection.wrapper import DIRECTIONS, SelectionPath, search_columns
from treewright.growing import n_threads
from treewright.parameters.values import Gain, Pruning
from treewright.tree import Tree
from treewright.tree.predict import answers, proportions

_RULES: dict[str, Rule] = {
    "direction": one_of(*DIRECTIONS),
    "n_features_to_select": (
        lambda v: COUNT[0](v) or (isinstance(v, str) and v == "best"),
        f"{COUNT[1]}, or 'best'",
    ),
    "tol": or_none(not_negative()),
    "rule": RULES["rule"],
    "cv": (
        lambda v: RULES["cv"][0](v) or hasattr(v, "split") or isinstance(v, list | tuple),
        "an int >= 2, a splitter of scikit-learn, or a list of pairs (rows to grow from, rows to judge by)",
    ),
    **RULES_OF_ALL,
}
# prunings that do not count columns
_BLIND = (None, *map(Pruning.of, ("cost_complexity", "reduced_error", "pessimistic")))
_BY_COLUMN = ("monotonic_cst", "feature_costs", "interaction_cst")


class TreeSelector(TableSelector):
    """Keep the columns from which trees do best on rows that they have not seen: a wrapper.

    The table is encoded once; trees are grown from sets of its columns in each fold of a cross validation.
    Sets are found by adding the column that helps most, by taking away the one that is missed least, or by
    recursive elimination of the columns that matter least to the tree of the others.

    The score of the chosen set is the best of many, and so it is too good. What the columns are worth,
    another cross validation around the selector must tell: ``cross_val_score(make_pipeline(TreeSelector(),
    DecisionTreeClassifier()), X, y)``, in which the columns are selected within each fold.

    Parameters
    ----------
    estimator : estimator, default=None
        A tree of treewright, as `DecisionTreeClassifier`, with its pruning and limits; None is a
        `DecisionTreeClassifier`, or a `DecisionTreeRegressor` where `y` are floats. For other models there
        are scikit-learn's SequentialFeatureSelector and RFECV.
    direction : {"forward", "backward", "rfe"}, default="forward"
        "forward" grows up to d²/2 trees per fold for d columns, and is short where few columns do;
        "backward" begins with all, so that it sees columns that help only together; "rfe" grows at most one
        tree per column and fold, each fold eliminating by its own rows.
    n_features_to_select : "best", int or float, default="best"
        How many columns to keep, or which fraction; "best": as many as have the best score, see `rule`.
    cv : int, splitter or list of pairs, default=5
        In how many folds the rows are dealt, each class (or the range of the numbers) spread evenly; or how
        scikit-learn deals them.
    scoring : str or scorer, default=None
        What is to be high: the name of a scorer of scikit-learn, or one by `make_scorer`; None is the share
        of right answers, or R² for numbers, by weight. Of a plain function the table is the encoded one.
    tol : float or None, default=0.0
        For "best", forward and backward: end when the best addition raises the score by no more, or the best
        removal lowers it by more. None goes on to the end.
    step : int or float, default=1
        How many columns an elimination drops, or which fraction of those left; for "rfe".
    rule : {"0-SE", "1-SE"}, default="0-SE"
        "best" is the best score, or the fewest columns within a standard error of it.
    random_state : int, RandomState or None, default=None
        Seeds the folds, and the trees where they draw.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves; those of `estimator` by default.
    n_jobs : int, default=None
        Trees that are grown side by side; the result is the same for any number. None is one, -1 all cores.

    Attributes
    ----------
    cv_results_ : dict of ndarrays
        A line for each set of the search: `n_features`, `mean_test_score`, `std_test_score`,
        `standard_error`, `split0_test_score` …, `columns` (positions) and `changed` (names of the columns
        added or dropped).
    path_ : treewright.feature_selection.SelectionPath
        The same as a value; ``print`` shows it, the chosen set starred.
    n_features_ : int
        How many columns are kept.
    support_ : ndarray of shape (n_features_in_,)
        Whether each column is kept.
    estimator_ : estimator
        The tree that was tried, not fitted.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    See Also
    --------
    SplitFilter : Quicker: one column at a time, no trees.
    ShadowSelector : All columns that matter, also those that others could replace.

    Notes
    -----
    A tree that does not ask for a column is the same tree without it: "backward" and "rfe" do not grow it
    again (unless it draws at random, or its pruning counts columns).

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

    def __init__(
        self,
        estimator: Any = None,
        *,
        direction: str = "forward",
        n_features_to_select: str | int | float = "best",
        cv: Any = 5,
        scoring: Any = None,
        tol: float | None = 0.0,
        step: int | float = 1,
        rule: str = "0-SE",
        random_state: Any = None,
        kinds: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.direction = direction
        self.n_features_to_select = n_features_to_select
        self.cv = cv
        self.scoring = scoring
        self.tol = tol
        self.step = step
        self.rule = rule
        self.random_state = random_state
        self.kinds = kinds
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Search for the columns.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Any table that `DecisionTreeClassifier` takes, with categories and missing values.
        y : array of shape (n_rows,) or (n_rows, n_targets)
            Classes or numbers.
        sample_weight : array of shape (n_rows,), default=None
            A weight per row, not negative; rows are grown from and judged by it.

        Returns
        -------
        self
            The fitted selector.
        """
        check_each(self, _RULES)
        given = self._given()
        classes = None if given is None else not isinstance(given, TreeRegressor)
        kinds = self.kinds if given is None or self.kinds else given.kinds
        data, described = self._encoded(X, y, sample_weight, classes, kinds)
        if given is None:
            given = DecisionTreeClassifier() if data.schema.predicts_classes else DecisionTreeRegressor()
        seed = self._seed()
        estimator = clone(given).set_params(n_jobs=None) if "n_jobs" in given.get_params() else clone(given)
        if "random_state" in given.get_params() and not is_int(given.random_state):
            estimator.set_params(random_state=seed)
        best = self.n_features_to_select == "best"
        n_columns = None if best else self._count("n_features_to_select", data.n_columns)
        if data.n_rows > _core.small_rows:
            data.bins(n_threads(self.n_jobs))
        path = search_columns(
            data,
            self._folds(data, X, y, seed),
            _Trees(estimator, data, y, self.scoring),
            direction=self.direction,  # type: ignore[arg-type]
            n_columns=n_columns,
            tol=self.tol,
            step=self.step,
            rule=self.rule,  # type: ignore[arg-type]
            n_jobs=self.n_jobs,
        )
        support = np.zeros(data.n_columns, np.bool_)
        support[list(path.columns)] = True
        fitted = {"path_": path, "cv_results_": _results(path), "n_features_": len(path.columns)}
        replace_fit(self, described | fitted | {"support_": support, "estimator_": estimator})
        return self

    def _given(self) -> Any:
        """The estimator that was given, once it is clear that it is a tree of ours."""
        if self.estimator is None:
            return None
        if not isinstance(self.estimator, TreeEstimator):
            raise self._refuse(
                "estimator", "a tree of treewright (for other models: sklearn's SequentialFeatureSelector)"
            )
        if getattr(self.estimator, "root", None) is not None:
            raise ValueError(
                "TreeSelector: estimator has a given root, which not every set of columns can ask"
            )
        check_parameters(self.estimator)
        return self.estimator

    def _folds(self, data: Dataset, X: Any, y: Any, seed: int) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Positions of rows to grow from and to judge by."""
        if is_int(self.cv):
            if data.n_counted < self.cv:
                raise self._refuse(
                    "cv", f"at most the number of rows that weigh something: n_samples = {data.n_counted}"
                )
            fold = dealt(data, int(self.cv), seed)
            return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(int(self.cv))]
        splitter = check_cv(self.cv, np.asarray(y), classifier=data.schema.predicts_classes)
        pairs = list(splitter.split(np.zeros((data.n_rows, 1)), np.asarray(y)))
        if not pairs:
            raise self._refuse("cv", "at least one pair of rows to grow from and rows to judge by")
        return pairs


class _Trees:
    """How trees are grown and judged for a search of columns."""

    def __init__(self, estimator: TreeEstimator, data: Dataset, y: Any, scoring: Any) -> None:
        self.estimator, self.names = estimator, data.schema.names
        # without chance in the growing a tree depends on the columns that it asks for alone
        plain = type(estimator) in (DecisionTreeClassifier, DecisionTreeRegressor)
        self.ignores_untested_columns = plain and _ignores_untested_columns(estimator)
        self.classes = class_arrays(data.schema, y) if data.schema.predicts_classes else None
        self.scorer = None if scoring is None else check_scoring(estimator, scoring=scoring)

    def grow(self, data: Dataset, listener: Listener) -> Tree:
        """The tree of a fit of the estimator."""
        estimator = copy(_for_columns(self.estimator, self.names, data.schema.names))
        growing = estimator._growing
        # so that a tree that is being grown ends, too, when the search is ended
        vars(estimator)["_growing"] = lambda rows: growing(rows) | {"progress": listener}
        tree: Tree = estimator._model(estimator._reweighted(data), None)[0]
        return tree

    def score(self, tree: Tree, data: Dataset) -> float:
        """By the scorer, or the share of right answers, or R²."""
        if self.scorer is None:
            return _usual_score(tree, data)
        judged: Any = _Numbers(tree) if self.classes is None else _Classes(tree, self.classes)
        truth = np.asarray(data.targets)
        if self.classes is not None:
            truth = np.stack([known[code] for known, code in zip(self.classes, truth, strict=True)])
        y = truth[0] if len(truth) == 1 else truth.T
        weighs = data.weight is not None and isinstance(self.scorer, _BaseScorer)
        score = self.scorer(judged, data, y, **({"sample_weight": data.weight} if weighs else {}))
        if not np.isfinite(score):
            raise ValueError(f"scoring={self.scorer!r} says {score} of a fold; a score must be a number")
        return float(score)


class _Classes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A tree of classes as scorers ask it; its tables are encoded."""

    def __init__(self, tree: Tree, classes: list[NDArray[Any]]) -> None:
        self.tree, self.classes = tree, classes

    @property
    def classes_(self) -> Any:
        return self.classes[0] if len(self.classes) == 1 else self.classes

    def predict(self, data: Dataset) -> NDArray[Any]:
        codes = answers(self.tree, data)
        named = [known.take(codes[:, k]) for k, known in enumerate(self.classes)]
        return named[0] if len(named) == 1 else np.stack(named, axis=1)

    def predict_proba(self, data: Dataset) -> Any:
        shares = proportions(self.tree, data)
        return shares[0] if len(shares) == 1 else shares


class _Numbers(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A tree of numbers as scorers ask it."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def predict(self, data: Dataset) -> NDArray[Any]:
        said = answers(self.tree, data)
        return said[:, 0] if said.shape[1] == 1 else said


def _usual_score(tree: Tree, data: Dataset) -> float:
    """The share of right answers, or R², by weight, averaged over the targets."""
    said, truth, weight = answers(tree, data).T, np.asarray(data.targets), data.row_weights
    if not weight.any():
        raise ValueError("a fold has no rows that weigh something; take fewer folds")
    if tree.schema.predicts_classes:
        return float(np.average((said == truth).mean(axis=0), weights=weight))
    parts = []
    for told, numbers in zip(said, truth, strict=True):
        lost = np.average((numbers - told) ** 2, weights=weight)
        spread = np.average((numbers - np.average(numbers, weights=weight)) ** 2, weights=weight)
        parts.append(1 - lost / spread if spread > 0 else float(lost == 0))
    return float(np.mean(parts))


def _ignores_untested_columns(estimator: Any) -> bool:
    """Whether a tree stays the same without columns that it does not ask for."""
    by_gain = estimator.selection in ("gain", Gain()) and estimator.splitter == "best"
    draws = estimator.max_features is not None or estimator.split != "axis"
    return bool(by_gain and not draws and Pruning.of(estimator.pruning) in _BLIND)


def _for_columns(estimator: Any, names: Sequence[str], kept: Sequence[str]) -> Any:
    """The estimator with what it says of single columns said of some of them only."""
    said = {name: getattr(estimator, name, None) for name in _BY_COLUMN}
    changed = {name: _of_columns(value, names, kept) for name, value in said.items() if value is not None}
    return clone(estimator).set_params(**changed) if changed else estimator


def _of_columns(value: Any, names: Sequence[str], kept: Sequence[str]) -> Any:
    """By name: those that are kept; one for each column: theirs; groups of columns: what is left of them."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {name: each for name, each in value.items() if str(name) in kept}
    if all(isinstance(each, list | tuple | set | frozenset) for each in value):
        groups = [{names[j] if is_int(j) else str(j) for j in group} & {*kept} for group in value]
        return [sorted(group) for group in groups if group]
    place = {name: j for j, name in enumerate(names)}
    return [value[place[name]] for name in kept]


def _results(path: SelectionPath) -> dict[str, NDArray[Any]]:
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
