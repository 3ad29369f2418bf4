"""Nearest neighbours: k-d trees, exact and defeatist search, and how much the latter finds."""

from __future__ import annotations

from treewright.neighbours.curve import DefeatistCurve, defeatist_curve
from treewright.neighbours.kd_tree import KDTree, Rule, Search, metric_name

__all__ = ["DefeatistCurve", "KDTree", "Rule", "Search", "defeatist_curve", "metric_name"]
