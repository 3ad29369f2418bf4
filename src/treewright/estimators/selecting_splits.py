"""SplitFilter: the columns whose best single split tells most about the target."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from treewright.estimators.fitting import replace_fit
from treewright.estimators.parameters import Rule, check_each, is_int, is_real, one_of
from treewright.estimators.selectors import (
    COUNT,
    CRITERION,
    MIN_LEAF,
    RULES_OF_ALL,
    TableSelector,
    a_level,
    classes_by,
    or_none,
)
from treewright.feature_selection.univariate import CORRECTIONS, MEASURES, SplitScores, split_scores

USUAL_COUNT = 10  # columns that are kept where nothing is said
_RULES: dict[str, Rule] = {
    "measure": one_of(*MEASURES),
    "criterion": CRITERION,
    "k": or_none(COUNT),
    "threshold": or_none((lambda v: is_real(v) and v == v, "a number")),
    "alpha": or_none(a_level()),
    "correction": one_of(*CORRECTIONS),
    "n_permutations": (lambda v: is_int(v) and v >= 0, "an int >= 0"),
    "min_samples_leaf": MIN_LEAF,
    **RULES_OF_ALL,
}


class SplitFilter(TableSelector):
    """Keep the columns whose best single split tells most about the target: a filter.

    Each column is looked at by itself, by the grower itself: its best threshold, or set of categories, and
    the side for missing values. So numbers, categories and dates compare, and nothing is assumed of how the
    target depends on them, but one cut must show it: a column that tells only together with another, as in an
    exclusive or, is not found.

    Parameters
    ----------
    measure : {"gain", "mutual_information", "accuracy"}, default="gain"
        The drop of risk by `criterion`, per unit of weight; the mutual information of target and split, in
        bits; or the share of rows that the two sides answer rightly. The last two are for classes.
    criterion : str, default=None
        For ``measure="gain"``: any of `treewright.criteria()` but gain_ratio. It also says whether `y` are
        classes or numbers; None is gini, or squared_error where `y` are floats.
    k : int or float, default=None
        How many columns to keep, or which fraction of them. Where `threshold` and `alpha` are None, too, it
        is 10, or all of fewer columns.
    threshold : float, default=None
        Keep the columns whose score is above this.
    alpha : float, default=None
        Keep the columns whose adjusted p-value is at most this.
    correction : {"max", "benjamini-hochberg", "none"}, default="max"
        How p-values are adjusted for many columns. "max": `alpha` is the chance that any column is kept which
        has nothing to do with the target; each score is compared with the best of all columns in every
        permutation. "benjamini-hochberg": `alpha` is the expected share of such columns among those kept; to
        find a single one in d columns takes at least d / alpha permutations. "none": `alpha` is the chance
        for each such column.
    n_permutations : int, default=199
        How often the target is permuted for p-values. Only with `alpha`.
    min_samples_leaf : int or float, default=1
        The fewest rows of a side; a float is a fraction of the rows.
    random_state : int, RandomState or None, default=None
        Seeds the permutations.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.
    n_jobs : int, default=None
        Threads; the result is the same for any number. None is one, -1 all cores.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The score of each column; 0 (of "accuracy" the share of the largest class) where no split helps.
    pvalues_ : ndarray of shape (n_features_in_,) or None
        The share of permutations in which the column itself does as well; not adjusted.
    adjusted_pvalues_ : ndarray of shape (n_features_in_,) or None
        The same, adjusted by `correction`.
    splits_ : list of str
        The best test of each column in words, as ``"ch$ <= 0.055"``; "" where no split helps.
    thresholds_ : ndarray of shape (n_features_in_,)
        Its threshold; NaN for categories and where no split helps.
    split_scores_ : treewright.feature_selection.SplitScores
        All of it as a value; ``print`` shows it, the best first.
    support_ : ndarray of shape (n_features_in_,)
        Whether each column is kept.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    See Also
    --------
    ShadowSelector : Sees columns that tell only together with others.
    TreeSelector : The columns from which trees do best.

    Notes
    -----
    p-values are (1 + b) / (1 + n_permutations), where b counts the permutations that do as well. Under
    permutation the best split of a column depends on the ties among its values alone, so that columns which
    are alike in this share their permutations: wide tables of measurements cost no more than narrow ones.

    Examples
    --------
    >>> from treewright import SplitFilter
    >>> table = {"wind": [3, 12, 5, 14, 9], "day": [1, 2, 3, 4, 5], "sky": ["clear", "clear", *["rain"] * 3]}
    >>> keep = SplitFilter(k=1).fit(table, ["sail", "stay", "sail", "stay", "sail"])
    >>> keep.splits_[0], keep.transform(table)
    ('wind <= 10', {'wind': [3, 12, 5, 14, 9]})
    """

    def __init__(
        self,
        *,
        measure: str = "gain",
        criterion: str | None = None,
        k: int | float | None = None,
        threshold: float | None = None,
        alpha: float | None = None,
        correction: str = "max",
        n_permutations: int = 199,
        min_samples_leaf: int | float = 1,
        random_state: Any = None,
        kinds: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.measure = measure
        self.criterion = criterion
        self.k = k
        self.threshold = threshold
        self.alpha = alpha
        self.correction = correction
        self.n_permutations = n_permutations
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state
        self.kinds = kinds
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Score the columns and choose.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Any table that `DecisionTreeClassifier` takes, with categories and missing values.
        y : array of shape (n_rows,) or (n_rows, n_targets)
            Classes, or numbers where they are floats or the criterion says so.
        sample_weight : array of shape (n_rows,), default=None
            A weight per row, not negative. In permutations it goes with the target.

        Returns
        -------
        self
            The fitted selector.
        """
        check_each(self, _RULES)
        if sum(each is not None for each in (self.k, self.threshold, self.alpha)) > 1:
            raise ValueError("SplitFilter: give one of k, threshold and alpha; the others must be None")
        if self.alpha is not None and not self.n_permutations:
            raise self._refuse("n_permutations", "at least 1 where there is alpha")
        classes = True if self.measure != "gain" else classes_by(self.criterion)
        data, described = self._encoded(X, y, sample_weight, classes)
        leaf = self.min_samples_leaf
        found = split_scores(
            data,
            measure=self.measure,  # type: ignore[arg-type]
            criterion=self.criterion,
            min_samples_leaf=int(leaf) if is_int(leaf) else int(np.ceil(leaf * data.n_counted)),
            n_permutations=0 if self.alpha is None else int(self.n_permutations),
            correction=self.correction,  # type: ignore[arg-type]
            seed=0 if self.alpha is None else self._seed(),
            n_jobs=self.n_jobs,
        )
        replace_fit(
            self,
            described
            | {
                "scores_": found.score,
                "pvalues_": found.pvalue,
                "adjusted_pvalues_": found.adjusted_pvalue,
                "splits_": list(found.splits),
                "thresholds_": found.thresholds,
                "split_scores_": found,
                "support_": self._support(found),
            },
        )
        return self

    def _support(self, found: SplitScores) -> NDArray[np.bool_]:
        if self.threshold is not None:
            return np.asarray(found.score > self.threshold)
        if self.alpha is not None and found.adjusted_pvalue is not None:
            kept = found.adjusted_pvalue <= self.alpha
            least = len(found) / self.alpha
            if (
                not kept.any()
                and self.correction == "benjamini-hochberg"
                and found.n_permutations + 1 < least
            ):
                warnings.warn(
                    f"SplitFilter: {self.n_permutations} permutations cannot find a single one of "
                    f"{len(found)} columns at alpha={self.alpha} by Benjamini and Hochberg; use "
                    f"n_permutations={int(np.ceil(least))}, or correction='max'",
                    UserWarning,
                    stacklevel=3,
                )
            return np.asarray(kept)
        count = min(USUAL_COUNT, len(found)) if self.k is None else self._count("k", len(found))
        support = np.zeros(len(found), np.bool_)
        support[found.order[:count]] = True
        return support
