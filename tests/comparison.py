"""Comparing a tree with the oracle: the same rules, asked of a tree that somebody else has grown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.oracle import CLASSES, Array, Growth, Real, Split


@dataclass
class Verdict:
    """A node of the compared tree, seen by the oracle."""

    rows: Array
    depth: int
    made: int  # the how-many-th node to be created
    risk: Real
    noise: Real
    gain: Real | None  # of the tree's split, or of the one that a leaf could have had; None: must be a leaf
    left: Array | None  # which of the rows go left


def compare(tree: Any, growth: Growth) -> None:
    """Assert that the rules allow `tree`; it follows its own splits, so one tie does not spoil the rest."""
    at = {int(step): node for node, step in enumerate(tree.step) if step >= 0}
    assert sorted(at) == list(range(len(at))), "steps are not 0, 1, 2, ..."
    assert len(at) <= growth.budget, "more splits than allowed"
    leaves, made = {0: _judge(tree, 0, growth.rows, 0, 0, growth)}, 1
    for step in range(len(at)):
        node = at[step]
        assert node in leaves, f"step {step} splits node {node} before its parent"
        mine = leaves.pop(node)
        for other, rival in leaves.items():
            _check_order(tree, growth, (node, mine), (other, rival))
        for child, side in ((node + 1, mine.left), (int(tree.end[node + 1]), ~mine.left)):
            leaves[child] = _judge(tree, child, mine.rows[side], mine.depth + 1, made, growth)
            made += 1
    assert len(leaves) + len(at) == len(tree.end), "nodes that no split has made"
    for node, leaf in leaves.items():
        if leaf.gain is not None and len(at) < growth.budget:
            nearly = growth.min_gain + _slack(growth, leaf.gain, leaf.risk, leaf.noise)
            doubtful = growth.min_gain > 0 and leaf.gain < nearly
            assert doubtful, f"leaf {node} should have been split"


def _slack(growth: Growth, gain: Real, parent: Real, noise: Real) -> Real:
    """How far a gain in double precision may lie from the exact one."""
    return growth.real(1e-11) * abs(gain) + growth.real(2e-13) * parent + noise


def _check_order(tree: Any, growth: Growth, first: tuple[int, Verdict], later: tuple[int, Verdict]) -> None:
    """Best first; of two leaves that cannot be told apart the one that was created first."""
    (node, mine), (other, rival) = first, later
    if rival.gain is None:
        return
    slack = _slack(growth, rival.gain, max(mine.risk, rival.risk), max(mine.noise, rival.noise))
    assert mine.gain >= rival.gain - slack, f"node {node} was split before {other}, which gains more"
    if tree.feature[other] >= 0 and mine.made > rival.made:
        pairs = [(node, other), (node + 1, other + 1), (tree.end[node + 1], tree.end[other + 1])]
        same = all((tree.statistic[a] == tree.statistic[b]).all() for a, b in pairs)
        assert not same, f"node {node} was split before its equal {other}, which was created first"


def _judge(tree: Any, node: int, rows: Array, depth: int, made: int, growth: Growth) -> Verdict:
    risk, noise = growth.risk_of(rows), growth.noise(rows)
    _check_statistic(tree, node, rows, risk, growth)
    splits = growth.splits(rows, depth)
    if tree.feature[node] < 0:
        chosen = growth.choose(splits, risk)
        return Verdict(rows, depth, made, risk, noise, None if chosen is None else chosen.gain, None)
    assert splits, f"node {node} should be a leaf"
    left, split = _identify(tree, node, rows, splits, growth)
    slack = _slack(growth, split.gain, risk, noise)
    assert split.gain >= growth.min_gain - slack, f"the split of node {node} gains less than min_gain"
    if growth.criterion == "gain_ratio":
        _check_ratio(node, split, splits, risk, noise, growth)
    else:
        _check_best(node, split, splits, risk, noise, growth)
    absolute = 1e-12 * float(growth.risk_of(growth.rows)) + float(noise)
    assert math.isclose(tree.gain[node], split.gain, rel_tol=1e-9, abs_tol=absolute), f"gain of {node}"
    return Verdict(rows, depth, made, risk, noise, split.gain, left)


def _identify(tree: Any, node: int, rows: Array, splits: list[Split], growth: Growth) -> tuple[Array, Split]:
    """The legal split that divides the rows as the tree does, after a look at where absent values go."""
    column = int(tree.feature[node])
    x, missing_left = growth.columns[column][rows], bool(tree.missing_left[node])
    heavier = _heavier(tree, node)
    if growth.kinds[column] == "category":
        bits = np.unpackbits(tree.subsets[tree.subset[node] :], bitorder="little")
        size = len(tree.schema.columns[column].categories)
        left = np.where(x < 0, missing_left, bits[x] == 1)
        absent = [c for c in range(size) if c not in x]
        assert heavier is None or all(bits[c] == heavier for c in absent), f"node {node}: absent categories"
        missing = x < 0
    else:
        left = np.where(np.isnan(x), missing_left, x <= tree.threshold[node])
        missing = np.isnan(x)
    if not missing.any():
        assert heavier is None or missing_left == heavier, f"node {node}: missing goes to the heavier child"
    for split in splits:
        if split.column == column and (
            split.categories is not None or split.lo <= tree.threshold[node] <= split.hi
        ):
            same = split.sends_left(x) == left
            if same.all() or (split.categories is not None and not same.any()):
                _check_threshold(node, float(tree.threshold[node]), split, growth)
                return left, split
    raise AssertionError(f"node {node}: not a legal split: column {column}, threshold {tree.threshold[node]}")


def _heavier(tree: Any, node: int) -> bool | None:
    """Whether the left child is the heavier (or equal) one; None where rounding decides."""
    a, b = tree.weight[node + 1], tree.weight[tree.end[node + 1]]
    return None if a != b and math.isclose(a, b, rel_tol=1e-12) else bool(a >= b)


def _check_threshold(node: int, threshold: float, split: Split, growth: Growth) -> None:
    if split.categories is not None:
        assert math.isnan(threshold)
    elif math.isinf(split.lo) and split.lo > 0:
        assert threshold == math.inf
    elif math.isinf(split.lo) or math.isinf(split.hi) or growth.kinds[split.column] == "time":
        assert split.lo <= threshold < split.hi
    else:
        wanted = split.threshold(growth.threshold)
        gap = f"[{split.lo!r}, {split.hi!r})"
        assert threshold == wanted, f"node {node}: threshold {threshold!r} instead of {wanted!r} in {gap}"


def _check_best(
    node: int, split: Split, splits: list[Split], risk: Real, noise: Real, growth: Growth
) -> None:
    """No split gains more; no split that gains exactly as much comes earlier in the order of ties."""
    best = max(s.gain for s in splits)
    assert split.gain >= best - _slack(growth, best, risk, noise), (
        f"node {node}: {split} gains {float(split.gain)!r}, the best is {growth.choose(splits, risk)}"
    )
    equal = [s for s in splits if s.gain >= best - growth.tolerance(best, risk) / 4]
    first = min(equal, key=Split.place)
    if noise > 10 * growth.tolerance(best, risk):
        return  # a light node among heavy weights: rounding decides between equals
    assert split.place() <= first.place(), f"node {node}: {split} is chosen, the equal {first} comes first"


def _check_ratio(
    node: int, split: Split, splits: list[Split], risk: Real, noise: Real, growth: Growth
) -> None:
    """The best of its column; no other column of average gain has a clearly better ratio."""
    of_column: dict[int, list[Split]] = {}
    for s in splits:
        of_column.setdefault(s.column, []).append(s)
    _check_best(node, split, of_column[split.column], risk, noise, growth)
    best = {c: max(s.gain for s in own) for c, own in of_column.items()}
    useful = [gain for gain in best.values() if gain > growth.tolerance(gain, risk)]
    if any(gain < _slack(growth, gain, risk, noise) for gain in useful):
        return  # whether that is a gain at all is a matter of rounding
    if not useful:
        assert split.column == min(of_column), f"node {node}: no gain anywhere, so the lowest column"
        return
    average = sum(useful) / len(useful)
    slack = _slack(growth, average, risk, noise)
    assert split.gain >= average - slack, f"node {node}: {split} gains less than average"
    for column, own in of_column.items():
        if best[column] > average + slack and column != split.column:
            tied = [s for s in own if s.gain >= best[column] - slack]
            rival = min(s.gain / s.information for s in tied)
            ratio = split.gain / split.information
            assert ratio >= rival * (1 - 1e-9), f"node {node}: column {column} has a better ratio"


def _check_statistic(tree: Any, node: int, rows: Array, risk: Real, growth: Growth) -> None:
    """The node keeps the number of its rows, and for each target the sums over them or their value."""
    assert tree.rows[node] == len(rows), f"node {node}: {tree.rows[node]} rows instead of {len(rows)}"
    absolute = 1e-12 * float(growth.risk_of(growth.rows)) + float(growth.noise(rows))
    assert math.isclose(tree.risk[node], risk, rel_tol=1e-9, abs_tol=absolute), f"risk of node {node}"
    start, weight = 0, growth.weight[rows]
    for y, width in zip(growth.targets, tree.schema.block_widths, strict=True):
        block, own = tree.statistic[node, start : start + width], y[rows]
        start += width
        if growth.criterion in CLASSES:
            np.testing.assert_allclose(block, np.bincount(own, weight, width), rtol=1e-12)
            continue
        assert math.isclose(block[0], math.fsum(weight), rel_tol=1e-12)
        if growth.criterion == "absolute_error":  # any median: half of the weight on either side
            half = math.fsum(weight) / 2 * (1 + 1e-12)
            assert weight[own < block[1]].sum() <= half
            assert weight[own > block[1]].sum() <= half
        else:
            mean = math.fsum(weight * own) / math.fsum(weight)
            assert math.isclose(block[1], mean, rel_tol=1e-12, abs_tol=1e-12 * float(np.abs(own).max()))


def route(tree: Any, columns: Any, kinds: Any) -> Array:
    """The leaf of each row, by the rules: one question at a time."""
    leaves = []
    for row in range(len(columns[0])):
        node = 0
        while tree.feature[node] >= 0:
            column, right = tree.feature[node], tree.end[node + 1]
            x = columns[column][row]
            if kinds[column] != "category":
                left = bool(tree.missing_left[node]) if np.isnan(x) else float(x) <= tree.threshold[node]
            elif x == -1:
                left = bool(tree.missing_left[node])
            elif x == -2:  # never seen in training
                left = bool(tree.weight[node + 1] >= tree.weight[right])
            else:
                left = bool(tree.subsets[tree.subset[node] + x // 8] >> (x % 8) & 1)
            node = node + 1 if left else int(right)
        leaves.append(node)
    return np.array(leaves)
