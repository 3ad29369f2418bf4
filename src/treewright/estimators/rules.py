"""RuleListClassifier: an ordered list of rules from the paths of a tree (C4.5rules, rule post-pruning)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from treewright.encoding import Dataset
from treewright.encoding.splits import split
from treewright.estimators._predictions import ClassifierPredictions, Floats
from treewright.estimators._table_estimator import TableEstimator
from treewright.estimators._tables import Fitted, replace_fit
from treewright.estimators.tree import DecisionTreeClassifier
from treewright.parameters.checks import Allowed, is_fraction, one_of
from treewright.parameters.classic import ConfidenceParameters
from treewright.parameters.spec import documented, parameter
from treewright.parameters.tree import ClassifierParameters
from treewright.plotting.rules import plot_rules
from treewright.pruning.rule_post_pruning import rule_list

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OWN_PARAMETERS = {"method", "confidence", "validation_fraction", "random_state"}


class RuleListClassifier(
    ClassifierPredictions,
    ConfidenceParameters,
    TableEstimator,
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """An ordered list of rules that predicts classes: the first rule that matches a row applies.

    A tree is grown, its paths are taken as rules, and these are pruned one by one, selected and ordered:
    C4.5's rules, or Mitchell's rule post-pruning.

    Attributes
    ----------
    rules_ : treewright.RuleList
        The rules. ``print(model.rules_)`` shows them.
    model_ : treewright.Tree
        The tree that they come from.
    classes_ : ndarray of shape (n_classes,)
        The sorted classes.

    See Also
    --------
    treewright.pruning.rule_post_pruning.rule_list : The function below it, for any tree.

    Notes
    -----
    `predict_proba` is the share of each class among the training rows to which the same rule applies. The
    class of a rule comes from all rows that it matches, including those of earlier rules, so that another
    class may have the largest share.

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

    method: str = parameter(
        default="pessimistic",
        doc="How the error of a rule is estimated. "
        '"pessimistic": from the rows that grew the tree, as C4.5rules does, which then selects the rules '
        'with the shortest description. "validation": on rows that are set aside, as Mitchell does, who '
        "keeps all rules, the most accurate first.",
        allowed=one_of("pessimistic", "validation"),
        group="Growing",
    )
    confidence: float = parameter(
        default=0.25,
        doc='C4.5\'s CF, above 0 and at most 1; smaller values drop more conditions. For "pessimistic" only.',
    )
    validation_fraction: float = parameter(
        default=0.3,
        kind="float",
        doc='The fraction of the rows of each class that is set aside at random. For "validation" only.',
        allowed=Allowed(lambda v: is_fraction(v) and 0 < v < 1, "a float in (0, 1)"),
        group="Growing",
    )
    criterion: str = parameter(
        default="gini",
        kind=ClassifierParameters.parameters["criterion"].kind,
        doc="The impurity that the splits of the tree reduce.",
        allowed=ClassifierParameters.parameters["criterion"].allowed,
    )
    max_depth: int | None = parameter(default=None)
    max_leaf_nodes: int | None = parameter(
        default=1000,
        doc="The largest number of leaves; the leaf with the largest gain is split first. The time for the "
        "rules grows with leaves × rows.",
    )
    min_samples_split: int | float = parameter(default=2)
    min_samples_leaf: int | float = parameter(default=1)
    kinds: Any = parameter(default=None)
    random_state: Any = parameter(
        default=None,
        doc='Seeds the rows that are set aside. For "pessimistic" only the starts of a search are drawn, '
        "always from the same seed: the same table gives the same rules.",
    )
    n_jobs: int | None = parameter(default=None)

    def _fit(self, X: Any, y: Any, data: Dataset, described: Fitted) -> None:
        aside = None
        if self.method == "validation":
            share, random = self.validation_fraction, check_random_state(self.random_state)
            data, aside = split(data, (1 - share, share), int(random.randint(2**31 - 1)))
        of_tree = self.parameters.keys() - _OWN_PARAMETERS
        tree = DecisionTreeClassifier(**{name: getattr(self, name) for name in of_tree})._grow(data)
        rules = rule_list(
            tree,
            data=data,
            validation=aside,
            method="pessimistic" if aside is None else "validation",
            confidence=self.confidence,
            max_rules=tree.n_leaves,  # max_leaf_nodes is the limit here
        )
        replace_fit(self, {**described, "model_": tree, "rules_": rules})

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Plot the rules as bars; needs matplotlib. The options are those of `treewright.plot_rules`."""
        return plot_rules(self._fitted_model(), ax, **options)

    @documented
    def apply(self, X: Any) -> NDArray[np.intp]:
        """The position in `rules_` of the first rule that matches each row; ``len(rules_)`` is the default.

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
