"""ShadowSelector: all columns that matter more than shuffled copies do."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from treewright.estimators.fitting import replace_fit
from treewright.estimators.parameters import Rule, check_each, is_int, is_real, one_of
from treewright.estimators.selectors import (
    CRITERION,
    DEPTH,
    FEATURES,
    MIN_LEAF,
    RULES_OF_ALL,
    TableSelector,
    a_level,
    classes_by,
    positive,
)
from treewright.feature_selection.boruta import ACCEPTED, IMPORTANCES, TENTATIVE, boruta
from treewright.growing import n_features_drawn
from treewright.growing.targets import checked_criterion

_RULES: dict[str, Rule] = {
    "n_estimators": (lambda v: is_int(v) and v >= 2, "an int >= 2"),
    "importance": one_of(*IMPORTANCES),
    "criterion": CRITERION,
    "max_depth": DEPTH,
    "min_samples_leaf": MIN_LEAF,
    "max_features": FEATURES,
    "percentile": (lambda v: is_real(v) and 0 < v <= 100, "a number in (0, 100]"),
    "alpha": a_level(),
    "max_iter": positive("rounds"),
    "keep_tentative": (lambda v: isinstance(v, bool | np.bool_), "True or False"),
    **RULES_OF_ALL,
}


class ShadowSelector(TableSelector):
    """Keep all columns that matter more to random forests than shuffled copies do: Boruta's way.

    Each round shuffles copies of the columns, the shadows, grows a forest from both, and asks which columns
    are more important than the best shadow. After enough rounds a binomial test accepts those that often are
    and rejects those that seldom are. All columns that matter are looked for, also those that others could
    replace; forests see columns that tell only together.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees of each forest.
    importance : {"permutation", "gain"}, default="permutation"
        How much more the rows lose that a tree was not grown from when the column is shuffled, in standard
        errors over the trees; or how much risk its splits took away from the rows that chose them. "gain" is
        two to three times as quick, but it counts what a tree learnt by heart: it also accepts columns that
        go with the target in these rows by chance.
    criterion : str, default=None
        Of the trees. It also says whether `y` are classes or numbers; None is gini, or squared_error where
        `y` are floats.
    max_depth : int, default=None
        Of the trees; no limit if None.
    min_samples_leaf : int or float, default=1
        Of the trees; a float is a fraction of the rows.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        How many columns, shadows among them, each node draws.
    percentile : float, default=100.0
        Which percentile of the shadows is to be beaten: 100 is the best of them, less is less strict.
    alpha : float, default=0.05
        The level of the tests, for all columns together (Bonferroni).
    max_iter : int, default=100
        The most rounds; it ends when all columns are decided. To accept anything in d columns takes
        log2(d / alpha) rounds.
    keep_tentative : bool, default=False
        Whether to keep the columns that are undecided at the end.
    random_state : int, RandomState or None, default=None
        Seeds the shadows and the forests.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.
    n_jobs : int, default=None
        Trees that are grown side by side; the result is the same for any number. None is one, -1 all cores.

    Attributes
    ----------
    support_ : ndarray of shape (n_features_in_,)
        Whether each column is kept.
    accepted_, tentative_, rejected_ : ndarray of shape (n_features_in_,)
        What became of each column.
    hits_ : ndarray of shape (n_features_in_,)
        In how many rounds the column beat the shadows.
    importances_ : ndarray of shape (n_iter_, n_features_in_)
        The importance of each column in each round; NaN after it was rejected.
    shadow_importances_ : ndarray of shape (n_iter_,)
        What was to be beaten in each round.
    n_iter_ : int
        How many rounds there were.
    verdict_ : treewright.feature_selection.BorutaResult
        All of it as a value; ``print`` shows it, the most important columns first.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    See Also
    --------
    SplitFilter : Quicker, but sees one column at a time.
    TreeSelector : The fewest columns that do, not all that matter.

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

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        importance: str = "permutation",
        criterion: str | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int | float = 1,
        max_features: int | float | str | None = "sqrt",
        percentile: float = 100.0,
        alpha: float = 0.05,
        max_iter: int = 100,
        keep_tentative: bool = False,
        random_state: Any = None,
        kinds: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.importance = importance
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.percentile = percentile
        self.alpha = alpha
        self.max_iter = max_iter
        self.keep_tentative = keep_tentative
        self.random_state = random_state
        self.kinds = kinds
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Let the columns compete with shadows until all are decided.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Any table that `DecisionTreeClassifier` takes, with categories and missing values.
        y : array of shape (n_rows,) or (n_rows, n_targets)
            Classes, or numbers where they are floats or the criterion says so.
        sample_weight : array of shape (n_rows,), default=None
            A weight per row, not negative. Bootstraps draw rows alike; drawn rows count by their weight.

        Returns
        -------
        self
            The fitted selector.
        """
        check_each(self, _RULES)
        data, described = self._encoded(X, y, sample_weight, classes_by(self.criterion))
        leaf = self.min_samples_leaf
        found = boruta(
            data,
            n_trees=int(self.n_estimators),
            max_iter=int(self.max_iter),
            alpha=float(self.alpha),
            percentile=float(self.percentile),
            importance=self.importance,  # type: ignore[arg-type]
            max_features=lambda n_columns: n_features_drawn(self.max_features, n_columns),
            seed=self._seed(),
            n_jobs=self.n_jobs,
            criterion=checked_criterion(self.criterion, data),
            max_depth=None if self.max_depth is None else int(self.max_depth),
            min_samples_leaf=int(leaf) if is_int(leaf) else int(np.ceil(leaf * data.n_counted)),
        )
        least = ACCEPTED if not self.keep_tentative else TENTATIVE
        replace_fit(
            self,
            described
            | {
                "support_": found.decision >= least,
                "accepted_": found.decision == ACCEPTED,
                "tentative_": found.decision == TENTATIVE,
                "rejected_": found.decision < TENTATIVE,
                "hits_": found.hits,
                "importances_": found.importance,
                "shadow_importances_": found.shadow,
                "n_iter_": found.n_rounds,
                "verdict_": found,
            },
        )
        return self
