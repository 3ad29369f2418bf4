"""Forced splits: the first split is given as a test, or as a column whose best split is taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright._arrays import Flags, Floats, Int32s
from treewright._text import row_count
from treewright.encoding import Dataset
from treewright.encoding.schema import Column, Schema
from treewright.growing.limits import core_options
from treewright.parameters.values import Gain
from treewright.tree import Tree
from treewright.tree.builder import LEAF, NodeEntry, node_arrays
from treewright.tree.class_counts import SparseRows
from treewright.tree.conditions import Among, Below, pack_test
from treewright.tree.number_losses import NUMBER_LOSSES
from treewright.tree.surgery import plant_subtrees

Options = Mapping[str, Any]  # of `core_options`
Grow = Callable[[Dataset, Options], Tree]
_NONLOCAL = ("monotonic_cst", "interaction_cst", "feature_costs", "max_features_used", "_constraints")
_MISSING = ("learn", "error")  # the ways with missing values that need nothing but the test itself


@dataclass(frozen=True)
class _Cut:
    """A forced test, and which rows of a table it sends left."""

    given: Below | Among | str  # by the user, for errors
    test: NodeEntry
    left: Flags

    def tree(self, data: Dataset, whole: Tree, sides: list[Tree]) -> Tree:
        """The tree of this one split, from the root and the two sides as trees without splits."""
        left, right = sides
        arrays = node_arrays([self.test, LEAF, LEAF])
        return Tree(
            **arrays,
            step=np.array([0, -1, -1], np.int32),
            rows=np.array([tree.rows[0] for tree in (whole, left, right)], np.int64),
            statistic=_statistics(arrays["end"], whole, left, right),
            schema=data.schema,
            criterion=whole.criterion,
            missing=whole.missing,
            provenance=data.provenance,
        )


def grow_from_root(data: Dataset, root: Below | Among | str, grow: Grow, options: Options) -> Tree:
    """The tree whose first split is given; both sides are grown by `grow` with the other `options`.

    A budget is spent on the splits with the largest gains on both sides. Within a side, gains of categories
    are corrected for chance as in `grow`; between the sides plain gains are compared, because a tree does not
    store the corrections.
    """
    refuse_nonlocal_options(options)
    whole = grow(data, {**options, "max_splits": 0, "progress": None})
    if whole.missing not in _MISSING:
        raise ValueError(f"{_text(root)} is given: missing={whole.missing!r} needs splits that are found")
    _check_node(root, whole, options)
    cut, stump = (
        _best_of_column(data, root, whole, grow, options)
        if isinstance(root, str)
        else _prescribed(data, root, whole, grow, options)
    )
    _check_gain(cut, stump, data, grow, options)
    budget = None if options["max_splits"] is None else options["max_splits"] - 1
    below = [
        grow(data.take(side), _below(options, budget, number))
        for number, side in enumerate((cut.left, ~cut.left))
    ]
    return plant_subtrees(stump, {1: below[0], 2: below[1]}, options["max_splits"])


def refuse_nonlocal_options(options: Options) -> None:
    """Refuse options that depend on the tests above a node, because the node is grown on its own."""
    for name in _NONLOCAL:
        if options.get(name) not in (None, {}):
            raise ValueError(
                f"{name} cannot be kept where a split is given (root=) or a node is regrown; leave one out"
            )


def _below(options: Options, budget: int | None, side: int) -> dict[str, Any]:
    """The options for one side of a split: one level less, and a seed of its own."""
    depth, progress = options["max_depth"], options["progress"]
    return {
        **options,
        "max_depth": None if depth is None else depth - 1,
        "max_splits": budget,
        "random_state": int(
            np.random.SeedSequence((int(options["random_state"]), side)).generate_state(1)[0]
        ),
        "progress": None if progress is None else lambda share: progress((side + share) / 2),
    }


def _text(root: Below | Among | str) -> str:
    return f"the split by {root!r}" if isinstance(root, str) else f"the split {root!r}"


def _check_node(root: Below | Among | str, whole: Tree, options: Options) -> None:
    """Refuse to split where the limits allow no split at all."""
    rows, least = int(whole.rows[0]), options["min_samples_split"]
    if rows < least:
        raise ValueError(f"{_text(root)} breaks min_samples_split={least}: there are {row_count(rows)}")
    if options["max_depth"] == 0:
        raise ValueError(f"{_text(root)} breaks max_depth, which allows no split here")
    if options["max_splits"] == 0:
        raise ValueError(f"{_text(root)} breaks max_leaf_nodes, which allows no further split")


def _position(data: Dataset, name: str) -> int:
    try:
        return data.schema.position(name)
    except KeyError as error:
        raise ValueError(f"it cannot be split by {name!r}: {error.args[0]}") from None


def _best_of_column(data: Dataset, name: str, whole: Tree, grow: Grow, options: Options) -> tuple[_Cut, Tree]:
    """The best split of one column, within the limits."""
    feature = _position(data, name)
    alone = data.select_columns([feature])
    stump = {"max_splits": 1, "max_features": None, "category_gain": "plain", "progress": None}
    found = grow(alone, {**options, **stump})
    if found.n_leaves < 2:
        raise ValueError(f"column {name!r} has no split of these rows that keeps to the limits")
    threshold, missing_left = float(found.threshold[0]), bool(found.missing_left[0])
    test = NodeEntry(feature, threshold, found.subsets.tobytes(), missing_left)
    cut = _Cut(name, test, found.apply(alone) == 1)
    return cut, cut.tree(data, whole, _as_leaves(data, cut.left, grow, options))


def _prescribed(
    data: Dataset, test: Below | Among, whole: Tree, grow: Grow, options: Options
) -> tuple[_Cut, Tree]:
    """The given test; missing values go to the side with more gain, or to the heavier one if there are
    none.
    """
    _position(data, test.column)
    packed = pack_test(data.schema, test)
    if not packed.bits and np.isnan(packed.threshold):
        raise ValueError(f"{_text(test)} has no threshold: it must be a number")
    left, missing, weight = test.holds(data), ~test.is_known(data), data.row_weights
    if missing[weight > 0].any():
        ways = [(True, left | missing), (False, left)]
    else:
        ways = [(bool(2 * weight[left].sum() >= weight.sum()), left)]
    allowed, violations = [], []
    for missing_left, side in ways:
        cut = _Cut(test, NodeEntry(*packed, missing_left), side)
        violation = _violation(side, data, whole.criterion, options)
        if violation is None:
            allowed.append((cut, cut.tree(data, whole, _as_leaves(data, side, grow, options))))
        else:
            violations.append(violation)
    if not allowed:
        raise ValueError(f"{_text(test)} {violations[0]}")
    return max(allowed, key=lambda each: float(each[1].gain[0]))  # the first of equals: missing values left


def _violation(left: Flags, data: Dataset, criterion: str, options: Options) -> str | None:
    """The limit that a split into these two sides violates; None if it violates none."""
    weight = data.row_weights
    least_rows, least_weight = options["min_samples_leaf"], options["_min_weight_leaf"]
    for side in (left, ~left):
        rows, heaviness = int(np.count_nonzero(weight[side])), float(weight[side].sum())
        if rows == 0:
            return "sends all rows the same way"
        if rows < least_rows:
            return f"breaks min_samples_leaf={least_rows}: one side has {row_count(rows)}"
        if heaviness < least_weight:
            return (
                f"breaks min_weight_fraction_leaf: one side weighs {heaviness:g}, less than {least_weight:g}"
            )
        counted = data.target_array[:, side & (weight > 0)]
        if criterion in NUMBER_LOSSES and not NUMBER_LOSSES[criterion].allows(counted):
            return f"leaves a side in which every number is 0; {criterion} needs a positive one"
    return None


def _check_gain(cut: _Cut, stump: Tree, data: Dataset, grow: Grow, options: Options) -> None:
    """Refuse a split whose gain is too small or not significant."""
    gain = float(stump.gain[0])
    if gain < (least := options["_min_gain"]):
        raise ValueError(
            f"{_text(cut.given)} breaks min_impurity_decrease: its gain is {gain:g}, less than {least:g}"
        )
    if options["significance"] is None or options["selection"] != "gain":
        return
    schema = Schema((Column("side"),), data.schema.targets)
    sides = Dataset(schema, (cut.left.astype(np.float64),), data.targets, data.weight)
    test = Gain(significance=options["significance"])
    one_split = {"criterion": stump.criterion, "max_leaf_nodes": 2, "selection": test}
    alone = grow(sides, core_options(one_split, sides))
    if alone.n_leaves < 2:
        raise ValueError(f"{_text(cut.given)} breaks significance={options['significance']:g}")


def _as_leaves(data: Dataset, left: Flags, grow: Grow, options: Options) -> list[Tree]:
    as_leaf = {**options, "max_splits": 0, "progress": None}
    return [grow(data.take(side), as_leaf) for side in (left, ~left)]


def _statistics(end: Int32s, whole: Tree, left: Tree, right: Tree) -> Floats | SparseRows:
    """The statistics of the root and its children; class weights are summed as in the core."""
    if isinstance(left.statistic, SparseRows) and isinstance(right.statistic, SparseRows):
        sides = (left.statistic, right.statistic)
        node = np.repeat([1, 2], [len(side.column) for side in sides])
        column, value = (
            np.concatenate([getattr(side, name) for side in sides]) for name in ("column", "value")
        )
        return SparseRows.from_cells(end, node, column, value, whole.schema.width)
    below = np.concatenate([np.asarray(left.statistic), np.asarray(right.statistic)])
    above = below.sum(axis=0) if whole.schema.predicts_classes else np.asarray(whole.statistic)[0]
    return np.concatenate([above[np.newaxis], below])
