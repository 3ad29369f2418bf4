"""C4.5 in scikit-learn's clothes: C45Classifier."""

from __future__ import annotations

from typing import Any

from treewright.encoding import Dataset
from treewright.estimators.classic import OneTarget, repeated
from treewright.growing import grow
from treewright.pruning import PruningPath, prune
from treewright.pruning.fractional_rows import collapse_useless_splits
from treewright.tree import Tree

RELEASE_8 = {"multiway": True, "release8": True}


class C45Classifier(OneTarget):
    """C4.5: splits by gain ratio, one branch for each category, rows of unknown value in parts; then pruned.

    Quinlan's program of 1993 in its Release 8. A split has the best gain ratio among those of at least
    average gain; the gain of a threshold is lowered by the cost of naming it. Splits that save no training
    error are left out, and error-based pruning makes leaves of branches, or raises their largest branch,
    where fewer errors are to be feared.

    Parameters
    ----------
    min_objs : int, default=2
        At least two branches of a split have so many rows; so has each side of a threshold.
    confidence : float, default=0.25
        C4.5's CF, above 0 and at most 1; smaller prunes more.
    raising : bool, default=True
        Whether the largest branch of a split may take its place.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.
    n_jobs : int, default=None
        Threads to grow and predict with; the result is the same for any number. None is one, -1 all cores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The sorted classes.
    model_ : treewright.Tree
        The pruned tree. ``print(model.model_)`` shows it; a split into many branches is one decision.
    pruning_path_ : treewright.PruningPath
        The tree before pruning, ``.full_tree``, and after; ``.details["estimate"]`` is the share of errors
        that the pruning fears.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    See Also
    --------
    ID3Classifier : Its ancestor.
    RuleListClassifier : C4.5's rules.

    Notes
    -----
    A row with a missing value goes down every branch with the share that the branch has of the rows whose
    value is known, in growing, pruning and predicting. A whole weight is so many rows; of other weights
    `min_objs` counts the rows. Thresholds are values of the column: the greatest one
    that is not above the middle between two neighbours.

    Examples
    --------
    >>> from treewright import C45Classifier
    >>> table = {"sky": ["sun", "sun", "sun", "clouds", "clouds", "rain", "rain", "rain"] * 2,
    ...          "wind": [3, 9, 14, 4, 12, 2, 8, 15] * 2}
    >>> plans = ["walk", "sail", "sail", "sail", "sail", "read", "read", "read"] * 2
    >>> model = C45Classifier().fit(table, plans)
    >>> print(model.model_)
    16 rows
    ├─ sky = clouds   sail   4 rows   100 %
    ├─ sky = rain     read   6 rows   100 %
    └─ sky = sun
       ├─ wind <= 4   walk   2 rows   100 %
       └─ wind > 4    sail   4 rows   100 %
    where a value is missing, a row goes down both sides in the shares of their weights
    """

    criterion = "gain_ratio"
    missing = "fractional"

    def __init__(
        self,
        *,
        min_objs: int = 2,
        confidence: float = 0.25,
        raising: bool = True,
        kinds: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.min_objs = min_objs
        self.confidence = confidence
        self.raising = raising
        self.kinds = kinds
        self.n_jobs = n_jobs

    @property
    def min_samples_leaf(self) -> int:  # type: ignore[override]
        """The name that the grower has for it."""
        return self.min_objs

    @property
    def min_samples_split(self) -> int:  # type: ignore[override]
        """A node with fewer rows cannot have two branches of `min_objs`."""
        return 2 * self.min_objs

    def _plant(self, data: Dataset) -> Tree:
        return collapse_useless_splits(grow(data, **self._growing(data), _rules=RELEASE_8))

    def _model(self, data: Dataset, validation: Dataset | None) -> tuple[Tree, PruningPath | None, Dataset]:
        data = repeated(data)
        tree = self._plant(data)
        options = {"confidence": float(self.confidence), "raising": bool(self.raising)}
        path = prune(tree, "pessimistic", data=data, **options)
        return path.pruned, path, data
