"""ZeroNormSelector: the few columns that a linear separator needs."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from treewright.encoding import Dataset, encode
from treewright.estimators._tables import Fitted
from treewright.estimators.selectors._base import TableSelector, support_mask
from treewright.feature_selection.zero_norm import zero_norm
from treewright.parameters.selectors import ZeroNormOptions, ZeroNormParameters

Floats = NDArray[np.float64]
_OTHERS = "SplitFilter, TreeSelector and ShadowSelector take such columns"


class ZeroNormSelector(ZeroNormParameters, ZeroNormOptions, TableSelector):
    """The zero-norm machine of Weston et al. (2003): keep the few columns that a linear separator needs.

    A linear support vector machine is trained on the columns times scales z, all 1 at first; z is multiplied
    by the absolute weights of the machine, and so on, until nothing changes. The scales of columns that are
    not needed vanish. The limit is a separator with few weights, ‖w‖₀, and little slack, not always with the
    fewest. This is an embedded method: the model itself selects. Correlated columns may both remain.

    It takes classes, and columns of numbers without missing values; `SplitFilter`, `TreeSelector` and
    `ShadowSelector` take all tables.

    Attributes
    ----------
    scales_ : ndarray of shape (n_features_in_,)
        z: 0 where a column was dropped. At a fixed point it is the absolute weight itself, for columns of
        unit variance.
    n_columns_ : ndarray of int
        The number of columns left, at first and after each machine.
    n_iter_ : int
        The number of machines.
    classes_ : ndarray of shape (n_classes,)
        The classes.

    Notes
    -----
    Columns are first standardised to mean 0 and variance 1, by the weights of the rows if there are any,
    because a machine favours columns of large units. Constant columns are dropped. `transform` leaves the
    values as they are.

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

    n_jobs: ClassVar[None] = None  # type: ignore[misc]

    def _selection(self, X: Any, y: Any, sample_weight: Any) -> Fitted:
        data, columns = self._encode(X, y, sample_weight, classes=True)
        matrix, labels, weight = _standardize(data)
        n_columns = None
        if self.n_features_to_select is not None:
            n_columns = self._n_columns("n_features_to_select", data.n_columns)
        seed = self._seed()
        last_converged = True  # the machines before the last one need not converge

        def solve(part: Floats) -> Floats:
            nonlocal last_converged
            machine = LinearSVC(
                C=self.C,
                loss=self.loss,
                dual=True if self.loss == "hinge" else "auto",
                multi_class=self.multi_class,
                max_iter=self.svm_max_iter,
                random_state=seed,
            )
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", ConvergenceWarning)
                machine.fit(part, labels, sample_weight=weight)
            last_converged = not any(issubclass(each.category, ConvergenceWarning) for each in caught)
            return np.asarray(machine.coef_)

        varying = np.flatnonzero(matrix.any(axis=0))
        if not varying.size:
            raise ValueError("all columns are constant; there is nothing to select from")
        n_columns = None if n_columns is None else min(n_columns, len(varying))
        result = zero_norm(
            matrix[:, varying], solve, n_features_to_select=n_columns, **self._options(ZeroNormOptions)
        )
        self._warn(result.converged, last_converged)
        scales = np.zeros(data.n_columns)
        scales[varying] = result.scale
        return {
            **columns,
            "scales_": scales,
            "n_columns_": np.array(result.history),
            "n_iter_": result.n_iter,
            "classes_": np.array(data.schema.targets[0].classes),
            "support_": support_mask(varying[result.columns], data.n_columns),
        }

    def _check_cells(self, X: Any) -> None:
        _finite_matrix(encode(X, kinds=self.kinds))

    def _warn(self, scales_converged: bool, machine_converged: bool) -> None:
        if not scales_converged:
            warnings.warn(
                f"ZeroNormSelector: the scales still change after max_iter={self.max_iter} machines; raise "
                "max_iter or tol, or set n_features_to_select",
                ConvergenceWarning,
                stacklevel=4,
            )
        if not machine_converged:
            warnings.warn(
                f"ZeroNormSelector: the last machine did not converge in svm_max_iter={self.svm_max_iter} "
                "steps; raise it, or lower C",
                ConvergenceWarning,
                stacklevel=4,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        tags.input_tags.categorical = False
        tags.input_tags.string = False
        return tags


def _finite_matrix(data: Dataset) -> Floats:
    """The table as a matrix of finite numbers; ValueError names a column that holds something else."""
    for column in data.schema.columns:
        if not column.is_summable:
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


def _standardize(data: Dataset) -> tuple[Floats, NDArray[Any], Floats | None]:
    """Columns of mean 0 and variance 1, class codes and weights, of the rows with a positive weight."""
    if len(data.schema.targets) > 1:
        raise ValueError(f"y has {len(data.schema.targets)} targets; ZeroNormSelector takes one")
    if data.weight is not None:
        data = data.take(data.counted)
    matrix = _finite_matrix(data)
    labels = np.asarray(data.targets)[0]
    if len(np.unique(labels)) < 2:
        (only,) = np.take(np.array(data.schema.targets[0].classes), labels[:1]).tolist()
        raise ValueError(f"y has one class only, {only!r}; ZeroNormSelector needs two or more")
    weight, constant = data.row_weights, matrix.max(axis=0) == matrix.min(axis=0)
    matrix -= np.average(matrix, axis=0, weights=weight)
    spread = np.sqrt(np.average(matrix**2, axis=0, weights=weight))
    matrix[:, constant] = 0.0
    return matrix / np.where(constant, 1.0, spread), labels, data.weight
