"""Which columns to keep: by the best split of each, by trees that must do without some, by shuffled rivals.

A filter looks at one column at a time (`splits`, with p-values by `permuting`). A wrapper grows trees from
some of the columns and asks other rows how good they are (`wrapping`). `shadows` compares each column with
shuffled copies in random forests (`importances`). `zero_norm` is the linear way: a machine whose weights
vanish. All of them are functions of a `Dataset` or a matrix; the estimators dress them.
"""

from __future__ import annotations

from treewright.feature_selection.shadows import ShadowVerdict, shadow_selection
from treewright.feature_selection.splits import SplitScores, split_scores
from treewright.feature_selection.wrapping import SelectionPath, search_columns
from treewright.feature_selection.zero_norm import ZeroNorm, zero_norm

__all__ = [
    "SelectionPath",
    "ShadowVerdict",
    "SplitScores",
    "ZeroNorm",
    "search_columns",
    "shadow_selection",
    "split_scores",
    "zero_norm",
]
