"""Feature selection: univariate filters, wrappers, Boruta and the zero norm.

All are functions of a `Dataset` or a matrix; `treewright.estimators` has them as scikit-learn transformers.
"""

from __future__ import annotations

from treewright.feature_selection.boruta import BorutaResult, boruta
from treewright.feature_selection.univariate import SplitScores, split_scores
from treewright.feature_selection.wrapper import SelectionPath, search_columns
from treewright.feature_selection.zero_norm import ZeroNorm, zero_norm

__all__ = [
    "BorutaResult",
    "SelectionPath",
    "SplitScores",
    "ZeroNorm",
    "boruta",
    "search_columns",
    "split_scores",
    "zero_norm",
]
