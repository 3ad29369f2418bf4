"""Better subtrees within a tree: each is replaced by the best one of its depth and size on its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from treewright._arrays import Floats, Ints
from treewright.encoding import Dataset
from treewright.encoding.rows import with_target
from treewright.optimising.assembly import goes_left, rows_at, tree_of
from treewright.optimising.search import Budget, Problem
from treewright.parameters.optimal import ImproveParameters
from treewright.parameters.spec import takes
from treewright.tree import Tree
from treewright.tree.builder import LEAF, NodeEntry
from treewright.tree.costs import cheapest, class_losses, cost_arrays
from treewright.tree.evaluate import given_rows
from treewright.tree.missing import refuse_sending
from treewright.tree.shortcuts import as_tree

_SAME = 1e-12  # losses that differ by this share are equal: sums round


class Placed(NamedTuple):
    """A node in preorder: its test, that of a leaf for leaves, and its rows."""

    test: NodeEntry
    rows: Ints


class _Part(NamedTuple):
    """A subtree: its nodes in preorder, with the held-out rows at its root."""

    nodes: list[Placed]
    height: int
    loss: float
    held_out: Ints

    @property
    def n_leaves(self) -> int:
        return (len(self.nodes) + 1) // 2

    @property
    def tests(self) -> list[NodeEntry]:
        """The tests of the nodes."""
        return [node.test for node in self.nodes]


@takes(ImproveParameters)
def improve(model: Any, data: Any, target: Any = None, /, *, validation: Any = None, **options: Any) -> Tree:
    """Replace subtrees of a tree by the best ones of their depth and size, until none can be improved.

    From the leaves upwards, every subtree of at most `max_depth` levels is searched anew on its own rows. The
    new tree never loses more on the training rows, has never more leaves, and is never deeper; what is above
    the subtrees stays. Leaves of one answer below a node are merged. Any tree of single columns or sums can
    be improved, also an imported one.

    Parameters
    ----------
    model : Tree or fitted estimator
        The tree, which is not changed.
    data : table, tuple (table, target) or (table, target, weights), or Dataset
        The rows that the tree was grown from.
    target : str or array, optional
        Of a table in `data`: its target column, or its targets.
    validation : Dataset or tuple (table, target), optional
        Other rows: a new subtree stays only if it loses no more on those that reach it.

    Returns
    -------
    Tree
        The same tree where nothing could be improved.

    Examples
    --------
    >>> from treewright import encode, grow, improve
    >>> xor = encode({"a": [0, 0, 1, 1, 1], "b": [0, 1, 0, 1, 1]}, ["no", "yes", "yes", "no", "no"])
    >>> stump = grow(xor, max_depth=2, max_leaf_nodes=3)
    >>> better = improve(stump, xor)
    >>> float(stump.loss[stump.is_leaf].sum()), float(better.loss[better.is_leaf].sum())
    (1.0, 1.0)
    """
    tree = as_tree(model)
    _check(tree)
    rows = given_rows(tree, with_target("improve", data, target), "data")
    rows = rows.take(rows.counted).with_target_specs(tree.schema.targets)
    held_out = None if validation is None else given_rows(tree, validation, "validation")
    patches = _Patches(tree, rows, held_out, options, Budget(options["time_limit"], None))
    whole, has_changed = patches.whole, False
    for _ in range(options["max_rounds"]):
        better, changes = patches.improved(whole)
        if not changes:
            break
        whole, has_changed = better, True
    if not has_changed:
        return tree
    made = tree_of(rows, whole.tests, tree.criterion, tree.directions)
    return replace(made.collapse([]), missing=tree.missing)  # without directions that are not used


def _check(tree: Tree) -> None:
    """Refuse trees whose subtrees are not those of a search."""
    refuse_sending(tree, "subtrees that are searched")
    if tree.linear is not None:
        raise ValueError(
            "this tree has a linear model in each leaf; improve takes trees with leaf='constant'"
        )
    if tree.joined.any():
        raise ValueError("this tree has splits into many branches; improve takes trees of two branches each")
    if len(tree.schema.targets) != 1:
        raise ValueError(f"this tree has {len(tree.schema.targets)} targets; improve takes one")
    if not tree.schema.predicts_classes and tree.criterion != "squared_error":
        raise ValueError(
            f"this tree reduces {tree.criterion!r}; the best subtree of numbers is searched by squared_error"
        )


@dataclass(eq=False)
class _Patches:
    """The search of better subtrees of one tree."""

    tree: Tree
    data: Dataset
    validation: Dataset | None
    options: Mapping[str, Any]
    budget: Budget
    settled: set[tuple[int, int, float, int]] = field(default_factory=set)  # subtrees that are the best

    @property
    def whole(self) -> _Part:
        """The tree itself, without branches that no row reaches."""
        tree, nodes, held = self.tree, list[Placed](), list[Ints]()
        n_held = 0 if self.validation is None else self.validation.n_rows
        stack = [(0, np.arange(self.data.n_rows), np.arange(n_held))]
        while stack:
            node, rows, held_out = stack.pop()
            if tree.is_leaf[node]:
                nodes.append(Placed(LEAF, rows))
                held.append(held_out)
                continue
            left = goes_left(tree, node, self.data, rows)
            held_left = (
                left[:0] if self.validation is None else goes_left(tree, node, self.validation, held_out)
            )
            sides = [
                (int(tree.left[node]), rows[left], held_out[held_left]),
                (int(tree.right[node]), rows[~left], held_out[~held_left]),
            ]
            if not left.all() and left.any():
                nodes.append(Placed(_entry(tree, node), rows))
                held.append(held_out)
                stack += reversed(sides)
            else:
                side = sides[0] if left.any() else sides[1]
                stack.append((side[0], rows, held_out))
        return self._folded(nodes, held, None)[0]

    def improved(self, whole: _Part) -> tuple[_Part, int]:
        """The tree after one round over all subtrees, and how many of them were replaced."""
        held = self._held_out_rows(whole)
        return self._folded(whole.nodes, held, self._patched)

    def _folded(self, nodes: list[Placed], held: list[Ints], patch: Any) -> tuple[_Part, int]:
        """The tree joined from its leaves upwards, each subtree replaced by what `patch` makes of it."""
        stack, changes = list[_Part](), 0
        for place in range(len(nodes) - 1, -1, -1):
            node, held_out = nodes[place], held[place]
            if node.test.feature < 0:
                stack.append(_Part([node], 0, self._leaf_loss(node.rows), held_out))
                continue
            left, right = stack.pop(), stack.pop()
            height, loss = 1 + max(left.height, right.height), left.loss + right.loss
            part = _Part([node, *left.nodes, *right.nodes], height, loss, held_out)
            better = part if patch is None else patch(part)
            changes += better is not part
            stack.append(better)
        return stack[0], changes

    def _held_out_rows(self, whole: _Part) -> list[Ints]:
        """The held-out rows at each node."""
        if self.validation is None:
            return [np.zeros(0, np.int64)] * len(whole.nodes)
        tree = tree_of(self.data, whole.tests, self.tree.criterion, self.tree.directions)
        return rows_at(tree, self.validation)

    def _leaf_loss(self, rows: Ints) -> float:
        """The loss of some rows in one leaf."""
        weight, target = self.data.row_weights[rows], self.data.target_array[0][rows]
        if not self.data.schema.predicts_classes:
            mean = float(weight @ target) / float(weight.sum())
            return float(weight @ (target - mean) ** 2)
        counts: Floats = np.bincount(target, weight, self.data.schema.width)[np.newaxis].astype(np.float64)
        [costs] = cost_arrays(self.data.schema)
        return float(class_losses(counts, cheapest(counts, costs), costs)[0])

    def _patched(self, part: _Part) -> _Part:
        """The best subtree in the place of a given one; the given one if it is as good."""
        root = part.nodes[0].rows
        if (alone := self._leaf_loss(root)) <= part.loss * (1 + _SAME):
            return _Part([Placed(LEAF, root)], 0, alone, part.held_out)
        key = (hash(root.tobytes()), part.n_leaves, part.loss, part.height)
        is_best = part.loss == 0 and part.n_leaves == 2
        if (
            is_best
            or part.height > self.options["max_depth"]
            or key in self.settled
            or not self.budget.seconds
        ):
            return part
        limits = {"max_depth": part.height, "max_leaf_nodes": part.n_leaves, "leaf_penalty": 0.0}
        fixed = {"costs": None, "work_limit": None, "memory_limit": None, "gap": 0.0}
        rows = self.data.take(root)
        problem = Problem(rows, {**self.options, **fixed, **limits})
        found = problem.tree(problem.search(self.budget).found)
        loss = float(found.loss[found.is_leaf].sum())
        slack = _SAME * part.loss
        is_better = loss < part.loss - slack or (found.n_leaves < part.n_leaves and loss <= part.loss + slack)
        if not (is_better and self._holds(part, found, rows)):
            self.settled.add(key)
            return part
        nodes = _nodes_of(found, rows, root)
        return _Part(nodes, found.height, loss, part.held_out)

    def _holds(self, part: _Part, found: Tree, rows: Dataset) -> bool:
        """Whether a new subtree loses no more on held-out rows than the one that it replaces."""
        if self.validation is None or not part.held_out.size:
            return True
        before = tree_of(rows, part.tests, self.tree.criterion, self.tree.directions)
        others = self.validation.take(part.held_out)
        losses = [float(tree.loss_of(others)[tree.is_leaf].sum()) for tree in (found, before)]
        return losses[0] <= losses[1] * (1 + _SAME)


def _nodes_of(tree: Tree, data: Dataset, rows: Ints) -> list[Placed]:
    """The nodes of a tree that was made from `data`, by the numbers that its rows have in the whole table."""
    return [Placed(_entry(tree, node), rows[own]) for node, own in enumerate(rows_at(tree, data))]


def _entry(tree: Tree, node: int) -> NodeEntry:
    """A node of a tree as an entry of its arrays."""
    if tree.is_leaf[node]:
        return LEAF
    start, bits = int(tree.subset[node]), b""
    if start >= 0:
        bits = tree.subsets[start : start + tree.schema.subset_sizes[tree.feature[node]]].tobytes()
    return NodeEntry(
        int(tree.feature[node]), float(tree.threshold[node]), bits, bool(tree.missing_left[node])
    )
