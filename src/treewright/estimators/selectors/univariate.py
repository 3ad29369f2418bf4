"""SplitFilter: the columns whose best single split says most about the target."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.estimators._tables import Fitted
from treewright.estimators.selectors._base import TableSelector, expects_classes, support_mask
from treewright.feature_selection.univariate import SplitScores, split_scores
from treewright.parameters.selectors import UnivariateOptions, UnivariateParameters

DEFAULT_K = 10


class SplitFilter(UnivariateParameters, UnivariateOptions, TableSelector):
    """Univariate feature selection: keep the columns whose best single split says most about the target.

    Each column is scored by itself, by the splitter of the trees: its best threshold, or set of categories,
    and the side for missing values. So numbers, categories and dates can be compared, and nothing is assumed
    about how the target depends on them. A column that helps only together with another one, as in an
    exclusive or, is not found.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The score of each column; 0 (for "accuracy" the share of the largest class) where no split helps.
    pvalues_ : ndarray of shape (n_features_in_,) or None
        The share of permutations in which the column itself scores as high; not adjusted.
    adjusted_pvalues_ : ndarray of shape (n_features_in_,) or None
        The same, adjusted by `correction`.
    splits_ : list of str
        The best test of each column in words, such as ``"ch$ <= 0.055"``; "" where no split helps.
    thresholds_ : ndarray of shape (n_features_in_,)
        Its threshold; NaN for categories and where no split helps.
    split_scores_ : treewright.feature_selection.SplitScores
        All of it as a value; ``print`` shows the best columns first.

    See Also
    --------
    ShadowSelector : Also finds columns that help only together with others.
    TreeSelector : The columns from which trees score best.

    Notes
    -----
    p-values are (1 + b) / (1 + n_permutations), where b counts the permutations that score as high. Under
    permutation the best split of a column depends only on the ties among its values, so that columns with
    equal ties share their permutations: wide tables of measurements cost no more than narrow ones.

    Examples
    --------
    >>> from treewright import SplitFilter
    >>> table = {"wind": [3, 12, 5, 14, 9], "day": [1, 2, 3, 4, 5], "sky": ["clear", "clear", *["rain"] * 3]}
    >>> keep = SplitFilter(k=1).fit(table, ["sail", "stay", "sail", "stay", "sail"])
    >>> keep.splits_[0], keep.transform(table)
    ('wind <= 10', {'wind': [3, 12, 5, 14, 9]})
    """

    n_permutations: int = 199

    def _selection(self, X: Any, y: Any, sample_weight: Any) -> Fitted:
        if sum(each is not None for each in (self.k, self.threshold, self.alpha)) > 1:
            raise ValueError("SplitFilter: give one of k, threshold and alpha; the others must be None")
        if self.alpha is not None and not self.n_permutations:
            self.refuse_parameter("n_permutations", "at least 1 where there is alpha")
        classes = True if self.measure != "gain" else expects_classes(self.criterion)
        data, columns = self._encode(X, y, sample_weight, classes)
        permuting = {"random_state": self._seed()} if self.alpha is not None else {"n_permutations": 0}
        options = self._options(UnivariateOptions, n_jobs=self.n_jobs, **permuting)
        scores = split_scores(data, **options)
        return {
            **columns,
            "scores_": scores.score,
            "pvalues_": scores.pvalue,
            "adjusted_pvalues_": scores.adjusted_pvalue,
            "splits_": list(scores.splits),
            "thresholds_": scores.thresholds,
            "split_scores_": scores,
            "support_": self._support(scores),
        }

    def _support(self, scores: SplitScores) -> NDArray[np.bool_]:
        if self.threshold is not None:
            return np.asarray(scores.score > self.threshold)
        if self.alpha is None or scores.adjusted_pvalue is None:
            count = min(DEFAULT_K, len(scores)) if self.k is None else self._n_columns("k", len(scores))
            return support_mask(scores.order[:count], len(scores))
        support = scores.adjusted_pvalue <= self.alpha
        least = len(scores) / self.alpha  # permutations, with the target itself
        too_few = self.correction == "benjamini-hochberg" and scores.n_permutations + 1 < least
        if too_few and not support.any():
            warnings.warn(
                f"SplitFilter: {self.n_permutations} permutations cannot find a single one of {len(scores)} "
                f"columns at alpha={self.alpha} by Benjamini and Hochberg; use "
                f"n_permutations={int(np.ceil(least))}, or correction='max'",
                UserWarning,
                stacklevel=4,
            )
        return np.asarray(support)
