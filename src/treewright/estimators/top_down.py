"""Kearns and Mansour's top-down growing in scikit-learn's clothes: TopDownClassifier."""

from __future__ import annotations

from typing import Any

from treewright.estimators.classic import ClassicClassifier
from treewright.explaining.weak_learning_bound import WeakLearningBound, weak_learning_bound


class TopDownClassifier(ClassicClassifier):
    """The top-down algorithm: so many splits, each time of the leaf and by the test that lower the risk most.

    Kearns and Mansour (1996) show that it boosts: if every leaf has a test that is a little better than
    chance, the training error falls with the number of splits, fastest by their criterion √(q(1-q)).
    `boosting` measures how much better the tests were, and says what follows.

    Parameters
    ----------
    n_splits : int, default=10
        How many splits are made; one less than the leaves.
    criterion : {"sqrt", "entropy", "gini", "error"}, default="sqrt"
        What a split is to lower. The training error itself has no such guarantee: a test may leave it as it
        is, however good.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.
    n_jobs : int, default=None
        Threads to grow and predict with; the result is the same for any number. None is one, -1 all cores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them
        The sorted classes.
    model_ : treewright.Tree
        The tree; ``model_.first(k)`` is that of the first k splits.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    Examples
    --------
    >>> from treewright import TopDownClassifier
    >>> x = list(range(12))
    >>> y = ["a", "a", "b", "a", "a", "b", "b", "a", "b", "b", "b", "b"]
    >>> model = TopDownClassifier(n_splits=3).fit({"x": x}, y)
    >>> print(model.weak_learning_bound({"x": x}, y))  # doctest: +NORMALIZE_WHITESPACE
    splits    edge   least edge    error    bound
         0                        41.7 %   49.3 %
         1   0.286        0.329   25.0 %   37.2 %
         2   0.200        0.233   25.0 %   35.0 %
         3   0.167        0.167   16.7 %   34.3 %
    <BLANKLINE>
    Every leaf of both classes had a test with an edge of at least 0.167; so 3 splits by sqrt leave a training
    error of at most 34.3 %. It is 16.7 %.
    """

    def __init__(
        self, *, n_splits: int = 10, criterion: str = "sqrt", kinds: Any = None, n_jobs: int | None = None
    ) -> None:
        self.n_splits = n_splits
        self.criterion = criterion
        self.kinds = kinds
        self.n_jobs = n_jobs

    @property
    def max_splits(self) -> int:  # type: ignore[override]
        """The budget of the grower."""
        return self.n_splits

    def weak_learning_bound(self, X: Any, y: Any, sample_weight: Any = None) -> WeakLearningBound:
        """The training error after each split beside the bound that the edges of the tests prove.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit; of two classes.

        Returns
        -------
        WeakLearningBound
            ``print`` shows it as a table, ``.plot()`` as curves.
        """
        tree = self._fitted_tree()
        return weak_learning_bound(tree, self._judging_data(tree.schema, X, y, sample_weight))
