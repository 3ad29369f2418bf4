"""What the tree estimators share: from a table to a fitted tree, and from the tree to predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch, check_random_state

from treewright._suggestions import checked_keywords
from treewright.certifying import Certificate, certify, held_out_methods, method_of
from treewright.encoding import Dataset, encode
from treewright.encoding.row_hashes import FitRows, KnownRows
from treewright.encoding.row_subsets import separated
from treewright.encoding.schema import Schema
from treewright.estimators._fit_warnings import warn_about_tree
from treewright.estimators._pruning import choices_of, chosen_by_rows, prune_in_fit
from treewright.estimators._tables import Fitted, TableModel, refuse_one_dimension, replace_fit
from treewright.estimators.sklearn_view import sklearn_tree
from treewright.estimators.targets import known_criterion, plain_target
from treewright.explaining.competitors import competitors
from treewright.growing import grow, n_features_drawn
from treewright.growing.limits import in_units
from treewright.parameters import documented
from treewright.parameters.checks import is_int
from treewright.parameters.tree import GROW
from treewright.pruning import PruningPath, cost_complexity_path, cut_at
from treewright.tree import Tree
from treewright.tree.oblique import by_column


class TreeEstimator(TableModel):
    """scikit-learn's interface of a tree: `fit`, `apply` and the attributes of the fitted tree.

    Attributes
    ----------
    model_ : treewright.Tree
        The tree. ``print(model.model_)`` shows it.
    tree_ : sklearn.tree._tree.Tree
        The same tree as scikit-learn's arrays; not available if it tests categories or sums.
    max_features_ : int
        How many columns a node considers.
    pruning_path_ : treewright.PruningPath
        The trees that the pruning had to choose from; only with `pruning`.
    competitors_ : treewright.explaining.competitors.Competitors
        The best other splits of each node, or in a tree of more than 64 tests of those with the most rows;
        ``print`` shows it. Only with `n_competitors`.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in the total gain.
    """

    model_: Tree
    n_features_in_: int
    n_outputs_: int
    max_features_: int
    criterion: str
    ccp_alpha: float
    pruning: Any
    max_features: Any

    @checked_keywords
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        check_input: bool = True,
        *,
        validation: Any = None,
    ) -> Self:
        """Grow the tree, and prune it where `pruning` says so.

        A fit that fails leaves the estimator unchanged.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            A numpy array, a pandas or polars DataFrame, an Arrow table, a sparse matrix, a dict of columns or
            a list of rows. Columns of strings, bools and categories are split by subsets, dates as numbers;
            all of them may have missing values.
        y : array of shape (n_rows,) or (n_rows, n_targets)
            The classes or numbers to predict.
        sample_weight : array of shape (n_rows,), default=None
            A weight per row, not negative; 2 is the same as the row twice, 0 the same as leaving it out.
        check_input : bool, default=True
            Without effect, for scikit-learn's signature: the input is always checked.
        validation : tuple (X, y) or (X, y, sample_weight), default=None
            Rows to prune by, from which the tree is not grown. A pruning that needs such rows and is given
            none sets some of `X` aside.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self)
        data, attributes = self._training_data(X, y, sample_weight)
        data.hash_rows(self.n_jobs)
        others, known = self._validation_data(validation, data.schema), KnownRows.of(data)
        if others is not None and (validation[0] is X or known.are_in(others)):
            raise ValueError(
                "validation has the rows of the fit; a row grows the tree or judges it, not both"
            )
        tree, path, rows = self._model(data, others)
        fitted: Fitted = {
            **attributes,
            "model_": tree,
            "_fit_rows": _fit_rows(known, data, others, path, rows),
            "max_features_": n_features_drawn(self.max_features, len(tree.schema.columns)),
        }
        if path is not None:
            fitted["pruning_path_"] = path
        if getattr(self, "n_competitors", 0):
            most: int = self.n_competitors  # type: ignore[attr-defined]
            fitted["competitors_"] = competitors(tree, rows, most=most, growing=self._growing(rows))
        replace_fit(self, fitted)
        warn_about_tree(self, data, tree, path)
        return self

    @documented
    def apply(self, X: Any, check_input: bool = True) -> NDArray[np.intp]:
        """The leaf of each row, by its number in the tree.

        Returns
        -------
        ndarray of shape (n_rows,)
            Node numbers, in preorder from left to right.
        """
        _, leaves = self._arrive(X)
        return leaves.astype(np.intp)

    @documented
    def decision_path(self, X: Any, check_input: bool = True) -> csr_matrix | csr_array:
        """The nodes on the path of each row, from the root to its leaf.

        Returns
        -------
        sparse matrix of shape (n_rows, n_nodes)
            1 where the row passes through the node.
        """
        fitted, leaves = self._arrive(X)
        return passed_nodes(fitted["model_"], leaves)

    def get_depth(self) -> int:
        """The number of tests on the longest path from the root to a leaf."""
        return int(self._fitted_tree().height)

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        return int(self._fitted_tree().n_leaves)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The share of each column in the total gain of the tree's splits (zeros for a tree without any).

        The columns of a sum share its gain.
        """
        tree = self._fitted_tree()
        gains = by_column(tree, tree.gain)
        return gains / (gains.sum() or 1.0)

    @property
    def tree_(self) -> Any:
        """The tree as scikit-learn's own `Tree`, for whatever reads its arrays.

        Not available where the tree tests categories or sums, or has linear models in its leaves, which these
        arrays cannot express; `model_` always is.
        """
        tree = self._fitted_tree(AttributeError)
        if tree.linear is not None:
            raise AttributeError(
                "this tree has linear models in its leaves, which scikit-learn's arrays cannot hold"
            )
        seen, view = vars(self).get("_view", (None, None))
        if seen is not tree:
            view = sklearn_tree(tree)
            vars(self)["_view"] = tree, view
        return view

    @checked_keywords
    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """The values of `ccp_alpha` at which the pruned tree changes, and its risk from there on.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.

        Returns
        -------
        Bunch
            `ccp_alphas`, in rising order, and `impurities`, the risk per unit of weight from each alpha on,
            or the cost where the estimator has costs.
        """
        whole = self._unpruned(X, y, sample_weight)
        path = cost_complexity_path(whole, price_of_leaves(whole))
        return Bunch(ccp_alphas=path.alpha, impurities=path.risk)

    def _unpruned(self, X: Any, y: Any, sample_weight: Any) -> Tree:
        """The tree of a fit before anything is pruned."""
        whole: TreeEstimator = clone(self).set_params(ccp_alpha=0.0, pruning=None)
        return whole.fit(X, y, sample_weight).model_

    @documented
    def certify(
        self,
        X: Any,
        y: Any = None,
        *,
        delta: float = 0.05,
        method: str = "held_out",
        choices: int = 1,
        **options: Any,
    ) -> Certificate:
        """A bound on the true error of the fitted tree, from rows that were never used for fitting.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Rows that had no part in the fit or in any choice; each counts as one draw. Or a tuple (X, y).
        y : str or array of shape (n_rows,) or (n_rows, n_targets)
            The column of X with their classes or numbers, or these themselves.
        method : str, default="held_out"
            A method of `treewright.certify` for such rows: "reduced_error" is for the rows that have
            pruned the tree by that method, or by any other.
        **options
            Others of `treewright.certify` for held-out rows.

        Returns
        -------
        Certificate
            ``print`` states it in a sentence; ``.value`` is the bound.
        """
        tree = self._fitted_tree()
        data = self._judging_data(tree.schema, *separated(X, y), judging=True)
        known = held_out_methods()
        if method not in known:
            raise ValueError(
                f"method is {method!r}; for rows other than those of the fit it must be "
                f"{' or '.join(map(repr, known))} (treewright.certify(model_, …) has those from the training "
                "rows)"
            )
        if "choices" in method_of(method).options:
            options["choices"] = choices
        elif choices != 1:
            raise ValueError(f"choices is for method='held_out'; {method!r} does not count them")
        return certify(self, method, test=data, delta=delta, **options)

    def _growing(self, data: Dataset) -> dict[str, Any]:
        """The parameters of `grow` for a table."""
        options = growing_options(self, data.n_counted, len(data.schema.columns), data.total_weight)
        return {**options, "criterion": known_criterion(self.criterion)}

    def _grow(self, data: Dataset, growing: Mapping[str, Any] | None = None) -> Tree:
        tree = grow(data, **(self._growing(data) if growing is None else growing))
        return cut_at(tree, self.ccp_alpha, price_of_leaves(tree)) if self.ccp_alpha > 0 else tree

    def _model(self, data: Dataset, validation: Dataset | None) -> tuple[Tree, PruningPath | None, Dataset]:
        """The tree of a fit, the path that it was chosen from if it was pruned, and the rows that grew it."""
        if self.pruning is None:
            return self._grow(data), None, data
        path, rows = prune_in_fit(self, data, validation, self._grow, self._growing)
        return path.pruned, path, rows

    def _tree_of(self, data: Dataset) -> Tree:
        """The tree of encoded rows, with the weights of their classes."""
        return self._model(self._reweighted(data), None)[0]

    def _validation_data(self, validation: Any, schema: Schema) -> Dataset | None:
        """The given rows to prune by, in the schema of those to grow from."""
        if validation is None:
            return None
        if self.pruning is None:
            raise ValueError("validation is for pruning, but pruning is None; such rows would not be used")
        if not isinstance(validation, tuple) or len(validation) not in (2, 3):
            raise ValueError("validation must be a tuple: (X, y) or (X, y, sample_weight)")
        try:
            return self._reweighted(self._judging_data(schema, *validation))
        except ValueError as error:
            raise ValueError(f"validation: {error}") from error

    def _judging_data(
        self, schema: Schema, X: Any, y: Any, sample_weight: Any = None, *, judging: bool = False
    ) -> Dataset:
        """Rows with their targets, encoded by a schema; rows that only judge a tree, and choose nothing, may
        have classes that the schema does not know.
        """
        refuse_one_dimension(X)
        target = plain_target(y, type(self).__name__)
        return encode(X, target, weight=sample_weight, schema=schema, judging=judging)

    def _fitted_tree(self, error: type[Exception] = NotFittedError) -> Tree:
        return self._fitted(error)["model_"]  # type: ignore[no-any-return]

    def _arrive(self, X: Any) -> tuple[Fitted, NDArray[np.int32]]:
        """The attributes of the fit and the leaf of each row in its tree."""
        fitted, rows = self._rows(X)
        tree: Tree = fitted["model_"]
        return fitted, tree.apply(rows, n_jobs=self.n_jobs)


def check_parameters(estimator: Any) -> None:
    """Refuse a parameter of a tree that is not possible, or not together with another one."""
    estimator.check_parameters()
    if estimator.pruning is not None and estimator.ccp_alpha > 0:
        estimator.refuse_parameter(
            "ccp_alpha", "zero where there is pruning (or pruning=CostComplexity(alpha=…))"
        )


def growing_options(estimator: Any, n_rows: int, n_columns: int, weight: float) -> dict[str, Any]:
    """The arguments of `grow`: the parameters of an estimator, fractions as counts and weights of this table.

    `n_rows` and `weight` are those of the rows with a positive weight, so that a row of weight zero is as
    good as absent here, too.
    """
    own = {name: getattr(estimator, name) for name in GROW if hasattr(estimator, name)}
    options = in_units(own, n_rows, weight)
    drawn = n_features_drawn(estimator.max_features, n_columns)
    draws_sums = options.get("split", "axis") != "axis" and estimator.random_state is not None
    is_random = estimator.splitter == "random" or drawn < n_columns or draws_sums
    return {
        **options,
        "max_features": drawn,
        # without chance in the growing the seed is not even drawn: the tree depends on the table alone
        "random_state": _seed(estimator.random_state) if is_random else 0,
    }


def _seed(random_state: Any) -> int:
    """The seed of a tree: an int itself, so that the trees of a forest, which bear their seeds, can be grown
    again.
    """
    return int(random_state if is_int(random_state) else check_random_state(random_state).randint(2**31 - 1))


def passed_nodes(tree: Tree, leaves: NDArray[np.int32]) -> csr_matrix | csr_array:
    """The nodes on the path to the leaf of each row, as in scikit-learn's `decision_path`."""
    parent, lengths = tree.parent, tree.depths[leaves].astype(np.intp) + 1
    ends = np.concatenate([np.zeros(1, np.intp), np.cumsum(lengths)])
    nodes = np.empty(ends[-1], np.intp)
    node, place = leaves, ends[1:] - 1
    while node.size:  # all rows climb one step at a time
        nodes[place] = node
        below = node > 0
        node, place = parent[node[below]], place[below] - 1
    return csr_matrix((np.ones(len(nodes), np.intp), nodes, ends), shape=(len(leaves), tree.n_nodes))


def price_of_leaves(tree: Tree) -> NDArray[np.float64]:
    """What leaves are priced by: the risk, as in scikit-learn; or the loss, with costs or linear models."""
    return tree.loss if tree.schema.has_costs or tree.linear is not None else tree.risk


def _fit_rows(
    known: KnownRows, data: Dataset, others: Dataset | None, path: PruningPath | None, rows: Dataset
) -> FitRows:
    """What the rows of a fit did: `data` all of them, `others` given to validate, `rows` grew the tree."""
    if others is not None and chosen_by_rows(path):
        return FitRows((known,), (KnownRows.of(others),), choices_of(path))
    if rows.n_rows < data.n_rows:  # the rest were set aside to choose by
        return FitRows((KnownRows.of(rows),), (known,), choices_of(path))
    return FitRows((known,))
