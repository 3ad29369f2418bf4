"""Near neighbours: k-d trees, exact and defeatist search, and what the latter costs."""

from __future__ import annotations

from treewright.neighbours.curve import DefeatistCurve, defeatist_curve
from treewright.neighbours.kd_tree import KDTree, Metric, Rule, Search, metric_name

__all__ = ["DefeatistCurve", "KDTree", "Metric", "Rule", "Search", "defeatist_curve", "metric_name"]
