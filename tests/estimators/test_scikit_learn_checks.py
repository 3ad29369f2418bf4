"""scikit-learn's own checks over every estimator."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    parametrize_with_checks,
)

from treewright import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    CHAIDClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    ID3Classifier,
    KNeighborsClassifier,
    KNeighborsRegressor,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RuleListClassifier,
    TopDownClassifier,
)

# The targets of some checks are noise, of which the right tree is a single leaf.
pytestmark = pytest.mark.filterwarnings("ignore:the tree is a single leaf:treewright.AdviceWarning")


class NumbersOnly:
    """Not taken for an estimator of categories: scikit-learn rounds the tables that it gives to those."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        return tags


class NumbersClassifier(NumbersOnly, DecisionTreeClassifier):
    pass


class NumbersCHAID(NumbersOnly, CHAIDClassifier):
    pass


class NumbersRegressor(NumbersOnly, DecisionTreeRegressor):
    pass


class NumbersBoosting(NumbersOnly, HistGradientBoostingClassifier):
    pass


class NumbersRuleList(NumbersOnly, RuleListClassifier):
    pass


class NumbersForest(NumbersOnly, RandomForestClassifier):
    pass


class NumbersOptimal(NumbersOnly, OptimalTreeClassifier):
    pass


class NumbersAdaBoostClassifier(NumbersOnly, AdaBoostClassifier):
    pass


class NumbersAdaBoostRegressor(NumbersOnly, AdaBoostRegressor):
    pass


ESTIMATORS = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(criterion="gain_ratio", max_leaf_nodes=30, ccp_alpha=1e-4),
    DecisionTreeRegressor(),
    DecisionTreeRegressor(criterion="absolute_error", threshold="midpoint"),
    ExtraTreeClassifier(),
    ExtraTreeRegressor(),
    NumbersClassifier(),
    NumbersRegressor(),
    RuleListClassifier(),
    NumbersRuleList(confidence=0.5, criterion="entropy"),
    ID3Classifier(),
    CHAIDClassifier(),
    NumbersCHAID(alpha_resplit=0.01),
    TopDownClassifier(),
    C45Classifier(),
    CARTClassifier(),
    CARTRegressor(),
    OptimalTreeClassifier(leaf_penalty=0.001),
    OptimalTreeRegressor(),
    NumbersOptimal(max_depth=2, leaf_penalty=0.001),
    AdaBoostClassifier(n_estimators=5),
    NumbersAdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=4, algorithm="M1"),
    AdaBoostRegressor(n_estimators=5, resample=False),
    NumbersAdaBoostRegressor(n_estimators=4, loss="square"),
    RandomForestClassifier(n_estimators=5),
    RandomForestRegressor(n_estimators=5),
    NumbersForest(n_estimators=4, bootstrap=False, max_samples=0.66, voting="hard"),
    ExtraTreesClassifier(n_estimators=5),
    ExtraTreesRegressor(n_estimators=5),
    BaggingClassifier(n_estimators=5),
    BaggingRegressor(n_estimators=5),
    KNeighborsClassifier(),
    KNeighborsClassifier(3, weights="distance", p=1),
    KNeighborsRegressor(),
    KNeighborsRegressor(search="defeatist", spill=0.1, leaf_size=5),
    HistGradientBoostingClassifier(max_iter=20),
    HistGradientBoostingRegressor(max_iter=20),
    NumbersBoosting(max_iter=5, learning_rate=0.5),
]


def expected_to_fail(estimator):
    """CART's limits count rows, whatever they weigh, and its folds deal rows; other rows, other draws."""
    draws = ("resample", "bootstrap", "max_samples")
    reason = ""
    if isinstance(estimator, CARTClassifier | CARTRegressor):
        reason = "limits and folds count rows"
    elif any(getattr(estimator, name, None) for name in draws):
        reason = "rows are drawn"
    kinds = ("dense", "sparse") if reason else ()
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


@pytest.mark.slow
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_to_fail)
def test_estimator(estimator, check):
    check(estimator)


@pytest.mark.slow
def test_column_names():
    """A check that scikit-learn keeps for its own estimators."""
    for estimator in ESTIMATORS:
        check_dataframe_column_names_consistency(type(estimator).__name__, estimator)
