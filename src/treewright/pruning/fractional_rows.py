"""C4.5's pruning of trees with multiway splits and fractional rows for missing values.

A row with a missing value is sent down all branches, with the share of each branch among the rows of known
value. When a branch takes the place of the node above it, all rows of the node are sent down it, with new
shares, and it is pruned again before the nodes above it. The traversal uses a stack, not recursion: trees may
be of any depth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from treewright.encoding import Dataset
from treewright.pruning.path import OTHER_ROWS
from treewright.pruning.pessimistic_errors import add_errors
from treewright.pruning.traversal import Floats, Ints
from treewright.tree import Tree
from treewright.tree.evaluate import checked_targets
from treewright.tree.surgery import grafted_arrays

SLACK = 0.1  # errors by which a smaller tree may be worse
USELESS = 1e-3  # a split that saves fewer errors saves none


def collapse_useless_splits(tree: Tree) -> Tree:
    """The tree without the splits that save no training error, which C4.5 does not make while it grows."""
    errors = tree.loss.copy()
    useless = []
    for node in np.flatnonzero(~tree.is_leaf & ~tree.joined)[::-1].tolist():
        below = float(errors[tree.branches(node)].sum())
        if below >= tree.loss[node] - USELESS:
            useless.append(node)
        else:
            errors[node] = below
    return tree.collapse(useless)


def size(tree: Tree) -> int:
    """The number of nodes as C4.5 counts them: a split is one, and so is the branch of each category.

    >>> from treewright import encode
    >>> from treewright.growing.id3 import grow_id3
    >>> size(grow_id3(encode({"sky": ["clear", "rain", "snow"]}, ["walk", "read", "ski"])))
    4
    """
    more = 0
    for leaf in np.flatnonzero(tree.weight == 0).tolist():  # one branch stands for all absent categories
        more += _n_categories(tree, leaf) - 1
    return tree.n_nodes - int(tree.joined.sum()) + more


def _n_categories(tree: Tree, node: int) -> int:
    """How many categories lead to a branch."""
    head, own = int(tree.heads[tree.parent[node]]), None
    while node != head:
        parent = int(tree.parent[node])
        passes = tree.goes_left(parent) == (node == parent + 1)
        own = passes if own is None else own & passes
        node = parent
    return 1 if own is None else int(own.sum())


@dataclass(eq=False)
class _Visit:
    """A node, the rows that are sent down it, and its estimated errors ("charge")."""

    node: int
    rows: Ints
    share: Floats
    parent: _Visit | None  # the visit to whose charge this one's is added
    changes: bool  # whether the tree may change here, or is only estimated
    charge: float = 0.0
    as_leaf: float = 0.0
    largest: int = -1
    is_entered: bool = False
    largest_alone: _Visit | None = None  # the largest branch with all rows, once it has been estimated


class Sharing:
    """The tree while it is pruned."""

    def __init__(self, tree: Tree, data: Dataset, confidence: float, raising: bool) -> None:
        self.tree, self.data, self.confidence, self.raising = tree, data, confidence, raising
        self.classes = checked_targets(tree, data)[0]
        if not np.allclose(tree.statistic_of(data), tree.statistic, rtol=1e-7, atol=1e-9 * tree.weight[0]):
            raise ValueError(OTHER_ROWS)
        self.weight = data.row_weights
        self.replaced_by = np.arange(tree.n_nodes)  # the node in the place of each node
        self.is_leaf = tree.is_leaf.copy()
        self.branches = {
            node: tree.branches(node) for node in np.flatnonzero(~tree.is_leaf & ~tree.joined).tolist()
        }
        self.tables: dict[int, Ints] = {}  # by split: the branch of each category
        self.n_raised = 0

    def prune(self) -> Tree:
        """The pruned tree."""
        todo = [self._visit_of_all(0, True)]
        while todo:
            visit = todo[-1]
            if not visit.is_entered:
                todo += self._enter(visit)
            elif visit.changes and self.raising and visit.largest_alone is None and visit.largest >= 0:
                largest = self._current(visit.largest)
                visit.largest_alone = _Visit(largest, visit.rows, visit.share, None, False)
                todo.append(visit.largest_alone)
            else:
                todo.pop()
                again = self._leave(visit)
                if again is not None:
                    todo.append(again)
        return self._cut()

    def _visit_of_all(self, node: int, changes: bool) -> _Visit:
        rows = self.data.counted
        return _Visit(node, rows, self.weight[rows].astype(np.float64), None, changes)

    def _current(self, node: int) -> int:
        """The node that is now in the place of a node."""
        while self.replaced_by[node] != node:
            node = int(self.replaced_by[node])
        return node

    def _enter(self, visit: _Visit) -> list[_Visit]:
        """Estimate a node as a leaf, and visit its branches with their shares of the rows."""
        visit.is_entered = True
        width = self.tree.schema.width
        counts = np.bincount(self.classes[visit.rows], visit.share, width).astype(np.float64)
        visit.as_leaf = self._charge(counts)
        fractions = [] if self.is_leaf[visit.node] else self._fractions(visit)
        if not fractions:  # a leaf, or no row of known value
            visit.charge = visit.as_leaf
        below, heaviest = [], 0.0
        for branch, rows, share, part in fractions:
            below.append(_Visit(self._current(branch), rows, share, visit, visit.changes))
            if part >= heaviest:  # the last among equals
                visit.largest, heaviest = branch, part
        return below[::-1]

    def _charge(self, counts: Floats) -> float:
        rows = float(counts.sum())
        errors = rows - float(counts.max())
        return errors + float(add_errors(rows, errors, self.confidence))

    def _fractions(self, visit: _Visit) -> list[tuple[int, Ints, Floats, float]]:
        """(branch, its rows, their shares, its share of the rows of known value), for branches with rows."""
        place = self._places(visit.node, visit.rows)
        known = place >= 0
        total = float(visit.share[known].sum())
        fractions = []
        for i, branch in enumerate(self.branches[visit.node]):
            own = place == i
            if not own.any():
                continue
            part = float(visit.share[own].sum()) / total
            sent = own | ~known
            share = np.where(known[sent], visit.share[sent], visit.share[sent] * part)
            fractions.append((branch, visit.rows[sent], share, part))
        return fractions

    def _places(self, node: int, rows: Ints) -> Ints:
        """The branch of each row at a split; -1 where its value is missing or unknown."""
        tree = self.tree
        values = self.data.column(int(tree.feature[node]), rows)
        if tree.subset[node] < 0:
            return np.where(np.isnan(values), -1, np.where(values <= tree.threshold[node], 0, 1))
        if node not in self.tables:
            self.tables[node] = _branch_of_category(tree, node, self.branches[node])
        return np.where(values < 0, -1, self.tables[node][np.maximum(values, 0)])

    def _leave(self, visit: _Visit) -> _Visit | None:
        """Keep, collapse or raise at a node with estimated branches; a visit if it must be pruned again."""
        node = visit.node
        if visit.changes and not self.is_leaf[node]:
            as_child = visit.largest_alone.charge if visit.largest_alone is not None else np.inf
            if visit.as_leaf <= min(as_child, visit.charge) + SLACK:
                self.is_leaf[node] = True
                visit.charge = visit.as_leaf
            elif as_child <= visit.charge + SLACK:
                child = self._current(visit.largest)
                self.replaced_by[node] = child
                self.n_raised += 1
                return _Visit(child, visit.rows, visit.share, visit.parent, True)
        if visit.parent is not None:
            visit.parent.charge += visit.charge
        return None

    # ---- the resulting tree ------------------------------------------------------------------------

    def _cut(self) -> Tree:
        """The current tree, with the fractional rows counted at each of its nodes."""
        tree = self.tree
        counts = np.zeros((tree.n_nodes, tree.schema.width))
        rows, unknown = np.zeros(tree.n_nodes, np.int64), np.zeros(tree.n_nodes, np.int64)
        top = self._current(0)
        todo = [self._visit_of_all(top, False)]
        kept, leaves, replacements = [], [], {0: top} if top else {}
        while todo:
            visit = todo.pop()
            kept.append(visit.node)
            rows[visit.node] = len(visit.rows)
            labels = self.classes[visit.rows]
            counts[visit.node] = np.bincount(labels, visit.share, tree.schema.width)
            if self.is_leaf[visit.node]:
                leaves.append(visit.node)
                continue
            unknown[visit.node] = np.count_nonzero(self._places(visit.node, visit.rows) < 0)
            sent = {branch: (own, share) for branch, own, share, _ in self._fractions(visit)}
            for branch in self.branches[visit.node]:
                child = self._current(branch)
                own, share = sent.get(branch, (np.zeros(0, np.int64), np.zeros(0)))
                if not len(own):  # a branch without rows is a leaf
                    child = branch
                    self.is_leaf[branch] = True
                if child != branch:
                    replacements[branch] = child
                todo.append(_Visit(child, own, share, None, False))
        self._join(kept, counts, rows, unknown)
        arrays = grafted_arrays(tree, replacements, [node for node in leaves if not tree.is_leaf[node]])
        nodes = np.sort(np.array([*kept, *self._links(kept)], np.int64))
        arrays["rows"], arrays["statistic"] = rows[nodes], counts[nodes]
        return replace(tree, **arrays)

    def _links(self, kept: list[int]) -> list[int]:
        """The nodes that continue the remaining multiway splits."""
        splits = [node for node in kept if not self.is_leaf[node]]
        is_link = self.tree.joined & np.isin(self.tree.heads, splits)
        return np.flatnonzero(is_link).tolist()

    def _join(self, kept: list[int], counts: Floats, rows: Ints, unknown: Ints) -> None:
        """Count the rows of the nodes that continue a split; fractional rows are in all of its branches."""
        for node in sorted(self._links(kept), reverse=True):
            children = [int(self.tree.left[node]), int(self.tree.right[node])]
            own = [child if self.tree.joined[child] else self._current(child) for child in children]
            twice = int(unknown[self.tree.heads[node]]) if rows[own].all() else 0
            counts[node], rows[node] = counts[own].sum(axis=0), rows[own].sum() - twice


def _branch_of_category(tree: Tree, node: int, branches: list[int]) -> Ints:
    """For each category of the column that a split tests, the place of its branch."""
    place = np.zeros(tree.schema.category_counts[tree.feature[node]], np.int64)
    todo = [(node, np.ones(len(place), np.bool_))]
    while todo:
        at, own = todo.pop()
        left = tree.goes_left(at)
        for child, some in ((int(tree.left[at]), own & left), (int(tree.right[at]), own & ~left)):
            if tree.joined[child]:
                todo.append((child, some))
            else:
                place[some] = branches.index(child)
    return place
