"""C4.5's error-based pruning: a pessimistic estimate of the error from training rows, and subtree raising.

A leaf with N rows of which e are wrong is estimated to make e + AddErrs(N, e) errors, an upper limit of
confidence CF. From the leaves to the root, a branch becomes a leaf if the estimate of the leaf is not above
that of the branch and that of its larger child with all rows of the branch; else the larger child takes its
place if its estimate is not above that of the branch. A tenth of an error of slack favours the smaller tree.
Release 8 of the program does the same.
"""

from __future__ import annotations

from numbers import Real

import numpy as np

from treewright.encoding import Dataset
from treewright.pruning.arguments import check_classes, method
from treewright.pruning.fractional_rows import SLACK, Sharing
from treewright.pruning.path import PruningPath, refuse_no_rows
from treewright.pruning.pessimistic_errors import add_errors
from treewright.pruning.subtree_raising import Agenda, Moving, spans
from treewright.pruning.traversal import Floats, Ints, Mask, collapse_mask
from treewright.tree import Tree

TRIAL, MORE = 32, 16  # rows in the first trial of a larger child, and the most times more in the next


@method
def pessimistic(
    tree: Tree,
    *,
    data: Dataset | None = None,
    confidence: float = 0.25,
    raising: bool = True,
    validation: Dataset | None = None,
) -> PruningPath:
    """Prune by a pessimistic estimate of the errors on new rows, made from the training rows.

    For trees that predict the classes of one target. Raising branches needs `data`.

    Parameters
    ----------
    raising : bool
        Whether the larger child of a branch may take its place.

    Returns
    -------
    PruningPath
        The grown tree and the pruned one; ``details["estimate"]`` is the estimated error rate of the pruned
        one, and ``details["raised"]`` the number of times that a branch was raised.

    Notes
    -----
    As in the program, a branch that was raised is pruned again, with all its new rows, before any node above
    it. A multiway split is raised or becomes a leaf as a whole, and fractional rows count by their shares, in
    trees that have them (`C45Classifier` grows such trees).

    Examples
    --------
    >>> from treewright import encode, grow
    >>> data = encode({"x": range(16)}, ["a"] * 6 + ["b"] + ["a"] * 9)
    >>> path = pessimistic(grow(data), data=data)
    >>> path.leaves.tolist(), round(path.details["estimate"] * 16, 4)
    ([3, 1], 2.5069)
    """
    _check(tree, data, confidence, raising)
    if data is not None and tree.n_nodes > 1 and (tree.joined.any() or tree.missing == "fractional"):
        sharing = Sharing(tree, data, confidence, raising)
        pruned, raised = sharing.prune(), sharing.n_raised
    elif raising and data is not None and tree.n_nodes > 1:
        pruned, raised = _with_raising(tree, data, confidence)
    else:
        pruned, raised = _without_raising(tree, confidence), 0
    estimate = _estimate(pruned, confidence)
    path = PruningPath.from_pair("pessimistic", tree, pruned, estimate=estimate, raised=raised)
    return path.with_validation(validation)


def _estimate(tree: Tree, confidence: float) -> float:
    """The pessimistic error rate of a tree, from the counts of its leaves."""
    leaf = tree.is_leaf & (tree.weight > 0)
    weight, loss = tree.weight[leaf], tree.loss[leaf]
    return float((loss + add_errors(weight, loss, confidence)).sum() / tree.weight[0])


def _check(tree: Tree, data: Dataset | None, confidence: float, raising: bool) -> None:
    schema = tree.schema
    check_classes(tree, "pessimistic counts errors", one_target=True)
    if schema.has_costs:
        raise ValueError("pessimistic counts errors; it does not support costs")
    if not isinstance(confidence, Real) or not 0 < confidence <= 1:
        raise ValueError(f"confidence is {confidence!r}; it must be above 0 and at most 1 (C4.5's is 0.25)")
    if not raising:
        return
    if data is None:
        raise ValueError(
            "raising branches needs data=, the rows that the tree was grown from; or raising=False"
        )
    if schema.is_wide:
        raise ValueError(f"raising is for up to 256 classes, the tree has {schema.width}; set raising=False")
    refuse_no_rows(data, "data")


def _without_raising(tree: Tree, confidence: float) -> Tree:
    """Only branches become leaves: the counts of the tree are enough."""
    charge = tree.loss + add_errors(tree.weight, tree.loss, confidence)

    def decide(wave: Ints, kept: Floats) -> Mask:
        return np.asarray(charge[wave] <= kept[:, 0] + SLACK)

    return tree.collapse(np.flatnonzero(collapse_mask(tree, charge[:, np.newaxis], decide)).tolist())


def _with_raising(tree: Tree, data: Dataset, confidence: float) -> tuple[Tree, int]:
    def estimate(counts: Floats) -> Floats:
        rows = counts.sum(axis=1)
        errors = rows - counts.max(axis=1)
        return np.asarray(errors + add_errors(rows, errors, confidence))

    current = Moving(tree, data, estimate)
    agenda = Agenda(tree.depths, tree.waves)
    raised = 0
    while (wave := agenda.pop()) is not None:
        current.renew(wave)
        # A leaf that is better than the branch must be better than the larger child, too.
        becomes_leaf = current.as_leaf[wave] <= current.errors[wave] + SLACK
        larger, smaller = _larger(current, wave)
        rises, rows, leaves = _rising(current, wave, larger, smaller, becomes_leaf)
        leaf = wave[becomes_leaf & ~rises]
        current.is_leaf[leaf] = True
        current.errors[leaf] = current.as_leaf[leaf]
        if len(rows):
            agenda.push(current.rise(wave[rises], larger[rises], leaves, rows))
            raised += int(rises.sum())
    return current.cut(), raised


def _larger(current: Moving, nodes: Ints) -> tuple[Ints, Ints]:
    """The child with more weight, the left one of two equal ones, and the other one."""
    left, right = current.left[nodes], current.right[nodes]
    heavier = current.total[left] >= current.total[right]
    return np.where(heavier, left, right), np.where(heavier, right, left)


def _rising(
    current: Moving, wave: Ints, larger: Ints, smaller: Ints, becomes_leaf: Mask
) -> tuple[Mask, Ints, Ints]:
    """Which branches are replaced by their larger child; the rows that then move, and to which leaves.

    The rows of the smaller child are sent down the larger one in growing portions: each row adds to the
    estimate of the larger child, so that a few often suffice to reject it.
    """
    charge = current.errors[larger]
    # The larger child must be better than a leaf by more than the slack, or not worse than the branch.
    limit = np.where(becomes_leaf, current.as_leaf[wave] - SLACK, current.errors[wave] + SLACK)
    rises = np.zeros(len(wave), np.bool_)
    owner = rows = leaves = np.zeros(0, np.int64)
    # A larger child that is a leaf is the same as a leaf at the branch.
    open_ = np.flatnonzero(~current.is_leaf[larger] & np.where(becomes_leaf, charge < limit, charge <= limit))
    if not open_.size:
        return rises, rows, leaves
    first, length = current.first[smaller], current.last[smaller] - current.first[smaller]
    stride = _strides(length)
    done, portion = np.zeros(len(wave), np.int64), np.minimum(length, TRIAL if current.is_whole else length)
    while open_.size:
        until = np.minimum(done[open_] + portion[open_], length[open_])
        new_owner = np.repeat(open_, until - done[open_])
        step = spans(done[open_], until)
        new_rows = current.order[first[new_owner] + step * stride[new_owner] % length[new_owner]]
        still = rises[owner] | np.isin(owner, open_)
        owner = np.concatenate([owner[still], new_owner])
        rows = np.concatenate([rows[still], new_rows])
        leaves = np.concatenate([leaves[still], current.arrive(larger[new_owner], new_rows)])
        done[open_] = until
        extra = _extra_errors(current, owner, rows, leaves, len(wave))[open_]
        estimate, ceiling = charge[open_] + extra, limit[open_]
        might = np.where(becomes_leaf[open_], estimate < ceiling, estimate <= ceiling)
        rises[open_] = might & (until == length[open_])
        # As many more as reach the limit at this rate, and a quarter more for chance.
        enough = 1.25 * until * (ceiling - estimate) / np.maximum(extra, 0.1) + 2
        portion[open_] = np.clip(enough, 1, MORE * until)
        open_ = open_[might & (until < length[open_])]
    moves = rises[owner]
    return rises, rows[moves], leaves[moves]


def _extra_errors(current: Moving, owner: Ints, rows: Ints, leaves: Ints, n_owners: int) -> Floats:
    """The increase of the estimates of the leaves that get rows, for each owner of the rows."""
    distinct, first, place = np.unique(leaves, return_index=True, return_inverse=True)
    counts = current.counts[distinct]
    np.add.at(counts, (place, current.classes[rows]), current.weight[rows])
    more = current.estimate(counts) - current.as_leaf[distinct]
    return np.asarray(np.bincount(owner[first], more, n_owners), np.float64)


def _strides(length: Ints) -> Ints:
    """Steps near the golden section and coprime to the lengths, which visit every place of ranges, evenly."""
    stride = np.maximum((length * 0.618).astype(np.int64), 1)
    while (common := np.gcd(stride, length) > 1).any():
        stride = stride + common
    return stride
