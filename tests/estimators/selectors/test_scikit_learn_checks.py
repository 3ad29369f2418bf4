"""scikit-learn's own checks over every selector."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency, parametrize_with_checks

from treewright import ShadowSelector, SplitFilter, TreeSelector, ZeroNormSelector

# The targets of some checks are noise.
pytestmark = pytest.mark.filterwarnings("ignore:.* has kept no column:UserWarning")

SELECTORS = [
    SplitFilter(),
    SplitFilter(alpha=0.2, n_permutations=19, measure="mutual_information"),
    TreeSelector(cv=2),
    TreeSelector(cv=2, direction="rfe", step=0.5),
    ZeroNormSelector(),
    ShadowSelector(n_estimators=5, max_iter=8, keep_tentative=True),
]


def expected_to_fail(selector):
    """Permutations deal rows: a weight of two is not a row twice to them.

    Folds and bootstraps deal rows as well, but what they keep of the tables of the check is the same.
    """
    if not isinstance(selector, SplitFilter) or selector.alpha is None:
        return {}
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": "rows are dealt" for kind in kinds}


@pytest.mark.slow
@parametrize_with_checks(SELECTORS, expected_failed_checks=expected_to_fail)
def test_selector(estimator, check):
    check(estimator)


def test_column_names():
    """A check that scikit-learn keeps for its own estimators."""
    for selector in SELECTORS:
        check_dataframe_column_names_consistency(type(selector).__name__, selector)
