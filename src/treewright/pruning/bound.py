"""Pruning by a bound on the true error, with subtrees raised: the generic procedure of the book.

From the bottom up, each node is left as it is or replaced by a leaf, by its left or by its right subtree,
whichever makes the bound f of the whole tree least. Of the leaves, that of the class which costs the node's
rows least is the best for every f that rises with the errors; the others need not be tried. A raised subtree
answers rows that it has not seen before; its leaves are counted again.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isnan, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright.certifying import BOUNDS, coded_columns, header_bits, is_complete, node_bits
from treewright.certifying.binomial import check_delta
from treewright.certifying.held_out import same_statistic
from treewright.certifying.losses import most_cost
from treewright.encoding import Dataset
from treewright.pruning.path import PruningPath, refuse_no_rows
from treewright.pruning.raising import RAISING
from treewright.tree import Tree
from treewright.tree.evaluate import least_losses
from treewright.tree.missing import refuse_rows_with_missing
from treewright.tree.oblique import known_complete, plain_leaves

Bound = Callable[[float, int, float], float]
_BY_LEAVES = ("mdl", "compression", "vc")  # of the named bounds, those that do not ask for bits


class Size(NamedTuple):
    """What a tree or a part of it amounts to."""

    errors: float
    nodes: int
    bits: float

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
        The bound: the name of a certificate from training rows (``"mdl"``, ``"occam"``, ``"vc"`` …), or a
        function of the training error, the number of nodes and the number of rows. Rows that weigh more count
        more in the error; of several targets it is the mean.
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
        if not same_statistic(tree, data):
            raise ValueError(
                "data must be the rows that the tree was grown from; other rows arrive at its nodes"
            )
    rows, asks_bits = data if raising else None, not callable(f) and f not in _BY_LEAVES
    worth = _checked(f, tree, delta)
    pruned = _Walk(tree, rows, worth, asks_bits).run()
    bounds = worth(_whole(tree, rows, asks_bits)), _checked(f, pruned, delta)(_whole(pruned, rows, asks_bits))
    return PruningPath.single("bound", tree, pruned, validation, bound=bounds, f=f, delta=delta)


def _bits(tree: Tree, data: Dataset | None, asked: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """The bits that each node costs as a leaf and as a split; none where nobody asks for them."""
    if not asked:
        return np.zeros(tree.n_nodes), np.zeros(tree.n_nodes)
    complete = known_complete(tree) if data is None else is_complete(tree, data)
    return node_bits(tree, complete=complete)


def _whole(tree: Tree, data: Dataset | None, asks_bits: bool) -> Size:
    """The size of a tree as it is."""
    leaf_bits, split_bits = _bits(tree, data, asks_bits)
    bits = leaf_bits[tree.is_leaf].sum() + split_bits[~tree.is_leaf].sum()
    return Size(float(tree.loss[tree.is_leaf].sum()), tree.n_nodes, float(bits))


def _checked(f: str | Bound, tree: Tree, delta: float) -> Callable[[Size], float]:
    """The bound of a size, a number in any case."""
    rows, weight = int(tree.rows[0]), float(tree.weight[0]) * len(tree.schema.targets)
    named = None if callable(f) else _named(f, tree, rows / weight, delta)

    def worth(size: Size) -> float:
        value = named(size) if named is not None else f(size.errors / weight, size.nodes, rows)  # type: ignore[operator]
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise TypeError(f"f returned {value!r}; it must return a number") from None
        if isnan(number):
            raise ValueError(
                f"f is not a number for a tree of {size.nodes} nodes with {size.errors:g} errors "
                f"on {rows} rows"
            )
        return number

    return worth


def _named(f: str, tree: Tree, unit: float, delta: float) -> Callable[[Size], Any]:
    """A bound of the room of certificates, by its name. A row is one draw, whatever it weighs and however
    many targets it has: `unit` is how much of a row one error is.
    """
    if f not in BOUNDS:
        raise ValueError(f"f={f!r} is unknown; known: {', '.join(BOUNDS)}, or a function")
    check_delta(delta)
    schema = tree.schema
    most = most_cost(schema)
    whole = not schema.has_costs and len(schema.targets) == 1
    fixed = {"columns": coded_columns(tree), "classes": prod(schema.block_widths), "delta": delta}

    def value(size: Size) -> Any:
        return most * BOUNDS[f](
            max(size.errors, 0.0) * unit / most,
            int(tree.rows[0]),
            leaves=(size.nodes + 1) // 2,
            bits=header_bits(tree) + size.bits,
            whole=whole,
            **fixed,
        )

    return value


class _Walk:
    """The tree on the way from the bottom up: nodes behind the current one have been decided.

    Nodes keep their numbers until the end. A collapsed node has no column any more, and what a raised subtree
    leaves behind is marked as dropped; rows that it takes over are added to the counts of its leaves.
    """

    def __init__(
        self, tree: Tree, data: Dataset | None, worth: Callable[[Size], float], asks_bits: bool
    ) -> None:
        self.tree, self.data, self.worth = tree, data, worth
        self.feature = tree.feature.copy()  # -1 where a node is to be collapsed
        self.dropped = np.zeros(tree.n_nodes, np.bool_)
        self.raised: dict[int, int] = {}
        if data is not None:  # in the order of their leaves: those of a subtree lie together
            refuse_rows_with_missing(tree, data, "data", RAISING)
            leaf = tree.apply(data)
            order = np.argsort(leaf, kind="stable")
            self.rows = data.take(order)
            self.start = np.searchsorted(leaf[order], np.arange(tree.n_nodes + 1)).tolist()
            self.taken_over: dict[int, NDArray[np.float64]] = {}  # the counts of leaves that got more rows
        leaf_bits, self.split_bits = _bits(tree, data, asks_bits)
        parts = zip(tree.loss.tolist(), [1] * tree.n_nodes, leaf_bits.tolist(), strict=True)
        self.leaf = [Size(*part) for part in parts]
        self.total = _whole(tree, data, asks_bits)

    def run(self) -> Tree:
        """Decide every branch, children first, and cut."""
        current = self.worth(self.total)
        split_bits, is_leaf = self.split_bits.tolist(), self.tree.is_leaf.tolist()
        done: list[Size] = []  # a stack: on top the left child of the branch that comes next, then the right
        for node in range(self.tree.n_nodes - 1, -1, -1):
            if is_leaf[node]:
                done.append(self.leaf[node])
                continue
            left, right = done.pop(), done.pop()
            kept = Size(
                left.errors + right.errors,
                1 + left.nodes + right.nodes,
                split_bits[node] + left.bits + right.bits,
            )
            best, child, size = self._best(node, (left, right), kept, current)
            if size is not kept:
                self.total, current = self.total.changed(kept, size), best
                if child is None:
                    self.feature[node] = -1
                    self._forget(node + 1, int(self.tree.end[node]))
                else:
                    self._raise(node, child)
            done.append(size)
        collapsed = np.flatnonzero((self.feature < 0) & ~self.tree.is_leaf & ~self.dropped)
        if not self.raised:
            return self.tree.collapse(collapsed.tolist())
        assert self.data is not None
        return self.tree.graft(self.raised, self.data, collapse=collapsed.tolist())

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
        if self.data is None:
            return best, child, size
        left, right = node + 1, int(self.tree.end[node + 1])
        for raised, other, part in ((left, right, children[0]), (right, left, children[1])):
            # A leaf in the place of the node has been tried. The rows of the other child can only add errors:
            # without them a subtree is as good as it can be.
            if part.nodes == 1 or self.worth(self.total.changed(kept, part)) > best:
                continue
            more = sum(added for _, _, added in self._taking_over(raised, other))
            whole = part._replace(errors=part.errors + more)
            value = self.worth(self.total.changed(kept, whole))
            if value < best or (value == best and whole.nodes < size.nodes):
                best, child, size = value, raised, whole
        return best, child, size

    def _raise(self, node: int, child: int) -> None:
        """Let a child take the place of its parent, with all the rows."""
        left, right, end = node + 1, int(self.tree.end[node + 1]), int(self.tree.end[node])
        other = right if child == left else left
        for leaf, counts, _ in self._taking_over(child, other):
            self.taken_over[leaf] = counts
        for first, last in ((node, child), (int(self.tree.end[child]), end)):
            self.dropped[first:last] = True
            self._forget(first, last)
        self.raised[node] = child

    def _forget(self, first: int, last: int) -> None:
        """What was raised inside a part that goes needs no place any more."""
        for node in [node for node in self.raised if first <= node < last]:
            del self.raised[node]

    def _taking_over(self, raised: int, other: int) -> list[tuple[int, NDArray[np.float64], float]]:
        """The leaves of a subtree to which the rows of its sibling come: what they count then, and how much
        more they lose.
        """
        tree, schema = self.tree, self.tree.schema
        come = self.rows.take(slice(self.start[other], self.start[int(tree.end[other])]))
        arrived = self._arrive(raised, come) - raised
        came = np.bincount(arrived) > 0
        leaves, place = np.flatnonzero(came) + raised, (np.cumsum(came) - 1)[arrived]
        weight = come.row_weights
        before: NDArray[np.float64] = np.array(tree.statistic[leaves])
        for i, leaf in enumerate(leaves.tolist()):
            if leaf in self.taken_over:
                before[i] = self.taken_over[leaf]
        counts = before.copy()
        first = np.cumsum((0, *schema.block_widths))[:-1]
        for offset, classes in zip(first, np.asarray(come.targets), strict=True):
            np.add.at(counts, (place, classes + offset), weight)
        added = least_losses(schema, counts) - least_losses(schema, before)
        return list(zip(leaves.tolist(), counts, added.tolist(), strict=True))

    def _arrive(self, node: int, rows: Dataset) -> NDArray[Any]:
        """The leaves at which rows arrive that are sent down from a node, as it is by now."""
        tree = self.tree
        part = np.arange(node, int(tree.end[node]))
        end = tree.end[part] - np.int32(node)
        if self.dropped[part].any():
            kept = ~self.dropped[part]
            position = np.concatenate([[0], np.cumsum(kept)])
            part, end = part[kept], position[end[kept]].astype(np.int32)
        leaf = plain_leaves(
            rows,
            tree.directions,
            end,
            self.feature[part],
            tree.threshold[part],
            tree.subset[part],
            tree.missing_left[part],
            tree.heavier_left[part],
            tree.subsets,
            1,
        )
        return np.asarray(part[leaf])
