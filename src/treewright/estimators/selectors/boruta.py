"""ShadowSelector: all columns that are more important than shuffled copies (Boruta)."""

from __future__ import annotations

from typing import Any

from treewright.estimators._tables import Fitted
from treewright.estimators.selectors._base import TableSelector, expects_classes
from treewright.feature_selection.boruta import ACCEPTED, TENTATIVE, boruta
from treewright.parameters.selectors import BorutaOptions, BorutaParameters


class ShadowSelector(BorutaOptions, BorutaParameters, TableSelector):
    """Boruta: keep all columns that are more important to random forests than shuffled copies of the columns.

    Each round shuffles copies of the columns, the shadows, grows a forest from both, and counts which columns
    are more important than the best shadow. A binomial test of these counts accepts or rejects each column.
    All relevant columns are kept, also those that others could replace, and those that help only together.

    Attributes
    ----------
    accepted_, tentative_, rejected_ : ndarray of shape (n_features_in_,)
        The decision on each column.
    hits_ : ndarray of shape (n_features_in_,)
        The number of rounds in which the column was more important than the shadows.
    importances_ : ndarray of shape (n_iter_, n_features_in_)
        The importance of each column in each round; NaN after it was rejected.
    shadow_importances_ : ndarray of shape (n_iter_,)
        The importance to exceed in each round.
    n_iter_ : int
        The number of rounds.
    verdict_ : treewright.feature_selection.BorutaResult
        All of it as a value; ``print`` shows the most important columns first.

    See Also
    --------
    SplitFilter : Faster, but scores one column at a time.
    TreeSelector : The fewest columns that are enough, not all that matter.

    References
    ----------
    Kursa and Rudnicki (2010), "Feature selection with the Boruta package", Journal of Statistical Software
    36 (11).

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import ShadowSelector
    >>> x = np.random.default_rng(0).normal(size=(120, 5))
    >>> keep = ShadowSelector(n_estimators=30, random_state=0).fit(x, x[:, 1] * x[:, 3] > 0)
    >>> keep.get_support(indices=True)
    array([1, 3])
    """

    def _selection(self, X: Any, y: Any, sample_weight: Any) -> Fitted:
        data, columns = self._encode(X, y, sample_weight, expects_classes(self.criterion))
        result = boruta(data, **self._options(BorutaOptions, n_jobs=self.n_jobs, random_state=self._seed()))
        return {
            **columns,
            "support_": result.decision >= (TENTATIVE if self.keep_tentative else ACCEPTED),
            "accepted_": result.decision == ACCEPTED,
            "tentative_": result.decision == TENTATIVE,
            "rejected_": result.decision < TENTATIVE,
            "hits_": result.hits,
            "importances_": result.importance,
            "shadow_importances_": result.shadow,
            "n_iter_": result.n_rounds,
            "verdict_": result,
        }
