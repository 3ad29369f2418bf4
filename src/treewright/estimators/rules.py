"""RuleListClassifier: an ordered list of rules from the paths of a tree (C4.5rules, rule post-pruning)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from treewright.encoding import Dataset
from treewright.encoding.splits import split
from treewright.estimators._predictions import ClassifierPredictions, Floats
from treewright.estimators._table_estimator import TableEstimator
from treewright.estimators.fitting import Fitted, replace_fit
from treewright.estimators.tree import DecisionTreeClassifier
from treewright.pruning.rule_post_pruning import rule_list
from treewright.tree.rule_list import RuleList

_TREE_PARAMETERS = (
    "criterion",
    "max_depth",
    "max_leaf_nodes",
    "min_samples_split",
    "min_samples_leaf",
    "kinds",
    "n_jobs",
)


class RuleListClassifier(ClassifierPredictions, TableEstimator, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A list of rules that predicts classes: the first rule that fits a row answers it.

    A tree is grown, its paths are taken as rules, and these are pruned one by one, chosen and ordered: C4.5's
    rules, or Mitchell's rule post-pruning.

    Parameters
    ----------
    method : {"pessimistic", "validation"}, default="pessimistic"
        How the error of a rule is estimated: from the rows that grew the tree, pessimistically, as C4.5rules
        does, which then chooses the rules with the shortest description; or on rows put aside, as Mitchell
        does, who keeps all rules, the most accurate first.
    confidence : float, default=0.25
        C4.5's CF, above 0 and at most 1; smaller drops more conditions. For "pessimistic" only.
    validation_fraction : float, default=0.3
        The share of the rows of each class that is put aside, drawn at random. For "validation" only.
    criterion : {"gini", "entropy", "log_loss", "error", "sqrt", "gain_ratio"}, default="gini"
        What a split of the tree is to lower.
    max_depth : int, default=None
        The most tests on the way to a leaf; no limit if None.
    max_leaf_nodes : int, default=1000
        Stop growing at this many leaves; the leaf with the largest gain is split first. The time for the
        rules grows with leaves × rows.
    min_samples_split : int or float, default=2
        A node with fewer rows is not split. A float is a fraction of all rows, rounded up.
    min_samples_leaf : int or float, default=1
        No split leaves a side with fewer rows. A float is a fraction of all rows, rounded up.
    kinds : dict or list, default=None
        Kinds of columns that are not to be found by themselves: "number", "category" or "time", by name.
    random_state : int, RandomState or None, default=None
        Seeds the rows that are put aside. For "pessimistic" nothing is drawn but the starts of a search, and
        those always from the same seed: the same table gives the same rules.
    n_jobs : int, default=None
        Threads to grow the tree with; the result is the same for any number. None is one, -1 all cores.

    Attributes
    ----------
    rules_ : treewright.RuleList
        The rules. ``print(model.rules_)`` shows them.
    model_ : treewright.Tree
        The tree that they come from.
    classes_ : ndarray of shape (n_classes,)
        The sorted classes.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    See Also
    --------
    treewright.pruning.rule_post_pruning.rule_list : The function below it, for any tree.

    Notes
    -----
    `predict_proba` is the share of each class among the training rows to which the same rule applies. The
    class of a rule comes from all rows that it matches, including those of earlier rules, so that now and
    then another class has the largest share.

    Examples
    --------
    >>> from treewright import RuleListClassifier
    >>> table = {"wind": [3, 12, 5, 14, 9], "sky": ["clear", "clear", "rain", "rain", "clouds"]}
    >>> model = RuleListClassifier().fit(table, ["sail", "stay", "sail", "stay", "sail"])
    >>> print(model.rules_)
    2 rules: the first that fits answers
    1.  wind <= 10   sail    3 rows   100 %
    2.  wind > 10    stay    2 rows   100 %
        otherwise    sail   no rows
    >>> model.predict({"wind": [4, 20], "sky": ["clouds", None]})
    array(['sail', 'stay'], dtype='<U4')
    """

    rules_: RuleList

    def __init__(
        self,
        *,
        method: str = "pessimistic",
        confidence: float = 0.25,
        validation_fraction: float = 0.3,
        criterion: str = "gini",
        max_depth: int | None = None,
        max_leaf_nodes: int | None = 1000,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        kinds: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.confidence = confidence
        self.validation_fraction = validation_fraction
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.kinds = kinds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, y: Any, data: Dataset, described: Fitted) -> None:
        aside = None
        if self.method == "validation":
            share, random = self.validation_fraction, check_random_state(self.random_state)
            data, aside = split(data, (1 - share, share), int(random.randint(2**31 - 1)))
        tree = DecisionTreeClassifier(**{name: getattr(self, name) for name in _TREE_PARAMETERS})._grow(data)
        rules = rule_list(
            tree,
            data=data,
            validation=aside,
            method="pessimistic" if aside is None else "validation",
            confidence=self.confidence,
            max_rules=tree.n_leaves,  # max_leaf_nodes is the limit here
        )
        replace_fit(self, {**described, "model_": tree, "rules_": rules})

    def apply(self, X: Any) -> NDArray[np.intp]:
        """The position in `rules_` of the first rule that matches each row; ``len(rules_)`` is the default.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows, with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
            Positions, from 0.
        """
        return self._matching_rules(X)[1].astype(np.intp)

    def _class_codes(self, X: Any) -> tuple[Fitted, NDArray[Any]]:
        fitted, places = self._matching_rules(X)
        return fitted, fitted["rules_"].codes.take(places)[:, np.newaxis]

    def _class_probabilities(self, X: Any) -> list[Floats]:
        fitted, places = self._matching_rules(X)
        return [fitted["rules_"].shares(places)]

    def _matching_rules(self, X: Any) -> tuple[Fitted, NDArray[np.int32]]:
        """The attributes of the fit, and the position of the rule that applies to each row."""
        fitted, rows = self._rows(X)
        return fitted, fitted["rules_"].apply(rows)
