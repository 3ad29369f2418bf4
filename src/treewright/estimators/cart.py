"""CART in scikit-learn's clothes: CARTClassifier and CARTRegressor."""

from __future__ import annotations

from typing import Any

from treewright.encoding import Dataset
from treewright.estimators.classic import Classic, ClassicClassifier, ClassicRegressor
from treewright.estimators.pruned import seed_of
from treewright.pruning import PruningPath, prune
from treewright.selecting import select
from treewright.tree import Tree


class _Pruned(Classic):
    """A tree that is grown large and pruned by the price of a leaf that cross validation chooses."""

    cv: int
    rule: Any

    def _model(self, data: Dataset, validation: Dataset | None) -> tuple[Tree, PruningPath | None, Dataset]:
        path = prune(self._grow(data), "cost_complexity")
        folds = min(int(self.cv), data.n_counted)
        if folds < 2 or len(path) < 2:  # nothing to choose from, or nothing to choose by
            return path[0], path, data
        growing, seed = self._growing(data), seed_of(self.random_state)
        path = select(path, "folds", data=data, n_folds=folds, rule=self.rule, growing=growing, seed=seed)
        return path.pruned, path, data


class CARTClassifier(_Pruned, ClassicClassifier):
    """CART: binary splits by the Gini index, minimal cost-complexity pruning by cross validation, surrogates.

    Breiman, Friedman, Olshen and Stone (1984). A large tree is grown; of its prunings that are best for some
    price of a leaf, folds choose the simplest whose error is within one standard error of the least. Where
    the value that a node asks is missing, the columns that part the rows most alike decide.

    Parameters
    ----------
    min_samples_split : int or float, default=20
        A node with fewer rows is not split. A float is a fraction of all rows, rounded up.
    min_samples_leaf : int or float, default=7
        No split leaves a side with fewer rows. A float is a fraction of all rows, rounded up.
    cv : int, default=10
        The number of folds; no more than there are rows.
    rule : {"1-SE", "0-SE"}, default="1-SE"
        The simplest tree within one standard error of the least error, or that of the least error.
    n_surrogates : int, default=5
        How many columns each split keeps for rows whose own value is missing.
    cost_matrix : array of shape (n_classes, n_classes) or dict of dicts, default=None
        ``cost_matrix[i, j]`` is the cost of answering class j when the truth is class i; or by name:
        ``{"ill": {"well": 10}}``, where what is not named costs 1. Splits go by altered priors, leaves and
        prunings by costs. For one target.
    priors : array of shape (n_classes,) or dict, default=None
        How often each class comes in truth, if not as in the rows.
    random_state : int, RandomState or None, default=None
        Seeds the deal of the folds; without one it is always the same.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.
    n_jobs : int, default=None
        Threads to grow and predict with; the result is the same for any number. None is one, -1 all cores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them
        The sorted classes.
    model_ : treewright.Tree
        The chosen tree; ``model_.surrogates`` are its surrogates.
    pruning_path_ : treewright.PruningPath
        All prunings with their errors, rpart's table of complexity: ``print(model.pruning_path_)``.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    See Also
    --------
    CARTRegressor : The same for numbers.
    DecisionTreeClassifier : All criteria, prunings and ways with missing values.

    Examples
    --------
    >>> from treewright import CARTClassifier
    >>> x = list(range(60))
    >>> model = CARTClassifier().fit({"x": x}, ["a" if i < 30 or i % 10 == 0 else "b" for i in x])
    >>> print(model.model_)
    60 rows
    ├─ x <= 30.5   a   31 rows    100 %
    └─ x > 30.5    b   29 rows   93.1 %
    """

    missing = "surrogate"
    cost_split = "altered_priors"

    def __init__(
        self,
        *,
        min_samples_split: int | float = 20,
        min_samples_leaf: int | float = 7,
        cv: int = 10,
        rule: str = "1-SE",
        n_surrogates: int = 5,
        cost_matrix: Any = None,
        priors: Any = None,
        random_state: Any = None,
        kinds: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.cv = cv
        self.rule = rule
        self.n_surrogates = n_surrogates
        self.cost_matrix = cost_matrix
        self.priors = priors
        self.random_state = random_state
        self.kinds = kinds
        self.n_jobs = n_jobs


class CARTRegressor(_Pruned, ClassicRegressor):
    """CART for numbers: binary splits by squared error, minimal cost-complexity pruning, surrogates.

    Breiman, Friedman, Olshen and Stone (1984). A large tree is grown; of its prunings that are best for some
    price of a leaf, folds choose the simplest whose error is within one standard error of the least. Where
    the value that a node asks is missing, the columns that part the rows most alike decide.

    Parameters
    ----------
    min_samples_split : int or float, default=20
        A node with fewer rows is not split. A float is a fraction of all rows, rounded up.
    min_samples_leaf : int or float, default=7
        No split leaves a side with fewer rows. A float is a fraction of all rows, rounded up.
    cv : int, default=10
        The number of folds; no more than there are rows.
    rule : {"1-SE", "0-SE"}, default="1-SE"
        The simplest tree within one standard error of the least error, or that of the least error.
    n_surrogates : int, default=5
        How many columns each split keeps for rows whose own value is missing.
    random_state : int, RandomState or None, default=None
        Seeds the deal of the folds; without one it is always the same.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.
    n_jobs : int, default=None
        Threads to grow and predict with; the result is the same for any number. None is one, -1 all cores.

    Attributes
    ----------
    model_ : treewright.Tree
        The chosen tree; ``model_.surrogates`` are its surrogates.
    pruning_path_ : treewright.PruningPath
        All prunings with their errors, rpart's table of complexity: ``print(model.pruning_path_)``.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    See Also
    --------
    CARTClassifier : The same for classes.
    DecisionTreeRegressor : All criteria, prunings and ways with missing values.

    Examples
    --------
    >>> from treewright import CARTRegressor
    >>> x = list(range(60))
    >>> model = CARTRegressor().fit({"x": x}, [10.0 + (i > 30) + 0.1 * (i % 3) for i in x])
    >>> model.predict({"x": [5, 50]}).round(2)
    array([10.1, 11.1])
    """

    missing = "surrogate"

    def __init__(
        self,
        *,
        min_samples_split: int | float = 20,
        min_samples_leaf: int | float = 7,
        cv: int = 10,
        rule: str = "1-SE",
        n_surrogates: int = 5,
        random_state: Any = None,
        kinds: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.cv = cv
        self.rule = rule
        self.n_surrogates = n_surrogates
        self.random_state = random_state
        self.kinds = kinds
        self.n_jobs = n_jobs
