"""C4.5's pruning where a split may have many branches and rows without a value go down all of them in parts.

A part of a row counts by its share, and a share is that of a branch among the rows of the node whose value is
known. When a branch takes the place of the node above it, all rows of the node go down it anew, with new
shares; then it is pruned again before anything above it is looked at. Nodes are entered from above and left
from below by a list of things to do, so that any depth will do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from treewright.encoding import Dataset
from treewright.pruning.pessimistic_errors import add_errors
from treewright.pruning.traversal import Floats, Ints
from treewright.tree import Tree
from treewright.tree.evaluate import checked_targets
from treewright.tree.surgery import grafted_arrays

SLACK = 0.1  # errors by which a smaller tree may be worse
USELESS = 1e-3  # errors that count as none where a split is to save some


def collapse_useless_splits(tree: Tree) -> Tree:
    """The tree without the splits that save no training error, as C4.5 leaves them out while it grows."""
    errors = tree.loss.copy()
    gone = []
    for node in np.flatnonzero(~tree.is_leaf & ~tree.joined)[::-1].tolist():
        below = float(errors[tree.branches(node)].sum())
        if below >= tree.loss[node] - USELESS:
            gone.append(node)
        else:
            errors[node] = below
    return tree.collapse(gone)


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
    """A node with the rows that are sent down it, on the way to what it is charged."""

    node: int
    rows: Ints
    share: Floats
    sum_of: _Visit | None  # the visit that adds this one's charge to its own
    changes: bool  # whether the tree may change here, or is only estimated
    charge: float = 0.0
    as_leaf: float = 0.0
    largest: int = -1
    is_entered: bool = False
    raised: _Visit | None = None  # the largest branch with all rows, once it has been estimated


class Sharing:
    """The tree while it is pruned."""

    def __init__(self, tree: Tree, data: Dataset, confidence: float, raising: bool) -> None:
        self.tree, self.data, self.confidence, self.raising = tree, data, confidence, raising
        self.classes = checked_targets(tree, data)[0]
        if not np.allclose(tree.statistic_of(data), tree.statistic, rtol=1e-7, atol=1e-9 * tree.weight[0]):
            raise ValueError(
                "data must be the rows that the tree was grown from; other rows arrive at its nodes"
            )
        self.weight = data.row_weights
        self.stands = np.arange(tree.n_nodes)  # what has taken the place of each node
        self.is_leaf = tree.is_leaf.copy()
        self.branches = {
            node: tree.branches(node) for node in np.flatnonzero(~tree.is_leaf & ~tree.joined).tolist()
        }
        self.tables: dict[int, Ints] = {}  # by decision: the branch of each category
        self.n_raised = 0

    def pruned(self) -> Tree:
        """The pruned tree."""
        rows = self.data.counted
        todo = [_Visit(0, rows, self.weight[rows].astype(np.float64), None, True)]
        while todo:
            visit = todo[-1]
            if not visit.is_entered:
                todo += self._enter(visit)
            elif visit.changes and self.raising and visit.raised is None and visit.largest >= 0:
                largest = self._standing(visit.largest)
                visit.raised = _Visit(largest, visit.rows, visit.share, None, False)
                todo.append(visit.raised)
            else:
                todo.pop()
                again = self._leave(visit)
                if again is not None:
                    todo.append(again)
        return self._cut()

    def _standing(self, node: int) -> int:
        while self.stands[node] != node:
            node = int(self.stands[node])
        return node

    def _enter(self, visit: _Visit) -> list[_Visit]:
        """Charge a node as a leaf, and visit its branches with their parts of the rows."""
        visit.is_entered = True
        width = self.tree.schema.width
        counts = np.bincount(self.classes[visit.rows], visit.share, width).astype(np.float64)
        visit.as_leaf = self._charge(counts)
        parts = [] if self.is_leaf[visit.node] else self._parts(visit)
        if not parts:  # a leaf, or no row whose value is known
            visit.charge = visit.as_leaf
        below, heaviest = [], 0.0
        for branch, rows, share, part in parts:
            below.append(_Visit(self._standing(branch), rows, share, visit, visit.changes))
            if part >= heaviest:  # of equal ones the last
                visit.largest, heaviest = branch, part
        return below[::-1]

    def _charge(self, counts: Floats) -> float:
        rows = float(counts.sum())
        errors = rows - float(counts.max())
        return errors + float(add_errors(rows, errors, self.confidence))

    def _parts(self, visit: _Visit) -> list[tuple[int, Ints, Floats, float]]:
        """(branch, its rows, their shares, its share of the rows whose value is known), where it has some."""
        place = self._places(visit.node, visit.rows)
        known = place >= 0
        total = float(visit.share[known].sum())
        found = []
        for i, branch in enumerate(self.branches[visit.node]):
            own = place == i
            if not own.any():
                continue
            part = float(visit.share[own].sum()) / total
            taken = own | ~known
            share = np.where(known[taken], visit.share[taken], visit.share[taken] * part)
            found.append((branch, visit.rows[taken], share, part))
        return found

    def _places(self, node: int, rows: Ints) -> Ints:
        """The branch of each row at a decision; -1 where its value is missing or was never seen."""
        tree = self.tree
        values = self.data.column(int(tree.feature[node]), rows)
        if tree.subset[node] < 0:
            return np.where(np.isnan(values), -1, np.where(values <= tree.threshold[node], 0, 1))
        if node not in self.tables:
            self.tables[node] = _branch_of_category(tree, node, self.branches[node])
        return np.where(values < 0, -1, self.tables[node][np.maximum(values, 0)])

    def _leave(self, visit: _Visit) -> _Visit | None:
        """Decide what stands at a node whose branches are charged; a visit where it must be pruned again."""
        node = visit.node
        if visit.changes and not self.is_leaf[node]:
            risen = visit.raised.charge if visit.raised is not None else np.inf
            if visit.as_leaf <= min(risen, visit.charge) + SLACK:
                self.is_leaf[node] = True
                visit.charge = visit.as_leaf
            elif risen <= visit.charge + SLACK:
                child = self._standing(visit.largest)
                self.stands[node] = child
                self.n_raised += 1
                return _Visit(child, visit.rows, visit.share, visit.sum_of, True)
        if visit.sum_of is not None:
            visit.sum_of.charge += visit.charge
        return None

    # ---- the tree that is left ---------------------------------------------------------------------

    def _cut(self) -> Tree:
        """The tree as it stands, with the parts of rows counted at each of its nodes."""
        tree = self.tree
        counts = np.zeros((tree.n_nodes, tree.schema.width))
        rows, unknown = np.zeros(tree.n_nodes, np.int64), np.zeros(tree.n_nodes, np.int64)
        top = self._standing(0)
        everything = self.data.counted
        todo = [_Visit(top, everything, self.weight[everything].astype(np.float64), None, False)]
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
            parts = {part[0]: part for part in self._parts(visit)}
            nothing = -1, np.zeros(0, np.int64), np.zeros(0), 0.0
            for branch in self.branches[visit.node]:
                child = self._standing(branch)
                _, own, share, _ = parts.get(branch, nothing)
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
        """The nodes that continue the splits that are left."""
        splits = [node for node in kept if not self.is_leaf[node]]
        joined = np.flatnonzero(self.tree.joined)
        links: list[int] = joined[np.isin(self.tree.heads[joined], splits)].tolist()
        return links

    def _join(self, kept: list[int], counts: Floats, rows: Ints, unknown: Ints) -> None:
        """Count the nodes that continue a split from their branches, in all of which the divided rows are."""
        for node in sorted(self._links(kept), reverse=True):
            children = [int(self.tree.left[node]), int(self.tree.right[node])]
            own = [child if self.tree.joined[child] else self._standing(child) for child in children]
            twice = int(unknown[self.tree.heads[node]]) if rows[own].all() else 0
            counts[node], rows[node] = counts[own].sum(axis=0), rows[own].sum() - twice


def _branch_of_category(tree: Tree, node: int, branches: list[int]) -> Ints:
    """For each category of the column that a decision asks, the place of its branch."""
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
