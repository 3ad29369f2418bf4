"""Pruning by a bound on the true error, with subtrees raised: the generic procedure of the book.

From the bottom up, each node is left as it is or replaced by a leaf, by its left or by its right subtree,
whichever makes the bound f of the whole tree least. Of the leaves, that of the class which costs the node's
rows least is the best for every f that rises with the errors; the others need not be tried. A raised subtree
answers rows that it has not seen before; its leaves are counted again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.arriving import least_losses
from treewright.certifying import node_bits, training_bound
from treewright.encoding import Dataset
from treewright.pruning.path import PruningPath, refuse_no_rows
from treewright.tree import Tree

Bound = Callable[[float, int, float], float]


class Size(NamedTuple):
    """What a tree or a part of it amounts to."""

    errors: float
    nodes: int
    bits: float

    def plus(self, other: Size) -> Size:
        """Two parts together."""
        return Size(self.errors + other.errors, self.nodes + other.nodes, self.bits + other.bits)

    def changed(self, old: Size, new: Size) -> Size:
        """The whole when one part of it is replaced."""
        return Size(
            self.errors - old.errors + new.errors,
            self.nodes - old.nodes + new.nodes,
            self.bits - old.bits + new.bits,
        )


def bound(
    tree: Tree,
    *,
    data: Dataset | None = None,
    f: str | Bound = "mdl",
    delta: float = 0.05,
    raising: bool = True,
    validation: Dataset | None = None,
) -> PruningPath:
    """Replace nodes by leaves or by their subtrees, from the bottom up, where it lowers a bound of the error.

    Parameters
    ----------
    tree : Tree
        The tree to prune, of classes; it is left as it is.
    data : Dataset, optional
        The rows that the tree was grown from; needed to raise subtrees.
    f : str or callable
        The bound: the name of a certificate from training rows (``"mdl"``, ``"occam"``, ``"pac_bayes"`` …), or
        a function of the training error, the number of nodes and the number of rows.
    delta : float
        The probability with which the bound may fail, for the named ones.
    raising : bool
        Whether a subtree may take the place of the node above it.
    validation : Dataset, optional
        Held-out rows to try the trees on; they choose nothing.

    Returns
    -------
    PruningPath
        The grown tree and the pruned one; ``details["bound"]`` has the bound of both.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> data = encode({"x": [1, 2, 3, 4, 5, 6]}, ["a", "a", "a", "b", "a", "b"])
    >>> bound(grow(data), data=data, f=lambda error, nodes, rows: error + nodes / rows / 4).pruned.n_leaves
    2
    """
    if not tree.schema.predicts_classes:
        raise ValueError("bounds on the error are for classes; this tree predicts numbers")
    if raising and data is None:
        raise ValueError(
            "raising subtrees needs data=, the rows that the tree was grown from; or raising=False"
        )
    if data is not None:
        refuse_no_rows(data, "data")
    worth = _checked(f, tree, delta)
    walk = _Walk(tree, data if raising else None, worth)
    before = worth(walk.total)
    pruned = walk.run()
    return PruningPath.single(
        "bound", tree, pruned, validation, bound=(before, worth(walk.total)), f=f, delta=delta
    )


def _checked(f: str | Bound, tree: Tree, delta: float) -> Callable[[Size], float]:
    """The bound of a size, a number in any case."""
    rows = float(tree.weight[0]) * len(tree.schema.targets)
    if callable(f):
        name, value = "f", f

        def worth(size: Size) -> float:
            return value(size.errors / rows, size.nodes, rows)
    else:
        name = f
        named = training_bound(f, tree, delta)

        def worth(size: Size) -> float:
            return named(size.errors, size.nodes, size.bits)

    def checked(size: Size) -> float:
        result = float(worth(size))
        if isnan(result):
            raise ValueError(
                f"{name} is not a number for a tree of {size.nodes} nodes with {size.errors:g} errors on "
                f"{rows:g} rows"
            )
        return result

    return checked


@dataclass
class _Rows:
    """The training rows in the order of their leaves: those of a subtree lie together."""

    data: Dataset
    order: NDArray[np.int64]
    start: NDArray[np.int64]  # where the rows of each node begin

    @staticmethod
    def of(tree: Tree, data: Dataset) -> _Rows:
        leaf = tree.apply(data)
        order = np.argsort(leaf, kind="stable")
        return _Rows(data, order, np.searchsorted(leaf[order], np.arange(tree.n_nodes + 1)))

    def at(self, node: int, end: int) -> NDArray[np.int64]:
        """The rows of a subtree, ascending."""
        return np.sort(self.order[self.start[node] : self.start[end]])


class _Walk:
    """The tree on the way from the bottom up: nodes behind the current one have been decided."""

    def __init__(self, tree: Tree, data: Dataset | None, worth: Callable[[Size], float]) -> None:
        self.data, self.worth = data, worth
        self.collapsed: list[int] = []  # decided, not yet cut
        self._look_at(tree)
        self.total = Size(float(tree.loss[tree.is_leaf].sum()), tree.n_nodes, self._bits_of_all())

    def _look_at(self, tree: Tree) -> None:
        self.tree = tree
        self.rows = None if self.data is None else _Rows.of(tree, self.data)
        self.feature = tree.feature.copy()  # -1 where a node is to be collapsed
        leaf_bits, split_bits = node_bits(tree)
        self.leaf = [
            Size(*parts)
            for parts in zip(tree.loss.tolist(), [1] * tree.n_nodes, leaf_bits.tolist(), strict=True)
        ]
        self.split_bits = split_bits
        self.right = tree.right.tolist()

    def _bits_of_all(self) -> float:
        leaves = sum(size.bits for size, leaf in zip(self.leaf, self.tree.is_leaf, strict=True) if leaf)
        return float(leaves + self.split_bits[~self.tree.is_leaf].sum())

    def run(self) -> Tree:
        """Decide every branch, children first, and cut."""
        current = self.worth(self.total)
        done: list[Size] = []  # a stack: on top the left child of the branch that comes next, then the right
        for node in range(self.tree.n_nodes - 1, -1, -1):
            if self.feature[node] < 0:
                done.append(self.leaf[node])
                continue
            left, right = done.pop(), done.pop()
            kept = Size(0.0, 1, float(self.split_bits[node])).plus(left).plus(right)
            best, child, size = self._best(node, (left, right), kept, current)
            if size is not kept:
                self.total = self.total.changed(kept, size)
                current = best
                if child is None:
                    self.feature[node] = -1
                    self.collapsed.append(node)
                else:
                    self._raise(node, child)
            done.append(size)
        return self.tree.collapse(self.collapsed)

    def _best(
        self, node: int, children: tuple[Size, Size], kept: Size, current: float
    ) -> tuple[float, int | None, Size]:
        """The least bound of the whole tree, the child that makes it (None: a leaf or no change), and what
        then stands at the node. Smaller trees win among equals.
        """
        best, child, size = current, None, kept
        leaf = self.worth(self.total.changed(kept, self.leaf[node]))
        if leaf <= best:
            best, size = leaf, self.leaf[node]
        left, right = node + 1, self.right[node]
        for raised, other, part in ((left, right, children[0]), (right, left, children[1])):
            if self.rows is None or self.feature[raised] < 0:
                continue
            # The rows of the other child can only add errors: without them it is as good as it can be.
            if self.worth(self.total.changed(kept, part)) >= best:
                continue
            whole = part._replace(errors=part.errors + self._added_errors(raised, other))
            value = self.worth(self.total.changed(kept, whole))
            if value < best or (value == best and whole.nodes < size.nodes):
                best, child, size = value, raised, whole
        return best, child, size

    def _added_errors(self, raised: int, other: int) -> float:
        """How many more errors a subtree makes when the rows of its sibling come, leaves counted again."""
        tree, rows = self.tree, self.rows
        assert rows is not None
        come = rows.data.take(rows.at(other, int(tree.end[other])))
        leaf = raised + _arrive(tree, self.feature, raised, come)
        weight = np.ones(come.n_rows) if come.weight is None else come.weight
        leaves, place = np.unique(leaf, return_inverse=True)
        counts: NDArray[np.float64] = np.array(tree.statistic[leaves])
        first = np.cumsum((0, *tree.schema.block_widths))[:-1]
        for offset, classes in zip(first, np.asarray(come.targets), strict=True):
            np.add.at(counts, (place, classes + offset), weight)
        return float(least_losses(tree.schema, counts).sum() - tree.loss[leaves].sum())

    def _raise(self, node: int, child: int) -> None:
        """Cut what is decided and let a child take the place of its parent; nodes before it keep theirs."""
        assert self.data is not None
        goes_left = child == node + 1
        tree = self.tree.collapse(self.collapsed)
        self._look_at(tree.graft({node: node + 1 if goes_left else int(tree.right[node])}, self.data))
        self.collapsed = []


def _arrive(tree: Tree, feature: NDArray[np.int32], node: int, data: Dataset) -> NDArray[Any]:
    """The leaves below a node, counted from it, at which rows arrive that are sent down from there."""
    part = slice(node, int(tree.end[node]))
    return _core.apply(
        data.columns,
        tree.end[part] - np.int32(node),
        feature[part],
        tree.threshold[part],
        tree.subset[part],
        tree.missing_left[part],
        tree.heavier_left[part],
        tree.subsets,
        1,
    )
