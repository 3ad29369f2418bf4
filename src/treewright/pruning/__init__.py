"""Pruning: which nodes of a grown tree to collapse. One file per method; `Tree.collapse` does the cutting."""

from __future__ import annotations

from treewright.pruning.cost_complexity import (
    CostComplexityPath,
    cost_complexity,
    cost_complexity_path,
    weakest_links,
)

__all__ = ["CostComplexityPath", "cost_complexity", "cost_complexity_path", "weakest_links"]
