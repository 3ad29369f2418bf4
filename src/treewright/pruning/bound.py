"""Pruning by a bound on the true error, with subtree raising (Shalev-Shwartz and Ben-David, section 18.2).

From the bottom up, each node is kept or replaced by a leaf, by its left or by its right subtree, whichever
minimises the bound f of the whole tree. Of all leaves, the one with the class of least cost is the best for
every f that increases with the errors, so no other class is tried. A raised subtree receives the rows of its
sibling; its leaf counts are updated.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright._suggestions import choices_text
from treewright.certifying import BOUNDS, header_bits, is_complete, node_bits
from treewright.certifying.binomial import check_delta
from treewright.certifying.held_out import same_statistic
from treewright.certifying.losses import most_cost
from treewright.certifying.training_rows import choices_of
from treewright.encoding import Dataset
from treewright.pruning.arguments import check_classes, method
from treewright.pruning.path import OTHER_ROWS, PruningPath, refuse_no_rows
from treewright.pruning.subtree_raising import RAISING
from treewright.pruning.traversal import Floats
from treewright.tree import Tree
from treewright.tree.evaluate import node_losses
from treewright.tree.missing import refuse_rows_with_missing
from treewright.tree.oblique import known_complete
from treewright.tree.view import direction_arrays

Bound = Callable[[float, int, float], float]


class Size(NamedTuple):
    """Errors, nodes and code bits of a tree or a subtree."""

    errors: float
    nodes: int
    bits: float

    def replace_subtree(self, old: Size, new: Size) -> Size:
        """The size of a tree after one subtree is replaced."""
        return Size(
            self.errors - old.errors + new.errors,
            self.nodes - old.nodes + new.nodes,
            self.bits - old.bits + new.bits,
        )


@method
def bound(
    tree: Tree,
    *,
    data: Dataset | None = None,
    f: str | Bound = "mdl",
    delta: float = 0.05,
    raising: bool = True,
    validation: Dataset | None = None,
) -> PruningPath:
    """Replace nodes by leaves or by their subtrees, bottom-up, where this lowers a bound on the error.

    For trees that predict classes. Raising subtrees needs `data`.

    Parameters
    ----------
    f : str or callable
        The bound: the name of a certificate from training rows (``"mdl"``, ``"occam"``, ``"vc"`` …), or a
        function of the training error, the number of nodes and the number of rows. The training error is
        weighted by the row weights and averaged over the targets.
    delta : float
        The failure probability of a named bound.
    raising : bool
        Whether a subtree may replace its parent.

    Returns
    -------
    PruningPath
        The grown tree and the pruned one; ``details["bound"]`` is the bound of each.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> data = encode({"x": [1, 2, 3, 4, 5, 6]}, ["a", "a", "a", "b", "a", "b"])
    >>> bound(grow(data), data=data, f=lambda error, nodes, rows: error + nodes / rows / 4).pruned.n_leaves
    2
    """
    check_classes(tree, "bound minimises a bound on the error rate")
    if raising and data is None:
        raise ValueError(
            "subtree raising needs data=, the rows that the tree was grown from; or set raising=False"
        )
    if data is not None:
        refuse_no_rows(data, "data")
        if not same_statistic(tree, data):
            raise ValueError(OTHER_ROWS)
    bound_of = _bound_function(f, tree, delta)
    rows, needs_bits = data if raising else None, not callable(f) and BOUNDS[f].needs_bits
    pruned = _Pruner(tree, rows, bound_of, needs_bits).run()
    before = bound_of(_tree_size(tree, rows, needs_bits))
    after = _bound_function(f, pruned, delta)(_tree_size(pruned, rows, needs_bits))
    path = PruningPath.from_pair("bound", tree, pruned, bound=(before, after), f=f, delta=delta)
    return path.with_validation(validation)


def _bits(tree: Tree, data: Dataset | None, needs_bits: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """The code bits of each node as a leaf and as a split; zeros where the bound does not need them."""
    if not needs_bits:
        return np.zeros(tree.n_nodes), np.zeros(tree.n_nodes)
    complete = known_complete(tree) if data is None else is_complete(tree, data)
    return node_bits(tree, complete=complete)


def _tree_size(tree: Tree, data: Dataset | None, needs_bits: bool) -> Size:
    leaf_bits, split_bits = _bits(tree, data, needs_bits)
    bits = leaf_bits[tree.is_leaf].sum() + split_bits[~tree.is_leaf].sum()
    return Size(float(tree.loss[tree.is_leaf].sum()), tree.n_nodes, float(bits))


def _bound_function(f: str | Bound, tree: Tree, delta: float) -> Callable[[Size], float]:
    """The bound as a function of the size; raises an error where it is not a number."""
    rows, weight = int(tree.rows[0]), float(tree.weight[0]) * len(tree.schema.targets)
    certificate = None if callable(f) else _certificate(f, tree, rows / weight, delta)

    def bound_of(size: Size) -> float:
        value = (
            certificate(size) if certificate is not None else f(size.errors / weight, size.nodes, rows)  # type: ignore[operator]
        )
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

    return bound_of


def _certificate(f: str, tree: Tree, unit: float, delta: float) -> Callable[[Size], Any]:
    """The certificate bound of a name. Each row counts as one draw, whatever its weight and the number of
    targets: `unit` converts errors to rows.
    """
    if f not in BOUNDS:
        raise ValueError(f"f={f!r} is unknown; known: a function, {choices_text(f, BOUNDS)}")
    check_delta(delta)
    schema = tree.schema
    most = most_cost(schema)
    whole = not schema.has_costs and len(schema.targets) == 1
    choices = choices_of(tree)

    def value(size: Size) -> Any:
        return most * BOUNDS[f](
            max(size.errors, 0.0) * unit / most,
            int(tree.rows[0]),
            leaves=(size.nodes + 1) // 2,
            bits=header_bits(tree) + size.bits,
            whole=whole,
            delta=delta,
            **choices,
        )

    return value


class _Pruner:
    """The state of one bottom-up pass; nodes after the current one (in preorder) are final.

    Nodes keep their numbers until the end. A collapsed node has feature -1, nodes removed by a raised subtree
    are marked as dropped, and rows that it receives are added to the counts of its leaves.
    """

    def __init__(
        self, tree: Tree, data: Dataset | None, bound_of: Callable[[Size], float], needs_bits: bool
    ) -> None:
        self.tree, self.data, self.bound_of = tree, data, bound_of
        self.feature = tree.feature.copy()  # -1 where a node is to be collapsed
        self.is_dropped = np.zeros(tree.n_nodes, np.bool_)
        self.replacements: dict[int, int] = {}  # node -> descendant that replaces it
        if data is not None:  # sorted by leaf, so that the rows of a subtree are contiguous
            refuse_rows_with_missing(tree, data, "data", RAISING)
            leaf = tree.apply(data)
            order = np.argsort(leaf, kind="stable")
            self.rows = data.take(order)
            self.start = np.searchsorted(leaf[order], np.arange(tree.n_nodes + 1)).tolist()
            self.new_counts: dict[int, Floats] = {}  # of leaves that received rows
        leaf_bits, self.split_bits = _bits(tree, data, needs_bits)
        sizes = zip(tree.loss.tolist(), [1] * tree.n_nodes, leaf_bits.tolist(), strict=True)
        self.leaf = [Size(*size) for size in sizes]
        self.total = _tree_size(tree, data, needs_bits)

    def run(self) -> Tree:
        """Decide every branch, children first, and return the pruned tree."""
        current = self.bound_of(self.total)
        split_bits, is_leaf = self.split_bits.tolist(), self.tree.is_leaf.tolist()
        sizes: list[Size] = []  # a stack: on top the left child of the next branch, then its right child
        for node in range(self.tree.n_nodes - 1, -1, -1):
            if is_leaf[node]:
                sizes.append(self.leaf[node])
                continue
            left, right = sizes.pop(), sizes.pop()
            kept = Size(
                left.errors + right.errors,
                1 + left.nodes + right.nodes,
                split_bits[node] + left.bits + right.bits,
            )
            best, child, size = self._best(node, (left, right), kept, current)
            if size is not kept:
                self.total, current = self.total.replace_subtree(kept, size), best
                if child is None:
                    self.feature[node] = -1
                    self._drop(node + 1, int(self.tree.end[node]))
                else:
                    self._raise(node, child)
            sizes.append(size)
        leaves = np.flatnonzero((self.feature < 0) & ~self.tree.is_leaf & ~self.is_dropped).tolist()
        if not self.replacements:
            return self.tree.collapse(leaves)
        assert self.data is not None
        return self.tree.graft(self.replacements, self.data, collapse=leaves)

    def _best(
        self, node: int, children: tuple[Size, Size], kept: Size, current: float
    ) -> tuple[float, int | None, Size]:
        """The least bound of the whole tree, the child to raise for it (None: a leaf or no change), and the
        size of the resulting subtree. Smaller trees win ties.
        """
        best, child, size = current, None, kept
        leaf = self.bound_of(self.total.replace_subtree(kept, self.leaf[node]))
        if leaf <= best:
            best, size = leaf, self.leaf[node]
        if self.data is None:
            return best, child, size
        left, right = node + 1, int(self.tree.end[node + 1])
        for root, other, subtree in ((left, right, children[0]), (right, left, children[1])):
            # A leaf in the place of the node has been tried. The rows of the other child can only add errors:
            # the bound without them is the best possible.
            if subtree.nodes == 1 or self.bound_of(self.total.replace_subtree(kept, subtree)) > best:
                continue
            more = sum(extra for _, _, extra in self._receive_sibling_rows(root, other))
            whole = subtree._replace(errors=subtree.errors + more)
            value = self.bound_of(self.total.replace_subtree(kept, whole))
            if value < best or (value == best and whole.nodes < size.nodes):
                best, child, size = value, root, whole
        return best, child, size

    def _raise(self, node: int, child: int) -> None:
        """Replace a node by its child, which receives all rows."""
        left, right, end = node + 1, int(self.tree.end[node + 1]), int(self.tree.end[node])
        other = right if child == left else left
        for leaf, counts, _ in self._receive_sibling_rows(child, other):
            self.new_counts[leaf] = counts
        for first, last in ((node, child), (int(self.tree.end[child]), end)):
            self._drop(first, last)
        self.replacements[node] = child

    def _drop(self, first: int, last: int) -> None:
        """Drop a range of nodes with the replacements inside it."""
        self.is_dropped[first:last] = True
        for node in [node for node in self.replacements if first <= node < last]:
            del self.replacements[node]

    def _receive_sibling_rows(self, root: int, other: int) -> list[tuple[int, Floats, float]]:
        """The leaves of a subtree that would receive rows of its sibling: their new counts and added loss."""
        tree, schema = self.tree, self.tree.schema
        moving = self.rows.take(slice(self.start[other], self.start[int(tree.end[other])]))
        leaf_of = self._apply_subtree(root, moving) - root
        is_reached = np.bincount(leaf_of) > 0
        leaves, place = np.flatnonzero(is_reached) + root, (np.cumsum(is_reached) - 1)[leaf_of]
        weight = moving.row_weights
        before: Floats = np.array(tree.statistic[leaves])
        for i, leaf in enumerate(leaves.tolist()):
            if leaf in self.new_counts:
                before[i] = self.new_counts[leaf]
        counts = before.copy()
        first = np.cumsum((0, *schema.block_widths))[:-1]
        for offset, classes in zip(first, np.asarray(moving.targets), strict=True):
            np.add.at(counts, (place, classes + offset), weight)
        extra = node_losses(schema, counts) - node_losses(schema, before)
        return list(zip(leaves.tolist(), counts, extra.tolist(), strict=True))

    def _apply_subtree(self, node: int, rows: Dataset) -> NDArray[Any]:
        """The leaf of each row below a node, in the current state of the tree."""
        tree = self.tree
        nodes = np.arange(node, int(tree.end[node]))
        end = tree.end[nodes] - np.int32(node)
        if self.is_dropped[nodes].any():
            kept = ~self.is_dropped[nodes]
            position = np.concatenate([[0], np.cumsum(kept)])
            nodes, end = nodes[kept], position[end[kept]].astype(np.int32)
        view = _core.TreeView(
            rows.n_columns,
            end,
            self.feature[nodes],
            tree.threshold[nodes],
            tree.subset[nodes],
            tree.missing_left[nodes],
            tree.heavier_left[nodes],
            tree.subsets,
            direction_arrays(tree.directions),
        )
        return np.asarray(nodes[_core.apply(view, rows.columns, 1)])
