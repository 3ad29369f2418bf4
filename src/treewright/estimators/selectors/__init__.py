"""Feature selectors as scikit-learn transformers of any table."""

from __future__ import annotations

from treewright.estimators.selectors.boruta import ShadowSelector
from treewright.estimators.selectors.univariate import SplitFilter
from treewright.estimators.selectors.wrapper import TreeSelector
from treewright.estimators.selectors.zero_norm import ZeroNormSelector

__all__ = ["ShadowSelector", "SplitFilter", "TreeSelector", "ZeroNormSelector"]
