"""Comparing a constrained tree with its oracle: the same rules, asked of a tree that somebody else grew.

The judge follows the splits of the tree itself, so that one tie does not spoil the rest, and the steps in
which they were made, so that whatever depends on the order (columns in use) is known at each of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tests.growing.constrained_oracle import Constrained, Cut, Place
from tests.oracle import CLASSES, Array, Real

NEARLY = 1e-9


@dataclass
class Seen:
    """A node of the compared tree as the oracle sees it."""

    place: Place
    cuts: list[Cut]
    risk: Real
    noise: Real
    made: int  # the how-many-th node to be created
    chain: list[int]  # the nodes that are one split together
    branches: list[int]  # the children, from left to right; some may have no rows
    cut: Cut | None = None  # the one that the tree makes


def compare(tree: Any, growth: Constrained) -> None:
    """Assert that the rules allow `tree`."""
    at = {int(step): node for node, step in enumerate(tree.step) if step >= 0}
    assert sorted(at) == list(range(len(at))), "steps are not 0, 1, 2, …"
    assert len(at) <= growth.budget, "more splits than allowed"
    leaves, made, used, step = {0: _seen(tree, 0, growth.root(), 0, growth)}, 1, set[int](), 0
    while step < len(at):
        node = at[step]
        assert node in leaves, f"step {step} splits node {node} before its parent"
        mine = leaves.pop(node)
        steps = sorted(int(tree.step[part]) for part in mine.chain)
        assert steps == list(range(step, step + len(steps))), f"the steps of the split at {node}: {steps}"
        _check_choice(node, mine, used, growth)
        for other, rival in leaves.items():
            _check_order(tree, growth, used, (node, mine), (other, rival))
        used.add(mine.cut.column)
        step += len(mine.chain)
        for child, place in _children(tree, node, mine, growth):
            leaves[child] = _seen(tree, child, place, made, growth)
            made += 1
    for node, leaf in leaves.items():
        _check_leaf(node, leaf, used, len(at), growth)


def _seen(tree: Any, node: int, place: Place, made: int, growth: Constrained) -> Seen:
    _check_statistic(tree, node, place, growth)
    chain, branches = decision(tree, node)
    cuts, risk = growth.cuts(place), growth.risk_at(place)
    seen = Seen(place, cuts, risk, growth.noise(place.rows), made, chain, branches)
    if chain:
        assert cuts, f"node {node} should be a leaf"
        seen.cut = _identified(tree, node, seen, growth)
    return seen


def decision(tree: Any, node: int) -> tuple[list[int], list[int]]:
    """The nodes that are one split together, the first at the top, and its branches from left to right."""
    if tree.feature[node] < 0:
        return [], []
    chain, branches, waiting = [], [], [node]
    while waiting:
        at = waiting.pop()
        if at == node or tree.joined[at]:
            chain.append(at)
            waiting += [int(tree.end[at + 1]), at + 1]
        else:
            branches.append(at)
    return chain, branches


def branch_of(tree: Any, seen: Seen, value: Any, kind: str) -> int:
    """The branch (its place among them) that a value takes; a missing one by `missing_left`."""
    at = seen.chain[0]
    while at not in seen.branches:
        if kind == "category":
            left = bool(tree.subsets[tree.subset[at] + value // 8] >> (value % 8) & 1)
            left = bool(tree.missing_left[at]) if value < 0 else left
        else:
            left = bool(tree.missing_left[at]) if math.isnan(value) else value <= tree.threshold[at]
        at = at + 1 if left else int(tree.end[at + 1])
    return seen.branches.index(at)


def _identified(tree: Any, node: int, seen: Seen, growth: Constrained) -> Cut:
    """The cut of the oracle that divides the rows as the tree does, after a look at absent values."""
    column = int(tree.feature[node])
    kind, x = growth.kinds[column], growth.columns[column][seen.place.rows]
    sides = np.array([branch_of(tree, seen, value, kind) for value in x])
    unknown = growth.unknown(column, seen.place.rows)
    if growth.missing in ("surrogate", "fractional"):
        sides[unknown] = -1
    same = [cut for cut in seen.cuts if cut.column == column and _alike(cut.sides, sides)]
    assert same, f"node {node}: not an allowed cut: column {column}, {sides.tolist()}"
    cut = same[0]
    _check_threshold(tree, seen, cut, growth)
    if cut.n_branches == 2 and len(seen.chain) == 1:
        _check_absent(tree, node, seen, cut, growth)
    return cut


def _alike(one: Array, two: Array) -> bool:
    """Whether two divisions are the same but for the numbers of the branches."""
    pairs = set(zip(one.tolist(), two.tolist(), strict=True))
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs}) and all(
        (a < 0) == (b < 0) for a, b in pairs
    )


def _check_absent(tree: Any, node: int, seen: Seen, cut: Cut, growth: Constrained) -> None:
    """Values that no row of the node has go where the heavier part of the known rows goes."""
    weight = growth.cells(seen.place)[:, 1]
    sides = [weight[cut.sides == b].sum() for b in range(2)]
    kind, x = growth.kinds[cut.column], growth.columns[cut.column][seen.place.rows]
    row = int(np.argmax(cut.sides == 0))
    first = branch_of(tree, seen, x[row], kind)
    if abs(float(sides[0] - sides[1])) <= NEARLY * float(sum(sides)):
        if sides[0] != sides[1]:
            return
        heavier = True  # the left one of equals
    else:
        heavier = bool(sides[0] > sides[1]) == (first == 0)
    if not growth.unknown(cut.column, seen.place.rows).any() or growth.missing in ("surrogate", "fractional"):
        assert tree.missing_left[node] == heavier, f"node {node}: missing values go to the heavier side"
    if kind == "category":
        left = tree.goes_left(node)
        absent = [code for code in range(len(left)) if code not in x]
        assert all(left[code] == heavier for code in absent), f"node {node}: absent categories"


def _check_threshold(tree: Any, seen: Seen, cut: Cut, growth: Constrained) -> None:
    thresholds = [float(tree.threshold[node]) for node in seen.chain]
    if cut.kind in ("category", "multiway"):
        assert all(math.isnan(t) for t in thresholds)
        return
    if cut.kind in ("three", "known"):  # known values left, missing ones right
        assert thresholds[0] == math.inf
        assert not tree.missing_left[seen.chain[0]]
    if cut.kind == "three":
        assert seen.chain == [seen.chain[0], seen.chain[0] + 1], "the threshold is asked of known values"
    if cut.kind in ("number", "three"):
        threshold = thresholds[-1]
        assert cut.lo <= threshold < cut.hi, f"{threshold!r} is not in [{cut.lo!r}, {cut.hi!r})"


def _doubt(growth: Constrained, score: Real, mine: Seen) -> Real:
    """How far a score in double precision may lie from the exact one."""
    return growth.real(1e-10) * abs(score) + growth.real(2e-13) * mine.risk + mine.noise


def _check_choice(node: int, mine: Seen, used: set[int], growth: Constrained) -> None:
    """No allowed cut has a better score; none with exactly this score comes earlier in the order of ties."""
    cut = mine.cut
    cuts = growth.in_use(mine.cuts, used)
    assert any(other is cut for other in cuts), f"node {node}: column {cut.column} is one too many"
    slack = _doubt(growth, cut.score, mine)
    assert cut.score >= growth.min_gain - slack, f"the split of node {node} gains less than min_gain"
    sure = [other for other in cuts if not other.is_doubtful]
    if growth.criterion == "gain_ratio":
        _check_ratio(node, cut, sure, mine, growth)
        return
    _check_best(node, cut, sure, mine, growth)


def _check_best(node: int, cut: Cut, sure: list[Cut], mine: Seen, growth: Constrained) -> None:
    if not sure:
        return
    top = max(other.score for other in sure)
    assert cut.score >= top - _doubt(growth, top, mine), (
        f"node {node}: {cut} scores {float(cut.score)!r}, the best is {growth.best(sure, mine.risk)}"
    )
    tolerance = growth.tolerance(top, mine.risk)
    if cut.score <= top + tolerance and mine.noise <= 10 * tolerance:  # or rounding decides between equals
        equal = [other for other in sure if other.score >= top - tolerance / 4]
        first = min(equal, key=Cut.place)
        assert cut.place() <= first.place(), f"node {node}: {cut} is chosen, the equal {first} comes first"


def _check_ratio(node: int, cut: Cut, sure: list[Cut], mine: Seen, growth: Constrained) -> None:
    """The best of its column; no other column of average gain has a clearly better ratio."""
    of_column: dict[int, list[Cut]] = {cut.column: [cut]}
    for other in sure:
        of_column.setdefault(other.column, []).append(other)
    _check_best(node, cut, of_column[cut.column], mine, growth)
    best = {column: max(other.score for other in own) for column, own in of_column.items()}
    if any(score < _doubt(growth, score, mine) for score in best.values()):
        return  # whether that is a gain at all is a matter of rounding
    average = sum(best.values()) / len(best)
    slack = _doubt(growth, average, mine)
    assert cut.score >= average - slack, f"node {node}: {cut} gains less than average"
    for column, own in of_column.items():
        if best[column] > average + slack and column != cut.column:
            rival = min(
                other.score / other.information for other in own if other.score >= best[column] - slack
            )
            assert cut.score / cut.information >= rival * (1 - NEARLY), f"node {node}: {column} is better"


def _check_order(
    tree: Any, growth: Constrained, used: set[int], first: tuple[int, Seen], later: tuple[int, Seen]
) -> None:
    """Best first; of two nodes that cannot be told apart the one that was created first."""
    (node, mine), (other, rival) = first, later
    sure = [cut for cut in growth.in_use(rival.cuts, used) if not cut.is_doubtful]
    could = growth.best(sure, rival.risk)
    if could is None or could.n_splits > growth.budget - int(tree.step[node]):
        return
    slack = max(_doubt(growth, could.score, seen) for seen in (mine, rival))
    if growth.criterion == "gain_ratio":  # which of its cuts it would be is a matter of rounding, too
        could = min(sure, key=lambda cut: cut.score) if could.score < slack else could
    assert mine.cut.score >= could.score - slack, f"node {node} was split before {other}, which gains more"


def _check_leaf(node: int, leaf: Seen, used: set[int], n_splits: int, growth: Constrained) -> None:
    sure = [cut for cut in growth.in_use(leaf.cuts, used) if not cut.is_doubtful]
    could = growth.best(sure, leaf.risk)
    if could is None or n_splits + could.n_splits > growth.budget:
        return
    doubtful = growth.min_gain > 0 and could.score < growth.min_gain + _doubt(growth, could.score, leaf)
    if growth.costs is not None and could.gain <= _doubt(growth, could.gain, leaf):
        doubtful = True  # whether it is a gain at all
    assert doubtful, f"leaf {node} should have been split by {could}"


# ---- the rows of the branches ------------------------------------------------------------------


def _children(tree: Any, node: int, mine: Seen, growth: Constrained) -> list[tuple[int, Place]]:
    """The branches that have rows, with them; the nodes of a chain and empty branches are looked at here."""
    cut, place = mine.cut, mine.place
    kind, x = growth.kinds[cut.column], growth.columns[cut.column][place.rows]
    if growth.missing == "surrogate":
        place.surrogates = growth.surrogates(place, cut)
        shares = _surrogate_shares(tree, node, mine, growth)
        parts = growth.children(place, cut, shares)
    else:
        parts = growth.divided(place, cut)
    of_branch = {}
    for b, part in enumerate(parts):  # the tree may have them in another order
        row = int(np.argmax(cut.sides == b))
        of_branch[mine.branches[branch_of(tree, mine, x[row], kind)]] = part
    for branch in mine.branches:
        if branch not in of_branch:
            assert tree.rows[branch] == 0, f"node {branch} has rows of nowhere"
            assert tree.feature[branch] < 0
    for part in mine.chain[1:]:
        below = [p for branch, p in of_branch.items() if part <= branch < tree.end[part]]
        rows = {int(row) for p in below for row in p.rows}
        assert tree.rows[part] == len(rows), f"rows of the joined node {part}"
    return list(of_branch.items())


def _surrogate_shares(tree: Any, node: int, mine: Seen, growth: Constrained) -> list[Array]:
    """How much of each row goes to the branches of the cut, after a look at the surrogates of the tree."""
    place, cut, entries = mine.place, mine.cut, tree.surrogates.of(node)
    own = growth.columns[cut.column][place.rows]
    row = int(np.argmax(cut.sides == 0))
    flipped = branch_of(tree, mine, own[row], growth.kinds[cut.column]) == 1
    primary = np.where(cut.sides < 0, -1, cut.sides ^ flipped)
    tree_sides = primary.copy()  # rows without a value find theirs one surrogate after the other
    weight = growth.table[place.rows, 1]
    wanted = place.surrogates
    assert len(entries) == len(wanted), f"node {node}: {len(entries)} surrogates instead of {len(wanted)}"
    for entry, expected in zip(entries, wanted, strict=True):
        column = int(tree.surrogates.feature[entry])
        assert math.isclose(tree.surrogates.agreement[entry], expected.agreement, rel_tol=NEARLY)
        assert math.isclose(tree.surrogates.adjusted[entry], expected.adjusted, rel_tol=1e-6, abs_tol=NEARLY)
        left, known = _surrogate_left(tree, entry, growth, place)
        both = (primary >= 0) & known
        agreement = float(weight[both & (left == (primary == 0))].sum() / weight[primary >= 0].sum())
        assert math.isclose(agreement, expected.agreement, rel_tol=NEARLY), f"node {node}: column {column}"
        assert min((left & both).sum(), (~left & both).sum()) >= 2
        tied = [s.column for s in wanted if abs(float(s.agreement - expected.agreement)) <= 1e-12]
        assert column == expected.column or column in tied or entry == entries[-1], f"node {node}: ranks"
        open_rows = (tree_sides < 0) & known
        tree_sides[open_rows] = np.where(left[open_rows], 0, 1)
    tree_sides[tree_sides < 0] = 0 if tree.missing_left[node] else 1
    sides = tree_sides ^ flipped
    return [np.where(sides == b, place.share, growth.real(0)) for b in range(2)]


def _surrogate_left(tree: Any, entry: int, growth: Constrained, place: Place) -> tuple[Array, Array]:
    """Which rows a surrogate of the tree sends left, and of which it knows the value."""
    surrogates = tree.surrogates
    column = int(surrogates.feature[entry])
    x, known = growth.columns[column][place.rows], ~growth.unknown(column, place.rows)
    if growth.kinds[column] == "category":
        bits = np.unpackbits(surrogates.subsets[surrogates.subset[entry] :], bitorder="little")
        passes = bits[np.maximum(x, 0)] == 1
    else:
        passes = x <= surrogates.threshold[entry]
    return passes ^ bool(surrogates.reversed[entry]), known


def _check_statistic(tree: Any, node: int, place: Place, growth: Constrained) -> None:
    """The node counts its rows, and keeps for each target the sums over them or their value."""
    assert tree.rows[node] == len(place.rows), f"node {node}: {tree.rows[node]} rows, not {len(place.rows)}"
    start, weight = 0, (growth.weight[place.rows] * place.share.astype(float)).astype(float)
    for y, width in zip(growth.targets, tree.schema.block_widths, strict=True):
        block, own = tree.statistic[node, start : start + width], y[place.rows]
        start += width
        if growth.criterion in CLASSES:
            np.testing.assert_allclose(block, np.bincount(own, weight, width), rtol=NEARLY, atol=1e-12)
            continue
        assert math.isclose(block[0], math.fsum(weight), rel_tol=NEARLY)
        if growth.criterion == "absolute_error":
            assert block[1] == _median(own, growth.weight[place.rows])
            continue
        mean = math.fsum(weight * own) / math.fsum(weight)
        assert math.isclose(block[1], mean, rel_tol=NEARLY, abs_tol=1e-12 * float(np.abs(own).max()))


def _median(numbers: Array, weight: Array) -> float:
    """Where half of the weight is reached; halfway to the next number where it is reached exactly."""
    order = np.argsort(numbers, kind="stable")
    below = np.cumsum([2 * Fraction(float(w)) for w in weight[order]])
    half = below[-1] / 2
    lower, upper = (numbers[order][np.argmax(reached)] for reached in (below >= half, below > half))
    return float(lower if lower == upper else lower / 2 + upper / 2)
