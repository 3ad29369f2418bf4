"""ZeroNormSelector: the few columns that a linear machine needs."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from treewright.encoding import Dataset, encode
from treewright.estimators.fitting import replace_fit
from treewright.estimators.parameters import Rule, check_each, is_real, not_negative, one_of
from treewright.estimators.selectors import COUNT, RULES_OF_ALL, TableSelector, or_none, positive
from treewright.feature_selection.zero_norm import zero_norm

Floats = NDArray[np.float64]
_RULES: dict[str, Rule] = {
    "n_features_to_select": or_none(COUNT),
    "C": (lambda v: is_real(v) and 0 < v < float("inf"), "a finite number > 0"),
    "loss": one_of("hinge", "squared_hinge"),
    "multi_class": one_of("ovr", "crammer_singer"),
    "threshold": (lambda v: is_real(v) and 0 <= v < 1, "a number in [0, 1)"),
    "tol": not_negative(),
    "max_iter": positive("machines"),
    "svm_max_iter": positive("steps of one machine"),
    **RULES_OF_ALL,
}

_OTHERS = "SplitFilter, TreeSelector and ShadowSelector take such columns"


class ZeroNormSelector(TableSelector):
    """Keep the few columns that a linear separator needs: the zero-norm machine of Weston et al. (2003).

    A linear support vector machine is trained on the columns times scales z, all 1 at first; z is multiplied
    by the sizes of its weights, and so on, until nothing changes. Scales of columns that are not needed
    vanish. That approaches, step by step, a separator with few weights, ‖w‖₀, and little slack; not always
    the fewest. It is an embedded way: the machine itself selects. Columns that tell the same may stay side by
    side.

    It takes classes, and columns of numbers without missing values; `SplitFilter`, `TreeSelector` and
    `ShadowSelector` take all tables.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        End when so many columns are left, or this fraction of them; None ends when the scales stand still.
    C : float, default=1.0
        The price of slack; more keeps more columns.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        How slack counts.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        Of more than two classes: a machine for each against the others, or one for all. The sizes of the
        weights of a column are added up over the classes.
    threshold : float, default=1e-4
        A column is gone when its scale is below this share of the largest one.
    tol : float, default=1e-3
        End when no scale changes by more than this share of the largest one.
    max_iter : int, default=100
        The most machines.
    svm_max_iter : int, default=10000
        The most steps of scikit-learn's solver for one machine.
    random_state : int, RandomState or None, default=None
        Seeds the solver.
    kinds : dict or list, default=None
        Kinds of columns, as for the other selectors; all must be "number" here.

    Attributes
    ----------
    scales_ : ndarray of shape (n_features_in_,)
        z: 0 where a column is gone. At a point that stands still it is the size of the weight itself, for
        columns of unit variance.
    n_columns_ : ndarray of int
        How many columns were left, at first and after each machine.
    n_iter_ : int
        How many machines were trained.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    support_ : ndarray of shape (n_features_in_,)
        Whether each column is kept.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    Notes
    -----
    Columns are shifted and scaled to mean 0 and variance 1 inside, by the weights of the rows if there are
    some: a machine favours large units. A constant column is gone from the first. `transform` gives the
    columns as they are.

    References
    ----------
    Weston, Elisseeff, Schölkopf and Tipping (2003), "Use of the zero-norm with linear models and kernel
    methods", Journal of Machine Learning Research 3.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import ZeroNormSelector
    >>> x = np.random.default_rng(0).normal(size=(60, 30))
    >>> keep = ZeroNormSelector(random_state=0).fit(x, x[:, 3] > x[:, 7])
    >>> keep.get_support(indices=True)
    array([3, 7])
    """

    def __init__(
        self,
        *,
        n_features_to_select: int | float | None = None,
        C: float = 1.0,
        loss: str = "hinge",
        multi_class: str = "ovr",
        threshold: float = 1e-4,
        tol: float = 1e-3,
        max_iter: int = 100,
        svm_max_iter: int = 10_000,
        random_state: Any = None,
        kinds: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.loss = loss
        self.multi_class = multi_class
        self.threshold = threshold
        self.tol = tol
        self.max_iter = max_iter
        self.svm_max_iter = svm_max_iter
        self.random_state = random_state
        self.kinds = kinds

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train machines until few columns are left.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Numbers, without missing values.
        y : array of shape (n_rows,)
            Two or more classes.
        sample_weight : array of shape (n_rows,), default=None
            A weight per row, not negative.

        Returns
        -------
        self
            The fitted selector.
        """
        check_each(self, _RULES)
        data, described = self._encoded(X, y, sample_weight, classes=True)
        matrix, labels, weight = _standardised(data)
        n_columns = None
        if self.n_features_to_select is not None:
            n_columns = self._count("n_features_to_select", data.n_columns)
        seed = self._seed()
        settled = [True]  # whether the last machine was; those before need not be

        def solve(part: Floats) -> Floats:
            machine = LinearSVC(
                C=self.C,
                loss=self.loss,
                dual=True if self.loss == "hinge" else "auto",
                multi_class=self.multi_class,
                max_iter=self.svm_max_iter,
                random_state=seed,
            )
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always", ConvergenceWarning)
                machine.fit(part, labels, sample_weight=weight)
            settled[0] = not any(issubclass(each.category, ConvergenceWarning) for each in told)
            return np.asarray(machine.coef_)

        varies = np.flatnonzero(matrix.any(axis=0))
        if not varies.size:
            raise ValueError("all columns are constant; there is nothing to select from")
        asked = None if n_columns is None else min(n_columns, len(varies))
        found = zero_norm(
            matrix[:, varies],
            solve,
            n_columns=asked,
            threshold=self.threshold,
            max_iter=int(self.max_iter),
            tol=self.tol,
        )
        self._warn(found.converged, settled[0])
        scales, support = np.zeros(data.n_columns), np.zeros(data.n_columns, np.bool_)
        scales[varies], support[varies[found.kept]] = found.scale, True
        replace_fit(
            self,
            described
            | {
                "scales_": scales,
                "n_columns_": np.array(found.history),
                "n_iter_": found.n_iterations,
                "classes_": np.array(data.schema.targets[0].classes),
                "support_": support,
            },
        )
        return self

    def _check_cells(self, X: Any) -> None:
        _finite(encode(X, kinds=self.kinds))

    def _warn(self, converged: bool, settled: bool) -> None:
        if not converged:
            warnings.warn(
                f"ZeroNormSelector: the scales still change after max_iter={self.max_iter} machines; raise "
                "max_iter or tol, or say n_features_to_select",
                ConvergenceWarning,
                stacklevel=3,
            )
        if not settled:
            warnings.warn(
                f"ZeroNormSelector: the last machine did not converge in svm_max_iter={self.svm_max_iter} "
                "steps; raise it, or lower C",
                ConvergenceWarning,
                stacklevel=3,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        tags.input_tags.categorical = False
        tags.input_tags.string = False
        return tags


def _finite(data: Dataset) -> Floats:
    """The table as a matrix, once it is clear that it holds numbers only."""
    for column in data.schema.columns:
        if column.kind != "number":
            raise ValueError(
                f"column {column.name!r} is a {column.kind}; ZeroNormSelector takes numbers only ({_OTHERS})"
            )
    matrix = np.column_stack([data.column(j) for j in range(data.n_columns)]).astype(np.float64)
    if not np.isfinite(matrix).all():
        row, position = np.argwhere(~np.isfinite(matrix))[0].tolist()
        what = "missing (NaN)" if np.isnan(matrix[row, position]) else "infinite (inf)"
        name = data.schema.names[position]
        raise ValueError(
            f"column {name!r} is {what} in row {row}; ZeroNormSelector needs numbers ({_OTHERS})"
        )
    return matrix


def _standardised(data: Dataset) -> tuple[Floats, NDArray[Any], Floats | None]:
    """Columns of mean 0 and variance 1, codes of classes and weights of the rows that weigh something."""
    if len(data.schema.targets) > 1:
        raise ValueError(f"y has {len(data.schema.targets)} targets; ZeroNormSelector takes one")
    if data.weight is not None:
        data = data.take(data.counted)
    matrix = _finite(data)
    labels = np.asarray(data.targets)[0]
    if len(np.unique(labels)) < 2:
        raise ValueError(
            f"y has one class only, {_only_class(data, labels)!r}; ZeroNormSelector needs two or more"
        )
    weight, constant = data.row_weights, matrix.max(axis=0) == matrix.min(axis=0)
    matrix -= np.average(matrix, axis=0, weights=weight)
    spread = np.sqrt(np.average(matrix**2, axis=0, weights=weight))
    matrix[:, constant] = 0.0
    return matrix / np.where(constant, 1.0, spread), labels, data.weight


def _only_class(data: Dataset, labels: NDArray[Any]) -> Any:
    return (data.schema.targets[0].classes or ())[int(labels[0])]
