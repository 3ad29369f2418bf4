"""The competitors of the largest branches, without those that would name rare categories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from treewright._text import LONGEST_LIST
from treewright.explaining.competitors import Competitor, competitors
from treewright.reporting.rounding import short
from treewright.reporting.samples import Sample
from treewright.reporting.subject import Subject
from treewright.tree import Tree
from treewright.tree.oblique import asked_columns

MOST_COMPETED = 64  # branches with competitors
MOST_COMPETITORS = 5  # of each
FEWEST_ROWS = 5  # of a category that is named although the tree does not test it
_MOST_CELLS_COMPETED = 12_000_000  # rows × columns searched for competitors; the root always is
_MOST_SPLITS = 4_000  # searches, of one node by one column


def largest_competitors(subject: Subject, train: Sample | None) -> dict[int, list[Competitor]]:
    """The competitors of the branches with the most rows, those of the model first."""
    if train is None:
        return {}
    tree = subject.tree
    inner = np.flatnonzero(~tree.is_leaf)
    is_branch = subject.inside.copy()
    is_branch[subject.leaves] = False
    most = min(MOST_COMPETED, _MOST_SPLITS // train.data.n_columns)
    order = inner[np.lexsort((-train.rows[inner], ~is_branch[inner]))][:most]
    cells = np.cumsum(train.rows[order]) * train.data.n_columns
    wanted = np.sort(order[(cells <= _MOST_CELLS_COMPETED) | (order == 0)])
    found = competitors(tree, train.data, wanted.tolist(), MOST_COMPETITORS).by_node
    used = set(asked_columns(tree))
    return {
        node: [each for each in rivals if each.position in used or _names_no_rare_category(each, train)]
        for node, rivals in found.items()
    }


def _names_no_rare_category(rival: Competitor, train: Sample) -> bool:
    """Privacy: a category that only a few rows have could identify them, so a split must not name it."""
    if rival.split.subset[0] < 0:
        return True
    cells, goes_left = train.cells[rival.position], rival.split.goes_left(0)
    rows = np.bincount(cells[cells >= 0], minlength=len(goes_left))
    sides = [np.flatnonzero(goes_left), np.flatnonzero(~goes_left)]
    named = min(sides, key=len)[:LONGEST_LIST]
    return bool((rows[named] >= FEWEST_ROWS).all())


def competitors_as_json(
    tree: Tree, rivals: dict[int, list[Competitor]], place: Mapping[int, int]
) -> dict[str, list[dict[str, Any]]]:
    """Competitors for the payload: gains as shares of the risk at the root, columns by their index there."""
    risk = float(tree.risk[0]) or 1.0
    return {
        str(node): [
            {"words": each.words, "gain": short(each.gain / risk, 4), "column": place[each.position]}
            for each in found
        ]
        for node, found in rivals.items()
        if found
    }
