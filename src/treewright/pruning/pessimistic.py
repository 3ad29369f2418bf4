"""C4.5's error-based pruning: no held-out rows, but the errors of every leaf are feared to be more than seen.

A leaf with N rows of which e are wrong is charged e + AddErrs(N, e) errors, an upper limit of confidence CF.
From the leaves to the root, a branch becomes a leaf if that is charged no more than the branch, and no more
than its larger child with all rows of the branch; else the larger child takes its place if it is charged no
more than the branch. A tenth of an error of slack favours the smaller tree. So does Release 8 of the program.
"""

from __future__ import annotations

from numbers import Real

import numpy as np

from treewright.encoding import Dataset
from treewright.pruning.arguments import check_classes, documented
from treewright.pruning.fractional_rows import SLACK, Sharing
from treewright.pruning.path import PruningPath, refuse_no_rows
from treewright.pruning.pessimistic_errors import add_errors
from treewright.pruning.subtree_raising import Agenda, Moving, spans
from treewright.pruning.traversal import Floats, Ints, Mask, collapse_mask
from treewright.tree import Tree

TRIAL, MORE = 32, 16  # rows that a larger child is first tried on, and how many times more are added at once


@documented
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
        The grown tree and the pruned one; ``details["estimate"]`` is the share of errors to fear of the
        pruned one, and ``details["raised"]`` how many times a branch was raised.

    Notes
    -----
    As in the program, a branch that has been raised is pruned again, now with all the rows that it has got,
    before anything above it is looked at. A split into many branches is raised or becomes a leaf as a whole,
    and a row that goes down several branches in parts counts by its shares, where the tree is such a one
    (`C45Classifier` grows them).

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
        pruned, raised = sharing.pruned(), sharing.n_raised
    elif raising and data is not None and tree.n_nodes > 1:
        pruned, raised = _with_raising(tree, data, confidence)
    else:
        pruned, raised = _without_raising(tree, confidence), 0
    estimate = _estimate(pruned, confidence)
    path = PruningPath.from_pair("pessimistic", tree, pruned, estimate=estimate, raised=raised)
    return path.with_validation(validation)


def _estimate(tree: Tree, confidence: float) -> float:
    """The share of errors to fear of a tree, from what its own leaves count."""
    leaf = tree.is_leaf & (tree.weight > 0)
    weight, loss = tree.weight[leaf], tree.loss[leaf]
    return float((loss + add_errors(weight, loss, confidence)).sum() / tree.weight[0])


def _check(tree: Tree, data: Dataset | None, confidence: float, raising: bool) -> None:
    schema = tree.schema
    check_classes(tree, "pessimistic counts errors", one_target=True)
    if schema.has_costs:
        raise ValueError("pessimistic counts errors; it cannot weigh what mistakes cost")
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
    """Leaves for branches only: the counts of the tree say it all."""
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
        # Where a leaf wins against the branch, it has to win against the larger child, too.
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

    The rows of the smaller child are sent down the larger one in growing portions: each row adds to what the
    larger child is charged, so that few of them tell when it cannot win.
    """
    charge = current.errors[larger]
    # The larger child must be charged less than a leaf by more than the slack, or no more than the branch.
    limit = np.where(becomes_leaf, current.as_leaf[wave] - SLACK, current.errors[wave] + SLACK)
    rises = np.zeros(len(wave), np.bool_)
    owner = rows = leaves = np.zeros(0, np.int64)
    # A larger child that is a leaf amounts to a leaf at the branch.
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
        added = _extra_errors(current, owner, rows, leaves, len(wave))[open_]
        charged, ceiling = charge[open_] + added, limit[open_]
        might = np.where(becomes_leaf[open_], charged < ceiling, charged <= ceiling)
        rises[open_] = might & (until == length[open_])
        # As many more as it takes at this rate, and some for chance.
        wanted = 1.25 * until * (ceiling - charged) / np.maximum(added, 0.1) + 2
        portion[open_] = np.clip(wanted, 1, MORE * until)
        open_ = open_[might & (until < length[open_])]
    moved = rises[owner]
    return rises, rows[moved], leaves[moved]


def _extra_errors(current: Moving, owner: Ints, rows: Ints, leaves: Ints, n_owners: int) -> Floats:
    """How much more the leaves at which rows arrive are charged, for each owner of the rows."""
    reached, first, place = np.unique(leaves, return_index=True, return_inverse=True)
    counts = current.counts[reached]
    np.add.at(counts, (place, current.classes[rows]), current.weight[rows])
    more = current.estimate(counts) - current.as_leaf[reached]
    return np.asarray(np.bincount(owner[first], more, n_owners), np.float64)


def _strides(length: Ints) -> Ints:
    """Steps through ranges of given lengths that come by every place and are spread over it from the start:
    near the golden section, without a common divisor.
    """
    stride = np.maximum((length * 0.618).astype(np.int64), 1)
    while (common := np.gcd(stride, length) > 1).any():
        stride = stride + common
    return stride
